"""The documents of kube-up: read in either role and of each version, as a file and as user data; refused with the place."""
import base64
import gzip
import re
import subprocess

import pytest

import kubeup
from kubeup import MASTER, NODE, VERSIONS
from world import CONFIG, ENV, OK, PROGRAM, USAGE

ROLES = [MASTER, NODE]


def nodeup(*args, prefix=()):
    done = subprocess.run([*prefix, PROGRAM, *args], env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    for secret in kubeup.SECRETS:
        assert secret not in done.stderr and (args[0] == "userdata" or secret not in done.stdout), "a secret is shown"
    return done


def write(tmp_path, text, name="kube_env.yaml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def validate(path, *flags):
    """Its places as in messages of a run: editors get a word more."""
    done = nodeup("validate", f"--conf={path}", "--offline", *flags)
    done.stderr = re.sub(r"^(\S+:\d+:\d+: )(?:error|warning): ", r"\1", done.stderr, flags=re.M)
    return done


def refuse(path, message, *flags):
    done = validate(path, *flags)
    assert done.returncode == CONFIG and re.search(message, done.stderr), done.stdout + done.stderr
    assert ": valid, " not in done.stdout
    return done.stderr


def line_of(text, key):
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith(key + ":"))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_known_by_its_keys(version, role, tmp_path):
    done = validate(write(tmp_path, kubeup.text(role, version)), "--strict")
    assert done.returncode == OK, done.stderr
    minor = version.rsplit(".", 1)[0]
    role_name = "master" if role == MASTER else "worker"
    assert re.search(rf": valid, {role_name} of cluster mars, Kubernetes {re.escape(minor)}\.\d+ or later$", done.stdout, re.M), done.stdout
    assert done.stderr.count("not checked") == 1 and "not checked: what the templates of kubernetes-salt.tar.gz make" in done.stderr, done.stderr


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("form", ["plain", "gzip", "quoted mark"])
def test_user_data_is_a_document(form, role, tmp_path):
    document = kubeup.text(role, "1.5.8")
    script = kubeup.script(role, document, mark="'__EOF_KUBE_ENV_YAML'" if form == "quoted mark" else None)
    path = write(tmp_path, kubeup.zipped(script) if form == "gzip" else script, "user-data")
    done = validate(path)
    assert done.returncode == OK and ": valid, " in done.stdout, done.stderr
    # what is wrong in there is told with the line of the user data
    broken = script.replace("SALT_TAR_HASH: '" + "2" * 40, "SALT_TAR_HASH: 'abc")
    path = write(tmp_path, kubeup.zipped(broken) if form == "gzip" else broken, "user-data")
    refuse(path, rf"user-data:{line_of(broken, 'SALT_TAR_HASH')}:16: SALT_TAR_HASH: expected a sha1 of 40 hex digits, found 'abc'")


@pytest.mark.parametrize("value, character, column", [
    ("pa$FOO", r"\$", 19), ("pa`id`", "`", 19), ("pa\\nk", r"\\", 19), ("é$x", r"\$", 18)])
def test_what_the_shell_would_expand(value, character, column, tmp_path):
    script = kubeup.script(MASTER, kubeup.text(MASTER, "1.5.8", KUBE_PASSWORD=value))
    error = refuse(write(tmp_path, script, "user-data"),
                   rf"user-data:{line_of(script, 'KUBE_PASSWORD')}:{column}: '{character}' in a document that the booting shell expands")
    assert value not in error
    # where the mark is in quotes nothing is expanded
    script = kubeup.script(MASTER, kubeup.text(MASTER, "1.5.8", KUBE_PASSWORD=value), mark="'__EOF_MASTER_KUBE_ENV_YAML'")
    assert validate(write(tmp_path, script, "user-data")).returncode == OK


def test_user_data_without_its_end(tmp_path):
    script = kubeup.script(NODE, kubeup.text(NODE, "1.5.8")).replace("\n__EOF_KUBE_ENV_YAML\n", "\n")
    refuse(write(tmp_path, script, "user-data"), r"user-data:4:1: the document that begins here has no line '__EOF_KUBE_ENV_YAML'")


def test_another_script(tmp_path):
    refuse(write(tmp_path, "#!/bin/sh\necho hello\n", "user-data"), "user-data: a script that writes no kube_env.yaml")


def test_broken_gzip(tmp_path):
    whole = kubeup.zipped(kubeup.script(NODE, kubeup.text(NODE, "1.5.8")))
    refuse(write(tmp_path, whole[:len(whole) // 2], "user-data"), "user-data: broken gzip")
    refuse(write(tmp_path, kubeup.zipped("#" * (5 << 20)), "user-data"), "user-data: .*more than|user-data: .*large|user-data: .*limit")


# Lines of our own in the form of those versions.
OLD_NODE = "#! /bin/bash\nSALT_MASTER='172.20.0.9'\nDOCKER_OPTS=''\nreadonly DOCKER_STORAGE='aufs'\n"
OLD_MASTER = ("#! /bin/bash\nmkdir -p /var/cache/kubernetes-install\nreadonly SALT_MASTER='172.20.0.9'\n"
              "readonly INSTANCE_PREFIX='mars'\nreadonly SALT_TAR_URL='https://s3.example/salt.tar.gz'\n")


@pytest.mark.parametrize("script, line, role", [(OLD_NODE, 2, "a node"), (OLD_MASTER, 3, "a master")])
def test_versions_before_1_2_are_refused_by_name(script, line, role, tmp_path):
    refuse(write(tmp_path, script, "user-data"), rf"user-data:{line}:1: this is user data of {role} of kube-up 1\.0 or 1\.1")


def test_both_dialects_at_once(tmp_path):
    text = kubeup.text(NODE, "1.5.8") + "ClusterName: x.example\n"
    error = refuse(write(tmp_path, text), "")
    assert f"kube_env.yaml:{line_of(text, 'SALT_TAR_URL')}:1" in error, error
    assert f"kube_env.yaml:{len(text.splitlines())}:1" in error and "ClusterName" in error, error


# Without which its script ends; each in the oldest version that has it.
NEEDED = [(role, key, since) for role, key, since in (
    (NODE, "API_SERVERS", "1.2.0"), (NODE, "KUBELET_CERT", "1.2.0"), (NODE, "KUBELET_KEY", "1.2.0"), (NODE, "CA_CERT", "1.2.0"),
    (NODE, "KUBE_PROXY_TOKEN", "1.2.0"), (MASTER, "MASTER_CERT", "1.2.0"), (MASTER, "MASTER_KEY", "1.2.0"),
    (MASTER, "CA_CERT", "1.2.0"), (MASTER, "KUBE_USER", "1.2.0"), (MASTER, "KUBE_PASSWORD", "1.2.0"),
    (MASTER, "KUBE_BEARER_TOKEN", "1.2.0"), (MASTER, "KUBELET_TOKEN", "1.2.0"), (MASTER, "MASTER_IP_RANGE", "1.2.0"),
    (NODE, "SALT_TAR_URL", "1.2.0"), (NODE, "SALT_TAR_HASH", "1.2.0"), (NODE, "SERVER_BINARY_TAR_URL", "1.2.0"),
    (NODE, "SERVER_BINARY_TAR_HASH", "1.2.0"), (NODE, "INSTANCE_PREFIX", "1.2.0"), (NODE, "ENABLE_NODE_LOGGING", "1.2.0"),
    (NODE, "DNS_REPLICAS", "1.4.0"), (NODE, "KUBE_UID", "1.3.4"), (NODE, "NODE_TAGS", "1.4.0"),
    (NODE, "ENABLE_RESCHEDULER", "1.4.0"), (NODE, "SOFTLOCKUP_PANIC", "1.5.1"), (NODE, "PREPULL_E2E_IMAGES", "1.3.4"),
    (NODE, "ENABLE_NODE_PROBLEM_DETECTOR", "1.3.4"), (NODE, "NETWORK_POLICY_PROVIDER", "1.4.0"),
    (NODE, "ENABLE_DNS_HORIZONTAL_AUTOSCALER", "1.5.1"))]
NEEDED += [(role, key, "1.2.0") for role in ROLES for key in """CLUSTER_IP_RANGE SERVICE_CLUSTER_IP_RANGE NODE_INSTANCE_PREFIX
    ALLOCATE_NODE_CIDRS NON_MASQUERADE_CIDR ENABLE_CLUSTER_MONITORING ENABLE_CLUSTER_LOGGING ENABLE_CLUSTER_UI ENABLE_CLUSTER_DNS
    ENABLE_CLUSTER_REGISTRY ENABLE_L7_LOADBALANCING LOGGING_DESTINATION ELASTICSEARCH_LOGGING_REPLICAS DNS_SERVER_IP DNS_DOMAIN
    ADMISSION_CONTROL NETWORK_PROVIDER HAIRPIN_MODE OPENCONTRAIL_TAG OPENCONTRAIL_KUBERNETES_TAG OPENCONTRAIL_PUBLIC_SUBNET
    E2E_STORAGE_TEST_ENVIRONMENT""".split()]


@pytest.mark.parametrize("role, key, version", NEEDED)
def test_a_missing_key(role, key, version, tmp_path):
    refuse(write(tmp_path, kubeup.text(role, version, **{key: None})), rf"kube_env\.yaml:1:1: '{key}' is missing")


@pytest.mark.parametrize("key", ["SALT_TAR_HASH", "SERVER_BINARY_TAR_HASH", "KUBE_PROXY_TOKEN", "CA_CERT"])
def test_an_empty_key(key, tmp_path):
    text = kubeup.text(NODE, "1.5.8", **{key: ""})
    refuse(write(tmp_path, text), rf"kube_env\.yaml:{line_of(text, key)}:\d+: '{key}' is empty")


def test_the_others_are_named_as_well(tmp_path):
    error = refuse(write(tmp_path, kubeup.text(NODE, "1.5.8", CA_CERT=None, API_SERVERS=None)), "'CA_CERT' is missing")
    assert re.search("also missing +API_SERVERS", error), error


def test_keys_of_two_versions(tmp_path):
    refuse(write(tmp_path, kubeup.text(NODE, "1.5.8", DNS_REPLICAS="1")), "'DNS_REPLICAS' is of kube-up 1.4 and older")


WRONG = [
    ("NETWORK_PROVIDER", "opencontrail", "does not know how kube-up makes a node of 'opencontrail'"),
    ("NETWORK_PROVIDER", "flannel", "does not know how kube-up makes a node of 'flannel'"),
    ("NETWORK_PROVIDER", "weave", "expected one of none"), ("NETWORK_POLICY_PROVIDER", "canal", "expected one of calico"),
    ("KUBERNETES_MASTER", "yes", "expected one of true"), ("ALLOCATE_NODE_CIDRS", "True", "expected one of true"),
    ("CLUSTER_IP_RANGE", "10.244.0.0", "expected an address range"), ("DNS_SERVER_IP", "x", "expected an? (IP )?address"),
    ("SALT_TAR_HASH", "xyz", "expected a sha1"), ("DOCKER_STORAGE", "zfs", "expected one of aufs"),
    ("KUBE_AWS_STORAGE", "EBS", r"expected one of ephemeral\|ebs"),
    ("HAIRPIN_MODE", "on", "expected one of promiscuous-bridge"), ("ENABLE_CLUSTER_MONITORING", "prometheus", "expected one of none"),
    ("DNS_SERVER_IP", "", "DNS_SERVER_IP is empty, and ENABLE_CLUSTER_DNS"),
    ("CA_CERT", "!!", "CA_CERT: expected base64 of PEM"), ("CA_CERT", "aGVsbG8=", "CA_CERT: "),
    ("KUBELET_KEY", kubeup.pem("key", "master"), "KUBELET_KEY: "), ("API_SERVERS", "a b", "expected a name"),
]


@pytest.mark.parametrize("key, value, message", WRONG)
def test_a_wrong_value(key, value, message, tmp_path):
    text = kubeup.text(NODE, "1.5.8", **{key: value})
    refuse(write(tmp_path, text), rf"kube_env\.yaml:{line_of(text, key)}:\d+: .*{message}")


def test_no_pod_is_collected(tmp_path):
    done = validate(write(tmp_path, kubeup.text(MASTER, "1.5.8", TERMINATED_POD_GC_THRESHOLD="-1")))
    assert done.returncode == OK, done.stderr
    refuse(write(tmp_path, kubeup.text(MASTER, "1.5.8", TERMINATED_POD_GC_THRESHOLD="--1")), "expected a number")


def test_wrong_values_hide_no_other(tmp_path):
    text = kubeup.text(NODE, "1.5.8", NETWORK_PROVIDER="flannel", ALLOCATE_NODE_CIDRS="True", SALT_TAR_HASH="xyz", DNS_SERVER_IP="x")
    lines = [re.sub("'", "", line) if line.startswith("ENABLE_CLUSTER_UI") else line for line in text.splitlines(True)]
    error = refuse(write(tmp_path, "".join(lines)), "")
    for said in ("makes a node of 'flannel'", "ALLOCATE_NODE_CIDRS: expected one of true", "SALT_TAR_HASH: expected a sha1",
                 "DNS_SERVER_IP: expected an IP address", "ENABLE_CLUSTER_UI: kube-up reads this as another text"):
        assert said in error, (said, error)
    assert "is empty" not in error and "is missing" not in error, error


@pytest.mark.parametrize("key, value", [("KUBE_PASSWORD", "hunter2,admin"), ("KUBE_USER", 'hunter2"x'), ("KUBELET_TOKEN", "hunter2 x")])
def test_what_would_break_a_line_of_tokens(key, value, tmp_path):
    text = kubeup.text(MASTER, "1.5.8", **{key: value})
    error = refuse(write(tmp_path, text), rf"kube_env\.yaml:{line_of(text, key)}:\d+: {key}: expected a text without comma")
    assert "hunter2" not in error


def test_a_registry_without_its_disk(tmp_path):
    refuse(write(tmp_path, kubeup.text(MASTER, "1.5.8", ENABLE_CLUSTER_REGISTRY="true")), "CLUSTER_REGISTRY_DISK is empty")


# As a hand that does not know of kube-up's quotes would write it.
@pytest.mark.parametrize("value", ["true", "yes", "~", "", "010", "0x10", "1.5", "1_000"])
def test_a_value_that_is_another_text_for_kube_up(value, tmp_path):
    text = re.sub("^NUM_NODES: .*$", f"NUM_NODES: {value}", kubeup.text(MASTER, "1.5.8"), flags=re.M)
    refuse(write(tmp_path, text), rf"kube_env\.yaml:{line_of(text, 'NUM_NODES')}:\d+: NUM_NODES: kube-up reads this as another text")


def test_a_number_without_quotes(tmp_path):
    text = re.sub("^NUM_NODES: .*$", "NUM_NODES: 12", kubeup.text(MASTER, "1.5.8"), flags=re.M)
    assert validate(write(tmp_path, text)).returncode == OK


def test_a_key_in_small_letters(tmp_path):
    text = kubeup.text(NODE, "1.5.8").replace("DOCKER_STORAGE:", "docker_storage:")
    refuse(write(tmp_path, text), "'docker_storage' is not 'DOCKER_STORAGE'")


def test_an_unknown_key(tmp_path):
    path = write(tmp_path, kubeup.text(NODE, "1.5.8", GREETING_OF_OURS="hello"))
    done = validate(path)
    assert done.returncode == OK and "unknown key 'GREETING_OF_OURS'" in done.stderr, done.stderr
    refuse(path, "unknown key 'GREETING_OF_OURS'", "--strict")
    refuse(write(tmp_path, kubeup.text(NODE, "1.5.8", DOCKER_STORAGES="aufs")), "did you mean 'DOCKER_STORAGE'")


@pytest.mark.parametrize("value", ["ebs", "ephemeral", ""])
def test_where_disks_are_left_alone_is_a_key(value, tmp_path):
    done = validate(write(tmp_path, kubeup.text(NODE, "1.5.8", KUBE_AWS_STORAGE=value)), "--strict")
    assert done.returncode == OK and "KUBE_AWS_STORAGE" not in done.stderr, done.stderr


UNREAD = ["MASTER_ADVERTISE_ADDRESS", "ENABLE_APISERVER_BASIC_AUDIT", "ENABLE_GARBAGE_COLLECTOR", "SCHEDULING_ALGORITHM_PROVIDER",
          "APISERVER_TEST_LOG_LEVEL"]


@pytest.mark.parametrize("key", UNREAD)
def test_a_key_without_effect_is_told(key, tmp_path):
    done = validate(write(tmp_path, kubeup.text(MASTER, "1.5.8", **{key: "true"})))
    assert done.returncode == OK and f"{key} has no effect" in done.stderr, done.stderr


@pytest.mark.parametrize("key, value", [("ENABLE_L7_LOADBALANCING", "glbc"), ("ENABLE_CLUSTER_AUTOSCALER", "true")])
def test_a_pod_of_another_cloud_is_left_out(key, value, tmp_path):
    text = kubeup.text(MASTER, "1.5.8", **{key: value})
    done = validate(write(tmp_path, text))
    assert done.returncode == OK and re.search(rf"kube_env\.yaml:{line_of(text, key)}:\d+: {key} is left out: its pod", done.stderr), done.stderr
    # no state of a node asks for it
    assert "left out" not in validate(write(tmp_path, kubeup.text(NODE, "1.5.8", **{key: value}))).stderr


@pytest.mark.parametrize("version, told", [("1.4.0", False), ("1.5.8", True)])
def test_etcds_old_key_is_of_1_4(version, told, tmp_path):
    """kube-up asks another from 1.4.6 on, which no key tells from 1.4.0."""
    done = validate(write(tmp_path, kubeup.text(MASTER, version, TEST_ETCD_VERSION="3.0.1")))
    assert done.returncode == OK and ("TEST_ETCD_VERSION has no effect" in done.stderr) == told, done.stderr


def test_half_of_etcds_tls_is_told(tmp_path):
    done = validate(write(tmp_path, kubeup.text(MASTER, "1.5.8", ETCD_CA_KEY="aGVsbG8=")))
    assert done.returncode == OK and "etcd has no TLS" in done.stderr, done.stderr


def zipped(base):
    return base64.b64encode(gzip.compress(base64.b64decode(base), mtime=0)).decode()


ETCD = {"ETCD_CA_CERT": zipped(kubeup.pem("crt", "ca")), "ETCD_CA_KEY": kubeup.pem("key", "ca"), "ETCD_PEER_CERT": zipped(kubeup.pem("crt", "master")),
        "ETCD_PEER_KEY": kubeup.pem("key", "master")}
JUNK = base64.b64encode(b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n").decode()


@pytest.mark.parametrize("key, value", [
    ("CA_CERT", JUNK), ("KUBELET_CERT", JUNK), ("MASTER_CERT", JUNK), ("ETCD_CA_CERT", zipped(JUNK)), ("ETCD_PEER_CERT", zipped(JUNK)),
    ("ETCD_PEER_CERT", JUNK), ("ETCD_CA_CERT", kubeup.pem("crt", "ca")), ("ETCD_PEER_KEY", JUNK), ("ETCD_PEER_KEY", ETCD["ETCD_CA_KEY"]),
    ("ETCD_CA_KEY", "eA==")])
def test_a_certificate_or_key_that_is_none(key, value, tmp_path):
    assert validate(write(tmp_path, kubeup.text(MASTER, "1.5.8", **ETCD))).returncode == OK
    text = kubeup.text(MASTER, "1.5.8", **{**ETCD, key: value})
    refuse(write(tmp_path, text), rf"kube_env\.yaml:{line_of(text, key)}:\d+: {key}: ")


@pytest.mark.parametrize("distribution, version, codename", [
    ("ubuntu", "14.04", "trusty"), ("debian", "7", "wheezy")])
def test_a_release_without_systemd(distribution, version, codename, tmp_path):
    facts = write(tmp_path, f"distribution: {distribution}\nversion: '{version}'\ncodename: {codename}\narch: amd64\n", "facts.yaml")
    refuse(write(tmp_path, kubeup.text(NODE, "1.5.8")), f"{distribution} {codename} has no systemd", f"--facts={facts}")


def test_user_data_of_ours_carries_the_document(tmp_path):
    """From the file and from kube-up's own user data alike."""
    document = kubeup.text(NODE, "1.5.8")
    url = "--nodeup-url=" + "0" * 64 + "@https://dl.example/nodeup"
    plain = nodeup("userdata", f"--conf={write(tmp_path, document)}", url)
    assert plain.returncode == OK and document in plain.stdout, plain.stderr
    packed = nodeup("userdata", f"--conf={write(tmp_path, kubeup.zipped(kubeup.script(NODE, document)), 'user-data')}", url)
    assert packed.returncode == OK and packed.stdout == plain.stdout, packed.stderr


def test_help_has_every_key(tmp_path):
    told = nodeup("help", "config").stdout
    assert not {key for _, key, _, _ in kubeup.KEYS} - set(re.findall(r"^  ([A-Z0-9_]+)\b", told, re.M))


def test_no_conf_names_the_places():
    done = nodeup("validate", "--offline")
    assert done.returncode in (USAGE, CONFIG) and "/etc/kubernetes/kube_env.yaml" in done.stderr, done.stderr
