"""A cache that other users of the machine try to write to: what they put there is never installed, never believed."""

import contextlib
import hashlib
import io
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tarfile

import pytest

from world import CNI, CNI_MEMBERS, CONFIG, KUBELET, OK, PENDING, listing, noise, same, until

NOBODY = 65534
EVIL = b"#!/bin/sh\necho evil\n"
TRIES = 25

# It waits for a tree's bridge, and puts its own program there by each way that the modes may leave it, once: what
# changes all the time is believed by none. It has the rights of any user; the folder is given to it open, as
# pytest's own are closed to others.
WRITER = f"""
import os, sys
folder = int(sys.argv[1])
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})

def put(path, flags):
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | flags, 0o777, dir_fd=folder)
    os.write(fd, {EVIL!r})
    os.close(fd)

while True:
    for tree in os.listdir(folder):
        path = tree + "/bin/bridge"
        try:
            if os.stat(path, dir_fd=folder).st_size == {len(EVIL)}:
                continue
            try:
                put(path, os.O_TRUNC)
            except PermissionError:
                put(tree + "/bin/new", os.O_CREAT)
                os.rename(tree + "/bin/new", path, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            pass
"""


def with_modes(files, folders):
    """An archive of the plugins, as umask 0 or a system without modes makes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        info = tarfile.TarInfo("bin")
        info.type, info.mode = tarfile.DIRTYPE, folders
        t.addfile(info)
        for name in (*CNI_MEMBERS, "ptp", "tuning"):
            info = tarfile.TarInfo(f"bin/{name}")
            info.size, info.mode = 300_000, files
            t.addfile(info, io.BytesIO(noise(name, 300_000)))
    return out.getvalue()


@contextlib.contextmanager
def hostile(world):
    """Another user's process that writes to whatever it may below the folder of unpacked trees."""
    folder = world.cache / "unpacked"
    folder.mkdir(parents=True)
    bait = folder / "bait/bin/bridge"
    bait.parent.mkdir(parents=True)
    bait.write_bytes(b"good")
    bait.chmod(0o666)
    fd = os.open(folder, os.O_RDONLY)
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(fd)], pass_fds=(fd,))
    try:
        # it is at work, and does what it is said to do
        until(lambda: bait.read_bytes() == EVIL, "the writer is not at work")
        shutil.rmtree(folder / "bait")
        yield
        assert process.poll() is None, "the writer has ended"
    finally:
        process.kill()
        process.wait()
        os.close(fd)


def good(name):
    return noise(name, 300_000)


def tree_of(world):
    return world.cache / f"unpacked/sha256-{world.assets[CNI].digest}"


def must_be_closed(cache):
    """No entry of it is for others to write to."""
    for path in [cache, *cache.rglob("*")]:
        st = path.lstat()
        assert stat.S_ISLNK(st.st_mode) or not st.st_mode & 0o022, f"{path} has mode {st.st_mode:o}"
        assert st.st_uid == 0, f"{path} belongs to {st.st_uid}"


@pytest.mark.parametrize("files, folders", ((0o777, 0o755), (0o755, 0o1777), (0o755, 0o777)))
def test_another_user_loses_the_race(world, files, folders):
    """An archive may say that everybody may write to what is in it. Between the moment that its tree has a
    name and the one that it is known by its stamp, others must not be able to."""
    world.assets[CNI] = world.serve(CNI, with_modes(files, folders))
    with hostile(world):
        for i in range(TRIES):
            world.converge()
            for name in CNI_MEMBERS:
                assert world.installed(name).read_bytes() == good(name), f"try {i}: {name} is not what was verified"
            must_be_closed(world.cache)
            shutil.rmtree(tree_of(world))
            shutil.rmtree(world.root / "opt/cni/bin")


def old_stamp(tree):
    """What the versions before this wrote down of a tree, and believed of it from then on."""
    sum = hashlib.sha256()

    def add(folder):
        for path in sorted(folder.iterdir(), key=lambda p: os.fsencode(p.name)):
            st = path.lstat()
            size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
            sum.update(b"%o %u %u %d " % (st.st_mode, st.st_uid, st.st_gid, size) + os.fsencode(path.name) + b"\0")
            sum.update(struct.pack("<QQQ", st.st_ino, st.st_mtime_ns, st.st_ctime_ns))
            if stat.S_ISDIR(st.st_mode):
                add(path)
        sum.update(b"\0")
    add(tree)
    return sum.hexdigest()


