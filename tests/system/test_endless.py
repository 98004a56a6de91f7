"""Bodies without a length that do not end: a part of the disk is what they get, and no more."""

import os
import threading

import pytest

from endless import Endless
from world import BUSY, KUBELET, NET, OK, files_of

LIMIT = 120
MIB = 1 << 20
SIZE = 200 * MIB
# What is left to others; some of the bytes are on their way when it is noticed.
RESERVE, SLACK = 64 * MIB, 16 * MIB


@pytest.fixture(params=["chunked", "nolength"])
def endless(request):
    server = Endless(request.param == "chunked")
    yield server
    server.close()


@pytest.fixture
def steady():
    """One that takes its time: a disk lasts longer than the test."""
    server = Endless(True, pause=0.2)
    yield server
    server.close()


class Room:
    """The least that was free of a small disk at the cache, while it was looked at."""

    def __init__(self, world, mounts):
        self.over = threading.Event()
        world.cache.mkdir(parents=True, exist_ok=True)
        mounts.run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", world.cache)
        self.path = mounts.path(world.cache)
        self.least = self.free()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def free(self):
        fs = os.statvfs(self.path)
        return fs.f_bavail * fs.f_frsize

    def look(self):
        while not self.over.wait(0.005):
            self.least = min(self.least, self.free())

    def end(self):
        self.over.set()
        self.thread.join()
        return self.least


def left(mounts, world):
    return [p for folder in ("partial", "tmp") for p in files_of(mounts.path(world.cache / folder))]


def test_the_next_mirror_is_used(world, mounts, endless):
    room = Room(world, mounts)
    world.assets[KUBELET].urls = [endless.url, world.url(KUBELET)]
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    least = room.end()
    assert result.code == OK, result
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]
    assert endless.asked == 1 and endless.sent >= RESERVE, "what it sent was not what this is about"
    assert least >= RESERVE - SLACK, f"{least} bytes were left"
    assert not left(mounts, world)


def test_there_is_no_other_mirror(world, mounts, endless):
    room = Room(world, mounts)
    world.assets[KUBELET].urls = [endless.url]
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    least = room.end()
    assert result.code == NET, result
    assert f"GET '{endless.url}': sends " in result.failure, result
    assert " bytes without an end; nothing more of it is taken" in result.failure, result
    assert endless.asked == 1, "it is not believed a second time"
    assert least >= RESERVE - SLACK, f"{least} bytes were left"
    assert not left(mounts, world) and not world.installed(KUBELET).exists()


def test_the_deadline_ends_it(world, mounts, steady):
    room = Room(world, mounts)
    world.assets[KUBELET].urls = [steady.url]
    result = world.apply("--deadline=4s", prefix=mounts.enter, timeout=LIMIT)
    room.end()
    assert result.code in (BUSY, NET) and "deadline passed" in result.failure, result
    assert KUBELET in result.failure and steady.asked == 1, result
    assert 4 <= result.seconds < 6, result
    assert not mounts.path(world.entry(KUBELET)).exists() and not world.installed(KUBELET).exists()
