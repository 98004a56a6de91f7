"""--prune: what nodeup once wrote and no document names any more goes; nothing else does."""
import json
import os
import shutil

import pytest

from world import OK, OWN, PENDING, listing, same

FILE, DROPIN, UNIT = "/etc/left.conf", "/etc/left.d/deep.conf", "/etc/systemd/system/left.service"
MORE = ('  fileAssets: [{name: left, path: "%s", content: "one"}, {name: deep, path: "%s", content: "two"}]\n'
        '  hooks: [{name: left.service, manifest: "Type=oneshot\\nExecStart=/bin/true"}]\n' % (FILE, DROPIN))
LEFT = (FILE, DROPIN, UNIT)


def at(world, path):
    return world.root / path.lstrip("/")


@pytest.fixture
def moved(world):
    """Converged with more, and the documents name it no longer."""
    ask_for(world, MORE)
    world.converge()
    assert all(at(world, path).is_file() for path in LEFT)
    ask_for(world, "")
    return world


def ask_for(world, more):
    """The instance group, with more or without."""
    world.edit_store("instancegroup/nodes", lambda t: t.replace(MORE, "").rstrip("\n") + "\n" + more)


def lines(result, sign):
    return sorted(line for line in (result.out + result.err).splitlines() if line.startswith(sign + " "))


def test_absent(world):
    """Nothing is left over: neither flag nor name."""
    world.converge()
    for flags in ((), ("--prune",)):
        result = world.plan(*flags)
        assert result.code == OK and not lines(result, "-") and "no longer" not in result.out + result.err, result


def test_a_plan_names_it_and_nothing_goes_without_the_flag(moved):
    before = listing(moved.root, skip=OWN)
    result = moved.plan()
    assert result.code == OK, result
    assert lines(result, "-") == [f"- file {path}: the documents no longer name it; removed with --prune"
                                  for path in sorted(LEFT)], result
    for command in ("apply", "repair"):
        result = moved.run(command)
        assert result.code == OK, result
        assert ("removed with --prune" in result.err) == (command == "repair"), result
    same(before, listing(moved.root, skip=OWN))


def test_one_that_is_gone_is_named_no_more(moved):
    at(moved, FILE).unlink()
    result = moved.plan()
    assert lines(result, "-") == [f"- file {path}: the documents no longer name it; removed with --prune"
                                  for path in sorted({*LEFT} - {FILE})], result
    at(moved, FILE).write_text("another's")
    result = moved.plan()
    assert f"{FILE}: the documents no longer name it; it is not as nodeup wrote it: left alone" in result.out + result.err, result


@pytest.mark.parametrize("command", ["apply", "repair"])
def test_it_goes_once(moved, command):
    result = moved.plan("--prune")
    assert result.code == PENDING, result
    assert len([l for l in lines(result, "-") if l.endswith(": the documents no longer name it")]) == 3, result
    result = moved.run(command, "--prune")
    assert result.code == OK, result
    assert not [path for path in LEFT if os.path.lexists(at(moved, path))]
    links = [p for p in at(moved, "/etc/systemd/system").rglob("*") if p.name == "left.service"]
    assert not links, "a link of its enablement is left"
    assert at(moved, "/etc/left.d").is_dir(), "a directory is nobody's to remove"
    for again in ("apply", "repair"):
        before = listing(moved.root, skip=OWN)
        result = moved.run(again, "--prune")
        assert result.code == OK and "no longer" not in result.err, result
        same(before, listing(moved.root, skip=OWN))
    assert moved.plan("--prune").code == OK
    # named again, it comes again
    ask_for(moved, MORE)
    moved.converge()
    assert at(moved, FILE).read_text() == "one"


def test_what_others_made_of_it_stays(moved):
    at(moved, FILE).write_text("a person's")
    at(moved, DROPIN).unlink()
    at(moved, DROPIN).symlink_to("/etc/keep")
    result = moved.run("repair", "--prune")
    assert result.code == OK, result
    for path in (FILE, DROPIN):
        said = [l for l in result.lines if path in l]
        assert said and all("the documents no longer name it; it is not as nodeup wrote it: left alone" in l for l in said), result
    assert at(moved, FILE).read_text() == "a person's" and at(moved, DROPIN).is_symlink()
    assert not at(moved, UNIT).exists()
    assert at(moved, "/etc/keep").read_text() == "none of nodeup's\n"


