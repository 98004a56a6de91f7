"""Runs after runs: a converged node is left alone, what was damaged is put right, and only that."""

import os
import re
import shutil
import stat

import pytest

from world import CNI, CNI_MEMBERS, KUBELET, OK, SYSTEM, listing, noise, same, tree


@pytest.fixture(params=["nodes", "master", "own cache"])
def node(request, make_world):
    if request.param != "own cache":
        return make_world(request.param, request.param)
    node = make_world("own")
    node.use_own_cache()
    return node


def test_the_second_run_changes_nothing(node):
    first = node.converge()
    before, cache, asked = listing(node.root, skip=["var/lib/nodeup"]), listing(node.cache), node.requests()
    second = node.converge()
    same(before, listing(node.root, skip=["var/lib/nodeup"]))
    same(cache, listing(node.cache))
    assert node.requests() == asked
    assert not [l for l in second.lines if l.startswith("changed ")], second
    assert [l for l in first.lines if l.startswith("changed ")]


def test_the_second_run_keeps_its_own_records(node):
    node.converge()
    before = listing(node.root)
    node.converge()
    same(before, listing(node.root))


def opened(node):
    """The assets and what was installed of them that a run opens."""
    trace = node.folder / "trace"
    node.converge(prefix=["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", trace])
    names = {node.digest(n) for n in node.contents} | {"kubelet", "kubectl", "bridge", "host-local", "loopback"}
    found = set()
    for line in trace.read_text().splitlines():
        path = re.search(r'"([^"]+)"', line)
        # a descriptor of O_PATH reads nothing; a record is named after its entry, other things after kubelet
        if not path or "O_PATH" in line or path[1].startswith(("verified/", str(node.store))):
            continue
        if not re.search("sysconfig|logrotate|/lib/", path[1]) and path[1].rsplit("/", 1)[-1] in names:
            found.add(path[1])
    return found


def test_the_second_run_reads_no_asset(node):
    assert len(opened(node)) >= 3, "the trace shows nothing, not even of a first run"
    assert opened(node) == set()


def test_what_people_grep_for(node):
    for _ in range(2):
        out = node.converge().out.splitlines()
        assert out[0].startswith("nodeup version ") and out[-1] == "success" and len(out) == 2, out


def test_modes_of_what_is_secret(master):
    master.converge()
    master.check_files()
    for name, mode in (("ca.key", 0o600), ("server.key", 0o600), ("proxy-client.key", 0o600),
                       ("apiserver-aggregator.key", 0o600), ("known_tokens.csv", 0o600), ("basic_auth.csv", 0o600)):
        assert stat.S_IMODE((master.root / "srv/kubernetes" / name).stat().st_mode) == mode, name
    for name in ("kubelet", "kube-proxy", "kops", "kubectl", "kube-controller-manager", "kube-scheduler"):
        assert stat.S_IMODE((master.root / "var/lib" / name / "kubeconfig").stat().st_mode) == 0o400, name


def test_a_loose_umask_opens_nothing(node):
    node.converge(prefix=["sh", "-c", 'umask 0; exec "$@"', "sh"])
    node.check_files()
    for path in node.root.rglob("*"):
        assert path.is_symlink() or not path.lstat().st_mode & 0o022, f"{path} can be written by others"


def test_a_tight_umask_hides_nothing(world, make_world):
    want = make_world("plain")
    for node, umask in ((want, "022"), (world, "077")):
        node.config_base, node.token = str(want.store), want.token
        node.converge(prefix=["sh", "-c", f'umask {umask}; exec "$@"', "sh"])
    same({k: v[0] for k, v in tree(want.root).items()}, {k: v[0] for k, v in tree(world.root).items()})


def test_no_secret_where_nodeup_keeps_its_own(node):
    node.converge()
    for folder in ("var/lib/nodeup", "run/nodeup"):
        for path in (node.root / folder).rglob("*"):
            if path.is_file() and path.name != "documents.json":
                node.check_secrets(path.read_text(errors="replace"), path)
            elif path.is_file():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for path in node.cache.rglob("*"):
        if path.is_file():
            node.check_secrets(path.read_bytes().decode(errors="replace"), path)


def test_what_is_not_ours_is_untouched(node):
    accounts = ("etc/passwd", "etc/group")
    before, lines = listing(node.root), {name: (node.root / name).read_text() for name in accounts}
    node.converge()
    after = listing(node.root)
    for name in ("etc/keep", "etc/os-release"):
        assert after[name] == before[name], name
    for name in accounts:  # a master gets a user, behind those that are there
        added = (node.root / name).read_text().removeprefix(lines[name])
        assert added.count("\n") <= 1 and not added.replace("user:x:", "", 1).count("root"), name


# Drift

def remove(path):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def to_link(path):
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def to_directory(path):
    path.unlink()
    path.mkdir()


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    mode, st = path.stat().st_mode, path.stat()
    path.write_bytes(data)
    path.chmod(mode)
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))


