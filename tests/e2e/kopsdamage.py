"""Damages to a node of today's kops, drawn by chance: what they break, whether that is undone, and what may start anew for it."""
import hashlib
import json
import os
import re
import stat

import yaml

import kopsnode

UNITS = "/etc/systemd/system/"
VOLUME = "/data"
CONFIG = {
    "VolumeMounts": [{"device": "/dev/xvdb", "path": VOLUME, "filesystem": "ext4"}],
    "FileAssets": [{"name": "mine", "path": "/etc/mine.conf", "content": "of the user\n", "mode": "0640"}],
    "Hooks": [[{"name": "mine", "manifest": "Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"}], None],
}
# Files that a run makes, by the unit that may have to start anew when one of them was another: patterns of whole paths.
OF_UNIT = {
    "kubelet.service": """/etc/sysconfig/kubelet /srv/kubernetes/ca.crt /srv/kubernetes/kubelet-server.(crt|key) /usr/local/bin/kubelet
        /var/lib/kubelet/(kubeconfig|kubelet.conf|credential-provider.conf) UNITSkubelet.service UNITSkubelet.service.d/20-nodeup-volumes.conf""",
    "containerd.service": """/etc/containerd/config.toml /etc/sysconfig/containerd /usr/bin/(containerd|containerd-shim-runc-v2|ctr) /usr/sbin/runc
        UNITScontainerd.service""",
    "chrony.service": "/etc/chrony/chrony.conf",
    "kubernetes-iptables-setup.service": "/opt/kops/bin/iptables-setup UNITSkubernetes-iptables-setup.service",
    "logrotate.timer": "UNITSlogrotate.timer",
    "mine.service": "UNITSmine.service",
    "data.mount": r"UNITSdata.mount UNITSdev-disk-[^/]*\.device\.d/50-nodeup.conf",
    None: """/etc/apt/apt.conf.d/20auto-upgrades /etc/crictl.yaml /etc/kubernetes/manifests/kube-proxy.manifest
        /etc/logrotate.d/(docker|etcd|etcd-events|etcd-leases|kube-addons|kube-apiserver|kube-controller-manager|kube-proxy|kube-scheduler|kubelet)
        /etc/mine.conf /etc/sysctl.d/99-k8s-general.conf UNITSlogrotate.service /opt/cni/bin/(bridge|host-local)
        /usr/local/bin/ecr-credential-provider /usr/share/doc/containerd/apache.txt /var/lib/kube-proxy/kubeconfig
        /etc/kubernetes/manifests/(kube-apiserver|kube-controller-manager|kube-scheduler|etcd-main-a|etcd-events-a|kops-channels).manifest
        /etc/kubernetes/(pki/etcd-manager-(main|events)|kops-controller|kube-apiserver-healthcheck/secrets)/[^/]+ /etc/kubernetes/cloud.config
        /srv/kubernetes/kube-(apiserver|controller-manager|scheduler)/[^/]+ /usr/local/bin/kubectl /home/admin/.kube/config
        /var/lib/(kops|kubectl|kube-controller-manager|kube-scheduler)/(kubeconfig|config.yaml)""",
}
FILES = [(unit, re.compile(pattern.replace("UNITS", UNITS))) for unit, text in OF_UNIT.items() for pattern in text.split()]
DIRECTORIES = "/etc/cni/net.d /etc/kubernetes/manifests /srv/kubernetes /srv/kubernetes/assets /var/lib/kubelet".split()
ALL_UNITS = [unit for unit in OF_UNIT if unit]
# Two have no [Install]. chrony has another name as well, and systemd loses sight of a service whose names change.
ENABLED = [unit for unit in ALL_UNITS if unit not in ("logrotate.timer", "mine.service", "chrony.service")]
# that of chrony is its package's, and what the others did is done
STOPPED = ["kubelet.service", "containerd.service", "logrotate.timer", "data.mount"]
SETTINGS = {"net.core.somaxconn": "128", "net.ipv4.ip_local_reserved_ports": "1", "net.ipv4.tcp_slow_start_after_idle": "1"}
RECORDS = """/run/nodeup /run/nodeup/started /run/nodeup/started/kubelet.service /run/nodeup/started/containerd.service /run/nodeup/status.json
    /var/lib/nodeup/conf /var/lib/nodeup/identity /var/lib/nodeup/runs /var/lib/nodeup/state /var/lib/nodeup/volumes/data
    /var/cache/nodeup/verified""".split()
