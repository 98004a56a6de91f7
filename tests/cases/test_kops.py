"""Golden cases of today's kops and of older ones: documents of our own of each version in CASES, a file tree out.

  kops/CASE.yaml         as in kubeup/. Keys, certificates and ids of CAs, which are others at each run, stand as names
  kops/CASE.issued.yaml  of today's: what these keys and certificates say, file by file

Manifests are compared as parsed YAML, everything else byte by byte. UPDATE=1 writes the files anew: read the difference
before you commit it.
"""
import base64
import contextlib
import functools
import os
import re
import subprocess
import sys

import pytest
import yaml

import test_cases as cases
from test_kubeup import Lines, is_parsed, look

sys.path.insert(0, str(cases.ROOT / "tests/system"))
import kops  # noqa: E402
from older_kops import render  # noqa: E402
from test_kops_versions import user_data  # noqa: E402

HERE = cases.HERE / "kops"


def api(**keys):
    """APIServerConfig with more keys of kube-apiserver."""
    usual = kops.CONTROL_PLANE["APIServerConfig"]
    return {**usual, "KubeAPIServer": {**usual["KubeAPIServer"], **keys}}


OVERRIDES = ["/events#https://127.0.0.1:4002", "coordination.k8s.io/leases#https://127.0.0.1:4003"]
# CASE: (kops, Kubernetes, release, keys beside)
CASES = {
    "1.37-worker": ("1.37.0", "1.36.1", kops.DEBIAN, {}),
    "1.37-control-plane": ("1.37.0", "1.36.1", kops.DEBIAN, {}),
    "1.37-apiserver": ("1.37.0", "1.36.1", kops.DEBIAN, {}),
    "1.30-control-plane": ("1.30.4", "1.30.2", kops.DEBIAN, {}),
    "1.34-control-plane": ("1.34.3", "1.32.4", kops.UBUNTU, {
        "Networking": {**kops.CONFIG["Networking"], "amazonVPC": {}, "egressProxy": {"httpProxy": {"host": "proxy.example", "port": 3128}}},
        "DNSZone": "Z1AFAKE1ZON3YO", "usesNoneDNS": False}),
    "1.35-control-plane": ("1.35.2", "1.35.1", kops.AMAZON, {
        "Networking": {**kops.CONFIG["Networking"], "cilium": {"ipam": "eni"}}, "usesNoneDNS": True}),
    "1.30-apiserver": ("1.30.4", "1.28.9", kops.AMAZON, {"APIServerConfig": api(etcdServersOverrides=OVERRIDES)}),
    "1.34-apiserver": ("1.34.3", "1.32.4", kops.DEBIAN, {
        "APIServerConfig": api(env=[{"name": "GODEBUG", "value": "http2debug=1"}], cloudProvider="external"),
        "KubeletConfig": {**kops.CONFIG["KubeletConfig"], "shutdownGracePeriod": "0s", "shutdownGracePeriodCriticalPods": "0s"}}),
    "1.35-apiserver": ("1.35.2", "1.35.1", kops.UBUNTU, {
        "APIServerConfig": api(etcdServersOverrides=OVERRIDES), "Networking": {**kops.CONFIG["Networking"], "cilium": {"ipam": "eni"}},
        "usesNoneDNS": True}),
    "1.30-worker": ("1.30.4", "1.26.3", kops.DEBIAN, {
        "KubeletConfig": {**kops.CONFIG["KubeletConfig"], "featureGates": {"InPlacePodVerticalScaling": "true"},
                          "kubeReserved": {"memory": "1Gi", "cpu": "100m"}, "kubeReservedCgroup": "/kube", "runtimeRequestTimeout": "20m",
                          "resolvConf": "", "taints": ["dedicated=db:NoSchedule", "gone:NoExecute"]},
        "containerdConfig": {**kops.CONFIG["containerdConfig"], "version": "1.7.16", "registryMirrors": {
            "docker.io": ["https://mirror.example", "https://other.example"], "*": ["https://all.example"]}}}),
    "1.34-worker": ("1.34.3", "1.32.4", kops.UBUNTU, {
        "KubeletConfig": {**kops.CONFIG["KubeletConfig"], "maxParallelImagePulls": 5, "serializeImagePulls": False, "imageMinimumGCAge": "5m",
                          "kubeletCgroups": "/kubelet", "runtimeCgroups": "/runtime"},
        "Networking": {**kops.CONFIG["Networking"], "amazonVPC": {}}}),
    "1.35-worker": ("1.35.2", "1.35.1", kops.AMAZON, {
        "KubeletConfig": {**kops.CONFIG["KubeletConfig"], "crashLoopBackOffMaxContainerRestartPeriod": "2m"}, "UsesKubenet": True,
        "containerdConfig": {**kops.CONFIG["containerdConfig"], "selinuxEnabled": True, "nri": {"enabled": True, "pluginRequestTimeout": "5s"}}}),
}
ROLES = {"control-plane": "ControlPlane", "apiserver": "APIServer"}
# what is another at each run, and how it is called in a kept file
NAMES = [(r"-----BEGIN ([A-Z ]+)-----\n.*?-----END \1-----\n", r"@\1@\n"), (r"(-data: )\S+", r"\1PEM"), (r"http://127.0.0.1:\d+/", "@STORE@/"),
         (r'"\d{4}"', '"@ID@"')]


