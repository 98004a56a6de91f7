"""nodeup collect-logs: one archive for a report, which is whole or not there, and has no secret in it."""

import base64
import gzip
import json
import os
import random
import re
import shutil
import stat
import string
import subprocess
import time

import pytest

import kops
import kubeup
from world import ENV, OK, PROGRAM, REFUSED, SYSTEM

MIB = 1 << 20
PARTS = ["boot.txt", "units.txt", "documents.yaml", "status.txt", "status.json", "runs.json", "timeline.txt", "applied.txt",
         *(f"journal/{unit}.service.txt" for unit in ("kops-configuration", "kubelet", "containerd", "docker", "protokube"))]
USER_DATA = """#!/bin/bash
export OWN_TOKEN=canary-user-data-1
cat > kube_env.yaml << '__EOF_KUBE_ENV'
ClusterName: of.user.data
Assets:
- 0123456789012345678901234567890123456789@https://canary-asset-1:canary-asset-2@mirror.example/x?canary-asset-3=canary-asset-4
__EOF_KUBE_ENV
"""
CLUSTER = {"kind": "Cluster", "metadata": {"name": "canary-name"}, "spec": {
    "kubernetesVersion": "1.8.7", "masterPublicName": "https://canary-url-1:canary-url-2@api.example/?canary-url-3",
    "egressProxy": {"httpProxy": {"host": "canary-proxy-1:canary-proxy-2@proxy.example", "port": 3128}},
    "hooks": [{"name": "own.service", "manifest": "[Service]\nEnvironment=A=canary-hook-1\nExecStart=/bin/echo canary-hook-2\n"}],
    "fileAssets": [{"name": "own", "path": "/etc/own", "content": "canary-file-1\ncanary-file-2\n"}],
    "docker": {"logOpt": ["splunk-token=canary-docker-1"], "version": "1.13.1"},
    "kubelet": {"maxPods": "canary-type-1", "canary-key-1": "canary-key-2", "podManifestPath": "/etc/kubernetes/manifests"}}}
DOCUMENTS = {
    "/user-data": USER_DATA, "s3://bucket/cluster.spec": json.dumps(CLUSTER),
    "s3://bucket/secrets/admin": json.dumps({"Data": base64.b64encode(b"canary-token-1").decode()}),
    "https://canary-place-1:canary-place-2@store.example/x?canary-place-3": "canary-unknown-1",
    "/kube-up": kubeup.text("master", "1.3.10", KUBE_PASSWORD="canary-kubeup-1", KUBELET_TOKEN="canary-kubeup-2",
                            KUBE_PROXY_TOKEN="canary-kubeup-3"),
}


