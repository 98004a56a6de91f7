"""A reboot in the middle of a download: the node goes on with the bytes that arrived."""
import os
import re
import sys
import urllib.parse

import pytest

import labassets
import nodechecks
from lab import FAKE, Lab
from labhost import run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
SIZE, RATE, PORT = 3_000_000, 400_000, 8099
PATH = "/~ranges/~rate=%d/kubelet" % RATE


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module")
def node(lab):
    """Booted, its documents there, and nothing run; its kubelet comes slowly."""
    folder = os.path.join(lab.dir, "slow")
    labassets.build_kubelet(folder + "/kubelet")
    with open(folder + "/kubelet", "r+b") as f:
        assert f.seek(0, os.SEEK_END) < SIZE
        f.write(b"\0" + os.urandom(SIZE - f.tell() - 1))
    script = labassets.documents_only(labassets.seed_user_data("nodes", lab.assets))
    line = r"[0-9a-f]{40}@" + re.escape(labassets.URLS["kubelet"]) + r"(?=\s)"
    digest = labassets.sha1(folder + "/kubelet")
    script, n = re.subn(line, "%s@http://127.0.0.1:%d%s" % (digest, PORT, PATH), script)
    assert n == 1
    node = lab.boot("rebooted", "nodes", script)
    node.kubelet = digest
    node.serve("slow", sys.executable, FAKE + "/origin.py", "--dir", folder, "--port", str(PORT))
    node.wait_cloud_init(120)
    return node


def ask(node, what):
    url = "http://127.0.0.1:%d/__%s?path=%s" % (PORT, what, urllib.parse.quote(PATH))
    return run("ip", "netns", "exec", node.netns, "curl", "-sS", url)


def arrived(node):
    """Bytes of the kubelet on the node's disk, whether it runs or not."""
    path = os.path.join(node.path("upper"), "var/cache/nodeup/partial/sha1-" + node.kubelet)
    return os.path.getsize(path) if os.path.exists(path) else 0


def test_goes_on_where_it_was(node):
    node.exec("bash", "-c", "%s --install-systemd-unit %s" % (nodechecks.NODEUP, nodechecks.CONF), check=True)
    node.wait(lambda: arrived(node) > SIZE // 4, 120, "a part of kubelet")
    # as Node.reboot, with a look at the disk while nobody is there
    node.exec("systemctl", "reboot", "--no-block")
    node.machine.wait(60)
    have = arrived(node)
    assert SIZE // 4 < have < SIZE, "it was not in the middle"
    node.start_machine()
    nodechecks.wait_kubelet(node, nodechecks.OURS, seconds=180)
    found = re.search(r"^range: bytes=(\d+)-\d*$", ask(node, "headers"), re.M)
    assert found and int(found[1]) == have, "not what was missing was asked for"
    assert ask(node, "count").strip() == "2"
    nodechecks.wait_finished(node, 120)
    assert node.sh("stat -c %s /usr/local/bin/kubelet").strip() == str(SIZE)
    assert arrived(node) == 0
