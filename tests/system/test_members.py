"""Members of archives go straight to where they are installed: no archive is unpacked anywhere else."""

import re

import pytest

from world import CNI, CNI_MEMBERS, INTEGRITY, OK, noise, tar

NO_RETRY = "--retries=0"


def staged(world):
    return list(world.root.rglob(".nodeup-*"))


def archives_read(world, log, *flags):
    """How many unpackers a run starts; what it opens for writing below the cache and /opt."""
    done = world.run("apply", *flags, prefix=["strace", "-f", "-qq", "-o", str(log), "-e", "trace=execve,openat"])
    assert done.code == OK, done
    text = log.read_text()
    return text.count('["nodeup-unpack"'), text


def test_each_byte_is_written_once(world, tmp_path):
    world.write_documents()
    children, text = archives_read(world, tmp_path / "first")
    assert children == 2 and not (world.cache / "unpacked").exists() and not staged(world)
    assert len(re.findall(r'"\.nodeup-[^"]*", O_\w+\|[^)]*O_CREAT', text)) >= len(CNI_MEMBERS)
    for name in CNI_MEMBERS:
        assert world.installed(name).stat().st_nlink == 1
    # a second run takes no archive apart, nor one whose memory is gone
    assert archives_read(world, tmp_path / "second")[0] == 0
    (world.root / "var/lib/nodeup/state").unlink()
    assert archives_read(world, tmp_path / "third")[0] == 0


def test_an_image_inflates_once_more(world, tmp_path):
    """What was baked is taken apart once by the boot that installs it."""
    world.write_documents()
    assert world.run("bake").code == OK
    assert archives_read(world, tmp_path / "log", "--offline")[0] <= 2
    assert all(world.installed(n).exists() for n in CNI_MEMBERS) and not staged(world)


def test_a_wrong_archive_names_nothing(world):
    world.assets[CNI].urls = [world.url(CNI, "wrong")]
    done = world.apply(NO_RETRY)
    assert done.code == INTEGRITY and not world.installed("bridge").exists() and not staged(world), done


@pytest.mark.parametrize("first", (False, True))
def test_a_hard_link_to_what_is_not_wanted(world, first):
    """As multicall programs are packed."""
    import tarfile
    link = tarfile.TarInfo("bin/bridge")
    link.type, link.linkname = tarfile.LNKTYPE, "multi"
    others = {f"bin/{n}": noise(n, 3000) for n in CNI_MEMBERS if n != "bridge"}
    members = {"multi": noise("multi", 300_000), "bin/bridge": link, **others}
    world.assets[CNI] = world.serve("cni.tar.gz", tar(members))
    if first:
        assert world.run("bake").code == OK
    world.converge()
    assert world.installed("bridge").read_bytes() == noise("multi", 300_000) and not staged(world)
