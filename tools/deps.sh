#!/bin/bash
# Have everything the build links and the tests run: Debian's packages where they will do, and minimal
# static archives under build/deps of what Debian cannot link statically (libcurl drags ldap and
# kerberos, libsystemd has no archive at all).  Cached by a stamp: the second run touches no network.
#
#   deps.sh            both
#   deps.sh packages   the packages alone
#
#   build/deps/lib/*.a  build/deps/include/...   build/deps/versions   build/deps/include/deps_versions.h
set -euo pipefail
cd "$(dirname "$0")/.."

deps=$PWD/build/deps
src=$deps/src
jobs=$(nproc)

# What is linked: static archives of the distribution, as component=package.
linked=(openssl=libssl-dev cares=libc-ares-dev yaml=libyaml-dev jansson=libjansson-dev expat=libexpat1-dev
	archive=libarchive-dev blkid=libblkid-dev zlib=zlib1g-dev lzma=liblzma-dev zstd=libzstd-dev
	lz4=liblz4-dev glibc=libc6-dev)
build_tools=(gcc clang make pkg-config dpkg-dev meson ninja-build autoconf automake libtool nasm gperf
	python3-jinja2 libmount-dev libcap-dev)
test_tools=(libcmocka-dev python3-pytest python3-pytest-xdist python3-yaml python3-jsonschema shellcheck clang-format libclang-rt-dev lld universal-ctags
	curl wget openssl zstd xz-utils strace debootstrap systemd-container iproute2
	xfsprogs btrfs-progs f2fs-tools qemu-system-common minisign)

tools/apt.sh install "${linked[@]#*=}" "${build_tools[@]}" "${test_tools[@]}"
[ "${1:-}" != packages ] || exit 0

mkdir -p "$deps/lib" "$deps/include"
exec 9>"$deps/lock"
flock 9

version_of() { dpkg-query -W -f '${Version}\n' "$@"; }

# The archives depend on this script and on the headers they were compiled against.
stamp=$({ cat tools/deps.sh tools/apt.sh; version_of "${linked[@]#*=}"; } | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$deps/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -f "$deps/stamp"

log=
trap '[ $? = 0 ] || [ -z "$log" ] || { tail -n 40 "$log"; echo "deps.sh: failed, see $log"; } >&2' EXIT

# Libraries' internal functions have everyday names (strv_free, log_open); a namesake of ours would
# silently take their place.  Copy an archive with all but its API prefixed.
hide_internals()
{
	local name=${1##*/}
	nm -g --defined-only "$1" | awk -v api="$2" -v prefix="${name%.a}_" \
		'NF == 3 && $3 !~ api { print $3, prefix $3 }' | sort -u >"$src/$name.internal"
	objcopy --redefine-syms="$src/$name.internal" "$1" "$deps/lib/$name"
}

# http and https only; CA files are found at run time, nodeup has its own table of their places.  What arrived is
# handed on in pieces as large as the receive buffer: at 16 KiB a large object costs tens of thousands of writes.
build_curl()
{
	local -a off=(alt-svc cookies crypto-auth dateparse dict doh file ftp get-easy-options gopher hsts
		imap ldap ldaps libcurl-option manual mime mqtt netrc ntlm pop3 progress-meter rtsp smb smtp
		sspi telnet tftp tls-srp websockets openssl-auto-load-config shared)
	cd "$src/curl"
	autoreconf -fi
	CFLAGS='-O2 -fPIE -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2 -DCURL_MAX_WRITE_SIZE=524288' \
		./configure --with-openssl --with-zlib --enable-ares --enable-static --enable-unix-sockets \
		--enable-ipv6 --without-ca-bundle --without-ca-path --without-libpsl --without-libidn2 \
		--without-brotli --without-zstd --without-nghttp2 --without-libssh2 --without-librtmp \
		--without-libgsasl "${off[@]/#/--disable-}"
	# Debian's patches name the library after a TLS flavour; only the name differs.
	make -C lib -j "$jobs"
	cp lib/.libs/libcurl*.a "$deps/lib/libcurl.a"
	mkdir -p "$deps/include/curl"
	cp include/curl/*.h "$deps/include/curl/"
}

# Only the library; with zstd, lz4 and xz so that the journal of any distribution can be read.
build_systemd()
{
	local opt
	local -a options=()
	for opt in seccomp selinux apparmor polkit acl audit blkid fdisk kmod pam pwquality microhttpd \
		libcryptsetup libcurl libidn2 libidn libiptc qrencode gcrypt gnutls openssl p11kit libfido2 \
		tpm2 elfutils zlib bzip2 xkbcommon pcre2 glib dbus gnu-efi bpf-framework man html translations \
		tests; do
		options+=("-D$opt=false")
	done
	cd "$src/systemd"
	meson setup build -Doptimization=s -Ddebug=false -Dmode=release -Dstatic-libsystemd=pic -Dzstd=true -Dlz4=true \
		-Dxz=true "${options[@]}" -Dc_args='-ffunction-sections -fdata-sections'
	ninja -C build -j "$jobs" version.h
	ninja -C build -j "$jobs" libsystemd.a
	hide_internals build/libsystemd.a '^sd_'
	mkdir -p "$deps/include/systemd"
	cp src/systemd/sd-*.h src/systemd/_sd-common.h "$deps/include/systemd/"
}

# ISA-L's inflate, in assembler for each kind of processor; the rest of it is not linked.
build_isal()
{
	cd "$src/libisal"
	autoreconf -fi
	CFLAGS='-O2 -fPIE -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2' \
		./configure --disable-shared --enable-static
	make -j "$jobs" libisal.la
	hide_internals .libs/libisal.a '^isal_'
	mkdir -p "$deps/include/isa-l"
	cp include/igzip_lib.h include/types.h "$deps/include/isa-l/"
}

curl=$(tools/apt.sh source curl 7.88.1 "$src")
systemd=$(tools/apt.sh source systemd 252 "$src")
isal=$(tools/apt.sh source libisal 2.30 "$src")
# Side by side: each spends most of its time in a configure that has one process at a time.
declare -A built
for name in curl systemd isal; do
	echo "deps: building lib$name ${!name}" >&2
	(build_$name) >"$deps/$name.log" 2>&1 &
	built[$name]=$!
done
for name in curl systemd isal; do
	log=$deps/$name.log
	wait "${built[$name]}"
done
log=
hide_internals "$(gcc -print-file-name=libblkid.a)" '^blkid_'
rm -rf "$src/curl" "$src/systemd" "$src/libisal" "$src"/*.internal

{
	echo "curl $curl"
	echo "systemd $systemd"
	echo "isal $isal"
	for c in "${linked[@]}"; do
		echo "${c%%=*} $(version_of "${c#*=}")"
	done
} >"$deps/versions"

{
	echo '/* deps_versions.h - what this build was linked with; written by tools/deps.sh. */'
	echo '#pragma once'
	echo
	while read -r name version; do
		echo "#define DEPS_${name^^} \"$version\""
	done <"$deps/versions"
} >"$deps/include/deps_versions.h"

echo "$stamp" >"$deps/stamp"
