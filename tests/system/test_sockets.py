"""At most sixteen connections, counted as sockets: those of mirrors that are done with, too."""

import re

from world import OK

CONNECTIONS = 16


def most_sockets(trace):
    """The most TCP sockets that were open at a time, by a trace of socket and close."""
    open_now, most, asked = set(), 0, {}
    for line in trace.splitlines():
        pid, _, call = line.partition(" ")
        call = call.strip()
        if call.startswith("socket("):
            asked[pid] = call
        closed = re.match(r"close\((\d+)", call)
        if closed:
            open_now.discard(closed[1])
        made = re.search(r"socket(?:\(| resumed>).*= (\d+)$", call)
        if made and re.match(r"socket\(AF_INET6?, SOCK_STREAM", asked[pid]):
            open_now.add(made[1])
            most = max(most, len(open_now))
    return most


def test_several_mirrors(world, make_origin):
    """One after another gets all of it; what stays open of the one before is closed for the next."""
    for n, origin in enumerate([world.origin, make_origin(), make_origin()]):
        for i in range(40):
            asset = world.serve("some", b"%d %d\n" % (n, i) * 500)
            unique = f"{world.token}-some"
            (world.origin.folder / unique).rename(origin.folder / f"{unique}-{n}-{i}")
            asset.urls = [f"{origin.base}/~delay=0.02/{unique}-{n}-{i}"]
            world.assets[f"some-{n}-{i}"] = asset
    trace = world.folder / "trace"
    done = world.run("bake", prefix=["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=socket,close"], timeout=120)
    assert done.code == OK, done
    most = most_sockets(trace.read_text())
    assert CONNECTIONS / 2 < most <= CONNECTIONS, most
