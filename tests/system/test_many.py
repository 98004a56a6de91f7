"""Many assets, few descriptors, little memory: none is held for an asset whose turn has not come."""

import re

import pytest

from world import CONFIG, OK, PENDING, Asset

MIB = 1 << 20


@pytest.mark.parametrize("n, limit", [(1000, 1024), (200, 96)])
def test_many_assets(world, n, limit):
    for i in range(n):
        data = b"asset %d\n" % i * 2000
        asset = world.serve("many", data)
        path = world.origin.folder / f"{world.token}-many"
        path.rename(path.with_name(f"{path.name}-{i}"))
        asset.urls = [f"{asset.urls[0]}-{i}"]
        world.assets[f"many-{i}"] = asset
    prefix, peak = world.measuring()
    done = world.run("bake", prefix=[*prefix, "/usr/bin/prlimit", f"--nofile={limit}:{limit}"], timeout=120)
    assert done.code == OK, done
    # a thousand take some 19 MiB; the most that may be is 32
    assert peak() < 26 * MIB, f"{peak() / MIB:.1f} MiB"
    assert not [l for l in done.lines if "Too many open files" in l], done
    have = {p.name for p in world.cache.glob("sha256/*")}
    assert {a.digest for a in world.assets.values()} <= have and world.unused() == []
    # and each of them once
    assert all(world.origin.count(a.urls[0]) == 1 for a in list(world.assets.values())[-20:])


# Documents that list more than any node has

LISTS = {"fileAssets": 1000, "hooks": 100, "Assets": 2000, "images": 100, "packages": 500, "volumeMounts": 100}
ITEMS = {"fileAssets": "{{name: f{0}, path: /etc/many/f{0}, content: a}}",
         "volumeMounts": "{{device: /dev/sd{0}, path: /many/v{0}, filesystem: ext4}}",
         "packages": "many-{0}", "images": "{{name: i{0}, hash: '{0:064x}', source: 'http://127.0.0.1:9/i{0}'}}",
         "hooks": "{{name: many-{0}.service, manifest: Type=oneshot}}"}
MOST = 32 * MIB


def list_many(world, key, n):
    if key == "Assets":
        world.assets |= {f"many-{i}": Asset(f"{i:064x}", [f"{world.origin.base}/many-{i}"])
                         for i in range(n - len(world.assets))}
        return
    if key in ("packages", "images"):
        world.more += f"{key}:\n" + "".join(f"- {ITEMS[key].format(i)}\n" for i in range(n))
        return
    items = "".join(f"  - {ITEMS[key].format(i)}\n" for i in range(n))
    name = "instancegroup/nodes" if key == "volumeMounts" else "cluster.spec"
    world.edit_store(name, lambda t: t.rstrip("\n") + f"\n  {key}:\n{items}")


def measured(world, command):
    prefix, peak = world.measuring()
    result = world.run(command, prefix=prefix, timeout=120)
    assert peak() < MOST, f"{peak() / MIB:.1f} MiB"
    return result


def test_as_many_as_may_be(world):
    """All lists full, and all other values unknown keys."""
    for key, n in LISTS.items():
        if key not in ("images", "packages", "volumeMounts"):  # of which some must be there
            list_many(world, key, n)
    world.more = "".join(f"unknown-{i}: 1\n" for i in range(17_000))
    assert measured(world, "validate").code == OK
    assert measured(world, "plan").code == PENDING
    done = measured(world, "apply")
    assert done.code == OK, done
    assert len(list((world.root / "etc/many").iterdir())) == LISTS["fileAssets"]
    assert measured(world, "apply").code == OK


@pytest.mark.parametrize("key", ["images", "packages", "volumeMounts"])
def test_as_many_as_may_be_planned(world, key):
    list_many(world, key, LISTS[key])
    assert measured(world, "validate").code == OK
    assert measured(world, "plan").code == PENDING


@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
@pytest.mark.parametrize("key, n", [("fileAssets", 1001), ("hooks", 101), ("Assets", 2001), ("fileAssets", 4500),
                                    ("Assets", 19_000), ("images", 101), ("packages", 501), ("volumeMounts", 101)])
def test_one_more_is_refused(world, command, key, n):
    """With its place, at once."""
    list_many(world, key, n)
    result = measured(world, command)
    file = {"fileAssets": "cluster.spec", "hooks": "cluster.spec", "volumeMounts": "nodes"}.get(key, "kube_env.yaml")
    assert result.code == CONFIG, result
    assert re.search(rf"{file}:\d+:\d+: {key}\[{LISTS[key]}\]: more than {LISTS[key]}", result.failure), result


@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
@pytest.mark.parametrize("text, n", [("unknown-{0}: 1\n", 90_000), ("- {{a: {0}}}\n", 90_000)])
def test_values_are_counted(world, command, text, n):
    world.more = ("" if text[0] == "u" else "unknown:\n") + "".join(text.format(i) for i in range(n))
    result = measured(world, command)
    assert result.code == CONFIG, result
    assert re.search(r"kube_env.yaml:\d+:\d+: more than 20000 values", result.failure), result


@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_warnings_are_counted(world, command):
    """The first of one map, and the first of all."""
    world.more = "".join(f"unknown-{i}: 1\n" for i in range(15_000))
    list_many(world, "fileAssets", 50)
    world.edit_store("cluster.spec", lambda t: t.replace("content: a}", "content: a, odd: 1}"))
    result = measured(world, command)
    lines = [l for l in result.err.splitlines() if "unknown key" in l or re.search(r"and \d+ more", l)]
    assert len(lines) == 21, result
    assert "kube_env.yaml" in lines[0] and "'unknown-0'" in lines[0], result
    assert lines[10].endswith("and 14990 more unknown keys"), result
    assert lines[20].endswith("and 41 more"), result
