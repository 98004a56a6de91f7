"""The headline: from the start of user data to kubelet's exec, in a booted container of tests/e2e."""

import statistics
import sys

from data import ROOT
from measure import hint

sys.path.insert(0, str(ROOT / "tests/e2e"))

import labassets  # noqa: E402
import nodechecks  # noqa: E402
from lab import Lab  # noqa: E402

ROLE = "nodes"
KUBELET = ("kubelet.service", "ExecMainStartTimestampMonotonic")
POINTS = {
    "user data to kubelet's exec": ("cloud-final.service", "ExecMainStartTimestampMonotonic"),
    "nodeup's exec to kubelet's": (nodechecks.OURS, "ExecMainStartTimestampMonotonic"),
}
# seconds, on a quiet machine of two processors
WANTED = {"user data to kubelet's exec": 0.8, "nodeup's exec to kubelet's": 0.45}


def tell(runs):
    """systemd's own times; the seed's user data, a mirror that is dead and one that is slow."""
    taken = {name: [] for name in POINTS}
    try:
        with Lab() as lab:
            for i in range(runs):
                node = lab.boot(f"bench-{i}", ROLE, labassets.seed_user_data(ROLE, lab.assets))
                nodechecks.wait_kubelet(node)
                for name, start in POINTS.items():
                    taken[name].append(nodechecks.seconds_between(node, start, KUBELET))
                nodechecks.wait_finished(node)
    except Exception as error:  # whatever keeps a container from booting here is not a result
        print(f"\nheadline: not measured here: {error}")
        return
    print(f"\nheadline: a fresh worker by the seed's user data, {runs} boots")
    for name, seconds in taken.items():
        hint(name, f"{min(seconds):.3f} s", f"under {WANTED[name]} s; median {statistics.median(seconds):.3f} s")
