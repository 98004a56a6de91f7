"""An asset is written once while the node is made: its entry becomes the installed file.  Behind, the cache gets bytes of its own, of
what is installed and verified.  A run that is killed between leaves that to the next one, which downloads nothing."""

import contextlib
import os
import signal

import pytest

from world import CNI, CNI_MEMBERS, KUBELET, OK, PENDING, noise, tar, tree, until

KILLED = -signal.SIGKILL


@pytest.fixture
def node(world):
    world.use_own_cache()
    return world


def kubelet(node):
    return node.root / "usr/local/bin" / KUBELET


def lent(node):
    return [p.name for p in (node.cache / "lent").iterdir()]


def must_be_whole(node):
    """The cache has all that is installed, and shares no bytes with it."""
    assert node.entry(KUBELET).read_bytes() == kubelet(node).read_bytes() == node.contents[KUBELET]
    assert node.entry(KUBELET).stat().st_nlink == kubelet(node).stat().st_nlink == 1
    assert lent(node) == [] and node.unused() == []


def killed(node):
    """A run that ends when it is about to give the cache what is the cache's."""
    done = node.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=ioprio_set:signal=KILL"], may_die=True)
    assert done.code == KILLED, done
    assert kubelet(node).read_bytes() == node.contents[KUBELET]
    assert not node.entry(KUBELET).exists() and lent(node) == [f"sha256-{node.digest(KUBELET)}"]


def test_the_entry_becomes_the_file(node):
    node.write_documents()
    trace = node.folder / "trace"
    done = node.converge(prefix=["strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=copy_file_range,linkat,ioprio_set"])
    calls = trace.read_text()
    digest = node.digest(KUBELET)
    assert f'"sha256/{digest}"' in calls, "it was not lent"
    assert not [line for line in calls.splitlines() if "copy_file_range" in line and digest in line]
    assert "IOPRIO_CLASS_IDLE" in calls
    assert "pending" not in done.err, "an image is whole before it is said to be"
    must_be_whole(node)


def test_a_cache_of_several_nodes_lends_nothing(world):
    trace = world.folder / "trace"
    world.converge(prefix=["strace", "-f", "-qq", "-o", trace, "-e", "trace=linkat,ioprio_set"])
    assert "linkat" not in trace.read_text() and "ioprio_set" not in trace.read_text()


def test_the_next_run_ends_it_without_a_download(node):
    killed(node)
    asked, before = node.requests(), tree(node.root)
    done = node.converge("--offline")
    assert not [line for line in done.lines if line.startswith("changed ") and KUBELET in line], done
    assert tree(node.root) == before and node.requests() == asked
    must_be_whole(node)


def test_what_is_lent_comes_back_before_it_is_asked_for(node):
    """A file that is right but for its mode is installed anew, of an entry that the killed run has left installed."""
    killed(node)
    kubelet(node).chmod(0o600)
    done = node.converge("--offline")
    assert not [line for line in done.lines if "not in the cache" in line], done
    must_be_whole(node)


def test_what_was_changed_meanwhile_is_not_taken_for_it(node):
    """In place, so that it is the very file that was the entry."""
    killed(node)
    with open(kubelet(node), "r+b") as f:
        f.write(b"changed")
    assert node.plan().code == PENDING
    node.converge()
    must_be_whole(node)


def test_a_damaged_file_is_repaired_offline(node):
    node.converge()
    asked = node.requests()
    with open(kubelet(node), "r+b") as f:
        f.write(b"changed")
    done = node.run("repair", "--offline")
    assert done.code == OK, done
    assert node.requests() == asked
    must_be_whole(node)


@pytest.fixture
def big(node):
    """Made, with a member that is large enough to be shared."""
    node.converge()
    return node


def member(node):
    return node.root / "opt/cni/bin/bridge"


def unpacked(node):
    return node.cache / f"unpacked/sha256-{node.assets[CNI].digest}/bridge"


def must_be_right(node):
    assert member(node).read_bytes() == unpacked(node).read_bytes() == noise("bridge", 1_500_000)
    assert member(node).stat().st_mode & 0o7777 == 0o755


