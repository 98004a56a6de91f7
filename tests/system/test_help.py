"""The documents explained: help of keys, of pki/ and for editors."""

import json
import re
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from test_cli import COMMANDS, nodeup
from world import CNI, KUBECTL, KUBELET, OK, PENDING, PROGRAM, ROOT, UTILS
from world import SEED as STATE

SEED = ROOT / "tests/data/seed-cluster"
DOCUMENTS = [("kube_env", SEED / "master/kube_env.yaml"), ("kube_env", SEED / "nodes/kube_env.yaml"),
             ("cluster", STATE / "cluster.spec"), ("instancegroup", STATE / "instancegroup/nodes"),
             ("instancegroup", ROOT / "tests/cases/volumes-kops/ig_spec.yaml"),
             ("kube_env", ROOT / "tests/cases/volumes-kubeup/kube_env.yaml")]


def errors(topic, document):
    done = nodeup("help", "-o", "json", topic)
    assert done.returncode == 0 and not done.stderr, done
    schema = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return list(jsonschema.Draft202012Validator(schema).iter_errors(document))


def read(path):
    document = yaml.safe_load(path.read_text().replace("@", ""))
    return document.get("spec", document)


@pytest.mark.parametrize("topic,path", DOCUMENTS, ids=[f"{topic}-{path.parent.name}" for topic, path in DOCUMENTS])
def test_the_schema_takes_documents_of_kops(topic, path):
    assert not errors(topic, read(path))


@pytest.mark.parametrize("change", [{"kubelet": {"maxPodz": 1}}, {"kubelet": {"maxPods": "many"}}, {"kubelet": {"maxPods": -1}}, {"kubelet": []},
                                    {"docker": {"logLevel": "loud"}}, {"etcdClusters": [{"nme": "main"}]}],
                         ids=["unknown-key", "text-for-a-number", "too-small", "list-for-a-section", "no-such-choice", "in-a-list"])
def test_the_schema_refuses(change):
    document = read(STATE / "cluster.spec")
    assert not errors("cluster", document)
    for key, value in change.items():
        document[key] = {**document.get(key, {}), **value} if isinstance(value, dict) else value
    assert errors("cluster", document)


def test_the_schema_wants_what_is_mandatory():
    document = read(SEED / "nodes/kube_env.yaml")
    del document["ClusterName"]
    assert errors("kube_env", document)


def test_the_schema_of_facts():
    assert not errors("facts", read(ROOT / "tests/cases/bare-documents/facts.yaml"))
    assert errors("facts", {"distribution": "debian", "arch": 64, "systemd": "new"})


@pytest.mark.parametrize("argv,says", [(("-o", "yaml", "cluster"), "-o: 'yaml' is none of text, json"), (("-o", "json"), "is a JSON Schema"),
                                       (("-o", "json", "disks"), "is a JSON Schema")])
def test_no_such_schema(argv, says):
    done = nodeup("help", *argv)
    assert done.returncode == 64 and says in done.stderr and not done.stdout, done


def test_pki_names_what_a_master_takes():
    text = nodeup("help", "pki").stdout
    names = set(re.findall(r"^  (\S+) +(?:certificate|secret)", text, re.M))
    taken = {path.name for kind in ("pki/issued", "secrets") for path in (STATE / kind).iterdir()}
    assert taken <= names, taken - names
    assert re.search(r"^  kubelet +certificate and key +every node$", text, re.M), text
    assert re.search(r"^  dockerconfig +secret +every node, if it is there$", text, re.M), text


