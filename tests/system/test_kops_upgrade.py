"""A node of an older kops whose documents become those of a newer one."""
import copy

import pytest

from kops import ControlPlane
from older_kops import render
from world import OK, PENDING

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


def test_protokube_of_kops_own_program_goes_too(node):
    for path in (VENDORS, *PROGRAMS):
        put(node, path, "of kops\n" * 10000)
    node.write()
    done = node.run("plan")
    assert removed(done) == sorted([VENDORS, *PROGRAMS]), done.stdout + done.stderr
    converge(node)
    assert not any((node.root / path[1:]).exists() for path in (VENDORS, *PROGRAMS))
