#!/bin/bash
# The three things the build asks of apt, all harmless to the user's own apt settings.
#
#   apt.sh install PKG...                install what dpkg says is missing (nothing missing: no network)
#   apt.sh source NAME MINIMUM DIR       unpack the newest source of NAME this machine's suite has into
#                                        DIR/NAME and print its version; older than MINIMUM is an error
#   apt.sh unpack ARCH[@SUITE] DIR PKG.. unpack these packages of an architecture, and of another release where one is
#                                        named, into DIR/root and print NAME VERSION of each; nothing is installed
#
# Sources and what is unpacked come through a source list, package lists and a cache of our own below DIR/apt.  The
# repository's address and key are those the machine already uses, so signatures are checked as ever.
set -euo pipefail

missing()
{
	comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p' | sort -u) <(printf '%s\n' "$@" | sort -u)
}

install()
{
	local -a want
	mapfile -t want < <(missing "$@")
	[ ${#want[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "apt.sh: not root; install by hand: apt-get install ${want[*]}" >&2
		return 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q update >&2
	apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 install "${want[@]}" >&2
}

# The "[signed-by=...]" of the entry ENTRY (file:N) of the user's lists, or nothing: then apt falls
# back to its trusted keys by itself.  N counts lines in *.list files and stanzas in *.sources files.
signed_by()
{
	local file=${1%:*} n=${1##*:}
	case $file in
	*.sources)
		awk -v RS= -v n="$n" 'NR == n' "$file" |
			sed -n 's/^[Ss]igned-[Bb]y:[[:space:]]*\(\/[^[:space:]]*\).*/[signed-by=\1]/p'
		;;
	*)
		sed -n "${n}s/.*[[ ]signed-by=\([^] ]*\).*/[signed-by=\1]/p" "$file"
		;;
	esac
}

# One line of KIND, deb or deb-src, for each suite of this release: the release, its updates, its security fixes. Or one for SUITE,
# from where the release is.
list_of()
{
	local kind=$1 suite=${2:-} entry codename uri origin wanted
	# shellcheck source=/dev/null
	wanted=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2016  # apt expands these
	apt-get indextargets 'Created-By: Packages' 'Component: main' \
		--format '$(SOURCESENTRY)|$(RELEASE)|$(REPO_URI)|$(ORIGIN)' |
	while IFS='|' read -r entry codename uri origin; do
		[ "$origin" = Debian ] || continue
		case $codename in
		"$wanted") echo "$kind $(signed_by "$entry") $uri ${suite:-$codename} main" ;;
		"$wanted"-*) [ -n "$suite" ] || echo "$kind $(signed_by "$entry") $uri $codename main" ;;
		esac
	done | sort -u
}

# Begins an apt of our own in DIR for lines of KIND and SUITE; `private` has its options.
private_apt()
{
	local kind=$1 suite=$2 apt=$3/apt

	private=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root "${@:4}")
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	list_of "$kind" "$suite" >"$apt/sources.list"
	if [ ! -s "$apt/sources.list" ]; then
		# The origin of a repository is known only once its lists were read.
		apt-get -q update >&2
		list_of "$kind" "$suite" >"$apt/sources.list"
	fi
	if [ ! -s "$apt/sources.list" ]; then
		echo "apt.sh: no Debian repository of this release is configured" >&2
		return 1
	fi
	# Without a network the lists and files of last time are used.
	apt-get "${private[@]}" update >&2
}

source_()
{
	local name=$1 minimum=$2 dir=$3 version
	local -a private

	private_apt deb-src "" "$dir"
	version=$(apt-cache "${private[@]}" showsrc --only-source "$name" | sed -n 's/^Version: //p' |
		while read -r v; do
			[ -n "${best:-}" ] && dpkg --compare-versions "$v" le "$best" || best=$v
			echo "$best"
		done | tail -n 1)
	if [ -z "$version" ] || dpkg --compare-versions "$version" lt "$minimum"; then
		echo "apt.sh: source $name: have '$version', need at least $minimum" >&2
		return 1
	fi
	rm -rf "${dir:?}/$name"
	(cd "$dir" && apt-get "${private[@]}" source --only-source --download-only "$name=$version" >&2 &&
		dpkg-source -q --no-check -x "$name"_"${version#*:}".dsc "$name" >&2)
	echo "$version"
}

unpack()
{
	local arch=${1%@*} suite=${1#"${1%@*}"} dir=$2 debs=$2/apt/debs deb
	local -a private

	# a status file that is not there: nothing is installed
	private_apt deb "${suite#@}" "$dir" -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State::status=$dir/apt/status"
	rm -rf "$debs" "$dir/root"
	mkdir -p "$debs" "$dir/root"
	(cd "$debs" && apt-get "${private[@]}" download "${@:3}" >&2)
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir/root"
		# shellcheck disable=SC2016  # dpkg-deb expands it
		dpkg-deb -W --showformat '${Package} ${Version}\n' "$deb"
	done
	rm -rf "$debs"
}

case ${1:-} in
install) shift; install "$@" ;;
source) [ $# = 4 ] || exit 64; source_ "$2" "$3" "$(realpath -m "$4")" ;;
unpack) [ $# -ge 4 ] || exit 64; unpack "$2" "$(realpath -m "$3")" "${@:4}" ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
