"""What one cause keeps from being done: it is told once, and nothing else is kept from being done."""

import json
import re

from world import CNI, KUBELET, NET, SYSTEM, UTILS

LIMIT = 120


def test_a_file_that_cannot_be_written_stops_only_its_own_unit(world, mounts):
    """The settings of kubelet are a mount: nothing can take their place."""
    path = world.root / "etc/sysconfig/kubelet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("DAEMON_ARGS=\n")
    mounts.run("mount", "--bind", path, path)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM and "file /etc/sysconfig/kubelet" in result.failure, result
    skipped = re.findall(r"skipped (.*)", result.err)
    assert skipped == ["unit kubelet.service: file /etc/sysconfig/kubelet failed"], result
    assert (world.root / "etc/kubernetes/manifests/kube-proxy.manifest").exists()
    links = {p.name for p in (world.root / "etc/systemd/system").glob("*.wants/*")}
    assert {"kubernetes-iptables-setup.service", "docker.service"} <= links


def failed_lines(result):
    return [line for line in result.lines if line.startswith("failed ")]


def test_a_full_root_is_one_cause(world, mounts):
    """The root has 48 KiB: files and installs meet the same. The report tells it once, in units for people."""
    mounts.run("mount", "-t", "tmpfs", "-o", "size=48k,mode=755", "tmpfs", world.root)
    mounts.run("sh", "-c", f"cd {world.root} && mkdir -p etc usr/lib/systemd/system var/lib run && "
               "echo 'root:x:0:0:root:/root:/bin/bash' >etc/passwd && echo 'root:x:0:' >etc/group && "
               "echo '[Service]' >usr/lib/systemd/system/docker.service")
    result = world.apply("--ignore=room", prefix=mounts.enter, timeout=LIMIT)
    assert result.code == SYSTEM, result
    told = re.fullmatch(rf"FAILED no room on {world.root}: at least ([\d.]+) (KiB|MiB) are missing, "
                        r"[\d.]+ (?:bytes|KiB) of 48 KiB are free: (\d+) tasks failed, (\d+) more for want of them \(71\)",
                        result.failure)
    assert told, result
    # kubelet alone has 2,000,000 bytes
    assert told[2] == "MiB" and 1.9 < float(told[1]) < 4, result
    lines = failed_lines(result)
    failed = [line for line in lines if not line.endswith(": unpack cni-1.tar.gz failed")]
    assert int(told[3]) == len(failed) >= 10, result
    # members are written beside their places: they go without the archive whose unpacking had no room
    skipped = [line for line in result.lines if line.startswith("skipped ")]
    assert int(told[4]) == len(skipped) + len(lines) - len(failed) and len(skipped) >= 3, result
    # the first in full; each other one by its name and that of the first
    assert len([line for line in failed if "No space left on device" in line]) == 1, result
    first = re.match(r"failed (\w+ \S+): ", failed[0])[1]
    assert all(line.endswith(f": no room on {world.root}, as {first}") for line in failed[1:]), result
    assert len([line for line in result.lines if line.startswith("WAITING")]) <= 2, result
    assert re.search(r"^  failed    (\w+ \S+, ){3,}and \d+ more$", result.notes, re.M), result
    room = rf"[\d.]+ \w+ of 48 KiB are free on {world.root} \(see du -xhd1\)$"
    assert re.search(rf"^failed {first}: write '.*': No space left on device, [\d.]+ \w+ more are wanted, {room}", failed[0]), result
    # where it is too long for a note, its beginning goes
    assert re.search(rf"^  first     {first}: .*{room}", result.notes, re.M), result
    assert re.search(r"^  held      (\w+ \S+, ){4}and \d+ more$", result.notes, re.M), result


def test_one_answer_of_one_server_is_one_cause(world):
    """Of its assets none is there: each is named, in one block."""
    for name in (KUBELET, CNI, UTILS):
        world.assets[name].urls = [world.url(name, "status=404")]
    result = world.apply(timeout=LIMIT)
    assert result.code == NET, result
    host = world.origin.base.removeprefix("http://")
    assert re.match(rf"FAILED HTTP status 404 from {re.escape(host)}: 3 tasks failed, \d+ more for want of them", result.failure), result
    names = re.search(r"^  failed    (.*)$", result.notes, re.M)[1]
    assert set(names.split(", ")) == {f"asset {name}" for name in (KUBELET, CNI, UTILS)}, result
    assert "  do        correct the URL" in result.notes, result
    # what came of it says whose failure it was
    assert f"failed install /opt/cni/bin/bridge: asset {CNI} failed" in result.lines, result
    assert "skipped unit kubelet.service: asset kubelet failed" in result.lines, result


def test_each_of_several_causes_is_told(world, mounts):
    """The first decides the exit status, and the other is named as well."""
    for name in (KUBELET, CNI):
        world.assets[name].urls = [world.url(name, "status=404")]
    path = world.root / "etc/sysconfig/docker"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("DAEMON_ARGS=\n")
    mounts.run("mount", "--bind", path, path)
    result = world.apply(prefix=mounts.enter, timeout=LIMIT)
    also = re.findall(r"^  also      (.*)$", result.notes, re.M)
    told = [result.failure, *also]
    assert len(also) == 1, result
    assert [t for t in told if re.search(r"HTTP status 404 from \S+: 2 tasks failed", t)], result
    assert [t for t in told if "file /etc/sysconfig/docker: " in t], result
    assert result.code == (NET if "HTTP" in result.failure else SYSTEM), result


def test_the_status_names_cause_count_and_tasks(world, told, status):
    """So that a program need not group the tasks itself."""
    for name in (KUBELET, CNI, UTILS):
        world.assets[name].urls = [world.url(name, "status=404")]
    code = told().end()
    doc = json.loads(status.path.read_text())
    # this machine runs without systemd: whichever of the two came first decides
    causes = {c["kind"]: c for c in doc["causes"]}
    assert doc["state"] == "failed" and set(causes) == {"NET", "SYSTEM"} and len(doc["causes"]) == 2, doc
    assert doc["causes"][0]["exitStatus"] == doc["error"]["exitStatus"] == code, doc
    assert causes["SYSTEM"]["tasks"] == ["reload systemd"] and causes["SYSTEM"]["failed"] == 1, causes
    cause = causes["NET"]
    assert cause["failed"] == 3, cause
    assert cause["cause"] == f"HTTP status 404 from {world.origin.base.removeprefix('http://')}", cause
    assert (cause["kind"], cause["exitStatus"]) == ("NET", NET), cause
    assert set(cause["tasks"]) == {f"asset {name}" for name in (KUBELET, CNI, UTILS)}, cause
    assert "404" in cause["message"] and "room" not in cause, cause
    because = {f"{t['kind']} {t['name']}": t["because"] for t in doc["tasks"] if "because" in t}
    assert because["install /usr/local/bin/kubelet"] == "asset kubelet", because
    assert because["install /opt/cni/bin/bridge"] == f"asset {CNI}", because
    assert set(cause["held"]) == {name for name, of in because.items() if of in cause["tasks"]}, cause
