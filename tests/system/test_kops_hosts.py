"""What some hosts of today's kops have of their own: a /usr that cannot be written to, services that stand in the way, a policy of SELinux."""
import contextlib
import os
import re
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


# In the forms of Red Hat's policy and of container-selinux: of the lines that match the last counts.
POLICY = """\
/.*                              default_t
/etc/.*                          etc_t
/etc/hosts[^/]*              --  net_conf_t
/etc/(passwd|group)[-+]?     --  passwd_file_t
/etc/shadow.*                --  shadow_t
/etc/systemd/system(/.*)?        systemd_unit_file_t
/etc/kubernetes(/.*)?            kubernetes_file_t
/usr/.*                          usr_t
/usr/(.*/)?s?bin(/.*)?           bin_t
/usr/lib/systemd(/.*)?       -d  lib_t
/usr/s?bin/runc              --  container_runtime_exec_t
/usr/bin/containerd.*        --  container_runtime_exec_t
/usr/(local/)?bin/kubelet.*  --  kubelet_exec_t
/opt/.*                          usr_t
/opt/(.*/)?bin(/.*)?             bin_t
/srv/.*                          var_t
/var/.*                          var_t
/var/lib(/.*)?                   var_lib_t
/var/lib/kubelet(/.*)?           container_var_lib_t
/var/log(/.*)?                   var_log_t
/home/[^/]+/.+                   user_home_t
"""
ROWS = [(line.split()[0], (line.split()[1:-1] or [""])[0], line.split()[-1]) for line in POLICY.splitlines()]
# What has the label of its folder: links, folders of links, and what is nodeup's own.
INHERITS = re.compile(r"^/etc/\.pwd\.lock$|^/var/(lib|cache)/nodeup(/|$)|^/run(/|$)|\.wants$")


def label_of(path, kind):
    return next(label for pattern, only, label in reversed(ROWS) if only in ("", kind) and re.fullmatch(pattern, path))


@pytest.mark.skipif(os.geteuid() != 0, reason="labels")
@pytest.mark.parametrize("kind, rewritten", [(Worker, {"/etc/hosts"}), (ControlPlane, {"/etc/passwd", "/etc/group", "/etc/shadow"})])
def test_each_path_has_the_label_of_the_policy(kind, rewritten, tmp_path):
    node = kind(tmp_path / "node")
    files, lines = node.root / "etc/selinux/targeted/contexts/files", POLICY.splitlines()
    files.mkdir(parents=True)
    (files.parents[2] / "config").write_text("SELINUX=enforcing\nSELINUXTYPE=targeted\n")
    for name, part in (("file_contexts", lines[:-1]), ("file_contexts.homedirs", lines[-1:])):
        (files / name).write_text("".join(re.sub(r"\S+$", r"system_u:object_r:\g<0>:s0\n", line) for line in part))
    for name in ("home/rocky", "var/lib", "run"):
        (node.root / name).mkdir(parents=True)
    for name, text in (("passwd", "x:1000:1000::/home/rocky:/bin/bash"), ("group", "x:1000:"), ("shadow", "*:::::::")):
        (node.root / "etc" / name).write_text(f"rocky:{text}\n")
    before = set(node.root.rglob("*")) - {node.root / name[1:] for name in rewritten}
    node.facts, node.addresses = {"distribution": "rocky", "version": "9.4", **FACTS}, ["10.0.0.9"]
    with node.controller() if kind is Worker else contextlib.closing(node):
        node.write()
        done = node.apply()
    assert done.returncode == OK, done.stderr
    labels = {}
    for path in set(node.root.rglob("*")) - before:
        name = "/" + str(path.relative_to(node.root))
        if not path.is_symlink() and not INHERITS.search(name):
            found = os.getxattr(path, "security.selinux").decode() if "security.selinux" in os.listxattr(path) else "none"
            labels[name] = found, f"system_u:object_r:{label_of(name, '-d' if path.is_dir() else '--')}:s0\0"
    assert {name: both for name, both in labels.items() if both[0] != both[1]} == {}
    assert {"/var/lib/kubelet", "/usr/local/bin/kubelet", *rewritten} < set(labels)
