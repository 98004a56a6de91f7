"""What must not be done to a disk, or with a path: one clear line, the exit status, nothing changed."""
import os
import re
import struct

import pytest

import disknode
from disknode import CONF, nodeup, writes
from lab import Lab
from labhost import run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
DATA, USED, SMALL, READ_ONLY, TABLE, BLANK, SECOND = range(7)
# one Linux partition
MBR = bytes(446) + struct.pack("<BBBBBBBBII", 0, 0, 2, 0, 0x83, 0, 2, 0, 2048, 100000) + bytes(48) + b"\x55\xaa"
REFUSED, CONFIG, SYSTEM = 73, 78, 71


@pytest.fixture(scope="module")
def loops():
    with disknode.Loops() as made:
        for index, mib in enumerate((64, 64, 1, 64, 64, 64, 64)):
            made.add(mib, {READ_ONLY: "--read-only", TABLE: "--partscan"}.get(index, "--nooverlap"))
        run("mkfs.ext4", "-q", made.devices[DATA])
        run("mkfs.ext4", "-q", made.devices[USED])
        with open(made.devices[TABLE], "r+b") as f:
            f.write(MBR)
        # this kernel reads no tables of loop devices
        run("addpart", made.devices[TABLE], "1", "2048", "100000")
        yield made


@pytest.fixture(scope="module")
def node(loops):
    with Lab() as lab:
        disks = [*loops.devices, loops.devices[TABLE] + "p1"]
        node = disknode.boot(lab, "refusals", disks, {}, "")
        node.sh("cp %s %s.plain; mkdir /other /taken /full; mount -o ro,noload /dev/xvdc /other; "
                "mount -t tmpfs none /taken; touch /full/file /file; ln -s /full /link; ln -s xvdg /dev/again" % (CONF, CONF))
        yield node
        node.sh("umount /other /taken", check=False)


def state(node, loops):
    """All that a refusal must leave as it is; that there was a run is remembered."""
    return ([writes(device) for device in loops.devices],
            node.sh("find /etc /var/lib/nodeup /var/lib/kubelet /srv /data /full 2>/dev/null | "
                    "grep -vE '^/var/lib/nodeup(/runs.*)?$' | sort", check=False))


