"""Forty-one faults that clusters met in the field: of each, what the last lines on the console say.

Those that need no more than a server and a root are made here.  The others have tests where the machine is that they need;
ELSEWHERE names them, and a test sees that they are there."""

import io
import pathlib
import re
import tarfile
import urllib.parse

import pytest

from world import CNI, CONFIG, INTEGRITY, KUBELET, NET, ROOT, SYSTEM


def mirror(*faults):
    def make(world):
        world.assets[KUBELET].urls = [world.url(KUBELET, *faults)]
    return make


def dead_mirrors(world):
    dead = urllib.parse.urlsplit(world.origin.refused()).netloc
    world.assets[KUBELET].urls = [f"http://{dead}/kubelet", world.url(KUBELET, "status=404")]


def no_name(world):
    world.assets[KUBELET].urls = ["https://no-such-host.invalid/kubelet"]


def document(change):
    def make(world):
        world.write_documents()
        world.conf.write_bytes(change(world.conf.read_bytes()))
    return make


def evil_archive(world):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo("../../etc/cron.d/evil")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    world.assets[CNI] = world.serve("cni-1.tar.gz", out.getvalue())


def a_link_to_itself(world):
    (world.root / "etc/sysconfig").symlink_to("sysconfig")


HELD = r"held +install /usr/local/bin/kubelet, unit kubelet\.service"
# What happened: how it is made, exit status, the line that says so, and what stands below it.
FAULTS = {
    "9 a body that ends early": (
        mirror("truncate=100"), NET, r"FAILED asset kubelet: .*: short body: 100 of 2000000 bytes came \(69\)", HELD),
    "10 an empty body": (mirror("empty"), NET, r"FAILED asset kubelet: .*: empty body \(69\)", HELD),
    "12 mirrors that are dead or have it no more": (
        dead_mirrors, NET, r"FAILED asset kubelet: .*, 2 mirrors: .* \(69\)", r"mirror +GET .*HTTP status 404"),
    "12 a page instead of the program": (
        mirror("wrong=html"), INTEGRITY, r"FAILED asset kubelet: wrong content, 1 of 1 mirror.* \(65\)", r"got +sha256 [0-9a-f]{64}"),
    "14 a limit of requests": (
        mirror("status=429", "retry_after=0"), NET, r"FAILED asset kubelet: .*: HTTP status 429.* \(69\)", HELD),
    "15 a store that asks for patience": (
        mirror("status=503"), NET, r"FAILED asset kubelet: .*: HTTP status 503.* \(69\)", HELD),
    "19 a name that nobody knows": (
        no_name, NET, r"FAILED asset kubelet: .*: Could not resolve host: no-such-host\.invalid \(69\)",
        r"do +look at /etc/resolv\.conf, the VPC's DNS and the name"),
    "27 a byte that is no text": (
        document(lambda text: text.replace(b"Tags:", b"Ta\0gs:")), CONFIG,
        r"FAILED \S+kube_env\.yaml:\d+:\d+: control characters are not allowed .*\(78\)", ""),
    "27 Latin-1": (
        document(lambda text: text.replace(b"ClusterName: a", b"ClusterName: \xe4a")), CONFIG,
        r"FAILED \S+kube_env\.yaml:\d+:\d+: invalid .*UTF-8 .*\(78\)", ""),
    "27 a tab": (
        document(lambda text: text.replace(b"- _aws", b"\t- _aws")), CONFIG,
        r"FAILED \S+kube_env\.yaml:\d+:\d+: .*YAML is indented with spaces \(78\)", ""),
    "28 parts of mail that lack an empty line": (
        document(lambda text: b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n--x\nContent-Type: text/plain\n" + text),
        CONFIG, r"FAILED \S+kube_env\.yaml:\d+:\d+: .*\(78\)", ""),
    "36 an archive that leaves its directory": (
        evil_archive, INTEGRITY, r"FAILED .*: entry '\.\./\.\./etc/cron\.d/evil' refused: '\.\.' in the name \(65\)",
        r"held +install /opt/cni/bin/bridge"),
    "39 a link that leads to itself": (
        a_link_to_itself, SYSTEM, r"FAILED file /etc/sysconfig/\S+: .*Too many levels of symbolic links \(71\)", r"held +unit "),
}

# Number: where it is made, or why it cannot be.
ELSEWHERE = {
    1: "e2e/test_boot.py::test_run_by_cloud_init_in_the_foreground",
    2: "system/test_instance.py::test_it_does_not_come",
    3: "unit/aws/test_s3_session.c::test_region_comes_late",
    4: "system/test_instance.py::test_an_instance_that_wants_tokens",
    5: "system/test_instance.py::test_a_token_is_over",
    6: "system/test_instance.py::test_the_key_does_not_come",
    7: "system/test_instance.py::test_the_hop_limit_is_too_low",
    8: "system/test_instance.py::test_a_proxy_is_not_for_it",
    11: "system/test_ranges.py::test_connections_that_drop",
    13: "system/test_slow_mirrors.py::test_the_first_one_is_slow",
    16: "system/test_agents.py::test_a_hundred_nodes",
    17: "system/test_early_boot.py::test_a_clock_that_the_certificate_does_not_hold_at",
    18: "system/test_early_boot.py::test_nobody_waits_for_entropy",
    20: "system/test_loop_disks.py::test_a_read_error_is_no_blank",
    21: "system/test_loop_disks.py::test_never_a_mkfs_on_what_another_made",
    22: "e2e/test_disk_refusals.py::test_an_absent_disk_is_waited_for_and_then_named",
    23: "vm/test_disks_vm.py::test_ec2_disks_under_other_numbers",
    24: "e2e/test_disks.py::test_units_are_clean",
    25: "e2e/test_bus.py::test_signals_lost",
    26: "system/test_userdata_script.py::test_gzip_is_what_cloud_init_unpacks",
    29: "e2e/test_extras.py::test_dpkg_killed_half_way_is_finished",
    30: "system/test_lost_writes.py::test_one_of_the_files_that_are_flushed_together",
    31: "system/test_bad_input.py::test_no_secret_of_a_url_in_the_message",
    32: "system/test_kops_files.py::test_a_node_gets_these_files_and_no_other",
    33: "system/test_identity.py::test_an_image_of_a_live_node_is_another_node",
    34: "system/test_rerun.py::test_a_tight_umask_hides_nothing",
    35: "system/test_enospc.py::test_there_is_no_room_to_unpack",
    37: "unit/aws/test_sigv4.c::test_token",
    38: "system/test_status_command.py::test_one_screen_says_what_failed_and_what_to_do",
    40: "cases/test_flags.py::test_what_would_not_start_is_told",
    41: "system/test_cli.py::test_empty_root",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_last_line_names_it(world, fault):
    make, code, line, below = FAULTS[fault]
    make(world)
    done = world.run("apply", write=code != CONFIG)
    assert done.code == code and re.fullmatch(line, done.failure), done
    assert re.search(below, done.notes), done
    assert not (world.root / "usr/local/bin/kubelet").exists() or code == SYSTEM or "archive" in fault, done


def test_every_fault_has_its_test():
    here = {int(fault.split()[0]) for fault in FAULTS}
    assert here | set(ELSEWHERE) == set(range(1, 42)) and not here & set(ELSEWHERE)
    for where in ELSEWHERE.values():
        if not where.startswith("not here: "):
            file, name = where.split("::")
            assert re.search(rf"(?m)^(def|static void) {name}\(", pathlib.Path(ROOT / "tests" / file).read_text()), where


def test_wrong_bytes_are_told_before_a_mirror_that_is_down(world):
    """The one that does not answer may have the right ones, so another try is worth it; but the hash is the likelier cause."""
    dead = urllib.parse.urlsplit(world.origin.refused()).netloc
    world.assets[KUBELET].urls = [world.url(KUBELET, "wrong"), f"http://{dead}/kubelet"]
    done = world.apply()
    assert done.code == NET and re.search(r", 2 mirrors: 1 sent wrong content; GET .*Connection refused", done.failure), done
    want = world.assets[KUBELET].digest
    assert re.search(rf"(?s)^  want +sha256 {want}\n  got +sha256 (?!{want})[0-9a-f]{{64}}\n  do +compare the document's hash with the publisher's: nodeup help asset-hash", done.notes), done
