"""apply --plan: what was read is done, or nothing."""
import json
import re

import pytest

from world import CONFIG, OK, PENDING, REFUSED, USAGE

OWN = ("run", "var/lib/nodeup", "var/cache/nodeup")


def saved(world, *flags):
    world.write_documents()
    result = world.run("plan", "-o", "json", *flags, write=False)
    path = world.folder / "plan.json"
    path.write_text(result.out)
    return path, result


def apply(world, path, *flags):
    return world.run("apply", f"--plan={path}", *flags, write=False)


def made(world):
    """What is below the root, without nodeup's own notes."""
    return {str(p.relative_to(world.root)): (p.lstat().st_mode, p.lstat().st_mtime_ns, p.is_file() and p.read_bytes())
            for p in world.root.rglob("*") if not str(p.relative_to(world.root)).startswith(OWN)}


def refuse(world, path, *patterns):
    before = made(world)
    result = apply(world, path)
    assert result.code == REFUSED, result
    for pattern in patterns:
        assert re.search(pattern, result.err), result
    assert made(world) == before, "something was changed"
    return result


def test_what_was_planned_is_done(world):
    path, plan = saved(world)
    assert plan.code == PENDING and re.fullmatch("[0-9a-f]{64}", json.loads(plan.out)["digest"]), plan
    result = apply(world, path)
    assert result.code == OK, result
    assert world.plan().code == OK
    # it is done now, and not a second time
    refuse(world, path, r"the machine is not as it was when .*plan\.json was made: nothing was changed", r"planned   \w+ /?\S+: change: ")


def test_a_plan_of_no_change(world):
    world.converge()
    path, plan = saved(world)
    assert plan.code == OK
    assert apply(world, path).code == OK


def test_a_plan_that_verifies(world):
    world.converge()
    path, plan = saved(world, "--verify")
    assert json.loads(plan.out)["verify"] is True
    assert apply(world, path).code == OK


def test_the_machine_moved(world):
    world.converge()
    kubelet = world.root / "etc/sysconfig/kubelet"
    kubelet.write_text("x")
    path, _ = saved(world)
    assert apply(world, path).code == OK
    kubelet.write_text("x")
    (world.root / "etc/sysctl.d/99-k8s-general.conf").unlink()
    result = refuse(world, path, r"now       file /etc/sysctl\.d/99-k8s-general\.conf: change: ")
    assert "/etc/sysconfig/kubelet" not in result.err, "it is as it was"


@pytest.mark.parametrize("what", ["kube_env", "cluster", "key"])
def test_the_documents_moved(world, what):
    world.converge()
    (world.root / "etc/sysconfig/kubelet").write_text("x")
    path, _ = saved(world)
    moved = {"kube_env": world.conf, "cluster": world.store / "cluster.spec"}.get(what) or next(
        p for p in (world.store / "pki/issued/kubelet").iterdir())
    moved.write_bytes(moved.read_bytes() + b"\n")
    refuse(world, path, "the documents, the settings or nodeup are not those that .* was made of: nothing was changed")


@pytest.mark.parametrize("text, code, says", [
    ("{", CONFIG, r"--plan: .*p\.json:1"), ("{}", CONFIG, "this is not a plan of schema 1"),
    ('{"schema": 2, "digest": "x", "tasks": []}', CONFIG, "this is not a plan of schema 1"),
    ('{"schema": 1, "digest": "x", "tasks": {}}', CONFIG, "this is not a plan of schema 1"),
    ('{"schema": 1, "digest": "x", "tasks": []}', REFUSED, "the documents, the settings or nodeup")])
def test_what_is_not_a_plan(world, text, code, says):
    world.write_documents()
    (world.folder / "p.json").write_text(text)
    result = apply(world, world.folder / "p.json")
    assert result.code == code and re.search(says, result.failure), result


def test_with_what_it_does_not_go(world):
    path, _ = saved(world)
    result = apply(world, path, "--dryrun")
    assert result.code == USAGE and "--plan is for what is done now: not with --dryrun" in result.failure, result
