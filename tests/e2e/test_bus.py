"""units/ against a real systemd: what a fake bus cannot prove."""
import os
import shutil
import signal
import subprocess
import threading

import pytest

from lab import Lab, ROOT

PROBE = "build/e2e/bus_probe"
UNITS = {
    "ok": "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n",
    "fail": "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo out; echo last words >&2; exit 3'\n",
    "gate": "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'until [ -e /run/go ]; do sleep .1; done'\n",
    "after": "[Unit]\nAfter=gate.service\n[Service]\nExecStart=/bin/sleep 1000\n",
    "loop": "[Service]\nRestart=always\nRestartSec=100ms\nStartLimitInterval=0\n"
            "ExecStart=/bin/sh -c 'echo why it crashes; exit 7'\n",
    "often": "[Unit]\nStartLimitIntervalSec=1h\nStartLimitBurst=2\n"
             "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo first; echo why it ends; exit 7'\n",
}
NASTY = "it's \"so\" $HOME ${X} %n 100% \\ ; `tick` \xe9\tend"


@pytest.fixture(scope="module")
def node():
    # Not as a part of the make that may have started us.
    environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "-s", "FAKES=" + PROBE, PROBE], cwd=ROOT, env=environ, check=True)
    with Lab() as lab:
        node = lab.boot("bus", "nodes", "#!/bin/sh\n")
        shutil.copy(os.path.join(ROOT, PROBE), node.root + "/root/bus_probe")
        for name, text in UNITS.items():
            put(node, name, text)
        probe(node, "reload")
        yield node


def put(node, name, text):
    with open("/proc/%d/root/etc/systemd/system/%s.service" % (node.leader(), name), "w") as f:
        f.write(text)


def probe(node, *args, status=0):
    """The probe's output: a dict of its lines, the last of a key wins; all lines under ''."""
    done = node.exec("/root/bus_probe", *args)
    text = done.stdout if status == 0 else done.stderr
    assert done.returncode == status, done.stdout + done.stderr
    pairs = [line.split("=", 1) for line in text.splitlines() if "=" in line]
    return {**dict(pairs), "": pairs}


def values(answer, key):
    return [v for k, v in answer[""] if k == key]


def test_version(node):
    assert probe(node, "version")["version"] == node.sh(
        "systemctl --version | sed -n '1s/systemd \\([0-9]*\\).*/\\1/p'").strip()


def test_service_starts(node):
    job = probe(node, "start", "ok.service")
    assert (job["result"], job["polled"]) == ("done", "0"), "told by the signal, not by polling"
    unit = probe(node, "get", "ok.service")
    assert (unit["load"], unit["active"], unit["sub"]) == ("loaded", "active", "running")
    assert (unit["type"], unit["result"], unit["n_restarts"]) == ("simple", "success", "0")
    assert unit["fragment"] == "/etc/systemd/system/ok.service"
    shown = node.show("ok.service", "MainPID", "ExecMainStartTimestampMonotonic", "After")
    assert unit["main_pid"] == shown["MainPID"] != "0"
    assert unit["start_us"] == shown["ExecMainStartTimestampMonotonic"] != "0"
    assert sorted(values(unit, "after")) == sorted(shown["After"].split())


def test_failed_start_says_why(node):
    job = probe(node, "start", "fail.service")
    assert (job["job"], job["result"]) == ("failed", "failed")
    unit = probe(node, "get", "fail.service")
    assert (unit["active"], unit["result"], unit["exec_status"]) == ("failed", "exit-code", "3")
    lines = values(probe(node, "tail", "fail.service", "20"), "line")
    assert "last words" in lines
    assert any("status=3" in line for line in lines), lines
    assert len(values(probe(node, "tail", "fail.service", "2"), "line")) == 2


def test_tail_is_of_the_last_invocation(node):
    probe(node, "start", "fail.service")
    lines = values(probe(node, "tail", "fail.service", "100"), "line")
    assert lines.count("last words") == 1, lines


def test_reset_failed(node):
    probe(node, "start", "fail.service")
    probe(node, "reset", "fail.service")
    assert probe(node, "get", "fail.service")["active"] == "inactive"
    probe(node, "reset", "no-such-unit.service")


def test_crash_loop_is_seen(node):
    assert probe(node, "start", "loop.service")["result"] == "done"
    node.wait(lambda: int(probe(node, "get", "loop.service")["n_restarts"]) >= 3, 20, "restarts")
    lines = values(probe(node, "tail", "loop.service", "6"), "line")
    assert "why it crashes" in lines
    assert probe(node, "stop", "loop.service")["result"] == "done"


def test_own_words_are_kept_when_systemd_has_given_up(node):
    """A start that is refused gives three lines of systemd's, again and again; the program did not run for any."""
    for _ in range(6):
        probe(node, "start", "often.service", status=0)
    node.wait(lambda: "repeated too quickly" in node.sh("journalctl -u often -o cat"), 30, "systemd to give up")
    lines = values(probe(node, "tail", "often.service", "5"), "line")
    assert len(lines) == 5 and lines[:2] == ["first", "why it ends"], lines
    assert all("often.service" in line for line in lines[2:]), lines
    lines = values(probe(node, "tail", "often.service", "2"), "line")
    assert lines[0] == "why it ends" and "often.service" in lines[1], lines


