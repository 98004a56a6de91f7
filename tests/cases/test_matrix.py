"""Every row of the tables of distributions, networks and tags, and every version, is a case of both roles; a row added
without one fails."""
import functools
import itertools
import re

import pytest

import overlay
import test_cases as cases
import test_flags

NODEUP = cases.ROOT / "nodeup"
ROLES = ("master", "worker")


def source(name):
    return re.sub(r"/\*.*?\*/", "", (NODEUP / name).read_text(), flags=re.S)


def releases(text):
    """(distribution, version, codename) of each row of old, None for NULL; behind them each distribution by itself, and none."""
    table = text[text.index("releases[] = {"):]
    rows = re.findall(r"^\t\{ ([^,]+,[^,]+,[^,]+), +\.old = ", table[:table.index("};")], re.M)
    named = first_columns(source("config/distro.c"), "distros[] = {")
    return [tuple(None if f.strip() == "NULL" else f.strip().strip('"') for f in row.split(",")) for row in rows] + [
        (name, None, None) for name in sorted(named)] + [(None, None, None)]


def row_of(facts, rows):
    """The first that fits, as the program looks for it."""
    version = str(facts.get("version") or "")
    for row in rows:
        name, release, codename = row
        fits = not release or (version == release or version.startswith(release + ".") if version
                               else codename and codename == facts.get("codename"))
        if name is None or (name == facts["distribution"] and fits):
            return row
    raise AssertionError(facts)


def first_columns(text, start):
    """The first word of each row of a table, but of the one for everybody else."""
    table = text[text.index(start):]
    return set(re.findall(r'^\t\{ "([\w-]+)"', table[:table.index("};")], re.M))


@functools.lru_cache(None)
def known():
    """What the program knows of each kind."""
    networks = source("config/kops18/list_cluster.h")
    return {
        "distribution": set(releases(source("plan/release.c"))) - {(None, None, None)},
        "network": set(re.findall(r"^\tX##_INSIDE_IF\((\w+),", networks, re.M)) | first_columns(source("plan/kops18/build_cni.c"), "networks[] = {"),
        "tag": set(re.findall(r'_tag\[\] = "(_\w+)"', source("config/kops18/kops18.c"))),
        "minor": set(test_flags.MINORS),
    }


def of_case(name, tmp):
    """kind -> what of it the case is, and its role; of tags also those it lacks."""
    folder, _ = cases.prepare(cases.HERE / name, tmp)
    facts = overlay.load((folder / "facts.yaml").read_text())
    env = overlay.load((folder / "kube_env.yaml").read_text())
    spec = {}
    for path in (folder / "cluster_spec.yaml", folder / "state/cluster.spec"):
        if path.exists():
            document = overlay.load(path.read_text()) or {}
            spec = document.get("spec", document)
    tags = set(env.get("Tags") or [])
    tree = overlay.expected(cases.HERE / name)
    return "master" if "_kubernetes_master" in tags else "worker", {
        "distribution": {row_of(facts, releases(source("plan/release.c")))},
        "network": {k for k, v in (spec.get("networking") or {}).items() if v is not None},
        "tag": tags | {"no " + tag for tag in known()["tag"] - tags},
        "minor": {test_flags.minor_of(tree)},
    }


def lacking(kind, values, found):
    """Pairs of a value and a role that no case is."""
    return [pair for pair in itertools.product(sorted(values, key=str), ROLES)
            if not any(role == pair[1] and pair[0] in of[kind] for role, of in found)]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return [of_case(name, tmp_path_factory.mktemp("case")) for name in cases.CASES]


@pytest.mark.parametrize("kind, least", [("distribution", 5 + 9), ("network", 11), ("minor", 5)])
def test_every_one_is_a_case_of_both_roles(kind, least, found):
    assert len(known()[kind]) >= least, known()[kind]
    assert lacking(kind, known()[kind], found) == []


def test_every_tag_is_there_and_absent(found):
    assert {"_automatic_upgrades", "_aws", "_kubernetes_master"} <= known()["tag"]
    wanted = known()["tag"] | {"no " + tag for tag in known()["tag"]}
    seen = set().union(*(of["tag"] for _, of in found))
    assert wanted <= seen, wanted - seen


def test_what_is_no_case_is_found(found):
    text = source("plan/release.c").replace("releases[] = {", 'releases[] = {\n\t{ "debian", "7", "wheezy", .old = { DEBIAN } },', 1)
    new = set(releases(text)) - known()["distribution"] - {(None, None, None)}
    assert lacking("distribution", new, found) == [(("debian", "7", "wheezy"), role) for role in ROLES]
    assert lacking("network", {"cilium", "weave"}, found) == [("cilium", role) for role in ROLES]
    assert lacking("minor", {8, 11}, found) == [(11, role) for role in ROLES]
