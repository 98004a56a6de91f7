"""instanceStorePolicy on loop devices that the node sees as EC2's instance store: one disk, and two as btrfs, since the kernel
of this machine has no md. Each node is killed at another call, over and over, while the volume is made."""
import os

import pytest

import disknode
from disknode import findmnt, nodeup, writes
from lab import Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
POINT = "/mnt/instance-store"
PLACES = ["/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]
KEPT = "/var/lib/kubelet/old/file /var/lib/containerd/image"


# file system, disks, the call of nodeup or of one of its tools at which a run is killed; 2: not at each of them, but at the
# first, second, fourth
ROWS = [("ext4", 1, "renameat", 2), *(pytest.param(row, marks=pytest.mark.long) for row in [
    ("btrfs", 2, "renameat", 1), ("ext4", 1, "fsync", 1), ("xfs", 1, "mkdirat", 1), ("ext4", 1, "execve", 1), ("ext4", 1, "sendmsg", 1)])]


@pytest.fixture(scope="module", params=ROWS, ids=lambda row: "-".join(map(str, row[:3])))
def node(request):
    kind, disks, *killed = request.param
    with disknode.Loops() as loops, Lab() as lab:
        for _ in range(disks):
            loops.add(1024)
        folder = os.path.join(loops.dir, "sys")
        nspawn, names = disknode.instance_store(folder, loops.devices)
        made = disknode.boot(lab, "store", loops.devices, {POINT: 0}, "instanceStorePolicy: RAID0\ninstanceStoreFilesystem: %s\n" % kind,
                             docker_dir=False, names=names, nspawn=nspawn)
        made.loops, made.kind, made.names, made.killed = loops, kind, [os.path.basename(n) for n in names], killed
        disknode.show_store(made)
        made.wait_active("docker.service", 300)
        made.sh("mkdir -p /var/lib/kubelet/old && for f in %s; do echo precious >$f; done" % KEPT)
        yield made


def in_place(node):
    for path in [POINT, *PLACES]:
        found = findmnt(node, path)
        assert found and found["fstype"] == node.kind, (path, found)
    assert findmnt(node, POINT)["uuid"] == disknode.volume_uuid(disknode.instance_id(node.name), POINT)


def test_a_plan_names_the_disks_and_writes_nothing(node):
    before = [writes(d) for d in node.loops.devices]
    done = nodeup(node, "plan")
    assert done.returncode == 2, done
    assert " volume %s:" % POINT in done.stdout, (done.stderr[:2000], node.sh("ls -l /sys/block/* /dev/nvme*; grep sys /proc/mounts"))
    line, = [l for l in done.stdout.splitlines() if " volume %s:" % POINT in l]
    assert "mkfs." + node.kind in line and ", ".join(node.names) in line, line
    assert [writes(d) for d in node.loops.devices] == before


def test_with_pods_nothing_is_written(node):
    before = [writes(d) for d in node.loops.devices]
    node.sh("mkdir -p /var/lib/kubelet/pods/6f1")
    done = nodeup(node)
    node.sh("rm -r /var/lib/kubelet/pods")
    assert done.returncode == 78 and "/var/lib/kubelet/pods has 6f1" in done.stderr, done
    assert [writes(d) for d in node.loops.devices] == before
    assert not findmnt(node, POINT)


def test_killed_at_each_step_it_goes_on_and_what_was_there_is_moved(node):
    call, factor = node.killed
    nth, kills = 1, 0
    while True:
        assert nth < 300, "it never came to an end"
        done = node.exec("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=%s:signal=KILL:when=%d" % (call, nth),
                         disknode.NODEUP, "--conf=" + disknode.CONF, timeout=600)
        assert node.sh("cat " + KEPT) == "precious\n" * 2, (call, nth)
        if done.returncode == 0:
            break
        nth, kills = max(nth + 1, nth * factor), kills + 1
    assert kills > 3
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)
    assert node.sh("cat " + KEPT) == "precious\n" * 2


def test_a_second_run_changes_nothing(node):
    before = node.sh("cat /var/lib/nodeup/volumes/*; ls -l /var/lib/nodeup/moved")
    again, planned = nodeup(node), nodeup(node, "plan")
    assert again.returncode == 0 and planned.returncode == 0, (again, planned)
    assert node.sh("cat /var/lib/nodeup/volumes/*; ls -l /var/lib/nodeup/moved") == before
    in_place(node)


def test_a_reboot_keeps_it_whatever_pods_there_are(node):
    node.sh("mkdir -p /var/lib/kubelet/pods/6f1; sync")
    node.reboot()
    disknode.show_store(node)
    node.wait(lambda: all(findmnt(node, path) for path in [POINT, *PLACES]), 180, "the mounts at boot")
    assert node.sh("cat " + KEPT) == "precious\n" * 2
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)
