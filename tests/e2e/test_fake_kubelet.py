"""The kubelet stand-in refuses what the real one of 1.8 refuses: a boot that ends with it active
would otherwise show little."""
import base64
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

import labassets

PEM = {name: base64.b64encode(b"-----BEGIN %s-----\nAA==\n-----END %s-----\n" % (name, name)).decode()
       for name in (b"CERTIFICATE", b"RSA PRIVATE KEY")}
KUBECONFIG = """apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: %s
    server: https://api.internal.abc.joshdurbin.net
  name: local
contexts:
- context:
    cluster: local
    user: kubelet
  name: service-account-context
current-context: service-account-context
kind: Config
users:
- name: kubelet
  user:
    client-certificate-data: %s
    client-key-data: %s
""" % (PEM[b"CERTIFICATE"], PEM[b"CERTIFICATE"], PEM[b"RSA PRIVATE KEY"])
POD = """apiVersion: v1
kind: Pod
metadata:
  annotations:
    scheduler.alpha.kubernetes.io/critical-pod: ""
  creationTimestamp: null
  labels:
    k8s-app: kube-proxy
  name: kube-proxy
  namespace: kube-system
spec:
  containers:
  - command:
    - /bin/sh
    - -c
    - /usr/local/bin/kube-proxy --v=2
    image: gcr.io/google_containers/kube-proxy:v1.8.7
    livenessProbe:
      httpGet:
        host: 127.0.0.1
        path: /healthz
        port: 8080
      initialDelaySeconds: 15
      timeoutSeconds: 15
    name: kube-proxy
    ports:
    - containerPort: 443
      hostPort: 443
      name: https
    resources:
      requests:
        cpu: 100m
    securityContext:
      privileged: true
    volumeMounts:
    - mountPath: /var/log/kube-proxy.log
      name: logfile
  hostNetwork: true
  tolerations:
  - key: CriticalAddonsOnly
    operator: Exists
  volumes:
  - hostPath:
      path: /var/log/kube-proxy.log
    name: logfile
status: {}
"""


@pytest.fixture(scope="module")
def kubelet(tmp_path_factory):
    path = tmp_path_factory.mktemp("kubelet") / "kubelet"
    labassets.build_kubelet(str(path))
    return str(path)


