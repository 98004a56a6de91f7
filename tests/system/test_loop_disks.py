"""Volume tasks on real block devices: loop devices over files on the disk, the real mkfs tools, the
kernel's own claims, processes that race and processes that die."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

from world import build

MIB = 1 << 20
# least size of each, and a bit
SIZE = {"ext4": 64 * MIB, "xfs": 320 * MIB, "btrfs": 128 * MIB, "swap": 16 * MIB}


@pytest.fixture(scope="session")
def program():
    return build("disk_probe")


class Disk:
    """A loop device over a sparse file."""

    def __init__(self, folder, size, *flags):
        fd, self.file = tempfile.mkstemp(dir=folder)
        os.ftruncate(fd, size)
        os.close(fd)
        self.attach(*flags)

    def attach(self, *flags):
        done = subprocess.run(["losetup", "--find", "--show", *flags, self.file], check=True, stdout=subprocess.PIPE,
                              text=True)
        self.path = done.stdout.strip()
        self.name = os.path.basename(self.path)
        # the number may have been another file's before
        self.before = 0
        self.before = self.writes()

    def detach(self):
        subprocess.run(["losetup", "--detach", self.path], check=True)
        self.path = None

    def writes(self):
        """Requests to write that the device has seen since it was attached."""
        os.sync()
        return int(pathlib.Path(f"/sys/block/{self.name}/stat").read_text().split()[4]) - self.before

    def poke(self, at, data):
        with open(self.path, "r+b", buffering=0) as f:
            f.seek(at)
            f.write(data.ljust(512, b"\0"))
            os.fsync(f.fileno())

    def is_zero(self):
        with open(self.file, "rb") as f:
            return all(not any(chunk) for chunk in iter(lambda: f.read(MIB), b""))


class Node:
    """A root with the machine's devices, and disks to go with it."""

    def __init__(self, folder, program):
        self.folder, self.program, self.disks, self.mounts = folder, program, [], []
        self.root = folder / "root"
        for name in ("dev", "sys", "proc"):
            (self.root / name).mkdir(parents=True)

    def disk(self, size, *flags):
        self.disks.append(Disk(self.folder, size, *flags))
        return self.disks[-1]

    def argv(self, verb, fs, disks, kind="store"):
        paths = [d if isinstance(d, str) else d.path for d in disks]
        script = 'for d in dev sys proc; do mount --rbind /$d "$0/$d"; done; exec "$@"'
        return ["unshare", "-m", "--propagation", "private", "sh", "-ec", script, str(self.root), str(self.program), verb,
                str(self.root), self.folder.name, str(self.folder / "mnt0"), fs, kind, *paths]

    def start(self, verb, fs, *disks, kind="store", path=None):
        env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
        return subprocess.Popen(self.argv(verb, fs, disks, kind), env=env, stdout=subprocess.PIPE, text=True)

    def run(self, verb, fs, *disks, status=0, **more):
        child = self.start(verb, fs, *disks, **more)
        out = child.communicate()[0]
        assert child.returncode == status, out
        return out

    def mount(self, disk, *others):
        at = self.folder / f"mnt{len(self.mounts)}"
        at.mkdir(exist_ok=True)
        # where udev does not tell the kernel which disks belong together
        options = ["-o", ",".join(f"device={d.path}" for d in others)] if others else []
        # a test beside this one may have taken the mount of before into its namespace: it goes with that
        end = time.monotonic() + 120
        while subprocess.run(["mount", *options, disk.path, at], check=False).returncode:
            assert time.monotonic() < end, f"{disk.path} cannot be mounted"
            time.sleep(0.2)
        self.mounts.append(at)
        return at

    def umount(self, at):
        subprocess.run(["umount", at], check=True)
        self.mounts.remove(at)

    def tool(self, name, text):
        """Put a program of ours in front of a real one."""
        folder = self.folder / "tools"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/bash\nreal={shutil.which(name)}\n" + text)
        (folder / name).chmod(0o755)
        return folder

    def record(self):
        return self.root / "var/lib/nodeup/volumes/data"

    def close(self):
        for at in filter(None, reversed(self.mounts)):
            subprocess.run(["umount", "--lazy", at], check=False)
        for disk in self.disks:
            if disk.path:
                subprocess.run(["losetup", "--detach", disk.path], check=False)


