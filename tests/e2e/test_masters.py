"""A master that looks after its own volumes: attached, formatted, mounted, etcd on them, and all of it
again after a reboot.  etcd is Debian's, started as the manifest says."""
import base64
import os

import pytest

from lab import Lab
from masternode import ENDPOINT, Master, Volumes

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
MAIN, EVENTS = "vol-0a1", "vol-0e1"


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module")
def disks():
    with Volumes() as volumes:
        yield volumes


@pytest.fixture(scope="module")
def master(lab, disks):
    for name in (MAIN, EVENTS):
        disks.add(name)
    m = Master(lab, "etcd-master", disks, {MAIN: ("main", "a/a"), EVENTS: ("events", "a/a")})
    yield m
    m.close()


def text(value):
    return base64.b64encode(value.encode()).decode()


def check_mounts(node):
    for volume, data in ((MAIN, "data"), (EVENTS, "data-events")):
        node.exec("mountpoint", "/mnt/master-" + volume, check=True)
        assert node.exec("stat", "-c", "%a", "/mnt/master-%s/var/etcd/%s" % (volume, data)).stdout.strip() == "700"


def test_from_nothing_to_data_that_survives_a_reboot(master):
    node = master.node
    planned = master.nodeup("plan")
    assert planned.returncode == 2, planned.stdout + planned.stderr
    for volume, name in ((MAIN, "etcd"), (EVENTS, "etcd-events")):
        assert "%s (a/a), available in us-west-2a: attach it as /dev/xvd" % volume in planned.stdout, planned.stdout
        assert "~ etcd /etc/kubernetes/manifests/%s.manifest: '/mnt/master-%s' is not mounted" % (
            name, volume) in planned.stdout, planned.stdout
    assert {f["Action"] for f in master.actions()} == {"DescribeInstances", "DescribeVolumes"}
    done = master.nodeup("apply", "--deadline=150s")
    assert done.returncode == 0, done.stdout + done.stderr + node.journal(lines=60)
    actions = [f["Action"] for f in master.actions()]
    assert actions.count("AttachVolume") == 2 and "DetachVolume" not in actions
    check_mounts(node)
    hosts = node.exec("cat", "/etc/hosts").stdout
    for name in ("etcd-a", "etcd-events-a"):
        assert "172.20.32.20\t%s.internal.abc.joshdurbin.net\n" % name in hosts
    requires = node.show("kubelet.service", "RequiresMountsFor")["RequiresMountsFor"]
    assert "/mnt/master-" + MAIN in requires and "/mnt/master-" + EVENTS in requires

    for name, port in (("etcd", 4001), ("etcd-events", 4002)):
        master.start_etcd(name)
        node.wait(lambda: master.etcd(port, "put", {"key": text("k"), "value": text(name)}), 120, name)

    again = master.nodeup("apply", "--deadline=150s")
    assert again.returncode == 0, again.stdout + again.stderr
    assert " changed" not in again.stderr, again.stderr
    assert [f["Action"] for f in master.actions()].count("AttachVolume") == 2

    node.reboot()
    node.wait_booted(120)
    check_mounts(node)
    # EC2 is down: the disks are here and mounted, which is all that kubelet needs
    asked = len(master.actions())
    assert node.exec("systemctl", "is-active", "kubelet.service").stdout.strip() != "active"
    after = master.nodeup("apply", "--deadline=150s", ec2=(ENDPOINT[0], "1"))
    assert after.returncode == 0, after.stdout + after.stderr
    assert "what the last run was told of them is used" in after.stderr, after.stderr
    assert node.exec("systemctl", "is-active", "kubelet.service").stdout.strip() == "active"
    assert len(master.actions()) == asked
    after = master.nodeup("apply", "--deadline=150s")
    assert after.returncode == 0 and " changed" not in after.stderr, after.stdout + after.stderr
    assert [f["Action"] for f in master.actions()].count("AttachVolume") == 2
    for name, port in (("etcd", 4001), ("etcd-events", 4002)):
        master.start_etcd(name)
        node.wait(lambda: master.etcd(port, "range", {"key": text("k")}), 120, name)
        found = master.etcd(port, "range", {"key": text("k")})
        assert found["kvs"][0]["value"] == text(name), found


def test_etcd_does_not_start_on_the_bare_directory(master):
    """Without its volume kubelet finds no pod: the link leads nowhere."""
    node = master.node
    node.sh("systemctl stop kubelet.service lab-etcd lab-etcd-events; umount /mnt/master-%s" % MAIN)
    assert node.exec("test", "-e", "/etc/kubernetes/manifests/etcd.manifest").returncode == 1
    assert node.exec("test", "-e", "/etc/kubernetes/manifests/etcd-events.manifest").returncode == 0
    done = master.nodeup("apply", "--deadline=150s")
    assert done.returncode == 0, done.stdout + done.stderr
    check_mounts(node)
