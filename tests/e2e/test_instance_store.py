"""The setting instanceStorePolicy on a node that has pods already: it keeps its directories, is degraded by its own unit, and
is refused by hand. EC2 promises a disk of the instance store; a container has none to look at."""
import os

import pytest

import labassets
import nodechecks
from lab import Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
FILE = "/etc/nodeup/nodeup.d/disks.yaml"
PODS = "/var/lib/kubelet/pods"
WHY = "instanceStorePolicy: %s, so the instance store is not used: replace the node"


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("store", "nodes", labassets.seed_user_data("nodes", lab.assets),
                        more_facts={"block-device-mapping/ami": "/dev/xvda", "block-device-mapping/ephemeral0": "sdb"})
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        node.sh("mkdir -p %s /etc/nodeup/nodeup.d && echo 'instanceStorePolicy: RAID0' >%s" % (os.path.dirname(FILE), FILE))
        yield node


def run_of_unit(node):
    node.sh("systemctl restart " + nodechecks.OURS)
    nodechecks.wait_finished(node)
    done = node.exec(nodechecks.NODEUP, "status")
    return done.returncode, done.stdout


def untouched(node):
    return node.sh("ls /etc/systemd/system/*.mount /etc/systemd/system/*.d/20-nodeup-volumes.conf /var/lib/nodeup/volumes 2>/dev/null; "
                   "systemctl show -P MainPID -P ActiveEnterTimestampMonotonic kubelet docker")


def test_a_node_with_pods_goes_on_and_is_degraded(node):
    node.sh("mkdir -p %s/6f1" % PODS)
    before = untouched(node)
    status, said = run_of_unit(node)
    assert status == 2 and said.startswith("degraded since "), said
    # docker's directory or kubelet's, whichever is looked at first
    assert "so the instance store is not used: replace the node" in said and "there are pods: /var/lib/" in said, said
    assert untouched(node) == before and ".mount" not in before


def test_by_hand_it_is_refused_before_anything_is_changed(node):
    before = untouched(node)
    done = node.exec(nodechecks.NODEUP, nodechecks.CONF)
    assert done.returncode == 78, done
    assert "%s:1:22: instanceStorePolicy: there are pods: /var/lib/" % FILE in done.stderr, done.stderr
    assert untouched(node) == before


def test_those_who_look_are_told_and_the_guard_sees_no_drift(node):
    before = untouched(node)
    for command in ("check",), ("why", "kubelet.service"):
        done = node.exec(nodechecks.NODEUP, *command)
        assert done.returncode == 0 and "so the instance store is not used: apply is refused" in done.stderr, done
    nodechecks.age(node)
    done = node.exec(nodechecks.NODEUP, "guard")
    assert done.returncode == 0 and "nothing is looked at" not in done.stdout, done
    assert untouched(node) == before


@pytest.mark.long
def test_a_later_boot_without_pods_does_not_make_it_either(node):
    node.sh("rm -r %s; systemctl stop docker; rm -rf /var/lib/docker/containers/*; systemctl start docker" % PODS)
    status, said = run_of_unit(node)
    assert status == 2 and WHY % "this is not the instance's first boot" in said, said
    assert ".mount" not in untouched(node)


def test_without_the_setting_the_node_is_ready(node):
    node.sh("rm " + FILE)
    status, said = run_of_unit(node)
    assert status == 0 and said.startswith("ready"), said
