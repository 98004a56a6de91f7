"""Damages to a node that is right, by the kinds of its plan's tasks: each ends healed or named, and nothing else happens meanwhile."""
import collections
import hashlib
import json
import os
import re
import shlex
import stat
import subprocess
import time

import nodechecks
from labhost import LabError

UNITS, CACHE = "/etc/systemd/system/", "/var/cache/nodeup/"
PACKAGES, RULES = "/var/lib/dpkg/status", "kubernetes-iptables-setup.service"
# {runtime: its socket}
RUNTIMES = {"containerd.service": "/run/containerd/containerd.sock", "docker.service": "/run/docker.sock"}
# those that nodeup asks whether they answer
ASKED = ["kubelet.service", *RUNTIMES]
# A program that runs cannot be written to: another takes its place.
ANOTHER = "cp -p --remove-destination {n} {beside} && "
FILE = {
    "removed": "rm {n}",
    "emptied": ANOTHER + ": >{beside} && mv {beside} {n}",
    "cut": ANOTHER + "truncate -s $(($(stat -c %s {n}) / 2)) {beside} && mv {beside} {n}",
    "a folder": "rm {n} && mkdir {n} && echo mine >{n}/mine",
    "a link": "mv {n} {beside} && ln -s {beside} {n}",
    "a dead link": "ln -sfn /nowhere {n}",
    "another mode": "chmod 4777 {n}",
    "another owner": "chown 65534:65534 {n}",
}
# What is done to the host around it: (what must be named, what a shell does, how it is undone).
FLAGS, SETTINGS, BIN, NETWORKS = "/etc/sysconfig/kubelet", "/etc/nodeup/nodeup.d/99-broken.yaml", "/usr/local/bin", "/etc/cni/net.d"
IMDS = "http://169.254.169.254"
FILL = ("echo '# damaged' >>{flags}; cp -a {n} /root/full && mount -t tmpfs -o size=$(($(du -sk {n} | cut -f 1) + 64))k none {n} && "
        "cp -a /root/full/. {n} && ! cat /dev/zero >{n}/fill")
