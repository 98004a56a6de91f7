"""What others did to a node that runs: plan and repair name it or heal it, on a booted node with a real systemd."""
import json
import os
import re
import sys

import pytest

import labassets
import labhost
import nodechecks
from lab import Lab
from nodechecks import CONF

sys.path.insert(0, os.path.join(labhost.ROOT, "tests/system"))
from test_metrics import parse  # noqa: E402

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
DROPIN = "/etc/systemd/system/kubelet.service.d/99-x.conf"
POD = "/etc/kubernetes/manifests/stranger.yaml"
RULES = ["-A %s -p %s -j ACCEPT" % (chain, protocol) for chain in ("FORWARD",) for protocol in ("tcp", "udp", "icmp")]


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("drift", "nodes", labassets.our_user_data(
            os.path.join(lab.dir, "conf-drift"), "nodes", lab.assets))
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        nodechecks.check_stable(node)
        yield node


def run(node, command, *flags, timeout=240):
    status, _, output = nodechecks.timed_nodeup(node, command, CONF, *flags, timeout=timeout)
    return status, output


def main_pid(node):
    return node.show("kubelet.service", "MainPID")["MainPID"]


def named(output, path):
    """The one line that names a file of others."""
    lines = [line for line in output.splitlines() if path in line]
    assert len(lines) == 1, output
    return lines[0]


def test_nothing_foreign_is_named_on_a_node_that_is_right(node):
    for command in ("plan", "repair"):
        status, output = run(node, command)
        assert status == 0 and "foreign" not in output, output


@pytest.mark.parametrize("path", [
    "/etc/systemd/system/service.d/99-x.conf", "/etc/systemd/system.control/docker.service.d/50-MemoryHigh.conf"])
def test_a_harmless_drop_in_is_named_and_left(node, path):
    pid = main_pid(node)
    node.sh("mkdir -p %s && printf '[Service]\\nNice=0\\n' >%s && systemctl daemon-reload" % (os.path.dirname(path), path))
    try:
        for command in ("plan", "repair"):
            status, output = run(node, command)
            assert status == 0, output
            assert "foreign drop-in" in named(output, path) and "left alone" in named(output, path), output
        assert "Nice=0" in node.sh("cat " + path) and main_pid(node) == pid
    finally:
        node.sh("rm -rf %s && systemctl daemon-reload" % os.path.dirname(path))


def test_settings_of_others_stay_but_for_what_pods_need(node):
    theirs = "/etc/sysctl.d/999-mine.conf"
    node.sh("printf 'net.ipv4.tcp_slow_start_after_idle = 1\\nnet.ipv4.ip_forward = 0\\n' >%s; sysctl -qp %s" % (theirs, theirs))
    try:
        stays, undoes = "net.ipv4.tcp_slow_start_after_idle is %s:1's, which comes later" % theirs, "%s:2 would undo net.ipv4.ip_forward = 1" % theirs
        status, output = run(node, "plan")
        assert status == 2 and "net.ipv4.ip_forward is not '1' in the kernel; " + stays in output and undoes in output, output
        for _ in range(2):
            assert run(node, "apply")[0] == 0
            assert node.sh("sysctl -n net.ipv4.tcp_slow_start_after_idle net.ipv4.ip_forward").split() == ["1", "1"]
        status, output = run(node, "plan")
        assert status == 0 and stays in output and undoes in output, output
        for output in (run(node, "check")[1], nodechecks.timed_nodeup(node, "status")[2]):
            assert undoes in output, output
    finally:
        node.sh("rm %s; sysctl -qw net.ipv4.tcp_slow_start_after_idle=0" % theirs)
    assert run(node, "plan")[0] == 0


def test_a_static_pod_of_others_is_named_and_left(node):
    node.sh("printf 'apiVersion: v1\\nkind: Pod\\nmetadata: {name: stranger}\\nspec: {containers: "
            "[{name: a, image: b}]}\\n' >%s; touch /etc/kubernetes/manifests/.hidden" % POD)
    try:
        for command in ("plan", "repair"):
            status, output = run(node, command)
            assert status == 0 and "foreign static pod" in named(output, POD), output
            assert ".hidden" not in output, output
        assert node.exec("test", "-e", POD).returncode == 0
    finally:
        node.sh("rm -f %s /etc/kubernetes/manifests/.hidden" % POD)


