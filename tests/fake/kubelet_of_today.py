#!/usr/bin/python3
"""kubelet stand-in of one minor version of Kubernetes: checks what it is given as the real one would before it starts, then answers /healthz until
it is killed. Started as `kubelet "$DAEMON_ARGS"`, one word. It needs a runtime that answers on the endpoint of its configuration, and
certificates that fit their keys and are of the CA that it is told of. Static pods are read, and not run."""
import base64
import functools
import http.server
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile

import yaml

# Upstream's own lists, from tests/fake/flags: tests/system/upstream.py puts them in.
FLAGS, KEYS = set("@kubelet@".split()), set("@kubelet-configuration@".split())

# Of version 1 of a pod, those that a static pod may have.
SPEC = set("""affinity containers dnsConfig dnsPolicy hostAliases hostIPC hostNetwork hostPID hostname initContainers nodeSelector priority
priorityClassName restartPolicy runtimeClassName securityContext shareProcessNamespace terminationGracePeriodSeconds tolerations volumes""".split())
CONTAINER = set("""args command env image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resources securityContext
startupProbe terminationMessagePath terminationMessagePolicy volumeMounts workingDir""".split())


def die(text):
    sys.exit(f"E kubelet stand-in: {text}")


def flags():
    given = {}
    for word in " ".join(sys.argv[1:]).split():
        name, equals, value = word[2:].partition("=")
        if not word.startswith("--") or not equals or name not in FLAGS:
            die(f"unknown flag: {word}")
        given[name] = value
    return given


def document(path, kind, versions):
    with open(path, encoding="utf-8") as f:
        read = yaml.safe_load(f)
    if read["kind"] != kind or read["apiVersion"] not in versions:
        die(f"{path}: not a {kind}")
    return read


def verify(cert, key, ca, purpose):
    """The certificate is of that CA and for that use, and the key is its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    done = subprocess.run(["openssl", "verify", "-purpose", purpose, "-CAfile", ca, cert], capture_output=True, text=True, check=False)
    if done.returncode:
        die(done.stderr)


def check_login(path):
    login = document(path, "Config", ["v1"])
    user, cluster = login["users"][0]["user"], login["clusters"][0]["cluster"]
    if not cluster["server"].startswith("https://"):
        die(f"{path}: no server")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("crt", user["client-certificate-data"]), ("key", user["client-key-data"]),
                           ("ca", cluster["certificate-authority-data"])):
            pathlib.Path(folder, name).write_bytes(base64.b64decode(data, validate=True))
        verify(f"{folder}/crt", f"{folder}/key", f"{folder}/ca", "sslclient")


def check_pod(path):
    pod = document(path, "Pod", ["v1"])
    spec = pod["spec"]
    containers, volumes = spec["containers"], [v["name"] for v in spec.get("volumes", [])]
    unknown = sorted(set(spec) - SPEC | {key for c in containers for key in set(c) - CONTAINER})
    if unknown or not pod["metadata"].get("name"):
        die(f"{path}: unknown: {unknown}" if unknown else f"{path}: no name")
    if len(set(volumes)) != len(volumes) or len({c["name"] for c in containers}) != len(containers) or not all(c["image"] for c in containers):
        die(f"{path}: a name twice, or no image")
    for c in containers:
        mounts = c.get("volumeMounts", [])
        if not {m["name"] for m in mounts} <= set(volumes) or len({m["mountPath"] for m in mounts}) != len(mounts):
            die(f"{path}: {c['name']}: a mount of no volume, or two of one path")


class Healthz(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def main():
    given = flags()
    conf = document(given["config"], "KubeletConfiguration", ["kubelet.config.k8s.io/v1beta1"])
    if set(conf) - KEYS:
        die(f'strict decoding error: unknown field "{sorted(set(conf) - KEYS)[0]}"')

    def setting(flag, *keys):
        """A flag goes before the key."""
        return given[flag] if flag in given else functools.reduce(dict.__getitem__, keys, conf)
    verify(setting("tls-cert-file", "tlsCertFile"), setting("tls-private-key-file", "tlsPrivateKeyFile"),
           setting("client-ca-file", "authentication", "x509", "clientCAFile"), "sslserver")
    check_login(given["kubeconfig"])
    provider = document(given["image-credential-provider-config"], "CredentialProviderConfig", ["kubelet.config.k8s.io/v1"])["providers"][0]
    if not os.access(f"{given['image-credential-provider-bin-dir']}/{provider['name']}", os.X_OK):
        die(f"no credential provider {provider['name']}")
    with socket.socket(socket.AF_UNIX) as runtime:
        runtime.connect(setting("container-runtime-endpoint", "containerRuntimeEndpoint").removeprefix("unix://"))
    # source: Kubernetes 1.31 to 1.37 pkg/kubelet/config/file.go, extractFromDir
    for path in sorted(path for path in pathlib.Path(setting("pod-manifest-path", "staticPodPath")).iterdir() if not path.is_dir()):
        check_pod(path)
    print(json.dumps({"started": given.get("hostname-override")}), flush=True)
    http.server.HTTPServer(("127.0.0.1", 10248), Healthz).serve_forever()


main()
