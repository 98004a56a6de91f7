"""nodeup's own unit on a booted worker, stopped by systemctl in the middle of its work: the status and the journal say
so, nothing is failed, and the next start goes on with what had arrived."""
import json
import os
import time

import pytest

import labassets
import nodechecks
from lab import Lab
from labhost import CERTS, FAST, NAMES, S3, SLOW, write

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
OURS = nodechecks.OURS
KUBELET = "/usr/local/bin/kubelet"
# kubelet's forty megabytes take longer than a test may
CRAWL, HURRY = "300k", "0"


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("stopped", "nodes", labassets.seed_user_data("nodes", lab.assets))
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        yield node


def serve(node, rate):
    """The mirrors anew, at this rate."""
    text = labassets.nginx_conf(node.lab.dir, NAMES, CERTS).replace("limit_rate %s;" % labassets.SLOW_RATE, "")
    write(node.path("nginx.conf"), text.replace("http {", "http { limit_rate %s;" % rate))
    node.again(2, lambda conf: node.serve("nginx", "nginx", "-e", node.path("log/nginx.err"), "-p", node.dir, "-c", conf),
               node.path("nginx.conf"))
    node.wait(lambda: node.sh("ss -Hltn 'sport = 443'").count(":443") >= 3, 30, "nginx")


def status(node):
    return json.loads(node.exec("cat", "/run/nodeup/status.json").stdout or "{}")


def came(node):
    """How much there is of kubelet."""
    return max((a.get("bytes", 0) for a in status(node).get("assets", []) if a["name"] == "kubelet"), default=0)


def state(node):
    return node.show(OURS, "ActiveState", "SubState", "Result", "ExecMainCode", "ExecMainStatus")


@pytest.fixture
def halfway(node):
    """Its unit at work on a kubelet that is gone, and some of that has come."""
    node.sh("rm -rf %s /var/cache/nodeup/*" % KUBELET)
    serve(node, CRAWL)
    begun = time.time()
    node.sh("systemctl start --no-block " + OURS)
    node.wait(lambda: status(node).get("state") == "running" and came(node) >= 2_000_000, 90, "some of kubelet")
    yield begun
    serve(node, HURRY)
    node.sh("systemctl stop {0}; systemctl reset-failed {0}; systemctl start {0}".format(OURS))


def said_since(node, begun):
    return node.sh("journalctl -o cat --no-pager -u %s --since=@%d" % (OURS, int(begun))).splitlines()


def test_a_stop_is_told_and_the_next_start_goes_on(node, halfway):
    pid = status(node)["pid"]
    node.sh("systemctl stop " + OURS)
    s = status(node)
    assert (s["state"], s["signal"], s["pid"]) == ("interrupted", "TERM", pid), s
    ours = [line for line in said_since(node, halfway) if line.startswith("interrupted by ")]
    assert len(ours) == 1 and ours[0].startswith("interrupted by TERM; ") and ours[0].endswith(
        " MB kept, run again to go on"), ours
    # a stop that was asked for is not a failure
    assert state(node) == {"ActiveState": "inactive", "SubState": "dead", "Result": "success", "ExecMainCode": "2",
                           "ExecMainStatus": "15"}
    before = len(node.requests())
    serve(node, HURRY)
    node.sh("systemctl start " + OURS)
    assert status(node)["state"] == "ready" and state(node)["Result"] == "success"
    asked = [r for r in node.requests()[before:] if r["uri"].endswith("/kubelet") and r["method"] == "GET"
             and int(r["bytes"]) > 1_000_000]
    assert asked and {r["status"] for r in asked} == {"206"}, asked
    assert sum(int(r["bytes"]) for r in asked) <= labassets.KUBELET_BYTES - 1_500_000, asked
    assert node.sh("sha1sum <" + KUBELET).split()[0] == node.lab.assets["kubelet"]
    nodechecks.check_stable(node)


def test_a_wait_for_it_is_one_line(node, halfway):
    """Within the first minute; once there was one every ten seconds."""
    done = node.exec(nodechecks.NODEUP, "--install-systemd-unit", nodechecks.CONF, "--v=8", "--wait=12s", timeout=120)
    assert done.returncode == 75 and "service installed" in done.stdout, done
    lines = [line for line in done.stderr.splitlines() if "WAITING " in line]
    assert len(lines) == 1 and "WAITING %s: for " % OURS in lines[0], done.stderr


def test_a_wait_for_it_ends_with_a_stop(node, halfway):
    """And not as if the machine had converged."""
    said = node.sh("{0} --install-systemd-unit {1} --v=8 --wait=60s >/root/said 2>&1 & until grep -q 'service installed'"
                   " /root/said; do sleep .1; done; systemctl stop {2}; wait $!; echo status $?; cat /root/said".format(
                       nodechecks.NODEUP, nodechecks.CONF, OURS))
    assert "status 71\n" in said and "FAILED %s was stopped before it was done (71)" % OURS in said, said