def test_names_that_others_changed_are_told_and_left(node):
    name = node.sh("cat /proc/sys/kernel/hostname").strip()
    node.sh("cp -p /etc/hosts /root/hosts; sed '/localhost/d' /root/hosts >/etc/hosts; hostname other")
    try:
        for command in ("plan", "repair"):
            status, output = run(node, command)
            assert status == 0 and "it was %s at the first run" % name in named(output, "host name other"), output
            assert "has no localhost" in named(output, "/etc/hosts"), output
    finally:
        node.sh("cat /root/hosts >/etc/hosts; rm /root/hosts; hostname %s" % name)
    status, output = run(node, "plan")
    assert status == 0 and "host name" not in output and "/etc/hosts" not in output, output


@pytest.mark.parametrize("command", ["repair", pytest.param("apply", marks=pytest.mark.long)])
def test_rules_that_are_gone_are_added_again(node, command):
    node.sh("iptables -F; iptables -P FORWARD DROP")
    try:
        for flags in ([], ["--verify"]):
            status, output = run(node, "plan", *flags)
            assert status == 2, output
            line = named(output, "unit kubernetes-iptables-setup.service")
            assert line.startswith("~ ") and "FORWARD" in line, output
        assert not [rule for rule in RULES if rule in node.sh("iptables -S")], "a plan wrote rules"
        status, output = run(node, command)
        assert status == 0, output
        rules = node.sh("iptables -S").splitlines()
        assert "-P FORWARD DROP" in rules and not [rule for rule in RULES if rules.count(rule) != 1], rules
        assert run(node, "plan")[0] == 0
        nodechecks.check_again(node)
    finally:
        node.sh("iptables -P FORWARD ACCEPT; iptables -F")


def check_silence(node, unit, says, fate="pods stay"):
    """Each command names the unit, and none takes long over it."""
    status, ms, output = nodechecks.timed_nodeup(node, "status")
    assert status == 2 and ms < 5000, (ms, output)
    assert re.search(r"^  why +unit %s: active, but it does not answer: %s" % (re.escape(unit), says), output, re.M), output
    status, ms, output = nodechecks.timed_nodeup(node, "plan", CONF)
    assert status == 2 and ms < 10000, (ms, output)
    line = named(output, "unit " + unit)
    assert line.startswith("~ ") and "does not answer" in line and re.search(r"^restarts: .*%s.*; %s" % (re.escape(unit), fate), output, re.M), output
    status, _, output = nodechecks.timed_nodeup(node, "why", unit)
    assert status == 2 and re.search(r"^  is +differs: active, but it does not answer", output, re.M), output


@pytest.mark.long
def test_a_frozen_kubelet_is_seen_and_restarted_by_repair_alone(node):
    """Here, where kubelet and docker have been up for a while: the tests above restart nothing."""
    nodechecks.settle(node, "kubelet.service")
    pid = main_pid(node)
    node.sh("kill -STOP " + pid)
    try:
        check_silence(node, "kubelet.service", "127.0.0.1:10248 says nothing for 1.0 s")
        status, output = run(node, "apply", "--deadline=10s")
        assert status == 71 and main_pid(node) == pid and "repair" in output.split("FAILED")[1], output
        status, output = run(node, "repair")
        assert status == 0, output
        assert main_pid(node) != pid and node.healthz() == "ok"
        assert output.count("is restarted") == 1, output
    finally:
        node.sh("kill -CONT %s 2>/dev/null || :" % pid)


# a frozen containerd is in the check
@pytest.mark.long
def test_a_runtime_that_is_dumb_is_seen_and_restarted_by_repair(node):
    """Frozen, which systemd does not see; and asked through its path, so that a socket that was removed is found."""
    nodechecks.settle(node, "docker.service")
    node.sh("mv /run/docker.sock /run/hidden.sock")
    try:
        check_silence(node, "docker.service", "/run/docker.sock: No such file or directory", "docker stops the containers of all pods")
    finally:
        node.sh("mv /run/hidden.sock /run/docker.sock")
    assert nodechecks.timed_nodeup(node, "status")[0] == 0
    pid = node.show("docker.service", "MainPID")["MainPID"]
    node.sh("kill -STOP " + pid)
    try:
        check_silence(node, "docker.service", "/run/docker.sock says nothing for 1.0 s", "docker stops the containers of all pods")
        status, output = run(node, "repair")
        assert status == 0 and output.count("restarting docker.service: ") == 1, output
        assert "docker stops the containers of all pods" in output and node.show("docker.service", "MainPID")["MainPID"] != pid, output
        assert node.healthz() == "ok"
    finally:
        node.sh("kill -CONT %s 2>/dev/null || :" % pid)
    status, output = run(node, "plan")
    assert status == 0, output


