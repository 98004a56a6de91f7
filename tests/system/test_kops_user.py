"""What users add to a worker of today's kops: hooks, files and disks."""
import base64

import pytest

from kops import AMAZON, DEBIAN, UBUNTU, Worker
from world import CONFIG, OK

UNITS = "/etc/systemd/system/"
HOOK = """\
[Unit]
Description=Kops Hook kops-hook-0
Before=kubelet.service
Requires=containerd.service

[Service]
ExecStartPre=/usr/bin/ctr --namespace k8s.io image pull docker.io/library/busybox:latest
ExecStart=/usr/bin/ctr --namespace k8s.io run --rm --mount type=bind,src=/,dst=/rootfs,options=rbind:rslave \
--mount type=bind,src=/var/run/dbus,dst=/var/run/dbus,options=rbind:rprivate \
--mount type=bind,src=/run/systemd,dst=/run/systemd,options=rbind:rprivate --net-host --privileged \
--env-file /etc/kubernetes/hooks/kops-hook-0.env docker.io/library/busybox:latest kops-hook-0 sh -c "chroot /rootfs true && echo it\\'s"
Type=oneshot

[Install]
WantedBy=multi-user.target
"""
CONTAINER = {"before": ["kubelet.service"], "execContainer": {
    "image": "busybox", "command": ["sh", "-c", "chroot /rootfs true && echo it's"], "environment": {"PASSWORD": "hidden"}}}


def made(folder, facts=DEBIAN, **config):
    """A worker of these keys, and what apply made of it."""
    worker = Worker(folder, **config)
    worker.facts.update(facts)
    return worker, applied(worker)


def applied(worker, *flags):
    with worker.controller():
        return worker.apply("--deadline=20s", *flags)


@pytest.mark.parametrize("facts", [DEBIAN, UBUNTU, AMAZON], ids=["debian", "ubuntu", "amazonlinux"])
def test_hooks_are_units_as_of_kops(facts, tmp_path):
    raw = "[Timer]\nOnBootSec=5\n\n[Install]\nWantedBy=timers.target\n"
    worker, done = made(tmp_path, facts, Hooks=[
        [{"name": "mine", "manifest": "ExecStart=/bin/mine\n"}, {"manifest": "ExecStart=/bin/true"}, {"name": "off", "enabled": False}],
        [CONTAINER, {"name": "mine", "manifest": "ExecStart=/bin/theirs\n"}, {"name": "off", "manifest": "ExecStart=/bin/off\n"},
         {"name": "x.timer", "manifest": raw, "useRawManifest": True}]])
    assert done.returncode == OK, done.stderr
    assert worker.read(UNITS + "kops-hook-0.service") == HOOK
    assert worker.read(UNITS + "mine.service") == "[Unit]\nDescription=Kops Hook mine\n\n[Service]\nExecStart=/bin/mine\n"
    assert worker.read(UNITS + "kops-hook-1-ig.service") == "[Unit]\nDescription=Kops Hook kops-hook-1-ig\n\n[Service]\nExecStart=/bin/true"
    assert worker.read(UNITS + "x.timer") == raw
    tree = worker.tree()
    assert tree["/etc/kubernetes/hooks/kops-hook-0.env"] == ("0600", b"# Written by nodeup for kops-hook-0\nPASSWORD=hidden\n")
    assert UNITS + "multi-user.target.wants/kops-hook-0.service" in tree and UNITS + "timers.target.wants/x.timer" in tree
    assert not [path for path in tree if "/off" in path]
    assert tree[UNITS + "kops-hook-0.service"][0] == "0644" and "hidden" not in done.stdout + done.stderr


def test_variables_of_a_hook_mean_what_they_mean_in_a_unit(tmp_path):
    """A doubled sign is one; what systemd or a line of the file would make another thing of stays where kops has it."""
    worker, done = made(tmp_path, Hooks=[[{"name": "h", "execContainer": {"image": "b", "environment": {
        "A": "5%%$$6", "B": "%H", "C": "two\nlines", "D": "$a b"}}}], None])
    assert done.returncode == OK, done.stderr
    assert worker.read("/etc/kubernetes/hooks/h.env") == "# Written by nodeup for h\nA=5%$6\nD=$a b\n"
    words = " --privileged --env-file /etc/kubernetes/hooks/h.env --env B=%H --env C=two\\x0alines docker.io/library/b:latest h\n"
    assert words in worker.read(UNITS + "h.service")


