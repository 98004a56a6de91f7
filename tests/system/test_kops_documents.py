"""The documents of today's kops: checked as a file and as user data."""
import base64
import hashlib
import json
import re

import pytest
import yaml

from kops import CA, PUBLIC_KEY, ControlPlane, Worker, openssl
from test_kubeup_documents import nodeup, validate, write
from test_store_kinds import serving
from world import CONFIG, OK, every

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
    {"amd64": ASSETS, "arm64": ASSETS}) + "\nKeypairIDs: {kubernetes-ca: '1'}\n"
WORKER = """\
CloudProvider: aws
ClusterName: a.example.com
ConfigServer: {servers: ["https://kops-controller.internal.a.example.com:3988/"], CACertificates: """ + json.dumps(CA) + """}
InstanceGroupName: nodes
InstanceGroupRole: Node
NodeupConfigHash: """ + base64.b64encode(hashlib.sha256(NODEUP_CONFIG.encode()).digest()).decode() + "\n"


def test_the_nodeupconfig_beside_it_is_checked(tmp_path):
    path = write(tmp_path, WORKER)
    write(tmp_path, NODEUP_CONFIG, "nodeupconfig.yaml")
    done = validate(path)
    want = f"{path}: valid, worker of cluster a.example.com, Kubernetes 1.36.1, kops 1.37 by its keys\n"
    assert (done.returncode, done.stdout) == (OK, want), done.stderr
    beside = write(tmp_path, NODEUP_CONFIG + "Assetz: {}\n", "nodeupconfig.yaml")
    done = validate(path)
    assert done.returncode == CONFIG and f"{beside}: this is not the NodeupConfig that BootConfig means" in done.stderr
    assert f"{beside}:6:1: unknown key 'Assetz'; did you mean 'Assets'?" in done.stderr, "all that is wrong is told"


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
    assert (done.returncode, done.stdout) == (OK, f"{path}: valid, {title} of cluster a.example.com, Kubernetes 1.36.1, kops 1.37 by its keys\n"), done.stderr


@pytest.mark.parametrize("change", [{}, {"Networking": {"amazonVPC": {}}}, {"Networking": {"cilium": {"ipam": "eni"}}}, {"packages": ["socat"]}])
def test_of_a_right_worker_one_line_is_said(change, tmp_path):
    node = Worker(tmp_path / "node", **change)
    node.ports = [3988]
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    done = validate(path)
    assert (done.stdout, done.stderr) == (f"{path}: valid, worker of cluster a.example.com, Kubernetes 1.36.1, kops 1.37 by its keys\n", "")
    assert json.loads(validate(path, "-o", "json").stdout)["findings"] == []
    for facts, code in (({"distribution": "ubuntu", "version": "24.04"}, OK), ({"distribution": "ubuntu"}, OK),
                        ({"distribution": "rhel", "version": "9.4"}, OK), ({"distribution": "rhel", "version": "7.9"}, CONFIG),
                        ({"distribution": "debian", "version": "10"}, CONFIG)):
        (tmp_path / "facts.yaml").write_text(yaml.safe_dump(facts))
        done = validate(path, f"--facts={tmp_path}/facts.yaml")
        assert done.returncode == code, done.stderr
        assert ("and nodes of these documents are made on debian 13, 12, 11; ubuntu 26.04, " in done.stderr) == (code == CONFIG)


def broken(text, label):
    """What is left of one that is right."""
    return {"garbage": "garbage\n", "empty": "", "cut off": text[:150], "begin": text.replace(f"BEGIN {label}", f"BEGIN {label}S"),
            "junk": text.replace("\nM", "\n!!!"), "second": text + text[:150], "label": text.replace(label, "CERTIFICAT")}


BROKEN, BROKEN_KEYS = broken(CA, "CERTIFICATE"), broken(PUBLIC_KEY, "PUBLIC KEY")


def put(tree, path, value):
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


def refused_at(path, told, *words):
    """The messages of the errors that stand at this line of the document, where the last of the words is."""
    line = next(n for n, line in enumerate(path.read_text().splitlines(), 1) if line.strip().startswith(words[-1] + ":"))
    return re.findall(rf"^{re.escape(str(path))}:{line}:\d+: {re.escape('.'.join(words))}:? (.*)$", told, re.M)


