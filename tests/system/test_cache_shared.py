"""One cache and many processes: all get what they want, and nothing is left but what was wanted."""

import signal
import time

import pytest

from world import CNI, KUBECTL, KUBELET, OK, PROTOKUBE, Told, UTILS, listing, noise, same, until

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
    asked, before = world.requests(), listing(world.cache / "sha256")
    result = world.run("bake", timeout=120)
    assert result.code == OK, result
    assert world.requests() == asked and world.unused() == []
    same(before, listing(world.cache / "sha256"))


def test_at_once(world):
    for name, asset in world.assets.items():
        asset.urls = [world.url(name, "ranges")]
    finish(world, start(world))
    # one of them fetches, the others wait for it: no byte comes twice
    for name, asset in world.assets.items():
        assert world.origin.sent(asset.urls[0]) == len(world.contents[name]), name
    check(world)


@pytest.fixture
def told(world):
    made = []

    def start():
        made.append(Told(world, world.argv("bake")))
        return made[-1]
    yield start
    for t in made:
        t.end(signal.SIGKILL)


def asked_for(world, name):
    until(lambda: world.origin.count(world.assets[name].urls[0]))


def test_the_second_waits_for_the_first(world, told):
    world.assets[KUBELET].urls = [world.url(KUBELET, f"gate={world.token}")]
    first = told()
    asked_for(world, KUBELET)
    second = told()
    second.until(rf"WAITING asset kubelet: process {first.process.pid} \(nodeup\) fetches it, .* waiting for it for")
    world.origin.control(f"/__open?path={world.token}")
    assert [first.end(), second.end()] == [OK, OK], (first.lines, second.lines)
    assert world.origin.count(world.assets[KUBELET].urls[0]) == 1
    check(world)


def test_the_first_is_killed(world, told):
    """The second goes on at once, with what is there."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "ranges", "stall=1000000", "times=1")]
    first = told()
    asked_for(world, KUBELET)
    second = told()
    second.until(rf"WAITING asset kubelet: process {first.process.pid} ")
    until(lambda: kept(world) >= 1_000_000)
    first.end(signal.SIGKILL)
    assert second.end() == OK, second.lines
    assert world.origin.sent(world.assets[KUBELET].urls[0]) == len(world.contents[KUBELET])
    check(world)


def kept(world):
    """How much of kubelet is there of a download that is not over."""
    part = world.cache / "partial" / f"sha256-{world.digest(KUBELET)}"
    return part.stat().st_size if part.exists() else 0


@pytest.fixture
def beside(world):
    """Commands that are at work at once. They are held at the gate of UTILS, or of protokube."""
    gates = {name: f"{world.token}-{name}" for name in (UTILS, PROTOKUBE)}
    made = []
    world.assets = {UTILS: world.assets.pop(UTILS), **world.assets}
    for name, gate in gates.items():
        (world.protokube if name == PROTOKUBE else world.assets[name]).urls = [world.url(name, f"gate={gate}")]
    world.write_documents()

    def start(command):
        made.append(Told(world, world.argv(command)))
        return made[-1]
    start.opens = lambda name: world.origin.control(f"/__open?path={gates[name]}")
    yield start
    for t in made:
        t.end(signal.SIGKILL)


