"""nodeup status: what a person, and a script that waits, are told of a node."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from world import Asset, CONFIG, ENV, KUBELET, NET, PROGRAM, SYSTEM, USAGE, until

READY, FAILED, DEGRADED, RUNNING, NEVER = range(5)


class Node:
    """A root whose status is what a test writes."""

    def __init__(self, root):
        self.root = root
        root.chmod(0o755)
        shutil.copy(PROGRAM, root / "nodeup")
        for name in ("proc", "run"):
            (root / name).mkdir(exist_ok=True)

    def argv(self, *flags):
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", enter, str(self.root), "/nodeup", "status", *flags]

    def status(self, *flags):
        return subprocess.run(self.argv(*flags), env=ENV, capture_output=True, text=True, timeout=120)

    def wait(self, *flags):
        return subprocess.Popen(self.argv("--wait", *flags), env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write(self, **said):
        """As a run does: whole, and of a process that lives."""
        folder = self.root / "run/nodeup"
        folder.mkdir(parents=True, exist_ok=True)
        said = {"schema": 1, "version": "7", "attempt": 2, "startedUnix": int(time.time()) - 90, "elapsedMs": 1000,
                "pid": os.getpid(), **said}
        new = folder / "new"
        new.write_text(json.dumps(said))
        new.rename(folder / "status.json")


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def error(status, *notes):
    return {"kind": "x", "exitStatus": status, "message": "the cause", "notes": list(notes)}


def test_a_node_that_never_ran(node):
    done = node.status()
    assert done.returncode == NEVER and done.stdout.startswith("never ran\n") and "nodeup apply" in done.stdout, done
    assert json.loads(node.status("-o", "json").stdout) == {"schema": 1, "state": "never", "status": 4}
    assert node.status("--runs").stdout == "no run is remembered\n"


@pytest.mark.parametrize("state, code", [("ready", READY), ("failed", FAILED), ("degraded", DEGRADED), ("running", RUNNING),
                                         ("retrying", FAILED), ("interrupted", FAILED)])
def test_the_exit_status_is_the_state(node, state, code):
    node.write(state=state)
    done = node.status()
    assert done.returncode == code and done.stdout.split()[0] == ("ready", "failed", "degraded", "running")[code], done
    said = json.loads(node.status("-o", "json").stdout)
    assert said["status"] == code and said["run"]["state"] == state, said


@pytest.mark.parametrize("host, said", [
    ({"distribution": "rocky", "version": "9.6", "arch": "arm64"}, "rocky 9.6, arm64"), ({"distribution": "flatcar"}, "flatcar"), (None, None)])
def test_the_host_is_told(node, host, said):
    node.write(state="ready", **({"host": host} if host else {}))
    assert re.findall(r"(?m)^  host +(.*)$", node.status().stdout) == ([said] if said else [])
    assert json.loads(node.status("-o", "json").stdout)["run"].get("host") == host


def test_a_certificate_that_nobody_renews_is_told_in_time(node):
    day = 24 * 3600
    node.write(state="ready", expiring="kubelet", expiresUnix=int(time.time()) + 90 * day)
    done = node.status("--long")
    assert done.returncode == READY and re.search(r"^  expires   2\d{3}-[-0-9: ]+, certificate kubelet$", done.stdout, re.M), done
    assert "expires" not in node.status().stdout
    node.write(state="ready", expiring="kubelet", expiresUnix=int(time.time()) + 59 * day)
    done = node.status()
    assert done.returncode == DEGRADED and "certificate kubelet expires on 2" in done.stdout, done
    assert done.stdout.count("\n  do ") == 1 and "replace the instance, or stop kubelet until the node is NotReady, then nodeup repair" in done.stdout
    assert "certificate kubelet expires" in json.loads(node.status("-o", "json").stdout)["why"]


def test_keys_that_are_left_alone_are_named(node):
    node.write(state="ready", acceptedKeys=["KubeletConfig.newKey"])
    done = node.status()
    assert done.returncode == READY and "KubeletConfig.newKey: left alone, as acceptKeys says\n" in done.stdout, done


def test_the_kops_of_the_documents_is_named(node):
    node.write(state="ready", conf="/c", kops="1.36.2", kopsKnownBy="NODEUP_URL_AMD64")
    assert "\n  conf      /c\n  kops      1.36.2 (by NODEUP_URL_AMD64)\n" in node.status().stdout
    assert json.loads(node.status("-o", "json").stdout)["run"]["kops"] == "1.36.2"


def test_values_that_it_goes_on_with_are_named(node):
    node.write(state="ready", refusedValues=["f:1:2: KubeletConfig.maxPods: expected more; it goes on, as accept says"])
    done = node.status()
    assert done.returncode == READY and "  value     f:1:2: KubeletConfig.maxPods: expected more; it goes on, as accept says\n" in done.stdout, done
    assert json.loads(node.status("-o", "json").stdout)["run"]["refusedValues"]


def test_one_screen_says_what_failed_and_what_to_do(node):
    node.write(state="retrying", unit="kops-configuration.service", conf="/etc/kube_env.yaml",
               error=error(69, "want: an answer", "got: none"), nextRunUnixMs=int(time.time() * 1000) + 600_000,
               tasks=[{"kind": "asset", "name": "fast", "state": "right", "startMs": 0, "endMs": 5},
                      {"kind": "asset", "name": "slow", "state": "changed", "startMs": 10, "endMs": 3010, "why": "absent"}])
    done = node.status()
    assert done.returncode == FAILED and done.stdout.startswith("failed since "), done
    lines = [line.split(None, 1) for line in done.stdout.splitlines()]
    assert "FAILED the cause (69)" in done.stdout.splitlines(), done
    for want in (["want", "an answer"], ["got", "none"], ["conf", "/etc/kube_env.yaml"]):
        assert want in lines, done
    labels = {line[0]: line[1] for line in lines}
    assert labels["slowest"].startswith("asset slow 3.0 s, asset fast 5 ms"), done
    assert "free" in labels["disk"] and "reached" in labels["do"] and "in 9 min" in labels["next"], done
    assert labels["run"].startswith("by unit kops-configuration.service, process ") and len(lines) <= 24, done
    assert "changed    asset slow: absent" not in done.stdout
    assert "changed    asset slow: absent (3.0 s)" in node.status("--long").stdout


@pytest.mark.parametrize("pid, is_alive", [(os.getpid(), True), (1 << 22, False)], ids=["alive", "gone"])
def test_a_refused_run_that_is_tried_again_is_of_a_degraded_node(node, pid, is_alive):
    """What ran before runs. Somebody who waits for the node waits on."""
    node.write(state="degraded", error=error(71, "started: kubelet.service"), nextRunUnixMs=int(time.time() * 1000) + 600_000, pid=pid)
    done = node.status()
    assert done.returncode == DEGRADED and "FAILED the cause (71)" in done.stdout, done
    assert ("next run  " in done.stdout) == is_alive, done
    assert node.status("--wait=1s").returncode == DEGRADED


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "state": "ready"', "[]", '"ready"', '{"state": "ready"}',
                                  '{"schema": 2, "state": "ready"}', '{"schema": 1, "state": "fine"}', '{"schema": 1}'])
@pytest.mark.parametrize("flags", [[], ["-o", "json"], ["--wait"]], ids=" ".join)
def test_a_damaged_or_foreign_file_is_refused(node, text, flags):
    node.write()
    (node.root / "run/nodeup/status.json").write_text(text)
    done = node.status(*flags)
    assert done.returncode == CONFIG and not done.stdout, done
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and "/run/nodeup/status.json" in lines[0] and "FAILED" in lines[0], done
    assert re.search(r"next +the next run of nodeup apply replaces it$", lines[1]), done


OURS = "kops-configuration.service"


def good(**said):
    """The last word on the node, as later runs carry it on."""
    return {"state": "ready", "conf": "/c", "unit": OURS, "pid": 7, "attempt": 1, "startedUnix": int(time.time()) - 3600,
            "elapsedMs": 5000, "version": "7", **said}


def settled(**states):
    return [{"kind": "file", "name": f"/{name}", "state": state} for name, state in states.items()]


# What the last run says of itself: each leaves a ready node as it was.
HARMLESS = {
    "refused": {"state": "failed", "error": error(78)},
    "refused with a plan of its own": {"state": "failed", "conf": "/c", "error": error(71), "counts": {"changed": 0},
                                       "tasks": settled(a="waiting")},
    "failed with other documents, and changed nothing": {
        "state": "failed", "conf": "/mine", "error": error(69), "counts": {"changed": 0}, "causes": [{"message": "x", "tasks": ["file /a"]}]},
    "tried again": {"state": "retrying", "error": error(69), "nextRunUnixMs": int(time.time() * 1000) + 600_000},
    "interrupted": {"state": "interrupted", "signal": "INT", "counts": {"changed": 0}, "tasks": settled(a="right", b="waiting")},
    "interrupted in its window": {"state": "interrupted", "signal": "INT", "counts": {"changed": 1}, "tasks": settled(a="changed", b="right")},
    "interrupted in its window, of our unit": {"state": "interrupted", "signal": "TERM", "unit": OURS, "counts": {"changed": 0}},
    "killed": {"state": "running", "pid": 0x3ffffff},
}


@pytest.mark.parametrize("what", HARMLESS)
def test_a_run_by_hand_that_changed_nothing_leaves_the_node_as_it_was(node, what):
    node.write(node=good(), **HARMLESS[what])
    done = node.status()
    lines = done.stdout.splitlines()
    assert done.returncode == READY and lines[0].startswith("ready since "), done
    assert f"  run       by unit {OURS}, process 7, attempt 1, nodeup 7" in lines and "  conf      /c" in lines, done
    said, = [line for line in lines if line.startswith("the last run, by ")]
    assert " and left the node as it was" in said, done
    assert ("FAILED the cause (" in done.stdout) == ("error" in HARMLESS[what]), done
    told = json.loads(node.status("-o", "json").stdout)
    assert (told["state"], told["status"], told["run"]["state"]) == ("ready", READY, HARMLESS[what]["state"]), told
    assert node.status("--wait").returncode == READY


# Each of these makes of a ready node a degraded one, with its cause.
HARMFUL = {
    "our own unit failed": {"state": "failed", "unit": OURS, "error": error(69)},
    "our own unit was refused": {"state": "failed", "unit": OURS, "error": error(78)},
    "our own unit tries again": {"state": "retrying", "unit": OURS, "error": error(69), "nextRunUnixMs": int(time.time() * 1000) + 600_000},
    "our own unit was killed": {"state": "running", "unit": OURS, "pid": 0x3ffffff},
    "something was changed": {"state": "failed", "conf": "/mine", "error": error(71), "counts": {"changed": 1}},
    "a drift was seen that could not be mended": {
        "state": "failed", "conf": "/c", "error": error(71), "counts": {"changed": 0}, "causes": [{"message": "x", "tasks": ["file /a"]}]},
    "a drift was seen, and this host is not fit for a change": {
        "state": "failed", "conf": "/c", "error": error(71), "counts": {"changed": 0}, "mayNotChange": True},
    "interrupted between changes": {"state": "interrupted", "signal": "INT", "counts": {"changed": 1}, "tasks": settled(a="changed", b="waiting")},
}


@pytest.mark.parametrize("what", HARMFUL)
def test_what_a_run_did_to_a_ready_node_degrades_it(node, what):
    node.write(node=good(), **HARMFUL[what])
    done = node.status()
    assert done.returncode == DEGRADED and done.stdout.startswith("degraded since "), done
    assert ("FAILED the cause (" in done.stdout) == ("error" in HARMFUL[what]) and "left the node" not in done.stdout, done
    assert re.search(r"^  why       the last run, by (hand|unit kops-configuration\.service), process \d+, ", done.stdout, re.M), done


@pytest.mark.parametrize("unit, waits", [("", False), (OURS, True)], ids=["by hand", "ours"])
def test_a_run_at_work_on_a_ready_node(node, unit, waits):
    """Who waits for a node waits for our own unit."""
    node.write(state="running", unit=unit, node=good(), waiting="documents", waitingSinceUnixMs=int(time.time() * 1000))
    done = node.status()
    assert done.returncode == READY and done.stdout.startswith("ready since "), done
    assert re.search(r"^a run, by .*, process %d, is at work since " % os.getpid(), done.stdout, re.M) and "  waits     documents\n" in done.stdout, done
    begun = time.monotonic()
    assert node.status("--wait=400ms" if waits else "--wait=60s").returncode == READY
    assert 0.4 <= time.monotonic() - begun if waits else time.monotonic() - begun < 30


def test_the_second_try_has_the_cause_of_the_first(node):
    """Of a node that was never ready, and of one that is."""
    first = {"state": "failed", "unit": OURS, "error": error(69)}
    for word, code, begins in (first, RUNNING, "running since "), (good(state="degraded", error=error(69)), DEGRADED, "degraded since "):
        node.write(state="running", unit=OURS, attempt=2, node=word)
        done = node.status()
        assert done.returncode == code and done.stdout.startswith(begins) and "FAILED the cause (69)\n" in done.stdout, done
        node.write(state="running", unit=OURS, attempt=2, node={**word, "error": error(78)})
        assert node.status("--wait").returncode == {RUNNING: FAILED}.get(code, code)


def test_odd_members_do_no_harm(node):
    """Others may have written it: no line of theirs is ours, and no type is taken for granted."""
    node.write(state="failed", error={"message": "one\nready since 1\x1b[2J", "exitStatus": "x", "notes": [1, {}, "do: a\nb"]},
               causes=[1, {"tasks": [{}], "held": "x"}, []], startedUnix=10**18, elapsedMs=-5,
               tasks=[1, {"startMs": "x"}, {"kind": [], "endMs": 10**18, "startMs": 1}])
    for flags in ([], ["--long"], ["-o", "json"]):
        done = node.status(*flags)
        assert done.returncode == FAILED and "\x1b" not in done.stdout and not done.stderr, done
        assert not re.findall("^ready", done.stdout, re.M), done
    for word in ("x", [], {}, {"state": []}, {"state": "ready", "tasks": {"a": 1}, "error": []}):
        node.write(state="interrupted", node=word, counts=[], causes=7, tasks="x")
        assert node.status().returncode == (READY if "tasks" in word else FAILED)
    (node.root / "run/nodeup/status.json").write_text('{"schema": 1, "state": "ready"}')
    assert re.match("ready\n", node.status().stdout)


def test_each_cause_is_shown(node):
    node.write(state="failed", error=error(71), causes=[
        {"message": "no room", "tasks": ["file /a", "file /b"], "held": []},
        {"message": "no way", "tasks": ["asset x"], "held": ["unit kubelet.service"]}])
    lines = [line.split(None, 1) for line in node.status().stdout.splitlines()]
    assert ["failed", "file /a: no room; as well file /b"] in lines
    assert ["failed", "asset x: no way; 1 task held"] in lines, lines


def test_a_process_that_is_gone_does_not_run(node):
    """The number may be another one's by now: that one began at another time."""
    node.write(state="running", pidStartTicks=1)
    done = node.status()
    assert done.returncode == FAILED and "ended without a last word" in done.stdout and "nodeup repair" in done.stdout, done
    node.write(state="running", pid=0x3ffffff)
    assert node.status().returncode == FAILED
    node.write(state="running", bootId="of-another-boot")
    assert node.status().returncode == FAILED


