"""A mirror that has a wrong file: it is downloaded once, and then asked whether it is still the same one."""

import hashlib
import re

import pytest

from world import INTEGRITY, KUBELET, OK, noise

SIZE = 2_000_000


def file_of(served, world):
    return world.origin.folder / served.urls[0].rsplit("/", 1)[1]


def stale(world, *faults, data=None):
    """The documents want another kubelet than the mirror has; returns the mirror's."""
    data = noise("another kubelet", SIZE) if data is None else data
    served = world.serve(KUBELET, data)
    world.assets[KUBELET].urls = [world.url(KUBELET, f"as={file_of(served, world).name}", *faults)]
    return served


def change(served, world, data):
    """The mirror gets another file under the same name."""
    file_of(served, world).write_bytes(data)


def sent(world):
    return world.origin.sent(world.assets[KUBELET].urls[0])


def told(result):
    return f"{result.failure}\n{result.notes}"


def etag(data):
    return f'"{hashlib.sha1(data).hexdigest()}"'


@pytest.mark.parametrize("faults, mark", [
    (["named"], etag(noise("another kubelet", SIZE))),
    (["noetag", "named", "modified=1500000000"], "Last-Modified Fri, 14 Jul 2017 02:40:00 GMT"),
    (["named", "chunked"], etag(noise("another kubelet", SIZE))),
])
def test_it_is_downloaded_once(world, faults, mark):
    served = stale(world, *faults)
    first = world.apply()
    assert first.code == INTEGRITY and "still" not in told(first), first
    assert sent(world) == SIZE
    for _ in range(2):
        again = world.apply()
        assert again.code == INTEGRITY and sent(world) == SIZE, again
        assert "the mirror still has the same wrong file, " in again.failure and mark in again.failure, again
        assert re.search(rf"want +sha256 {world.digest(KUBELET)}", again.notes), again
        assert re.search(rf"got +sha256 {served.digest}", again.notes), again
        assert re.search(rf"size +{SIZE} bytes, not downloaded again", again.notes), again
        assert world.assets[KUBELET].urls[0] in again.notes, again
    assert world.origin.count(world.assets[KUBELET].urls[0]) == 3


def test_a_large_one_of_a_mirror_that_has_ranges(world):
    """Parts of it are asked for, and all say that it is the same."""
    size = 20_000_000
    stale(world, "named", "ranges", data=noise("large", size))
    assert world.apply().code == INTEGRITY
    before = sent(world)
    assert size <= before <= 2 * size
    again = world.apply()
    assert again.code == INTEGRITY and sent(world) == before, again
    assert "still has the same wrong file" in again.failure, again


def test_a_mirror_that_hears_no_condition(world):
    """It says what it sends before it sends it: the rest is not taken."""
    stale(world, "named=deaf", "rate=1000000")
    assert world.apply().code == INTEGRITY and sent(world) == SIZE
    again = world.apply()
    assert again.code == INTEGRITY and "still has the same wrong file" in again.failure, again
    assert sent(world) < SIZE + SIZE / 4


def test_a_mirror_without_validators(world):
    """Only its bytes can tell."""
    stale(world)
    for times in (1, 2):
        result = world.apply()
        assert result.code == INTEGRITY and "still" not in told(result), result
        assert sent(world) == times * SIZE


def test_the_mirror_has_the_right_one_now(world):
    served = stale(world, "named")
    assert world.apply().code == INTEGRITY and world.apply().code == INTEGRITY
    assert sent(world) == SIZE
    change(served, world, world.contents[KUBELET])
    world.converge()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]
    assert not list((world.cache / "wrong").iterdir())


def test_the_mirror_has_another_wrong_one_now(world):
    served = stale(world, "named")
    assert world.apply().code == INTEGRITY
    other = noise("yet another", SIZE)
    change(served, world, other)
    result = world.apply()
    assert result.code == INTEGRITY and "still" not in told(result), result
    assert hashlib.sha256(other).hexdigest() in result.notes and sent(world) == 2 * SIZE
    assert "still has the same wrong file" in world.apply().failure and sent(world) == 2 * SIZE


def test_a_new_document_is_noticed_at_once(world):
    served = stale(world, "named")
    assert world.apply().code == INTEGRITY and world.apply().code == INTEGRITY
    assert sent(world) == SIZE
    world.assets[KUBELET].digest = served.digest
    world.converge()
    assert sent(world) == 2 * SIZE
    assert hashlib.sha256(world.installed(KUBELET).read_bytes()).hexdigest() == served.digest


def test_another_mirror_has_the_right_one(world):
    stale(world, "named")
    assert world.apply().code == INTEGRITY
    bad, good = world.assets[KUBELET].urls[0], world.url(KUBELET)
    world.assets[KUBELET].urls = [bad, good]
    world.converge()
    assert world.origin.sent(bad) == SIZE and world.origin.sent(good) == SIZE


def test_all_mirrors_still_have_it(world):
    stale(world, "named")
    first = world.assets[KUBELET].urls[0]
    world.assets[KUBELET].urls = [first, first.replace("~named", "~named/~delay=0")]
    assert world.apply().code == INTEGRITY
    again = world.apply()
    assert again.code == INTEGRITY, again
    assert "wrong content, 2 of 2 mirrors" in again.failure, again
    assert "the mirrors still have the same wrong files, " in again.failure, again
    assert [world.origin.sent(u) for u in world.assets[KUBELET].urls] == [SIZE, SIZE]


def test_repair_trusts_no_record(world):
    stale(world, "named")
    assert world.apply().code == INTEGRITY
    assert world.run("repair").code == INTEGRITY and sent(world) == 2 * SIZE


def test_a_damaged_record_does_not_count(world):
    stale(world, "named")
    assert world.apply().code == INTEGRITY
    (record,) = (world.cache / "wrong").iterdir()
    text = record.read_bytes()
    record.write_bytes(text[:-5])
    assert world.apply().code == INTEGRITY and sent(world) == 2 * SIZE
    assert record.read_bytes() == text


def test_a_redirect_to_another_host_keeps_the_condition(world):
    """What is asked there is the same question."""
    stale(world, "named")
    here = world.assets[KUBELET].urls[0]
    there = here.replace("127.0.0.1", "localhost").replace("/", "%2F")
    world.assets[KUBELET].urls = [world.url(KUBELET, f"redirect={there}")]
    assert world.apply().code == INTEGRITY and world.origin.sent(here) == SIZE
    again = world.apply()
    assert again.code == INTEGRITY and "still has the same wrong file" in again.failure, again
    assert world.origin.sent(here) == SIZE


def test_what_is_installed_stays(world):
    world.converge()
    stale(world, "named")
    world.assets[KUBELET].digest = "0" * 64
    for _ in range(2):
        assert world.apply().code == INTEGRITY
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]
    world.assets[KUBELET].digest = world.digest(KUBELET)
    assert world.apply().code == OK and sent(world) == SIZE
