"""What a booted node must look like, for the demo and for the tests.  Each check raises LabError."""
import json
import random
import re
import time

from labhost import LabError

INSTALL = "/var/cache/kubernetes-install"
NODEUP = INSTALL + "/nodeup"
CONF = "--conf=%s/kube_env.yaml" % INSTALL
OURS = "kops-configuration.service"
WINDOW = 10
KUBE_PROXY = "k8s_kube-proxy_kube-proxy-node_kube-system_1_0"
MANAGED = ("/etc/kubernetes /etc/systemd/system /etc/sysconfig /etc/sysctl.d /etc/cni /usr/local/bin "
           "/opt/cni /opt/kubernetes /srv/kubernetes /var/lib/kubelet/kubeconfig /var/lib/kube-proxy "
           "/var/lib/kops /var/lib/kubectl /var/cache/nodeup")
# Written in this order, more or less; each is followed by a reload, a start or a restart.
MOMENTS = ["/etc/sysconfig/docker", "/usr/local/bin/kubelet", "/opt/cni/bin/bridge",
           "/var/lib/kubelet/kubeconfig", "/etc/sysconfig/kubelet",
           "/etc/kubernetes/manifests/kube-proxy.manifest", "/etc/systemd/system/kubelet.service"]


def is_master(node):
    return node.role.startswith("master")


def services(node):
    return ["docker.service", "kubelet.service"] + ["protokube.service"] * is_master(node)


def need(condition, node, what):
    if not condition:
        raise LabError("%s: %s" % (node.name, what))


def seconds_between(node, start, end):
    """Between two (unit, property) monotonic timestamps of systemd."""
    first, last = (int(node.show(unit, prop).get(prop) or 0) for unit, prop in (start, end))
    need(first and last, node, "no time for %s %s or %s %s" % (*start, *end))
    return (last - first) / 1e6


def wait_kubelet(node, since="cloud-final.service", seconds=90):
    """Until kubelet answers; gives up at once when our own unit failed.  Returns the seconds since
    that unit started (cloud-final runs the user data)."""
    def ready():
        state = node.show(OURS, "ActiveState").get("ActiveState")
        need(state != "failed", node, OURS + " failed")
        active = node.show("kubelet.service", "ActiveState").get("ActiveState") == "active"
        return active and node.healthz() == "ok"
    # systemd keeps the times, so looking rarely costs no precision and leaves the CPU to nodeup.
    node.wait(ready, seconds, "kubelet to be active and healthy", pause=0.3)
    return seconds_between(node, (since, "ExecMainStartTimestampMonotonic"),
                           ("kubelet.service", "ActiveEnterTimestampMonotonic"))


def start_kube_proxy(node):
    """The container of the static pod, with the name and the labels that kubelet gives it: the stand-in for kubelet starts none."""
    node.sh("tar -C $(dirname {0}) -ch $(basename {0}) | docker import - pod:1; docker run -d --restart always --network none --name {1} "
            "--label io.kubernetes.pod.name=kube-proxy-node --label io.kubernetes.pod.namespace=kube-system pod:1 /$(basename {0}) status --wait"
            .format(NODEUP, KUBE_PROXY))


def wait_finished(node, seconds=60):
    """Until our own unit ended; its stdout must end well."""
    node.wait(lambda: node.show(OURS, "ActiveState").get("ActiveState") in ("inactive", "failed"),
              seconds, OURS + " to end")
    unit = node.show(OURS, "Result", "ExecMainStatus", "UnitFileState", "ExecMainExitTimestampMonotonic")
    need(unit["ExecMainExitTimestampMonotonic"] != "0", node, OURS + " never ran")
    need(unit["Result"] == "success" and unit["ExecMainStatus"] == "0", node, "%s: %s" % (OURS, unit))
    need(unit["UnitFileState"] == "enabled", node, OURS + " is not enabled")
    lines = node.exec("journalctl", "-o", "cat", "--no-pager", "-u", OURS).stdout.splitlines()
    need("success" in lines, node, "no line `success` in the journal of " + OURS)
    need(any(line.startswith("nodeup version ") for line in lines), node, "no line `nodeup version`")


