"""A control plane of today's kops on a booted machine: real systemd, containerd and runc; its state store in S3's stand-in, which checks
signatures of the node's role; of kubelet, what starts pods is a stand-in as well."""
import json
import os
import re
import time

import pytest

import damages
import disknode
import kopsmaster
import kopsnode
import nodechecks
from lab import Lab

LIES = [("all of it", "apply"), ("another configuration", "repair")]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
MANIFESTS = "/etc/kubernetes/manifests"
SRV = "/srv/kubernetes"
# source: LOADER_CLOCK_PATIENCE_NS
PATIENCE = 600
ISSUED = {
    f"{SRV}/kube-apiserver/server.crt": ("kubernetes-ca", "sslserver", "kubernetes-master"),
    f"{SRV}/kube-apiserver/etcd-client.crt": ("etcd-clients-ca", "sslclient", "kube-apiserver"),
    f"{SRV}/kube-apiserver/apiserver-aggregator.crt": ("apiserver-aggregator-ca", "sslclient", "aggregator"),
    f"{SRV}/kube-scheduler/server.crt": ("kubernetes-ca", "sslserver", "kube-scheduler"),
    "/etc/kubernetes/kops-controller/kops-controller.crt": ("kubernetes-ca", "sslserver", "kops-controller"),
    "/var/lib/kube-controller-manager/kubeconfig": ("kubernetes-ca", "sslclient", "system:kube-controller-manager"),
    "/var/lib/kops/kubeconfig": ("kubernetes-ca", "sslclient", "kops"),
}


@pytest.fixture(scope="module")
def master():
    """Its first run is over."""
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with disknode.Loops() as loops, Lab() as lab:  # nodes end before their disk
        m = kopsmaster.Machine(lab, "master", runtime, disk=loops.add(), **damages.KOPS)
        m.preload_all()
        m.controller()
        m.first = m.apply()
        yield m


def test_a_control_plane(master):
    m = master
    assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", m.first
    assert set(m.node.sh(f"ls {MANIFESTS}").split()) == {f"{name}.manifest" for name in kopsmaster.PODS}
    for path, (ca, purpose, name) in ISSUED.items():
        assert kopsmaster.verify(m, path, ca, purpose).strip().endswith(f"CN = {name}"), path
    asked = re.findall(r'"(\w+) (\S+) HTTP/1.1" (\d+)', m.node.s3_log())
    assert {line.split()[0] for line in m.node.s3_log().splitlines()} == {"jdurbin-kops.s3.dualstack.us-west-2.amazonaws.com"}, m.node.s3_log()
    assert {method for method, _, _ in asked} == {"GET"} and not [path for _, path, _ in asked if path.endswith("/") or "?" in path], asked
    assert "403" not in {status for _, _, status in asked}, asked
    node, before = damages.Damaged(m.node, m.nodeup, kopsnode.CONF), m.pids()
    assert not node.again() and m.pids() == before


def test_its_static_pods_run(master):
    m = master
    assert m.start_pods() == sorted((image, "running") for images in kopsmaster.PODS.values() for image in images)
    said = m.node.sh("cat /var/log/kube-apiserver.log")
    assert said.startswith("/go-runner --log-file=/var/log/kube-apiserver.log --also-stdout /usr/local/bin/kube-apiserver "), said


def test_another_field_changes_what_reads_it(master):
    m = master
    node, before = damages.Damaged(m.node, m.nodeup, kopsnode.CONF), m.pids()
    m.worker.config["ControlPlaneConfig"]["KubeScheduler"]["logLevel"] = 4
    m.controller()
    planned = json.loads(m.nodeup("plan", "-o", "json").stdout)
    done = m.apply()
    now, changed = node.look(), f"{MANIFESTS}/kube-scheduler.manifest"
    assert [(task["name"], task["why"]) for task in planned["tasks"] if task["state"] != "right"] == [(changed, "content differs")]
    assert "restarts" not in planned and [path for path in {*node.right, *now} - {kopsnode.CONF} if node.right.get(path) != now.get(path)] == [changed], done
    assert m.pids() == before and "--v=4" in m.node.sh(f"cat {changed}")


def test_a_field_of_kubelet_starts_kubelet_again_and_nothing_else(master):
    m = master
    containers, before = m.tasks(), m.pids()
    m.worker.config["KubeletConfig"]["maxPods"] = 77
    m.controller()
    planned = json.loads(m.nodeup("plan", "-o", "json").stdout)
    done = m.apply()
    after = m.pids()
    assert {task["name"] for task in planned["tasks"] if task["state"] != "right"} == {"/var/lib/kubelet/kubelet.conf", "kubelet.service"}, planned
    assert planned["restarts"] == ["kubelet.service"], planned
    assert after[0] == before[0] and after[1]["MainPID"] != before[1]["MainPID"] and m.node.healthz() == "ok", done
    assert containers and m.tasks() == containers


def test_status_says_which_certificate_ends_first(master):
    m = master
    said = json.loads(m.nodeup("status", "-o", "json").stdout)["run"]
    ends = {path: kopsmaster.end(m, path) for path in ISSUED}
    assert abs(int(said["expiresUnix"]) - min(ends.values())) < 60 and said["expiring"], (said, ends)
    # source: kops' 455 days, and up to 30 more by the addresses
    assert 454 <= (int(said["expiresUnix"]) - time.time()) / 86400 <= 486


