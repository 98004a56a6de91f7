"""etcd's manifests on the volumes of a master that has no protokube: documents and facts in, what is
below the mount points and the links out.  etcd/CASE/*.manifest is compared as parsed YAML.

The documents are those of the case bare-documents, changed as CHANGES says."""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import subprocess

import pytest
import yaml

from test_cases import HERE, apply, expand, prepare

BASE = HERE / "bare-documents"
VOLUMES = {"main": "vol-0a1b", "events": "vol-0c2d"}
MEMBERS = """etcdClusters:
- etcdMembers:
  - {name: a, instanceGroup: master-us-west-2a}
  - {name: b, instanceGroup: master-us-west-2b}
  - {name: c, instanceGroup: master-us-west-2c}
  name: main
%(main)s- etcdMembers:
  - {name: a, instanceGroup: master-us-west-2a}
  name: events
%(events)s"""
# etcd's lines of each cluster, and what the tags of the volumes say
CHANGES = {
    "usual": ({"main": "", "events": ""}, {"main": "a/a", "events": "a/a"}),
    "three": ({"main": "  version: 3.0.17\n  leaderElectionTimeout: 5s\n  heartbeatInterval: 250ms\n",
               "events": "  image: registry.example/etcd:3.1.11\n"}, {"main": "b/a,b,c", "events": "a/a"}),
    "tls": ({"main": "  version: 3.0.17\n  enableEtcdTLS: true\n",
             "events": "  version: 3.0.17\n  enableEtcdTLS: true\n"}, {"main": "b/a,b,c", "events": "a/a"}),
}


def documents_of(case, tmp, **more):
    """The documents and the root of a case, and its name for messages."""
    documents, root = prepare(BASE, tmp)
    lines, tags = CHANGES[case]
    env = documents / "kube_env.yaml"
    env.write_text(env.read_text().split("protokubeImage:")[0] + more.get("env", ""))
    with open(documents / "cluster_spec.yaml", "a") as spec:
        spec.write(MEMBERS % lines)
    with open(documents / "facts.yaml", "a") as facts:
        facts.write("etcdVolumes:\n" + "".join(f"  {k}: {VOLUMES[k]} {tags[k]}\n" for k in VOLUMES))
    for name in ("etcd", "etcd-client"):
        for part in ("issued", "private"):
            shutil.copytree(documents / "pki" / part / "kubelet-api", documents / "pki" / part / name)
    return documents, root


def run(documents, root, tmp):
    return apply(BASE, documents, root, tmp)


@pytest.fixture
def mount():
    """Put the volumes in their places below a root."""
    with contextlib.ExitStack() as stack:
        def do(root, *names):
            for name in names or [f"master-{volume}" for volume in VOLUMES.values()]:
                where = root / "mnt" / name
                where.mkdir(parents=True)
                subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", where], check=True)
                stack.callback(subprocess.run, ["umount", where], check=True)
        yield do


