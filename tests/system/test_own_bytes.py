"""The cache and what is installed never share bytes: a writer to the one does not reach the other."""

import os
import time

import pytest

from world import CNI_MEMBERS, KUBELET, OK, noise, tree

PROGRAM, MEMBER = f"usr/local/bin/{KUBELET}", "opt/cni/bin/bridge"


@pytest.fixture
def node(world):
    """With its own cache, and made."""
    world.use_own_cache()
    world.converge()
    return world


def inodes(folder):
    return {(s.st_dev, s.st_ino) for s in (p.lstat() for p in folder.rglob("*") if p.is_file())}


def test_nothing_is_shared(node):
    installed = [node.root / PROGRAM, *(node.root / "opt/cni/bin" / name for name in CNI_MEMBERS)]
    assert all(p.stat().st_nlink == 1 for p in installed)
    assert not inodes(node.cache) & inodes(node.root / "opt") and not inodes(node.cache) & inodes(node.root / "usr")


@pytest.mark.parametrize("path", [PROGRAM, MEMBER])
def test_a_writer_does_not_reach_the_cache(path, node):
    """Of the same length, and with the time that it was written put back."""
    file = node.root / path
    before, right, kept = file.stat(), file.read_bytes(), tree(node.cache)
    with open(file, "r+b") as f:
        f.write(b"evil")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert tree(node.cache) == kept
    done = node.run("repair", "--offline")
    assert done.code == OK, done
    assert file.read_bytes() == right and node.plan().code == OK


def test_a_writer_while_the_run_lasts(world):
    """Between the install and the end of the run."""
    world.use_own_cache()
    world.write_documents()
    process = world.start(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=syncfs:delay_enter=1500000", *world.argv("apply")])
    file = world.root / MEMBER
    while not file.exists():
        assert process.poll() is None, "it ended before"
        time.sleep(0.001)
    before = file.stat()
    with open(file, "r+b") as f:
        f.write(b"evil")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert world.finish(process, 0).code == OK
    done = world.run("repair", "--offline")
    assert done.code == OK, done
    assert file.read_bytes() == noise("bridge", 1_500_000)
