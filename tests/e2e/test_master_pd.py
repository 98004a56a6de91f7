"""A master as kube-up made them: one volume at /mnt/master-pd, with etcd's data, keys and tokens on it."""
import base64
import os
import re

import labassets
import pytest

import disknode
from disknode import findmnt
from lab import Lab
from masternode import CONF, MASTER, NODEUP, Master, etcd_binary
from labhost import run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
PD = "/mnt/master-pd"
PLACES = ("/var/etcd", "/srv/kubernetes", "/srv/sshproxy")


class PdMaster(Master):
    """No EC2 is asked: the volume is a device of the documents."""

    def __init__(self, lab, name, device):
        name += "-" + os.urandom(4).hex()
        script = labassets.documents_only(labassets.seed_user_data(MASTER, lab.assets))
        script = re.sub(r"protokubeImage:\n(  .*\n)+", "volumeMounts:\n- {device: /dev/xvdb, path: %s}\n" % PD, script)
        self.node = lab.boot(name, MASTER, script, nspawn=[
            "--property=DeviceAllow=block-loop rwm", "--bind=%s:/dev/xvdb" % device,
            "--bind=%s:/dev/disk/by-uuid/%s" % (device, disknode.volume_uuid(disknode.instance_id(name), PD))])
        self.node.wait(lambda: "status: done" in self.node.exec("cloud-init", "status").stdout, 300, "cloud-init")
        run("cp", etcd_binary(), os.path.join(self.node.root, "usr/local/bin/etcd"))

    def nodeup(self, *arguments):
        return self.node.exec(NODEUP, *arguments, "--conf=" + CONF, timeout=400)


@pytest.fixture(scope="module")
def master():
    with disknode.Loops() as loops, Lab() as lab:
        yield PdMaster(lab, "master-pd", loops.add(512))


def text(value):
    return base64.b64encode(value.encode()).decode()


def check_places(node):
    assert findmnt(node, PD)["fstype"] == "ext4"
    for place in PLACES:
        assert node.sh("findmnt -n -o FSROOT --mountpoint " + place).strip() == place
    assert node.sh("stat -c '%a %U' /var/etcd /mnt/master-pd/var/etcd").splitlines() == ["700 root"] * 2
    assert node.sh("cat %s/srv/kubernetes/of-before %s/var/etcd/of-before" % (PD, PD)) == "key\ndata\n"
    node.sh("test -s %s/srv/kubernetes/ca.crt && cmp %s/srv/kubernetes/ca.crt /srv/kubernetes/ca.crt" % (PD, PD))


def test_data_of_a_master_is_on_its_volume(master):
    node = master.node
    node.sh("mkdir -p -m 700 /var/etcd && mkdir -p /srv/kubernetes && echo data >/var/etcd/of-before && "
            "echo key >/srv/kubernetes/of-before")
    done = master.nodeup("apply", "--deadline=150s")
    assert done.returncode == 0, done.stdout + done.stderr
    check_places(node)
    hosts = node.exec("cat", "/etc/hosts").stdout
    for name, port in (("etcd", 4001), ("etcd-events", 4002)):
        assert re.search(r"^[0-9.]+\t%s-a\.internal\.abc\.joshdurbin\.net$" % name, hosts, re.M), hosts
        master.start_etcd(name)
        node.wait(lambda: master.etcd(port, "put", {"key": text("k"), "value": text(name)}), 120, name)
    again = master.nodeup("apply", "--deadline=150s")
    assert again.returncode == 0 and " changed" not in again.stderr, again.stdout + again.stderr

    node.reboot()
    node.wait_booted(120)
    check_places(node)
    done = master.nodeup("apply", "--deadline=150s")
    assert done.returncode == 0, done.stdout + done.stderr
    for name, port in (("etcd", 4001), ("etcd-events", 4002)):
        master.start_etcd(name)
        node.wait(lambda: master.etcd(port, "range", {"key": text("k")}), 120, name)
        assert master.etcd(port, "range", {"key": text("k")})["kvs"][0]["value"] == text(name)