class Node:
    """A root to which nodeup was applied, in which the program itself runs."""

    def __init__(self, root):
        self.root = root
        shutil.copy(PROGRAM, root / "nodeup")
        for name in ("proc", "run/nodeup", "reports", "full", "etc/nodeup/nodeup.d"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def run(self, *flags, user="0", then=":", under=()):
        enter = 'mount -t proc proc "$0/proc" && mount -t tmpfs -o size=4k,mode=777 tmpfs "$0/full" && ' \
                f'chroot --userspec={user}:{user} "$0" /nodeup collect-logs "$@"; code=$?; {then}; exit $code'
        return subprocess.run([*under, "unshare", "-m", "--propagation", "private", "sh", "-c", enter, str(self.root), *flags],
                              env=ENV, capture_output=True, text=True, timeout=120)

    def put(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def keep(self, documents):
        """As a run on a live node keeps them."""
        self.put("var/lib/nodeup/documents.json", json.dumps({
            "version": "1", "key": "s3://kept i-0123", "conf": "/conf/kube_env.yaml", "folders": {}, "missing": [],
            "documents": {name: base64.b64encode(text.encode()).decode() for name, text in documents.items()}}))
        (self.root / "var/lib/nodeup/documents.json").chmod(0o600)
        self.kept = documents

    def fails(self, said):
        """As the last run failed."""
        status = json.loads((self.root / "run/nodeup/status.json").read_text())
        status["error"]["message"] = said
        self.put("run/nodeup/status.json", json.dumps(status))

    def unpack(self, path="reports/x.tar.zst"):
        folder = self.root.parent / "unpacked"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", self.root / path, "-C", folder], check=True)
        return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}

    def report(self, *flags, **kw):
        done = self.run("--output=/reports/x.tar.zst", *flags, **kw)
        assert done.returncode == OK and not done.stderr, done
        return self.unpack()


@pytest.fixture
def node(world):
    world.converge()
    node = Node(world.root)
    node.secrets = world.secrets
    node.keep({"/conf/kube_env.yaml": world.env_text(), **{f"s3://kept/{path.relative_to(world.store)}": path.read_text()
                                                           for path in world.store.rglob("*") if path.is_file()}})
    now = int(time.time())
    node.put("run/nodeup/status.json", json.dumps({
        "schema": 1, "version": "7", "state": "failed", "attempt": 2, "startedUnix": now - 90, "elapsedMs": 1000, "pid": os.getpid(),
        "conf": "/own.yaml", "error": {"kind": "NET", "exitStatus": 69, "notes": [],
                                       "message": "GET https://canary-status-1@host.example/x?sig=canary-status-2: 404"}}))
    node.put("own.yaml", "ClusterName: of.own.yaml\nchannels:\n- canary-own-1\n")
    return node


def plant(node):
    """A canary in every place that may have a secret."""
    node.keep({**node.kept, **DOCUMENTS})
    node.put("etc/nodeup/nodeup.d/own.yaml", "urlRewrites:\n- http://a/=http://u:canary-settings-1@b/\nquietConsole: true\n"
                                            "caBundle: /etc/own.pem\ncanary-settings-2: canary-settings-3\n")
    node.put("var/lib/nodeup/boot.json", json.dumps({
        "version": "1", "flags": ["--conf=https://h/x?sig=canary-flag-1", "--rewrite", "a=canary-flag-2"],
        "environment": {"S3_SECRET_ACCESS_KEY": "canary-variable-1", "AWS_REGION": "us-west-2", "canary-variable-2": "x"},
        "proxyEnvironment": {"https_proxy": "http://me:canary-variable-3@proxy"}}))
    for path in ("etc/kubernetes/manifests/kube-apiserver.manifest", "etc/kubernetes/manifests/etcd.manifest",
                 "var/lib/kubelet/kubeconfig", "srv/kubernetes/known_tokens.csv", "srv/kubernetes/server.key", "etc/environment"):
        node.put(path, "canary-path-1\n")
    unit = node.root / "etc/systemd/system/kubelet.service"
    unit.write_text(unit.read_text() + "Environment=TOKEN=canary-unit-1\nDescription=canary-unit-2\nCanary=canary-unit-3\n"
                                       "ExecStartPre=/bin/echo canary-unit-4\n")


def test_no_secret_is_in_it(node):
    plant(node)
    report = node.report()
    for name, text in report.items():
        assert "canary" not in text, (name, re.findall(r".*canary.*", text))
        assert not [s for s in node.secrets if s in text], name
        assert "PRIVATE KEY" not in text, name
    # and yet it says what it is there for
    for text in ("ClusterName: abc.joshdurbin.net", "ClusterName: of.user.data", "ClusterName: of.own.yaml", "quietConsole: true",
                 "kubernetesVersion: 1.8.7", "podManifestPath: /etc/kubernetes/manifests", 'KUBERNETES_MASTER: "true"',
                 "# https://store.example/x: 16 bytes, of no table's keys"):
        assert text in report["documents.yaml"], (text, report["documents.yaml"])
    assert "\nTOKEN=" not in report["units.txt"] and re.search(r"(?m)^ExecStart=/usr/local/bin/kubelet <\d+ bytes>$", report["units.txt"])
    assert "AWS_REGION=us-west-2\n" in report["boot.txt"] and "S3_SECRET_ACCESS_KEY=<17 bytes>\n" in report["boot.txt"]
    assert re.search(r"(?m)^/usr/local/bin/kubelet: 0755, \d+ bytes$", report["applied.txt"]), report["applied.txt"]
    assert "failed" in report["status.txt"]
    said = json.loads(report["status.json"])
    assert said["state"] == "failed" and said["run"]["error"]["message"] == "GET https://<15 bytes>@host.example/x?<20 bytes> 404", said
    assert json.loads(report["runs.json"]) == []


def test_documents_of_today(node, tmp_path):
    worker = kops.Worker(tmp_path / "today")
    worker.config.update({
        "Hooks": [[{"name": "own", "manifest": "Environment=A=canary-hook-1", "before": ["kubelet.service"]}],
                  [{"name": "other", "execContainer": {"image": "x", "command": ["canary-hook-2"], "environment": {"B": "canary-hook-3"}}}]],
        "FileAssets": [{"name": "own", "path": "/etc/own", "content": "canary-file-1"}], "KeyOfTomorrow": {"canary-key-1": "canary-key-2"}})
    worker.config["Networking"]["egressProxy"] = {"httpProxy": {"host": "canary-proxy-1:canary-proxy-2@proxy.example", "port": 3128}}
    worker.config["containerdConfig"]["registryMirrors"] = {"docker.io": ["https://canary-mirror-1@mirror.example"]}
    worker.write()
    node.keep({"/conf/kube_env.yaml": (worker.folder / "documents/kube_env.yaml").read_text(),
               "https://kops-controller/nodeupconfig.yaml": (worker.folder / "nodeupconfig.yaml").read_text()})
    text = node.report()["documents.yaml"]
    assert "canary" not in text and "CERTIFICATE" not in text, text
    for line in ("CloudProvider: aws", "KubernetesVersion: ", "KubeletConfig:", "- content: '<secret: 13 bytes>'", "path: /etc/own",
                 "<unknown key ", "Hooks: <"):
        assert line in text, (line, text)


def test_a_learnt_secret_is_hidden_where_it_is_quoted(node):
    """A password of the documents in an error of the last run, in its text and in JSON."""
    plant(node)
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    status["error"]["message"] = "user canary-proxy-1 is unknown there"
    node.put("run/nodeup/status.json", json.dumps(status))
    report = node.report()
    assert "canary" not in report["status.txt"] + report["status.json"]
    assert "1 lines not shown" in next(l for l in report["contents.txt"].splitlines() if l.startswith("status.txt"))


def test_where_the_conf_is_is_no_secret(node):
    node.put("var/lib/nodeup/boot.json", json.dumps({"version": "1", "flags": ["--conf=/etc/own.yaml"], "environment": {}}))
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    status["error"]["message"] = "started with --conf=/etc/own.yaml"
    node.put("run/nodeup/status.json", json.dumps(status))
    assert "started with --conf=/etc/own.yaml" in node.report()["status.txt"]


def test_the_archive(node):
    done = node.run()
    name, = (p.name for p in node.root.glob("nodeup-*"))
    assert done.returncode == OK and re.fullmatch(r"nodeup-[\w.-]+-20\d{6}-\d{6}\.tar\.zst", name), (done, name)
    assert stat.S_IMODE((node.root / name).stat().st_mode) == 0o600
    assert done.stdout.splitlines()[-1] == f"wrote /{name}; look at it before you send it"
    report = node.unpack(name)
    told = report["contents.txt"].splitlines()
    assert told[0].startswith("nodeup ") and told[1:] == done.stdout.splitlines()[:len(PARTS)]
    assert [line.split()[0] for line in told[1:]] == PARTS
    # what could not be read, here a journal, is told and not there
    lacks = [line.split()[0] for line in told[1:] if "there is none" in line or " 0 bytes" in line]
    assert sorted(report) == sorted({*PARTS, "contents.txt"} - set(lacks)) and "documents.yaml" in report


def test_the_bounds_are_16_mib_in_all(node):
    scale = {"KiB": 1024, "MiB": MIB}
    bounds = [float(n) * scale[unit] for n, unit in re.findall(r"of at most ([\d.]+) (\w+)", node.run("--list").stdout)]
    assert len(bounds) == len(PARTS) and sum(bounds) <= 16 * MIB, bounds


def test_what_is_too_long_is_cut_and_told(node):
    for number in range(40):
        node.put(f"var/lib/nodeup/runs/{1000 + number}.json", json.dumps(
            {"schema": 1, "state": "ready", "number": number, "version": "7", "startedUnix": 1700000000 + number, "elapsedMs": 1,
             "changed": [f"file /etc/x{i}" for i in range(8000)]}))
    report = node.report()
    runs = json.loads(report["runs.json"])
    assert 1 <= len(runs) < 40 and len(report["runs.json"]) <= 2 * MIB and runs[0]["number"] == 39, len(runs)
    assert "runs.json" in report["contents.txt"] and "older ones are left out" in report["contents.txt"]


def test_list_makes_nothing(node):
    before = sorted(os.listdir(node.root))
    done = node.run("--list")
    assert done.returncode == OK and [line.split()[0] for line in done.stdout.splitlines()] == PARTS, done
    assert sorted(os.listdir(node.root)) == before and not os.listdir(node.root / "reports")


@pytest.mark.parametrize("make", [lambda p: p.write_text("mine"), lambda p: p.symlink_to("nowhere"), lambda p: p.mkdir()],
                         ids=["file", "link", "folder"])
def test_what_is_there_stays(node, make):
    path = node.root / "reports/x.tar.zst"
    make(path)
    before = path.lstat()
    done = node.run("--output=/reports/x.tar.zst")
    assert done.returncode == REFUSED and "'/reports/x.tar.zst' exists, and is not replaced" in done.stderr, done
    assert path.lstat() == before and os.listdir(node.root / "reports") == ["x.tar.zst"]


@pytest.mark.parametrize("error", ["EINVAL", "ENOSYS"])
def test_a_file_system_or_kernel_without_such_a_rename(node, error):
    under = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=renameat2:error={error}"]
    node.report(under=under)
    assert os.listdir(node.root / "reports") == ["x.tar.zst"]
    done = node.run("--output=/reports/x.tar.zst", under=under)
    assert done.returncode == REFUSED, done


def test_a_full_disk_leaves_nothing(node):
    draw = random.Random(7)
    node.put("own.yaml", "ClusterName: x\nTags:\n" + "".join(f"- {''.join(draw.choices(string.ascii_lowercase, k=20))}\n" for _ in range(1000)))
    done = node.run("--output=/full/x.tar.zst", then='ls -A "$0/full"')
    assert done.returncode == SYSTEM and "write '/full/x.tar.zst': No space left on device" in done.stderr, done
    assert done.stdout == "", done


def test_a_missing_folder_is_named(node):
    done = node.run("--output=/nowhere/x.tar.zst")
    assert done.returncode == SYSTEM and "open directory '/nowhere'" in done.stderr, done


def test_an_ordinary_user_gets_what_that_user_may_read(node):
    node.root.chmod(0o755)
    (node.root / "reports").chmod(0o777)
    report = node.report(user="65534")
    assert "of.own.yaml" in report["documents.yaml"] and "abc.joshdurbin.net" not in report["documents.yaml"]
    assert not {*FREE} & {*report}, report.keys()
    told = node.run("--list", user="65534").stdout
    assert "Permission denied" in next(l for l in told.splitlines() if l.startswith("documents.yaml")), told
    assert re.search(r"^\d+ of these only root may read: run as root$", told, re.M), told


@pytest.mark.parametrize("conf", ["/own.yaml", "file:///own.yaml", "own.yaml", "./own.yaml"])
def test_a_conf_that_was_edited_is_shown_and_learnt(node, conf):
    kept = "/own.yaml" if "file" not in conf else conf
    node.keep({**node.kept, kept: "ClusterName: of.before\n"})
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    status["conf"] = conf
    status["error"]["message"] = "it said letmein"
    node.put("run/nodeup/status.json", json.dumps(status))
    node.put("own.yaml", "ClusterName: of.own.yaml\nkeyOfTomorrow: letmein\n")
    report = node.report()
    for text in ("of.before", "of.own.yaml"):
        assert report["documents.yaml"].count(text) == 1, report["documents.yaml"]
    assert report["status.txt"] and "letmein" not in "".join(report.values())


@pytest.mark.parametrize("conf", ["file:///own.yaml", "own.yaml"])
def test_a_conf_as_it_was_typed_is_read(node, conf):
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    node.put("run/nodeup/status.json", json.dumps({**status, "conf": conf}))
    assert "of.own.yaml" in node.report()["documents.yaml"]


def message(encode, script=USER_DATA):
    """User data of two parts: the script, and one that sets a password."""
    part = "--b\nContent-Type: {}\nMIME-Version: 1.0\nContent-Transfer-Encoding: {}\n\n{}\n"
    parts = [("text/x-shellscript", script), ("text/cloud-config", "#cloud-config\npassword: letmein\n")]
    return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" + "".join(
        part.format(kind, "base64" if encode else "7bit", base64.b64encode(text.encode()).decode() if encode else text)
        for kind, text in parts) + "--b--\n"