@pytest.mark.parametrize("said", [
    {"error": {**error(65), "noRetryMends": True}},
    {"error": error(69), "causes": [{"message": "boom", "tasks": ["asset x"], "held": [], "noRetryMends": True}]},
    *({"error": error(status)} for status in (64, 73, 78))])
@pytest.mark.parametrize("state", ["failed", "retrying"])
def test_wait_ends_at_once_with_what_no_retry_mends(node, state, said):
    """Also if the run ended with another cause, or an older nodeup wrote the status without a word on it."""
    node.write(state=state, **said, nextRunUnixMs=int(time.time() * 1000) + 600_000)
    assert node.status("--wait").returncode == FAILED


def test_a_refused_run_after_which_the_node_goes_on_is_degraded(node):
    """No run follows by itself, so nothing is waited for."""
    node.write(state="degraded", error=error(78, "started: kubelet.service"))
    done = node.status("--wait")
    assert done.returncode == DEGRADED and "FAILED the cause (78)\n  started   kubelet.service\n" in done.stdout, done
    assert "the run was refused" in json.loads(node.status("-o", "json").stdout)["why"]


@pytest.mark.parametrize("said, code", [
    ({"state": "retrying", "error": error(69)}, FAILED), ({"state": "retrying", "error": error(65)}, FAILED),
    ({"state": "failed", "error": error(71)}, FAILED), ({"state": "degraded"}, DEGRADED), (None, NEVER)])
