"""The nodes that a row is of: their documents, which name assets on the server that counts, and what answers them."""

import contextlib
import dataclasses
import sys

import data
import kops_node
import kubeup_node
from data import COUNTED_PORT, ROOT, SIZES, UNPACKED

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
    region: str = "us-west-2"
    environ: dict = dataclasses.field(default_factory=dict)
    asked: object = lambda: 0  # how many requests for documents were answered so far

    @property
    def archives(self):
        return list(self.members)

    @property
    def facts(self):
        return {"instance-id": kops.INSTANCE, "placement/region": self.region, "placement/availability-zone": self.region + "a",
                "instance-type": "m5.large", "local-hostname": f"ip-172-20-32-11.{self.region}.compute.internal",
                "local-ipv4": kops.ADDRESS, "mac": "06:11:22:33:44:55"}


@contextlib.contextmanager
def of_kops18(title, is_master):
    data.make_assets()
    # a small one: its download is given up as soon as no docker is found, which is sooner in one run than in another
    data.make(IMAGE, 1, (), data.binaries())
    named = {name: (data.digest("sha1", name), f"{data.base(COUNTED_PORT)}/{name}") for name in (*SIZES, IMAGE) if name != "image.tar.gz"}
    image = named.pop(IMAGE)
    data.write_documents(named.values(), image, is_master)
    yield Node(title, "conf/kube_env.yaml", "sha1", list(SIZES), UNPACKED,
               ["usr/local/bin/kubelet", "opt/cni/bin/bridge"])


@contextlib.contextmanager
def of_today(title, kind):
    kops_node.make()
    node = kops_node.Node(None, COUNTED_PORT, kind)
    worker = node.worker
    with contextlib.ExitStack() as stack:
        if kind is kops.ControlPlane:
            worker.write()
            stack.callback(worker.close)
        else:
            stack.enter_context(worker.controller())
        yield Node(title, "kops/documents/kube_env.yaml", "sha256", [*kops_node.PLAIN, *kops_node.ARCHIVES],
                   {name: members for name, (_, members) in kops_node.ARCHIVES.items()},
                   ["usr/local/bin/kubelet", "opt/cni/bin/bridge", "usr/bin/containerd"], kops.REGION, worker.environ(),
                   lambda: len(worker.asked if kind is kops.ControlPlane else worker.requests()))


@contextlib.contextmanager
def of_kubeup(title):
    kubeup_node.make()
    kubeup_node.documents(COUNTED_PORT)
    yield Node(title, "conf/kube_env.yaml", "sha1", [kubeup_node.SERVER], {kubeup_node.SERVER: [*kubeup_node.INSTALLED, *kubeup_node.IMAGE]},
               list(kubeup_node.INSTALLED.values()))


NODES = {
    "worker": lambda: of_today("a worker of today's kops", kops.Worker),
    "control-plane": lambda: of_today("a control plane of today's kops", kops.ControlPlane),
    "worker-of-1.8": lambda: of_kops18("a worker of kops 1.8", False),
    "master-of-1.8": lambda: of_kops18("a master of kops 1.8", True),
    "node-of-kube-up": lambda: of_kubeup("a node of kube-up"),
}
