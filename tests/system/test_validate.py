"""nodeup validate: what every supported machine would refuse is refused, what some would is told with their names."""

import json
import re
import subprocess

import pytest

from world import CONFIG, ENV, INTEGRITY, NET, OK, PROGRAM, USAGE, listing, same


def validate(world, *flags, facts=False):
    """As a build server runs it, which knows nothing of the machines; or with what is known of one."""
    world.write_documents()
    before = listing(world.folder)
    known = [f"--facts={world.facts_file}"] if facts else []
    result = world.run_argv([str(PROGRAM), "validate", f"--conf={world.conf}", *known, *flags])
    same(before, listing(world.folder))
    return result


def spec(world, text):
    world.edit_store("cluster.spec", lambda t: t + text)


def edit_conf(world, old, new):
    world.write_documents()
    text = world.env_text()
    assert old in text
    world.env_text = lambda: text.replace(old, new)


def slip(world):
    edit_conf(world, "Assets:", "Asets:")


def no_kubelet(world):
    del world.assets["kubelet"]


def file_in_the_way(world):
    spec(world, "  fileAssets: [{name: x, path: /etc/systemd/system/kubelet.service, content: x}]\n")


def hook_in_the_way(world):
    spec(world, "  hooks: [{name: kubelet.service, manifest: 'ExecStart=/bin/true'}]\n")


REFUSED = [
    (slip, r"kube_env\.yaml:1:1: unknown key 'Asets'; did you mean 'Assets'\?"),
    (no_kubelet, r"Assets: no asset kubelet, which kubelet needs"),
    (file_in_the_way, r"cluster\.spec:\d+:\d+: fileAssets: .*/etc/systemd/system/kubelet\.service is kubelet's"),
    (hook_in_the_way, r"cluster\.spec:\d+:\d+: hook kubelet\.service: the unit is kubelet's"),
]


@pytest.mark.parametrize("facts", [False, True], ids=["any", "facts"])
@pytest.mark.parametrize("damage, message", REFUSED, ids=[damage.__name__ for damage, _ in REFUSED])
def test_what_every_machine_refuses(world, damage, message, facts):
    assert validate(world, facts=facts).code == OK
    damage(world)
    result = validate(world, facts=facts)
    assert result.code == CONFIG and re.search(message, result.failure) and "valid," not in result.out, result
    assert world.plan().code == CONFIG, "apply takes what validate refuses"


@pytest.mark.parametrize("role", ["nodes", "master"])
def test_keys_and_the_host_are_not_asked_for(role, make_world):
    world = make_world(role, role)
    for path in (world.store / "pki").rglob("*"):
        if path.is_file():
            path.unlink()
    result = validate(world)
    assert result.code == OK and ": valid, " in result.out, result
    assert "warning" not in result.err, result


@pytest.mark.parametrize("command", ["apply", "plan", "validate"])
@pytest.mark.parametrize("old, new, line, near", [
    ("Assets:", "Asets:", 1, "Assets"), ("ClusterName:", "ClusterNam:", None, "ClusterName"),
    ("Tags:", "Tgas:", None, "Tags"), ("InstanceGroupName:", "instancegroupnames:", None, "InstanceGroupName")])
def test_a_key_that_is_one_edit_from_a_known_one_is_an_error(world, command, old, new, line, near):
    edit_conf(world, old, new)
    world.write_documents()
    before = listing(world.folder)
    result = world.run(command, write=False)
    where = line or 1 + [l.startswith(new) for l in world.env_text().splitlines()].index(True)
    assert result.code == CONFIG, result
    assert result.failure.endswith(
        f"kube_env.yaml:{where}:1: unknown key '{new[:-1]}'; did you mean '{near}'? (78)"), result
    same(before, listing(world.folder))


def test_other_unknown_keys_are_warnings(world):
    world.more = "Colour: blue\nprotokubeImg: {}\n"
    spec(world, "  kubeletz: {}\n")
    result = validate(world)
    assert result.code == OK and "unknown key 'Colour'\n" in result.err, result
    assert "unknown key 'protokubeImg'; did you mean 'protokubeImage'?" in result.err, result
    assert "unknown key 'kubeletz'; did you mean 'kubelet'?" in result.err, result


