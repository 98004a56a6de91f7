#!/usr/bin/python3
"""kubelet stand-in of Kubernetes 1.2 to 1.5: checks flags, configuration, docker and static pods, then answers /healthz until it is
killed.  Started as kubelet; beside it are `flags` (tests/fake/flags/kubelet-1.2-1.5) and `minor`.  Each image that a static pod names
with a tag of ours has to be in docker when it starts: a real one would ask a registry for it, and wait."""
import http.server
import json
import os
import re
import subprocess
import sys

FOLDER = "/usr/local/share/kubelet-of-old"
OURS = re.compile(r"gcr\.io/google_containers/kube-[a-z-]+:[0-9a-f]{12}\b")


def die(text):
    sys.exit(f"F kubelet stand-in: {text}")


def check_flags(minor):
    known = {}
    with open(f"{FOLDER}/flags", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                name, first, last = line.split()
                known[name] = range(int(first), int(last) + 1)
    given = {}
    for word in sys.argv[1:]:
        if not word.startswith("--"):
            die(f"unknown argument {word}")
        name, _, value = word[2:].partition("=")
        if minor not in known.get(name, ()):
            die(f"unknown flag: --{name}")
        given[name] = value
    return given


def pods(folder):
    for name in sorted(os.listdir(folder)):
        # source: Kubernetes 1.2 to 1.5 pkg/kubelet/config/file.go, extractFromDir
        if os.path.isdir(f"{folder}/{name}"):
            continue
        with open(f"{folder}/{name}", encoding="utf-8") as f:
            text = f.read()
        if "kind: Pod" not in text and json.loads(text)["kind"] != "Pod":
            die(f"{name} is not a pod")
        yield from OURS.findall(text)


class Healthz(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def main():
    with open(f"{FOLDER}/minor", encoding="utf-8") as f:
        flags = check_flags(int(f.read()))
    for name in ("config", "cloud-provider", "cluster-dns", "allow-privileged"):
        if not flags.get(name):
            die(f"no --{name}")
    if not os.path.exists("/var/lib/kubelet/kubeconfig"):
        die("no kubeconfig")
    for image in pods(flags["config"]):
        if subprocess.run(["docker", "inspect", image], capture_output=True, check=False).returncode:
            die(f"{image} is not in docker")
    http.server.HTTPServer(("127.0.0.1", 10248), Healthz).serve_forever()


main()
