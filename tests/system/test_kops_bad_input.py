"""Bad input of a worker of today's kops: one message with the cause, the documented exit status, a machine as before."""
import base64
import copy
import hashlib
import shutil
import socket
import subprocess

import pytest

from emulator import Imds
from kops import SECRET, TOKEN, Worker
from world import CONFIG, INTEGRITY, NET, OK, PROGRAM


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One worker and its controller for all of it: nothing is ever made of it."""
    worker = Worker(tmp_path_factory.mktemp("bad"))
    with worker.controller():
        yield worker


@pytest.fixture
def worker(served):
    was = {name: copy.deepcopy(getattr(served, name)) for name in ("config", "control", "facts", "ports")}
    (served.folder / "requests.log").unlink(missing_ok=True)
    yield served
    for name, value in was.items():
        setattr(served, name, value)


def everything(worker):
    return sorted((str(p), p.lstat().st_mtime_ns) for p in [*worker.root.rglob("*"), *(worker.cache / "sha256").rglob("*")])


def refuse(worker, code, *says, boot=(), flags=("--deadline=20s",), **env):
    """Applied, it says this once and nothing else, and leaves the machine alone; its words."""
    worker.write(**dict(boot))
    before = everything(worker)
    done = worker.apply(*flags, **env)
    lines = [line.split(" ", 1)[1] for line in done.stderr.splitlines()]
    failed = [line for line in lines if "FAILED" in line]
    assert done.returncode == code and len(failed) == 1, done.stderr
    assert "success" not in done.stdout and everything(worker) == before
    told = "\n".join(lines[lines.index(failed[0]):])
    for text in says:
        assert text in told, f"want '{text}' in\n{done.stderr}"
    for secret in (SECRET, TOKEN):
        assert secret not in done.stderr + done.stdout
    return told


DOCUMENTS = {
    "network": ({"Networking": {"nonMasqueradeCIDR": "100.64.0.0/10", "weave": {}}}, "unknown key 'Networking.weave'"),
    "no-containerd": ({"containerdConfig": None}, "'containerdConfig' is missing: the InstanceGroupRole is Node"),
    "no-cpu": ({"KubeProxy": {"image": "k"}}, "'KubeProxy.cpuRequest' is missing"),
    "no-assets": ({"Assets": {"arm64": ["a" * 64 + "@https://assets.example/kubelet"]}}, "Assets: expected a list for amd64"),
    "no-images": ({"images": {"arm64": [{"hash": "a" * 64, "sources": ["https://assets.example/k.tar"]}]}}, "images: expected a list for amd64"),
    "cidr": ({"KubeProxy": {"cpuRequest": "100m", "image": "k", "clusterCIDR": "100.96.0.0/99"}}, "100.96.0.0/99"),
    "service-cidr": ({"Networking": {"serviceClusterIPRange": "100.64.0.0"}}, "100.64.0.0"),
    "base64": ({"FileAssets": [{"path": "/etc/x", "content": "a?", "isBase64": True}]}, "FileAssets[0].content: no base64"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document(name, worker):
    config, says = DOCUMENTS[name]
    worker.config.update(config)
    refuse(worker, CONFIG, says)


def test_an_asset_that_is_needed_is_not_listed(worker):
    worker.config["Assets"] = {arch: [a for a in lines if not a.endswith("/kubelet")] for arch, lines in worker.config["Assets"].items()}
    refuse(worker, CONFIG, "kubelet", "amd64")


@pytest.mark.parametrize("boot, says", [
    ({"CloudProvider": "gce"}, "CloudProvider: 'gce': nodeup makes nodes on aws alone"),
    ({"InstanceGroupRole": "Bastion"}, "a bastion is not a node"),
    ({"InstanceGroupRole": "Master"}, "InstanceGroupRole: 'Master' is not a role; want ControlPlane, APIServer or Node"),
], ids=["cloud", "bastion", "role"])
def test_boot_config(boot, says, worker):
    refuse(worker, CONFIG, says, boot=boot)
    assert worker.requests() == []


@pytest.mark.parametrize("facts, says", [({"distribution": "suse"}, "suse"), ({"version": "10", "codename": "buster"}, "10")])
def test_a_distribution(facts, says, worker):
    worker.facts.update(facts)
    refuse(worker, CONFIG, says)


def test_another_configuration(worker):
    """Both hashes, and of whom it is."""
    other = base64.b64encode(hashlib.sha256(b"x").digest()).decode()
    right = worker.boot()["NodeupConfigHash"]
    refuse(worker, CONFIG, "this is not the NodeupConfig that BootConfig means", other, right, f"https://127.0.0.1:{worker.ports[0]}/",
           "kops.k8s.io/instancegroup", boot={"NodeupConfigHash": other}, flags=("--deadline=5s",))


@pytest.mark.parametrize("status, code", [(400, CONFIG), (401, NET), (404, NET), (500, NET), (503, NET)])
def test_a_status_of_the_controller(status, code, worker):
    worker.control["faults"] = [status] * 1000
    refuse(worker, code, f"https://127.0.0.1:{worker.ports[0]}", "as asked" if status == 400 else str(status), flags=("--deadline=2s",))


def test_a_secret_that_is_not_base64(worker):
    worker.control["secrets"] = {"dockerconfig": "a-secret?"}
    assert "a-secret" not in refuse(worker, INTEGRITY, "kops-controller's answer: a secret that is not base64")


def test_a_clock_an_hour_off(worker):
    worker.control["clock"] = 3600
    refuse(worker, NET, "does not believe who this instance is (403)", "sts.us-test-1.amazonaws.com, region us-test-1", "60 min 0 s",
           "behind the server's", "role", flags=("--deadline=2s",), AWS_SECRET_ACCESS_KEY="another")


def test_another_name_in_the_certificate(worker):
    worker.serve_as("DNS:other.example.com")
    with worker.controller():
        refuse(worker, NET, "127.0.0.1", "certificate", flags=("--deadline=2s",))
    worker.serve_as("DNS:localhost,IP:127.0.0.1")


@pytest.mark.parametrize("fault, code, says", [
    ("huge", NET, "the body has 100000000 bytes, more than the 4194304 allowed"), ("deep", INTEGRITY, "kops-controller's answer: not JSON"),
    ("not-json", INTEGRITY, "kops-controller's answer: not JSON")])
def test_an_answer(fault, code, says, worker):
    worker.control["faults"] = [fault] * 1000
    refuse(worker, code, says, flags=("--deadline=5s",))


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]\n" for i in range(1, 12))


def test_a_bomb_in_the_configuration(worker):
    boot = worker.boot()
    text = (worker.folder / "nodeupconfig.yaml").read_text() + BOMB
    worker.write()
    (worker.folder / "nodeupconfig.yaml").write_text(text)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    worker.boot = lambda: {**boot, "NodeupConfigHash": digest}
    try:
        refuse(worker, CONFIG, "nodeupconfig.yaml")
    finally:
        del worker.boot


def test_a_bomb_in_boot_config(worker):
    worker.write()
    path = worker.folder / "documents/kube_env.yaml"
    path.write_text(path.read_text() + BOMB)
    write, worker.write = worker.write, lambda **_: None
    try:
        refuse(worker, CONFIG, "kube_env.yaml")
    finally:
        worker.write = write


@pytest.mark.parametrize("address", ["203.0.113.123", "fd00:dead:add::"])
def test_a_name_that_stands_for_none_yet(address, worker, tmp_path):
    """Nobody is asked there: it is of documentation, and would swallow what is sent."""
    name = "kops-controller.internal.a.example.com"
    worker.write(ConfigServer={**worker.boot()["ConfigServer"], "servers": [f"https://{name}:3988/"]})
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{address} {name}\n")
    # a host may have no /etc/hosts that another could stand in for
    enter = f"ip link set lo up && ip addr add {address} dev lo && mount -t tmpfs none /etc && cp {tmp_path}/hosts /etc && exec \"$@\""
    argv = ["unshare", "-nm", "sh", "-c", enter, "sh", *worker.command("apply", "--deadline=1s")]
    done = subprocess.run(argv, env=worker.environ(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == NET, done.stderr
    assert f"FAILED https://{name}:3988/: its name is not set up yet: the control plane is still coming up (69)" in done.stderr, done.stderr


def test_an_instance_without_a_role(worker, tmp_path):
    """On a machine of its own: in an image metadata is not asked."""
    root = tmp_path / "root"
    shutil.copytree(worker.folder / "documents", root / "opt")
    shutil.copy(PROGRAM, root / "opt/nodeup")
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')
    (root / "proc").mkdir()
    imds = Imds(tmp_path, **{"placement/availability-zone": "us-west-2a", "instance-type": "m5.large", "local-hostname": "x", "local-ipv4": "10.0.0.1",
                             "mac": "06:11:22:33:44:55"})
    try:
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        argv = ["unshare", "-m", "sh", "-c", enter, str(root), "/opt/nodeup", "plan", "--conf=/opt/kube_env.yaml"]
        env = worker.environ(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, AWS_SESSION_TOKEN=None, AWS_EC2_METADATA_SERVICE_ENDPOINT=imds.url)
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
    finally:
        imds.close()
    assert done.returncode == CONFIG and done.stderr.count("FAILED") == 1, done.stderr
    assert "kops-controller wants to know who this instance is, and there are no credentials: the instance has no role" in done.stderr, done.stderr
    assert worker.requests() == []


@pytest.mark.long
def test_a_server_that_swallows_what_is_sent_is_passed_over(tmp_path):
    """It takes the fifteen seconds of a try, and no more."""
    worker = Worker(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent, worker.controller():
        worker.ports = [silent.getsockname()[1], *worker.ports]
        worker.write()
        done = worker.apply()
    assert done.returncode == OK and len(worker.requests()) == 2, done.stderr
    assert "Connection timed out after 15" in done.stderr, done.stderr
