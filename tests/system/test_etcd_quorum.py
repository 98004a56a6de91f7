"""Three masters' etcd, as the manifests on their volumes say, command, variables, mounts and names: they become
one cluster, with and without TLS, outlive the loss of one, and have the data when it is back.  etcd is
Debian's; what the runtime and the network would do is done with namespaces."""

import base64
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

from world import ENV, ROOT

sys.path += [str(ROOT / "tests/e2e"), str(ROOT / "tests/cases")]
import test_etcd as manifests  # noqa: E402
from masternode import etcd_binary  # noqa: E402

MEMBERS, MOUNT = "abc", "mnt/master-vol-0a1b"
LIMIT = 180
# what the container's image has, and what the pod mounts
ENTER = """set -e
mount --make-rprivate /
mount -t tmpfs none /usr/local; mkdir /usr/local/bin; cp {etcd} /usr/local/bin/etcd
mount -t tmpfs none /var; mkdir -p /var/log {inside}; touch /var/log/etcd.log
mount --bind {data} {inside}; mount --bind {log} /var/log/etcd.log
[ ! -d {srv} ] || {{ mount -t tmpfs none /srv; mkdir /srv/kubernetes; mount --bind {srv} /srv/kubernetes; }}
mount -t tmpfs none /etc; echo 'hosts: files' >/etc/nsswitch.conf; cp {hosts} /etc/hosts
"""


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], check=True, text=True, capture_output=True, timeout=120, **more).stdout


