"""SIGKILL at any moment of download, unpacking and writing: nothing half-written is ever visible, and
the next run ends with the very tree that an undisturbed run makes."""

import errno
import fcntl
import os
import random
import shutil
import signal
import time

import pytest

from world import CNI, CONFIG, GROUPS, KUBELET, OK, SYSTEM, same, tree

KILLED = -signal.SIGKILL
# What puts something on the disk.  strace kills the caller when it is about to do it for the n-th time.
MOMENTS = {
    "create": "openat,mkdirat,symlinkat",
    "write": "write,pwrite64,copy_file_range,ftruncate",
    "sync": "fsync,fdatasync,sync_file_range",
    "publish": "renameat,renameat2,rename,linkat,link",
    "attributes": "fchmod,fchmodat,fchown,fchownat,utimensat",
    "remove": "unlinkat,unlink,rmdir",
}
# The n-th call of a thread; a run has hundreds of some and three of others.
STEPS = {"create": (1, 5, 20, 30, 45, 60, 80, 100, 120), "write": (1, 2, 4, 8, 12, 20, 30, 50),
         "sync": (1, 2, 4, 8, 12, 20, 30), "publish": (1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 30),
         "attributes": (1, 2, 4, 8, 16, 24, 32), "remove": (1, 2, 3)}


def slow(world):
    """Downloads that last long enough to be killed in."""
    for asset in (world.assets[KUBELET], world.assets[CNI]):
        asset.urls = [world.url(asset.urls[0].rsplit("/", 1)[-1], "rate=16000000")]


def is_staging(name):
    return name.rsplit("/", 1)[-1].startswith(".nodeup-")


def before(world):
    """A root that no run has touched."""
    folder = world.root.parent / "untouched"
    if not folder.exists():
        world.make_root(folder)
    return tree(folder)


def half_done(world, want):
    """What has its final name is whole, with its final mode, from the first moment; else it is as it was."""
    was = before(world)
    for name in (KUBELET, CNI):
        if world.entry(name).exists():
            assert world.entry(name).read_bytes() == world.contents[name], f"half of {name} in the cache"
    for name, entry in tree(world.root).items():
        if not entry[0].startswith("0o4") and not is_staging(name):
            assert entry in (want[name], was.get(name)), f"{name} is seen before it is right"


def settle(world, want):
    """Run to the end; gives the staging files that were left behind by those who were killed."""
    world.converge()
    found = tree(world.root)
    left = [name for name in found if is_staging(name)]
    same(want, {name: entry for name, entry in found.items() if name not in left})
    if world.unused():
        world.converge()  # who unpacks for a run that is killed may hold its staging a moment longer
    assert world.unused() == [], "temporary files pile up in the cache"
    assert world.plan().code == OK
    return left


@pytest.fixture(params=[pytest.param("nodes", marks=pytest.mark.long), "master", "own cache"])
def node(request, make_world):
    node = make_world("w", request.param if request.param in GROUPS else "nodes")
    if request.param == "own cache":
        node.use_own_cache()
    return node


@pytest.fixture
def want(node):
    """What an undisturbed run makes."""
    slow(node)
    node.converge()
    tree_of_one = tree(node.root)
    clean(node)
    return tree_of_one


def clean(world, cache=True):
    kept = world.folder / "kept"
    if not cache:
        world.cache.rename(kept)
    shutil.rmtree(world.cache, ignore_errors=True)
    shutil.rmtree(world.root)
    world.make_root(world.root)
    if not cache:
        world.cache.parent.mkdir(parents=True, exist_ok=True)
        kept.rename(world.cache)


def test_at_any_moment(node, want):
    """25 kills spread over the time that a run takes, each followed by a run to the end."""
    node.write_documents()
    started = time.monotonic()
    node.converge(write=False)
    whole = time.monotonic() - started
    killed, left = 0, []
    for i in range(25):
        clean(node)
        process = node.start(node.argv("apply"))
        time.sleep(whole * (i + random.random()) / 25)
        process.kill()
        result = node.finish(process, started, may_die=True)
        assert result.code in (KILLED, OK), result
        killed += result.code == KILLED
        half_done(node, want)
        left += settle(node, want)
    assert killed >= 10
    assert not left, "staging files were left behind"