def test_a_key_says_what_it_accepts():
    text = nodeup("help", "maxpods").stdout
    assert text.startswith("KubeletConfig.maxPods, of kops 1.29 to 1.37\n") and "\n  config   maxPods\n" in text, text
    assert "\nkubelet.maxPods, masterKubelet.maxPods, of kops 1.8\n" in text and "\n  flag     --max-pods\n" in text, text
    assert text.count("\n  accepts  an integer of 0 or more\n") == 2, text
    done = nodeup("help", "KubeletConfig.imageGCLowThresholdPercent")
    assert done.returncode == 0 and done.stdout.count("\n  rule ") == 2 and "below imageGCHighThresholdPercent" in done.stdout, done
    assert done.stdout.endswith(" (since Kubernetes 1.30)\n"), done
    assert nodeup("help", "noSuchKey").returncode == 64
    assert nodeup("help", "signals").stdout.startswith("signals, of /etc/nodeup/nodeup.d/*.yaml\n  means    what is told outside of the first success")
    text = nodeup("help", "authorizationWebhookConfigFile").stdout
    assert "\n  rule     authorizationMode: expected authorizationWebhookConfigFile with Webhook\n" in text, text
    assert "\n  rule     authorizationWebhookConfigFile: expected Webhook in authorizationMode\n" in text, text
    text = nodeup("help", "clusterCIDR").stdout
    assert text.count("as long as that of clusterCIDR or longer") == 2 and text.count("expected clusterCIDR with it") == 1, text
    both = "\nControlPlaneConfig.KubeControllerManager.cpuLimit, ControlPlaneConfig.KubeScheduler.cpuLimit, of kops 1.29 to 1.37\n"
    assert both in (text := nodeup("help", "cpuLimit").stdout)
    assert text.count("cpuLimit: expected at least cpuRequest:150m") == 1 and text.count("cpuLimit: expected at least cpuRequest:100m") == 1, text
    text = nodeup("help", "controllers").stdout
    assert re.search(r"accepts  \*, a controller, .*; another one is a warning\n {11}attachdetach\|", text), text
    assert "SERVICE_CLUSTER_IP_RANGE: expected a range of 8 to 2^20 addresses" in nodeup("help", "SERVICE_CLUSTER_IP_RANGE").stdout
    assert "(accepts an integer of 0 or more)" in nodeup("help", "config", "kubelet").stdout


# Documents to begin with

def beside(world, role):
    """What `nodeup example` writes for the role, with assets that this world serves, and the key pairs of a cluster."""
    here, served = world.conf.parent, {"kubelet": KUBELET, "kubectl": KUBECTL, "cni-": CNI, "utils": UTILS}
    for topic, name in (("kube_env", "kube_env.yaml"), ("cluster", "cluster_spec.yaml"), ("instancegroup", "ig_spec.yaml")):
        done = nodeup("example", role, topic)
        assert done.returncode == 0 and not done.stderr, done
        assert done.stdout.startswith(f"# {name} of a {role}"), done.stdout
        (here / name).write_text(done.stdout)
    for name in ("pki", "secrets"):
        shutil.copytree(STATE / name, here / name)
    text = world.conf.read_text()
    for begin, name in served.items():
        text, n = re.subn(rf"(?m)^- \w+@\S+/{begin}[^/\n]*$", f"- {world.assets[name]}", text)
        assert n == 1, begin
    if role == "master":
        text = re.sub(r"hash: \w+", f"hash: {world.protokube.digest}", text)
        text = re.sub(r"source: \S+", f"source: {world.protokube.urls[0]}", text)
    world.conf.write_text(text)


@pytest.mark.parametrize("role,named", [("worker", "worker"), ("control-plane", "control plane")])
def test_an_example_of_today_validates(tmp_path, role, named):
    """kube_env means the bytes of the other document, so that neither is edited before both are right."""
    for topic, name in (("kube_env", "kube_env.yaml"), ("cluster", "nodeupconfig.yaml")):
        done = nodeup("example", role, topic)
        assert done.returncode == 0 and not done.stderr and done.stdout.startswith(f"# {name} of a {role}"), done
        (tmp_path / name).write_text(done.stdout)
    assert nodeup("example", role).stdout == (tmp_path / "kube_env.yaml").read_text()
    validate = ("validate", "--strict", f"--conf={tmp_path}/kube_env.yaml")
    done = nodeup(*validate)
    assert done.returncode == 0 and f"valid, {named} of cluster example.com, Kubernetes 1.36.2" in done.stdout and not done.stderr, done
    with (tmp_path / "nodeupconfig.yaml").open("a") as file:
        file.write("\n")
    done = nodeup(*validate)
    assert done.returncode == 78 and "this is not the NodeupConfig that BootConfig means" in done.stdout + done.stderr, done


