"""A tree of Debian's packages of another architecture than this machine's, of which nothing can be run here: packages are
unpacked, and what their scripts would have made is put beside, as far as a worker of today's kops needs it."""
import glob
import os
import pathlib
import shutil
import tempfile

import kopsnode
from labhost import LAB, SUITE, LabError, fetch, run, write

PACKAGES = ["?essential", *"ca-certificates curl dbus iproute2 kmod libcmocka0 mount openssl passwd procps python3-yaml systemd-sysv".split(),
            *kopsnode.PACKAGES]
FILES = {
    "etc/environment": "",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/machine-id": "",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/sysusers.d/lab.conf": "u _chrony - - /var/lib/chrony\nu messagebus -\n",
    "etc/tmpfiles.d/lab.conf": "d /var/lib/chrony 0750 _chrony _chrony\nd /var/log/chrony 0750 _chrony _chrony\n",
}
LINKS = {"usr/bin/awk": "mawk", "usr/sbin/iptables": "xtables-nft-multi"}


def unpack(package, tree):
    """Over a tree whose /bin and /lib are links."""
    run("bash", "-o", "pipefail", "-c", 'dpkg-deb --fsys-tarfile "$0" | tar -x --numeric-owner --keep-directory-symlink -C "$1"', package, tree)


def note(package):
    """Returns what dpkg would know of it."""
    name, rest = run("dpkg-deb", "-f", package).split("\n", 1)
    return f"{name}\nStatus: install ok installed\n{rest}\n"


def make(tree, arch, packages):
    """With these packages, and all that they depend on."""
    for name in ("bin", "sbin", "lib", "lib64"):
        os.makedirs(f"{tree}/usr/local/{name}")
        os.makedirs(f"{tree}/usr/{name}")
        os.symlink(f"usr/{name}", f"{tree}/{name}")
    with tempfile.TemporaryDirectory(dir=LAB) as folder:
        if not fetch(pathlib.Path(folder), SUITE, [*PACKAGES, *packages], arch, ["install", "-y", "--no-install-recommends", "--download-only"]):
            raise LabError(f"Debian's packages of {arch} cannot be had")
        debs = sorted(glob.glob(folder + "/debs/*.deb"))
        for package in debs:
            unpack(package, tree)
        write(tree + "/var/lib/dpkg/status", "".join(map(note, debs)))
    shutil.rmtree(tree + "/usr/share/doc")
    for name in ("passwd", "group"):
        shutil.copyfile(f"{tree}/usr/share/base-passwd/{name}.master", f"{tree}/etc/{name}")
    for name, text in FILES.items():
        write(f"{tree}/{name}", text)
    for name, target in LINKS.items():
        os.symlink(target, f"{tree}/{name}")
    run("systemd-sysusers", "--root=" + tree)
