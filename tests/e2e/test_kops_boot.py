"""A worker of today's kops on a booted machine: real systemd, real containerd, runc and CNI plugins of the newest Debian suite, with the
configuration that we write; kops-controller, its registry and what of kubelet starts pods are stand-ins."""
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import tarfile
import time

import pytest

import damages
import disknode
import kopsnode
import nodechecks
import podimages
import refused
from lab import Lab

# What its controller answers, and what heals it.
LIES = [(409, "apply"), ("not-json", "repair")]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
PROXY, PAUSE = "registry.k8s.io/kube-proxy:v1.36.1", "registry.k8s.io/pause:3.10.1"
NETWORK = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "subnet": "100.96.1.0/24"}}]}
DOCUMENTS = {
    "Hooks": [None, [{"name": "told", "execContainer": {"image": f"{kopsnode.REGISTRY}/hook:1", "command": ["/hook", "ran"]}}]],
    "FileAssets": [{"name": "network", "path": "/etc/cni/net.d/10-pods.conflist", "content": json.dumps(NETWORK)}],
}
POD = """apiVersion: v1
kind: Pod
metadata: {name: own, namespace: default}
spec:
  containers:
  - {name: own, image: registry.example/tools/b:1, command: [/b, stays]}
"""


@pytest.fixture(scope="module")
def disk():
    with disknode.Loops() as loops:
        yield loops.add()


@pytest.fixture(scope="module")
def lab(disk):  # nodes end before their disk
    with Lab() as made:
        yield made


@pytest.fixture(scope="module")
def runtime():
    return kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")


@pytest.fixture(scope="module")
def worker(lab, runtime):
    """Its first run is over."""
    m = kopsnode.Machine(lab, "worker", runtime, KeyOfTomorrow=1, EnableLifecycleHook=True, **DOCUMENTS)
    m.serve_outside()
    m.put("etc/nodeup/nodeup.d/50-keys.yaml", b"acceptKeys: [KeyOfTomorrow]\n")
    program, packed = kopsnode.PROGRAM.read_bytes(), podimages.packed
    m.worker.config["containerdConfig"]["registryMirrors"] = {"registry.example": [f"https://{kopsnode.REGISTRY}"]}
    m.preload(**{"proxy.tar.gz": packed(podimages.docker(PROXY, program, "/go-runner"), "gzip"),
                 "pause.tar.zst": packed(podimages.oci(PAUSE, program, "/pause"), "zstd"),
                 "a.tar.gz": packed(podimages.oci("registry.example/tools/a:1", program, "/a"), "gzip"),
                 "b.tar.zst": packed(podimages.docker("registry.example/tools/b:1", program, "/b"), "zstd"),
                 "c.tar": podimages.docker("registry.example/tools/c:1", program, "/c")})
    m.registry_log = m.registry(hook="/hook", mirrored="/mirrored")
    m.controller()
    m.first = m.apply()
    return m


def test_a_worker(worker):
    m = worker
    assert m.worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"], m.first
    assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", m.first
    assert kopsnode.read(m, "/var/lib/kubelet/kubelet.conf")["providerID"] == f"aws:///us-west-2a/{m.instance}"
    # the tree's own package brought one, which systemd had read and started at boot
    assert m.node.show("containerd.service", "FragmentPath") == {"FragmentPath": "/etc/systemd/system/containerd.service"}
    assert m.node.sh("ctr version").count("Version:  2.1.9") == 2, "it is the server that answers"
    said = json.loads(m.nodeup("status", "-o", "json").stdout)
    assert said["state"] == "ready" and said["run"]["expiring"] in ("kube-proxy", "kubelet", "kubelet-server"), said
    assert said["run"]["acceptedKeys"] == ["KeyOfTomorrow"]
    assert 399 < (int(said["run"]["expiresUnix"]) - time.time()) / 86400 < 401
    before = m.pids()
    again = m.apply()
    assert " changed" not in again and m.pids() == before, again


