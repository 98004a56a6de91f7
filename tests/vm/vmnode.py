"""A node in a virtual machine: documents, assets and nodeup in place, nothing run yet."""
import contextlib
import glob
import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import tempfile

import labassets
from labhost import ROOT
from vm import Machine, disk
from vmhost import PROGRAM

HERE = os.path.dirname(os.path.abspath(__file__))

INSTANCE = "i-0123456789abcdef0"
CONF, OURS = "/opt/node/kube_env.yaml", "kops-configuration.service"
STATE = ROOT + "/tests/data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net"
ENDPOINT = "http://127.0.0.1:8773"
ENV = """ClusterName: abc.joshdurbin.net
InstanceGroupName: %(group)s
Tags: %(tags)s
Assets:
- %(kubelet)s@file:///opt/node/release/v1.8.7/bin/linux/amd64/kubelet
- %(kubectl)s@file:///opt/node/release/v1.8.7/bin/linux/amd64/kubectl
- %(cni)s@file:///opt/node/cni-1.tar.gz
"""


def archive(files):
    """A tar of {name: (bytes, mode)}, or of {name: target of a link}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, what in files.items():
            info, data = tarfile.TarInfo(name), b""
            if isinstance(what, str):
                info.type, info.linkname = tarfile.SYMTYPE, what
            else:
                data, info.mode = what
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def tree(top, below):
    """The files under top, as members below a folder."""
    return {below + path[len(top):]: (read(path), 0o600)
            for folder, _, names in os.walk(top) for path in (os.path.join(folder, n) for n in names)}


def guest_files():
    """The services of the machine, as root has them."""
    files = {"usr/local/sbin/" + name: (read(ROOT + "/tests/fake/" + name), 0o755) for name in ("imds.py", "ec2.py")}
    files["etc/systemd/system.conf.d/ec2.conf"] = (
        b"[Manager]\nDefaultEnvironment=AWS_ENDPOINT_URL_EC2=%s\n" % ENDPOINT.encode(), 0o644)
    for runtime in ("usr/sbin/dockerd", "usr/bin/containerd"):
        files[runtime] = (read(HERE + "/guest/runtime"), 0o755)
    for path in glob.glob(HERE + "/guest/lab-*") + [HERE + "/guest/imds.json"]:
        unit = path.endswith(".service")
        folder = "etc/systemd/system/" if unit else "usr/local/sbin/"
        files[folder + os.path.basename(path)] = (read(path), 0o644 if unit else 0o755)
        if unit:
            files[folder + "sysinit.target.wants/" + os.path.basename(path)] = "../" + os.path.basename(path)
    return files


def assets():
    """(files of the node, what their digests are called in ENV)."""
    plugins = {"./" + n: (b"#!/bin/true\n", 0o755) for n in ("bridge", "host-local", "loopback", "ptp")}
    with tempfile.TemporaryDirectory(prefix="nodeup-vm-", dir="/var/tmp") as folder:
        kubelet = os.path.join(folder, "kubelet")
        labassets.build_kubelet(kubelet)
        data = {"release/v1.8.7/bin/linux/amd64/kubelet": read(kubelet),
                "release/v1.8.7/bin/linux/amd64/kubectl": b"#!/bin/true\n",
                "cni-1.tar.gz": gzip.compress(archive(plugins), mtime=0)}
    digests = {os.path.basename(name).split("-")[0]: hashlib.sha1(what).hexdigest() for name, what in data.items()}
    return {"opt/node/" + name: (what, 0o755) for name, what in data.items()}, digests


@contextlib.contextmanager
def node(group, tags, instance_group):
    """Booted; documents, assets and nodeup are in place, nothing is run yet."""
    spec = read(ROOT + "/tests/cases/bare-documents/cluster_spec.yaml").decode().replace("'@aws'", "vm")
    files, digests = assets()
    files.update({"opt/node/nodeup": (read(PROGRAM), 0o755),
                  "opt/node/cluster_spec.yaml": (spec.encode(), 0o644),
                  "opt/node/ig_spec.yaml": (instance_group.encode(), 0o644)})
    files.update(guest_files())
    files.update(tree(STATE + "/pki", "opt/node/pki"))
    files.update(tree(STATE + "/secrets", "opt/node/secrets"))
    with Machine(archive(files)) as vm:
        yield Node(vm, ENV % {"group": group, "tags": tags, **digests})


def worker():
    return node("nodes", "[_aws]", "role: Node\nkubelet: {failSwapOn: false}\n")


def ec2_state(volumes):
    """What EC2's stand-in knows: {volume id: where it is}."""
    return {"region": "us-west-2", "keys": {"ASIALABLABLABLABLAB0": ["lab/secret", "lab//token=="]}, "volumes": volumes}


class Node:
    """vm: the machine; its documents are cluster, group and kube_env plus the lines given."""

    def __init__(self, vm, env):
        self.vm, self.env = vm, env

    def documents(self, lines):
        self.vm.put(CONF, self.env + lines)
        named = re.findall(r"volumeID: (vol-\w+)", lines)
        if named:
            # before such a volume is used for the first time EC2 is asked: it is attached here alone
            self.vm.put("/etc/lab-ec2.json", json.dumps(ec2_state({
                v: {"instance": INSTANCE, "device": "/dev/xvd" + letter} for v, letter in zip(named, "fghijk")})))
            self.vm.sh("systemctl restart lab-ec2")
            self.vm.wait("curl -sf %s/__get" % ENDPOINT, "EC2")

    def nodeup(self, *arguments):
        return self.vm.exec("env", "AWS_ENDPOINT_URL_EC2=" + ENDPOINT, "/opt/node/nodeup", *arguments, "--conf=" + CONF)

    def apply(self):
        # an emulated kubelet on a busy machine may need longer than one run waits for it
        done = self.nodeup("apply", "--deadline=20m", "--retries=4")
        assert done.code == 0, done.out + done.err
        return done

    def writes(self, serial):
        """Sectors written to the disk with this serial, as the kernel counts them."""
        return int(self.vm.sh("awk '{print $7}' /sys/block/%s/stat" % self.vm.name_of(serial)))

    def mounted(self, path):
        """SOURCE FSTYPE UUID of what is mounted there, or ''."""
        return self.vm.sh("findmnt -n -o SOURCE,FSTYPE,UUID --mountpoint %s || true" % path)

    def order(self, *units):
        """When each became active at this boot, in microseconds."""
        return [int(self.vm.exec("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", u, check=True).out)
                for u in units]

    def finished(self):
        """Our own unit, started at this boot or by hand, came to its end and is content; systemd may
        have forgotten it by now."""
        said = "journalctl -b -o cat --no-pager -u " + OURS
        self.vm.wait(said + " | grep -Eq '^%s: (Deactivated successfully|Failed with result)'" % OURS, OURS)
        text = self.vm.sh(said)
        assert "Failed with result" not in text and "\nsuccess\n" in text, text


__all__ = ["CONF", "ENDPOINT", "INSTANCE", "OURS", "disk", "ec2_state", "worker"]
