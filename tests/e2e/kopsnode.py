"""A worker of today's kops, or of an older one, booted: kops-controller and its assets in the node's own network, containerd of a Debian suite."""
import copy
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import yaml

import disknode
import nodechecks
import podimages
import refused
from lab import FAKE, IPS, NAMES, REGION, ROLE, LabError
from labhost import CERTS, LAB, ROOT, fetch, host_packages

sys.path.insert(0, ROOT + "/tests/system")
import kops  # noqa: E402
import older_kops  # noqa: E402
import upstream  # noqa: E402
from world import tar  # noqa: E402

# The node has no archive of packages: what its documents ask for is there, as in an image that was made for it.
# xz is what kops' user data unpacks nodeup with; the second line is of kops to 1.34.
PACKAGES = ("chrony iptables libapparmor1 libseccomp2 logrotate unattended-upgrades util-linux xz-utils "
            "bridge-utils conntrack libltdl7 pigz").split()
TOOLS = {"/usr/bin/patchelf": "patchelf", "/usr/lib/python3/dist-packages/grpc": "python3-grpcio", "/usr/bin/zstd": "zstd"}
DAEMONS = ("containerd", "containerd-shim-runc-v2", "ctr")
RUNTIME = "containerd runc containernetworking-plugins libc6 libseccomp2".split()
# Suites, and what their containerd calls itself. The newest reads version 3 of its configuration, the older one version 2.
NEWEST, OLDER = ("forky", "2.1.9"), ("bookworm", "1.6.20")
# They want a C library that the node may not have, and have it beside themselves.
BESIDE, LIBRARIES = "/opt/newest", ("libc.so.6", "libseccomp.so.2")
# By architecture: the folder of its libraries, and its loader.
LOADERS = {"amd64": ("x86_64-linux-gnu", "ld-linux-x86-64.so.2"), "arm64": ("aarch64-linux-gnu", "ld-linux-aarch64.so.1")}
PROGRAM = pathlib.Path(ROOT, "build/e2e/pod")
# Of a control plane to kops 1.35: what applies addons, and by what.
PROGRAMS = {"protokube": b"#!/bin/sh\n[ -r \"$KUBECONFIG\" ] && [ -x /opt/kops/bin/channels ] && exec sleep infinity\n",
            "channels": b"#!/bin/sh\n"}
PLUGINS = ("bridge", "host-local", "loopback", "ptp")
MOVED = ["usr/sbin/runc", *(f"usr/bin/{name}" for name in DAEMONS), *(f"usr/lib/cni/{name}" for name in PLUGINS)]
REGISTRY = "good.mirror.test:5000"
CONF, PORT, BASE = "/opt/kops/conf/kube_env.yaml", 3988, "http://127.0.0.1:8000/"