class Network:
    """A bridge and one namespace a member: each listens on the same ports."""

    def __init__(self):
        self.names = {m: f"nq{os.getpid()}{m}" for m in "x" + MEMBERS}
        self.address = {m: f"10.77.0.{i + 1}" for i, m in enumerate(MEMBERS)}

    def __enter__(self):
        hub = self.names["x"]
        for name in self.names.values():
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", hub, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", hub, "link", "set", "br0", "up")
        for m in MEMBERS:
            run("ip", "-n", hub, "link", "add", "p" + m, "type", "veth", "peer", "name", "eth0", "netns", self.names[m])
            run("ip", "-n", hub, "link", "set", "p" + m, "master", "br0", "up")
            run("ip", "-n", self.names[m], "addr", "add", self.address[m] + "/24", "dev", "eth0")
            run("ip", "-n", self.names[m], "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def sign(documents):
    """A certificate of the cluster's authority that every member shows, as kops makes it."""
    pki = documents / "pki"
    authority = [next((pki / part / "ca").iterdir()) for part in ("issued", "private")]
    key, cert = (next((pki / part / "etcd").iterdir()) for part in ("private", "issued"))
    extensions = documents / "extensions"
    extensions.write_text("subjectAltName=DNS:*.internal.abc.joshdurbin.net,IP:127.0.0.1\n"
                          "extendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature,keyEncipherment\n")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=etcd", "-keyout", key, "-out", documents / "csr")
    run("openssl", "x509", "-req", "-in", documents / "csr", "-CA", authority[0], "-CAkey", authority[1], "-days", "30",
        "-set_serial", "1", "-extfile", extensions, "-out", cert)


class Member:
    def __init__(self, name, case, folder, network):
        self.name, self.network, self.process = name, network, None
        folder.mkdir()
        documents, self.root = manifests.documents_of(case, folder)
        facts = documents / "facts.yaml"
        facts.write_text(facts.read_text().replace(" b/a,b,c", f" {name}/a,b,c"))
        if case == "tls":
            sign(documents)
        self.documents, self.folder = documents, folder

    def prepare(self):
        """The pod, as nodeup puts it on the volume."""
        where = self.root / MOUNT
        with contextlib.ExitStack() as stack:
            for volume in manifests.VOLUMES.values():
                at = self.root / f"mnt/master-{volume}"
                at.mkdir(parents=True)
                run("mount", "-t", "tmpfs", "none", at)
                stack.callback(subprocess.run, ["umount", at], check=True)
            done = manifests.run(self.documents, self.root, self.folder)
            assert done.returncode == 0, done.stderr
            self.pod = yaml.safe_load((where / "k8s.io/manifests/etcd.manifest").read_text())["spec"]
            data = where / "var/etcd/data"
            assert data.is_dir()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        self.container = self.pod["containers"][0]
        self.env = {e["name"]: e["value"] for e in self.container["env"]}

    def start(self):
        mounts = {m["mountPath"] for m in self.container["volumeMounts"]}
        assert {"/var/etcd/data", "/var/log/etcd.log", "/etc/hosts"} <= mounts
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"{self.network.address[m]}\tetcd-{m}.internal.abc.joshdurbin.net\n" for m in MEMBERS))
        self.log = self.folder / "log"
        self.log.touch()
        srv = self.root / "srv/kubernetes"
        text = ENTER.format(etcd=etcd_binary(), inside="/var/etcd/data", data=self.data, log=self.log, hosts=hosts,
                            srv=srv if "/srv/kubernetes" in mounts else "/nonexistent")
        text += "exec env -i %s %s\n" % (" ".join(shlex.quote(f"{k}={v}") for k, v in {**ENV, **self.env}.items()),
                                         " ".join(map(shlex.quote, self.container["command"])))
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self.network.names[self.name], "unshare", "-m", "-p",
             "--fork", "--kill-child", "sh", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(self.folder / "err", "w"))

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(60)
        self.process = None

    def ask(self, call, body):
        """Through the API on the port that the pod names; None: no answer yet."""
        url = self.env["ETCD_ADVERTISE_CLIENT_URLS"]
        host = url.split("//")[1]
        srv = self.root / "srv/kubernetes"
        tls = ["--cacert", srv / "ca.crt", "--cert", srv / "etcd.pem", "--key", srv / "etcd-key.pem"] if "https" in url else []
        done = subprocess.run(
            ["ip", "netns", "exec", self.network.names[self.name], "curl", "-sf", "--max-time", "20", "--resolve",
             f"{host}:{self.network.address[self.name]}", *tls, "-d", json.dumps(body), f"{url}/v3/kv/{call}"],
            capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def patiently(self, call, body):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            answer = self.ask(call, body)
            if answer is not None:
                return answer
            time.sleep(0.2)
        raise AssertionError((self.folder / "err").read_text() + self.log.read_text()[-4000:])

    def put(self, key, value):
        self.patiently("put", {"key": text(key), "value": text(value)})

    def get(self, key):
        found = self.patiently("range", {"key": text(key)}).get("kvs", [])
        return base64.b64decode(found[0]["value"]).decode() if found else None


def text(value):
    return base64.b64encode(value.encode()).decode()


@pytest.mark.parametrize("case", ["three", "tls"])
def test_quorum(case, tmp_path):
    with Network() as network, contextlib.ExitStack() as stack:
        a, b, c = members = [Member(name, case, pathlib.Path(tmp_path) / name, network) for name in MEMBERS]
        for m in members:
            if m is not a and case == "tls":
                # one certificate and one authority for all
                shutil.rmtree(m.documents / "pki")
                shutil.copytree(a.documents / "pki", m.documents / "pki")
            m.prepare()
            stack.callback(m.stop)
        for m in members:
            m.start()
        a.put("one", "1")
        assert [m.get("one") for m in members] == ["1"] * 3
        a.stop()
        b.put("two", "2")
        assert c.get("two") == "2"
        a.start()
        assert a.get("two") == "2" and a.get("one") == "1"
        # who has no certificate of the authority is not listened to
        if case == "tls":
            url = a.env["ETCD_ADVERTISE_CLIENT_URLS"]
            done = subprocess.run(["ip", "netns", "exec", network.names["a"], "curl", "-sk", "--max-time", "20",
                                   url.replace("etcd-a.internal.abc.joshdurbin.net", network.address["a"]) + "/v3/kv/range"],
                                  capture_output=True, text=True)
            assert done.returncode != 0 or "kvs" not in done.stdout
