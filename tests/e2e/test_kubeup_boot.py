"""Nodes of kube-up's documents, booted: real systemd and docker, the stand-in of an old kubelet, a volume that is /dev/xvdb."""
import gzip
import hashlib
import os
import pathlib
import sys

import pytest

import disknode
import labassets
from disknode import findmnt
from lab import Lab
from labhost import ROOT

sys.path.insert(0, ROOT + "/tests/system")
import kubeup  # noqa: E402
from kubeup import MASTER, NODE  # noqa: E402

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
PACKAGES = "curl ebtables apt-transport-https nfs-common socat bridge-utils libltdl7 logrotate unattended-upgrades openssl".split()
LAB_ROLE = {MASTER: "master-us-west-2a", NODE: "nodes"}
CONF, BASE, PD = "/etc/kubernetes/kube_env.yaml", "http://127.0.0.1:8000/", "/mnt/master-pd"
TAG = "00112233445566778899aabbccddeeff"


def archive(lab):
    """The programs, and images that docker can load."""
    files = {}
    with open(ROOT + "/tests/fake/kubelet_of_old.py", "rb") as f:
        files["kubernetes/server/bin/kubelet"] = f.read()
    for image in kubeup.IMAGES:
        path = f"{lab.dir}/{image}.tar"
        labassets.save_image(path, f"gcr.io/google_containers/{image}:{TAG}", [(image.encode(), "name")])
        with open(path, "rb") as f:
            files[f"kubernetes/server/bin/{image}.tar"] = gzip.decompress(f.read())
        files[f"kubernetes/server/bin/{image}.docker_tag"] = TAG.encode() + b"\n"
    return kubeup.server(**files)


class Machine:
    """A node that ran nothing yet: nodeup, the document, and both tarballs on a server of its own."""

    def __init__(self, lab, name, role, version, **options):
        self.role, self.version = role, version
        name += "-" + os.urandom(4).hex()
        nspawn = options.pop("nspawn", lambda instance: [])(disknode.instance_id(name))
        self.node = lab.boot(name, LAB_ROLE[role], "#!/bin/sh\ntrue\n", nspawn=nspawn, layers=[lab.layer("kubeup", PACKAGES)])
        self.node.wait(lambda: "status: done" in self.node.exec("cloud-init", "status").stdout, 300, "cloud-init")
        data = archive(lab)
        self.tag = hashlib.sha1(data).hexdigest()[:12]
        folder = self.put("var/tmp/assets/of-before", b"").parent
        _, sha1 = kubeup.pack(kubeup.all_templates(version), folder)
        self.put("var/tmp/assets/kubernetes-server-linux-amd64.tar.gz", data)
        with open(ROOT + "/tests/fake/flags/kubelet-1.2-1.5", "rb") as f:
            self.put("usr/local/share/kubelet-of-old/flags", f.read())
        self.put("usr/local/share/kubelet-of-old/minor", version.split(".")[1].encode())
        with open(lab.dir + "/nodeup", "rb") as f:
            self.put("opt/nodeup-test", f.read())
        self.named = {"SALT_TAR_URL": BASE + "kubernetes-salt.tar.gz", "SALT_TAR_HASH": sha1,
                      "SERVER_BINARY_TAR_URL": BASE + "kubernetes-server-linux-amd64.tar.gz",
                      "SERVER_BINARY_TAR_HASH": hashlib.sha1(data).hexdigest(), "NETWORK_PROVIDER": "none", **options}
        self.serve()

    def put(self, name, data):
        path = pathlib.Path(self.node.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    def serve(self):
        self.node.sh("systemd-run --unit=assets python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets")
        self.node.wait(lambda: self.node.exec("curl", "-sf", BASE).returncode == 0, 60, "the server of both tarballs")

    def document(self, **changes):
        self.put(CONF[1:], kubeup.text(self.role, self.version, **{**self.named, **changes}).encode())

    def nodeup(self, *arguments):
        return self.node.exec("/opt/nodeup-test", *arguments, timeout=400)

    def apply(self, *flags):
        done = self.nodeup("apply", "--deadline=150s", *flags)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    def check_kubelet(self):
        assert self.node.healthz() == "ok"
        unit = self.node.show("kubelet.service", "ActiveState", "NRestarts")
        assert unit == {"ActiveState": "active", "NRestarts": "0"}, self.node.journal("kubelet.service", 20)

    def images(self):
        return set(self.node.exec("docker", "images", "--format", "{{.Repository}}:{{.Tag}}", check=True).stdout.split())


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
        device = loops.add(512)
        m = Machine(lab, "kubeup-master", MASTER, "1.5.8", nspawn=lambda instance: [
            "--property=DeviceAllow=block-loop rwm", f"--bind={device}:/dev/xvdb",
            f"--bind={device}:/dev/disk/by-uuid/{disknode.volume_uuid(instance, PD)}"])
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
