"""Booted nodes with disks: loop devices over sparse files, seen in the node as /dev/xvdb and on.

There is no udev in a container, so the links of /dev/disk/by-uuid are made by hand: the UUIDs are
derived, so that they are known beforehand (nodeup/tasks/volume_uuid.c).
"""
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap

import labassets
from labhost import run

MIB = 1 << 20
NAMES = ["/dev/xvd" + letter for letter in "bcdefghijklmnop"]
CONF = "/var/cache/kubernetes-install/kube_env.yaml"
NODEUP = "/var/cache/kubernetes-install/nodeup"
SYS_BLOCK = "/srv/sys-block"
RECORD = "/run/lab/strace"


class Loops:
    """Loop devices over files on the real disk; all of them are gone after the with block."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="nodeup-disks-", dir="/var/tmp")
        self.devices = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for device in self.devices:
            subprocess.run(["losetup", "-d", device], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def add(self, mib=320, *options):
        path = os.path.join(self.dir, str(len(self.devices)))
        with open(path, "wb") as f:
            f.truncate(mib * MIB)
        device = run("losetup", "--find", "--show", *options, path).strip()
        self.devices.append(device)
        return device

    def fresh(self, device):
        """As an instance store is after stop and start: the same disk, empty."""
        path = os.path.join(self.dir, str(self.devices.index(device)))
        size = os.path.getsize(path)
        os.truncate(path, 0)
        os.truncate(path, size)
        run("blockdev", "--flushbufs", device)


def instance_id(name):
    return "i-0" + hashlib.sha1(name.encode()).hexdigest()[:16]


def volume_uuid(owner, name):
    digest = bytearray(hashlib.sha256(b"nodeup volume\0%s\0%s\0" % (owner.encode(), name.encode())).digest())
    digest[6] = digest[6] & 0x0f | 0x50
    digest[8] = digest[8] & 0x3f | 0x80
    text = digest[:16].hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def boot(lab, name, loops, volumes, documents, more_facts=(), docker_dir=True, names=NAMES, nspawn=()):
    """A worker that has nodeup and its documents, and ran nothing. loops: its disks in the order of
    names; nspawn: further arguments; volumes: name to the index of the disk that udev's link would point to; documents: lines
    for kube_env.yaml. The node's name, and with it every UUID, is its own: the kernel knows btrfs by
    its UUID alone, whoever mounts it."""
    name += "-" + os.urandom(4).hex()
    arguments = ["--property=DeviceAllow=block-loop rwm", "--property=DeviceAllow=/dev/btrfs-control rwm", *nspawn]
    if os.path.exists("/dev/btrfs-control"):
        arguments.append("--bind=/dev/btrfs-control")
    for device, path in zip(loops, names):
        arguments.append("--bind=%s:%s" % (device, path))
    for volume, index in volumes.items():
        arguments.append("--bind=%s:/dev/disk/by-uuid/%s" % (
            loops[index], volume_uuid(instance_id(name), volume)))
    script = labassets.documents_only(labassets.seed_user_data("nodes", lab.assets))
    mark = "__EOF_KUBE_ENV\n"
    head, tail = script.rsplit(mark, 1)
    script = head + textwrap.dedent(documents) + mark + tail
    node = lab.boot(name, "nodes", script, nspawn=arguments, more_facts=more_facts, docker_dir=docker_dir)
    node.wait_cloud_init(300)
    return node


def nodeup(node, *arguments, timeout=300):
    return node.exec(NODEUP, *arguments, "--conf=" + CONF, timeout=timeout)


def writes(device):
    """(writes, sectors written) that the kernel has counted."""
    with open("/sys/block/%s/stat" % os.path.basename(device)) as f:
        fields = f.read().split()
    return int(fields[4]), int(fields[6])


@contextlib.contextmanager
def frozen(node, *paths):
    """The file systems write nothing of their own meanwhile (journals, tables made lazily)."""
    held = []
    try:
        for path in paths:
            node.exec("fsfreeze", "-f", path, check=True)
            held.append(path)
        yield
    finally:
        for path in held:
            node.exec("fsfreeze", "-u", path)


def opened_for_writing(node, *arguments):
    """Run nodeup under strace: (its result, paths of /dev that any of its processes opened for
    writing or as their one user, programs that it started)."""
    done = node.exec("strace", "-f", "-qq", "-s", "300", "-o", RECORD, "-e",
                     "trace=open,openat,openat2,execve,creat", NODEUP, *arguments, "--conf=" + CONF, timeout=300)
    text = node.exec("cat", RECORD, check=True).stdout
    found = [m[1] for m in re.finditer(r'"(?:/dev/|dev/)?((?:xvd|loop|disk/)[^"]*)".*?O_(?:WRONLY|RDWR|EXCL)', text)]
    return done, found, re.findall(r'execve\("([^"]*)"', text)


def instance_store(folder, devices):
    """A folder in which these loop devices are EC2's instance store: its arguments of nspawn, their names. show_store()
    puts it in the place of /sys/block, again after each boot: nspawn cannot."""
    for i, device in enumerate(devices):
        disk = os.path.join(folder, "nvme%dn1" % (i + 1))
        real = "/sys/block/%s/" % os.path.basename(device)
        os.makedirs(disk + "/device")
        for attr in ("dev", "size", "ro", "diskseq"):
            shutil.copyfile(real + attr, os.path.join(disk, attr))
        for attr, text in (("device/model", "Amazon EC2 NVMe Instance Storage"), ("device/serial", "AWS%016d" % i), ("uevent", "")):
            with open(os.path.join(disk, attr), "w") as f:
                f.write(text + "\n")
    return ["--bind=%s:%s" % (folder, SYS_BLOCK)], ["/dev/nvme%dn1" % (i + 1) for i in range(len(devices))]


def show_store(node):
    node.exec("mount", "--bind", SYS_BLOCK, "/sys/block", check=True)


def findmnt(node, path):
    """SOURCE, FSTYPE and OPTIONS of what is mounted exactly there, or None."""
    done = node.exec("findmnt", "--json", "--mountpoint", path, "-o", "SOURCE,FSTYPE,OPTIONS,UUID")
    return json.loads(done.stdout)["filesystems"][-1] if done.returncode == 0 else None
