"""Memory does not grow with what is fetched and unpacked: neither ours nor the unpacking child's."""

import gzip
import hashlib
import http.server
import io
import lzma
import os
import random
import subprocess
import sys
import tarfile
import threading

import pytest

from kops import Worker
from world import CNI, CNI_MEMBERS, CONFIG, INTEGRITY, KUBELET, LARGEST, OK, PROGRAM, Asset, tar

MIB = 1 << 20
MOST = 32 * MIB


def measured(world, command="apply"):
    """A run and its peak in bytes."""
    prefix, peak = world.measuring()
    return world.run(command, prefix=prefix, timeout=120), peak()


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


@pytest.mark.parametrize("plan", ['{"schema": "%s"}' % ("x" * 15 * MIB), "[%s1]" % ("1," * MIB), "[%s1]" % ('{"a":1},' * 150_000)],
                         ids=["one text", "numbers", "maps"])
def test_a_saved_plan(world, plan):
    (world.folder / "plan.json").write_text(plan)
    prefix, peak = world.measuring()
    done = world.apply(f"--plan={world.folder}/plan.json", prefix=prefix)
    assert done.code == CONFIG and "plan.json" in done.failure, done
    assert peak() < MOST, f"{peak() / MIB:.1f} MiB"


@pytest.mark.parametrize("n, size, status", [(150_000, 0, INTEGRITY), (19_000, 180, OK)], ids=["too many values", "almost as large as may be"])
def test_answers_of_kops_controller(n, size, status, tmp_path):
    """Three of them have no nodeupConfig. What is asked for again is not kept."""
    worker, peak = Worker(tmp_path), tmp_path / "peak"
    worker.control["faults"] = [{"nodeSecrets": {str(i): "A" * size for i in range(n)}}] * 3
    with worker.controller():
        argv = [sys.executable, "-S", "-c", LARGEST, PROGRAM, tmp_path / "measured", peak, *worker.command("apply")]
        done = subprocess.run(list(map(str, argv)), env=worker.environ(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done
    assert int(peak.read_text()) * 1024 < MOST, peak.read_text()


class Hole(http.server.BaseHTTPRequestHandler):
    """Any part of a file that is a hole."""
    protocol_version = "HTTP/1.1"
    file, size = None, 600 * MIB

    def do_GET(self):
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        last = min(last, self.size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{self.size}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("ETag", '"hole"')
        self.end_headers()
        while first <= last:
            first += os.sendfile(self.wfile.fileno(), self.file.fileno(), first, last + 1 - first)

    def log_message(self, *_):
        pass


@pytest.fixture
def hole(tmp_path):
    with open(tmp_path / "hole", "wb+") as file:
        file.truncate(Hole.size)
        Hole.file = file
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hole) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{server.server_address[1]}/hole"
            server.shutdown()
            thread.join()


def test_a_huge_object(world, hole):
    """By ranges, over all the connections that one mirror gets."""
    digest = hashlib.sha256()
    for _ in range(Hole.size // MIB):
        digest.update(bytes(MIB))
    world.assets["huge"] = Asset(digest.hexdigest(), [hole])
    done, peak = measured(world, "bake")
    assert done.code == OK, done
    assert (world.cache / "sha256" / digest.hexdigest()).stat().st_size == Hole.size
    (world.cache / "sha256" / digest.hexdigest()).unlink()
    assert peak < MOST, f"{peak / MIB:.1f} MiB"


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
