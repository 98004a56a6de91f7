#!/bin/bash
# Have everything the build links and the tests run: Debian's packages where they will do, and minimal
# static archives under build/deps of what Debian cannot link statically (libcurl drags ldap and
# kerberos, libsystemd has no archive at all).  Cached by a stamp: the second run touches no network.
#
#   deps.sh            both
#   deps.sh packages   the packages alone
#   ARCH=arm64         for another architecture than this machine's, below build/deps-arm64: Debian's packages of that
#                      architecture are unpacked into its root, and this machine has the cross compiler alone
#
#   build/deps/lib/*.a  build/deps/include/...   build/deps/versions   build/deps/include/deps_versions.h
set -euo pipefail
cd "$(dirname "$0")/.."

own=$(dpkg --print-architecture)
arch=${ARCH:-$own}
deps=$PWD/build/deps
cross=
jobs=$(nproc)
if [ "$arch" != "$own" ]; then
	case $arch in
	amd64) machine=x86_64 ;;
	arm64) machine=aarch64 ;;
	*) echo "deps.sh: ARCH is amd64 or arm64, not '$arch'" >&2; exit 64 ;;
	esac
	deps=$deps-$arch
	cross=$machine-linux-gnu-
fi
src=$deps/src

# What is linked: static archives of the distribution, as component=package.
linked=(openssl=libssl-dev yaml=libyaml-dev jansson=libjansson-dev expat=libexpat1-dev
	archive=libarchive-dev blkid=libblkid-dev zlib=zlib1g-dev lzma=liblzma-dev zstd=libzstd-dev
	lz4=liblz4-dev glibc=libc6-dev)
build_tools=(gcc clang make pkg-config dpkg-dev meson ninja-build autoconf automake libtool nasm gperf
	python3-jinja2 libmount-dev libcap-dev)
test_tools=(libcmocka-dev python3-pytest python3-pytest-xdist python3-yaml python3-jsonschema shellcheck clang-format libclang-rt-dev lld universal-ctags
	curl wget openssl zstd xz-utils strace debootstrap systemd-container iproute2
	xfsprogs btrfs-progs f2fs-tools qemu-system-common minisign faketime)

# What the libraries that are built here are compiled with, and what unit tests are linked with, of the other architecture.
foreign=("${linked[@]#*=}" linux-libc-dev libcrypt-dev libcap-dev libmount-dev libselinux1-dev libsepol-dev libpcre2-dev
	libc6 libgcc-s1 libcmocka-dev libcmocka0)

tools/apt.sh install "${linked[@]#*=}" "${build_tools[@]}" "${test_tools[@]}" ${cross:+"gcc-${machine//_/-}-linux-gnu"}
[ "${1:-}" != packages ] || exit 0

mkdir -p "$deps/lib" "$deps/include"
exec 9>"$deps/lock"
flock 9

# What runs a program of the other architecture here: bookworm's emulator lacks openat2, without which nothing is done below a root.
if [ -n "$cross" ] && [ ! -x "$deps/qemu" ]; then
	tools/apt.sh unpack "$own@trixie" "$deps/emulator" qemu-user >/dev/null
	mv "$deps/emulator/root/usr/bin/qemu-$machine" "$deps/qemu"
	rm -r "$deps/emulator"
fi

version_of() { dpkg-query -W -f '${Version}\n' "$@"; }

