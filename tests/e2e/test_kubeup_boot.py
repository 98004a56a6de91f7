"""Nodes of kube-up's documents, booted: real systemd and docker, the stand-in of an old kubelet, a volume that is /dev/xvdb."""
import contextlib
import os
import re
import subprocess

import pytest

import disknode
import nodechecks
import refused
from disknode import findmnt
from kubeupnode import CONF, MASTER, NODE, PD, TAG, Machine, kubeup, with_volume
from lab import Lab

CONFIG, REFUSED = 78, 73
SETTINGS = "/etc/nodeup/nodeup.d/lab.yaml"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")


@pytest.fixture(scope="module")
def lab():
    with Lab() as made:
        yield made


def pid(machine, unit):
    return machine.node.show(unit, "MainPID")["MainPID"]


@pytest.mark.long
def test_a_node(lab):
    """By its user data; then again, after a reboot with the server of its documents gone, and with another token."""
    m = Machine(lab, "kubeup-node", NODE, "1.3.4")
    document = kubeup.text(NODE, "1.3.4", **m.named)
    m.put("var/tmp/user-data", kubeup.zipped(kubeup.script(NODE, document)))
    m.node.sh(f"mv {SETTINGS} /root")
    done = m.nodeup("apply", "--conf=/var/tmp/user-data")
    assert done.returncode == CONFIG and re.search(r"Kubernetes 1\.3\S* cannot run here: .*cgroup v2", done.stderr), done.stderr
    assert not os.path.exists(m.node.root + "/usr/local/bin/kubelet") and not os.path.exists(m.node.root + "/etc/sysconfig/kubelet")
    # the document may say it, as the settings of the machine may
    m.put("var/tmp/user-data", kubeup.zipped(kubeup.script(NODE, document + "ignoreHostChecks: true\n")))
    m.apply("--conf=/var/tmp/user-data")
    m.node.sh(f"mv /root/lab.yaml {SETTINGS}")
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

    nodechecks.check_lost_units(m.node, m.apply)
    m.check_kubelet()

    m.node.exec("docker", "rmi", f"gcr.io/google_containers/kube-proxy:{m.tag}", check=True)
    assert f"image gcr.io/google_containers/kube-proxy:{m.tag}" in m.nodeup("plan").stdout
    assert f"changed image gcr.io/google_containers/kube-proxy:{m.tag}" in m.apply()
    assert f"gcr.io/google_containers/kube-proxy:{m.tag}" in m.images()

    m.node.reboot()
    m.node.wait_booted(120)
    done = m.apply("--deadline=150s")
    assert "documents kept" in done, done
    m.check_kubelet()

    m.serve()
    m.document(KUBE_PROXY_TOKEN="another-token-0007")
    done = m.apply(f"--conf={CONF}")
    assert "changed file /var/lib/kube-proxy/kubeconfig" in done and "another-token" not in done, done
    assert "token: another-token-0007" in m.node.sh("cat /var/lib/kube-proxy/kubeconfig")
    m.check_kubelet()


@contextlib.contextmanager
def newly_refused(m):
    """What a nodeup took before it knew what the API server takes. The document lies on the node alone."""
    m.document(NODE_LABELS="a=b c")
    yield
    m.document()


@pytest.mark.long
def test_a_refused_boot_leaves_kubelet_started(lab):
    """Its unit has an [Install], and is not enabled; what an older nodeup left says that a run starts it."""
    m = Machine(lab, "kubeup-refused", NODE, "1.5.8")
    m.document()
    done = m.nodeup("--install-systemd-unit", f"--conf={CONF}", "--wait=150s")
    assert done.returncode == 0, done
    units = ["docker.service", "kubelet.service"]
    with refused.Refused(m.node, ["/opt/nodeup-test"], units, lambda: refused.bad_document(m.node, CONF)) as r:
        r.by_hand()
        r.boot_and_work()
    m.serve()
    r.mended()
    with refused.Refused(m.node, ["/opt/nodeup-test"], units, lambda: newly_refused(m)) as r:
        m.node.sh("rm " + refused.RECORDS)
        r.boot_and_work("NODE_LABELS: expected labels")
    m.serve()
    r.mended()
    m.node.stop()


def test_a_master(lab):
    """Keys and data are on its volume, which another document does not change."""
    with disknode.Loops() as loops:
        device = loops.add(512)
        subprocess.run(["mkswap", device], check=True, capture_output=True)
        m = Machine(lab, "kubeup-master", MASTER, "1.5.8", nspawn=with_volume(device))
        m.document()
        done = m.nodeup("apply", f"--conf={CONF}")
        assert done.returncode == REFUSED and "for /mnt/master-pd: not blank; nothing was written" in done.stderr, done
        assert b"SWAPSPACE2" in subprocess.run(["head", "-c", "8192", device], check=True, capture_output=True).stdout
        assert m.node.show("kubelet.service", "ActiveState") == {"ActiveState": "inactive"}
        loops.fresh(device)
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
        done = m.apply()
        assert "on the volume" not in done and "changed file" not in done, done
        m.check_kubelet()
        assert m.node.sh(f"cat {PD}/srv/kubernetes/* {PD}/srv/salt-overlay/salt/kube-apiserver/*") == keys

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


@pytest.mark.long
def test_a_master_of_1_2(lab):
    """Its addons are made by a unit, of images that are in the archive of programs."""
    with disknode.Loops() as loops:
        m = Machine(lab, "kubeup-addons", MASTER, "1.2.7", nspawn=with_volume(loops.add(512)))
        m.document()
        done = m.apply(f"--conf={CONF}")
        # Debian 12 has no Python 2
        assert "the addons are not made unless there is a 'python'" in done, done
        m.check_kubelet()
        m.node.wait(lambda: m.node.exec("test", "-e", "/run/addons-are-made").returncode == 0, 60, "the addons")
        assert {f"gcr.io/google_containers/{image}" for image in kubeup.ADDON_IMAGES} <= m.images()
        before = pid(m, "kube-addons.service")
        assert m.node.show("kube-addons.service", "ActiveState", "NRestarts") == {"ActiveState": "active", "NRestarts": "0"}
        done = m.apply()
        assert " changed" not in done and pid(m, "kube-addons.service") == before, done
        m.node.stop()
