"""What a signal leaves: a status that says so, what had arrived, and nothing that is still at work.
And how a run waits: quietly, and without keeping others from the machine while it sleeps."""

import json
import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import threading

import pytest

from held import stat, unpackers
from world import Asset, CNI, CNI_MEMBERS, KUBELET, OK, Told, build, until

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
CUT = r"interrupted by {}; (\d+\.\d) MB kept, run again to go on"


def name(sig):
    return sig.name.removeprefix("SIG")


def last(run):
    """What it said last but for a task that another thread ended in the same moment."""
    return [line for line in run.text().splitlines() if not re.match(r"\S+ info    changed ", line)][-1]


def room_of(path):
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def said(status):
    return json.loads(status.path.read_text())


def check_status(status, sig, pid):
    s = said(status)
    assert s["state"] == "interrupted" and s["signal"] == name(sig) and s["pid"] == pid, s
    assert "waiting" not in s and "nextRunUnixMs" not in s, s
    return s


@pytest.mark.parametrize("sig", SIGNALS)
def test_in_the_middle_of_a_download(told, status, held, world, sig):
    """Its unpacker ends with it, and the next run goes on."""
    run = told()
    assert held.begun.wait(Told.PATIENCE)
    child = until(lambda: unpackers(run.process.pid), run.text)[0]
    status.until(CNI, lambda a: a.get("bytes", 0) >= 3_000_000)
    assert run.end(sig) == -sig, run.text()
    kept = re.search(CUT.format(name(sig)), last(run))
    # what is kept is what came, in whole blocks
    assert kept and 2.0 < float(kept[1]) < 7.0, run.text()
    assert check_status(status, sig, run.process.pid)["tasks"]
    until(lambda: not pathlib.Path(f"/proc/{child}").exists() or stat(child)[0] == "Z")
    held.go.set()
    again = told()
    until(lambda: all(world.installed(m).exists() for m in CNI_MEMBERS), again.text)
    assert said(status)["pid"] == again.process.pid


def test_a_dead_process_can_be_told_from_a_live_one(told, status, held):
    """A pid alone may belong to another process by now."""
    run = told()
    assert held.begun.wait(Told.PATIENCE)
    s = until(lambda: status.path.exists() and said(status))
    assert s["state"] == "running" and s["pid"] == run.process.pid, s
    assert s["pidStartTicks"] == int(stat(run.process.pid)[19]), s
    assert s["bootId"] == pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip(), s


def test_while_documents_are_waited_for(world, told, status):
    """The status of an earlier run is not what this one is at."""
    status.path.parent.mkdir(parents=True, exist_ok=True)
    status.path.write_text('{"state": "ready", "pid": 1}\n')
    world.config_base = world.origin.refused() + "/store"
    run = told()
    until(lambda: said(status)["pid"] == run.process.pid, run.text)
    run.until("WAITING documents")
    assert run.end(signal.SIGTERM) == -signal.SIGTERM, run.text()
    assert re.search(r"interrupted by TERM; ", last(run)), run.text()
    check_status(status, signal.SIGTERM, run.process.pid)


def test_between_two_runs(world, told, status):
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    run = told("--retries=1")
    run.until("next run in")
    assert said(status)["state"] == "retrying"
    assert run.end(signal.SIGTERM) == -signal.SIGTERM, run.text()
    s = check_status(status, signal.SIGTERM, run.process.pid)
    assert s["error"]["message"] and s["attempt"] == 1, s


def test_what_no_run_waits_for_is_left_alone(told, status, held):
    """A second run that stands before the lock is not what the status is about."""
    first = told()
    assert held.begun.wait(Told.PATIENCE)
    until(lambda: status.path.exists() and said(status)["pid"] == first.process.pid)
    second = told()
    second.until("FAILED another nodeup is at work")
    assert second.end() == 75
    assert said(status)["pid"] == first.process.pid


def test_who_is_refused_is_told_what_the_other_waits_for(world, told, status):
    world.config_base = world.origin.refused() + "/store"
    first = told()
    s = until(lambda: status.path.exists() and "nextTryUnixMs" in said(status) and said(status), first.text)
    assert s["pid"] == first.process.pid and s["waitingSinceUnixMs"] < s["nextTryUnixMs"], s
    second = told()
    assert second.end() == 75
    refusal = second.text()[second.text().index("FAILED another nodeup is at work: pid "):]
    assert re.search(r"  waits +GET '?http://127\.0\.0\.1:\d+/store/\S+ .*refused", refusal), refusal
    assert re.search(r"  since +\d\d:\d\d:\d\d, for \d", refusal), refusal
    assert re.search(r"  until +\d\d:\d\d:\d\d, its next try$", refusal, re.M), refusal
    assert re.search(rf"  do +wait until it ends, or end it: kill {first.process.pid}; ", refusal), refusal
    first.end(signal.SIGTERM)
    s = check_status(status, signal.SIGTERM, first.process.pid)
    assert not {"waitingSinceUnixMs", "nextTryUnixMs"} & set(s), s