class Docker(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def metadata(folder, **facts):
    """The metadata service for a kubelet that is told where it is; its process."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    (folder / "imds.json").write_text(json.dumps({"instance-id": "i-0abc", "placement/availability-zone": "us-west-2a",
                                                  "http-tokens": "optional", **facts}))
    child = subprocess.Popen([sys.executable, os.path.join(labassets.ROOT, "tests/fake/imds.py"), "127.0.0.1", str(port),
                              folder / "imds.json", folder / "imds.log"])
    os.environ["FAKE_IMDS"] = "127.0.0.1:%d" % port
    wait_for(lambda: get("http://%s/latest/meta-data/" % os.environ["FAKE_IMDS"])[0], 60)
    return child


class Ping(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\nOK")


@pytest.fixture
def node(tmp_path):
    """The files a kubelet finds, and the flags that name them."""
    for name in ("bridge", "host-local", "loopback"):
        (tmp_path / "cni").mkdir(exist_ok=True)
        (tmp_path / "cni" / name).write_text("")
        (tmp_path / "cni" / name).chmod(0o755)
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests/kube-proxy.manifest").write_text(POD)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    server = Docker(str(tmp_path / "docker.sock"), Ping)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    imds = metadata(tmp_path)
    yield tmp_path
    imds.kill()
    imds.wait()
    server.shutdown()
    server.server_close()


def flags(node):
    return ["--allow-privileged=true", "--cgroup-root=/", "--cloud-provider=aws",
            "--cluster-dns=100.64.0.10", "--cluster-domain=cluster.local",
            "--enable-debugging-handlers=true",
            "--eviction-hard=memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%",
            "--feature-gates=ExperimentalCriticalPodAnnotation=true",
            "--hostname-override=ip-172-20-32-10.us-west-2.compute.internal",
            "--kubeconfig=%s/kubeconfig" % node, "--network-plugin-mtu=9001",
            "--network-plugin=kubenet", "--node-labels=kubernetes.io/role=node,a/b=",
            "--non-masquerade-cidr=100.64.0.0/10", "--pod-manifest-path=%s/manifests" % node,
            "--register-schedulable=true", "--require-kubeconfig=true", "--v=2",
            "--register-with-taints=node-role.kubernetes.io/master=:NoSchedule",
            "--cni-bin-dir=%s/cni/" % node, "--cni-conf-dir=/etc/cni/net.d/",
            "--network-plugin-dir=%s/cni/" % node, "--healthz-port=20248",
            "--docker-endpoint=unix://%s/docker.sock" % node]


def refusal(kubelet, node, *extra):
    """Its last line, when it ends by itself with status 1."""
    done = subprocess.run([kubelet, *flags(node), *extra], capture_output=True, text=True, timeout=10)
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()[-1]


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except urllib.error.URLError:
        return 0, b""


def wait_for(what, seconds=5):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def running(kubelet, node):
    child = subprocess.Popen([kubelet, *flags(node)], stderr=subprocess.PIPE, text=True)
    yield child
    child.kill()
    child.wait()
    child.stderr.close()


def test_says_what_it_is(kubelet):
    assert "stand-in" in subprocess.run([kubelet, "--help"], capture_output=True,
                                        text=True).stdout.splitlines()[0]


def test_becomes_healthy_after_a_while(running):
    url = "http://127.0.0.1:20248/healthz"
    wait_for(lambda: get(url)[0] != 0)
    assert get(url)[0] == 503
    wait_for(lambda: get(url) == (200, b"ok"))
    running.send_signal(signal.SIGTERM)
    assert running.wait(5) == -signal.SIGTERM


def test_sees_a_half_written_manifest(node, running):
    wait_for(lambda: get("http://127.0.0.1:20248/healthz")[0] == 200)
    (node / "manifests/.hidden").write_text("half")
    (node / "manifests/other.manifest").write_text(POD[:100])
    assert running.wait(5) == 1
    assert "other.manifest" in running.stderr.read()


@pytest.mark.parametrize("flag, message", [
    ("--config=/etc/kubelet.conf", "unknown flag: --config"),
    ("--api-servers=https://x", "unknown flag: --api-servers"),
    ("-x", "unknown shorthand flag: 'x' in -x"),
    ("--allow-privileged=yes", 'invalid argument "yes" for --allow-privileged=yes'),
    ("--allow-privileged=true --cgroup-root=/", "invalid argument"),
    ("--network-plugin-mtu=9001x", "invalid argument"),
    ("--node-status-update-frequency=10", "invalid argument"),
    ("--cluster-dns=100.64.0.300", "invalid argument"),
    ("--non-masquerade-cidr=100.64.0.0", "invalid argument"),
    ("--feature-gates=NoSuchGate=true", "invalid argument"),
    ("--feature-gates=PodPriority=on", "invalid argument"),
    ("--register-with-taints=a=b:Sometimes", "invalid argument"),
    ("--eviction-hard=memory.free<100Mi", "invalid argument"),
    ("--eviction-hard=memory.available=100Mi", "invalid argument"),
    ("--kube-reserved=cpu=100x", "invalid argument"),
    ("--hostname-override=@aws", "invalid argument"),
    ("--cloud-provider=amazon", "invalid argument"),
    ("--v", "flag needs an argument: --v"),
    ("--client-ca-file=/no/such", "/no/such"),
    ("--docker-endpoint=tcp://1.2.3.4", "not a unix socket"),
])
def test_refuses_a_flag(kubelet, node, flag, message):
    assert message in refusal(kubelet, node, flag)


def test_asks_the_metadata_service_by_version_1(node, running):
    wait_for(lambda: get("http://127.0.0.1:20248/healthz")[0] == 200, 60)
    asked = [line.split('"')[1] for line in (node / "imds.log").read_text().splitlines()
             if line.endswith(" without-token") and "/meta-data/ " not in line]
    assert asked == ["GET /latest/meta-data/placement/availability-zone HTTP/1.1",
                     "GET /latest/meta-data/instance-id HTTP/1.1"]


def test_dies_where_tokens_are_required(kubelet, node):
    imds = metadata(node, **{"http-tokens": "required"})
    try:
        said = refusal(kubelet, node)
        assert 'could not init cloud provider "aws": EC2MetadataError' in said and "status 401" in said, said
    finally:
        imds.kill()
        imds.wait()
    assert "status 0" in refusal(kubelet, node)
    # another provider has no use for it
    os.unlink(node / "cni/loopback")
    assert 'no "loopback"' in refusal(kubelet, node, "--cloud-provider=external")


def test_names_a_missing_plugin(kubelet, node):
    os.unlink(node / "cni/host-local")
    assert 'no "host-local"' in refusal(kubelet, node)


@pytest.mark.parametrize("old, new, message", [
    ("apiVersion: v1\n", "apiVersion: v2\n", "unsupported value"),
    ("kind: Pod\n", "kind: Job\n", "unsupported value"),
    ("  name: kube-proxy\n  namespace", "  namespace", "metadata.name"),
    ("  name: kube-proxy\n  namespace", "  name: Kube_Proxy\n  namespace", "invalid name"),
    ("  hostNetwork", "  hostNetwrok", 'unknown field "hostNetwrok"'),
    ("hostNetwork: true", 'hostNetwork: "true"', "not a boolean"),
    ("    image: gcr.io/google_containers/kube-proxy:v1.8.7\n", "", "image"),
    ("cpu: 100m", "cpu: 100millis", "quantities"),
    ("mountPath: /var", "mountPath: var", "not absolute"),
    ("      name: logfile", "      name: other", 'no volume "other"'),
    ("path: /var/log/kube-proxy.log\n    name", "path: log\n    name", "not absolute"),
    ("containerPort: 443", "containerPort: 70000", "between 1 and 65535"),
    ("hostPort: 443", "hostPort: 444", "must match containerPort"),
    ("      httpGet:\n", "      exec: {command: [a]}\n      httpGet:\n", "exactly one handler"),
    ("        port: 8080\n", "", "httpGet.port"),
    ("    - /bin/sh\n", "    - 1\n", "not a string"),
    ("k8s-app: kube-proxy", "k8s-app: true", "not a string"),
    ("  - command:", "  - name: kube-proxy\n    command:", "given twice"),
    ("operator: Exists", "operator: Present", "unsupported value"),
    ("status: {}", "status: {", "did not find"),
])
def test_refuses_a_manifest(kubelet, node, old, new, message):
    assert POD.count(old) == 1
    (node / "manifests/kube-proxy.manifest").write_text(POD.replace(old, new))
    line = refusal(kubelet, node)
    assert "manifests/kube-proxy.manifest:" in line and message in line


def test_refuses_a_privileged_pod_unless_allowed(kubelet, node):
    assert "disallowed by policy" in refusal(kubelet, node, "--allow-privileged=false")


@pytest.mark.parametrize("old, new, message", [
    ("https://", "http://", "not an https URL"),
    (PEM[b"RSA PRIVATE KEY"], "bm8=", "PEM block"),
    (PEM[b"RSA PRIVATE KEY"], "b*m8=", "illegal base64"),
    ("current-context: service", "current-context: other", "no entry"),
    ("  name: local", "  name: remote", "no entry"),
    ("    user: kubelet\n", "", "required value"),
    ("kind: Config", "kind: Config\ntype: x", "unknown field"),
])
def test_refuses_a_kubeconfig(kubelet, node, old, new, message):
    assert KUBECONFIG.count(old) == 1
    (node / "kubeconfig").write_text(KUBECONFIG.replace(old, new))
    line = refusal(kubelet, node)
    assert "kubeconfig:" in line and message in line


def test_names_a_missing_kubeconfig(kubelet, node):
    os.unlink(node / "kubeconfig")
    assert "kubeconfig: No such file" in refusal(kubelet, node)
