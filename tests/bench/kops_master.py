"""A control plane of today's kops below a root: its keys."""

import base64
import os
import re
import shutil
import statistics
import sys

import kops_node
import ways
from data import MB, PORT, ROOT, WORK
from measure import Figure, fresh, measure, say

sys.path.insert(0, str(ROOT / "tests/system"))
import kops  # noqa: E402

LIB = ways.NODE / "root/var/lib/nodeup"
PEM = re.compile(rb"-----BEGIN (?:RSA |EC )?PRIVATE KEY-----.*?-----END (?:RSA |EC )?PRIVATE KEY-----", re.S)
# in base64: of a kubeconfig, and of a keyset in a store
CODED = re.compile(rb"(?:client-key-data|privateMaterial): (\S+)")


class Node(kops_node.Node):
    """Its documents, and the store that has them."""

    def __init__(self, program, port):
        super().__init__(program, port, kops.ControlPlane)
        self.worker.write()

    def run(self, figure=None, **how):
        measure(figure or Figure(), self.command("apply"), **how)


def texts(paths):
    for path in paths:
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MB:
            yield path, path.read_bytes()


def node_keys():
    return keys((ways.NODE / "root").rglob("*"))


def keys(paths):
    """The private keys that are there, in files, kubeconfigs and keysets."""
    found = set()
    for _, text in texts(paths):
        for whole in [text, *(base64.b64decode(coded) for coded in CODED.findall(text))]:
            found |= set(PEM.findall(whole))
    return found


def openssl_keys(n):
    """As many at once as nodeup makes: two threads of one core take more of its time than one after the other."""
    return f"seq {n} | xargs -P{os.cpu_count()} -I_ openssl genrsa -out /dev/null 2048 2>/dev/null"


def forget_keys():
    """As if none had been made: what nodeup remembers goes, and each file that has one."""
    shutil.rmtree(LIB)
    for path, text in list(texts((ways.NODE / "root").rglob("*"))):
        if PEM.search(text) or CODED.search(text):
            path.unlink()


def tell_keys(node, runs):
    """What new keys cost, beside the same run without them."""
    fresh(WORK)
    node.run()
    without, made, n = Figure(), Figure(), 0
    openssl = {"nodeup": [], "openssl genrsa": []}
    for _ in range(runs):
        before = node_keys()
        measure(without, node.command("apply"), peak=False)
        forget_keys()
        measure(made, node.command("apply"), peak=False)
        n = len(node_keys() - before)
        genrsa = Figure()
        measure(genrsa, ["sh", "-c", openssl_keys(n)], peak=False)
        openssl["openssl genrsa"].append(genrsa.cpu)
        openssl["nodeup"].append(made.cpus[-1] - without.cpus[-1])
    # how long it takes to find a prime is chance: a mean is as good as its standard error
    (own, own_error), (other, other_error) = ((statistics.mean(v), statistics.stdev(v) / len(v) ** 0.5) for v in openssl.values())
    ratio = own / other
    error = ratio * ((own_error / own) ** 2 + (other_error / other) ** 2) ** 0.5
    print("\na control plane of today's kops: its keys")
    say(f"CPU of {n} new certificates, to openssl genrsa", f"{ratio:.2f}x +-{error:.2f}", "at most 0.21x", ratio <= 0.21)
    print(f"  {'':46} {own:.2f} s and {other:.2f} s, means of {runs} rounds")


def tell(program, runs):
    kops_node.make()
    node = Node(program, PORT)
    before = dict(os.environ)
    os.environ.update(node.worker.environ())
    try:
        tell_keys(node, 4 * runs)
    finally:
        os.environ.clear()
        os.environ.update(before)
        node.worker.close()
