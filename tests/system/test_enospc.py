"""Disks that are full, or quotas: a message that names path, need and room, exit 71, and nothing half done."""

import re

import pytest

from world import KUBELET, OK, SYSTEM, files_of

LIMIT = 120


def mount(mounts, folder, size):
    folder.mkdir(parents=True, exist_ok=True)
    mounts.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder)


def half_done(world, mounts):
    """What is left in the cache of what did not become an entry."""
    return [p for folder in ("partial", "tmp") for p in files_of(mounts.path(world.cache / folder))]


def test_no_room_in_the_cache(world, mounts):
    """Known from the first answer on: nothing is fetched in vain, and nobody tries for ever."""
    mount(mounts, world.cache, "1m")
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    told = f"{result.failure}\n{result.notes}"
    assert re.search(r"No space left on device", told) and str(world.cache) in told, told
    # the archive has as little room as kubelet
    assert re.search(r"\b\d{7} more bytes are wanted, \d+ are free", told), told
    assert world.origin.count(world.assets[KUBELET].urls[0]) <= 3
    assert not half_done(world, mounts) and not world.installed(KUBELET).exists()
    # with room it goes on
    mounts.run("mount", "-o", "remount,size=200m", world.cache)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == OK, result


def test_the_cache_fills_up_on_the_way(world, mounts):
    """Of unknown size: only the write that fails tells."""
    mount(mounts, world.cache, "1m")
    world.assets[KUBELET].urls = [world.url(KUBELET, "chunked")]
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM and "No space left on device" in result.failure, result
    assert str(world.cache) in result.failure
    assert world.origin.count(world.assets[KUBELET].urls[0]) <= 3
    assert not half_done(world, mounts)


@pytest.mark.parametrize("error, text", [("EDQUOT", "Disk quota exceeded"), ("ENOSPC", "No space left on device")])
def test_a_write_is_refused(world, error, text):
    """As a quota does it, at any write of the cache."""
    result = world.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                                 f"inject=pwrite64:error={error}:when=3+"], timeout=LIMIT)
    assert result.code == SYSTEM, result
    assert text in result.failure and re.search(r"\d+ more bytes are wanted, \d+ are free", result.failure), result
    assert world.unused() == [] and not world.entry(KUBELET).exists()
    world.converge(timeout=LIMIT)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_no_room_where_it_is_installed(world, mounts):
    mount(mounts, world.root / "usr/local", "1m")
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    assert re.search(r"/usr/local/bin/kubelet.*No space left on device: \d+ more bytes are wanted, \d+ are free",
                     result.failure), result
    assert files_of(mounts.path(world.root / "usr/local")) == []
    # the cache has it: the next run needs no network
    assert world.entry(KUBELET).exists()
    mounts.run("mount", "-o", "remount,size=200m", world.root / "usr/local")
    before = world.origin.count(world.assets[KUBELET].urls[0])
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK
    assert world.origin.count(world.assets[KUBELET].urls[0]) == before
