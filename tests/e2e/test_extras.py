"""What users add to a node, on a booted one with a real docker, dpkg and apt: packages from a repository of its
own, hooks as containers and as manifests, files.  A second run and a reboot find each done once."""
import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest
import yaml

import labassets
import nodechecks
from lab import STATE, Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
CONF = "/root/conf/kube_env.yaml"
NODEUP = "/var/cache/kubernetes-install/nodeup"
REGISTRY = "127.0.0.1:5000"
# of a hook's environment: what a shell, systemd or docker might see more in
WORD = " hush $HOME %h \"'\\ # "
# an image of one static program: the lab's stand-in for protokube is one, but it does not end
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "a") : NULL;
	return !f || fprintf(f, "x\n%s\n%s\n", getenv("WORD"), getenv("LINES")) < 0 || fclose(f);
}
"""


def image(directory):
    """An image below directory as a registry serves it: what each URL answers, and its type."""
    source = directory / "once.c"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-static", "-o", directory / "once", source], check=True)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(directory / "once", "once")
    packed = gzip.compress(layer.getvalue(), mtime=0)
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {
        "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer.getvalue()).hexdigest()]}}).encode()

    def blob(data, kind):
        return {"mediaType": kind, "size": len(data), "digest": "sha256:" + hashlib.sha256(data).hexdigest()}
    kind = "application/vnd.docker.distribution.manifest.v2+json"
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": kind, "config": blob(config, "application/vnd.docker.container.image.v1+json"),
        "layers": [blob(packed, "application/vnd.docker.image.rootfs.diff.tar.gzip")]}).encode()
    answers = {"/v2/": (b"{}", "application/json")}
    for data, its in ((config, "application/octet-stream"), (packed, "application/octet-stream"), (manifest, kind)):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        answers["/v2/once/%s/%s" % ("manifests" if data is manifest else "blobs", digest)] = (data, its)
    answers["/v2/once/manifests/1"] = (manifest, kind)
    return answers


def serve_registry(directory):
    """The registry's process, in the node's network."""
    with open(os.path.join(directory, "answers.json")) as f:
        answers = {path: (bytes.fromhex(data), kind) for path, (data, kind) in json.load(f).items()}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            data, kind = answers.get(self.path, (b"", None))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(data)))
            if "sha256:" in self.path or "manifests" in self.path:
                self.send_header("Docker-Content-Digest", "sha256:" + hashlib.sha256(data).hexdigest())
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)
        do_HEAD = do_GET

        def log_message(self, *_):
            pass
    http.server.ThreadingHTTPServer(("127.0.0.1", 5000), Handler).serve_forever()


def repository(root, postinst="echo x >>/var/lib/hello.runs"):
    """A repository of one package below /srv/debs, and nothing else for apt to look at."""
    build, debs = root / "srv/build", root / "srv/debs"
    (build / "DEBIAN").mkdir(parents=True)
    (build / "etc").mkdir()
    debs.mkdir()
    (build / "etc/hello.conf").write_text("the package's\n")
    (build / "DEBIAN/conffiles").write_text("/etc/hello.conf\n")
    (build / "DEBIAN/control").write_text("Package: hello-node\nVersion: 1\nArchitecture: all\n"
                                          "Maintainer: nobody <nobody@example.test>\nDescription: for a test\n")
    (build / "DEBIAN/postinst").write_text("#!/bin/sh\n%s\n" % postinst)
    (build / "DEBIAN/postinst").chmod(0o755)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", build, debs / "hello.deb"], check=True, capture_output=True)
    data = (debs / "hello.deb").read_bytes()
    (debs / "Packages").write_text((build / "DEBIAN/control").read_text() + "Filename: ./hello.deb\nSize: %d\nSHA256: %s\n"
                                   % (len(data), hashlib.sha256(data).hexdigest()))
    for path in (root / "etc/apt/sources.list", *(root / "etc/apt/sources.list.d").glob("*")):
        path.unlink(missing_ok=True)
    (root / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/debs ./\n")


def write_documents(lab, root):
    conf = root / "root/conf"
    conf.mkdir(parents=True)
    labassets.write_documents(str(conf), "nodes", lab.assets)
    shutil.copytree(os.path.join(STATE, "jdurbin-kops/abc.joshdurbin.net"), conf / "state")
    env = yaml.safe_load((conf / "kube_env.yaml").read_text())
    env.update(ConfigBase="/root/conf/state", packages=["hello-node"])
    (conf / "kube_env.yaml").write_text(yaml.safe_dump(env))
    group = yaml.safe_load((conf / "state/instancegroup/nodes").read_text())
    group["spec"].update(
        hooks=[{"name": "first", "before": ["kubelet.service"],
                "manifest": "Type=oneshot\nExecStart=/bin/sh -c 'echo x >>/var/lib/first.runs'\n"
                            "[Install]\nWantedBy=multi-user.target\n"},
               {"execContainer": {"image": REGISTRY + "/once:1", "command": ["/once", "/rootfs/var/lib/once.runs"],
                                   "environment": {"WORD": WORD, "LINES": "one\ntwo"}}},
               {"name": "unwanted", "disabled": True}],
        fileAssets=[{"name": "greeting", "content": "hello\n"}])
    (conf / "state/instancegroup/nodes").write_text(yaml.safe_dump(group))
    (root / "etc/systemd/system/unwanted.service").write_text(
        "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")


def runs(node, name):
    return node.sh("cat /var/lib/%s.runs" % name, check=False).count("x")


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    import pathlib
    directory = tmp_path_factory.mktemp("registry")
    with Lab() as lab:
        node = lab.boot("extras", "nodes", labassets.documents_only(labassets.seed_user_data("nodes", lab.assets)))
        node.wait_cloud_init(300)
        root = pathlib.Path(node.root)
        repository(root)
        write_documents(lab, root)
        (directory / "answers.json").write_text(json.dumps(
            {path: (data.hex(), kind) for path, (data, kind) in image(directory).items()}))
        node.serve("registry", sys.executable, __file__, str(directory))
        node.wait(lambda: node.exec("curl", "-sf", "http://%s/v2/" % REGISTRY).returncode == 0, 120, "the registry")
        node.sh("systemctl daemon-reload && systemctl enable --now unwanted.service")
        yield node


def apply(node):
    return node.exec(NODEUP, "apply", "--conf=" + CONF, timeout=600)


def test_a_host_that_cannot_run_it_is_told_so_and_left_alone(node):
    node.sh("mv /etc/nodeup/nodeup.d/lab.yaml /root")
    try:
        done = apply(node)
    finally:
        node.sh("mv /root/lab.yaml /etc/nodeup/nodeup.d")
    assert done.returncode == 78, done
    assert "Kubernetes 1.8.7 cannot run here: this host has cgroup v2" in done.stderr, done.stderr
    assert node.exec("test", "-e", "/etc/kubernetes").returncode != 0


def test_a_lock_is_waited_for_and_its_holder_named(node):
    hold = ("import fcntl, os, time; f = open('/var/lib/dpkg/lock-frontend', 'w'); fcntl.lockf(f, fcntl.LOCK_EX)\n"
            "open('/run/held', 'w').close()\nwhile os.path.exists('/run/held'): time.sleep(0.05)\n")
    holder = subprocess.Popen(node.command("python3", "-c", hold), stdin=subprocess.DEVNULL)
    node.wait(lambda: node.exec("test", "-e", "/run/held").returncode == 0, 120, "the lock to be held")
    with open(node.path("apply.log"), "w") as log:
        run = subprocess.Popen(node.command(NODEUP, "apply", "--conf=" + CONF), stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log)
    try:
        node.wait(lambda: "/var/lib/dpkg/lock-frontend, which python3 (pid" in
                  node.exec("cat", "/run/nodeup/status.json").stdout, 120, "the wait to be told")
        assert node.exec("dpkg", "-s", "hello-node").returncode != 0
    finally:
        node.sh("rm -f /run/held")
        holder.wait(60)
        status = run.wait(600)
    assert status == 0, node.tail("apply.log", 60) + nodechecks.explain(node)


def test_a_password_is_for_the_container_alone(node):
    """It gets its variables as the documents say them; a unit and a process's arguments are for everybody."""
    assert node.sh("cat /var/lib/once.runs") == "x\n%s\none\ntwo\n" % WORD
    unit, suffix = os.path.splitext(node.sh("ls /etc/kubernetes/hooks").strip())
    assert suffix == ".env" and node.sh("stat -c %a /etc/kubernetes/hooks/*").strip() == "600"
    shown = node.sh("set -e; systemctl cat {0}.service; systemctl show {0}.service".format(unit))
    assert "ExecStart" in shown and "hush" not in shown