HOST = {
    "read-only": ("/etc", "echo '# damaged' >>{flags}; mount --bind {n} {n} && mount -o remount,bind,ro {n}", "umount -l {n}"),
    "full of what is kept": ("/var/lib/nodeup", FILL, "umount -l {n}; rm -r /root/full"),
    "full of what a boot has": ("/run/nodeup", FILL, "umount -l {n}; rm -r /root/full"),
    "immutable": (FLAGS, "echo '# damaged' >>{n}; chattr +i {n}", "chattr -i {n}"),
    "not for programs": (BIN, "systemctl stop kubelet; mount --bind {n} {n} && mount -o remount,bind,noexec {n}", "umount -l {n}"),
    "a port that is taken": ("10248", "systemctl stop kubelet; systemd-run -q --unit=taken python3 -m http.server {n} --bind 127.0.0.1",
                             "systemctl stop taken"),
    "a runtime without its program": ("docker.service", "systemctl stop docker.socket docker; mv /usr/sbin/dockerd /root", "mv /root/dockerd /usr/sbin"),
    "another name": ("other.example", "hostname >/root/hostname; hostname {n}", "hostname $(cat /root/hostname)"),
    # the network's own, which a pod of it puts there, is not on every node of the lab
    "a network before ours": (NETWORKS + "/00-others.conf", "echo '{{\"name\": \"x\", \"type\": \"bridge\"}}' | tee {n} $(dirname {n})/00-own.conf",
                              "rm {n} $(dirname {n})/00-own.conf"),
    "a metadata service that is silent": (IMDS + "/latest/api/token", f"iptables -I OUTPUT -d {IMDS[7:]} -j DROP", f"iptables -D OUTPUT -d {IMDS[7:]} -j DROP"),
    "a resolver that is silent": ("/etc/resolv.conf", "cp /etc/hosts /root/hosts; cp -P {n} /root/resolv; sed '/amazonaws[.]com/d' /root/hosts >/etc/hosts; "
                                  "echo nameserver 192.0.2.1 >{n}; iptables -I OUTPUT -d 192.0.2.1 -j DROP",
                                  "iptables -D OUTPUT -d 192.0.2.1 -j DROP; cp -P /root/resolv {n}; cat /root/hosts >/etc/hosts"),
    "a drop-in of this boot": ("/run/systemd/system/kubelet.service.d/10-x.conf",
                               "mkdir -p $(dirname {n}); printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' >{n}; systemctl daemon-reload; "
                               "systemctl restart kubelet", "rm {n}; systemctl daemon-reload; systemctl reset-failed kubelet; systemctl restart kubelet"),
    "without an inode": ("/var/lib/nodeup", "echo '# damaged' >>{flags}; cp -a {n} /root/full && mount -t tmpfs -o "
                         "nr_inodes=$(($(find {n} | wc -l) + 8)) none {n} && cp -a /root/full/. {n}; "
                         "i=0; while : >{n}/fill$i; do i=$((i + 1)); done 2>/dev/null; true", "umount -l {n}; rm -r /root/full"),
    "full of programs, and one is gone": (BIN, f"for a in 1 256; do cp -p {{n}}/kubelet {CACHE}sha$a/$(sha\"$a\"sum {{n}}/kubelet | cut -d ' ' -f 1) 2>/dev/null; done; "
                                          + FILL + "; rm {n}/kubelet; ! cat /dev/zero >{n}/more",
                                          f"umount -l {{n}}; rm -r /root/full; for a in 1 256; do rm -f {CACHE}sha$a/$(sha\"$a\"sum {{n}}/kubelet | cut -d ' ' -f 1); done"),
    "settings that do not parse": (SETTINGS, "mkdir -p $(dirname {n}); echo '{{' >{n}", "rm {n}"),
}
SET_STATUS = "sed -i '/^Package: {n}$/,/^$/ s/^Status: .*/Status: deinstall ok config-files/' " + PACKAGES
# {kind: {how: what a shell does}}. {n} is the thing's name, {beside} a path for what was there.
DAMAGES = {
    "file": FILE,
    "install": FILE,
    "program": FILE,
    "dir": {
        "removed": "rm -r {n}",
        "emptied": "find {n} -mindepth 1 -delete",
        "a file": "mv {n} {beside} && echo mine >{n}",
        "a link": "mv {n} {beside} && ln -s {beside} {n}",
        "another mode": "chmod 1777 {n}",
    },
    "link": {
        "removed": "rm {n}",
        "a file": "rm {n} && echo mine >{n}",
        "a folder": "rm {n} && mkdir {n}",
        "a dead link": "ln -sfn /nowhere {n}",
    },
    "hosts": {
        "another address": "sed -i '/^# Begin host entries/,/^# End host/ s/^172[.]/173./' {n}",
        "another name": "sed -i '/^# Begin host entries/,/^# End host/ s/kops-controller[.]internal/other.internal/' {n}",
        "cut": "sed -i '/managed by kops/,$d' {n}",
        "without its end": "sed -i '/^# End host/d' {n}",
    },
    "sysctl": {"set": "sysctl -qw {n}={other}"},
    "rules": {"dropped": "iptables -P {n} DROP; while iptables -D {n} -p tcp -j ACCEPT 2>/dev/null; do :; done"},
    "user": {"removed": "userdel -f {n}"},
    "image": {"removed": "{remove}"},
    "unit": {
        "stopped": "systemctl stop {n}",
        "killed": "kill -KILL {pid}",
        "frozen": "kill -STOP {pid}",
        "without its socket": "rm {socket}",
        "disabled": "systemctl disable {n}",
        "masked": "systemctl stop {n}; ln -sfn /dev/null {own} && systemctl daemon-reload",
        "gone": "rm {own} && systemctl daemon-reload",
    },
    # a link of ours that leads nowhere, of which systemd says nothing; and what is mounted, without its file
    "drop-in": {"a dead link": "ln -sfn /nowhere {n}"},
    "manifest": {"a folder, and kubelet is stopped": "systemctl stop kubelet; " + FILE["a folder"]},
    "mount": {"a link and disabled": "mv {n} {beside} && ln -s {beside} {n}; systemctl disable {unit}"},
    "package": {"removed": SET_STATUS, "removed, of comfort": SET_STATUS},
    "cached": {how: FILE[how] for how in ("removed", "emptied", "cut", "a folder", "a dead link", "another mode")},
    "document": {how: FILE[how] for how in ("removed", "emptied", "cut")},
    "host": {how: script for how, (_, script, _) in HOST.items()},
    "record": {
        "removed": "rm -r {n}",
        "emptied": ": >{n}",
        "junk": "head -c 300 /dev/urandom >{n}",
    },
}
# {kind: what shows a thing of it}; of all others it is a path. A damage after which it looks as before is none.
SHOWN = {
    "sysctl": "sysctl -n {n}",
    "rules": "iptables -S {n}",
    "user": "getent passwd {n}",
    "image": "if systemctl -q is-active docker; then docker images; else ctr -n k8s.io images ls -q; fi",
    "unit": "systemctl show -p ActiveState,MainPID,UnitFileState,LoadState {n}; ls -l {own} {socket}; grep State:.T /proc/{pid}/status",
    "package": "sed -n '/^Package: {n}$/,/^$/p' " + PACKAGES,
    "host": "findmnt -no OPTIONS {n}; df {n}; lsattr -d {n}; hostname; ls -l {n} /usr/sbin/dockerd; systemctl is-active taken; iptables -S OUTPUT; df -i {n}",
}
SHOWN_PATH = "stat -c '%f %u %g %N' {n}; find {n} -maxdepth 1 -printf '%f %i\\n' | sort; sha256sum {n}"
# (kind, how, name, units that it may start anew, where {0} is what the name has in brackets). The first counts; without one nothing
# may begin anew. A client of docker's ends with the daemon.
OF_DOCKER = ["docker.service", "protokube.service"]
CONCERNS = [
    ("unit", "disabled", ".*", []),
    ("unit|host", ".*", "docker[.]service", OF_DOCKER),
    ("unit", ".*", "(.*)", ["{0}"]),
    ("host", "another name|a network before ours|settings that do not parse|a metadata.*|a resolver.*", ".*", []),
    ("host", ".*", ".*", ["kubelet.service"]),
    ("file|drop-in", ".*", "/etc/systemd/system/([^/]+?)([.]d/.*)?", ["{0}"]),
    ("file", ".*", "/opt/kops/bin/iptables-setup", [RULES]),
    ("file", ".*", "/var/lib/kops/kubeconfig", ["protokube.service"]),
    ("file", ".*", "/etc/sysconfig/docker|/opt/kubernetes/helpers/docker-prestart", OF_DOCKER),
    ("file", ".*", "/etc/sysconfig/kubelet|/var/lib/kubelet/.*|/srv/kubernetes/ca[.]crt", ["kubelet.service"]),
    ("dir", "emptied|a file", "/srv/kubernetes|/var/lib/kubelet", ["kubelet.service"]),
    ("install", ".*", "/usr/local/bin/kubelet", ["kubelet.service"]),
    # the programs of its archive, and the one that it asks for its features when it starts
    ("install", ".*", "/usr/bin/containerd.*|/usr/bin/ctr|/usr/sbin/runc", ["containerd.service"]),
    ("rules", ".*", ".*", [RULES]),
]
# A word of what to do, where a message has one line.
COMMAND = re.compile(r"\b(nodeup (repair|apply|plan|check|why)|systemctl|chattr|umount|mount -|or remove|hostname(ctl)?|ss|df|du|kill|look at|check that) ?\S")
# What they end with, and how long they may take on a machine that is busy.
RUN = (0, 65, 69, 71, 73, 75, 78)
DOCUMENTED = {"status": range(5), "plan": (2, *RUN), "apply": RUN, "repair": RUN}
SECONDS = {"status": 20, "plan": 60}
# Kinds of tasks that have nothing of their own to damage here, and why.
UNTOUCHED = {
    "asset": "its file in the cache is `cached`", "unpack": "its members are `install`", "reload": "a unit that is `gone` is reloaded",
    "volume": "its mount is a `unit`", "stop": "once, before a move", "move": "once, and no test damages data", "resume": "once, after a move",
    "pull": "what it pulls is an `image`", "module": "the kernel is the host's", "stray": "this image has none of them",
    "ipv6 prefix": "the instance has none", "keyring": "no archive of packages is here", "lifecycle hook": "the group is told once",
}
# What is there and stays, though it is not what nodeup would make; and why.
LEFT = [
    ("dir", "a link", "", "a link to a directory serves as one: an admin moved it to a bigger disk"),
    ("link", "a file|a folder|a dead link", "", "whatever is there was put there by a person or a package"),
    ("package", "removed", "apt-transport-https", "apt provides it by now"),
    ("file", "emptied|cut|a link|a dead link|another mode|another owner", "/var/log/.*", "a log is its program's once it is there"),
    ("file", "a folder|a link|a dead link|another .*", "/home/.*", "a person's own"),
]
RECORDS = """/var/lib/nodeup /run/nodeup/status.json /run/nodeup/started /var/lib/nodeup/state /var/lib/nodeup/conf /var/lib/nodeup/identity /var/lib/nodeup/runs
    /var/cache/nodeup/verified""".split()