@pytest.mark.parametrize("path", [DROPIN, pytest.param("/run/systemd/system/kubelet.service.d/99-x.conf", marks=pytest.mark.long)])
def test_a_drop_in_of_others_is_named_and_started_with(node, path):
    pid = main_pid(node)
    node.sh("mkdir -p %s && printf '[Service]\\nNice=0\\n' >%s && systemctl daemon-reload" % (os.path.dirname(path), path))
    try:
        status, output = run(node, "plan")
        assert status == 2 and "unit kubelet.service: %s is newer than the running process" % path in output, output
        status, output = run(node, "repair")
        assert status == 0 and main_pid(node) != pid and "Nice=0" in node.sh("cat " + path), output
        pid = main_pid(node)
        for command in ("plan", "repair"):
            status, output = run(node, command)
            assert status == 0 and "foreign drop-in" in named(output, path) and "left alone" in named(output, path), output
        assert main_pid(node) == pid
    finally:
        node.sh("rm -rf %s && systemctl daemon-reload" % os.path.dirname(path))
    status, output = run(node, "plan")
    assert status == 2 and "unit kubelet.service: files of others that it was started with are gone" in output, output
    assert run(node, "repair")[0] == 0 and main_pid(node) != pid


def test_a_drop_in_that_breaks_a_unit_is_named_in_the_failure(node):
    node.sh("mkdir -p %s && printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' >%s && systemctl daemon-reload && "
            "systemctl stop kubelet" % (os.path.dirname(DROPIN), DROPIN))
    try:
        status, output = run(node, "repair")
        assert status == 71, output
        failure = output.split("FAILED", 1)[1]
        assert "kubelet.service" in failure and DROPIN in failure, output
        assert node.exec("test", "-e", DROPIN).returncode == 0
    finally:
        node.sh("rm -r %s && systemctl daemon-reload" % os.path.dirname(DROPIN))
    status, output = run(node, "repair")
    assert status == 0 and node.healthz() == "ok", output


def test_a_masked_unit_is_to_change_and_not_failed(node):
    node.sh("systemctl stop kubelet; mv /etc/systemd/system/kubelet.service /root && systemctl mask kubelet")
    status, output = run(node, "plan")
    assert status == 2 and "failed" not in output, output
    assert named(output, "unit kubelet.service")[:2] in ("+ ", "~ ") and "masked" in output, output
    status, output = run(node, "repair")
    assert status == 0 and node.healthz() == "ok", output


def test_unit_files_that_systemd_has_seen_go_are_repaired_while_they_run(node):
    nodechecks.check_lost_units(node, lambda: run(node, "repair"))
    assert node.healthz() == "ok" and run(node, "plan")[0] == 0


def test_a_plan_names_the_units_that_it_would_restart(node):
    """Those that run, and no others; apply then restarts just these."""
    docker = node.show("docker.service", "MainPID")["MainPID"]
    flags = "/etc/sysconfig/kubelet"
    node.sh("cp -p %s /root/flags; sed -i 's/--v=2/--v=3/' %s" % (flags, flags))
    status, output = run(node, "plan")
    assert status == 2 and output.splitlines()[-1] == "restarts: kubelet.service; pods stay", output
    node.sh("systemctl stop kubelet")
    status, output = run(node, "plan")
    assert status == 2 and "restarts:" not in output and named(output, "unit kubelet.service").startswith("~ "), output
    node.sh("cp -p /root/flags %s; systemctl start kubelet" % flags)
    pid = main_pid(node)
    node.sh("sed -i 's/--v=2/--v=3/' " + flags)
    status, output = run(node, "plan", "-o", "json")
    assert status == 2 and json.loads(output[output.index("{"):output.rindex("}") + 1])["restarts"] == ["kubelet.service"], output
    status, output = run(node, "apply")
    assert status == 0 and main_pid(node) != pid, output
    assert node.show("docker.service", "MainPID")["MainPID"] == docker
    assert run(node, "plan")[0] == 0


