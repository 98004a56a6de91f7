"""Rows of what is a node already: nothing to do (again), kubelet damaged by somebody who left its dates (damaged), every byte read again (repair).

It lies below a root, where no unit is started and no metadata service asked; facts are given. Each program has a root and a cache of its
own, and they take turns. The floor is what programs that are not ours need: for `damaged` to read kubelet and write it once, for
`repair` to hash each file of the root by its name, and what is in each archive. Below a root an entry of the cache is one file with what is
installed of it, and is read by both names; on a machine there is one of the two."""

import os
import statistics
import sys

import counts
import data
from data import MB, WORK
from measure import Figure, hint, measure, say, shell

sys.path.insert(0, str(data.ROOT / "tests/system"))
from world import World  # noqa: E402

# A command is short: more rounds of it are one row's time.
WAYS = {"again": ("apply", 6), "damaged": ("repair", 1), "repair": ("repair", 1)}
COLUMNS = ("CPU ms", "wall ms", "peak MiB", "MB written", "requests", "calls", "flushes")


class Later:
    def __init__(self, top, node, way, programs):
        self.node, self.way = node, way
        self.verb, self.times = WAYS[way]
        self.out, self.roots = top / "out", {name: top / name for name in programs}
        self.out.mkdir()
        self.figures, self.counted, self.tools = {name: Figure() for name in programs}, {name: [] for name in programs}, Figure()
        os.environ.update(node.environ)
        for name, root in self.roots.items():
            World.make_root(root)
            measure(Figure(), self.argv(name, "apply"))

    def argv(self, name, verb):
        conf = WORK / self.node.conf
        return [str(WORK / name), verb, f"--root={self.roots[name]}", f"--facts={conf.parent}/facts.yaml", f"--conf={conf}"]

    def prepare(self, name):
        if self.way != "damaged":
            return
        kubelet = self.roots[name] / self.node.installs[0]
        was = kubelet.stat()
        with kubelet.open("r+b") as file:
            file.write(b"damaged")
        os.utime(kubelet, ns=(was.st_atime_ns, was.st_mtime_ns))

    def floor(self):
        root = next(iter(self.roots.values()))
        kubelet, archives = root / self.node.installs[0], " ".join(str(data.DATA / name) for name in self.node.archives)
        return {"repair": f"find {root} -type f -print0 | xargs -0 openssl dgst -{self.node.algo} -r >/dev/null\n"
                          f"for n in {archives}; do igzip -dc $n | openssl dgst -{self.node.algo} -r >/dev/null; done",
                "damaged": f"openssl dgst -{self.node.algo} -r {kubelet} >/dev/null; cp {kubelet} ."}.get(self.way)

    def round(self, number):
        for name in sorted(self.figures, reverse=number % 2 == 1):
            for _ in range(self.times):
                self.prepare(name)
                measure(self.figures[name], self.argv(name, self.verb))
        if self.floor():
            measure(self.tools, shell(self.out, self.floor()))

    def count(self, name):
        """What depends on no load, of two more runs."""
        self.prepare(name)
        asked = counts.requests() + self.node.asked()
        written = counts.dirtied(self.argv(name, self.verb)) / MB
        asked = counts.requests() + self.node.asked() - asked
        self.prepare(name)
        calls = counts.traced(self.argv(name, self.verb))
        return [written, asked, sum(calls.values()), sum(calls.get(flush, 0) for flush in counts.FLUSHES)]

    def tell(self, title):
        print(f"\n{title}: {self.node.title}, below a root, medians of {len(next(iter(self.figures.values())).walls)} rounds (from-to)")
        print(f"  {'':10}" + "".join(f"{name:>24}" for name in COLUMNS))
        for name, f in self.figures.items():
            values = [[v * 1000 for v in f.cpus], [v * 1000 for v in f.walls], f.peaks, *([n] for n in self.count(name))]
            print(f"  {name:10}" + "".join(f"{statistics.median(v):11.2f} ({min(v):.2f}-{max(v):.2f})".rjust(24) if len(v) > 1 else f"{v[0]:24.2f}"
                                           for v in values), flush=True)
        own = self.figures["nodeup"]
        if "peer" in self.figures:
            print(f"  CPU to the peer's: {statistics.median(own.cpus) / statistics.median(self.figures['peer'].cpus):.2f}x")
        if self.way == "again":
            hint("nothing to do, median", f"{own.median * 1000:.1f} ms", "10 ms of a worker of today's kops on a quiet machine")
            return
        floor, cpu = statistics.median(self.tools.cpus), statistics.median(own.cpus)
        print(f"  floor: {floor:.2f} s CPU")
        if self.way == "repair":
            say("CPU, to openssl and igzip over the same bytes", f"{cpu / floor:.2f}x", "at most 1.05x", cpu <= 1.05 * floor)
            spread = own.median / (floor / os.cpu_count())
            say("seconds, to those spread over all cores", f"{spread:.2f}x", "at most 1.3x", spread <= 1.3)
        else:
            print(f"  {'CPU, to the floor':46} {cpu / floor:17.2f}x")
        say("peak memory", f"{own.peak:.1f} MiB", "at most 20 MiB", own.peak <= 20)