def test_wait_ends_with_the_state_of_then(node, said, code):
    if said:
        node.write(**said)
    begun = time.monotonic()
    done = node.status("--wait=300ms")
    assert done.returncode == code and time.monotonic() - begun >= 0.3, done
    assert re.search(r" notice  WAITING node: \S", done.stderr) and len(done.stderr.splitlines()) == 1, done


def test_wait_sees_each_change(node):
    """Also of a node whose first run is to come; and it sleeps meanwhile."""
    run = node.wait()
    assert "WAITING node: never" in run.stderr.readline()
    node.write(state="running")
    assert "WAITING node: running" in run.stderr.readline()
    node.write(state="failed", error=error(71))
    assert re.search("WAITING node: .*failed", run.stderr.readline())
    node.write(state="ready")
    out, _ = run.communicate(timeout=120)
    assert run.returncode == READY and out.startswith("ready since "), out


def test_wait_sees_the_end_of_a_process_without_a_word(node):
    other = subprocess.Popen(["sleep", "1000"])
    node.write(state="running", pid=other.pid)
    run = node.wait()
    assert "WAITING node: running" in run.stderr.readline()
    other.kill()
    other.wait()
    assert re.search("WAITING node: .*failed", run.stderr.readline())
    run.kill()
    run.communicate()


