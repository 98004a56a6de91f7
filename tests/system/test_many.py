"""Many assets, few descriptors, little memory: none is held for an asset whose turn has not come."""

import json
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

LISTS = {"fileAssets": 1400, "hooks": 100, "Assets": 2000, "images": 100, "packages": 500, "volumeMounts": 100}
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


def measured(world, command, *flags, most=MOST):
    prefix, peak = world.measuring()
    result = world.run(command, *flags, prefix=prefix, timeout=120)
    assert peak() < most, f"{peak() / MIB:.1f} MiB"
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
@pytest.mark.parametrize("key, n", [("fileAssets", 1401), ("hooks", 101), ("Assets", 2001), ("fileAssets", 4500),
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
    """Twenty are shown, those first that are like a key that is known."""
    world.more = "".join(f"unknown-{i}: 1\n" for i in range(15_000))
    world.edit_store("cluster.spec", lambda t: t.replace("  etcdClusters:\n", "  etcdClusters:\n" + "".join(
        f"  - {{name: c{i}, versio: '1', nothing-like-it: 1}}\n" for i in range(25))))
    result = measured(world, command)
    lines = [l for l in result.err.splitlines() if "unknown key" in l or re.search(r"and \d+ more", l)]
    assert len(lines) == 21 and lines[20].endswith("and 15030 more"), result
    assert all(re.search(rf"'etcdClusters\[{i}\]\.versio'; did you mean 'version'\?", l) for i, l in enumerate(lines[:20])), result


def test_many_unknown_keys_are_listed_whole(world):
    n = 5_000
    world.more = "".join(f"unknown-{i}: 1\n" for i in range(n))
    for flags, severity in (([], "warning"), (["--strict"], "error")):
        read = json.loads(measured(world, "validate", "-o", "json", *flags).out)
        assert [f["text"] for f in read["findings"]] == [f"unknown key 'unknown-{i}'" for i in range(n)], read["findings"][-1]
        assert {f["severity"] for f in read["findings"]} == {severity} and read[severity + "s"] == n
    assert measured(world, "validate", "-o", "github").out.count("::warning file=") == n
    strict = measured(world, "validate", "--strict")
    assert strict.code == CONFIG and strict.err.count("error: unknown key") == n and strict.err.endswith(f"{n} errors\n"), strict.err[-500:]
    refused = world.plan("--strict")
    assert refused.code == CONFIG and f"{n - 7} more errors: nodeup validate" in refused.err, refused
