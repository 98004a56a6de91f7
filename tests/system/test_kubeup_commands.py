"""Commands on documents of kube-up: what comes after what, and what bake, repair and why do of the same model as for kops."""
import json
import os

import pytest

from kubeup import ADDON_IMAGES, MASTER, NODE
from test_kubeup_node import Machine
from world import NET, OK, PENDING

TARBALL = "kubernetes-server-linux-amd64.tar.gz"
KEYS = [f"file /srv/kubernetes/{name}" for name in ("ca.crt", "server.cert", "server.key", "basic_auth.csv", "known_tokens.csv",
                                                   "abac-authz-policy.jsonl")]
# What kubelet must find when it sees a pod, beside its own program and the pod's image: keys and logs.
BEFORE = {
    (MASTER, "kube-apiserver"): [*KEYS, "file /var/log/kube-apiserver.log"],
    (MASTER, "kube-controller-manager"): [*KEYS[:3], "file /var/log/kube-controller-manager.log"],
    (MASTER, "kube-scheduler"): ["file /var/log/kube-scheduler.log"],
    (NODE, "kube-proxy"): ["file /var/log/kube-proxy.log"],
    (MASTER, "etcd"): ["file /var/log/etcd.log"], (MASTER, "etcd-events"): ["file /var/log/etcd-events.log"],
}


def tasks_of(machine, word, status=OK):
    done = machine.run("why", word, "-o", "json")
    assert done.returncode == status, done.stdout + done.stderr
    return {task["task"]: task for task in json.loads(done.stdout)["tasks"]}


def converged(tmp_path, role, **changes):
    m = Machine(tmp_path, role, **changes)
    done = m.run()
    assert done.returncode == OK, done.stderr
    return m


@pytest.mark.parametrize("role, pod", BEFORE)
def test_a_pod_comes_after_what_it_needs(role, pod, tmp_path):
    m = Machine(tmp_path, role)
    task, = tasks_of(m, f"/etc/kubernetes/manifests/{pod}.manifest", PENDING).values()
    image = [f"image gcr.io/google_containers/{pod}:{m.named['SERVER_BINARY_TAR_HASH'][:12]}"] if pod.startswith("kube-") else []
    assert {"install /usr/local/bin/kubelet", *BEFORE[role, pod], *image} - set(task["needs"]) == set()
    # those of others are nothing to it
    assert [need for need in task["needs"] if need.startswith("image ")] == image


def test_kubelet_comes_after_all_pods(tmp_path):
    needs = tasks_of(Machine(tmp_path, MASTER), "kubelet.service")["unit kubelet.service"]["needs"]
    before = {f"file /etc/kubernetes/manifests/{pod}.manifest" for role, pod in BEFORE if role == MASTER}
    before |= {"unit docker.service", "file /var/lib/kubelet/kubeconfig"}
    assert before - set(needs) == set()


def test_the_script_of_addons_comes_after_its_images(tmp_path):
    """It loads those that are there when it starts, and no other."""
    needs = tasks_of(Machine(tmp_path, MASTER, "1.2.7"), "kube-addons.service", PENDING)["unit kube-addons.service"]["needs"]
    assert {"unit docker.service", "install /usr/local/bin/kubectl", *(
        f"install /srv/salt/kube-addons-images/gcr.io~google_containers~{image}.tar" for image in ADDON_IMAGES)} - set(needs) == set()


@pytest.mark.parametrize("role, pod", [(MASTER, "kube-apiserver"), (NODE, "kube-proxy")])
def test_a_pod_stays_while_programs_cannot_be_had(role, pod, tmp_path):
    """kubelet would stop it, and find no image to start the new one of."""
    m = converged(tmp_path, role)
    path = f"etc/kubernetes/manifests/{pod}.manifest"
    before = m.read(path)
    other = {"SERVER_BINARY_TAR_HASH": "4" * 40, "SERVER_BINARY_TAR_URL": "file:///nonexistent/kubernetes-server-linux-amd64.tar.gz"}
    done = m.run(**other)
    assert done.returncode == NET and m.read(path) == before, done.stderr
    done = m.run("plan", **other)
    assert done.returncode == PENDING and f"~ file /{path}" in done.stdout, done.stdout


def test_why_of_programs(tmp_path):
    m = converged(tmp_path, NODE)
    asset = tasks_of(m, TARBALL)[f"asset {TARBALL}"]
    path, line, _ = asset["asked by"].rsplit(":", 2)
    assert "SERVER_BINARY_TAR_URL" in open(path, encoding="utf-8").read().splitlines()[int(line) - 1]
    assert asset["digest"] == "sha1:" + m.named["SERVER_BINARY_TAR_HASH"]
    (m.root / "etc/sysconfig/kubelet").write_text("DAEMON_ARGS=\n")
    task, = tasks_of(m, "/etc/sysconfig/kubelet", PENDING).values()
    assert task["is"].startswith("differs: content differs") and "kubelet.service" in task["restarts"], task


