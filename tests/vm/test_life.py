"""The disks of one instance through its life: planned, made, found again after a reboot in another
order, late, absent, and empty after stop and start.  The tests build on each other, in this order."""
import json

import pytest

import vmnode
from vm import EBS
from vmnode import INSTANCE, disk, ec2_state

pytestmark = pytest.mark.long
ONE, TWO = "AWS1111111111111111", "AWS2222222222222222"
DATA, LOGS, SWAP = "vol0aaaaaaaaaaaaaaaa", "vol0bbbbbbbbbbbbbbbb", "vol0cccccccccccccccc"
DISKS = {ONE: disk(ONE), TWO: disk(TWO), DATA: disk(DATA, EBS, 400), LOGS: disk(LOGS, EBS), SWAP: disk(SWAP, EBS, 64)}
# A limit that no test waits for is far above what a busy machine takes.
DOCUMENTS = """DOCKER_STORAGE: overlay2
volumeMounts:
- {volumeID: vol-0aaaaaaaaaaaaaaaa, path: /data, filesystem: xfs, deviceTimeout: 30m}
- {volumeID: vol-0bbbbbbbbbbbbbbbb, path: /logs, deviceTimeout: 10s}
- {volumeID: vol-0cccccccccccccccc, filesystem: swap, deviceTimeout: 30m}
"""
BINDS = ["/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]
FILES = "/data/kept /logs/kept"


@pytest.fixture(scope="module")
def worker():
    with vmnode.worker() as made:
        made.documents(DOCUMENTS)
        made.vm.disks(*DISKS.values())
        made.vm.attach(*DISKS)
        yield made


def all_writes(worker):
    return [worker.writes(serial) for serial in DISKS]


def in_place(worker):
    for path in ["/mnt/ephemeral", *BINDS, "/logs"]:
        assert worker.mounted(path).split()[1:2] == ["ext4"], (path, worker.mounted(path))
    assert worker.mounted("/data").split()[1] == "xfs"
    assert worker.vm.sh("swapon --noheadings --show=NAME") == "/dev/" + worker.vm.name_of(SWAP)
    assert "raid0" in worker.vm.sh("cat /proc/mdstat")
    for unit in ("docker.service", "containerd.service", "kubelet.service"):
        assert worker.vm.sh("systemctl is-active " + unit, check=False) == "active", unit


def started_behind_mounts(worker):
    """In this boot nothing was started on a bare directory, neither on top nor below the mounts."""
    worker.vm.sh("mkdir -p /below && mount --bind / /below")
    starts = worker.vm.sh("cat /var/lib/docker/starts /var/lib/containerd/starts /below/var/lib/docker/starts "
                          "/below/var/lib/containerd/starts 2>/dev/null; umount /below")
    this_boot = [line.split()[1] for line in starts.splitlines() if line.startswith(worker.vm.boot_id)]
    assert len(this_boot) >= 2 and set(this_boot) == {"mounted"}, starts
    for service, mounts in (("docker", ["var-lib-docker"]), ("containerd", ["var-lib-containerd"]),
                            ("kubelet", ["var-lib-kubelet", "data", "logs"])):
        entered, *before = worker.order(service + ".service", *(m + ".mount" for m in mounts))
        assert 0 < max(before) < entered, (service, before, entered)
    assert "ordering cycle" not in worker.vm.sh("journalctl -b --no-pager")


def test_a_plan_touches_no_disk(worker):
    before = all_writes(worker)
    done = worker.nodeup("plan")
    assert done.code == 2, done.out + done.err
    for text in ("volume /mnt/ephemeral: nvme0n1, nvme1n1 (instance store %s, 300 MiB) are blank: mdadm, mkfs.ext4" % ONE,
                 "volume /data: nvme2n1 (EBS vol-0aaaaaaaaaaaaaaaa, 400 MiB) is blank: mkfs.xfs",
                 "volume /logs: nvme3n1 (EBS vol-0bbbbbbbbbbbbbbbb, 300 MiB) is blank: mkfs.ext4",
                 "volume swap: nvme4n1 (EBS vol-0cccccccccccccccc, 64 MiB) is blank: mkswap"):
        assert text in done.out, done.out
    assert all_writes(worker) == before == [0] * len(DISKS)


def test_disks_are_made_and_what_docker_had_is_moved(worker):
    worker.vm.sh("systemctl start docker && echo precious >/var/lib/docker/kept")
    worker.apply()
    in_place(worker)
    assert worker.vm.sh("cat /var/lib/docker/kept") == "precious"
    for path in FILES.split():
        worker.vm.sh("echo kept on %s >%s; sync" % (path, path))


def test_a_second_run_writes_nothing(worker):
    """File systems write nothing of their own meanwhile: their journals, and tables that are made lazily."""
    frozen = "/mnt/ephemeral /data /logs"
    worker.vm.sh("sync; for p in %s; do fsfreeze -f $p; done" % frozen)
    before = all_writes(worker)
    planned, again = worker.nodeup("plan"), worker.nodeup("apply")
    after = all_writes(worker)
    worker.vm.sh("for p in %s; do fsfreeze -u $p; done" % frozen)
    assert planned.code == 0, planned.out + planned.err
    assert again.code == 0 and "changed" not in again.err.replace(" 0 changed", ""), again.err
    assert after == before


def test_boot_goes_on_without_disks_and_takes_them_when_they_come(worker):
    """The reboot finds those that are here under other names; one is late, one exceeds its limit."""
    vm = worker.vm
    vm.sh("systemctl enable docker containerd")
    done = worker.nodeup("--install-systemd-unit")
    assert done.code == 0 and done.out.splitlines()[-1] == "service installed", done.out + done.err
    worker.finished()
    uuid = worker.mounted("/data").split()[2]
    # EC2 says that all are attached
    vm.put("/etc/lab-ec2.json", json.dumps(ec2_state({
        "vol-" + serial[3:]: {"instance": INSTANCE, "device": "/dev/xvd" + letter}
        for serial, letter in zip((DATA, LOGS, SWAP), "fgh")})))
    vm.disks(DISKS[SWAP], DISKS[TWO], DISKS[ONE])
    vm.reboot()
    vm.wait("for u in local-fs.target docker containerd; do systemctl is-active $u || exit 1; done; "
            "[ -z \"$(systemctl show -P Job logs.mount)\" ]",
            "the boot, and the end of the wait for /logs")
    assert vm.name_of(ONE) == "nvme2n1"
    # so early a boot that the journal may lack what is said of it
    assert vm.sh("systemctl show -P ActiveState logs.mount") == "inactive"
    assert vm.exec("systemctl", "start", "kubelet").code != 0
    assert "Dependency failed for" in vm.sh("journalctl -b --no-pager -u logs.mount -u kubelet.service")
    assert set(vm.sh("systemctl show -P ActiveState -P ExecMainStartTimestampMonotonic kubelet").split()) == {"inactive", "0"}
    assert vm.sh("systemctl show -P Job data.mount"), "nobody waits for the late disk"
    assert vm.sh("ls -A /data /logs") == "/data:\n\n/logs:", "something is written to the bare directories"
    vm.disks(*(DISKS[s] for s in (SWAP, TWO, ONE, LOGS, DATA)))
    vm.attach(LOGS, DATA)
    worker.finished()
    in_place(worker)
    started_behind_mounts(worker)
    assert worker.mounted("/data").split()[2] == uuid
    assert vm.sh("cat %s /var/lib/docker/kept" % FILES).splitlines() == [
        "kept on /data/kept", "kept on /logs/kept", "precious"]


def test_after_stop_and_start_the_instance_store_is_made_anew(worker):
    """Empty disks in yet another order: formatted by the run at boot, docker behind it; EBS is kept."""
    vm = worker.vm
    vm.disks(*(DISKS[s] for s in (DATA, ONE, LOGS, TWO, SWAP)))
    vm.sh(": >/etc/lab-fresh")
    vm.reboot()
    worker.finished()
    vm.wait("systemctl is-active kubelet docker containerd", "the services")
    in_place(worker)
    started_behind_mounts(worker)
    assert vm.exec("test", "-e", "/var/lib/docker/kept").code == 1, "the old content is there"
    assert vm.sh("cat " + FILES).splitlines() == ["kept on /data/kept", "kept on /logs/kept"]