CACHED = re.compile(r"/var/cache/nodeup/(sha256/|unpacked/sha256-)[0-9a-f]{64}")
PLACES = """/etc /home/admin/.kube /opt/cni /opt/kops/bin /srv /usr/bin /usr/local/bin /usr/sbin /usr/share/doc/containerd /var/lib/kops
    /var/lib/kube-controller-manager /var/lib/kube-proxy /var/lib/kube-scheduler /var/lib/kubectl /var/lib/kubelet /var/log/kube-apiserver.log
    /var/log/kube-controller-manager.log /var/log/kube-proxy.log /var/log/kube-scheduler.log""".split()
OWN = ["/var/lib/nodeup", "/var/cache/nodeup"]
# What a run writes of itself. Whether a unit is enabled is asked of systemd, which does not read rc.d.
NOTES = re.compile(r"/var/lib/nodeup/runs(/.*)?|/etc/\.pwd\.lock|/etc/rc.\.d/.*|/etc/systemd/system/[^/]*\.(wants|requires)(/.*)?")
# its date is when its source last had the same
KEPT = "/var/lib/nodeup/documents.json"
CHANGED = re.compile(r"^\S+ info +changed .*$", re.M)


class Damage:
    """What is done, to what, and which units may start anew for it. One that is not seen may be undone, and need not."""

    def __init__(self, script, path, *restarts, is_seen=True, command=None):
        self.script, self.path, self.is_seen, self.command = script, path, is_seen, command
        self.restarts = {unit for unit in restarts if unit}


def damage_file(rng, path):
    unit = next(unit for unit, pattern in FILES if pattern.fullmatch(path))
    # a program that runs cannot be written to: another takes its place
    was = "/root/was" + path.replace("/", "-")
    # what was moved there before may be a program that still runs
    copy, put = f"cp -p --remove-destination {path} {was}", f"mv {was} {path}"
    same_size_and_date = f"printf X | dd of={was} conv=notrunc status=none && touch -r {path} {was}"
    script = rng.choice([
        f"{copy} && echo damaged >>{was} && {put}", f"{copy} && : >{was} && {put}", f"{copy} && {same_size_and_date} && {put}",
        f"{copy} && {put}", f"rm {path}", f"chmod {rng.choice(['000', '777', '4755'])} {path}",
        f"chown {rng.choice(['1', '0:1', '65534:65534'])} {path}", f"mv {path} {was} && ln -s {was} {path}",
        f"rm {path} && ln -s /nowhere {path}", f"rm {path} && mkdir {path}"])
    # the same content in another file is right
    return Damage(script.replace("\\", "\\\\"), path, unit, is_seen=script != f"{copy} && {put}")


def damage_directory(rng, path):
    inside = [unit for unit, pattern in FILES if pattern.pattern.startswith(path + "/")]
    return Damage(rng.choice([f"chmod {rng.choice(['000', '777', '1755'])} {path}", f"chown {rng.choice(['1', '0:1'])} {path}", f"rm -r {path}"]),
                  path, *inside)


def damage_enablement(rng, unit):
    target = {"kubernetes-iptables-setup.service": "basic", "data.mount": "local-fs"}.get(unit, "multi-user")
    link = f"{UNITS}{target}.target.wants/{unit}"
    return Damage(rng.choice([f"systemctl disable {unit}", f"rm {link}"]), link, unit)


def damage_unit(rng, unit):
    stop = f"systemctl stop {unit}"
    return Damage(rng.choice([stop, f"systemctl kill --signal=KILL {unit}; {stop}", f"{stop}; ln -sfn /dev/null {UNITS}{unit}; systemctl daemon-reload"]),
                  UNITS + unit, unit)