def packed(text):
    return base64.b64encode(gzip.compress(text.encode())).decode()


@pytest.mark.parametrize("text", [message(False), message(True), packed(message(True)), packed(USER_DATA.replace("canary-user-data-1", "letmein")),
                                  packed("ClusterName: of.user.data\nkeyOfTomorrow: letmein\n"), message(True, "#!/bin/sh\n")],
                         ids=["message", "base64", "packed message", "packed script", "packed document", "message without it"])
def test_user_data_is_learnt_unpacked_and_whole(node, text):
    node.keep({**node.kept, "imds": text})
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    status["error"]["message"] = "it said letmein"
    node.put("run/nodeup/status.json", json.dumps(status))
    report = node.report()
    assert report["status.txt"] and "letmein" not in "".join(report.values())


FREE = ("status.txt", "status.json", "runs.json", "timeline.txt", "journal/kubelet.service.txt")


LEARNT = [  # what holds the secret, and what else quotes it
    ("etc/nodeup/nodeup.d/own.yaml", "urlRewrites:\n- http://a/=http://u:letmein7x@b/\n", "it said letmein7x"),
    ("etc/nodeup/nodeup.d/own.yaml", "statusURL: https://u:letmein7x@b/\n", "it said letmein7x"),
    ("var/lib/nodeup/kept/7.json", json.dumps({"version": "1", "key": "s3://kept i-0123", "documents": {
        "/x": base64.b64encode(b"keyOfTomorrow: letmein7x\n").decode()}}), "it said letmein7x"),
    ("own.yaml", "masterPublicName: https://u:letmein7x@api.example/\n", "it said letmein7x"),
    ("etc/systemd/system/kubelet.service", "[Service]\nExecStartPre=/bin/echo letmein7x\n", "it said letmein7x"),
    ("etc/systemd/system/kubelet.service", "[Service]\nExecStartPre=/bin/run --token canaries --v=2\n", "it said canaries"),
    ("etc/systemd/system/kubelet.service", "[Service]\nEnvironment=AWS_REGION=us-west-2 TOKEN=letmein7x\n", "it said letmein7x"),
]


