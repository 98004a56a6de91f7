"""One node in the making: documents, a copy of the seed's state store, a root, a cache, and assets
on a loopback server.  Every run goes through World.run, which sees to it that no output holds a
secret and that the exit status is a documented one."""

import base64
import collections
import dataclasses
import fcntl
import hashlib
import http.client
import io
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = ROOT / "tests/data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net"
SEED_BASE = "s3://jdurbin-kops/abc.joshdurbin.net"
PROGRAM = pathlib.Path(os.environ.get("NODEUP", ROOT / "build/nodeup")).resolve()

OK, PENDING, USAGE, INTEGRITY, NET, SYSTEM, REFUSED, BUSY, CONFIG = 0, 2, 64, 65, 69, 71, 73, 75, 78
DOCUMENTED = {OK, PENDING, USAGE, INTEGRITY, NET, SYSTEM, REFUSED, BUSY, CONFIG}



def every(step, rows):
    """The rows of a table of cases, of which each STEPth is of `make check`; the others are of the long check."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=[pytest.mark.long] * (i % step != 0)) for i, row in enumerate(rows)]


# No run may take longer; what should end sooner says so itself.
PATIENCE = 60
ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}

KUBELET, KUBECTL, CNI, UTILS, PROTOKUBE = "kubelet", "kubectl", "cni-1.tar.gz", "utils.tar.gz", "protokube.tar.gz"
CNI_MEMBERS = ("bridge", "host-local", "loopback")
GROUPS = {"nodes": "nodes", "master": "master-us-west-2a"}
FACTS = {
    "distribution": "debian", "version": '"12"', "codename": "bookworm", "arch": "amd64", "region": "us-west-2",
    "availabilityZone": "us-west-2a", "instanceID": "i-0123456789abcdef0", "instanceType": "t2.medium",
    "localHostname": "ip-172-20-32-10.us-west-2.compute.internal", "localIPv4": "172.20.32.10",
    "filesystems": "[ext4, overlay]",
}


def build(name):
    """A program of ours for tests, as the shipped one is made. One process at a time: several make what they have
    in common at once, and a program that is being written is neither whole nor can it be run."""
    # not as a part of the make that may have started us
    environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    program = f"build/system/{name}"
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/system.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", f"FAKES={program}", program], cwd=ROOT, env=environ, check=True)
    return ROOT / program


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def tar(members, mode="w:gz"):
    """An archive of {name: bytes}; a value that is a TarInfo goes in as it is."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        for name, data in members.items():
            info = data
            if isinstance(data, bytes):
                info = tarfile.TarInfo(name)
                info.size, info.mode = len(data), 0o755
            t.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    return out.getvalue()


def make_assets():
    """Name to bytes."""
    plugins = {f"./{name}": noise(name, 300_000) for name in (*CNI_MEMBERS, "ptp", "tuning")}
    return {
        KUBELET: noise("kubelet", 2_000_000),
        KUBECTL: noise("kubectl", 500_000),
        CNI: tar(plugins),
        UTILS: tar({"socat": noise("socat", 100_000)}),
        PROTOKUBE: tar({"repositories": noise("image", 200_000)}),
    }


# The largest process of what it runs, children's children too.  Its own is small, and inherited.
# It runs a copy of the program, written page by page.  Of a file as the linker left it the page cache has large pieces,
# and the kernel counts a whole piece where one page is touched: up to 3 MiB that the program did not ask for.
LARGEST = ("import os, resource, sys\n"
           "program, copy, out, *argv = sys.argv[1:]\n"
           "with open(program, 'rb') as whole, open(copy, 'wb', buffering=0) as pages:\n"
           "    os.fchmod(pages.fileno(), 0o755)\n"
           "    while page := whole.read(4096): pages.write(page)\n"
           "argv = [copy if a == program else a for a in argv]\n"
           "status = os.spawnv(os.P_WAIT, argv[0], argv)\n"
           "with open(out, 'w') as f: print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=f)\n"
           "sys.exit(status)\n")