def damage_kernel(_rng, name):
    return Damage(f"sysctl -qw {name}={SETTINGS[name]}", "sysctl " + name)


def damage_rules(_rng, chain):
    return Damage(f"iptables -P {chain} DROP; while iptables -D {chain} -p tcp -j ACCEPT 2>/dev/null; do :; done", "iptables " + chain,
                  "kubernetes-iptables-setup.service")


def damage_hosts(rng, path):
    return Damage(rng.choice([f"sed -i 's/^172.20.32.20\\t/172.20.32.21\\t/' {path}", f"sed -i '/managed by kops/,$d' {path}",
                              f"sed -i '/# End host/d' {path}", f"sed -i 's/ kops-controller.internal/ other.internal/' {path}"]), path)


def damage_record(rng, path):
    # without its record a unit is as old as the newest of its files
    return Damage(rng.choice([f"rm -r {path}", f"[ -d {path} ] && rm -r {path} || : >{path}",
                              f"[ -d {path} ] && rm -r {path} || head -c 300 /dev/urandom >{path}"]),
                  path, *(ALL_UNITS if path.startswith("/run/nodeup") else []), is_seen=False)


def damage_cache(rng, path):
    # a copy: what a member is shared with may run, and then nothing can write to it
    flip = (f"f=$(find {path} -type f | sort | head -1) && cp -p $f $f.was && chmod u+w $f.was && "
            "printf X | dd of=$f.was conv=notrunc status=none && mv $f.was $f")
    return Damage(rng.choice([f"rm -r {path}", flip]), path, is_seen=False, command="repair")


def walk(machine, places):
    """What was written below these places since the machine was made: its path, and where that is on the host."""
    upper = machine.node.path("upper")
    for place in places:
        if os.path.isfile(upper + place):
            yield place, upper + place
        for folder, names, files in os.walk(upper + place):
            for real in [folder, *(os.path.join(folder, name) for name in files + [n for n in names if os.path.islink(os.path.join(folder, n))])]:
                if not stat.S_ISCHR(os.lstat(real).st_mode) and not NOTES.fullmatch(real[len(upper):]):
                    yield real[len(upper):], real


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def look(machine):
    """What is at each path, and what systemd, the kernel and its filter have."""
    found = effects(machine)
    for path, real in walk(machine, PLACES):
        st = os.lstat(real)
        what = os.readlink(real) if stat.S_ISLNK(st.st_mode) else digest(real) if stat.S_ISREG(st.st_mode) else ""
        found[path] = (oct(st.st_mode), st.st_uid, st.st_gid, what)
    return found


def effects(machine):
    names = " ".join(ALL_UNITS)
    rules = "iptables -S FORWARD | grep -q -e '-P FORWARD ACCEPT' -e '-p tcp -j ACCEPT' && echo tcp is let through"
    text = machine.node.sh(f"systemctl is-enabled {names}; systemctl show -p Id,ActiveState,NeedDaemonReload {names}; sysctl {' '.join(SETTINGS)}; "
                           f"{rules}; findmnt -no FSTYPE {VOLUME}", check=False)
    return {"effects": text.splitlines()}


def marks(machine):
    """A mark of each file, which is another one when anything was written, be it the same."""
    found = effects(machine)
    for path, real in walk(machine, PLACES + OWN):
        st = os.lstat(real)
        found[path] = (st.st_ino, st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_mtime_ns, st.st_ctime_ns)[:7 if path != KEPT else 5]
    return found


def difference(was, now):
    return "".join(f"\n    {key}: was {was.get(key)}, is {now.get(key)}" for key in sorted({*was, *now}) if was.get(key) != now.get(key))


def pids(machine):
    return {unit: machine.node.show(unit, "MainPID")["MainPID"] for unit in ("kubelet.service", "containerd.service", "chrony.service")}


