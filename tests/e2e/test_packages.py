"""Packages by the real dpkg, apt, rpm and dnf, on a booted node: absent, there, there in another version, twice; from a
repository and from a file; and the lock of a manager that is at work is waited for, its holder named."""
import os
import pathlib
import shutil
import subprocess

import pytest
import yaml

import labassets
import nodechecks
from lab import STATE, Lab, ROOT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
PROBE = "build/e2e/package_probe"
PACKAGES = ["rpm", "dnf", "createrepo-c"]
# What apt and dnf say of such a package.
NOBODY_HAS = {"deb": "E: Unable to locate package ", "rpm": "Error: Unable to find a match: "}
MODULES = "kernel-modules-extra-" + os.uname().release
# A package's script says that it ran; the slow one's goes on as long as somebody wants it to.
RAN = "echo x >>/var/lib/%s.runs"
SLOW = "touch /run/busy; while [ -e /run/busy ]; do sleep 0.05; done"
SPEC = """Name: %s
Version: %s
Release: %s
Summary: for a test
License: none
BuildArch: noarch
%s
%%description
For a test.
%s
%%files
"""


def build_deb(root, name, version, script):
    """Below the node's /srv/debs."""
    build = root / "srv/build" / name
    shutil.rmtree(build, ignore_errors=True)
    (build / "DEBIAN").mkdir(parents=True)
    (root / "srv/debs").mkdir(exist_ok=True)
    (build / "DEBIAN/control").write_text("Package: %s\nVersion: %d\nArchitecture: all\nMaintainer: nobody <n@example.test>\n"
                                          "Description: for a test\n" % (name, version))
    (build / "DEBIAN/postinst").write_text("#!/bin/sh\n%s\n" % script)
    (build / "DEBIAN/postinst").chmod(0o755)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", build, root / "srv/debs" / ("%s-%d.deb" % (name, version))],
                   check=True, capture_output=True)


def build_rpm(node, root, name, version, script, more="", release="1"):
    """Below the node's /srv/rpms."""
    (root / "srv/rpms").mkdir(parents=True, exist_ok=True)
    (root / "root/package.spec").write_text(SPEC % (name, version, release, more, "%post\n" + script if script else ""))
    node.sh("rpmbuild -bb --quiet --define '_topdir /root/rpmbuild' /root/package.spec && "
            "mv /root/rpmbuild/RPMS/noarch/%s-%s-%s.noarch.rpm /srv/rpms/%s-%s.rpm" % (name, version, release, name, version))


def settle(node, root):
    """Debian's rpm wants to be told that it may, and where its database is; dnf, of which release this is."""
    (root / "usr/local/bin/rpm").write_text(
        '#!/bin/sh\ncase $1 in -i | -e) set -- --force-debian "$@" ;; esac\nexec /usr/bin/rpm "$@"\n')
    (root / "usr/local/bin/rpm").chmod(0o755)
    (root / "etc/rpm").mkdir(exist_ok=True)
    (root / "etc/rpm/macros").write_text("%_dbpath /var/lib/rpm\n")
    (root / "etc/dnf/vars").mkdir(parents=True, exist_ok=True)
    (root / "etc/dnf/vars/releasever").write_text("9\n")
    (root / "etc/yum.repos.d").mkdir(exist_ok=True)
    (root / "etc/yum.repos.d/lab.repo").write_text("[lab]\nname=lab\nbaseurl=file:///srv/rpms\ngpgcheck=0\n")
    for path in (root / "etc/apt/sources.list", *(root / "etc/apt/sources.list.d").glob("*")):
        path.unlink(missing_ok=True)
    (root / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/debs ./\n")
    node.sh("rpmdb --initdb")


@pytest.fixture(scope="module")
def node():
    environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "-s", "FAKES=" + PROBE, PROBE], cwd=ROOT, env=environ, check=True)
    with Lab() as lab:
        node = lab.boot("packages", "nodes", labassets.documents_only(labassets.seed_user_data("nodes", lab.assets)),
                        layers=[lab.layer("rpm", PACKAGES)])
        node.wait_cloud_init(300)
        root = pathlib.Path(node.root)
        node.lab = lab
        shutil.copy(os.path.join(ROOT, PROBE), root / "root/package_probe")
        settle(node, root)
        for name, version, script in (("hello", 1, RAN % "hello"), ("hello", 2, RAN % "hello"),
                                      ("world", 1, RAN % "world"), ("slow", 1, SLOW), ("later", 1, RAN % "later")):
            build_deb(root, name, version, script)
            build_rpm(node, root, name, version, script)
        # of the kernel that runs, and of a newer one, which dnf would take
        for name, version, release in (MODULES.rsplit("-", 2), ("kernel-modules-extra", "99", "1")):
            build_rpm(node, root, name, version, None, release=release)
        # whose scripts want the shell of a package
        build_rpm(node, root, "shell", 1, "", "Provides: /bin/sh")
        node.sh("rpm -i /srv/rpms/shell-1.rpm")
        node.sh("cd /srv/debs && rm -f Packages && for f in world-1.deb later-1.deb; do dpkg-deb -f $f >>Packages; "
                "printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' $f $(stat -c %s $f) $(sha256sum $f | cut -c-64) "
                ">>Packages; done; createrepo_c -q /srv/rpms")
        yield node


