"""Values that a program refuses: told before anything is written, and never in the way of a node that works."""
import json
import re

import pytest

from kops import Worker
from test_kops_documents import BOOT, NODEUP_CONFIG
from test_kops_versions import hashed
from test_kubeup_documents import validate, write
from world import CONFIG, KUBELET, OK, PENDING

WRONG = "kubelet.maxPods: expected an integer of 0 or more, found '-1'"
TODAY = "KubeletConfig.maxPods: expected an integer of 0 or more, found '-1'"
RAN = "it goes on, as a run with these documents ended well on this instance"


def settings(root, text):
    path = root / "etc/nodeup/nodeup.d/50-values.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def no_pods(world):
    world.edit_store("cluster.spec", lambda t: t.replace("  kubelet:\n", "  kubelet:\n    maxPods: -1\n"))


def test_nothing_is_written(world):
    no_pods(world)
    done = world.apply()
    assert done.code == CONFIG and WRONG in done.err and "say accept: [kubelet.maxPods] in the settings" in done.err, done
    assert not (world.root / "etc/systemd/system").exists()


@pytest.mark.parametrize("command", ["plan", "apply", "repair", "check"])
def test_a_node_that_works_is_not_refused(world, command):
    """As if a newer nodeup learnt of the value after the first run: that one is told to accept it."""
    no_pods(world)
    accept = settings(world.root, "accept: [kubelet.maxPods]\n")
    done = world.converge()
    assert f"{WRONG}; it goes on, as accept says" in done.err, done
    accept.unlink()
    done = world.run(command)
    assert done.code in (OK, PENDING) and done.err.count(f"{WRONG}; {RAN}") == 1, done
    if command == "apply":
        done = world.run("validate")
        assert done.code == OK and done.err.count(f"{WRONG}; {RAN}") == 1, "it says what apply would say"
        world.edit_store("cluster.spec", lambda t: t.replace("maxPods: -1", "maxPods: -2"))
        assert world.apply().code == world.run("validate").code == CONFIG, "another document"
        world.edit_store("cluster.spec", lambda t: t.replace("maxPods: -2", "maxPods: -1"))
        assert world.apply().code == OK
        world.more = "accept: [kubelet.maxPods]\n"
        assert world.apply().code == OK, "a key of the document, too"
        world.more = ""
    world.facts["instanceID"] = "i-0fedcba9876543210"
    assert world.run(command).code == CONFIG, "these records are another instance's"


def test_status_names_it(world, told):
    no_pods(world)
    settings(world.root, "accept: [kubelet.maxPods]\n")
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    run = told()
    run.end()
    said = json.loads((world.root / "run/nodeup/status.json").read_text())
    assert [t.endswith(f"{WRONG}; it goes on, as accept says") for t in said["refusedValues"]] == [True], run.text()


def test_what_an_earlier_nodeup_kept_speaks_for_it(tmp_path):
    """It has not noted which documents they were."""
    worker = Worker(tmp_path / "node")
    worker.config["KubeletConfig"]["maxPods"] = -1
    accept = settings(worker.root, "accept: [KubeletConfig.maxPods]\n")
    with worker.controller():
        assert worker.apply().returncode == OK
        accept.unlink()
        (worker.root / "var/lib/nodeup/applied").unlink()
        done = worker.apply()
        assert done.returncode == OK and f"{TODAY}; {RAN}" in done.stderr, done.stderr
        (worker.root / "var/lib/nodeup/applied").write_text("")
        done = worker.run("plan")
        assert done.returncode == CONFIG and TODAY in done.stderr, done.stderr


REPORTED = """\
KubeletConfig:
  allowedUnsafeSysctls: ['--net.ipv4.tcp_keepalive_time="600"']  # error 26
  imageGCHighThresholdPercent: 80
  imageGCLowThresholdPercent: 90                                 # error 31
  maxPods: -1                                                    # error 12
  cpuManagerPolicy: statc                                        # error 21, static
  featureGates: {NoSuchGate: "true"}                             # warning 18
  evictionSoft: memory.available<300Mi                           # error 17
  containerLogMaxFiles: 1                                        # error 25
  taints: ["a=with space:NoSchedule"]                            # error 12
APIServerConfig:
  KubeAPIServer:
    authorizationMode: abac                                      # error 24, ABAC
    securePort: 70000                                            # error 17
    enableAdmissionPlugins: [NodeRestriction]
    disableAdmissionPlugins: [NodeRestriction]                   # error 30
    tlsCipherSuites: [NOPE]                                      # warning 23
"""


def test_the_values_of_reports(tmp_path):
    """Each at its line and column, with the way out and what it was meant to be."""
    path = write(tmp_path, hashed(NODEUP_CONFIG + REPORTED))
    write(tmp_path, NODEUP_CONFIG + REPORTED, "nodeupconfig.yaml")
    first = len(NODEUP_CONFIG.splitlines()) + 1
    want, told = [], []
    for at, line in enumerate(REPORTED.splitlines(), first):
        if said := re.search(r" (\w+):.*# (\w+) (\d+)(?:, (\w+))?$", line):
            key, severity, column, nearest = said.groups()
            want.append((severity, at, int(column), key, [f"did you mean {nearest}?"] if nearest else []))
    for f in json.loads(validate(path, "-o", "json").stdout)["findings"]:
        notes = [note.partition(" ")[2].strip() for note in f.get("notes", [])]
        key = re.match(r"(?:APIServerConfig\.KubeAPIServer|KubeletConfig)\.(\w+)", f["text"])[1]
        told.append((f["severity"], f["line"], f["column"], key, notes[:-1]))
        assert ": expected " in f["text"] and (f["severity"] == "warning" or "say accept: [" in notes[-1]), f
    assert told == want, told


def test_validate_tells_all_of_them(tmp_path):
    config = NODEUP_CONFIG + "KubeletConfig: {maxPods: -1, imageGCHighThresholdPercent: 80}\n"
    line = len(NODEUP_CONFIG.splitlines()) + 1
    path = write(tmp_path, hashed(config))
    write(tmp_path, config, "nodeupconfig.yaml")
    found = json.loads(validate(path, "-o", "json").stdout)["findings"]
    assert [(f["severity"], f["line"], f["column"], f["text"].split(":")[0]) for f in found] == [
        ("error", line, 26, "KubeletConfig.maxPods"), ("error", line, 59, "KubeletConfig.imageGCHighThresholdPercent")], found
    told = validate(path, "-o", "github").stdout
    assert told.count("::error file=") == 2 and f"line={line},col=26::KubeletConfig.maxPods" in told, told
    write(tmp_path, hashed(config) + "accept: [kubeletconfig.maxpods, KubeletConfig.imageGCHighThresholdPercent]\n")
    done = validate(path)
    assert done.returncode == OK and done.stderr.count("; it goes on, as accept says") == 2, done.stderr
    write(tmp_path, BOOT + "accept: [[x]]\n")
    done = validate(path)
    assert done.returncode == CONFIG and "accept[0]: expected a text" in done.stderr, done.stderr
