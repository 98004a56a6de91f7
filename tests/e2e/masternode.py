"""A booted master that has no protokube, EC2's stand-in beside it, and volumes that are attached for real:
loop devices that appear in the node with the sysfs of an NVMe disk of EBS as soon as EC2 was asked."""
import fcntl
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

import labassets
import yaml
from lab import FAKE, REGION, ROLE
from labhost import LAB, run

MASTER, CLUSTER, ZONE = "master-us-west-2a", "abc.joshdurbin.net", REGION + "a"
CONF, NODEUP = "/var/cache/kubernetes-install/kube_env.yaml", "/var/cache/kubernetes-install/nodeup"
ENDPOINT = ("10.99.0.5", "8080")
IP = "172.20.32.20"
SIZE_MIB = 512  # etcd allocates 64 MiB of log at once, twice
TAGS = {"KubernetesCluster": CLUSTER, "k8s.io/role/master": "1"}
# What udev and the kernel do on EC2, from a list of "NAME MAJOR:MINOR SECTORS VOLUME UUID".
UDEV = """#!/bin/sh
mkdir -p /run/lab/block /dev/disk/by-uuid
touch /var/lib/lab-disks
while read -r name number size volume uuid; do
	[ -e "/dev/$name" ] || mknod "/dev/$name" b "${number%:*}" "${number#*:}"
	ln -sfn "/dev/$name" "/dev/disk/by-uuid/$uuid"
	d=/run/lab/block/$name
	mkdir -p "$d/device" "$d/holders"
	echo "$number" >"$d/dev"; echo "$size" >"$d/size"; echo 0 >"$d/ro"
	echo "Amazon Elastic Block Store" >"$d/device/model"
	echo "$volume" | tr -d - >"$d/device/serial"
done </var/lib/lab-disks
[ -d /run/lab/block/nvme0n1 ] || { mkdir /run/lab/block/nvme0n1; echo 1 >/run/lab/block/nvme0n1/size;
	echo 259:0 >/run/lab/block/nvme0n1/dev; }
[ -e /sys/block/nvme0n1 ] || mount --bind /run/lab/block /sys/block
"""
UDEV_UNIT = """[Unit]
DefaultDependencies=no
Before=local-fs-pre.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/lab-disks
[Install]
WantedBy=local-fs-pre.target sysinit.target
"""


def etcd_binary():
    """Debian's etcd, fetched once."""
    folder = os.path.join(LAB, "etcd")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = os.path.join(folder, "root/usr/bin/etcd")
        if not os.path.exists(found):
            run("apt-get", "download", "etcd-server", cwd=folder)
            run("dpkg-deb", "-x", glob.glob(folder + "/*.deb")[0], folder + "/root")
    return found