TIMER, GUARD, TEXTFILE = "nodeup-guard.timer", "nodeup-guard.service", "/var/lib/textfile"


def metrics(node):
    return parse(node.sh("cat %s/nodeup.prom" % TEXTFILE))


def look(node, meanwhile=":"):
    """What the timer starts every five minutes; what it said as (priority, message) and the drift that it counted."""
    cursor = node.sh("journalctl -n 0 --show-cursor -q").split("cursor: ")[1].strip()
    # more looks than the timer would start in ten seconds are no fault of the unit
    node.sh("systemctl reset-failed %s || :; (%s) & systemctl start %s; wait" % (GUARD, meanwhile, GUARD))
    assert node.show(GUARD, "Result", "ActiveState") == {"Result": "success", "ActiveState": "inactive"}
    node.sh("journalctl --sync")
    # after a cursor that is no match of its own, journalctl leaves out the first match
    entries = map(json.loads, node.sh("journalctl -o json --no-pager --after-cursor='%s'" % cursor).splitlines())
    found = metrics(node)
    assert found["nodeup_guard_look_timestamp_seconds"] > 1_700_000_000
    return [(int(e["PRIORITY"]), e["MESSAGE"]) for e in entries if e.get("SYSLOG_IDENTIFIER") == "nodeup"], found["nodeup_drift_tasks"]


@pytest.fixture(scope="module")
def guarded(node):
    """The settings ask for the guard, and a run has installed it."""
    node.sh("mkdir -p %s; printf 'guard: true\\nmetricsDir: %s\\n' >/etc/nodeup/nodeup.d/50-guard.yaml" % (TEXTFILE, TEXTFILE))
    assert run(node, "apply")[0] == 0
    yield node
    node.sh("rm /etc/nodeup/nodeup.d/50-guard.yaml")
    assert run(node, "repair", "--prune")[0] == 0
    assert node.show(TIMER, "ActiveState", "LoadState") == {"ActiveState": "inactive", "LoadState": "not-found"}
    assert not node.sh("ls /etc/systemd/system /etc/systemd/system/timers.target.wants | grep nodeup-guard", check=False)


def test_a_run_that_ended_well_is_in_the_metrics_and_the_guard_waits(guarded):
    node, found = guarded, metrics(guarded)
    assert found['nodeup_node_state{state="ready"}'] == 1 and found["nodeup_drift_tasks"] == found["nodeup_run_failed_tasks"] == 0
    assert found["nodeup_run_changed_tasks"] >= 3 and node.sh("stat -c %%a %s/nodeup.prom" % TEXTFILE).strip() == "644"
    assert node.show(TIMER, "ActiveState", "UnitFileState") == {"ActiveState": "active", "UnitFileState": "enabled"}
    status, _, output = nodechecks.timed_nodeup(node, "guard")
    assert status == 0 and "nothing is looked at: a run ended " in output, output
    assert run(node, "plan")[0] == 0


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_a_quiet_look_says_nothing_and_costs_little(guarded, count):
    """It asks no server, and sees nothing that is not there; 0.15 s of 300 are 0.05 % of a processor."""
    node = guarded
    nodechecks.age(node)
    asked = node.requests(), node.s3_log(), node.imds_log()
    assert look(node) == ([], 0)
    assert (node.requests(), node.s3_log(), node.imds_log()) == asked
    times = node.sh("bash -c 'TIMEFORMAT=\"%%U %%S\"; time for i in $(seq %d); do %s guard >/dev/null || exit 1; done' 2>&1" % (count, nodechecks.NODEUP), timeout=1200)
    assert sum(map(float, times.splitlines()[-1].split())) / count < 0.15, times
    assert look(node) == ([], 0)


