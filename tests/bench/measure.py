"""What a command costs, and how that is told."""

import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

from data import MB, WORK

# `installed` is when the last file of an asset has its name; `started` when the run tells how many tasks there were.
COLUMNS = ("CPU s", "installed s", "in all s", "peak MiB", "MB in until started", "MB in", "MB out until started", "MB out", "assets asked",
           "documents asked", "flushes", "calls")
INSTALLED, STARTED = "changed install ", " tasks: "
WRITTEN = re.compile(r"^write_bytes: (\d+)$", re.M)
FLUSHES = ("fsync", "fdatasync", "syncfs", "sync")


def written_by(launcher):
    """So far, by its child, and by what that waited for."""
    child = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()[0]
    return int(WRITTEN.search(pathlib.Path(f"/proc/{child}/io").read_text())[1])


def measure(argv, environ=None, node=None, may_fail=False):
    """{column: value} of a command and of all that it starts. Bytes out are those written into the page cache. The peak is that of the
    largest process; it comes from a small parent, whose own is inherited."""
    rss, found, started, said, mark = WORK / "rss", {}, None, [], node and node.mark()
    start = time.perf_counter()
    with subprocess.Popen(["/usr/bin/time", "-q", "-o", rss, "-f", "%M", *map(str, argv)], env=environ, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            said.append(line)
            if INSTALLED in line:
                found["installed s"] = time.perf_counter() - start
            elif STARTED in line and node and not started:
                started = node.mark()
                # one that ends at once is looked at too late: what it wrote in all is told then
                with contextlib.suppress(OSError, IndexError):
                    found["MB out until started"] = written_by(process.pid) / MB
        _, status, used = os.wait4(process.pid, 0)
        found["in all s"] = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not may_fail:
        raise SystemExit(f"{argv}: status {process.returncode}\n{''.join(said)}")
    (WORK / "log").write_text("".join(said))
    found |= {"CPU s": used.ru_utime + used.ru_stime, "peak MiB": int(rss.read_text()) / 1024, "MB out": used.ru_oublock * 512 / MB}
    if node:
        # what was given up is in the server's log a little later
        time.sleep(node.settle_s)
        found |= node.traffic(mark, node.mark())
    if started:
        found = {"MB out until started": found["MB out"], **found, "MB in until started": node.traffic(mark, started)["MB in"]}
    return found


def count(argv, environ=None, memory=None):
    """Flushes and system calls of a command and of all that it starts, its launcher with it. To flush what is in memory flushes nothing;
    a command whose run is in memory is a machine's, which may fail."""
    out = WORK / "calls"
    run = subprocess.run(["strace", "-f", "-qq", "-y", "-s0", "-e", "signal=none", "-o", out, *argv], env=environ, capture_output=True, text=True,
                         check=False)
    if run.returncode and not memory:
        raise SystemExit(f"{argv}: status {run.returncode}\n{run.stderr}")
    calls = re.findall(r"^\d+ +(\w+)\((.*)", out.read_text(errors="replace"), re.M)
    flushes = [words for name, words in calls if name in FLUSHES and not (memory and f"<{memory}" in words)]
    return {"flushes": len(flushes), "calls": len(calls)}


def as_booted(program, name="nodeup"):
    """A copy that the kernel reads from the disk. What was written just now lies in memory in larger pieces, of which more is
    mapped, and counts, for one byte that is used."""
    copy = WORK / name
    shutil.copy(program, copy)
    with copy.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return copy


def shell(out, text):
    return ["bash", "-c", f"set -e -o pipefail; cd {out}\n{text}"]


def empty(folder):
    """It is there, nothing is in it, and nothing is left to write."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["sync", "-f", folder], check=True)


def median(runs, column):
    """None where no run has it."""
    values = [run[column] for run in runs if column in run]
    return statistics.median(values) if values else None


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cell(runs, column):
    """The median, and from where to where they go."""
    values = [run[column] for run in runs if column in run]
    if not values:
        return "-"
    low, middle, high = (short(v) for v in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low}-{high})"


# What the end of the run prints in Markdown: rows with their figures, goals.
TOLD, GOALS = [], []


def table(row, columns):
    """Tell {by: its runs}, which are {column: value} each."""
    print(f"  {'':22}" + "".join(f"{by:>24}" for by in columns))
    for name in COLUMNS:
        if any(name in run for runs in columns.values() for run in runs):
            print(f"  {name:22}" + "".join(f"{cell(runs, name):>24}" for runs in columns.values()), flush=True)
    TOLD.extend([row, by, *(cell(runs, name) for name in COLUMNS)] for by, runs in columns.items())


def say(row, what, value, most=None, unit=""):
    """A figure, and its goal if it has one."""
    goal, result = (f"at most {most:,}{unit}", "reached" if value <= most else "missed") if most is not None else ("no goal", "")
    print(f"  {what:62} {short(value) + unit:>10}   {goal:16} {result}", flush=True)
    GOALS.append([row, what, short(value) + unit, goal, result, f"{os.getloadavg()[0]:.1f}"])


def print_markdown():
    """The rows of the tables of tests/README.md."""
    print()
    for head, rows in ((["row", "by", *COLUMNS], TOLD), (["row", "figure", "value", "goal", "", "load"], GOALS)):
        for cells in (head, ["---"] * len(head), *rows) if rows else ():
            print(f"| {' | '.join(cells)} |")
        print()


def load(when):
    one, five, _ = os.getloadavg()
    busy = " - not quiet: believe CPU time, counts and ratios only" if one > 1 else ""
    print(f"  load average {when}: {one:.2f} {five:.2f} on {os.cpu_count()} processors{busy}", flush=True)


@contextlib.contextmanager
def own_disk(gigabytes=5):
    """An ext4 on a loop device, and the device: a flush of it waits for nothing that others write."""
    image, top = WORK / "machine.img", WORK / "machine"
    run = lambda *argv: subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
    loop, mounted = None, False
    try:
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, gigabytes << 30)
        loop = run("losetup", "--find", "--show", "--direct-io=on", str(image))
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", loop)
        top.mkdir(exist_ok=True)
        run("mount", loop, str(top))
        mounted = True
        yield top, pathlib.Path(loop).name
    finally:
        if mounted:
            run("umount", str(top))
        if loop:
            run("losetup", "--detach", loop)
        image.unlink(missing_ok=True)


@contextlib.contextmanager
def held(loop, bytes_per_second):
    """Its writes by this process and its children are held to that rate, by the blkio controller. What is written in a process's own
    name is held: fsync and write-behind are."""
    group, procs = pathlib.Path("/sys/fs/cgroup/blkio/nodeup-bench"), pathlib.Path("/sys/fs/cgroup/blkio/cgroup.procs")
    try:
        group.mkdir(exist_ok=True)
        device = pathlib.Path(f"/sys/block/{loop}/dev").read_text().strip()
        (group / "blkio.throttle.write_bps_device").write_text(f"{device} {bytes_per_second}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        if group.exists():
            procs.write_text(str(os.getpid()))
            group.rmdir()