@pytest.mark.parametrize("role", ["worker-of-1.8", "master"])
def test_an_example_validates_and_applies(world, role):
    world.write_documents()
    beside(world, role)
    done = world.run("validate", write=False)
    named = role.removesuffix("-of-1.8")
    assert done.code == OK and f"valid, {named} of cluster example.k8s.local, Kubernetes 1.8.7" in done.out, done
    assert not any("unknown key" in line for line in done.lines), done
    done = world.run("apply", write=False)
    assert done.code == OK, done
    assert (world.root / "usr/local/bin/kubelet").exists()
    assert (world.root / "etc/kubernetes/manifests/kube-apiserver.manifest").exists() == (role == "master")
    assert world.run("plan", write=False).code == OK


@pytest.mark.parametrize("role", ["worker", "control-plane", "worker-of-1.8", "master"])
def test_an_example_has_every_key(role):
    for topic in ("kube_env", "cluster", *(["instancegroup"] if role in ("worker-of-1.8", "master") else [])):
        text = nodeup("example", role, topic).stdout
        schema = json.loads(nodeup("help", "-o", "json", topic).stdout)
        wanted = [keys for keys in map(set, (s["properties"] for s in schema.get("anyOf", [schema])))
                  if keys >= set(yaml.safe_load(text))]
        assert len(wanted) == 1, topic
        assert set(re.findall(r"(?m)^#?(\w+)(?=:| {2,})", text)) >= wanted[0], topic


@pytest.mark.parametrize("argv,says", [((), "example wants a role, and may have a document: worker, control-plane, worker-of-1.8, master"), (("mastr",), "did you mean master?"),
                                       (("worker", "instancegroup"), "no document 'instancegroup' of a worker; kube_env, cluster"),
                                       (("master", "clustr"), "no document 'clustr' of a master; did you mean cluster?")])
def test_no_such_example(argv, says):
    done = nodeup("example", *argv)
    assert done.returncode == 64 and says in done.stderr and not done.stdout, done


# Defaults

OTHER = {"clusterDNSDomain": "other.local", "serviceClusterIPRange": "100.72.0.0/13", "nonMasqueradeCIDR": "100.128.0.0/9", "version": "3.0.17",
         "cloudProvider": None}


def told_defaults(schema):
    """{key: default}, also of keys in lists."""
    found = {}
    for key, of in schema["properties"].items():
        if "default" in of:
            found[key] = of["default"]
        found.update(told_defaults(of["items"]) if "properties" in of.get("items", {}) else {})
    return found


def test_a_default_is_what_documents_without_the_key_mean(make_world):
    """Of the cluster: `diff` finds no change when the key is written down, and one when it says something else."""
    schema = next(s for s in json.loads(nodeup("help", "-o", "json", "cluster").stdout)["anyOf"] if "etcdClusters" in s["properties"])
    defaults = told_defaults(schema)
    assert set(defaults) == set(OTHER)
    help_text = nodeup("help", "cluster").stdout
    old, new = make_world("old", role="master"), make_world("new", role="master")
    new.assets, new.protokube = dict(old.assets), old.protokube
    for world in (old, new):
        world.write_documents()
        beside(world, "master")
    plain = re.sub(rf"(?m)^({'|'.join(defaults)}):.*\n", "", (old.conf.parent / "cluster_spec.yaml").read_text())
    assert "clusterDNSDomain:" not in plain
    (old.conf.parent / "cluster_spec.yaml").write_text(plain)
    for key, value in defaults.items():
        assert re.search(rf"(?m)^ *{key} .*\(default {re.escape(value)}\)$", help_text), key
        for word, changes in ((value, False), (OTHER[key], True)):
            text = plain.replace("- name: main\n", f"- name: main\n  version: {word}\n") if key == "version" else f"{plain}{key}: {word}\n"
            (new.conf.parent / "cluster_spec.yaml").write_text(text)
            done = new.run_argv([str(PROGRAM), "diff", f"--facts={new.facts_file}", str(old.conf), str(new.conf)]) if word else None
            assert done is None or done.code == (PENDING if changes else OK), f"{key}: {word}\n{done}"


