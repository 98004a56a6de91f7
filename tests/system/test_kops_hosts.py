"""What some hosts of today's kops have of their own: services that stand in the way, a policy of SELinux."""
import contextlib
import os

import pytest

from kops import AMAZON, FACTS, ControlPlane, Worker
from world import OK

RHEL = {"distribution": "rhel", "version": "10.1"}


def applied(node, facts):
    """Its files after two runs, of which the second finds nothing to do."""
    node.facts = {**facts, **FACTS}
    with node.controller() if not isinstance(node, ControlPlane) else contextlib.closing(node):
        node.write()
        for command, *flags in (("apply",), ("plan", "--verify")):
            done = node.run(command, *flags)
            assert done.returncode == OK, done.stdout + done.stderr
    return node.tree()


def test_the_firewall_of_the_host_is_masked(tmp_path):
    node = Worker(tmp_path / "node")
    found = applied(node, RHEL)
    assert found["/etc/kops/firewalld-disabled"] == (
        "0644", b"# Marker: firewalld disabled by kops to avoid conflicts with the Kubernetes CNI dataplane.\n")
    assert os.readlink(node.root / "etc/systemd/system/firewalld.service") == "/dev/null"
    assert b"--proxy-mode=nftables" in found["/etc/kubernetes/manifests/kube-proxy.manifest"][1]


def test_a_unit_of_the_admins_own_is_not_masked(tmp_path):
    node = Worker(tmp_path / "node")
    own = node.root / "etc/systemd/system/firewalld.service"
    own.parent.mkdir(parents=True)
    own.write_text("[Service]\n")
    applied(node, RHEL)
    assert own.read_text() == "[Service]\n"


def test_network_manager_makes_no_rules_for_pods(tmp_path):
    node = Worker(tmp_path / "node")
    node.config["Networking"] = {**node.config["Networking"], "amazonVPC": {}}
    found = applied(node, {"distribution": "rhel", "version": "9.4"})
    assert found["/etc/kops/nm-cloud-setup-disabled"] == (
        "0644", b"# Marker: nm-cloud-setup disabled by kops to avoid breaking AWS VPC CNI pod routing.\n")
    for unit in ("nm-cloud-setup.service", "nm-cloud-setup.timer"):
        assert os.readlink(node.root / "etc/systemd/system" / unit) == "/dev/null"


@pytest.mark.skipif(os.geteuid() != 0, reason="labels")
def test_programs_have_the_labels_of_the_policy(tmp_path):
    node = Worker(tmp_path / "node")
    policy = node.root / "etc/selinux/targeted/contexts/files/file_contexts"
    policy.parent.mkdir(parents=True)
    policy.write_text("/usr/.*\tsystem_u:object_r:usr_t:s0\n/usr/(.*/)?s?bin(/.*)?\tsystem_u:object_r:bin_t:s0\n"
                      "/usr/s?bin/runc\t--\tsystem_u:object_r:container_runtime_exec_t:s0\n")
    (node.root / "etc/selinux/config").write_text("SELINUX=enforcing\nSELINUXTYPE=targeted\n")
    # what is staged in a folder, or comes out of the cache, would have theirs
    for folder in (node.root, node.cache):
        os.setxattr(folder, "security.selinux", b"system_u:object_r:wrong_t:s0\0")
    applied(node, AMAZON)
    labels = {path: os.getxattr(node.root / path, "security.selinux") for path in ("usr/local/bin/kubelet", "usr/sbin/runc", "usr/bin/containerd")}
    assert labels == {"usr/local/bin/kubelet": b"system_u:object_r:bin_t:s0\0", "usr/sbin/runc": b"system_u:object_r:container_runtime_exec_t:s0\0",
                      "usr/bin/containerd": b"system_u:object_r:bin_t:s0\0"}