def must_be_shared(node):
    must_be_right(node)
    assert member(node).samefile(unpacked(node)) and member(node).stat().st_nlink == 2


def test_a_member_is_written_once(big):
    must_be_shared(big)
    before = tree(big.root)
    assert big.plan().code == OK and big.run("plan", "--verify").code == OK
    big.converge()
    done = big.run("repair")
    assert done.code == OK and not [line for line in done.lines if "damaged" in line], done
    assert tree(big.root) == before
    must_be_shared(big)


def test_a_shared_member_that_was_changed_is_made_anew(big):
    """In place, so that the tree in the cache has changed as well: its archive tells."""
    asked = big.requests()
    with open(member(big), "r+b") as f:
        f.write(b"changed")
    assert unpacked(big).read_bytes() != noise("bridge", 1_500_000)
    plan = big.plan()
    assert plan.code == PENDING and "~ install /opt/cni/bin/bridge: content differs" in plan.out, plan
    assert "host-local" not in plan.out, plan
    big.converge("--offline")
    assert big.requests() == asked
    must_be_right(big)
    assert big.plan().code == OK


def test_a_shared_member_with_another_mode(big):
    """Its archive has another one, so the tree is unpacked again; the bytes are right, and so it is not installed for them."""
    member(big).chmod(0o700)
    plan = big.plan()
    assert plan.code == PENDING and "~ install /opt/cni/bin/bridge: mode 0700" in plan.out, plan
    done = big.converge("--offline")
    assert [line for line in done.lines if "changed install /opt/cni/bin/bridge: mode 0700" in line], done
    assert not [line for line in done.lines if "content differs" in line], done
    must_be_right(big)


def touch(node):
    """Both have other times now."""
    os.utime(member(node))
    return must_be_shared


def replace(node):
    """By the same bytes: the tree's has one name less, and is what it was."""
    member(node).unlink()
    member(node).write_bytes(noise("bridge", 1_500_000))
    member(node).chmod(0o755)
    return must_be_right


@pytest.mark.parametrize("change", [touch, replace])
def test_a_shared_member_that_has_its_bytes_is_right(change, big):
    """That is known without the archive."""
    must = change(big)
    assert big.plan().code == OK
    done = big.converge("--offline")
    assert not [line for line in done.lines if line.startswith("changed ")], done
    must(big)


def test_a_shared_member_that_is_gone(big):
    member(big).unlink()
    done = big.converge("--offline")
    assert [line for line in done.lines if line.startswith("changed ")] == [
        line for line in done.lines if line.startswith("changed install /opt/cni/bin/bridge: absent")], done
    must_be_shared(big)
    assert big.plan().code == OK


def test_a_cache_of_several_nodes_shares_nothing(world):
    world.assets[CNI] = world.serve(CNI, tar({f"./{name}": noise(name, 1_500_000) for name in CNI_MEMBERS}))
    world.converge()
    assert (world.root / "opt/cni/bin/bridge").stat().st_nlink == 1


# Archives that are unpacked wait in memory, where a machine has some.

SPOOL = "run/nodeup/spool"


@pytest.fixture
def machine(node):
    node.use_memory()
    return node


def archive(node):
    return node.cache / f"sha256/{node.assets[CNI].digest}"


