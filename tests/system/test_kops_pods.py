"""Static pods against those that kops' own tests expect, if its source is there: `make check-kops KOPS=DIR`. NodeupConfig of such a test
is not there to read, so it is made of the test's cluster and of the flags that kops gave its programs; what a node sets by itself is left out."""
import functools
import os
import pathlib
import re
import subprocess

import pytest
import yaml

from kops import CA
from test_kops_goldens import clusters, nodes_of  # pylint: disable=unused-import
from world import ROOT, build

KOPS = pathlib.Path(os.environ.get("KOPS") or "/nonexistent")
pytestmark = pytest.mark.skipif(not KOPS.exists(), reason="no source of kops: make check-kops KOPS=DIR")
GOLDENS = "nodeup/pkg/model/tests/golden"
CLUSTERS = "tests/integration/update_cluster"
# builder: where its settings stand, and what documents do not say of them
PROGRAMS = {
    "kube-apiserver": ("list_apiserver.h", "KOPS_KUBE_APISERVER", """client-ca-file encryption-provider-config etcd-cafile etcd-certfile
        etcd-keyfile kubelet-client-certificate kubelet-client-key proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file
        service-account-key-file service-account-signing-key-file tls-cert-file tls-private-key-file authentication-token-webhook-config-file
        cloud-config"""),
    "kube-controller-manager": ("list_kcm.h", "KOPS_KCM", """root-ca-file service-account-private-key-file tls-cert-file tls-private-key-file
        kubeconfig authentication-kubeconfig authorization-kubeconfig cluster-signing-cert-file cluster-signing-key-file flex-volume-plugin-dir
        cloud-config"""),
    "kube-scheduler": ("list_others.h", "KOPS_SCHEDULER", """tls-cert-file tls-private-key-file config authentication-kubeconfig
        authorization-kubeconfig authentication-skip-lookup authentication-tolerate-lookup-failure"""),
    "kube-proxy": ("list_others.h", "KOPS_KUBE_PROXY", "master conntrack-max-per-core kubeconfig oom-score-adj"),
}
OIDC = {"oidc-username-claim": "usernameClaim", "oidc-username-prefix": "usernamePrefix", "oidc-groups-claim": "groupsClaims",
        "oidc-groups-prefix": "groupsPrefix", "oidc-issuer-url": "issuerURL", "oidc-client-id": "clientID",
        "oidc-required-claim": "requiredClaims"}


def show(path):
    return subprocess.run(["git", "-C", KOPS, "show", f"HEAD:{path}"], check=True, capture_output=True, text=True).stdout


@functools.cache
def version():
    return re.search(r'KOPS_RELEASE_VERSION += "([\d.]+)', show("kops-version.go"))[1]


def names(folder):
    found = subprocess.run(["git", "-C", KOPS, "ls-tree", "-r", "--name-only", "HEAD", folder + "/"], check=True, capture_output=True, text=True)
    return found.stdout.splitlines()


def goldens():
    """Those that a test of this kops reads: others are of older ones, and lie there still."""
    if not KOPS.exists():
        return
    tests = "".join(show(p) for p in names("nodeup/pkg/model") if p.endswith("_test.go"))
    for folder, key in re.findall(r'RunGoldenTest\(t, "tests/golden/([^"]+)", "([^"]+)"', tests):
        found = re.fullmatch(r"(kube-\w+(?:-manager)?)(-amd64|-arm64)?", key)
        if found and found[1] in PROGRAMS:
            yield pytest.param(f"{GOLDENS}/{folder}/tasks-{key}.yaml", folder, found[1], (found[2] or "-amd64")[1:], id=f"{folder}-{key}")


@pytest.fixture(scope="module")
def probe():
    return build("kops_plan_probe")


