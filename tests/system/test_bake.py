"""nodeup bake: what is the same on every instance, before there is an instance."""

import shutil

import pytest

from world import CNI, CONFIG, KUBECTL, KUBELET, NET, OK, PROTOKUBE, USAGE, UTILS, listing, same

EVERY = {KUBELET, KUBECTL, CNI, UTILS, PROTOKUBE}


def bake(world, *flags, confs=()):
    world.write_documents()
    argv = world.argv("bake", *(f"--conf={c}" for c in confs), *flags)
    return world.run_argv(argv)


def entries(world):
    return {p.name for p in world.cache.glob("sha256/*")}


def digests(world, names):
    return {world.digest(n) for n in names}


def test_everything_and_no_identity(world):
    shutil.move(world.store / "pki", world.folder / "pki")
    shutil.move(world.store / "secrets", world.folder / "secrets")
    before = listing(world.root)
    done = bake(world)
    assert done.code == OK and done.out.splitlines()[0].startswith("nodeup version "), done
    assert entries(world) == digests(world, EVERY)
    size = sum(world.entry(name).stat().st_size for name in EVERY)
    assert done.out.splitlines()[-2:] == [f"baked {len(EVERY)} objects, {size} bytes, into {world.cache}", "success"], done
    assert not (world.cache / "unpacked").exists()
    same(before, listing(world.root))
    # a second one asks nobody
    asked = world.requests()
    assert bake(world).code == OK and world.requests() == asked


def test_offline_afterwards(world, make_world):
    assert bake(world).code == OK
    asked = world.requests()
    world.converge("--offline")
    assert world.requests() == asked and world.installed("bridge").exists()
    # the other role, from the same cache
    master = make_world("master", role="master")
    master.assets, master.protokube = world.assets, world.protokube
    master.converge("--offline", cache=world.cache)
    assert world.requests() == asked and master.installed(KUBECTL).exists()


def test_offline_says_what_is_missing(world):
    """All of it at once: a look at an image before it is one."""
    assert bake(world).code == OK
    asked = world.requests()
    done = bake(world, "--offline")
    assert done.code == OK and done.out.splitlines()[-1] == "success", done
    for name in (KUBELET, KUBECTL):
        world.entry(name).unlink()
    before = listing(world.cache, skip=("tmp",))
    done = bake(world, "--offline")
    assert done.code == CONFIG and "2 assets are not in the cache; nothing was changed" in done.failure, done
    for name in (KUBELET, KUBECTL):
        assert any(f"missing {name}: sha256 {world.digest(name)}" in line for line in done.lines), done
    same(before, listing(world.cache, skip=("tmp",)))
    assert world.requests() == asked and "success" not in done.out


def test_offline_it_does_not_want_what_it_cannot_have(world):
    """The check of an image is made where it was baked, and not where its cluster is."""
    world.assets[KUBELET].urls = [world.url(KUBELET, base=f"{world.origin.base}/v1.8.7")]
    assert bake(world).code == OK
    world.config_base = "s3://elsewhere/abc.joshdurbin.net"
    done = bake(world, "--offline")
    assert done.code == OK and f"{world.config_base}/cluster.spec is not read, we are offline" in done.err, done
    world.entry(KUBELET).unlink()
    assert bake(world, "--offline").code == CONFIG


def test_several_documents(world, make_world):
    other = make_world("other")
    other.assets[KUBELET] = other.serve(KUBELET, b"another kubelet\n")
    other.write_documents()
    done = bake(world, confs=[other.conf])
    assert done.code == OK, done
    assert entries(world) == digests(world, EVERY) | {other.assets[KUBELET].digest}
    # what both name is there once
    assert f"baked {len(EVERY) + 1} objects, " in done.out.splitlines()[-2], done


@pytest.mark.parametrize("name", (UTILS, PROTOKUBE))
def test_what_a_run_could_do_without(world, name):
    """An image of the machine lacks it for good."""
    missing = [world.url(name, "status=404")]
    if name == PROTOKUBE:
        world.protokube.urls = missing
    else:
        world.assets[name].urls = missing
    done = bake(world)
    assert done.code == NET and name in done.failure and "success" not in done.out, done
    assert entries(world) == digests(world, EVERY - {name})


def test_needs_documents(world):
    done = world.run_argv([world.argv("bake")[0], "bake"])
    assert done.code == USAGE and "--conf" in done.failure, done