@pytest.mark.parametrize("name", BROKEN)
def test_a_certificate_or_key_that_is_none(name, tmp_path):
    """Each of them, with its place, in validate as in a run."""
    wrong = [("CAs", "kubernetes-ca"), ("CAs", "etcd-clients-ca")]
    node = ControlPlane(tmp_path / "node")
    for key in wrong:
        put(node.config, key, BROKEN[name])
    # of these the name of a block does not count
    if name != "label":
        wrong.append(("APIServerConfig", "ServiceAccountPublicKeys"))
        put(node.config, wrong[-1], BROKEN_KEYS[name])
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    beside = write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    node.write()
    done, run = validate(path), node.apply()
    node.close()
    assert done.returncode == run.returncode == CONFIG, done.stderr + run.stderr
    for key in wrong:
        assert len(refused_at(beside, done.stderr, *key)) == 1, (key, done.stderr)
    assert "nodeupconfig.yaml:" in run.stderr and node.tree().keys() == {"/etc/passwd"}, run.stderr


@pytest.mark.parametrize("name", BROKEN)
def test_a_servers_ca_that_is_none(name, tmp_path):
    boot = yaml.safe_load(WORKER)
    put(boot, ("ConfigServer", "CACertificates"), BROKEN[name])
    path = write(tmp_path, yaml.safe_dump(boot))
    for done in (validate(path), nodeup("plan", f"--conf={path}", "--offline")):
        assert done.returncode == CONFIG, done.stderr
        if name == "empty":
            assert "ConfigServer.CACertificates is missing" in done.stderr, done.stderr
        else:
            assert re.search(r"kube_env\.yaml:4:\d+: ConfigServer\.CACertificates: ", done.stderr), done.stderr
        assert "more error" not in done.stderr, done.stderr


def test_what_is_around_a_certificate_is_passed_over(tmp_path):
    """As by the programs that read it, and so is when it ends."""
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", tmp_path / "k", "-out", tmp_path / "r",
            "-subj", "/CN=old")
    openssl("x509", "-req", "-in", tmp_path / "r", "-signkey", tmp_path / "k", "-days", "-1", "-out", tmp_path / "c")
    node = ControlPlane(tmp_path / "node")
    node.config["CAs"]["etcd-clients-ca"] = f"# ours\n{CA}\n{PUBLIC_KEY}Subject: old\n{(tmp_path / 'c').read_text()}".replace("\n", "\r\n")
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    node.close()
    done = validate(path)
    assert done.returncode == OK, done.stderr


@pytest.mark.parametrize("cas", [None, {}, {"etcd-clients-ca": CA}])
@pytest.mark.parametrize("role", ["ControlPlane", "APIServer"])
def test_without_the_clusters_ca_there_is_no_node(role, cas, tmp_path):
    node = ControlPlane(tmp_path / "node", role=role)
    node.config["CAs"] = cas
    node.write()
    path = write(tmp_path, yaml.safe_dump(node.boot()))
    write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    runs = [validate(path), node.run("plan"), node.apply()]
    node.close()
    for done in runs:
        assert done.returncode == CONFIG and re.search(
            rf"nodeupconfig\.yaml:\d+:\d+: 'CAs\.kubernetes-ca' is missing: the InstanceGroupRole is {role}", done.stderr), done.stderr


KUBELET = "KubeletConfig"
PATHS = {(KUBELET, "podManifestPath"): ["", "x", "-1", "%s", "./x", "/a/../b", "/a\nb"], (KUBELET, "volumePluginDirectory"): ["x", "/a/.."],
         **{(KUBELET, f"{whose}Cgroups"): ["../../evil", "/..", "a/../b", "/", "-", ".x", "a b", "%s", "x" * 300] for whose in ("kubelet", "runtime", "system")},
         **{(KUBELET, key): ["../x", "/a/../b", "a/./b", "a\nb"] for key in ("cgroupRoot", "kubeReservedCgroup", "systemReservedCgroup")},
         ("APIServerConfig", "KubeAPIServer", "auditLogPath"): ["audit.log", "/var/../log"], ("APIServerConfig", "KubeAPIServer", "auditPolicyFile"): ["x"],
         ("etcdClusterNames",): [["../x"], ["a/b"], [""]],
         ("staticManifests",): [[{"key": "a", "path": path}] for path in ("../x", "/x", "")] + [[{"key": "a"}], [{"path": "a"}]]}
