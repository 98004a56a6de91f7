"""All that is wrong is told at once, by validate, plan and apply: in the documents, of the plan that they make, and of the host."""
import base64
import copy
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import subprocess

import pytest
import yaml

import kops
import kubeup
from kubeup import MASTER, NODE
from world import CONFIG, ENV, INTEGRITY, OK, PROGRAM, SEED, Asset, listing, same

ROLES = [NODE, MASTER]
COMMANDS = ["validate", "plan", "apply"]


def nodeup(*argv):
    return subprocess.run([PROGRAM, *argv], env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def check(code, text, wrong, hidden=()):
    """Each error once, by any command, and nothing that only follows from one."""
    text = re.sub(r"^\s+\d* \|.*\n", "", text, flags=re.M)
    assert code == CONFIG, text
    for words in wrong:
        assert text.count(words) == 1, (words, text)
    for words in hidden:
        assert words not in text, (words, text)


@pytest.mark.parametrize("command", COMMANDS)
def test_of_kops_1_8(world, command):
    """A wrong value in two documents, an asset that is none, and what the plan refuses, twice of one builder."""
    world.edit_store("cluster.spec", lambda t: t.rstrip("\n") + """
  isolateMasters: maybe
  hooks: [{name: kubelet.service, manifest: 'ExecStart=/bin/true'}]
  fileAssets:
  - {name: a, path: /etc/systemd/system/kubelet.service, content: x}
  - {name: b, path: /etc/sysconfig/kubelet, content: x}
""")
    world.edit_store("instancegroup/nodes", lambda t: t.rstrip("\n") + "\n  taints: nothing\n")
    world.assets["kubelet"] = Asset("xyz", world.assets["kubelet"].urls)
    world.write_documents()
    before = listing(world.root)
    done = world.run_argv([str(PROGRAM), "validate", f"--conf={world.conf}"]) if command == "validate" else world.run(command)
    check(done.code, done.err, [
        "isolateMasters: expected true or false, found 'maybe'", "taints: expected a list", "'xyz' is not a digest",
        "hook kubelet.service: the unit is kubelet's", "'/etc/systemd/system/kubelet.service': /etc/systemd/system/kubelet.service is kubelet's",
        "'/etc/sysconfig/kubelet': /etc/sysconfig/kubelet is kubelet's"], ["asked for differently", "no asset kubelet", "more errors: "])
    if command != "apply":
        same(before, listing(world.root))
    assert not (world.root / "etc/systemd/system/kubelet.service").exists()


def spoil(config):
    config.update(SysctlParameters=["kernel.x"], Hooks=[[{"name": "kubelet.service", "manifest": "Type=oneshot"}], []])
    config["KubeletConfig"]["maxPods"] = "many"
    config["containerdConfig"]["version"] = "x"
    config["Assets"]["arm64"] = list(config["Assets"]["amd64"])
    config["Assets"]["amd64"] = [line for line in config["Assets"]["amd64"] if not line.endswith("/kubelet")] + ["no-asset"]
    return ["SysctlParameters[0]: expected a line of sysctl.d(5)", "KubeletConfig.maxPods: expected an integer", "'no-asset'",
            "hook kubelet.service: the unit is kubelet's", "containerdConfig.version: 'x' is not a version"]


@pytest.mark.parametrize("command", COMMANDS)
def test_of_a_worker_of_kops(tmp_path, command):
    """What kops-controller says is asked for once."""
    node = kops.Worker(tmp_path / "node")
    wrong = spoil(node.config)
    with node.controller():
        if command == "validate":
            shutil.copy(node.folder / "nodeupconfig.yaml", node.folder / "documents")
            done = nodeup("validate", f"--conf={node.folder}/documents/kube_env.yaml")
        else:
            done = node.run(command)
            assert len(node.requests()) == 1, node.requests()
    check(done.returncode, done.stderr, wrong, ["no asset kubelet", "expected a list", "more errors: "])
    assert not (node.root / "etc/systemd/system").exists()


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_of_kube_up(tmp_path, command):
    """And the host, which is none of kube-up's."""
    path = tmp_path / "kube_env.yaml"
    path.write_text(kubeup.text(NODE, "1.5.8", ALLOCATE_NODE_CIDRS="True", NETWORK_PROVIDER="flannel",
                                KUBELET_CERT=kubeup.pem("key", "kubelet")))
    (tmp_path / "facts.yaml").write_text("distribution: centos\nversion: '7'\nlocalHostname: a.example\nregion: us-west-2\n")
    (tmp_path / "root").mkdir()
    done = nodeup(command, f"--conf={path}", "--root", tmp_path / "root", "--facts", tmp_path / "facts.yaml")
    check(done.returncode, done.stderr, ["ALLOCATE_NODE_CIDRS: expected one of true", "makes a node of 'flannel'", "KUBELET_CERT: no PEM certificate",
                                         "kube-up made nodes of Debian and Ubuntu, and this is centos"], ["is missing", "is empty", "s3.example"])


def test_more_than_there_is_room_for_is_counted(world):
    world.edit_store("cluster.spec", lambda t: t.rstrip("\n") + "\n  fileAssets:\n" + "".join(
        f"  - {{name: a{i}, path: x{i}, content: x}}\n" for i in range(12)))
    done = world.plan()
    assert done.code == CONFIG and len(re.findall(r"'x\d+' is not an absolute path", done.err)) == 7, done
    assert "and 11 more errors (78)" in done.err and "5 more errors: nodeup validate" in done.err, done


def test_one_error_is_one_line(world):
    world.edit_store("cluster.spec", lambda t: t.rstrip("\n") + "\n  isolateMasters: maybe\n")
    done = world.plan()
    assert done.code == CONFIG and done.err.count("\n") == 1 and "more error" not in done.err, done


# one of each kind: of the reader, of what a program takes, of several values together, and of the plan
def spoil_pods(config):
    config["KubeletConfig"]["maxPods"] = "many"


def spoil_policy(config):
    config["KubeletConfig"]["cpuManagerPolicy"] = "some"


def spoil_shutdown(config):
    config["KubeletConfig"].update(shutdownGracePeriod="1s", shutdownGracePeriodCriticalPods="2s")


def spoil_hook(config):
    config["Hooks"] = [[{"name": "kubelet.service", "manifest": "Type=oneshot"}], []]


def spoil_asset(config):
    config["Assets"]["amd64"] = [*config["Assets"]["amd64"], "no-asset"]


SPOILED = {spoil_pods: "maxPods: expected an integer", spoil_policy: "cpuManagerPolicy: expected one of",
           spoil_shutdown: "expected shutdownGracePeriodCriticalPods of at most", spoil_hook: "hook kubelet.service: the unit is kubelet's",
           spoil_asset: "'no-asset'"}


def write(folder, boot, config):
    """Beside each other, and the config as text has its hash."""
    text = yaml.safe_dump(config)
    if "NodeupConfigHash" in boot:
        boot = {**boot, "NodeupConfigHash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}
    (folder / "kube_env.yaml").write_text(yaml.safe_dump(boot))
    (folder / "nodeupconfig.yaml").write_text(text)
    return folder / "kube_env.yaml"


def test_two_of_any_kind_are_told_at_once(tmp_path):
    node = kops.Worker(tmp_path / "node")
    node.ports = [1]
    boot = node.boot()
    node.config["Assets"]["arm64"] = list(node.config["Assets"]["amd64"])
    for pair in itertools.combinations(SPOILED, 2):
        config = copy.deepcopy(node.config)
        for spoil_one in pair:
            spoil_one(config)
        errors = errors_of(write(tmp_path, boot, config))
        assert len(errors) == 2 and all(any(SPOILED[one] in e for e in errors) for one in pair), (pair, errors)
    node.config = config
    spoil_policy(config)
    spoil_shutdown(config)
    with node.controller():
        done = node.run("plan")
    check(done.returncode, done.stderr, [*(SPOILED[one] for one in (*pair, spoil_policy, spoil_shutdown)), "and 3 more errors (78)"])


def paths(t, at=()):
    """Of all values of a document; of a list the first two."""
    for key, value in t.items() if isinstance(t, dict) else enumerate(t[:2]) if isinstance(t, list) else ():
        yield (*at, key)
        yield from paths(value, (*at, key))


def spoiled(document, at):
    """That value in the place of a map of a key that is not known."""
    made = copy.deepcopy(document)
    inner = made
    for key in at[:-1]:
        inner = inner[key]
    was, inner[at[-1]] = inner[at[-1]], {"x": {"y": [1]}}
    return made if not isinstance(was, dict) else None


LOTS = random.Random(os.environ.get("ALL_VALUES_SEED", "1"))


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.long)])
def of(request):
    """So many of the values: `make check` draws a quarter."""
    def take(values):
        values = list(values)
        return values if request.param == "all" else LOTS.sample(values, len(values) // 4)
    return take


def errors_of(conf):
    """No input ends in a signal."""
    done = nodeup("validate", "-o", "json", "--offline", f"--conf={conf}")
    assert done.returncode in (OK, CONFIG), (conf, done)
    return [f["text"] for f in json.loads(done.stdout)["findings"] if f["severity"] == "error"]


@pytest.mark.parametrize("make", [kops.Worker, kops.ControlPlane])
def test_a_wrong_value_is_the_only_one_of_kops(tmp_path, make, of):
    """What the plan says without it is nothing that follows from its absence."""
    node = make(tmp_path / "node")
    node.ports = [1]
    boot, config = node.boot(), node.config
    config["Assets"]["arm64"] = list(config["Assets"]["amd64"])
    for document in (boot, config):
        for at in of(paths(document)):
            made = spoiled(document, at)
            if made is None or at[0] in ("staticManifests", "NodeupConfigHash"):
                continue
            errors = errors_of(write(tmp_path, *((made, config) if document is boot else (boot, made))))
            assert len(errors) == (2 if at == ("Assets",) else 1), (at, errors)
    if make is kops.ControlPlane:
        node.close()


def test_a_wrong_value_is_the_only_one_of_kops_1_8(tmp_path, of):
    shutil.copytree(SEED, tmp_path / "base")
    conf, spec = tmp_path / "kube_env.yaml", tmp_path / "base/cluster.spec"
    env = yaml.safe_load((SEED.parents[2] / "nodes/kube_env.yaml").read_text())
    env["ConfigBase"] = str(tmp_path / "base")
    cluster = yaml.safe_load(spec.read_text())
    for path, document in ((conf, env), (spec, cluster)):
        conf.write_text(yaml.safe_dump(env))
        spec.write_text(yaml.safe_dump(cluster))
        for at in of(paths(document)):
            made = spoiled(document, at)
            path.write_text(yaml.safe_dump(made or document))
            assert not made or len(errors_of(conf)) <= 1, (at, errors_of(conf))


@pytest.mark.parametrize("role", ROLES)
def test_a_wrong_value_is_the_only_one_of_kube_up(tmp_path, role, of):
    text = kubeup.text(role, "1.5.8")
    for key, value in of(kubeup.values(role, "1.5.8").items()):
        for bad in ("{x: 1}", "''"):
            (tmp_path / "kube_env.yaml").write_text(text.replace(f"{key}: '{value}'\n", f"{key}: {bad}\n"))
            errors = errors_of(tmp_path / "kube_env.yaml")
            assert len(errors) == 1 or (bad == "''" and not errors), (key, errors)


def test_a_base_that_is_not_there_is_told_once(world):
    world.env_text = lambda text=world.env_text(): re.sub("ConfigBase: .*", f"ConfigBase: {world.root}/gone", text)
    done = world.run("validate")
    assert done.code == CONFIG and done.err.count("No such file or directory") == 1 and "/gone/cluster.spec" in done.err, done


def test_a_wrong_name_is_told_once(world):
    world.env_text = lambda text=world.env_text(): re.sub("ClusterName: .*", "ClusterName: 'x y'", text)
    done = world.run("validate")
    assert done.code == CONFIG and len(re.findall("error: .*x y", done.err)) == 1, done


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_keys_and_secrets_are_told_with_the_documents(world, command):
    """Each that is wrong, and those that are not there."""
    world.edit_store("cluster.spec", lambda t: t.rstrip("\n") + "\n  isolateMasters: maybe\n")
    issued = world.store / "pki/issued"
    for cert in (issued / "ca").iterdir():
        cert.write_text("no certificate\n")
    for cert in (issued / "kube-proxy").iterdir():
        cert.write_text("none either\n")
    shutil.rmtree(issued / "kubelet")
    (world.store / "secrets/dockerconfig").write_text("{")
    done = world.run(command)
    check(done.code, done.err, ["isolateMasters: expected true or false", "keypair ca: ", "keypair kube-proxy: ", "missing key pair kubelet: ",
                                "secret dockerconfig: not JSON", "and 4 more errors (78)"])


def test_a_wrong_key_hides_no_asset_that_is_not_there(world):
    """What is missing is told as long as no value of the documents is wrong."""
    shutil.rmtree(world.store / "pki/issued/kubelet")
    del world.assets["kubelet"]
    world.write_documents()
    done = world.plan()
    check(done.code, done.err, ["missing key pair kubelet: ", "Assets: no asset kubelet", "and 1 more error (78)"])


def test_nothing_is_said_of_a_store_whose_place_is_wrong(world):
    world.edit_store("cluster.spec", lambda t: re.sub("keyStore: .*", "keyStore: [x]", t))
    shutil.rmtree(world.store / "pki/issued/kubelet")
    done = world.plan()
    check(done.code, done.err, ["keyStore: expected a string"], ["missing", "more error"])


def test_keysets_and_manifests_are_told_with_the_documents(tmp_path):
    node = kops.ControlPlane(tmp_path / "node", SysctlParameters=["kernel.x"])
    node.write()
    node.store("pki/private/service-account/keyset.yaml", "kind: Keyset\nspec: {keys: [{id: '1'}]}\n")
    node.store("pki/private/etcd-clients-ca/keyset.yaml", "{")
    (node.base / "pki/private/etcd-peers-ca-main/keyset.yaml").unlink()
    node.secret("dockerconfig", "no json")
    node.store("manifests/etcd/main-a.yaml", "a\0b")
    done = node.run("plan")
    node.close()
    check(done.returncode, done.stderr, ["SysctlParameters[0]: ", "keyset service-account: ", "keyset etcd-clients-ca: not YAML",
                                         "missing keyset etcd-peers-ca-main: ", "secret dockerconfig: not a JSON object", "a NUL byte in it",
                                         "and 5 more errors (78)"])


def test_a_wrong_secret_of_kops_controller_hides_nothing(tmp_path):
    node = kops.Worker(tmp_path / "node", SysctlParameters=["kernel.x"])
    node.control["secrets"] = {"dockerconfig": base64.b64encode(b"no json").decode()}
    with node.controller():
        done = node.run("plan")
        assert len(node.requests()) == 1, node.requests()
    check(done.returncode, done.stderr, ["secret dockerconfig: not a JSON object", "SysctlParameters[0]: ", "and 1 more error (78)"])


def test_user_data_hide_nothing_of_what_kops_controller_gives(tmp_path):
    node = kops.Worker(tmp_path / "node", SysctlParameters=["kernel.x"])
    with node.controller():
        node.write(APIServerIPs=5)
        done = node.run("plan")
        assert len(node.requests()) == 1, (node.requests(), done)
    check(done.returncode, done.stderr, ["APIServerIPs: expected a list", "SysctlParameters[0]: ", "and 1 more error (78)"])


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_wrong_bytes_of_templates_hide_nothing(tmp_path, command):
    """And are not hidden; a value that is wrong first decides the status."""
    named = kubeup.named(kubeup.templates("1.5.8"), tmp_path) | {"SALT_TAR_HASH": "3" * 40}
    (tmp_path / "facts.yaml").write_text("distribution: centos\nversion: '7'\nlocalHostname: a.example\nregion: us-west-2\n")
    (tmp_path / "root").mkdir()
    for more, code in (({}, INTEGRITY), ({"KUBELET_CERT": kubeup.pem("key", "kubelet")}, CONFIG)):
        path = tmp_path / "kube_env.yaml"
        path.write_text(kubeup.text(NODE, "1.5.8", **named, **more))
        done = nodeup(command, "--offline", f"--conf={path}", "--root", tmp_path / "root", "--facts", tmp_path / "facts.yaml")
        wrong = ["wrong content", "kube-up made nodes of Debian and Ubuntu, and this is centos", *(["KUBELET_CERT: no PEM"] if more else [])]
        assert done.returncode == (INTEGRITY if command == "validate" else code), done
        check(CONFIG, done.stderr, wrong, ["has no 'kubernetes/", "s3.example"])


@pytest.mark.parametrize("command", COMMANDS)
def test_settings_of_a_document_hide_nothing(tmp_path, command):
    """Each of them, with what the plan refuses."""
    node = kops.Worker(tmp_path / "node")
    spoil_hook(node.config)
    with node.controller():
        node.write(mirrors=["x", "y"], caBundle="certs", accept=[[]])
        if command == "validate":
            shutil.copy(node.folder / "nodeupconfig.yaml", node.folder / "documents")
            done = nodeup("validate", f"--conf={node.folder}/documents/kube_env.yaml")
        else:
            done = node.run(command)
            assert node.requests().count("200 ") == 1, node.requests()
    check(done.returncode, done.stderr, ["mirrors[0]: wanted FROM=TO", "mirrors[1]: wanted FROM=TO", "caBundle: 'certs'", "accept[0]: expected a text",
                                         SPOILED[spoil_hook]])