@pytest.fixture
def node(program):
    # on the disk, not on a tmpfs
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nodeup-disks-", dir="/var/tmp"))
    n = Node(folder, program)
    yield n
    n.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("fs", ["ext4", "xfs", "btrfs", "swap"])
def test_formats_once_and_never_writes_again(node, fs):
    disk = node.disk(SIZE[fs])
    assert node.run("check", fs, disk).startswith(f"differs: {disk.name} (disk, ")
    assert disk.writes() == 0, "looking at a disk wrote to it"
    assert node.run("apply", fs, disk) == "done\n"
    made = disk.writes()
    assert made > 0
    assert node.run("check", fs, disk) == "equal\n"
    assert node.run("apply", fs, disk) == "done\n"
    assert disk.writes() == made
    if fs == "swap":
        return
    at = node.mount(disk)
    data = os.urandom(3 * MIB)
    (at / "data").write_bytes(data)
    # as it is on each run after the first: mounted, in use
    assert node.run("check", fs, disk) == "equal\n"
    assert node.run("apply", fs, disk) == "done\n"
    assert (at / "data").read_bytes() == data
    node.umount(at)
    # where nobody expects it
    node.mounts.append(None)
    at = node.mount(disk)
    assert f"mounted on {at}" in node.run("check", fs, disk, status=73)
    node.umount(at)
    node.mounts.remove(None)
    # the same disk after a reboot, under another name maybe
    disk.detach()
    disk.attach()
    assert node.run("apply", fs, disk) == "done\n"
    assert (node.mount(disk) / "data").read_bytes() == data