def named(text):
    for what, name in NAMES:
        text = re.sub(what, name, text, flags=re.S)
    return text


@contextlib.contextmanager
def made(name, folder, arch="amd64"):
    """A node of the case, with its servers."""
    version, kubernetes, release, more = CASES[name]
    _, _, kind = name.partition("-")
    is_worker = kind == "worker"
    node = kops.Worker(folder / "node", **more) if is_worker else kops.ControlPlane(folder / "node", ROLES[kind], **more)
    node.facts = {**release, **kops.FACTS, "arch": arch}
    render(node, version, kubernetes)
    node.config["Assets"] = {arch: [line.replace("amd64", arch) for line in node.config["Assets"]["amd64"]]}
    node.write()
    with node.controller() if is_worker else contextlib.closing(node):
        # a control plane has it in its Assets
        if kind != "control-plane":
            (node.folder / "documents/kube_env.yaml").write_text(user_data(version, yaml.safe_dump(node.boot())))
        yield node


ENVIRONMENT = {"AWS_REGION": "us-test-1", "GOSSIP_DNS_CONN_LIMIT": "16"}


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    """Its name and its node, which is applied."""
    with made(request.param, tmp_path) as node:
        cases.succeed(node.apply(**ENVIRONMENT))
    return request.param, node


def keep(found, kept):
    """What the kept file has."""
    if os.environ.get("UPDATE"):
        HERE.mkdir(exist_ok=True)
        kept.write_text(yaml.dump(found, Dumper=Lines, width=500))
    return yaml.safe_load(kept.read_text())


PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----\n.*?-----END \1-----\n", re.S)
SHOWN = "x509 -noout -subject -issuer -ext basicConstraints,keyUsage,extendedKeyUsage,subjectAltName"


@functools.cache
def openssl(words, text):
    return subprocess.run(["openssl", *words.split()], input=text, check=True, capture_output=True, text=True).stdout


def public(kind, text):
    """The public half of a key or of a certificate's key."""
    if kind == "CERTIFICATE":
        return openssl("x509 -noout -pubkey", text)
    return openssl("pkey -pubin" if kind == "PUBLIC KEY" else "pkey -pubout", text)


def says(text):
    """What a certificate does, without what is another at each run."""
    return "; ".join(" ".join(line.split()) for line in openssl(SHOWN, text).splitlines())


def issued(root):
    """Path: what its certificates say, and whose keys it has."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.is_relative_to(root / "var/lib/nodeup"):
            text = path.read_text()
            text += "".join(base64.b64decode(data).decode() for data in re.findall(r"-data: (\S+)", text))
            blocks = [(match[1], match[0]) for match in PEM.finditer(text)]
            if blocks:
                found[str(path.relative_to(root))] = blocks
    owners = {}
    for kind, text in (block for blocks in found.values() for block in blocks):
        if kind == "CERTIFICATE":
            owners.setdefault(public(kind, text), set()).add(openssl("x509 -noout -subject", text).strip())
    return {path: [says(text) if kind == "CERTIFICATE" else f"{kind} of {', '.join(sorted(owners.get(public(kind, text), ['no certificate'])))}"
                   for kind, text in blocks] for path, blocks in found.items()}


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("1.37-")], indirect=True)
def test_what_was_issued(case):  # pylint: disable=redefined-outer-name
    name, node = case
    found = issued(node.root)
    assert found == keep(found, HERE / f"{name}.issued.yaml")


def test_case(case):  # pylint: disable=redefined-outer-name
    name, node = case
    written = tree(node)
    compare(written, keep(written, HERE / f"{name}.yaml"))


def tree(node):
    return look(node.root, named, longest=8000)


def compare(written, expected):
    assert sorted(written) == sorted(expected)
    for path, want in expected.items():
        got = written[path]
        if is_parsed(path):
            got, want = [{**entry, "text": yaml.safe_load(entry["text"])} for entry in (got, want)]
        assert got == want, path