def check_stable(node):
    """The contract's window, seen from outside: same process, no restart, healthy."""
    before = {unit: node.show(unit, "MainPID", "NRestarts") for unit in services(node)}
    age = time.clock_gettime(time.CLOCK_MONOTONIC) - max(
        int(node.show(unit, "ActiveEnterTimestampMonotonic")["ActiveEnterTimestampMonotonic"])
        for unit in services(node)) / 1e6
    time.sleep(max(0.0, WINDOW - age))
    for unit, was in before.items():
        now = node.show(unit, "ActiveState", "MainPID", "NRestarts")
        need(now["ActiveState"] == "active", node, "%s is %s" % (unit, now["ActiveState"]))
        need(now["MainPID"] == was["MainPID"] != "0", node, unit + " has another main process")
        allowed = was["NRestarts"] if unit == "protokube.service" else "0"  # it may wait for docker
        need(now["NRestarts"] == allowed, node, "%s restarted %s times" % (unit, now["NRestarts"]))
    need(node.healthz() == "ok", node, "kubelet is not healthy")


def check_rest(node):
    """cloud-init, failed units, the image, and how the metadata service was asked."""
    node.wait_cloud_init(30)
    failed = node.sh("systemctl --failed --plain --no-legend --no-pager").strip()
    need(not failed, node, "failed units:\n" + failed)
    if is_master(node):
        running = node.sh("docker ps --format '{{.Image}} {{.Status}}'")
        need(re.search(r"^protokube:1\.8\.1 Up", running, re.M), node, "docker ps: " + running)
    cmdline = node.sh("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID kubelet)/cmdline")
    need("--hostname-override=" + node.hostname in cmdline.splitlines(), node, cmdline)
    need(" 401 " not in node.imds_log(), node, "IMDSv1 was asked:\n" + node.imds_log())
    need('"GET /' in node.s3_log(), node, "S3 was never asked")


def slowest(node, count=2):
    """The assets that took longest, by nodeup's own record, else by the server's."""
    times = {}
    text = node.exec("cat", "/run/nodeup/status.json").stdout
    for task in json.loads(text or "{}").get("tasks", []):
        if task.get("kind") == "asset" and "endMs" in task:
            times[task["name"]] = (task["endMs"] - task.get("startMs", 0)) / 1e3
    for request in [] if times else node.requests():
        times[request["uri"]] = times.get(request["uri"], 0) + float(request["seconds"])
    best = sorted(times.items(), key=lambda item: -item[1])[:count]
    return ", ".join("%s %.1f s" % (re.split(r"[.-]", name.rsplit("/", 1)[-1])[0], seconds)
                     for name, seconds in best)


def snapshot(node):
    """All that a second run must leave as it is."""
    state = {unit: node.show(unit, "InvocationID", "MainPID", "ActiveEnterTimestampMonotonic",
                             "NRestarts") for unit in services(node)}
    state["files"] = node.sh("find %s -printf '%%p %%T@ %%C@ %%i %%m\\n' 2>/dev/null | sort" % MANAGED,
                             check=False).splitlines()
    state["requests"] = len(node.requests())
    return state


def timed_nodeup(node, *arguments, timeout=120):
    """Run nodeup in the node; (status, milliseconds, output)."""
    command = " ".join([NODEUP, *arguments])
    done = node.exec("bash", "-c", "a=$EPOCHREALTIME; %s >/run/lab/out 2>&1; r=$?; b=$EPOCHREALTIME; "
                     "echo $r $(( ${b/./} - ${a/./} )); cat /run/lab/out" % command, timeout=timeout)
    first, _, output = done.stdout.partition("\n")
    status, micros = first.split()
    return int(status), int(micros) / 1e3, output


def check_again(node):
    """A further run has nothing to do; the milliseconds it took, the middle of three."""
    before = snapshot(node)
    need(len(before["files"]) > 10, node, "hardly any managed file is there")
    status, _, output = timed_nodeup(node, "plan", CONF)
    need(status == 0, node, "plan: status %d, want 0\n%s" % (status, output))
    times = []
    for _ in range(3):
        status, millis, output = timed_nodeup(node, CONF)
        need(status == 0, node, "second run: status %d\n%s" % (status, output))
        times.append(millis)
    after = snapshot(node)
    for key in before:
        if key == "files":
            changed = sorted(set(before[key]) ^ set(after[key]))
            need(not changed, node, "the second run touched:\n" + "\n".join(changed[:20]))
        need(before[key] == after[key], node, "%s: was %s, is %s" % (key, before[key], after[key]))
    return sorted(times)[1]


