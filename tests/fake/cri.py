#!/usr/bin/python3
"""The part of kubelet that starts static pods, as a stand-in: a client of the runtime's CRI, version 1.

usage: cri.py SOCKET start MANIFEST [unprivileged] | list | pull IMAGE

`start` asks for the sandbox and the containers of a pod as kubelet would, and never for an image: what the runtime does not have is an
error, as with imagePullPolicy Never.  `unprivileged` drops privileged, for a machine where nothing can have all capabilities.  `list`
tells each container's name, state and image.  What kubelet does besides is not done: no probe, no restart, no volume but hostPath, no
limit, no variable of a field, no DNS, no init container, no port but of a pod that has the host's network.  A key of a manifest that is not known here is an error.  The messages are
encoded by hand, for no package has them; their numbers are those of cri-api's runtime/v1/api.proto."""
import hashlib
import json
import os
import sys

import grpc
import yaml

NODE, RUNNING = 2, 1
STATES = ("created", "running", "exited", "unknown")
POD = {"apiVersion", "kind", "metadata", "spec", "status"}
SPEC = {"containers", "hostNetwork", "priorityClassName", "tolerations", "volumes"}
CONTAINER = {"name", "image", "command", "args", "env", "resources", "securityContext", "volumeMounts", "imagePullPolicy"}
UNUSED = {"livenessProbe", "readinessProbe", "startupProbe"}
PATIENCE = 120


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def message(*fields):
    """Of (number, value): text and bytes by their length, a number or a truth as a varint; a list is repeated, a dict a map of texts; what is
    zero or empty is left out."""
    out = b""
    for number, value in fields:
        if isinstance(value, dict):
            value = [message((1, k), (2, v)) for k, v in sorted(value.items())]
        for one in value if isinstance(value, list) else [value] if value else []:
            one = one.encode() if isinstance(one, str) else one
            out += varint(number << 3 | 2) + varint(len(one)) + one if isinstance(one, bytes) else varint(number << 3) + varint(int(one))
    return out


def parts(data):
    """{number: [values]} of a message; what is no varint is bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            at, byte = at + 1, data[at]
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n
    while at < len(data):
        key = number()
        value = number()
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        elif key & 7:
            raise ValueError(f"wire type {key & 7}")
        found.setdefault(key >> 3, []).append(value)
    return found


class Runtime:
    def __init__(self, path):
        self.channel = grpc.insecure_channel(f"unix:{path}", options=[("grpc.default_authority", "localhost")])

    def ask(self, method, *fields):
        service = "ImageService" if "Image" in method else "RuntimeService"
        call = self.channel.unary_unary(f"/runtime.v1.{service}/{method}")
        try:
            return parts(call(message(*fields), timeout=PATIENCE))
        except grpc.RpcError as error:
            sys.exit(f"cri: {method}: {error.code().name}: {error.details()}")

    def has_image(self, name):
        return 1 in self.ask("ImageStatus", (1, message((1, name))))

    def pull(self, name):
        return self.ask("PullImage", (1, message((1, name))))[1][0].decode()

    def containers(self):
        for one in self.ask("ListContainers").get(1, []):
            c = parts(one)
            yield {"name": parts(c[3][0])[1][0].decode(), "state": STATES[c.get(6, [0])[0]], "image": parts(c[4][0])[1][0].decode()}

    def address(self, sandbox):
        status = parts(self.ask("PodSandboxStatus", (1, sandbox))[1][0])
        return parts(status[5][0])[1][0].decode() if 5 in status and status[5][0] else None


def known(what, given, keys):
    if set(given) - keys:
        sys.exit(f"cri: {what}: not known here: {', '.join(sorted(set(given) - keys))}")


def host_path(volume):
    """Where it is on the host, made if the manifest says so."""
    known(f"volume {volume['name']}", volume, {"name", "hostPath"})
    return volume["hostPath"]["path"]


def labels_of(meta, uid):
    """By which kubelet knows all that is of a pod."""
    return {"io.kubernetes.pod.name": meta["name"], "io.kubernetes.pod.namespace": meta.get("namespace", "default"), "io.kubernetes.pod.uid": uid}


def sandbox_of(pod, uid, privileged):
    """PodSandboxConfig."""
    meta = pod["metadata"]
    name, space = meta["name"], meta.get("namespace", "default")
    network = NODE if pod["spec"].get("hostNetwork") else 0
    security = message((1, message((1, network))), (6, privileged))
    linux = message((1, f"kubepods-burstable-pod{uid}.slice"), (2, security))
    return message((1, message((1, name), (2, uid), (3, space))), (2, "" if network else name), (3, f"/var/log/pods/{space}_{name}_{uid}"),
                   (6, {**meta.get("labels", {}), **labels_of(meta, uid)}), (8, linux))


def container_of(c, labels, paths, network, privileged):
    """ContainerConfig."""
    known(f"container {c['name']}", c, CONTAINER | UNUSED | ({"ports"} if network == NODE else set()))
    mounts = [message((1, m["mountPath"]), (2, paths[m["name"]]), (3, m.get("readOnly", False))) for m in c.get("volumeMounts", [])]
    env = [message((1, e["name"]), (2, e["value"])) for e in c.get("env", [])]
    security = message((2, privileged), (3, message((1, network))))
    return message((1, message((1, c["name"]))), (2, message((1, c["image"]))), (3, c.get("command", [])), (4, c.get("args", [])), (6, env),
                   (7, mounts), (9, {"io.kubernetes.container.name": c["name"], **labels}), (11, f"{c['name']}/0.log"), (15, message((2, security))))


def start(runtime, manifest, drop):
    with open(manifest, "rb") as f:
        text = f.read()
    pod, uid = yaml.safe_load(text), hashlib.sha256(text).hexdigest()[:32]
    known("pod", pod, POD)
    if "/etc/kubernetes/manifests/" in manifest:  # as kubelet tells nodes' pods apart
        pod["metadata"]["name"] += "-node"
    known("spec", pod["spec"], SPEC)
    containers = pod["spec"]["containers"]
    privileged = not drop and any(c.get("securityContext", {}).get("privileged") for c in containers)
    missing = [c["image"] for c in containers if not runtime.has_image(c["image"])]
    if missing:
        sys.exit(f"cri: not in the runtime: {' '.join(missing)}")
    paths = {v["name"]: host_path(v) for v in pod["spec"].get("volumes", [])}
    config = sandbox_of(pod, uid, privileged)
    sandbox = runtime.ask("RunPodSandbox", (1, config))[1][0]
    network = NODE if pod["spec"].get("hostNetwork") else 0
    for c in containers:
        made = container_of(c, labels_of(pod["metadata"], uid), paths, network, privileged and bool(c.get("securityContext", {}).get("privileged")))
        started = runtime.ask("CreateContainer", (1, sandbox), (2, made), (3, config))[1][0]
        runtime.ask("StartContainer", (1, started))
    return {"sandbox": sandbox.decode(), "address": runtime.address(sandbox)}


def main():
    path, verb, *words = sys.argv[1:]
    runtime = Runtime(os.path.abspath(path))
    if verb == "start":
        print(json.dumps(start(runtime, words[0], words[1:] == ["unprivileged"])))
    elif verb == "list":
        print(json.dumps(list(runtime.containers())))
    elif verb == "pull":
        print(runtime.pull(words[0]))
    else:
        sys.exit(__doc__)


main()
