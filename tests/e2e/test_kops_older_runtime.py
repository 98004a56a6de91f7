"""A worker of today's kops whose containerd is of Debian 12: version 2 of the configuration that we write, read by a containerd that knows no
later one."""
import json
import os

import pytest

import kopsnode
import podimages
from lab import Lab
from test_kops_boot import NETWORK, PAUSE, POD

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")]
# The last one that runs on it.
KUBERNETES = "1.35.3"


@pytest.fixture(scope="module")
def worker():
    suite, version = kopsnode.OLDER
    runtime = kopsnode.runtime(suite) or pytest.skip(f"no containerd of {suite}")
    with Lab() as lab:
        m = kopsnode.Machine(lab, "older", runtime, version=version, KubernetesVersion=KUBERNETES, FileAssets=[
            {"name": "network", "path": "/etc/cni/net.d/10-pods.conflist", "content": json.dumps(NETWORK)}])
        program, packed = kopsnode.PROGRAM.read_bytes(), podimages.packed
        m.worker.config["containerdConfig"]["registryMirrors"] = {"registry.example": [f"https://{kopsnode.REGISTRY}"]}
        m.preload(**{"pause.tar.gz": packed(podimages.oci(PAUSE, program, "/pause"), "gzip"),
                     "b.tar.gz": packed(podimages.oci("registry.example/tools/b:1", program, "/b"), "gzip")})
        m.registry_log = m.registry(mirrored="/mirrored")
        m.controller()
        m.first = m.apply()
        yield m


def test_version_2_is_read_as_it_is_meant(worker):
    m = worker
    assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", m.first
    assert m.node.sh("ctr version").count(f"Version:  {kopsnode.OLDER[1]}") == 2, "it is the server that answers"
    assert m.node.sh("cat /etc/containerd/config.toml").startswith("imports = [\"/etc/containerd/conf.d/*.toml\"]\nversion = 2\n")
    meant = m.node.sh("containerd config dump")
    for line in (f'sandbox_image = "{PAUSE}"', 'config_path = "/etc/containerd/certs.d"', "SystemdCgroup = true", 'bin_dir = "/opt/cni/bin"'):
        assert line in meant, meant
    cri = next(line.split() for line in m.node.sh("ctr plugins ls").splitlines() if " cri " in line)
    assert cri[-1] == "ok", cri
    said = m.node.journal("containerd.service", lines=400)
    assert "deprecat" not in said.lower() and "unknown" not in said.lower() and "invalid" not in said.lower(), said


def test_it_starts_a_pod(worker):
    m = worker
    m.put("root/own.yaml", POD.encode())
    assert m.start_pod("/root/own.yaml")["address"] == "100.96.1.2"


def test_it_pulls_from_the_mirrors_of_the_documents(worker):
    m = worker
    m.cri("pull", "registry.example/mirrored:1")
    assert "mirrored 1 ns=registry.example\n" in m.registry_log.read_text()


def test_a_second_run_changes_nothing(worker):
    m = worker
    before = m.pids()
    again = m.apply()
    assert " changed" not in again and m.pids() == before, again
