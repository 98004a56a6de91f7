"""One row for a way and a node: nodeup, the nodeup of PEER, the best pipeline of tools, and the floor, in turn in one run.

What is measured is a machine of machine.py: documents, assets from nginx on loopback, its own cache, every flush. Nothing is kept from
an earlier round. The pipeline has no documents, makes no keys and flushes nothing. The floor is the CPU time of each part by itself, by
programs that are not ours; a key counts an eighth of what openssl genrsa 2048 takes for it in the same run."""

import os
import re
import shutil
import statistics
import subprocess

import data
import kops_master
from later import WAYS, Later
from data import COUNTED_PORT, DATA, MB, WORK
from machine import Machine
from measure import Figure, load, measure, own_disk, say, shell
from nodes import NODES

ROWS = [*((f"fresh-{name}", name) for name in NODES), ("baked-worker-of-1.8", "worker-of-1.8"), ("baked-master-of-1.8", "master-of-1.8"),
        *((f"{way}-{name}", name) for way in WAYS for name in NODES)]
# of what openssl genrsa takes for a key
KEY = 0.125
ASKED = re.compile(r'"GET /(\S+) ')
COLUMNS = {"CPU s": lambda r: r.cpu, "installed s": lambda r: r.until_installed, "in all s": lambda r: r.wall, "peak MiB": lambda r: r.peak,
           "MB until started": lambda r: r.written_until_started / MB, "MB in all": lambda r: r.written / MB}


def find(only):
    """The rows of that name, or of that way; all without one."""
    return [row for row in ROWS if not only or row[0] == only or row[0].split("-")[0] == only]


def parts(node, wanted, plain):
    """What has to be done at least, by the best tool for each."""
    fetched = " ".join(f"-o /dev/null {data.base(COUNTED_PORT)}/{name}" for name in wanted)
    found = {
        "transfer": f"curl -sf --no-progress-meter --parallel {fetched} 2>/dev/null",
        "hash": f"openssl dgst -{node.algo} -r {' '.join(str(DATA / name) for name in wanted)} >/dev/null",
        "inflate": "\n".join(f"igzip -dc {DATA / name} >/dev/null" for name in node.archives),
        "write": f"cp -r {plain} .",
    }
    return found if wanted else {name: found[name] for name in ("inflate", "write")}


def find_members(node, name):
    """Those that the archive has, of those that are wanted."""
    if name not in node.members:
        return []
    listed = subprocess.run(["tar", "-tzf", DATA / name], check=True, capture_output=True, text=True).stdout.splitlines()
    return [member for member in node.members[name] if member in listed]


def pipeline(node, wanted):
    """All at once, each byte hashed, inflated and written as it comes."""
    lines = []
    for n, name in enumerate(wanted):
        members = find_members(node, name)
        fetch = f"mkfifo f{n}; openssl dgst -{node.algo} -r <f{n} >s{n} &\ncurl -sf {data.base(COUNTED_PORT)}/{name} | tee f{n}"
        keep = f"| igzip -dc | tar -x -C d{n} {' '.join(members)}" if members else f">{name}"
        lines.append(f"mkdir d{n}; {fetch} {keep} &")
    checks = [f"grep -q ^{data.digest(node.algo, name)} s{n}" for n, name in enumerate(wanted)]
    return "\n".join([*lines, "wait", *checks])


def asked_for():
    """What nginx wrote of requests so far."""
    log = WORK / "nginx/requests"
    return log.read_text() if log.exists() else ""


