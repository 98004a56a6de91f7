"""The headline: from the start of user data to kubelet's exec, in a booted container of tests/e2e."""

import re
import statistics
import sys
import time

from data import ROOT
from measure import say

sys.path.insert(0, str(ROOT / "tests/e2e"))

import labassets  # noqa: E402
import nodechecks  # noqa: E402
from lab import Lab  # noqa: E402

ROLE = "nodes"
KUBELET = ("kubelet.service", "ExecMainStartTimestampMonotonic")
USER_DATA = ("cloud-final.service", "ExecMainStartTimestampMonotonic")
POINTS = {
    "user data to kubelet's exec": USER_DATA,
    "nodeup's exec to kubelet's": (nodechecks.OURS, "ExecMainStartTimestampMonotonic"),
}
# seconds, on a quiet machine of two processors
WANTED = {"user data to kubelet's exec": 0.8, "nodeup's exec to kubelet's": 0.45}
# a boot to its end, with some to spare: to look at it meanwhile would take systemd's time
BOOT_S = 6
# What the journal says when a step has ended, in order
STEPS = [
    ("cloud-init has begun the script", "== nodeup node config starting"),
    ("the script has fetched the hash", r"== Downloaded \S*nodeup\.sha1 =="),
    ("the script has fetched and hashed nodeup", r"== Downloaded \S*/nodeup \("),
    ("the unit of the run is installed and started", r"systemd\[1\]: Starting kops-configuration"),
    ("the documents are read, the plan is made", r"nodeup\[\d+\]: changed "),
    ("the files of units have their names", r"changed file /etc/systemd/system/kubelet\.service"),
    ("systemd has come to the reload", r"systemd\[1\]: Reloading"),
    ("systemd has reloaded", "changed reload systemd"),
    ("docker is stopped for its restart", r"systemd\[1\]: Stopped docker\.service"),
    ("docker is back", r"systemd\[1\]: Started docker\.service"),
    ("kubelet is started", r"systemd\[1\]: Started kubelet\.service"),
]


def tell_steps(node):
    """Where the time went; a step that the journal has not, or not in order, is left out."""
    start = int(node.show(*USER_DATA)[USER_DATA[1]]) / 1e6
    lines = node.exec("journalctl", "-o", "short-monotonic", "--no-pager").stdout.splitlines()
    entries = [(float(m[1]), m[2]) for line in lines if (m := re.match(r"\[ *([\d.]+)\] (.*)", line))]
    entries = [(when - start, text) for when, text in entries if when >= start]
    last = 0
    print("  the last boot, in ms:")
    for what, pattern in STEPS:
        when = next((when for when, text in entries if when >= last and re.search(pattern, text)), None)
        if when is not None:
            print(f"    {when * 1000:6.0f}  +{(when - last) * 1000:4.0f}  {what}")
            last = when


def tell(runs):
    """systemd's own times; the seed's user data, a mirror that is dead and one that is slow."""
    taken = {name: [] for name in POINTS}
    try:
        with Lab() as lab:
            for i in range(runs):
                node = lab.boot(f"bench-{i}", ROLE, labassets.seed_user_data(ROLE, lab.assets))
                time.sleep(BOOT_S)
                nodechecks.wait_kubelet(node)
                for name, start in POINTS.items():
                    taken[name].append(nodechecks.seconds_between(node, start, KUBELET))
                nodechecks.wait_finished(node)
            print(f"\nheadline: a fresh worker by the seed's user data, {runs} boots")
            for name, seconds in taken.items():
                say("headline", f"{name}, median", statistics.median(seconds), WANTED[name], " s")
            tell_steps(node)
    except Exception as error:  # whatever keeps a container from booting here is not a result
        print(f"\nheadline: not measured here: {error}")
