"""Disks in trouble on a machine with udev: read errors, arrays of others, a run that is killed in the
middle of mkfs.  Each test has disks of its own."""
import pytest

import vmnode
from vm import EBS
from vmnode import CONF, ENDPOINT, disk

pytestmark = pytest.mark.long
ONE, TWO, HALF, KILLED = "AWS0000000000000001", "AWS0000000000000002", "vol0cccccccccccccccc", "vol0dddddddddddddddd"
STORE = "volumeMounts:\n- {instanceStore: all, path: /scratch, filesystem: xfs}\n"
REFUSED, SYSTEM = 73, 71
# A real mkfs, then what a write that came half way leaves of it; whoever started it waits for ever.
SLOW_MKFS = """#!/bin/sh
/usr/sbin/mkfs.xfs.real "$@"
for device; do :; done
dd if=/dev/urandom of="$device" bs=4096 count=1 conv=fsync status=none
: >/run/lab-mkfs
exec sleep infinity
"""


@pytest.fixture(scope="module")
def worker():
    with vmnode.worker() as made:
        yield made


def refused(worker, status, *texts):
    """A plan says so, an apply ends with it."""
    planned, applied = worker.nodeup("plan"), worker.nodeup("apply")
    assert (planned.code, applied.code) == (2, status), planned.out + applied.err
    assert "! volume " in planned.out, planned.out
    for text in texts:
        assert text in planned.out and text in applied.err, planned.out + applied.err


def test_a_disk_with_read_errors_is_not_blank(worker):
    """dm-flakey below: zeros for a head, errors behind it."""
    vm = worker.vm
    vm.sh("modprobe loop && modprobe dm-flakey && truncate -s 128M /var/half && loop=$(losetup -f --show /var/half) && "
          "printf '0 32768 linear %s 0\\n32768 229376 flakey %s 32768 0 100000\\n' $loop $loop | dmsetup create half")
    vm.disks(disk(HALF, EBS, device="/dev/mapper/half"))
    vm.attach(HALF)
    worker.documents("volumeMounts:\n- {volumeID: vol-0cccccccccccccccc, path: /data, filesystem: xfs}\n")
    refused(worker, SYSTEM, "it cannot be read; nothing was written")
    assert worker.writes(HALF) == 0
    assert not worker.mounted("/data")


def test_an_array_of_somebody_else_is_refused(worker):
    vm = worker.vm
    vm.disks(disk(ONE), disk(TWO))
    vm.attach(ONE, TWO)
    names = ["/dev/" + vm.name_of(serial) for serial in (ONE, TWO)]
    vm.sh("mdadm --quiet --create /dev/md/theirs --run --level=0 --raid-devices=2 %s %s && udevadm settle" % tuple(names))
    worker.documents(STORE)
    before = [worker.writes(s) for s in (ONE, TWO)]
    refused(worker, REFUSED, "not blank; nothing was written")
    vm.sh("mdadm --quiet --stop /dev/md/theirs && udevadm settle")
    refused(worker, REFUSED, "not blank; nothing was written", "linux_raid_member")
    assert [worker.writes(s) for s in (ONE, TWO)] == before
    assert not worker.mounted("/scratch")


def test_a_run_killed_in_the_middle_of_mkfs_is_made_good_by_the_next(worker):
    vm = worker.vm
    vm.disks(disk(KILLED, EBS))
    vm.attach(KILLED)
    worker.documents("volumeMounts:\n- {volumeID: vol-0dddddddddddddddd, path: /data, filesystem: xfs}\n")
    vm.sh("mv /usr/sbin/mkfs.xfs /usr/sbin/mkfs.xfs.real")
    vm.put("/usr/sbin/mkfs.xfs", SLOW_MKFS, 0o755)
    vm.sh("systemd-run --unit=killed --setenv=AWS_ENDPOINT_URL_EC2=%s /opt/node/nodeup apply --conf=%s" % (ENDPOINT, CONF))
    vm.wait("test -e /run/lab-mkfs", "mkfs")
    vm.sh("systemctl kill -s KILL killed; mv /usr/sbin/mkfs.xfs.real /usr/sbin/mkfs.xfs")
    vm.wait("! systemctl is-active killed", "its end")
    assert vm.exec("blkid", "-p", "/dev/" + vm.name_of(KILLED)).code == 2, "there is a file system"
    planned = worker.nodeup("plan")
    assert "was being formatted by us" in planned.out, planned.out + planned.err
    worker.apply()
    assert worker.mounted("/data").split()[1] == "xfs"
    vm.sh("echo kept >/data/file; sync")
    again = worker.nodeup("plan")
    assert again.code == 0, again.out
    assert vm.sh("cat /data/file") == "kept"
