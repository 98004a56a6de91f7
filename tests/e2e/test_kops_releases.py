"""A worker on the releases of Debian that the other tests do not boot, with the cgroups that each may have: from nothing to an active kubelet,
and nothing to do then."""
import os

import pytest

import kopsnode
from lab import Lab

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")]
# Kubernetes 1.35 is the first that refuses version 1.
KUBERNETES = {1: "1.34.2", 2: "1.36.1"}


@pytest.fixture(scope="module")
def runtime():
    return kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")


@pytest.mark.parametrize("suite, systemd, cgroup", [("bullseye", "247", 1), ("bullseye", "247", 2), ("bookworm", "252", 1),
                                                    ("trixie", "257", 2)])
def test_a_worker(suite, systemd, cgroup, runtime):
    with Lab(suite=suite) as lab:
        m = kopsnode.Machine(lab, suite, runtime, cgroup=cgroup, KubernetesVersion=KUBERNETES[cgroup])
        assert m.node.sh("systemctl --version").split()[1] == systemd
        kind = m.node.sh("stat -f -c %T /sys/fs/cgroup").strip()
        assert kind == {1: "tmpfs", 2: "cgroup2fs"}[cgroup]
        said = m.apply()
        assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", said
        planned = m.nodeup("plan")
        assert planned.returncode == 0, planned.stdout + planned.stderr
        before = m.pids()
        again = m.apply()
        assert " changed" not in again and m.pids() == before, again
