"""The nodes that a row is of: their documents, which name assets on the bench's servers, and what answers them."""

import contextlib
import dataclasses
import shutil
import sys

import yaml

import data
import kops_node
import kubeup_node
from data import MB, REQUESTS, ROOT, SIZES, UNPACKED

sys.path.insert(0, str(ROOT / "tests/system"))
import kops  # noqa: E402


# protokube's
IMAGE = "small-image.tar.gz"


@dataclasses.dataclass
class Node:
    title: str
    conf: str  # below the folder of the bench
    algo: str  # by which its documents name assets
    assets: list  # that they name
    members: dict  # what is wanted of each archive
    installs: list  # some of what it has in the end
    ports: tuple  # of the servers that have each asset
    region: str = "us-west-2"
    environ: dict = dataclasses.field(default_factory=dict)
    # bytes of each answer that the server of its documents gave so far, 0 where that does not tell
    answers: object = list
    bakes: str = ""  # what is given to a bake, if it is not conf
    settle_s: float = 0.01

    @property
    def archives(self):
        return list(self.members)

    @property
    def facts(self):
        return {"instance-id": kops.INSTANCE, "placement/region": self.region, "placement/availability-zone": self.region + "a",
                "instance-type": "m5.large", "local-hostname": f"ip-172-20-32-11.{self.region}.compute.internal",
                "local-ipv4": kops.ADDRESS, "mac": "06:11:22:33:44:55"}

    def mark(self):
        """Up to where answers were given."""
        return REQUESTS.stat().st_size if REQUESTS.exists() else 0, len(self.answers())

    def sent(self, start, end=None):
        """[(asset, bytes of it)] of each answer of nginx between two marks."""
        with REQUESTS.open() as file:
            file.seek(start[0])
            lines = file.read(end[0] - start[0] if end else -1).splitlines()
        return [(name.strip("/"), int(n)) for name, n in (line.split() for line in lines)]

    def traffic(self, start, end):
        """What answers between two marks came to."""
        assets, documents = self.sent(start, end), self.answers()[start[1]:end[1]]
        return {"MB in": (sum(n for _, n in assets) + sum(documents)) / MB, "assets asked": len(assets), "documents asked": len(documents)}


@contextlib.contextmanager
def of_kops18(title, is_master, ports):
    data.make_assets()
    # a small one: its download is given up as soon as no docker is found, which is sooner in one run than in another
    data.make(IMAGE, 1, (), data.binaries())
    named = {name: (data.digest("sha1", name), data.urls(name, ports)) for name in SIZES if name != "image.tar.gz"}
    data.write_documents(named.values(), (data.digest("sha1", IMAGE), data.urls(IMAGE, ports[-1:])), is_master)
    yield Node(title, "conf/kube_env.yaml", "sha1", list(SIZES), UNPACKED, ["usr/local/bin/kubelet", "opt/cni/bin/bridge"], ports)


@contextlib.contextmanager
def of_today(title, kind, ports):
    kops_node.make()
    worker = kops_node.write(ports, kind)

    def of_store():
        return [path.stat().st_size if (path := worker.base / name.replace("%3A", ":")).is_file() else 0 for name in list(worker.asked)]

    with contextlib.ExitStack() as stack:
        if kind is kops.ControlPlane:
            worker.write()
            stack.callback(worker.close)
        else:
            stack.enter_context(worker.controller())
        # what an image is baked of has its NodeupConfig beside it
        image = worker.folder / "image"
        image.mkdir()
        shutil.copy(worker.folder / "documents/kube_env.yaml", image)
        (image / "nodeupconfig.yaml").write_text(yaml.safe_dump(worker.config))
        yield Node(title, "kops/documents/kube_env.yaml", "sha256", [*kops_node.PLAIN, *kops_node.ARCHIVES],
                   {name: members for name, (_, members) in kops_node.ARCHIVES.items()},
                   ["usr/local/bin/kubelet", "opt/cni/bin/bridge", "usr/bin/containerd"], ports, kops.REGION, worker.environ(),
                   of_store if kind is kops.ControlPlane else lambda: [0 for _ in worker.requests()], "kops/image/kube_env.yaml")


@contextlib.contextmanager
def of_kubeup(title, ports):
    kubeup_node.make()
    kubeup_node.documents(ports[0])
    yield Node(title, "conf/kube_env.yaml", "sha1", [kubeup_node.SERVER], {kubeup_node.SERVER: [*kubeup_node.INSTALLED, *kubeup_node.IMAGE]},
               list(kubeup_node.INSTALLED.values()), ports)


NODES = {
    "worker": lambda ports: of_today("a worker of today's kops", kops.Worker, ports),
    "control-plane": lambda ports: of_today("a control plane of today's kops", kops.ControlPlane, ports),
    "worker-of-1.8": lambda ports: of_kops18("a worker of kops 1.8", False, ports),
    "master-of-1.8": lambda ports: of_kops18("a master of kops 1.8", True, ports),
    "node-of-kube-up": lambda ports: of_kubeup("a node of kube-up", ports),
}