def test_all_of_it_is_there_once(node):
    assert "Status: install ok installed" in node.exec("dpkg", "-s", "hello-node").stdout
    assert [runs(node, name) for name in ("hello", "first", "once")] == [1, 1, 1]
    assert node.sh("cat /srv/kubernetes/assets/greeting; stat -c %a /srv/kubernetes/assets/greeting") == "hello\n440\n"
    off = node.show("unwanted.service", "ActiveState", "UnitFileState")
    assert off == {"ActiveState": "inactive", "UnitFileState": "disabled"}
    first, kubelet = (node.show(u, "ExecMainStartTimestampMonotonic")["ExecMainStartTimestampMonotonic"]
                      for u in ("first.service", "kubelet.service"))
    assert int(first) < int(kubelet)


def test_a_second_run_does_none_of_it_again(node):
    done = apply(node)
    assert done.returncode == 0, done.stderr
    assert node.exec(NODEUP, "plan", "--conf=" + CONF).returncode == 0
    assert [runs(node, name) for name in ("hello", "first", "once")] == [1, 1, 1]


def test_dpkg_killed_half_way_is_finished(node):
    """And asks nobody whether to keep a file of its that somebody wrote."""
    node.sh("dpkg --purge hello-node && echo ours >/etc/hello.conf && dpkg --unpack /srv/debs/hello.deb")
    assert "unpacked" in node.exec("dpkg", "-s", "hello-node").stdout
    asked = node.exec("dpkg", "--configure", "-a")
    assert asked.returncode and "hello.conf" in asked.stderr + asked.stdout, "dpkg has no question"
    done = apply(node)
    assert done.returncode == 0, done.stderr
    assert node.sh("cat /etc/hello.conf") == "ours\n"
    assert "Status: install ok installed" in node.exec("dpkg", "-s", "hello-node").stdout
    assert runs(node, "hello") == 2


def test_a_boot_runs_the_hooks_once(node):
    node.reboot()
    node.wait(lambda: node.exec("systemctl", "is-system-running", "--wait", timeout=600).stdout.strip()
              in ("running", "degraded"), 600, "the boot to be over")
    done = apply(node)
    assert done.returncode == 0, done.stderr + nodechecks.explain(node)
    assert [runs(node, name) for name in ("hello", "first", "once")] == [2, 2, 2]


if __name__ == "__main__":
    serve_registry(sys.argv[1])
