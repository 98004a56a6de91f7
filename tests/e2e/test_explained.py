"""What is wrong with a booted node is told by `nodeup status` and `nodeup why` alone: the cause, the object and what to do
next.  And what is done about it: a plan that was saved, and --prune."""
import json
import os
import re
import shutil

import pytest

import labassets
import nodechecks
from lab import STATE, Lab
from nodechecks import CONF, INSTALL, NODEUP

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
KUBELET, FLAGS = "/usr/local/bin/kubelet", "/etc/sysconfig/kubelet"
UNIT = "/etc/systemd/system/kubelet.service"
DROPIN = "/etc/systemd/system/kubelet.service.d/99-x.conf"
PLAN, MINE = "/root/plan.json", "/root/mine.yaml"


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("explained", "nodes", labassets.our_user_data(
            os.path.join(lab.dir, "conf-explained"), "nodes", lab.assets))
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        yield node


def run(node, command, *flags, conf=CONF, timeout=240):
    status, _, output = nodechecks.timed_nodeup(node, command, *([conf] if conf else []), *flags, timeout=timeout)
    return status, output


def check_two_commands(node, cause):
    """What is typed at night: status, and plan where that does not tell."""
    said = run(node, "status", conf=None)[1]
    if not re.search(cause, said):
        said = run(node, "plan")[1]
    assert re.search(cause, said), said


def why(node, word):
    status, output = run(node, "why", word, conf=None)
    assert status == 2, output
    return output


def heal(node, *flags):
    status, output = run(node, "repair", *flags)
    assert status == 0 and node.healthz() == "ok", output
    assert re.search(r" ok \d+ / changed \d+ / failed 0$", output, re.M), output
    status, output = run(node, "plan")
    assert status == 0 and "No changes." in output, output


def quick_start():
    """The commands for a live node in README.md, with what stands before them."""
    with open(os.path.join(labassets.ROOT, "README.md")) as readme:
        live = readme.read().split("\n## Try it\n", 1)[1].split("\n\nOr watch it work.", 1)[0]
    return re.findall(r"(?m)^    (\./nodeup .*)$", live)


def test_the_quick_start_of_the_readme_changes_nothing(node):
    """It is typed where the program was unpacked, and all of the node is as before."""
    commands = quick_start()
    assert commands and all(command.split()[1] == "plan" for command in commands), commands
    look = ("find /etc /usr/local /var/lib/kubelet /var/cache/kubernetes-install /srv -xdev -printf '%p %m %u %s %T@ %C@\\n' | sort; "
            "systemctl show -p NRestarts,MainPID kubelet docker")
    before = node.sh(look)
    for command in commands:
        said = node.sh("cd %s && %s" % (INSTALL, command), timeout=240)
        assert "No changes." in said, said
    assert node.sh(look) == before


def test_where_the_time_of_the_boot_went(node):
    """systemd's own moments, and those of the tasks between them, in one order."""
    found = json.loads(node.sh("%s timeline 1 -o json" % NODEUP))
    moments = found["moments"]
    order = [moments[m] for m in ("nodeup", "tasks", "runtime", "kubelet", "end")]
    assert order == sorted(order) and 0 <= moments["userspace"] <= moments["nodeup"], moments
    spans = {s["task"]: s for s in found["spans"]}
    kubelet = spans["unit kubelet.service"]
    assert kubelet["lane"] == "services" and kubelet["critical"] and kubelet["startMs"] <= moments["kubelet"] <= kubelet["endMs"] + 1000, kubelet
    assert spans["services are watched"]["after"] in spans
    said = node.sh("%s timeline 1" % NODEUP)
    assert re.search(r"\n  .*unit kubelet.service @\S+ m?s \+.* services\n", said) and "kubelet's exec" in said, said
    fields = json.loads(node.sh("journalctl -o json -n 1 NODEUP_KIND=asset NODEUP_CHANGED=yes NODEUP_ASSET=kubelet"))
    assert int(fields["NODEUP_DURATION_MS"]) >= 0 and fields["NODEUP_TASK"] == "asset kubelet", fields


