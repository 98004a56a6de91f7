"""Files that the API server parses when it starts, and ends on."""
import base64

import pytest

from kops import ControlPlane
from test_bad_input import place, refuse
from world import CONFIG, OK

KEY = base64.b64encode(b"swordfish" * 3 + b"12345").decode()
NEW = "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n"
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"


def resources(key=KEY, provider="aescbc"):
    return f"resources:\n- resources: [secrets]\n  providers:\n  - {provider}:\n      keys:\n      - name: key1\n        secret: {key}\n  - identity: {{}}\n"


@pytest.fixture
def plane(tmp_path):
    node = ControlPlane(tmp_path)
    yield node
    node.close()


def apply(node, *flags):
    node.write()
    done = node.apply("--deadline=25s", *flags)
    assert "swordfish" not in done.stderr + done.stdout and KEY not in done.stderr + done.stdout
    return done


def bring(node, key, content, path="/srv/a/file.yaml"):
    node.config["APIServerConfig"]["KubeAPIServer"][key] = path
    node.config["FileAssets"] = [{"path": "/srv/other", "content": "garbage: ["}, {"path": path, "content": content}]


FILES = {
    "audit level": ("auditPolicyFile", POLICY + "rules:\n- level: metadata\n", "line 4, column 10: rules[0].level: expected one of", "did you mean Metadata?"),
    "audit rules": ("auditPolicyFile", POLICY, "line 1, column 1: rules: expected a list, found nothing"),
    "admission": ("admissionControlConfigFile", "kind: Admission\napiVersion: apiserver.config.k8s.io/v1\n", "kind: expected AdmissionConfiguration, found 'Admission'"),
    "authentication": ("authenticationConfigFile", "kind: AuthenticationConfiguration\n", "apiVersion: expected one of"),
    "encryption": ("encryptionProviderConfig", NEW + resources("swordfish"), "line 9, column 17: resources[0].providers[0].aescbc.keys[0].secret: expected base64"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_a_flag_names(name, plane):
    key, content, *says = FILES[name]
    bring(plane, key, content)
    done = apply(plane)
    assert done.returncode == CONFIG and "/srv/a/file.yaml: line " in done.stderr and "nodeupconfig.yaml:" in done.stderr, done.stderr
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
