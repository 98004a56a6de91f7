"""A cache that kops 1.8 left: <algo>:<hex>_<URL with odd characters made '_'>, beside our own."""

import re

import pytest

from world import KUBELET, OK


def kops_file(world, name, algo="sha256", data=None):
    url = re.sub(r"[^A-Za-z0-9_-]", "_", world.assets[name].urls[0])
    path = world.cache / f"{algo}:{world.digest(name, algo)}_{url}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(world.contents[name] if data is None else data)
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("algo", ("sha1", "sha256"))
def test_taken_over(world, algo):
    for name, asset in world.assets.items():
        asset.digest = world.digest(name, algo)
        kops_file(world, name, algo)
    done = world.converge()
    assert sum(world.origin.count(u) for a in world.assets.values() for u in a.urls) == 0
    assert not list(world.cache.glob("sha*:*")) and any("kops' cache taken over" in l for l in done.lines), done
    assert (world.cache / algo / world.digest(KUBELET, algo)).read_bytes() == world.contents[KUBELET]
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_wrong_bytes_are_fetched(world):
    kops_file(world, KUBELET, data=b"half of i")
    world.converge()
    assert world.origin.count(world.url(KUBELET)) == 1
    assert world.entry(KUBELET).read_bytes() == world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_left_alone(world):
    """What others can write to, links, and names that are none of kops'."""
    writable = kops_file(world, KUBELET)
    writable.chmod(0o666)
    other = world.cache / f"sha256:{'0' * 63}_short"
    other.write_bytes(b"")
    link = world.cache / f"sha256:{'1' * 64}_link"
    link.symlink_to("/etc/passwd")
    assert world.converge().code == OK
    assert writable.exists() and other.exists() and link.is_symlink()
    assert world.origin.count(world.url(KUBELET)) == 1


def test_a_plan_moves_nothing(world):
    path = kops_file(world, KUBELET)
    world.plan()
    assert path.exists()
