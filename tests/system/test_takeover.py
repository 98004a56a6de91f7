"""What an earlier version left on a node is taken over by the first run: no download, and nothing is installed anew.

Versions of before 2027 unpacked archives in the cache, made installed files names of a tree's files, lent entries out and kept
archives in memory. `make check-long` builds one of them and lets it make the node; otherwise what it leaves is laid out by hand."""

import os
import pathlib
import shutil
import signal

import pytest

import world as world_py
from world import CNI, CNI_MEMBERS, KUBELET, OK, OWN, tree

OLD = os.environ.get("OLD_NODEUP")


@pytest.fixture
def node(world):
    world.use_own_cache()
    return world


def effects(world):
    return {path: what for path, what in tree(world.root).items() if not path.startswith(OWN)}


def must_take_over(node, *flags):
    before, asked = effects(node), node.requests()
    files = {p: p.stat().st_ino for p in (node.root / "opt/cni/bin").iterdir()}
    done = node.converge(*flags)
    assert not [line for line in done.lines if "changed " in line and "0 changed" not in line], done
    assert node.requests() == asked and effects(node) == before
    # they are ours alone, and were not written
    assert files == {p: p.stat().st_ino for p in files} and all(p.stat().st_nlink == 1 for p in files)
    left = [p for p in (node.cache / "lent", node.cache / "unpacked", node.root / "run/nodeup/spool") if p.exists()]
    left += [p for p in (node.cache / "verified").iterdir() if p.suffix in (".tree", ".seen", ".files")]
    assert not left
    assert (node.cache / "sha256" / node.assets[CNI].digest).is_file(), "the archive waited in memory"
    assert node.plan().code == OK


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_it_leaves(is_killed, node):
    """A killed one has no record of what it installed."""
    node.converge()
    archive, program = node.assets[CNI].digest, node.digest(KUBELET)
    spool, unpacked, verified = node.root / "run/nodeup/spool", node.cache / "unpacked" / f"sha256-{archive}", node.cache / "verified"
    unpacked.mkdir(parents=True)
    for name in CNI_MEMBERS:
        os.link(node.installed(name), unpacked / name)
    for ending in ("tree", "seen", "files"):
        (verified / f"sha256-{archive}.{ending}").write_text("of another time\n")
    (verified / f"sha256-{archive}.members").unlink()
    for folder in ("sha256", "verified"):
        (spool / folder).mkdir(parents=True)
    shutil.move(node.cache / "sha256" / archive, spool / "sha256" / archive)
    (verified / f"sha256-{archive}").unlink()
    # it is installed, and its entry with it
    node.entry(KUBELET).unlink()
    (verified / f"sha256-{program}").unlink()
    (node.cache / "lent").mkdir()
    (node.cache / f"lent/sha256-{program}").write_text(f"/usr/local/bin/{KUBELET}")
    if is_killed:
        (node.root / "var/lib/nodeup/state").unlink()
    must_take_over(node, "--offline")


@pytest.mark.skipif(not OLD, reason="make check-long builds the old program")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_node_of_the_old_program(is_killed, node, monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(world_py, "PROGRAM", pathlib.Path(OLD or ""))
        if is_killed:
            # before what was lent is copied back, and what is in memory is moved
            prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=ioprio_set:signal=KILL"]
            assert node.apply(prefix=prefix, may_die=True).code == -signal.SIGKILL
        else:
            node.converge()
    must_take_over(node, *([] if is_killed else ["--offline"]))