DRIFT = {
    "a unit is gone": ("etc/systemd/system/kubelet.service", remove),
    "a unit was edited": ("etc/systemd/system/kubelet.service", flip),
    "kubelet is gone": ("usr/local/bin/kubelet", remove),
    "a bit of kubelet flipped": ("usr/local/bin/kubelet", flip),
    "kubelet is empty": ("usr/local/bin/kubelet", lambda p: os.truncate(p, 0)),
    "a plugin is gone": ("opt/cni/bin/loopback", remove),
    "a bit of a plugin flipped": ("opt/cni/bin/bridge", flip),
    "all plugins are gone": ("opt/cni", remove),
    "a key is open": ("var/lib/kubelet/kubeconfig", lambda p: p.chmod(0o644)),
    "a key belongs to another": ("var/lib/kubelet/kubeconfig", lambda p: os.chown(p, 1000, 1000)),
    "a directory is closed": ("etc/kubernetes/manifests", lambda p: p.chmod(0o700)),
    "a manifest is gone": ("etc/kubernetes/manifests/kube-proxy.manifest", remove),
    "all of /etc/kubernetes is gone": ("etc/kubernetes", remove),
}


@pytest.mark.parametrize("name", DRIFT)
def test_drift_is_put_right(world, name):
    path, change = DRIFT[name]
    world.converge()
    want, before, asked = tree(world.root), listing(world.root, skip=["var/lib/nodeup"]), world.requests_of_needed()
    change(world.root / path)
    assert tree(world.root) != want
    world.converge()
    same(want, tree(world.root))
    assert world.requests_of_needed() == asked
    # and nothing but that was touched
    after = listing(world.root, skip=["var/lib/nodeup"])
    touched = {n for n in before if before[n] != after[n] and not stat.S_ISDIR(int(before[n][0], 8))}
    assert all(n == path or n.startswith(path + "/") for n in touched), touched
    assert world.plan().code == OK


def test_a_directory_in_the_place_of_a_file(world):
    """Its content is somebody's: it is set aside, and nothing is lost."""
    world.converge()
    want, path = tree(world.root), world.root / "etc/sysconfig/kubelet"
    to_directory(path)
    (path / "mine").write_text("somebody's\n")
    result = world.apply()
    aside = path.with_name("kubelet.nodeup-old")
    assert result.code == OK and "it is set aside as '/etc/sysconfig/kubelet.nodeup-old'" in result.err, result
    assert (aside / "mine").read_text() == "somebody's\n"
    shutil.rmtree(aside)
    same(want, tree(world.root))


def test_retries_are_spread_out(world):
    """Full jitter, 0.2 s doubling: three tries in one millisecond are one try."""
    (world.root / "etc/sysconfig").write_text("in the way")
    result = world.apply()
    assert result.code == SYSTEM and "/etc/sysconfig" in result.failure, result
    waits = re.findall(r"WAITING .* next in ([^:]*):", result.err)
    assert waits and set(waits) != {"0 ms"}, result


def test_a_link_in_the_place_of_a_file(world):
    """What it points to stays as it is."""
    world.converge()
    want = tree(world.root)
    path = world.root / "etc/sysconfig/kubelet"
    to_link(path)
    (path.parent / "moved").write_text("somebody else's\n")
    world.converge()
    assert not path.is_symlink() and (path.parent / "moved").read_text() == "somebody else's\n"
    (path.parent / "moved").unlink()
    same(want, tree(world.root))


def test_a_link_out_of_the_root(world):
    """/etc/sysconfig -> / of the image, not of the machine it is built on."""
    outside = world.folder / "outside"
    outside.mkdir()
    (world.root / "etc/sysconfig").symlink_to(outside)
    world.apply()
    assert list(outside.iterdir()) == []


# nodeup's own memory

def spoil(how):
    return {
        "gone": lambda p: p.unlink(),
        "empty": lambda p: p.write_text(""),
        "cut": lambda p: os.truncate(p, p.stat().st_size // 2),
        "garbage": lambda p: p.write_bytes(os.urandom(4000)),
        "zeroes": lambda p: p.write_bytes(bytes(4000)),
        "of tomorrow": lambda p: p.write_text(p.read_text().replace("nodeup state 1", "nodeup state 999")),
        "long lines": lambda p: p.write_text(p.read_text() + "x" * 1_000_000 + "\n"),
        "huge": lambda p: p.write_text(p.read_text() * 2000),
        "of the wrong digests": lambda p: p.write_text(
            re.sub(r"(sha\d+:)[0-9a-f]{8}", r"\g<1>00000000", p.read_text())),
    }[how]


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "garbage", "zeroes", "of tomorrow", "long lines", "huge",
                                 "of the wrong digests"])
def test_damaged_state(world, how):
    """It costs time, never correctness; and the next run but one is quick again."""
    world.converge()
    before, asked = listing(world.root, skip=["var/lib/nodeup"]), world.requests()
    spoil(how)(world.root / "var/lib/nodeup/state")
    world.converge()
    same(before, listing(world.root, skip=["var/lib/nodeup"]))
    assert world.requests() == asked
    flip(world.installed(KUBELET))
    world.converge()
    after = listing(world.root, skip=["var/lib/nodeup"])
    same({k: v[:4] for k, v in before.items()}, {k: v[:4] for k, v in after.items()})