class Row:
    """Its rounds."""

    def __init__(self, machine, is_baked, programs):
        self.machine, self.node, self.is_baked = machine, machine.node, is_baked
        self.runs = {name: [] for name in programs}
        self.baked = {name: [] for name in programs}
        self.tools, self.ways, self.installed, self.wanted, self.keys, self.asked = {}, {}, 0, [], 0, 0

    def look(self):
        """What the first run has shown: what the floor is of."""
        self.wanted = sorted({name for name in ASKED.findall(asked_for()[self.asked:]) if name in self.node.assets})
        self.installed = self.machine.installed()
        given = (WORK / self.node.conf.split("/")[0]).rglob("*")
        self.keys = len(kops_master.keys(self.machine.files()) - kops_master.keys(given))
        self.ways = parts(self.node, self.wanted, self.machine.keep_installed())
        if self.keys:
            self.ways["keys"] = kops_master.openssl_keys(self.keys)
        if self.wanted:
            self.ways["pipeline"] = pipeline(self.node, self.wanted)
        self.tools = {name: Figure() for name in self.ways}

    def round(self, number):
        for name in sorted(self.runs, reverse=number % 2 == 1):
            self.machine.renew()
            if self.is_baked:
                self.baked[name].append(self.machine.bake(name))
            self.asked = len(asked_for())
            self.runs[name].append(self.machine.apply(name))
            if not self.installed:
                self.look()
        out = self.machine.root.parent / "out"
        for name, way in self.ways.items():
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            subprocess.run(["sync", "-f", out], check=True)
            measure(self.tools[name], shell(out, way))
        shutil.rmtree(out)

    def tell(self, title):
        print(f"\n{title}: {self.node.title}, {sum((DATA / n).stat().st_size for n in self.wanted) / MB:.0f} MB fetched, "
              f"{self.installed / MB:.0f} MB installed, {self.keys} keys made; medians of {len(self.runs['nodeup'])} rounds (from-to)")
        print(f"  {'':10}" + "".join(f"{name:>24}" for name in COLUMNS))
        medians = {}
        for name, runs in self.runs.items():
            values = [[value(run) for run in runs] for value in COLUMNS.values()]
            medians[name] = [statistics.median(v) for v in values]
            print(f"  {name:10}" + "".join(f"{m:11.2f} ({min(v):.2f}-{max(v):.2f})".rjust(24) for m, v in zip(medians[name], values)), flush=True)
        own = medians["nodeup"]
        if "peer" in medians:
            print(f"  {'of peer':10}" + "".join(f"{a / b if b else float('inf'):23.2f}x" for a, b in zip(own, medians["peer"])))
        self.tell_floor(own, medians.get("peer"))

    def tell_floor(self, own, peer):
        spent = {name: statistics.median(f.cpus) * (KEY if name == "keys" else 1) for name, f in self.tools.items()}
        tools = spent.pop("pipeline", None)
        floor = sum(spent.values())
        print(f"  floor: {floor:.2f} s CPU ({', '.join(f'{name} {cpu:.2f}' for name, cpu in spent.items())})")
        if tools:
            print(f"  pipeline of tools: {tools:.2f} s CPU, {statistics.median(self.tools['pipeline'].walls):.2f} s")
            say("CPU in all, to the floor", f"{own[0] / floor:.2f}x", "at most 1.25x", own[0] <= 1.25 * floor)
            ratio = own[1] / (floor / os.cpu_count())
            say("until all is installed, to the floor on all cores", f"{ratio:.2f}x", "at most 1.3x", ratio <= 1.3)
        elif peer:
            more = (own[0] - peer[0]) / spent["inflate"]
            say("CPU beyond the peer's, to inflating each archive once", f"{more:.2f}x", "at most 1x", more <= 1)
            both = {name: statistics.median(b + r.written for b, r in zip(self.baked[name], runs)) / MB for name, runs in self.runs.items()}
            ratio = both["nodeup"] / both["peer"]
            say("MB written by the bake and this boot, to the peer's", f"{both['nodeup']:.0f} ({ratio:.2f}x)", "at most 1x", ratio <= 1)
        ratio = own[4] * MB / self.installed
        say("written until all is started, of what is installed", f"{ratio:.2f}x", "at most 1.5x", ratio <= 1.5)
        say("peak memory", f"{own[3]:.1f} MiB", "at most 20 MiB", own[3] <= 20)


def tell_later(title, node, programs, runs, top):
    before = dict(os.environ)
    try:
        row = Later(top, node, title.split("-")[0], programs)
        for number in range(runs):
            row.round(number)
        row.tell(title)
        load("then")
    finally:
        os.environ.clear()
        os.environ.update(before)
        for path in top.iterdir():
            shutil.rmtree(path)


def tell(rows, programs, runs):
    if not rows:
        return
    with own_disk("machine", 5) as (top, _):
        for title, name in rows:
            with NODES[name]() as node:
                if title.split("-")[0] in WAYS:
                    tell_later(title, node, programs, runs, top)
                    continue
                machine = Machine(top, node)
                try:
                    row = Row(machine, title.startswith("baked"), programs)
                    for number in range(runs):
                        row.round(number)
                    row.tell(title)
                    load("then")
                finally:
                    machine.close()