def rows_of(program):
    """flag: (its key, the C type of its member)."""
    file, name, _ = PROGRAMS[program]
    text = (ROOT / "nodeup/config/kops" / file).read_text()
    text = re.search(rf"#define {name}\(X\) (.*?[^\\])\n", text.replace("\\\n", " "), re.S)[1]
    rows = {flag: (key, kind) for kind, key, flag in re.findall(r'X\(([\w *]+), \w+, "(\w+)",\s*FLAG\("([\w-]+)"\)', text)}
    election = (ROOT / "nodeup/config/kops/list_kcm.h").read_text().replace("\\\n", " ")
    rows |= {flag: (key, kind) for kind, key, flag in re.findall(r'X\(([\w *]+), \w+, "(leaderElect\w*)",\s*FLAG\("([\w-]+)"\)', election)}
    return rows


def value_of(kind, text):
    if kind in ("bool", "struct opt_bool"):
        return text == "true"
    if kind in ("int64_t", "struct opt_int"):
        return int(text)
    if kind == "struct strv":
        return text.split(",")
    return dict(pair.split("=", 1) for pair in text.split(",")) if kind == "struct strmap" else text


def settings_of(program, container, own):
    """What documents must have said, so that the program has these flags; and its oidc, which stand elsewhere."""
    rows, oidc, settings = rows_of(program), {}, {}
    for flag, text in own:
        if flag in PROGRAMS[program][2].split():
            continue
        if flag == "oidc-required-claim":
            oidc.setdefault("requiredClaims", {}).update([text.split("=", 1)])
        elif flag in OIDC:
            oidc[OIDC[flag]] = text.split(",") if flag == "oidc-groups-claim" else text
        else:
            key, kind = rows[flag]
            into = settings.setdefault("leaderElection", {}) if key.startswith("leaderElect") else settings
            assert key not in into, f"twice: {flag}"
            into[key] = value_of(kind, re.sub(r"\w+\.etcd\.internal\.[\w.]+:", "127.0.0.1:", text))
    settings["image"] = container["image"].replace("-arm64:", "-amd64:")
    if program == "kube-proxy":
        settings["cpuRequest"] = container["resources"]["requests"]["cpu"]
    return settings, oidc


def flags_of(container, program):
    args = container["args"]
    start = args.index(f"/usr/local/bin/{program}") + 1
    return [tuple(arg[2:].split("=", 1)) for arg in args[start:]]


def documents_of(program, cluster, group, pod, issuers):
    container = pod["spec"]["containers"][0]
    flags = flags_of(container, program)
    settings, oidc = settings_of(program, container, flags[:len(flags) - len(issuers)])
    spec, name = cluster["spec"], cluster["metadata"]["name"]
    role = {"Master": "ControlPlane", "APIServer": "APIServer"}[group["spec"]["role"]]
    authentication = {**spec.get("authentication", {}), **({"oidc": oidc} if oidc else {})}
    api_server = {"API": {"dns": {}, "publicName": spec["masterPublicName"]}, "ClusterDNSDomain": "cluster.local"}
    assets = {arch: [f"{'0' * 64}@https://a.example/kubectl"] for arch in ("amd64", "arm64")}
    config = {"Assets": assets, "ClusterName": name, "KubernetesVersion": re.search(r"\d+\.\d+\.\d+", spec["kubernetesVersion"])[0], "containerdConfig": {},
              "CAs": {"kubernetes-ca": CA}, "KubeletConfig": {}, "configStore": {"keypairs": "s3://a/pki", "secrets": "s3://a/secrets"},
              "ControlPlaneConfig": {name: {"image": "other"} for name in ("KubeControllerManager", "KubeScheduler")},
              "APIServerConfig": api_server, "Networking": {"serviceClusterIPRange": "100.64.0.0/13"}}
    if authentication:
        api_server["Authentication"] = authentication
    if program == "kube-apiserver":
        given = spec.get("kubeAPIServer", {})
        settings |= {key: given[key] for key in ("env", "additionalServiceAccountIssuers") if key in given}
        api_server["KubeAPIServer"] = settings
    elif program == "kube-proxy":
        config["KubeProxy"] = settings
    else:
        config["ControlPlaneConfig"][{"kube-scheduler": "KubeScheduler"}.get(program, "KubeControllerManager")] = settings
    boot = {"CloudProvider": "aws", "ClusterName": name, "ConfigBase": "s3://a/b", "InstanceGroupName": "g", "InstanceGroupRole": role,
            "NodeupConfigHash": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}
    return boot, config


