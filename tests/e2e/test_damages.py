"""Ten damages to a node that runs: what `nodeup status` and `nodeup why` say is enough to know each, and repair undoes it."""
import os

import pytest

import labassets
import nodechecks
from lab import Lab
from nodechecks import CONF

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")

SETTINGS = "/etc/sysconfig/kubelet"
UNIT = "/etc/systemd/system/kubelet.service"
BINARY = "/usr/local/bin/kubelet"
DROPIN = UNIT + ".d/99-x.conf"


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("damages", "nodes", labassets.our_user_data(
            os.path.join(lab.dir, "conf-damages"), "nodes", lab.assets))
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        yield node


def nodeup(node, *argv, timeout=240):
    done = node.exec("timeout", str(timeout), "nodeup", *argv)
    return done.returncode, done.stdout + done.stderr


def wants(output, *texts):
    for text in texts:
        assert text in output, f"'{text}' is not in:\n{output}"


def repaired(node):
    status, output = nodeup(node, "repair", CONF)
    assert status == 0, output
    assert nodeup(node, "plan", CONF)[0] == 0 and nodeup(node, "status")[0] == 0
    assert node.healthz() == "ok"
    return output


# Seen without a run: what is asked about, what `why` says of it, and of what depends on it.
SEEN = {
    "a unit was edited": (f"sed -i s/Restart=always/Restart=no/ {UNIT}", UNIT,
                          ["is         differs: content differs: ", "restarts   kubelet.service"]),
    "a unit was masked": (f"systemctl stop kubelet; rm {UNIT}; systemctl mask kubelet", "kubelet.service",
                          [f"is         differs: masked; {UNIT} takes the place of the mask", f"inputs     {DROPIN[:-9]}", BINARY]),
    "a program was swapped": (f"cp /bin/true {BINARY}.new && mv {BINARY}.new {BINARY}", BINARY,
                              ["is         differs: content differs", "digest     sha1:", "needed by  unit kubelet.service"]),
    "a program and the cache are gone": (f"rm -r {BINARY} /var/cache/nodeup/*", "kubelet",
                                         ["asset kubelet\n  is         differs: not in the cache", "asked by   /var/cache/kubernetes-install/kube_env.yaml:2:3",
                                          "from       https://", f"unit kubelet.service\n  is         differs: {BINARY} changes"]),
    "a secret can be read by all": ("chmod 644 /var/lib/kubelet/kubeconfig", "/var/lib/kubelet/kubeconfig",
                                    ["is         differs: mode 0644, want 0400"]),
    "a flag is gone": (f"sed -i 's/--v=[0-9]*//' {SETTINGS}", SETTINGS,
                       ["is         differs: content differs: ", "needed by  unit kubelet.service", "by kops-configuration.service: absent"]),
    "kubelet was stopped": ("systemctl stop kubelet", "kubelet.service", ["is         differs: inactive (dead)"]),
}


@pytest.mark.parametrize("damage", SEEN)
def test_why_says_what_differs(node, damage):
    command, word, said = SEEN[damage]
    node.sh(command)
    status, output = nodeup(node, "why", word)
    assert status == 2, output
    wants(output, *said)
    status, plan = nodeup(node, "plan", CONF)
    assert status == 2 and "to change" in plan, plan
    if "systemctl stop" in command:
        status, output = nodeup(node, "status")
        assert status == 2 and output.startswith("degraded since "), output
        wants(output, "\n  why       unit kubelet.service: inactive (dead); nodeup plan, then nodeup repair\n")
    repaired(node)


# A run failed of it: what the status says, and what has to be done before a repair can undo it.
FAILED = {
    "a directory in the place of a file": (
        f"rm {SETTINGS}; mkdir -p {SETTINGS}/x", f"rm -r {SETTINGS}", SETTINGS, "is         differs: a directory, not a regular file",
        [f"FAILED file {SETTINGS}: '{SETTINGS}' is in the way: a directory", "held      unit kubelet.service"]),
    "a file that is a mount point": (
        f"sed -i 's/--v=[0-9]*//' {SETTINGS}; mount --bind {SETTINGS} {SETTINGS}", f"umount {SETTINGS}", SETTINGS,
        "is         differs: content differs", [f"FAILED file {SETTINGS}: rename into '{SETTINGS}': ", f"do        umount {SETTINGS}: it is a mount point"]),
    "a drop-in of others that breaks a unit": (
        f"mkdir -p {UNIT}.d; printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' >{DROPIN}; systemctl daemon-reload; systemctl stop kubelet",
        f"rm {DROPIN}; systemctl daemon-reload", "kubelet.service", "is         differs: ",
        ["FAILED unit kubelet.service does not stay up", f"drop-in   not of nodeup: {DROPIN}", "journal   kubelet.service: "]),
}


@pytest.mark.parametrize("damage", FAILED)
def test_status_says_what_failed_and_what_to_do(node, damage):
    command, undo, word, why, said = FAILED[damage]
    node.sh(command)
    try:
        status, output = nodeup(node, "apply", CONF)
        assert status == 71, output
        status, output = nodeup(node, "status")
        assert status == 1, output
        wants(output, *said, "\n  do        ")
        status, output = nodeup(node, "why", word)
        assert status == 2, output
        wants(output, why)
    finally:
        node.sh(undo)
    repaired(node)


def test_there_are_ten():
    assert len(SEEN) + len(FAILED) == 10
