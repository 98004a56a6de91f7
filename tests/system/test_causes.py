"""What one cause keeps from being done: it is told once, and nothing else is kept from being done."""

import re

from world import SYSTEM

LIMIT = 120


def test_a_file_that_cannot_be_written_stops_only_its_own_unit(world, mounts):
    """The settings of kubelet are a mount: nothing can take their place."""
    path = world.root / "etc/sysconfig/kubelet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("DAEMON_ARGS=\n")
    mounts.run("mount", "--bind", path, path)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM and "file /etc/sysconfig/kubelet" in result.failure, result
    skipped = re.findall(r"skipped (.*)", result.err)
    assert skipped == ["unit kubelet.service: file /etc/sysconfig/kubelet failed"], result
    assert (world.root / "etc/kubernetes/manifests/kube-proxy.manifest").exists()
    links = {p.name for p in (world.root / "etc/systemd/system").glob("*.wants/*")}
    assert {"kubernetes-iptables-setup.service", "docker.service"} <= links
