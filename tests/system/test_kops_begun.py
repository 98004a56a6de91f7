"""Assets are fetched while keys are made and certificates asked for, once nothing speaks against the run."""
import contextlib
import hashlib
import http.server
import re
import signal
import subprocess
import threading
import time

import pytest

from kops import ASSETS, ControlPlane, Store, Worker
from world import CONFIG, OK, PENDING, SYSTEM


class Mirror:
    """Has all assets. What the controller had answered by then is in `seen`, by asset; a held one is never sent to its end."""

    def __init__(self, node, held=()):
        self.node, self.held, self.seen, self.over = node, held, {}, threading.Event()
        self.server = Store(("127.0.0.1", 0), self.handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        lines = [f"{hashlib.sha256(data).hexdigest()}@{url}/{name}" for name, data in ASSETS.items()]
        node.config["Assets"] = {"amd64": lines, "arm64": lines}
        self.sign = node.folder / "asked"

    def handler(self):
        mirror = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                name = self.path.lstrip("/")
                mirror.seen.setdefault(name, mirror.node.requests())
                mirror.sign.touch()
                self.send_response(200)
                self.send_header("Content-Length", str(len(ASSETS[name])))
                self.end_headers()
                self.wfile.write(ASSETS[name][:-1])
                self.wfile.flush()
                if name in mirror.held:
                    mirror.over.wait(60)
                self.wfile.write(ASSETS[name][-1:])

            def log_message(self, *_):
                pass
        return Handler

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


def run(node, name="apply", *flags):
    argv = node.command(name, *flags, cache=node.folder / "empty")
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, env=node.environ(), stdin=subprocess.DEVNULL)


def places(node):
    """All that is on the node, directories too, beside nodeup's own."""
    paths = {str(path.relative_to(node.root)) for path in node.root.rglob("*")}
    return {p for p in paths if not f"{p}/".startswith(("var/lib/nodeup/", "run/nodeup/"))} - {"var", "var/lib", "run"}


def lies_in_the_way(node):
    """A full directory and an empty one, each where a member of an archive goes."""
    (node.root / "usr/bin/ctr/mine").mkdir(parents=True)
    (node.root / "usr/bin/containerd").mkdir()


def wait_for(found):
    end = time.monotonic() + 30
    while not found():
        assert time.monotonic() < end
        time.sleep(0.05)


def has_cached(node):
    """Each archive has come to its end."""
    return all((node.folder / "empty/sha256" / hashlib.sha256(ASSETS[name]).hexdigest()).exists() for name in ASSETS if "z" in name.split(".")[-1])


def of_worker(node):
    return node.controller() if type(node) is Worker else contextlib.closing(node)


def test_a_worker_fetches_before_it_has_certificates(worker):
    """The controller gives them only once an asset was asked for."""
    mirror = Mirror(worker)
    worker.control["before_certificates"] = [str(mirror.sign)]
    with contextlib.closing(mirror), worker.controller():
        done = run(worker)
        assert done.returncode == OK, done.stderr
        assert ["200 "] in mirror.seen.values() and set(mirror.seen) >= {"kubelet", "runc.amd64"}, mirror.seen
        assert worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"]
        mirror.seen.clear()
        before = worker.tree()
        again = run(worker)
    assert again.returncode == OK and worker.tree() == before and not mirror.seen, again.stderr


@pytest.mark.parametrize("kind", [Worker, ControlPlane])
def test_what_was_begun_is_told_of_as_done_by_the_run(kind, tmp_path):
    """By the time that it took before, too; in the same tree as without."""
    node = kind(tmp_path)
    mirror = Mirror(node)
    with contextlib.closing(mirror), of_worker(node):
        node.write()
        done = run(node)
    assert done.returncode == OK, done.stderr
    for name in ("kubelet", "runc.amd64", "cni-plugins-linux-amd64-v1.8.0.tgz"):
        assert re.search(rf"changed asset {re.escape(name)}: not in the cache \([^)]*; begun \d+\.\d{{3}} s before\)", done.stderr), done.stderr
    assert node.read("/opt/cni/bin/bridge") == "bridge\n" and node.read("/usr/local/bin/kubelet") == ASSETS["kubelet"].decode()
    assert not list(node.root.rglob(".nodeup-*"))