def test_files_are_those_of_the_documents(tmp_path):
    worker, done = made(tmp_path, FileAssets=[
        {"name": "one", "content": "first\n"},
        {"path": "/opt/deep/two", "content": base64.b64encode(b"\0two").decode(), "isBase64": True, "mode": "0600"},
        {"path": "/opt/deep/three", "content": base64.b64encode(b"three!!").decode().rstrip("="), "isBase64": True, "mode": "755"},
        {"path": "/srv/kubernetes/assets/one", "content": "second\n"}])
    assert done.returncode == OK, done.stderr
    tree = worker.tree()
    assert tree["/srv/kubernetes/assets/one"] == ("0440", b"first\n")
    assert tree["/opt/deep/two"] == ("0600", b"\0two") and tree["/opt/deep/three"] == ("0755", b"three!!")
    for path in ("opt/deep", "srv/kubernetes/assets"):
        assert (worker.root / path).stat().st_mode & 0o7777 == 0o755


def test_a_directory_that_is_there_keeps_its_mode(tmp_path):
    worker = Worker(tmp_path, FileAssets=[{"path": "/root/x", "content": "x"}])
    (worker.root / "root").mkdir(0o700)
    done = applied(worker)
    assert done.returncode == OK and worker.tree()["/root/x"] == ("0440", b"x"), done.stderr
    assert (worker.root / "root").stat().st_mode & 0o7777 == 0o700


def test_a_live_runtime_is_not_restarted_for_a_place_of_others(tmp_path):
    path, line = "/etc/containerd/config.toml", 'imports = ["/etc/containerd/conf.d/*.toml"]\n'
    worker, done = made(tmp_path)
    text = worker.read(path)
    assert done.returncode == OK and text.startswith(line)
    # as a nodeup of before wrote it
    (worker.root / path[1:]).write_text(text.removeprefix(line))
    assert applied(worker).returncode == OK and worker.read(path) == text.removeprefix(line)
    # an agent of the cluster edits it
    (worker.root / path[1:]).write_text(text + "# theirs\n")
    done = applied(worker)
    assert done.returncode == OK and worker.read(path) == text
    assert f"file {path}: content differs; what others add belongs in /etc/containerd/conf.d" in done.stderr


POD = """\
kind: Pod
metadata: {name: mine}
spec:
  containers:
  - name: mine
    command: [/bin/sh, -c, "/usr/local/bin/kube-apiserver --tls-cert-file=/a/b/c --client-ca-file=/ca/x --etcd-cafile=/ca/y 2>&1"]
    volumeMounts: [{mountPath: /ca, name: ca}, {mountPath: /more, name: ca}]
  volumes: [{name: ca, hostPath: {path: /etc/mine}}]
"""


def test_a_pod_of_the_users_own_is_looked_at(tmp_path):
    files = [{"path": "/etc/kubernetes/manifests/mine.yaml", "content": POD}, {"path": "/etc/mine/x", "content": "x"}]
    _, done = made(tmp_path / "a", FileAssets=files)
    assert done.returncode == OK and "mine: --tls-cert-file=/a/b/c: no mount of its pod is for this path" in done.stderr
    assert "mine: --etcd-cafile: /etc/mine/y is not there" in done.stderr and "/etc/mine/x is not" not in done.stderr
    files[0]["content"] = POD.replace("/more", "/ca")
    worker, done = made(tmp_path / "b", FileAssets=files)
    assert done.returncode == CONFIG and worker.tree() == {}
    assert "/etc/kubernetes/manifests/mine.yaml:7:60: pod mine: mounts two volumes at '/ca', and kubelet refuses such a pod" in done.stderr


