"""Many assets, few descriptors: none is held for an asset whose turn has not come."""

import pytest

from world import OK


@pytest.mark.parametrize("n, limit", [(1000, 1024), (200, 96)])
def test_many_assets(world, n, limit):
    for i in range(n):
        data = b"asset %d\n" % i * 2000
        asset = world.serve("many", data)
        path = world.origin.folder / f"{world.token}-many"
        path.rename(path.with_name(f"{path.name}-{i}"))
        asset.urls = [f"{asset.urls[0]}-{i}"]
        world.assets[f"many-{i}"] = asset
    world.write_documents()
    done = world.run_argv(["prlimit", f"--nofile={limit}:{limit}", *world.argv("bake")], timeout=120)
    assert done.code == OK, done
    assert not [l for l in done.lines if "Too many open files" in l], done
    have = {p.name for p in world.cache.glob("sha256/*")}
    assert {a.digest for a in world.assets.values()} <= have and world.unused() == []
    # and each of them once
    assert all(world.origin.count(a.urls[0]) == 1 for a in list(world.assets.values())[-20:])