def killed_with_archives(node):
    """When the node is made and nothing was moved."""
    done = node.apply(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=ioprio_set:signal=KILL"], may_die=True)
    assert done.code == KILLED, done
    assert member(node).exists() and not archive(node).exists()
    assert node.assets[CNI].digest in node.spooled()


def must_have_moved(node):
    assert archive(node).read_bytes().startswith(b"\x1f\x8b") and not (node.root / SPOOL).exists()
    must_be_right(node)
    assert node.plan().code == OK and node.run("plan", "--verify").code == OK


def test_an_archive_waits_in_memory(machine):
    machine.write_documents()
    trace = machine.folder / "trace"
    machine.converge(prefix=["strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=fsync,renameat"])
    digest = machine.assets[CNI].digest
    lines = [line for line in trace.read_text().splitlines() if digest in line]
    assert [line for line in lines if SPOOL in line and f'"sha256/{digest}"' in line], "it was not made in memory"
    assert not [line for line in lines if "fsync" in line and SPOOL in line], "memory was flushed"
    must_have_moved(machine)


def test_memory_is_not_used_where_there_is_none(node):
    node.converge()
    assert archive(node).exists() and not (node.root / SPOOL).exists()


def test_a_plan_and_the_next_run_find_it_there(machine):
    killed_with_archives(machine)
    asked, before = machine.requests(), tree(machine.root)
    assert not [line for line in machine.plan().out.splitlines() if " asset " in line], machine.plan()
    done = machine.converge("--offline")
    assert not [line for line in done.lines if line.startswith(("changed asset", "changed install"))], done
    assert machine.requests() == asked and tree(machine.root) == before
    must_have_moved(machine)


def test_a_member_is_mended_of_it(machine):
    """While it waits it is the archive that vouches for what was unpacked."""
    killed_with_archives(machine)
    asked = machine.requests()
    with open(member(machine), "r+b") as f:
        f.write(b"changed")
    machine.converge("--offline")
    assert machine.requests() == asked
    must_have_moved(machine)


def test_a_reboot_takes_it_away(machine):
    """What was unpacked is there: nothing is fetched before it is needed."""
    killed_with_archives(machine)
    machine.lose_memory()
    machine.use_memory()
    machine.converge()
    assert member(machine).read_bytes() == noise("bridge", 1_500_000)
    assert machine.plan().code == OK


def test_a_part_of_it_is_kept_there(machine):
    """A download that is killed goes on where it was."""
    url = machine.assets[CNI].urls[0].rsplit("/", 1)[-1]
    machine.assets[CNI].urls = [machine.url(url, "ranges", "rate=2000000")]
    machine.write_documents()
    process = machine.start(machine.argv("apply"))
    part = machine.root / SPOOL / f"partial/sha256-{machine.assets[CNI].digest}"
    until(lambda: part.exists() and part.stat().st_size > 200_000)
    process.kill()
    machine.finish(process, 0, may_die=True)
    assert f"sha256-{machine.assets[CNI].digest}" in machine.spooled()
    have = part.stat().st_size
    trace = machine.folder / "trace"
    machine.converge(prefix=["strace", "-f", "-qq", "-s", "400", "-o", trace, "-e", "trace=sendto"])
    assert f"Range: bytes={have}-" in trace.read_text()
    must_have_moved(machine)


def test_what_is_baked_is_on_the_disk(machine):
    trace = machine.folder / "trace"
    machine.write_documents()
    done = machine.run("bake", prefix=["strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=renameat"])
    assert done.code == OK, done
    assert SPOOL not in trace.read_text() and archive(machine).exists()


def test_memory_that_gets_full(machine):
    """Another program takes it in the midst of a download: that goes on on the disk, and nothing is left in memory."""
    machine.lose_memory()
    machine.use_memory(8)
    url = machine.assets[CNI].urls[0].rsplit("/", 1)[-1]
    machine.assets[CNI].urls = [machine.url(url, "rate=1000000")]
    machine.write_documents()
    process = machine.start(machine.argv("apply"))
    part = machine.root / SPOOL / f"partial/sha256-{machine.assets[CNI].digest}"
    until(lambda: part.exists() and part.stat().st_size > 100_000)
    with contextlib.suppress(OSError), open(machine.root / "run/other", "wb", buffering=0) as f:
        while f.write(bytes(65536)):
            pass
    done = machine.finish(process, 0)
    assert done.code == OK, done
    must_have_moved(machine)


def test_another_run_while_the_first_one_moves(machine):
    """Both end well, and the archive gets to the disk."""
    killed_with_archives(machine)
    first = machine.start(machine.argv("apply"))
    second = machine.start(machine.argv("apply"))
    ended = [machine.finish(first, 0), machine.finish(second, 0)]
    assert [done.code for done in ended] == [OK, OK], ended
    assert not [line for done in ended for line in done.lines if "has no copy" in line], ended
    must_have_moved(machine)
