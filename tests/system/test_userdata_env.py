"""What `nodeup userdata` exports to the nodeup that it starts: all that is needed before there is a document."""
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NODEUP = os.environ.get("NODEUP", os.path.join(ROOT, "build/nodeup"))
URL = "0" * 40 + "@https://mirror.example/nodeup"
STORE = {"S3_ENDPOINT": "http://minio:9000", "S3_REGION": "eu-1", "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "k'$(x)"}
PROXY = "egressProxy: {httpProxy: {host: 'user:p%25@proxy.example', port: 3128}, excludes: '10.0.0.0/8,.example'}\n"


@pytest.fixture
def render(tmp_path):
    (tmp_path / "kube_env.yaml").write_text("ClusterName: c.example\nConfigBase: s3://b/c\nInstanceGroupName: nodes\n")

    def run(cluster=None, status=0, **environ):
        if cluster is not None:
            (tmp_path / "cluster_spec.yaml").write_text(cluster)
        done = subprocess.run([NODEUP, "userdata", "--conf=%s/kube_env.yaml" % tmp_path, "--nodeup-url", URL],
                              env=environ, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done
    return run


def exported(script):
    """What a shell has after the script's first lines."""
    head = script[:script.index("INSTALL_DIR=")]
    done = subprocess.run(["bash", "-c", head + "\nenv -0"], env={}, capture_output=True, text=True, check=True)
    env = dict(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
    return {k: v for k, v in env.items() if k not in ("PWD", "SHLVL", "_")}


def test_nothing_without_need(render):
    assert exported(render("docker: {}\n", http_proxy="http://mine", S3_REGION="eu-1").stdout) == {}


def test_region_store_and_proxy(render):
    proxy = "http://user:p%25@proxy.example:3128"
    assert exported(render(PROXY, AWS_REGION="us-west-2", **STORE).stdout) == {
        "AWS_REGION": "us-west-2", **STORE, "http_proxy": proxy, "https_proxy": proxy,
        "no_proxy": "10.0.0.0/8,.example", "NO_PROXY": "10.0.0.0/8,.example"}
    assert exported(render("kind: Cluster\nspec:\n  " + PROXY).stdout)["http_proxy"] == proxy


def test_a_bad_proxy_is_told_without_its_login(render):
    for text in ("http://u:hunter2@proxy", "{httpProxy: {host: 'u:hunter2@a b'}}", "{httpProxy: {host: h, port: hunter2}}"):
        done = render("egressProxy: %s\n" % text, status=78)
        assert "cluster_spec.yaml:1:" in done.stderr and "egressProxy" in done.stderr, done.stderr
        assert "hunter2" not in done.stdout + done.stderr


@pytest.fixture
def mime(tmp_path):
    (tmp_path / "kube_env.yaml").write_text("ClusterName: c.example\nConfigBase: s3://b/c\nInstanceGroupName: nodes\n")

    def run(*parts):
        flags = []
        for kind, name, text in parts:
            (tmp_path / name).write_text(text)
            flags.append("--mime=%s:%s" % (kind, tmp_path / name))
        done = subprocess.run([NODEUP, "userdata", "--conf=%s" % tmp_path, "--nodeup-url", URL, *flags],
                              env={}, capture_output=True, text=True)
        assert (done.stdout == "") == (done.returncode != 0), done
        return done
    return run


@pytest.mark.parametrize("kind", ["text/cloud-config", "text/cloud-config-archive"])
def test_broken_yaml_in_a_part_is_told_with_its_place(mime, tmp_path, kind):
    """cloud-init would say so on each node, in a log, and go on without it."""
    done = mime((kind, "bad.yaml", "#cloud-config\nruncmd: [a\nusers: {\n"))
    assert done.returncode == 78 and "%s/bad.yaml:" % tmp_path in done.stderr, done
    assert "bad.yaml:3:" in done.stderr and len(done.stderr.splitlines()) == 1, done
    assert mime((kind, "good.yaml", "#cloud-config\nruncmd: [a]\n")).returncode == 0


@pytest.mark.parametrize("wrong,right", [
    ("text/cloud-confg", "text/cloud-config"), ("cloud-config", "text/cloud-config"),
    ("text/x-shelscript", "text/x-shellscript"), ("text/x-include", "text/x-include-url"),
    ("text/cloud-boot-hook", "text/cloud-boothook"), ("text/Jinja", "text/jinja2"), ("application/zip", None)])
def test_a_type_that_cloud_init_drops_is_refused(mime, tmp_path, wrong, right):
    done = mime((wrong, "cc.yaml", "#cloud-config\n{}\n"))
    assert done.returncode == 64 and "--mime %s:%s/cc.yaml" % (wrong, tmp_path) in done.stderr, done
    assert ("did you mean %s?" % right in done.stderr) if right else ("did you mean" not in done.stderr), done
    assert "(64)" in done.stderr.splitlines()[0], done


def test_types_that_a_handler_brings(mime):
    """A part handler of the user's takes any type, wherever it stands."""
    parts = [("text/x-mine", "mine", "x"), ("text/part-handler", "handler.py", "def list_types(): pass\n")]
    assert mime(*parts).returncode == 0 and mime(*reversed(parts)).returncode == 0
    assert mime(parts[0]).returncode == 64


@pytest.mark.parametrize("kind", ["text/x-shellscript", "text/x-shellscript-per-boot", "text/cloud-boothook", "text/jinja2",
                                  "text/x-include-once-url", "text/part-handler", "Text/X-ShellScript"])
def test_types_that_cloud_init_knows(mime, kind):
    done = mime((kind, "part", "## template: jinja\n#!/bin/sh\n{{ a: [\n"))
    assert done.returncode == 0, done
