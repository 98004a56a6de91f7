"""The documents explained: help of keys, of pki/ and for editors."""

import json
import re

import jsonschema
import pytest
import yaml

from test_cli import nodeup
from world import ROOT, SEED as STATE

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


@pytest.mark.parametrize("change", [{"kubelet": {"maxPodz": 1}}, {"kubelet": {"maxPods": "many"}}, {"kubelet": []},
                                    {"docker": {"logLevel": "loud"}}, {"etcdClusters": [{"nme": "main"}]}],
                         ids=["unknown-key", "text-for-a-number", "list-for-a-section", "no-such-choice", "in-a-list"])
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


@pytest.mark.parametrize("argv,says", [(("-o", "yaml", "cluster"), "-o 'yaml': text or json"), (("-o", "json"), "is a JSON Schema"),
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
