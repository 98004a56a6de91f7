"""Disks that are full, or quotas: a message that names path, need and room, exit 71, and nothing half done."""

import os
import pathlib
import re
import subprocess
import tempfile
import time

import pytest

from world import CNI, CNI_MEMBERS, KUBECTL, KUBELET, OK, SYSTEM, files_of, noise, tar

LIMIT = 120
MIB = 1 << 20
# Slow enough that several come side by side.
RATE = 2_000_000
# how much a quota leaves is not known
ROOM = {"ENOSPC": r"[\d.]+ \w+ of [\d.]+ \w+ are free on ", "EDQUOT": "of the quota on "}
TEXT = {"ENOSPC": "No space left on device", "EDQUOT": "Disk quota exceeded"}


def mount(mounts, folder, size):
    folder.mkdir(parents=True, exist_ok=True)
    mounts.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder)


class Full:
    """A filesystem of our own at a path, with so much room for us: all that it has, or a quota."""

    def __init__(self, mounts, folder, error, size):
        self.mounts, self.folder, self.error = mounts, folder, error
        folder.mkdir(parents=True, exist_ok=True)
        if error == "ENOSPC":
            mounts.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder)
            return
        # the one whose quotas every kernel has; root is not an exception to them
        with tempfile.NamedTemporaryFile(dir="/var/tmp") as image:
            image.truncate(160 * MIB)
            subprocess.run(["mkfs.btrfs", "-q", "-M", image.name], check=True, stdout=subprocess.DEVNULL)
            mounts.run("mount", "-o", "loop", image.name, folder)
        mounts.run("btrfs", "quota", "enable", folder)
        # it counts what is there first, and holds nobody to a limit meanwhile
        mounts.run("btrfs", "quota", "rescan", "-w", folder)
        self.mounts.run("btrfs", "qgroup", "limit", str(size), folder)

    def make_room(self):
        if self.error == "ENOSPC":
            self.mounts.run("mount", "-o", "remount,size=200m", self.folder)
        else:
            # a new limit is written below the old one, which may leave no room for it
            self.mounts.run("btrfs", "quota", "disable", self.folder)


@pytest.fixture(params=["ENOSPC", "EDQUOT"])
def full(request, mounts):
    made = []

    def make(folder, size):
        made.append(Full(mounts, folder, request.param, size))
        return made[-1]
    yield make
    for f in made:
        mounts.run("umount", "-l", f.folder)


def half_done(world, mounts):
    """What is left in the cache of what did not become an entry."""
    return [p for folder in ("partial", "tmp") for p in files_of(mounts.path(world.cache / folder))]


def test_no_room_in_the_cache(world, mounts):
    """Known from the first answer on: nothing is fetched in vain, and nobody tries for ever."""
    mount(mounts, world.cache, "1m")
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    told = f"{result.failure}\n{result.notes}"
    assert re.search(r"No space left on device", told) and str(world.cache) in told, told
    # the archive has as little room as kubelet
    assert re.search(rf"FAILED no room on {world.cache}: at least 2\.\d MiB are missing, [\d.]+ KiB of 1 MiB are free: "
                     r"2 tasks failed", told), told
    assert re.search(r"No space left on device, 1\.\d MiB more are wanted, [\d.]+ KiB of 1 MiB are free on ", told), told
    assert world.origin.count(world.assets[KUBELET].urls[0]) <= 3
    assert not half_done(world, mounts) and not world.installed(KUBELET).exists()
    # with room it goes on
    mounts.run("mount", "-o", "remount,size=200m", world.cache)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == OK, result


def test_the_cache_fills_up_on_the_way(world, mounts):
    """Of unknown size: only the write that fails tells."""
    mount(mounts, world.cache, "1m")
    world.assets[KUBELET].urls = [world.url(KUBELET, "chunked")]
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM and f" on {world.cache}" in result.failure, result
    assert "No space left on device" in f"{result.failure}{result.notes}", result
    assert world.origin.count(world.assets[KUBELET].urls[0]) <= 3
    assert not half_done(world, mounts)


@pytest.mark.parametrize("error, text", [("EDQUOT", "Disk quota exceeded"), ("ENOSPC", "No space left on device")])
def test_a_write_is_refused(world, error, text):
    """As a quota does it, at any write of the cache."""
    result = world.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                                 f"inject=pwrite64:error={error}:when=3+"], timeout=LIMIT)
    assert result.code == SYSTEM, result
    assert re.search(rf"{text}, [\d.]+ \w+ more are wanted, " + ROOM[error], result.err), result
    assert world.unused() == [] and not world.entry(KUBELET).exists()
    world.converge(timeout=LIMIT)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_a_write_is_refused_once(make_world):
    """Of bytes, or of what is noted down of them, as it happens: what is there stays, and is what the note says."""
    for nth in (6, 7, 8):
        world = make_world(f"refused-{nth}")
        # so that who unpacks them never comes to its nth
        world.assets[CNI] = world.serve(CNI, tar({f"./{name}": name.encode() for name in CNI_MEMBERS}))
        world.assets[KUBELET].urls = [world.url(KUBELET, "ranges", f"rate={RATE}")]
        result = world.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                                     f"inject=pwrite64:error=EDQUOT:when={nth}"], timeout=LIMIT)
        assert result.code == OK and "wrong content" not in result.err, result
        assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET] and not world.unused()


