"""Mirrors that fall silent are left for the next one, those that are merely slow are not."""

import pytest

from world import KUBELET, OK


def finished(slow_runs, name):
    world, result = slow_runs.result(name)
    assert result.code == OK and result.out.endswith("success\n"), result
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and world.unused() == []
    return world, result


@pytest.mark.parametrize("name", ["stalls", "hangs", "trickles", "does not connect"])
def test_a_silent_mirror_is_helped(slow_runs, name):
    """Long before it would be given up another is asked for what it does not give, and is good enough."""
    world, result = finished(slow_runs, name)
    bad, good = world.assets[KUBELET].urls
    assert world.origin.count(good) == 1
    # a loaded mirror needs a moment
    assert result.seconds >= 3


@pytest.mark.long
def test_slow_is_not_silent(slow_runs):
    """40 s for one file, more than any timeout: there is no total deadline."""
    world, result = finished(slow_runs, "is steady")
    assert result.seconds > 35 and world.origin.count(world.assets[KUBELET].urls[0]) == 1
