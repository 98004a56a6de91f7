"""A worker of today's kops on a system whose /usr is read-only, and which has its own containerd, updates and reboots: this tree, made so."""
import hashlib
import os
import pathlib

import pytest

import kopsnode
from lab import REGION, Lab
from test_kops_adoption import OURS, kops_script, settled, user_data

# the check has user data of kops on Debian, and this system's golden tree
pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")]
RELEASE = b'ID=flatcar\nVERSION_ID=4152.2.0\nNAME="Flatcar Container Linux by Kinvolk"\n'
# As the system's own has them. Its containerd reads a file of /usr unless it is told of another.
UNITS = {
    "containerd": "[Service]\nType=notify\nDelegate=yes\nKillMode=process\nExecStart=/usr/bin/containerd --config /usr/share/containerd/config.toml\n",
    "locksmithd": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
    "update-engine": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
}
# As its cloudinit does it: the script in a service of its own.
USER_DATA = "var/lib/coreos-install/user_data"
READ_ONLY = "mount --bind /usr /usr && mount -o remount,bind,ro /usr"


@pytest.fixture(scope="module")
def worker():
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with Lab() as lab:
        m = kopsnode.Machine(lab, "immutable", runtime, UpdatePolicy="automatic")
        m.node.sh("systemctl stop containerd")
        for name in kopsnode.DAEMONS:
            m.put(f"usr/bin/{name}", (runtime / "usr/bin" / name).read_bytes())
        for name in ("etc/os-release", "usr/lib/os-release"):
            pathlib.Path(m.node.root, name).unlink(missing_ok=True)
            m.put(name, RELEASE)
        for name, text in UNITS.items():
            m.put(f"usr/lib/systemd/system/{name}.service", text.encode())
        m.put("usr/share/containerd/config.toml", b"version = 2\n")
        # as the system's own starts them at boot
        m.node.sh("cd /usr/lib/systemd/system; mkdir -p multi-user.target.wants; ln -s ../{locksmithd,update-engine}.service multi-user.target.wants")
        m.node.sh(f"systemctl daemon-reload; systemctl start {' '.join(UNITS)}; {READ_ONLY}")
        m.controller()
        document = (m.worker.folder / "documents/kube_env.yaml").read_text()
        digest = hashlib.sha256(pathlib.Path(m.node.root, "opt/kops/bin/nodeup").read_bytes()).hexdigest()
        m.put(USER_DATA, user_data(kops_script(), document, REGION, digest, "1.37.0").encode())
        yield m


def test_user_data_of_kops_makes_a_worker(worker):
    m = worker
    done = m.node.exec("systemd-run", "--wait", "--pipe", "--collect", "bash", "/" + USER_DATA, timeout=400)
    assert done.returncode == 0 and "service installed" in done.stdout.splitlines(), done
    settled(m)
    assert m.node.healthz() == "ok", m.node.journal(OURS)
    assert m.node.sh(f"systemctl cat {OURS}").count("ExecStart=/opt/bin/nodeup ") == 1


def test_it_runs_what_the_system_has(worker):
    m = worker
    assert m.node.exec("touch", "/usr/x").returncode != 0
    assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok"
    assert m.node.show("containerd.service", "FragmentPath")["FragmentPath"].endswith("/lib/systemd/system/containerd.service")
    command = m.node.sh("tr '\\0' ' ' </proc/$(systemctl show -P MainPID containerd)/cmdline")
    assert command.strip() == "/usr/bin/containerd --config /etc/containerd/config.toml"
    assert "/opt/kubernetes/bin/kubelet" in m.node.sh("systemctl cat kubelet")
    before = m.pids()
    again = m.apply()
    assert " changed" not in again and m.pids() == before, again
    planned = m.nodeup("plan")
    assert planned.returncode == 0, planned.stdout


def test_it_does_not_boot_for_an_update(worker):
    m = worker
    shown = {unit: m.node.show(f"{unit}.service", "ActiveState", "LoadState") for unit in ("locksmithd", "update-engine")}
    assert shown == {"locksmithd": {"ActiveState": "inactive", "LoadState": "masked"}, "update-engine": {"ActiveState": "active", "LoadState": "loaded"}}
    # a person who starts it again finds it stopped by the next run
    m.node.sh("rm /etc/systemd/system/locksmithd.service; systemctl daemon-reload; systemctl start locksmithd")
    assert "locksmithd.service" in m.apply()
    assert m.node.show("locksmithd.service", "ActiveState") == {"ActiveState": "inactive"}
    masked, loaded = ({"ActiveState": "inactive", "LoadState": state} for state in ("masked", "loaded"))
    for policy, flags, state in [("external", [], masked), ("automatic", [], masked), ("automatic", ["--prune"], loaded)]:
        m.worker.config["UpdatePolicy"] = policy
        m.controller()
        m.apply(*flags)
        assert m.node.show("update-engine.service", "ActiveState", "LoadState") == state
        again = m.apply()
        assert " changed" not in again, again


def test_it_is_given_back_without_masks(worker):
    m = worker
    done = m.nodeup("uninstall", "--units")
    assert done.returncode == 0 and "- file /etc/systemd/system/locksmithd.service: /usr/lib/systemd/system/locksmithd.service counts again" in done.stdout, done
    assert m.node.show("locksmithd.service", "LoadState") == {"LoadState": "loaded"}