def test_a_stop_while_services_are_watched(node):
    node.sh("systemctl stop kubelet")
    begun = time.time()
    node.sh("systemctl start --no-block " + OURS)
    node.wait(lambda: "stay up" in status(node).get("waiting", "") and status(node)["state"] == "running", 60, "the window")
    assert abs(status(node)["waitingSinceUnixMs"] / 1000 - time.time()) < 30
    node.sh("systemctl stop " + OURS)
    told = [l for l in said_since(node, begun) if l.startswith("waiting for ")]
    assert len(told) == len(set(told)) and "waiting for services to stay up for 10 s" in told, told
    s = status(node)
    assert (s["state"], s["signal"]) == ("interrupted", "TERM") and "waiting" not in s, s
    assert [l for l in said_since(node, begun) if l.startswith("interrupted by ")] == [
        "interrupted by TERM; what is done stays, run again to go on"]
    assert state(node)["ActiveState"] == "inactive"
    node.sh("systemctl start " + OURS)
    assert status(node)["state"] == "ready"
    nodechecks.check_stable(node)


STOPPED = {"ActiveState": "inactive", "SubState": "dead", "Result": "success", "ExecMainCode": "2", "ExecMainStatus": "15"}
S3_GONE, MIRRORS_GONE = (S3,), (FAST, SLOW)


def check_nothing_is_half(node):
    """Kubelet is not there until it is whole, and nothing that is being written has a name that others look at."""
    assert node.sh("ls -A %s* 2>/dev/null || true" % KUBELET) == ""
    for folder in ("/usr/local/bin", "/etc/systemd/system", "/etc/kubernetes", "/var/lib/nodeup"):
        assert node.sh("find %s -xdev -type f -size 0 -newer /run/begun" % folder) == "", folder


def refuse(node, addresses, option="-I"):
    for address in addresses:
        node.sh("iptables %s OUTPUT -d %s -p tcp --dport 443 -j REJECT --reject-with tcp-reset" % (option, address))


@pytest.fixture(params=[S3_GONE, MIRRORS_GONE], ids=["documents", "the next run"])
def waiting(node, request):
    """Its unit at work without a kubelet, and it waits."""
    node.sh("rm -rf %s /var/cache/nodeup/*; touch /run/begun" % KUBELET)
    refuse(node, request.param)
    begun = time.time()
    node.sh("systemctl start --no-block " + OURS)
    said = "WAITING documents: " if request.param == S3_GONE else "next run in "
    node.wait(lambda: any(said in line for line in said_since(node, begun)), 90, said)
    mended = []

    def mend():
        if not mended:
            refuse(node, request.param, "-D")
        mended.append(True)
    yield begun, request.param, mend
    mend()
    node.sh("systemctl stop {0}; systemctl reset-failed {0}; systemctl start {0}".format(OURS))


def test_a_stop_while_it_waits(node, waiting):
    begun, _, mend = waiting
    pid = status(node)["pid"]
    node.sh("systemctl stop " + OURS)
    s = status(node)
    assert (s["state"], s["signal"], s["pid"]) == ("interrupted", "TERM", pid), s
    assert not {"waiting", "waitingSinceUnixMs", "nextTryUnixMs", "nextRunUnixMs"} & set(s), s
    assert len([l for l in said_since(node, begun) if l.startswith("interrupted by TERM; ")]) == 1
    assert state(node) == STOPPED
    check_nothing_is_half(node)
    mend()
    node.sh("systemctl start " + OURS)
    assert status(node)["state"] == "ready" and state(node)["Result"] == "success"
    assert node.sh("sha1sum <" + KUBELET).split()[0] == node.lab.assets["kubelet"]
    nodechecks.check_stable(node)


@pytest.mark.parametrize("waiting", [MIRRORS_GONE], indirect=True, ids=["the next run"])
def test_a_repair_by_hand_ends_the_pause(node, waiting):
    """It takes the machine at once, and the unit does not sleep on when there is nothing left to wait for."""
    begun, _, mend = waiting
    node.wait(lambda: state(node)["ActiveState"] == "active", 10, "the end of the first run")
    done = node.exec(nodechecks.NODEUP, "--install-systemd-unit", nodechecks.CONF, "--v=8", "--wait=20s")
    assert done.returncode == 69 and "FAILED %s: " % OURS in done.stderr, done
    mend()
    done = node.exec(nodechecks.NODEUP, "repair", nodechecks.CONF, timeout=120)
    assert done.returncode == 0 and "another nodeup" not in done.stderr, done
    node.wait(lambda: state(node)["ActiveState"] == "inactive", 60, "the end of the unit")
    assert state(node)["Result"] == "success" and status(node)["state"] == "ready"
    assert "another run succeeded: next run now" in said_since(node, begun)