def plant(world, how):
    """The cache as a version before this left it, when another user was faster."""
    tree = tree_of(world)
    bridge = tree / "bin/bridge"
    if how == "a member for all to write to":
        bridge.write_bytes(EVIL)
        bridge.chmod(0o777)
    elif how == "a directory for all to write to":
        bridge.unlink()
        bridge.write_bytes(EVIL)
        bridge.chmod(0o755)
        os.chown(bridge, NOBODY, NOBODY)
        bridge.parent.chmod(0o777)
    else:
        # nothing is left to see of it
        bridge.write_bytes(EVIL)
    record = world.cache / f"verified/{tree.name}.seen"
    assert record.exists()
    record.write_text(old_stamp(tree))
    shutil.rmtree(world.root / "opt/cni/bin")


@pytest.mark.parametrize("how", ("a member for all to write to", "a directory for all to write to", "no trace of it"))
def test_what_an_earlier_version_left_is_healed(world, how):
    """By a plain apply: its record vouches for what lay there, not for what was verified."""
    world.assets[CNI] = world.serve(CNI, with_modes(0o777, 0o777))
    world.converge()
    plant(world, how)
    asked = world.requests()
    world.converge()
    assert world.requests() == asked, "the archive is in the cache, and in order"
    assert world.installed("bridge").read_bytes() == good("bridge") == (tree_of(world) / "bin/bridge").read_bytes()
    must_be_closed(world.cache)
    # and is not looked at again
    before = listing(world.cache)
    world.converge()
    same(before, listing(world.cache))


def change_below_the_stamp(tree, member):
    """As a disk does that gives back other bytes than were written: no time and no size changes."""
    path = tree / member
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    record = tree.parent.parent / f"verified/{tree.name}.seen"
    record.write_text(record.read_text()[:-64] + old_stamp(tree))


@pytest.mark.parametrize("noted", (False, True))
@pytest.mark.parametrize("installed", (False, True))
def test_plan_sees_a_changed_member(world, noted, installed):
    """Not by its stamp, which a disk that loses bytes leaves as it was."""
    world.converge()
    if noted:
        assert world.run("repair").code == OK
    assert world.plan("--verify").code == OK
    tree = world.cache / f"unpacked/sha256-{world.digest(CNI)}"
    change_below_the_stamp(tree, "bridge")
    if not installed:
        world.installed("bridge").unlink()
    before = listing(world.cache, skip=("tmp",))
    done = world.plan("--verify")
    assert done.code == PENDING, done
    assert f"~ unpack {CNI}: what was unpacked of it is damaged" in done.out, done
    same(before, listing(world.cache, skip=("tmp",)))
    assert world.unused() == []
    done = world.run("repair")
    assert done.code == OK and world.installed("bridge").read_bytes() == noise("bridge", 300_000), done
    assert world.plan("--verify").code == OK


def forge(world):
    """What another user puts into a cache that they can write to: a kubelet of theirs, and a record that vouches
    for it. The file stays open for writing."""
    entry = world.entry(KUBELET)
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.unlink(missing_ok=True)
    entry.write_bytes(EVIL)
    entry.chmod(0o444)
    os.chown(entry, NOBODY, NOBODY)
    st = entry.stat()
    record = world.cache / f"verified/sha256-{world.digest(KUBELET)}"
    record.parent.mkdir(exist_ok=True)
    record.unlink(missing_ok=True)
    record.write_text(f"v1 {st.st_ino} {st.st_size} {st.st_mtime_ns} {st.st_ctime_ns}\n")
    os.chown(record, NOBODY, NOBODY)


def default_cache(world):
    """The world with the cache at nodeup's own place below its root, and how to run it there."""
    world.cache = world.root / "var/cache/nodeup"
    return [a for a in world.argv("apply") if not a.startswith("--cache=")]


