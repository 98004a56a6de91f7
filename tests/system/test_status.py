"""What status.json says of an asset that does not come, while the run is under way."""

import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import threading
import time

import pytest

from emulator import Imds
from world import Asset, CNI, CNI_MEMBERS, KUBELET, PROGRAM, Told, UTILS, noise, tar, until

# it is looked at a few times a second, and working then
UNDER_WAY = ("waiting", "working")
SIGNATURE = "d41d8cd98f00b204e9800998ecf8427e"


@pytest.fixture
def told(world, tmp_path):
    """An apply in a root that is a machine to it: an image has no status."""
    folder = tmp_path / "imds"
    folder.mkdir()
    imds = Imds(folder, **{"local-hostname": world.facts["localHostname"], "local-ipv4": world.facts["localIPv4"],
                           "placement/availability-zone": world.facts["availabilityZone"]})
    shutil.copy(PROGRAM, world.root / "nodeup")
    # the documents are where they are for everybody else
    inside = world.root / str(world.folder)[1:]
    inside.mkdir(parents=True)
    for name in ("dev", "proc", "sys"):
        (world.root / name).mkdir()
    enter = f'mount --bind {world.folder} {inside} && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    argv = ["unshare", "-m", "--propagation", "private", "sh", "-c", enter, str(world.root), "/nodeup", "apply",
            f"--conf={world.conf}", f"--cache={world.cache}"]
    made = []

    def start():
        made.append(Told(world, argv, {"AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.url}))
        return made[-1]
    yield start
    for t in made:
        t.end(signal.SIGKILL)
    imds.close()


class Status:
    """The status.json of a world, and all that it ever said."""

    def __init__(self, world):
        self.path, self.seen = world.root / "run/nodeup/status.json", ""

    def asset(self, name):
        """What it says of an asset now; None: not a word."""
        if not self.path.exists():
            return None
        text = self.path.read_text()
        if text not in self.seen:
            self.seen += text
        return next((a for a in json.loads(text).get("assets", []) if a["name"] == name), None)

    def until(self, name, true):
        return until(lambda: (a := self.asset(name)) and true(a) and a, lambda: json.dumps(json.loads(self.path.read_text()).get("assets")))


@pytest.fixture
def status(world):
    return Status(world)


def test_what_it_waits_for(world, told, status):
    """Three at once: one that is told to come back later, one that gets no answer, one that is fine. A presigned
    query is a password."""
    begun = int(time.time() * 1000)
    query = f"?X-Amz-Credential=AKIAEXAMPLE&X-Amz-Signature={SIGNATURE}"
    world.secrets.add(SIGNATURE)
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1000000", "code=503", "retry_after=1800") + query]
    world.assets[CNI].urls = [world.url(CNI, f"gate={world.token}") + query]
    run = told()
    kubelet = status.until(KUBELET, lambda a: "nextTryUnixMs" in a and "sinceUnixMs" in a)
    assert kubelet["state"] in UNDER_WAY and kubelet["attempt"] >= 1, kubelet
    assert kubelet["mirror"] == world.assets[KUBELET].urls[0].removesuffix(query), kubelet
    assert "503" in kubelet["lastError"] and "503" in kubelet["waiting"] and "next in" in kubelet["waiting"], kubelet
    assert begun <= kubelet["sinceUnixMs"] <= time.time() * 1000 + 1000, kubelet
    # as the server says, and neither at once nor for ever
    assert 900_000 < kubelet["nextTryUnixMs"] - begun < 3_600_000, kubelet
    cni = status.until(CNI, lambda a: a.get("attempt") and "sinceUnixMs" in a)
    assert cni["state"] in UNDER_WAY and cni["bytes"] == 0 and "lastError" not in cni, cni
    assert world.assets[CNI].urls[0].removesuffix(query) in cni["waiting"], cni
    utils = status.until(UTILS, lambda a: a["state"] == "changed")
    assert "waiting" not in utils and "nextTryUnixMs" not in utils, utils
    # the one is answered, and is no more waited for
    world.origin.control(f"/__open?path={world.token}")
    status.until(CNI, lambda a: "waiting" not in a and a["state"] == "changed")
    assert status.asset(KUBELET)["state"] in UNDER_WAY, status.seen[-2000:]
    assert SIGNATURE not in status.seen and "AKIAEXAMPLE" not in status.seen and "X-Amz" not in status.seen
    run.end(signal.SIGTERM)
    assert SIGNATURE not in status.path.read_text()


class Held(http.server.ThreadingHTTPServer):
    """One object in two parts: the second when it is let go."""

    daemon_threads = True

    def __init__(self, data, first):
        super().__init__(("127.0.0.1", 0), HeldAnswer)
        self.data, self.first = data, first
        self.begun, self.go = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.go.set()
        self.shutdown()
        self.server_close()


class HeldAnswer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.data)))
        self.end_headers()
        self.wfile.write(self.server.data[:self.server.first])
        self.server.begun.set()
        if self.server.go.wait(300):
            self.wfile.write(self.server.data[self.server.first:])

    def log_message(self, *args):
        pass


@pytest.fixture
def held(world):
    """Plugins of which enough comes at once for unpacking to begin, and more is held back than a pipe can hold."""
    data = tar({name: noise(name, 2_000_000) for name in CNI_MEMBERS})
    server = Held(data, 3_000_000)
    world.assets[CNI] = Asset(hashlib.sha256(data).hexdigest(), [f"http://127.0.0.1:{server.server_port}/{CNI}"])
    yield server
    server.close()


def stat(pid):
    """What comes behind its name in /proc/PID/stat: its state, its parent..."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def unpackers(parent):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            is_child = int(stat(folder.name)[1]) == parent
            if is_child and (folder / "cmdline").read_bytes().startswith(b"nodeup-unpack\0" + CNI.encode()):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_an_unpacker_that_stands_still(world, told, status, held):
    """It is said who is waited for; and who goes on is none the worse."""
    run = told()
    assert held.begun.wait(Told.PATIENCE)
    child = until(lambda: unpackers(run.process.pid), run.text)[0]
    os.kill(child, signal.SIGSTOP)
    until(lambda: stat(child)[0] == "T")
    held.go.set()
    status.until(CNI, lambda a: "waiting for its unpacker for" in a.get("waiting", ""))
    os.kill(child, signal.SIGCONT)
    until(lambda: world.installed("bridge").exists(), run.text)
    assert world.installed("bridge").stat().st_size == 2_000_000
