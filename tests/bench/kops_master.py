"""A control plane of today's kops below a root: documents and keysets of a store, certificates that are kept or issued, its assets."""

import base64
import os
import re
import shutil
import statistics
import sys

import data
import kops_node
import ways
from data import MB, PORT, ROOT, WORK
from measure import Figure, fresh, hint, measure, measure_until_started, say, table, without_sync

sys.path.insert(0, str(ROOT / "tests/system"))
import kops  # noqa: E402

WANTED = [*kops_node.PLAIN, *kops_node.ARCHIVES]
KEPT, LIB = WORK / "kept", ways.NODE / "root/var/lib/nodeup"
PEM = re.compile(rb"-----BEGIN (?:RSA |EC )?PRIVATE KEY-----.*?-----END (?:RSA |EC )?PRIVATE KEY-----", re.S)
LOGIN = re.compile(rb"client-key-data: (\S+)")


class Node(kops_node.Node):
    """Its documents, and the store that has them."""

    def __init__(self, program, port):
        super().__init__(program, port, kops.ControlPlane)
        self.worker.write()

    def run(self, figure=None, **how):
        measure(figure or Figure(), self.command("apply"), **how)


def texts(top):
    for path in top.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MB:
            yield path, path.read_bytes()


def keys():
    """The private keys that a node has, in files and in kubeconfigs."""
    found = set()
    for _, text in texts(ways.NODE / "root"):
        for whole in [text, *(base64.b64decode(login) for login in LOGIN.findall(text))]:
            found |= set(PEM.findall(whole))
    return found


def forget_keys():
    """As if none had been made: what nodeup remembers goes, and each file that has one."""
    shutil.rmtree(LIB)
    for path, text in list(texts(ways.NODE / "root")):
        if PEM.search(text) or LOGIN.search(text):
            path.unlink()


def put_kept():
    """A tree and a cache with nothing in them, but for what an earlier run remembered of its certificates."""
    fresh(WORK)
    shutil.copytree(KEPT, LIB)


def tell_cold(node, runs):
    fresh(WORK)
    node.run()
    made = keys()
    shutil.rmtree(KEPT, ignore_errors=True)
    shutil.copytree(LIB, KEPT)
    figures = {"nodeup, with fsync": Figure(), "nodeup, without": Figure()}
    started = Figure()
    for _ in range(runs):
        put_kept()
        node.run(figures["nodeup, with fsync"])
        put_kept()
        measure(figures["nodeup, without"], without_sync(node.command("apply")))
        put_kept()
        measure_until_started(started, without_sync(node.command_of_node("apply")))
    if keys() != made:
        raise SystemExit("a certificate that was kept was issued anew")
    own, parts = figures["nodeup, without"], kops_node.floor(runs, WANTED)
    table(f"a control plane of today's kops, {sum((data.DATA / n).stat().st_size for n in WANTED) / MB:.0f} MB, its certificates kept "
          "(ratios to nodeup without fsync)", figures | parts, own)
    cpu = sum(f.cpu for f in parts.values())
    wall = cpu / os.cpu_count()
    print(f"  floor of its bytes, perfectly spread: {wall:.3f} s")
    # with a cache of its own, as a machine has it: copies that the cache alone wants come when all is started
    say("cold until all is started, to the floor", f"{started.wall / wall:.2f}x", "at most 1.2x", started.wall <= 1.2 * wall)
    say("the same, CPU", f"{started.cpu / cpu:.2f}x", "at most 1.2x", started.cpu <= 1.2 * cpu)
    print(f"  {'with a cache of several nodes, which is copied':46} {own.wall / wall:17.2f}x   CPU {own.cpu / cpu:.2f}x")
    say("peak memory", f"{figures['nodeup, with fsync'].peak:.1f} MiB", "at most 32 MiB", figures["nodeup, with fsync"].peak <= 32)


def tell_again(node, runs):
    """All is right; the documents of the store say so."""
    again = Figure()
    node.run()
    asked = len(node.worker.asked)
    for _ in range(runs):
        node.run(again, peak=False)
    asked = (len(node.worker.asked) - asked) // runs
    hint("nothing to do, median", f"{again.median * 1000:.1f} ms", f"under 30 ms of our own ({asked} requests to a store in Python)")
    say("the same, CPU", f"{again.cpu * 1000:.1f} ms", "under 30 ms", again.cpu < 0.03)


def tell_keys(node, runs):
    """What new keys cost, beside the same run without them."""
    without, made, n = Figure(), Figure(), 0
    openssl = {"nodeup": [], "openssl genrsa": []}
    for _ in range(runs):
        before = keys()
        measure(without, node.command("apply"), peak=False)
        forget_keys()
        measure(made, node.command("apply"), peak=False)
        n = len(keys() - before)
        genrsa = Figure()
        # as many at once as nodeup makes: two threads of one core take more of its time than one after the other
        measure(genrsa, ["sh", "-c", f"seq {n} | xargs -P{os.cpu_count()} -I_ openssl genrsa -out /dev/null 2048 2>/dev/null"], peak=False)
        openssl["openssl genrsa"].append(genrsa.cpu)
        openssl["nodeup"].append(made.cpus[-1] - without.cpus[-1])
    # how long it takes to find a prime is chance: a mean is as good as its standard error
    (own, own_error), (other, other_error) = ((statistics.mean(v), statistics.stdev(v) / len(v) ** 0.5) for v in openssl.values())
    ratio = own / other
    error = ratio * ((own_error / own) ** 2 + (other_error / other) ** 2) ** 0.5
    say(f"CPU of {n} new certificates, to openssl genrsa", f"{ratio:.2f}x", f"at most 1.1x, +-{error:.2f}", ratio - error <= 1.1)
    print(f"  {'':46} {own:.2f} s and {other:.2f} s, means of {runs} rounds")


def tell(program, runs):
    kops_node.make()
    node = Node(program, PORT)
    before = dict(os.environ)
    os.environ.update(node.worker.environ())
    try:
        tell_cold(node, runs)
        tell_again(node, 10 * runs)
        tell_keys(node, 4 * runs)
        kops_node.tell_bytes(node, WANTED)
    finally:
        os.environ.clear()
        os.environ.update(before)
        node.worker.close()
        shutil.rmtree(KEPT, ignore_errors=True)
