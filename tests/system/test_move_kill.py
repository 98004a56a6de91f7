"""SIGKILL at any moment of a move: not a byte is lost, nothing half-copied has a mark, and the next attempt ends
with the whole of it on the volume, whatever tools of the killed one are still at work."""

import fcntl
import os
import shutil
import signal
import subprocess

import pytest

from world import ROOT

PROBE = "build/system/move_probe"
SOURCE, TARGET, DISK = "var/lib/docker", "mnt/disks/docker", "mnt/disks"
MARK = DISK + "/.nodeup/var-lib-docker@i-0a1b"
RECORD = "var/lib/nodeup/moved/var-lib-docker@i-0a1b"
# the n-th of these calls is the end; poll is what it does while a tool works
MOMENTS = ("mkdirat", "write", "fsync", "syncfs", "flock", "renameat", "poll")
MOUNTS = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 8:16 / /mnt/disks rw - ext4 /dev/sdb rw\n"
# slow enough for the next attempt to find it at work
CP = "#!/bin/sh\nPATH=${PATH#*:}\nsleep 0.1\nexec cp \"$@\"\n"


@pytest.fixture(scope="module")
def probe():
    with open(ROOT / "build/move_probe.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", "FAKES=" + PROBE, PROBE], cwd=ROOT, env=environ, check=True)
    return ROOT / PROBE


class Machine:
    def __init__(self, root, probe):
        self.root, self.probe = root, probe
        for path in (SOURCE + "/image", SOURCE + "/empty", DISK, "proc/self", "tools"):
            (root / path).mkdir(parents=True)
        (root / "proc/self/mountinfo").write_text(MOUNTS)
        (root / "tools/cp").write_text(CP)
        (root / "tools/cp").chmod(0o755)
        (root / SOURCE / "image/precious").write_bytes(os.urandom(20000))
        (root / SOURCE / "image/link").symlink_to("precious")
        self.want = self.tree(SOURCE)

    def tree(self, path):
        top = self.root / path
        return {str(p.relative_to(top)): os.readlink(p) if p.is_symlink() else p.read_bytes() if p.is_file() else None
                for p in sorted(top.rglob("*"))}

    def run(self, *prefix):
        return subprocess.run([*prefix, self.probe, self.root], capture_output=True, text=True, timeout=200, check=False,
                              env={**os.environ, "PATH": "%s/tools:%s" % (self.root, os.environ["PATH"])})

    def fresh_disk(self):
        shutil.rmtree(self.root / DISK)
        (self.root / DISK).mkdir()

    def is_whole(self):
        assert self.tree(SOURCE) == self.want, "the only copy was touched"
        if (self.root / MARK).exists():
            assert self.tree(TARGET) == self.want, "a mark without all of the content"
        if (self.root / RECORD).exists():
            assert (self.root / MARK).exists(), "a disk that never had it is remembered"


@pytest.mark.parametrize("call", MOMENTS)
def test_killed_at_any_moment(call, probe, tmp_path):
    killed = 0
    for n in range(1, 60):
        root = tmp_path / str(n)
        root.mkdir()
        machine = Machine(root, probe)
        done = machine.run("strace", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
                           "inject=%s:signal=KILL:when=%d" % (call, n))
        machine.is_whole()
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done
        killed += 1
        again = machine.run()
        assert again.returncode == 0, again
        machine.is_whole()
        assert machine.tree(TARGET) == machine.want
        assert (root / MARK).exists() and (root / RECORD).exists()
        assert os.listdir(root / DISK / ".nodeup") == [os.path.basename(MARK)], "staging is left"
        # what was whole there once is not current on a disk that is fresh
        machine.fresh_disk()
        assert machine.run().returncode == 0
        assert machine.tree(SOURCE) == machine.want and machine.tree(TARGET) == {}
    else:
        pytest.fail("it never came to an end")
    assert killed, call + " is never called"