def test_what_is_gone_from_the_documents_goes(tmp_path):
    hook = {"name": "mine", "manifest": "ExecStart=/bin/mine\n\n[Install]\nWantedBy=multi-user.target\n"}
    worker, done = made(tmp_path, Hooks=[[hook], None], FileAssets=[{"path": "/opt/x", "content": "x"}])
    assert done.returncode == OK and "/opt/x" in worker.tree(), done.stderr
    worker.config.update(Hooks=[None, None], FileAssets=[])
    assert applied(worker, "--prune").returncode == OK
    assert not [path for path in worker.tree() if path.startswith("/opt/x") or "mine" in path]


def test_volumes_are_mounted_by_units_of_their_own(tmp_path):
    worker, done = made(tmp_path, VolumeMounts=[
        {"device": "/dev/xvdf", "path": "/data", "filesystem": "ext4", "mountOptions": ["discard"]}, {"device": "/dev/nvme2n1", "path": "/var/lib/kubelet"}])
    assert done.returncode == OK, done.stderr
    unit = worker.read(UNITS + "data.mount")
    assert "Where=/data\nType=ext4\nOptions=discard,nofail\n" in unit
    assert UNITS + "local-fs.target.wants/data.mount" in worker.tree()
    assert worker.read(UNITS + "kubelet.service.d/20-nodeup-volumes.conf").startswith("[Unit]\nRequiresMountsFor=/data ")
    assert "the number in /dev/nvme2n1 changes from boot to boot; the name that EC2 has for the volume" in done.stderr


def test_an_instance_of_a_warm_pool_is_made_whole_and_not_started(tmp_path):
    worker = Worker(tmp_path, warmPoolImages=["registry.k8s.io/kube-proxy:v1.36.1"])
    worker.facts["targetLifecycleState"] = "Warmed:Stopped"
    assert applied(worker).returncode == OK
    wanted = UNITS + "multi-user.target.wants/kubelet.service"
    tree = worker.tree()
    assert UNITS + "kubelet.service" in tree and wanted not in tree and UNITS + "multi-user.target.wants/containerd.service" in tree
    worker.facts["targetLifecycleState"] = "InService"
    assert applied(worker).returncode == OK
    assert set(worker.tree()) - set(tree) == {wanted}


@pytest.mark.parametrize("config, says", [
    ({"Hooks": [[{"name": "containerd", "manifest": "x"}], None]}, "hook containerd: the unit is containerd's"),
    ({"Hooks": [None, [{"name": "containerd.service", "enabled": False}]]}, "hook containerd.service: the unit is containerd's"),
    ({"Hooks": [[{"name": "../x", "manifest": "x"}], None]}, "Hooks[0][0].name: '../x' is not the name of a unit"),
    ({"FileAssets": [{"path": "/usr/bin/ctr", "content": "x"}]}, "fileAssets: '/usr/bin/ctr': /usr/bin/ctr is containerd's"),
    ({"FileAssets": [{"path": "/etc/containerd/config.toml/x", "content": "x"}]}, "/etc/containerd/config.toml is containerd's"),
    ({"FileAssets": [{"path": "/etc/x", "content": "a-secret?", "isBase64": True}]}, "FileAssets[0].content: no base64"),
    ({"images": {"arm64": [{"hash": "a" * 64, "sources": ["https://assets.example/kube-proxy.tar"]}]}}, "images: expected a list for amd64"),
    ({"VolumeMounts": [{"device": "/dev/xvdf", "path": "/data", "formatOptions": ["-F"]}]}, "VolumeMounts[0]: "),
    ({"VolumeMounts": [{"device": "/dev/xvdf", "path": "/data", "filesystem": "btfs"}]}, "'btrfs' is not a file system of this kernel"),
    ({"FileAssets": [{"path": "/etc/x", "content": "x", "mode": "rw-r--r--"}]}, "FileAssets[0].mode: 'rw-r--r--' is not a mode"),
])
def test_what_cannot_be_is_one_error_and_changes_nothing(config, says, tmp_path):
    worker, done = made(tmp_path, **config)
    assert done.returncode == CONFIG and says in done.stderr, done.stderr
    assert done.stderr.count(says) == 1 and ".yaml:" in done.stderr and "a-secret" not in done.stderr
    assert worker.tree() == {}