def test_again_and_again(node, want):
    """Killed at ever later moments without cleaning up between: progress is kept, leftovers are not."""
    node.write_documents()
    for i in range(25):
        process = node.start(node.argv("apply"))
        time.sleep(0.02 * i)
        process.kill()
        node.finish(process, 0, may_die=True)
        half_done(node, want)
    assert not settle(node, want), "staging files were left behind"


@pytest.mark.parametrize("moment, own", [
    *((moment, True) for moment in MOMENTS), ("publish", False), *(pytest.param(moment, False, marks=pytest.mark.long) for moment in MOMENTS if moment != "publish")])
def test_before_each_step(make_world, moment, own):
    node = make_world("w", "master")
    if own:
        node.use_own_cache()
    node.converge()
    want = tree(node.root)
    killed, left = 0, []
    for n in STEPS[moment]:
        # with the cache of the first run it is the root that is at stake, without it the cache as well
        clean(node, cache=n % 2 == 0)
        calls = ",".join(f"?{c}" for c in MOMENTS[moment].split(","))
        result = node.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}",
                                    "-e", f"inject={calls}:signal=KILL:when={n}"], may_die=True)
        assert result.code in (KILLED, OK), result
        killed += result.code == KILLED
        half_done(node, want)
        left += settle(node, want)
    assert killed, "no run reached any of these steps"
    assert not left, "staging files were left behind"


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EROFS", "EMFILE"])
@pytest.mark.parametrize("moment", ["write", "sync", "publish", "create"])
def test_a_system_call_fails(world, error, moment):
    """Not killed, but refused once: the run fails clearly or mends itself, and the next one converges."""
    world.converge()
    want = tree(world.root)
    calls = ",".join(f"?{c}" for c in MOMENTS[moment].split(","))
    clean(world)
    result = world.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}",
                                 "-e", f"inject={calls}:error={error}:when=6"])
    # what --facts names and cannot be read is wrong to a person
    assert result.code in (OK, SYSTEM) or (result.code == CONFIG and "facts.yaml" in result.failure), result
    if result.code != OK:
        assert os.strerror(getattr(errno, error)) in result.failure, result
    half_done(world, want)
    assert not settle(world, want)


def test_terminated(world):
    """SIGTERM, as a shutdown sends it, is no more than a kill."""
    slow(world)
    world.converge()
    want = tree(world.root)
    clean(world)
    world.write_documents()
    process = world.start(world.argv("apply"))
    time.sleep(0.1)
    process.terminate()
    result = world.finish(process, 0, timeout=10, may_die=True)
    assert result.code != OK or "success" in result.out
    half_done(world, want)
    assert not settle(world, want)


def test_a_reader_that_went_away(world):
    """`nodeup | head -1` must not leave half a node."""
    world.write_documents()
    process = world.start(world.argv("apply"))
    process.stdout.close()
    process.stderr.close()
    assert process.wait(60) == -signal.SIGPIPE
    world.converge()
    world.check_files()


# All that files are replaced in, but for where a task puts one.
OWN_DIRS = ["var/lib/nodeup", "var/lib/nodeup/images", "var/lib/nodeup/moved", "var/lib/nodeup/unmoved",
            "var/lib/nodeup/volumes", "var/lib/nodeup/runs", "var/lib/nodeup/kept", "run/nodeup", "run/nodeup/started", "run/nodeup/stopped",
            "run/nodeup/users", "etc/nodeup/nodeup.d"]


def test_what_a_kill_leaves_in_our_own_directories(world):
    """The next run removes it, and nothing beside it: neither what is being written nor what is not ours."""
    litter, foreign, written = [], [], []
    for folder in OWN_DIRS:
        (world.root / folder).mkdir(parents=True, exist_ok=True)
        for names, name in ((litter, ".nodeup-0123456789abcdef"), (foreign, ".nodep-0"), (written, ".nodeup-1111111111111111")):
            names.append(world.root / folder / name)
            names[-1].write_text("half of")
    writers = [path.open() for path in written]
    for writer in writers:
        fcntl.flock(writer, fcntl.LOCK_SH)
    done = world.apply()
    assert done.code == OK and [p for p in litter if p.exists()] == [], done
    assert all(p.exists() for p in foreign + written)
    for writer in writers:
        writer.close()
    world.converge()
    assert not any(p.exists() for p in written)
