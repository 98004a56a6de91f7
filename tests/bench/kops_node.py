"""A worker of today's kops below a root: joined by kops-controller's stand-in."""

import contextlib
import os
import shutil
import sys

import counts
import data
import ways
from data import COUNTED_PORT, PORT, ROOT, WORK
from counts import limit
from measure import Figure, fresh, measure, say

sys.path.insert(0, str(ROOT / "tests/system"))
import kops  # noqa: E402

# In MB: 280 that a worker wants, and kubectl, which it does not.
PLAIN = {"kubelet": 110, "ecr-credential-provider-linux-amd64": 50, "runc.amd64": 12, "kubectl": 58}
PLUGINS = "bandwidth bridge dhcp dummy firewall host-device host-local ipvlan loopback macvlan portmap ptp sbr static tap tuning vlan vrf".split()
ARCHIVES = {
    "cni-plugins-linux-amd64-v1.8.0.tgz": (55, [f"./{name}" for name in PLUGINS]),
    "containerd-2.3.4-linux-amd64.tar.gz": (53, [f"bin/{name}" for name in ("containerd", "containerd-shim-runc-v2", "containerd-stress", "ctr")]),
}
# What the slow kops-controller takes for each of its two answers: longer than what a load makes of the rest.
SLOW_S = 3


def make():
    blocks = data.binaries()
    for name, size in PLAIN.items():
        data.make(name, size, (), blocks)
    for name, (size, members) in ARCHIVES.items():
        data.make(name, size, members, blocks)


class Node:
    """The documents of one worker, and what answers it."""

    def __init__(self, program, port, kind=kops.Worker):
        self.program = program
        shutil.rmtree(WORK / "kops", ignore_errors=True)
        self.worker = kind(WORK / "kops")
        lines = [f"{data.digest('sha256', name)}@{data.base(port)}/{name}" for name in (*PLAIN, *ARCHIVES)]
        self.worker.config["Assets"] = {"amd64": lines, "arm64": lines}

    @contextlib.contextmanager
    def answered(self, **control):
        before = dict(os.environ)
        self.worker.control.update(control)
        os.environ.update(self.worker.environ())
        try:
            with self.worker.controller():
                yield self
        finally:
            os.environ.clear()
            os.environ.update(before)

    def command(self, name, *flags):
        words = self.worker.command(name, *flags, root=ways.NODE / "root", cache=ways.NODE / "cache")
        return [str(self.program), *words[1:]]

    def join_alone(self, runs):
        """All is there but what kops-controller gave: both questions, new keys, and nothing fetched."""
        figure = Figure()
        for _ in range(runs):
            shutil.rmtree(ways.NODE / "root/var/lib/nodeup", ignore_errors=True)
            measure(figure, self.command("apply"))
        return figure


def tell_written(node):
    """What depends on no load."""
    fresh(WORK)
    asked = counts.requests()
    measure(Figure(), node.command("apply"))
    asked = counts.requests() - asked
    limit("requests to kops-controller", len(node.worker.requests()), 2)
    print(f"  {'requests for the assets':46} {asked:18}")
    again = counts.dirtied(node.command("apply"))
    limit("bytes written by the second run", again, 65536)
    second = counts.traced(node.command("apply"))
    print(f"  {'system calls of the second run':46} {sum(second.values()):18,}")
    limit("flushes of the second run", sum(second.get(name, 0) for name in counts.FLUSHES), 0)


def tell_slow(program, runs):
    """How often the slow kops-controller is waited for: what its answers cost beside those of a fast one."""
    walls = {}
    for delay in (0, SLOW_S):
        node = Node(program, PORT)
        with node.answered(delay=delay):
            fresh(WORK)
            measure(Figure(), node.command("apply"))
            walls[delay] = node.join_alone(runs).wall
    answers = (walls[SLOW_S] - walls[0]) / SLOW_S
    say(f"joining, with {SLOW_S} s for an answer, takes longer by", f"{answers:.2f} answers", "at most 2.1", answers <= 2.1)


def tell(program, runs):
    make()
    print("\na worker of today's kops: what it asks kops-controller")
    tell_slow(program, runs)
    node = Node(program, COUNTED_PORT)
    with node.answered():
        tell_written(node)
