"""What the virtual machine boots from, made once: Debian's cloud kernel, an initramfs of a few
modules, and the lab's tree with udev, md and device-mapper tools as an ext4 image."""
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import labhost  # noqa: E402
from labhost import LAB, SUITE, LabError, run, write  # noqa: E402

VM = os.path.join(LAB, "vm")
QEMU = "/usr/bin/qemu-system-x86_64"
IMAGE_BYTES = 3 << 30  # sparse
PACKAGES = ["udev", "mdadm", "dmsetup", "busybox-static"]
KERNEL = "linux-image-cloud-amd64"
# In this order: each needs those before it. What the kernel has built in is passed over.
MODULES = ("virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk "
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
          "getty@tty1.service serial-getty@ttyS0.service mdmonitor.service mdcheck_start.timer "
          "mdcheck_continue.timer mdmonitor-oneshot.timer fstrim.timer "
          "systemd-update-utmp.service").split()
# docker is started by nodeup alone; the copies of the host's settings are for containers
DISABLED = "docker.service docker.socket containerd.service lab-sysctl.service".split()


def qemu_is_there():
    return os.path.exists(QEMU)


def agent_files():
    return sorted(glob.glob(HERE + "/guest/lab-agent*"))


def recipe():
    parts = [labhost.recipe(), PACKAGES, KERNEL, MODULES, INIT, MASKED, DISABLED]
    for path in agent_files() + [__file__]:
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
        build(labhost.ensure_tree()[0], making)
        os.rename(making, done)
        return done


def build(lower, folder):
    tree = os.path.join(folder, "tree")
    run("cp", "-a", "--reflink=auto", lower, tree)
    labhost.install(tree, PACKAGES)
    os.makedirs(tree + "/usr/lib/modules", exist_ok=True)
    version = install_kernel(tree, folder)
    make_initrd(tree, version, folder)
    settle(tree)
    run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", tree, folder + "/root.img",
        str(IMAGE_BYTES >> 10) + "k")
    shutil.rmtree(tree)


def install_kernel(tree, folder):
    """Unpacked, not installed: its scripts would build an initramfs that nobody boots."""
    shutil.copyfile("/etc/resolv.conf", tree + "/etc/resolv.conf")
    name = [line.split()[1] for line in run("chroot", tree, "apt-cache", "depends", KERNEL).splitlines()
            if "Depends: linux-image-" in line][0]
    write(tree + "/tmp/download", "cd /tmp && apt-get %s download %s" % (
        " ".join(labhost.apt_options()), name))
    run("chroot", tree, "sh", "-e", "/tmp/download")
    package, = glob.glob(tree + "/tmp/*.deb")
    version = name.removeprefix("linux-image-")
    unpacked = tree + "/tmp/kernel"  # not over the tree: its /lib is a link
    run("dpkg-deb", "-x", package, unpacked)
    shutil.move("%s/lib/modules/%s" % (unpacked, version), tree + "/usr/lib/modules/" + version)
    shutil.copyfile("%s/boot/vmlinuz-%s" % (unpacked, version), folder + "/vmlinuz")
    shutil.rmtree(unpacked)
    os.unlink(package)
    run("chroot", tree, "depmod", version)
    return version


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
        subprocess.run([tree + "/bin/busybox", "cpio", "-o", "-H", "newc"], input=names.encode(), cwd=top,
                       stdout=out, stderr=subprocess.DEVNULL, check=True)
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
    run("systemctl", "--root=" + tree, "disable", *DISABLED)
    write(tree + "/etc/systemd/system.conf.d/lab.conf",
          "[Manager]\nDefaultTimeoutStartSec=600\nDefaultTimeoutStopSec=60\nLogTarget=journal\n")
    write(tree + "/etc/systemd/journald.conf.d/lab.conf", "[Journal]\nStorage=persistent\nSyncIntervalSec=1s\n")
    write(tree + "/etc/fstab", "")
    write(tree + "/etc/hostname", "vm\n")


__all__ = ["LabError", "SUITE", "ensure_image", "qemu_is_there"]
