"""Every row of every field table stands in the documents of some case, below its own section, and its flag in what that
case expects of that component's own file.  A table nobody named here is an error too."""
import re

import pytest

import overlay
import test_cases as cases

CONFIG = cases.ROOT / "nodeup/config"
MANIFEST = "etc/kubernetes/manifests/%s.manifest"
# table -> (section of the cluster spec, where its flags go)
SECTIONS = {
    "fields_docker.c": (("docker",), "etc/sysconfig/docker"),
    "fields_kubelet.c": (("kubelet", "masterKubelet"), "etc/sysconfig/kubelet"),
    "fields_proxy.c": (("kubeProxy",), MANIFEST % "kube-proxy"),
    "fields_apiserver.c": (("kubeAPIServer",), MANIFEST % "kube-apiserver"),
    "fields_kcm.c": (("kubeControllerManager",), MANIFEST % "kube-controller-manager"),
    "fields_scheduler.c": (("kubeScheduler",), MANIFEST % "kube-scheduler"),
}
# Tables of documents that are not kops 1.8 ones: their own tests have them.
ELSEWHERE = {"facts.c"}
# And keys that lead to them.
STORAGE = {"DOCKER_STORAGE", "KUBE_AWS_STORAGE", "volumeMounts"}
# Keys of ours that change what nodeup does and not what a node is made of.
OURS = {"assetsSignature", "signature", "urlRewrites", "mirrors", "caBundle", "publicKeys", "requireSignatures",
        "ignoreHostChecks", "quietConsole", "consoleAfter", "statusURL"}


def bare(text):
    """Without comments and macros."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"#define .*?[^\\]\n", "", text, flags=re.S)


def rows(text):
    """(key, flag or None) of each row of a table."""
    found = []
    for row in re.split(r"\n\t(?=[A-Z]+(?:_[A-Z]+)*\(|\{)", bare(text)):
        key = re.search(r'\.key = "(\w+)"|^UNUSED\("(\w+)"|^(?:SECTION|PART)\(.*?"(\w+)"|^F\((\w+), \w+_schema', row, re.S)
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
    assert {p.name for p in CONFIG.rglob("fields_*.c")} <= {*SECTIONS, *ELSEWHERE}


@pytest.mark.parametrize("table", [*SECTIONS, "kops18/spec.c"])
def test_every_row_is_in_a_case(table, looked):
    text = (CONFIG / table).read_text()
    wanted = rows(text)
    assert len(wanted) >= len(re.findall(r"\n\t(?:F|FIELD|FIELD_\w+|UNUSED|SECTION|PART)\(", bare(text))) > 5
    assert not [row for row in uncovered(table, wanted, looked) if row[0] not in STORAGE | OURS]


def test_a_row_without_a_case_is_found(looked):
    table = "fields_kubelet.c"
    row = rows('static x[] = {\n\tF(max_pods, .key = "maxPods", .flag = "max-podz"),\n\tF(no, .key = "noSuchKey"),\n};\n')
    assert row == [("maxPods", "max-podz"), ("noSuchKey", None)]
    assert uncovered(table, row, looked) == row
    assert uncovered(table, [("maxPods", "max-pods")], looked) == []
    # a flag of another component's file does not count
    assert uncovered("fields_docker.c", [("version", "max-pods")], looked) == [("version", "max-pods")]
    assert uncovered("kops18/spec.c", [("noSuchKey", None), ("Tags", None)], looked) == [("noSuchKey", None)]
