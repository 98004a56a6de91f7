"""A root that is a machine to nodeup: it is entered by chroot, has /proc, a /run in memory, a metadata service and a cache of its own.

No systemd answers in it, and no docker: what needs them fails after three tries, and with it the run. All else is done, and a run
counts where its last file of an asset has its name and what has failed is what a machine without them cannot do."""

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import sys
import time

import data
from data import ROOT, WORK
from measure import STARTED

sys.path.insert(0, str(ROOT / "tests/system"))
from world import ENV, World  # noqa: E402

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
# below the root: the programs that are measured, and the documents
BENCH = "/opt/bench"
CACHE = "var/cache/nodeup"
# in which nothing of the node is
FOREIGN = {"proc", "run", "dev", BENCH.strip("/"), CACHE}
INSTALLED = "changed install "
WRITTEN = re.compile(r"^write_bytes: (\d+)$", re.M)


@dataclasses.dataclass
class Run:
    """Bytes are those that it and its children wrote into the page cache; seconds are of the clock but for `cpu`."""
    cpu: float
    wall: float
    until_installed: float
    written: int
    written_until_started: int
    peak: float


def own_mounts():
    """What is mounted from here on goes with this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise SystemExit(f"unshare: {os.strerror(ctypes.get_errno())}")


def written_by(launcher):
    """So far, by its child, and by what that waited for."""
    child = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()[0]
    return int(WRITTEN.search(pathlib.Path(f"/proc/{child}/io").read_text())[1])


class Machine:
    """On a file system of its own; `node` says what it has (nodes.py)."""

    def __init__(self, top, node):
        self.root, self.node = top / "machine", node
        facts = WORK / "imds.json"
        facts.write_text(json.dumps({"http-tokens": "optional", **node.facts}))
        self.imds = subprocess.Popen([sys.executable, ROOT / "tests/fake/imds.py", "127.0.0.1", str(data.IMDS_PORT), facts])
        data.await_server(data.IMDS_PORT)
        self.environ = {**ENV, **node.environ, "AWS_EC2_METADATA_SERVICE_ENDPOINT": data.base(data.IMDS_PORT)}

    def close(self):
        self.imds.kill()
        self.imds.wait()
        self.clear()

    def clear(self):
        """What a run has mounted in it goes as well."""
        mounts = [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
        for path in reversed([path for path in mounts if path.startswith(f"{self.root}/")]):
            subprocess.run(["umount", path], check=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)

    def mount(self, name, *words):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", *words, path], check=True)

    def renew(self):
        """Nothing ran on it yet, and nothing is left to write."""
        self.clear()
        World.make_root(self.root)
        settings = self.root / "etc/nodeup/nodeup.d"
        settings.mkdir(parents=True)
        # the kernel is this machine's
        (settings / "bench.yaml").write_text("ignoreHostChecks: true\n")
        (self.root / "dev").mkdir()
        os.mknod(self.root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        self.mount("proc", "-t", "proc", "proc")
        # which are this machine's as well
        self.mount("proc/sys", "--bind", "-o", "ro", "/proc/sys")
        self.mount("run", "-t", "tmpfs", "nodeup-bench")
        self.mount(BENCH.strip("/"), "--bind", WORK)
        subprocess.run(["sync", "-f", self.root], check=True)

    def argv(self, program, verb):
        return ["chroot", str(self.root), f"{BENCH}/{program}", verb, f"--conf={BENCH}/{self.node.conf}"]

    def bake(self, program):
        """What the builder of an image does; gives the bytes that it wrote into the page cache."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock
        done = subprocess.run(self.argv(program, "bake"), env=self.environ, capture_output=True, text=True, check=False)
        written = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock - before) * 512
        if done.returncode:
            raise SystemExit(f"{program} bake: status {done.returncode}\n{done.stderr}")
        subprocess.run(["sync", "-f", self.root], check=True)
        return written

    def apply(self, program):
        rss, start = WORK / "rss", time.perf_counter()
        installed, written, started, said = 0, 0, False, []
        with subprocess.Popen(["/usr/bin/time", "-q", "-o", rss, "-f", "%M", *self.argv(program, "apply")], env=self.environ, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            for line in process.stderr:
                said.append(line)
                if INSTALLED in line:
                    installed = time.perf_counter() - start
                # one that ends at once is looked at too late
                with contextlib.suppress(OSError, IndexError):
                    written = written if started else written_by(process.pid)
                started |= STARTED in line
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        lacking = [path for path in self.node.installs if not (self.root / path).is_file()]
        if lacking or not installed or not started:
            raise SystemExit(f"{program} apply: status {process.returncode}, without {lacking}\n{''.join(said)}")
        return Run(used.ru_utime + used.ru_stime, wall, installed, used.ru_oublock * 512, written, int(rss.read_text()) / 1024)

    def files(self):
        """Of the node itself."""
        for folder, names, files in os.walk(self.root):
            at = pathlib.Path(folder)
            names[:] = [name for name in names if str((at / name).relative_to(self.root)) not in FOREIGN]
            yield from (at / name for name in files if not (at / name).is_symlink())

    def installed(self):
        return sum(path.stat().st_size for path in self.files())

    def keep_installed(self):
        """A copy, for what writing it costs."""
        plain = data.DATA / "installed"
        shutil.rmtree(plain, ignore_errors=True)
        for path in self.files():
            copy = plain / path.relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        return plain
