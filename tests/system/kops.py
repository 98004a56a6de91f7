"""Nodes of today's kops in the making: a worker with its documents, its CA, its assets in a cache, and a kops-controller that answers
it; a control plane with its state store."""
import base64
import contextlib
import copy
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import yaml

import certs
from world import ENV, PROGRAM, ROOT, tar

REGION, ID, SECRET, TOKEN = "us-test-1", "ASIAFAKE", "fakesecret", "faketoken"
INSTANCE, ADDRESS = "i-0123456789abcdef0", "172.20.32.11"
CA = """\
-----BEGIN CERTIFICATE-----
MIIBhDCCASqgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1rdWJlcm5l
dGVzLWNhMCAXDTI2MTEyNzIwNDQyNloYDzIxMjYxMTAzMjA0NDI2WjAYMRYwFAYD
VQQDDA1rdWJlcm5ldGVzLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtsbW
TQ07sGFdeNN3ouICWLxM4oZcLuuZITfdRX2G8IaMw10oe10ZI0jj9m/cMqcsynr4
U5oEP9aKnB8f5c/XMaNjMGEwHQYDVR0OBBYEFLj79ol0Tv/4rfS32lWBaoUKbTG/
MB8GA1UdIwQYMBaAFLj79ol0Tv/4rfS32lWBaoUKbTG/MA8GA1UdEwEB/wQFMAMB
Af8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIH/DAgdxulioR1g0
A0jAyDh9f0aIFWznX2DQu1LbzbRtAiEAnedFG+TxYbz9k3nMqAn/r64Z59MhHU73
THZgU2ryGK0=
-----END CERTIFICATE-----
"""
PUBLIC_KEY = """\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtsbWTQ07sGFdeNN3ouICWLxM4oZc
LuuZITfdRX2G8IaMw10oe10ZI0jj9m/cMqcsynr4U5oEP9aKnB8f5c/XMQ==
-----END PUBLIC KEY-----
"""
ASSETS = {
    "kubelet": b"stands for kubelet\n", "kubectl": b"stands for kubectl\n",
    "ecr-credential-provider-linux-amd64": b"stands for a credential provider\n", "runc.amd64": b"stands for runc\n",
    "cni-plugins-linux-amd64-v1.8.0.tgz": tar({"./bridge": b"bridge\n", "./host-local": b"host-local\n", "./LICENSE": b"licence\n"}),
    "containerd-2.3.4-linux-amd64.tar.gz": tar({f"bin/{n}": n.encode() + b"\n" for n in (
        "containerd", "containerd-shim-runc-v2", "containerd-stress", "ctr")}),
}
CONFIG = {
    "CAs": {}, "ClusterName": "a.example.com", "Hooks": [None, None], "InstallCNIAssets": True, "KubernetesVersion": "1.36.1",
    "KubeProxy": {"clusterCIDR": "100.96.0.0/11", "cpuRequest": "100m", "image": "registry.k8s.io/kube-proxy:v1.36.1", "logLevel": 2},
    "KubeletConfig": {
        "anonymousAuth": False, "cgroupDriver": "systemd", "cgroupRoot": "/", "cloudProvider": "external", "clusterDNS": "100.64.0.10",
        "clusterDomain": "cluster.local", "enableDebuggingHandlers": True, "evictionHard": "memory.available<100Mi,nodefs.available<10%",
        "kubeconfigPath": "/var/lib/kubelet/kubeconfig", "logLevel": 2, "nodeLabels": {"node-role.kubernetes.io/node": ""},
        "podManifestPath": "/etc/kubernetes/manifests", "protectKernelDefaults": True, "shutdownGracePeriod": "30s",
        "shutdownGracePeriodCriticalPods": "10s"},
    "Networking": {"nonMasqueradeCIDR": "100.64.0.0/10", "serviceClusterIPRange": "100.64.0.0/13"}, "UpdatePolicy": "automatic",
    "containerdConfig": {"logLevel": "info", "runc": {"version": "1.4.3"}, "sandboxImage": "registry.k8s.io/pause:3.10.1", "version": "2.3.4"},
    "usesNoneDNS": False,
}
DEBIAN = {"distribution": "debian", "version": "12", "codename": "bookworm"}
UBUNTU = {"distribution": "ubuntu", "version": "24.04", "codename": "noble"}
AMAZON = {"distribution": "amazonlinux", "version": "2023"}
FACTS = {
    "arch": "amd64", "region": REGION, "availabilityZone": REGION + "a", "instanceID": INSTANCE, "instanceType": "m5.large",
    "localHostname": f"ip-172-20-32-11.{REGION}.compute.internal", "localIPv4": ADDRESS, "mac": "06:11:22:33:44:55",
    "interfaces": {"ens5": "06:11:22:33:44:55"}, "bpffsMounted": True, "filesystems": ["ext4", "overlay"],
}


