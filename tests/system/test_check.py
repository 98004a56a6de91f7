"""nodeup check: whether apply could run here, every reason why not at once, and nothing is changed."""

import fcntl
import json
import os
import re
import subprocess
import sys

import pytest

from world import CNI_MEMBERS, CONFIG, KUBELET, NET, OK, SYSTEM, USAGE

NAMES = ["root", "files", "lock", "clock", "systemd", "metadata", "store", "documents", "host", "volumes", "plan", "kernel", "names",
         "assets", "room", "ports"]
BUSY = 75


def check(world, *flags, **kw):
    """Its exit status, and each row by name; also what it says to a person has all of them."""
    result = world.run("check", "-o", "json", *flags, **kw)
    said = json.loads(result.out)
    assert said["schema"] == 1 and [c["name"] for c in said["checks"]] == NAMES, result
    rows = {c["name"]: c for c in said["checks"]}
    assert said["failed"] == sum(c["result"] == "failed" and not c.get("ignored") for c in rows.values()), result
    text = world.run("check", *flags, **kw)
    assert text.code == result.code and [l.split()[1] for l in text.out.splitlines()[:-1] if l[0] != " "] == NAMES, text
    return result, rows


def failed(rows):
    return [n for n, c in rows.items() if c["result"] == "failed"]


def listing(folder):
    return sorted((str(p), p.lstat().st_mtime_ns) for p in folder.rglob("*"))


def test_a_fresh_node(world):
    before = listing(world.root)
    result, rows = check(world)
    assert result.code == OK and failed(rows) == [], result
    # of those that something needs
    least = len(world.contents[KUBELET])
    assert (m := re.fullmatch(r"3 to fetch, ([0-9.]+) (KiB|MiB)", rows["assets"]["text"])), rows
    assert float(m[1]) * {"KiB": 1 << 10, "MiB": 1 << 20}[m[2]] > least, rows
    assert "tasks are to be done" in rows["plan"]["text"] and not rows["plan"]["text"].startswith("0 "), rows
    assert rows["store"]["text"] == str(world.conf), rows
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", rows["clock"]["text"]), rows
    # nothing was made: no cache, no lock, no status
    assert listing(world.root) == before and not world.cache.exists()


def test_a_task_that_cannot_be_done(world):
    (world.root / "etc/kubernetes").mkdir(parents=True, exist_ok=True)
    (world.root / "etc/kubernetes/manifests").write_text("a file in the place of a folder\n")
    result, rows = check(world)
    assert result.code == SYSTEM and failed(rows) == ["plan"], result
    assert "/etc/kubernetes/manifests" in rows["plan"]["text"], rows
    assert world.apply().code == SYSTEM


def test_a_node_that_is_right(world):
    world.converge()
    before, asked = listing(world.root), world.requests()
    result, rows = check(world)
    assert result.code == OK and rows["plan"]["text"].startswith("0 of "), result
    assert rows["assets"]["text"] == "0 to fetch, 0 bytes" and world.requests() == asked, rows
    assert listing(world.root) == before