def test_a_feature_gate_and_a_tag_that_nothing_knows(world):
    edit_conf(world, "- _aws", "- _awz")
    world.edit_store("cluster.spec", lambda t: t.replace(
        "    featureGates:\n", "    featureGates:\n      NoSuchGate: 'true'\n      PodPriorty: 'true'\n      CPUManager: 'true'\n"))
    result = validate(world)
    assert result.code == OK, result
    assert re.search(r"kube_env\.yaml:\d+:3: warning: Tags: '_awz' has no effect; did you mean '_aws'\?", result.err), result
    assert re.search(r"unknown key 'kubelet\.featureGates\.NoSuchGate'\n", result.err), result
    assert "unknown key 'kubelet.featureGates.PodPriorty'; did you mean 'PodPriority'?" in result.err, result
    assert "CPUManager" not in result.err, result


@pytest.mark.parametrize("gate, known", [
    ("NoDaemonSetScheduler", True), ("ScheduleDaemonSetPods", False),  # 1.11 renamed it
    ("StreamingProxyRedirects", True), ("ValidateProxyRedirects", False),  # 1.12
    ("EnableAggregatedDiscoveryTimeout", False),  # 1.16
    ("AffinityInAnnotations", True), ("VolumeSubpath", True), ("RunAsGroup", True)])
def test_a_feature_gate_of_a_later_version(world, gate, known):
    world.edit_store("cluster.spec", lambda t: t.replace("    featureGates:\n", f"    featureGates:\n      {gate}: 'true'\n"))
    result = validate(world)
    assert result.code == OK and f"      {gate}: 'true'\n" in (world.store / "cluster.spec").read_text(), result
    assert (f"unknown key 'kubelet.featureGates.{gate}'" in result.err) != known, result


def test_what_some_machines_refuse_is_told_with_their_names(world):
    """Docker 1.11.2 was made for some of the distributions where kops installs it."""
    world.edit_store("cluster.spec", lambda t: re.sub(r"\n  docker:\n(    .*\n)*", "\n", t) + "  docker: {version: 1.11.2}\n")
    result = validate(world)
    assert result.code == OK, result
    lines = [l for l in result.err.splitlines() if "no container runtime" in l]
    assert len(lines) == 1 and lines[0].startswith("warning: on debian 9 without docker: "), result
    world.facts.update(version='"9"', codename="stretch")
    assert "no container runtime" in validate(world, facts=True).err
    world.facts.update(version='"12"', codename="bookworm")
    assert "warning" not in validate(world, facts=True).err


def test_all_that_is_true_of_some_machines_alone_is_one_line(world):
    world.edit_store("cluster.spec", lambda t: re.sub(r"\n  docker:\n(    .*\n)*", "\n", t) + "  docker: {version: 1.11.2}\n")
    world.more = "packages: [socat]\n"
    result = validate(world)
    assert result.code == OK and result.err.count("warning: ") == 1, result
    assert re.search("warning: on [^:]*coreos[^:]*: packages: socat: .*; on debian 9 without docker: no container runtime|"
                     "warning: on debian 9 without docker: no container runtime.*; on [^:]*coreos[^:]*: packages: socat: ", result.err), result


# All at once: what is wrong in one set of documents, beside each other and without what follows from another error

