#!/usr/bin/env python3
"""An HTTP(S) origin that fails on request.

    origin.py [--port N] [--tls DIR] [--unix PATH] [--dir DIR] [--until-eof]

Prints "PORT" or "PORT TLSPORT" on one line once it listens on 127.0.0.1. With --tls, DIR/cert.pem is
made if missing (self-signed, for 127.0.0.1 and localhost) and is the CA to trust. With --until-eof it
ends when its standard input does.

The body of /any/name is the file `name` in --dir, else the pattern ((i % 251) * 7 + 3) % 251 of
size=N bytes (65536). Faults are asked for in the query (?status=404) or in the path (/~status=404/x);
several may be combined:

    status=404        that status, with a body          fail=N      the first N requests fail ...
    code=500          ... with this status              retry_after=S   ... and this header
    retry_date=S      Retry-After as a date S seconds ahead
    clock=S           its clock is S seconds ahead
    truncate=N        announce all, send N bytes, close reset=N     send N bytes, then a TCP reset
    empty             a 200 without bytes               wrong       right length, one byte flipped
    wrong=html        a login page, as portals do       nolength    no Content-Length, ends by closing
    chunked           chunked, no Content-Length        rate=N      N bytes a second
    stall=N           send N bytes, then nothing        hang        no answer at all
    delay=S           wait before the answer            close       close without an answer
    redirect=loop     for ever to itself                redirect=URL    to there
    hops=N            N redirects, then the body        redirect_code=302
    big_headers       200 headers                       gather=N    answers once N such requests wait, else 500
    ranges            Range and If-Range are honoured   etag=X      what the object is called, instead of its hash; each: another each time
    ranges=blind      Range is, If-Range is not         noetag      it has no name
    ranges=N          at most N bytes of a range        times=N     truncate, reset, stall and rate: N requests long
    star              no total in Content-Range         other=N     from request N+1 on another object, 1 byte longer
    ranges=refused    any Range gets a 416              ranges=odd  a range that is not the one asked for
    as=NAME           the file NAME in --dir            named       ETag; If-None-Match, If-Modified-Since honoured
    modified=S        Last-Modified, S since 1970       named=deaf  ETag, and the whole whatever is asked
    longer            1 byte more than elsewhere        flip=N      byte N of the object is wrong

    gate=N            no answer before /__open?path=N was asked for
    room=N            of those who ask, by agent=NAME, the first N are answered, and each other gets a 503 once
    early=N           N answers of status 103 before the one that counts
    busy=N            a 503 to who comes while N requests for it are answered

    GET /__count?path=P   how often P (without its query) was asked for
    GET /__sent?path=P    how many bytes of bodies of P were sent
    GET /__resumed?path=P how many of these came by a TLS session that was resumed
    GET /__peak           the most requests that were answered at a time
    GET /__tls?path=DIR   another certificate: DIR/cert.pem and DIR/key.pem
    GET /__now?path=P     how many requests for P, or of all, are being answered
    GET /__headers?path=P the headers of the last request for P, "name: value" lines
    GET /__open?path=N    let those through who wait at gate N, and whoever comes
    GET /__reset          forget both
    GET /__refused        a port of 127.0.0.1 on which connections are refused as long as this runs
    ANY /__echo           method, a newline, the request's body
A request in absolute form (as to a proxy) is answered here and counted under its whole URL.
"""
import argparse
import collections
import email.utils
import hashlib
import http.server
import os
import pathlib
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

GATHER_TIMEOUT = 20
GATE_TIMEOUT = 300

