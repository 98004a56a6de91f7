"""A machine with a document of kube-up, both of its tarballs on a server of its own, and nothing that ran yet."""
import gzip
import hashlib
import os
import pathlib
import sys

import disknode
import labassets
from lab import LabError
from labhost import ROOT

sys.path.insert(0, ROOT + "/tests/system")
import kubeup  # noqa: E402
from kubeup import MASTER, NODE  # noqa: E402

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
    for image in kubeup.ADDON_IMAGES:
        path = f"{lab.dir}/{image}.tar"
        labassets.save_image(path, f"gcr.io/google_containers/{image}", [(image.encode(), "name")])
        with open(path, "rb") as f:
            files[f"kubernetes/addons/gcr.io~google_containers~{image}.tar"] = gzip.decompress(f.read())
    return kubeup.server(**files)


class Machine:
    """A node that ran nothing yet: nodeup, the document, and both tarballs on a server of its own."""

    def __init__(self, lab, name, role, version, **options):
        self.role, self.version = role, version
        name += "-" + os.urandom(4).hex()
        nspawn = options.pop("nspawn", lambda instance: [])(disknode.instance_id(name))
        self.node = lab.boot(name, LAB_ROLE[role], "#!/bin/sh\ntrue\n", nspawn=nspawn, layers=[lab.layer("kubeup", PACKAGES)])
        self.node.wait_cloud_init(300)
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
        if done.returncode:
            raise LabError(done.stdout + done.stderr)
        return done.stderr

    def check_kubelet(self):
        unit = self.node.show("kubelet.service", "ActiveState", "NRestarts")
        if self.node.healthz() != "ok" or unit != {"ActiveState": "active", "NRestarts": "0"}:
            raise LabError(self.node.journal("kubelet.service", 20))

    def images(self):
        return set(self.node.exec("docker", "images", "--format", "{{.Repository}}:{{.Tag}}", check=True).stdout.split())


def with_volume(device):
    """A loop device as /dev/xvdb; udev's link to the file system that it will have is made by hand."""
    return lambda instance: ["--property=DeviceAllow=block-loop rwm", f"--bind={device}:/dev/xvdb",
                             f"--bind={device}:/dev/disk/by-uuid/{disknode.volume_uuid(instance, PD)}"]