@pytest.mark.parametrize("path, text, said", LEARNT)
def test_what_is_hidden_is_learnt(node, path, text, said):
    node.put(path, text)
    node.fails(said)
    report = node.report()
    assert report["status.txt"] and said.split()[-1] not in "".join(report.values())


def test_no_secrets_are_learnt(node):
    """Of user data and of a unit: where their region is."""
    node.keep({**node.kept, "imds": USER_DATA.replace("export ", "export AWS_REGION=us-west-2\nexport ")})
    node.put("etc/systemd/system/kubelet.service", "[Service]\nEnvironment=AWS_REGION=us-west-2 A=b\nExecStart=/bin/run --net=host --v=2\n")
    node.fails("no host in us-west-2")
    assert "no host in us-west-2" in node.report()["status.txt"]


def test_the_timeline_of_the_last_run(node):
    node.put("var/lib/nodeup/runs/001700000000-7-3.json", json.dumps(
        {"schema": 1, "state": "failed", "pid": 7, "startedUnix": 1700000000, "elapsedMs": 2000, "number": 3, "beganMs": 5000, "endedMs": 6000,
         "times": [["file /etc/own", "disk", 10, 900, 0, -1, "failed", "GET https://me:canary@mirror.example/x: 503"]]}))
    text = node.report()["timeline.txt"]
    assert text.startswith("run 3, 2023-11-14 22:13:20, by hand, process 7: failed\n") and "   not known  node is Ready\n" in text
    assert "disk       file /etc/own: GET https://<9 bytes>@mirror.example/x: 503\n" in text and "canary" not in text, text