def test_an_image_without_its_volumes(tmp_path):
    """The links, and nothing in the places of the volumes: it would be below them when they are mounted."""
    documents, root = documents_of("three", tmp_path)
    for again in range(2):
        done = run(documents, root, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not again or re.search(r"\d+ tasks: \d+ right(, \d+ not needed)?, in", done.stderr), done.stderr
    assert not (root / "mnt").exists()
    for cluster, name in (("main", "etcd"), ("events", "etcd-events")):
        assert os.readlink(root / f"etc/kubernetes/manifests/{name}.manifest") == (
            f"/mnt/master-{VOLUMES[cluster]}/k8s.io/manifests/{name}.manifest")
        assert (root / f"etc/systemd/system/mnt-master\\x2dvol\\x2d{VOLUMES[cluster][4:]}.mount").is_file()


@pytest.mark.parametrize("distribution, top", [("containeros", "/mnt/disks"), ("debian", "/mnt")])
def test_places_of_the_volumes(distribution, top, tmp_path):
    """kube-up's disks are mounted below /mnt/disks, which says nothing of etcd's."""
    documents, root = documents_of("usual", tmp_path)
    facts = documents / "facts.yaml"
    facts.write_text(facts.read_text().replace("distribution: debian", "distribution: " + distribution))
    env = documents / "kube_env.yaml"
    env.write_text(expand("Assets:\n- @mounter.tar@@https://a.invalid/mounter.tar\n", documents)
                   + env.read_text().removeprefix("Assets:\n"))
    (root / "mnt/disks").mkdir(parents=True)
    done = run(documents, root, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.readlink(root / "etc/kubernetes/manifests/etcd.manifest") == (
        f"{top}/master-{VOLUMES['main']}/k8s.io/manifests/etcd.manifest")


@pytest.mark.parametrize("case", CHANGES)
def test_manifests(case, tmp_path, mount):
    documents, root = documents_of(case, tmp_path)
    mount(root)
    for again in range(2):
        done = run(documents, root, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not again or re.search(r"\d+ tasks: \d+ right(, \d+ not needed)?, in", done.stderr), done.stderr
    for cluster, name, data in (("main", "etcd", "data"), ("events", "etcd-events", "data-events")):
        mount = f"/mnt/master-{VOLUMES[cluster]}"
        on_volume = f"{mount}/k8s.io/manifests/{name}.manifest"
        assert os.readlink(root / f"etc/kubernetes/manifests/{name}.manifest") == on_volume
        found = root / on_volume[1:]
        assert stat.S_IMODE((root / mount[1:] / "var/etcd" / data).stat().st_mode) == 0o700
        assert stat.S_IMODE(found.stat().st_mode) == 0o644
        assert (root / f"var/log/{name}.log").is_file()
        expected = HERE / "etcd" / case / f"{name}.manifest"
        if os.environ.get("UPDATE"):
            expected.parent.mkdir(exist_ok=True)
            shutil.copy(found, expected)
        assert yaml.safe_load(found.read_text()) == yaml.safe_load(expected.read_text())
    drop_in = root / "etc/systemd/system/kubelet.service.d/10-etcd-volumes.conf"
    assert drop_in.read_text() == ("[Unit]\nRequiresMountsFor=/mnt/master-vol-0a1b\n"
                                   "RequiresMountsFor=/mnt/master-vol-0c2d\n")


MASTER_PD = "volumeMounts:\n- {device: /dev/xvdb, path: /mnt/master-pd}\n"


def test_master_pd(tmp_path, mount):
    """kube-up's one volume for all of a master's data: etcd on it, and its directories seen from it."""
    documents, root = documents_of("usual", tmp_path, env=MASTER_PD)
    facts = documents / "facts.yaml"
    facts.write_text(facts.read_text().split("etcdVolumes:")[0])
    spec = documents / "cluster_spec.yaml"
    spec.write_text(re.sub(r"  - \{name: [bc], .*\n", "", spec.read_text()))
    mount(root, "master-pd")
    for again in range(2):
        done = run(documents, root, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not again or re.search(r"\d+ tasks: \d+ right(, \d+ not needed)?, in", done.stderr), done.stderr
    for name, data, port in (("etcd", "data", 4001), ("etcd-events", "data-events", 4002)):
        on_volume = f"/mnt/master-pd/k8s.io/manifests/{name}.manifest"
        assert os.readlink(root / f"etc/kubernetes/manifests/{name}.manifest") == on_volume
        pod = yaml.safe_load((root / on_volume[1:]).read_text())["spec"]
        assert {"name": "varetcdata", "hostPath": {"path": f"/mnt/master-pd/var/etcd/{data}"}} in pod["volumes"]
        # all else is as it is elsewhere
        other = yaml.safe_load((HERE / "etcd/usual" / f"{name}.manifest").read_text())["spec"]
        for spec in (pod, other):
            spec["volumes"] = [v for v in spec["volumes"] if v["name"] != "varetcdata"]
        assert pod == other
    assert stat.S_IMODE((root / "mnt/master-pd/var/etcd/data").stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "var/etcd").stat().st_mode) == 0o700
    units = root / "etc/systemd/system"
    for source in ("var/etcd", "srv/kubernetes", "srv/sshproxy"):
        unit = (units / (source.replace("/", "-") + ".mount")).read_text()
        assert f"What=/mnt/master-pd/{source}\nWhere=/{source}\n" in unit, unit
    assert (units / "kubelet.service.d/10-etcd-volumes.conf").read_text() == "[Unit]\nRequiresMountsFor=/mnt/master-pd\n"


def test_master_pd_is_for_one_member(tmp_path):
    documents, root = documents_of("three", tmp_path, env=MASTER_PD)
    done = run(documents, root, tmp_path)
    assert done.returncode == 78, done.stdout + done.stderr
    assert "etcd main: /mnt/master-pd is for one member, the documents name 3" in done.stderr
    assert not (root / "etc/kubernetes").exists()


def test_with_protokube_nothing_of_it(tmp_path):
    documents, root = documents_of("usual", tmp_path, env="protokubeImage: {name: 'protokube:1.8.1'}\n")
    done = run(documents, root, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (root / "mnt").exists() and not list(root.rglob("etcd*.manifest"))
    assert not list(root.rglob("10-etcd-volumes.conf"))


def test_no_volume_is_said(tmp_path):
    documents, root = documents_of("usual", tmp_path)
    facts = documents / "facts.yaml"
    facts.write_text(facts.read_text().split("etcdVolumes:")[0])
    done = run(documents, root, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no etcd volume is known here: no etcd will run on this master" in done.stderr


@pytest.mark.parametrize("given,why", [
    ("main: vol-0a1b a/b", "fact etcdVolumes.main: 'a/b': 'a' is not among its members"),
    ("main: ../etc a/a", "fact etcdVolumes.main: '../etc' is not the id of a volume"),
    ("main: vol-0a1b", "fact etcdVolumes.main: '': wanted <member>/<member>,<member>..."),
    ("cilium: vol-0a1b a/a", "etcd cluster 'cilium': only main and events can be run here"),
])
def test_wrong_facts(given, why, tmp_path):
    documents, root = documents_of("usual", tmp_path)
    facts = documents / "facts.yaml"
    facts.write_text(re.sub(r"etcdVolumes:(.|\n)*", "etcdVolumes:\n  " + given + "\n", facts.read_text()))
    before = sorted(p for p in pathlib.Path(root).rglob("*"))
    done = run(documents, root, tmp_path)
    assert done.returncode == 78, done.stdout + done.stderr
    assert why in done.stderr, done.stderr
    assert [p for p in sorted(pathlib.Path(root).rglob("*")) if "nodeup" not in p.parts[-2:] + p.parts[-3:]] == before
