"""nodeup timeline: where the time of a run went, as its record has it, and what took longer than in the run before."""

import base64
import contextlib
import http.server
import json
import re
import shutil
import socket
import ssl
import threading
import time
import xml.etree.ElementTree

import pytest

import certs
from test_status_command import Node
from world import CNI, KUBECTL, KUBELET

LANES = ("boot", "net", "processor", "disk", "services")
SVG = "{http://www.w3.org/2000/svg}"


class Timeline(Node):
    def argv(self, *flags):
        argv = super().argv()
        return [*argv[:argv.index("status")], "timeline", *flags]

    def ask(self, *flags):
        done = self.status(*flags)
        assert done.returncode == 0 and not done.stderr, done
        return done.stdout

    def json(self, *flags):
        return json.loads(self.ask("-o", "json", *flags))


def record(world, number):
    found, = (world.root / "var/lib/nodeup/runs").glob(f"*-{number}.json")
    return found.read_text()


@pytest.fixture
def runs(told, world, tmp_path):
    """Runs on a node that is a new one each time but for the records. No systemd is there, so each fails in the end."""
    fresh = tmp_path / "fresh"
    shutil.copytree(world.root, fresh, symlinks=True)
    argv = list(told.argv)

    def run(*prefix):
        records = {p.name: p.read_text() for p in (world.root / "var/lib/nodeup/runs").glob("*")}
        for path in (*world.root.iterdir(), world.cache):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(fresh, world.root, symlinks=True, dirs_exist_ok=True)
        folder = world.root / "var/lib/nodeup/runs"
        folder.mkdir(parents=True)
        for name, text in records.items():
            (folder / name).write_text(text)
        told.argv[:] = [*prefix, *argv]
        assert told().end() > 0
    return run


def test_a_run_and_its_record(told, world):
    told().end()
    node = Timeline(world.root)
    text = record(world, 1)
    run = json.loads(text)
    rows = run["times"]
    assert len(rows) > 20 and len(json.dumps(rows, separators=(",", ":"))) <= 128 * len(rows)
    for i, (task, lane, start, end, waited, after, state, *why) in enumerate(rows):
        assert 0 <= start <= end and 0 <= waited <= end - start + 1 and lane in LANES and -1 <= after < len(rows) and after != i, rows[i]
        # it ends after what it waited for
        assert after < 0 or rows[after][3] <= end, (rows[i], rows[after])
    by_task = {row[0]: row for row in rows}
    assert by_task[f"asset {KUBELET}"][1] == "net" and by_task["dir /etc/kubernetes"][1] == "disk"
    assert by_task["install /usr/local/bin/kubelet"][5] >= 0
    assert run["beganMs"] <= run["endedMs"] and "bootMs" not in run
    found = node.json()
    assert found["schema"] == 1 and found["number"] == 1 and "slower" not in found and "leftOut" not in found
    spans = {span["task"]: span for span in found["spans"]}
    assert set(by_task) < set(spans) and spans["documents and plan"]["lane"] == "boot"
    assert all(s["startMs"] <= s["endMs"] and s["lane"] in LANES for s in spans.values())
    critical = [s for s in found["spans"] if s.get("critical")]
    assert critical[0]["task"] == "documents and plan" and max(s["endMs"] for s in spans.values()) == max(s["endMs"] for s in critical)
    assert found["moments"]["nodeup"] == 0 <= found["moments"]["tasks"] <= found["moments"]["end"]
    assert found["moments"]["registered"] is found["moments"]["ready"] is found["moments"]["kernel"] is None
    # no secret of the run is in it
    world.check_secrets(text, "record")


def test_a_run_that_changes_nothing_writes_little(told, world):
    """And is compared with the run before, though both are right."""
    for _ in range(3):
        told().end()
    first, last = (json.loads(record(world, n)) for n in (1, 3))
    assert len(last.get("times", [])) < len(first["times"]) / 2


def test_text(told, world):
    told().end()
    told().end()
    node = Timeline(world.root)
    text = node.ask()
    assert re.match(r"run 2, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, by hand, process \d+: failed\n", text), text
    assert "        0 ms  nodeup's first instruction\n" in text and "   not known  node is Ready\n" in text
    assert node.ask("2") == text and node.ask("1").startswith("run 1, ")
    assert re.search(r"\ncritical chain, from its end: .*\n(  .* @\d.* \+\d.*\n)+", node.ask("1"))
    assert re.search(r"\nlongest\n(  +\S+ m?s  \w+ +\S.*\n)+", node.ask("1"))


