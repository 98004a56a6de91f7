"""A FIFO, a socket, a device or a directory in the place of a file that is read: one error, at once."""

import os
import socket
import stat
import subprocess

import pytest

from world import BUSY, CONFIG, OK, PENDING, SYSTEM

WHAT = {"FIFO": "FIFO", "directory": "directory", "socket": "socket", "device": "character device"}
COMMANDS = {"plan": [], "apply": ["--deadline=5s"], "repair": ["--deadline=5s"]}
# The oldest Debian that kops 1.8 knows by name: it has a person called admin, and users are made on it.
STRETCH = {"version": '"9"', "codename": "stretch"}

kinds = pytest.mark.parametrize("kind", WHAT)
commands = pytest.mark.parametrize("command", COMMANDS)


def put(root, name, kind):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rename(f"{path}.before")
    path.unlink(missing_ok=True)
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    return path


def said(name, kind):
    return f"'/{name}' is a {WHAT[kind]}, not a regular file"


@kinds
@commands
@pytest.mark.parametrize("name", ["var/lib/nodeup/state", "etc/nodeup/nodeup.d/x.yaml"])
def test_what_every_command_reads_first(world, name, kind, command):
    world.converge()
    path = put(world.root, name, kind)
    mode = path.lstat().st_mode
    done = world.run(command, *COMMANDS[command])
    assert done.code == SYSTEM and done.failure == f"FAILED {said(name, kind)} ({SYSTEM})", done
    assert path.lstat().st_mode == mode


@kinds
@commands
def test_what_was_applied_last(world, kind, command):
    """It is read where no --conf is given."""
    world.converge()
    name = "var/lib/nodeup/conf"
    put(world.root, name, kind)
    argv = [a for a in world.argv(command, *COMMANDS[command]) if not a.startswith("--conf=")]
    done = world.run_argv(argv)
    assert done.code == SYSTEM and done.failure == f"FAILED {said(name, kind)} ({SYSTEM})", done


@kinds
@commands
def test_the_release_of_the_image(world, kind, command):
    world.facts = {k: v for k, v in world.facts.items() if k not in ("distribution", "version", "codename")}
    put(world.root, "etc/os-release", kind)
    done = world.run(command, *COMMANDS[command])
    assert done.code == CONFIG and "unknown distribution: neither /etc/os-release nor" in done.failure, done


@kinds
@pytest.mark.parametrize("name", ["etc/passwd", "etc/group", "etc/shadow", "etc/systemd/system/docker.service",
                                  "usr/lib/systemd/system/docker.service"])
def test_what_a_task_reads(master, name, kind):
    world = master
    world.facts.update(STRETCH)
    world.write_documents()
    put(world.root, name, kind)
    planned = world.plan()
    assert planned.code == PENDING, planned
    for command in ("apply", "repair"):
        done = world.run(command, *COMMANDS[command])
        assert done.code == SYSTEM and said(name, kind) in done.failure, done


# What is a hint, or has a place that we give to another one, does not keep a run from its end.
HINTS = ["etc/hosts", "etc/docker/daemon.json", "var/lib/dpkg/status", "bin/sh", "etc/ssl/certs/ca-certificates.crt",
         "etc/resolv.conf", "var/lib/nodeup/claims.json", "var/lib/nodeup/documents.json", "var/lib/nodeup/moved/x",
         "var/lib/nodeup/unmoved/x", "var/lib/nodeup/images/x", "var/lib/nodeup/volumes/x", "run/nodeup/status.json",
         "run/nodeup/lock", "run/nodeup/started/kubelet.service", "run/nodeup/stopped/x", "run/nodeup/users/x",
         "etc/sysconfig/kubelet", "etc/systemd/system/kubelet.service", "usr/local/bin/kubelet", "opt/cni/bin/bridge",
         "usr/lib/systemd/system/docker.service.d/x.conf"]


@kinds
def test_what_nothing_depends_on(world, kind):
    world.converge()
    for name in HINTS:
        put(world.root, name, kind)
    assert world.plan().code == PENDING
    for command in ("apply", "repair"):
        done = world.run(command, *COMMANDS[command])
        assert done.code == OK, done
    for name in ("usr/local/bin/kubelet", "opt/cni/bin/bridge", "etc/sysconfig/kubelet"):
        assert (world.root / name).is_file()


@kinds
def test_what_the_cache_keeps_beside_its_entries(world, kind):
    world.converge()
    for record in sorted((world.cache / "verified").iterdir()):
        put(world.cache, f"verified/{record.name}", kind)
    (world.root / "usr/local/bin/kubelet").unlink()
    (world.root / "opt/cni/bin/bridge").unlink()
    done = world.converge("--deadline=20s")
    assert (world.root / "usr/local/bin/kubelet").is_file() and (world.root / "opt/cni/bin/bridge").is_file(), done


def pipes(world, command, conf, facts, *flags):
    """A run whose documents come from what a shell makes pipes of."""
    argv = [a for a in world.argv(command, *flags) if not a.startswith(("--conf=", "--facts="))]
    return world.run_argv(["bash", "-c", f'exec "$@" --conf={conf} --facts={facts}', "bash", *argv])


@commands
def test_pipes_that_a_person_gives(world, command):
    world.write_documents()
    late = f"(sleep 0.3; head -c 100 {world.conf}; sleep 0.3; tail -c +101 {world.conf})"
    done = pipes(world, command, f"<{late}", f"<(cat {world.facts_file})", *COMMANDS[command])
    assert done.code == (PENDING if command == "plan" else OK), done


@pytest.mark.parametrize("flag", ["conf", "facts"])
def test_a_pipe_without_an_end(world, flag):
    """It has the time of the deadline."""
    world.write_documents()
    endless = f"<(cat {world.conf if flag == 'conf' else world.facts_file}; exec sleep 40 2>/dev/null >&1)"
    conf, facts = (endless, world.facts_file) if flag == "conf" else (world.conf, endless)
    done = pipes(world, "apply", conf, facts, "--deadline=1s")
    assert done.code == BUSY and "its writer has not come to the end yet" in done.failure, done


def test_no_plan_is_waited_for_behind_the_deadline(world):
    put(world.folder, "fifo", "FIFO")
    done = world.apply("--deadline=1s", f"--plan={world.folder}/fifo", timeout=20)
    assert done.code == BUSY and f"'{world.folder}/fifo': its writer has not come to the end yet" in done.failure, done


def test_a_fifo_that_has_no_writer(world):
    world.write_documents()
    put(world.folder, "fifo", "FIFO")
    done = world.apply("--deadline=1s", conf=world.folder / "fifo", write=False)
    assert done.code == BUSY and f"'{world.folder}/fifo': its writer has not come to the end yet" in done.failure, done


def test_a_folder_without_a_document(world):
    done = world.apply(conf=world.store)
    assert done.code == CONFIG and f"open '{world.store}/kube_env.yaml': No such file" in done.failure, done


def test_messages_of_an_image_name_its_root(world):
    """Their paths are the node's: a reader who looks for them on this machine finds another file, or none."""
    state = put(world.root, "var/lib/nodeup/state", "directory")
    for command in ("plan", "apply"):
        result = world.run(command)
        assert result.code == SYSTEM and said("var/lib/nodeup/state", "directory") in result.failure, result
        assert f"{world.root}: the node's paths are below it" in result.notes, result
    state.rmdir()
    put(world.root, "var/cache/nodeup", "FIFO")
    result = world.run_argv([a for a in world.argv("apply") if "--cache" not in a])
    assert result.code == SYSTEM and "asset cache" in result.failure, result
    assert f"{world.root}: the node's paths are below it" in result.notes, result
