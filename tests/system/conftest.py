import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess

import pytest

from emulator import Imds
from held import Held
from slow import SlowRuns
from world import Asset, CNI, CNI_MEMBERS, PROGRAM, Origin, Told, World, make_assets, noise, tar, until


# Shells start what runs in the background with SIGINT ignored, and programs leave such a signal ignored.
# A handler of ours becomes the default in what the tests start, some of which send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def pytest_configure():
    if not os.access(PROGRAM, os.X_OK):
        raise pytest.UsageError(f"{PROGRAM}: not built")
    # A mount namespace of another test's would copy the mounts of this process, and hold their disks while it lives.
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and (libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)):
        raise pytest.UsageError(f"unshare: {os.strerror(ctypes.get_errno())}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    item.has_failed = getattr(item, "has_failed", False) or report.failed


@pytest.fixture
def tmp_path(request, tmp_path):
    """Files of a test that passed are removed: all of them together are gigabytes."""
    yield tmp_path
    if not request.node.has_failed:
        subprocess.run(["rm", "-rf", "--one-file-system", tmp_path], stderr=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def contents(tmp_path_factory):
    """The assets' bytes by name."""
    return make_assets()


@pytest.fixture(scope="session")
def origin(tmp_path_factory, contents):
    folder = tmp_path_factory.mktemp("origin")
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    server = Origin(folder, tmp_path_factory.mktemp("tls"))
    yield server
    server.close()


@pytest.fixture
def make_origin(tmp_path):
    """More of them, on ports of their own."""
    made = []

    def make():
        folder = tmp_path / f"origin-{len(made)}"
        (folder / "served").mkdir(parents=True)
        made.append(Origin(folder / "served", folder))
        return made[-1]
    yield make
    for server in made:
        server.close()


@pytest.fixture
def world(tmp_path, origin, contents):
    """A worker to be."""
    return World(tmp_path, origin, contents)


@pytest.fixture
def master(tmp_path, origin, contents):
    return World(tmp_path, origin, contents, role="master")


@pytest.fixture
def make_world(tmp_path, origin, contents):
    made = []

    def make(name, role="nodes"):
        (tmp_path / name).mkdir()
        made.append(World(tmp_path / name, origin, contents, role=role))
        return made[-1]
    yield make


class Mounts:
    """A mount namespace of our own that lives as long as the test."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", "echo; exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        # with its root: in a chroot, the root of a mount namespace is not ours
        self.enter = ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", f"--root=/proc/{self.holder.pid}/root", "--"]

    def run(self, *argv):
        subprocess.run([*self.enter, *map(str, argv)], check=True)

    def path(self, path):
        """What the namespace has at a path, for those outside."""
        return type(path)(f"/proc/{self.holder.pid}/root{path}")

    def close(self):
        self.holder.stdin.close()
        self.holder.wait(10)


@pytest.fixture
def mounts():
    m = Mounts()
    yield m
    m.close()


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
    env = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.url}
    made = []

    def start(*flags):
        made.append(Told(world, [*argv, *flags], env))
        return made[-1]
    start.argv, start.env = argv, env
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


@pytest.fixture
def held(world):
    """Plugins of which enough comes at once for unpacking to begin, and more is held back than a pipe can hold."""
    data = tar({name: noise(name, 2_000_000) for name in CNI_MEMBERS})
    server = Held(data, 3_000_000)
    world.assets[CNI] = Asset(hashlib.sha256(data).hexdigest(), [f"http://127.0.0.1:{server.server_port}/{CNI}"])
    yield server
    server.close()


@pytest.fixture(scope="session")
def slow_runs(tmp_path_factory, origin, contents):
    runs = SlowRuns(tmp_path_factory.mktemp("slow"), origin, contents)
    yield runs
    runs.close()