def test_the_cache_is_full(world, mounts, full):
    disk = full(world.cache, MIB)
    world.assets[KUBELET].urls = [world.url(KUBELET, "chunked")]
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    # one of them has all of a quota that small, and the others not even a name
    assert result.code == SYSTEM and re.search(
        rf"asset cache '.*cache'.*{TEXT[disk.error]}, ([\d.]+ \w+ more are wanted, )?" + ROOM[disk.error] + f"{world.cache}",
        result.err), result
    assert world.origin.count(world.assets[KUBELET].urls[0]) <= 3
    # nobody could go on with what came of it
    assert not [p for p in half_done(world, mounts) if "get-" in p.name or world.digest(KUBELET) in p.name]
    assert not world.installed(KUBELET).exists()
    disk.make_room()
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK


def asked_from(world, url):
    """The first byte that the last request for it wanted."""
    path = url.removeprefix(world.origin.base)
    asked = re.search(r"^range: bytes=(\d+)-", world.origin.control(f"/__headers?path={path}"), re.MULTILINE)
    return int(asked[1]) if asked else 0


def test_what_arrived_before_the_disk_was_full_stays(master, mounts, full):
    """Two that have room one by one.  A full disk costs no request, and what is on it none of its bytes again."""
    world = master
    world.contents = {**world.contents, KUBECTL: noise("kubectl", 2_000_000)}
    world.assets[KUBECTL] = world.serve(KUBECTL, world.contents[KUBECTL])
    world.assets[CNI] = world.serve(CNI, tar({f"./{name}": name.encode() for name in CNI_MEMBERS}))
    for name, file in ((KUBELET, KUBELET), (KUBECTL, f"{world.token}-{KUBECTL}")):
        world.assets[name].urls = [world.url(name, f"as={file}", "ranges", f"rate={RATE}")]
    assets = [world.assets[name] for name in (KUBELET, KUBECTL)]
    disk = full(world.cache, 3 * MIB)

    def fails():
        result = world.apply(prefix=mounts.enter, timeout=LIMIT)
        # what is full from the beginning is not written to
        assert result.code == SYSTEM and re.search(f"{TEXT[disk.error]}|no room on", f"{result.failure}{result.notes}"), result
        return [world.origin.count(a.urls[0]) for a in assets]

    def kept():
        parts = {a.urls[0]: mounts.path(world.cache / f"partial/sha256-{a.digest}") for a in assets}
        return {url: part.stat().st_size for url, part in parts.items() if part.exists()}

    before, parts = fails(), kept()
    # one of them may have come to its end
    assert parts and sum(parts.values()) + 2_000_000 * (2 - len(parts)) > 2 * MIB, parts
    again = fails()
    # of a quota nobody can say how much it leaves
    assert disk.error == "EDQUOT" or again == before, "asked for what there is no room for"
    assert all(kept()[url] >= size for url, size in parts.items())
    parts = kept()
    disk.make_room()
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == OK, result
    assert all(asked_from(world, url) == size for url, size in parts.items()), parts
    assert world.installed(KUBECTL).read_bytes() == world.contents[KUBECTL]
    # an archive whose members an earlier run has installed may leave a part: nothing asks for the rest
    assert not [p for p in half_done(world, mounts) if any(a.digest in p.name for a in assets)]


def test_what_nobody_names_makes_room(world, mounts):
    """For the next run: what was not used for an hour and is not asked for leaves a disk that is full."""
    mount(mounts, world.cache, "4m")
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK
    old = world.assets[KUBELET].digest
    then = time.time() - 2 * 3600
    os.utime(mounts.path(world.cache / f"verified/sha256-{old}"), (then, then))
    world.contents = {**world.contents, KUBELET: noise("the next", 2_000_000)}
    world.assets[KUBELET] = world.local(KUBELET, world.contents[KUBELET])
    assert world.apply("--cache-max=-1", prefix=mounts.enter, timeout=LIMIT).code == SYSTEM
    assert mounts.path(world.cache / "sha256" / old).exists()
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM and "1 assets that the documents do not name" in result.err, result
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_there_is_no_room_to_unpack(world, mounts, full):
    """The archive itself, and all else, has room."""
    members = {f"./{name}": noise(name, 20_000) * 150 for name in CNI_MEMBERS}
    world.assets[CNI] = world.serve(CNI, tar(members))
    place = world.root / "opt/cni/bin"
    place.mkdir(parents=True)
    disk = full(place, 6 * MIB)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    assert CNI in result.failure, result
    assert re.search(TEXT[disk.error] + r", [\d.]+ \w+ more are wanted, " + ROOM[disk.error] + f"{place}",
                     result.failure), result
    assert not half_done(world, mounts) and not list(mounts.path(place).glob(".nodeup-*"))
    assert (world.cache / "sha256" / world.assets[CNI].digest).exists()
    # its members may have had the room when its own last bytes came
    asked = world.origin.count(world.assets[CNI].urls[0])
    assert asked <= 3
    disk.make_room()
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK
    assert world.origin.count(world.assets[CNI].urls[0]) == asked
    assert all(mounts.path(world.installed(name)).stat().st_size == 3_000_000 for name in CNI_MEMBERS)


def test_no_room_where_it_is_installed(world, mounts):
    mount(mounts, world.root / "usr/local", "1m")
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    # all of kubelet is wanted, not a piece of it
    assert re.search(r"/usr/local/bin/kubelet.*No space left on device, \d{3}(\.\d)? KiB more are wanted, 0 bytes of 1 MiB are "
                     rf"free on {world.root}/usr/local \(see du -xhd1\) \(71\)", result.failure), result
    assert files_of(mounts.path(world.root / "usr/local")) == []
    # the cache has it: the next run needs no network
    assert world.entry(KUBELET).exists()
    mounts.run("mount", "-o", "remount,size=200m", world.root / "usr/local")
    before = world.origin.count(world.assets[KUBELET].urls[0])
    assert world.apply(prefix=mounts.enter, timeout=LIMIT).code == OK
    assert world.origin.count(world.assets[KUBELET].urls[0]) == before
