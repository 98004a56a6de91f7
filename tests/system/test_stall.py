"""Mirrors that fall silent are left for the next one, those that are merely slow are not."""

import pytest

from world import KUBELET, OK


def finished(slow_runs, name):
    world, result = slow_runs.result(name)
    assert result.code == OK and result.out.endswith("success\n"), result
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and world.unused() == []
    return world, result


@pytest.mark.parametrize("name, seconds", [("stalls", 29), ("hangs", 29), ("trickles", 4), ("does not connect", 19)])
def test_a_silent_mirror_is_left(slow_runs, name, seconds):
    world, result = finished(slow_runs, name)
    bad, good = world.assets[KUBELET].urls
    # had it lost patience sooner, a loaded mirror would be given up; one that trickles where others of
    # the run were quick is left sooner than one that is silent
    assert result.seconds >= seconds and world.origin.count(good) == 1


def test_slow_is_not_silent(slow_runs):
    """40 s for one file, more than any timeout: there is no total deadline."""
    world, result = finished(slow_runs, "is steady")
    assert result.seconds > 35 and world.origin.count(world.assets[KUBELET].urls[0]) == 1