def remove_ours(node):
    node.sh("rm -f /run/busy /var/lib/*.runs; for p in hello world slow later; do dpkg --purge $p; rpm -e $p; done 2>/dev/null; true")


@pytest.fixture(params=["deb", "rpm"])
def family(request, node):
    """A machine without any of ours."""
    yield request.param
    remove_ours(node)


def probe(node, *args, status=0):
    """The probe's lines."""
    done = node.exec("/root/package_probe", *args, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return (done.stdout + done.stderr).splitlines()


def runs(node, name):
    return node.sh("cat /var/lib/%s.runs" % name, check=False).count("x")


def version_of(node, family, name):
    """None if it is not there."""
    command = "dpkg-query -f '${Version}' -W " if family == "deb" else "rpm -q --qf '%{VERSION}' "
    done = node.exec("bash", "-c", command + name)
    return done.stdout if done.returncode == 0 else None


def file_of(family, name, version):
    return "/srv/%ss/%s-%d.%s" % (family, name, version, family)


def test_from_a_repository(node, family):
    names = ["-", "world", "later"]
    assert probe(node, "check", family, *names) == ["differs=not installed: world later"]
    assert probe(node, "apply", family, *names) == ["done="]
    assert probe(node, "check", family, *names) == ["equal="]
    assert (runs(node, "world"), runs(node, "later")) == (1, 1)
    # what is there is left out, and nothing of it runs again
    node.sh("dpkg --purge later" if family == "deb" else "rpm -e later")
    assert probe(node, "check", family, *names) == ["differs=not installed: later"]
    assert probe(node, "apply", family, *names) == ["done="]
    assert (runs(node, "world"), runs(node, "later")) == (1, 2)


def test_from_a_file(node, family):
    one, two = file_of(family, "hello", 1), file_of(family, "hello", 2)
    assert probe(node, "check", family, one, "hello") == ["differs=not installed: hello"]
    assert probe(node, "apply", family, one, "hello") == ["done="]
    assert probe(node, "check", family, one, "hello") == ["equal="]
    assert version_of(node, family, "hello") == "1" and runs(node, "hello") == 1
    # another version is there: that is not a reason to replace it under a running cluster
    assert probe(node, "check", family, two, "hello") == ["equal="]
    assert version_of(node, family, "hello") == "1" and runs(node, "hello") == 1


def test_a_package_nobody_has(node, family):
    said = probe(node, "apply", family, "-", "no-such-package", status=71)
    assert "said=" + NOBODY_HAS[family] + "no-such-package" in said, said
    assert "said=Error: " not in said


@pytest.mark.parametrize("way", ["repository", "file"])
def test_a_manager_at_work_is_waited_for(node, family, way):
    program = "dpkg" if family == "deb" else "rpm"
    slow = subprocess.Popen(node.command(program, "-i", file_of(family, "slow", 1)), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    node.wait(lambda: node.exec("test", "-e", "/run/busy").returncode == 0, 120, "the slow package")
    args = ["-", "world"] if way == "repository" else [file_of(family, "world", 1), "world"]
    log = open(node.path("probe.log"), "w")
    run = subprocess.Popen(node.command("/root/package_probe", "apply", family, *args), stdin=subprocess.DEVNULL,
                           stdout=log, stderr=log)
    try:
        node.wait(lambda: "waiting=" in node.tail("probe.log"), 120, "the lock to be told of")
        assert version_of(node, family, "world") is None and run.poll() is None
    finally:
        node.sh("rm -f /run/busy")
        slow.wait(120)
        status = run.wait(300)
    said = node.tail("probe.log").splitlines()
    assert status == 0 and said[-1] == "done=", said
    assert said[0].startswith("waiting=/var/lib/%s/" % ("dpkg" if family == "deb" else "rpm")), said
    assert ", which %s (pid " % program in said[0] and said[0].endswith(" holds"), said
    assert runs(node, "world") == 1


def test_modules_of_the_kernel_that_runs(node):
    """A kernel without any list, as in a container, lacks none."""
    names = ["-", "kernel-modules-extra", "module:br_netfilter", "module:ip_set"]
    lists = "/lib/modules/" + os.uname().release
    assert probe(node, "check", "rpm", *names) == ["equal="]
    node.sh("mkdir -p %s && echo kernel/net/bridge/br_netfilter.ko.xz: >%s/modules.dep" % (lists, lists))
    try:
        assert probe(node, "check", "rpm", *names) == ["differs=not installed: " + MODULES]
        assert probe(node, "apply", "rpm", *names) == ["done="]
        assert version_of(node, "rpm", MODULES) and not version_of(node, "rpm", "kernel-modules-extra-99")
        assert probe(node, "check", "rpm", *names) == ["equal="]
    finally:
        node.sh("rm -r %s; rpm -e %s" % (lists, MODULES))


def test_dnf_at_work_is_waited_for(node):
    slow = subprocess.Popen(node.command("dnf", "-q", "-y", "install", "slow"), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        node.wait(lambda: node.exec("test", "-e", "/run/busy").returncode == 0, 120, "the slow package")
        log = open(node.path("probe.log"), "w")
        run = subprocess.Popen(node.command("/root/package_probe", "apply", "rpm", "-", "world"), stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log)
        node.wait(lambda: "waiting=" in node.tail("probe.log"), 120, "the lock to be told of")
    finally:
        node.sh("rm -f /run/busy")
        slow.wait(120)
    assert run.wait(300) == 0 and runs(node, "world") == 1, node.tail("probe.log")
    assert ", which dnf (pid " in node.tail("probe.log")


def test_a_node_of_the_red_hat_family(node):
    """As a whole: what the documents name is there once kubelet runs, and a second run leaves it alone."""
    root, conf = pathlib.Path(node.root), pathlib.Path(node.root) / "root/conf"
    remove_ours(node)
    conf.mkdir()
    labassets.write_documents(str(conf), "nodes", node.lab.assets)
    shutil.copytree(os.path.join(STATE, "jdurbin-kops/abc.joshdurbin.net"), conf / "state")
    env = yaml.safe_load((conf / "kube_env.yaml").read_text())
    env.update(ConfigBase="/root/conf/state", packages=["world", "later"])
    (conf / "kube_env.yaml").write_text(yaml.safe_dump(env))
    for path in (root / "etc/os-release", root / "usr/lib/os-release"):
        path.unlink(missing_ok=True)
        path.write_text('ID=rocky\nVERSION_ID="9.4"\n')
    nodeup = ("/var/cache/kubernetes-install/nodeup", "apply", "--conf=/root/conf/kube_env.yaml")
    for _ in range(2):
        done = node.exec(*nodeup, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr + nodechecks.explain(node)
        assert (runs(node, "world"), runs(node, "later")) == (1, 1)
        assert version_of(node, "rpm", "world") == "1" and node.healthz() == "ok"
    assert node.exec("test", "-e", "/etc/apt/apt.conf.d/20auto-upgrades").returncode != 0