@pytest.mark.parametrize("path,template", [
    ("/etc/sysconfig/kubelet", "kubelet/default"), ("/etc/sysconfig/docker", "docker/docker-defaults"),
    ("/etc/systemd/system/docker-healthcheck.service", "docker/docker-healthcheck.service"),
    ("/etc/systemd/system/kubelet.service", "kubelet/kubelet.service"),
    ("/etc/kubernetes/manifests/kube-proxy.manifest", "kube-proxy/kube-proxy.manifest")])
def test_why_names_the_template_of_a_file(tmp_path, path, template):
    """And the line of the document that names its tarball."""
    m = Machine(tmp_path, NODE)
    task = tasks_of(m, path, PENDING)[f"file {path}"]
    where, made_of = task["asked by"].split(", ")
    conf, line, _ = where.rsplit(":", 2)
    assert "SALT_TAR_URL" in open(conf, encoding="utf-8").read().splitlines()[int(line) - 1], task
    assert made_of.endswith(f"saltbase/salt/{template}"), task
    # what we make without one is asked by the document
    assert "saltbase" not in tasks_of(m, "/etc/sysctl.d/99-salt.conf", PENDING)["file /etc/sysctl.d/99-salt.conf"]["asked by"]


def test_why_shows_no_token(tmp_path):
    m = converged(tmp_path, MASTER)
    for flags in ((), ("-o", "json")):
        done = m.run("why", "/srv/kubernetes/known_tokens.csv", *flags)
        assert done.returncode == OK and "bearer-token-0004" not in done.stdout + done.stderr


DAMAGES = {
    "file /etc/kubernetes/manifests/kube-apiserver.manifest": lambda path: path.write_text("kind: Pod\n"),
    "file /etc/kubernetes/addons/dns/skydns-rc.yaml": lambda path: path.unlink(),
    "file /srv/kubernetes/abac-authz-policy.jsonl": lambda path: path.chmod(0o644),
    "file /etc/systemd/system/kubelet.service": lambda path: path.write_text("[Service]\nExecStart=/bin/true\n"),
    "file /var/lib/kubelet/kubeconfig": lambda path: path.write_text("kind: Config\n"),
    "link /etc/kubernetes/ca.crt": lambda path: path.unlink(),
    "file /etc/sysctl.d/99-salt.conf": lambda path: path.write_text(""),
}


def test_repair_heals_each_damage(tmp_path):
    m = converged(tmp_path, MASTER)
    before = {str(p): (p.lstat().st_mode, p.read_bytes()) for p in m.root.rglob("*") if p.is_file() and "var/lib/nodeup" not in str(p)}
    for title, damage in DAMAGES.items():
        damage(m.root / title.split("/", 1)[1])
    kubelet = m.root / "usr/local/bin/kubelet"
    stamp = kubelet.stat().st_mtime_ns
    kubelet.write_bytes(kubelet.read_bytes().replace(b"kubelet", b"kubelex"))
    os.utime(kubelet, ns=(stamp, stamp))
    done = m.run("repair")
    assert done.returncode == OK, done.stderr
    for title in (*DAMAGES, "install /usr/local/bin/kubelet"):
        assert f"changed {title}:" in done.stderr, done.stderr
    assert {str(p): (p.lstat().st_mode, p.read_bytes()) for p in m.root.rglob("*") if p.is_file() and "var/lib/nodeup" not in str(p)} == before
    done = m.run("repair")
    assert done.returncode == OK and "info    changed " not in done.stderr, done.stderr


def test_repair_hashes_the_programs_again(tmp_path):
    """A bit of the cache that is wrong is not installed."""
    m = converged(tmp_path, NODE)
    cached = m.folder / "cache/sha1" / m.named["SERVER_BINARY_TAR_HASH"]
    stamp, data = cached.stat().st_mtime_ns, bytearray(cached.read_bytes())
    data[len(data) // 2] ^= 1
    cached.write_bytes(data)
    os.utime(cached, ns=(stamp, stamp))
    (m.root / "usr/local/bin/kubelet").unlink()
    done = m.run("repair")
    assert done.returncode == OK, done.stderr
    assert m.read("usr/local/bin/kubelet") == "stands for kubelet\n"


@pytest.mark.parametrize("role", [MASTER, NODE])
def test_bake_takes_the_programs_and_no_identity(role, tmp_path):
    m = Machine(tmp_path, role)
    done = m.run("bake")
    assert done.returncode == OK and "baked 1 objects" in done.stdout, done.stdout + done.stderr
    assert [str(p) for p in m.root.rglob("*") if p.is_file() and "nodeup" not in str(p)] == []
    (m.folder / TARBALL).unlink()
    for command in ("bake", "apply"):
        done = m.run(command, "--offline")
        assert done.returncode == OK, done.stderr
    assert m.read("usr/local/bin/kubelet") == "stands for kubelet\n"
