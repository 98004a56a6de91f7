"""The static pod of a worker of today's kops where a pod gets all that it asks for: cgroups of version 2 with their controllers, and every
capability.  e2e/test_kops_boot.py has the same node in a container, whose runc leaves them out."""
import json
import shlex

import pytest

import kopsnode
import kopsvm

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def vm(tmp_path_factory):
    if not kopsnode.newest():
        pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with kopsvm.worker(tmp_path_factory.mktemp("documents")) as made:
        yield made


def test_a_privileged_pod_has_its_cgroup_and_every_capability(vm):
    kopsvm.apply(vm)
    vm.exec("python3", "/opt/fake/cri.py", "/run/containerd/containerd.sock", "start", "/etc/kubernetes/manifests/kube-proxy.manifest", check=True)
    tasks = [line.split() for line in vm.sh("ctr -n k8s.io task ls").splitlines()[1:]]
    assert len(tasks) == 2 and {state for _, _, state in tasks} == {"RUNNING"}, tasks
    proxy = vm.sh("pgrep -x go-runner")
    group = vm.sh(f"cut -d: -f3 /proc/{proxy}/cgroup")
    assert group.startswith("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod") and group.endswith(".scope"), group
    assert set(vm.sh(f"cat /sys/fs/cgroup{shlex.quote(group)}/cgroup.controllers").split()) >= {"cpu", "memory", "pids"}
    assert vm.sh(f"sed -n 's/^CapEff:\t//p' /proc/{proxy}/status") == vm.sh("sed -n 's/^CapEff:\t//p' /proc/1/status")
    assert vm.sh("cat /var/log/kube-proxy.log").startswith("/go-runner --log-file=/var/log/kube-proxy.log --also-stdout ")
    assert [c["state"] for c in json.loads(vm.sh("python3 /opt/fake/cri.py /run/containerd/containerd.sock list"))] == ["running"]