# source: the table in nodeup/plan/build_packages.c
COMFORT = ["logrotate", "chrony", "ntp", "unattended-upgrades"]
# containerd may make it again before a plan has looked
BY_ITSELF = "/etc/cni/net.d"
PLACES, OWN = ["/etc", "/home", "/opt", "/srv", "/usr/local"], ["/var/lib/nodeup", "/var/cache/nodeup"]
# What a run writes of itself, what useradd keeps, and what was set aside. Whether a unit is enabled is asked of systemd, which does not read rc.d.
NOTES = re.compile(r"/var/lib/nodeup/runs(/.*)?|/etc/\.pwd\.lock|/etc/(passwd|group|g?shadow|sub[ug]id)-?|/etc/rc.\.d/.*|.*\.nodeup-old.*|"
                   r"/etc/systemd/system/[^/]*\.(wants|requires)(/.*)?")
# its date is when its source last had the same
KEPT = "/var/lib/nodeup/documents.json"
LOGGED = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} .{8}", re.M)
CHANGED = re.compile(r"^\S+ info +changed .*$", re.M)
DEADLINE = "--deadline=150s"
TOGETHER = 6
# What a node of today's kops has besides, so that more kinds of tasks are there.
KOPS = {
    "VolumeMounts": [{"device": "/dev/xvdb", "path": "/data", "filesystem": "ext4"}],
    "FileAssets": [{"name": "mine", "path": "/etc/mine.conf", "content": "of the user\n", "mode": "0640"}],
    "Hooks": [[{"name": "mine", "manifest": "Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"}], None],
}