counts = collections.Counter()
sent_bytes = collections.Counter()
resumed = collections.Counter()
busy = collections.Counter()
barriers = {}
agents = collections.defaultdict(set)
headers = {}
gates = collections.defaultdict(threading.Event)
lock = threading.Lock()
args = None
closed_port = None
tls_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def pattern(size):
    block = bytes(((i * 7) + 3) % 251 for i in range(251))
    return (block * (size // 251 + 1))[:size]


def has_room(key, room, agent):
    with lock:
        is_first = agent not in agents[key]
        agents[key].add(agent)
        return not is_first or len(agents[key]) <= room


def make_cert(folder):
    cert, key = folder / "cert.pem", folder / "key.pem"
    if not cert.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", key, "-out", cert, "-days", "3650", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
            check=True, stderr=subprocess.DEVNULL)
    return cert, key


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "origin"
    clock = 0

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + self.clock, usegmt=True)

    def address_string(self):
        return "peer"

    # what is asked for

    def parse_faults(self):
        url = urllib.parse.urlsplit(self.path)
        faults = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        for part in url.path.split("/"):
            if part.startswith("~"):
                key, _, value = urllib.parse.unquote(part[1:]).partition("=")
                faults[key] = value
        key = self.path.partition("?")[0]
        self.clock = float(faults.get("clock", 0))
        return url, key, faults

    def handle_any(self):
        url, key, faults = self.parse_faults()
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length) if length else b""
        if url.path.startswith("/__"):
            return self.control(url, faults, sent)
        with lock:
            counts[key] += 1
            nth = counts[key]
            headers[key] = self.headers.items()
            resumed[key] += getattr(self.connection, "session_reused", False)
            busy["now"] += 1
            busy[key] += 1
            busy["peak"] = max(busy["peak"], busy["now"])
        try:
            self.serve(url, faults, nth)
        finally:
            with lock:
                busy["now"] -= 1
                busy[key] -= 1

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def control(self, url, faults, sent):
        path = faults.get("path", "")
        with lock:
            if url.path == "/__count":
                text = str(counts[path])
            elif url.path == "/__sent":
                text = str(sent_bytes[path])
            elif url.path == "/__resumed":
                text = str(resumed[path])
            elif url.path in ("/__peak", "/__now"):
                text = str(busy[path or url.path[3:]])
            elif url.path == "/__headers":
                text = "".join(f"{k.lower()}: {v}\n" for k, v in headers.get(path, []))
            elif url.path == "/__reset":
                counts.clear()
                sent_bytes.clear()
                resumed.clear()
                headers.clear()
                busy["peak"] = busy["now"]
                text = ""
            elif url.path == "/__refused":
                text = str(closed_port.getsockname()[1])
            elif url.path == "/__tls":
                tls_context.load_cert_chain(pathlib.Path(path) / "cert.pem", pathlib.Path(path) / "key.pem")
                text = ""
            elif url.path == "/__open":
                gates[path].set()
                text = ""
            elif url.path == "/__echo":
                text = f"{self.command}\n{sent.decode()}"
            else:
                return self.answer(404, b"no such control\n")
        self.answer(200, text.encode())

    # the answer

    def answer(self, status, body, extra=()):
        self.send_response(status)
        for key, value in extra:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self, url, faults):
        name = faults.get("as") or os.path.basename(url.path)
        if args.dir and (pathlib.Path(args.dir) / name).is_file():
            return (pathlib.Path(args.dir) / name).read_bytes()
        return pattern(int(faults.get("size", 65536)))

    def serve(self, url, faults, nth):
        if "delay" in faults:
            time.sleep(float(faults["delay"]))
        if "gate" in faults:
            with lock:
                gate = gates[faults["gate"]]
            if not gate.wait(GATE_TIMEOUT):
                return self.answer(500, b"nobody opened\n")
        if "gather" in faults:
            n = int(faults["gather"])
            with lock:
                barrier = barriers.setdefault(n, threading.Barrier(n))
            try:
                barrier.wait(GATHER_TIMEOUT)
            except threading.BrokenBarrierError:
                return self.answer(500, b"nobody else came\n")
        if busy[url.path] > int(faults.get("busy", busy[url.path])):
            return self.answer(503, b"SlowDown\n")
        if "room" in faults and not has_room(url.path, int(faults["room"]), faults["agent"]):
            with lock:
                counts["/turned-away"] += 1
            return self.answer(503, b"<Error><Code>SlowDown</Code></Error>\n")
        if "hang" in faults:
            return self.hold()
        if "close" in faults:
            self.close_connection = True
            return None
        if "redirect" in faults or nth <= int(faults.get("hops", 0)):
            to = faults.get("redirect", "loop")
            code = int(faults.get("redirect_code", 302))
            return self.answer(code, b"over there\n", [("Location", self.path if to == "loop" else to)])
        if nth <= int(faults.get("fail", 0)):
            return self.fail(faults)
        if "status" in faults:
            return self.answer(int(faults["status"]), b"<html>an error page</html>\n")
        if nth > int(faults.get("times", nth)):
            for name in ("truncate", "reset", "stall", "rate"):
                faults.pop(name, None)
        if faults.get("etag") == "each":
            faults["etag"] = str(nth)
        body = self.body(url, faults)
        if nth > int(faults.get("other", nth)):
            body = bytes(b ^ 1 for b in body) + b"!"
        if "longer" in faults:
            body += b"!"
        if "flip" in faults:
            at = int(faults["flip"])
            body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]
        return self.content(body, faults)

    def part(self, body, faults, tag):
        """(status, body, headers) of what is asked for of this object."""
        named = [] if "noetag" in faults else [("ETag", tag)]
        if "modified" in faults:
            named.append(("Last-Modified", email.utils.formatdate(float(faults["modified"]), usegmt=True)))
        if faults.get("named") == "" and self.is_known(dict(named)):
            return 304, b"", named
        asked = self.headers.get("Range", "")
        if "ranges" not in faults or not asked.startswith("bytes="):
            return 200, body, named if {"ranges", "named", "modified"} & set(faults) else []
        if self.headers.get("If-Range", tag) != tag and faults["ranges"] != "blind":
            return 200, body, named
        if faults["ranges"] == "refused":
            return 416, b"", named
        first, _, last = asked[len("bytes="):].partition("-")
        first, last = int(first), min(int(last or len(body)), len(body) - 1)
        if first >= len(body):
            return 416, b"", [*named, ("Content-Range", f"bytes */{len(body)}")]
        if faults["ranges"] == "odd":
            first += 1
        if faults["ranges"].isdigit():
            last = min(last, first + int(faults["ranges"]) - 1)
        total = "*" if "star" in faults else len(body)
        return 206, body[first:last + 1], [*named, ("Content-Range", f"bytes {first}-{last}/{total}")]

    def is_known(self, named):
        """RFC 9110, 13.2.2: where there are tags, dates do not count."""
        if "If-None-Match" in self.headers:
            return self.headers["If-None-Match"] == named.get("ETag")
        return self.headers.get("If-Modified-Since", "-") == named.get("Last-Modified")

    def fail(self, faults):
        extra = []
        if "retry_after" in faults:
            extra.append(("Retry-After", faults["retry_after"]))
        if "retry_date" in faults:
            at = time.time() + float(faults["retry_date"]) + self.clock
            extra.append(("Retry-After", email.utils.formatdate(at, usegmt=True)))
        self.answer(int(faults.get("code", 500)), b"try later\n", extra)

    def content(self, body, faults):
        if "empty" in faults:
            body = b""
        if faults.get("wrong") == "html":
            body = b"<!DOCTYPE html><title>Sign in to the network</title>\n"
        elif "wrong" in faults:
            body = bytes([body[0] ^ 1]) + body[1:]
        tag = f'"{faults.get("etag") or hashlib.sha1(body).hexdigest()}"'
        status, body, extra = self.part(body, faults, tag)
        for _ in range(int(faults.get("early", 0))):
            self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: <%s>\r\n\r\n" % (b"x" * 900))
        self.send_response(status)
        for name, value in extra:
            self.send_header(name, value)
        if "big_headers" in faults:
            for i in range(200):
                self.send_header(f"X-Filler-{i}", "x")
        if "chunked" in faults and status != 304:
            self.send_header("Transfer-Encoding", "chunked")
        elif "nolength" in faults:
            self.close_connection = True
            self.send_header("Connection", "close")
        elif status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.send(body, faults)

    def send(self, body, faults):
        cut = min([len(body)] + [int(faults[k]) for k in ("truncate", "reset", "stall") if k in faults])
        step = 256 * 1024
        pause = 0.0
        if "rate" in faults:
            rate = float(faults["rate"])
            step = max(1, int(rate / 20))
            pause = step / rate
        for at in range(0, cut, step):
            piece = body[at:min(at + step, cut)]
            with lock:
                sent_bytes[self.path.partition("?")[0]] += len(piece)
            if "chunked" in faults:
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            self.wfile.write(piece)
            if pause:
                time.sleep(pause)
        if "stall" in faults:
            return self.hold()
        if "reset" in faults:
            time.sleep(0.05)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
        if "truncate" in faults or "reset" in faults:
            self.close_connection = True
            return None
        if "chunked" in faults:
            self.wfile.write(b"0\r\n\r\n")
        return None

    def hold(self):
        """Until the peer has had enough."""
        self.close_connection = True
        try:
            while self.connection.recv(4096):
                pass
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


class TLSServer(Server):
    """The handshake is the connection's thread's, not the acceptor's."""
    context = None

    def finish_request(self, request, client_address):
        with self.context.wrap_socket(request, server_side=True) as conn:
            super().finish_request(conn, client_address)


class UnixServer(Server):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "unix", 0

    def get_request(self):
        conn, _ = super().get_request()
        return conn, ("unix", 0)


def run(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    global args, closed_port
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--unix", metavar="PATH")
    parser.add_argument("--dir")
    parser.add_argument("--until-eof", action="store_true")
    args = parser.parse_args()

    closed_port = socket.socket()
    closed_port.bind(("127.0.0.1", 0))
    ports = [run(Server(("127.0.0.1", args.port), Handler))]
    if args.tls:
        server = TLSServer(("127.0.0.1", 0), Handler)
        tls_context.load_cert_chain(*make_cert(args.tls))
        server.context = tls_context
        ports.append(run(server))
    if args.unix:
        threading.Thread(target=UnixServer(args.unix, Handler).serve_forever, daemon=True).start()
    print(*ports, flush=True)
    if args.until_eof:
        sys.stdin.buffer.read()
        os._exit(0)
    threading.Event().wait()


if __name__ == "__main__":
    main()