def test_a_frozen_containerd_is_named_and_left_alone_when_it_answers_again(master):
    """Its pods run on; no program of theirs listens, and they are young."""
    m = master
    nodechecks.settle(m.node, "containerd.service")
    said = json.loads(m.nodeup("status", "-o", "json").stdout)
    assert (said["state"], said["pods"]) == ("ready", "starting: kube-apiserver of pod kube-apiserver"), said
    before, silence = m.pids(), "active, but it does not answer: /run/containerd/containerd.sock says nothing for 1.0 s"
    began, pid = time.monotonic(), before[0]["MainPID"]
    m.node.sh(f"kill -STOP {pid}")
    try:
        done = m.nodeup("status")
        assert done.returncode == 2 and f"  why       unit containerd.service: {silence}; nodeup repair\n" in done.stdout, done
        done = m.nodeup("plan")
        assert done.returncode == 2 and f"~ unit containerd.service: {silence}; nodeup repair restarts it\n" in done.stdout, done
        assert re.search("^restarts: .*containerd.service.*; pods stay$", done.stdout, re.M), done
        done = m.nodeup("why", "containerd.service")
        assert done.returncode == 2 and f"is         differs: {silence}" in done.stdout, done
        assert time.monotonic() - began < 25, "none waits for long"
        m.node.sh(f"(sleep 6; kill -CONT {pid}) >/dev/null 2>&1 &")
        done = m.nodeup("repair", "--deadline=150s")
        assert done.returncode == 0 and "changed unit" not in done.stderr and m.pids() == before, done
    finally:
        m.node.sh(f"kill -CONT {pid}")


@pytest.mark.long
def test_what_is_damaged_is_undone(master):
    node = damages.Damaged(master.node, master.nodeup, kopsnode.CONF)
    for (how, command), rows in zip(LIES, damages.batches(node.rows, len(LIES))):
        master.lie(how)
        node.check(rows, command)


@pytest.mark.parametrize("is_down", [False, pytest.param(True, marks=pytest.mark.long)])
def test_it_comes_back_with_what_it_kept(master, is_down):
    """Its store has another configuration; or it is down, and is waited for, a minute each time."""
    m = master
    if is_down:
        m.no_store()
    m.lie("another configuration")
    m.node.reboot()
    m.node.wait_booted(120)
    m.node.sh("systemd-run --unit=assets python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets")
    done = m.apply()
    assert "documents kept" in done and " changed file" not in done and m.node.healthz() == "ok", done
    assert json.loads(m.nodeup("status", "-o", "json").stdout)["state"] == "degraded"


# a CA whose dates the stand-in of kubelet does not look at
CA = "apiserver-aggregator-ca"
CLOCK = f"this machine's clock says 20.*, and the CA {CA} is valid from 2070-01-01 00:00:00 to 2080-01-01 00:00:00"


def live_later(m):
    """The clock is before the life of a CA from now on."""
    m.worker.redate(CA, "20700101000000Z", "20800101000000Z")
    m.controller()


def lose_a_pair(m):
    """What that CA signs is nowhere any more."""
    m.node.sh(f"rm -rf {SRV}/kube-apiserver/apiserver-aggregator.* /var/lib/nodeup/documents.json /var/lib/nodeup/kept")


def test_a_clock_before_the_life_of_a_ca_starts_kubelet_all_the_same(master):
    """With what is there; what is missing waits for the clock, and kubelet goes on."""
    m = master
    before = {path: kopsmaster.certificate(m, path).read_text() for path in ISSUED}
    live_later(m)
    m.node.sh("systemctl stop kubelet")
    done = m.apply()
    assert re.search(CLOCK + ": its certificates stay", done) and m.node.healthz() == "ok", done
    assert {path: kopsmaster.certificate(m, path).read_text() for path in ISSUED} == before, done
    runs = m.pids()
    lose_a_pair(m)
    done = m.nodeup("apply", f"--conf={kopsnode.CONF}", "--deadline=5s")
    assert done.returncode == 75 and re.search(rf"FAILED {CLOCK} \(75\)", done.stderr) and m.pids() == runs, done


@pytest.mark.long
def test_a_boot_waits_ten_minutes_for_the_clock(master):
    """Then what the last run started is started, and the unit tries again: a right clock is all that it needs."""
    m = master
    done = m.nodeup("--install-systemd-unit", f"--conf={kopsnode.CONF}")
    assert done.returncode == 0, done
    m.node.sh(f"systemctl stop {nodechecks.OURS}")
    live_later(m)
    lose_a_pair(m)
    m.node.reboot()
    m.node.wait(lambda: re.match(f"waiting for the clock: {CLOCK}", m.node.show(nodechecks.OURS, "StatusText").get("StatusText", "")), 120, "its wait")
    began = time.monotonic()
    m.node.sh("systemctl stop kubelet")
    m.node.wait(lambda: m.node.healthz() == "ok", PATIENCE + 60, "kubelet", pause=1)
    assert time.monotonic() - began > PATIENCE - 60
    m.node.wait_active(nodechecks.OURS, 60)
    assert re.match(f"failed, next run in .*: {CLOCK}", m.node.show(nodechecks.OURS, "StatusText")["StatusText"])
    told = m.nodeup("status")
    assert told.returncode == 2 and told.stdout.startswith("degraded ") and re.search(rf"^FAILED {CLOCK} \(75\)$", told.stdout, re.M), told
    assert "\n  next run  " in told.stdout and re.search(r"^  started   .*\bkubelet\.service.*: as the last run", told.stdout, re.M), told
    runs = m.pids()
    m.worker.redate(CA, "20200101000000Z", "20800101000000Z")
    m.controller()
    nodechecks.wait_finished(m.node, 120)
    assert m.nodeup("status").returncode == 0 and m.pids() == runs
    assert kopsmaster.verify(m, f"{SRV}/kube-apiserver/apiserver-aggregator.crt", CA, "sslclient").strip().endswith("CN = aggregator")
