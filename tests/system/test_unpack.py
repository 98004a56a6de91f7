"""The child that takes archives apart: this program under another name, with no rights; it may die."""

import os
import pathlib
import shutil
import signal
import time

from world import CNI, CNI_MEMBERS, OK

PATIENCE = 120
CHILD = b"nodeup-unpack"


def children_of(pid):
    """The unpacking children of a process, as far as they are still there."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == pid and (stat.parent / "cmdline").read_bytes().split(b"\0")[0] == CHILD:
                yield int(stat.parent.name)
        except (OSError, ValueError):
            continue


def kill_a_child(process):
    """Of the process, when it has one that is still there; whether there was one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for pid in children_of(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
                return True
            except ProcessLookupError:
                continue
        time.sleep(0.005)
    return False


def slow(world):
    """The last third of it takes seconds, and is unpacked as it comes."""
    world.assets[CNI].urls = [world.url(CNI, "rate=150000")]


def installed(world):
    return all((world.root / "opt/cni/bin" / name).exists() for name in CNI_MEMBERS)


def test_a_killed_child_costs_a_second_try(world):
    slow(world)
    world.write_documents()
    started = time.monotonic()
    process = world.start(world.argv("apply"))
    assert kill_a_child(process), "no child was seen"
    result = world.finish(process, started)
    assert result.code == OK, result
    assert installed(world) and world.unused() == []
    assert world.origin.count(world.assets[CNI].urls[0]) == 1, "what was fetched is not fetched again"


def test_the_programs_file_may_be_gone(world):
    """An upgrade replaces it while it runs: the child is what was started, not what lies there now."""
    slow(world)
    world.write_documents()
    argv = world.argv("apply")
    copy = world.root.parent / "nodeup-copy"
    shutil.copy(argv[0], copy)
    started = time.monotonic()
    process = world.start([str(copy), *argv[1:]])
    copy.unlink()
    copy.write_text("#!/bin/sh\nexit 1\n")
    copy.chmod(0o755)
    result = world.finish(process, started)
    assert result.code == OK, result
    assert installed(world)
