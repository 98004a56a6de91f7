"""The static pod of a worker of today's kops where a pod gets all that it asks for: cgroups of version 2 with their controllers, and every
capability.  e2e/test_kops_boot.py has the same node in a container, whose runc leaves them out."""
import json
import os
import pathlib
import shlex

import pytest

import kopsnode
import podimages
import vmnode
from lab import FAKE, REGION, ROLE, Lab
from vm import Machine
from vmnode import INSTANCE

PROXY, PAUSE, FOLDER = "registry.k8s.io/kube-proxy:v1.36.1", "registry.k8s.io/pause:3.10.1", "/opt/controller"
SERVERS = {"assets": "python3 -m http.server 8000 --bind 127.0.0.1 --directory /var/tmp/assets",
           "controller": f"python3 /opt/fake/kops_controller.py 127.0.0.1 {kopsnode.PORT} {FOLDER}"}


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


def documents(folder, assets, images):
    worker = kopsnode.kops.Worker(folder / "kops")
    worker.config["containerdConfig"]["version"] = kopsnode.NEWEST[1]
    worker.config["Assets"] = kopsnode.both(kopsnode.lines(assets))
    worker.config["images"] = kopsnode.both(kopsnode.image_list(kopsnode.lines(images)))
    worker.control = {"region": REGION, "keys": {ROLE["AccessKeyId"]: [ROLE["SecretAccessKey"], ROLE["Token"]]}, "node": INSTANCE,
                      "hosts": [INSTANCE, "10.0.0.1"]}
    worker.ports = [kopsnode.PORT]
    worker.write()
    return worker.folder


@pytest.fixture(scope="module")
def vm(tmp_path_factory):
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    program = kopsnode.PROGRAM.read_bytes()
    images = {"proxy.tar.gz": podimages.packed(podimages.docker(PROXY, program, "/go-runner"), "gzip"),
              "pause.tar.zst": podimages.packed(podimages.oci(PAUSE, program, "/pause"), "zstd")}
    assets = kopsnode.assets(runtime, kopsnode.NEWEST[1], 36)
    folder = documents(tmp_path_factory.mktemp("documents"), assets, images)
    with Lab() as lab:
        files = folder_files(lab.layer("kops-cri", [*kopsnode.PACKAGES, "python3-grpcio"]))
    files.update(vmnode.guest_files())
    files.update(folder_files(folder, FOLDER[1:] + "/"))
    files.update({f"var/tmp/assets/{name}": (data, 0o644) for name, data in {**assets, **images}.items()})
    files.update({name[1:]: (data, 0o755) for name, data in kopsnode.beside(runtime).items()})
    files.update({f"opt/fake/{name}": (pathlib.Path(FAKE, name).read_bytes(), 0o755) for name in ("cri.py", "kops_controller.py")})
    files[kopsnode.CONF[1:]] = ((folder / "documents/kube_env.yaml").read_bytes(), 0o644)
    files["opt/kops/bin/nodeup"] = (pathlib.Path(vmnode.PROGRAM).read_bytes(), 0o755)
    with Machine(vmnode.archive(files), unified=True) as made:
        for name, command in SERVERS.items():
            made.sh(f"systemd-run --unit={name} {command}")
        made.wait("ss -Hltn | grep -q 127.0.0.1:8000 && ss -Hltn | grep -q :%d" % kopsnode.PORT, "the servers")
        yield made


def test_a_privileged_pod_has_its_cgroup_and_every_capability(vm):
    done = vm.exec("/opt/kops/bin/nodeup", "apply", f"--conf={kopsnode.CONF}", "--deadline=20m", "--retries=4")
    assert done.code == 0, done.out + done.err
    vm.exec("python3", "/opt/fake/cri.py", "/run/containerd/containerd.sock", "start", "/etc/kubernetes/manifests/kube-proxy.manifest", check=True)
    tasks = [line.split() for line in vm.sh("ctr -n k8s.io task ls").splitlines()[1:]]
    assert len(tasks) == 2 and {state for _, _, state in tasks} == {"RUNNING"}, tasks
    proxy = vm.sh("pgrep -x go-runner")
    group = vm.sh(f"cut -d: -f3 /proc/{proxy}/cgroup")
    assert group.startswith("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod") and group.endswith(".scope"), group
    assert set(vm.sh(f"cat /sys/fs/cgroup{shlex.quote(group)}/cgroup.controllers").split()) >= {"cpu", "memory", "pids"}
    assert vm.sh(f"sed -n 's/^CapEff:\t//p' /proc/{proxy}/status") == vm.sh("sed -n 's/^CapEff:\t//p' /proc/1/status")
    assert vm.sh("cat /var/log/kube-proxy.log").startswith("/go-runner --log-file=/var/log/kube-proxy.log --also-stdout ")
    assert [c["state"] for c in json.loads(vm.sh("python3 /opt/fake/cri.py /run/containerd/containerd.sock list"))] == ["running"]
