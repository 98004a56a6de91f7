"""A root that is a machine to nodeup: it is entered by chroot, has /proc, a /run in memory, a metadata service and a cache of its own.

No systemd answers in it, and no docker: what needs them fails after three tries, and with it the run. All else is done, and a run
counts where its last file of an asset has its name and what has failed is what a machine without them cannot do."""

import ctypes
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import data
import keys
import tools
from data import DATA, ROOT, WORK
from measure import count, empty, measure, shell

sys.path.insert(0, str(ROOT / "tests/system"))
from world import ENV, World  # noqa: E402

CLONE_NEWNS, CLONE_NEWNET, MS_REC, MS_PRIVATE = 0x20000, 0x40000000, 0x4000, 0x40000
LIBC = ctypes.CDLL(None, use_errno=True)
# below the root: the programs that are measured, and the documents
BENCH = "/opt/bench"
CACHE = "var/cache/nodeup"
# in which nothing of the node is
FOREIGN = {"proc", "run", "dev", BENCH.strip("/"), CACHE}


def unshare(kinds):
    if LIBC.unshare(kinds):
        raise SystemExit(f"unshare: {os.strerror(ctypes.get_errno())}")


def own_mounts():
    """What is mounted from here on goes with this process."""
    unshare(CLONE_NEWNS)
    if LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise SystemExit(f"mount: {os.strerror(ctypes.get_errno())}")


def own_network():
    """No other has a server at the bench's ports."""
    unshare(CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Machine:
    """On a file system of its own, made anew for each run; `node` says what it has (nodes.py), `way` what it is measured in (rows.py)."""
    times = 1

    def __init__(self, top, node, way, _):
        self.root, self.out, self.node, self.way = top / "machine", top / "out", node, way
        self.wanted, self.installed, self.keys, self.baked, self.floor, self.floor_s, self.beside = [], 0, 0, {}, {}, 0, {}
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
        roots = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        if roots.exists():
            # a machine has them; one that has none looks again with each request over TLS
            (self.root / roots.relative_to("/")).parent.mkdir(parents=True)
            shutil.copy(roots, self.root / roots.relative_to("/"))
        # an empty loop device is no disk, but no list of disks is an error
        (self.root / "sys/block/loop0").mkdir(parents=True)
        (self.root / "dev").mkdir()
        os.mknod(self.root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        self.mount("proc", "-t", "proc", "proc")
        # which are this machine's as well
        self.mount("proc/sys", "--bind", "-o", "ro", "/proc/sys")
        self.mount("run", "-t", "tmpfs", "nodeup-bench")
        self.mount(BENCH.strip("/"), "--bind", WORK)
        subprocess.run(["sync", "-f", self.root], check=True)

    def argv(self, program, *verb):
        """Without a verb it is apply, and kops' own program takes it as well."""
        return ["chroot", str(self.root), f"{BENCH}/{program}", *verb, f"--conf={BENCH}/{verb and self.node.bakes or self.node.conf}"]

    def prepare(self, program):
        self.renew()
        if self.way == "baked":
            self.baked.setdefault(program, []).append(measure(self.argv(program, "bake"), self.environ))
            subprocess.run(["sync", "-f", self.root], check=True)
        self.cool()

    def cool(self):
        """Nothing is in memory but what the server serves and what runs."""
        if self.way == "cold":
            subprocess.run(["sync", "-f", self.root, "-f", WORK], check=True)
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
            for name in self.node.assets:
                with (DATA / name).open("rb") as file:
                    while file.read(data.MB):
                        pass

    def run(self, program):
        self.prepare(program)
        before = self.node.mark()
        found = measure(self.argv(program), self.environ, self.node, may_fail=True)
        lacking = [path for path in self.node.installs if not (self.root / path).is_file()]
        if lacking or program == "nodeup" and not {"installed s", "MB in until started"} <= set(found):
            raise SystemExit(f"{program}: without {lacking}\n{(WORK / 'log').read_text()}")
        if not self.installed:
            self.look(before)
        return found

    def look(self, before):
        """What the first run has shown: what the floor is of, and the tools' ways."""
        self.wanted = sorted({name for name, _ in self.node.sent(before) if name in self.node.assets})
        self.installed = sum(path.stat().st_size for path in self.files())
        self.keys = len(keys.find(self.files()) - keys.find((WORK / self.node.conf.split("/", maxsplit=1)[0]).rglob("*")))
        fetched = sum((DATA / name).stat().st_size for name in self.wanted)
        self.floor_s = {"slow": fetched / data.RATE, "disk": self.installed / data.DISK}.get(self.way, 0)
        self.floor = tools.floor(self.node, self.wanted, self.keep_installed(), self.keys) | {"disk": tools.disk(self.installed)}
        if self.wanted and self.way != "crawl":
            self.beside["pipeline"] = tools.pipeline(self.node, self.wanted, self.node.ports[0]) + "\nsync -f ." * (self.way == "disk")
        if self.wanted and self.way in ("slow", "crawl"):
            self.beside["aria2c, tar"] = tools.aria(self.node, self.wanted, self.node.ports)

    def tool(self, text, is_cold):
        empty(self.out)
        if is_cold:
            self.cool()
        return measure(shell(self.out, text), node=self.node)

    def count(self, program):
        """In a run of its own, that is not timed. What waits for a network or a disk asks for as much as what does not."""
        if self.way not in ("fresh", "baked"):
            return {}
        self.prepare(program)
        return count(self.argv(program), self.environ, self.root / "run")

    def tell(self):
        """What it was, in words."""
        return (f"{sum((DATA / n).stat().st_size for n in self.wanted) / data.MB:.0f} MB fetched, {self.installed / data.MB:.0f} MB installed, "
                f"{self.keys} keys made")

    def files(self):
        """Of the node itself."""
        for folder, names, files in os.walk(self.root):
            at = pathlib.Path(folder)
            names[:] = [name for name in names if str((at / name).relative_to(self.root)) not in FOREIGN]
            yield from (at / name for name in files if not (at / name).is_symlink())

    def keep_installed(self):
        """A copy, for what writing it costs."""
        plain = data.DATA / "installed"
        shutil.rmtree(plain, ignore_errors=True)
        for path in self.files():
            copy = plain / path.relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        return plain