def test_missing_unit(node):
    unit = probe(node, "get", "no-such-unit.service")
    assert (unit["load"], unit["active"]) == ("not-found", "inactive")
    error = probe(node, "start", "no-such-unit.service", status=71)["error"]
    assert error.startswith("start no-such-unit.service: ") and "NoSuchUnit" in error
    assert "enable no-such-unit.service" in probe(node, "enable", "no-such-unit.service",
                                                  status=71)["error"]


def test_enable_without_reload(node):
    for verb, changed, state in (("enable", "1", "enabled"), ("enable", "0", "enabled"),
                                 ("disable", "1", "disabled"), ("disable", "0", "disabled")):
        answer = probe(node, verb, "ok.service")
        assert (answer["changed"], answer["file"]) == (changed, state), verb
        assert node.sh("systemctl is-enabled ok.service || true").strip() == state


def test_need_reload(node):
    put(node, "ok", UNITS["ok"] + "# more\n")
    assert probe(node, "get", "ok.service")["need_reload"] == "1"
    probe(node, "reload")
    assert probe(node, "get", "ok.service")["need_reload"] == "0"


class Following(threading.Thread):
    """A probe that follows a start job, while the test does other things."""

    def __init__(self, node, unit):
        super().__init__()
        self.process = subprocess.Popen(node.command("/root/bus_probe", "start", unit), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.lines = []
        self.start()

    def run(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())
        self.process.wait()


def test_waiting_job_and_its_release(node):
    gate = Following(node, "gate.service")
    node.wait(lambda: "job=running" in gate.lines, 10, "gate to run")
    after = Following(node, "after.service")
    node.wait(lambda: "job=waiting" in after.lines, 10, "a waiting job")
    node.wait(lambda: "after.service" in node.sh("systemctl list-jobs"), 10, "the queue")
    assert "job=done" not in after.lines
    node.sh("touch /run/go")
    gate.join(20)
    after.join(20)
    node.sh("rm /run/go; systemctl stop after.service")
    assert gate.lines[-1] == after.lines[-1] == "result=done"


@pytest.mark.parametrize("unit, result", [("gate", "done"), ("ok", "done")])
def test_systemd_upgraded_during_a_job(node, unit, result):
    """PID 1 re-executes itself: every connection is cut, and the signal may be lost with it."""
    gate = Following(node, "gate.service")
    node.wait(lambda: "job=running" in gate.lines, 10, "gate to run")
    node.sh("systemctl daemon-reexec")
    if unit == "gate":
        node.sh("touch /run/go")
    else:
        node.sh("systemctl stop gate.service")
        result = "canceled"
    gate.join(30)
    node.sh("rm -f /run/go")
    assert gate.lines[-1] == "result=" + result, gate.lines


def test_signals_lost(node):
    """Stopped while its job ends: what poll and the job's object say must do."""
    gate = Following(node, "gate.service")
    node.wait(lambda: "job=running" in gate.lines, 10, "gate to run")
    pid = node.sh("pgrep -x bus_probe").strip()
    node.sh("kill -STOP %s; systemctl daemon-reexec; touch /run/go" % pid)
    node.wait(lambda: node.show("gate.service", "ActiveState")["ActiveState"] == "inactive", 10,
              "gate to end")
    node.sh("kill -CONT %s" % pid)
    gate.process.send_signal(signal.SIGCONT)  # nsenter stops with its child
    gate.join(30)
    node.sh("rm -f /run/go")
    assert not gate.is_alive()
    assert gate.lines[-1] == "result=done", gate.lines


def test_without_the_private_socket(node):
    node.sh("mount --bind /dev/null /run/systemd/private")
    try:
        assert probe(node, "start", "ok.service")["result"] == "done"
    finally:
        node.sh("umount /run/systemd/private")


def test_without_any_bus(node):
    done = node.exec("unshare", "-m", "sh", "-c", "mount -t tmpfs t /run; /root/bus_probe version")
    assert done.returncode == 71
    assert "errno=107" in done.stderr and "no connection to systemd" in done.stderr
    assert "/run/systemd/private: No such file" in done.stderr
    empty = node.exec("unshare", "-m", "sh", "-c", "mount -t tmpfs t /run; mount -t tmpfs t /var;"
                      "/root/bus_probe tail ok.service 5; /root/bus_probe write x")
    assert "line=" not in empty.stdout and "errno=2\n" in empty.stderr


def test_arguments_reach_the_process(node):
    quoted = node.exec("/root/bus_probe", "quote", NASTY, check=True).stdout.strip()
    line = node.exec("/root/bus_probe", "env", "K", NASTY + "\nsecond", check=True).stdout
    with open("/proc/%d/root/root/env" % node.leader(), "w") as f:
        f.write(line)
    put(node, "args", "[Service]\nType=oneshot\nEnvironmentFile=/root/env\n"
        "ExecStart=/bin/sh -c 'printf %%%%s \"$$1\" >/root/arg; printf %%%%s \"$$K\" >/root/val' - %s\n"
        % quoted)
    probe(node, "reload")
    assert probe(node, "start", "args.service")["result"] == "done"
    assert node.sh("cat /root/arg") == NASTY
    assert node.sh("cat /root/val") == NASTY + "\nsecond"


def test_journal_entry_has_fields(node):
    probe(node, "write", "a structured line")
    node.sh("journalctl --sync")
    entry = node.sh("journalctl -o export -n1 -t nodeup")
    for field in ("MESSAGE=a structured line", "PRIORITY=5", "NODEUP_TEST=a structured line"):
        assert field in entry.splitlines()
