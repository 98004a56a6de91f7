"""Instructions of the programs of both architectures, side by side, by the log of qemu-user: the program's own without the kernel's, on a
processor with every extension that QEMU has. They depend neither on the load nor on the machine."""

import collections
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import yaml

from data import ROOT, WORK
from measure import say

sys.path.insert(0, str(ROOT / "tests/system"))
import kops  # noqa: E402

PROGRAMS = {"amd64": (ROOT / "build/nodeup", "qemu-x86_64"), "arm64": (ROOT / "build/arm64/nodeup", "qemu-aarch64")}
EMULATOR = WORK / "emulator"
SIZE = 64 << 20
# Of the log: a block of instructions when it is translated, a line for each, and each time that it is run.
BLOCK = re.compile(rb"^IN: .*\n((?:0x[0-9a-f]+: .*\n)+)", re.M)
# the rest of the bytes of a long one
MORE = re.compile(rb"^0x[0-9a-f]+:  [0-9a-f ]+$", re.M)
RUN = re.compile(rb"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.M)


def is_there():
    return PROGRAMS["arm64"][0].exists()


def install():
    """QEMU of trixie, as that of bookworm lacks openat2."""
    if is_there() and not EMULATOR.exists():
        subprocess.run([ROOT / "tools/apt.sh", "unpack", "amd64@trixie", EMULATOR, "qemu-user"], check=True, stdout=subprocess.DEVNULL)


def count(arch, argv):
    """Instructions of nodeup with these words."""
    program, qemu = PROGRAMS[arch]
    read, write = os.pipe()
    sizes, runs, rest = {}, collections.Counter(), b""
    with subprocess.Popen([EMULATOR / "root/usr/bin" / qemu, "-cpu", "max", "-d", "in_asm,exec,nochain", "-D", f"/dev/fd/{write}", program, *argv],
                          pass_fds=[write], env=environ(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        os.close(write)
        with open(read, "rb", buffering=0) as log:
            while piece := log.read(1 << 20):
                text, _, rest = (rest + piece).rpartition(b"\nTrace ")
                rest = b"\nTrace " + rest if text else rest
                for lines in BLOCK.findall(text + b"\n"):
                    sizes[int(lines[:lines.index(b":")], 16)] = lines.count(b"\n") - len(MORE.findall(lines))
                runs.update(RUN.findall(text))
        said = process.stdout.read().decode()
    if process.returncode:
        raise SystemExit(f"{argv}: status {process.returncode}\n{said}")
    runs.update(RUN.findall(rest))
    return sum(sizes[int(start, 16)] * times for start, times in runs.items())


def environ():
    return {**os.environ, "AWS_ACCESS_KEY_ID": kops.ID, "AWS_SECRET_ACCESS_KEY": kops.SECRET, "AWS_SESSION_TOKEN": kops.TOKEN}


def worker(arch):
    folder = WORK / f"instructions-{arch}"
    shutil.rmtree(folder, ignore_errors=True)
    made = kops.Worker(folder)
    made.facts["arch"] = arch
    made.config["Assets"] = {arch: [line.replace("amd64", arch) for line in made.config["Assets"]["amd64"]]}
    return made


def plan(made):
    """The words of one of a worker that is installed, by documents that were kept: TLS under an emulator would be the most of it."""
    with made.controller():
        applied = made.apply()
    if applied.returncode:
        raise SystemExit(applied.stderr)
    return made.command("plan", "--offline")[1:]


def bake(made, arch):
    """The words of one that hashes 64 MiB, which are in the cache."""
    data = bytes(SIZE)
    digest = hashlib.sha256(data).hexdigest()
    (made.cache / "sha256" / digest).write_bytes(data)
    lines = made.config["Assets"][arch]
    lines[0] = f"{digest}@{lines[0].split('@')[1]}"
    made.write()
    (made.folder / "documents/nodeupconfig.yaml").write_text(yaml.safe_dump(made.config))
    return made.command("bake", "--offline")[1:]


def count_all(arch):
    made = worker(arch)
    return count(arch, ["version"]), count(arch, plan(made)), count(arch, bake(made, arch))


def tell():
    if not is_there():
        print("\narm64: left out, there is no build/arm64/nodeup: make ARCH=arm64 deps all")
        return
    print("\narm64: million instructions of both programs, by qemu-user")
    with ProcessPoolExecutor() as pool:
        counts = pool.map(count_all, PROGRAMS)
    for what, own, other in zip(("nodeup version", "plan of a worker", "a bake that hashes 64 MiB"), *counts):
        say("arm64", f"{what}: {own / 1e6:.1f} of amd64, {other / 1e6:.1f} of arm64", other / own, None, "x")
