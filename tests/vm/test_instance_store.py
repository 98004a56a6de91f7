"""The setting instanceStorePolicy through an instance's life: killed at each step, made, found again under other names, empty after
stop and start, and left alone where there are pods. The tests build on each other, in this order."""
import pytest

import vmnode
from vm import EBS
from vmnode import CONF, disk

# a life takes ten minutes of an emulated processor
pytestmark = pytest.mark.long
SERIALS = ["AWS%016d" % i for i in range(8)]
OTHER = "vol0aaaaaaaaaaaaaaaa"
SETTINGS = "instanceStorePolicy: RAID0\n"
POINT = "/mnt/instance-store"
PLACES = ["/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]
# A run is killed when this program has done its work, or did this.
KILL = """#!/bin/bash
[ -z "{word}" ] || [ "$1" = "{word}" ] || exec {program}.real "$@"
(exec -a {program} {program}.real "$@") || exit
mv {program}.real {program}; kill -9 $PPID
"""


@pytest.fixture(scope="module", params=[1, 2, 8])
def worker(request):
    with vmnode.worker() as made:
        made.serials = SERIALS[:request.param]
        made.known = {s: disk(s) for s in made.serials} | {OTHER: disk(OTHER, EBS)}
        made.documents(SETTINGS)
        made.vm.disks(*made.known.values())
        made.vm.attach(*made.known)
        yield made


def all_writes(worker):
    return [worker.writes(s) for s in worker.known]


def in_place(worker):
    for path in [POINT, *PLACES]:
        assert worker.mounted(path).split()[1:2] == ["ext4"], (path, worker.mounted(path))
    assert ("raid0" in worker.vm.sh("cat /proc/mdstat || true")) == (len(worker.serials) > 1)
    for unit in ("docker.service", "containerd.service", "kubelet.service"):
        assert worker.vm.sh("systemctl is-active " + unit, check=False) == "active", unit
    assert worker.writes(OTHER) == 0, "a volume of EBS was written to"


def test_a_node_with_pods_is_refused_and_nothing_is_written(worker):
    worker.vm.sh("mkdir -p /var/lib/kubelet/pods/6f1")
    done = worker.nodeup("apply", "--deadline=20m")
    worker.vm.sh("rm -r /var/lib/kubelet/pods")
    assert done.code == 78 and "/var/lib/kubelet/pods has 6f1" in done.err, done.err
    assert all_writes(worker) == [0] * len(worker.known)
    assert worker.vm.sh("ls /etc/systemd/system/*.mount 2>/dev/null || true") == ""


@pytest.mark.parametrize("step", ["mdadm", "mkfs", "mount"])
def test_killed_at_each_step(worker, step):
    """It is made good by the run in the next test, which also looks at what was moved."""
    vm = worker.vm
    if step == "mdadm" and len(worker.serials) == 1:
        pytest.skip("one disk takes no array")
    vm.sh("mkdir -p /var/lib/containerd && echo precious >/var/lib/containerd/kept")
    run = "/opt/node/nodeup apply --conf=" + CONF
    if step == "mount":
        vm.sh("systemd-run --unit=killed %s; until mountpoint -q %s; do sleep 0.1; done; systemctl kill -s KILL killed" % (run, POINT))
    else:
        program, word = {"mdadm": ("/usr/sbin/mdadm", "--create"), "mkfs": ("/usr/sbin/mkfs.ext4", "")}[step]
        vm.sh("mv {0} {0}.real".format(program))
        vm.put(program, KILL.format(program=program, word=word), 0o755)
        assert vm.exec(*run.split()).code in (-9, 137)
    assert step == "mount" or not worker.mounted("/var/lib/containerd")


def test_it_is_made_and_what_containerd_had_is_copied(worker):
    worker.apply()
    in_place(worker)
    assert worker.vm.sh("cat /var/lib/containerd/kept") == "precious"


def test_a_second_run_writes_nothing(worker):
    worker.vm.sh("sync; fsfreeze -f " + POINT)
    before = all_writes(worker)
    again = worker.nodeup("apply")
    after = all_writes(worker)
    worker.vm.sh("fsfreeze -u " + POINT)
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


def test_a_lost_disk_is_named_and_the_others_are_left_alone(worker):
    if len(worker.serials) == 1:
        pytest.skip("one disk is no array")
    vm = worker.vm
    vm.disks(*(worker.known[s] for s in worker.known if s != SERIALS[0]))
    vm.reboot()
    vm.wait("journalctl -b -o cat --no-pager -u %s | grep -q 'is not here'" % vmnode.OURS, "the refusal")
    done = worker.nodeup("plan")
    assert "%s of the volume's disks is not here" % SERIALS[0] in done.out, done.out + done.err
    assert [worker.writes(s) for s in worker.known if s != SERIALS[0]] == [0] * (len(worker.known) - 1)
    assert not worker.mounted(POINT)
    for unit in ("docker.service", "containerd.service", "kubelet.service"):
        assert vm.sh("systemctl is-active " + unit, check=False) != "active", unit


def test_after_stop_and_start_it_is_made_anew(worker):
    vm = worker.vm
    vm.disks(*worker.known.values())
    vm.sh(": >/etc/lab-fresh")
    vm.reboot()
    worker.finished()
    vm.wait("systemctl is-active kubelet docker containerd", "the services")
    in_place(worker)
    assert vm.sh("ls /var/lib/containerd/kept 2>/dev/null || true") == ""
