"""One cache and many processes: all get what they want, and nothing is left but what was wanted."""

import os
import signal
import time

from world import CNI, KUBECTL, KUBELET, OK, PROTOKUBE, UTILS, listing, same

EVERY = (KUBELET, KUBECTL, CNI, UTILS, PROTOKUBE)
PROCESSES = 8


def start(world):
    world.write_documents()
    return [world.start(world.argv("bake")) for _ in range(PROCESSES)]


def finish(world, processes, may_die=()):
    for process in processes:
        result = world.finish(process, time.monotonic(), timeout=120, may_die=process in may_die)
        assert result.code == OK or process in may_die, result


def check(world):
    """Every entry is there, whole, and once; and nobody asks again."""
    assert {p.name for p in world.cache.glob("sha256/*")} == {world.digest(name) for name in EVERY}
    for name in EVERY:
        assert world.entry(name).read_bytes() == world.contents[name]
    assert {p.name for p in world.cache.glob("unpacked/*")} == {f"sha256-{world.digest(n)}" for n in (CNI, UTILS)}
    asked, before = world.requests(), listing(world.cache / "sha256")
    result = world.run("bake", timeout=120)
    assert result.code == OK, result
    assert world.requests() == asked and world.unused() == []
    same(before, listing(world.cache / "sha256"))


def test_at_once(world):
    for name, asset in world.assets.items():
        asset.urls = [world.url(name, "ranges")]
    finish(world, start(world))
    # who comes late finds what others brought; nobody asks twice for the same
    assert all(world.origin.count(a.urls[0]) <= PROCESSES for a in world.assets.values())
    check(world)


def test_half_of_them_are_killed(world):
    """While kubelet comes; what they held is free at once."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "rate=4000000")]
    processes = start(world)
    while world.origin.count(world.assets[KUBELET].urls[0]) < 1:
        assert any(p.poll() is None for p in processes)
        time.sleep(0.01)
    killed = processes[::2]
    for process in killed:
        os.kill(process.pid, signal.SIGKILL)
    finish(world, processes, may_die=killed)
    check(world)