# What a person or a program of theirs did; what `why` is asked; what it says.
DRIFT = {
    "a unit file that was edited": (
        "sed -i s/kubelet/kubelet2/ " + UNIT, "kubelet.service", r"differs: /etc/systemd/system/kubelet\.service changes"),
    "a unit that is masked": (
        "systemctl stop kubelet; rm {0}; systemctl mask kubelet".format(UNIT), "kubelet.service", r"differs: .*masked"),
    "a program that was swapped": (
        "cp /bin/true {0}.new && mv {0}.new {0}".format(KUBELET), "install %s" % KUBELET, r"differs: .*content differs"),
    "a file of another mode": ("chmod 0600 " + FLAGS, FLAGS, r"differs: mode 0600, want 0644"),
    "a flag that was removed": ("sed -i s/--v=2// " + FLAGS, FLAGS, r"differs: content differs"),
    "a service that was stopped": ("systemctl stop docker.service docker.socket; systemctl stop kubelet", "docker.service",
                                   r"differs: .*(inactive|failed)"),
    "a runtime that failed": (
        "systemctl stop docker.socket docker; mkdir -p /etc/docker; cp -p /etc/docker/daemon.json /root/daemon.json; echo '{' >/etc/docker/daemon.json; "
        "systemctl start docker; until systemctl -q is-failed docker; do sleep 0.2; done; rm /etc/docker/daemon.json; "
        "cp -p /root/daemon.json /etc/docker/ || :",
        "docker.service", r"differs: .*failed \(failed\)"),
    "a firewall that drops what pods send": (
        "iptables -P FORWARD DROP; while iptables -D FORWARD -p tcp -j ACCEPT 2>/dev/null; do :; done", "kubernetes-iptables-setup.service",
        r"differs: chain FORWARD drops, and its rule .* is gone"),
}


# Masks, other content and drop-ins are in test_drift.py and in two rows that stay; tests/system has wrong hashes and dead mirrors.
LONG = ("a unit that is masked", "a flag that was removed", "a drop-in that breaks a unit", "a service that was stopped",
        "a hash that is wrong", "a mirror that is dead")


def rows(table):
    return [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in table]


@pytest.mark.parametrize("damage", rows(DRIFT))
def test_drift(node, damage):
    script, word, says = DRIFT[damage]
    node.sh(script)
    try:
        said = why(node, word.split(" ")[-1])
        assert re.search(r"^  is +" + says, said, re.M), said
        assert re.search(r"^  do +nodeup repair", said, re.M), said
        assert re.search(r"^  asked by +\S", said, re.M), said
        check_two_commands(node, says.removeprefix("differs: "))
        # what files are like is the plan's to say: that would be read again each time
        status, said = run(node, "status", conf=None)
        if "systemctl stop" in script:
            assert status == 2 and said.startswith("degraded since "), said
            state = "failed (failed)" if "failed" in damage else "inactive (dead)"
            assert re.search(r"^  why +unit \S+\.service: %s; nodeup plan, then nodeup repair$" % re.escape(state), said, re.M), said
    finally:
        node.sh("systemctl unmask kubelet", check=False)
        heal(node)


# What kubelet prints; what the state is, and what the screen says.
KUBELET_SAYS = {
    "a server that it does not trust": (
        "E1123 reflector.go:205] Failed to list *v1.Node: Get https://api.internal.abc/api/v1/nodes?limit=500: x509: certificate "
        "signed by unknown authority", 2, r"kubelet does not trust its API server: E1123 .* x509: certificate"),
    "a server that refuses it": (
        "E1123 kubelet_node_status.go:106] Unable to register node \\\"ip-172-20-32-10\\\" with API server: Unauthorized", 2,
        r"kubelet is refused by its API server: .*Unauthorized"),
    "a server that is not there": (
        "E1123 kubelet_node_status.go:380] Error updating node status, will retry: dial tcp 172.20.0.9:443: getsockopt: connection "
        "refused", 2, r"kubelet cannot reach its API server: .*connection refused"),
    "a pod that does not answer its probe": (
        "I1123 prober.go:111] Readiness probe for dns failed: Get http://100.96.1.2:8081/readiness: connection refused", 0, None),
}


@pytest.mark.parametrize("words", KUBELET_SAYS)
def test_what_kubelet_says_of_its_api_server(node, words):
    line, code, says = KUBELET_SAYS[words]
    try:
        node.sh("mkdir -p $(dirname {0}); printf '[Service]\\nExecStartPost=/bin/echo \"%s\"\\n' '{1}' >{0}; "
                "systemctl daemon-reload; systemctl restart kubelet".format(DROPIN, line))
        nodechecks.wait_kubelet(node)
        node.wait(lambda: line[:30] in node.sh("journalctl -u kubelet -n 50 -o cat"), 60, "the line to be in the journal")
        status, said = run(node, "status", conf=None)
        assert status == code, said
        assert says is None or re.search(r"^  why +" + says, said, re.M), said
    finally:
        node.sh("rm -f {0}; systemctl daemon-reload; systemctl restart kubelet".format(DROPIN))
        nodechecks.wait_kubelet(node)
    # another invocation has not said it
    status, said = run(node, "status", conf=None)
    assert status == 0, said


