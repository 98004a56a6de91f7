"""nodeup why: what asks for one thing on this node, which run changed it last, and is it right."""

import json
import re

import pytest

from kops import DEBIAN, FACTS, Worker
from world import KUBELET, OK, PENDING, USAGE


@pytest.fixture
def node(world):
    world.edit_store("cluster.spec", lambda text: text.rstrip("\n") + "\n  fileAssets:\n  - name: motd\n    path: /srv/motd\n"
                     "    content: swordfish\n")
    return world


def why(node, word, *flags):
    return node.run("why", *flags, word)


def told(result):
    """{label: [values]} of the first thing; its title is under None."""
    lines, found, label = result.out.splitlines(), {}, None
    found[None] = [lines[0]]
    for line in lines[1:]:
        if not line.startswith("  "):
            break
        name, value = re.match(r"  (.{10}) (.*)$", line).groups()
        label = name.strip() or label
        found.setdefault(label, []).append(value)
    return found


def test_a_file_before_and_after(node):
    result = why(node, "/etc/sysconfig/kubelet")
    assert result.code == PENDING and told(result)["is"] == ["differs: absent"], result
    assert told(result)["changed"] == ["no run is remembered"], result
    node.converge()
    result = why(node, "/etc/sysconfig/kubelet")
    said = told(result)
    assert result.code == OK and said[None] == ["file /etc/sysconfig/kubelet"] and said["is"] == ["right"], result
    assert said["builder"] == ["kubelet"] and said["asked by"] == [str(node.conf)], result
    assert said["needed by"] == ["unit kubelet.service"] and said["restarts"] == ["kubelet.service"], result


def test_a_file_that_was_damaged(node):
    node.converge()
    (node.root / "etc/sysconfig/kubelet").write_text("DAEMON_ARGS=\n")
    result = why(node, "/etc/sysconfig/kubelet")
    assert result.code == PENDING and re.match(r"differs: content differs", told(result)["is"][0]), result


def test_the_line_that_asks(node):
    result = why(node, "/srv/motd")
    place = told(result)["asked by"][0]
    path, line, _ = place.rsplit(":", 2)
    assert "/srv/motd" in "".join(open(path, encoding="utf-8").read().splitlines()[int(line) - 1:int(line) + 2]), place
    assert "swordfish" not in result.out + result.err, "a file of the documents may hold a secret"


def test_an_asset_and_what_is_made_of_it(node):
    result = why(node, KUBELET, "-o", "json")
    tasks = {t["task"]: t for t in json.loads(result.out)["tasks"]}
    # the unit has the same name but for its ending
    assert set(tasks) == {f"asset {KUBELET}", "unit kubelet.service"}, result
    asset = tasks[f"asset {KUBELET}"]
    path, line, _ = asset["asked by"].rsplit(":", 2)
    assert node.assets[KUBELET].digest in open(path, encoding="utf-8").read().splitlines()[int(line) - 1]
    assert asset["digest"] == f"sha256:{node.assets[KUBELET].digest}" and asset["needed by"], asset
    assert f"install /usr/local/bin/{KUBELET}" in asset["needed by"]
    assert "/usr/local/bin/kubelet" in tasks["unit kubelet.service"]["inputs"]


def test_a_package_is_found_by_its_name(tmp_path):
    worker = Worker(tmp_path)
    worker.facts = {**DEBIAN, **FACTS}
    worker.write()
    with worker.controller():
        done = worker.run("why", "logrotate")
    assert done.returncode in (OK, PENDING) and done.stdout.startswith("package unattended-upgrades chrony logrotate\n"), done
    assert re.search("^  needed by  unit chrony.service\n +unit logrotate.timer\n", done.stdout, re.M), done


def test_secrets_of_a_url_are_not_shown(node):
    url = node.assets[KUBELET].urls[0]
    node.assets[KUBELET].urls = [url.replace("://", "://admin:hunter2@") + "?X-Amz-Signature=tuna"]
    result = why(node, KUBELET)
    assert "hunter2" not in result.out + result.err and "tuna" not in result.out + result.err, result


@pytest.mark.parametrize("word, near", [("/etc/sysconfig/kubelt", "did you mean /etc/sysconfig/kubelet?"),
                                        ("no-such-thing-at-all", "see nodeup plan --all")])
def test_what_is_not_known(node, word, near):
    result = why(node, word)
    assert result.code == USAGE and word in result.failure and near in result.failure, result


def test_the_run_that_changed_it(node, told_runs):
    node.converge()
    told_runs(node, [{"schema": 1, "state": "ready", "unit": "kops-configuration.service", "startedUnix": 1700000000,
                      "changed": [{"task": "file /etc/sysconfig/kubelet", "why": "content differs"}]},
                     {"schema": 1, "state": "ready", "user": "alice", "startedUnix": 1700009999,
                      "changed": [{"task": "dir /etc/kubernetes", "why": "absent"}]}])
    assert told(why(node, "/etc/kubernetes"))["changed"] == ["2023-11-15 00:59:59 by a run by hand (alice): absent"]
    assert told(why(node, "/etc/sysconfig/kubelet"))["changed"] == [
        "2023-11-14 22:13:20 by kops-configuration.service: content differs"]
    assert told(why(node, "/srv/motd"))["changed"] == ["by none of the 2 runs that are remembered"]


@pytest.fixture
def told_runs():
    def write(node, runs):
        folder = node.root / "var/lib/nodeup/runs"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for i, run in enumerate(runs):
            (folder / f"{run['startedUnix']:012d}-{i}.json").write_text(json.dumps(run))
    return write
