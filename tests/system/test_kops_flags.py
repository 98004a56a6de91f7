"""What a node of today's kops writes, upstream's programs of each version would take: every flag, and every key of kubelet's configuration."""
import contextlib
import re
import shlex

import pytest
import yaml

import kops
import upstream
from older_kops import render
from test_kops_versions import user_data
from world import OK, ROOT, every

# The first and the last that documents of today's kops may have; those between have the same keys.
MINORS = [32, *(pytest.param(minor, marks=pytest.mark.long) for minor in range(33, 37)), 37]
MANIFEST = re.compile(r"/etc/kubernetes/manifests/kube-(apiserver|controller-manager|scheduler|proxy)\.manifest$")


def set_version(config, minor):
    """As documents of that version have it."""
    text = re.sub(r"v?1\.36\.1\b", lambda match: match[0].replace("1.36.1", f"1.{minor}.1"), yaml.safe_dump(config))
    return yaml.safe_load(text)


def command_lines(node):
    """(program, minor or None, its words), of units and of static pods."""
    text = node.read("/etc/sysconfig/kubelet")
    line = re.search(r'^DAEMON_ARGS=(.*)$', text, re.M)[1]
    yield "kubelet", None, shlex.split(shlex.split(line)[0])
    for path in filter(MANIFEST.search, node.tree()):
        for container in yaml.safe_load(node.read(path))["spec"]["containers"]:
            match = upstream.IMAGE.match(container["image"])
            if match:
                words = [*container.get("command", []), *container.get("args", [])]
                program = next(i for i, word in enumerate(words) if word.endswith("/" + match[1]))
                yield match[1], int(match[2]), words[program + 1:]


def judge(node, minor):
    """The programs that were judged; what one of them does not take fails."""
    seen = set()
    for program, of_image, words in command_lines(node):
        assert of_image in (None, minor), "the version of the documents is that of the images"
        assert words and not upstream.unknown(program, minor, words), f"{program} 1.{minor}"
        seen.add(program)
    written = yaml.safe_load(node.read("/var/lib/kubelet/kubelet.conf"))
    assert not set(written) - upstream.names("kubelet-configuration", minor)
    return seen


@pytest.mark.parametrize("minor", MINORS)
def test_a_worker(minor, tmp_path):
    worker = kops.Worker(tmp_path)
    worker.config = set_version(worker.config, minor)
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK, done.stderr
    assert judge(worker, minor) == {"kubelet", "kube-proxy"}


def older_lines(node, version, minor):
    """Its command lines by program. Keys of kubelet.conf that its kubelet does not know it passes over, with a warning: kops writes those of
    its own library."""
    (node.folder / "documents/kube_env.yaml").write_text(user_data(version, yaml.safe_dump(node.boot())))
    done = node.apply("--deadline=2m")
    assert done.returncode == OK, done.stderr
    lines = {program: words for program, _, words in command_lines(node)}
    for program, words in lines.items():
        assert words and not upstream.unknown(program, minor, words), f"{program} 1.{minor}"
    assert "--tls-cert-file=/srv/kubernetes/kubelet-server.crt" in lines["kubelet"]
    return lines


@pytest.mark.parametrize("version, minor", every(2, [("1.30.4", 25), ("1.30.4", 26), ("1.31.0", 27), ("1.32.4", 31), ("1.33.2", 33), ("1.34.3", 32),
                                                     ("1.35.2", 30), ("1.35.2", 35)]))
def test_a_worker_of_an_older_kops(version, minor, tmp_path):
    worker = kops.Worker(tmp_path)
    worker.config = set_version(worker.config, minor)
    render(worker, version, f"1.{minor}.1")
    with worker.controller():
        assert set(older_lines(worker, version, minor)) == {"kubelet", "kube-proxy"}


@pytest.mark.parametrize("role", ["ControlPlane", "APIServer"])
@pytest.mark.parametrize("version, minor", every(3, [("1.29.2", 24), ("1.30.4", 25), ("1.31.0", 26), ("1.32.4", 27), ("1.33.2", 28), ("1.34.3", 29),
                                                     ("1.35.2", 30)]))
def test_a_control_plane_of_an_older_kops(role, version, minor, tmp_path):
    node = kops.ControlPlane(tmp_path, role=role)
    node.config = set_version(node.config, minor)
    render(node, version, f"1.{minor}.1").write()
    with contextlib.closing(node):
        lines = older_lines(node, version, minor)
    assert set(lines) == ({"kube-apiserver", "kubelet", "kube-proxy"} if role == "APIServer" else set(upstream.PROGRAMS))
    assert "--cloud-config=/etc/kubernetes/in-tree-cloud.config" in lines["kube-apiserver"]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("role", ["ControlPlane", "APIServer"])
