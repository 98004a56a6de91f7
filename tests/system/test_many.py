"""Many assets, few descriptors, little memory: none is held for an asset whose turn has not come."""

import pytest

from world import OK

MIB = 1 << 20


@pytest.mark.parametrize("n, limit", [(1000, 1024), (200, 96)])
def test_many_assets(world, n, limit):
    for i in range(n):
        data = b"asset %d\n" % i * 2000
        asset = world.serve("many", data)
        path = world.origin.folder / f"{world.token}-many"
        path.rename(path.with_name(f"{path.name}-{i}"))
        asset.urls = [f"{asset.urls[0]}-{i}"]
        world.assets[f"many-{i}"] = asset
    prefix, peak = world.measuring()
    done = world.run("bake", prefix=[*prefix, "/usr/bin/prlimit", f"--nofile={limit}:{limit}"], timeout=120)
    assert done.code == OK, done
    # a thousand take some 19 MiB; the most that may be is 32
    assert peak() < 26 * MIB, f"{peak() / MIB:.1f} MiB"
    assert not [l for l in done.lines if "Too many open files" in l], done
    have = {p.name for p in world.cache.glob("sha256/*")}
    assert {a.digest for a in world.assets.values()} <= have and world.unused() == []
    # and each of them once
    assert all(world.origin.count(a.urls[0]) == 1 for a in list(world.assets.values())[-20:])
