"""Golden cases of kube-up: a document of each version and role, and each option in one of them; a file tree out.

  kubeup/CASE.yaml  every path that is there afterwards: its mode, with `link` its target, and its text, of a long one
                    its sha256

The salt tarball is made of templates of our own (tests/system/kubeup.py).  Manifests and addons are compared as parsed YAML,
everything else byte by byte.  UPDATE=1 writes the files anew: read the difference before you commit it.
"""
import hashlib
import os
import pathlib
import subprocess
import sys

import pytest
import yaml

import test_cases as cases

sys.path.insert(0, str(cases.ROOT / "tests/system"))
import kubeup  # noqa: E402
from kubeup import MASTER, NODE, VERSIONS  # noqa: E402

HERE = cases.HERE / "kubeup"
RELEASES = {
    "jessie": {"distribution": "debian", "version": "8", "codename": "jessie", "systemd": 215, "filesystems": ["ext4", "aufs"]},
    "bookworm": {"distribution": "debian", "version": "12", "codename": "bookworm", "systemd": 252, "filesystems": ["ext4", "overlay"]},
    "noble": {"distribution": "ubuntu", "version": "24.04", "codename": "noble", "systemd": 255, "filesystems": ["ext4", "overlay", "btrfs"]},
}
HOST = {"arch": "amd64", "region": "us-west-2", "availabilityZone": "us-west-2a", "instanceID": "i-0123456789abcdef0",
        "localHostname": "ip-172-20-0-9.us-west-2.compute.internal", "instanceStore": 1}
LONG = 4000
# No archive of ours has the sha1 of kube-up's CNI plugins.
PLAIN = {"NETWORK_PROVIDER": "none"}
REGISTRY = {"ENABLE_CLUSTER_REGISTRY": "true", "CLUSTER_REGISTRY_DISK": "registry", "CLUSTER_REGISTRY_DISK_SIZE": "200GB"}
TESTS = {f"{program}_TEST_{what}": f"--{program.lower()}-{what.lower()}"
         for program in ("KUBELET", "CONTROLLER_MANAGER", "SCHEDULER", "KUBEPROXY", "APISERVER") for what in ("ARGS", "LOG_LEVEL")}


def zipped(kind, name):
    return kubeup.base64.b64encode(kubeup.gzip.compress(kubeup.base64.b64decode(kubeup.pem(kind, name)), mtime=0)).decode()