class Origin:
    """tests/fake/origin.py at work."""

    def __init__(self, folder, tls):
        self.folder, self.ca = folder, tls / "cert.pem"
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "tests/fake/origin.py", "--dir", folder, "--tls", tls, "--until-eof"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port, self.tls_port = map(int, self.process.stdout.readline().split())
        self.base, self.tls_base = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{self.tls_port}"

    def control(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def ask(self, what, url):
        path = "/" + url.split("://", 1)[1].split("/", 1)[1].split("?")[0]
        return int(self.control(f"/__{what}?path={path}"))

    def count(self, url):
        """How often it was asked for."""
        return self.ask("count", url)

    def sent(self, url):
        """How many bytes of it were sent."""
        return self.ask("sent", url)

    def refused(self):
        return f"http://127.0.0.1:{self.control('/__refused')}"

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


@dataclasses.dataclass
class Result:
    code: int
    out: str
    err: str
    seconds: float

    @property
    def lines(self):
        """stderr without time and level."""
        return [re.sub(r"^\d\d:\d\d:\d\d\.\d{3} .{7} ", "", l) for l in self.err.splitlines()]

    @property
    def failure(self):
        """The one line that says what went wrong."""
        found = [l for l in self.lines if re.match(r"(FAILED|REFUSED) ", l)] or [
            f"FAILED {place or ''}{text} ({self.code})" for place, text in self.errors]
        assert len(found) == 1, f"want one FAILED line, got {len(found)}:\n{self}"
        assert found[0].endswith(f"({self.code})"), f"does not name exit status {self.code}: {found[0]}"
        return found[0]

    @property
    def errors(self):
        """What validate says of documents: pairs of the place, "" for none, and the text."""
        return re.findall(r"^((?:\S+:\d+:\d+: )?)error: (.*)$", self.err, re.M)

    @property
    def notes(self):
        """The indented lines below it."""
        lines = self.lines
        at = next(i for i, l in enumerate(lines) if l == self.failure or re.match(r"(\S+:\d+:\d+: )?error: ", l))
        return "\n".join(l for l in self.lines[at + 1:] if l.startswith("  "))

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.1f} s\nstdout:\n{self.out}stderr:\n{self.err}"


@dataclasses.dataclass
class Asset:
    digest: str
    urls: list

    def __str__(self):
        return f"{self.digest}@{','.join(self.urls)}" if self.digest else ",".join(self.urls)


