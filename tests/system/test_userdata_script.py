"""The user-data script, run for real: bash (and dash), curl or wget, a server of ours, and a mount
namespace in which /var/cache, /var/lib, /opt and /usr/local/bin are directories of the test."""
import email
import gzip
import hashlib
import http.server
import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import pytest

from world import build

TOOLS = ["bash", "dash", "cat", "chmod", "mkdir", "mv", "od", "rm", "sha1sum", "sha256sum", "sha512sum",
         "sync", "wc", "env", "printenv", "pwd"]
MOUNTS = ["/var/cache", "/var/lib", "/opt", "/usr/local/bin"]
CACHE = "/var/cache/kubernetes-install"

# What is downloaded: it tells how it was started.
NODEUP = b"""#!/bin/bash
{ echo "exe $0"; pwd; umask; printf '%s\\n' "$@"; } >/var/cache/started
printenv -0 >/var/cache/environ
exit ${NODEUP_EXIT:-0}
"""
EVERY_BYTE = bytes(b for b in range(1, 256) if b != 13) + b"\r\n"
NASTY = ("`touch /var/cache/pwned` $(touch /var/cache/pwned) ${HOME} $HOME 'single' \"double\" \\ \\n "
         "@HASH@ @DOCUMENTS@\n\nEND_OF_DOCUMENT\nEND_OF_DOCUMENT_1\n\ttab ; rm -rf x # \xe9\n")


@pytest.fixture(scope="session")
def probe():
    program = build("userdata_probe")

    def run(*args, status=0):
        done = subprocess.run([program, *args], capture_output=True)
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr.decode()
    return run


