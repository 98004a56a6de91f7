"""nodeup diff: what other documents would change, told from the documents alone."""

import hashlib
import json
import re
import subprocess

import pytest
import yaml

import kubeup
from kops import Worker
from test_kubeup_node import Machine
from test_plan import tasks
from world import Asset, CONFIG, ENV, KUBELET, OK, PENDING, PROGRAM, USAGE, tree


def diff(old, new, *flags, env=None):
    for node in (old, new):
        node.write_documents()
    return new.run_argv([str(PROGRAM), "diff", f"--facts={new.facts_file}", *flags, str(old.conf), str(new.conf)], env)


@pytest.fixture
def pair(make_world):
    """Two sets of documents of one node; assets are the same bytes at the same places."""
    old, new = make_world("old"), make_world("new")
    new.assets, new.protokube = dict(old.assets), old.protokube
    return old, new


def pods(text):
    return text.replace("cgroupRoot: /\n", "cgroupRoot: /\n    maxPods: 7\n")


def test_nothing_changes(pair):
    result = diff(*pair)
    assert result.code == OK and re.match(r"No changes\. \d+ tasks, 0 to change$", result.out.splitlines()[-1]), result


def test_folders_of_documents(pair):
    old, new = pair
    new.edit_store("cluster.spec", pods)
    whole = diff(old, new)
    folders = new.run_argv([str(PROGRAM), "diff", f"--facts={new.facts_file}", str(old.conf.parent), str(new.conf.parent)])
    assert folders.code == whole.code == PENDING and folders.out == whole.out, folders


def test_a_flag_of_kubelet(pair):
    old, new = pair
    new.edit_store("cluster.spec", pods)
    old.write_documents()
    new.write_documents()
    before = tree(old.folder), tree(new.folder)
    result = diff(old, new)
    assert result.code == PENDING, result
    assert {t[:2] for t in tasks(result)} == {("change", "file /etc/sysconfig/kubelet"), ("change", "unit kubelet.service")}
    assert "    + --max-pods=7" in result.out.splitlines(), result
    assert result.out.splitlines()[-1] == "restarts: kubelet.service; pods stay", result
    assert (tree(old.folder), tree(new.folder)) == before, "something was written"
    # and back
    result = diff(new, old)
    assert "    - --max-pods=7" in result.out.splitlines(), result


def test_a_client_of_docker_ends_with_it(make_world):
    old, new = make_world("old", role="master"), make_world("new", role="master")
    new.assets, new.protokube = dict(old.assets), old.protokube
    new.edit_store("cluster.spec", lambda text: text.replace("logLevel: warn", "logLevel: error"))
    result = diff(old, new)
    assert result.out.splitlines()[-1].startswith("restarts: docker.service, protokube.service; "), result
    assert json.loads(diff(old, new, "-o", "json").out)["restarts"] == ["docker.service", "protokube.service"]


def test_lines_of_files(pair):
    old, new = pair
    new.edit_store("cluster.spec", pods)
    result = diff(old, new, "--diff")
    assert re.search(r"^\+DAEMON_ARGS=.*--max-pods=7", result.out, re.M), result


def test_an_asset(pair):
    old, new = pair
    new.assets[KUBELET] = Asset(hashlib.sha256(b"another kubelet").hexdigest(), [new.url(KUBELET)])
    result = diff(old, new)
    assert {title for _, title, _ in tasks(result)} >= {f"asset {KUBELET}", "install /usr/local/bin/kubelet",
                                                        "unit kubelet.service"}, result
    assert new.origin.count(new.assets[KUBELET].urls[0]) == 0, "it was fetched"


def test_a_tag_of_an_image(make_world):
    """The same bytes under another name are another image: kubelet's pods ask for it by name."""
    old, new = make_world("old", role="master"), make_world("new", role="master")
    new.assets, new.protokube = dict(old.assets), old.protokube
    assert "image" not in diff(old, new).out
    new.protokube_tag = "1.8.2"
    result = diff(old, new)
    lines = result.out.splitlines()
    assert result.code == PENDING and "+ image protokube:1.8.2: not in the runtime" in lines, result
    assert "= image protokube:1.8.1" in lines[lines.index("left as they are, though the documents no longer name them:"):], result


