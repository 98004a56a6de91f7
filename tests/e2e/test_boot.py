"""The seed's user data and ours, on booted nodes: each ends with an active kubelet, a second run and
a reboot find nothing to do, and a run killed anywhere is healed by the next."""
import difflib
import os
import pathlib

import pytest

import labassets
import nodechecks
from lab import Lab, LabError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
WORKER, MASTER = "nodes", "master-us-west-2a"


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


class Boots:
    """Nodes by (role, source), booted at the first question, all of them at once."""

    def __init__(self, lab):
        self.nodes, self.after = {}, {}
        for role in (WORKER, MASTER):
            name = labassets.ROLES[role]
            self.add(lab, name + "-seed", role, "seed", labassets.seed_user_data(role, lab.assets))
            self.add(lab, name + "-ours", role, "ours", labassets.our_user_data(
                os.path.join(lab.dir, "conf-" + name), role, lab.assets))
        self.add(lab, "killed", WORKER, "killed", labassets.documents_only(
            labassets.seed_user_data(WORKER, lab.assets)))

    def add(self, lab, name, role, source, data):
        self.nodes[role, source] = lab.boot(name, role, data)

    def converged(self, role, source):
        node = self.nodes[role, source]
        if node.name not in self.after:
            self.after[node.name] = explained(node, nodechecks.wait_kubelet, node)
        return node


def explained(node, check, *arguments, **kwargs):
    """A check whose failure shows the journal."""
    try:
        return check(*arguments, **kwargs)
    except LabError as error:
        text = "%s\n%s" % (error, nodechecks.explain(node))
    pytest.fail(text, pytrace=False)


@pytest.fixture(scope="module")
def boots(lab):
    return Boots(lab)


@pytest.fixture(params=[(WORKER, "seed"), (WORKER, "ours"), (MASTER, "seed"), (MASTER, "ours")],
                ids=lambda p: "-".join(p))
def node(request, boots):
    return boots.converged(*request.param)


def test_seed_script_changed_only_in_hashes(lab):
    for role, name in labassets.ROLES.items():
        with open(os.path.join(labassets.SEED, name, "user_data.sh")) as f:
            old = f.read()
        new = labassets.seed_user_data(role, lab.assets)
        edits = [(old[a:b], new[c:d]) for tag, a, b, c, d in difflib.SequenceMatcher(
            None, old, new, autojunk=False).get_opcodes() if tag != "equal"]
        assert edits and len(old) == len(new)
        assert all(set(a + b) <= set("0123456789abcdef") for a, b in edits)
        named = [n for n, url in labassets.URLS.items() if url in old and n != "nodeup"]
        assert set(named) == {"kubelet", "kubectl", "cni", "utils", "protokube"}
        assert all(lab.assets[n] in new for n in named)


def test_converges_and_stays(node):
    explained(node, nodechecks.check_stable, node)
    explained(node, nodechecks.wait_finished, node)
    explained(node, nodechecks.check_rest, node)


def test_systemd_reads_its_units_again_once(node):
    """For docker's settings, as docker runs: a unit that is new is read when it is first asked for."""
    assert node.journal().count("systemd[1]: Reloading.") == 1


def test_second_run_changes_nothing(node):
    explained(node, nodechecks.wait_finished, node)
    explained(node, nodechecks.check_again, node)


def main_pid(node):
    return node.show("kubelet.service", "MainPID")["MainPID"]