DOCUMENTS = {
    "kube_env.yaml": """\
Asets: []
ClusterNam: x
InstanceGroupName: node
Tags: _aws
packages: [ok, -bad, --worse]
Colour: blue
""",
    "cluster_spec.yaml": """\
spec:
  kubernetesVersion: 1.30.0
  cloudProvider: gce
  kubelet:
    maxPods: many
    maxPodz: 3
  kubeProxy: {cpuRequest: [], image: {}}
  hooks:
  - name: bad name
    manifest: hunter2
  - manifest: [hunter2]
  fileAssets: {}
  networking: {calicoo: {}}
""",
    "ig_spec.yaml": """\
spec:
  role: Nod
  volumeMounts:
  - {device: /dev/xvdb, filesystem: xfss, path: /a}
""",
}
FOUND = [
    ("kube_env.yaml", 1, 1, "error", "unknown key 'Asets'; did you mean 'Assets'?"),
    ("kube_env.yaml", 2, 1, "error", "unknown key 'ClusterNam'; did you mean 'ClusterName'?"),
    ("kube_env.yaml", 4, 7, "error", "Tags: expected a list of strings, found '_aws'"),
    ("kube_env.yaml", 5, 16, "error", "packages: '-bad' is not a name"),
    ("kube_env.yaml", 5, 22, "error", "packages: '--worse' is not a name"),
    ("kube_env.yaml", 6, 1, "warning", "unknown key 'Colour'"),
    ("cluster_spec.yaml", 2, 22, "error", "Kubernetes 1.30 is not supported; 1.6 to 1.10 are"),
    ("cluster_spec.yaml", 3, 18, "error", "cloudProvider 'gce' is not supported; aws is"),
    ("cluster_spec.yaml", 5, 14, "error", "kubelet.maxPods: expected an integer, found 'many'"),
    ("cluster_spec.yaml", 6, 5, "warning", "unknown key 'kubelet.maxPodz'; did you mean 'maxPods'?"),
    ("cluster_spec.yaml", 7, 27, "error", "kubeProxy.cpuRequest: expected a string, found a list"),
    ("cluster_spec.yaml", 7, 38, "error", "kubeProxy.image: expected a string, found a map"),
    ("cluster_spec.yaml", 9, 5, "error", "hooks[0].name: 'bad name' is not the name of a unit"),
    ("cluster_spec.yaml", 11, 15, "error", "hooks[1].manifest: expected a string, found a list"),
    ("cluster_spec.yaml", 12, 15, "error", "fileAssets: expected a list"),
    ("cluster_spec.yaml", 13, 16, "error", "networking: unknown network 'calicoo'"),
    ("ig_spec.yaml", 2, 9, "error", "role: expected one of Master|Node|Bastion, found 'Nod'"),
]


