"""nodeup repair: disks lie, and records are not proof.  Damage is done under the records' own stamps, so
that nothing but reading every byte can find it."""

import re

import pytest

from world import CNI, KUBELET, NET, OK, OWN, PENDING, SYSTEM, UTILS, differences, listing, noise, same, tar


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


def repair(world, *flags, **kw):
    done = world.run("repair", *flags, **kw)
    assert done.code == OK and done.out.splitlines()[-1] == "success", done
    return done


def test_nothing_to_repair(world):
    world.converge()
    asked, before = world.requests(), listing(world.root, skip=OWN)
    cached = listing(world.cache, skip=("tmp",))
    repair(world)
    assert world.requests() == asked
    same(before, listing(world.root, skip=OWN))
    # but for a note of what the archives were found to have
    now = listing(world.cache, skip=("tmp",))
    notes = {name for name in now if name.endswith(".members")}
    changed = [d for d in differences(cached, now) if d.split(": ")[0] not in notes | {".", "verified"}]
    assert notes and not changed and not world.unused(), changed


def test_each_byte_is_read_once(world, tmp_path):
    """An archive is opened for its hash, and to be read, which nothing else waits for; what is installed of it is compared once."""
    log, member = tmp_path / "log", world.root / "opt/cni/bin/bridge"
    world.converge()
    repair(world, prefix=["strace", "-f", "-qq", "-y", "-s0", "-o", str(log), "-e", "trace=openat,pread64"])
    text = log.read_text()
    assert len(re.findall(rf'openat\(.*"sha256/{world.entry(CNI).name}"', text)) == 2, text
    # its pieces, and its end
    assert len(re.findall(rf"pread64\(\d+<{member}>", text)) == member.stat().st_size // (256 << 10) + 2, text


def test_a_large_member(world):
    """Larger than what the unpacker's report may take: the room of both together is not a small number."""
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


def change_a_byte(path):
    """As a disk or a person does it: the records know nothing of it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def full_cache(world):
    """As in an image of the machine: each object of the documents, and the node made of them. Entries by content."""
    for name, asset in world.assets.items():
        asset.digest = world.digest(name, "sha1")
    world.write_documents()
    assert world.run("bake").code == OK
    world.converge()
    return {p: p.read_bytes() for p in (world.cache / "sha1").iterdir()}


def names_of(world):
    return {world.digest(name, "sha1"): name for name in world.contents}


def test_every_damaged_object_comes_back(world):
    """Needed now or not: the next start without a network may need it."""
    before = full_cache(world)
    assert len(before) == 4
    assert world.plan("--verify").code == OK
    for path in before:
        change_a_byte(path)
    planned = world.plan("--verify")
    done = repair(world)
    for path in before:
        name = names_of(world)[path.name]
        assert re.search(rf"~ asset {name}: '{path}' is damaged", planned.out), planned
        assert any(l.startswith(f"changed asset {name}: ") and "is damaged" in l for l in done.lines), done
    assert {p: p.read_bytes() for p in (world.cache / "sha1").iterdir()} == before
    assert list(world.cache.glob("damaged/*")) == [] == world.unused()
    assert world.plan("--verify").code == OK and world.apply("--offline").code == OK


def test_a_member(world):
    """It is compared with its archive, which is read for that and not fetched."""
    world.converge()
    asked, path = world.requests(), world.installed("bridge")
    good = path.read_bytes()
    damage(world, path)
    world.converge()
    assert path.read_bytes() != good, "the damage must not show"
    planned = world.plan("--verify")
    assert planned.code == PENDING and "~ install /opt/cni/bin/bridge: content differs" in planned.out, planned
    repair(world)
    assert path.read_bytes() == good and world.requests() == asked and world.plan("--verify").code == OK


@pytest.mark.parametrize("how", ("mirrors fail", "offline"))
def test_what_is_not_needed_and_cannot_be_had(world, how):
    """The node is right: that is a success. What is lost is named, and still there for who can make use of it."""
    before = full_cache(world)
    for path in before:
        change_a_byte(path)
    bad = {p: p.read_bytes() for p in before}
    if how == "mirrors fail":
        for name, asset in world.assets.items():
            asset.urls = [world.url(name, "status=404")]
    done = repair(world, *(["--offline"] if how == "offline" else []))
    for path in before:
        name, aside = names_of(world)[path.name], world.cache / f"damaged/sha1-{path.name}"
        assert not path.exists() and aside.read_bytes() == bad[path], aside
        told = [l for l in done.lines if l.startswith(f"failed asset {name} (not needed now): ")]
        assert len(told) == 1 and "is damaged; it was moved to the cache's damaged/; " in told[0], done
    assert "FAILED" not in done.err
    # it is said again, and healed as soon as it can be had
    assert world.plan("--verify").code == PENDING
    for name, asset in world.assets.items():
        asset.urls = [world.url(name)]
    repair(world)
    assert {p: p.read_bytes() for p in (world.cache / "sha1").iterdir()} == before
    assert list(world.cache.glob("damaged/*")) == []
    assert world.plan("--verify").code == OK


def test_what_is_needed_and_cannot_be_had(world):
    full_cache(world)
    change_a_byte(world.cache / "sha1" / world.digest(KUBELET, "sha1"))
    world.installed(KUBELET).unlink()
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    done = world.run("repair")
    assert done.code == NET and f"asset {KUBELET}" in done.failure, done
    assert (world.cache / f"damaged/sha1-{world.digest(KUBELET, 'sha1')}").exists()


def test_plan_shows_it_and_changes_nothing(world):
    world.converge()
    assert world.plan("--verify").code == OK
    damage(world, world.entry(KUBELET))
    before = listing(world.cache, skip=("tmp",))
    done = world.plan("--verify")
    assert done.code == PENDING and "asset kubelet" in done.out and "damaged" in done.out, done
    same(before, listing(world.cache, skip=("tmp",)))
    assert world.unused() == []
    assert world.plan().code == OK


def test_repair_ends_with_a_recap(world):
    world.converge()
    result = world.run("repair")
    assert re.search(r" info    ok \d+ / changed 0 / failed 0$", result.err, re.M), result
    assert not re.search(r"/ changed", world.converge().err)
    kubelet = world.root / "etc/sysconfig/kubelet"
    kubelet.write_text("x")
    result = world.run("repair")
    assert re.search(r" ok \d+ / changed 1 / failed 0\n.*   changed file /etc/sysconfig/kubelet: content differs.*\n$", result.err), result
    kubelet.unlink()
    kubelet.mkdir()
    (kubelet / "full").write_text("mine")
    result = world.run("repair")
    assert result.code == OK and kubelet.is_file() and (kubelet.parent / "kubelet.nodeup-old/full").read_text() == "mine", result
    assert "'/etc/sysconfig/kubelet' is a directory in the place of a file: it is set aside as '/etc/sysconfig/kubelet.nodeup-old'" in result.err, result
    kubelet.parent.rename(kubelet.parent.with_name("elsewhere"))
    kubelet.parent.symlink_to("sysconfig")
    result = world.run("repair")
    assert result.code == SYSTEM, result
    assert re.search(r"ok \d+ / changed \d+ / failed [1-9]", result.err), result
    assert re.search(r"  failed file /etc/sysconfig/kubelet: .*Too many levels of symbolic links", result.err), result
