"""Memory does not grow with what is fetched and unpacked: neither ours nor the unpacking child's."""

import gzip
import io
import lzma
import random
import sys
import tarfile

import pytest

from world import CNI, CNI_MEMBERS, INTEGRITY, KUBELET, OK, tar

MIB = 1 << 20
MOST = 32 * MIB
# The largest process of what it runs, children's children too.  Its own is small, and inherited.
LARGEST = ("import os, resource, sys\n"
           "status = os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:])\n"
           "with open(sys.argv[1], 'w') as f: print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=f)\n"
           "sys.exit(status)\n")


def measured(world, *flags):
    """A run and its peak in bytes."""
    out = world.folder / "peak"
    done = world.apply(*flags, prefix=[sys.executable, "-S", "-c", LARGEST, str(out)], timeout=120)
    return done, int(out.read_text()) * 1024


def blob(size):
    """Soon made, soon compressed, and no bomb."""
    source = random.Random(size)
    piece = source.randbytes(32 * 1024) * 31
    return b"".join(source.randbytes(32 * 1024) + piece for _ in range(size // MIB))


def plugins(size, mode="w"):
    return tar({**{f"./{name}": name.encode() for name in CNI_MEMBERS}, "./large": blob(size)}, mode)


def serve(world, name, file, data):
    world.assets[name] = world.serve(file, data)
    world.contents = {**world.contents, name: data}


def test_large_objects(world):
    """By ranges, by one stream, and an archive."""
    serve(world, KUBELET, KUBELET, blob(48 * MIB))
    world.assets[KUBELET].urls = [world.url(KUBELET, f"as={world.token}-{KUBELET}", "ranges")]
    serve(world, CNI, "cni.tar.gz", gzip.compress(plugins(48 * MIB), 1))
    done, peak = measured(world)
    assert done.code == OK, done
    assert peak < MOST, f"{peak / MIB:.1f} MiB"
    assert world.installed(KUBELET).stat().st_size == 48 * MIB


def test_many_directories(world):
    """Whoever sets the modes of an archive's directories at the end remembers each of them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as t:
        for i in range(30_000):
            info = tarfile.TarInfo(f"./a-name-of-some-length-{i % 100}/{'x' * 60}-{i}")
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            t.addfile(info)
        for name in CNI_MEMBERS:
            info = tarfile.TarInfo(f"./{name}")
            info.size = 1
            t.addfile(info, io.BytesIO(b"x"))
    serve(world, CNI, "cni.tar.gz", out.getvalue())
    done, peak = measured(world)
    assert done.code == OK, done
    assert peak < MOST, f"{peak / MIB:.1f} MiB"


@pytest.mark.parametrize("size, window, fits", [(40, 16, True), (12, 64, True), (40, 64, False)])
def test_windows(world, size, window, fits):
    """Of xz: a large one is harmless as long as little comes out."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": window * MIB}]
    serve(world, CNI, "cni.tar.xz", lzma.compress(plugins(size * MIB), filters=filters))
    done, peak = measured(world)
    assert peak < MOST, f"{peak / MIB:.1f} MiB"
    if fits:
        assert done.code == OK, done
    else:
        assert done.code == INTEGRITY and "it takes more than 32 MiB of memory to unpack" in done.failure, done
        assert "xz -7" in done.failure and not world.unused(), done