def plan(probe, folder, documents, builder, arch="amd64", manifests=()):
    facts = {"arch": arch, "distribution": "ubuntu", "version": "24.04", "codename": "noble", "instanceID": "i-0123456789abcdef0",
             "localIPv4": "10.0.0.1", "localHostname": "ip-10-0-0-1.ec2.internal"}
    paths = []
    for i, document in enumerate([*documents, facts]):
        paths.append(folder / f"{i}.yaml")
        paths[-1].write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    done = subprocess.run([probe, *paths, builder, *manifests], capture_output=True, text=True, timeout=30, env={"KOPS_VERSION": version()})
    assert done.returncode == 0, done.stderr
    return {f["path"]: f for f in yaml.safe_load(done.stdout) or []}


def manifests_of(cluster, config):
    """URL: the file that has it, of all that its control planes take from the state store."""
    base = config["configStore"]["keypairs"].removesuffix("/pki")
    found = {f"{base}/{m['path']}": f"static-{pathlib.Path(m['path']).stem}" for m in config.get("staticManifests", [])}
    found |= {url: f"etcdmanager-{pathlib.Path(url).stem}" for url in config.get("etcdManifests", [])}
    found |= {url: "channels-kops-channels" for url in [config.get("channelsManifest")] if url}
    return {url: next(cluster.glob(f"data/aws_s3_object_manifests-{name}_*")) for url, name in found.items()}


def with_file(pod, name, path):
    """kops' pod, with a mount of a file that a flag names and none of kops' mounts is for: the README's deviation of a file without one."""
    pod["spec"]["volumes"].append({"hostPath": {"path": path, "type": "File"}, "name": name})
    pod["spec"]["containers"][0]["volumeMounts"].append({"mountPath": path, "name": name, "readOnly": True})


def flag_text(value):
    if isinstance(value, dict):
        return ",".join(sorted(f"{k}={v}" for k, v in value.items()))
    return ",".join(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)


def builder_of(program):
    return program if program in ("kube-apiserver", "kube-proxy") else "control-plane"


def check_flags(program, settings, pod):
    """Each setting that is a flag is one, unless the node knows better; and the flags are sorted."""
    own = flags_of(pod["spec"]["containers"][0], program)
    rows = {key: (flag, kind) for flag, (key, kind) in rows_of(program).items()}
    for key, value in {**settings, **settings.get("leaderElection", {})}.items():
        flag, kind = rows.get(key, (None, None))
        if flag and flag not in PROGRAMS[program][2].split() and kind != "const char *" and not flag.startswith("etcd-servers"):
            assert (flag, flag_text(value)) in own, f"{program} {key}"
    extra = len(settings.get("additionalServiceAccountIssuers", []))
    args = [f"--{flag}={value}" for flag, value in own]
    assert args[:len(args) - extra] == sorted(args[:len(args) - extra])


