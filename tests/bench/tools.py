"""What people have without nodeup, and what nobody can do without: lines of shell for an empty folder."""

import os
import subprocess

import data
from data import DATA, PORT


def kept(node, name):
    """Those members of an archive that are wanted of it."""
    if name not in node.members:
        return []
    listed = subprocess.run(["tar", "-tzf", DATA / name], check=True, capture_output=True, text=True).stdout.splitlines()
    return [member for member in node.members[name] if member in listed]


def floor(node, wanted, plain, keys):
    """The parts that have to be done at least, by the best tool for each; plain is what is installed, keys how many are made."""
    fetched = " ".join(f"-o /dev/null {data.base(PORT)}/{name}" for name in wanted)
    parts = {"inflate": "\n".join(f"igzip -dc {DATA / name} >/dev/null" for name in node.archives), "write": f"cp -r {plain} ."}
    if wanted:
        parts |= {"transfer": f"curl -sf --no-progress-meter --parallel {fetched} 2>/dev/null",
                  "hash": f"openssl dgst -{node.algo} -r {' '.join(str(DATA / name) for name in wanted)} >/dev/null"}
    if keys:
        # two threads of one core take more of its time than one after the other: so as many at once as nodeup makes
        parts["keys"] = f"seq {keys} | xargs -P{os.cpu_count()} -I_ openssl genrsa -out /dev/null 2048 2>/dev/null"
    return parts


def disk(size):
    """So many bytes to the disk, past the memory."""
    return f"dd if=/dev/zero of=written bs=8M count={-(-size // (8 << 20))} oflag=direct status=none"


def pipeline(node, wanted, port):
    """All at once, each byte hashed, inflated and written as it comes."""
    lines = []
    for n, name in enumerate(wanted):
        fetch = f"mkfifo f{n}; openssl dgst -{node.algo} -r <f{n} >s{n} &\ncurl -sf {data.base(port)}/{name} | tee f{n}"
        keep = f"| igzip -dc | tar -x -C d{n} {' '.join(members)}" if (members := kept(node, name)) else f">{name}"
        lines.append(f"mkdir d{n}; {fetch} {keep} &")
    checks = [f"grep -q ^{data.digest(node.algo, name)} s{n}" for n, name in enumerate(wanted)]
    return "\n".join([*lines, "wait", *checks])


def aria(node, wanted, ports):
    """All by aria2c, which verifies it, from each of its mirrors in pieces; then what is in archives at once."""
    listed = "\n".join(f"{data.urls(name, ports, chr(9))}\n out={name}\n checksum={node.algo[:3]}-{node.algo[3:]}={data.digest(node.algo, name)}"
                       for name in wanted)
    unpack = [f"mkdir d{n}; igzip -dc {name} | tar -x -C d{n} {' '.join(members)} & u{n}=$!"
              for n, name in enumerate(wanted) if (members := kept(node, name))]
    ends = [f"wait $u{n}" for n, name in enumerate(wanted) if name in node.archives]
    return "\n".join([f"aria2c -q -x8 -s8 -j5 -k1M --file-allocation=none -i- <<'END'\n{listed}\nEND", *unpack, *ends])