def runtime(suite, arch="amd64"):
    """A tree of the suite's packages; None: it cannot be had."""
    key = hashlib.sha256(" ".join([*RUNTIME, *MOVED]).encode()).hexdigest()[:8]
    folder = pathlib.Path(LAB, f"debs-{suite}-{key}" if arch == "amd64" else f"debs-{suite}-{arch}-{key}")
    root = folder / "root"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        host_packages(TOOLS)
        if root.exists():
            return root
        if not fetch(folder, suite, RUNTIME, arch):
            return None
        for deb in sorted((folder / "debs").glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", deb, folder / "root.new"], check=True)
        moved = [folder / "root.new" / name for name in MOVED]
        subprocess.run(["patchelf", "--set-interpreter", f"{BESIDE}/{LOADERS[arch][1]}", "--set-rpath", BESIDE, *moved], check=True)
        (folder / "root.new").rename(root)
        return root


def newest(arch="amd64"):
    return runtime(NEWEST[0], arch)


def beside(runtime, arch="amd64"):
    """What runc has beside itself."""
    folder, loader = LOADERS[arch]
    found = {name: [runtime / top / folder / name for top in ("usr/lib", "lib")] for name in (loader, *LIBRARIES)}
    return {f"{BESIDE}/{name}": next(p for p in paths if p.exists()).read_bytes() for name, paths in found.items()}


@functools.cache
def assets(runtime, version, minor, arch="amd64"):
    """Of a worker with this containerd and this minor version of Kubernetes, by their name."""
    found = {**{n: d for n, d in kops.ASSETS.items() if not n.startswith(("containerd", "cni"))},
             "kubelet": upstream.kubelet(minor), "runc.amd64": (runtime / "usr/sbin/runc").read_bytes(),
             "cni-plugins-linux-amd64-v1.8.0.tgz": tar({f"./{n}": (runtime / "usr/lib/cni" / n).read_bytes() for n in PLUGINS}),
             f"containerd-{version}-linux-amd64.tar.gz": tar({f"bin/{n}": (runtime / "usr/bin" / n).read_bytes() for n in DAEMONS})}
    return {name.replace("amd64", arch): data for name, data in found.items()}


def lines(files):
    """As documents list them."""
    return [f"{hashlib.sha256(data).hexdigest()}@{BASE}{name}" for name, data in files.items()]


def image_list(listed):
    return [{"hash": line.split("@")[0], "sources": [line.split("@")[1]]} for line in listed]


def both(listed):
    """For either architecture."""
    return {"amd64": listed, "arm64": listed}


class Machine:
    """A node that ran nothing yet."""

    def __init__(self, lab, name, runtime, disk=None, addresses=(), version=NEWEST[1], of=None, cgroup=2, layers=(), **config):
        """version: of the runtime's containerd; of: as become() has it, else of today's kops; disk: a loop device, in the node /dev/xvdb, for the
        volume /data; addresses: of the API servers, for /etc/hosts; cgroup: the version of its cgroups; layers: of packages, over those of PACKAGES."""
        name = f"{name}-{os.urandom(4).hex()}"
        # containerd's snapshots cannot lie on an overlay
        nspawn = [f"--bind={lab.dir}/{name}/docker:/var/lib/containerd"]
        if disk:
            uuid = disknode.volume_uuid(disknode.instance_id(name), "/data")
            nspawn += ["--property=DeviceAllow=block-loop rwm", f"--bind={disk}:/dev/xvdb", f"--bind={disk}:/dev/disk/by-uuid/{uuid}"]
        self.node = lab.boot(name, "nodes", "#!/bin/sh\ntrue\n", layers=[*layers, lab.layer("kops", PACKAGES)], docker_dir=False, nspawn=nspawn, cgroup=cgroup,
                             more_facts={"autoscaling/target-lifecycle-state": "InService"})
        self.instance = disknode.instance_id(self.node.name)
        self.node.wait_cloud_init(300)
        # kops' image has no docker, and nothing is excused here
        self.node.sh("systemctl disable --now docker.service docker.socket; rm -f /lib/systemd/system/docker.* /etc/nodeup/nodeup.d/lab.yaml;"
                     "systemctl daemon-reload")
        self.worker = self.documents(pathlib.Path(self.node.dir, "kops"), **config)
        self.worker.config["containerdConfig"]["version"] = version
        self.today, self.runtime = self.worker.config, runtime
        self.worker.control = {"region": REGION, "keys": {ROLE["AccessKeyId"]: [ROLE["SecretAccessKey"], ROLE["Token"]]}, "node": self.instance,
                               "hosts": [self.instance, IPS["nodes"]]}
        self.worker.ports, self.worker.addresses, self.environ = [PORT], list(addresses), []
        if of:
            self.become(*of)
        else:
            self.put_assets()
        with open(lab.dir + "/nodeup", "rb") as f:
            self.put("opt/kops/bin/nodeup", f.read())
        self.server = None
        self.controller()
        self.serve()

    def serve(self):
        """The assets, for as long as it is booted."""
        self.node.sh("systemd-run --unit=assets python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets")
        self.node.wait(lambda: self.node.exec("curl", "-sf", BASE).returncode == 0, 60, "the server of the assets")

    def documents(self, folder, **config):
        """What it is made of."""
        return kops.Worker(folder, **config)

    def become(self, version, kubernetes):
        """What kops `version` renders of this cluster, with that Kubernetes, once it is written."""
        self.worker.config = copy.deepcopy(self.today)
        older_kops.render(self.worker, version, kubernetes)
        self.put_assets({f"binaries/kops/{version}/linux/amd64/{name}": data for name, data in PROGRAMS.items() if "channels" in self.worker.config})

    def put(self, name, data):
        path = pathlib.Path(self.node.root, name.lstrip("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    def put_assets(self, more=None):
        for name, data in beside(self.runtime).items():
            self.put(name, data)
        self.put("usr/local/sbin/runc", pathlib.Path(FAKE, "runc").read_bytes())
        minor = int(self.worker.config["KubernetesVersion"].split(".")[1])
        files = assets(self.runtime, self.worker.config["containerdConfig"]["version"], minor)
        self.worker.config["Assets"] = both(self.serve_files({**files, **(more or {})}))

    def serve_files(self, files):
        for name, data in files.items():
            self.put(f"var/tmp/assets/{name}", data)
        return lines(files)

    def preload(self, **archives):
        """Images of the documents."""
        self.worker.config["images"] = both(image_list(self.serve_files(archives)))

    def registry(self, **entries):
        """A registry of images by their name, of the program that each starts."""
        folder = pathlib.Path(self.node.dir, "registry")
        for name, entry in entries.items():
            podimages.put_layout(folder / name, name, PROGRAM.read_bytes(), entry)
        host, port = REGISTRY.split(":")
        self.node.serve("registry", FAKE + "/registry.py", NAMES[host], port, str(folder), CERTS + "/server.crt", CERTS + "/server.key")
        return folder / "log"

    def cri(self, *words):
        """What kubelet's stand-in for pods says."""
        socket = f"/proc/{self.node.leader()}/root/run/containerd/containerd.sock"
        done = subprocess.run([sys.executable, FAKE + "/cri.py", socket, *words], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise LabError(done.stderr + self.node.journal("containerd.service", lines=20))
        return done.stdout

    def start_pod(self, path):
        return json.loads(self.cri("start", self.node.root + path))

    def tasks(self):
        """{container: its process} of what runs."""
        return dict(line.split()[:2] for line in self.node.sh("ctr -n k8s.io task ls").splitlines()[1:])

    def controller(self, **control):
        """Served anew, with faults that are asked for."""
        self.worker.control.update(control)
        self.worker.write()
        if self.server:
            self.node.servers.remove(self.server)
            self.server.kill()
            self.server.wait()
        self.put(CONF, (self.worker.folder / "documents/kube_env.yaml").read_bytes())
        self.node.serve("kops-controller", sys.executable, FAKE + "/kops_controller.py", "127.0.0.1", str(PORT), str(self.worker.folder))
        self.server = self.node.servers[-1]
        self.wait_listening(PORT)

    def wait_listening(self, port):
        self.node.wait(lambda: f"127.0.0.1:{port}" in subprocess.run(
            ["ip", "netns", "exec", self.node.netns, "ss", "-Hltn"], capture_output=True, text=True, check=True).stdout, 30, f"port {port}")

    def lie(self, how):
        """Let the controller answer so from now on; what it has is read for each request. One that is gone is waited for."""
        if how == "gone":
            self.server.kill()
            self.server.wait()
            return
        if self.server.poll() is not None:
            self.controller()
        self.worker.control["faults"] = [] if how == "another configuration" else [how] * 100000
        self.worker.write()
        if how == "another configuration":
            (self.worker.folder / "nodeupconfig.yaml").write_text(yaml.safe_dump({**self.worker.config, "UpdatePolicy": "external"}))

    def serve_outside(self):
        """Auto Scaling, whose group waits for this instance by two hooks, CloudFormation and EC2: what the signals of the settings are told to."""
        hooks = {name: [self.instance] for name in ("kops-warmpool", "up")}
        services = {"autoscaling": {"groups": {"nodes.a.example.com": {"hooks": hooks}}, "health": {self.instance: "Healthy"}},
                    "cloudformation": {"stacks": {"s": {"state": "CREATE_IN_PROGRESS", "resources": {"r": {}}}}}, "ec2": {"tags": {self.instance: {}}}}
        for port, variable, (name, state) in zip((3989, 3990, 3991), ("AUTO_SCALING", "CLOUDFORMATION", "EC2"), services.items()):
            given = self.worker.folder / f"{name}.json"
            given.write_text(json.dumps({"region": REGION, "keys": self.worker.control["keys"], **state}))
            self.node.serve(name, sys.executable, f"{FAKE}/{name}.py", "127.0.0.1", str(port), str(given), str(self.worker.folder / f"{name}.log"), "--stay")
            self.environ.append(f"AWS_ENDPOINT_URL_{variable}=http://127.0.0.1:{port}")
            self.wait_listening(port)
        self.put("etc/nodeup/nodeup.d/50-signals.yaml", b"signals: [lifecycleHook=nodes.a.example.com:up, instanceHealth, stackSignal=s:r, tag=state]\n")

    def told_outside(self, service):
        """Values that the service was told, in their order."""
        log = self.worker.folder / f"{service}.log"
        keys = ("LifecycleActionResult", "HealthStatus", "Status", "Tag.1.Value")
        return [form[key] for form in map(json.loads, log.read_text().splitlines()) for key in keys if key in form]

    def refuse(self):
        """A run of our own unit, which a document refuses; what it says."""
        with refused.bad_document(self.node, CONF):
            done = self.node.exec("systemd-run", "--wait", "--quiet", f"--unit={nodechecks.OURS}", "env", *self.environ, "/opt/kops/bin/nodeup", "apply",
                                  f"--conf={CONF}", timeout=300)
        said = self.node.journal(nodechecks.OURS, lines=30)
        if done.returncode != refused.CONFIG:
            raise LabError(done.stdout + done.stderr + said)
        return said

    def nodeup(self, *arguments):
        return self.node.exec("env", *self.environ, "/opt/kops/bin/nodeup", *arguments, timeout=400)

    def apply(self, *flags):
        done = self.nodeup("apply", f"--conf={CONF}", "--deadline=150s", *flags)
        if done.returncode:
            raise LabError(done.stdout + done.stderr + self.node.journal(lines=30))
        return done.stderr

    def pids(self):
        return [self.node.show(unit, "MainPID", "ActiveState", "NRestarts") for unit in ("containerd.service", "kubelet.service")]


def read(machine, path):
    return yaml.safe_load(machine.node.sh(f"cat {path}")) if path.endswith("conf") else json.loads(machine.node.sh(f"cat {path}"))
