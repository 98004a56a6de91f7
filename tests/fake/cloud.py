#!/usr/bin/python3
"""S3 (path style, without TLS) and IMDS for unit tests: s3.py and imds.py, which can be made to fail.

usage: cloud.py ROOT REGION

Prints "S3PORT IMDSPORT" once it listens on 127.0.0.1; ends when its standard input does.  A listing
has two names a page.  /@REGION/bucket/key is what the real S3 gets at that region's host name.  An index
page of a folder of ROOT (as python's http.server makes it) is at /~index/FOLDER/.

On both ports:
    /__fault?path=P&times=N&status=S[&code=C][&region=R][&retry_after=S][&body=B]
                        the next N requests for P (without its query) get that; hang: no answer; late=S: after S seconds;
                        after=P: when that was asked for as well
                        slow=S: so long between its first byte and the others
    /__count?path=P     how often P was asked for; without path: all requests
    /__reset            forget faults and counts
    /__expire           IMDS: no token is valid any more
    /__tokens?http=optional   IMDS: version 1 is answered as well
    /__set?path=P&value=V   IMDS: another value below meta-data; without value: none
    /__user_data?file=F IMDS: the instance has the bytes of that file as its user data
    /__key?id=I&secret=S[&token=T]  S3: this key alone is known, and asked for
    /__clock?off=S[&step=S] S3: the clock is so much ahead, and more so by step with each request
    /__signed           S3: how many requests had a signature
"""
import collections
import functools
import http.server
import os
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import imds  # noqa: E402
import s3  # noqa: E402

PAGE = "2"


class Faults:
    """What a handler does before its own work."""

    def log_message(self, fmt, *args):
        pass

    def control(self, url):
        query = dict(urllib.parse.parse_qsl(url.query))
        path, server = query.get("path"), self.server
        answer = ""
        if url.path == "/__fault":
            server.faults[path] = [int(query.get("times", "1")), query]
        elif url.path == "/__count":
            answer = str(server.counts[path] if path else sum(server.counts.values()))
        elif url.path == "/__reset":
            server.faults.clear()
            server.counts.clear()
        elif url.path == "/__expire":
            server.tokens.clear()
        elif url.path == "/__tokens":
            server.optional = query["http"] == "optional"
        elif url.path == "/__set":
            server.facts.pop(path, None)
            server.facts.update({path: query["value"]} if "value" in query else {})
        elif url.path == "/__user_data":
            with open(query["file"], "rb") as f:
                server.user_data = f.read()
        elif url.path == "/__key":
            server.keys = {query["id"]: [query["secret"], query.get("token")]}
        elif url.path == "/__clock":
            server.off, server.step = int(query["off"]), int(query.get("step", "0"))
        elif url.path == "/__signed":
            answer = str(server.signed)
        self.send(200, answer.encode())

    def send(self, status, body=b"", headers=(), slow=0):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if slow:
            self.wfile.write(body[:1])
            self.wfile.flush()
            time.sleep(slow)
            body = body[1:]
        self.wfile.write(body)

    def fault(self):
        """Whether the request was answered here."""
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/__"):
            self.control(url)
            return True
        with self.server.lock:
            self.server.counts[url.path] += 1
            left = self.server.faults.get(url.path, [0])
            left[0] -= 1
        if left[0] < 0:
            return False
        fault = left[1]
        if "hang" in fault:
            time.sleep(60)
            return True
        time.sleep(float(fault.get("late", 0)))
        end = time.monotonic() + 10
        while "after" in fault and not self.server.counts[fault["after"]] and time.monotonic() < end:
            time.sleep(0.01)
        headers = [("x-amz-bucket-region", fault["region"])] if "region" in fault else []
        if "retry_after" in fault:
            headers.append(("Retry-After", fault["retry_after"]))
        if "location" in fault:
            headers.append(("Location", fault["location"]))
        body = fault.get("body", "a page")
        if "code" in fault:
            body = ("<?xml version=\"1.0\"?>\n<Error><Code>%s</Code><Message>As asked</Message>"
                    "<RequestId>REQ1</RequestId></Error>" % fault["code"])
        self.send(int(fault["status"]), body.encode(), headers, float(fault.get("slow", 0)))
        return True


class S3(Faults, s3.Handler):
    def do_GET(self):
        self.server.signed += bool(self.headers.get("Authorization"))
        self.server.off += self.server.step
        if self.fault():
            return
        if self.path.startswith("/~index/"):
            self.index()
            return
        s3.Handler.do_GET(self)

    def address(self, path):
        path, region = urllib.parse.unquote(path)[1:], None
        if path.startswith("@"):
            region, _, path = path[1:].partition("/")
        bucket, _, key = path.partition("/")
        return bucket, key, region

    def clock(self):
        return time.time() + self.server.off

    def date_time_string(self, timestamp=None):
        return s3.Handler.date_time_string(self, self.clock() if timestamp is None else timestamp)

    def list_objects(self, root, bucket, query):
        s3.Handler.list_objects(self, root, bucket, {"max-keys": PAGE, **query})

    def index(self):
        self.path = self.path[len("/~index"):]
        handler = functools.partial(http.server.SimpleHTTPRequestHandler.do_GET, self)
        self.directory, self.extensions_map = self.server.root, {"": "application/octet-stream"}
        handler()

    # what SimpleHTTPRequestHandler asks of itself
    for name in ("send_head", "list_directory", "translate_path", "guess_type", "copyfile", "index_pages"):
        if hasattr(http.server.SimpleHTTPRequestHandler, name):
            locals()[name] = getattr(http.server.SimpleHTTPRequestHandler, name)


class Imds(Faults, imds.Handler):
    def do_GET(self):
        if not self.fault():
            imds.Handler.do_GET(self)

    def do_PUT(self):
        if not self.fault():
            imds.Handler.do_PUT(self)


class Server(http.server.ThreadingHTTPServer):
    # python's default of 5 costs the seventh client at once a second: its SYN is dropped
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client may go away."""


def serve(handler, **attributes):
    server = Server(("127.0.0.1", 0), handler)
    vars(server).update(attributes, faults={}, counts=collections.Counter(), lock=threading.Lock(), log=None)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    root, region = sys.argv[1:3]
    facts = {
        "placement/region": region, "placement/availability-zone": region + "a",
        "instance-id": "i-0123456789abcdef0", "instance-type": "m5.large",
        "local-hostname": "ip-10-0-0-7.us-west-2.compute.internal other.example", "local-ipv4": "10.0.0.7",
    }
    print(serve(S3, root=root, region=region, keys={}, off=0, step=0, signed=0),
          serve(Imds, facts=facts, tokens={}, optional=False, user_data=None, document={}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
