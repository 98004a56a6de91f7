"""What needs a kernel of its own: arrays, EC2's NVMe disks under changing numbers, disks that fail."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import machine

MIB = 1 << 20


@pytest.fixture(scope="module")
def parts():
    environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    target = machine.PROBE.relative_to(machine.ROOT)
    subprocess.run(["make", "-s", f"FAKES={target}", target], cwd=machine.ROOT, env=environ, check=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nodeup-vm-", dir="/var/tmp"))
    try:
        said = machine.run(folder, 9, 400 * MIB)
    finally:
        shutil.rmtree(folder)
    assert "end" in said, "the machine did not come to its end"
    return said


def steps(part):
    """(what it said, exit status) of each command."""
    found = re.findall(r"((?:.*\n)*?)rc=(\d+)\n", part)
    return [(text, int(code)) for text, code in found]


def test_ext4_over_two_disks_is_an_array(parts):
    check, apply, again, twice = steps(parts["md"])
    assert check == ("differs: vda, vdb (disk, 400 MiB) are blank: mdadm, mkfs.ext4\n", 0)
    assert apply == ("done\n", 0)
    assert again == ("equal\n", 0)
    assert twice[1] == 0 and "done\n" in twice[0]


def test_an_array_nobody_started_is_started_with_its_data(parts):
    check, apply, again = steps(parts["md-stopped"])
    assert check[0] == "differs: vda, vdb are members of an array that is not started\n"
    assert apply == ("done\n", 0)
    assert again == ("equal\n", 0)
    digest = re.compile(r"^[0-9a-f]{32}  /mnt/fill$", re.M)
    assert digest.findall(parts["md"]) == digest.findall(parts["md-stopped"]) != []


def test_arrays_and_members_of_others_are_data(parts):
    other_fs, other_machine, half = steps(parts["md-refused"])
    for text, code in (other_fs, other_machine, half):
        assert code == 73 and "not blank; nothing was written" in text
    assert "has: ext4 file system" in other_fs[0]
    assert "linux_raid_member" in other_machine[0] and "linux_raid_member" in half[0]


def test_killed_between_mdadm_and_mkfs(parts):
    killed, check, apply, again = steps(parts["md-killed"])
    assert killed[1] == 137
    assert check[0].startswith("differs: vdc, vdd ")
    assert apply == ("done\n", 0)
    assert again == ("equal\n", 0)


def test_ec2_disks_by_model_and_serial(parts):
    store, volume, absent = steps(parts["nvme"])
    # in the order of their serials, not of their numbers
    names = re.match(r"differs: (nvme\d)n1, (nvme\d)n1 \(instance store AWS11111111111111111, 400 MiB\) are blank",
                     store[0]).groups()
    assert len(set(names)) == 2
    assert volume == ("done\n", 0)
    assert int(re.search(r"^writes (\d+)$", parts["nvme"], re.M).group(1)) > 0
    assert "waits: vol-0ccccccccccccccccc is not here" in absent[0]


def test_ec2_disks_under_other_numbers(parts):
    store, ours, twice, other = steps(parts["nvme-renamed"])
    assert "instance store AWS11111111111111111" in store[0]
    assert ours == ("equal\n", 0)
    assert twice == ("done\n", 0)
    # it would get the UUID that the first has, and a mount would take either
    assert other[1] == 73 and "has the same UUID; nothing was written" in other[0]
    made, after, untouched = (int(n) for n in re.findall(r"^writes (\d+)$", parts["nvme"] + parts["nvme-renamed"], re.M))
    assert made == after and untouched == 0


def test_what_cannot_be_read_is_not_blank(parts):
    for text, code in steps(parts["read-error"]):
        assert code == 71 and "it cannot be read; nothing was written" in text
    assert "writes 0\n" in parts["read-error"]


def test_a_disk_that_cannot_be_written_and_then_can(parts):
    failed, apply, check = steps(parts["write-error"])
    assert failed[1] == 71 and "SYSTEM: " in failed[0]
    assert apply == ("done\n", 0)
    assert check == ("equal\n", 0)