class World:
    number = itertools.count()

    def __init__(self, folder, origin, contents, role="nodes"):
        self.folder, self.origin, self.contents, self.role = folder, origin, contents, role
        # two tests may have the same folder, one after the other
        self.token = f"{os.getpid():x}-{next(World.number)}"
        self.root, self.cache, self.store = folder / "root", folder / "cache", folder / "store"
        self.conf, self.facts_file = folder / "conf/kube_env.yaml", folder / "conf/facts.yaml"
        shutil.copytree(SEED, self.store)
        # All that a store holds of places is where the rest of it is.
        self.edit_store("cluster.spec", lambda t: t.replace(SEED_BASE, str(self.store)))
        self.config_base = str(self.store)
        self.more, self.own_cache = "", False
        self.make_root(self.root)
        self.conf.parent.mkdir()
        self.facts = dict(FACTS)
        self.assets = {name: Asset(self.digest(name), [self.url(name)]) for name in (KUBELET, KUBECTL, CNI, UTILS)}
        self.protokube, self.protokube_tag = Asset(self.digest(PROTOKUBE), [self.url(PROTOKUBE)]), "1.8.1"
        self.secrets = set(self.find_secrets())

    # what the world is made of

    def use_own_cache(self):
        """That of the node itself, in the place of one that several nodes have; one member is large."""
        self.own_cache, self.cache = True, self.root / "var/cache/nodeup"
        sizes = {name: 300_000 for name in CNI_MEMBERS} | {CNI_MEMBERS[0]: 1_500_000}
        self.assets[CNI] = self.serve(CNI, tar({f"./{name}": noise(name, size) for name, size in sizes.items()}))

    @staticmethod
    def make_root(root):
        """An image of Debian with docker.io, as far as it matters here."""
        for name in ("etc", "usr/lib/systemd/system", "var/lib", "run"):
            (root / name).mkdir(parents=True)
        (root / "usr/lib/systemd/system/docker.service").write_text(
            "[Service]\nExecStart=/usr/sbin/dockerd\n[Install]\nWantedBy=multi-user.target\n")
        (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\nadmin:x:1000:1000::/home/admin:/bin/bash\n")
        (root / "etc/group").write_text("root:x:0:\nadmin:x:1000:\n")
        (root / "etc/keep").write_text("none of nodeup's\n")
        (root / "etc/keep").chmod(0o640)

    def url(self, name, *faults, base=None):
        """Where the origin serves an asset, with faults: "status=404"."""
        return "/".join([base or self.origin.base, self.token, *(f"~{f}" for f in faults), name])

    def digest(self, name, algo="sha256"):
        return hashlib.new(algo, self.contents[name]).hexdigest()

    def serve(self, name, data):
        """A new asset of this world alone, under a name of its own."""
        unique = f"{self.token}-{name}"
        (self.origin.folder / unique).write_bytes(data)
        return Asset(hashlib.sha256(data).hexdigest(), [self.url(unique)])

    def local(self, name, data):
        """An asset on the host's own disk."""
        path = self.folder / "local" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return Asset(hashlib.sha256(data).hexdigest(), [f"file://{path}"])

    def edit_store(self, name, change):
        path = self.store / name
        path.write_text(change(path.read_text()))

    def find_secrets(self):
        for path in self.store.glob("pki/private/*/*.key"):
            yield from (l for l in path.read_text().splitlines() if len(l) > 40 and not l.startswith("-"))
        for path in self.store.glob("secrets/*"):
            data = json.loads(path.read_text())["Data"]
            yield from (data, base64.b64decode(data).decode())

    def env_text(self):
        tags = ["_automatic_upgrades", "_aws"] + ["_kubernetes_master"] * (self.role == "master")
        return "".join(f"{line}\n" for line in [
            "Assets:", *(f"- {a}" for a in self.assets.values()), "ClusterName: abc.joshdurbin.net",
            *([f"ConfigBase: {self.config_base}"] if self.config_base else []),
            f"InstanceGroupName: {GROUPS[self.role]}", "Tags:", *(f"- {t}" for t in tags), "channels:",
            f"- {SEED_BASE}/addons/bootstrap-channel.yaml", "protokubeImage:", f"  hash: {self.protokube.digest}",
            f"  name: protokube:{self.protokube_tag}", f"  source: {','.join(self.protokube.urls)}"]) + self.more

    def write_documents(self):
        facts = "".join(f"{k}: {v}\n" for k, v in self.facts.items())
        for path, text in ((self.conf, self.env_text()), (self.facts_file, facts)):
            if not path.exists() or path.read_text() != text:
                path.write_text(text)

    def requests(self):
        """How often any asset was asked for."""
        urls = {u for a in (*self.assets.values(), self.protokube) for u in a.urls if u.startswith(self.origin.base)}
        return sum(map(self.origin.count, urls))

    def requests_of_needed(self):
        """Without those for the archive that is given up once the other one has the plugins: whether it was asked for
        by then is a matter of chance."""
        return self.requests() - sum(map(self.origin.count, self.assets[UTILS].urls))

    # what is run

    def argv(self, command, *flags, root=None, cache=None, conf=None):
        return [str(PROGRAM), command, f"--root={root or self.root}", f"--facts={self.facts_file}",
                f"--conf={conf or self.conf}",
                *([] if command == "validate" or self.own_cache else [f"--cache={cache or self.cache}"]), *flags]

    def start(self, argv, env=None, stdin=subprocess.DEVNULL):
        return subprocess.Popen(argv, env={**ENV, **(env or {})}, stdin=stdin, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", cwd=self.folder,
                                start_new_session=True)

    def finish(self, process, started, timeout=PATIENCE, may_die=False):
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # with what it runs under and what it has started
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"still at work after {timeout} s\nstdout:\n{out}stderr:\n{err}") from None
        result = Result(process.returncode, out, err, time.monotonic() - started)
        self.check_secrets(out + err, "output")
        assert may_die or result.code in DOCUMENTED, f"undocumented exit status\n{result}"
        return result

    def run_argv(self, argv, env=None, timeout=PATIENCE, may_die=False):
        started = time.monotonic()
        return self.finish(self.start(argv, env), started, timeout, may_die)

    def run(self, command, *flags, prefix=(), env=None, timeout=PATIENCE, may_die=False, write=True, **where):
        if write:
            self.write_documents()
        return self.run_argv([*prefix, *self.argv(command, *flags, **where)], env, timeout, may_die)

    def apply(self, *flags, **kw):
        return self.run("apply", *flags, **kw)

    def plan(self, *flags, **kw):
        return self.run("plan", *flags, **kw)

    def converge(self, *flags, **kw):
        """An apply that must succeed."""
        result = self.apply(*flags, **kw)
        assert result.code == OK, result
        assert result.out.splitlines()[0].startswith("nodeup version "), result.out
        assert result.out.splitlines()[-1] == "success", result.out
        return result

    def measuring(self):
        """What to run something under, and then its peak of memory in bytes."""
        out = self.folder / "peak"
        prefix = [sys.executable, "-S", "-c", LARGEST, str(PROGRAM), str(self.folder / "measured"), str(out)]
        return prefix, lambda: int(out.read_text()) * 1024

    # what is looked at

    def check_secrets(self, text, what):
        for secret in self.secrets:
            assert secret not in text, f"{what} holds the secret {secret[:6]}..."

    def check_files(self, *, root=None):
        """No secret is readable by others or lies in what we keep for ourselves; nothing is half done."""
        root = root or self.root
        for path in files_of(root):
            data = path.read_bytes().decode(errors="replace")
            assert not path.name.startswith(".nodeup-"), f"{path} was left behind"
            if not any(s in data for s in self.secrets) and "PRIVATE KEY-----" not in data:
                continue
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode & 0o077 == 0, f"{path} holds a secret and has mode {mode:04o}"
            assert "nodeup" not in path.relative_to(root).parts or path.name == "documents.json", path

    def installed(self, name, root=None):
        return (root or self.root) / {KUBELET: "usr/local/bin/kubelet", KUBECTL: "usr/local/bin/kubectl"}.get(
            name, f"opt/cni/bin/{name}")

    def entry(self, name):
        """An asset's place in the cache."""
        return self.cache / "sha256" / self.digest(name)

    def unused(self):
        """Temporary files in the cache."""
        return sorted(p.name for p in (self.cache / "tmp").glob("*"))