def test_what_was_there_before_is_not_nodeups(world):
    """A file that was right already was never written here."""
    at(world, FILE).write_text("one")
    at(world, FILE).chmod(0o440)
    ask_for(world, MORE)
    world.converge()
    ask_for(world, "")
    result = world.run("apply", "--prune")
    assert result.code == OK, result
    assert at(world, FILE).read_text() == "one" and not at(world, DROPIN).exists()


def test_bytes_count_and_not_their_stamp(moved):
    """A disk that has another number after a reboot changes every stamp."""
    copy = at(moved, FILE).with_suffix(".copy")
    shutil.copyfile(at(moved, FILE), copy)
    copy.rename(at(moved, FILE))
    assert moved.run("apply", "--prune").code == OK
    assert not at(moved, FILE).exists()


def test_without_a_record_nothing_goes(moved):
    (moved.root / "var/lib/nodeup/state").unlink()
    result = moved.run("apply", "--prune")
    assert result.code == OK and all(at(moved, path).is_file() for path in LEFT), result


def test_a_mount_stays(moved):
    """No unit of a disk is removed: what uses its file system may run."""
    state = moved.root / "var/lib/nodeup/state"
    mount = at(moved, UNIT).with_name("data.mount")
    at(moved, UNIT).rename(mount)
    state.write_text(state.read_text().replace(UNIT, UNIT.replace("left.service", "data.mount")))
    result = moved.run("repair", "--prune")
    assert result.code == OK and mount.is_file(), result
    assert any("data.mount" in l and "it mounts a disk: left alone" in l for l in result.lines), result


def test_other_documents_take_turns(world):
    """A node that gets one set of documents after the other keeps what the present one names."""
    for more, there in ((MORE, True), ("", False), (MORE, True)):
        ask_for(world, more)
        result = world.run("apply", "--prune")
        assert result.code == OK, result
        assert [at(world, path).exists() for path in LEFT] == [there] * 3, result
        assert world.plan("--prune").code == OK


def test_what_cannot_go_keeps_nothing_else_from_being_done(moved):
    """And the next run takes it up again, as after a run that was killed."""
    kubelet = at(moved, "/etc/sysconfig/kubelet")
    kubelet.write_text("x")
    at(moved, FILE).unlink()
    at(moved, FILE).mkdir()
    result = moved.run("apply", "--prune")
    assert result.code == OK and kubelet.read_text() != "x", result
    assert not at(moved, UNIT).exists() and at(moved, FILE).is_dir()


def test_a_killed_run_is_taken_up_again(moved):
    """Removed, and not noted: the note alone names nothing."""
    state = moved.root / "var/lib/nodeup/state"
    noted = state.read_text()
    assert moved.run("apply", "--prune").code == OK
    state.write_text(noted)
    at(moved, DROPIN).write_text("two")
    at(moved, DROPIN).chmod(0o440)
    result = moved.plan("--prune")
    assert result.code == PENDING and len(lines(result, "-")) == 1 and DROPIN in lines(result, "-")[0], result
    assert moved.run("apply", "--prune").code == OK
    assert not at(moved, DROPIN).exists() and moved.plan("--prune").code == OK


def test_a_bake_names_and_removes_nothing(moved):
    moved.write_documents()
    result = moved.run_argv([a for a in moved.argv("bake")])
    assert result.code == OK and "no longer" not in result.err, result
    assert all(at(moved, path).is_file() for path in LEFT)


def test_a_saved_plan_has_the_flag_in_it(moved):
    plan = moved.plan("-o", "json", "--prune")
    assert plan.code == PENDING and json.loads(plan.out)["prune"] is True, plan
    path = moved.folder / "plan.json"
    path.write_text(plan.out)
    result = moved.run("apply", f"--plan={path}")
    assert result.code == OK and not at(moved, FILE).exists(), result
