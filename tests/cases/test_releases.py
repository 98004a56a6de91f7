"""Golden cases of the releases that nodes of today's kops are made on: an os-release in, a file tree of each role out.

  kops/releases/NAME.yaml   `os-release` of that release, and for each role what is there: of BASE all of it, of others how it differs from
                            BASE, file by file: `null` is not there, a list of lines differs in these. `tasks` are what is no file: packages,
                            modules, units of others. `networks` are what each network brings

UPDATE=1 writes all but the os-release anew: read the difference before you commit it.
"""
import contextlib
import difflib
import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

import test_cases as cases
from test_kops import kops, named
from test_kubeup import Lines, look

HERE = cases.HERE / "kops/releases"
BASE = "debian-12"
NAMES = [BASE, *sorted(path.stem for path in HERE.glob("*.yaml") if path.stem != BASE)]
ROLES = {"worker": None, "control-plane": "ControlPlane", "apiserver": "APIServer"}
NETWORKS = {"amazonvpc": {"amazonVPC": {}}, "calico": {"calico": {}}, "cilium": {"cilium": {}}, "cilium-eni": {"cilium": {"ipam": "eni"}},
            "cni": {"cni": {}}, "flannel": {"flannel": {}}, "kindnet": {"kindnet": {}}, "kuberouter": {"kubeRouter": {}}}
USERS = ("root", "admin", "ubuntu", "ec2-user", "centos", "rocky", "core")
SYSTEMD = ("systemd libsystemd-shared libc6 libmount1 libblkid1 libseccomp2 libcrypt1 libacl1 libselinux1 libpcre2-8-0 libcap2 "
           "libssl3t64").split()
# what is no file, and no part of kubelet or containerd
KINDS = ("module", "package", "stray", "unit")


def kept(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text())


def keep(name, **parts):
    """Writes these parts of the case anew, where that is asked for."""
    if os.environ.get("UPDATE"):
        text = {**kept(name), **parts}
        (HERE / f"{name}.yaml").write_text(yaml.dump(text, Dumper=Lines, width=500, sort_keys=False))


def make(name, role, folder, network):
    """A node whose root says what release it is."""
    config = {"Networking": {**kops.CONFIG["Networking"], **network}}
    node = kops.ControlPlane(folder, ROLES[role], **config) if ROLES[role] else kops.Worker(folder, **config)
    (node.root / "etc").mkdir(exist_ok=True)
    (node.root / "etc/os-release").write_text(kept(name)["os-release"])
    (node.root / "etc/passwd").write_text("".join(f"{user}:x:{i}:{i}::/home/{user}:/bin/bash\n" for i, user in enumerate(USERS)))
    node.facts = dict(kops.FACTS)
    return node


def tasks_of(node):
    done = node.run("plan", "-o", "json")
    assert done.returncode in (0, 2), done.stderr
    return [f"{task['kind']} {task['name']}" for task in json.loads(done.stdout)["tasks"]]


@functools.cache
def tree(name, role, tmp):
    """What is there after a run, and what is no file."""
    node = make(name, role, tmp / f"{name}-{role}", NETWORKS["amazonvpc"])
    node.write()
    with node.controller() if role == "worker" else contextlib.closing(node):
        done = node.apply(AWS_REGION="us-test-1")
        assert done.returncode == 0 and done.stdout.splitlines()[-1] == "success", done.stdout + done.stderr
        tasks = tasks_of(node)
    found = look(node.root, named, longest=8000)
    del found["etc/os-release"]
    return node, found, sorted(task for task in tasks if task.startswith(KINDS))


def lines(old, new):
    """The lines of two texts that differ."""
    delta = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in delta if not line.startswith(("---", "+++", "@@"))]


def difference(base, found):
    """By path: null, what is there alone, or the lines that differ."""
    out = {path: None for path in base.keys() - found.keys()}
    for path, entry in found.items():
        was = base.get(path)
        if was == entry:
            continue
        if was and {**was, "text": 0} == {**entry, "text": 0}:
            entry = {"lines": lines(was["text"], entry["text"])}
        out[path] = entry
    return dict(sorted(out.items()))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return functools.partial(tree, tmp=tmp_path_factory.mktemp("releases"))


def is_newest(name):
    """Of its distribution."""
    parts = [other.partition("-") for other in NAMES]
    distribution, _, version = name.partition("-")
    return all(float(version or 0) >= float(other or 0) for theirs, _, other in parts if theirs == distribution)


