"""The cache has a size; what documents name does not count against what they do not."""

import fcntl
import os
import time

from world import CNI, CNI_MEMBERS, KUBELET, tar

DAY = 24 * 3600
OTHER = tar({f"./{name}": name.encode() * 100 for name in CNI_MEMBERS})


def record(world, digest):
    return world.cache / f"verified/sha256-{digest}"


def used(world, digest, days):
    then = time.time() - days * DAY
    os.utime(record(world, digest), (then, then))


def replace(world, name, days):
    """The documents name other bytes from now on; returns the old ones' digest."""
    old = world.assets[name].digest
    used(world, old, days)
    world.assets[name] = world.local(name, b"the next " + name.encode())
    return old


def there(world, digest):
    return (world.cache / "sha256" / digest).exists()


def test_the_unnamed_go(world):
    world.converge()
    old = replace(world, KUBELET, days=3)
    world.converge()
    assert there(world, old), "8 GiB are not reached"
    world.converge("--cache-max=-1")
    assert there(world, old)
    done = world.converge("--cache-max=1")
    assert not there(world, old) and not record(world, old).exists()
    assert any("1 assets that the documents do not name" in l for l in done.lines), done
    assert all(there(world, a.digest) for n, a in world.assets.items() if n in (KUBELET, CNI)), "named ones stay"
    assert world.plan("--offline", "--verify").code == 0 and not world.unused()


def test_least_recently_used_first(world):
    world.converge()
    first = replace(world, KUBELET, days=9)
    world.converge()
    second = world.assets[KUBELET].digest
    used(world, second, days=5)
    world.assets[KUBELET] = world.local(KUBELET, b"the last kubelet")
    world.converge()
    size = sum(p.lstat().st_blocks * 512 for p in (world.cache / "sha256").rglob("*"))
    world.converge(f"--cache-max={size - 100_000}")
    assert not there(world, first) and there(world, second)


def unfinished(world, digest, size, days):
    """What is left of a download."""
    path = world.cache / f"partial/sha256-{digest}"
    path.write_bytes(bytes(range(250)) * (size // 250))
    path.with_name(path.name + ".from").write_text("v2\n")
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def test_unfinished_downloads_count(world):
    world.converge()
    forgotten, busy = unfinished(world, "ab" * 32, 500_000, days=2), unfinished(world, "cd" * 32, 500_000, days=2)
    named = unfinished(world, world.protokube.digest, 500_000, days=2)
    world.converge()
    assert forgotten.exists() and busy.exists() and named.exists()
    with busy.open("rb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        world.converge("--cache-max=1")
    assert not forgotten.exists() and not forgotten.with_name(forgotten.name + ".from").exists()
    assert busy.exists(), "somebody is at it"
    world.converge("--cache-max=1")
    assert not busy.exists()


def test_what_is_being_written_counts(world):
    """By another process: it takes room that others have to give."""
    world.converge()
    old = replace(world, KUBELET, days=3)
    world.converge()
    size = sum(p.lstat().st_blocks * 512 for p in world.cache.rglob("*")) + 1_000_000
    world.converge(f"--cache-max={size}")
    assert there(world, old)
    being_written = world.cache / "tmp/get-0"
    with being_written.open("wb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(bytes(range(250)) * 8000)
        f.flush()
        world.converge(f"--cache-max={size}")
        assert being_written.exists() and not there(world, old)


def test_what_was_just_used_stays(world):
    world.converge()
    old = replace(world, KUBELET, days=0)
    world.converge("--cache-max=1")
    assert there(world, old)


def test_use_is_noted(world):
    """Each half hour at most: a second run changes nothing."""
    world.converge()
    digest = world.assets[KUBELET].digest
    used(world, digest, days=3)
    world.converge()
    now = record(world, digest).stat().st_mtime_ns
    assert now > (time.time() - DAY) * 10**9
    world.converge()
    assert record(world, digest).stat().st_mtime_ns == now


def test_use_is_noted_before_it(world):
    """Not only by a run that ends well: another process must not evict what this one is about to install."""
    world.converge()
    digest = world.assets[KUBELET].digest
    used(world, digest, days=0.1)
    world.assets[CNI] = world.serve("cni-2.tar.gz", b"not what its name says")
    assert world.apply().code != 0
    assert time.time() - record(world, digest).stat().st_mtime < 3600


