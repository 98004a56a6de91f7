"""Disks that lose what was written, and say so once: at the fsync. What reads as right then is in memory alone."""

import re

import pytest

from world import CNI, KUBELET, OK, PENDING, SYSTEM

PLACES = [KUBELET, "bridge"]
LOST = "may not be on the disk: sync: Input/output error"


def losing(path, when="1", error="EIO"):
    """Under this the fsync of what has this name fails: the n-th one, or with n+ all from then on."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(path), "-e", "trace=fsync", "-e",
            f"inject=fsync:error={error}:when={when}"]


def recorded(world, path):
    """The line of a path in the applied state, without what the lines of all have."""
    lines = (world.root / "var/lib/nodeup/state").read_text().splitlines()
    return [l for l in lines if l.endswith(f" {name_of(world, path)}")]


def name_of(world, path):
    return f"/{path.relative_to(world.root)}"


def changed(world, done, path):
    """Why its task was done, each time that it was."""
    return [re.sub(r" \(\d+ ms\)$", "", l.partition(": ")[2]) for l in done.lines
            if re.match(rf"changed (install|file) {re.escape(name_of(world, path))}: ", l)]


def is_right(world, name):
    path = world.installed(name)
    data = world.contents[name] if name == KUBELET else (tree_of(world) / name).read_bytes()
    line, = recorded(world, path)
    return path.read_bytes() == data and line.split()[2] == str(path.stat().st_ino) and not line.startswith("!")


def tree_of(world):
    return next((world.cache / "unpacked").glob("*/**/bridge")).parent


@pytest.mark.parametrize("name", PLACES)
def test_an_installed_file_is_made_anew(world, name):
    """In the same run: another inode, which is fsync'ed too, and one line that says so."""
    path = world.installed(name)
    done = world.converge(prefix=losing(path))
    assert [l for l in done.lines if LOST in l] == [f"'{name_of(world, path)}' {LOST}; installing anew"], done
    assert changed(world, done, path) == ["absent", "a write to the disk failed"], done
    assert is_right(world, name)
    assert not changed(world, world.converge(), path)


@pytest.mark.parametrize("name", PLACES)
def test_a_disk_that_goes_on_losing(world, name):
    """The run fails, and what is there is not believed by the next one either, though it reads as right."""
    path = world.installed(name)
    done = world.apply(prefix=losing(path, "1+"))
    assert done.code == SYSTEM and f"'{name_of(world, path)}' {LOST}" in done.failure, done
    assert path.read_bytes() and [l[0] for l in recorded(world, path)] == ["!"]
    before = path.stat().st_ino
    planned = world.plan()
    assert planned.code == PENDING and f"install {name_of(world, path)}: a write to the disk failed" in planned.out
    # so that the number of the inode is not given away again at once
    held = path.open("rb")
    done = world.converge()
    held.close()
    assert changed(world, done, path) == ["a write to the disk failed"], done
    assert path.stat().st_ino != before and is_right(world, name)
    assert not changed(world, world.converge(), path)


def test_a_file_that_was_only_looked_at(world):
    """It was right before anything was recorded, and is fsync'ed with what is installed."""
    world.converge()
    (world.root / "var/lib/nodeup/state").unlink()
    path = world.installed(KUBELET)
    done = world.converge(prefix=losing(path))
    assert changed(world, done, path) == ["a write to the disk failed"], done
    assert is_right(world, KUBELET)


def test_a_text_file_that_was_only_looked_at(world):
    world.converge()
    (world.root / "var/lib/nodeup/state").unlink()
    path = world.root / "etc/sysconfig/kubelet"
    done = world.converge(prefix=losing(path))
    assert changed(world, done, path) == ["a write to the disk failed"], done
    line, = recorded(world, path)
    assert line.split()[2] == str(path.stat().st_ino)


def test_an_entry_of_the_cache(world):
    """One that has no record is hashed, and recorded only after an fsync: a lost one is fetched again."""
    world.converge()
    world.installed(KUBELET).unlink()
    record, entry = world.cache / f"verified/sha256-{world.digest(KUBELET)}", world.entry(KUBELET)
    record.unlink()
    before, asked = entry.stat().st_ino, world.origin.count(world.assets[KUBELET].urls[0])
    held = entry.open("rb")
    done = world.converge(prefix=losing(entry))
    held.close()
    assert any(l.startswith(f"changed asset {KUBELET}: not in the cache") for l in done.lines), done
    assert world.origin.count(world.assets[KUBELET].urls[0]) == asked + 1
    assert entry.stat().st_ino != before and record.exists() and is_right(world, KUBELET)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_an_entry_that_was_just_fetched(world, error):
    """No byte of it is kept, not even for want of room: the file that goes on would be the one with the hole."""
    part = world.cache / f"partial/sha256-{world.digest(KUBELET)}"
    done = world.apply(prefix=losing(part, "1+", error))
    assert done.code == SYSTEM and KUBELET in done.failure, done
    assert not part.exists() and not world.entry(KUBELET).exists() and not world.installed(KUBELET).exists()
    assert not list((world.cache / "verified").glob(f"*{world.digest(KUBELET)}*"))
    world.converge()
    assert is_right(world, KUBELET)


def test_an_unpacked_tree(world):
    """One without a record is compared with its archive, and believed only after an fsync of all of it."""
    world.converge()
    path = world.installed("bridge")
    path.unlink()
    member = tree_of(world) / "bridge"
    before, held = member.stat().st_ino, member.open("rb")
    for record in (world.cache / "verified").glob(f"sha256-{world.digest(CNI)}.*"):
        record.unlink()
    done = world.converge(prefix=losing(member))
    held.close()
    assert (tree_of(world) / "bridge").stat().st_ino != before, done
    assert is_right(world, "bridge")