def test_what_only_the_old_name_stays(pair):
    old, new = pair
    old.edit_store("cluster.spec", lambda text: text + "  fileAssets:\n  - name: motd\n    path: /srv/motd\n    content: hello\n")
    result = diff(old, new)
    lines = result.out.splitlines()
    assert "= file /srv/motd" in lines[lines.index("left as they are, though the documents no longer name them:"):], result
    told = json.loads(diff(old, new, "-o", "json").out)
    assert told["schema"] == 1 and told["before"] == str(old.conf) and told["conf"] == str(new.conf), told
    assert "file /srv/motd" in told["left"], told


def test_no_secret_is_shown(pair):
    old, new = pair
    for path in new.store.glob("secrets/kube"):
        path.write_text(json.dumps({"Data": "c3dvcmRmaXNoLTAwMDk="}))
    for flags in ((), ("--diff",), ("-o", "json")):
        result = diff(old, new, *flags)
        assert "swordfish" not in result.out + result.err, result
        for secret in (*old.find_secrets(), *new.find_secrets()):
            assert secret not in result.out + result.err, "a secret was shown"


@pytest.mark.parametrize("args", [[], ["one"], ["-o", "xml", "a", "b"]])
def test_usage(world, args):
    result = world.run_argv([str(PROGRAM), "diff", *args])
    assert result.code == USAGE and result.failure, result


def test_documents_that_cannot_be_read(pair):
    old, new = pair
    old.write_documents()
    result = new.run_argv([str(PROGRAM), "diff", f"--facts={old.facts_file}", str(old.conf), "/nowhere/kube_env.yaml"])
    assert result.code == CONFIG and "/nowhere/kube_env.yaml" in result.failure, result


def of_kops18(folder, make_world):
    old, new = make_world("old"), make_world("new")
    new.assets, new.protokube = dict(old.assets), old.protokube
    new.edit_store("cluster.spec", pods)
    for node in (old, new):
        node.write_documents()
    return new.facts_file, old.conf, new.conf


def of_kubeup(folder, _):
    m = Machine(folder, kubeup.NODE)
    confs = [folder / f"{name}.yaml" for name in ("one", "two")]
    for conf in confs:
        conf.write_text(kubeup.text(kubeup.NODE, "1.5.8", **{**m.named, "API_SERVERS": conf.stem}))
    (folder / "facts.yaml").write_text(yaml.safe_dump(m.facts))
    return folder / "facts.yaml", *confs


def of_kops(folder, _):
    confs = []
    for pods in (7, 8):
        node = Worker(folder / str(pods), Networking={"cilium": {"ipam": "eni"}}, KubernetesVersion="1.36.1")
        node.config["KubeletConfig"]["maxPods"], node.ports = pods, [3988]
        node.write()
        confs.append(node.folder / "documents/kube_env.yaml")
        confs[-1].with_name("nodeupconfig.yaml").write_text(yaml.safe_dump(node.config))
    return confs[0].with_name("facts.yaml"), *confs


@pytest.mark.parametrize("has_facts", [True, False], ids=["facts", "none"])
@pytest.mark.parametrize("make", [of_kops18, of_kubeup, of_kops])
def test_nothing_of_this_machine_is_looked_at(make, has_facts, tmp_path, make_world):
    facts, *confs = make(tmp_path, make_world)
    known = [f"--facts={facts}"] if has_facts else []
    argv = ["strace", "-f", "-qq", "-o", tmp_path / "calls", "-e", "trace=%file,connect,sendto,sendmsg", PROGRAM, "diff", *known, *confs]
    done = subprocess.run(argv, env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == PENDING, done.stdout + done.stderr
    calls = (tmp_path / "calls").read_text()
    paths = {path for call, path in re.findall(r'(\w+)\([^"]*"([^"]*)"', calls) if call not in ("execve", "sendto", "sendmsg")}
    # what belongs to the process itself, and what a client needs to reach the servers that documents name
    own = {"", "/", ".", "/proc/self/exe", "/proc/self/statm", "/proc/self/fdinfo", "/etc/localtime", "/etc/resolv.conf", "/etc/hosts"}
    own |= {str(parent) for parent in tmp_path.parents}  # of where the documents lie
    assert {p for p in paths - own if not p.startswith((str(tmp_path.parent), "/etc/ssl/", "/etc/pki/"))} == set(), calls
    assert set(re.findall(r'inet_addr\("([^"]*)"\)', calls)) <= {"127.0.0.1"} and "sun_path" not in calls, calls