def test_an_ordinary_user_may_ask(node):
    node.write(state="ready")
    done = subprocess.run(["chroot", "--userspec=65534:65534", str(node.root), "/nodeup", "status"], env=ENV,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == READY and done.stdout.startswith("ready"), done


def test_another_format_is_refused(node):
    done = node.status("-o", "xml")
    assert done.returncode == USAGE and "is none of text, json" in done.stderr, done


# A real run

def runs(node):
    return json.loads(node.status("--runs", "-o", "json").stdout)["runs"]


def test_runs_are_remembered(told, world, status):
    """A failed one with its cause, and an interrupted one; after a reboot, when the status is gone, too."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    told.env["SUDO_USER"] = "alice"
    run = told()
    # no systemd is the other cause, and either may come first
    code = run.end()
    assert code in (NET, SYSTEM), run.text()
    node = Node(world.root)
    done = node.status()
    assert done.returncode == FAILED and "FAILED" in done.stdout and f"by hand (alice), process {run.process.pid}, " in done.stdout, done
    first, = runs(node)
    assert first["state"] == "failed" and first["error"]["exitStatus"] == code and first["pid"] == run.process.pid, first
    assert "  kops      1.8.1 (by protokubeImage.name)\n" in done.stdout and (first["kops"], first["kopsKnownBy"]) == ("1.8.1", "protokubeImage.name")
    assert "dir /etc/kubernetes" in str(first["changed"]) and first["failed"], first
    assert all(set(t) <= {"task", "why"} for t in first["changed"]), first
    assert first["number"] == 1, first
    world.assets[KUBELET].urls = [world.url(KUBELET, f"gate={world.token}")]
    again = told()
    until(lambda: json.loads(status.path.read_text())["pid"] == again.process.pid, again.text)
    assert node.status().returncode == RUNNING
    assert again.end(signal.SIGTERM) == -signal.SIGTERM
    shutil.rmtree(world.root / "run/nodeup")
    second, same = runs(node)
    assert second["state"] == "interrupted" and second["signal"] == "TERM" and same == first, second
    done = node.status()
    assert done.returncode == NEVER and done.stdout.startswith("never ran since the machine started\n"), done
    lines = node.status("--runs").stdout.splitlines()
    assert len(lines) == 2 and "interrupted" in lines[0] and "failed" in lines[1], lines
    assert [line.split()[0] for line in lines] == ["2", "1"], lines


def test_a_ready_node_stays_ready_whatever_is_mistyped(told, world, status):
    """What a real run carries on, also over two of them; and logins are told nothing."""
    folder = world.root / "run/nodeup"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [{"kind": "unit", "name": "no-such.service", "state": "right"}, {"kind": "dir", "name": "/etc/kubernetes", "state": "right"}]
    (folder / "status.json").write_text(json.dumps({"schema": 1, "assets": [{"name": "x"}], "tasks": tasks, **good()}))
    node = Node(world.root)
    told.argv[-2] = "--conf=/typo"
    for _ in range(2):
        assert told().end() == CONFIG
        done = node.status()
        assert done.returncode == READY and "FAILED " in done.stdout and "'/typo'" in done.stdout, done
        said = json.loads(status.path.read_text())
        assert said["state"] == "failed" and said["node"]["state"] == "ready" and not {"node", "assets"} & set(said["node"]), said
        assert not motd(world).exists()
    assert node.status("--wait").returncode == READY


def test_a_run_that_had_no_room_in_run_is_told_as_any_other(told, world, mounts):
    """What is there is of the run before; and the next one that has room puts its own there."""
    argv, run = [*mounts.enter, *Node(world.root).argv()], world.root / "run"
    mounts.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", run)
    inside = mounts.path(run)
    (inside / "nodeup").mkdir()
    # the next one, which has them too, has no room in the place of this one either
    tasks = [{"kind": "file", "name": f"/etc/kubernetes/manifests/{i}.manifest", "state": "right"} for i in range(100)]
    (inside / "nodeup/status.json").write_text(json.dumps({"schema": 1, "tasks": tasks, **good()}))
    with pytest.raises(OSError):
        (inside / "full").write_bytes(bytes(64 << 10))
    told.argv[:] = [*mounts.enter, *told.argv[:-2], "--conf=/typo", told.argv[-1]]

    def asked():
        return subprocess.run(argv, env=ENV, capture_output=True, text=True, timeout=60)
    assert told().end() == CONFIG
    done = asked()
    assert done.returncode == READY and "FAILED " in done.stdout and "'/typo'" in done.stdout, done
    assert not (inside / "nodeup/status.json").exists()
    (inside / "full").unlink()
    told.argv[-2] = "--conf=/another"
    assert told().end() == CONFIG
    assert json.loads((inside / "nodeup/status.json").read_text())["state"] == "failed" and "'/another'" in asked().stdout


def test_mirrors_that_agree_are_known_by_a_field(told, world):
    """What a real run writes of them is what --wait goes by: the document is wrong, and stays it."""
    world.assets[KUBELET] = Asset("0" * 64, [*world.assets[KUBELET].urls, world.url(KUBELET, "ranges")])
    told().end()
    said = json.loads((world.root / "run/nodeup/status.json").read_text())
    assert [c for c in said["causes"] if c["exitStatus"] == 65 and c.get("noRetryMends")], said
    assert Node(world.root).status("--wait").returncode == FAILED


def test_a_single_mirror_that_was_asked_again_is_known_by_it(told, world):
    """The usual case of a stale hash: the first answer may be an accident, the second is none."""
    world.assets[KUBELET] = Asset("0" * 64, [world.url(KUBELET, "named")])
    for lasts in False, True:
        told().end()
        said = json.loads((world.root / "run/nodeup/status.json").read_text())
        cause, = [c for c in said["causes"] if c["exitStatus"] == 65]
        assert cause.get("noRetryMends", False) == lasts, cause
    assert Node(world.root).status("--wait").returncode == FAILED


@pytest.fixture
def console(told, world):
    """The machine's, as a file that remembers."""
    path = world.root / "dev/console"
    path.write_text("")
    return path


def motd(world):
    return world.root / "run/motd.d/nodeup"


def has_notices(lines):
    """Cause, object and next command: each line by itself."""
    return 0 < len(lines) <= 10 and all(re.fullmatch(r"nodeup: (FAILED|WAITING) .{10,}; next: \S.*", line) for line in lines)


def test_a_failure_is_on_the_console_and_told_at_logins(told, world, console):
    """Of the asset and of the missing systemd, whichever came first; and no password."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404") + "&s=hunter2"]
    run = told()
    code = run.end()
    lines = console.read_text().splitlines()
    assert has_notices(lines) and f"({code})" in lines[0], lines
    assert any("asset kubelet" in line for line in lines) and "hunter2" not in console.read_text(), lines
    assert motd(world).read_text().splitlines() == lines
    assert motd(world).stat().st_mode & 0o777 == 0o644
    assert json.loads((world.root / "run/nodeup/status.json").read_text())["error"]["message"] in lines[0]


def test_a_quiet_console_is_left_alone(told, world, console):
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True)
    (folder / "quiet.yaml").write_text("quietConsole: true\n")
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    told().end()
    assert console.read_text() == "" and has_notices(motd(world).read_text().splitlines())


def test_a_first_run_is_told_at_logins_and_on_the_console_at_its_age(told, world, console):
    """It is at work till its asset comes; the node is not one till then."""
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True)
    (folder / "age.yaml").write_text("consoleAfter: 1ms\n")
    world.assets[KUBELET].urls = [world.url(KUBELET, f"gate={world.token}")]
    run = told()
    until(lambda: console.read_text().endswith("\n"), run.text)
    lines = console.read_text().splitlines()
    assert len(lines) == 1 and has_notices(lines) and "WAITING" in lines[0], lines
    said = motd(world).read_text()
    assert has_notices(said.splitlines()) and "first run since the machine started" in said, said
    run.end(signal.SIGTERM)
    assert console.read_text().splitlines() == lines and motd(world).read_text() == said


def test_a_full_console_holds_nothing_up(told, world):
    """One that a debugger has stopped takes no bytes; a FIFO without a reader is such a one."""
    os.mkfifo(world.root / "dev/console")
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    assert told().end() in (NET, SYSTEM)


def test_the_oldest_runs_are_forgotten(told, world):
    """And what a power cut left of one is passed over."""
    folder = world.root / "var/lib/nodeup/runs"
    folder.mkdir(parents=True)
    for i in range(105):
        (folder / f"{i:012}-7.json").write_text(json.dumps({"schema": 1, "state": "ready", "startedUnix": i, "pid": i}))
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    told().end()
    names = sorted(p.name for p in folder.iterdir())
    assert len(names) == 100 and names[0] == f"{6:012}-7.json", names
    (folder / names[3]).write_text("")
    assert len(runs(Node(world.root))) == 99


def test_a_run_by_hand_is_in_the_journal(told, world):
    """And on stderr, for who made it."""
    folder = world.root / "run/systemd/journal"
    folder.mkdir(parents=True)
    at = os.open(folder, os.O_PATH)
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind(f"/proc/self/fd/{at}/socket")
    entries = []

    def read():
        while (data := journal.recv(1 << 20)) != b"end":
            entries.append(data)
    thread = threading.Thread(target=read)
    thread.start()
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    run = told()
    run.end()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
        last.sendto(b"end", f"/proc/self/fd/{at}/socket")
    thread.join(60)
    journal.close()
    os.close(at)
    assert "FAILED" in run.text()
    failed = [e for e in entries if b"MESSAGE=FAILED " in e and b"SYSLOG_IDENTIFIER=nodeup" in e]
    assert failed, entries[-3:]
    assert all(re.search(rb"(?m)^MESSAGE_ID=[0-9a-f]{32}$", e) and b"NODEUP_KIND=" in e for e in failed), failed