def check(folder, *flags, changed=None):
    """validate in a folder of its own, with these documents."""
    for name, text in {**DOCUMENTS, **(changed or {})}.items():
        folder.mkdir(exist_ok=True)
        if text is not None:
            (folder / name).write_text(text)
    return subprocess.run([PROGRAM, "validate", "--conf=kube_env.yaml", *flags], cwd=folder, env=ENV,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def places(text):
    return [(f, int(l), int(c), s, t) for f, l, c, s, t in
            re.findall(r"^(\S+?):(\d+):(\d+): (error|warning): (.*)$", text, re.M)]


def test_all_errors_of_all_documents(tmp_path):
    done = check(tmp_path)
    assert done.returncode == CONFIG and done.stdout == "", done
    found = places(done.stderr)
    assert [f for f in found if "calicoo" not in f[4] or f[3] == "error"] == FOUND, done.stderr
    assert done.stderr.endswith("15 errors\n"), done.stderr
    assert "hunter2" not in done.stderr
    # the word that was meant, of a value as of a key
    assert "  do        did you mean calico?\n" in done.stderr and "  do        did you mean Node?\n" in done.stderr


def test_what_is_wrong_in_disks_is_told_beside_the_rest(tmp_path):
    """They are looked at once the version is known, which decides about swap."""
    known = DOCUMENTS["cluster_spec.yaml"].replace("1.30.0", "1.8.4")
    done = check(tmp_path, changed={"cluster_spec.yaml": known})
    assert ("ig_spec.yaml", 4, 37, "error",
            "volumeMounts[0].filesystem: expected one of ext4|xfs|btrfs|swap, found 'xfss'") in places(done.stderr), done.stderr
    assert "did you mean xfs?" in done.stderr


def test_a_mistake_in_each_document_is_told_beside_those_of_assets_and_disks(tmp_path):
    done = check(tmp_path, changed={
        "kube_env.yaml": "ClusterName: x.example\nTags: [_aws]\nAssets: [abc@http://x/kubelet, def@http://x/cni]\npackages: [-bad]\n",
        "cluster_spec.yaml": "spec:\n  kubernetesVersion: 1.8.4\n  networking: {cni: {}}\n  kubelet: {maxPods: many}\n  isolateMasters: maybe\n",
        "ig_spec.yaml": "spec:\n  role: Node\n  volumeMounts:\n  - {device: /dev/xvdb, filesystem: zfs, path: /data}\n"
                        "  - {device: /dev/xvdc, filesystem: ext4, path: /data}\n"})
    wrong = [f for f in places(done.stderr) if f[3] == "error"]
    assert [(f[0], f[1]) for f in wrong] == [("kube_env.yaml", 3), ("kube_env.yaml", 3), ("kube_env.yaml", 4), ("cluster_spec.yaml", 4),
                                             ("cluster_spec.yaml", 5), ("ig_spec.yaml", 4), ("ig_spec.yaml", 5)], done.stderr
    assert "'/data' is mounted twice" in done.stderr, done.stderr


def test_a_document_that_cannot_be_read_hides_no_other(tmp_path):
    done = check(tmp_path, changed={"cluster_spec.yaml": "spec:\n  a: [\n"})
    found = places(done.stderr)
    assert [f[0] for f in found if f[3] == "error"] == ["kube_env.yaml"] * 5 + ["cluster_spec.yaml", "ig_spec.yaml"], done.stderr
    assert "Kubernetes" not in done.stderr, "a version is asked for that could not be read"


def test_a_group_that_is_named_has_a_document(tmp_path):
    """Without it the node would lack the group's labels and taints."""
    files = {"cluster_spec.yaml": "spec:\n  kubernetesVersion: 1.8.4\n", "ig_spec.yaml": None}
    for name in ("", "InstanceGroupName: nodes\n"):
        done = check(tmp_path, changed={**files, "kube_env.yaml": f"ClusterName: x.example\n{name}Tags: [_aws]\n"})
        found = [f for f in places(done.stderr) if "ig_spec.yaml" in f[4]]
        assert found == ([("kube_env.yaml", 2, 20, "error", "instance group: open 'ig_spec.yaml': No such file or directory")] if name else []), done.stderr


def test_the_line_and_a_caret(tmp_path):
    lines = check(tmp_path).stderr.splitlines()
    at = lines.index("cluster_spec.yaml:5:14: error: kubelet.maxPods: expected an integer, found 'many'")
    assert lines[at + 1:at + 3] == ["     5 |     maxPods: many", "       |              ^"], lines


@pytest.mark.parametrize("text, line", [
    ("hooks:\n- name: bad name\n  manifest: hunter2\n", 2),
    ("kubelet:\n  maxPods: hunter2   # registryMirrors: x\ndocker: {maxPods: x, registryMirrors: [http://u:hunter2@h], bridge: []}\n", 3),
    ("docker:\n  registryMirrors:\n  - http://u:hunter2@h\n  -\n   - hunter2\n", 5),
    ("egressProxy: {httpProxy: {host: [], x: 'hunter2'}}\nassets:\n  containerRegistry: [hunter2]\n", 3),
    ("kubelet: {cloudProvider: [], x: 'http://user:hunter2@x/'}\n", 1),
    ("hooksz: hunter2\n", 1),
])
def test_no_line_that_may_hold_a_password_is_shown(tmp_path, text, line):
    done = check(tmp_path, changed={"cluster_spec.yaml": text})
    assert any(f[0] == "cluster_spec.yaml" and f[1] == line for f in places(done.stderr)), done.stderr
    shown = [l for l in done.stderr.splitlines() if re.match(r" +\d* \| ", l)]
    assert shown and not any("hunter2" in l for l in shown if "maxPods: hunter2" not in l), done.stderr


def test_a_long_line_is_cut_around_the_place(tmp_path):
    done = check(tmp_path, changed={"ig_spec.yaml": "{nodeLabels: {a: " + "é" * 200 + "}, role: []}\n"})
    shown = re.search(r"^     1 \| (.*)\n       \| ( *)\^$", done.stderr, re.M)
    assert len(shown[1].encode()) <= 100 and shown[1][len(shown[2]):].startswith("[]}"), done.stderr


def test_several_documents(tmp_path, make_world):
    worker, master = make_world("w", "nodes"), make_world("m", "master")
    for world in (worker, master):
        world.write_documents()
    check(tmp_path)
    confs = [f"--conf={path}" for path in (worker.conf, tmp_path / "kube_env.yaml", tmp_path / "none.yaml", master.conf)]
    done = subprocess.run([PROGRAM, "validate", *confs], env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == CONFIG, done
    assert re.findall(r"valid, (\w+) of", done.stdout) == ["worker", "master"], done.stdout
    assert "15 errors" not in done.stderr and done.stderr.endswith("16 errors\n"), done.stderr
    assert "error: configuration: open " in done.stderr, done.stderr
    done = subprocess.run([PROGRAM, "validate", *confs[0::3]], env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == OK and done.stdout.count(": valid, ") == 2, done


def test_json(tmp_path, world):
    done = check(tmp_path, "-o", "json")
    read = json.loads(done.stdout)
    assert done.returncode == CONFIG and done.stderr == "" and read["schema"] == 1, done
    found = [(f.get("file"), f.get("line"), f.get("column"), f["severity"], f["text"]) for f in read["findings"]]
    assert [f for f in found if "calicoo" not in f[4] or f[3] == "error"] == FOUND
    assert read["errors"] == 15 and read["warnings"] == 3 and read["documents"] == [{"conf": "kube_env.yaml", "valid": False}]
    right = json.loads(validate(world, "-o", "json").out)
    assert right["errors"] == 0 and right["documents"][0]["valid"] is True and right["documents"][0]["role"] == "worker", right


def test_annotations_of_github(tmp_path):
    """https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""
    done = check(tmp_path, "-o=github")
    lines = done.stdout.splitlines()
    assert done.returncode == CONFIG and done.stderr == "", done
    assert "::error file=cluster_spec.yaml,line=5,col=14::kubelet.maxPods: expected an integer, found 'many'" in lines
    assert "::warning file=kube_env.yaml,line=6,col=1::unknown key 'Colour'" in lines
    assert "::error file=ig_spec.yaml,line=2,col=9::role: expected one of Master|Node|Bastion, found 'Nod'%0Ado        did you mean Node?" in lines
    assert all(l.startswith(("::error file=", "::warning file=")) for l in lines) and len(lines) == 18, lines


def test_what_signs_of_a_command_are_escaped(tmp_path):
    done = check(tmp_path, "-o=github", changed={"ig_spec.yaml": "role: 'a%0A::error'\n"})
    assert "found 'a%250A::error'" in done.stdout, done.stdout


def test_a_store_that_does_not_answer_is_no_error_of_a_document(world):
    world.write_documents()
    world.env_text = lambda text=world.env_text(): re.sub("ConfigBase: .*", "ConfigBase: http://127.0.0.1:9/x", text) + "Colour: blue\n"
    result = validate(world)
    assert result.code == NET and "FAILED" in result.err and "warning: unknown key 'Colour'" in result.err, result
    read = json.loads(validate(world, "-o", "json").out)
    assert read["errors"] == 1 and "file" not in read["findings"][-1], read


def test_each_builder_has_its_error(world):
    file_in_the_way(world)
    hook_in_the_way(world)
    no_kubelet(world)
    result = validate(world)
    texts = " ".join(text for _, text in result.errors)
    assert result.code == CONFIG and "kubelet.service is kubelet's" in texts and "the unit is kubelet's" in texts, result
    assert "no asset kubelet" in texts, result


WRONG = ["[x]", "{x: {y: z}}", "'\\x01'", "''", "-5", "true", "zzz", "1.30"]


def test_each_key_may_be_wrong(tmp_path):
    """What is gone on with lacks what could not be read: each key in turn, in many ways, and no end but an exit status."""
    good = {"kube_env.yaml": {"ClusterName": "x.example", "Tags": "[_kubernetes_master, _aws]", "Assets": f"[{'a' * 40}@http://x/kubelet]"},
            "cluster_spec.yaml": {"kubernetesVersion": "1.8.4", "networking": "{cni: {}}"},
            "ig_spec.yaml": {"role": "Master"}}
    keys = {name: re.findall(r"^  ([A-Za-z]\w*) ", subprocess.run([PROGRAM, "help", topic], capture_output=True, text=True).stdout, re.M)
            for name, topic in (("cluster_spec.yaml", "cluster"), ("ig_spec.yaml", "instancegroup"), ("kube_env.yaml", "kube_env"))}
    confs = []
    for name, known in keys.items():
        assert len(known) > 5, keys
        for key in known:
            for value in WRONG:
                folder = tmp_path / str(len(confs))
                texts = {n: "".join(f"{k}: {v}\n" for k, v in {**d, **({key: value} if n == name else {})}.items()) for n, d in good.items()}
                check(folder, "-h", changed=texts)
                confs.append(f"--conf={folder}/kube_env.yaml")
    done = subprocess.run([PROGRAM, "validate", "--offline", *confs], capture_output=True, text=True, env=ENV, timeout=300)
    assert done.returncode == INTEGRITY, done.stderr[-2000:]  # of a signature that is required, whatever else is wrong
    assert len(places(done.stderr)) > len(confs) / 2
