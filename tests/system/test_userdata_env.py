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