# CASE: (version, role, release, facts of the host beside, options)
CASES = {f"{version}-{role}": (version, role, "bookworm", {}, {}) for version in VERSIONS for role in (MASTER, NODE)}
CASES |= {
    "1.2.7-node-jessie": ("1.2.7", NODE, "jessie", {}, {"DOCKER_STORAGE": "aufs-nolvm", "EXTRA_DOCKER_OPTS": "--insecure-registry=r.example"}),
    "1.2.7-master-jessie": ("1.2.7", MASTER, "jessie", {}, {}),
    "1.5.8-master-jessie": ("1.5.8", MASTER, "jessie", {}, {}),
    "1.5.8-node-no-store": ("1.5.8", NODE, "noble", {"instanceStore": 0}, {"DOCKER_STORAGE": "overlay"}),
    "1.5.8-node-ebs": ("1.5.8", NODE, "noble", {"instanceStore": 2}, {"DOCKER_STORAGE": "btrfs", "KUBE_AWS_STORAGE": "ebs"}),
    "1.5.8-node-btrfs": ("1.5.8", NODE, "noble", {"instanceStore": 2}, {"DOCKER_STORAGE": "btrfs"}),
    "1.5.8-node-options": ("1.5.8", NODE, "noble", {"processors": 4, "memoryMiB": 16384, "bootDiskGiB": 100}, {
        "reserved": "gke",
        "DOCKER_REGISTRY_MIRROR_URL": "https://mirror.example", "HAIRPIN_MODE": "hairpin-veth", "NODE_LABELS": "a=b", "KUBELET_PORT": "10252",
        "EVICTION_HARD": "memory.available<100Mi", "ENABLE_CUSTOM_METRICS": "true", "FEATURE_GATES": "AllAlpha=true",
        "DOCKER_TEST_LOG_LEVEL": "--log-level=debug", "PREPULL_E2E_IMAGES": "true", "SOFTLOCKUP_PANIC": "true", "AUTO_UPGRADE": "false",
        "KUBE_DOCKER_REGISTRY": "registry.example/k8s", "ENABLE_MANIFEST_URL": "true", "MANIFEST_URL": "https://m.example/x",
        "MANIFEST_URL_HEADER": "k:v", "NON_MASQUERADE_CIDR": "172.16.0.0/12", "API_SERVERS": "master.example", **REGISTRY, **TESTS}),
    "1.5.8-node-gcp": ("1.5.8", NODE, "bookworm", {}, {"LOGGING_DESTINATION": "gcp", "KUBE_IMAGE_TAG": "v1.5.8", "ENABLE_CLUSTER_DNS": "false"}),
    "1.5.8-node-silent": ("1.5.8", NODE, "bookworm", {}, {"ENABLE_NODE_LOGGING": "false", "E2E_STORAGE_TEST_ENVIRONMENT": "true"}),
    "1.4.0-master-options": ("1.4.0", MASTER, "bookworm", {}, {
        "TEST_ETCD_VERSION": "3.0.1", "STORAGE_BACKEND": "", "FEDERATION": "true", "FEDERATION_NAME": "planets", "DNS_ZONE_NAME": "sol.example"}),
    "1.4.12-master-options": ("1.4.12", MASTER, "bookworm", {}, {
        "RUNTIME_CONFIG": "batch/v2alpha1=true", "KUBE_APISERVER_REQUEST_TIMEOUT": "300", "TERMINATED_POD_GC_THRESHOLD": "100",
        "STORAGE_BACKEND": "etcd3", "ETCD_IMAGE": "2.3.7", "ETCD_VERSION": "3.0.1", "INITIAL_ETCD_CLUSTER": "a,b", "NUM_NODES": "2000",
        "ENABLE_RESCHEDULER": "true", "ENABLE_NODE_PROBLEM_DETECTOR": "true", "ENABLE_CLUSTER_MONITORING": "googleinfluxdb",
        "ADMISSION_CONTROL": "NamespaceLifecycle", "KUBE_ADDON_REGISTRY": "registry.example/addons", "FEATURE_GATES": "AllAlpha=true",
        "CLUSTER_IP_RANGE": "10.180.0.0/14", "ALLOCATE_NODE_CIDRS": "false", "INSTANCE_PREFIX": "venus",
        "FEDERATION": "true", "FEDERATIONS_DOMAIN_MAP": "planets=sol.example,moons=sol.example", **REGISTRY, **TESTS}),
    "1.5.8-master-options": ("1.5.8", MASTER, "noble", {}, {
        "KUBELET_APISERVER": "master.example", "ENABLE_CLUSTER_MONITORING": "google", "ETCD_QUORUM_READ": "true",
        "ENABLE_DNS_HORIZONTAL_AUTOSCALER": "true", "DNS_DOMAIN": "mars.local", "DNS_SERVER_IP": "10.0.0.53", "LOGGING_DESTINATION": "gcp",
        "INITIAL_ETCD_CLUSTER_STATE": "existing", "ETCD_CA_KEY": kubeup.pem("key", "ca"), "ETCD_CA_CERT": zipped("crt", "ca"),
        "ETCD_PEER_KEY": kubeup.pem("key", "master"), "ETCD_PEER_CERT": zipped("crt", "master"),
        "KUBECFG_CERT": kubeup.pem("crt", "kubecfg"), "KUBECFG_KEY": kubeup.pem("key", "kubecfg"),
        "SERVICE_CLUSTER_IP_RANGE": "10.128.0.0/16"}),
    "1.5.8-master-bare": ("1.5.8", MASTER, "bookworm", {"instanceStore": 0}, {
        "ENABLE_CLUSTER_DNS": "false", "ENABLE_CLUSTER_UI": "false", "ENABLE_CLUSTER_LOGGING": "false", "ENABLE_CLUSTER_MONITORING": "none",
        "ENABLE_NODE_LOGGING": "false"}),
    "1.3.4-master-alone": ("1.3.4", MASTER, "bookworm", {}, {"ENABLE_CLUSTER_MONITORING": "standalone", "MASTER_IP_RANGE": "10.250.0.0/24"}),
}