@pytest.mark.parametrize("uid, mode", ((NOBODY, 0o755), (0, 0o777), (0, 0o775), (0, 0o1777)))
@pytest.mark.parametrize("command", ("apply", "plan", "repair", "bake"))
def test_a_cache_of_another_user_is_refused(world, command, uid, mode):
    world.cache.mkdir()
    os.chown(world.cache, uid, uid)
    world.cache.chmod(mode)
    before = listing(world.cache)
    done = world.run(command)
    assert done.code == CONFIG, done
    assert f"asset cache '{world.cache}': refused, other users can write to it" in done.failure, done
    assert f"uid {uid}, mode {mode:04o}" in done.notes and "--cache" in done.notes, done
    same(before, listing(world.cache))
    assert world.requests() == 0 and not world.installed(KUBELET).exists()


def test_the_default_cache_is_closed_and_doubted(world):
    argv = default_cache(world)
    world.write_documents()
    assert world.run_argv(argv).code == OK
    forge(world)
    world.cache.chmod(0o777)
    world.installed(KUBELET).unlink()
    before = listing(world.cache)
    plan = world.run_argv([argv[0], "plan", *argv[2:]])
    assert plan.code == PENDING and "mode 0777" in plan.err and "not believed" in plan.err, plan
    same(before, listing(world.cache))
    done = world.run_argv(argv)
    assert done.code == OK, done
    assert [l for l in done.lines if "'.' has uid 0 and mode 0777" in l and "not believed" in l], done
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] == world.entry(KUBELET).read_bytes()
    must_be_closed(world.cache)
    # once: it is believed from now on
    asked, before = world.requests(), listing(world.cache)
    done = world.run_argv(argv)
    assert done.code == OK and "not believed" not in done.err and world.requests() == asked, done
    same(before, listing(world.cache))


@pytest.mark.parametrize("uid, mode", ((NOBODY, 0o755), (0, 0o777), (0, 0o770)))
@pytest.mark.parametrize("folder", ("sha256", "verified", "unpacked", "signed", "wrong", "partial", "tmp"))
def test_a_folder_of_it_is_closed_and_doubted(world, folder, uid, mode):
    world.converge()
    forge(world)
    world.installed(KUBELET).unlink()
    os.chown(world.cache / folder, uid, uid)
    (world.cache / folder).chmod(mode)
    done = world.converge()
    assert [l for l in done.lines if f"'{folder}' has uid {uid} and mode {mode:04o}" in l], done
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] == world.entry(KUBELET).read_bytes()
    must_be_closed(world.cache)
    before = listing(world.cache)
    assert "not believed" not in world.converge().err
    same(before, listing(world.cache))


def test_another_users_link_in_place_of_a_folder(world):
    """It leads where they like."""
    world.converge()
    theirs = world.folder / "theirs"
    shutil.copytree(world.cache / "sha256", theirs)
    (theirs / world.digest(KUBELET)).chmod(0o644)
    (theirs / world.digest(KUBELET)).write_bytes(EVIL)
    shutil.rmtree(world.cache / "sha256")
    (world.cache / "sha256").symlink_to(theirs)
    os.chown(world.cache / "sha256", NOBODY, NOBODY, follow_symlinks=False)
    world.installed(KUBELET).unlink()
    before = listing(theirs)
    world.converge()
    assert not (world.cache / "sha256").is_symlink()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]
    same(before, listing(theirs))


@pytest.mark.parametrize("right", (True, False))
def test_an_entry_of_another_user(world, right):
    """They may still have it open for writing: what is used is a copy, if its bytes are right."""
    world.converge()
    forge(world)
    entry = world.entry(KUBELET)
    if right:
        entry.write_bytes(world.contents[KUBELET])
    with open(entry, "r+b") as still_open:
        world.installed(KUBELET).unlink()
        asked = world.requests()
        world.converge()
        assert world.requests() == asked + (not right)
        assert entry.stat().st_ino != os.fstat(still_open.fileno()).st_ino
        still_open.write(EVIL)
    must_be_closed(world.cache)
    world.converge()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] == entry.read_bytes()
