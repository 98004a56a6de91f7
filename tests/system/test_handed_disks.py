"""Disks of the instance store as EC2 hands them out, mounted by cloud-init: on loop devices that call themselves xvdb, in
a root of their own with real mounts, a real /proc and a real fstab."""
import contextlib
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import time

import pytest

from test_loop_disks import Disk, MIB
from world import build

LINE = "/dev/xvdb\t/mnt\tauto\tdefaults,nofail,x-systemd.requires=cloud-init.service,_netdev,comment=cloudconfig\t0\t2\n"
OTHER = "UUID=0b1e5c53-1f83-5c6e-9d35-0d5b4f1e7a11 / ext4 defaults 0 1\n"
SIZE = 128 * MIB
# a thread that works, while the main one waits for it or ends
THREAD = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
def work():
    %s
    print(flush=True)
    time.sleep(1e6)
t = threading.Thread(target=work)
t.start()
%s
"""
WAITS, ENDS = "t.join()", "libc.syscall(%d, 0)" % {"x86_64": 60, "aarch64": 93}[platform.machine()]
# its fd is closed, and it is mapped
MAPS = """f = os.open("/dev/xvdb", os.O_RDWR)
    libc.mmap.restype = ctypes.c_void_p
    assert libc.mmap(None, 4096, 3, 1, f, ctypes.c_long(0)) + 1
    os.close(f)"""
# files that the process has not, but one of its threads
OPENS = """assert libc.unshare(0x400) == 0
    os.open("/dev/xvdb", os.O_RDONLY)"""
STANDS = """assert libc.unshare(0x200) == 0
    os.chdir("/mnt")"""


@pytest.fixture(scope="session")
def program():
    return build("disk_probe")


class Machine:
    """A root that one can be in, its mount namespace, and one disk."""

    def __init__(self, folder, program):
        self.folder, self.root, self.children = folder, folder / "root", []
        for name in ("dev", "proc", "sys/block/xvdb", "usr", "etc", "mnt", "tmp", "var/lib", "data", "srv", "run"):
            (self.root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.root / name).symlink_to(f"usr/{name}")
        shutil.copy(program, self.root / "probe")
        self.disk = Disk(folder, SIZE)
        self.show()
        self.fstab(OTHER + LINE)
        # of processes of its own: those of the machine that tests are not all to be looked into
        self.holder = self.start("unshare", "-m", "-p", "--fork", "--kill-child", "--propagation", "private", "sleep", "infinity")
        self.init = self.first_process()
        self.inside(f"mount --bind {self.root} {self.root}; cd {self.root}; mount -t proc proc proc; mount --bind /usr usr; mkdir old;"
                    "pivot_root . old; umount -l old")

    def start(self, *argv, **more):
        self.children.append(subprocess.Popen(argv, **more))
        return self.children[-1]

    def first_process(self):
        end = time.monotonic() + 60
        while True:
            found = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()
            if found and pathlib.Path(f"/proc/{found[0]}/comm").read_text() == "sleep\n":
                return found[0]
            assert time.monotonic() < end
            time.sleep(0.01)

    def show(self):
        """What /sys and /dev have of the disk, whatever number its loop device got."""
        number = pathlib.Path(f"/sys/block/{self.disk.name}/dev").read_text()
        for name, text in (("dev", number), ("size", f"{SIZE // 512}\n"), ("ro", "0\n"), ("diskseq", f"{time.monotonic_ns()}\n")):
            (self.root / "sys/block/xvdb" / name).write_text(text)
        for name, dev in (("xvdb", [int(n) for n in number.split(":")]), ("null", [1, 3])):
            (self.root / "dev" / name).unlink(missing_ok=True)
            os.mknod(self.root / "dev" / name, 0o600 | (0o060000 if name == "xvdb" else 0o020000), os.makedev(*dev))

    def fstab(self, text):
        (self.root / "etc/fstab").write_text(text)

    def argv(self, command):
        return ["nsenter", f"--target={self.init}", "--mount", "--pid", "--root", "--wd", "sh", "-ec", command]

    def inside(self, command):
        return subprocess.run(self.argv(command), check=True, stdout=subprocess.PIPE, text=True).stdout

    def stays(self, command):
        """A process that uses something until the test is over; it says when it does."""
        child = self.start(*self.argv(f"{command}; echo; exec sleep infinity"), stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"\n"
        return child

    def thread(self, work, main=WAITS):
        child = self.start(*self.argv("exec python3 -c '%s'" % (THREAD % (work, main))), stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"\n"

    def boot(self):
        """As after a reset: nothing is mounted but what fstab says, and nothing tells that the disk is the one of before."""
        self.inside("umount /mnt 2>/dev/null || :; umount /data 2>/dev/null || :; cat /proc/sys/kernel/random/uuid >/tmp/boot;"
                    "mount --bind /tmp/boot /proc/sys/kernel/random/boot_id; ! grep -q xvdb /etc/fstab || mount -o noinit_itable /dev/xvdb /mnt")
        self.show()

    def run(self, verb="apply", status=0, path="/usr/sbin:/usr/bin", under=""):
        done = subprocess.run(self.argv(f"PATH={path} exec {under} /probe {verb} / i-0a1b /data ext4 ephemeral0=sdb x"),
                              stdout=subprocess.PIPE, text=True, check=False)
        assert status is None or done.returncode == status, done.stdout
        return done.stdout

    def make(self, kind="ext3", *args):
        subprocess.run([f"mkfs.{kind}", "-q", "-F", *args, self.disk.path], check=True, stderr=subprocess.DEVNULL)

    def mount(self):
        """As cloud-init does, but that the kernel initialises nothing in the background: each byte counts."""
        self.inside("mount -o noinit_itable /dev/xvdb /mnt")

    def mounts(self):
        return [line.split()[1] for line in self.inside("cat /proc/mounts").splitlines() if line.startswith("/dev/xvdb ")]

    def content(self):
        """Of the disk, as it is below a mount."""
        os.sync()
        with open(self.disk.file, "rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()

    def lines(self):
        return (self.root / "etc/fstab").read_text()

    def close(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()
        with contextlib.suppress(subprocess.CalledProcessError):
            self.disk.detach()


@pytest.fixture
def machine(program):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nodeup-handed-", dir="/var/tmp"))
    m = Machine(folder, program)
    yield m
    m.close()
    shutil.rmtree(folder)


def left_alone(machine, why):
    """Refused, and not a byte of it changed, nor its mounts, nor fstab."""
    before = machine.content(), machine.mounts(), machine.lines()
    for verb in ("check", "apply"):
        out = machine.run(verb, status=73)
        assert "not blank; nothing was written" in out and why in out, out
    assert (machine.content(), machine.mounts(), machine.lines()) == before
    assert not list((machine.root / "var/lib").rglob("data"))


@pytest.mark.parametrize("kind", ["ext3", "ext4"])
def test_what_cloud_init_mounted_is_made_ours(machine, kind):
    machine.make(kind)
    machine.mount()
    # what is deleted is nobody's
    machine.inside("touch /mnt/a; rm /mnt/a")
    before = machine.content()
    assert "is as EC2 made it, and empty: mkfs.ext4" in machine.run("check")
    assert machine.content() == before and machine.mounts() == ["/mnt"] and machine.lines() == OTHER + LINE
    assert machine.run() == "done\n"
    assert machine.mounts() == [] and machine.lines() == OTHER
    assert machine.run("check") == "equal\n"
    machine.inside("mount /dev/xvdb /data; touch /data/precious")
    assert machine.run() == "done\n"
    assert machine.inside("ls /data") == "lost+found\nprecious\n"


def test_mounted_once_in_all_namespaces(machine):
    """A copy of the mount that goes with it is none of its own: services with a /tmp of their own have such copies."""
    machine.make()
    machine.inside("mount --make-shared /")
    machine.mount()
    machine.start(*machine.argv("exec unshare -m --propagation slave sleep infinity"))
    time.sleep(0.5)
    assert "is as EC2 made it" in machine.run("check")
    assert machine.run() == "done\n"
    assert machine.mounts() == []


USES = {
    "cwd": (lambda m: m.stays("cd /mnt"), "as its working directory"),
    "cwd below": (lambda m: m.stays("cd /mnt/lost+found"), "as its working directory"),
    "open": (lambda m: m.stays("exec 5</mnt/lost+found"), "open"),
    "the device": (lambda m: m.stays("exec 5</dev/xvdb"), "open"),
    "the device, mapped": (lambda m: m.thread(MAPS), "mapped"),
    "mapped by a thread alone": (lambda m: m.thread(MAPS, ENDS), "mapped"),
    "open by a thread": (lambda m: m.thread(OPENS), "open"),
    "open by a thread alone": (lambda m: m.thread(OPENS, ENDS), "open"),
    "cwd of a thread": (lambda m: m.thread(STANDS), "as its working directory"),
    "a bind": (lambda m: m.inside("mount --bind /mnt/lost+found /srv"), "it is mounted at /mnt, /srv"),
    "twice": (lambda m: m.inside("mount /dev/xvdb /srv"), "it is mounted at /mnt, /srv"),
    "elsewhere": (lambda m: m.inside("umount /mnt; mount -o noinit_itable /dev/xvdb /srv"), "it is mounted at /srv"),
    "below": (lambda m: m.inside("mount -t tmpfs none /mnt/lost+found"), "mounted"),
    "a namespace": (lambda m: (m.start(*m.argv("exec unshare -m --propagation private sleep infinity")), time.sleep(0.5)), "mounted"),
    "no mark": (lambda m: m.fstab(OTHER + "/dev/xvdb /mnt auto defaults,nofail 0 2\n"), "not cloud-init"),
    "no line": (lambda m: m.fstab(OTHER), "no line of cloud-init"),
    "a file": (lambda m: m.inside("echo precious >/mnt/file; sync"), "its count"),
    "in lost+found": (lambda m: m.inside("echo precious >/mnt/lost+found/file; sync"), "its count"),
    "a directory": (lambda m: m.inside("mkdir /mnt/a; sync"), "its count"),
    "deleted, and open": (lambda m: m.stays("exec 5>/mnt/file; rm /mnt/file; echo precious >&5; sync"), "open"),
}


@pytest.mark.parametrize("use", USES)
def test_what_is_used_is_data(machine, use):
    change, why = USES[use]
    machine.make()
    machine.mount()
    assert "is as EC2 made it" in machine.run("check")
    change(machine)
    left_alone(machine, why)


def test_a_loop_device_over_it_is_a_use(machine):
    machine.make()
    loop = machine.root / "sys/block/loop7/loop"
    loop.mkdir(parents=True)
    (loop / "backing_file").write_text("/dev/xvdb\n")
    left_alone(machine, "is the disk /dev/loop7")


def test_a_loop_device_is_known_by_what_it_is_over(machine):
    """Its path is that of another namespace, or of a file that was removed: it means another file here, or none."""
    machine.make()
    other = machine.folder / "other"
    other.write_bytes(bytes(MIB))
    for file in (other, machine.disk.path):
        loop = subprocess.run(["losetup", "-f", "--show", file], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        name = os.path.basename(loop)
        at = machine.root / "sys/block" / name
        (at / "loop").mkdir(parents=True)
        shutil.copy(f"/sys/block/{name}/dev", at / "dev")
        os.mknod(machine.root / "dev" / name, 0o60600, os.stat(loop).st_rdev)
        try:
            for path in ("/gone/file", "/etc/fstab", "/file (deleted)"):
                (at / "loop/backing_file").write_text(path + "\n")
                if file == other:
                    assert "is as EC2 made it" in machine.run("check")
                else:
                    left_alone(machine, f"is the disk {loop}")
        finally:
            subprocess.run(["losetup", "-d", loop], check=True)
        shutil.rmtree(at)
        (machine.root / "dev" / name).unlink()


def test_a_journal_to_replay_is_data(machine):
    """As it is on the disk while it is mounted: what was written may be in the journal alone."""
    machine.make()
    at = machine.folder / "at"
    at.mkdir()
    subprocess.run(["mount", machine.disk.path, at], check=True)
    machine.content()
    subprocess.run(["cp", "--sparse=always", machine.disk.file, machine.folder / "copy"], check=True)
    subprocess.run(["umount", at], check=True)
    machine.disk.detach()
    os.replace(machine.folder / "copy", machine.disk.file)
    machine.disk.attach()
    machine.show()
    left_alone(machine, "its journal is to be replayed")


def test_a_disk_that_the_kernel_holds_is_left(machine):
    """No table tells of it, and nothing has been written when it shows."""
    machine.make()
    fd = os.open(machine.disk.path, os.O_RDONLY | os.O_EXCL)
    try:
        before = machine.content()
        assert "in use by the kernel" in machine.run(status=73)
        assert machine.content() == before and machine.lines() == OTHER + LINE
    finally:
        os.close(fd)
    assert machine.run() == "done\n"


@pytest.mark.parametrize("use, why", [("cd /mnt; exec", "mounted on /mnt, and in use there"),
                                      ("exec unshare -m --propagation private", "in use by the kernel")])
def test_a_use_that_nothing_tells_of_ends_it(machine, use, why):
    """Of a process that /proc does not show: the kernel knows of it, and what was mounted is mounted again."""
    machine.make()
    machine.mount()
    machine.start("nsenter", f"--target={machine.init}", "--mount", "--root", "--wd", "sh", "-ec", f"{use} sleep infinity")
    time.sleep(0.5)
    assert "is as EC2 made it" in machine.run("check")
    out = machine.run(status=73)
    assert why in out and "nothing was written" in out
    assert machine.mounts() == ["/mnt"] and machine.lines() == OTHER + LINE
    assert not (machine.root / "var/lib/nodeup").exists()


def test_what_was_unmounted_in_vain_is_mounted_as_it_was(machine):
    machine.make()
    machine.fstab(OTHER + LINE.replace("defaults", "noatime,nosuid,nodev,commit=7,data=journal,noinit_itable"))
    machine.inside("mount /mnt")
    before = machine.inside("grep /mnt /proc/self/mountinfo").split(" ", 1)[1], machine.content()
    assert "data=journal" in before[0] and "noatime" in before[0] and "commit=7" in before[0]
    # the record cannot be written
    out = machine.run(under="strace -o /tmp/log -e trace=umount2,fsync -e inject=fsync:error=EIO", status=71)
    assert "umount2" in (machine.root / "tmp/log").read_text()
    assert machine.inside("grep /mnt /proc/self/mountinfo").split(" ", 1)[1] == before[0] and "any more" not in out
    assert machine.lines().count("cloudconfig") == 1
    # nor can it be mounted again
    (machine.root / "tools").mkdir()
    (machine.root / "tools/mount").write_text("#!/bin/sh\necho no room >&2\nexit 32\n")
    (machine.root / "tools/mount").chmod(0o755)
    out = machine.run(under="strace -o /tmp/log -e inject=fsync:error=EIO", path="/tools:/usr/sbin:/usr/bin", status=71)
    assert "next: mount /mnt: it was unmounted, and could not be mounted again: " in out and "no room" in out
    assert machine.mounts() == [] and machine.lines().count("cloudconfig") == 1
    assert machine.run() == "done\n"


@pytest.mark.parametrize("how", ["in place", "by another file"])
def test_what_another_writes_to_fstab_stays(machine, how):
    machine.make()
    mine, etc = "tmpfs /scratch tmpfs defaults 0 0\n", machine.root / "etc"
    child = machine.start(*machine.argv("exec strace -o /tmp/log -e inject=fsync:delay_enter=500000 /probe apply / i-0a1b /data ext4 ephemeral0=sdb x"),
                          stdout=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not list(etc.glob(".nodeup-*")):
        assert time.monotonic() < end and child.poll() is None
    time.sleep(0.1)
    if how == "in place":
        with open(etc / "fstab", "a") as f:
            f.write(mine)
    else:
        (etc / "new").write_text(machine.lines() + mine)
        os.replace(etc / "new", etc / "fstab")
    assert child.communicate(timeout=60)[0] == "done\n"
    assert machine.lines() == OTHER + mine
    assert not list(etc.glob(".nodeup-*"))


def test_what_comes_between_look_and_write_is_seen(machine):
    """mkfs begins when the disk is nobody's file system any more: a mount between the two finds none."""
    machine.make()
    machine.mount()
    (machine.root / "tools").mkdir()
    (machine.root / "tools/mkfs.ext4").write_text('#!/bin/sh\nmount /dev/xvdb /srv 2>/dev/null && echo mounted >/tmp/was\nexec /usr/sbin/mkfs.ext4 "$@"\n')
    (machine.root / "tools/mkfs.ext4").chmod(0o755)
    assert machine.run(path="/tools:/usr/sbin:/usr/bin") == "done\n"
    assert not (machine.root / "tmp/was").exists()


