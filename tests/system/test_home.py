"""What a person has made of a place in their own home stays as it is, and keeps no run from its end."""

import os
import shutil
import stat

import pytest

from world import OK, listing, same

# The oldest Debian that kops 1.8 knows by name: its masters have a person called admin, who gets to use kubectl.
STRETCH = {"version": '"9"', "codename": "stretch"}
HOME = "home/admin"


@pytest.fixture
def node(master):
    master.facts.update(STRETCH)
    return master


def plain(path):
    path.write_text("mine\n")


def device(path):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))


def endpoint(path):
    os.mknod(path, stat.S_IFSOCK | 0o600)


def folder(path):
    path.mkdir()
    (path / "mine").write_text("mine\n")


FOLDER = "dir /home/admin/.kube: admin's own, and not a directory: left alone"
FILE = "file /home/admin/.kube/config: admin's own, and a directory: left alone"


@pytest.mark.parametrize("name, put, what", [
    (".kube", plain, FOLDER), (".kube", os.mkfifo, FOLDER), (".kube", endpoint, FOLDER), (".kube", device, FOLDER),
    (".kube/config", folder, FILE)])
@pytest.mark.parametrize("fresh", [True, False])
def test_what_is_in_the_way(node, name, put, what, fresh):
    if not fresh:
        node.converge()
        assert (node.root / HOME / ".kube/config").stat().st_uid == 1000
        shutil.rmtree(node.root / HOME / ".kube")
    path = node.root / HOME / name
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path)
    os.chown(path, 1000, 1000)
    path.parent.chmod(0o700)
    os.chown(path.parent, 1000, 1000)
    before = listing(node.root / HOME)
    for command in ("apply", "apply", "repair"):
        done = node.run(command, "--deadline=20s")
        assert done.code == OK and [l for l in done.lines if HOME in l] == [what], done
        assert "warning " + what in done.err, done
        same(before, listing(node.root / HOME))
    planned = node.plan()
    assert planned.code == OK and f"! {what}\n" in planned.out, planned