# Errors explained

KINDS = {64: "usage", 65: "integrity", 69: "network", 71: "system", 73: "refused", 75: "busy", 78: "configuration"}


def test_every_exit_status_is_explained():
    named = set(map(int, re.findall(r"(?m)^  (\d\d) ", nodeup("help", "exit-status").stdout)))
    assert named == set(KINDS)
    for status, kind in KINDS.items():
        text = nodeup("help", str(status)).stdout
        assert text.startswith(f"{kind} ({status}): ") and "\nTo do: " in text, text
        assert nodeup("help", kind).stdout == text
    done = nodeup("help", "integrty")
    assert done.returncode == 64 and "did you mean integrity?" in done.stderr, done


def test_the_journal_takes_the_catalog(tmp_path):
    catalog = nodeup("help", "catalog").stdout
    (tmp_path / "usr/lib/systemd/catalog").mkdir(parents=True)
    (tmp_path / "usr/lib/systemd/catalog/nodeup.catalog").write_text(catalog)
    (tmp_path / "var/lib/systemd/catalog").mkdir(parents=True)
    done = subprocess.run(["journalctl", f"--root={tmp_path}", "--update-catalog"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    ids = re.findall(r"(?m)^-- ([0-9a-f]{32})$", catalog)
    assert len(set(ids)) == len(KINDS)
    for id, kind in zip(ids, KINDS.values()):
        shown = subprocess.run(["journalctl", f"--root={tmp_path}", "--dump-catalog", id], capture_output=True, text=True).stdout
        text = nodeup("help", kind).stdout.split("\n\n", 1)[1]
        assert text in shown, shown


def test_distributions_are_those_of_the_tables():
    table = (ROOT / "nodeup/plan/release.c").read_text()
    rows = re.findall(r'^\t\{ "(\w+)", +(?:"([\d.]+)"|NULL), [^.]*\.(old|today) = ', table, re.M)
    parts = dict(part.split("\n", 1) for part in nodeup("help", "distributions").stdout.split("\n\n") if part.startswith("documents of "))
    said = {title: [" ".join(line.split(",")[0].split()) for line in text.splitlines()] for title, text in parts.items()}
    assert said["documents of kops 1.29 to 1.37"] == [f"{name} {version}".strip() for name, version, era in rows if era == "today"]
    assert said["documents of kops 1.8"][:5] == [f"{name} {version}" for name, version, era in rows if era == "old"]
    assert "fedora" in said["documents of kops 1.8"] and said["documents of kube-up"] == ["debian 8", "debian 9", "ubuntu 16.04", "debian", "ubuntu"]
    assert "\n  debian 13, since kops 1.32.2 and 1.33.1\n  debian 12\n" in "\n" + parts["documents of kops 1.29 to 1.37"]


def test_a_key_says_which_versions_have_its_flag():
    text = nodeup("help", "config", "kubelet").stdout
    assert re.search(r"(?m)^  failSwapOn .* --fail-swap-on .*\(since Kubernetes 1\.8\)$", text), text
    assert re.search(r"(?m)^  requireKubeconfig .*\(until Kubernetes 1\.9\)$", text), text
    assert re.search(r"(?m)^  maxPods .* pods this node may run \(accepts an integer of 0 or more\)$", text), text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_usage_line_sets_its_words_apart(command):
    usage = nodeup("help", command).stdout.splitlines()[0]
    assert re.fullmatch(rf"usage: nodeup {command}( \S+)* \[FLAGS\]", usage), usage
