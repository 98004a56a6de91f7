"""nodeup guard, where it must not look: beside a run, soon after one, while a person holds it, and before there is anything to compare with."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from kops import ControlPlane
from test_metrics import parse
from world import ENV, OK, PENDING, PROGRAM, USAGE

ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


class Node:
    """A root of whose last run a test writes the status."""

    def __init__(self, root):
        self.root = root
        root.chmod(0o755)
        shutil.copy(PROGRAM, root / "nodeup")
        for name in ("proc", "run/nodeup", "textfile"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def guard(self, *flags):
        argv = ["unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, str(self.root), "/nodeup", "guard", *flags]
        return subprocess.run(argv, env=ENV, capture_output=True, text=True, timeout=60)

    def ended(self, ago):
        (self.root / "run/nodeup/status.json").write_text(json.dumps({
            "schema": 1, "state": "ready", "startedUnix": int(time.time()) - ago - 1, "elapsedMs": 1000, "pid": 1, "metrics": "/textfile"}))

    def metrics(self):
        return parse((self.root / "textfile/nodeup.prom").read_text())


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def check_idle(node, why):
    done = node.guard()
    assert done.returncode == OK and done.stdout.startswith("nothing is looked at: ") and why in done.stdout and not done.stderr, done


def test_before_the_first_run(node):
    check_idle(node, "there was no run since the machine started")
    assert not list((node.root / "textfile").iterdir())


def test_soon_after_a_run(node):
    node.ended(500)
    check_idle(node, "a run ended 8 min ")
    assert node.metrics()["nodeup_guard_held"] == 0


def test_with_nothing_to_compare_with(node):
    node.ended(700)
    check_idle(node, "no run that ended well has kept its documents here")


def test_beside_a_run(node):
    node.ended(700)
    with open(node.root / "run/nodeup/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"pid {os.getpid()}, unit none, since now\n")
        lock.flush()
        check_idle(node, f"another nodeup is at work: pid {os.getpid()}")
        # its own end writes them
        assert not list((node.root / "textfile").iterdir())


def test_while_it_is_held(node):
    node.ended(700)
    done = node.guard("--hold=1h")
    until = re.fullmatch(r"nothing is reported until (2\d{3}-\S+ \S+ UTC)\n", done.stdout)
    assert done.returncode == OK and until and node.metrics()["nodeup_guard_held"] == 1, done
    check_idle(node, f"held until {until[1]}")
    assert node.metrics()["nodeup_guard_held"] == 1
    assert node.guard("--hold=1s").returncode == OK
    time.sleep(1.1)
    check_idle(node, "no run that ended well")
    assert node.metrics()["nodeup_guard_held"] == 0


def test_for_whom_and_how_long(node):
    for flag in ("--hold=0", "--hold=soon", "--conf=/x"):
        assert node.guard(flag).returncode == USAGE
    done = subprocess.run(["chroot", "--userspec=65534:65534", str(node.root), "/nodeup", "guard"], env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == USAGE and "must be root" in done.stderr, done


@pytest.fixture
def made(tmp_path):
    """The root of a control plane as a run left it in an image, and as a machine that knows which instance it is. Its services do not run."""
    plane = ControlPlane(tmp_path / "made")
    plane.write()
    assert plane.apply().returncode == OK
    plane.close()
    (plane.root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')
    node = Node(plane.root)
    told = ("region", "availabilityZone", "instanceID", "instanceType", "localHostname", "localIPv4", "mac")
    (plane.root / "run/nodeup/instance").write_text(
        pathlib.Path("/proc/sys/kernel/random/boot_id").read_text() + json.dumps({name: plane.facts[name] for name in told}) + "\n")
    node.ended(700)
    return node


def test_what_differs_is_told_with_nobody_to_ask(made):
    """The first twenty by name; its state store has gone by now."""
    done = made.guard()
    found = re.fullmatch(r"(\d+) tasks, (\d+) to change\n", done.stdout)
    assert done.returncode == PENDING and found and made.metrics()["nodeup_drift_tasks"] == int(found[2]) > 20, done
    lines = [line.split(" ", 2)[2].strip() for line in done.stderr.splitlines()]
    assert lines[0].startswith("asset ") and " differs: " in lines[0], done
    # what --conf named was outside of this root
    conf = made.root.parent / "documents/kube_env.yaml"
    assert lines[20:] == [f"and {int(found[2]) - 21} more; nodeup plan lists them", f"document {conf} is gone", "nodeup repair puts it right"], done
    (made.root / "etc/kubernetes/manifests/kube-scheduler.manifest").unlink()
    assert made.guard().stdout == f"{found[1]} tasks, {int(found[2]) + 1} to change\n"
    assert not (made.root / "etc/kubernetes/manifests/kube-scheduler.manifest").exists()
