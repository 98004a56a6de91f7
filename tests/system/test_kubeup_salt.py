"""The salt trees of Kubernetes itself, if they are there: `make check-salt SALT=DIR`, with DIR/v1.5.8/cluster/saltbase and so on.
Every template that a document's options reach renders, and what it makes of a static pod parses."""
import os
import pathlib

import pytest
import yaml

import kubeup
from kubeup import MASTER, NODE, number
from test_kubeup_documents import ETCD, validate, write
from test_kubeup_node import Machine
from world import OK, ROOT

SALT = pathlib.Path(os.environ.get("SALT") or "/nonexistent")
TREES = sorted(SALT.glob("v1.*"), key=lambda path: number(path.name[1:]))
pytestmark = pytest.mark.skipif(not TREES, reason="no salt trees: make check-salt SALT=DIR")

OPTIONS = [
    {}, {"NETWORK_PROVIDER": "kubenet"}, {"NETWORK_PROVIDER": "cni"}, {"NETWORK_PROVIDER": "none"},
    {"ENABLE_CLUSTER_MONITORING": "google"}, {"ENABLE_CLUSTER_MONITORING": "googleinfluxdb"},
    {"ENABLE_CLUSTER_MONITORING": "standalone"}, {"LOGGING_DESTINATION": "gcp"}, {"ENABLE_CLUSTER_DNS": "false"},
    {"ENABLE_CLUSTER_REGISTRY": "true", "CLUSTER_REGISTRY_DISK": "registry", "CLUSTER_REGISTRY_DISK_SIZE": "200GB"},
    {"KUBE_ADDON_REGISTRY": "registry.example/mirror", "KUBE_DOCKER_REGISTRY": "registry.example/k8s", "KUBE_IMAGE_TAG": "v1"},
    {"NODE_LABELS": "a=b", "EVICTION_HARD": "memory.available<100Mi", "KUBELET_PORT": "10252", "ENABLE_CUSTOM_METRICS": "true",
     "RUNTIME_CONFIG": "batch/v2alpha1=true", "FEATURE_GATES": "AllAlpha=true", "TERMINATED_POD_GC_THRESHOLD": "100",
     "KUBE_APISERVER_REQUEST_TIMEOUT": "300", "HAIRPIN_MODE": "hairpin-veth", "ALLOCATE_NODE_CIDRS": "false"},
    {f"{program}_TEST_{what}": "--v=5" for program in ("KUBELET", "CONTROLLER_MANAGER", "SCHEDULER", "KUBEPROXY", "APISERVER")
     for what in ("ARGS", "LOG_LEVEL")} | {"DOCKER_TEST_LOG_LEVEL": "--log-level=debug"},
]
OF_MASTERS = [
    {"KUBELET_APISERVER": "master.example"}, {"ENABLE_MANIFEST_URL": "true", "MANIFEST_URL": "https://m.example/x", "MANIFEST_URL_HEADER": "k:v"},
    {"NUM_NODES": "2000"}, {"ETCD_IMAGE": "2.3.7", "ETCD_VERSION": "2.3.7", "INITIAL_ETCD_CLUSTER": "a,b,c", "STORAGE_BACKEND": "etcd3",
                            "INITIAL_ETCD_CLUSTER_STATE": "existing", "ETCD_QUORUM_READ": "true"},
    ETCD,
]
SINCE = [("1.3", {"ENABLE_NODE_PROBLEM_DETECTOR": "true", "PREPULL_E2E_IMAGES": "true"}),
         ("1.4", {"ENABLE_RESCHEDULER": "true"}), ("1.5", {"ENABLE_DNS_HORIZONTAL_AUTOSCALER": "true", "SOFTLOCKUP_PANIC": "true"})]


def files_of(tree):
    """As the release packs them: the states, and the addons below them."""
    base, addons = tree / "cluster/saltbase/salt", tree / "cluster/addons"
    found = {str(p.relative_to(base)): p for p in base.rglob("*") if p.is_file()}
    found |= {f"kube-addons/{p.relative_to(addons)}": p for p in addons.rglob("*")
              if p.name.endswith((".yaml", ".yaml.in", ".json")) and "demo" not in str(p)}
    return {name: p.read_text() for name, p in found.items() if b"\0" not in p.read_bytes()}


@pytest.mark.parametrize("role", [MASTER, NODE])
@pytest.mark.parametrize("tree", TREES, ids=lambda path: path.name)
def test_every_template_of_kubernetes(tree, role, tmp_path):
    version = tree.name[1:]
    named = kubeup.named(files_of(tree), tmp_path)
    options = [*OPTIONS, *(OF_MASTERS if role == MASTER else [{"NETWORK_POLICY_PROVIDER": "calico"}] if number(version) >= [1, 4] else []),
               *(option for since, option in SINCE if number(version) >= number(since))]
    for option in options:
        # whose plugins kube-up names by md5 alone
        if option.get("NETWORK_PROVIDER", "none") != "none" and number(version) < [1, 4]:
            continue
        done = validate(write(tmp_path, kubeup.text(role, version, **named, **{k: v for k, v in option.items()
                                                                            if kubeup.knows(role, version, k)})))
        assert done.returncode == OK and "not checked" not in done.stderr, (option, done.stderr)


def flags_of(minor):
    """That kubelet of this version takes."""
    rows = (line.split() for line in (ROOT / "tests/fake/flags/kubelet-1.2-1.5").read_text().splitlines() if not line.startswith("#"))
    return {name for name, first, last in rows if int(first) <= minor <= int(last)}


@pytest.mark.parametrize("role", [MASTER, NODE])
@pytest.mark.parametrize("tree", TREES, ids=lambda path: path.name)
def test_a_node_of_kubernetes_own_templates(tree, role, tmp_path):
    """Below a root: kubelet knows its flags, and each static pod has an image, of ours the one that is loaded."""
    version = tree.name[1:]
    (tmp_path / "salt").mkdir()
    m = Machine(tmp_path, role, version, **kubeup.named(files_of(tree), tmp_path / "salt"))
    done = m.run()
    assert done.returncode == OK, done.stderr
    line = next(l for l in m.read("etc/sysconfig/kubelet").splitlines() if l.startswith("DAEMON_ARGS="))
    words = line.removeprefix('DAEMON_ARGS="').rstrip('"').split()
    assert len(words) > 8 and {word.partition("=")[0].removeprefix("--") for word in words} <= flags_of(number(version)[1]), words
    tag = m.named["SERVER_BINARY_TAR_HASH"][:12]
    found = {}
    for path in (m.root / "etc/kubernetes/manifests").iterdir():
        pod = yaml.safe_load(path.read_text())
        found |= {container["image"].rpartition(":")[::2] for container in pod["spec"]["containers"]}
    ours = {"kube-apiserver", "kube-controller-manager", "kube-scheduler"} if role == MASTER else {"kube-proxy"}
    assert {name.rpartition("/")[2] for name, got in found.items() if got == tag} == ours, found
    assert len(found) > len(ours)
    done = m.run("plan")
    assert done.returncode == OK and "No changes" in done.stdout, done.stdout + done.stderr
