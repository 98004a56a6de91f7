"""A document that says nothing is an error that names it. Of a server it is no answer: it is asked for again, or what is kept stands in."""
import re
import threading
import time

import pytest
import yaml

from kops import ControlPlane, Worker
from test_kubeup_documents import nodeup, write
from test_kops_documents import BOOT
from world import CONFIG, NET, OK, SEED, every

# all of them are in test_yaml.c
HOLLOW = {"empty": "", "comment": "# nothing\n" * 200_000, "null": "null\n", "map": "{}\n",
          "spec": "kind: InstanceGroup\nmetadata: {name: nodes}\nspec: null\n"}
ANSWERS = [{}, *({"nodeupConfig": text} for text in (None, HOLLOW["empty"], HOLLOW["comment"], HOLLOW["null"]))]
EMPTY = "the document is empty"


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


@pytest.fixture
def master(tmp_path):
    node = ControlPlane(tmp_path)
    yield node
    node.close()


def config_of(master):
    return next(master.base.rglob("nodeupconfig.yaml"))


def test_a_node_that_has_its_own_goes_on_with_it(worker):
    """Each command, whatever the empty answer is, and without waiting for another."""
    with worker.controller():
        assert worker.apply().returncode == OK
    before = worker.tree()
    worker.control["faults"] = [answer for answer in ANSWERS for _ in range(5)]
    with worker.controller():
        for _ in ANSWERS:
            (worker.root / "srv/kubernetes/ca.crt").unlink()
            done = worker.apply()
            assert done.returncode == OK and worker.tree() == before, done.stderr
            assert "documents kept" in done.stderr and re.search("nodeupconfig.yaml: the document is empty|has no nodeupConfig", done.stderr), done.stderr
            for argv in (["plan"], ["repair"], ["why", "kubelet.service"], ["check"]):
                done = worker.run(*argv)
                assert done.returncode == OK and "documents kept" in done.stderr, (argv, done.stderr)


def test_a_first_run_asks_until_there_is_an_answer(worker):
    worker.control["faults"] = ANSWERS[:3]
    with worker.controller():
        done = worker.apply("--deadline=50s")
    assert done.returncode == OK, done.stderr
    assert f"kops-controller://a.example.com/nodes/nodeupconfig.yaml: {EMPTY}" in done.stderr and "has no nodeupConfig" in done.stderr, done.stderr
    assert worker.requests() == ["200 "] * 4 + ["200 kube-proxy kubelet kubelet-server"]


def test_a_first_run_without_an_answer_changes_nothing(worker):
    worker.control["faults"] = ANSWERS[2:3] * 100
    with worker.controller():
        done = worker.apply("--deadline=2s")
        planned = worker.run("plan")
    assert done.returncode == NET and f"nodeupconfig.yaml: {EMPTY}" in done.stderr and worker.tree() == {}, done.stderr
    assert planned.returncode == NET and f"nodeupconfig.yaml: {EMPTY}" in planned.stderr, planned.stderr


@pytest.mark.parametrize("path", every(2, ["nodeupconfig.yaml", "pki/private/kubernetes-ca/keyset.yaml", "manifests/etcd/main-a.yaml", "secrets/dockerconfig"]))
def test_an_object_of_the_store(path, master):
    """A first run waits for it, a later one does without it."""
    master.secret("dockerconfig", "{}")
    master.write()
    file = config_of(master) if path == "nodeupconfig.yaml" else master.base / path
    text = file.read_text()
    file.write_text("null\n")
    done = master.apply("--deadline=2s")
    assert done.returncode == NET and f"{path}: {EMPTY}" in done.stderr and master.tree().keys() == {"/etc/passwd"}, done.stderr

    def mend():
        while sum(asked.endswith(path) for asked in master.asked) < asked_before + 2:
            time.sleep(0.02)
        file.write_text(text)
    asked_before = sum(asked.endswith(path) for asked in master.asked)
    thread = threading.Thread(target=mend)
    thread.start()
    done = master.apply("--deadline=50s")
    thread.join()
    assert done.returncode == OK and f"{path}: {EMPTY}" in done.stderr, done.stderr
    before = master.tree()
    (master.root / "srv/kubernetes/ca.crt").unlink()
    file.write_text("# gone\n")
    done = master.apply()
    assert done.returncode == OK and master.tree() == before and "documents kept" in done.stderr and f"{path}: {EMPTY}" in done.stderr, done.stderr


@pytest.mark.parametrize("name", HOLLOW)
@pytest.mark.parametrize("path", ["instancegroup/nodes", "cluster.spec"])
def test_a_document_of_kops_18(path, name, world):
    (world.store / path).write_text(HOLLOW[name])
    for command in ("apply", "validate"):
        told = world.run(command)
        assert told.code == CONFIG and f"{world.store}/{path}: {EMPTY}" in told.err, told
    assert not (world.root / "etc/kubernetes").exists()


@pytest.mark.parametrize("name", ["empty", "map"])
def test_one_beside_conf(name, tmp_path):
    for conf, beside in (("ClusterName: a.example\n", "cluster_spec.yaml"), ("ClusterName: a.example\n", "ig_spec.yaml"), (BOOT, "nodeupconfig.yaml")):
        folder = tmp_path / beside
        folder.mkdir()
        path = write(folder, conf)
        if beside == "ig_spec.yaml":
            write(folder, (SEED / "cluster.spec").read_text().replace("abc.joshdurbin.net", "a.example"), "cluster_spec.yaml")
        hollow = write(folder, HOLLOW[name], beside)
        done = nodeup("validate", f"--conf={path}")
        assert done.returncode == CONFIG and f"{hollow}: {EMPTY}" in done.stderr, done.stderr
        path.write_text(HOLLOW[name])
        done = nodeup("validate", f"--conf={path}")
        assert done.returncode == CONFIG and f"{path}: {EMPTY}" in done.stderr, done.stderr


def test_bytes_that_are_not_meant_are_not_parsed(worker):
    """Whatever they are: what is kept is what the user data mean."""
    with worker.controller():
        assert worker.apply().returncode == OK
        before = worker.tree()
        for text in ("{", "x: [y", "a: 1\na: 2\n", yaml.safe_dump({**worker.config, "UpdatePolicy": "external"})):
            (worker.folder / "nodeupconfig.yaml").write_text(text)
            done = worker.apply()
            assert done.returncode == OK and "documents kept" in done.stderr, done.stderr
            assert "this is not the NodeupConfig that BootConfig means" in done.stderr and worker.tree() == before, done.stderr