def test_svg(told, world):
    told().end()
    node = Timeline(world.root)
    picture = xml.etree.ElementTree.fromstring(node.ask("-o", "svg"))
    assert picture.tag == f"{SVG}svg" and {e.tag for e in picture.iter()} == {f"{SVG}{n}" for n in ("svg", "style", "rect", "text", "title", "path")}
    titles = {e.text.split(": ")[0] for e in picture.iter(f"{SVG}title")}
    assert titles == {s["task"] for s in node.json()["spans"]}
    height = float(picture.get("height"))
    texts = [e for e in picture.iter(f"{SVG}text")]
    assert all(0 <= float(e.get("y")) <= height for e in texts)
    # the numbers of the scale stand at the head of each lane, too
    numbers = [e.text for e in texts if e.get("class") == "small"]
    assert numbers[0] == "0" and numbers.count(numbers[-1]) == 1 + len({s["lane"] for s in node.json()["spans"]}), numbers
    # no two names in one row
    rows = [e.get("y") for e in texts if re.fullmatch(r".* \([\d.]+ \w+\)", e.text)]
    assert len(rows) == len(set(rows)) >= len(titles)


def test_no_such_run(told, world):
    node = Timeline(world.root)
    done = node.status()
    assert done.returncode == 64 and "no run is remembered" in done.stderr and not done.stdout, done
    told().end()
    done = node.status("7")
    assert done.returncode == 64 and "no run '7' is remembered; nodeup status --runs has their numbers, to 1" in done.stderr, done
    for argv, says in ((["1", "2"], "unexpected '2'"), (["-o", "png"], "'png' is none of text, json, svg"), (["--long"], "takes no --long")):
        done = node.status(*argv)
        assert done.returncode == 64 and says in done.stderr and not done.stdout, done


def test_the_record_of_an_older_nodeup(node_of_old):
    """Without times, and with a name of its own."""
    assert node_of_old.ask().startswith("run 3, 2023-11-14 22:13:20, by hand, process 7: ready\n")
    found = node_of_old.json("3")
    assert found["spans"] == [] and found["moments"]["nodeup"] is None


# The API server, which knows when the node was registered and became Ready

ENDED, NAME, CLIENT = 1700000002, "system:node:ip-10-0-0-7.ec2.internal", "extendedKeyUsage=clientAuth"


class Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        shown = self.connection.getpeercert()
        self.server.asked.append((self.path, shown["subject"][0][0][1] if shown else self.headers["Authorization"]))
        time.sleep(self.server.delay)
        text = json.dumps(self.server.object).encode()
        with contextlib.suppress(OSError):
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pki")
    for name, signer, extensions in (("ca", None, certs.CA), ("other", None, certs.CA), ("server", "ca", certs.OURS), (NAME, "ca", CLIENT)):
        certs.signed(folder, name, signer, extensions)
    return folder


@pytest.fixture
def api(tmp_path, pki):
    """One that lets in whom its CA signed, and a kubeconfig as nodeup writes it. The run ended 20.2 s after its kernel began."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / "server.pem", pki / "server.key")
    context.load_verify_locations(pki / "ca.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, args=(0.05,)).start()
    server.asked, server.delay, server.status, server.object = [], 0, 200, object_of(8, 29)
    root = tmp_path / "root"
    root.mkdir()
    server.node, server.pki = Timeline(root), pki
    folder = root / "var/lib/nodeup/runs"
    folder.mkdir(parents=True)
    (folder / "001700000000-7-3.json").write_text(json.dumps(
        {"schema": 1, "state": "ready", "pid": 7, "unit": "kops-configuration.service", "startedUnix": ENDED - 2, "elapsedMs": 2000, "number": 3,
         "pidStartTicks": 450, "beganMs": 5000, "endedMs": 20200, "bootMs": {"userspace": 1800}, "times": []}))
    login(server, root)
    yield server
    server.shutdown()
    server.server_close()


def object_of(registered, ready, status="True"):
    """Both in seconds after the end of the run."""
    def stamp(s):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ENDED + s))
    return {"kind": "Node", "metadata": {"name": NAME, "creationTimestamp": stamp(registered)}, "status": {"conditions": [
        {"type": "MemoryPressure", "status": "False", "lastTransitionTime": stamp(0)},
        {"type": "Ready", "status": status, "lastTransitionTime": stamp(ready)}]}}


def login(api, root, ca="ca", by="data"):
    def part(name, path):
        if by == "data" or name == "certificate-authority":
            return {f"{name}-data": base64.b64encode((api.pki / path).read_bytes()).decode()}
        shutil.copy(api.pki / path, root / name)
        return {name: f"/{name}"}
    config = root / "var/lib/kubelet/kubeconfig"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps({
        "clusters": [{"name": "local", "cluster": {**part("certificate-authority", f"{ca}.pem"),
                                                   "server": f"https://127.0.0.1:{api.server_address[1]}"}}],
        "users": [{"name": "kubelet", "user": {"token": "letmein"} if by == "token" else {
            **part("client-certificate", f"{NAME}.pem"), **part("client-key", f"{NAME}.key")}}]}))


@pytest.mark.parametrize("by, shown", [("data", NAME), ("files", NAME), ("token", "Bearer letmein")])
def test_registered_and_ready(api, by, shown):
    """To the second, by kubelet's own login."""
    login(api, api.node.root, by=by)
    text = api.node.ask()
    assert "      28.2 s  node is registered\n      49.2 s  node is Ready\n" in text, text
    name = socket.gethostname() if by == "token" else NAME.split(":")[2]
    assert api.asked == [(f"/api/v1/nodes/{name}", shown)]
    moments = api.node.json()["moments"]
    assert (moments["registered"], moments["ready"]) == (28200, 49200)
    assert "node is Ready, 49.2 s" in api.node.ask("-o", "svg")