# name: (what kube_env.yaml asks for, exit status, what the one line says)
CASES = {
    "data": ("device: /dev/xvdb, path: /data", REFUSED, r"xvdb|loop\d+.* not blank; nothing was written"),
    "other file system": ("device: /dev/xvdb, path: /data, filesystem: xfs, persist: true", REFUSED, "not blank"),
    "mounted elsewhere": ("device: /dev/xvdc, path: /data, persist: false", REFUSED, "not blank|mounted on /other"),
    "ours elsewhere": ("device: /dev/xvdc, path: /data", REFUSED, "mounted on /other; nothing was written"),
    "too small": ("device: /dev/xvdd, path: /data, filesystem: xfs", CONFIG, "too small"),
    "read-only": ("device: /dev/xvde, path: /data", CONFIG, "read-only"),
    "partition table": ("device: /dev/xvdf, path: /data", REFUSED, "not blank"),
    "path in use": ("device: /dev/xvdg, path: /taken", REFUSED, "/taken is in use; nothing was written"),
    "path with files": ("device: /dev/xvdg, path: /full", REFUSED, "/full is in use; nothing was written"),
    "path that is a file": ("device: /dev/xvdg, path: /file", REFUSED, "/file is in use; nothing was written"),
    "path that is a link": ("device: /dev/xvdg, path: /link", REFUSED, "/link is in use; nothing was written"),
    "bind over a mount": ("device: /dev/xvdg, path: /data, binds: [{source: a, target: /taken}]", REFUSED,
                          "/taken is in use: another disk is mounted there"),
    "bind over a link": ("device: /dev/xvdg, path: /data, binds: [{source: a, target: /link}]", REFUSED,
                         "/link is a symbolic link"),
    "partition": ("device: /dev/xvdi, path: /data", CONFIG, "/dev/xvdi is partition 1 of a disk: name the disk"),
    "one disk twice": ("device: /dev/xvdg, path: /data}, {device: /dev/again, path: /more", REFUSED,
                       "it is asked for /(data|more) as well"),
    "one of several with data": ("devices: [/dev/xvdg, /dev/xvdf], path: /data", REFUSED, "not blank"),
    "relative path": ("device: /dev/xvdg, path: data", CONFIG, "'data' is not absolute"),
    "path of the system": ("device: /dev/xvdg, path: /etc", CONFIG, "'/etc' is in use by the system"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(node, loops, name):
    asked, status, message = CASES[name]
    if name == "data":  # of a volume that persists it would be taken as it is
        asked += ", persist: false"
    node.sh("{ cat %s.plain; echo 'volumeMounts: [{%s}]'; } >%s" % (CONF, asked, CONF))
    before = state(node, loops)
    shown = nodeup(node, "plan")
    assert shown.returncode in (2, status) and re.search(message, shown.stdout + shown.stderr), shown
    done = nodeup(node, "apply")
    assert state(node, loops) == before
    assert done.returncode == status, done
    lines = [l for l in done.stderr.splitlines() if re.search(r"FAILED|REFUSED", l)]
    assert len(lines) == 1 and re.search(message, lines[0]), done.stderr
    assert "success" not in done.stdout


def test_another_disk_than_before(node, loops):
    """It has the wanted file system, but the name meant another one when it was recorded."""
    record = "/var/lib/nodeup/volumes/data"
    lines = ("state done", "machine " + disknode.instance_id(node.name), "fs ext4",
             "uuid 11111111-2222-5333-8444-555555555555", "label", "end")
    node.sh("mkdir -p %s; printf '%%s\\n' %s >%s; { cat %s.plain; echo 'volumeMounts: [{device: /dev/xvdb, path: /data}]'; } >%s" % (
        os.path.dirname(record), " ".join("'%s'" % line for line in lines), record, CONF, CONF))
    before = state(node, loops)
    try:
        shown = nodeup(node, "plan")
        assert "it is not the disk of before" in shown.stdout + shown.stderr, shown
        done = nodeup(node, "apply")
        assert done.returncode == REFUSED and state(node, loops) == before, done
        line, = [l for l in done.stderr.splitlines() if re.search("FAILED|REFUSED", l)]
        assert "it is not the disk of before; nothing was written" in line
        assert "11111111-2222-5333-8444-555555555555" in done.stderr and "remove " + record in done.stderr
    finally:
        node.sh("rm " + record)


def test_an_absent_disk_is_waited_for_and_then_named(node, loops):
    node.sh("{ cat %s.plain; echo 'volumeMounts: [{device: /dev/xvdz, path: /data, deviceTimeout: 2s}]'; } >%s" % (
        CONF, CONF))
    before = [writes(device) for device in loops.devices]
    done = nodeup(node, "apply")
    assert done.returncode == SYSTEM, done
    assert "/dev/xvdz is not here" in done.stderr
    assert [writes(device) for device in loops.devices] == before
    assert node.exec("mountpoint", "-q", "/data").returncode


def test_several_disks_need_md_or_btrfs(node, loops):
    """mdadm is in no image, this node reaches no repository, and most kernels of containers have no md."""
    node.sh("{ cat %s.plain; echo 'volumeMounts: [{devices: [/dev/xvdg, /dev/xvdh], path: /data}]'; } >%s" % (CONF, CONF))
    before = state(node, loops)
    if node.exec("grep", "-qF", "[raid0]", "/proc/mdstat").returncode:
        message = "this kernel has no md to make one of 2 disks for ext4; btrfs spans disks without"
        shown = nodeup(node, "plan")
        assert shown.returncode == 2 and message in shown.stdout, shown
        done = nodeup(node, "apply")
        assert done.returncode == CONFIG and state(node, loops) == before, done
        lines = [l for l in done.stderr.splitlines() if "FAILED" in l]
        assert len(lines) == 1 and message in lines[0], done.stderr
        return
    done = nodeup(node, "apply")
    assert done.returncode == SYSTEM, done
    lines = [l for l in done.stderr.splitlines() if "FAILED" in l]
    assert len(lines) == 1 and "FAILED package mdadm for mdadm: " in lines[0], done.stderr
    assert state(node, loops)[0] == before[0]
    assert node.exec("mountpoint", "-q", "/data").returncode
