"""A node of today's kops: its documents, and what answers them."""

import shutil

import data
from data import WORK

# In MB: 280 that a worker wants, and kubectl, which it does not.
PLAIN = {"kubelet": 110, "ecr-credential-provider-linux-amd64": 50, "runc.amd64": 12, "kubectl": 58}
PLUGINS = "bandwidth bridge dhcp dummy firewall host-device host-local ipvlan loopback macvlan portmap ptp sbr static tap tuning vlan vrf".split()
ARCHIVES = {
    "cni-plugins-linux-amd64-v1.8.0.tgz": (55, [f"./{name}" for name in PLUGINS]),
    "containerd-2.3.4-linux-amd64.tar.gz": (53, [f"bin/{name}" for name in ("containerd", "containerd-shim-runc-v2", "containerd-stress", "ctr")]),
}


def make():
    blocks = data.binaries()
    for name, size in PLAIN.items():
        data.make(name, size, (), blocks)
    for name, (size, members) in ARCHIVES.items():
        data.make(name, size, members, blocks)


def write(ports, kind):
    """`kind` of tests/system/kops.py, whose assets are on these servers."""
    shutil.rmtree(WORK / "kops", ignore_errors=True)
    worker = kind(WORK / "kops")
    lines = [f"{data.digest('sha256', name)}@{data.urls(name, ports)}" for name in (*PLAIN, *ARCHIVES)]
    worker.config["Assets"] = {"amd64": lines, "arm64": lines}
    return worker
