"""A node of an older kops whose documents become those of a newer one."""
import copy

import subprocess

import pytest
import yaml

from kops import ControlPlane
from older_kops import render
from world import ENV, OK, PENDING, PROGRAM

UNIT, VENDORS = "/etc/systemd/system/protokube.service", "/lib/systemd/system/protokube.service"
PROGRAMS = ["/opt/kops/bin/channels", "/opt/kops/bin/protokube"]
LEFT = [UNIT, *PROGRAMS, "/etc/sysconfig/protokube"]


@pytest.fixture
def node(tmp_path):
    """Its documents are of 1.36; `before` is what they were of 1.35."""
    made = ControlPlane(tmp_path / "node")
    newer = copy.deepcopy(made.config)
    made.before = render(made, "1.35.2", "1.35.1").config
    made.config = {**newer, "KubernetesVersion": "1.35.1", "usesLegacyGossip": False}
    yield made
    made.close()


def put(node, path, text):
    place = node.root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def removed(done):
    return sorted(line.split()[2].rstrip(":") for line in done.stdout.splitlines() if line.startswith("- file "))


def diff(node, *configs):
    """Of documents that lie in folders of their own."""
    confs = []
    for number, node.config in enumerate(configs):
        node.write()
        confs.append(node.folder / f"{number}/kube_env.yaml")
        confs[-1].parent.mkdir()
        confs[-1].write_bytes((node.folder / "documents/kube_env.yaml").read_bytes())
        confs[-1].with_name("nodeupconfig.yaml").write_text(yaml.safe_dump(node.config))
    return subprocess.run([PROGRAM, "diff", "--facts", node.folder / "documents/facts.yaml", *confs], env=ENV, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)


def converge(node):
    done = node.apply()
    assert done.returncode == OK, done.stderr
    assert node.run("plan").returncode == OK


def test_protokube_goes_where_a_pod_takes_its_place(node):
    newer, node.config = node.config, node.before
    node.write()
    converge(node)
    assert all((node.root / path[1:]).is_file() for path in LEFT)
    node.config = newer
    node.write()
    done = node.run("plan")
    assert done.returncode == PENDING and removed(done) == sorted([*LEFT, "/etc/kubernetes/in-tree-cloud.config"]), done.stdout + done.stderr
    converge(node)
    assert not any((node.root / path[1:]).exists() for path in LEFT)
    assert (node.root / "etc/kubernetes/manifests/kops-channels.manifest").is_file()
    # and on the way back
    node.config = node.before
    node.write()
    converge(node)
    assert all((node.root / path[1:]).is_file() for path in LEFT)


def test_a_diff_tells_what_goes_and_what_stays(node):
    done = diff(node, node.before, node.config)
    assert done.returncode == PENDING and removed(done) == sorted(LEFT), done.stdout + done.stderr
    stays = done.stdout.split("left as they are, though the documents no longer name them:\n")[1]
    assert "/etc/kubernetes/in-tree-cloud.config" in stays and "protokube" not in stays and "/opt/kops/bin/channels" not in stays, stays


def test_documents_that_bring_no_pod_leave_protokube(node):
    newer = {key: value for key, value in node.config.items() if key != "channelsManifest"}
    done = diff(node, node.before, newer)
    assert removed(done) == [] and "= unit protokube.service" in done.stdout, done.stdout + done.stderr


def test_protokube_of_kops_own_program_goes_too(node):
    for path in (VENDORS, *PROGRAMS):
        put(node, path, "of kops\n" * 10000)
    node.write()
    done = node.run("plan")
    assert removed(done) == sorted([VENDORS, *PROGRAMS]), done.stdout + done.stderr
    converge(node)
    assert not any((node.root / path[1:]).exists() for path in (VENDORS, *PROGRAMS))
