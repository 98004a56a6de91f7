"""A worker of today's kops in a virtual machine: its documents and assets in place, nothing run yet. kops-controller runs on the host,
where it signs as fast as a real one: emulated, it would take longer than a node waits."""
import contextlib
import hashlib
import os
import pathlib
import time

import kopsnode
import podimages
import vmnode
from lab import FAKE, REGION, ROLE, Lab, LabError
from vm import Machine
from vmhost import IS_OWN, KIND, PROGRAM

INSTANCE, PAUSE, PROXY = vmnode.INSTANCE, "registry.k8s.io/pause:3.10.1", "registry.k8s.io/kube-proxy:v1.36.1"
ARCH, FACTS, NODEUP, MANIFEST = KIND.arch, "/opt/facts.yaml", "/opt/kops/bin/nodeup", "/etc/kubernetes/manifests/kube-proxy.manifest"
# The host, as QEMU's own network shows it, and the machine's end of that network.
HOST, NET = "10.0.2.2", ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,mac=02:00:00:00:00:01,romfile="]
PREPARE = """modprobe virtio_net && ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0
systemd-run --unit=assets python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets
"""


def folder_files(top, below=""):
    """Of a folder as it is, links as links."""
    files = {}
    for path in pathlib.Path(top).rglob("*"):
        name = f"{below}{path.relative_to(top)}"
        if path.is_symlink():
            files[name] = os.readlink(path)
        elif path.is_file():
            files[name] = (path.read_bytes(), path.stat().st_mode & 0o7777)
    return files


@contextlib.contextmanager
def documents(folder, assets, images):
    """The folder of what its controller answers; its own documents are in `documents`."""
    worker = kopsnode.kops.Worker(folder / "kops")
    worker.config["containerdConfig"]["version"] = kopsnode.NEWEST[1]
    worker.config["Assets"] = kopsnode.both(kopsnode.lines(assets))
    worker.config["images"] = kopsnode.both(kopsnode.image_list(kopsnode.lines(images)))
    worker.control = {"region": REGION, "keys": {ROLE["AccessKeyId"]: [ROLE["SecretAccessKey"], ROLE["Token"]]}, "node": INSTANCE,
                      "hosts": [INSTANCE, "10.0.0.1"]}
    worker.serve_as(f"IP:{HOST}")
    worker.facts.update(arch=ARCH, region=REGION, availabilityZone=REGION + "a", instanceID=INSTANCE, localIPv4="10.0.0.1")
    with worker.controller():
        server = worker.boot()["ConfigServer"]
        worker.write(ConfigServer={**server, "servers": [f"https://{HOST}:{port}/" for port in worker.ports]})
        yield worker.folder


def layer():
    """What the node has besides the image, which of another architecture has all."""
    if not IS_OWN:
        return {}
    with Lab() as lab:
        return folder_files(lab.layer("kops-cri", [*kopsnode.PACKAGES, "python3-grpcio"]))


def assets():
    """(its runtime, its assets by their name)."""
    runtime = kopsnode.newest(ARCH)
    if not runtime:
        raise LabError(f"no containerd of {kopsnode.NEWEST[0]}")
    return runtime, kopsnode.assets(runtime, kopsnode.NEWEST[1], 36, ARCH)


def images():
    """Archives of two."""
    program = pathlib.Path(PROGRAM).parent.joinpath("e2e/pod").read_bytes()
    return {"proxy.tar.gz": podimages.packed(podimages.docker(PROXY, program, "/go-runner", ARCH), "gzip"),
            "pause.tar.zst": podimages.packed(podimages.oci(PAUSE, program, "/pause", ARCH), "zstd")}


@contextlib.contextmanager
def worker(folder, more=()):
    """`more`: further files of the machine."""
    (runtime, served), preloaded = assets(), images()
    files = {**layer(), **vmnode.guest_files(), **dict(more)}
    files.update({f"var/tmp/assets/{name}": (data, 0o644) for name, data in {**served, **preloaded}.items()})
    files.update({name[1:]: (data, 0o755) for name, data in kopsnode.beside(runtime, ARCH).items()})
    files["opt/fake/cri.py"] = (pathlib.Path(FAKE, "cri.py").read_bytes(), 0o755)
    files[NODEUP[1:]] = (pathlib.Path(PROGRAM).read_bytes(), 0o755)
    with documents(folder, served, preloaded) as made:
        for name, source in ((kopsnode.CONF, "kube_env.yaml"), (FACTS, "facts.yaml")):
            files[name[1:]] = ((made / "documents" / source).read_bytes(), 0o644)
        with Machine(vmnode.archive(files), unified=True, more=NET) as vm:
            vm.sh(PREPARE)
            vm.wait("ss -Hltn | grep -q 127.0.0.1:8000", "the server of the assets")
            yield vm


def apply(vm, *flags):
    """An emulated node on a busy machine may need longer than one run waits for it."""
    done = vm.exec(NODEUP, "apply", f"--conf={kopsnode.CONF}", "--deadline=20m", "--retries=4", *flags)
    if done.code:
        raise LabError(done.out + done.err + vm.console())
    return done.err


def need(condition, what):
    if not condition:
        raise LabError(what)


def pids(vm):
    return vm.sh("systemctl show -P ActiveState -P MainPID containerd kubelet")


def converge(vm):
    """To an active kubelet, which a second run and a repair leave as it is; the seconds of the first run."""
    start = time.monotonic()
    apply(vm)
    seconds, before = time.monotonic() - start, pids(vm)
    need(before.split()[1::2] == ["active", "active"] and vm.sh("curl -sS http://127.0.0.1:10248/healthz") == "ok", before)
    need(" changed" not in apply(vm), "a second run changes something")
    vm.sh(f"rm {MANIFEST}")
    apply(vm)
    need(vm.exec("test", "-e", MANIFEST).code == 0 and pids(vm) == before, "a repair restarts something")
    return seconds


def make_image(vm, root):
    """Applies the same documents below a root; {digest: path} of what is there."""
    environ = [f"AWS_{key}={ROLE[name]}" for key, name in (
        ("ACCESS_KEY_ID", "AccessKeyId"), ("SECRET_ACCESS_KEY", "SecretAccessKey"), ("SESSION_TOKEN", "Token"))]
    vm.sh(f"mkdir {root}")
    done = vm.exec("env", *environ, NODEUP, "apply", f"--root={root}", f"--conf={kopsnode.CONF}", f"--facts={FACTS}")
    need(done.code == 0 and done.out.endswith("success\n"), done.out + done.err)
    found = {line[:64]: line[66 + len(root):] for line in vm.sh(f"cd / && find {root} -type f -exec sha256sum {{}} +").splitlines()}
    runtime, _ = assets()
    lacks = [name for name in kopsnode.MOVED if hashlib.sha256((runtime / name).read_bytes()).hexdigest() not in found]
    need(not lacks, f"{root} lacks {lacks}")
    return found
