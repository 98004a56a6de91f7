"""The power fails at any moment of a first run and of an upgrade: what was flushed is there, and of the rest each
block or not.  No file that has its final name is a part of one, and the next run ends as an undisturbed one does.

Two of each; in make check-long a hundred. POWER_SEED=N: the cuts of a run that failed."""

import contextlib
import os
import random
import threading

import pytest

from logdisk import FLUSH, LogDisk
from world import KUBELET, noise, same, tree

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="disks are mounted")
SEED = int(os.environ.get("POWER_SEED", "0")) or random.randrange(1, 1 << 32)
MIB = 320  # no xfs is smaller than 300


@pytest.fixture(params=["ext4", "xfs", "btrfs"])
def disk(request, tmp_path):
    with LogDisk(tmp_path / "power", MIB, request.param) as disk:
        yield disk


@pytest.fixture(params=["its own cache", pytest.param("a shared cache", marks=pytest.mark.long)])
def node(request, disk, make_world):
    """Its root and its cache are on the disk."""
    node = make_world("w", "master")
    node.root, node.cache = disk.mount / "root", disk.mount / "cache"
    if request.param == "its own cache":
        node.use_own_cache()
    node.make_root(node.root)
    node.write_documents()
    return node


@contextlib.contextmanager
def a_busy_neighbour(disk):
    """A program that flushes a file of its own again and again: with it go all names of the file system, but not the
    bytes of others' files.  So a name or a record that comes before its bytes is found."""
    ended = threading.Event()

    def flush():
        with open(disk.mount / "neighbour", "wb", buffering=0) as f:
            while not ended.wait(0.001):
                f.write(b"x" * 100)
                os.fsync(f.fileno())
    thread = threading.Thread(target=flush)
    thread.start()
    yield
    ended.set()
    thread.join()


def record(disk, node):
    """Run, and give the entries of the log between which it was, and what it made."""
    os.sync()
    begin = len(disk.entries())
    with a_busy_neighbour(disk):
        node.converge()
    return begin, len(disk.entries()), tree(node.root)


def upgrade(node):
    """Another kubelet and other flags of it."""
    node.assets[KUBELET] = node.local(KUBELET, noise(7, 3_000_000))
    node.edit_store("cluster.spec", lambda text: text.replace("cgroupRoot: /\n", "cgroupRoot: /\n    maxPods: 7\n"))
    node.write_documents()


def play(disk, node, log, span, was, want, chance):
    """Cut the power within a run; settle; the disk is detached before and after."""
    last = chance.randint(*span)
    disk.cut(log, last, chance)
    disk.forget_after(log)
    disk.attach()
    try:
        for name, entry in tree(node.root).items():
            if not entry[0].startswith("0o4") and ".nodeup-" not in name:
                assert entry in (want[name], was.get(name)), f"{name} is seen before it is right"
        node.converge()
        same(want, tree(node.root))
        again = node.converge()
        assert not [line for line in again.lines if line.startswith("changed ")], again
    except AssertionError as e:
        raise AssertionError(f"POWER_SEED={SEED}, cut after {last} of {span}: {e}") from e
    finally:
        disk.detach()


@pytest.mark.parametrize("kind", ["first", "upgrade"])
@pytest.mark.parametrize("cuts", [2, pytest.param(100, marks=pytest.mark.long)])
def test_power_cuts(disk, node, kind, cuts):
    was = tree(node.root)
    if kind == "upgrade":
        node.converge()
        was = tree(node.root)
        upgrade(node)
    begin, end, want = record(disk, node)
    disk.detach()
    log = disk.entries()
    disk.check_log(log)
    assert want != was and sum(entry[2] & FLUSH for entry in log[begin:end]), "nothing was recorded"
    chance = random.Random(SEED)
    for _ in range(cuts):
        play(disk, node, log, (begin, end), was, want, chance)
