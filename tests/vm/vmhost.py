"""What the virtual machine boots from, made once: Debian's cloud kernel, an initramfs of a few
modules, and the lab's tree with udev, md and device-mapper tools as an ext4 image. The machine is of the
architecture of the program that is tested; of another one than this machine's, foreign.py makes the tree."""
import collections
import fcntl
import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import foreign  # noqa: E402
import labhost  # noqa: E402
from labhost import LAB, ROOT, SUITE, LabError, run, write  # noqa: E402

PROGRAM = os.environ.get("NODEUP", ROOT + "/build/nodeup")
# By what stands in the header of a program: its architecture, QEMU's program and package, what that emulates, and the console. Graviton2 is
# a Neoverse N1.
Kind = collections.namedtuple("Kind", "arch qemu package machine console")
KINDS = {0x3e: Kind("amd64", "/usr/bin/qemu-system-x86_64", "qemu-system-x86", ["-machine", "q35", "-cpu", "max,la57=off"], "ttyS0"),
         0xb7: Kind("arm64", "/usr/bin/qemu-system-aarch64", "qemu-system-arm", ["-machine", "virt", "-cpu", "neoverse-n1"], "ttyAMA0")}
with open(PROGRAM, "rb") as program:
    KIND = KINDS[int.from_bytes(program.read(20)[18:], "little")]
IS_OWN = KIND.arch == {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
VM = os.path.join(LAB, "vm" if IS_OWN else KIND.arch + "-vm")
IMAGE_BYTES = 3 << 30  # sparse
PACKAGES = ["udev", "mdadm", "dmsetup", "busybox-static"]
KERNEL = "linux-image-cloud-" + KIND.arch
# In this order: each needs those before it. What the kernel has built in is passed over.
MODULES = ("pci-host-common pci-host-generic virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk "
           "virtio_console crc32c_generic crc32c-intel libcrc32c crc16 mbcache jbd2 ext4").split()
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
for m in /modules/*; do insmod $m; done
n=0
until mount -t ext4 -o rw /dev/vda /root 2>/dev/null; do
	n=$((n + 1)); [ $n -lt 600 ] || { echo "no root disk"; poweroff -f; }
	sleep 0.1
done
mount --move /dev /root/dev
exec switch_root /root /sbin/init
"""
# Nothing of these is of use here, and each costs seconds of an emulated processor.
MASKED = ("cloud-init.service cloud-init-local.service cloud-config.service cloud-final.service "
          "cloud-init-hotplugd.socket systemd-timesyncd.service systemd-resolved.service ssh.service "
          f"getty@tty1.service serial-getty@{KIND.console}.service mdmonitor.service mdcheck_start.timer "
          "mdcheck_continue.timer mdmonitor-oneshot.timer fstrim.timer "
          "systemd-update-utmp.service").split()
# docker is started by nodeup alone; the copies of the host's settings are for containers
DISABLED = "docker.service docker.socket containerd.service lab-sysctl.service".split()


def qemu_is_there():
    return os.path.exists(KIND.qemu)


def agent_files():
    return sorted(glob.glob(HERE + "/guest/lab-agent*"))


def recipe():
    parts = [labhost.recipe(), PACKAGES, KERNEL, MODULES, INIT, MASKED, DISABLED]
    for path in agent_files() + [__file__, foreign.__file__]:
        with open(path) as f:
            parts.append(f.read())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def ensure_image():
    """The folder with vmlinuz, initrd and root.img."""
    os.makedirs(LAB, exist_ok=True)
    with open(os.path.join(LAB, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        labhost.ensure_certs()
        done = VM + "-" + recipe()
        if os.path.isdir(done):
            return done
        for old in glob.glob(VM + "-*"):
            shutil.rmtree(old)
        making = done + ".new"
        os.makedirs(making)
        build(making)
        os.rename(making, done)
        return done


def build(folder):
    tree = os.path.join(folder, "tree")
    if IS_OWN:
        run("cp", "-a", "--reflink=auto", labhost.ensure_tree()[0], tree)
        labhost.install(tree, PACKAGES)
        install_kernel(tree)
        run("systemctl", "--root=" + tree, "disable", *DISABLED)
    else:
        foreign.make(tree, KIND.arch, [KERNEL, *PACKAGES])
    version, = os.listdir(tree + "/usr/lib/modules")
    shutil.copyfile("%s/boot/vmlinuz-%s" % (tree, version), folder + "/vmlinuz")
    run("depmod", "-b", tree, version)
    make_initrd(tree, version, folder)
    settle(tree)
    run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", tree, folder + "/root.img",
        str(IMAGE_BYTES >> 10) + "k")
    shutil.rmtree(tree)


def install_kernel(tree):
    """Unpacked, not installed: its scripts would build an initramfs that nobody boots."""
    shutil.copyfile("/etc/resolv.conf", tree + "/etc/resolv.conf")
    name = [line.split()[1] for line in run("chroot", tree, "apt-cache", "depends", KERNEL).splitlines()
            if "Depends: linux-image-" in line][0]
    write(tree + "/tmp/download", "cd /tmp && apt-get %s download %s" % (
        " ".join(labhost.apt_options()), name))
    run("chroot", tree, "sh", "-e", "/tmp/download")
    package, = glob.glob(tree + "/tmp/*.deb")
    foreign.unpack(package, tree)
    os.unlink(package)


def make_initrd(tree, version, folder):
    top = os.path.join(folder, "initrd.d")
    for name in ("bin", "dev", "root", "modules"):
        os.makedirs(os.path.join(top, name))
    shutil.copyfile(tree + "/bin/busybox", top + "/bin/busybox")
    os.chmod(top + "/bin/busybox", 0o755)
    found = {os.path.basename(path)[:-3].replace("-", "_"): path for path in glob.glob(
        "%s/lib/modules/%s/kernel/**/*.ko" % (tree, version), recursive=True)}
    for i, name in enumerate(m.replace("-", "_") for m in MODULES):
        if name in found:
            shutil.copyfile(found[name], "%s/modules/%02d-%s.ko" % (top, i, name))
    write(top + "/init", INIT, 0o755)
    with open(folder + "/initrd", "wb") as out:
        names = run("find", ".", cwd=top)
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input=names.encode(), cwd=top, stdout=out, check=True)
    shutil.rmtree(top)


def settle(tree):
    """The agent that runs the tests' commands, and a machine that is quiet otherwise."""
    for path in agent_files():
        name = os.path.basename(path)
        unit = name.endswith(".service")
        target = tree + ("/etc/systemd/system/" if unit else "/usr/local/sbin/") + name
        shutil.copyfile(path, target)
        os.chmod(target, 0o644 if unit else 0o755)
        if unit:
            run("systemctl", "--root=" + tree, "enable", name)
    run("systemctl", "--root=" + tree, "mask", *MASKED)
    write(tree + "/etc/systemd/system.conf.d/lab.conf",
          "[Manager]\nDefaultTimeoutStartSec=600\nDefaultTimeoutStopSec=60\nLogTarget=journal\n")
    write(tree + "/etc/systemd/journald.conf.d/lab.conf", "[Journal]\nStorage=persistent\nSyncIntervalSec=1s\n")
    write(tree + "/etc/fstab", "")
    write(tree + "/etc/hostname", "vm\n")


__all__ = ["KIND", "LabError", "PROGRAM", "SUITE", "ensure_image", "qemu_is_there"]
