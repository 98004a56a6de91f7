#!/bin/bash
# A package of what `make install` installs, made by the distribution's own tool.
#
#   package.sh deb|rpm DIR    DIR/nodeup_VERSION_ARCH.deb or DIR/nodeup-VERSION-1.MACHINE.rpm, and its .sha256
#   KEY=FILE                  signs it too
#   ARCH=arm64 RUN=qemu...    of that architecture, whose programs RUN runs here
#
# VERSION is what the program says. SOURCE_DATE_EPOCH is the date of all that is in it: the same program gives the same bytes. It needs nothing, as the program is static, and starts nothing. The journal's catalog
# is read in by the package itself.
set -euo pipefail
umask 022

summary='Turns a bare EC2 instance into a Kubernetes node'
catalog='! command -v journalctl >/dev/null || journalctl --update-catalog'
# The link to the program of the boot unit goes before that of the package on PATH. Where a package is, nodeup makes none.
# shellcheck disable=SC2016  # it expands where the package is installed
link='[ "$(readlink /usr/local/bin/nodeup)" != /opt/nodeup/bin/nodeup ] || rm /usr/local/bin/nodeup'

arch=${ARCH:-$(dpkg --print-architecture)}
kind=$1 out=$(mkdir -p "$2" && cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a package has of the project besides: who may use it, and what the static binary contains.
tree()
{
	make -s install ARCH="$arch" DESTDIR="$work/tree" prefix=/usr
	gzip -9n "$work/tree/usr/share/man/man8/nodeup.8"
	install -D -m 644 -t "$work/tree/usr/share/doc/nodeup" LICENSE NOTICE README.md
}

dated() { find "$work/tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +; }

deb()
{
	file=$out/nodeup_${version}_$arch.deb
	install -d "$work/tree/DEBIAN"
	cat >"$work/tree/DEBIAN/control" <<-END
		Package: nodeup
		Version: $version
		Architecture: $arch
		Maintainer: the maintainers of nodeup <root@localhost>
		Section: admin
		Priority: optional
		Description: $summary
		 One static program that reads the documents of kops or kube-up, fetches and verifies assets, formats
		 blank disks, writes units and static pods, and starts kubelet.
	END
	printf '#!/bin/sh\nset -e\n%s\n%s\n' "$catalog" "$link" >"$work/tree/DEBIAN/postinst"
	chmod 755 "$work/tree/DEBIAN/postinst"
	dated
	dpkg-deb --root-owner-group -b "$work/tree" "$file" >/dev/null
}

rpm()
{
	local machine=x86_64
	[ "$arch" != arm64 ] || machine=aarch64
	file=$out/nodeup-$version-1.$machine.rpm
	dated
	cat >"$work/nodeup.spec" <<-END
		%global debug_package %{nil}
		%global __os_install_post %{nil}
		%global _build_id_links none
		%global _buildhost localhost
		%global use_source_date_epoch_as_buildtime 1
		Name: nodeup
		Version: $version
		Release: 1
		Summary: $summary
		License: Apache-2.0
		AutoReqProv: no
		%description
		$summary: one static program.
		%install
		cp -a $work/tree/. %{buildroot}/
		%post
		$catalog
		$link
		%files
		%defattr(-,root,root)
		$(cd "$work/tree" && find . -type f -printf '/%P\n' | sort)
	END
	rpmbuild --quiet -bb --target "$machine-linux" --define "_topdir $work/rpm" --define "_rpmdir $work" --define "_rpmfilename out.rpm" "$work/nodeup.spec" >/dev/null
	mv "$work/out.rpm" "$file"
}

cd "$(dirname "$0")/.."
tree
version=$(${RUN:-} "$work/tree/usr/bin/nodeup" version | sed -n '1s/^nodeup version //p')
"$kind"
(cd "$out" && sha256sum "${file##*/}" >"$file.sha256")
KEY=${KEY:-} tools/sign.sh "$version $arch" "$file"
echo "$file"