def test_a_static_pod_without_its_container(node):
    """Asked of docker itself. One that runs is what keeps the node of `make demo-shell` ready."""
    told = "kube-proxy of pod kube-proxy"
    run(node, "apply")
    status, said = run(node, "status", conf=None)
    assert status == 0 and "  pods      starting: %s\n" % told in said, said
    # an hour later
    node.sh("sed -Ei 's/(\"startedUnix\": )[0-9]+/\\1'$(($(date +%s) - 3600))/ /run/nodeup/status.json")
    status, said = run(node, "status", conf=None)
    assert status == 2 and "  why       no container runs: %s; see docker ps -a, and journalctl -u kubelet\n" % told in said, said
    try:
        nodechecks.start_kube_proxy(node)
        status, said = run(node, "status", conf=None)
        assert status == 0 and "pods" not in said, said
        node.sh("docker kill %s" % nodechecks.KUBE_PROXY)
        status, said = run(node, "status", conf=None)
        assert status == 2 and told in said, said
    finally:
        node.sh("docker rm -f %s; docker rmi -f pod:1" % nodechecks.KUBE_PROXY, check=False)


def mine(node, change):
    """The node's own documents, but for one thing."""
    node.sh("%s %s/kube_env.yaml >%s" % (change, INSTALL, MINE))
    return "--conf=" + MINE


# What is wrong; the flags and documents of a run; its exit status; what `status` says of cause, object and next step.
FAILURES = {
    "a drop-in that breaks a unit": (
        "mkdir -p $(dirname {0}); printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' >{0}; systemctl daemon-reload; "
        "systemctl stop kubelet".format(DROPIN), "rm -r $(dirname %s); systemctl daemon-reload" % DROPIN, None, (), 71,
        (r"kubelet\.service", re.escape(DROPIN), r"^  do +correct what the lines above name, then nodeup repair")),
    "a daemon whose own file is broken": (
        "mkdir -p /etc/docker; cp -p /etc/docker/daemon.json /root/daemon.json; echo '{' >/etc/docker/daemon.json; "
        "systemctl stop docker.socket docker; systemctl reset-failed docker || :",
        "rm -f /etc/docker/daemon.json; cp -p /root/daemon.json /etc/docker/; systemctl reset-failed docker || :", None, (), 71,
        (r"docker\.service", r"daemon\.json", r"^  do +correct what the lines above name, then nodeup repair")),
    "a docker that is masked": (
        "systemctl stop docker.socket docker; systemctl mask docker.service", "systemctl unmask docker.service", None, (), 78,
        (r"docker\.service is masked", r"^  do +systemctl unmask docker\.service, then nodeup repair")),
    "a mirror that is dead": (
        "rm -rf {0} /var/cache/nodeup".format(KUBELET), ":", None,
        ("--rewrite=https://storage.googleapis.com/=http://127.0.0.1:9/", "--rewrite=https://slow.mirror.test/=http://127.0.0.1:9/"), 69,
        (r"asset kubelet", r"127\.0\.0\.1:9", r"refused", r"^  do +look at the port, security groups, routes and a proxy; or name a mirror")),
    "a mount point in the place of a file": (
        "sed -i s/--v=2// {0}; mount --bind {0} {0}".format(FLAGS), "umount " + FLAGS, None, (), 71,
        (r"FAILED file {0}: ".format(FLAGS), r"^  do +umount {0}: it is a mount point".format(FLAGS))),
    "a disk that is full": (
        "rm -f {0}; mount -t tmpfs -o size=64k none /usr/local/bin".format(KUBELET), "umount /usr/local/bin", None, (), 71,
        (r"/usr/local/bin", r"No space left on device|no room", r"^  do +")),
    "a hash that is wrong": (
        "rm -rf {0} /var/cache/nodeup".format(KUBELET), ":", "sed 's/^- [0-9a-f]\\{40\\}\\(@.*kubelet\\)/- %s\\1/'" % ("0" * 40), ("--rewrite=https://dead.mirror.test/=https://slow.mirror.test/",), 65,
        (r"asset kubelet", r"^  want .*0000", r"^  got ", r"^  do +see nodeup help asset-hash")),
    "a volume that is missing": (
        ":", ":", "sed '$ a volumeMounts: [{device: /dev/xvdz, path: /data, filesystem: ext4}]'", ("--deadline=10s",), 75,
        (r"/data", r"xvdz", r"^  do +")),
}


@pytest.mark.parametrize("damage", rows(FAILURES))
def test_failure(node, damage):
    script, undo, change, flags, code, says = FAILURES[damage]
    node.sh(script)
    try:
        status, output = run(node, "apply", *flags, conf=mine(node, change) if change else CONF, timeout=400)
        assert status == code, output
        status, said = run(node, "status", conf=None)
        # other documents than the node's own say nothing of it, as long as nothing was changed
        untouched = change and "volume" not in damage
        assert (status, said.split()[0]) == ((0, "ready") if untouched else (2, "degraded")), said
        for pattern in says:
            assert re.search(pattern, said, re.M), pattern + "\n" + said
    finally:
        node.sh(undo)
        # what was asked for in vain goes as well
        heal(node, "--prune")


