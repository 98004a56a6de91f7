"""One row for a way and a node: nodeup, the nodeup of PEER, the best pipeline of tools, and the floor, in turn in one run.

Of tools, none has documents, makes keys, or flushes what it wrote but on the slow disk. The floor is the CPU time of each part by itself,
by programs that are not ours, from pages in memory, perfectly spread over the processors. It takes no less than the disk does for what is
installed, and on a slow network no less than what is fetched does at that rate."""

import collections
import contextlib
import dataclasses
import os

from data import CRAWL_PORT, DISK, MB, PORT, RATE, SLOW_PORT
from later import Below
from machine import Machine
from measure import held, load, median, own_disk, say, table
from nodes import NODES

# of what openssl genrsa takes for a key
KEY = 0.125


@dataclasses.dataclass
class Way:
    words: str
    nodes: tuple = tuple(NODES)
    place: type = Machine
    ports: tuple = (PORT,)


FRESH = "its own cache is empty, no key is there, each flush is real; programs and what is served are in memory"
TWO, LATER = ("worker", "master-of-1.8"), "its own cache, what it made and what it noted are there, and in memory"
WAYS = {
    "fresh": Way(FRESH),
    "baked": Way("the first boot after nodeup bake, whose cache it has, in memory; no key is there, each flush is real", tuple(NODES)),
    "slow": Way(f"at {RATE // MB} MB/s and 20 ms a connection, of which the floor has one; {FRESH}", TWO, ports=(SLOW_PORT,)),
    "crawl": Way(f"the first mirror of two gives 100 kB/s a connection; what it sent counts as it left the server; {FRESH}", TWO,
                 ports=(CRAWL_PORT, PORT)),
    "cold": Way("nothing of nodeup, the tools, their libraries, the root or the documents is in memory, only what is served; its own cache "
                "is empty, no key is there, each flush is real", TWO),
    "disk": Way(f"on a disk of {DISK // MB} MB/s, as a gp3 volume gives; tools end with a flush of all; {FRESH}", TWO),
    "again": Way(f"nothing to do; {LATER}", place=Below),
    "damaged": Way(f"other bytes in kubelet, with its dates as they were; {LATER}", place=Below),
    "repair": Way(f"every byte is read again; {LATER}", place=Below),
}
ROWS = [(f"{way}-{name}", way, name) for way, found in WAYS.items() for name in found.nodes]
CORES = os.cpu_count()

# (ways, node or any, what it is, at most, unit, how it is had of a row)
FIGURES = [
    ("fresh", "", "CPU in all, to the floor", 1.25, "x", lambda row: row.own("CPU s") / row.floor),
    ("fresh", "", "until all is installed, to the floor's seconds", 1.3, "x", lambda row: row.own("installed s") / row.least_s),
    ("fresh", "", "written until all is started, of what is installed", 1.5, "x", lambda row: row.own("MB out until started") * MB / row.place.installed),
    ("fresh", "master-of-1.8", "flushes", 30, "", lambda row: row.own("flushes")),
    ("fresh", "master-of-1.8", "calls", 8000, "", lambda row: row.own("calls")),
    ("fresh again", "worker", "requests to kops-controller", 2, "", lambda row: row.own("documents asked")),
    ("baked damaged", "", "CPU in all, to the floor", None, "x", lambda row: row.own("CPU s") / row.floor),
    ("baked", "", "written by the bake and this boot", None, " MB", lambda row: row.own("MB out") + row.baked),
    ("slow disk", "", "until all is installed, to its bytes at that rate", None, "x", lambda row: row.own("installed s") / row.place.floor_s),
    ("slow crawl cold disk", "", "until all is installed, to the best of tools", 1, "x",
     lambda row: row.own("installed s") / min(row.of(name, "in all s") for name in row.place.beside)),
    ("again", "worker", "seconds, nothing to do", 0.01, " s", lambda row: row.own("in all s")),
    ("again repair", "", "flushes", 0, "", lambda row: row.own("flushes")),
    ("repair", "", "CPU, to openssl and igzip over the same bytes", 1.05, "x", lambda row: row.own("CPU s") / row.floor),
    ("repair", "", "seconds, to those spread over all cores", 1.05, "x", lambda row: row.own("in all s") / (row.floor / CORES)),
    (" ".join(WAYS), "", "peak memory", 20, " MiB", lambda row: row.own("peak MiB")),
]


def find(only):
    """The rows of that name, or of that way; all without one."""
    return [row for row in ROWS if only in (None, *row[:2])]


class Row:
    """Its rounds."""

    def __init__(self, title, place, programs):
        self.title, self.place, self.programs = title, place, programs
        self.runs, self.parts = collections.defaultdict(list), collections.defaultdict(list)
        self.floor = self.least_s = 0

    def of(self, by, column):
        return median(self.runs[by], column)

    def own(self, column):
        return self.of("nodeup", column)

    @property
    def baked(self):
        """MB that the bakes of ours wrote; each program bakes as often as the other."""
        return median(self.place.baked["nodeup"], "MB out")

    def round(self, number):
        for name in sorted(self.programs, reverse=number % 2 == 1):
            self.runs[name] += [self.place.run(name) for _ in range(self.place.times)]
        for found, ways, is_beside in ((self.parts, self.place.floor, False), (self.runs, self.place.beside, True)):
            for name, text in ways.items():
                found[name].append(self.place.tool(text, is_beside))

    def tell(self, way, node):
        rounds = len(self.runs["nodeup"])
        for name in self.programs:
            self.runs[name][0] |= self.place.count(name)
        print(f"\n{self.title}: {self.place.node.title}; {WAYS[way].words}.\n"
              f"  {self.place.tell()}; medians of {rounds} rounds (from-to), flushes and calls of one more")
        spent = {name: median(runs, "CPU s") * (KEY if name == "keys" else 1) for name, runs in self.parts.items() if name != "disk"}
        disk = median(self.parts.get("disk", []), "in all s") or 0
        self.floor = sum(spent.values())
        columns = dict(self.runs)
        if spent:
            self.least_s = max(self.floor / CORES, self.place.floor_s, disk)
            columns["floor"] = [{"CPU s": self.floor, "in all s": self.least_s}]
        table(self.title, columns)
        if spent:
            print(f"  floor: {', '.join(f'{name} {cpu:.2f}' for name, cpu in spent.items())} s CPU"
                  f"{f'; keys at {KEY} of openssl genrsa' if 'keys' in spent else ''}{f'; the disk {disk:.2f} s' if disk else ''}")
        for ways, only, what, most, unit, value in FIGURES:
            if way in ways.split() and only in ("", node):
                say(self.title, what, value(self), most, unit)
        if "peer" in self.programs:
            for column in ("CPU s", "in all s", "peak MiB", "MB out"):
                if other := self.of("peer", column):
                    say(self.title, f"{column}, to the peer's", self.own(column) / other, None, "x")
        load("then")


def tell(rows, programs, runs):
    if not rows:
        return
    with own_disk() as (top, loop):
        for title, way, node in rows:
            with contextlib.ExitStack() as stack:
                if way == "disk":
                    stack.enter_context(held(loop, DISK))
                found = stack.enter_context(NODES[node](WAYS[way].ports))
                if way == "crawl":
                    # a connection that crawls ends with its piece
                    found.settle_s = 2
                place = WAYS[way].place(top, found, way, programs)
                stack.callback(place.close)
                row = Row(title, place, programs)
                for number in range(runs):
                    row.round(number)
                row.tell(way, node)
