"""nodeup validate: what every supported machine would refuse is refused, what some would is told with their names."""

import re

import pytest

from world import CONFIG, OK, PROGRAM, listing, same


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
    assert re.search(r"kube_env\.yaml:\d+:3: Tags: '_awz' has no effect; did you mean '_aws'\?", result.err), result
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