def draw(rng, machine, n):
    """Some that do not touch one another."""
    there = sorted(path for path, _ in walk(machine, PLACES))
    cached = sorted({match[0] for path, _ in walk(machine, OWN) if (match := CACHED.match(path))})
    kinds = [(damage_file, [path for path in there if any(pattern.fullmatch(path) for _, pattern in FILES)]), (damage_directory, DIRECTORIES),
             (damage_enablement, ENABLED), (damage_unit, STOPPED), (damage_kernel, list(SETTINGS)), (damage_rules, ["FORWARD"]),
             (damage_record, RECORDS), (damage_cache, cached), *[(damage_hosts, ["/etc/hosts"])] * bool(machine.worker.addresses)]
    drawn = []
    while len(drawn) < n:
        # most of what a node has is files
        damage, targets = rng.choice(kinds + 4 * kinds[:1])
        one = damage(rng, rng.choice(targets))
        if not any(d.path.startswith(one.path) or one.path.startswith(d.path) for d in drawn):
            drawn.append(one)
    return drawn


def nodeup(machine, command, *flags):
    return machine.nodeup(command, f"--conf={kopsnode.CONF}", *flags)


def undo(machine, command, damages):
    """Do them, plan, run, run again: what is not as it should be, and which units the plan said would restart."""
    right, wrong = look(machine), []
    for damage in damages:
        machine.node.sh(damage.script)
    broken, was = marks(machine), pids(machine)
    planned = nodeup(machine, "plan", "--verify", "-o", "json")
    if planned.returncode not in (0, 2) or (any(d.is_seen for d in damages) and planned.returncode == 0):
        return [f"plan: {planned.returncode}\n{planned.stdout}{planned.stderr}"], set()
    if difference(broken, marks(machine)):
        wrong.append("a plan changed:" + difference(broken, marks(machine)))
    said = json.loads(planned.stdout)
    named, allowed = set(said.get("restarts", [])), set().union(*(d.restarts for d in damages))
    if named - allowed:
        wrong.append(f"the plan would restart {named - allowed} without a reason: {said['causes']}")
    done = nodeup(machine, command, "--deadline=150s")
    if done.returncode or difference(right, look(machine)):
        wrong.append(f"{command}: {done.returncode}\n{done.stderr}\nis left:{difference(right, look(machine))}")
    for unit, pid in pids(machine).items():
        if was[unit] != "0" and (pid != was[unit]) != (unit in named):
            wrong.append(f"{unit} had pid {was[unit]}, has {pid}; the plan would restart {named}\n{done.stderr}")
    before = marks(machine)
    again = nodeup(machine, "apply", "--deadline=150s")
    if again.returncode or CHANGED.search(again.stderr) or difference(before, marks(machine)):
        wrong.append(f"a second run: {again.returncode}\n{again.stderr}{difference(before, marks(machine))}")
    return wrong, named


def undo_all(machine, rng, n, lies, most=3):
    """n of them, a few at a time. Each is told before it is done."""
    left, restarted, dropin = n, 0, UNITS + "kubelet.service.d/20-nodeup-volumes.conf"
    mount = UNITS + "data.mount"
    # systemd says nothing of such a unit, and no plan named its restart; and what is mounted is a unit of no file for it
    first = [Damage(f"ln -sfn /nowhere {dropin}", dropin, "kubelet.service"),
             Damage(f"mv {mount} /root/was-data.mount && ln -s /root/was-data.mount {mount}; systemctl disable data.mount", mount)]
    while left:
        how, some = rng.choice(lies), first or draw(rng, machine, min(left, rng.randint(1, most)))
        first = []
        command = next((d.command for d in some if d.command), rng.choice(["apply", "repair"]))
        print(f"{n - left}: asked: {how}; {command}", *(d.script for d in some), sep="\n    ", flush=True)
        machine.lie(how)
        wrong, named = undo(machine, command, some)
        assert not wrong, "\n".join(wrong)
        restarted += "kubelet.service" in named
        left -= len(some)
    print(f"{n} damages undone; the plan named {restarted} restarts of kubelet, and there was no other")