def test_who_is_refused_is_told_of_an_asset(world, told, status):
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1000", "code=503", "retry_after=600")]
    first = told()
    alone = r"\d+ of \d+ tasks; waiting for asset kubelet: attempt 1, last error: .*503"
    until(lambda: status.path.exists() and re.match(alone, said(status).get("waiting", "")) and
          "nextTryUnixMs" in said(status), first.text)
    second = told()
    assert second.end() == 75
    refusal = second.text()[second.text().index("FAILED another nodeup is at work: pid "):]
    assert re.search("  waits +" + alone, refusal), refusal
    assert re.search(r"  until +\d\d:\d\d:\d\d, its next try$", refusal, re.M), refusal


@pytest.mark.parametrize("command, sig", [*(("apply", sig) for sig in SIGNALS), ("bake", signal.SIGTERM)])
def test_an_image_is_interrupted(world, held, command, sig):
    run = Told(world, world.argv(command))
    assert held.begun.wait(Told.PATIENCE)
    until(lambda: any(room_of(p) >= 2_000_000 for p in (world.cache / "partial").glob("*")), run.text)
    assert run.end(sig) == -sig, run.text()
    assert re.search(CUT.format(name(sig)), last(run)), run.text()


@pytest.mark.parametrize("command", ["plan", "validate"])
def test_a_look_is_interrupted(world, command):
    """Its documents never come: they are in a pipe that no process writes to."""
    world.write_documents()
    fifo = world.folder / "fifo"
    os.mkfifo(fifo)
    run = Told(world, world.argv(command, conf=fifo))
    until(lambda: any(os.path.realpath(f"/proc/{run.process.pid}/fd/{n}") == str(fifo)
                      for n in os.listdir(f"/proc/{run.process.pid}/fd")), run.text)
    assert run.end(signal.SIGTERM) == -signal.SIGTERM
    assert re.search(r"interrupted by TERM; nothing was changed$", last(run)), run.text()


def test_a_signal_that_is_ignored_stays_so(world, held):
    """As nohup has it."""
    run = Told(world, ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *world.argv("apply")])
    assert held.begun.wait(Told.PATIENCE)
    run.process.send_signal(signal.SIGHUP)
    held.go.set()
    assert run.end() == OK, run.text()


class Probe:
    """proc_run() under way; the child writes its pid first."""

    def __init__(self, tmp_path, kind, script):
        self.pid_file = tmp_path / "pid"
        self.process = subprocess.Popen([build("ending_probe"), kind, "sh", "-c", f"echo $$ > {self.pid_file}; {script}"],
                                        stdout=subprocess.PIPE, text=True)
        until(lambda: self.pid_file.exists() and self.pid_file.read_text().strip())
        self.child = int(self.pid_file.read_text())

    def child_is_gone(self):
        path = pathlib.Path(f"/proc/{self.child}")
        return not path.exists() or stat(self.child)[0] == "Z"

    def finish(self):
        out = self.process.communicate(timeout=Told.PATIENCE)[0]
        return self.process.returncode, out.splitlines()


def test_a_child_is_ended(tmp_path):
    probe = Probe(tmp_path, "end", f"trap 'echo told > {tmp_path}/told; exit 0' TERM; while :; do sleep 0.05; done")
    probe.process.terminate()
    assert probe.finish() == (-signal.SIGTERM, ["asked TERM", "ends TERM"])
    assert (tmp_path / "told").read_text() == "told\n" and probe.child_is_gone()


