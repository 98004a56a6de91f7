"""Nodes of kube-up's documents, booted: real systemd and docker, the stand-in of an old kubelet, a volume that is /dev/xvdb."""
import os

import pytest

import disknode
from disknode import findmnt
from kubeupnode import CONF, MASTER, NODE, PD, TAG, Machine, kubeup, with_volume
from lab import Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")


@pytest.fixture(scope="module")
def lab():
    with Lab() as made:
        yield made


def pid(machine, unit):
    return machine.node.show(unit, "MainPID")["MainPID"]


def test_a_node(lab):
    """By its user data; then again, and after a reboot with the server of its documents gone."""
    m = Machine(lab, "kubeup-node", NODE, "1.3.4")
    document = kubeup.text(NODE, "1.3.4", **m.named)
    m.put("var/tmp/user-data", kubeup.zipped(kubeup.script(NODE, document)))
    m.apply("--conf=/var/tmp/user-data")
    m.check_kubelet()
    assert {f"gcr.io/google_containers/kube-proxy:{tag}" for tag in (TAG, m.tag)} <= m.images()
    assert not any("apiserver" in image for image in m.images())
    assert f"gcr.io/google_containers/kube-proxy:{m.tag}" in m.node.sh("cat /etc/kubernetes/manifests/kube-proxy.manifest")
    assert "cbr0" in m.node.sh("ip -o link show cbr0; tr '\\0' ' ' </proc/$(pidof dockerd)/cmdline")
    assert m.node.sh("cat /proc/sys/net/ipv4/ip_forward").strip() == "1"
    before = [pid(m, unit) for unit in ("kubelet.service", "docker.service")]
    done = m.apply()
    assert " changed" not in done, done
    assert [pid(m, unit) for unit in ("kubelet.service", "docker.service")] == before

    m.node.exec("docker", "rmi", f"gcr.io/google_containers/kube-proxy:{m.tag}", check=True)
    assert f"image gcr.io/google_containers/kube-proxy:{m.tag}" in m.nodeup("plan").stdout
    assert f"changed image gcr.io/google_containers/kube-proxy:{m.tag}" in m.apply()
    assert f"gcr.io/google_containers/kube-proxy:{m.tag}" in m.images()

    m.node.reboot()
    m.node.wait_booted(120)
    done = m.apply("--deadline=150s")
    assert "documents kept" in done, done
    m.check_kubelet()


def test_a_master(lab):
    """Keys and data are on its volume, which another document does not change."""
    with disknode.Loops() as loops:
        m = Machine(lab, "kubeup-master", MASTER, "1.5.8", nspawn=with_volume(loops.add(512)))
        m.document()
        m.apply(f"--conf={CONF}")
        m.check_kubelet()
        for image in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
            assert f"gcr.io/google_containers/{image}:{m.tag}" in m.images()
        assert findmnt(m.node, PD)["fstype"] == "ext4"
        assert m.node.sh("stat -c '%a %U' /mnt/master-pd/var/etcd /var/etcd").splitlines() == ["700 etcd"] * 2
        for place in ("/var/etcd", "/srv/kubernetes", "/srv/sshproxy", "/srv/salt-overlay"):
            assert m.node.sh("findmnt -n -o FSROOT --mountpoint " + place).strip() == place
        keys = m.node.sh(f"cat {PD}/srv/kubernetes/* {PD}/srv/salt-overlay/salt/kube-apiserver/*")
        assert "kubelet-token-0001,kubelet,kubelet" in keys and "BEGIN" in keys
        done = m.apply()
        assert " changed" not in done, done

        m.node.reboot()
        m.node.wait_booted(120)
        m.serve()
        m.document(KUBELET_TOKEN="another-token-0005", KUBE_PASSWORD="another-0006")
        done = m.apply()
        assert "the tokens on the volume stay, and the document has others" in done, done
        assert "the password on the volume stays, and the document has another" in done
        m.check_kubelet()
        assert m.node.sh(f"cat {PD}/srv/kubernetes/* {PD}/srv/salt-overlay/salt/kube-apiserver/*") == keys
        m.node.stop()
