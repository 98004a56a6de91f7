"""Every row of every field table stands in the documents of some case, below its own section, and its flag in what that
case expects of that component's own file.  A table nobody named here is an error too."""
import re

import pytest

import overlay
import test_cases as cases

CONFIG = cases.ROOT / "nodeup/config/kops18"
MANIFEST = "etc/kubernetes/manifests/%s.manifest"
# list -> (section of the cluster spec, where its flags go)
SECTIONS = {
    "DOCKER_SPEC": (("docker",), "etc/sysconfig/docker"),
    "KUBELET_SPEC": (("kubelet", "masterKubelet"), "etc/sysconfig/kubelet"),
    "KUBE_PROXY_SPEC": (("kubeProxy",), MANIFEST % "kube-proxy"),
    "KUBE_APISERVER_SPEC": (("kubeAPIServer",), MANIFEST % "kube-apiserver"),
    "KCM_SPEC": (("kubeControllerManager",), MANIFEST % "kube-controller-manager"),
    "SCHEDULER_SPEC": (("kubeScheduler",), MANIFEST % "kube-scheduler"),
    "LEADER_ELECTION_SPEC": (("kubeControllerManager", "kubeScheduler"), MANIFEST % "kube-scheduler"),
}
# And keys that lead to them.
STORAGE = {"DOCKER_STORAGE", "KUBE_AWS_STORAGE", "volumeMounts"}
# Keys of ours that change what nodeup does and not what a node is made of.
OURS = {"assetsSignature", "signature", "urlRewrites", "mirrors", "caBundle", "publicKeys", "requireSignatures", "keepAssets",
        "accept", "ignoreHostChecks", "quietConsole", "consoleAfter", "statusURL", "kopsVersion", "instanceStorePolicy", "instanceStoreFilesystem"}


def bare(text):
    """Without comments and macros."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"#define .*?[^\\]\n", "", text, flags=re.S)


def lists(of_programs=True):
    """The rows of each list of a program, or of each other one, as they would stand in a table."""
    text = "".join(p.read_text() for p in sorted(CONFIG.glob("list_*.h")))
    found = re.findall(r"#define (\w+)\(X.*?\) \\\n(.*?[^\\]\n)", text, re.S)
    return {name: body.replace(" \\\n", "\n") for name, body in found if name.startswith("KOPS18_") != of_programs}


def documents():
    """The rows of all tables but those of programs."""
    return "\n" + "\n".join(lists(of_programs=False).values())


def rows(text):
    """(key, flag or None) of each row of a table."""
    found = []
    for row in re.split(r"\n\t(?=[A-Z]+(?:#*_[A-Z]+)*\(|\{)", bare(text)):
        key = re.search(r'\.key = "(\w+)"|^X[#_A-Z]*\(.*?"(\w+)"', row, re.S)
        if key:
            flag = re.search(r'\.flag = "([\w-]+)"', row)
            found.append((next(filter(None, key.groups())), flag and flag[1]))
    return found


def keys_of(tree):
    if isinstance(tree, dict):
        return {str(k).lower() for k in tree}.union(*map(keys_of, tree.values()))
    return set().union(*map(keys_of, tree)) if isinstance(tree, list) else set()


def specs_of(document):
    """The document itself and, of an object, its spec."""
    return [d for d in (document, document.get("spec")) if isinstance(d, dict)]


def look(name, tmp):
    """(documents, expected tree) of a case."""
    folder, _ = cases.prepare(cases.HERE / name, tmp)
    found = [*folder.glob("*.yaml"), *folder.glob("state/cluster.spec"), *folder.glob("state/instancegroup/*")]
    documents = [overlay.load(p.read_text()) for p in found if p.name != "facts.yaml"]
    return [d for d in documents if isinstance(d, dict)], overlay.expected(cases.HERE / name)


def has_flag(tree, path, flag):
    return re.search(r'[ "=]--%s=' % flag, tree.files.get(path, b"").decode()) is not None


def uncovered(table, wanted, looked):
    """The rows of one table that no case has."""
    sections, path = SECTIONS.get(table, ((), None))
    missing = []
    for key, flag in wanted:
        for documents, tree in looked:
            parts = [spec.get(s) for d in documents for spec in specs_of(d) for s in sections] if sections else documents
            if any(key.lower() in keys_of(part) for part in parts) and (not flag or has_flag(tree, path, flag)):
                break
        else:
            missing.append((key, flag))
    return missing


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    return [look(name, tmp_path_factory.mktemp("case")) for name in cases.CASES]


def test_every_table_is_known():
    assert {*lists()} == {*SECTIONS}


@pytest.mark.parametrize("table", [*SECTIONS, "kops18"])
def test_every_row_is_in_a_case(table, looked):
    text = "\n" + lists()[table] if table in SECTIONS else documents()
    wanted = rows(text)
    least = 1 if table == "LEADER_ELECTION_SPEC" else 6
    assert len(wanted) >= len(re.findall(r"\n\t(?:X|X##_\w+|F|FIELD)\(", bare(text))) >= least
    assert not [row for row in uncovered(table, wanted, looked) if row[0] not in STORAGE | OURS]


def test_a_row_without_a_case_is_found(looked):
    table = "KUBELET_SPEC"
    row = rows('static x[] = {\n\tF(max_pods, .key = "maxPods", .flag = "max-podz"),\n\tF(no, .key = "noSuchKey"),\n};\n')
    assert row == [("maxPods", "max-podz"), ("noSuchKey", None)]
    assert uncovered(table, row, looked) == row
    assert uncovered(table, [("maxPods", "max-pods")], looked) == []
    # a flag of another component's file does not count
    assert uncovered("DOCKER_SPEC", [("version", "max-pods")], looked) == [("version", "max-pods")]
    assert uncovered("kops18", [("noSuchKey", None), ("Tags", None)], looked) == [("noSuchKey", None)]
