"""What does not depend on the load: flushes, system calls, bytes written and requests of a fresh master and of its second run."""

import os
import pathlib
import re
import subprocess

import assets
import data
import ways
from data import COUNTED_PORT, SIZES, WORK
from measure import fresh, say

FLUSHES = ("fsync", "fdatasync", "syncfs", "sync")


def traced(argv):
    """{system call: how often}, of the command and all that it starts."""
    out = WORK / "calls"
    run = subprocess.run(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", out, *argv], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{argv}: status {run.returncode}\n{run.stderr}")
    rows = re.findall(r"^\s*(\d+) (\w+)$", out.read_text(), re.M)
    return {name: int(n) for n, name in rows if name != "total"}


def dirtied(argv):
    """Bytes that it and its children wrote into the page cache."""
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0)
                                                                   for fd in (1, 2)])
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{argv}: status {status}")
    return used.ru_oublock * 512


def requests():
    log = WORK / "nginx/requests"
    return log.read_text().count("\n") if log.exists() else 0


def files(top):
    return sum(p.stat().st_size for p in pathlib.Path(top).rglob("*") if p.is_file() and not p.is_symlink())


def limit(what, n, most):
    say(what, f"{n:,}", f"at most {most:,}", n <= most)


def tell(program):
    apply = ways.nodeup(program, "apply")
    assets.documents({n: data.digest("sha1", n) for n in SIZES}, COUNTED_PORT)
    fresh(WORK)
    before, asked = files(ways.NODE / "root"), requests()
    written = dirtied(apply)
    asked = requests() - asked
    installed = files(ways.NODE / "root") - before
    fresh(WORK)
    first, second = traced(apply), traced(apply)
    print("\ncounts: a fresh master, and its second run")
    limit("flushes", sum(first.get(name, 0) for name in FLUSHES), 30)
    limit("system calls", sum(first.values()), 8000)
    limit("system calls of the second run", sum(second.values()), 1000)
    limit("flushes of the second run", sum(second.get(name, 0) for name in FLUSHES), 0)
    print(f"  {'written with a cache of several nodes':46} {written / installed:17.2f}x")
    print(f"  {'requests for the assets':46} {asked:18}")
