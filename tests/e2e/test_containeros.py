"""A worker that takes itself for Container-Optimized OS: /home is mounted without exec, and kubelet mounts through
mounter.tar.  Debian's systemd, mount and docker; the tar stands for one that nobody has here."""
import hashlib
import io
import os
import pathlib
import shutil
import tarfile

import pytest
import yaml

import labassets
import nodechecks
from lab import STATE, Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
CONF = "/root/conf/kube_env.yaml"
NODEUP = "/var/cache/kubernetes-install/nodeup"
HOME = "/home/kubernetes/containerized_mounter"
ROOTFS = HOME + "/rootfs"


def mounter_tar():
    """A root with what ours refuses to unpack: a setuid program, and a link to a place of the host."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, mode, link in (("bin", 0o755, None), ("bin/mount", 0o4755, None), ("etc", 0o755, None),
                                 ("etc/resolv.conf", 0o777, "/run/nowhere")):
            info = tarfile.TarInfo(name)
            info.mode, info.linkname = mode, link or ""
            info.type = tarfile.SYMTYPE if link else tarfile.REGTYPE if "/" in name else tarfile.DIRTYPE
            tar.addfile(info)
    return out.getvalue()


def write_documents(lab, root):
    conf = root / "root/conf"
    conf.mkdir(parents=True)
    labassets.write_documents(str(conf), "nodes", lab.assets)
    shutil.copytree(os.path.join(STATE, "jdurbin-kops/abc.joshdurbin.net"), conf / "state")
    (conf / "mounter.tar").write_bytes(mounter_tar())
    labassets.tar_gz(str(conf / "more.tar.gz"), [(b"#!/bin/sh\necho mounts\n", "./gci-mounter")])
    env = yaml.safe_load((conf / "kube_env.yaml").read_text())
    env["ConfigBase"] = "/root/conf/state"
    env["Assets"] += ["%s@file:///root/conf/%s" % (hashlib.sha1((conf / name).read_bytes()).hexdigest(), name)
                      for name in ("mounter.tar", "more.tar.gz")]
    (conf / "kube_env.yaml").write_text(yaml.safe_dump(env))
    (root / "etc/os-release").unlink()
    (root / "etc/os-release").write_text("ID=cos\nVERSION_ID=65\n")


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("cos", "nodes", labassets.documents_only(labassets.seed_user_data("nodes", lab.assets)),
                        nspawn=["--tmpfs=/home:mode=755,noexec"])
        node.wait_cloud_init(300)
        write_documents(lab, pathlib.Path(node.root))
        yield node


def apply(node):
    done = node.exec(NODEUP, "apply", "--conf=" + CONF, timeout=600)
    assert done.returncode == 0, done.stderr + nodechecks.explain(node)


def options(node, path):
    return set(node.exec("findmnt", "-nM", path, "-o", "VFS-OPTIONS").stdout.strip().split(","))


def mounts(node):
    return sorted(line.split()[4] for line in node.sh("cat /proc/self/mountinfo").splitlines()
                  if line.split()[4].startswith("/home/"))


def test_programs_run_and_kubelet_has_its_mounter(node):
    node.sh("echo 'exit 0' >/home/program; chmod 755 /home/program")
    assert node.exec("/home/program").returncode != 0
    apply(node)
    assert "noexec" not in options(node, "/home/kubernetes/bin")
    nodechecks.need(node.show("kubelet.service", "ActiveState")["ActiveState"] == "active", node, "no kubelet")
    assert node.show("kubernetes-iptables-setup.service", "ActiveState", "Result") == {
        "ActiveState": "active", "Result": "success"}
    flags = node.sh("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID kubelet.service)/cmdline").splitlines()
    assert "--experimental-mounter-path=%s/mounter" % HOME in flags
    assert node.sh(HOME + "/mounter") == "mounts\n"
    assert node.exec("/home/program").returncode != 0


def test_the_mounters_root_sees_what_it_has_to(node):
    assert node.sh("stat -c '%a %F' {0}/bin/mount {0}/etc/resolv.conf".format(ROOTFS)).splitlines() == [
        "4755 regular empty file", "644 regular file"]
    assert node.sh("cmp /etc/resolv.conf %s/etc/resolv.conf; test -e %s/proc/1/status" % (ROOTFS, ROOTFS)) == ""
    for name in ("proc", "dev", "etc/resolv.conf"):
        assert "ro" in options(node, ROOTFS + "/" + name), name
    # what kubelet mounts is seen in there, and the other way round
    for here, there in (("/var/lib/kubelet", ROOTFS + "/var/lib/kubelet"), (ROOTFS + "/var/lib/kubelet", "/var/lib/kubelet")):
        node.sh("mkdir -p {0}/v && mount -t tmpfs v {0}/v && touch {0}/v/x && test -e {1}/v/x; s=$?; umount {0}/v; exit $s"
                .format(here, there))


def test_again_mounts_nothing_twice_and_loses_nothing(node):
    before = mounts(node)
    assert len(set(before)) == 6, before
    node.sh("mkdir -p /var/lib/kubelet/pods && echo data >/var/lib/kubelet/pods/precious")
    node.sh("systemctl restart kubernetes-mounts.service")
    assert mounts(node) == before
    assert node.sh("cat /var/lib/kubelet/pods/precious") == "data\n"
    apply(node)
    assert node.exec(NODEUP, "plan", "--conf=" + CONF).returncode == 0
    assert mounts(node) == before