class Mirrors(http.server.ThreadingHTTPServer):
    """Answers each path by the next of its list of (status, body, length told)."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.answers, self.asked, self.hang = {}, [], threading.Event()

    def url(self, path, *answers):
        self.answers[path] = list(answers)
        return "http://127.0.0.1:%d%s" % (self.server_port, path)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        left = self.server.answers[self.path]
        status, body, length = left.pop(0) if len(left) > 1 else left[0]
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)
        if length == HANGS:
            self.server.hang.wait()

    def log_message(self, *_):
        pass


HANGS = 1 << 20


def ok(body=NODEUP):
    return (200, body, None)


@pytest.fixture
def mirrors():
    server = Mirrors()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.hang.set()
    server.shutdown()
    server.server_close()


class Machine:
    """A machine as far as the script sees one."""

    def __init__(self, path, mirrors):
        self.path, self.mirrors = path, mirrors
        for mount in MOUNTS:
            os.makedirs(self.on(mount))
        os.makedirs(self.on("/tools"))
        self.add("curl", *TOOLS)
        self.stub("systemd-machine-id-setup", "echo machine-id >>/var/cache/calls")
        self.stub("sleep", "echo sleep $1 >>/var/cache/calls; [ $(wc -l </var/cache/calls) -lt 6 ]")

    def on(self, path):
        return str(self.path) + path

    def add(self, *tools):
        for tool in tools:
            os.symlink(shutil.which(tool, path="/usr/bin:/bin:/usr/sbin:/sbin"), self.on("/tools/" + tool))

    def remove(self, tool):
        os.unlink(self.on("/tools/" + tool))

    def stub(self, tool, text):
        self.put("/tools/" + tool, ("#!/bin/bash\n" + text + "\n").encode(), 0o755)

    def put(self, path, data, mode=0o644):
        os.makedirs(os.path.dirname(self.on(path)), exist_ok=True)
        with open(self.on(path), "wb") as f:
            f.write(data)
        os.chmod(self.on(path), mode)

    def read(self, path):
        with open(self.on(path), "rb") as f:
            return f.read()

    def lines(self, path):
        return self.read(path).decode().splitlines() if os.path.exists(self.on(path)) else []

    def mode(self, path):
        return stat.S_IMODE(os.stat(self.on(path)).st_mode)

    def start(self, script, shell="bash", **environ):
        self.put("/script", script)
        binds = "".join("mount --bind '%s' %s; " % (self.on(m), m) for m in MOUNTS)
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-ec", "umask 022; %s exec env -i \"$@\"" % binds, "-",
             "PATH=" + self.on("/tools"), *("%s=%s" % item for item in environ.items()), shell,
             self.on("/script")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)

    def run(self, script, shell="bash", status=0, **environ):
        process = self.start(script, shell, **environ)
        try:
            output = process.communicate(timeout=300)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        assert process.returncode == status, output
        return output


@pytest.fixture
def machine(tmp_path, mirrors):
    assert os.geteuid() == 0, "the script writes to /var/cache: these tests need root"
    return Machine(tmp_path, mirrors)


def digest(data=NODEUP, algorithm="sha256"):
    return hashlib.new(algorithm, data).hexdigest()


@pytest.fixture
def render(probe, tmp_path):
    def render(*urls, algorithm="sha256", documents=None, **environ):
        args = ["script", digest(algorithm=algorithm) + "@" + ",".join(urls)]
        args += ["%s=%s" % item for item in environ.items()]
        for name, data in (documents or {"kube_env.yaml": b"ClusterName: a\n"}).items():
            path = tmp_path / ("in-" + name)
            path.write_bytes(data)
            args.append("%s@%s" % (name, path))
        return probe(*args)
    return render


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_every_mirror_is_tried_and_every_value_survives(machine, mirrors, render, shell):
    documents = {"cluster_spec.yaml": NASTY.encode(), "ig_spec.yaml": EVERY_BYTE,
                 "kube_env.yaml": b"no line break at the end"}
    script = render("http://127.0.0.1:9/dead", mirrors.url("/wrong?sig=s3cret*", ok(b"other")),
                    mirrors.url("/right", ok()), mirrors.url("/unused", ok()),
                    documents=documents, AWS_REGION="us-west-2", NASTY=NASTY)
    output = machine.run(script, shell)
    assert mirrors.asked == ["/wrong?sig=s3cret*", "/right"], output
    assert "127.0.0.1:9/dead: download failed" in output
    assert "/wrong: wrong content: want %s got %s (5 bytes)" % (digest(), digest(b"other")) in output
    assert machine.lines("/var/cache/started") == [
        "exe %s/nodeup" % CACHE, CACHE, "0022", "--install-systemd-unit",
        "--conf=%s/kube_env.yaml" % CACHE, "--v=8"]
    environ = machine.read("/var/cache/environ").split(b"\0")
    assert b"AWS_REGION=us-west-2" in environ and b"NASTY=" + NASTY.encode() in environ
    assert machine.lines("/var/cache/calls") == ["machine-id"], "no round without a right mirror"
    documents["kube_env.yaml"] += b"\n"
    for name, data in documents.items():
        assert machine.read(CACHE + "/" + name) == data
        assert machine.mode(CACHE + "/" + name) == 0o600
    assert machine.mode(CACHE + "/nodeup") == 0o755
    assert sorted(os.listdir(machine.on(CACHE))) == sorted([*documents, "nodeup"])
    assert not os.path.exists(machine.on("/var/cache/pwned"))
    for secret in ("s3cret", "touch", "double"):
        assert secret not in output


def test_script_is_clean(render, tmp_path):
    script = tmp_path / "script.sh"
    script.write_bytes(render("https://a/nodeup?a=1&b=*", documents={"kube_env.yaml": NASTY.encode()},
                              AWS_REGION="it's $HOME"))
    for dialect in ("bash", "dash"):
        done = subprocess.run(["shellcheck", "-s", dialect, script], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512"])
def test_hash_by_length(machine, mirrors, render, algorithm):
    for tool in {"sha1sum", "sha256sum", "sha512sum"} - {algorithm + "sum"}:
        machine.remove(tool)
    machine.run(render(mirrors.url("/n", ok()), algorithm=algorithm))
    assert machine.read(CACHE + "/nodeup") == NODEUP


@pytest.mark.parametrize("place", ["/opt/kops/bin", "/usr/local/bin", CACHE])
def test_baked_in(machine, mirrors, render, place):
    machine.put(place + "/nodeup", NODEUP, 0o755)
    output = machine.run(render(mirrors.url("/n", ok())))
    assert mirrors.asked == []
    assert machine.lines("/var/cache/started")[:2] == ["exe %s/nodeup" % place, CACHE]
    assert "%s/nodeup is the one wanted" % place in output


@pytest.mark.parametrize("place", ["/opt/kops/bin", CACHE])
def test_baked_in_but_another(machine, mirrors, render, place):
    machine.put(place + "/nodeup", b"#!/bin/sh\nexit 99\n", 0o755)
    machine.run(render(mirrors.url("/n", ok())))
    assert mirrors.asked == ["/n"]
    assert machine.lines("/var/cache/started")[0] == "exe %s/nodeup" % CACHE


def test_containeros(machine, mirrors, render):
    os.makedirs(machine.on("/var/lib/toolbox"))
    machine.run(render(mirrors.url("/n", ok())))
    place = "/var/lib/toolbox/kubernetes-install"
    assert machine.lines("/var/cache/started")[:2] == ["exe %s/nodeup" % place, place]
    assert not os.path.exists(machine.on(CACHE))


def test_wget_where_there_is_no_curl(machine, mirrors, render):
    machine.remove("curl")
    machine.add("wget")
    output = machine.run(render("http://127.0.0.1:9/dead", mirrors.url("/404", (404, b"page", None)),
                                mirrors.url("/right", ok())))
    assert mirrors.asked == ["/404", "/right"], output
    assert "/dead: download failed" in output and "/404: download failed" in output
    assert machine.read(CACHE + "/nodeup") == NODEUP


def test_neither_curl_nor_wget(machine, mirrors, render):
    machine.remove("curl")
    output = machine.run(render(mirrors.url("/n", ok())), status=1)
    assert "neither curl nor wget is installed" in output


def test_no_program_for_the_hash(machine, mirrors, render):
    machine.remove("sha256sum")
    assert "sha256sum is not installed" in machine.run(render(mirrors.url("/n", ok())), status=1)
    assert mirrors.asked == []


@pytest.mark.parametrize("answer, message", [
    ((404, NODEUP, None), "download failed"),
    ((500, b"sorry", None), "download failed"),
    ((200, b"", None), "the answer is empty"),
    ((200, NODEUP[:20], None), "wrong content"),
])
def test_bad_answer_is_never_run(machine, mirrors, render, answer, message):
    output = machine.run(render(mirrors.url("/bad", answer), mirrors.url("/right", ok())))
    assert "/bad: " + message in output
    assert machine.read(CACHE + "/nodeup") == NODEUP


def test_rounds_back_off(machine, mirrors, render):
    """Every mirror in every round, and longer pauses between them; the sleep of the test gives up."""
    output = machine.run(render(mirrors.url("/a", ok(b"x")), mirrors.url("/b", (503, b"", None))),
                         status=1)
    calls = machine.lines("/var/cache/calls")[1:]
    pauses = [int(call.split()[1]) for call in calls]
    assert len(pauses) == 5 and mirrors.asked == ["/a", "/b"] * 5
    for i, pause in enumerate(pauses):
        assert 2 ** i <= pause < 2 ** (i + 1)
        assert "asking all of them again in %d s" % pause in output
    assert sorted(os.listdir(machine.on(CACHE))) == ["kube_env.yaml"]


def test_a_later_round_succeeds(machine, mirrors, render):
    machine.run(render(mirrors.url("/a", (500, b"", None), ok(b"x"), ok())))
    assert mirrors.asked == ["/a"] * 3
    assert machine.read(CACHE + "/nodeup") == NODEUP


def test_killed_during_the_download(machine, mirrors, render):
    script = render(mirrors.url("/a", (200, NODEUP[:30], HANGS), ok()))
    process = machine.start(script)
    new = machine.on(CACHE + "/.nodeup.new")
    while not os.path.exists(new):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not machine.mode(CACHE + "/.nodeup.new") & 0o111
    assert not os.path.exists(machine.on(CACHE + "/nodeup"))
    machine.run(script)
    assert machine.read(CACHE + "/nodeup") == NODEUP
    assert not os.path.exists(new)


def test_second_boot_replaces_the_documents_and_keeps_nodeup(machine, mirrors, render):
    url = mirrors.url("/a", ok())
    machine.run(render(url))
    machine.run(render(url, documents={"kube_env.yaml": b"ClusterName: b\n"}))
    assert mirrors.asked == ["/a"]
    assert machine.read(CACHE + "/kube_env.yaml") == b"ClusterName: b\n"


def test_status_is_nodeups(machine, mirrors, render):
    machine.run(render(mirrors.url("/a", ok())), status=78, NODEUP_EXIT="78")


def test_refused_requests(probe, tmp_path):
    good = digest()
    for nodeup, message in [
            ("https://a/nodeup", "has no hash"), ("https://u:p@a/nodeup", "has no hash"),
            ("abc@https://a/nodeup", "not a sha1, sha256 or sha512"),
            ("sha1:%s@https://a/n" % good, "not a sha1, sha256 or sha512"),
            (good + "@", "has no URL"), (good + "@s3://b/n", "URL 1 of 1"),
            (good + "@https://a/n,https://u:p@b/n", "URL 2 of 2"),
            (good + "@https://a/n;touch x", "URL 1 of 1")]:
        assert message in probe("script", nodeup, status=78), nodeup
    assert "p@b" not in probe("script", good + "@https://u:p@b/n", status=78)
    assert "environment variable" in probe("script", good + "@https://a/n", "A B=1", status=78)
    (tmp_path / "f").write_text("x\n")
    for name in ("../x", ".x", "-x", "a b", ""):
        assert "name for a document" in probe("script", good + "@https://a/n",
                                              "%s@%s" % (name, tmp_path / "f"), status=78)


def test_mime_is_what_python_reads(probe, tmp_path):
    parts = {"nodeup.sh": b"#!/bin/bash\necho MIMEBOUNDARY\n--MIMEBOUNDARY_1\n",
             "bytes": bytes(range(256)) * 3, "crlf": b"a\r\nb", "empty": b"",
             "long": b"x" * 2000 + b"\n", "cloud": b"#cloud-config\nruncmd: []"}
    for name, data in parts.items():
        (tmp_path / name).write_bytes(data)
    text = probe("mime", *("text/x-shellscript:%s" % (tmp_path / name) for name in parts))
    message = email.message_from_bytes(text)
    assert message.get_content_type() == "multipart/mixed"
    got = {p.get_filename(): p.get_payload(decode=True) for p in message.get_payload()}
    assert got == parts
    assert b"echo MIMEBOUNDARY\n" in text, "text stays readable"
    assert {p.get_content_type() for p in message.get_payload()} == {"text/x-shellscript"}
    assert "not a MIME type" in probe("mime", "shell script:%s" % (tmp_path / "cloud"), status=78)


def test_gzip_is_what_cloud_init_unpacks(probe, tmp_path):
    (tmp_path / "f").write_bytes(b"some text\n" * 5000)
    packed = probe("gzip", str(tmp_path / "f"))
    assert gzip.decompress(packed) == b"some text\n" * 5000
    assert probe("gzip", str(tmp_path / "f")) == packed
    (tmp_path / "f").write_bytes(os.urandom(20000))
    assert "EC2 takes 16384" in probe("gzip", str(tmp_path / "f"), status=78)
