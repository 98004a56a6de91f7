"""The setting instanceStorePolicy through an instance's life: made at once, found again under other names, empty after stop and
start, and left alone where there are pods. The tests build on each other, in this order."""
import pytest

import vmnode
from vm import EBS
from vmnode import disk

SERIALS = ["AWS%016d" % i for i in range(8)]
OTHER = "vol0aaaaaaaaaaaaaaaa"
SETTINGS = "instanceStorePolicy: RAID0\n"
PLACES = ["/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]


@pytest.fixture(scope="module", params=[1, 2, 8])
def worker(request):
    with vmnode.worker() as made:
        made.serials = SERIALS[:request.param]
        made.known = {s: disk(s) for s in made.serials} | {OTHER: disk(OTHER, EBS)}
        made.documents(SETTINGS)
        made.vm.disks(*made.known.values())
        made.vm.attach(*made.known)
        yield made


def in_place(worker):
    for path in ["/mnt/instance-store", *PLACES]:
        assert worker.mounted(path).split()[1:2] == ["ext4"], (path, worker.mounted(path))
    assert ("raid0" in worker.vm.sh("cat /proc/mdstat")) == (len(worker.serials) > 1)
    for unit in ("docker.service", "containerd.service", "kubelet.service"):
        assert worker.vm.sh("systemctl is-active " + unit, check=False) == "active", unit
    assert worker.writes(OTHER) == 0, "a volume of EBS was written to"


def test_a_node_with_pods_is_refused_and_nothing_is_written(worker):
    worker.vm.sh("mkdir -p /var/lib/kubelet/pods/6f1")
    done = worker.nodeup("apply", "--deadline=20m")
    worker.vm.sh("rm -r /var/lib/kubelet/pods")
    assert done.code == 78 and "/var/lib/kubelet/pods has 6f1" in done.err, done.err
    assert [worker.writes(s) for s in worker.known] == [0] * len(worker.known)
    assert worker.vm.sh("ls /etc/systemd/system/*.mount 2>/dev/null || true") == ""


def test_it_is_made_and_what_containerd_had_is_copied(worker):
    worker.vm.sh("mkdir -p /var/lib/containerd && echo precious >/var/lib/containerd/kept")
    worker.apply()
    in_place(worker)
    assert worker.vm.sh("cat /var/lib/containerd/kept") == "precious"


def test_a_second_run_writes_nothing(worker):
    worker.vm.sh("sync; fsfreeze -f /mnt/instance-store")
    before = [worker.writes(s) for s in worker.known]
    again = worker.nodeup("apply")
    after = [worker.writes(s) for s in worker.known]
    worker.vm.sh("fsfreeze -u /mnt/instance-store")
    assert again.code == 0 and after == before, again.err


def test_a_reboot_finds_it_under_other_names_whatever_pods_there_are(worker):
    vm = worker.vm
    done = worker.nodeup("--install-systemd-unit")
    assert done.code == 0, done.out + done.err
    worker.finished()
    vm.sh("systemctl enable docker containerd; mkdir -p /var/lib/kubelet/pods/6f1")
    vm.disks(*reversed(worker.known.values()))
    vm.reboot()
    worker.finished()
    vm.wait("systemctl is-active kubelet docker containerd", "the services")
    in_place(worker)
    assert vm.sh("cat /var/lib/containerd/kept") == "precious"


def test_after_stop_and_start_it_is_made_anew(worker):
    vm = worker.vm
    vm.disks(*worker.known.values())
    vm.sh(": >/etc/lab-fresh")
    vm.reboot()
    worker.finished()
    vm.wait("systemctl is-active kubelet docker containerd", "the services")
    in_place(worker)
    assert vm.sh("ls /var/lib/containerd/kept 2>/dev/null || true") == ""
