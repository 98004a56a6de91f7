"""Values and settings that kubelet and kube-proxy end on, as people wrote them: told with key, line and column."""
import json

import pytest

from kops import Worker
from test_kops_documents import NODEUP_CONFIG
from test_kops_versions import hashed
from test_kubeup_documents import validate, write
from world import CONFIG, OK

LINE = len(NODEUP_CONFIG.splitlines()) + 1
REFUSED = {
    "a sysctl with dashes and a value": (
        "KubeletConfig: {allowedUnsafeSysctls: ['--net.ipv4.tcp_keepalive_time=\"600\"']}", "'--net", "allowedUnsafeSysctls[0]", "expected a sysctl of pods"),
    "image collection from below its end": (
        "KubeletConfig: {imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 90}", "90", "imageGCLowThresholdPercent",
        "below imageGCHighThresholdPercent"),
    "no pods at all": ("KubeletConfig: {maxPods: -1}", "-1", "maxPods", "expected an integer of 0 or more, found '-1'"),
    "a policy that is none": ("KubeletConfig: {cpuManagerPolicy: statc}", "statc", "cpuManagerPolicy", "did you mean"),
    "static without a reservation": ("KubeletConfig: {cpuManagerPolicy: static}", "static", "cpuManagerPolicy", "expected cpu in kubeReserved"),
    "a threshold that waits for ever": (
        "KubeletConfig: {evictionSoft: 'memory.available<300Mi'}", "'memory", "evictionSoft", "expected a period of memory.available in evictionSoftGracePeriod"),
    "one file of logs": ("KubeletConfig: {containerLogMaxFiles: 1}", "1}", "containerLogMaxFiles", "expected an integer of 2 or more, found '1'"),
    "an unknown signal": ("KubeletConfig: {evictionHard: 'memory.free<100Mi'}", "'memory", "evictionHard", "memory.available, nodefs.available"),
    "a resource that is not reserved": ("KubeletConfig: {kubeReserved: {gpu: 1}}", "gpu", "kubeReserved.gpu", "cpu|memory|ephemeral-storage|pid"),
    "a level without its cgroup": (
        "KubeletConfig: {enforceNodeAllocatable: 'pods,system-reserved'}", "'pods", "enforceNodeAllocatable", "expected systemReservedCgroup"),
    "a period of half a second": ("KubeletConfig: {shutdownGracePeriod: 500ms}", "500ms", "shutdownGracePeriod", "0s, or a duration of 1s or more"),
    "critical pods that outlast all": (
        "KubeletConfig: {shutdownGracePeriod: 10s, shutdownGracePeriodCriticalPods: 20s}", "20s", "shutdownGracePeriodCriticalPods", "at most"),
    "a topology that is none": (
        "KubeletConfig: {topologyManagerPolicy: numa}", "numa}", "topologyManagerPolicy", "one of none|best-effort|restricted|single-numa-node"),
    "swap of an older kubelet": ("KubeletConfig: {memorySwapBehavior: UnlimitedSwap}", "Unl", "memorySwapBehavior", "one of NoSwap|LimitedSwap"),
    "a gate that is a list": ("KubeletConfig: {featureGates: {NodeSwap: [x]}}", "[x]", "featureGates.NodeSwap", "expected a string, found a list"),
    "a version of TLS that is none": ("KubeletConfig: {tlsMinVersion: TLS12}", "TLS12", "tlsMinVersion", "VersionTLS12"),
    "a mode that went": ("KubeProxy: {image: p, cpuRequest: 100m, proxyMode: userspace}", "userspace", "proxyMode", "one of iptables|ipvs|nftables"),
}


def findings(folder, text, *flags):
    config = f"{NODEUP_CONFIG}{text}\n"
    write(folder, config, "nodeupconfig.yaml")
    return json.loads(validate(write(folder, hashed(config)), "-o", "json", *flags).stdout)["findings"]


@pytest.mark.parametrize("text, at, key, says", REFUSED.values(), ids=REFUSED)
def test_each_is_refused_at_its_place(text, at, key, says, tmp_path):
    found = findings(tmp_path, text)
    section = text.split(":")[0]
    assert [(f["severity"], f["line"], f["column"]) for f in found] == [("error", LINE, text.rindex(at) + 1)], found
    assert found[0]["text"].startswith(f"{section}.{key}: ") and says in json.dumps(found[0]), found


def test_an_unknown_gate_is_a_warning_and_with_strict_an_error(tmp_path):
    text = "KubeletConfig: {featureGates: {NoSuchGate: 'true', NodeSwop: 'true', GracefulNodeShutdown: 'true'}}"
    for flags, severity in ((), "warning"), (("--strict",), "error"):
        found = findings(tmp_path, text, *flags)
        assert [(f["severity"], f["line"], f["column"]) for f in found] == [
            (severity, LINE, text.index(gate) + 1) for gate in ("NoSuchGate", "NodeSwop")], found
        assert "NodeSwap" in json.dumps(found[1]), found


def test_all_are_told_at_once_and_nothing_is_written(tmp_path):
    worker = Worker(tmp_path / "node")
    worker.config["KubeletConfig"] |= {"cpuManagerPolicy": "static", "containerLogMaxFiles": 1, "evictionSoft": "memory.available<300Mi"}
    with worker.controller():
        done = worker.apply()
        assert done.returncode == CONFIG, done.stderr
        for key in "cpuManagerPolicy", "containerLogMaxFiles", "evictionSoft":
            assert f"KubeletConfig.{key}: expected" in done.stderr, done.stderr
        assert not (worker.root / "var/lib/kubelet").exists()
        worker.config["KubeletConfig"] |= {"kubeReserved": {"cpu": "100m"}, "containerLogMaxFiles": 2,
                                           "evictionSoftGracePeriod": "memory.available=1m"}
        worker.write()
        assert worker.apply().returncode == OK