def until(true, what=""):
    """Wait for a condition, which says so by being true, and give that back."""
    end = time.monotonic() + 2 * PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, f"never came: {what() if callable(what) else what}"
        time.sleep(0.02)
    return found


class Told:
    """A run under way, and the lines of its report as they come."""

    # for a limit, not for a measure
    PATIENCE = 120

    def __init__(self, world, argv=None, env=None):
        world.write_documents()
        self.world = world
        self.process = world.start(argv or world.argv("apply"), env)
        self.lines, self.changed = [], threading.Condition()
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def text(self):
        with self.changed:
            return "".join(self.lines)

    def until(self, *patterns):
        """A line that has them all."""
        with self.changed:
            found = self.changed.wait_for(
                lambda: any(all(re.search(p, line) for p in patterns) for line in self.lines), self.PATIENCE)
        assert found, self.text()

    def end(self, sig=None):
        """Its exit status, when it has ended; by a signal, if one is given."""
        if sig:
            self.process.send_signal(sig)
        code = self.process.wait(self.PATIENCE)
        self.thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.world.check_secrets(self.text(), "output")
        return code


def files_of(top):
    return [p for p in sorted(pathlib.Path(top).rglob("*")) if p.is_file() and not p.is_symlink()]


def listing(top, stamps=True, skip=()):
    """Everything below a folder: type, mode, owner, content, and (stamps) inode and times."""
    found = collections.OrderedDict()
    for path in [pathlib.Path(top), *sorted(pathlib.Path(top).rglob("*"))]:
        name = str(path.relative_to(top))
        if any(name == s or name.startswith(s + "/") for s in skip):
            continue
        st = path.lstat()
        content = ""
        if stat.S_ISREG(st.st_mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        elif stat.S_ISLNK(st.st_mode):
            content = os.readlink(path)
        entry = [oct(st.st_mode), st.st_uid, st.st_gid, content]
        if stamps:
            entry += [st.st_ino, st.st_mtime_ns, st.st_ctime_ns, st.st_nlink]
        found[name] = tuple(entry)
    return found


def differences(before, after):
    return [f"{name}: {before.get(name)} -> {after.get(name)}"
            for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def same(before, after):
    changed = differences(before, after)
    assert not changed, f"{len(changed)} differences:\n" + "\n".join(changed[:12])


# What nodeup keeps about itself holds inodes and times, so trees are compared without it.
OWN = ("var/lib/nodeup", "var/cache/nodeup", "run/nodeup")


def tree(root):
    """What a root holds, comparable between roots."""
    return listing(root, stamps=False, skip=OWN)