def openssl(*argv):
    return subprocess.run(["openssl", *map(str, argv)], check=True, capture_output=True, text=True).stdout


def make_ca(name, serial, key, cert, kind="rsa:2048"):
    openssl("req", "-x509", "-newkey", *kind.split(), "-nodes", "-keyout", key, "-out", cert, "-set_serial", serial, "-days", "3650", "-subj",
            f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign")


def sign_controller(folder, names, ca):
    """kops-controller's own certificate, of one of the CAs there."""
    openssl("req", "-new", "-key", folder / "tls.key", "-out", folder / "tls.csr", "-subj", "/CN=kops-controller")
    (folder / "tls.ext").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")
    openssl("x509", "-req", "-in", folder / "tls.csr", "-CA", folder / f"{ca}.crt", "-CAkey", folder / f"{ca}.key", "-set_serial", "5",
            "-days", "30", "-extfile", folder / "tls.ext", "-out", folder / "tls.crt")


@functools.cache
def worker_keys():
    """Both CAs of a worker's cluster, the controller's key and certificate: to make keys takes longer than a test, and the same do for all."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        for name, serial in (("ca", "69828"), ("old", "69827")):
            make_ca("kubernetes-ca", serial, made / f"{name}.key", made / f"{name}.crt")
        openssl("genrsa", "-out", made / "tls.key", "2048")
        sign_controller(made, "DNS:localhost,IP:127.0.0.1", "ca")
        return {path.name: path.read_text() for path in made.iterdir()}


class Worker:
    """Its folder holds all of it; each run reads what was written last."""

    def __init__(self, folder, **config):
        self.folder, self.root, self.cache = folder, folder / "root", folder / "cache"
        self.root.mkdir(parents=True)
        self.control = {"region": REGION, "keys": {ID: [SECRET, TOKEN]}, "node": INSTANCE, "hosts": [INSTANCE, ADDRESS]}
        self.make_cas()
        self.facts = {**DEBIAN, **FACTS}
        self.ports, self.server_name, self.addresses = [], None, []
        self.config = {**copy.deepcopy(CONFIG), "KeypairIDs": {"kubernetes-ca": "69828"}, "Assets": {"amd64": self.assets()}, **config}
        self.config["Assets"]["arm64"] = self.config["Assets"]["amd64"]

    def make_cas(self):
        for name, text in worker_keys().items():
            (self.folder / name).write_text(text)

    def serve_as(self, names, ca="ca"):
        """Gives kops-controller another certificate."""
        sign_controller(self.folder, names, ca)

    def date_ca(self, start, end):
        """Its CA begins and ends then; the key, and what it has signed, stay."""
        dates = self.folder / "dates"
        dates.mkdir()
        (dates / "kubernetes-ca.key").write_text((self.folder / "ca.key").read_text())
        usage = "\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash"
        made = certs.signed(dates, "kubernetes-ca", None, certs.CA + usage, start, end)
        (self.folder / "ca.crt").write_text(made.read_text())
        self.config["KeypairIDs"]["kubernetes-ca"] = str(int(openssl("x509", "-in", made, "-noout", "-serial").split("=")[1], 16))

    def assets(self):
        lines = []
        for name, data in ASSETS.items():
            digest = hashlib.sha256(data).hexdigest()
            path = self.cache / "sha256" / digest
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            lines.append(f"{digest}@https://assets.example/{name}")
        return lines

    def boot(self):
        servers = [f"https://127.0.0.1:{port}/" for port in self.ports]
        text = yaml.safe_dump(self.config)
        (self.folder / "nodeupconfig.yaml").write_text(text)
        server = {"servers": servers, "CACertificates": (self.folder / "ca.crt").read_text() + (self.folder / "old.crt").read_text()}
        if self.server_name:
            server["tlsServerName"] = self.server_name
        more = {"APIServerIPs": self.addresses} if self.addresses else {}
        return {**more, "CloudProvider": "aws", "ClusterName": "a.example.com", "ConfigServer": server, "InstanceGroupName": "nodes",
                "InstanceGroupRole": "Node", "NodeupConfigHash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}

    def write(self, **changes):
        (self.folder / "control.json").write_text(json.dumps(self.control))
        documents = self.folder / "documents"
        documents.mkdir(exist_ok=True)
        (documents / "kube_env.yaml").write_text(yaml.safe_dump({**self.boot(), **changes}))
        (documents / "facts.yaml").write_text(yaml.safe_dump(self.facts))

    @contextlib.contextmanager
    def controller(self, n=1, port=0):
        """Servers that answer; without it none does."""
        self.write()
        argv = [sys.executable, ROOT / "tests/fake/kops_controller.py", "127.0.0.1", str(port), self.folder]
        processes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(n)]
        try:
            self.ports = [int(p.stdout.readline()) for p in processes]
            self.write()
            yield self
        finally:
            for p in processes:
                p.terminate()
                p.wait()
                p.stdout.close()

    def command(self, name, *flags, root=None, cache=None):
        documents = self.folder / "documents"
        return list(map(str, [PROGRAM, name, "--root", root or self.root, "--facts", documents / "facts.yaml", "--cache", cache or self.cache,
                              "--conf", documents / "kube_env.yaml", *flags]))

    def environ(self, **changes):
        own = {**ENV, "AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN, **changes}
        return {k: v for k, v in own.items() if v is not None}

    def run(self, name, *flags, **env):
        return subprocess.run(self.command(name, *flags), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                              env=self.environ(**env))

    def apply(self, *flags, **env):
        return self.run("apply", *flags, **env)

    def requests(self):
        log = self.folder / "requests.log"
        return log.read_text().splitlines() if log.exists() else []

    def read(self, path):
        return (self.root / path.lstrip("/")).read_text()

    def tree(self):
        """Path below the root: mode, and what is there; nodeup's own notes left out."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = "/" + str(path.relative_to(self.root))
            if name.startswith(("/var/lib/nodeup", "/run")) or path.is_dir() and not path.is_symlink():
                continue
            found[name] = os.readlink(path) if path.is_symlink() else ("%04o" % (path.stat().st_mode & 0o7777), path.read_bytes())
        return found


CLUSTERS = ("main", "events")
KEYSETS = ["kubernetes-ca", "service-account", "etcd-clients-ca", "apiserver-aggregator-ca",
           *(f"etcd-{kind}-ca-{c}" for kind in ("manager", "peers") for c in CLUSTERS)]
CONTROL_PLANE = {
    "APIServerConfig": {
        "API": {"dns": {}, "publicName": "api.a.example.com"}, "ClusterDNSDomain": "cluster.local",
        "KubeAPIServer": {"allowPrivileged": True, "anonymousAuth": False, "etcdServers": ["https://127.0.0.1:4001"],
                          "etcdServersOverrides": ["/events#https://127.0.0.1:4002"], "image": "registry.k8s.io/kube-apiserver:v1.36.1",
                          "logLevel": 2, "securePort": 443, "serviceClusterIPRange": "100.64.0.0/13"},
        "ServiceAccountPublicKeys": PUBLIC_KEY},
    "ControlPlaneConfig": {
        "KubeControllerManager": {"clusterName": "a.example.com", "image": "registry.k8s.io/kube-controller-manager:v1.36.1", "logLevel": 2},
        "KubeScheduler": {"image": "registry.k8s.io/kube-scheduler:v1.36.1", "logLevel": 2}},
    "etcdClusterNames": list(CLUSTERS),
}
HEALTHCHECK = """\
apiVersion: v1
kind: Pod
metadata: {}
spec:
  containers:
  - args: [--ca-cert=/secrets/ca.crt]
    image: registry.k8s.io/kops/kube-apiserver-healthcheck:1.37.0
    name: healthcheck
    resources: {}
    volumeMounts: [{mountPath: /secrets, name: healthcheck-secrets, readOnly: true}]
  volumes:
  - hostPath: {path: /etc/kubernetes/kube-apiserver-healthcheck/secrets, type: Directory}
    name: healthcheck-secrets
status: {}
"""
PASSWD = "root:x:0:0:root:/root:/bin/bash\nadmin:x:1000:1000:Debian:/home/admin:/bin/bash\n"


class Store(http.server.ThreadingHTTPServer):
    # with five, Python's own, a connection more is refused, and tried again a second later
    request_queue_size = 128


class ControlPlane(Worker):
    """With a state store that answers over HTTP: what it was asked is in `asked`. No kops-controller is there."""
    made = {}

    def __init__(self, folder, role="ControlPlane", **config):
        super().__init__(folder, **config)
        self.role, self.asked, self.signed, self.status = role, [], set(), {}
        self.date = None  # of its clock, where that is another
        self.base = self.folder / "state"
        server = Store(("127.0.0.1", 0), self.handler())
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.server = server
        self.url = f"http://127.0.0.1:{server.server_address[1]}/a.example.com"
        for path, text in (("manifests/etcd/main-a.yaml", "kind: Pod # main\n"), ("manifests/etcd/events-a.yaml", "kind: Pod # events\n"),
                           ("manifests/channels/kops-channels.yaml", "kind: Pod # channels\n"),
                           ("manifests/static/kube-apiserver-healthcheck.yaml", HEALTHCHECK)):
            self.store(path, text)
        self.config.update({
            **copy.deepcopy(CONTROL_PLANE), "channelsManifest": self.url + "/manifests/channels/kops-channels.yaml",
            "configStore": {"keypairs": self.url + "/pki", "secrets": self.url + "/secrets"},
            "etcdManifests": [f"{self.url}/manifests/etcd/{name}-a.yaml" for name in CLUSTERS],
            "staticManifests": [{"key": "kube-apiserver-healthcheck", "path": "manifests/static/kube-apiserver-healthcheck.yaml"}], **config})
        if role == "APIServer":
            for key in ("ControlPlaneConfig", "etcdManifests", "channelsManifest", "etcdClusterNames"):
                del self.config[key]
        self.generations = {}
        for name in KEYSETS:
            self.rotate(name)
        (self.root / "etc").mkdir()
        (self.root / "etc/passwd").write_text(PASSWD)

    def make_cas(self):
        """They are in the state store."""

    def keep_in_s3(self, bucket):
        """The same store as one of S3: returns its endpoint, where the bucket's name begins the path."""
        endpoint = self.url.rsplit("/", 1)[0]
        self.config = json.loads(json.dumps(self.config).replace(self.url, f"s3://{bucket}"))
        self.url = f"s3://{bucket}"
        return endpoint

    def close(self):
        """The state store is gone."""
        self.server.shutdown()
        self.server.server_close()

    def handler(self):
        node = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # an answer does not wait for the acknowledgement of its headers
            disable_nagle_algorithm = True

            def date_time_string(self, timestamp=None):
                return node.date or super().date_time_string(timestamp)

            def do_GET(self):
                path = self.path.split("/", 2)[2]
                file = node.base / path.replace("%3A", ":")
                status = node.status.get(path, 200 if file.is_file() else 404)
                body = file.read_bytes() if status == 200 else b"no"
                node.asked.append(path)
                node.signed.add(re.sub(r"/\d{8}/", "/DAY/", self.headers.get("Authorization", "").split(",")[0]))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        return Handler

    def store(self, path, text):
        (self.base / path).parent.mkdir(parents=True, exist_ok=True)
        (self.base / path).write_text(text)

    def rotate(self, name, old=True):
        """A new generation of a CA, which the documents then mean; the ones before stay in its keyset and in CAs."""
        known = self.generations.setdefault(name, [])
        n = len(known)
        if (name, n) not in self.made:  # the same keys do for all tests
            serial = str(1000 + len(self.made))
            key, cert = self.folder / "new.key", self.folder / "new.crt"
            make_ca(name, serial, key, cert, "rsa:2048" if name == "kubernetes-ca" else "ec -pkeyopt ec_paramgen_curve:prime256v1")
            self.made[name, n] = serial, cert.read_text(), openssl("pkey", "-in", key, "-traditional")
        known.append(self.made[name, n])
        self.store_keyset(name)

    def store_keyset(self, name):
        known = self.generations[name]
        keys = [{"id": i, "publicMaterial": base64.b64encode(c.encode()).decode(), "privateMaterial": base64.b64encode(k.encode()).decode()}
                for i, c, k in known]
        self.store(f"pki/private/{name}/keyset.yaml", yaml.safe_dump({
            "apiVersion": "kops.k8s.io/v1alpha2", "kind": "Keyset", "metadata": {"name": name}, "spec": {"keys": keys, "primaryId": known[0][0]}}))
        self.config["KeypairIDs"][name] = known[-1][0]
        self.config["CAs"][name] = "".join(c for _, c, _ in known)

    def redate(self, name, start, end):
        """The newest generation of a CA, with the same key, valid between other times."""
        serial, _, key = self.generations[name][-1]
        pki = self.folder / "dates"
        pki.mkdir(exist_ok=True)
        (pki / f"{name}.key").write_text(key)
        cert = certs.signed(pki, name, None, certs.CA + "\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash", start, end)
        self.generations[name][-1] = serial, cert.read_text(), key
        self.store_keyset(name)

    def secret(self, name, text):
        self.store(f"secrets/{name}", json.dumps({"Data": base64.b64encode(text.encode()).decode()}))

    def boot(self):
        text = yaml.safe_dump(self.config)
        role = {"ControlPlane": "control-plane", "APIServer": "apiserver"}[self.role]
        self.store(f"igconfig/{role}/master-a/nodeupconfig.yaml", text)
        return {"CloudProvider": "aws", "ClusterName": "a.example.com", "ConfigBase": self.url, "InstanceGroupName": "master-a",
                "InstanceGroupRole": self.role, "NodeupConfigHash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}

    def ca(self, name="kubernetes-ca", generation=-1):
        path = self.folder / f"{name}.pem"
        path.write_text(self.generations[name][generation][1])
        return path
