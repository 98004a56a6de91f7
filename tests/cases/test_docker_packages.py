"""Every row of the table of docker's packages is one of kops' own (docker_packages), every one of those is a row, and
each version on each distribution gets planned with what belongs to it."""
import functools
import re
import subprocess

import pytest

import test_cases as cases

SOURCE = cases.ROOT / "nodeup/plan/docker_packages.c"
FACTS = {
    "jessie": {"distribution": "debian", "version": "8", "codename": "jessie"},
    "stretch": {"distribution": "debian", "version": "9", "codename": "stretch"},
    "xenial": {"distribution": "ubuntu", "version": "16.04", "codename": "xenial"},
    "centos7": {"distribution": "centos", "version": "7.4", "codename": "Core"},
    "rhel7": {"distribution": "rhel", "version": "7.4", "codename": "Maipo"},
}


# What kops misspells: there is no such package, and none of stretch in the folder of jessie.
MENDED = {"libgcroup": "libcgroup"}


def mended(url):
    return url.replace("/dists/jessie/", "/dists/stretch/") if url.endswith("-stretch_amd64.deb") else url


@functools.lru_cache(None)
def of_kops():
    """(distribution, version, package) -> (hash, address, what else)."""
    found = {}
    for line in (cases.HERE / "docker_packages").read_text().splitlines():
        if not line.startswith("#"):
            names, version, package, digest, url, others = line.split()
            for name in names.split(","):
                found[name, version, package] = (digest, mended(url), frozenset(MENDED.get(o, o) for o in others.split(",") if o != "-"))
    return found


def rows_of(text):
    """The same of the program's table, as the preprocessor joins its strings."""
    text = text[text.index("docker_packages[] = {"):]
    found = {}
    for row in re.findall(r"\{([^{}]*)\}", text[:text.index("};")]):
        fields = ["".join(re.findall(r'"([^"]*)"', field + '"')) for field in row.split('",') if '"' in field]
        names, version, package, url, digest, others = fields
        for name in names.split():
            found[name, version, package] = (digest, url, frozenset(others.split()))
    return found


@functools.lru_cache(None)
def source():
    return subprocess.run(["gcc", "-E", "-P", "-I", cases.ROOT, SOURCE], capture_output=True, text=True,
                          check=True).stdout


def test_the_tables_are_the_same():
    ours, theirs = rows_of(source()), of_kops()
    assert len(theirs) > 30
    assert ours == theirs


def test_a_row_more_is_found():
    text = source().replace("docker_packages[] = {", 'docker_packages[] = {\n{ "jessie", "1.10.3", "docker" "-engine", '
                            '"http://h/" "x.deb", "00", "a b" },', 1)
    more = {k: v for k, v in rows_of(text).items() if k not in of_kops()}
    assert more == {("jessie", "1.10.3", "docker-engine"): ("00", "http://h/x.deb", frozenset("ab"))}


@pytest.mark.parametrize("distribution, version", sorted({key[:2] for key in of_kops()}))
def test_planned(distribution, version, tmp_path):
    """Below a root packages are planned and not installed; those of the documents are there for every version."""
    case = cases.HERE / "distro-jessie-worker"
    documents, root = cases.prepare(case, tmp_path)
    facts = cases.yaml.safe_load((documents / "facts.yaml").read_text())
    (documents / "facts.yaml").write_text(cases.yaml.safe_dump({**facts, **FACTS[distribution]}))
    spec = cases.yaml.safe_load((documents / "state/cluster.spec").read_text())
    spec["spec"]["docker"]["version"] = version
    (documents / "state/cluster.spec").write_text(cases.yaml.safe_dump(spec))
    planned = cases.planned_packages(case, documents, root, tmp_path)
    want = {name: others for (d, v, name), (_, _, others) in of_kops().items() if (d, v) == (distribution, version)}
    docker = set(want).union(*want.values())
    # and nothing of another version
    others = {name for (d, _, name), (_, _, more) in of_kops().items() if d == distribution for name in {name, *more}}
    assert planned & others == docker
