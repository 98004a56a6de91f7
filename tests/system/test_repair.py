"""nodeup repair: disks lie, and records are no proof.  Damage is done under the records' own stamps, so
that nothing but reading every byte can find it."""

import re

import pytest

from world import CNI, KUBELET, OK, OWN, PENDING, SYSTEM, UTILS, differences, listing, noise, same, tar


def records(world):
    return [world.root / "var/lib/nodeup/state", *world.cache.glob("verified/*")]


def damage(world, *paths):
    """Flip a bit and let the records say that this is how it was."""
    for path in paths:
        old = path.stat()
        data = bytearray(path.read_bytes())
        data[1000] ^= 1
        path.write_bytes(data)
        new = path.stat()
        # so that it does not matter whether they were one before, which is a matter of chance
        assert new.st_mtime_ns == new.st_ctime_ns
        for record in records(world):
            text = record.read_text()
            for then, now in ((old.st_mtime_ns, new.st_mtime_ns), (old.st_ctime_ns, new.st_ctime_ns)):
                text = re.sub(rf"\b{then}\b", str(now), text)
            record.write_text(text)


def repair(world, *flags):
    done = world.run("repair", *flags)
    assert done.code == OK and done.out.splitlines()[-1] == "success", done
    return done


def unpacked(world, member):
    tree = world.cache / "unpacked" / f"sha256-{world.digest(CNI)}"
    return next(tree.rglob(member))


def test_nothing_to_repair(world):
    world.converge()
    asked, before = world.requests(), listing(world.root, skip=OWN)
    cached = listing(world.cache, skip=("tmp",))
    repair(world)
    assert world.requests() == asked
    same(before, listing(world.root, skip=OWN))
    # but for a note of what the trees were found to be, so that they need not be unpacked next time
    now = listing(world.cache, skip=("tmp",))
    notes = {name for name in now if name.endswith(".tree")}
    changed = [d for d in differences(cached, now) if d.split(": ")[0] not in notes | {".", "verified"}]
    assert {n.removesuffix(".tree").split("/")[1] for n in notes} == {p.name for p in world.cache.glob("unpacked/*")}
    assert not changed and not world.unused(), changed


def test_a_large_member(world):
    """Larger than what the unpacker's report may take: the room of both together is no small number."""
    world.assets[UTILS] = world.serve(UTILS, tar({"large": noise("large", 1 << 14) * (136 << 6)}))
    world.converge()
    done = repair(world)
    assert not any("damaged" in l for l in done.lines), done


def test_a_cached_asset(world):
    world.converge()
    asked, entry = world.requests(), world.entry(KUBELET)
    damage(world, entry)
    world.converge()
    assert world.requests() == asked and entry.read_bytes() != world.contents[KUBELET], "the damage must not show"
    done = repair(world)
    assert world.requests() == asked + 1 and entry.read_bytes() == world.contents[KUBELET]
    assert any("asset kubelet" in l and f"'{entry}' is damaged" in l for l in done.lines), done


def test_an_installed_file(world):
    world.converge()
    asked, path = world.requests(), world.installed(KUBELET)
    damage(world, path)
    world.converge()
    assert path.read_bytes() != world.contents[KUBELET], "the damage must not show"
    done = repair(world)
    assert world.requests() == asked and path.read_bytes() == world.contents[KUBELET]
    assert any("/usr/local/bin/kubelet" in l for l in done.lines), done


@pytest.mark.parametrize("noted", (False, True))
@pytest.mark.parametrize("also_installed", (False, True))
def test_an_unpacked_archive(world, also_installed, noted):
    # another archive may be dropped on its way, once nobody waits for it, and be missed now
    del world.assets[UTILS]
    world.converge()
    if noted:
        repair(world)
    asked, tree, path = world.requests(), unpacked(world, "bridge"), world.installed("bridge")
    good = path.read_bytes()
    damage(world, *[tree, path][:1 + also_installed])
    done = repair(world)
    assert path.read_bytes() == good and unpacked(world, "bridge").read_bytes() == good and world.requests() == asked
    assert any(CNI in l and "damaged" in l for l in done.lines), done


def test_offline(world):
    world.converge()
    damage(world, world.entry(KUBELET))
    done = world.run("repair", "--offline")
    assert done.code not in (OK, SYSTEM) and KUBELET in done.failure, done


def test_plan_shows_it_and_changes_nothing(world):
    world.converge()
    assert world.plan("--verify").code == OK
    damage(world, world.entry(KUBELET))
    # to look at a tree it unpacks the archive once more, below tmp/
    before = listing(world.cache, skip=("tmp",))
    done = world.plan("--verify")
    assert done.code == PENDING and "asset kubelet" in done.out and "damaged" in done.out, done
    same(before, listing(world.cache, skip=("tmp",)))
    assert world.unused() == []
    assert world.plan().code == OK
