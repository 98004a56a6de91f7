#!/usr/bin/python3
"""A registry of images, read only, over TLS if it is given a certificate.

usage: registry.py ADDRESS PORT DIR [CERTIFICATE KEY]

DIR holds OCI layouts by the name of their image: DIR/NAME/{index.json,blobs/...}, whose one manifest has every tag.  As a mirror it is told by
?ns= whose images are asked for: log has a line for each manifest that was given, its name, tag and that host.  Prints its port once it listens."""
import http.server
import json
import pathlib
import re
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = None

    def log_message(self, *args):
        pass

    def give(self, path, kind, digest):
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Docker-Content-Digest", digest)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def blob(self, name, digest):
        return self.folder / name / "blobs" / digest.replace(":", "/")

    def do_GET(self):
        path, _, query = self.path.partition("?")
        match = re.fullmatch(r"/v2/([a-z0-9/-]+)/(manifests|blobs)/([\w.:-]+)", path)
        if not match or not (self.folder / match[1] / "index.json").is_file():
            self.send_error(404)
            return
        name, what, wanted = match.groups()
        manifest = json.loads((self.folder / name / "index.json").read_text())["manifests"][0]
        if what == "blobs":
            if self.blob(name, wanted).is_file():
                self.give(self.blob(name, wanted), "application/octet-stream", wanted)
            else:
                self.send_error(404)
            return
        if manifest["mediaType"] not in self.headers.get("Accept", ""):
            self.send_error(406)
            return
        with (self.folder / "log").open("a") as log:
            log.write(f"{name} {wanted} {query}\n")
        self.give(self.blob(name, manifest["digest"]), manifest["mediaType"], manifest["digest"])

    do_HEAD = do_GET


def main():
    address, port, folder, *pair = sys.argv[1:]
    Handler.folder = pathlib.Path(folder)
    server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
    if pair:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