def test_an_asset_that_no_mirror_has(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404"), world.url(KUBELET, "status=404") + "?2"]
    result, rows = check(world)
    assert result.code == NET and failed(rows) == ["assets"], result
    assert rows["assets"]["text"].startswith(f"{KUBELET}: HEAD '") and "404" in rows["assets"]["text"], rows
    # one mirror that has it is enough
    world.assets[KUBELET].urls[1] = world.url(KUBELET)
    assert check(world)[0].code == OK


def test_what_is_ignored_does_not_count(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    result, rows = check(world, "--ignore=room,assets")
    assert result.code == OK and rows["assets"]["ignored"] and rows["assets"]["result"] == "failed", result
    text = world.run("check", "--ignore=assets").out
    assert f"failed   assets     (ignored) {KUBELET}: " in text and "nothing speaks against apply" in text, text
    result = world.run("check", "--ignore=asets")
    assert result.code == USAGE and result.out == "", result
    assert "--ignore: there is no check 'asets'; did you mean assets?" in result.err, result


def test_a_name_without_address(world):
    world.assets[KUBELET].urls = ["http://nowhere.invalid/kubelet"]
    result, rows = check(world)
    assert result.code == NET and failed(rows) == ["names", "assets"], result
    assert "nowhere.invalid" in rows["names"]["text"] and "resolv.conf" in rows["names"]["notes"]["do"], rows
    # odd, as another mirror has it
    world.assets[KUBELET].urls.append(world.url(KUBELET))
    result, rows = check(world)
    assert result.code == OK and rows["names"]["result"] == "odd", result


def test_documents_that_are_wrong(world):
    world.edit_store("cluster.spec", lambda text: text + "\n  a: b: c\n")
    result, rows = check(world)
    assert result.code == CONFIG and failed(rows) == ["documents"], result
    assert rows["documents"]["text"].count("cluster.spec:") == 1, rows
    assert rows["store"]["text"] == "it answers" and rows["room"]["result"] == "skipped", rows


@pytest.mark.long
def test_a_store_that_does_not_answer(world):
    result, rows = check(world, conf="http://127.0.0.1:1/kube_env.yaml")
    assert result.code == NET and failed(rows) == ["store"], result
    assert "127.0.0.1:1" in rows["store"]["text"] and rows["documents"]["result"] == "skipped", rows


def test_assets_of_the_hosts_own_disk(world):
    world.assets[KUBELET] = world.local(KUBELET, world.contents[KUBELET] if isinstance(world.contents[KUBELET], bytes) else b"x" * 5000)
    result, rows = check(world)
    assert result.code == OK and rows["assets"]["text"].startswith("3 to fetch, "), result


def test_offline_what_the_cache_lacks(world):
    result, rows = check(world, "--offline")
    assert result.code == CONFIG and failed(rows) == ["assets"], result
    world.converge()
    assert check(world, "--offline")[0].code == OK


def test_room(world, mounts):
    world.cache.mkdir()
    mounts.run("mount", "-t", "tmpfs", "-o", "size=128k,mode=755", "tmpfs", world.cache)
    result, rows = check(world, prefix=mounts.enter)
    assert result.code == SYSTEM and failed(rows) == ["room"], result
    assert str(world.cache) in rows["room"]["text"] and set(rows["room"]["notes"]) == {"want", "got", "do"}, rows


def test_a_root_that_is_read_only(world, mounts):
    (world.root / "etc").mkdir(exist_ok=True)
    mounts.run("mount", "--bind", world.root / "etc", world.root / "etc")
    mounts.run("mount", "-o", "remount,bind,ro", world.root / "etc")
    result, rows = check(world, prefix=mounts.enter)
    assert result.code == SYSTEM and failed(rows) == ["files"], result
    assert rows["files"]["text"] == "the file system of '/etc' is read-only", rows


def test_another_user(world):
    """What can be told without root is told."""
    for path in (world.folder, *world.folder.parents):
        if path != path.parent and path.stat().st_uid == os.geteuid():
            path.chmod(path.stat().st_mode | 0o755)
    result, rows = check(world, prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"])
    assert "root" in failed(rows) and rows["root"]["notes"]["got"] == "uid 65534", result
    assert result.code == USAGE and rows["clock"]["result"] == "ok" and rows["documents"]["result"] == "ok", rows


LISTENING = "import socket, subprocess, sys; held = [socket.create_server(('', int(p))) for p in sys.argv[1].split()]; " \
            "sys.exit(subprocess.call(sys.argv[2:]))"


@pytest.fixture
def machine(told):
    """A root that is a machine to it, in a network of its own, where others listen already."""
    shell = told.argv.index("apply")

    def run(*flags, ports=""):
        argv = [*told.argv[:shell], "check", "-o", "json", *told.argv[shell + 1:], *flags]
        done = subprocess.run(["unshare", "-n", sys.executable, "-c", LISTENING, ports, *argv], env={**os.environ, **told.env},
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, {c["name"]: c for c in json.loads(done.stdout)["checks"]}
    return run


@pytest.mark.parametrize("port, taken", ((10250, True), (10248, True), (10249, False)))
def test_ports(world, machine, port, taken):
    """Those of kubelet's pods stay in use while kubelet does not run."""
    world.write_documents()
    code, rows = machine(f"--facts={world.facts_file}", "--ignore=systemd,metadata,names,assets", ports=str(port))
    if not taken:
        assert rows["ports"]["result"] == "ok", rows
        return
    assert rows["ports"]["result"] == "failed" and f"port {port}, which kubelet listens on, is taken" in rows["ports"]["text"], rows
    assert code == BUSY and f"sport = :{port}" in rows["ports"]["notes"]["do"], (code, rows)


def test_another_run(world, machine):
    """It is no reason not to apply, later."""
    world.write_documents()
    lock = world.root / "run/nodeup/lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as f:
        f.write("pid 4711, unit none, since 2026-01-01T00:00:00Z\n")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_EX)
        code, rows = machine(f"--facts={world.facts_file}", "--ignore=systemd,metadata,names,assets")
    assert code == OK and rows["lock"]["result"] == "odd" and "pid 4711" in rows["lock"]["text"], rows


def read_only(world, mounts, name="etc"):
    mounts.run("mount", "--bind", world.root / name, world.root / name)
    mounts.run("mount", "-o", "remount,bind,ro", world.root / name)


def test_apply_is_refused_on_a_root_that_is_read_only(world, mounts):
    (world.root / "etc").mkdir(exist_ok=True)
    read_only(world, mounts)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and result.failure.endswith("the file system of '/etc' is read-only (71)"), result
    assert re.search(r"do +mount it .*\n +or +--ignore=files$", result.notes, re.M), result.notes
    assert result.err.count("FAILED") == 1 and not world.installed(KUBELET).exists() and world.requests() == 0, result
    # then what can be written is
    result = world.apply("--ignore=files", prefix=mounts.enter)
    assert result.code == SYSTEM and "'/etc' is read-only" not in result.err and world.entry(KUBELET).exists(), result


def test_apply_is_refused_without_room(world, mounts):
    world.cache.mkdir()
    mounts.run("mount", "-t", "tmpfs", "-o", "size=128k,mode=755", "tmpfs", world.cache)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and f"no room on the file system of '{world.cache}'" in result.failure, result
    assert "--ignore=room" in result.notes and world.requests() == 0 and not (world.root / "etc/sysconfig").exists(), result
    result = world.apply("--ignore=room", prefix=mounts.enter)
    assert result.code == SYSTEM and "no room on the file system" not in result.err and (world.root / "etc/sysconfig").exists(), result


@pytest.mark.parametrize("kind", ["tmpfs", "btrfs"])
def test_what_shares_the_bytes_of_the_cache_takes_no_room(kind, world, mounts):
    """A copy does; a reflink does not."""
    if kind == "btrfs":
        image = world.folder / "image"
        with open(image, "wb") as f:
            f.truncate(160 << 20)
        subprocess.run(["mkfs.btrfs", "-q", "-M", image], check=True, stdout=subprocess.DEVNULL)
        mounts.run("mount", "-o", "loop", image, world.root)
    else:
        mounts.run("mount", "-t", "tmpfs", "tmpfs", world.root)
    mounts.run("mkdir", world.root / "cache")
    world.converge(prefix=mounts.enter, cache=world.root / "cache")
    mounts.run("rm", world.installed(KUBELET))
    result, rows = check(world, prefix=mounts.enter, cache=world.root / "cache")
    wanted = re.match(r"([0-9.]+) (B|bytes|KiB|MiB) to come, ", rows["room"]["text"])
    assert wanted and (wanted[2] == "MiB") == (kind == "tmpfs"), rows


def test_what_the_cache_has_takes_room_where_it_is_installed(world, mounts):
    """And each file takes an inode."""
    world.converge()
    place = world.installed(KUBELET).parent
    world.installed(KUBELET).unlink()
    mounts.run("mount", "-t", "tmpfs", "-o", "size=512k,mode=755", "tmpfs", place)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and "no room on the file system of '/usr/local/bin'" in result.failure, result
    wanted = re.search(r"want +([0-9.]+) MiB and a little more", result.notes)
    assert wanted and 1.8 < float(wanted[1]) < 2.1 and "--cache" not in result.notes, result
    mounts.run("mount", "-t", "tmpfs", "-o", "nr_inodes=4,mode=755", "tmpfs", place)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and "no inodes on the file system of '/usr/local/bin'" in result.failure, result
    assert "df -i /usr/local/bin" in result.notes and world.requests_of_needed() <= 3, result
    mounts.run("mount", "-t", "tmpfs", "-o", "nr_inodes=40,mode=755", "tmpfs", place)
    world.converge(prefix=mounts.enter)


def test_a_member_takes_the_room_that_it_had(world, mounts):
    """Of an archive that was unpacked before: what is in it is known by then."""
    world.converge()
    place = world.installed("bridge").parent
    size = sum(path.stat().st_size for path in place.iterdir())
    mounts.run("mount", "-t", "tmpfs", "-o", "size=512k,mode=755", "tmpfs", place)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and "no room on the file system of '/opt/cni/bin'" in result.failure, result
    wanted = re.search(r"want +([0-9.]+) KiB and a little more", result.notes)
    assert wanted and abs(float(wanted[1]) - size / 2**10) < 1 and not list(mounts.path(place).iterdir()), (size, result)


def test_a_run_that_changes_nothing_asks_for_nothing(world, mounts):
    """Neither a place that can be written nor room."""
    world.cache.mkdir()
    mounts.run("mount", "-t", "tmpfs", "-o", "size=40m,mode=755", "tmpfs", world.cache)
    world.converge(prefix=mounts.enter)
    read_only(world, mounts)
    mounts.run("sh", "-c", f"! cat /dev/zero > {world.cache}/fill 2>/dev/null")
    calls = world.folder / "calls"
    result = world.apply(prefix=[*mounts.enter, "strace", "-f", "-qq", "-o", calls, "-e", "trace=fstatfs"])
    assert result.code == OK and " changed " not in result.err, result
    assert calls.read_text() == ""
    # nor does a change elsewhere need them
    world.installed(CNI_MEMBERS[0]).unlink()
    assert world.apply(prefix=mounts.enter).code == OK and world.installed(CNI_MEMBERS[0]).exists()


def test_apply_as_another_user(world):
    """In a namespace of its own a user may be as good as root, for an image: the system decides."""
    for path in (world.folder, *world.folder.parents):
        if path != path.parent and path.stat().st_uid == os.geteuid():
            path.chmod(path.stat().st_mode | 0o755)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    assert "must be root" in (result := world.apply(prefix=user)).failure and result.code == USAGE, result
    result = world.apply("--ignore=root", prefix=user)
    assert result.code == SYSTEM and "must be root" not in result.err and "Permission denied" in result.failure, result


def test_what_is_ignored_by_apply(world):
    """Only what it looks at: another name would be without effect."""
    result = world.apply("--ignore=assets")
    assert result.code == USAGE and "--ignore: apply makes no check 'assets'; root, files, clock, room, ports" in result.err, result
