"""Answers of no use: our own words for each, what to do about it, and nothing of the answer's that is secret."""

import json
import re
import socket
import subprocess
import threading
import time

import pytest

from world import KUBELET, NET

HEAD = b"HTTP/1.1 200 OK\r\n"


class Server:
    """Sends each client these pieces, the last of them again and again until it goes."""

    def __init__(self, *pieces, pause=0.0):
        self.pieces, self.pause = pieces, pause
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        with client:
            client.recv(65536)
            try:
                for piece in self.pieces:
                    client.sendall(piece)
                while self.pause >= 0:
                    time.sleep(self.pause)
                    client.sendall(self.pieces[-1])
            except OSError:
                pass


@pytest.fixture
def serve(world):
    made = []

    def make(*pieces, **kw):
        made.append(Server(*pieces, **kw))
        world.assets[KUBELET].urls = [f"{made[-1].base}/kubelet"]
        return made[-1]
    yield make
    for server in made:
        server.socket.close()


def fails(world, *patterns, **kw):
    """The FAILED line and its notes have these, and curl's own words are nowhere."""
    result = world.apply("--retries=0", timeout=90, **kw)
    assert result.code == NET, result
    told = f"{result.failure}\n{result.notes}"
    for pattern in patterns:
        assert re.search(pattern, told), f"want /{pattern}/ in\n{told}"
    assert not re.search("Out of memory|Failure writing|of -1", result.out + result.err), result
    return result


def test_a_header_without_end(world, serve):
    serve(HEAD + b"X-Long: ", b"a" * 65536)
    fails(world, "kubelet': too many or too long headers in the answer")


def test_a_switch_of_protocols(world, serve):
    serve(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", b"x" * 65536)
    fails(world, "kubelet': HTTP status 101")


def test_a_body_of_unknown_length(world, serve):
    """It trickles, and is told of as it is: also by status.json."""
    serve(HEAD + b"\r\n", b"x" * 2000, pause=0.2)
    world.write_documents()
    process = world.start(world.argv("apply", "--retries=0", "--deadline=6s"))
    status, seen = world.root / "run/nodeup/status.json", set()
    while process.poll() is None:
        if status.exists():
            seen |= {t.get("waiting", "") for t in json.loads(status.read_text())["tasks"] if t["kind"] == "asset"}
        time.sleep(0.1)
    result = world.finish(process, time.monotonic())
    assert "of -1" not in result.err + repr(seen), result
    assert re.search(r"\d+ bytes so far, length unknown", result.err + repr(seen)), (result, seen)


def page(status, body):
    return f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


ERROR = "<?xml version=\"1.0\"?>\n<Error><Code>{}</Code><Message>hunter2</Message></Error>"


@pytest.mark.parametrize("status, code", [(403, "AccessDenied"), (404, "NoSuchKey"), (400, "ExpiredToken")])
def test_the_code_of_an_error(world, serve, status, code):
    """S3's, of its page of XML; and of the page no more than that."""
    serve(page(status, ERROR.format(code)), pause=-1)
    result = fails(world, f"HTTP status {status} {code}, its body of")
    assert "hunter2" not in result.err


@pytest.mark.parametrize("code", ["a\x1b[31mb", "hunter 2", "x" * 100, "", "a</Code><Code>b", "0123"])
def test_what_is_not_a_code_is_not_shown(world, serve, code):
    serve(page(403, ERROR.format(code)), pause=-1)
    result = fails(world, "HTTP status 403(, its| a, its)")
    assert "hunter" not in result.err and "\x1b" not in result.err


@pytest.mark.parametrize("status, advice", [(403, "let this instance read it"), (401, "let this instance read it"),
                                            (404, "correct the URL"), (410, "correct the URL")])
def test_what_to_do_about_a_refusal(world, serve, status, advice):
    serve(page(status, "no"), pause=-1)
    fails(world, rf"  do +{advice}.*name a mirror")


def test_what_to_do_about_a_server_that_is_not_there(world):
    world.assets[KUBELET].urls = [f"{world.origin.refused()}/kubelet"]
    fails(world, r"  do +look at the port, security groups")


def test_what_to_do_about_a_name(world):
    world.assets[KUBELET].urls = ["http://nowhere.invalid/kubelet"]
    fails(world, r"  do +look at /etc/resolv.conf")


def certificate(world, name, *more):
    folder = world.folder / name
    folder.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-days", "10",
                    "-subj", "/CN=127.0.0.1", *more], check=True, stderr=subprocess.DEVNULL)
    return folder


@pytest.mark.parametrize("more", [(), ("-addext", "subjectAltName=email:a@127.0.0.1")])
def test_a_common_name_is_not_a_name(world, make_origin, more):
    """The CA that signed it is trusted; with the address in its subjectAltName it is taken."""
    origin = make_origin()
    (origin.folder / KUBELET).write_bytes(world.contents[KUBELET])
    world.assets[KUBELET].urls = [f"{origin.tls_base}/{KUBELET}"]
    for name, extra, good in (("bad", more, False), ("good", ("-addext", "subjectAltName=IP:127.0.0.1"), True)):
        folder = certificate(world, name, *extra)
        origin.control(f"/__tls?path={folder}")
        env = {"SSL_CERT_FILE": str(folder / "cert.pem")}
        if good:
            world.converge(env=env)
        else:
            fails(world, "its certificate names no host: a common name does not count",
                  "  do +give the server a certificate with a subjectAltName", env=env)


def test_what_to_do_about_a_stranger(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, base=world.origin.tls_base)]
    other = certificate(world, "other")
    fails(world, r"  do +if the server is the right one: name its CA by caBundle or SSL_CERT_FILE",
          env={"SSL_CERT_FILE": str(other / "cert.pem")})