RIGHT = {"podManifestPath": "/etc/kubernetes/manifests/", "kubeletCgroups": "/kube.slice/kubelet", "runtimeCgroups": "/system.slice/containerd.service",
         "systemCgroups": "system", "cgroupRoot": "/", "kubeReservedCgroup": "kube-reserved", "systemReservedCgroup": "/system.slice/"}


@pytest.mark.parametrize("key", every(3, [(key,) for key in PATHS]), ids=lambda key: key[-1])
def test_a_path_or_a_cgroup_that_cannot_be(key, tmp_path):
    """It becomes the name of a file or of a unit."""
    node = ControlPlane(tmp_path / "node")
    node.config[KUBELET].update(RIGHT)
    for value in [None, *PATHS[key]]:
        if value is not None:
            put(node.config, key, value)
        path = write(tmp_path, yaml.safe_dump(node.boot()))
        beside = write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
        done = validate(path)
        if value is None:
            assert done.returncode == OK, done.stderr
            continue
        assert done.returncode == CONFIG and re.search(rf"^{beside}:\d+:\d+: .*{key[-1]}.*(expected|missing)", done.stderr, re.M), (value, done.stderr)
        node.write()
        run = node.apply()
        assert run.returncode == CONFIG and node.tree().keys() == {"/etc/passwd"}, (value, run.stderr)
    node.close()


def test_a_wrong_hash_hides_nothing(tmp_path):
    """What the documents say wrong, and what the plan would refuse, beside it and beside each other."""
    node = Worker(tmp_path / "node")
    node.ports = [3988]
    boot = node.boot()
    boot["NodeupConfigHash"] = base64.b64encode(hashlib.sha256(b"another").digest()).decode()
    path = write(tmp_path, yaml.safe_dump(boot))
    (name, digest), = [(line.split("/")[-1], line.split("@")[0]) for line in node.config["Assets"]["amd64"] if line.endswith("/kubelet")]
    for arch in ("amd64", "arm64"):
        node.config["Assets"][arch] = [line.replace(digest, digest[:40]) for line in node.config["Assets"][arch]]
    node.config.update(KubernetesVersion="1.38.0", Hooks=[[{"name": "kubelet.service", "manifest": "Type=oneshot"}], []],
                       ServiceAccountz=1, containerdConfig={"version": "x"})
    beside = write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
    wrong = ["this is not the NodeupConfig that BootConfig means", "KubernetesVersion: '1.38.0': of kops", f"asset '{name}': its hash is not a sha256",
             "unknown key 'ServiceAccountz'", "hook kubelet.service: the unit is kubelet's", "containerdConfig.version: 'x' is not a version"]
    told = json.loads(validate(path, "-o", "json").stdout)
    texts = [f["text"] for f in told["findings"] if f["severity"] == "error"]
    assert all(any(text in t for t in texts) for text in wrong), texts
    assert told["documents"][0]["valid"] is False and validate(path).returncode == CONFIG
    text = yaml.safe_dump({**node.config, "KubeletConfig": {**node.config.get("KubeletConfig", {}), "maxPods": "many"}})
    write(tmp_path, text, "nodeupconfig.yaml")
    told = validate(path).stderr
    assert all(text in told for text in wrong[:4]) and "KubeletConfig.maxPods: expected an integer" in told, told
    assert str(beside) in told


def test_the_query_of_a_presigned_url_is_not_shown(tmp_path):
    write(tmp_path, BOOT)
    with serving(tmp_path) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/kube_env.yaml"
        for output in ([], ["-o", "json"], ["-o", "github"]):
            done = nodeup("validate", f"--conf={url}?X-Amz-Signature=f00dfeed", *output)
            assert done.returncode == OK and "f00dfeed" not in done.stdout + done.stderr, done
            assert output == ["-o", "github"] or url in done.stdout, done


@pytest.mark.parametrize("text", ["server: https://s:6443\ntoken: V3ryS3cret\n", "UserData:\n  Value: V3ryS3cret\n", "machine: {token: V3ryS3cret}\ncluster: {}\n"])
def test_of_anothers_document_no_secret_is_shown(text, tmp_path):
    """What names it may be what must not be read."""
    done = validate(write(tmp_path, text))
    assert done.returncode == CONFIG and "this is a" in done.stderr and "V3ryS3cret" not in done.stderr, done.stderr
