import os
import subprocess

import pytest

from slow import SlowRuns
from world import PROGRAM, Origin, World, make_assets


def pytest_configure():
    if not os.access(PROGRAM, os.X_OK):
        raise pytest.UsageError(f"{PROGRAM}: not built")


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
    def make(name, role="nodes"):
        (tmp_path / name).mkdir()
        return World(tmp_path / name, origin, contents, role=role)
    return make


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


@pytest.fixture(scope="session")
def slow_runs(tmp_path_factory, origin, contents):
    runs = SlowRuns(tmp_path_factory.mktemp("slow"), origin, contents)
    yield runs
    runs.close()


def pytest_collection_modifyitems(items):
    """What takes long but does little begins first, on one of the processes, while the others go on."""
    items.sort(key=lambda item: "slow_runs" not in item.fixturenames)
