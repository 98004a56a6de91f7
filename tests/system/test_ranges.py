"""Large assets: in ranges from several mirrors, in little memory, and never twice, whatever is killed."""

import contextlib
import os
import pathlib
import re
import time

import pytest

from world import KUBELET, OK, Asset

SIZE = 40 * 1024 * 1024
MEMORY_MAX = 32 * 1024  # KiB
LIMIT = 120  # s


@pytest.fixture(scope="module")
def large():
    """No two ranges of it are alike."""
    block = os.urandom(1024 * 1024)
    return b"".join(block[i:] + block[:i] for i in range(SIZE // len(block)))


@pytest.fixture
def big(world, large):
    """A world whose kubelet is large."""
    asset = world.serve("large", large)
    world.contents = {**world.contents, KUBELET: large}
    world.assets[KUBELET] = Asset(asset.digest, [])
    file = asset.urls[0].rsplit("/", 1)[-1]
    world.large_url = lambda *faults: world.url(KUBELET, f"as={file}", "ranges", *faults)
    yield world
    (world.origin.folder / file).unlink()


def path_of(url):
    return "/" + url.split("://", 1)[1].split("/", 1)[1]


def sent(world, url):
    return int(world.origin.control(f"/__sent?path={path_of(url)}"))


def finished(world):
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and world.unused() == []
    assert not list((world.cache / "partial").glob(f"*{world.assets[KUBELET].digest}*"))


def here(world):
    """How much of it is written down as being here."""
    path = world.cache / "partial" / f"sha256-{world.assets[KUBELET].digest}.from"
    runs = re.findall(r"^([0-9a-f]{16}) ([0-9a-f]{16})$", path.read_text(), re.M) if path.exists() else []
    return sum(int(end, 16) - int(first, 16) for first, end in runs)


def watch_memory(process):
    """The most that it had, until it ends."""
    most = 0
    while process.poll() is None:
        with contextlib.suppress(OSError):
            found = re.search(r"^VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.M)
            most = max(most, int(found.group(1)) if found else 0)
        time.sleep(0.01)
    return most


def sent_in_all(world, url):
    """Once the server has noticed who went away. It may still answer a client of another test, which was killed at a gate."""
    deadline = time.monotonic() + LIMIT
    while world.origin.ask("now", url):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return sent(world, url)


def test_from_two_mirrors_in_little_memory(big):
    urls = [big.large_url("etag=a"), big.large_url("etag=b")]
    big.assets[KUBELET].urls = urls
    big.write_documents()
    process = big.start(big.argv("apply"))
    memory = watch_memory(process)
    assert big.finish(process, 0, timeout=LIMIT).code == OK
    finished(big)
    # a busy machine is a slow mirror, and slow ones are helped
    both = [sent(big, url) for url in urls]
    assert SIZE <= sum(both) < 2 * SIZE and min(both) > 0
    assert 0 < memory <= MEMORY_MAX, "memory grows with the asset"


def test_killed_again_and_again(big):
    """What is here is not asked for again, in whatever order it came."""
    url = big.large_url("etag=a", "rate=20000000")
    big.assets[KUBELET].urls = [url]
    big.write_documents()
    have = 0
    for _ in range(6):
        process = big.start(big.argv("apply"))
        deadline = time.monotonic() + LIMIT
        while process.poll() is None and here(big) < min(have + SIZE // 8, SIZE - 1):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.kill()
        big.finish(process, 0, timeout=LIMIT, may_die=True)
        assert here(big) >= have or big.entry(KUBELET).exists()
        have = here(big)
    before = sent_in_all(big, url)
    big.converge(timeout=LIMIT)
    finished(big)
    if have:
        # a kill between writing bytes and writing down that they are here costs those
        assert SIZE - have - 2 ** 20 <= sent_in_all(big, url) - before <= SIZE - have


def test_connections_that_drop(big):
    """What came before goes on from there, though the other mirror is dead."""
    url = big.large_url("etag=a", "truncate=3000000", "times=3")
    dead = f"{big.origin.refused()}/kubelet"
    big.assets[KUBELET].urls = [url, dead]
    big.converge(timeout=LIMIT)
    assert sent(big, url) == SIZE
    finished(big)
