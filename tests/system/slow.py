"""Runs against mirrors that fall silent.  The timeouts are long on purpose (20 s to connect, 30 s without
bytes), so these all start at once, and their tests (test_stall.py) come first: see tests/conftest.py."""

import socket
import time

from world import KUBELET, World

LIMIT = 120


def hole():
    """A port that never answers: its queue of connections is full."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(0)
    fill = [socket.socket() for _ in range(3)]
    for s in fill:
        s.setblocking(False)
        s.connect_ex(server.getsockname())
    return server, fill


class SlowRuns:
    def __init__(self, folder, origin, contents):
        self.hole = hole()
        self.runs = {}
        for name, mirrors in {
                "stalls": lambda w: [w.url(KUBELET, "stall=300000"), w.url(KUBELET)],
                "hangs": lambda w: [w.url(KUBELET, "hang"), w.url(KUBELET)],
                "trickles": lambda w: [w.url(KUBELET, "rate=200"), w.url(KUBELET)],
                "does not connect": lambda w: [self.hole_url(), w.url(KUBELET)],
                "is steady": lambda w: [w.url(KUBELET, "rate=50000")]}.items():
            (folder / name).mkdir()
            world = World(folder / name, origin, contents)
            world.assets[KUBELET].urls = mirrors(world)
            world.write_documents()
            self.runs[name] = world, world.start(world.argv("apply")), time.monotonic()

    def hole_url(self):
        return f"http://127.0.0.1:{self.hole[0].getsockname()[1]}/kubelet"

    def result(self, name):
        world, process, started = self.runs[name]
        return world, world.finish(process, started, timeout=LIMIT)

    def close(self):
        for _, process, _ in self.runs.values():
            process.kill()
            process.wait()