class Volumes:
    """EBS volumes as sparse files; detached and gone after the with block."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="nodeup-masters-", dir="/var/tmp")
        self.devices = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for device in self.devices.values():
            subprocess.run(["losetup", "-d", device], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def add(self, name, mib=SIZE_MIB):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.truncate(mib << 20)
        self.devices[name] = run("losetup", "--find", "--show", path).strip()


class Master:
    """volumes: {id: (etcd cluster, tag)}."""

    def __init__(self, lab, name, disks, volumes):
        self.disks, self.listed = disks, []
        script = labassets.documents_only(labassets.seed_user_data(MASTER, lab.assets))
        script = re.sub(r"protokubeImage:\n(  .*\n)+", "", script)
        self.node = lab.boot(name, MASTER, script)
        self.node.wait(lambda: "status: done" in self.node.exec("cloud-init", "status").stdout, 300, "cloud-init")
        self.node.sh("cat >/usr/local/sbin/lab-disks <<'END'\n%sEND\nchmod 755 /usr/local/sbin/lab-disks\n"
                     "cat >/etc/systemd/system/lab-disks.service <<'END'\n%sEND\n"
                     "systemctl enable -q lab-disks.service; lab-disks" % (UDEV, UDEV_UNIT))
        shutil.copy(etcd_binary(), os.path.join(self.node.root, "usr/local/bin/etcd"))
        self.start_cloud(volumes)
        self.done = threading.Event()
        self.hand = threading.Thread(target=self.attach, daemon=True)
        self.hand.start()

    def start_cloud(self, volumes):
        self.me = "i-0" + self.node.digest()
        self.write("ec2.json", {
            "region": REGION, "keys": {ROLE["AccessKeyId"]: [ROLE["SecretAccessKey"], ROLE["Token"]]},
            "instances": {self.me: {"zone": ZONE, "ip": IP, "tags": {"KubernetesCluster": CLUSTER}}},
            "volumes": {v: {"zone": ZONE, "tags": {**TAGS, "k8s.io/etcd/" + etcd: tag}}
                        for v, (etcd, tag) in volumes.items()}})
        self.log = self.node.path("log/ec2")
        open(self.log, "w").close()
        self.node.serve("ec2", FAKE + "/ec2.py", *ENDPOINT, self.node.path("ec2.json"), self.log, "--stay")
        self.node.wait(lambda: self.node.exec("curl", "-sf", "http://%s:%s/__get" % ENDPOINT).returncode == 0, 60, "EC2")

    def write(self, name, state):
        with open(self.node.path(name), "w") as f:
            json.dump(state, f)

    def close(self):
        self.done.set()
        self.hand.join(60)

    def actions(self):
        with open(self.log) as f:
            return [json.loads(line) for line in f]

    def attach(self):
        """The hand that plugs in what was asked for."""
        while not self.done.wait(0.1):
            for form in self.actions():
                volume = form.get("VolumeId")
                if form["Action"] == "AttachVolume" and volume not in self.listed:
                    self.listed.append(volume)
                    self.plug(volume, "nvme%dn1" % len(self.listed))

    def plug(self, volume, name):
        number = os.stat(self.disks.devices[volume]).st_rdev
        line = "%s %d:%d %d %s %s" % (name, os.major(number), os.minor(number), SIZE_MIB << 11, volume,
                                      uuid_of(volume, "/mnt/master-" + volume))
        self.node.sh("echo '%s' >>/var/lib/lab-disks; lab-disks" % line)

    def line(self, *arguments, ec2=ENDPOINT):
        return ["env", "AWS_ENDPOINT_URL_EC2=http://%s:%s" % ec2, NODEUP, *arguments, "--conf=" + CONF]

    def command(self, *arguments):
        """To be run beside the test."""
        return self.node.command(*self.line(*arguments))

    def nodeup(self, *arguments, timeout=400, ec2=ENDPOINT):
        return self.node.exec(*self.line(*arguments, ec2=ec2), timeout=timeout)

    def hosts(self):
        """{member: address} of both clusters, which are the same."""
        found = [{}, {}]
        for line in self.node.exec("cat", "/etc/hosts", check=True).stdout.splitlines():
            match = re.match(r"(\S+)\tetcd-(events-)?(\w)\.internal\.%s$" % re.escape(CLUSTER), line)
            if match:
                found[bool(match[2])][match[3]] = match[1]
        assert found[0] == found[1], found
        return found[0]

    def pod(self, name):
        return yaml.safe_load(self.node.exec("cat", "/etc/kubernetes/manifests/%s.manifest" % name, check=True).stdout)

    def start_etcd(self, name):
        """What the runtime would do with the pod: its command, variables and mounts."""
        pod = self.pod(name)["spec"]
        container = pod["containers"][0]
        paths = {v["name"]: v["hostPath"]["path"] for v in pod["volumes"]}
        lines = ["set -e"]
        for source, target in ((paths[m["name"]], m["mountPath"]) for m in container["volumeMounts"]):
            if source != target:
                is_dir = self.node.exec("test", "-d", source).returncode == 0
                lines.append("mkdir -p %s" % (target if is_dir else os.path.dirname(target)))
                lines += [] if is_dir else ["touch " + target]
                lines.append("mount --bind %s %s" % (source, target))
        lines += ["export %s='%s'" % (e["name"], e["value"]) for e in container["env"]]
        command = container["command"]
        lines.append("exec %s %s '%s'" % tuple(command))
        self.node.sh("cat >/run/%s.sh <<'END'\n%s\nEND\nsystemd-run -q -u lab-%s unshare -m bash /run/%s.sh" % (
            name, "\n".join(lines), name, name))

    def etcd(self, port, call, body):
        done = self.node.exec("curl", "-sf", "-d", json.dumps(body), "http://127.0.0.1:%d/v3/kv/%s" % (port, call))
        return json.loads(done.stdout) if done.returncode == 0 else None


def uuid_of(owner, name):
    from disknode import volume_uuid
    return volume_uuid(owner, name)