def test_all_memory_is_gone(world):
    world.converge()
    before = listing(world.root, skip=["var/lib/nodeup", "var/lib"])
    shutil.rmtree(world.root / "var/lib/nodeup")
    world.converge()
    same(before, listing(world.root, skip=["var/lib/nodeup", "var/lib"]))


# The cache

def test_the_cache_is_gone(world):
    """Everything is where it belongs, so nothing is fetched again."""
    world.converge()
    before, asked = listing(world.root), world.requests()
    shutil.rmtree(world.cache)
    world.converge()
    same(before, listing(world.root))
    assert world.requests() == asked


@pytest.mark.parametrize("how", [flip, lambda p: os.truncate(p, 100), lambda p: os.truncate(p, 0), to_directory,
                                 lambda p: (p.unlink(), p.symlink_to("/etc/passwd"))],
                         ids=["flipped", "cut", "empty", "directory", "link"])
@pytest.mark.parametrize("name", [KUBELET, CNI])
def test_a_damaged_entry_is_never_installed(world, how, name):
    world.converge()
    want = tree(world.root)
    shutil.rmtree(world.root)
    world.make_root(world.root)
    how(world.entry(name))
    asked = world.origin.count(world.url(name))
    world.converge()
    same(want, tree(world.root))
    assert world.origin.count(world.url(name)) == asked + 1
    assert world.entry(name).read_bytes() == world.contents[name] and not world.entry(name).is_symlink()


def test_records_are_gone(world):
    """An entry without a record is hashed again, not fetched again."""
    world.converge()
    want, asked = tree(world.root), world.requests_of_needed()
    shutil.rmtree(world.root)
    shutil.rmtree(world.cache / "verified")
    world.make_root(world.root)
    world.converge()
    same(want, tree(world.root))
    assert world.requests_of_needed() == asked


def test_a_cache_that_was_planted(world):
    """Somebody put a wrong file under the right name before the first run."""
    world.entry(KUBELET).parent.mkdir(parents=True)
    world.entry(KUBELET).write_bytes(b"#!/bin/sh\necho owned\n")
    world.converge()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_a_cache_that_was_copied(make_world):
    """Baked into an image: new inodes and times, the same bytes."""
    first, second = make_world("a"), make_world("b")
    first.converge()
    shutil.copytree(first.cache, second.cache, symlinks=True)
    second.converge()
    assert second.requests_of_needed() == 0
    assert second.installed(KUBELET).read_bytes() == first.contents[KUBELET]


def test_the_default_cache_is_below_the_root(world):
    world.write_documents()
    argv = [a for a in world.argv("apply") if not a.startswith("--cache")]
    assert world.run_argv(argv).code == OK
    assert (world.root / "var/cache/nodeup/sha256" / world.digest(KUBELET)).is_file()


# Full disks

def full(world, mounts, path, kib):
    path.mkdir(exist_ok=True)
    mounts.run("mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=755", "tmpfs", path)


@pytest.mark.parametrize("kib", [28, 256, 1500, 2500])
def test_the_root_is_full(world, mounts, kib):
    shutil.rmtree(world.root)
    full(world, mounts, world.root, kib)
    inside = mounts.path(world.root)
    world.make_root(inside)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and re.search("no room on|No space left", result.failure), result
    world.check_files(root=inside)
    mounts.run("mount", "-o", "remount,size=64m", world.root)
    world.converge(prefix=mounts.enter)
    world.check_files(root=inside)
    assert (inside / "usr/local/bin/kubelet").read_bytes() == world.contents[KUBELET]
    assert world.plan(prefix=mounts.enter).code == OK


@pytest.mark.parametrize("kib", [4, 700, 2500])
def test_the_cache_is_full(world, mounts, kib):
    full(world, mounts, world.cache, kib)
    result = world.apply(prefix=mounts.enter)
    assert result.code == SYSTEM and re.search("no room on|No space left", result.failure), result
    inside = mounts.path(world.cache)
    assert list((inside / "tmp").glob("*")) == [] if (inside / "tmp").exists() else True
    mounts.run("mount", "-o", "remount,size=64m", world.cache)
    world.converge(prefix=mounts.enter)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_a_disk_full_while_repairing_leaves_what_was_there(world, mounts):
    """A truncated file would be worse than an old one."""
    world.converge()
    old = world.installed(KUBELET).read_bytes()
    full(world, mounts, world.folder / "bin", 2500)
    mounts.run("cp", "-a", world.installed(KUBELET), world.folder / "bin/kubelet")
    mounts.run("mount", "--bind", world.folder / "bin", world.root / "usr/local/bin")
    world.assets[KUBELET] = world.local(KUBELET, old[::-1])
    result = world.apply(prefix=mounts.enter)
    inside = mounts.path(world.root) / "usr/local/bin/kubelet"
    assert result.code != OK and inside.read_bytes() == old, result
