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
def must_be_closed(cache):
    """No entry of it is for others to write to."""
    for path in [cache, *cache.rglob("*")]:
        st = path.lstat()
        assert stat.S_ISLNK(st.st_mode) or not st.st_mode & 0o022, f"{path} has mode {st.st_mode:o}"
        assert st.st_uid == 0, f"{path} belongs to {st.st_uid}"


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
@pytest.mark.parametrize("folder", ("sha256", "verified", "signed", "wrong", "partial", "tmp"))
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