class Thing:
    """What can be damaged, in which ways, and the words of their scripts."""

    def __init__(self, kind, name, hows, **words):
        self.kind, self.name, self.hows, self.words = kind, name, list(hows), words


class Row:
    """One damage."""

    def __init__(self, thing, how):
        self.kind, self.name, self.how, self.words = thing.kind, thing.name, how, thing.words
        self.title = f"{how}: {thing.kind} {thing.name}"
        beside = "/root/beside" + thing.name.replace("/", "-")
        self.beside, self.keeps = shlex.quote(beside), shlex.quote(beside + ".kept")
        words = {key: shlex.quote(word) if key != "remove" else word for key, word in thing.words.items()}
        self.script = DAMAGES[thing.kind][how].format(n=shlex.quote(thing.name), beside=self.beside, flags=FLAGS, **words)

    def what(self):
        """The path that it is done to; None: something else than a path, or all that is there."""
        if self.kind == "host":
            return None
        if self.kind == "unit":
            return self.words["own"]
        return PACKAGES if self.kind == "package" else self.name if self.name.startswith("/") else None

    def shown(self):
        """What shows whether it was done."""
        words = {"own": "", "socket": "", "pid": "0", **self.words}
        return SHOWN.get(self.kind, SHOWN_PATH).format(**{key: shlex.quote(word) if word else "" for key, word in {**words, "n": self.name}.items()})

    def concerned(self):
        """The units that it may start anew."""
        for kind, how, name, units in CONCERNS:
            found = re.fullmatch(name, self.name)
            if re.fullmatch(kind, self.kind) and re.fullmatch(how, self.how) and found:
                return {unit.format(*found.groups()) for unit in units}
        return set()

    def why_left(self):
        return next((why for kind, how, name, why in LEFT if kind == self.kind and re.fullmatch(how, self.how)
                     and re.fullmatch(name or ".*", self.name)), None)


def hows_of_file(size, hows):
    """One that is empty cannot be cut."""
    return [how for how in hows if size > 1 or how not in ("emptied", "cut")]


def chosen(able, how, number):
    """Those of a kind that are damaged in this way: other ones for each way; of units always kubelet and the runtime."""
    if not able or able[0].kind != "unit" or how not in ("stopped", "killed", "frozen", "masked"):
        return able[7 * number % len(able):][:1] if able else []
    others = [thing for thing in able if thing.name not in ASKED]
    return [thing for thing in able if thing.name in ASKED] + (others[7 * number % len(others):][:1] if others else [])


def rows_of(things):
    """The same ones each time."""
    return [Row(thing, how) for kind, hows in DAMAGES.items() for number, how in enumerate(hows)
            for thing in chosen([t for t in things if t.kind == kind and how in t.hows], how, number)]


def touches(a, b):
    return a.what() and b.what() and (f"{a.what()}/".startswith(f"{b.what()}/") or f"{b.what()}/".startswith(f"{a.what()}/"))


def is_healed_beside_others(row):
    return (row.kind not in ("package", "record", "cached", "document", "host") and row.how not in ("frozen", "killed", "without its socket", "masked")
            and (row.kind, row.how) != ("dir", "a file") and row.name != BY_ITSELF and not row.why_left())


def together(rows):
    """The same rows, in lists that one run heals: all of a list may start the same units anew, and none is a part of another."""
    made = []
    for row in rows:
        fits = [batch for batch in made if is_healed_beside_others(row) and len(batch) < TOGETHER and is_healed_beside_others(batch[0])
                and batch[0].concerned() == row.concerned() and not any(touches(row, other) or row.name == other.name for other in batch)]
        (fits or [made.append([]) or made[-1]])[0].append(row)
    return made


def batches(rows, number):
    """Lists of rows that a run heals all at once: of each kind of thing one, and of each way to damage it."""
    able = [row for row in rows if is_healed_beside_others(row)]
    counts, made, seen = collections.Counter(row.kind for row in able), [[] for _ in range(number)], set()
    for row in sorted(able, key=lambda row: counts[row.kind]):
        if not {("kind", row.kind), ("how", row.how)} <= seen and not any(touches(row, other) for batch in made for other in batch):
            seen |= {("kind", row.kind), ("how", row.how)}
            min(made, key=len).append(row)
    return made


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def messages(text):
    """Each with the lines below it that are further in."""
    return re.findall(r"^\S.*(?:\n[ \t]+.*)*", text, re.M)