def check_lost_units(node, mend):
    """What runs is mended when its unit files were removed and systemd has read all of them again since."""
    place = "/etc/systemd/system"
    units = " ".join(sorted(set(re.findall(place + "/([^/ ]+)$", node.sh("cat /var/lib/nodeup/state"), re.M))))
    look = "systemctl show -p Id,LoadState,FragmentPath,ActiveState,NeedDaemonReload %s; cd %s; sha256sum %s" % (units, place, units)
    # a timer's service may be at work just now
    node.wait(lambda: "ActiveState=activating" not in node.sh(look), 30, "a service that a timer began")
    before = node.sh(look)
    need("kubelet.service" in units and "NeedDaemonReload=yes" not in before, node, before)
    node.sh("cd %s && rm %s && systemctl daemon-reload" % (place, units))
    output = mend()
    node.wait(lambda: node.sh(look) == before, 30, "units as before\n%s\nnot\n%s\n%s" % (before, node.sh(look), output))


def age(node):
    """As if the last run had ended long ago: ten minutes after one the guard looks again."""
    node.sh("sed -i -E 's/\"startedUnix\": *[0-9]+/\"startedUnix\": 1700000000/' /run/nodeup/status.json")


def settle(node, unit):
    """What was started a moment ago may be on its way, and is not asked."""
    age = "awk -v began=$(systemctl show -P ActiveEnterTimestampMonotonic %s) '{exit $1 < began / 1e6 + 61}' /proc/uptime" % unit
    node.wait(lambda: node.exec("sh", "-c", age).returncode == 0, 90, unit + " to be up for a minute")


def check_nothing_torn(node, assets):
    """Whatever was killed, nothing half-written has its final name."""
    digest = node.sh("sha1sum </usr/local/bin/kubelet", check=False).split(" ")[0]
    empty = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    need(digest in ("", empty, assets["kubelet"]) and (digest != empty or not node.sh(
        "ls /usr/local/bin/kubelet 2>/dev/null", check=False)), node, "kubelet is torn: " + digest)
    torn = node.sh("find /etc/kubernetes/manifests /etc/sysconfig /etc/systemd/system /srv/kubernetes "
                   "-type f -not -name '.*' -size 0 2>/dev/null", check=False)
    need(not torn, node, "empty files: " + torn)


def kill_when(node, path):
    """Run nodeup and kill it the moment it gives path its name: written, and nothing started yet."""
    node.sh("[ -e {0} ] && exit; {1} {2} >/dev/null 2>&1 & p=$!; while [ ! -e {0} ] && kill -0 $p; do :; "
            "done 2>/dev/null; kill -KILL $p 2>/dev/null; wait $p; true".format(path, NODEUP, CONF))


def kill_after(node, seconds):
    node.exec("timeout", "-s", "KILL", "%.3f" % seconds, NODEUP, CONF, timeout=60)


def converge(node, hint):
    """Run nodeup to its end; the seconds until kubelet was active, or until it found it so."""
    start = time.clock_gettime(time.CLOCK_MONOTONIC)
    status, millis, output = timed_nodeup(node, CONF)
    need(status == 0, node, "re-run after kills (%s): status %d\n%s" % (hint, status, output))
    need(node.healthz() == "ok", node, "kubelet is not healthy after kills (%s)" % hint)
    active = int(node.show("kubelet.service", "ActiveEnterTimestampMonotonic")[
        "ActiveEnterTimestampMonotonic"]) / 1e6
    return active - start if active > start else millis / 1e3


def check_killed(node, assets, longest, extra=0, seed=None):
    """Kill nodeup while it downloads and after its writes, then converge; the seconds that took.
    Then kill it extra times more, anywhere, and converge again."""
    seed = random.randrange(1 << 32) if seed is None else seed
    rng = random.Random(seed)
    kill_after(node, rng.uniform(0.01, longest / 3))
    check_nothing_torn(node, assets)
    for path in MOMENTS:
        kill_when(node, path)
        check_nothing_torn(node, assets)
    seconds = converge(node, "seed %d" % seed)
    for _ in range(extra):
        kill_after(node, rng.uniform(0.001, 0.2))
        check_nothing_torn(node, assets)
    converge(node, "seed %d" % seed)
    check_stable(node)
    check_again(node)
    return seconds


def explain(node):
    """The last journal lines of what looks guilty."""
    if not node.pid:
        return ""
    out = []
    failed = node.sh("systemctl --failed --plain --no-legend --no-pager", check=False).split("\n")
    for unit in dict.fromkeys([line.split()[0] for line in failed if line] + [OURS, "kubelet.service"]):
        out.append("--- %s\n%s" % (unit, node.journal(unit, 15)))
    out.append("--- user data\n" + node.sh("tail -n 15 /var/log/cloud-init-output.log", check=False))
    return "\n".join(out)