@pytest.mark.parametrize("kind", [Worker, ControlPlane])
def test_a_plan_fetches_nothing(kind, tmp_path):
    node = kind(tmp_path)
    mirror = Mirror(node)
    with contextlib.closing(mirror), of_worker(node):
        node.write()
        done = run(node, "plan")
    assert done.returncode in (OK, PENDING) and "kubelet" in done.stdout, done.stdout + done.stderr
    assert not mirror.seen and "begun" not in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("kind", [Worker, ControlPlane])
def test_what_the_plan_refuses_is_refused_before_anything_is_fetched(kind, tmp_path):
    node = kind(tmp_path)
    node.facts["version"] = "8"
    mirror = Mirror(node)
    with contextlib.closing(mirror), of_worker(node):
        node.write()
        done = run(node)
    assert done.returncode == CONFIG and "nodes of these documents are made on" in done.stderr, done.stderr
    assert not mirror.seen and set(node.tree()) <= {"/etc/passwd"}


def test_what_a_check_of_before_a_change_refuses_is_refused_before_anything_is_fetched(worker, mounts):
    (worker.root / "etc").mkdir()
    mounts.run("mount", "--bind", worker.root / "etc", worker.root / "etc")
    mounts.run("mount", "-o", "remount,bind,ro", worker.root / "etc")
    mirror = Mirror(worker)
    with contextlib.closing(mirror), worker.controller():
        argv = [*mounts.enter, *worker.command("apply", cache=worker.folder / "empty")]
        done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, env=worker.environ(), stdin=subprocess.DEVNULL)
    assert done.returncode == SYSTEM and done.stderr.count("the file system of '/etc' is read-only") == 1, done.stderr
    assert not mirror.seen and worker.tree() == {}


@pytest.mark.parametrize("before", [lambda node: None, lies_in_the_way])
def test_a_refused_node_ends_what_was_begun(worker, before):
    """As it ends without that: with the same error, and nothing of it on the node, though an asset would never have come to its end."""
    before(worker)
    mirror, was, go = Mirror(worker, held=["kubelet"]), places(worker), worker.folder / "go"
    worker.control.update(before_certificates=[str(go)], faults=[None, 400])
    with contextlib.closing(mirror), worker.controller(), subprocess.Popen(
            worker.command("apply", cache=worker.folder / "empty"), stderr=subprocess.PIPE, text=True, env=worker.environ()) as process:
        wait_for(lambda: has_cached(worker))
        go.touch()
        _, told = process.communicate(timeout=60)
    assert process.returncode != OK and "as asked" in told, told
    assert mirror.seen and places(worker) == was


def test_a_node_that_is_stopped_while_it_waits_for_certificates_is_as_it_was(worker):
    lies_in_the_way(worker)
    mirror, was = Mirror(worker, held=["containerd-2.3.4-linux-amd64.tar.gz"]), places(worker)
    worker.control["before_certificates"] = [str(worker.folder / "never")]
    with contextlib.closing(mirror), worker.controller(), subprocess.Popen(
            worker.command("apply", cache=worker.folder / "empty"), stderr=subprocess.PIPE, text=True, env=worker.environ()) as process:
        wait_for(lambda: set(mirror.seen) >= {"kubelet", "containerd-2.3.4-linux-amd64.tar.gz"})
        time.sleep(0.5)
        assert places(worker) == was
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode != OK and places(worker) == was, told


def with_volume(node):
    node.config["VolumeMounts"] = [{"device": "/dev/xvdf", "path": "/data", "filesystem": "ext4"}]


def with_unread_cache(node):
    entry = node.folder / "empty/sha256" / hashlib.sha256(ASSETS["kubectl"]).hexdigest()
    entry.parent.mkdir(parents=True)
    entry.write_bytes(ASSETS["kubectl"])


def with_saved_plan(node):
    (node.folder / "plan").write_text(run(node, "plan", "-o", "json").stdout)
    return [f"--plan={node.folder / 'plan'}"]


@pytest.mark.parametrize("command,has", [
    ("apply", with_saved_plan), ("repair", lambda node: None), ("apply", with_volume), ("apply", with_unread_cache)])
def test_what_is_not_begun_before_certificates(command, has, worker):
    mirror = Mirror(worker)
    with contextlib.closing(mirror), worker.controller():
        flags = has(worker) or []
        worker.write()
        (worker.folder / "requests.log").unlink(missing_ok=True)
        done = run(worker, command, *flags)
    assert worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"], done.stderr
    assert ["200 "] not in mirror.seen.values() and "begun" not in done.stderr, done.stderr
    assert mirror.seen, done.stderr
