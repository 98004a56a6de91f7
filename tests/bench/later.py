"""A node that is there already, below a root, where no unit is started and no metadata service asked; facts are given. Each program has a
root and a cache of its own. The floor of a repair is to hash each file of the root, one that has several names once, to inflate each archive, and to
hash what is wanted of it; where kubelet is damaged, to write it as well."""

import os
import shutil
import subprocess
import sys

import data
import tools
from data import WORK
from measure import count, empty, measure, shell

sys.path.insert(0, str(data.ROOT / "tests/system"))
from world import ENV, World  # noqa: E402


class Below:
    """The same as a Machine to a row; `roots` are by the program that each is of."""
    floor_s = 0

    def __init__(self, top, node, way, programs):
        self.node, self.way, self.out, self.roots = node, way, top / "out", {name: top / name for name in programs}
        self.verb = "apply" if way == "again" else "repair"
        # A command that does nothing is short: more rounds of it are one row's time.
        self.times = 6 if way == "again" else 1
        self.environ, self.beside = {**ENV, **node.environ}, {}
        for name, root in self.roots.items():
            World.make_root(root)
            measure(self.argv(name, "apply"), self.environ)
        root = next(iter(self.roots.values()))
        kubelet, hashed, self.members = root / node.installs[0], f"xargs -0 openssl dgst -{node.algo} -r >/dev/null", top / "members"
        self.members.mkdir()
        for name in node.archives if way != "again" else ():
            subprocess.run(["tar", "-xf", data.DATA / name, "-C", self.members, *tools.kept(node, name)], check=True)
        read = {"hash": f"find {root} -type f -printf '%i %p\\0' | sort -zu -k1,1 | cut -zd' ' -f2- | {hashed}",
                "inflate": "\n".join(f"igzip -dc {data.DATA / name} >/dev/null" for name in node.archives),
                "members": f"find {self.members} -type f -print0 | {hashed}"}
        self.floor = {"repair": read, "damaged": {**read, "write": f"cp {kubelet} ."}}.get(way, {})

    def close(self):
        for path in (self.out, self.members, *self.roots.values()):
            shutil.rmtree(path, ignore_errors=True)

    def argv(self, name, verb):
        conf = WORK / self.node.conf
        return [str(WORK / name), verb, f"--root={self.roots[name]}", f"--facts={conf.parent}/facts.yaml", f"--conf={conf}"]

    def prepare(self, name):
        """kubelet is damaged by somebody who left its dates."""
        if self.way != "damaged":
            return
        kubelet = self.roots[name] / self.node.installs[0]
        was = kubelet.stat()
        with kubelet.open("r+b") as file:
            file.write(b"damaged")
        os.utime(kubelet, ns=(was.st_atime_ns, was.st_mtime_ns))

    def run(self, name):
        self.prepare(name)
        return measure(self.argv(name, self.verb), self.environ, self.node)

    def tool(self, text, _):
        empty(self.out)
        return measure(shell(self.out, text))

    def count(self, name):
        self.prepare(name)
        return count(self.argv(name, self.verb), self.environ)

    def tell(self):
        return f"nodeup {self.verb} below a root"
