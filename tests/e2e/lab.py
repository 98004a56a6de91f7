"""The lab: throw-away nodes of Debian 12, or of another suite, with systemd as PID 1, each in a network namespace of its own
where the metadata service, S3 and the asset mirrors answer on their real addresses and names.

Nothing outlives the process: mounts and namespaces are made in a private mount namespace, every
child dies with its parent, and what is left in build/lab/run-* after a SIGKILL is removed by the
next user.  Use it as

    with Lab() as lab:
        node = lab.boot("w1", "nodes", user_data)
        node.wait_active("kubelet.service", 60)
        node.exec("journalctl", "-n5")

To enter a node from another terminal: nsenter -t <pid printed by node.leader()> -a -r bash
"""
import contextlib
import ctypes
import fcntl
import functools
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import labassets
from labhost import (CERTS, HERE, LAB, ROOT, LabError, NAMES, SUITE, apt_options, ensure_certs, ensure_tree,
                     host_packages, install, run)

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE, PR_SET_PDEATHSIG = 0x20000, 0x4000, 0x40000, 1
FAKE = os.path.join(ROOT, "tests/fake")
STATE = os.path.join(ROOT, "tests/data/seed-cluster/state")
ROLE = {  # what IMDS hands out, and S3 knows
    "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "ASIALABLABLABLABLAB0",
    "SecretAccessKey": "lab/secret", "Token": "lab//token==", "LastUpdated": "2018-02-11T00:00:00Z",
    "Expiration": "2038-01-01T00:00:00Z",
}
REGION = "us-west-2"
ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
       "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb")}
