"""Disks that do not give back what was written to them: what the cache cannot read any more is thrown away."""

import pytest

from world import CNI, CONFIG, KUBELET, NET, OK, SYSTEM

READS = "?pread64,?read,?copy_file_range,?mmap"


def unreadable(path):
    """Run under this, nobody can read the file."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(path), "-e", f"trace={READS}", "-e",
            f"inject={READS}:error=EIO"]


def next_run_mends(world, name, requests=1):
    asked = world.origin.count(world.assets[name].urls[0])
    world.converge()
    assert world.origin.count(world.assets[name].urls[0]) == asked + requests
    assert world.entry(name).read_bytes() == world.contents[name] and world.unused() == []
    world.check_files()


def test_while_it_is_installed(world):
    """Nothing has read it since it was recorded as right."""
    world.converge()
    world.installed(KUBELET).unlink()
    done = world.apply(prefix=unreadable(world.entry(KUBELET)))
    assert done.code == SYSTEM and "Input/output error" in done.failure, done
    assert "kubelet is damaged and was thrown away: it is fetched again" in done.notes, done
    assert not world.entry(KUBELET).exists() and not world.installed(KUBELET).exists()
    next_run_mends(world, KUBELET)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_while_it_is_unpacked(world):
    world.converge()
    world.installed("bridge").unlink()
    done = world.apply(prefix=unreadable(world.entry(CNI)))
    assert done.code == SYSTEM and "Input/output error" in done.failure, done
    assert f"{CNI} is damaged and was thrown away" in done.notes, done
    next_run_mends(world, CNI)
    assert world.installed("bridge").exists()


def test_offline(world):
    """What cannot be asked is not proof that it is missing; what cannot be read was here."""
    world.converge()
    (world.cache / f"verified/sha256-{world.digest(KUBELET)}").unlink()
    world.installed(KUBELET).unlink()
    refused = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(world.entry(KUBELET)), "-e", "trace=pread64",
               "-e", "inject=pread64:error=ENOMEM"]
    done = world.apply("--offline", prefix=refused)
    assert done.code == SYSTEM and "asset kubelet" in done.failure and "Cannot allocate memory" in done.failure, done
    assert world.entry(KUBELET).exists()
    assert [l for l in done.lines if "bytes in the cache are hashed" in l] == [
        "asset kubelet: 2000000 bytes in the cache are hashed, nothing is noted of them"], done
    done = world.apply("--offline", prefix=unreadable(world.entry(KUBELET)))
    assert done.code == CONFIG and any("is damaged: Input/output error; it was moved to" in l for l in done.lines), done
    next_run_mends(world, KUBELET)
    # what is not there at all is not said to be, whatever its place is called
    world.installed(KUBELET).unlink()
    done = world.apply("--offline", cache=world.folder / "damaged")
    assert done.code == CONFIG and any(l.startswith(f"missing {KUBELET}: ") for l in done.lines), done
    assert not [l for l in done.lines if str(world.folder / "damaged") in l], done


@pytest.mark.parametrize("how", ["without a record", "repair"])
def test_when_it_is_hashed(world, how):
    """Whoever reads it before it is used mends it at once."""
    world.converge()
    asked = world.origin.count(world.assets[KUBELET].urls[0])
    if how == "repair":
        done = world.run("repair", prefix=unreadable(world.entry(KUBELET)))
        assert any("is damaged: Input/output error" in l for l in done.lines), done
    else:
        world.installed(KUBELET).unlink()
        (world.cache / f"verified/sha256-{world.digest(KUBELET)}").unlink()
        done = world.apply(prefix=unreadable(world.entry(KUBELET)))
    # under strace the new one has the same name, and cannot be read either
    assert done.code in (OK, SYSTEM), done
    assert world.origin.count(world.assets[KUBELET].urls[0]) == asked + 1
    world.converge()
    assert world.entry(KUBELET).read_bytes() == world.contents[KUBELET] == world.installed(KUBELET).read_bytes()
