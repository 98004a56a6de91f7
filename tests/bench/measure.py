"""Wall time, processor time and peak memory of a command, and how figures are told."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import time

from data import SPEC, WORK, helper


@dataclasses.dataclass
class Figure:
    walls: list = dataclasses.field(default_factory=list)
    cpus: list = dataclasses.field(default_factory=list)
    peaks: list = dataclasses.field(default_factory=list)

    @property
    def wall(self):
        return min(self.walls)

    @property
    def median(self):
        return statistics.median(self.walls)

    @property
    def cpu(self):
        return min(self.cpus)

    @property
    def peak(self):
        return max(self.peaks)


def measure(figure, argv, peak=True):
    """Peak is that of the largest process; it comes from a small parent, whose own is inherited."""
    rss = WORK / "rss"
    argv = [*(["/usr/bin/time", "-q", "-o", str(rss), "-f", "%M"] if peak else []), *argv]
    log = os.open(WORK / "log", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    actions = [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    figure.walls.append(time.perf_counter() - start)
    os.close(log)
    if status:
        raise SystemExit(f"{argv}: status {status}\n{(WORK / 'log').read_text()}")
    figure.cpus.append(used.ru_utime + used.ru_stime)
    if peak:
        figure.peaks.append(int(rss.read_text()) / 1024)


def as_booted(program, name="nodeup"):
    """A copy that the kernel reads from the disk. What was written just now lies in memory in larger pieces, of which more is
    mapped, and counts, for one byte that is used."""
    copy = WORK / name
    shutil.copy(program, copy)
    with copy.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return copy


# The line of stderr by which all that a machine needs is there and started.
STARTED = " tasks: "


def shell(out, text):
    return ["bash", "-c", f"set -e -o pipefail; cd {out}\n{text}"]


def without_sync(argv):
    return [helper("nosync"), *argv]


def fresh(top):
    """Empty folders below top for the tools (out) and for nodeup (node), and nothing left to write."""
    for name in ("out", "node"):
        shutil.rmtree(top / name, ignore_errors=True)
    (top / "out").mkdir(parents=True)
    shutil.copytree(SPEC / "root", top / "node/root")
    # as each image of a machine has it
    (top / "node/root/var/lib").mkdir(parents=True, exist_ok=True)
    subprocess.run(["sync", "-f", top], check=True)


def rounds(ways, runs, top=WORK):
    """Measure each way `runs` times in turn; a way is a shell text for top/out, or an argv."""
    figures = {name: Figure() for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            fresh(top)
            measure(figures[name], way if isinstance(way, list) else shell(top / "out", way))
    return figures


def table(title, figures, own):
    print(f"\n{title}")
    print(f"  {'':26} {'wall min':>9} {'median':>8} {'CPU':>8} {'peak MiB':>9} {'wall ratio':>11} {'CPU ratio':>10}")
    for name, f in figures.items():
        print(f"  {name:26} {f.wall:9.3f} {f.median:8.3f} {f.cpu:8.3f} {f.peak:9.1f} {f.wall / own.wall:10.2f}x "
              f"{f.cpu / own.cpu:9.2f}x", flush=True)


def say(what, value, goal, reached):
    print(f"  {what:46} {value:>18}   {goal:24} {'reached' if reached else 'missed'}", flush=True)


def hint(what, value, goal):
    """Of another day or machine, or of seconds that a load makes longer: nothing is reached or missed by it."""
    print(f"  {what:46} {value:>18}   hint: {goal}", flush=True)


def faster(figures, own, name, goal, exact=False):
    ratio = figures[name].wall / own.wall
    say(f"faster than {name}, wall", f"{ratio:.2f}x", f"at least {goal}x" if exact else f"more than {goal}x",
        ratio >= goal if exact else ratio > goal)


def load(when):
    one, five, _ = os.getloadavg()
    busy = " - not quiet: believe ratios only" if one > 1 else ""
    print(f"load average {when}: {one:.2f} {five:.2f} on {os.cpu_count()} processors{busy}", flush=True)


@contextlib.contextmanager
def own_disk(name="disk", gigabytes=3):
    """An ext4 on a loop device, and the device: a flush of it waits for nothing that others write."""
    image, top = WORK / f"{name}.img", WORK / name
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
def slow_disk(bytes_per_second):
    """One whose writes by this process and its children are held to that rate, by the blkio controller. What is written in a
    process's own name is held: fsync and write-behind are."""
    group = pathlib.Path("/sys/fs/cgroup/blkio/nodeup-bench")
    before = pathlib.Path("/proc/self/cgroup").read_text()
    with own_disk() as (top, loop):
        try:
            group.mkdir(exist_ok=True)
            device = pathlib.Path(f"/sys/block/{loop}/dev").read_text().strip()
            (group / "blkio.throttle.write_bps_device").write_text(f"{device} {bytes_per_second}")
            (group / "cgroup.procs").write_text(str(os.getpid()))
            yield top
        finally:
            if "blkio" in before and group.exists():
                (group.parent / "cgroup.procs").write_text(str(os.getpid()))
                group.rmdir()