def prepare(name, tmp):
    version, role, release, facts, options = CASES[name]
    (tmp / "root").mkdir()
    server = tmp / "kubernetes-server-linux-amd64.tar.gz"
    server.write_bytes(kubeup.server())
    document = kubeup.text(role, version, **{
        **PLAIN, **kubeup.named(kubeup.all_templates(version), tmp), "SERVER_BINARY_TAR_URL": f"file://{server}",
        "SERVER_BINARY_TAR_HASH": hashlib.sha1(server.read_bytes()).hexdigest(), **options})
    (tmp / "kube_env.yaml").write_text(document)
    (tmp / "facts.yaml").write_text(yaml.safe_dump({**HOST, **RELEASES[release], **facts}))


def nodeup(command, tmp, *flags):
    return subprocess.run([cases.NODEUP, command, "--root", tmp / "root", "--facts", tmp / "facts.yaml", "--cache", tmp / "cache",
                           "--conf", tmp / "kube_env.yaml", *flags], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


class Lines(yaml.SafeDumper):
    """Texts line by line."""


Lines.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None))


def is_parsed(path):
    return path.startswith(("etc/kubernetes/manifests/", "etc/kubernetes/addons/")) or path.endswith("/kubeconfig")


def in_order(name, text):
    """Users stand in the order in which their tasks end, which nothing depends on."""
    if name == "etc/shadow":
        return "".join(sorted(text.splitlines(True)))
    return "".join(sorted(text.splitlines(True), key=lambda line: int(line.split(":")[2]))) if name in ("etc/passwd", "etc/group") else text


def look(root, named, longest=LONG):
    """Path to what is there, in the form of the kept files; `named` puts names for what is another at each run."""
    found = {}
    for path in sorted(root.rglob("*")):
        name, info = str(path.relative_to(root)), path.lstat()
        if name.startswith(cases.OWN) or name == "etc/.pwd.lock" or (path.is_dir() and not path.is_symlink()
                                                                     and (info.st_mode & 0o7777, info.st_uid) == (0o755, 0)):
            continue
        if path.is_symlink():
            found[name] = {"link": os.readlink(path)}
            continue
        found[name] = {"mode": "%04o" % (info.st_mode & 0o7777)}
        if info.st_uid or info.st_gid:
            found[name]["owner"] = f"{info.st_uid}:{info.st_gid}"
        if path.is_file():
            text = in_order(name, named(path.read_text()))
            long = len(text) > longest or text.startswith("-----BEGIN")
            found[name] |= {"sha256": hashlib.sha256(text.encode()).hexdigest()} if long else {"text": text}
    return found


@pytest.mark.parametrize("name", CASES)
def test_case(name, tmp_path):
    prepare(name, tmp_path)
    cases.succeed(nodeup("apply", tmp_path))
    compare(name, tmp_path)


def compare(name, tmp):
    tag = hashlib.sha1((tmp / "kubernetes-server-linux-amd64.tar.gz").read_bytes()).hexdigest()[:12]
    found, kept = look(tmp / "root", lambda text: text.replace(tag, "@TAG@")), HERE / f"{name}.yaml"
    if os.environ.get("UPDATE"):
        HERE.mkdir(exist_ok=True)
        kept.write_text(yaml.dump(found, Dumper=Lines, width=500))
    expected = yaml.safe_load(kept.read_text())
    assert sorted(found) == sorted(expected)
    for path, want in expected.items():
        got = found[path]
        if is_parsed(path) and "text" in want:
            got, want = [{**entry, "text": yaml.safe_load(entry["text"])} for entry in (got, want)]
        assert got == want, path


