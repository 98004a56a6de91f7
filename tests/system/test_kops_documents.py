"""The documents of today's kops: checked as a file and as user data."""
import base64
import hashlib
import json

import pytest
import yaml

from kops import ControlPlane, Worker
from test_kubeup_documents import nodeup, validate, write
from world import CONFIG, OK

BOOT = """\
CloudProvider: aws
ClusterName: a.example.com
ConfigBase: s3://store/a.example.com
InstanceGroupName: first
InstanceGroupRole: ControlPlane
NodeupConfigHash: V2Uc2Z93/mG2/4W4SivEjv50rzmrYZ0w8cHIj1r9hGI=
"""
USER_DATA = f"#!/bin/bash\n\ncat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n{BOOT}\n__EOF_KUBE_ENV\n\ndownload-release\n"
CHECKED = "BootConfig of instance group first, ControlPlane; nodeupconfig.yaml beside it was not there to read"


@pytest.mark.parametrize("text", [BOOT, USER_DATA], ids=["document", "user data"])
def test_validate_says_what_it_read(text, tmp_path):
    path = write(tmp_path, text)
    done = validate(path)
    assert (done.returncode, done.stdout) == (OK, f"{path}: valid, cluster a.example.com: {CHECKED}\n"), done.stderr
    told = json.loads(validate(path, "-o", "json").stdout)["documents"]
    assert told == [{"conf": str(path), "valid": True, "cluster": "a.example.com", "checked": CHECKED}]


def test_user_data_names_its_own_line(tmp_path):
    done = validate(write(tmp_path, USER_DATA.replace("InstanceGroupRole: C", "InstanceGroupRol: C")))
    assert done.returncode == CONFIG and "kube_env.yaml:8:1: unknown key 'InstanceGroupRol'" in done.stderr


ASSETS = [f"{digit * 64}@https://x.example/{name}" for digit, name in (
    ("a", "kubelet"), ("b", "containerd-2.3.4-linux-amd64.tar.gz"), ("c", "runc.amd64"), ("d", "ecr-credential-provider-linux-amd64"))]
NODEUP_CONFIG = "ClusterName: a.example.com\nKubernetesVersion: 1.36.1\ncontainerdConfig: {version: 2.3.4}\nAssets: " + json.dumps(
    {"amd64": ASSETS, "arm64": ASSETS}) + "\n"
WORKER = """\
CloudProvider: aws
ClusterName: a.example.com
ConfigServer: {servers: ["https://kops-controller.internal.a.example.com:3988/"], CACertificates: pem}
InstanceGroupName: nodes
InstanceGroupRole: Node
NodeupConfigHash: """ + base64.b64encode(hashlib.sha256(NODEUP_CONFIG.encode()).digest()).decode() + "\n"


def test_the_nodeupconfig_beside_it_is_checked(tmp_path):
    path = write(tmp_path, WORKER)
    write(tmp_path, NODEUP_CONFIG, "nodeupconfig.yaml")
    done = validate(path)
    want = f"{path}: valid, worker of cluster a.example.com, Kubernetes 1.36.1\n"
    assert (done.returncode, done.stdout) == (OK, want), done.stderr
    beside = write(tmp_path, NODEUP_CONFIG + "Assetz: {}\n", "nodeupconfig.yaml")
    done = validate(path)
    assert done.returncode == CONFIG and f"{beside}: this is not the NodeupConfig that BootConfig means" in done.stderr
    assert f"{beside}:5:1: unknown key 'Assetz'; did you mean 'Assets'?" in done.stderr, "all that is wrong is told"


@pytest.mark.parametrize("command, says", [
    ("plan --offline", "NodeupConfig: s3://store/a.example.com/igconfig/control-plane/first/nodeupconfig.yaml: not read, we are offline"),
    ("bake --root={root} --cache={root}", "no nodeupconfig.yaml is beside it, and no node can be made without it"),
])
def test_no_node_is_made_of_them_alone(command, says, tmp_path):
    (tmp_path / "root").mkdir()
    done = nodeup(*command.format(root=tmp_path / "root").split(), f"--conf={write(tmp_path, BOOT)}")
    assert done.returncode == CONFIG and says in done.stderr, done.stderr
    assert not list((tmp_path / "root").rglob("*.service"))


def test_a_key_is_left_alone_where_settings_say_so(tmp_path):
    refused = validate(write(tmp_path, BOOT + "NewKey: 1\n"))
    assert refused.returncode == CONFIG and "kube_env.yaml:7:1: unknown key 'NewKey'" in refused.stderr
    done = validate(write(tmp_path, BOOT + "NewKey: 1\nacceptKeys: [NewKey]\n"))
    assert done.returncode == OK and "kube_env.yaml:7:1: 'NewKey' is left alone, as acceptKeys says" in done.stderr, done.stderr
    assert validate(write(tmp_path, BOOT + "NewKey: 1\nOther: 2\nacceptKeys: [NewKey]\n")).returncode == CONFIG
    wrong = validate(write(tmp_path, BOOT + "NewKey: 1\nacceptKeys: [[NewKey]]\n"))
    assert wrong.returncode == CONFIG and "acceptKeys[0]: expected a text" in wrong.stderr


@pytest.mark.parametrize("role, title", [("ControlPlane", "control plane"), ("APIServer", "API server")])
def test_a_node_is_called_what_it_is(role, title, tmp_path):
    node = ControlPlane(tmp_path / "node", role=role)
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    node.close()
    done = validate(path)
    assert (done.returncode, done.stdout) == (OK, f"{path}: valid, {title} of cluster a.example.com, Kubernetes 1.36.1\n"), done.stderr


@pytest.mark.parametrize("change", [{}, {"Networking": {"amazonVPC": {}}}, {"Networking": {"cilium": {"ipam": "eni"}}}, {"packages": ["socat"]}])
def test_of_a_right_worker_one_line_is_said(change, tmp_path):
    node = Worker(tmp_path / "node", **change)
    node.ports = [3988]
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    done = validate(path)
    assert (done.stdout, done.stderr) == (f"{path}: valid, worker of cluster a.example.com, Kubernetes 1.36.1\n", "")
    assert json.loads(validate(path, "-o", "json").stdout)["findings"] == []
    for facts, code in (({"distribution": "ubuntu", "version": "24.04"}, OK), ({"distribution": "ubuntu"}, OK),
                        ({"distribution": "rhel", "version": "9.4"}, CONFIG), ({"distribution": "debian", "version": "11"}, CONFIG)):
        (tmp_path / "facts.yaml").write_text(yaml.safe_dump(facts))
        done = validate(path, f"--facts={tmp_path}/facts.yaml")
        assert done.returncode == code, done.stderr
        assert ("and nodes of these documents are made on debian 12, ubuntu 24.04, amazonlinux 2023" in done.stderr) == (code == CONFIG)