# The archives depend on this script and on the headers they were compiled against.
stamp=$({ cat tools/deps.sh tools/apt.sh; version_of "${linked[@]#*=}"; } | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$deps/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -f "$deps/stamp"

log=
trap '[ $? = 0 ] || [ -z "$log" ] || { tail -n 40 "$log"; echo "deps.sh: failed, see $log"; } >&2' EXIT

cc=(gcc)
host=()
if [ -n "$cross" ]; then
	tools/apt.sh unpack "$arch" "$deps" "${foreign[@]}" >"$deps/packages"
	root=$deps/root
	version_of() { awk -v name="$1" '$1 == name { print $2 }' "$deps/packages"; }
	cc=("${cross}gcc" "--sysroot=$root" "-B$root/usr/lib/$machine-linux-gnu")
	host=("--host=${cross%-}")
	export CC=${cc[*]} PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$machine-linux-gnu/pkgconfig
fi

# Libraries' internal functions have everyday names (strv_free, log_open); a namesake of ours would
# silently take their place.  Copy an archive with all but its API prefixed.
hide_internals()
{
	local name=${1##*/}
	"${cross}nm" -g --defined-only "$1" | awk -v api="$2" -v prefix="${name%.a}_" \
		'NF == 3 && $3 !~ api { print $3, prefix $3 }' | sort -u >"$src/$name.internal"
	"${cross}objcopy" --redefine-syms="$src/$name.internal" "$1" "$deps/lib/$name"
}

# What only weak symbols name is not linked: functions of a library that we never come to, and that would stop the program.
leave_out()
{
	local archive=$1
	shift
	"${cross}objcopy" --wildcard "${@/#/--weaken-symbol=}" "$archive"
}

# Libraries that a configure builds are compiled with these.
flags='-fPIE -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2'

# Each of curl's handles has a resolver, which asks for one name at a time. As c-ares has them, its tables of queries have 74 KiB.
build_cares()
{
	cd "$src/c-ares"
	sed -i -E 's/^(#define ARES_(QID|TIMEOUT)_TABLE_SIZE) .*/\1 16/' src/lib/ares_private.h
	CFLAGS="-Os $flags" \
		./configure "${host[@]}" --disable-shared --enable-static --disable-tests
	make -C src/lib -j "$jobs"
	cp src/lib/.libs/libcares.a "$deps/lib/"
	cp include/ares*.h "$deps/include/"
}

# http and https only; CA files are found at run time, nodeup has its own table of their places.  What arrived is
# handed on in pieces as large as the receive buffer: at 16 KiB a large object costs tens of thousands of writes.
build_curl()
{
	local -a off=(alt-svc cookies crypto-auth dateparse dict doh file ftp get-easy-options gopher hsts
		imap ldap ldaps libcurl-option manual mime mqtt netrc ntlm pop3 progress-meter rtsp smb smtp
		sspi telnet tftp tls-srp websockets openssl-auto-load-config shared)
	build_cares
	cd "$src/curl"
	autoreconf -fi
	CFLAGS="-Os $flags -DCURL_MAX_WRITE_SIZE=524288" \
		./configure "${host[@]}" --with-openssl --with-zlib "--enable-ares=$deps" --enable-static --enable-unix-sockets \
		--enable-ipv6 --without-ca-bundle --without-ca-path --without-libpsl --without-libidn2 \
		--without-brotli --without-zstd --without-nghttp2 --without-libssh2 --without-librtmp \
		--without-libgsasl "${off[@]/#/--disable-}"
	# Debian's patches name the library after a TLS flavour; only the name differs.
	make -C lib -j "$jobs"
	cp lib/.libs/libcurl*.a "$deps/lib/libcurl.a"
	mkdir -p "$deps/include/curl"
	cp include/curl/*.h "$deps/include/curl/"
}

# What meson wants to know of another architecture than its own.
cross_file()
{
	cat <<-END
		[binaries]
		c = [$(printf "'%s', " "${cc[@]}")]
		ar = '${cross}ar'
		objcopy = '${cross}objcopy'
		strip = '${cross}strip'
		pkgconfig = 'pkg-config'
		[properties]
		sys_root = '$root'
		pkg_config_libdir = '$PKG_CONFIG_LIBDIR'
		[host_machine]
		system = 'linux'
		cpu_family = '$machine'
		cpu = '$machine'
		endian = 'little'
	END
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
	if [ -n "$cross" ]; then
		cross_file >"$src/cross.ini"
		options+=(--cross-file "$src/cross.ini")
		unset CC # which would be this machine's here
	fi
	meson setup build -Doptimization=s -Ddebug=false -Dmode=release -Dstatic-libsystemd=pic -Dzstd=true -Dlz4=true \
		-Dxz=true "${options[@]}" -Dc_args='-ffunction-sections -fdata-sections'
	ninja -C build -j "$jobs" version.h
	ninja -C build -j "$jobs" libsystemd.a
	hide_internals build/libsystemd.a '^sd_'
	mkdir -p "$deps/include/systemd"
	cp src/systemd/sd-*.h src/systemd/_sd-common.h "$deps/include/systemd/"
}

# ISA-L's inflate, in assembler for each kind of processor; of the rest its checksums of gzip and zlib are linked.
build_isal()
{
	cd "$src/libisal"
	autoreconf -fi
	CFLAGS="-O2 $flags" \
		./configure "${host[@]}" --disable-shared --enable-static
	make -j "$jobs" libisal.la
	hide_internals .libs/libisal.a '^isal_'
	leave_out "$deps/lib/libisal.a" 'isal_deflate_*' 'isal_update_histogram*' 'libisal_*icf*' 'libisal_create_huff*' 'libisal_build_huff*' \
		'libisal_crc16*' 'libisal_crc32_i*'
	mkdir -p "$deps/include/isa-l"
	cp include/igzip_lib.h include/types.h "$deps/include/isa-l/"
}

curl=$(tools/apt.sh source curl 7.88.1 "$src")
systemd=$(tools/apt.sh source systemd 252 "$src")
isal=$(tools/apt.sh source libisal 2.30 "$src")
cares=$(tools/apt.sh source c-ares 1.18 "$src")
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
hide_internals "$("${cc[@]}" -print-file-name=libblkid.a)" '^blkid_'

# zstd compresses at level 1 alone, and the others of its strategies are 280 KB.
cp "$("${cc[@]}" -print-file-name=libzstd.a)" "$deps/lib/"
leave_out "$deps/lib/libzstd.a" 'ZSTD_compressBlock_[!f]*' 'ZSTD_*oubleHashTable' 'ZSTD_insertAndFind*' ZSTD_row_update ZSTD_updateTree \
	'ZSTD_dedicatedDictSearch_*'
rm -rf "$src/curl" "$src/c-ares" "$src/systemd" "$src/libisal" "$src"/*.internal "$src/cross.ini"

{
	echo "curl $curl"
	echo "systemd $systemd"
	echo "isal $isal"
	echo "cares $cares"
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