def test_content_alone_restarts_a_unit(boots):
    """kubelet dies and systemd starts it again; then its files are written with the same bytes and get other
    modes: it keeps its process. Other bytes, with which systemd starts it once more, do not last, whatever comes between
    the writing and the restart and whatever the file's time says."""
    node = boots.converged(WORKER, "ours")
    explained(node, nodechecks.wait_finished, node)

    def die():
        first = main_pid(node)
        node.sh("kill -KILL " + first)
        node.wait(lambda: main_pid(node) not in (first, "0") and node.healthz() == "ok", 120, "kubelet to be back")
        return main_pid(node)

    files = "/etc/sysconfig/kubelet /etc/systemd/system/kubelet.service /usr/local/bin/kubelet"
    pid = die()
    node.sh("for f in %s; do cp $f /run/lab/f && cp /run/lab/f $f.new && mv $f.new $f && chmod 700 $f; done" % files)
    status, _, output = nodechecks.timed_nodeup(node, "plan", nodechecks.CONF)
    assert status == 2 and "mode 0700" in output and "unit kubelet.service" not in output, output
    status, _, output = nodechecks.timed_nodeup(node, nodechecks.CONF)
    assert status == 0, output
    assert main_pid(node) == pid, output
    assert node.sh("stat -c %%a %s" % files).split() == ["644", "644", "755"]
    node.sh("echo '# somebody was here' >>/etc/sysconfig/kubelet")
    pid = die()
    # a run that writes it and gets no further: kubelet goes on with what somebody wrote
    node.sh("cd /opt/cni/bin && mv bridge aside && mkdir bridge && mount --bind bridge bridge")
    status, _, output = nodechecks.timed_nodeup(node, nodechecks.CONF)
    node.sh("cd /opt/cni/bin && umount bridge && rmdir bridge && mv aside bridge && touch -d @1 /etc/sysconfig/kubelet")
    assert status == 71 and "/opt/cni/bin/bridge" in output and main_pid(node) == pid, output
    assert "somebody" not in node.sh("cat /etc/sysconfig/kubelet"), output
    status, _, output = nodechecks.timed_nodeup(node, nodechecks.CONF)
    assert status == 0 and "kubelet.service: what it is started with was written anew" in output, output
    assert main_pid(node) != pid, output


def test_killed_runs_are_healed(lab, boots):
    node = boots.nodes[WORKER, "killed"]
    node.wait_cloud_init(60)
    explained(node, nodechecks.check_killed, node, lab.assets, longest=1.0, extra=6)


def test_reboot_converges_from_what_is_there(boots):
    node = boots.converged(MASTER, "seed")
    explained(node, nodechecks.wait_finished, node)
    requests = len(node.requests())
    node.reboot()
    explained(node, nodechecks.wait_kubelet, node, "kops-configuration.service")
    explained(node, nodechecks.wait_finished, node)
    explained(node, nodechecks.check_stable, node)
    assert len(node.requests()) == requests, "an asset was fetched again"


@pytest.fixture(scope="module")
def foreground(lab):
    script = labassets.seed_user_data(WORKER, lab.assets)
    assert "--install-systemd-unit" in script
    return lab.boot("foreground", WORKER, script.replace("--install-systemd-unit", "apply"))


def test_run_by_cloud_init_in_the_foreground(foreground):
    """The other way to deadlock: units are started while cloud-init's own job is not done (docker#23793)."""
    node = foreground
    explained(node, nodechecks.wait_kubelet, node)
    node.wait_cloud_init(60)
    assert node.show("kops-configuration.service", "LoadState")["LoadState"] == "not-found"
    assert "success" in node.exec("cat", "/var/log/cloud-init-output.log").stdout.splitlines()
    explained(node, nodechecks.check_stable, node)


def test_a_crash_loop_is_told_with_its_own_words(foreground):
    """Active is not success: kubelet starts, meets a manifest it refuses, and is restarted for ever."""
    node = foreground
    node.wait_cloud_init(60)
    node.sh("systemctl stop kubelet; echo nonsense >/etc/kubernetes/manifests/bad.manifest")
    result = node.exec("/var/cache/kubernetes-install/nodeup", "apply",
                       "--conf=/var/cache/kubernetes-install/kube_env.yaml", timeout=120)
    assert result.returncode == 71, result
    failed = [line for line in result.stderr.splitlines() if "FAILED" in line]
    assert len(failed) == 1 and "kubelet.service" in failed[0] and "stay up" in failed[0], result.stderr
    assert "bad.manifest" in result.stderr.split("FAILED", 1)[1], "the journal's last lines are missing"
    assert "success" not in result.stdout
    assert '"state": "failed"' in node.exec("cat", "/run/nodeup/status.json").stdout
    told = node.exec("cat", "/run/motd.d/nodeup").stdout
    assert told.startswith("nodeup: DEGRADED unit kubelet.service") and "; next: nodeup status" in told, told
    node.wait(lambda: told.split("; next")[0] in pathlib.Path(node.path("log/console")).read_text(errors="replace"),
              60, "the machine's console")
    node.sh("rm /etc/kubernetes/manifests/bad.manifest")
    result = node.exec("/var/cache/kubernetes-install/nodeup", "apply",
                       "--conf=/var/cache/kubernetes-install/kube_env.yaml", timeout=120)
    assert result.returncode == 0, result
    assert node.exec("test", "-e", "/run/motd.d/nodeup").returncode == 1, "logins are still told of the failure"
