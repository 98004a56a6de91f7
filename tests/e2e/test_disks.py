"""File systems on real block devices: made once, kept for ever. Every kind over as many disks as the
kernel of this machine can do (it has no md: several disks are btrfs')."""
import os

import pytest

import disknode
from disknode import NAMES, findmnt, frozen, nodeup, writes
from lab import Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")

# mount point: (file system, its disks)
VOLUMES = {"/data/ext4": ("ext4", [0]), "/data/xfs": ("xfs", [1]), "/data/one": ("btrfs", [2]),
           "/data/two": ("btrfs", [3, 4]), "/data/four": ("btrfs", [5, 6, 7, 8])}
FILL = 16


def documents():
    lines = ["volumeMounts:"]
    for path, (kind, disks) in VOLUMES.items():
        lines += ["- path: " + path, "  filesystem: " + kind,
                  "  devices: [%s]" % ", ".join(NAMES[i] for i in disks)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def loops():
    with disknode.Loops() as made:
        for _ in range(9):
            made.add()
        yield made


@pytest.fixture(scope="module")
def node(loops):
    with Lab() as lab:
        yield disknode.boot(lab, "disks", loops.devices, {p: d[0] for p, (_, d) in VOLUMES.items()}, documents())


def all_writes(loops):
    return [writes(device) for device in loops.devices]


def test_a_plan_shows_each_disk_and_opens_none_for_writing(node, loops):
    before = all_writes(loops)
    done, opened, programs = disknode.opened_for_writing(node, "plan")
    assert done.returncode == 2, done
    assert not opened, opened
    assert not [p for p in programs if "mkfs" in p or "mount" in p], programs
    lines = done.stdout.splitlines()
    for path, (kind, disks) in VOLUMES.items():
        line, = [l for l in lines if " volume %s:" % path in l]
        assert "mkfs." + kind in line, line
        shown = lines[lines.index(line) + 1:][:len(disks)]
        assert all("320 MiB" in l and "it is blank" in l for l in shown), shown
    assert all_writes(loops) == before


def test_they_are_made_and_mounted(node):
    done = nodeup(node)
    assert done.returncode == 0, done
    for path, (kind, disks) in VOLUMES.items():
        found = findmnt(node, path)
        assert found and found["fstype"] == kind, (path, found)
        assert found["uuid"] == disknode.volume_uuid(disknode.instance_id(node.name), path)
        assert "noatime" in found["options"].split(",")
        if kind == "btrfs":
            shown = node.sh("btrfs filesystem show " + path)
            assert shown.count("devid") == len(disks), shown


def fill(node):
    """Random data in every volume, and its digests."""
    for path, (_, disks) in VOLUMES.items():
        node.sh("dd if=/dev/urandom of=%s/fill bs=1M count=%d status=none && sync -f %s/fill" % (
            path, FILL * len(disks), path))
    return digests(node)


def digests(node):
    return node.sh("sync; echo 3 >/proc/sys/vm/drop_caches 2>/dev/null; sha1sum %s" % " ".join(
        path + "/fill" for path in VOLUMES))


def test_a_second_run_writes_nothing(node, loops):
    with frozen(node, *VOLUMES):
        before = all_writes(loops)
        again = nodeup(node)
        planned = nodeup(node, "plan")
        assert all_writes(loops) == before, "a second run wrote to a disk"
    assert again.returncode == 0, again
    assert planned.returncode == 0, planned


def test_data_outlives_repair_and_reboot(node):
    before = fill(node)
    done = nodeup(node, "repair")
    assert done.returncode == 0, done
    assert digests(node) == before
    uuids = {path: findmnt(node, path)["uuid"] for path in VOLUMES}
    node.reboot()
    for path in VOLUMES:
        node.wait(lambda where=path: findmnt(node, where), 180, path + " to be mounted at boot")
    assert digests(node) == before
    # before it was mounted, by systemd's own unit
    what = "/dev/disk/by-uuid/" + uuids["/data/ext4"]
    check = "systemd-fsck@%s.service" % node.sh("systemd-escape --path " + what).strip()
    assert node.show(check, "Result", "ActiveState") == {"Result": "success", "ActiveState": "active"}
    when = "ActiveEnterTimestampMonotonic"
    assert 0 < int(node.show(check, when)[when]) <= int(node.show("data-ext4.mount", when)[when])
    done = nodeup(node)
    assert done.returncode == 0, done
    assert {path: findmnt(node, path)["uuid"] for path in VOLUMES} == uuids
    assert digests(node) == before


def test_a_damaged_file_system_is_named_and_not_mounted(node):
    """Beyond what a check repairs by itself: ext4 without its root directory."""
    what = "/dev/disk/by-uuid/" + findmnt(node, "/data/ext4")["uuid"]
    check = "systemd-fsck@%s.service" % node.sh("systemd-escape --path " + what).strip()
    node.exec("systemctl", "stop", "data-ext4.mount", check, check=True)
    node.sh("debugfs -w -R 'clri <2>' /dev/xvdb; debugfs -w -R 'ssv state 2' /dev/xvdb")
    done = nodeup(node)
    assert done.returncode == 71, done
    assert "FAILED unit data-ext4.mount: it was not started: %s failed, which it needs" % check in done.stderr
    assert not findmnt(node, "/data/ext4")
    assert node.show("emergency.target", "ActiveState") == {"ActiveState": "inactive"}


def test_units_are_clean(node):
    names = node.sh("cd /etc/systemd/system; ls -d *.mount kubelet.service docker.service.d/.. 2>/dev/null; "
                    "true").split()
    mounts = [name for name in names if name.endswith(".mount")]
    assert len(mounts) == len(VOLUMES)
    # it asks for its folder, and ours is none of the node's
    done = node.exec("env", "-C", "/", "systemd-analyze", "verify", "--man=no",
                     *["/etc/systemd/system/" + m for m in mounts],
                     "/etc/systemd/system/kubelet.service", "docker.service", "local-fs.target")
    assert done.returncode == 0 and not done.stderr.strip(), done
    assert "ordering cycle" not in node.journal()
    assert set(VOLUMES) <= set(node.sh("systemctl show -P RequiresMountsFor kubelet.service").split())
