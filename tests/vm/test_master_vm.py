"""A master's two etcd volumes on a machine with udev: attached on demand, known by their NVMe serial
numbers and by nothing else, and found again after a reboot under other names."""
import json

import pytest

import vmnode
from vm import EBS
from vmnode import ENDPOINT, INSTANCE, disk, ec2_state

MAIN, EVENTS, OTHER = "vol-0aaaaaaaaaaaaaaaa", "vol-0eeeeeeeeeeeeeeee", "vol-0fffffffffffffff0"
ETCD = {MAIN: "main", EVENTS: "events"}
PODS = {MAIN: "etcd", EVENTS: "etcd-events"}
DISKS = {v: disk(v.replace("-", ""), EBS, 128) for v in (MAIN, EVENTS, OTHER)}


@pytest.fixture(scope="module")
def master():
    with vmnode.master() as made:
        tags = {"KubernetesCluster": "abc.joshdurbin.net", "k8s.io/role/master": "1"}
        state = ec2_state({OTHER: {"instance": INSTANCE, "device": "/dev/xvdf"},
                           **{v: {"tags": {**tags, "k8s.io/etcd/" + etcd: "a/a"}} for v, etcd in ETCD.items()}})
        made.documents("")
        made.vm.put("/etc/lab-ec2.json", json.dumps(state))
        # of the other it is here first
        made.vm.disks(DISKS[OTHER], *(dict(DISKS[v], later=True) for v in ETCD))
        made.vm.attach(DISKS[OTHER]["serial"])
        made.vm.sh("systemctl start lab-ec2 lab-hand")
        made.vm.wait("curl -sf %s/__get" % ENDPOINT, "EC2")
        yield made


def actions(master):
    return [form["Action"] for form in json.loads(master.vm.sh("curl -sf %s/__log" % ENDPOINT))]


def on_their_own_disks(master):
    vm = master.vm
    for volume in ETCD:
        where = "/mnt/master-" + volume
        source, kind = master.mounted(where).split()[:2]
        assert (source, kind) == ("/dev/" + vm.name_of(DISKS[volume]["serial"]), "ext4"), volume
        assert "/mnt/master-" + volume in vm.sh("readlink /etc/kubernetes/manifests/%s.manifest" % PODS[volume])
        vm.sh("test -s /etc/kubernetes/manifests/%s.manifest" % PODS[volume])
        kubelet, mount = master.order("kubelet.service", vm.sh("systemd-escape -p --suffix=mount " + where))
        assert 0 < mount < kubelet
    assert set(vm.sh("systemctl show -P RequiresMountsFor kubelet").split()) >= {"/mnt/master-" + v for v in ETCD}
    assert master.writes(DISKS[OTHER]["serial"]) == 0


def test_both_are_attached_and_mounted_by_serial_number(master):
    planned = master.nodeup("plan")
    assert planned.code == 2, planned.out + planned.err
    for volume in ETCD:
        assert "%s (a/a), available in us-west-2a: attach it as /dev/xvd" % volume in planned.out, planned.out
    assert set(actions(master)) == {"DescribeInstances", "DescribeVolumes"}
    assert not master.vm.sh("ls -A /var/lab-disks").count("vol0a"), "it was attached by a plan"
    master.apply()
    assert sorted(a for a in actions(master) if "Describe" not in a) == ["AttachVolume"] * 2
    on_their_own_disks(master)
    for volume in ETCD:
        master.vm.sh("echo %s >/mnt/master-%s/var/etcd/kept; sync" % (volume, volume))


def test_a_second_run_asks_and_does_nothing_else(master):
    master.vm.sh("for v in %s %s; do fsfreeze -f /mnt/master-$v; done" % (MAIN, EVENTS))
    before = [master.writes(DISKS[v]["serial"]) for v in ETCD]
    again = master.nodeup("apply", "--deadline=20m")
    after = [master.writes(DISKS[v]["serial"]) for v in ETCD]
    master.vm.sh("for v in %s %s; do fsfreeze -u /mnt/master-$v; done" % (MAIN, EVENTS))
    assert again.code == 0 and " changed " not in again.err, again.err
    assert after == before
    assert actions(master).count("AttachVolume") == 2 and "DetachVolume" not in actions(master)


def test_a_reboot_finds_them_under_other_names(master):
    vm = master.vm
    done = master.nodeup("--install-systemd-unit")
    assert done.code == 0, done.out + done.err
    master.finished()
    before = {v: vm.name_of(DISKS[v]["serial"]) for v in ETCD}
    # what EC2 knows outlives the machine
    vm.sh("curl -sf %s/__get >/etc/lab-ec2.new && mv /etc/lab-ec2.new /etc/lab-ec2.json" % ENDPOINT)
    vm.disks(DISKS[EVENTS], DISKS[MAIN], DISKS[OTHER])
    vm.reboot()
    master.finished()
    vm.wait("systemctl is-active kubelet", "kubelet")
    assert {v: vm.name_of(DISKS[v]["serial"]) for v in ETCD} != before
    on_their_own_disks(master)
    for volume in ETCD:
        assert vm.sh("cat /mnt/master-%s/var/etcd/kept" % volume) == volume
    assert not [a for a in actions(master) if "Describe" not in a]
    assert "ordering cycle" not in vm.sh("journalctl -b --no-pager")