@pytest.mark.parametrize("path, folder, program, arch", goldens())
def test_each_pod_of_kops_tests(probe, tmp_path, path, folder, program, arch):
    cluster, group = list(yaml.safe_load_all(show(f"{GOLDENS}/{folder}/cluster.yaml")))[:2]
    tasks = {t["path"]: t for t in yaml.safe_load_all(show(path)) if "path" in t}
    manifest = f"/etc/kubernetes/manifests/{program}.manifest"
    want = yaml.safe_load(tasks[manifest]["contents"])
    issuers = cluster["spec"].get("kubeAPIServer", {}).get("additionalServiceAccountIssuers", []) if program == "kube-apiserver" else []
    documents = documents_of(program, cluster, group, want, issuers)
    got = plan(probe, tmp_path, documents, builder_of(program), arch)
    pod = yaml.safe_load(got[manifest]["content"])
    if program == "kube-proxy":
        # kops' tests run its builders alone; the name comes from the program around them
        pod["spec"]["containers"][0]["args"].remove("--hostname-override=i-0123456789abcdef0")
    if "--authentication-config=/etc/kubernetes/authentication-config.yaml" in want["spec"]["containers"][0]["args"]:
        with_file(want, "authentication-config", "/etc/kubernetes/authentication-config.yaml")
    assert pod == want
    has_env = "env" in want["spec"]["containers"][0]
    assert got[manifest]["mode"] == (0o600 if has_env else 0o644)
    log = f"/var/log/{program}.log"
    assert got[log]["mode"] == int(tasks[log]["mode"], 8) == 0o400
    if program == "kube-scheduler":
        config = "/var/lib/kube-scheduler/config.yaml"
        assert yaml.safe_load(got[config]["content"]) == yaml.safe_load(tasks[config]["contents"])
        assert got[config]["mode"] == int(tasks[config]["mode"], 8)


def test_the_control_planes_of_each_cluster(clusters, probe, tmp_path):  # pylint: disable=redefined-outer-name
    """They take the manifests that kops made for them, and no other."""
    n = 0
    for cluster, path in [(c, path) for c in clusters for path, _ in nodes_of(c)]:
        text = path.read_text()
        config = yaml.safe_load(text)
        if config.get("usesLegacyGossip") or "APIServerConfig" not in config or not path.name.startswith("aws_s3") or "aws" not in str(sorted(cluster.glob("data/aws_iam*"))):
            continue
        role = "ControlPlane" if "ControlPlaneConfig" in config else "APIServer"
        boot = {"CloudProvider": "aws", "ClusterName": config["ClusterName"], "ConfigBase": config["configStore"]["keypairs"][:-len("/pki")],
                "InstanceGroupName": "g", "InstanceGroupRole": role, "NodeupConfigHash": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}
        stored = manifests_of(cluster, config)
        arguments = [f"{url}={file}" for url, file in stored.items()]
        files = {}
        for builder in ("kube-apiserver", "control-plane", "manifests") if role == "ControlPlane" else ("kube-apiserver",):
            files |= plan(probe, tmp_path, (boot, text), builder, manifests=arguments)
        pods = {name: yaml.safe_load(f["content"]) for name, f in files.items() if name.endswith(".manifest")}
        pods = {pathlib.Path(name).stem: pod for name, pod in pods.items()}
        api, sections = pods["kube-apiserver"], {"kube-apiserver": config["APIServerConfig"]["KubeAPIServer"]}
        sidecar = next(yaml.safe_load(f.read_text()) for url, f in stored.items() if "healthcheck" in url)
        assert api["spec"]["containers"][1:] == sidecar["spec"]["containers"]
        assert api["spec"]["volumes"][-1:] == sidecar["spec"]["volumes"]
        if role == "ControlPlane":
            sections |= {"kube-controller-manager": config["ControlPlaneConfig"]["KubeControllerManager"],
                         "kube-scheduler": config["ControlPlaneConfig"]["KubeScheduler"]}
            assert len(pods) == 3 + len(stored) - 1
            unit = plan(probe, tmp_path, (boot, text), "protokube").get("/etc/systemd/system/protokube.service", {"content": "--channels= "})
            assert f"--channels={','.join(config.get('channels', []))} " in unit["content"]
            for url in config["etcdManifests"]:
                file = files[f"/etc/kubernetes/manifests/etcd-{pathlib.Path(url).stem}.manifest"]
                assert file["content"] == stored[url].read_text() and file["mode"] == 0o440
        for program, settings in sections.items():
            check_flags(program, settings, pods[program])
        n += 1
    print(f"{n} nodes with an API server")
    assert n > 50