IPS = {"nodes": "172.20.32.10", "master-us-west-2a": "172.20.32.20"}


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@functools.lru_cache(None)
def private_mounts():
    """What this process mounts from here on is its own and goes with its last child.  Returns what
    must start a container where the host's systemd minds about its cgroups."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise LabError("unshare: %s (the lab needs root)" % os.strerror(ctypes.get_errno()))
    os.makedirs("/run/netns", exist_ok=True)
    run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    if not os.path.isdir("/run/systemd/system"):
        os.makedirs("/run/systemd", exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", "/run/systemd")
        os.mkdir("/run/systemd/system")
        return []
    return ["systemd-run", "--scope", "--quiet", "-p", "Delegate=yes"]


@functools.lru_cache(None)
def cgroup_roots():
    """Where a systemd would look for its own cgroup: the unified hierarchy, and the named one."""
    with open("/proc/self/cgroup") as f:
        ours = dict(line.strip().split(":", 2)[1:] for line in f)
    roots = []
    with open("/proc/self/mounts") as f:
        for _, path, kind, options, *_ in map(str.split, f):
            if kind == "cgroup2":
                roots.append(path + ours[""].rstrip("/"))
            elif kind == "cgroup" and "name=systemd" in options:
                roots.append(path + ours["name=systemd"].rstrip("/"))
    return roots


def remove_cgroups(pattern):
    """Empty the trees of our own that match, leaves first; a dying process may hold one a moment."""
    for root in cgroup_roots():
        for top in glob.glob(os.path.join(root, pattern)):
            for _ in range(50):
                for path, _, _ in os.walk(top, topdown=False):
                    with contextlib.suppress(OSError):
                        os.rmdir(path)
                if not os.path.exists(top):
                    break
                time.sleep(0.02)


def remove_stale():
    """What a lab left whose owner is gone (it held a lock while it lived)."""
    for name in os.listdir(LAB):
        path = os.path.join(LAB, name)
        if not name.startswith("run-"):
            continue
        try:
            with open(os.path.join(path, "lock"), "a") as f:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
                remove_cgroups("nodeup-%s-*" % name)
        except OSError:
            continue


def make_layer(tree, path, packages):
    making = path + ".new"
    shutil.rmtree(making, ignore_errors=True)
    for name in ("upper", "work", "root"):
        os.makedirs(os.path.join(making, name))
    root = os.path.join(making, "root")
    run("mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s/upper,workdir=%s/work" % (
        tree, making, making), root)
    try:
        shutil.copyfile("/etc/resolv.conf", root + "/etc/resolv.conf")
        run("chroot", root, "apt-get", *apt_options(), "update")
        install(root, packages)
    finally:
        run("umount", root)
    shutil.copyfile(os.path.join(tree, "etc/resolv.conf"), os.path.join(making, "upper/etc/resolv.conf"))
    os.rename(making, path)


class Lab:
    """Host packages, tree, certificates and assets made once; nodes booted from them."""

    def __init__(self, packages=True, suite=SUITE):
        if packages:
            host_packages()
        os.makedirs(LAB, exist_ok=True)
        with open(os.path.join(LAB, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            remove_stale()
            ensure_certs()
            self.tree, self.cached = ensure_tree(suite)
            self.assets = labassets.ensure_assets()
            self.dir = tempfile.mkdtemp(prefix="run-", dir=LAB)
            self.lock = open(os.path.join(self.dir, "lock"), "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.nodes = []
        self.prefix = private_mounts()
        if "overlay" in run("stat", "-f", "-c", "%T", self.dir):
            run("mount", "-t", "tmpfs", "tmpfs", self.dir)  # no overlay on an overlay
        self.assets["nodeup"] = labassets.copy_nodeup(self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            node.stop()
        self.nodes = []
        shutil.rmtree(self.dir, ignore_errors=True)

    def layer(self, name, packages):
        """A folder of what these packages add to the tree, made once; one of a node's layers."""
        key = hashlib.sha256(repr([self.tree, packages]).encode()).hexdigest()[:12]
        # there is no overlay on an overlay
        store = self.dir if "overlay" in run("stat", "-f", "-c", "%T", LAB) else LAB
        path = os.path.join(store, "layer-%s-%s" % (name, key))
        with open(os.path.join(LAB, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(path):
                make_layer(self.tree, path, packages)
        return os.path.join(path, "upper")

    def boot(self, name, role, user_data, **options):
        """Boot a node that runs user_data as EC2 would; returns at once. options: see Node."""
        node = Node(self, name, role, **options)
        self.nodes.append(node)
        node.start(user_data)
        return node

    def describe(self):
        os_release = open(os.path.join(self.tree, "etc/os-release")).read()
        version = os_release.split('VERSION_ID="')[1].split('"')[0]
        systemd = run("chroot", self.tree, "systemctl", "--version").split()[1]
        return "Debian %s, systemd %s" % (version, systemd)


class Node:
    def __init__(self, lab, name, role, nspawn=(), docker_dir=True, more_facts=(), layers=(), http_tokens="optional", cgroup=2):
        """nspawn: further arguments; docker_dir: /var/lib/docker is a folder of the host, as docker
        has no overlay on an overlay; more_facts: what IMDS hands out besides; layers: folders over the tree;
        http_tokens: the kind of instance, "required" is one whose metadata service wants them, as kubelet of these
        versions has none; cgroup: the version of its cgroups."""
        self.lab, self.name, self.role = lab, name, role
        self.nspawn, self.more_facts, self.layers = list(nspawn), dict(more_facts), list(layers)
        self.docker_dir, self.http_tokens, self.cgroups = docker_dir, http_tokens, cgroup
        self.dir = os.path.join(lab.dir, name)
        self.root = os.path.join(self.dir, "root")
        self.netns = "nodeup-%s" % name
        self.cgroup = "nodeup-%s-%s" % (os.path.basename(lab.dir), name)
        self.machine, self.servers, self.pid = None, [], None
        self.state = STATE
        self.hostname = "ip-%s.%s.compute.internal" % (IPS[role].replace(".", "-"), REGION)

    def path(self, name):
        return os.path.join(self.dir, name)

    # -- life ---------------------------------------------------------------------------------

    def start(self, user_data):
        for name in ("upper", "work", "root", "docker", "log"):
            os.makedirs(self.path(name))
        run("mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s,workdir=%s" % (
            ":".join([*self.layers, self.lab.tree]), self.path("upper"), self.path("work")), self.root)
        seed = os.path.join(self.root, "var/lib/cloud/seed/nocloud")
        os.makedirs(seed, exist_ok=True)
        with open(os.path.join(seed, "meta-data"), "w") as f:
            f.write("instance-id: i-0%s\nlocal-hostname: %s\n" % (self.digest(), self.hostname))
        with open(os.path.join(seed, "user-data"), "w") as f:
            f.write(user_data)
        # no Kubernetes of the seed's time can run on cgroup v2; its stand-in can
        settings = os.path.join(self.root, "etc/nodeup/nodeup.d")
        os.makedirs(settings, exist_ok=True)
        with open(os.path.join(settings, "lab.yaml"), "w") as f:
            f.write("ignoreHostChecks: true\n")
        self.check_without_udev()
        self.start_network()
        self.start_servers(user_data)
        self.start_machine()

    def check_without_udev(self):
        """systemd's own unit waits for a device that udev would announce."""
        with open(os.path.join(self.root, "lib/systemd/system/systemd-fsck@.service")) as f:
            lines = [l.replace(" %i.device", "").replace("=%i.device", "=") for l in f if "BindsTo=" not in l]
        with open(os.path.join(self.root, "etc/systemd/system/systemd-fsck@.service"), "w") as f:
            f.writelines(lines)

    def digest(self):
        return hashlib.sha1(self.name.encode()).hexdigest()[:16]

    def start_network(self):
        run("ip", "netns", "add", self.netns)
        run("ip", "-n", self.netns, "link", "set", "lo", "up")
        for address in {"169.254.169.254", IPS[self.role], *NAMES.values()}:
            run("ip", "-n", self.netns, "addr", "add", address + "/32", "dev", "lo")

    def start_servers(self, user_data):
        self.serve_imds(self.facts(user_data))
        self.serve_s3([ROLE])
        conf = self.path("nginx.conf")
        with open(conf, "w") as f:
            f.write(labassets.nginx_conf(self.lab.dir, NAMES, CERTS))
        self.serve("nginx", "nginx", "-e", self.path("log/nginx.err"), "-p", self.dir, "-c", conf)
        self.wait(lambda: len(run("ip", "netns", "exec", self.netns, "ss", "-Hltn").splitlines()) >= 4,
                  10, "servers to listen")

    def serve_s3(self, roles):
        keys = self.path("keys.json")
        with open(keys, "w") as f:
            json.dump({role["AccessKeyId"]: [role["SecretAccessKey"], role["Token"]] for role in roles}, f)
        self.serve("s3", FAKE + "/s3.py", NAMES["s3.amazonaws.com"], "443", self.state,
                   CERTS + "/server.crt", CERTS + "/server.key", REGION, self.path("log/s3"), keys)

    def serve_imds(self, facts):
        path = self.path("facts.json")
        with open(path, "w") as f:
            json.dump(facts, f)
        self.serve("imds", FAKE + "/imds.py", "169.254.169.254", "80", path, self.path("log/imds"))

    def become(self, instance_id, role=None, http_tokens=None):
        """Be another instance, whose root volume is a copy of this one's; role: with these credentials; http_tokens: of
        that kind."""
        self.http_tokens = http_tokens or self.http_tokens
        with open(self.path("facts.json")) as f:
            facts = {**json.load(f), "instance-id": instance_id, "http-tokens": self.http_tokens}
        if role:
            facts["iam/security-credentials/lab"] = json.dumps(role)
            self.again(1, self.serve_s3, [ROLE, role])
        self.again(0, self.serve_imds, facts)
        wanted = ["169.254.169.254:80", NAMES["s3.amazonaws.com"] + ":443"]
        self.wait(lambda: all(address in run("ip", "netns", "exec", self.netns, "ss", "-Hltn") for address in wanted), 60,
                  "IMDS and S3")

    def again(self, index, serve, state):
        """One of the servers with another state."""
        server = self.servers.pop(index)
        server.kill()
        server.wait()
        serve(state)
        self.servers.insert(index, self.servers.pop())

    def serve(self, name, *command):
        log = open(self.path("log/%s.out" % name), "w")
        self.servers.append(subprocess.Popen(
            ["ip", "netns", "exec", self.netns, "unshare", "--pid", "--fork", "--kill-child",
             "--", *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=die_with_parent))

    def facts(self, user_data):
        return {
            "http-tokens": self.http_tokens, "user-data": user_data, "ami-id": "ami-0123456789abcdef0", "hostname": self.hostname,
            "local-hostname": self.hostname, "local-ipv4": IPS[self.role],
            "instance-id": "i-0" + self.digest(), "instance-type": "t2.medium",
            "mac": "02:00:00:00:00:01", "placement/region": REGION,
            "placement/availability-zone": REGION + "a", "services/domain": "amazonaws.com",
            "iam/security-credentials/lab": json.dumps(ROLE), **self.more_facts,
        }

    def start_machine(self):
        binds = ["--bind=%s:/var/lib/docker" % self.path("docker")] * self.docker_dir
        environ = dict(os.environ, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=str(self.cgroups - 1),
                       SYSTEMD_NSPAWN_API_VFS_WRITABLE="network")
        self.console = open(self.path("log/console"), "ab")
        self.machine = subprocess.Popen(
            self.lab.prefix + ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
             "systemd-nspawn", "-D", self.root, "--machine=" + self.name, "-b", "--register=no",
             "--keep-unit", "--network-namespace-path=/run/netns/" + self.netns, "--capability=all",
             "--system-call-filter=@keyring bpf", *binds, *self.nspawn,
             "--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=read-only"],
            stdin=subprocess.DEVNULL, stdout=self.console, stderr=self.console, env=environ,
            preexec_fn=self.enter_cgroup)
        # nspawn's first child only prepares: look again until systemd is what was found.
        self.wait(lambda: self.find_leader() and os.path.exists(
            "/proc/%d/root/run/systemd/private" % self.pid), 30, "systemd's socket")

    def enter_cgroup(self):
        """A cgroup for each node: two systemds in one would kill each other's services."""
        die_with_parent()
        for root in [] if self.lab.prefix else cgroup_roots():
            path = os.path.join(root, self.cgroup)
            os.makedirs(path, exist_ok=True)
            with open(path + "/cgroup.procs", "w") as f:
                f.write("0")

    def reboot(self):
        """As `reboot` on an instance: same disk, same addresses, nothing of /run."""
        self.exec("systemctl", "reboot", "--no-block")
        self.machine.wait(60)  # nspawn leaves a reboot to its caller
        self.start_machine()

    def find_leader(self):
        """The container's PID 1: the child of nspawn, the child of unshare."""
        if self.machine.poll() is not None:
            raise LabError("%s did not boot:\n%s" % (self.name, self.tail("log/console")))
        pid = self.machine.pid
        for _ in range(2):
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                children = f.read().split()
            if not children:
                return False
            pid = int(children[0])
        self.pid = pid
        return True

    def leader(self):
        return self.pid

    def tail(self, name, lines=20):
        with open(self.path(name), errors="replace") as f:
            return "".join(f.readlines()[-lines:])

    def stop(self):
        for child in [self.machine, *self.servers]:
            if child and child.poll() is None:
                child.kill()
                child.wait()
        self.machine, self.servers = None, []
        remove_cgroups(self.cgroup)
        subprocess.run(["umount", "-l", self.root], stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "netns", "del", self.netns], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    # -- looking and doing ----------------------------------------------------------------------

    def command(self, *argv):
        return ["nsenter", "-t", str(self.pid), "-a", "-r", "--", "env", "-i",
                *("%s=%s" % item for item in ENV.items()), *argv]

    def exec(self, *argv, timeout=120, check=False):
        """Run a program in the node; its CompletedProcess with text output."""
        done = subprocess.run(self.command(*argv), stdin=subprocess.DEVNULL, text=True,
                              errors="replace", capture_output=True, timeout=timeout)
        if check and done.returncode:
            raise LabError("%s: %s: status %d\n%s%s" % (self.name, " ".join(argv), done.returncode,
                                                        done.stdout[-2000:], done.stderr[-2000:]))
        return done

    def sh(self, script, timeout=120, check=True):
        return self.exec("bash", "-c", script, timeout=timeout, check=check).stdout

    def wait(self, ready, seconds, what, pause=0.05):
        """Looks less often after two seconds, as each look takes some of the processor that the node needs."""
        start = time.monotonic()
        while not ready():
            waited = time.monotonic() - start
            if waited > seconds:
                raise LabError("%s: waited %d s for %s" % (self.name, seconds, what))
            time.sleep(pause if waited < 2 else max(pause, 0.2))

    def show(self, unit, *properties):
        """systemctl show as a dict."""
        text = self.exec("systemctl", "show", unit, *("-p" + p for p in properties)).stdout
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    def wait_cloud_init(self, seconds):
        """Until cloud-init ended well.  Its command is asked once, as each time takes half a second of a processor."""
        self.wait(lambda: os.path.exists("/proc/%d/root/run/cloud-init/result.json" % self.pid), seconds, "cloud-init")
        status = self.exec("cloud-init", "status", "--long").stdout
        if "status: done" not in status:
            raise LabError("%s: %s%s" % (self.name, status, self.sh("tail -20 /var/log/cloud-init-output.log", check=False)))

    def wait_booted(self, seconds):
        """Until multi-user.target is active and each mount that the boot asked for was tried.  A mount that may fail holds
        no target, and systemd itself puts mounts off for a second where many came at once."""
        def is_booted():
            jobs = self.exec("systemctl", "list-jobs", "--no-legend").stdout
            return self.show("multi-user.target", "ActiveState").get("ActiveState") == "active" and ".mount " not in jobs
        self.wait(is_booted, seconds, "the boot")

    def wait_active(self, unit, seconds):
        self.wait(lambda: self.show(unit, "ActiveState").get("ActiveState") == "active", seconds,
                  "%s to be active" % unit)

    def journal(self, unit=None, lines=None):
        return self.exec("journalctl", "--no-pager", *(["-u", unit] if unit else []),
                         *(["-n%d" % lines] if lines else [])).stdout

    def healthz(self):
        return self.exec("curl", "-sS", "--max-time", "2", "http://127.0.0.1:10248/healthz").stdout

    def requests(self):
        """What nginx served: dicts of msec, host, method, uri, status, bytes, seconds."""
        names = ("msec", "host", "method", "uri", "status", "bytes", "seconds")
        with open(self.path("log/access")) as f:
            return [dict(zip(names, line.split())) for line in f]

    def imds_log(self):
        with open(self.path("log/imds")) as f:
            return f.read()

    def s3_log(self):
        with open(self.path("log/s3")) as f:
            return f.read()

    def shell(self):
        return subprocess.call(self.command("bash", "-l"))


def interruptible():
    """SIGTERM and SIGHUP end the process through its finally blocks."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


__all__ = ["HERE", "LAB", "Lab", "LabError", "Node", "ROOT", "interruptible"]