def test_a_control_plane(role, minor, tmp_path):
    node = kops.ControlPlane(tmp_path, role=role)
    node.config = set_version(node.config, minor)
    node.write()
    done = node.apply("--deadline=2m")
    node.close()
    assert done.returncode == OK, done.stderr
    want = {"kube-apiserver", "kubelet", "kube-proxy"}
    assert judge(node, minor) == (want if role == "APIServer" else set(upstream.PROGRAMS))


@pytest.mark.parametrize("listed, name, first, last", [
    ("kubelet", "container-runtime", 24, 26), ("kubelet", "config-dir", 28, 37), ("kubelet", "housekeeping-interval", 24, 36),
    ("kubelet-configuration", "containerRuntimeEndpoint", 27, 37), ("kubelet-configuration", "crashLoopBackOff", 32, 37),
    ("kube-apiserver", "cloud-provider", 24, 32), ("kube-apiserver", "authentication-config", 29, 37),
    ("kube-controller-manager", "pod-eviction-timeout", 24, 26), ("kube-scheduler", "lock-object-name", 24, 27),
    ("kube-proxy", "init-only", 29, 37),
])
def test_the_lists_tell_versions_apart(listed, name, first, last):
    assert [minor for minor in range(22, 40) if name in upstream.names(listed, minor)] == list(range(first, last + 1))


# Rows of flags that no list has in a version of theirs: it came later, and kops writes it all the same, or a rule refuses the key. The
# lists of 1.31 and later leave out what is deprecated.
NOT_LISTED = {
    "kube-apiserver": {
        "admission-control": range(31, 38), "apiserver-count": range(31, 38), "authentication-config": range(24, 29),
        "storage-initialization-timeout": range(24, 31)},
    "kube-controller-manager": {
        "concurrent-horizontal-pod-autoscaler-syncs": range(24, 26), "concurrent-job-syncs": range(24, 28)},
    "kube-scheduler": {}, "kube-proxy": {},
    "kubelet": {"housekeeping-interval": range(37, 38), **dict.fromkeys((
        "allow-privileged", "enable-cadvisor-json-endpoints", "enable-custom-metrics", "experimental-allowed-unsafe-sysctls",
        "experimental-nvidia-gpus", "image-minimum-gc-age", "seccomp-profile-root"), range(24, 38))},
    "kubelet-configuration": {"crashLoopBackOff": range(24, 32), "imageMaximumGCAge": range(24, 29), "maxParallelImagePulls": range(24, 27)},
}
TABLES = {"KOPS_KUBE_APISERVER": "kube-apiserver", "KOPS_KCM": "kube-controller-manager", "KOPS_SCHEDULER": "kube-scheduler",
          "KOPS_KUBE_PROXY": "kube-proxy", "KOPS_KUBELET": "kubelet"}
# What a row becomes in kops of any version: a flag, and a place in kubelet's configuration.
NAMES = {True: r'\b(?:FLAG|MOVED|GONE)\("([\w-]+)"|\bLEFT\("[\w.]+", "([\w-]+)"', False: r'(?:\bMOVED\("[\w-]+", |\bLEFT\(|\bCONF\()"(\w+)'}


def rows(listed):
    """(name, the versions that have it) of each row of a table that stands for a list."""
    text = "".join(path.read_text() for path in sorted((ROOT / "nodeup/config/kops").glob("list_*.h")))
    program, is_flag = ("kubelet", False) if listed == "kubelet-configuration" else (listed, True)
    table, = (table for table, of in TABLES.items() if of == program)
    body = re.search(rf"#define {table}\(X\) \\\n(.*?[^\\]\n)", text, re.S)[1]
    for row in re.split(r"(?:^|\n)\tX\(", body):
        name = re.search(NAMES[is_flag], row)
        since, until = (re.search(rf"\.{word} = (\d+)", row) for word in ("since", "until"))
        if name:
            yield next(filter(None, name.groups())), range(max(24, int(since[1]) if since else 0), min(37, int(until[1]) if until else 37) + 1)


@pytest.mark.parametrize("listed", NOT_LISTED)
def test_each_row_of_the_tables_is_upstreams(listed):
    """A key that nobody but the table has is named here."""
    found = dict(rows(listed))
    assert len(found) > 10
    unknown = {name: [minor for minor in minors if name not in upstream.names(listed, minor)] for name, minors in found.items()}
    assert {name: minors for name, minors in unknown.items() if minors} == {name: [*minors] for name, minors in NOT_LISTED[listed].items()}
