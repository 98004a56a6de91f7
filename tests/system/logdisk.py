"""A disk that remembers each write and each flush, so that a power cut can be played afterwards: a loop device on a
file that qemu-storage-daemon serves (FUSE), with the log of its blklogwrites below it.

What a disk promises is this: what was written before a flush that ended is there; of what was written since, each
block of 4 KiB may be there or not.  An image of a cut is made so."""
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import time

DAEMON = "qemu-storage-daemon"
SECTOR, BLOCK = 512, 8  # bytes, sectors
HEAD, ENTRY = struct.Struct("<QQQI"), struct.Struct("<QQQQ")
MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD = 1, 2, 4


# How it is made and mounted: ext4 without what it does for programs that flush nothing.
KINDS = {"ext4": (["mkfs.ext4", "-q"], "noauto_da_alloc"), "xfs": (["mkfs.xfs", "-q"], "defaults"),
         "btrfs": (["mkfs.btrfs", "-q"], "defaults")}


def die_with_parent():
    """A daemon that nothing stops any more would go on at full speed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class LogDisk:
    def __init__(self, folder, mib, kind="ext4"):
        self.folder, self.size, self.kind = folder, mib << 20, kind
        self.mount = folder / "disk"
        self.daemon = self.loop = None

    def path(self, name):
        return self.folder / name

    def __enter__(self):
        self.mount.mkdir(parents=True)
        for name, size in (("bytes", self.size), ("log", 64 * self.size), ("served", 0)):
            with open(self.path(name), "wb") as f:
                f.truncate(size)
        self.daemon = subprocess.Popen(
            [DAEMON, "--blockdev", f"driver=file,node-name=bytes,filename={self.path('bytes')}",
             "--blockdev", f"driver=file,node-name=log,filename={self.path('log')}",
             "--blockdev", "driver=blklogwrites,node-name=disk,file=bytes,log=log",
             "--export", f"type=fuse,id=served,node-name=disk,mountpoint={self.path('served')},writable=on"],
            preexec_fn=die_with_parent)
        end = time.monotonic() + 60
        while self.path("served").stat().st_size != self.size:
            assert self.daemon.poll() is None and time.monotonic() < end, "the disk is not served"
            time.sleep(0.02)
        self.loop = subprocess.run(["losetup", "--find", "--show", self.path("served")], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip()
        subprocess.run([*KINDS[self.kind][0], self.loop], check=True)
        self.attach()
        return self

    def attach(self):
        subprocess.run(["mount", "-o", KINDS[self.kind][1], self.loop, self.mount], check=True)

    def detach(self):
        subprocess.run(["umount", self.mount], check=True)

    def __exit__(self, *_):
        subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL)
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop])
        subprocess.run(["umount", self.path("served")], stderr=subprocess.DEVNULL)
        if self.daemon:
            self.daemon.kill()
            self.daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def entries(self):
        """What was asked of the disk so far: (sector, number of sectors, flags, place of the data in the log)."""
        found = []
        with open(self.path("log"), "rb") as f:
            magic, version, _, size = HEAD.unpack(f.read(HEAD.size))
            assert (magic, version, size) == (MAGIC, 1, SECTOR)
            at = SECTOR
            while True:
                f.seek(at)
                sector, n, flags, length = ENTRY.unpack(f.read(ENTRY.size))
                if not (n or flags):
                    return found
                at += SECTOR
                found.append((sector, n, flags, at))
                at += 0 if flags & DISCARD else n * SECTOR
                assert length in (0, n * SECTOR), "data of a length that is not its own"

    def check_log(self, entries):
        """All entries together are what the disk holds: none is missing, and none is read wrongly."""
        disk = bytearray(self.size)
        with open(self.path("log"), "rb") as log, open(self.path("bytes"), "rb") as f:
            for sector, n, flags, at in entries:
                log.seek(at)
                disk[sector * SECTOR:(sector + n) * SECTOR] = bytes(n * SECTOR) if flags & DISCARD else log.read(n * SECTOR)
            assert f.read() == disk, "the log is not the disk"

    def cut(self, entries, last, chance):
        """Make the disk what a power cut leaves after `last` entries."""
        entries = entries[:last]
        flushed = max((i for i, e in enumerate(entries) if e[2] & FLUSH), default=-1)
        with open(self.path("log"), "rb") as log, open(self.loop, "r+b", buffering=0) as disk:
            subprocess.run(["blkdiscard", "-fz", self.loop], check=True, stderr=subprocess.DEVNULL)
            for i, (sector, n, flags, at) in enumerate(entries):
                is_safe = i < flushed or flags & FUA
                for k in range(0, n, is_safe and n or BLOCK):
                    if not is_safe and chance.random() < 0.5:
                        continue
                    size = (n if is_safe else min(n - k, BLOCK)) * SECTOR
                    log.seek(at + k * SECTOR)
                    disk.seek((sector + k) * SECTOR)
                    disk.write(bytes(size) if flags & DISCARD else log.read(size))
            os.fsync(disk.fileno())

    def forget_after(self, entries):
        """Free what the log has of what was done since."""
        end = entries[-1][3] + (0 if entries[-1][2] & DISCARD else entries[-1][1] * SECTOR)
        size = self.path("log").stat().st_size - end
        subprocess.run(["fallocate", "--punch-hole", "-o", str(end), "-l", str(size), self.path("log")], check=True)