def names(text, name):
    """As a whole, or what is below it."""
    return re.search(r"(?<![\w./-])%s(?![\w.-]*\w)" % re.escape(name), text)


def message_of(text, row):
    """The one that names the thing, and what to do; None: there is none."""
    return next((message for message in messages(text) if names(message, row.name)
                 and (re.search(r"^ +(do|next) +\S", message, re.M) or COMMAND.search(message))), None)


def difference(was, now):
    return "".join(f"\n    {key}: was {was.get(key)}, is {now.get(key)}" for key in sorted({*was, *now}) if was.get(key) != now.get(key))


class Damaged:
    """A node whose first run ended well, and whose plan has nothing to do."""

    def __init__(self, node, nodeup, document):
        """nodeup: runs it with these arguments in the node; document: where its first one lies."""
        self.node, self.nodeup, self.document = node, nodeup, document
        # as it is put back
        node.sh(f"chmod 600 {document}")
        planned = self.plan()
        if planned.returncode:
            raise LabError(f"it is not right to begin with: {planned.stdout}{planned.stderr}")
        self.tasks = {}
        for task in json.loads(planned.stdout)["tasks"]:
            self.tasks.setdefault(task["kind"], []).append(task["name"])
        unknown = set(self.tasks) - set(DAMAGES) - set(UNTOUCHED)
        if unknown:
            raise LabError(f"kinds of tasks that no damage is for: {unknown}")
        self.units = self.show_units()
        self.things = [*self.paths(), *self.services(), *self.kernels(), *self.others()]
        self.named = [thing.name for thing in self.things if thing.kind in ("file", "install", "program", "link", "dir", "document")]
        self.rows = rows_of(self.things)
        self.right = self.look()

    def plan(self):
        return self.nodeup("plan", "-o", "json")

    # -- what can be damaged ------------------------------------------------------------------

    def on_host(self, path):
        return self.node.root + path

    def paths(self):
        # a member that no archive has is left out
        installed = self.text("/var/lib/nodeup/state").splitlines()
        for kind in ("file", "install", "program", "link", "dir", "hosts"):
            for name in sorted(self.tasks.get(kind, [])):
                if not os.path.lexists(self.on_host(name)) or (kind == "install" and not any(line.endswith(" " + name) for line in installed)):
                    continue
                st = os.lstat(self.on_host(name))
                hows = hows_of_file(st.st_size, DAMAGES[kind])
                if kind == "dir":
                    # what is mounted there cannot be moved away
                    if self.node.exec("sh", "-c", f"findmnt -rno TARGET | grep -q '^{name}\\(/\\|$\\)'").returncode == 0:
                        continue
                    hows = [how for how in hows if how != "emptied" or os.listdir(self.on_host(name))]
                if kind == "hosts" and "kops-controller.internal" not in self.text(name):
                    hows.remove("another name")
                yield Thing(kind, name, hows)
                if name.startswith(UNITS + "kubelet.service.d/"):
                    yield Thing("drop-in", name, DAMAGES["drop-in"])
                if name.startswith("/etc/kubernetes/manifests/"):
                    yield Thing("manifest", name, DAMAGES["manifest"])
                if re.fullmatch(UNITS + "data[.]mount", name):
                    yield Thing("mount", name, DAMAGES["mount"], unit="data.mount")

    def text(self, path):
        with open(self.on_host(path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def show_units(self):
        """{unit: what systemd says of it}"""
        names = sorted(self.tasks.get("unit", []))
        text = self.node.exec("systemctl", "show", "-p", "Names,Type,ActiveState,UnitFileState,FragmentPath,MainPID", *names).stdout
        return {name: dict(line.split("=", 1) for line in block.splitlines()) for name, block in zip(names, text.strip().split("\n\n"))}

    def services(self):
        for name, unit in self.units.items():
            is_active, own = unit["ActiveState"] == "active", UNITS + name
            hows = ["stopped"] * (is_active and unit.get("Type") != "oneshot") + ["masked"] * is_active
            hows += ["gone"] * (is_active and unit["FragmentPath"] == own)
            # systemd loses sight of a service whose names change
            hows += ["disabled"] * (unit["UnitFileState"] == "enabled" and unit["Names"] == name)
            if unit.get("MainPID", "0") != "0":
                hows += ["killed"] + ["frozen"] * (name in ASKED) + ["without its socket"] * (name in RUNTIMES)
            yield Thing("unit", name, hows, pid=unit.get("MainPID", "0"), own=own, socket=RUNTIMES.get(name, ""))

    def kernels(self):
        for path in self.tasks.get("sysctl", []):
            for key, value in re.findall(r"^(net\.ipv4\.(?!neigh)[\w.]+)\s*=\s*([01])$", self.text(path), re.M):
                yield Thing("sysctl", key, ["set"], other="1" if value == "0" else "0")
        if self.units.get(RULES, {}).get("ActiveState") == "active":
            yield Thing("rules", "FORWARD", ["dropped"])

    def others(self):
        has_docker = self.units.get("docker.service", {}).get("ActiveState") == "active"
        for name in self.tasks.get("image", []):
            yield Thing("image", name, ["removed"], remove=f"docker rmi -f {shlex.quote(name)}" if has_docker else
                        "ctr -n k8s.io images rm $(ctr -n k8s.io images ls -q | sort | head -n 1)")
        users, packages = self.text("/etc/passwd"), self.text(PACKAGES)
        for name in self.tasks.get("user", []):
            yield Thing("user", name, ["removed"] * (f"\n{name}:" in users))
        for name in sorted({name for names in self.tasks.get("package", []) for name in names.split()}):
            is_there = re.search(rf"^Package: {re.escape(name)}\nStatus: install ok installed$", packages, re.M)
            yield Thing("package", name, ["removed, of comfort" if name in COMFORT else "removed"] if is_there else [])
        for folder in sorted(name for name in os.listdir(self.on_host(CACHE)) if name.startswith("sha")):
            for name in sorted(os.listdir(self.on_host(CACHE + folder))):
                size = os.lstat(self.on_host(f"{CACHE}{folder}/{name}")).st_size
                yield Thing("cached", f"{CACHE}{folder}/{name}", hows_of_file(size, DAMAGES["cached"]))
        yield Thing("document", self.document, DAMAGES["document"])
        has_networks = os.path.isdir(self.on_host(NETWORKS))
        has_store = "s3://" in self.text(self.document)
        for how, (name, _, _) in HOST.items():
            is_here = next((is_here for start, is_here in (("docker.service", has_docker), (NETWORKS, has_networks), (IMDS, has_store),
                                                           ("/etc/resolv.conf", has_store)) if name.startswith(start)), True)
            yield Thing("host", name, [how] * is_here)
        for path in RECORDS:
            kind = self.node.sh(f"stat -c %F {path} 2>/dev/null", check=False).strip()
            yield Thing("record", path, {"": [], "directory": ["removed"]}.get(kind, DAMAGES["record"]))

    def untouched(self):
        """What no row is of: each kind of the plan, and of the table."""
        touched = {row.kind for row in self.rows}
        return sorted((set(self.tasks) | set(DAMAGES)) - touched)

    # -- what is there ------------------------------------------------------------------------

    def walk(self, places):
        for place in places:
            for folder, names, files in os.walk(self.on_host(place)):
                for real in [folder, *(os.path.join(folder, n) for n in files + [n for n in names if os.path.islink(os.path.join(folder, n))])]:
                    if not NOTES.fullmatch(real[len(self.node.root):]):
                        yield real[len(self.node.root):], os.lstat(real)

    def look(self):
        """What is at each path, and what systemd, the kernel, its filter and the runtime have."""
        found = self.effects()
        for path, st in [*self.walk(PLACES), *((p, os.lstat(self.on_host(p))) for p in [*self.named, PACKAGES] if os.path.lexists(self.on_host(p)))]:
            what = os.readlink(self.on_host(path)) if stat.S_ISLNK(st.st_mode) else digest(self.on_host(path)) if stat.S_ISREG(st.st_mode) else ""
            # what a program writes of its own accord
            found[path] = (oct(st.st_mode), st.st_uid, st.st_gid, what if not path.startswith("/var/log/") else "")
        return found

    def effects(self):
        quoted = " ".join(map(shlex.quote, self.units))
        active = " ".join(shlex.quote(name) for name, unit in self.units.items() if unit["ActiveState"] == "active" and unit.get("Type") != "oneshot")
        keys = " ".join(thing.name for thing in self.things if thing.kind == "sysctl")
        users = " ".join(thing.name for thing in self.things if thing.kind == "user" and thing.hows)
        text = self.node.sh(f"systemctl is-enabled {quoted}; systemctl show -p Id,ActiveState,LoadState,NeedDaemonReload {active}; sysctl {keys or '-V'};"
                            f"getent passwd {users or 'root'} | cut -d: -f1,6,7; "
                            "iptables -S FORWARD | grep -q -e '-P FORWARD ACCEPT' -e '-p tcp -j ACCEPT' && echo tcp is let through;"
                            "hostname; curl -s --max-time 2 http://127.0.0.1:10248/healthz; echo;"
                            "if systemctl -q is-active docker; then timeout 10 docker images --format '{{.Repository}}:{{.Tag}}';"
                            "else timeout 10 ctr -n k8s.io images ls -q; fi | sort", check=False)
        return {"effects": text.splitlines()}

    def marks(self):
        """A mark of each file, which is another one when anything was written, be it the same."""
        found = {}
        for path, st in self.walk(PLACES + OWN):
            found[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_mtime_ns, st.st_ctime_ns)[:6 if path != KEPT else 4]
        return found

    def pids(self):
        return {name: self.node.show(name, "MainPID").get("MainPID", "0") for name, unit in self.units.items() if unit.get("MainPID", "0") != "0"}

    def pods(self):
        """The processes that runtimes started."""
        return set(self.node.sh("for shim in $(pgrep -f containerd-shim); do pgrep -P $shim; done", check=False).split())

    def left(self, tries=4):
        """What is not as it was; what was just started gets some seconds."""
        for number in range(tries):
            if number:
                self.node.exec("sleep", "3")
            found = difference(self.right, self.look())
            if not found:
                break
        return found

    # -- a damage and its end -----------------------------------------------------------------

    def shown(self, row):
        return self.node.sh(f"({row.shown()}) 2>&1", check=False)

    def do(self, row):
        if row.how in ("frozen", "without its socket"):
            nodechecks.settle(self.node, row.name)
        if row.how in ("killed", "frozen"):
            # by now it may be another process
            row.words["pid"] = self.node.show(row.name, "MainPID")["MainPID"]
            row.script = f"kill -{'KILL' if row.how == 'killed' else 'STOP'} {row.words['pid']}"
        path, before = row.what(), self.shown(row)
        if path:
            self.node.sh(f"rm -rf {row.beside} {row.keeps}; cp -a {shlex.quote(path)} {row.keeps}", check=False)
        self.node.sh(row.script)
        if row.how == "killed":
            self.node.wait(lambda: self.node.show(row.name, "SubState")["SubState"] != "auto-restart", 60, row.name + " to be tried again")
        if self.shown(row) == before:
            raise LabError(f"{row.title}: the damage changed nothing: {row.script}\n{before}")

    def restore(self, row):
        """By hand; then nothing may be to do."""
        path = row.what()
        script = f"kill -CONT {row.words['pid']} 2>/dev/null; " if row.how == "frozen" else ""
        if row.kind == "host":
            script = HOST[row.how][2].format(n=shlex.quote(row.name)) + "; "
        if path:
            script += f"rm -rf {shlex.quote(path)}; if [ -e {row.keeps} ] || [ -L {row.keeps} ]; then cp -a {row.keeps} {shlex.quote(path)}; fi; "
        if row.kind in ("unit", "mount"):
            unit = shlex.quote(row.words.get("unit", row.name))
            script += "systemctl daemon-reload; systemctl reset-failed; "
            script += f"systemctl stop {unit}; systemctl restart docker.socket; " * ("socket" in row.how)
            script += f"systemctl enable {unit}; " * ("disabled" in row.how) + f"systemctl start {unit}"
        self.node.sh(script, check=False)

    def end(self, rows, healed):
        """Whatever became of them, the node is right again."""
        # what nodeup keeps of its own may be gone for good
        healed = healed and not any(row.kind in ("host", "cached") for row in rows)
        for row in rows if not healed else []:
            self.restore(row)
        self.node.sh(f"find {' '.join(PLACES + OWN)} {os.path.dirname(self.document)} -name '*.nodeup-old*' -prune -exec rm -rf {{}} + ;"
                     "rm -rf /root/beside*", check=False)
        if not healed:
            done = self.nodeup("repair", DEADLINE)
            if done.returncode or self.left():
                raise LabError(f"it could not be made right again:\n{done.stderr}{self.left()}")

    def try_out(self, rows, command="repair"):
        """Do them all, look, repair, run again: (verdict, what status, plan and the command ended with, why)."""
        try:
            verdict, codes, why = self.judge(rows, command)
        except subprocess.TimeoutExpired as error:
            verdict, codes, why = "HUNG", [], str(error)
        except (LabError, OSError, ValueError) as error:
            verdict, codes, why = "WRONG", [], str(error)
        self.end(rows, verdict in ("healed", "right"))
        return verdict, codes, why

    def timed(self, command, *flags):
        """It, and what is wrong with how it ended."""
        start = time.monotonic()
        done = self.nodeup(command, *flags)
        seconds, wrong = time.monotonic() - start, []
        if done.returncode not in DOCUMENTED[command]:
            wrong.append(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if seconds > SECONDS.get(command, 300):
            wrong.append(f"{command} took {seconds:.0f} s")
        if done.returncode and not done.stderr + done.stdout:
            wrong.append(f"{command} ended with {done.returncode} and without a word")
        return done, wrong

    def judge(self, rows, command):
        for row in rows:
            self.do(row)
        damaged = {row.title: self.shown(row) for row in rows}
        broken, was, pods = self.marks(), self.pids(), self.pods()
        status, wrong = self.timed("status")
        planned, more = self.timed("plan", "-o", "json")
        wrong += more + ["a plan changed:" + found for found in [difference(broken, self.marks())] if found]
        wrong += self.unseen(rows) if planned.returncode == 2 else []
        # what systemd tries again and again is none that runs
        was = {unit: pid if pid == self.pids()[unit] else "0" for unit, pid in was.items()}
        said = json.loads(planned.stdout) if planned.returncode in (0, 2) else {}
        stays = [row for row in rows if self.shown(row) == damaged[row.title]]
        done, more = self.timed(command, DEADLINE)
        undone = [row for row in stays if self.shown(row) != damaged[row.title]]
        codes, left = [status.returncode, planned.returncode, done.returncode], self.left(1 if all(row.why_left() for row in rows) else 4)
        wrong += more + self.restarted(rows, said.get("restarts", []) if said else None, was, pods, done.returncode)
        tasks = [f"{t['kind']} {t['name']}: {t.get('why', '')} {t.get('error', '')}" for t in said.get("tasks", []) if t["state"] != "right"]
        told = LOGGED.sub("", "\n".join([*tasks, *said.get("warnings", []), planned.stderr, status.stdout, done.stdout, done.stderr]))
        if done.returncode == 0 and not left and not any(row.kind == "host" for row in rows):
            wrong += self.again()
            verdict = "healed" if planned.returncode == 2 or CHANGED.search(done.stderr) else "right"
            # nothing of the node needs what nodeup keeps of its own; of a unit that has two reasons the first is told; an archive may have others' images
            wrong += [f"{row.title}: it was undone, and nobody said so" for row in undone if row.kind not in ("cached", "record")
                      and not (row.kind == "image" and "not in the runtime" in told) and not any(names(told, name) for name in [row.name, *row.concerned()])]
            return ("WRONG" if wrong else verdict), codes, "\n".join([*wrong, told])
        if done.returncode == 0 and left and CHANGED.search(done.stderr) and not all(message_of(told, row) for row in rows):
            wrong.append("it says that all is right now, and that is not so")
        after = self.nodeup("status").stdout
        if done.returncode and not re.search(r"^  do +\S", after, re.M):
            wrong.append("status names no next command")
        told += after
        why = "\n".join([*wrong, f"is left:{left}", told])
        if wrong:
            return "WRONG", codes, why
        found = [message_of(told, row) for row in rows]
        if all(found):
            return "named", codes, "\n".join(found)
        if done.returncode == 0 and all(row.why_left() for row in rows):
            return "left", codes, rows[0].why_left()
        return "UNSEEN", codes, why

    def unseen(self, rows):
        """Of what a plan sees, the guard sees all but images; a unit that was stopped is told, and does not count."""
        if all(row.kind in ("image", "record", "cached", "host") or row.how in ("stopped", "killed") for row in rows):
            return []
        nodechecks.age(self.node)
        done = self.nodeup("guard")
        return [f"the guard saw nothing: {done.stdout}{done.stderr}"] if done.returncode != 2 else []

    def restarted(self, rows, named, was, pods, failed):
        """Only units that the damage concerns begin anew, as the plan said, all of them by a run that ends well; named: None: there was no plan."""
        may, now = set().union(*(row.concerned() for row in rows)), self.pids()
        anew = {unit for unit, pid in now.items() if was[unit] not in ("0", pid)}
        wrong = [f"{unit} began anew, and none of this concerns it" for unit in sorted({*anew, *(named or [])} - may)]
        if named is not None:
            wrong += [f"{unit} had pid {was[unit]}, has {now[unit]}; the plan would restart {named}" for unit in sorted(now) if was[unit] != "0"
                      and (unit in anew) != (unit in named) and not (failed and unit not in anew)]
        if pods - self.pods() and not may & set(OF_DOCKER):
            wrong.append("containers ended")
        return wrong

    def again(self):
        """A further run has nothing to do."""
        before = self.marks()
        done = self.nodeup("apply", DEADLINE)
        found = difference(before, self.marks())
        return [f"a second run: {done.returncode}\n{done.stderr}{found}"] if done.returncode or CHANGED.search(done.stderr) or found else []

    def check(self, rows, command):
        """For a test: all of them are healed by one run."""
        print(*(f"{row.title}: {row.script}" for row in rows), sep="\n", flush=True)
        verdict, codes, why = self.try_out(rows, command)
        assert verdict == "healed", f"{verdict} {codes}\n{why}"