DAMAGED = json.dumps({"version": "1", "key": "s3://kept i-0123", "documents": {"/own.yaml": "YQ==", "/other": "***"}})


LACKS = {
    "of another node": lambda node: node.put("var/lib/nodeup/documents.json", "{}"),
    "a damaged document": lambda node: node.put("var/lib/nodeup/documents.json", DAMAGED),
    "a damaged one of an earlier run": lambda node: node.put("var/lib/nodeup/kept/7.json", DAMAGED),
    "damaged flags": lambda node: node.put("var/lib/nodeup/boot.json", "{"),
    "no conf": lambda node: (node.root / "own.yaml").unlink(),
    "a folder of settings that leads to itself": lambda node: (folder := node.root / "etc/nodeup/nodeup.d").rmdir() or folder.symlink_to("nodeup.d"),
}


@pytest.mark.parametrize("what", LACKS)
def test_free_text_is_left_out_if_not_all_secrets_are_known(node, what):
    LACKS[what](node)
    report = node.report()
    told = {line.split()[0]: line for line in report["contents.txt"].splitlines()}
    for name in FREE:
        assert name not in report and "left out: not all secrets are known" in told[name], told
    assert "applied.txt" in report


def test_without_documents_the_private_files_teach(node):
    (node.root / "var/lib/nodeup/documents.json").unlink()
    path = re.search(r"(?m)^/(\S+): 0[46]00,", node.report()["applied.txt"])[1]
    (node.root / "reports/x.tar.zst").unlink()
    mode = (node.root / path).stat().st_mode
    (node.root / path).write_text("users:\n- password: letmein\n")
    (node.root / path).chmod(mode)
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    status["error"]["message"] = "it said letmein"
    node.put("run/nodeup/status.json", json.dumps(status))
    report = node.report()
    assert report["status.txt"] and "letmein" not in "".join(report.values())


def test_the_litter_of_a_killed_call_goes(node):
    litter = node.root / "reports/.nodeup-0123456789abcdef"
    litter.write_text("half")
    own = [".nodeup-mine", ".nodeup-0123456789abcdeg", ".nodeup-0123456789abcdef0"]
    for name in own:
        (node.root / "reports" / name).write_text("mine")
    node.report()
    assert sorted(os.listdir(node.root / "reports")) == sorted([*own, "x.tar.zst"])
