"""Labels and taints that the API server refuses: kubelet would run, and the node never register."""
import pytest

import kubeup
from kops import Worker
from test_bad_input import place, refuse
from test_kubeup_documents import validate, write
from world import CONFIG, OK

LONG = "a" * 63


def group(world, *lines):
    """The instance group of kops 1.8 with these lines of its spec."""
    world.edit_store("instancegroup/nodes", lambda text: text + "".join(f"  {line}\n" for line in lines))


def label(world, line):
    after = "    kops.k8s.io/instancegroup: nodes\n"
    world.edit_store("instancegroup/nodes", lambda text: text.replace(after, f"{after}    {line}\n"))


@pytest.mark.parametrize("line, says", [
    ("foo/bar: baz/qux", "nodeLabels.foo/bar: expected the value of a label"), ("team: 'a,b'", "nodeLabels.team: expected the value of a label"),
    (f"team: {LONG}a", "nodeLabels.team: expected the value"), ("Foo/bar: x", "nodeLabels.Foo/bar: expected the name of a label"),
    (f"foo/{LONG}a: x", "expected the name of a label"), ("'a b': x", "nodeLabels.a b: expected the name of a label"),
])
def test_a_label_of_kops_1_8(world, line, says):
    label(world, line)
    refuse(world, CONFIG, place("nodes"), says)


@pytest.mark.parametrize("taint", ["a=x y:NoSchedule", "a=x/y:NoSchedule", f"a={LONG}a:NoSchedule", "-a=x:NoSchedule", "a/b/c=:NoSchedule"])
def test_a_taint_of_kops_1_8(world, taint):
    group(world, "taints:", f"- {taint}")
    refuse(world, CONFIG, place("nodes"), r"taints\[0\]: expected a taint such as example.com/team=blue:NoSchedule")


def test_an_effect_that_is_misspelt(world):
    group(world, "taints:", "- a=b:NoSchedul")
    refuse(world, CONFIG, place("nodes"), r"expected a taint such as \S+:NoSchedule \(or PreferNoSchedule, NoExecute\)")


def test_a_taint_twice(world):
    group(world, "taints:", "- a=b:NoSchedule", "- a=c:NoExecute", "- a=c:NoSchedule")
    refuse(world, CONFIG, place("nodes"), "taints: expected each name and effect once")


def test_of_the_sections_of_kubelet(world):
    world.edit_store("cluster.spec", lambda text: text.replace("  kubelet:\n", "  kubelet:\n    nodeLabels: {a: -b}\n    taints: ['a=-:NoSchedule']\n"))
    result = refuse(world, CONFIG, place("cluster.spec"), "kubelet.nodeLabels.a")
    assert "kubelet.taints[0]: expected a taint" in result.err


def test_what_is_longest_is_taken(world):
    label(world, f"{'a' * 63}.b/{LONG}: {LONG}")
    label(world, "empty: ''")
    group(world, "taints:", f"- {LONG}={LONG}:NoSchedule", "- a=:NoSchedule", "- a=:NoExecute")
    assert world.apply().code == OK


def test_one_that_is_accepted_is_written(world):
    label(world, "team: a/b")
    world.more = "accept: [nodeLabels]\n"
    result = world.apply()
    assert result.code == OK and "team=a/b" in (world.root / "etc/sysconfig/kubelet").read_text()
    assert "nodeLabels.team: expected the value of a label" in result.err


@pytest.fixture
def worker(tmp_path):
    worker = Worker(tmp_path)
    with worker.controller():
        yield worker


@pytest.mark.parametrize("taint", ["a=x y:NoSchedule", f"{LONG}a:NoSchedule", "a=-:NoExecute"])
def test_a_taint_of_today(worker, taint):
    worker.config["KubeletConfig"] = {**worker.config["KubeletConfig"], "taints": [taint]}
    worker.write()
    done = worker.apply("--deadline=20s")
    assert done.returncode == CONFIG and "KubeletConfig.taints[0]: expected a taint" in done.stderr, done.stderr


def test_a_label_of_today_is_a_warning(worker):
    """kubelet does not get it: kops-controller sets labels."""
    worker.config["KubeletConfig"] = {**worker.config["KubeletConfig"], "nodeLabels": {"a": "b/c"}}
    worker.write()
    assert worker.apply("--deadline=20s", "--strict").returncode == CONFIG
    done = worker.apply("--deadline=20s")
    assert done.returncode == OK and "KubeletConfig.nodeLabels.a: expected the value of a label" in done.stderr, done.stderr


@pytest.mark.parametrize("labels, is_good", [("a=b", True), (f"a=b,example.com/{LONG}={LONG},c", True), ("a=b/c", False), (f"{LONG}a=b", False),
                                             ("a=b;c", False), ("a=b, c=d", False)])
def test_labels_of_kube_up(labels, is_good, tmp_path):
    done = validate(write(tmp_path, kubeup.text(kubeup.NODE, "1.5.8", NODE_LABELS=labels)))
    assert (done.returncode == OK) == is_good and ("NODE_LABELS: expected labels" in done.stderr) != is_good, done.stderr