def test_a_child_that_must_come_to_its_end_is_waited_for(tmp_path):
    """A transaction of packages that is cut off leaves them half installed."""
    probe = Probe(tmp_path, "let", f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo done > {tmp_path}/done")
    probe.process.terminate()
    assert probe.process.stdout.readline() == "asked TERM, waits for sh\n"
    assert probe.process.poll() is None and not probe.child_is_gone()
    (tmp_path / "go").touch()
    assert probe.finish() == (-signal.SIGTERM, ["ends TERM"])
    assert (tmp_path / "done").exists()


def test_a_second_signal_ends_at_once(tmp_path):
    """The child goes on alone, as it is not told."""
    probe = Probe(tmp_path, "let", f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo done > {tmp_path}/done")
    probe.process.terminate()
    assert probe.process.stdout.readline() == "asked TERM, waits for sh\n"
    probe.process.send_signal(signal.SIGINT)
    assert probe.finish() == (-signal.SIGINT, ["ends INT"])
    assert not probe.child_is_gone()
    (tmp_path / "go").touch()
    until((tmp_path / "done").exists)


def test_a_run_that_sleeps_gives_way(world, told, status):
    """The second run installs what the first lacked, while that one sleeps; then the first goes on."""
    good = world.assets[KUBELET].urls
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    first = told("--retries=1")
    first.until("next run in 30")
    assert not world.installed(KUBELET).exists()
    world.assets[KUBELET].urls = good
    second = told()
    until(lambda: said(status)["pid"] == second.process.pid, second.text)
    until(world.installed(KUBELET).exists, second.text)
    second.end()
    assert "another nodeup" not in second.text() and "WAITING lock" not in second.text(), second.text()
    until(lambda: said(status)["pid"] == first.process.pid and said(status)["attempt"] == 2, first.text)
    first.end()
    # a line's time and how long a task took have such digits as well
    assert not re.search(r"(?<!\.)\b404\b(?! ms)", first.text().partition("next run in")[2]), first.text()


@pytest.mark.long
def test_a_run_that_slept_waits_for_the_one_that_came(world, told, status, held):
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    plugins = world.assets[CNI]
    world.assets[CNI] = Asset(world.digest(CNI), [world.url(CNI)])
    first = told("--retries=1")
    first.until("next run in 30")
    world.assets[CNI] = plugins
    second = told()
    assert held.begun.wait(Told.PATIENCE)
    first.until(f"WAITING lock: another nodeup is at work: pid {second.process.pid}, ")
    held.go.set()
    second.end()
    until(lambda: said(status)["pid"] == first.process.pid and said(status)["attempt"] == 2, first.text)
    first.end()


class Manager:
    """What a unit's process says to the service manager."""

    def __init__(self, folder):
        self.path = folder / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.said = queue.SimpleQueue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        """At once, as a manager does: a queue of ten that is full would hold the sender."""
        while data := self.socket.recv(65536):
            self.said.put(data.decode())

    def heard(self):
        """All lines since this was asked last."""
        self.socket.sendto(b"asked", str(self.path))
        return "\n".join(iter(self.said.get, "asked")).splitlines()

    def end(self):
        """The last status, and that the last word of all is that the run has ended."""
        found = self.heard()
        self.socket.shutdown(socket.SHUT_RDWR)
        assert found[-1] == "READY=1" and found.count("READY=1") == 1, found
        return found[-2].removeprefix("STATUS=")


def test_the_last_status_of_a_unit_is_how_it_ended(world, tmp_path):
    manager = Manager(tmp_path)
    world.converge(env={"NOTIFY_SOCKET": str(manager.path)})
    assert re.fullmatch(r"success: \d\d changed in [\d.]+ m?s", manager.end())


def test_the_last_status_of_a_unit_that_failed_is_why(world, tmp_path):
    manager = Manager(tmp_path)
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    result = world.apply(env={"NOTIFY_SOCKET": str(manager.path)})
    assert manager.end() == "failed: " + result.failure.removeprefix("FAILED ").removesuffix(f" ({result.code})")


def test_what_comes_after_a_first_run_goes_on_behind(world, told):
    """The unit is up when that run has ended, well or not, and its status is why it failed; a signal ends it as well."""
    manager = Manager(world.folder)
    told.env["NOTIFY_SOCKET"] = str(manager.path)
    run = told("--retries=1")
    heard = []
    until(lambda: heard.extend(manager.heard()) or "READY=1" in heard, run.text)
    assert heard[-1] == "READY=1" and re.match("STATUS=failed, next run in 30[^:]*: [^:]", heard[-2]), heard
    assert run.end(signal.SIGTERM) == -signal.SIGTERM, run.text()
    assert set(manager.heard()) == {"STATUS=interrupted by TERM", "READY=1"}
    world.config_base = world.origin.refused() + "/store"
    run = told()
    run.until("WAITING documents")
    assert "READY=1" not in manager.heard()
    assert run.end(signal.SIGTERM) == -signal.SIGTERM, run.text()
    assert manager.end() == "interrupted by TERM"


def test_a_dead_store_is_not_told_of_at_each_attempt(world, told, status):
    """Eight attempts and more: a line for each of the two documents that are asked for at once, and no other."""
    world.config_base = world.origin.refused() + "/store"
    run = told()
    asked = set()
    until(lambda: status.path.exists() and (asked.add(status.path.read_text()) or len(asked) >= 8), run.text)
    run.end(signal.SIGTERM)
    lines = [l for l in run.text().splitlines() if "WAITING" in l]
    urls = [re.search("GET '([^']*)'", l)[1] for l in lines]
    assert 1 <= len(urls) == len(set(urls)) <= 2, run.text()
    assert all("Connection refused" in l and l.count("/store/") == 1 for l in lines), run.text()