# Control planes differ by what workers differ by, and by who has a kubeconfig: that is a distribution's.
@pytest.mark.parametrize("name, role", [pytest.param(name, role, marks=[pytest.mark.long] * (role == "apiserver" or role != "worker" and not (
    name == BASE or is_newest(name)))) for name in NAMES for role in ROLES])
def test_a_release(name, role, made):  # pylint: disable=redefined-outer-name
    _, found, tasks = made(name, role)
    if name != BASE:
        _, base, usual = made(BASE, role)
        found, tasks = difference(base, found), lines("\n".join(usual), "\n".join(tasks))
    keep(name, **{role: found, f"{role}-tasks": tasks})
    expected = kept(name)
    assert (found, tasks) == (expected[role], expected[f"{role}-tasks"])


@pytest.mark.parametrize("name", NAMES)
def test_networks_of_a_release(name, tmp_path):
    """At documents alone, by paths: what is in the files has a test for each version of kops."""
    usual, found = None, {}
    for network, keys in [(None, {}), *NETWORKS.items()]:
        node = make(name, "worker", tmp_path / str(network), keys)
        node.ports = [3988]
        node.write()
        (node.folder / "documents/nodeupconfig.yaml").write_text((node.folder / "nodeupconfig.yaml").read_text())
        tasks = set(tasks_of(node))
        usual = usual or tasks
        found[network] = sorted(tasks - usual)
    del found[None]
    keep(name, networks=found)
    assert found == kept(name)["networks"]


def complaints(analyze, node, found):
    """What systemd says of the units, but that a program or a unit of the release is not there."""
    units = sorted(path for path in found if re.fullmatch(r"etc/systemd/system/[^/]+\.(service|timer|mount)", path) and not (node.root / path).is_symlink())
    assert "etc/systemd/system/kubelet.service" in units
    done = subprocess.run([*analyze, "verify", "--man=no", f"--root={node.root}", *(node.root / unit for unit in units)],
                          capture_output=True, text=True, timeout=60)
    return [line for line in done.stderr.splitlines() if not re.search(r"is not executable: |Unit \S+ not found", line)]


@pytest.mark.parametrize("name", NAMES)
def test_units_of_a_release(name, made):  # pylint: disable=redefined-outer-name
    node, found, _ = made(name, "worker")
    assert complaints(["systemd-analyze"], node, found) == []
    (node.root / "etc/systemd/system/kubelet.service.d").mkdir()
    (node.root / "etc/systemd/system/kubelet.service.d/x.conf").write_text("[Service]\nNoSuch=1\n")
    assert "NoSuch" in " ".join(complaints(["systemd-analyze"], node, found))
    shutil.rmtree(node.root / "etc/systemd/system/kubelet.service.d")


@pytest.mark.long
def test_units_by_the_newest_systemd(made, tmp_path):  # pylint: disable=redefined-outer-name
    """Of Debian's newest suite, by its own C library."""
    sys.path.insert(0, str(cases.ROOT / "tests/e2e"))
    kopsnode = importlib.import_module("kopsnode")
    if not kopsnode.fetch(tmp_path, kopsnode.NEWEST[0], SYSTEMD):
        pytest.skip("Debian's newest suite cannot be had")
    for deb in (tmp_path / "debs").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, tmp_path / "tree"], check=True)
    libraries = tmp_path / "tree/usr/lib/x86_64-linux-gnu"
    analyze = [libraries / "ld-linux-x86-64.so.2", "--library-path", f"{libraries}:{libraries}/systemd", tmp_path / "tree/usr/bin/systemd-analyze"]
    said = subprocess.run([*analyze, "--version"], check=True, capture_output=True, text=True).stdout
    assert int(said.split()[1]) > 257
    for name in NAMES:
        node, found, _ = made(name, "worker")
        # kops' own line, which the newest does without
        assert [line for line in complaints(analyze, node, found) if "option CPUAccounting= has been removed" not in line] == [], name


def test_each_release_of_the_table_is_a_case():
    table = (cases.ROOT / "nodeup/plan/release.c").read_text()
    found = re.findall(r'^\t\{ "(\w+)", +(?:"([\d.]+)"|NULL), [^.]*\.today = ', table, re.M)
    rows = {f"{name}-{version}".rstrip("-") for name, version in found}
    assert rows == set(NAMES)
