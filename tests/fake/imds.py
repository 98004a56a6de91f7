#!/usr/bin/python3
"""A strict instance metadata service of either kind of instance: HttpTokens=required, version 2 alone, which is the
default here, and HttpTokens=optional, where a request without a token is answered as well.

usage: imds.py ADDRESS PORT FACTS.json [LOG]

FACTS.json maps a path below /latest/meta-data/ to its text.  The URL base of the real service is kept:
doubled slashes are one, a directory lists its entries, a token needs its TTL header, a request
with a token that is not valid is 401, and where tokens are required one without a token too; one that
came through a proxy is 403.  The key "http-tokens" of FACTS.json ("optional") is the kind of instance, and no
path; "user-data" or, of bytes, "user-data-base64" is what is answered as such.  The log says of a request that it had no token.
"""
import base64
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # one segment a reply: the second of two would wait 40 ms for an ACK
    disable_nagle_algorithm = True
    server_version = "EC2ws"
    sys_version = ""

    def log_message(self, fmt, *args):
        if self.server.log:
            headers = getattr(self, "headers", None) or {}
            bare = self.command == "GET" and "X-aws-ec2-metadata-token" not in headers
            self.server.log.write("%s %s%s\n" % (self.command, fmt % args, " without-token" * bare))
            self.server.log.flush()

    def reply(self, status, body="", headers=()):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def path_parts(self):
        return [part for part in self.path.split("?")[0].split("/") if part]

    def do_PUT(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        if self.path_parts() != ["latest", "api", "token"]:
            return self.reply(405 if self.path_parts() else 404)
        if self.headers.get("X-Forwarded-For"):
            return self.reply(403)
        ttl = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        if not ttl.isdigit() or not 1 <= int(ttl) <= 21600:
            return self.reply(400)
        token = secrets.token_urlsafe(40) + "=="
        self.server.tokens[token] = time.monotonic() + int(ttl)
        return self.reply(200, token, [("X-aws-ec2-metadata-token-ttl-seconds", ttl)])

    def do_GET(self):
        token = self.headers.get("X-aws-ec2-metadata-token")
        if token is None and not self.server.optional:
            return self.reply(401)
        if token is not None and self.server.tokens.get(token, 0) < time.monotonic():
            return self.reply(401)
        parts = self.path_parts()
        if parts[:1] and parts[0] not in ("latest", "1.0", "2021-03-23", "2021-07-15"):
            return self.reply(404)
        if parts[1:2] == ["user-data"] and len(parts) == 2:
            return self.reply(200, self.server.user_data) if self.server.user_data else self.reply(404)
        if parts[1:] == ["dynamic", "instance-identity", "document"]:
            return self.reply(200, json.dumps(self.server.document, indent=2))
        if parts[1:2] != ["meta-data"]:
            return self.reply(404)
        return self.meta_data("/".join(parts[2:]))

    do_HEAD = do_GET

    def meta_data(self, path):
        facts = self.server.facts
        if path in facts:
            return self.reply(200, facts[path])
        below = path + "/" if path else ""
        names = []
        for key in sorted(facts):
            if key.startswith(below):
                name, slash, _ = key[len(below):].partition("/")
                if name + slash not in names:
                    names.append(name + slash)
        return self.reply(200, "\n".join(names)) if names else self.reply(404)


def main():
    address, port, path = sys.argv[1:4]
    # as in s3.py: python's default of 5 costs the seventh client at once a second
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer((address, int(port)), Handler)
    with open(path) as f:
        server.facts = json.load(f)
    server.tokens = {}
    server.optional = server.facts.pop("http-tokens", "required") == "optional"
    packed = server.facts.pop("user-data-base64", None)
    server.user_data = base64.b64decode(packed) if packed else server.facts.pop("user-data", None)
    server.document = {
        "accountId": "123456789012", "architecture": "x86_64", "version": "2017-09-30",
        "availabilityZone": server.facts.get("placement/availability-zone"),
        "region": server.facts.get("placement/region"),
        "instanceId": server.facts.get("instance-id"),
        "instanceType": server.facts.get("instance-type"),
        "privateIp": server.facts.get("local-ipv4"), "imageId": server.facts.get("ami-id"),
    }
    server.log = open(sys.argv[4], "a") if len(sys.argv) > 4 else None
    server.serve_forever()


if __name__ == "__main__":
    main()
