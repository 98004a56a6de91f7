"""nodeup status, asked of docker: do the static pods that we wrote have their containers? A strict stand-in of its socket."""

import http.server
import json
import os
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

import certs
from test_status_command import DEGRADED, READY, Node

MANIFESTS, ANSWERED = "etc/kubernetes/manifests", "run/nodeup/answered"


class Docker(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Lists running containers by one label, and takes no other request."""
    daemon_threads = True

    def __init__(self, root):
        self.containers, self.asked, self.answer = [], [], None
        folder = os.open(root / "run", os.O_PATH)
        super().__init__(f"/proc/self/fd/{folder}/docker.sock", Handler)
        os.close(folder)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def run(self, pod, name, namespace="kube-system", form="k8s_{name}_{pod}_{namespace}_5a2b_0"):
        self.containers.append({"Id": f"{len(self.containers):064x}", "State": "running", "Names": ["/" + form.format(**locals())],
                                "Labels": {"io.kubernetes.pod.name": pod, "io.kubernetes.pod.namespace": namespace}})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "-"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        asked = urllib.parse.parse_qs(query, strict_parsing=True)
        assert path == "/containers/json" and list(asked) == ["filters"], self.path
        (key, (label,)), = json.loads(asked["filters"][0]).items()
        name, _, value = label.partition("=")
        assert key == "label" and name == "io.kubernetes.pod.namespace", self.path
        self.server.asked.append(value)
        body = self.server.answer or json.dumps([c for c in self.server.containers if c["Labels"][name] == value]).encode()
        self.send_response(200)
        self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


@pytest.fixture
def docker(node):
    server = Docker(node.root)
    yield server
    server.shutdown()
    server.server_close()


def ran(node, *pods, minutes=60, kind="file"):
    """A run that wrote these pods (name, containers, namespace), and ended some time ago."""
    tasks = [{"kind": "unit", "name": "docker.service", "state": "right", "staysUp": True},
             {"kind": "unit", "name": "containerd.service", "state": "right", "staysUp": True}]
    folder = node.root / MANIFESTS
    folder.mkdir(parents=True, exist_ok=True)
    for name, containers, *namespace in pods:
        metadata = {"name": name, **({"namespace": namespace[0]} if namespace else {})}
        (folder / f"{name}.manifest").write_text(json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": c, "image": "x"} for c in containers]}}))
        tasks.append({"kind": kind, "name": f"/{MANIFESTS}/{name}.manifest", "state": "right"})
    node.write(state="ready", tasks=tasks, startedUnix=int(time.time()) - 60 * minutes)


PROXY = ("kube-proxy", ["kube-proxy"], "kube-system")


def why(node, code):
    done = node.status("-o", "json")
    said = json.loads(done.stdout)
    assert done.returncode == code == said["status"], done
    return said.get("why"), said.get("pods")


@pytest.mark.parametrize("form", ["k8s_{name}_{pod}_{namespace}_5a2b_0", "k8s_{name}.4f1c2d_{pod}_{namespace}_5a2b_0"], ids=["1.6", "1.2"])
def test_a_pod_that_runs(node, docker, form):
    ran(node, PROXY)
    docker.run("kube-proxy-ip-10-0-0-1.ec2.internal", "kube-proxy", form=form)
    assert why(node, READY) == (None, None) and docker.asked == ["kube-system"]


def test_a_pod_without_a_container(node, docker):
    ran(node, PROXY)
    want = "no container runs: kube-proxy of pod kube-proxy; see docker ps -a, and journalctl -u kubelet"
    assert why(node, DEGRADED) == (want, None)
    done = node.status()
    assert done.stdout.startswith("degraded since ") and f"  why       {want}\n" in done.stdout, done


@pytest.mark.parametrize("pod,name,namespace", [
    ("kube-proxy-ip-10-0-0-1", "POD", "kube-system"), ("kube-proxy-ip-10-0-0-1", "kube-proxy-x", "kube-system"),
    ("kube-proxy-ip-10-0-0-1", "kube", "kube-system"), ("kube-dns-ip-10-0-0-1", "kube-proxy", "kube-system"),
    ("kube-proxy-ip-10-0-0-1", "kube-proxy", "default"), ("kube-proxy", "kube-proxy", "kube-system")])
def test_another_container_is_not_it(node, docker, pod, name, namespace):
    ran(node, PROXY)
    docker.run(pod, name, namespace)
    assert why(node, DEGRADED)[0]


def test_one_of_two_containers(node, docker):
    ran(node, ("web", ["a", "b"]))
    docker.run("web-node", "a", "default")
    assert why(node, DEGRADED)[0].startswith("no container runs: b of pod web; "), docker.asked


def test_two_pods_of_which_one_has_the_other_s_name(node, docker):
    ran(node, *((name, ["etcd-container"], "kube-system") for name in ("etcd-server", "etcd-server-events")))
    docker.run("etcd-server-events-ip-10-0-0-1", "etcd-container")
    assert why(node, DEGRADED)[0].startswith("no container runs: etcd-container of pod etcd-server; ")
    docker.run("etcd-server-ip-10-0-0-1", "etcd-container")
    assert why(node, READY) == (None, None)


def test_pods_of_a_node_that_just_came_up_are_starting(node, docker):
    ran(node, PROXY, minutes=5)
    assert why(node, READY) == (None, "starting: kube-proxy of pod kube-proxy")
    assert "  pods      starting: kube-proxy of pod kube-proxy\n" in node.status().stdout


def test_a_pod_that_we_did_not_write_is_not_ours(node, docker):
    ran(node, PROXY, kind="stray")
    assert why(node, READY) == (None, None) and not docker.asked


def control_plane(node, docker, pod, name, command, age=3600, probe=8080):
    """A pod of it that runs for so long, with one container, and what it is started with."""
    ran(node, (pod, [name], "kube-system"))
    container = {"name": name, "image": "x", "command": ["/bin/sh", "-c", command + " | tee /log"],
                 "livenessProbe": {"httpGet": {"host": "127.0.0.1", "path": "/healthz", "port": probe}}}
    (node.root / MANIFESTS / f"{pod}.manifest").write_text(json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "kube-system"},
         "spec": {"hostNetwork": True, "containers": [container]}}))
    docker.run(pod + "-ip-10-0-0-1", name)
    docker.containers[-1]["Created"] = int(time.time()) - age


def api_server(node, docker, *flags, **how):
    control_plane(node, docker, "kube-apiserver", "kube-apiserver", " ".join(("/kube-apiserver", *flags)), **how)


@pytest.fixture
def port():
    """It listens, and nobody takes what comes: a process that is stopped."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def number(server):
    return server.getsockname()[1]


def test_an_api_server_that_hangs(node, docker, port):
    api_server(node, docker, f"--secure-port={number(port)}")
    want = f"container kube-apiserver of pod kube-apiserver runs, but it does not answer: 127.0.0.1:{number(port)} says nothing for 1.0 s; nodeup restarts no container of a control plane"
    assert why(node, DEGRADED) == (want, None)
    assert f"  why       {want}\n" in node.status().stdout


def test_an_api_server_is_starting_before_it_answers(node, docker, port):
    api_server(node, docker, f"--secure-port={number(port)}", age=60)
    assert why(node, READY) == (None, "starting: kube-apiserver of pod kube-apiserver")


@pytest.mark.parametrize("flags", [[], ["--insecure-port=0", "--secure-port=0"]], ids=["its probe", "off"])
def test_an_api_server_without_a_secure_port(node, docker, port, flags):
    api_server(node, docker, *flags, probe=number(port))
    done = node.status("-o", "json")
    assert done.returncode == (READY if flags else DEGRADED), done
    assert json.loads(done.stdout).get("notAsked", []) == ["kube-apiserver of pod kube-apiserver: its manifest turns no port on"] * bool(flags), done


ANSWERS = ("import http.server; s = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler); "
           "print(s.server_port, flush=True); s.serve_forever()")


@pytest.mark.parametrize("pod, name, command", [("etcd-server", "etcd-container", "/usr/local/bin/etcd"),
                                                ("etcd-manager-main", "etcd-manager", "/etcd-manager --client-urls=https://__name__:{}")])
def test_an_etcd_that_is_frozen_is_named_until_it_goes_on(pod, name, command, node, docker):
    """Of kops 1.8 and of today's kops, by its probe and by its flag; also in its first minutes, as it has answered once."""
    with subprocess.Popen([sys.executable, "-c", ANSWERS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as etcd:
        try:
            port = int(etcd.stdout.readline())
            control_plane(node, docker, pod, name, command.format(port), probe=port, age=60)
            assert why(node, READY) == (None, None) and (node.root / ANSWERED).read_text() == docker.containers[0]["Id"]
            etcd.send_signal(signal.SIGSTOP)
            assert why(node, DEGRADED) == (f"container {name} of pod {pod} runs, but it does not answer: 127.0.0.1:{port} says nothing for 1.0 s; "
                                           "nodeup restarts no container of a control plane", None)
            # in another container it begins anew
            docker.containers[0]["Id"] = "1" * 64
            assert why(node, READY) == (None, f"starting: {name} of pod {pod}")
            etcd.send_signal(signal.SIGCONT)
            assert why(node, READY) == (None, None) and etcd.poll() is None
        finally:
            etcd.kill()


def serve_tls(server, pki):
    """As etcd does, which closes a connection that does not begin by TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certs.signed(pki, "x", None, certs.OURS), pki / "x.key")
    while True:
        client, _ = server.accept()
        with client:
            if client.recv(1, socket.MSG_PEEK) != b"\x16":
                continue
            try:
                context.wrap_socket(client, server_side=True).close()
            except OSError:
                pass


def serve_words(server, _):
    while True:
        client, _ = server.accept()
        with client:
            if client.recv(99):
                client.sendall(b"HTTP/1.0 401 Unauthorized\r\n\r\n")


@pytest.mark.parametrize("serve", [serve_tls, serve_words])
def test_any_answer_of_an_api_server_is_one(node, docker, port, tmp_path, serve):
    pki = tmp_path / "pki"
    pki.mkdir()
    threading.Thread(target=serve, args=(port, pki), daemon=True).start()
    api_server(node, docker, f"--secure-port={number(port)}")
    assert why(node, READY) == (None, None)


def test_what_answered_is_known_where_it_can_be_written_alone(node, docker, port):
    """Its record cannot be replaced, and status says all that it says otherwise."""
    (node.root / ANSWERED).mkdir(parents=True)
    threading.Thread(target=serve_words, args=(port, None), daemon=True).start()
    api_server(node, docker, f"--secure-port={number(port)}", age=60)
    done = node.status()
    assert done.returncode == READY and not done.stderr and "pods" not in done.stdout and not list((node.root / ANSWERED).iterdir()), done


def test_a_docker_that_is_not_there(node):
    ran(node, PROXY)
    reason, pods = why(node, READY)
    assert reason is None and pods.startswith("not seen: ") and "docker" in pods, pods


@pytest.mark.parametrize("answer", [b"{}", b"[1, {}, {\"Labels\": 3}, {\"Labels\": {\"io.kubernetes.pod.name\": \"kube-proxy-x\"}, \"Names\": [7]}]", b"["])
def test_an_odd_answer_does_no_harm(node, docker, answer):
    ran(node, PROXY)
    docker.answer = answer
    done = node.status()
    assert done.returncode == (DEGRADED if b"kube-proxy-x" in answer else READY) and not done.stderr, done
    assert "pods      not seen: " in done.stdout or done.returncode == DEGRADED, done
