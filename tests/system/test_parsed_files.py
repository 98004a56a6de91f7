"""Files that the API server parses when it starts, and ends on: secrets, and files that the documents bring."""
import base64
import json

import pytest

from kops import ControlPlane
from test_bad_input import place, refuse
from test_values import RAN, settings
from world import CONFIG, OK

KEY = base64.b64encode(b"swordfish" * 3 + b"12345").decode()
NEW = "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n"
OLD = "kind: EncryptionConfig\napiVersion: v1\n"
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"


def resources(key=KEY, provider="aescbc"):
    return f"resources:\n- resources: [secrets]\n  providers:\n  - {provider}:\n      keys:\n      - name: key1\n        secret: {key}\n  - identity: {{}}\n"


@pytest.fixture
def plane(tmp_path):
    node = ControlPlane(tmp_path)
    yield node
    node.close()


def encrypt(node, text):
    node.config["APIServerConfig"]["encryptionConfigSecretHash"] = "abc"
    node.secret("encryptionconfig", text)


def apply(node, *flags):
    node.write()
    done = node.apply("--deadline=25s", *flags)
    assert "swordfish" not in done.stderr + done.stdout and KEY not in done.stderr + done.stdout
    return done


BAD = {
    "no YAML": ("garbage: [", ":2:1: expected YAML"),
    "no providers": (NEW + "resources: []\n", ":3:12: resources: expected a list, found nothing"),
    "another kind": (NEW.replace("Encryption", "Audit") + resources(), ":1:7: kind: expected one of EncryptionConfiguration|EncryptionConfig"),
    "a short key": (NEW + resources("c3dvcmRmaXNo"), ":9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64 of 16, 24 or 32 bytes"),
    "two providers": (NEW + resources().replace("  - identity", "    identity"), "providers[0]: expected one of"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_secret_of_a_control_plane(name, plane):
    text, says = BAD[name]
    encrypt(plane, text)
    done = apply(plane)
    assert done.returncode == CONFIG and "secrets/encryptionconfig: secret encryptionconfig:" in done.stderr and says in done.stderr, done.stderr
    assert plane.tree().keys() == {"/etc/passwd"}


def test_a_good_secret_is_written_as_it_is(plane):
    encrypt(plane, NEW + resources())
    assert apply(plane).returncode == OK
    assert plane.read("/srv/kubernetes/kube-apiserver/encryptionconfig.yaml") == NEW + resources()


def test_a_secret_that_is_accepted_is_written(plane):
    encrypt(plane, NEW + "resources: []\n")
    plane.write()
    done = plane.apply("--deadline=25s")
    assert done.returncode == CONFIG and "accept: [encryptionconfig]" in done.stderr
    plane.write(accept=["encryptionconfig"])
    done = plane.apply("--deadline=25s")
    assert done.returncode == OK and "resources: expected a list" in done.stderr, done.stderr


def test_a_node_that_works_keeps_its_secret_and_no_other(plane):
    encrypt(plane, NEW + "resources: []\n")
    accept = settings(plane.root, "accept: [encryptionconfig]\n")
    assert apply(plane).returncode == OK
    accept.unlink()
    done = apply(plane)
    assert done.returncode == OK and f"resources: expected a list, found nothing; {RAN}" in done.stderr, done.stderr
    plane.secret("encryptionconfig", NEW + "resources: {}\n")
    assert apply(plane).returncode == CONFIG


def bring(node, key, content, path="/srv/a/file.yaml"):
    node.config["APIServerConfig"]["KubeAPIServer"][key] = path
    node.config["FileAssets"] = [{"path": "/srv/other", "content": "garbage: ["}, {"path": path, "content": content}]


FILES = {
    "audit level": ("auditPolicyFile", POLICY + "rules:\n- level: metadata\n", ":4:10: rules[0].level: expected one of", "did you mean Metadata?"),
    "audit rules": ("auditPolicyFile", POLICY, ":1:1: rules: expected a list, found nothing"),
    "admission": ("admissionControlConfigFile", "kind: Admission\napiVersion: apiserver.config.k8s.io/v1\n", "kind: expected AdmissionConfiguration, found 'Admission'"),
    "authentication": ("authenticationConfigFile", "kind: AuthenticationConfiguration\n", "apiVersion: expected one of"),
    "encryption": ("encryptionProviderConfig", NEW + resources("swordfish"), ":9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_a_flag_names(name, plane):
    key, content, *says = FILES[name]
    bring(plane, key, content)
    done = apply(plane)
    assert done.returncode == CONFIG and "/srv/a/file.yaml:" in done.stderr and "nodeupconfig.yaml:" in done.stderr, done.stderr
    assert all(text in done.stderr for text in says) and plane.tree().keys() == {"/etc/passwd"}, done.stderr


def test_a_good_file_is_written(plane):
    bring(plane, "auditPolicyFile", POLICY + "rules:\n- level: Metadata\n")
    assert apply(plane).returncode == OK


def test_an_older_version_of_a_file_is_a_warning(plane):
    bring(plane, "auditPolicyFile", POLICY.replace("v1", "v1beta1") + "rules:\n- level: Metadata\n")
    assert apply(plane, "--strict").returncode == CONFIG
    done = apply(plane)
    assert done.returncode == OK and "apiVersion: expected audit.k8s.io/v1, found 'audit.k8s.io/v1beta1'" in done.stderr, done.stderr


# kops 1.8

def secret_of_1_8(master, text):
    master.edit_store("cluster.spec", lambda t: t.rstrip("\n") + "\n  encryptionConfig: true\n")
    (master.store / "secrets/encryptionconfig").write_text(json.dumps({"Data": base64.b64encode(text.encode()).decode()}))


@pytest.mark.parametrize("text, says", [
    ("garbage: [", ":2:1: expected YAML"), (NEW + resources(), ":1:7: kind: expected EncryptionConfig, found a text"),
    (OLD + resources("c3dvcmRmaXNo"), "secret: expected base64 of 16, 24 or 32 bytes"),
    (OLD + "resources:\n- resources: [secrets]\n  providers:\n  - aescbc: {}\n", "aescbc.keys: expected a list, found nothing"),
])
def test_the_secret_of_a_master_of_1_8(master, text, says):
    secret_of_1_8(master, text)
    result = refuse(master, CONFIG, "secret encryptionconfig:")
    assert says in result.err and "swordfish" not in result.err and "c3dvcmRmaXNo" not in result.err


def test_a_good_secret_of_1_8(master):
    secret_of_1_8(master, OLD + resources())
    assert master.apply().code == OK


@pytest.mark.parametrize("level, code", [("Metadata", OK), ("Everything", CONFIG)])
def test_an_audit_policy_of_1_8(master, level, code):
    master.edit_store("cluster.spec", lambda text: text.replace("  kubeAPIServer:\n", "  kubeAPIServer:\n    auditPolicyFile: /srv/kubernetes/audit.yaml\n", 1).rstrip("\n") + f"""
  fileAssets:
  - name: audit
    path: /srv/kubernetes/audit.yaml
    content: |
      apiVersion: audit.k8s.io/v1beta1
      kind: Policy
      rules:
      - level: {level}
""")
    if code == OK:
        assert master.apply().code == OK
    else:
        refuse(master, CONFIG, place("cluster.spec"), r"rules\[0\].level: expected one of")