@pytest.mark.parametrize("count", [2, 4])
def test_several_disks_are_one_btrfs(node, count):
    disks = [node.disk(SIZE["btrfs"]) for _ in range(count)]
    assert node.run("apply", "btrfs", *disks) == "done\n"
    assert node.run("check", "btrfs", *disks) == "equal\n"
    # whatever the order they come up in
    assert node.run("check", "btrfs", *reversed(disks)) == "equal\n"
    at = node.mount(*disks)
    usage = subprocess.run(["btrfs", "filesystem", "df", at], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert "Data, RAID0" in usage and "Metadata, RAID1" in usage
    (at / "data").write_bytes(os.urandom(MIB))
    assert node.run("check", "btrfs", *disks) == "equal\n"


@pytest.mark.parametrize("wanted", ["ext4", "xfs", "btrfs", "swap"])
@pytest.mark.parametrize("found", ["ext4", "xfs", "btrfs", "swap"])
def test_never_a_mkfs_on_what_another_made(node, wanted, found):
    disk = node.disk(SIZE["xfs"])
    tool = "mkswap" if found == "swap" else f"mkfs.{found}"
    subprocess.run([tool, "-q", disk.path], check=True)
    before = disk.writes()
    out = node.run("apply", wanted, disk, status=73)
    assert "not blank; nothing was written" in out and "has: " + found in out
    node.run("check", wanted, disk, status=73)
    assert disk.writes() == before


def test_a_disk_that_somebody_holds_is_left(node):
    disk = node.disk(SIZE["ext4"])
    # as a mount, md or device-mapper does
    fd = os.open(disk.path, os.O_RDONLY | os.O_EXCL)
    try:
        # a look takes nothing from anybody, so that it does not see this
        assert node.run("check", "ext4", disk).startswith("differs: ")
        assert "in use by the kernel" in node.run("apply", "ext4", disk, status=73)
        assert not node.record().exists()
    finally:
        os.close(fd)
    assert disk.is_zero()
    assert node.run("apply", "ext4", disk) == "done\n"


def test_bad_disks_are_one_clear_line(node):
    disk = node.disk(SIZE["ext4"], "--read-only")
    assert node.run("apply", "ext4", disk, status=78).startswith(f"CONFIG: disk {disk.name} for /data: it is read-only")
    small = node.disk(MIB)
    assert "too small: 1 MiB, ext4 needs 16 MiB" in node.run("apply", "ext4", small, status=78)
    assert small.is_zero()
    assert node.run("apply", "ext4", "/dev/xvdzz").startswith("waits: /dev/xvdzz is not here, waiting up to 5 min")
    assert "several" not in node.run("apply", "ext4", small, small, status=78)


def test_a_partition_is_no_disk(node):
    disk = node.disk(SIZE["ext4"])
    disk.detach()
    disk.attach("--partscan")
    before = disk.writes()
    subprocess.run(["addpart", disk.path, "1", "2048", "65536"], check=True)
    part = f"/sys/block/{disk.name}/{disk.name}p1/dev"
    assert os.path.exists(part)
    assert "1 partition" in node.run("apply", "ext4", disk, status=73)
    # its node, which udev would make
    number = [int(n) for n in pathlib.Path(part).read_text().split(":")]
    node_path = node.root / "part1"
    os.mknod(node_path, 0o600 | 0o060000, os.makedev(*number))
    assert "is partition 1 of a disk" in node.run("apply", "ext4", "/part1", status=78)
    assert disk.writes() == before


@pytest.mark.parametrize("end", ["head", "tail"])
def test_a_read_error_is_no_blank(node, end):
    disk = node.disk(SIZE["ext4"])
    # what lies behind the file's new end cannot be read; the device keeps its size
    os.truncate(disk.file, SIZE["ext4"] - MIB if end == "tail" else 4096)
    for verb in ("check", "apply"):
        out = node.run(verb, "ext4", disk, status=71)
        assert "it cannot be read; nothing was written" in out
    assert os.stat(disk.file).st_size == (SIZE["ext4"] - MIB if end == "tail" else 4096)


def test_what_persists_is_blank_further_in_or_adopted(node):
    disk = node.disk(SIZE["ext4"])
    disk.poke(10 * MIB, b"x")
    assert "unknown data at byte 10485760" in node.run("apply", "ext4", disk, kind="persist", status=73)
    other = node.disk(SIZE["ext4"])
    subprocess.run(["mkfs.ext4", "-q", other.path], check=True)
    before = other.writes()
    assert "has UUID" in node.run("apply", "ext4", other, kind="persist", status=75)
    assert other.writes() == before


def test_racing_processes_make_one_file_system(node):
    disk = node.disk(SIZE["ext4"])
    # as slow as it takes for all of them to look
    tools = node.tool("mkfs.ext4", 'echo >>"%s"; sleep 1; exec "$real" "$@"\n' % (node.folder / "made"))
    children = [node.start("apply", "ext4", disk, path=tools) for _ in range(4)]
    ends = [(c.communicate()[0], c.returncode) for c in children]
    assert any(code == 0 for _, code in ends)
    for out, code in ends:
        # those that came later found it locked, in use, or done
        assert code in (0, 73, 75), out
    assert (node.folder / "made").read_text() == "\n"
    assert node.run("check", "ext4", disk) == "equal\n"


# Our own mkfs, killed with the process that runs it: before it, in the middle and after it.
KILLS = {
    "before": 'kill -9 $PPID\n',
    "begun": 'dev=${!#}; head -c 300000 /dev/urandom | dd of="$dev" bs=1k seek=40 conv=notrunc,fsync status=none; kill -9 $PPID\n',
    "after": '"$real" "$@"; kill -9 $PPID\n',
}


@pytest.mark.parametrize("when", KILLS)
@pytest.mark.parametrize("fs", ["ext4", "xfs", "btrfs", "swap"])
def test_killed_in_mkfs_the_next_run_converges(node, fs, when):
    tool = "mkswap" if fs == "swap" else f"mkfs.{fs}"
    disk = node.disk(SIZE[fs])
    node.run("apply", fs, disk, path=node.tool(tool, KILLS[when]), status=-9)
    before = disk.writes()
    assert node.run("check", fs, disk).startswith("differs: ")
    assert node.run("apply", fs, disk) == "done\n"
    if when == "after":
        assert disk.writes() == before
    assert node.run("check", fs, disk) == "equal\n"


def test_half_a_mkfs_excuses_no_other_disk(node):
    disk, other = node.disk(SIZE["ext4"]), node.disk(SIZE["ext4"])
    node.run("apply", "ext4", disk, path=node.tool("mkfs.ext4", KILLS["begun"]), status=-9)
    other.poke(70000 // 512 * 512, b"somebody's")
    before = other.writes()
    assert "not blank" in node.run("apply", "ext4", other, status=73)
    assert other.writes() == before
    # the same bytes, but a disk that was away meanwhile
    disk.detach()
    disk.attach()
    before = disk.writes()
    assert "not blank" in node.run("apply", "ext4", disk, status=73)
    assert disk.writes() == before


def test_a_mkfs_that_left_nothing_excuses_nothing(node):
    disk = node.disk(SIZE["ext4"])
    node.run("apply", "ext4", disk, path=node.tool("mkfs.ext4", "exit 1\n"), status=71)
    assert disk.is_zero() and not node.record().exists()
    disk.poke(MIB, b"somebody's")
    before = disk.writes()
    assert "not blank" in node.run("apply", "ext4", disk, status=73)
    assert disk.writes() == before


def test_a_name_is_the_disk_of_before_or_none(node):
    """A name that is another disk's now, which has a file system that would do."""
    disk, other = node.disk(SIZE["ext4"]), node.disk(SIZE["ext4"])
    link = node.root / "link"
    link.symlink_to(disk.path)
    assert node.run("apply", "ext4", "/link", kind="persist") == "done\n"
    subprocess.run(["mkfs.ext4", "-q", other.path], check=True)
    link.unlink()
    link.symlink_to(other.path)
    before = disk.writes(), other.writes()
    for verb in ("check", "apply"):
        out = node.run(verb, "ext4", "/link", kind="persist", status=73)
        assert f"disk {other.name} for /data: it is not the disk of before; nothing was written" in out
        assert "remove /var/lib/nodeup/volumes/data" in out
    # whoever attaches it in its place says so
    node.record().unlink()
    assert "has UUID" in node.run("apply", "ext4", "/link", kind="persist", status=75)
    assert (disk.writes(), other.writes()) == before


def test_mkfs_gets_the_device_that_was_judged(node):
    """A link of a document that is turned to another disk meanwhile."""
    disk, other = node.disk(SIZE["ext4"]), node.disk(SIZE["ext4"])
    link = node.root / "link"
    link.symlink_to(disk.path)
    turn = node.tool("mkfs.ext4", 'ln -sfn %s %s; exec "$real" "$@"\n' % (other.path, link))
    assert "/link is disk %s no more" % disk.name in node.run("apply", "ext4", "/link", path=turn, status=71)
    assert other.writes() == 0 and other.is_zero()
    assert node.run("apply", "ext4", disk) == "done\n"
    assert other.writes() == 0


def test_a_tool_that_lies_is_not_believed(node):
    disk = node.disk(SIZE["ext4"])
    assert "mkfs.ext4 said it was done" in node.run("apply", "ext4", disk, path=node.tool("mkfs.ext4", "exit 0\n"), status=71)
    assert "No space left" in node.run("apply", "ext4", disk, status=71,
                                       path=node.tool("mkfs.ext4", "echo No space left; exit 1\n"))
    assert node.run("apply", "ext4", disk) == "done\n"
