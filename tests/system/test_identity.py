"""Whose records these are: a machine image may be made of a node that ran."""

from world import OK


def test_an_image_of_a_live_node_is_another_node(world):
    """What names its instance is that one's: the new one says so, once, and keeps nothing of the old."""
    world.converge()
    kept = world.root / "var/lib/nodeup"
    assert (kept / "identity").read_text() == world.facts["instanceID"]
    (kept / "runs").mkdir(exist_ok=True)
    old = kept / "runs/000000000001-1.json"
    old.write_text('{"schema": 1, "state": "ready"}\n')
    assert "instance" not in world.converge().err and old.exists()
    world.facts["instanceID"] = "i-0fedcba9876543210"
    assert world.plan().code == OK and old.exists(), "a plan changes nothing"
    result = world.converge()
    said = [l for l in result.lines if "made of an image of" in l]
    assert said == ["this is instance i-0fedcba9876543210, made of an image of i-0123456789abcdef0: the documents, volumes and "
                    "runs that are kept of that one are not used"], result
    assert not old.exists() and (kept / "identity").read_text() == "i-0fedcba9876543210"
    assert "made of an image" not in world.converge().err