@pytest.mark.parametrize("name", [f"{version}-{role}" for version in VERSIONS for role in (MASTER, NODE)])
def test_second_run_leaves_everything(name, tmp_path):
    prepare(name, tmp_path)
    stamps = []
    for _ in range(2):
        done = nodeup("apply", tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        root = tmp_path / "root"
        stamps.append({str(p): p.lstat().st_ctime_ns for p in root.rglob("*") if not str(p.relative_to(root)).startswith(cases.OWN)})
    assert stamps[0] == stamps[1]
    done = nodeup("plan", tmp_path)
    assert done.returncode == 0 and "No changes" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name, more", [("1.2.0-node", set()), ("1.5.8-node", {"ebtables", "libltdl7"}), ("1.5.8-node-silent", {"ebtables", "libltdl7"}),
                                        ("1.4.0-master", {"ebtables", "libltdl7", "openssl"}),
                                        ("1.2.7-master", {"openssl"}),
                                        ("1.2.7-master-jessie", {"aufs-tools", "docker-engine", "libapparmor1", "libltdl7", "perl", "ntp", "openssl",
                                                                 "python-yaml"}),
                                        ("1.2.7-node-jessie", {"aufs-tools", "docker-engine", "libapparmor1", "libltdl7", "perl", "ntp"})])
def test_packages_of_a_node(name, more, tmp_path):
    """Below a root they are listed."""
    prepare(name, tmp_path)
    done = nodeup("plan", tmp_path, "--all")
    assert done.returncode == 2, done.stdout + done.stderr
    planned = [p for line in done.stdout.splitlines() if line.split()[1:2] == ["package"] for p in line.split(": ")[0].split()[2:]]
    assert set(planned) == {"curl", "apt-transport-https", "nfs-common", "socat", "bridge-utils", "logrotate", "unattended-upgrades"} | more


@pytest.mark.parametrize("version, provider", [("1.4.0", "kubenet"), ("1.5.8", "cni")])
def test_plugins_are_planned(version, provider, tmp_path):
    """By the sha1 that kops knows: none of it is fetched here."""
    CASES["plugins"] = (version, NODE, "bookworm", {}, {"NETWORK_PROVIDER": provider, "NETWORK_POLICY_PROVIDER": "calico"})
    prepare("plugins", tmp_path)
    del CASES["plugins"]
    done = nodeup("plan", tmp_path, "--all", "--offline")
    assert done.returncode == 2, done.stdout + done.stderr
    for name in ("bridge", "dhcp", "flannel", "host-local", "ipvlan", "loopback", "macvlan", "ptp", "tuning", "calico"):
        assert f"install /opt/cni/bin/{name}: absent" in done.stdout
    assert "cni-07a8a28637e97b22eb8dfe710eeae1344f69d16e.tar.gz" in done.stdout and "dir /etc/cni/net.d: absent" in done.stdout
    assert "file /etc/cni/net.d/10-calico.conf: absent" in done.stdout
    assert "file /etc/modules-load.d/kube-up.conf: absent" in done.stdout


@pytest.mark.parametrize("facts, driver", [({}, "overlay2"), ({"dockerFilesystem": "ext4"}, "overlay2"), ({"dockerFilesystem": "btrfs"}, None)])
def test_a_driver_without_its_file_system_is_told(facts, driver, tmp_path):
    version, role, release, _, options = CASES["1.5.8-node-ebs"]
    CASES["driver"] = (version, role, release, facts, options)
    prepare("driver", tmp_path)
    del CASES["driver"]
    done = nodeup("plan", tmp_path, "--diff")
    told = f"docker's storage driver btrfs does not work where docker's directory is, on {facts.get('dockerFilesystem', 'a file system that is not known')}"
    assert done.returncode == 2 and (told in done.stderr) == bool(driver), done.stderr
    assert f" -s {driver or 'btrfs'} " in done.stdout


def test_each_case_is_kept_and_none_else():
    assert {path.stem for path in HERE.glob("*.yaml")} == set(CASES)


def test_each_option_is_in_a_case():
    """Of the schema; but what has no effect on AWS, what is another's business, and what is tested below or in tests/system."""
    fields = (cases.ROOT / "nodeup/config/kubeup/list_keys.h").read_text()
    rows = [line for line in fields.splitlines() if line.startswith('\tX(') and '"' in line and "NOTHING" not in line]
    keys = {line.split('"')[1] for line in rows}
    changed = {key for *_, options in CASES.values() for key in options} | {row[1] for row in kubeup.KEYS}
    rest = {"NETWORK_POLICY_PROVIDER", "ENABLE_CLUSTER_AUTOSCALER"}
    assert {key for key in keys if key.isupper() or "_" in key} - changed - rest == set()
