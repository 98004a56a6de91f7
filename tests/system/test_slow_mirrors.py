"""A slow mirror is helped by another one, whether or not any other has been seen to be quick."""

import pytest

from world import KUBELET

SIZE = 2_000_000
LIMIT = 120


def path_of(url):
    return "/" + url.split("://", 1)[1].split("/", 1)[1]


def sent(world, url):
    return int(world.origin.control(f"/__sent?path={path_of(url)}"))


@pytest.mark.parametrize("slow, fast", [(["ranges", "rate=40000"], ["ranges"]), (["rate=40000"], []),
                                        (["ranges", "rate=40000"], []), (["rate=40000"], ["ranges"])])
def test_the_first_one_is_slow(world, slow, fast):
    first, second = world.url(KUBELET, *slow, "etag=a"), world.url(KUBELET, *fast, "etag=b")
    world.assets[KUBELET].urls = [first, second]
    # nothing else is fetched that could tell what this machine's line can do
    world.converge(timeout=LIMIT)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and world.unused() == []
    assert 0 < sent(world, first) < SIZE / 2 < sent(world, second)


def test_the_only_one_is_slow(world):
    """It is put up with."""
    url = world.url(KUBELET, "rate=400000")
    world.assets[KUBELET].urls = [url]
    world.converge(timeout=LIMIT)
    assert world.origin.count(url) == 1


def test_the_good_one_is_remembered(world):
    """The host that gave is asked first by what is fetched later in the same run, here by archives."""
    bad, good = f"{world.origin.refused()}/kubelet", world.url(KUBELET)
    world.assets[KUBELET].urls = [bad, good]
    world.converge(timeout=LIMIT)
    assert world.origin.count(good) == 1