@pytest.mark.parametrize("when", ["before", "begun", "after"])
def test_killed_in_mkfs_it_goes_on(machine, when):
    text = {"before": "kill -9 $PPID", "after": '/usr/sbin/mkfs.ext4 "$@"; kill -9 $PPID',
            "begun": "dd if=/dev/zero of=/dev/xvdb bs=1k seek=40 count=300 conv=notrunc 2>/dev/null; kill -9 $PPID"}[when]
    machine.make()
    machine.mount()
    (machine.root / "tools").mkdir()
    (machine.root / "tools/mkfs.ext4").write_text(f"#!/bin/sh\n{text}\n")
    (machine.root / "tools/mkfs.ext4").chmod(0o755)
    machine.run(path="/tools:/usr/sbin:/usr/bin", status=-9)
    assert machine.run("check").startswith("differs: ")
    assert machine.run() == "done\n"
    assert machine.run("check") == "equal\n" and machine.lines() == OTHER


@pytest.mark.parametrize("booted", [pytest.param(False, marks=pytest.mark.long), True])
def test_killed_at_any_step_it_goes_on(machine, booted):
    """What it does to the machine before mkfs begins, one after the other; mkfs is killed above."""
    reached = 0
    for call in ("umount2", "renameat", "pwrite64", "fsync"):
        for nth in range(1, 100):
            machine.inside("umount /mnt 2>/dev/null || :; rm -rf /var/lib/nodeup")
            machine.fstab(OTHER + LINE)
            machine.make()
            machine.mount()
            out = machine.run(under=f"strace -o /tmp/log -e trace={call} -e inject={call}:signal=KILL:when={nth}", status=None)
            if out == "done\n":
                break
            reached += 1
            if booted:
                machine.boot()
            assert machine.run() == "done\n", (call, nth)
            assert machine.run("check") == "equal\n" and machine.lines() == OTHER and not machine.mounts()
    assert reached > 8


@pytest.mark.parametrize("used", [False, True])
def test_of_ours_the_line_goes(machine, used):
    """The disk was blank, and cloud-init's line mounts what we made of it, at the next boot and before its own place."""
    assert machine.run() == "done\n"
    assert machine.lines() == OTHER
    machine.fstab(OTHER + LINE)
    machine.inside("mount /dev/xvdb /mnt; touch /mnt/precious")
    if used:
        machine.stays("cd /mnt")
    assert "cloud-init" in machine.run("check")
    assert machine.run() == "done\n"
    assert machine.lines() == OTHER and machine.mounts() == (["/mnt"] if used else [])
    machine.inside("mount /dev/xvdb /data")
    assert machine.run("check") == "equal\n"
    assert machine.inside("ls /data") == "lost+found\nprecious\n"
