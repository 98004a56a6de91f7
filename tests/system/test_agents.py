"""A hundred nodes at once, each a process of its own, against a server that has room for few of them."""

import os
import re
import threading
import time

from world import KUBECTL, KUBELET, OK, PATIENCE, PROTOKUBE

AGENTS, ROOM = 100, 20
LONGEST = 5  # seconds between two attempts
TOGETHER = 20  # seconds; a request without an answer is given up after 30


def start_together(world):
    """All are there, and begin when the pipe that they read ends."""
    ours, theirs = os.pipe()
    begin = ["sh", "-c", 'read -r x; exec "$@"', "sh"]
    processes = [world.start([*begin, *world.argv("bake", root=world.folder / f"root-{i}", cache=world.folder / f"cache-{i}",
                                                  conf=world.folder / f"conf-{i}.yaml")], stdin=ours)
                 for i in range(AGENTS)]
    os.close(ours)
    os.close(theirs)
    return processes


def until_all_wait(world, url, processes):
    """None is answered before all have asked, but where the machine is too slow for that."""
    end = time.monotonic() + TOGETHER
    while world.origin.count(url) < AGENTS and time.monotonic() < end:
        assert all(p.poll() is None for p in processes), "one has ended unanswered"
        time.sleep(0.05)


def finish(world, processes):
    """Their results; all are read at once, so that none waits for a reader."""
    results = [None] * len(processes)

    def read(i):
        results[i] = world.finish(processes[i], time.monotonic(), timeout=4 * PATIENCE)
    threads = [threading.Thread(target=read, args=(i,)) for i in range(len(processes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_hundred_nodes(world):
    """All get it, each in one piece; and those that were turned away together do not come again together."""
    url = world.url(KUBELET, f"gate={world.token}", f"room={ROOM}")
    world.assets = {KUBELET: world.assets[KUBELET], KUBECTL: world.local(KUBECTL, world.contents[KUBECTL])}
    world.assets[KUBELET].urls = [url]
    world.protokube = world.local(PROTOKUBE, world.contents[PROTOKUBE])
    world.write_documents()
    for i in range(AGENTS):
        (world.folder / f"root-{i}").mkdir()
        (world.folder / f"conf-{i}.yaml").write_text(world.env_text().replace(url, f"{url}?agent={i}"))
    before = world.origin.ask("count", "http://x/turned-away")
    processes = start_together(world)
    until_all_wait(world, url, processes)
    world.origin.control(f"/__open?path={world.token}")
    results = finish(world, processes)
    assert [r.code for r in results] == [OK] * AGENTS, next(r for r in results if r is None or r.code != OK)
    told = [re.search(r"changed asset kubelet: .*; attempt (\d), (\S+) s between them", r.err) for r in results]
    # as many were turned away as had no room, once, and nobody came but for that
    turned_away = world.origin.ask("count", "http://x/turned-away") - before
    assert sum(t is None for t in told) == ROOM and turned_away == AGENTS - ROOM
    assert world.origin.count(url) == AGENTS + turned_away
    assert world.origin.sent(url) == AGENTS * len(world.contents[KUBELET])
    # by what they decided, not by when they were let
    waits = sorted(float(t[2]) for t in told if t and t[1] == "2")
    assert len(waits) == AGENTS - ROOM and len(set(waits)) > len(waits) * 3 / 4, waits
    assert waits[0] >= 0 and waits[-1] <= LONGEST
    assert all(sum(low <= w < low + LONGEST / 2 for w in waits) > len(waits) / 8 for low in (0, LONGEST / 2)), waits