def test_a_saved_plan_is_done_or_refused(node):
    node.sh("sed -i s/--v=2/--v=3/ " + FLAGS)
    assert node.exec("bash", "-c", "%s plan %s -o json >%s" % (NODEUP, CONF, PLAN)).returncode == 2
    pid = node.show("kubelet.service", "MainPID")["MainPID"]
    node.sh("chmod 0640 /etc/sysctl.d/99-k8s-general.conf")
    status, output = run(node, "apply", "--plan=" + PLAN)
    assert status == 73 and "the machine is not as it was when" in output, output
    assert re.search(r"now +file /etc/sysctl\.d/99-k8s-general\.conf: change: mode 0640", output), output
    assert node.show("kubelet.service", "MainPID")["MainPID"] == pid and "--v=3" in node.sh("cat " + FLAGS)
    node.sh("chmod 0644 /etc/sysctl.d/99-k8s-general.conf")
    status, output = run(node, "apply", "--plan=" + PLAN, conf=mine(node, "sed '$ a # more'"))
    assert status == 73 and "the documents, the settings or nodeup are not those" in output, output
    status, output = run(node, "apply", "--plan=" + PLAN)
    assert status == 0 and "--v=2" in node.sh("cat " + FLAGS), output
    assert node.show("kubelet.service", "MainPID")["MainPID"] != pid and run(node, "plan")[0] == 0


def test_what_documents_no_longer_name_is_stopped_and_removed(node):
    left = "/etc/systemd/system/left.service"
    state = os.path.join(node.root, "root/state")
    shutil.copytree(os.path.join(STATE, "jdurbin-kops/abc.joshdurbin.net"), state)
    with open(state + "/instancegroup/nodes", "a") as f:
        f.write('  hooks: [{name: left.service, manifest: "Type=simple\\nExecStart=/bin/sleep infinity\\n[Install]\\n'
                'WantedBy=multi-user.target"}]\n')
    status, output = run(node, "apply", conf=mine(node, "sed 's|^ConfigBase:.*|ConfigBase: /root/state|'"))
    assert status == 0, output
    assert node.show("left.service", "ActiveState")["ActiveState"] == "active", output
    kubelet = node.show("kubelet.service", "MainPID")["MainPID"]
    status, output = run(node, "plan")
    assert status == 0 and "- file %s: the documents no longer name it; removed with --prune" % left in output, output
    status, output = run(node, "apply")
    assert status == 0 and node.show("left.service", "ActiveState")["ActiveState"] == "active", output
    # what a person made of it is theirs, and so is that it runs
    node.sh("cp -p {0} /root/left && echo '# mine' >>{0}".format(left))
    status, output = run(node, "repair", "--prune")
    assert status == 0 and "it is not as nodeup wrote it: left alone" in output, output
    assert node.show("left.service", "ActiveState")["ActiveState"] == "active", output
    node.sh("cp -p /root/left " + left)
    # killed when it has stopped the unit, and before the file went or after that
    node.sh("%s apply %s --prune >/dev/null 2>&1 & p=$!; while systemctl -q is-active left && kill -0 $p; do :; done 2>/dev/null; "
            "kill -KILL $p 2>/dev/null; wait $p; true" % (NODEUP, CONF))
    status, output = run(node, "repair", "--prune")
    assert status == 0, output
    assert node.exec("test", "-e", left).returncode == 1
    assert node.sh("find /etc/systemd/system -name left.service") == "", "it is still enabled"
    assert node.show("left.service", "LoadState", "ActiveState") == {"LoadState": "not-found", "ActiveState": "inactive"}
    assert node.show("kubelet.service", "MainPID")["MainPID"] == kubelet, "the others run on"
    status, output = run(node, "plan", "--prune")
    assert status == 0 and "no longer" not in output, output
    nodechecks.check_again(node)


def test_an_image_of_this_node_is_another_one(node):
    """The last test: from here on it is another instance."""
    status, output = run(node, "status", "--runs", conf=None)
    assert status == 0 and len(output.splitlines()) > 1, output
    was = node.sh("cat /var/lib/nodeup/identity")
    pid = node.show("kubelet.service", "MainPID")["MainPID"]
    node.become("i-0renewed")
    for said in (1, 0):
        status, output = run(node, "apply")
        assert status == 0, output
        assert output.count("this is instance i-0renewed, made of an image of %s: " % was) == said, output
    assert node.sh("cat /var/lib/nodeup/identity") == "i-0renewed"
    assert "i-0renewed" in node.sh("cat /var/lib/nodeup/documents.json")
    status, output = run(node, "status", "--runs", conf=None)
    assert len(output.splitlines()) == 2, output
    assert node.show("kubelet.service", "MainPID")["MainPID"] == pid
