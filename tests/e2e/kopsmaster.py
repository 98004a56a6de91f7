"""A control plane of today's kops, booted: its state store is in S3's stand-in, which wants the credentials of the node's role."""
import base64
import calendar
import json
import pathlib
import time

import yaml

import kopsnode
import podimages
from kopsnode import kops
from lab import NAMES, ROLE
from labhost import run

BUCKET, CLUSTER = "jdurbin-kops", "a.example.com"
KUBE, HEALTHCHECK = "registry.k8s.io/kube-", "registry.k8s.io/kops/kube-apiserver-healthcheck:1.37.0"
PROXY, PAUSE = f"{KUBE}proxy:v1.36.1", "registry.k8s.io/pause:3.10.1"
ETCD, CHANNELS = "registry.k8s.io/etcd-manager:3.0", "registry.k8s.io/kops/channels:1.37.0"
# of each, the program that it starts
IMAGES = {**{f"{KUBE}{name}:v1.36.1": "/go-runner" for name in ("apiserver", "controller-manager", "scheduler", "proxy")},
          HEALTHCHECK: "/healthcheck", ETCD: "/etcd-manager", CHANNELS: "/channels", PAUSE: "/pause"}
# {static pod: images of its containers}
PODS = {"kube-apiserver": [f"{KUBE}apiserver:v1.36.1", HEALTHCHECK], "kube-proxy": [PROXY], "etcd-main-a": [ETCD], "etcd-events-a": [ETCD],
        "kube-controller-manager": [f"{KUBE}controller-manager:v1.36.1"], "kube-scheduler": [f"{KUBE}scheduler:v1.36.1"],
        "kops-channels": [CHANNELS]}


def pod(name, image, *command, **folders):
    """Of the store, which takes it as it is: it has these folders of the host."""
    return yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"hostNetwork": True, "priorityClassName": "system-cluster-critical",
                 "containers": [{"name": name, "image": image, "command": list(command),
                                 "volumeMounts": [{"name": key, "mountPath": path} for key, path in folders.items()]}],
                 "volumes": [{"name": key, "hostPath": {"path": path, "type": "DirectoryOrCreate"}} for key, path in folders.items()]}})


class Machine(kopsnode.Machine):
    """As a worker, with a state store in the place of kops-controller."""

    def documents(self, folder, **config):
        made = kops.ControlPlane(folder, **config)
        made.keep_in_s3(f"{BUCKET}/{CLUSTER}")
        made.close()
        for name in kops.CLUSTERS:
            made.store(f"manifests/etcd/{name}-a.yaml", pod(f"etcd-manager-{name}", ETCD, "/etcd-manager", f"--cluster-name=etcd-{name}",
                                                            pki=f"/etc/kubernetes/pki/etcd-manager-{name}"))
        made.store("manifests/channels/kops-channels.yaml", pod("kops-channels", CHANNELS, "/channels", "apply", login="/var/lib/kops"))
        bucket = pathlib.Path(self.node.dir, "s3", BUCKET)
        bucket.mkdir(parents=True)
        (bucket / CLUSTER).symlink_to(made.base)
        self.node.state = str(bucket.parent)
        return made

    def controller(self, **_):
        """The store serves what is written now, and the user data is of it."""
        self.worker.write()
        self.put(kopsnode.CONF, (self.worker.folder / "documents/kube_env.yaml").read_bytes())
        self.node.again(1, self.node.serve_s3, [ROLE])
        self.node.wait(lambda: f"{NAMES['s3.amazonaws.com']}:443" in run("ip", "netns", "exec", self.node.netns, "ss", "-Hltn"), 60, "S3")

    def no_store(self):
        """It is down; nothing listens."""
        server = self.node.servers[1]
        server.kill()
        server.wait()

    def lie(self, how):
        """Let the store be like this from now on."""
        self.worker.write()
        if how == "another configuration":
            self.worker.store("igconfig/control-plane/master-a/nodeupconfig.yaml",
                              yaml.safe_dump({**self.worker.config, "UpdatePolicy": "external"}))

    def start_pods(self):
        """As kubelet would; [(image, state)] of what the runtime then has."""
        for name in PODS:
            self.start_pod(f"/etc/kubernetes/manifests/{name}.manifest")
        return sorted((c["image"], c["state"]) for c in json.loads(self.cri("list")))

    def preload_all(self):
        """The images of its pods, as archives of either form."""
        program = kopsnode.PROGRAM.read_bytes()
        make = (podimages.docker, podimages.oci)
        self.preload(**{f"image-{i}.tar.gz": podimages.packed(make[i % 2](name, program, entry), "gzip")
                        for i, (name, entry) in enumerate(IMAGES.items())})


def certificate(machine, path):
    """A copy of what is in the file, or in the kubeconfig."""
    text = machine.node.sh(f"cat {path}")
    if not text.startswith("-----BEGIN"):
        text = base64.b64decode(yaml.safe_load(text)["users"][0]["user"]["client-certificate-data"]).decode()
    out = machine.worker.folder / "of.crt"
    out.write_text(text)
    return out


def verify(machine, path, ca, purpose):
    """By openssl, of the pinned CA of that name; the subject."""
    of = certificate(machine, path)
    kops.openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile", machine.worker.ca(ca), of)
    return kops.openssl("x509", "-in", of, "-noout", "-subject")


def end(machine, path):
    """When it ends, in seconds since 1970."""
    said = kops.openssl("x509", "-in", certificate(machine, path), "-noout", "-enddate").split("=", 1)[1].strip()
    return calendar.timegm(time.strptime(said, "%b %d %H:%M:%S %Y GMT"))