@pytest.mark.parametrize("what", ["other ca", "stranger", "slow", "forbidden", "NotReady", "days later", "not asked", "no object", "no kubeconfig"])
def test_registered_and_ready_are_not_known(api, what):
    root, flags = api.node.root, ()
    match what:
        case "other ca": login(api, root, ca="other")
        case "stranger":
            api.pki = shutil.copytree(api.pki, root / "pki")
            certs.signed(api.pki, NAME, "other", CLIENT)
            login(api, root)
        case "slow": api.delay = 3
        case "forbidden": api.status = 403
        case "NotReady": api.object = object_of(86400, 29, "False")
        case "days later": api.object = object_of(86400, 86400)
        case "not asked": flags = ("--offline",)
        case "no object": api.object = ["x"]
        case "no kubeconfig": (root / "var/lib/kubelet/kubeconfig").unlink()
    began = time.monotonic()
    text = api.node.ask(*flags)
    assert "   not known  node is registered\n   not known  node is Ready\n" in text and time.monotonic() - began < 2.5, text
    assert len(api.asked) == (what in ("slow", "forbidden", "NotReady", "days later", "no object"))
    assert api.node.json(*flags)["moments"]["ready"] is None


def test_a_node_that_was_there_before(api):
    api.object = object_of(-86400, -3600)
    assert "node is" not in api.node.ask()


@pytest.fixture
def node_of_old(tmp_path):
    node = Timeline(tmp_path)
    folder = tmp_path / "var/lib/nodeup/runs"
    folder.mkdir(parents=True)
    (folder / "001700000000-7.json").write_text(json.dumps(
        {"schema": 1, "state": "ready", "pid": 7, "startedUnix": 1700000000, "elapsedMs": 2000, "number": 3, "changed": []}))
    return node


# What is slow: a mirror, or the disk under one of many objects

MIRRORS = [("mirror", name) for name in (KUBELET, CNI, KUBECTL)]
PLACES = [("disk", n) for n in range(37)]


@pytest.mark.parametrize("what, which", [
    pytest.param(*place, marks=[] if i in (0, 1, 8, 25) else [pytest.mark.long]) for i, place in enumerate(MIRRORS + PLACES)])
def test_two_seconds_are_named(runs, world, tmp_path, what, which):
    """A mirror is silent for so long, or the name of a task's object is opened so slowly."""
    world.role = "master"
    runs()
    prefix, wanted = (), f"asset {which}"
    if what == "mirror":
        world.assets[which].urls = [world.url(which, "delay=2")]
    else:
        paths = sorted({row[0] for row in json.loads(record(world, 1))["times"] if row[0].startswith(("file /", "install /", "dir /"))})
        assert len(paths) >= len(PLACES)
        wanted = paths[which]
        path = wanted.split(" ", 1)[1]
        prefix = ("strace", "-f", "-qq", "-o", tmp_path / "calls", "-P", path, "-P", path[1:], "-e", "trace=openat2", "-e",
                  "inject=openat2:delay_enter=2000000:when=1")
    runs(*prefix)
    node = Timeline(world.root)
    slower = node.json()["slower"]
    found = [s for s in slower if wanted in (s["task"], *s.get("also", []))]
    assert found and 2000 <= found[0]["ms"] < 20000 and found[0]["why"], (wanted, slower)
    assert re.search(rf"\nslower than in run 1\n(  .*\n)*  {re.escape(found[0]['task'])} .*took .*, .* in run 1: .+\n", node.ask()), node.ask()