def test_drift_is_told_each_time_and_not_healed(guarded):
    node, flags = guarded, "/etc/sysconfig/kubelet"
    nodechecks.age(node)
    node.sh("cp -p %s /root/flags; sed -i 's/--v=2/--v=3/' %s" % (flags, flags))
    try:
        for _ in range(2):
            said, drift = look(node)
            assert drift == 2 and (4, "file %s differs: content differs" % flags) in said, said
            assert (4, "unit kubelet.service differs: %s changes" % flags) in said and (5, "nodeup repair puts it right") in said, said
        assert "--v=3" in node.sh("cat " + flags)
        status, _, output = nodechecks.timed_nodeup(node, "guard")
        assert status == 2 and "tasks, 2 to change" in output, output
        # a run ends what the last look saw, and a hold keeps it from the next one
        assert run(node, "repair")[0] == 0 and metrics(node)["nodeup_drift_tasks"] == 0
        node.sh("sed -i 's/--v=2/--v=3/' " + flags)
        nodechecks.age(node)
        assert node.exec(nodechecks.NODEUP, "guard", "--hold=1h").returncode == 0
        before = metrics(node)["nodeup_guard_look_timestamp_seconds"]
        node.sh("systemctl start " + GUARD)
        assert (metrics(node)["nodeup_guard_held"], metrics(node)["nodeup_guard_look_timestamp_seconds"]) == (1, before)
        assert node.exec(nodechecks.NODEUP, "guard", "--hold=1s").returncode == 0
        node.sh("sleep 1")
        assert look(node, meanwhile="sleep 2; cp -p /root/flags " + flags) == ([], 0)
    finally:
        node.sh("cp -p /root/flags %s; %s guard --hold=1s; sleep 1" % (flags, nodechecks.NODEUP))


def test_a_lost_document_is_told(guarded):
    node, conf = guarded, CONF.split("=")[1]
    nodechecks.age(node)
    node.sh("cp -p %s /root/conf; rm %s" % (conf, conf))
    try:
        said, drift = look(node)
        assert drift == 1 and (4, "document %s is gone" % conf) in said, said
        node.sh("head -c 40 /root/conf >" + conf)
        assert (4, "document %s is cut short" % conf) in look(node)[0]
    finally:
        node.sh("cp -p /root/conf " + conf)
    # what somebody wrote is for the next run
    node.sh("echo '# mine' >>" + conf)
    try:
        assert look(node) == ([], 0)
    finally:
        node.sh("cp -p /root/conf " + conf)


def test_a_unit_that_a_person_stopped_is_told_once(guarded):
    node = guarded
    nodechecks.age(node)
    node.sh("systemctl stop kubelet")
    try:
        said, drift = look(node)
        assert drift == 0 and len(said) == 1 and said[0][0] == 5, said
        assert re.fullmatch(r"unit kubelet\.service was stopped by request, .* ago: it is left so, and does not count", said[0][1]), said
        assert look(node) == ([], 0)
        assert node.show("kubelet.service", "ActiveState")["ActiveState"] == "inactive"
        # and one that is masked does not come back with the next boot
        node.sh("cd /etc/systemd/system && mv kubelet.service /run && ln -s /dev/null kubelet.service && systemctl daemon-reload")
        said, drift = look(node)
        assert drift >= 1 and any("unit kubelet.service differs" in line and "mask" in line for _, line in said), said
    finally:
        node.sh("cd /etc/systemd/system; [ ! -L kubelet.service ] || { mv -f /run/kubelet.service . && systemctl daemon-reload; }")
        node.sh("systemctl start kubelet")
    nodechecks.wait_kubelet(node)
    # one that failed, or ended by itself, is no person's
    node.sh("mkdir -p /run/systemd/system/kubelet.service.d; printf '[Service]\\nRestart=no\\n' >/run/systemd/system/kubelet.service.d/99-x.conf;"
            "systemctl daemon-reload")
    try:
        for signal, what in (("TERM", "inactive (dead)"), ("KILL", "failed (failed)")):
            node.sh("kill -%s %s" % (signal, main_pid(node)))
            node.wait(lambda: node.show("kubelet.service", "ActiveState")["ActiveState"] == what.split()[0], 20, what)
            said, drift = look(node)
            assert drift >= 1 and (4, "unit kubelet.service differs: " + what) in said, said
            node.sh("systemctl reset-failed kubelet; systemctl start kubelet")
    finally:
        node.sh("rm -r /run/systemd/system/kubelet.service.d; systemctl daemon-reload; systemctl restart kubelet")
    nodechecks.wait_kubelet(node)
    nodechecks.settle(node, "kubelet.service")
    assert run(node, "repair")[0] == 0
