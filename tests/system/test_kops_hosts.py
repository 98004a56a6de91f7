"""What some hosts of today's kops have of their own: a /usr that cannot be written to, services that stand in the way, a policy of SELinux."""
import contextlib
import os
import subprocess

import pytest

from kops import AMAZON, FACTS, ControlPlane, Worker
from world import OK

FLATCAR = {"distribution": "flatcar", "version": "4152.2.0"}
RHEL = {"distribution": "rhel", "version": "10.1"}
UNITS = "/etc/systemd/system/"


@contextlib.contextmanager
def read_only(folder):
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def applied(node, facts):
    """Its files after two runs, of which the second finds nothing to do."""
    node.facts = {**facts, **FACTS}
    with node.controller() if not isinstance(node, ControlPlane) else contextlib.closing(node):
        node.write()
        for command, *flags in (("apply",), ("plan", "--verify")):
            done = node.run(command, *flags)
            assert done.returncode == OK, done.stdout + done.stderr
    return node.tree()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts")
@pytest.mark.parametrize("kind", [Worker, ControlPlane])
def test_a_usr_that_is_read_only(kind, tmp_path):
    node = kind(tmp_path / "node")
    with read_only(node.root / "usr"):
        found = applied(node, FLATCAR)
    assert found["/opt/kubernetes/bin/kubelet"][0] == "0755" and "/opt/cni/bin/bridge" in found
    assert ("/opt/kops/bin/kubectl" in found) == (kind is ControlPlane)
    assert found[UNITS + "containerd.service.d/10-kops.conf"] == (
        "0644", b"[Service]\nEnvironmentFile=/etc/environment\nExecStart=\nExecStart=/usr/bin/containerd --config /etc/containerd/config.toml")
    assert b"\nversion = 3\n" in found["/etc/containerd/config.toml"][1]
    assert found[UNITS + "update-service.service"][1] == (
        b"[Unit]\nDescription=Disable OS Update Scheduler\nBefore=locksmithd.service\n\n"
        b"[Service]\nType=oneshot\nExecStart=/usr/bin/systemctl mask --now locksmithd.service\n")
    assert os.readlink(node.root / "etc/systemd/system/locksmithd.service") == "/dev/null"
    assert not os.path.lexists(node.root / "etc/systemd/system/update-engine.service")
    kubelet = found["/etc/sysconfig/kubelet"][1].decode()
    assert "--image-credential-provider-bin-dir=/opt/kubernetes/bin " in kubelet or "--image-credential-provider-bin-dir=/opt/kubernetes/bin\"" in kubelet
    assert not [path for path in found if path.startswith("/usr/") or "chrony" in path or path == UNITS + "logrotate.service"]


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
