"""What arrived is not asked for again: after a dropped connection, and after a kill of nodeup."""

import contextlib
import hashlib
import os
import re
import shutil
import time

from world import CNI, KUBELET, noise, same, tree

SIZE = 2_000_000
# less than a range: the file grows from its beginning to its end
LARGE, KILLS = 8_000_000, 50
# a run of bytes in what is noted of a part: begin and end
RUN_LINE = len(f"{0:016x} {0:016x}\n")


def parts(world):
    """Name to size of what is kept of unfinished downloads; one may be finished while this looks."""
    found = {}
    for path in (world.cache / "partial").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = path.stat().st_size
    return {name: size for name, size in found.items() if not name.endswith(".from")}


def path_of(url):
    return "/" + url.split("://", 1)[1].split("/", 1)[1]


def sent(world, url):
    return int(world.origin.control(f"/__sent?path={path_of(url)}"))


def asked_from(world, url):
    """Where the range of the last request began."""
    found = re.search(r"^range: bytes=(\d+)-\d*$", world.origin.control(f"/__headers?path={path_of(url)}"), re.M)
    return int(found.group(1)) if found else None


def finished(world, *names):
    """Of others a part may be left: an archive is dropped once nobody needs it."""
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and world.unused() == []
    for name in names or (KUBELET,):
        assert not list((world.cache / "partial").glob(f"*{world.digest(name)}*"))


def killed_in(world, url, at_least):
    """Run, and kill when so much of the file is on the disk; gives how much of it is written down, and how much there is."""
    name = f"sha256-{world.digest(KUBELET)}"
    process = world.start(world.argv("apply"))
    deadline = time.monotonic() + 120
    while parts(world).get(name, 0) < at_least:
        assert process.poll() is None and time.monotonic() < deadline, "the download never got there"
        time.sleep(0.005)
    process.kill()
    world.finish(process, 0, may_die=True)
    assert not world.entry(KUBELET).exists()
    noted = int((world.cache / "partial" / f"{name}.from").read_bytes()[-RUN_LINE:].split()[1], 16)
    assert parts(world)[name] >= noted
    return noted, parts(world)[name]


def test_dropped_connections(world):
    url = world.url(KUBELET, "ranges", "truncate=600000")
    world.assets[KUBELET].urls = [url]
    world.converge()
    finished(world)
    assert world.origin.count(url) == 4 and sent(world, url) == SIZE


def test_the_next_mirror_goes_on(world):
    first, second = world.url(KUBELET, "ranges", "truncate=600000"), world.url(KUBELET, "ranges", "etag=b")
    world.assets[KUBELET].urls = [first, second]
    world.converge()
    finished(world)
    assert (sent(world, first), sent(world, second)) == (600000, SIZE - 600000)


def half_done(world):
    """Nothing has a name that it does not deserve."""
    for path in world.cache.glob("sha256/*"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    assert not world.installed(KUBELET).exists()


def test_killed_again_and_again(world):
    """At 50 points of one download, each further on than the one before."""
    large = noise("large", LARGE)
    world.assets[KUBELET] = world.serve(KUBELET, large)
    world.assets[KUBELET].urls = [world.url(KUBELET, f"as={world.token}-{KUBELET}")]
    world.contents = {**world.contents, KUBELET: large}
    world.converge()
    want = tree(world.root)
    for folder in (world.root, world.cache):
        shutil.rmtree(folder)
    world.make_root(world.root)
    url = world.url(KUBELET, f"as={world.token}-{KUBELET}", "ranges", "rate=200000", f"times={KILLS}")
    world.assets[KUBELET].urls = [url]
    world.write_documents()
    have, killed = (0, 0), 0
    for _ in range(KILLS):
        before, have = have, killed_in(world, url, have[1] + 20_000)
        killed += have[1] < LARGE
        # a kill may fall between a piece and the note of it
        assert before[0] <= asked_from(world, url) <= before[1], "not what was missing was asked for"
        half_done(world)
    assert killed == KILLS == 50
    world.converge()
    assert have[0] <= asked_from(world, url) <= have[1] and world.origin.count(url) == KILLS + 1
    finished(world)
    same(want, tree(world.root))


def test_killed_and_the_object_has_changed(world):
    """The part is of another object: by its mark the server sees that, and sends all of the new one."""
    url = world.url(KUBELET, "ranges", "rate=500000", "times=1", "other=1")
    world.contents = {**world.contents, KUBELET: bytes(b ^ 1 for b in world.contents[KUBELET]) + b"!"}
    world.assets[KUBELET].digest, world.assets[KUBELET].urls = world.digest(KUBELET), [url]
    world.write_documents()
    killed_in(world, url, 200_000)
    world.converge()
    # its bytes are gone before any of the new one are taken
    assert asked_from(world, url) == 0 and world.origin.count(url) == 3
    finished(world)


def test_a_damaged_part(world):
    """Its bytes are not those that were sent: only the hash can tell, and then the whole is fetched."""
    url = world.url(KUBELET, "ranges", "rate=500000")
    world.assets[KUBELET].urls = [url]
    world.write_documents()
    killed_in(world, url, 200_000)
    part = world.cache / "partial" / f"sha256-{world.digest(KUBELET)}"
    with part.open("r+b") as f:
        f.write(b"damaged")
    world.converge()
    finished(world)
    assert world.origin.count(url) == 3 and asked_from(world, url) is None


def test_less_of_the_part_than_is_written_down(world):
    """As after a loss of power: what is there is not asked for again."""
    url = world.url(KUBELET, "ranges", "rate=500000")
    world.assets[KUBELET].urls = [url]
    world.write_documents()
    _, have = killed_in(world, url, 200_000)
    part = world.cache / "partial" / f"sha256-{world.digest(KUBELET)}"
    os.truncate(part, have - 100_000)
    world.converge()
    finished(world)
    assert asked_from(world, url) == have - 100_000 and world.origin.count(url) == 2


def test_parts_of_two_assets(world):
    for name in (KUBELET, CNI):
        world.assets[name].urls = [world.url(name, "ranges", "rate=500000")]
    world.write_documents()
    killed_in(world, world.assets[KUBELET].urls[0], 200_000)
    have = parts(world)
    world.converge()
    for name in (KUBELET, CNI):
        assert asked_from(world, world.assets[name].urls[0]) == have[f"sha256-{world.digest(name)}"]
    finished(world, KUBELET, CNI)