def test_a_report_has_the_journal_and_no_secret_of_it(worker):
    m = worker
    m.node.sh("systemd-cat -t nodeup echo it is told; systemd-cat -t nodeup echo 'sent token=canary-of-the-journal'; journalctl --sync")
    done = m.nodeup("collect-logs", "--output=/root/report.tar.zst")
    assert done.returncode == 0, done
    packed = base64.b64decode(m.node.sh("base64 /root/report.tar.zst; rm /root/report.tar.zst"))
    plain = subprocess.run(["zstd", "-dc"], input=packed, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as report:
        texts = {member.name: report.extractfile(member).read().decode() for member in report}
    assert "canary" not in plain.decode(errors="replace") and "PRIVATE KEY" not in plain.decode(errors="replace")
    ours = texts["journal/kops-configuration.service.txt"]
    assert re.search(r"(?m)^20\d\d-\d\d-\d\d [\d:]+ it is told$", ours) and re.search(r"(?m)^[-\d]+ [\d:]+ <not shown: 32 bytes>$", ours), ours
    assert " systemd: Started kubelet.service" in texts["journal/kubelet.service.txt"], texts["journal/kubelet.service.txt"]
    assert "registry.example/tools/c:1" in texts["journal/containerd.service.txt"], texts["journal/containerd.service.txt"]
    key = m.node.sh("grep -rhoE '[A-Za-z0-9+/]{64}' /etc/kubernetes /var/lib/kubelet /srv 2>/dev/null").split()
    assert key and not [line for line in key if line in plain.decode(errors="replace")]


def test_the_group_is_told_when_all_is_done(worker):
    told = [json.loads(line) for line in (worker.worker.folder / "autoscaling.log").read_text().splitlines()]
    assert [t["Action"] for t in told[:2]] == ["DescribeLifecycleHooks", "CompleteLifecycleAction"], told
    assert told[1]["LifecycleHookName"] == "kops-warmpool" and told[1]["InstanceId"] == worker.instance and told[1]["LifecycleActionResult"] == "CONTINUE"
    done = [line.split("changed ")[1] for line in worker.first.splitlines() if " changed " in line]
    hook, kubelet = (next(i for i, what in enumerate(done) if what.startswith(name)) for name in ("lifecycle hook kops-warmpool", "unit kubelet.service"))
    assert hook > kubelet, done


def test_services_hear_of_the_first_success_and_the_tag_of_a_later_failure(worker):
    m = worker
    assert m.told_outside("autoscaling") == ["CONTINUE"] * 2 and m.told_outside("cloudformation") == ["SUCCESS"], m.first
    before = m.pids()
    m.refuse()
    m.apply()
    assert m.told_outside("ec2") == ["ready", "failed", "ready"] and m.pids() == before
    assert m.told_outside("autoscaling") == ["CONTINUE"] * 2 and m.told_outside("cloudformation") == ["SUCCESS"]


def test_images_are_there_before_kubelet_starts(worker):
    m = worker
    done = [line.split("changed ")[1] for line in m.first.splitlines() if " changed " in line]
    kubelet = next(i for i, what in enumerate(done) if what.startswith("unit kubelet.service"))
    for name in ("proxy.tar.gz", "pause.tar.zst", "a.tar.gz", "b.tar.zst", "c.tar"):
        assert any(what.startswith(f"image {name}:") for what in done[:kubelet]), (name, m.first)
    there = {words[0]: words[-1] for words in map(str.split, m.node.sh("ctr -n k8s.io images ls").splitlines())}
    assert {PROXY, PAUSE, *(f"registry.example/tools/{n}:1" for n in "abc")} <= set(there)
    assert "io.cri-containerd.pinned=pinned" in there[PAUSE], "kubelet would remove it when the disk is full"


def test_the_static_pod_of_the_documents_starts(worker):
    m = worker
    m.start_pod("/etc/kubernetes/manifests/kube-proxy.manifest")
    assert json.loads(m.cri("list")) == [{"name": "kube-proxy", "state": "running", "image": PROXY}]
    said = m.node.sh("cat /var/log/kube-proxy.log")
    assert said.startswith("/go-runner --log-file=/var/log/kube-proxy.log --also-stdout /usr/local/bin/kube-proxy ")
    assert f"--hostname-override={m.instance}" in said and said.strip() in m.node.sh("cat /var/log/pods/kube-system_kube-proxy-node_*/kube-proxy/0.log")
    before = m.tasks()
    for process in before.values():
        assert len(set(m.node.sh(f"readlink /proc/1/ns/net /proc/{process}/ns/net").split())) == 1, "it has the host's network"
    m.node.sh("systemctl restart containerd")
    assert m.tasks() == before, "pods outlive containerd"


def test_a_pod_gets_its_address_by_the_plugins(worker):
    m = worker
    m.put("root/own.yaml", POD.encode())
    started = m.start_pod("/root/own.yaml")
    assert started["address"] == "100.96.1.2", started
    assert "100.96.1.2" in m.node.sh("ip route")


def test_a_hook_ran_in_a_container(worker):
    m = worker
    assert "\n/hook ran\n" in m.node.sh("journalctl -o cat --no-pager -u told.service")
    assert "hook 1 \n" in m.registry_log.read_text()


def test_pulls_go_to_the_mirrors_of_the_documents(worker):
    m = worker
    m.cri("pull", "registry.example/mirrored:1")
    m.node.sh("ctr -n k8s.io images pull --hosts-dir /etc/containerd/certs.d registry.example/mirrored:2")
    for tag in "12":
        assert f"mirrored {tag} ns=registry.example\n" in m.registry_log.read_text()


def test_a_ready_node_is_repaired_and_comes_back(worker):
    m = worker
    # it is Ready: the controller gives nothing more, and what is damaged is repaired all the same
    m.controller(faults=[409] * 100)
    before = m.pids()
    m.node.sh("rm /etc/kubernetes/manifests/kube-proxy.manifest; echo >>/etc/sysctl.d/99-k8s-general.conf; chmod 777 /opt/cni/bin/bridge")
    done = m.apply()
    assert "documents kept" in done and m.pids() == before, done
    assert m.node.sh("stat -c %a /opt/cni/bin/bridge /etc/kubernetes/manifests/kube-proxy.manifest").split() == ["755", "644"]

    # what kubelet remembers is its own while it runs, and of another policy in the way of its next start
    state = "/var/lib/kubelet/cpu_manager_state"
    m.node.sh(f"echo '{{\"policyName\": \"static\"}}' >{state}")
    done = m.apply()
    assert m.pids() == before and m.node.sh(f"ls {state}*").split() == [state], done
    m.node.sh("echo >>/var/lib/kubelet/kubelet.conf")
    done = m.apply()
    assert f"{state} is of policy static, and kubelet has none: it is put aside" in done and m.node.healthz() == "ok", done
    assert m.node.sh(f"ls {state}*").split() == [state + ".old"]

    m.node.reboot()
    m.node.wait_booted(120)
    m.node.sh("systemd-run --unit=assets python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets")
    done = m.apply()
    assert "documents kept" in done and m.node.healthz() == "ok", done


NO_PODS, ACCEPTED = "KubeletConfig.maxPods: expected an integer of 0 or more", "/etc/nodeup/nodeup.d/50-values.yaml"


@contextlib.contextmanager
def newly_refused(m):
    """What a nodeup took before it knew what kubelet takes."""
    m.worker.config["KubeletConfig"]["maxPods"] = -1
    m.controller()
    yield
    del m.worker.config["KubeletConfig"]["maxPods"]
    m.controller()


@pytest.mark.long
def test_a_refused_boot_leaves_its_services_started(worker):
    """Also the hook that nothing but a run starts; and by what an older nodeup left."""
    m = worker
    m.node.sh("rm /etc/nodeup/nodeup.d/50-signals.yaml")
    m.worker.config["Hooks"][1].append({"name": "stays", "manifest": "ExecStart=/bin/sleep infinity\n"})
    m.controller(faults=[])
    done = m.nodeup("--install-systemd-unit", f"--conf={kopsnode.CONF}", "--wait=150s")
    assert done.returncode == 0, done
    command = ["env", *m.environ, "/opt/kops/bin/nodeup"]
    units = ["containerd.service", "kubelet.service", "stays.service"]
    with refused.Refused(m.node, command, units, lambda: refused.bad_document(m.node, kopsnode.CONF)) as r:
        r.by_hand()
        r.boot_and_work()
    m.serve()
    r.mended()
    with refused.Refused(m.node, command, units, lambda: newly_refused(m)) as r:
        m.node.sh("rm " + refused.RECORDS)
        r.boot_and_work(NO_PODS)
    m.serve()
    r.mended()
    with newly_refused(m):
        m.node.sh(f"mkdir -p {ACCEPTED.rpartition('/')[0]}; echo 'accept: [KubeletConfig.maxPods]' >{ACCEPTED}")
        assert m.nodeup(f"--conf={kopsnode.CONF}", "--wait=60s").returncode == 0
        m.node.sh("rm " + ACCEPTED)
        before = m.pids()
        assert f"{NO_PODS}, found '-1'; it goes on" in m.apply() and m.pids() == before, "documents that ran are not refused"
        assert f"{NO_PODS}, found '-1'; it goes on" in m.node.exec(*command, "status").stdout


@pytest.fixture(scope="module")
def plain(lab, runtime, disk):
    """One whose documents have no images, and whose first run is over."""
    m = kopsnode.Machine(lab, "plain", runtime, disk=disk, addresses=["172.20.32.20"], **damages.KOPS)
    m.serve_outside()
    m.first = m.refuse()
    m.apply()
    return m


def test_services_hear_of_a_first_boot_that_fails(plain):
    m = plain
    assert m.told_outside("autoscaling") == ["ABANDON", "Unhealthy", "CONTINUE"] and m.told_outside("cloudformation") == ["FAILURE", "SUCCESS"], m.first
    assert m.told_outside("ec2") == ["failed", "ready"]


def test_what_is_damaged_on_a_ready_node_is_undone(plain):
    m = plain
    nodechecks.check_lost_units(m.node, m.apply)
    node = damages.Damaged(m.node, m.nodeup, kopsnode.CONF)
    for (how, command), rows in zip(LIES, damages.batches(node.rows, len(LIES))):
        m.lie(how)
        node.check(rows, command)
    assert m.nodeup("status").returncode == 2, "it is told that documents of another day are used"
    before = m.pids()
    done = m.apply("--offline")
    assert " changed" not in done and m.pids() == before, "what only instance metadata tells is another thing without it: " + done


def test_an_empty_answer_is_none(plain):
    m = plain
    m.lie({"nodeupConfig": ""})
    before = m.pids()
    m.node.sh("rm /etc/kubernetes/manifests/kube-proxy.manifest")
    done, said = m.apply(), m.nodeup("status")
    assert "documents kept" in done and m.pids() == before, done
    assert said.returncode == 2 and "nodeupconfig.yaml: the document is empty" in said.stdout, said.stdout


def test_a_node_of_kops_is_adopted(plain):
    m = plain
    m.lie(409)
    m.node.sh("rm -r /var/lib/nodeup /run/nodeup; mv /etc/systemd/system/kubelet.service /etc/systemd/system/containerd.service /lib/systemd/system;"
              "systemctl daemon-reload; systemctl stop kubelet")
    done = m.apply()
    assert "adopted as it is" in done and m.node.healthz() == "ok", done
    assert m.nodeup("status").returncode == 2
