"""The child that takes archives apart: this program under another name, with no rights; it may die."""

import io
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import time

import pytest

from world import CNI, CNI_MEMBERS, CONFIG, INTEGRITY, OK, noise, same, tar, tree

PATIENCE = 120
CHILD = b"nodeup-unpack"


def children_of(pid):
    """The unpacking children of a process, as far as they are still there."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == pid and (stat.parent / "cmdline").read_bytes().split(b"\0")[0] == CHILD:
                yield int(stat.parent.name)
        except (OSError, ValueError):
            continue


def kill_a_child(process):
    """Of the process, when it has one that is still there; whether there was one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for pid in children_of(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
                return True
            except ProcessLookupError:
                continue
        time.sleep(0.005)
    return False


def slow(world):
    """The last third of it takes seconds, and is unpacked as it comes."""
    world.assets[CNI].urls = [world.url(CNI, "rate=150000")]


def installed(world):
    return all((world.root / "opt/cni/bin" / name).exists() for name in CNI_MEMBERS)


def test_a_killed_child_costs_a_second_try(world):
    slow(world)
    world.write_documents()
    started = time.monotonic()
    process = world.start(world.argv("apply"))
    assert kill_a_child(process), "no child was seen"
    result = world.finish(process, started)
    assert result.code == OK, result
    assert installed(world) and world.unused() == []
    assert world.origin.count(world.assets[CNI].urls[0]) == 1, "what was fetched is not fetched again"


@pytest.mark.long
def test_the_programs_file_may_be_gone(world):
    """An upgrade replaces it while it runs: the child is what was started, not what lies there now."""
    slow(world)
    world.write_documents()
    argv = world.argv("apply")
    copy = world.root.parent / "nodeup-copy"
    shutil.copy(argv[0], copy)
    started = time.monotonic()
    process = world.start([str(copy), *argv[1:]])
    copy.unlink()
    copy.write_text("#!/bin/sh\nexit 1\n")
    copy.chmod(0o755)
    result = world.finish(process, started)
    assert result.code == OK, result
    assert installed(world)


def plugins():
    return {name: noise(name, 300_000) for name in CNI_MEMBERS}


def skippable(data):
    """A frame of zstd's that holds none of the content."""
    return bytes.fromhex("502a4d18") + len(data).to_bytes(4, "little") + data


def zstd(program, data):
    return subprocess.run([program, "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.parametrize("how", ("one", "large", "several", "pzstd"))
def test_zstd_that_begins_with_a_skippable_frame(world, how):
    """As pzstd makes it."""
    data = tar(plugins(), "w:")
    if how == "pzstd":
        packed = zstd("pzstd", data)
        assert packed[1:4].hex() == "2a4d18"
    else:
        first = {"one": skippable(b"1234"), "large": skippable(noise("large", 700_000)),
                 "several": skippable(b"") + skippable(b"x" * 300_000) + skippable(b"y")}[how]
        packed = first + zstd("zstd", data)
    world.assets[CNI] = world.serve("cni.tar.zst", packed)
    world.converge()
    assert installed(world)


@pytest.mark.parametrize("packed", (skippable(b"1234"), skippable(b"1234") * 100, b"\x50\x2a\x4d\x18\xff\xff\xff\xff12"))
def test_skippable_frames_and_nothing_behind_them(world, packed):
    world.assets[CNI] = world.serve("cni.tar.zst", packed)
    done = world.apply()
    assert done.code == INTEGRITY and "cni.tar.zst" in done.failure, done


def test_a_member_that_is_a_link(world):
    """It is said what it is, and where it leads."""
    link = tarfile.TarInfo("bin/bridge")
    link.type, link.linkname = tarfile.SYMTYPE, "host-local"
    members = {f"bin/{name}": data for name, data in plugins().items() if name != "bridge"}
    world.assets[CNI] = world.serve("cni.tar.gz", tar({**members, "bin/bridge": link}))
    done = world.apply()
    assert done.code == CONFIG, done
    assert "'bin/bridge' is a link to 'host-local'" in done.failure and "cni.tar.gz" in done.failure, done


@pytest.mark.parametrize("where", ("first", "last"))
def test_a_refused_archive_is_unpacked_once(world, where, tmp_path):
    """Refused while it arrived: its content will not be any better when all of it is here."""
    evil = {"../evil": b"x"}
    members = {**evil, **plugins()} if where == "first" else {**plugins(), **evil}
    world.assets[CNI] = world.serve("cni.tar.gz", tar({**members, "large": noise("large", 4_000_000)}))
    log = tmp_path / "strace"
    done = world.apply(prefix=["strace", "-f", "-qq", "-o", str(log), "-e", "trace=execve"], timeout=PATIENCE)
    assert done.code == INTEGRITY, done
    assert "entry '../evil' refused" in done.failure and "cni.tar.gz" in done.failure, done
    assert log.read_text().count(f'["{CHILD.decode()}", "{world.token}-cni.tar.gz"') == 1
    assert world.unused() == []
    # in the next run nothing is remembered: it is said again by an unpacker
    again = world.apply()
    assert again.code == INTEGRITY and "entry '../evil' refused" in again.failure, again


def test_what_a_liar_sent_is_not_held_against_the_archive(world):
    """An archive that is refused, and is not the one that was asked for."""
    world.serve("evil.tar.gz", tar({"../evil": b"x", "large": noise("large", 4_000_000)}))
    world.assets[CNI].urls = [world.url(CNI, f"as={world.token}-evil.tar.gz"), *world.assets[CNI].urls]
    result = world.converge()
    assert installed(world) and world.origin.count(world.assets[CNI].urls[0]) == 1, result


def test_an_archive_of_directories(world):
    """Each costs the disk more than a file does: it is refused before it took a minute."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as t:
        for i in range(120_000):
            info = tarfile.TarInfo(f"d{i}/x{i}/")
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            t.addfile(info)
    world.assets[CNI] = world.serve("cni.tar.gz", out.getvalue())
    done = world.apply()
    assert done.code == INTEGRITY and "more directories than allowed" in done.failure, done
    assert world.unused() == []


@pytest.mark.parametrize("mask", ("0777", "077", "0"))
def test_the_umask_of_who_calls_changes_nothing(make_world, mask):
    plain, node = make_world("plain"), make_world("node")
    plain.converge()
    node.converge(prefix=["sh", "-c", f'umask {mask}; exec "$@"', "sh"])
    same(tree(plain.root), tree(node.root))
    modes = [{str(p.relative_to(w.cache)): oct(p.lstat().st_mode) for p in w.cache.rglob("*")} for w in (plain, node)]
    same(*modes)
