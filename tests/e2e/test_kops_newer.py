"""A control plane of kops 1.34 on a booted machine whose documents become those of 1.36: kubelet takes a file in the place of flags, containerd another
version of its configuration, and a pod the place of protokube, of which a stand-in runs."""
import os
import re

import pytest
import yaml

import kopsmaster
import kopsnode
import nodechecks
from lab import Lab

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")]
KUBERNETES = "1.34.2"
UNIT = "/etc/systemd/system/protokube.service"
# what would run beside the pod, and what only lies there
BESIDE, LEFT = [UNIT, "/etc/sysconfig/protokube", "/opt/kops/bin/channels", "/opt/kops/bin/protokube"], "/etc/kubernetes/in-tree-cloud.config"


def keep(m, name):
    """Its documents, for a look at them alone."""
    m.controller()
    m.put(f"root/{name}/kube_env.yaml", (m.worker.folder / "documents/kube_env.yaml").read_bytes())
    m.put(f"root/{name}/nodeupconfig.yaml", yaml.safe_dump(m.worker.config).encode())
    return f"/root/{name}/kube_env.yaml"


def removed(plan):
    """{file: why} of what it takes away."""
    return dict(re.findall(r"^- file (\S+): (.*)$", plan.stdout, re.M))


def protokube(m):
    return m.node.show("protokube.service", "LoadState", "ActiveState", "UnitFileState")


def test_documents_of_1_34_become_those_of_1_36():
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with Lab() as lab:
        m = kopsmaster.Machine(lab, "newer", runtime, of=("1.34.3", KUBERNETES))
        old, first = keep(m, "old"), m.apply()
        assert "kops 1.34.3 (by Assets)" in m.nodeup("plan").stderr, first
        assert protokube(m) == {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled"}, first
        assert "--authorization-mode=Webhook" in m.node.sh("cat /etc/sysconfig/kubelet"), first
        process = m.node.show("protokube.service", "MainPID")["MainPID"]

        m.become("1.36.2", KUBERNETES)
        new, before = keep(m, "new"), m.pids()
        told = m.nodeup("diff", old, new)
        assert told.returncode == 2, told
        for change in ("~ file /etc/sysconfig/kubelet", "~ file /etc/containerd/config.toml", "+ file /etc/kubernetes/manifests/kops-channels.manifest"):
            assert change in told.stdout, told
        left = told.stdout.split("left as they are, though the documents no longer name them:\n")[1]
        assert LEFT in left and "protokube" not in left and set(removed(told)) == {*BESIDE}, told
        plan = m.nodeup("plan")
        assert "kops 1.36 by its keys" in plan.stderr and plan.returncode == 2, plan
        assert set(removed(plan)) == {*BESIDE, LEFT} and removed(plan)[LEFT].endswith("removed with --prune"), plan
        assert m.pids() == before and protokube(m)["ActiveState"] == "active", plan

        done = m.apply()
        assert not m.node.sh(f"ls -d {' '.join(BESIDE)} /proc/{process} 2>/dev/null", check=False), done
        assert protokube(m)["LoadState"] == "not-found" and not m.node.sh("find /etc/systemd/system -name '*protokube*'"), done
        assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", done
        assert "--authorization-mode" not in m.node.sh("cat /etc/sysconfig/kubelet"), done
        assert re.search("^version = 3$", m.node.sh("cat /etc/containerd/config.toml"), re.M), done
        before, again = m.pids(), m.nodeup("plan")
        assert " 0 to change" in again.stdout and list(removed(again)) == [LEFT], again
        m.apply("--prune")
        again = m.nodeup("plan")
        assert (again.returncode, removed(again)) == (0, {}) and " 0 to change" in again.stdout and m.pids() == before, again
        keep_a_guess(m)


def keep_a_guess(m):
    """What names a version later is only told at a boot; a run by hand takes it."""
    m.put("/etc/nodeup/nodeup.d/50-kops.yaml", b"kopsVersion: 1.36.1\n")
    done = m.nodeup("--install-systemd-unit", f"--conf={kopsnode.CONF}")
    assert done.returncode == 0 and m.node.exec("systemctl", "start", nodechecks.OURS).returncode == 0, done
    told = m.nodeup("status")
    why = r"documents are of .*kops 1\.36\.1 \(by kopsVersion\), and this node was made as of kops 1\.36 by its keys; it stays so until nodeup apply is run by hand"
    assert told.returncode == 2 and told.stdout.startswith("degraded ") and re.search(rf"^  why       {why}$", told.stdout, re.M), told
    m.apply()
    told = m.nodeup("status")
    assert told.returncode == 0 and "kops 1.36.1 (by kopsVersion)" in re.sub(" +", " ", told.stdout), told
