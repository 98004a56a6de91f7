"""What each case writes, a component of that version would take: every flag is one of tests/fake/flags (upstream's own
lists), and kubelet's values go through its stand-in."""
import pathlib
import re
import subprocess
import sys

import pytest

import overlay
import test_coverage as coverage
import test_cases as cases

sys.path.insert(0, str(cases.ROOT / "tests/e2e"))
import labassets  # noqa: E402

MINORS = range(6, 11)
FILES = {"kubelet": "etc/sysconfig/kubelet",
         **{name: "etc/kubernetes/manifests/%s.manifest" % name for name in (
             "kube-proxy", "kube-apiserver", "kube-controller-manager", "kube-scheduler")}}
# Cases that give every field a value: what no version at all, or not theirs, has of it.
NONSENSE = {
    ("every-field-worker", "kubelet"): {"api-servers", "babysit-daemons", "configure-cbr0", "experimental-nvidia-gpus",
                                        "reconcile-cidr"},
}
# and of values
NO_GATE = {"every-field-worker"}


def flags_of(component, minor):
    """The names that 1.minor takes."""
    rows = (line.split() for line in (cases.ROOT / "tests/fake/flags" / component).read_text().splitlines()
            if not line.startswith("#"))
    return {name for name, first, last in rows if int(first) <= minor <= int(last)}


def words_of(tree, component):
    """The command line of a component, without what starts it."""
    _, words, _ = overlay.flag_line(tree.files[FILES[component]].decode())
    return [word for word in words if word]


def minor_of(tree):
    text = b"".join(data for path, data in tree.files.items() if path.endswith(".manifest")).decode()
    found = set(re.findall(r"/kube-[a-z-]+:v1\.(\d+)\.", text)) or {"8"}
    assert len(found) == 1, found
    return int(found.pop())


def refused(component, minor, words):
    known = flags_of(component, minor)
    assert words and all(word.startswith("--") for word in words), words
    return {word[2:].split("=")[0] for word in words} - known


@pytest.fixture(scope="module")
def kubelets(tmp_path_factory):
    """minor -> a stand-in for that version, made when it is asked for."""
    directory, built = tmp_path_factory.mktemp("kubelet"), {}

    def kubelet(minor):
        if minor not in built:
            built[minor] = directory / str(minor)
            labassets.build_kubelet(str(built[minor]), minor)
        return built[minor]
    return kubelet


def run(kubelet, *words):
    return subprocess.run([kubelet, *words, "--help"], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", cases.CASES)
def test_its_version_takes_every_flag(name, kubelets):
    tree = overlay.expected(pathlib.Path(cases.HERE / name))
    minor, seen = minor_of(tree), 0
    assert minor in MINORS
    for component in FILES:
        if FILES[component] not in tree.files:
            continue
        seen += 1
        words = words_of(tree, component)
        assert refused(component, minor, words) == NONSENSE.get((name, component), set()), component
        if component == "kubelet" and name not in NO_GATE:
            done = run(kubelets(minor), *words)
            assert done.returncode == 0, done.stderr
    assert seen or FILES["kubelet"] not in tree.files


# Not warned of: upstream's pages never showed it, so that nobody can say when it went.
UNSURE = {("kube-apiserver", "authorization-rbac-super-user")}
TABLES = {"kubelet": "KUBELET_SPEC", "kube-apiserver": "KUBE_APISERVER_SPEC", "kube-controller-manager": "KCM_SPEC",
          "kube-scheduler": "SCHEDULER_SPEC", "kube-proxy": "KUBE_PROXY_SPEC"}


def test_the_program_knows_which_version_lacks_a_flag():
    """Its table is that of the lists, for all that documents can ask for."""
    ours, theirs = set(), set()
    for component, table in TABLES.items():
        fields = coverage.lists()[table]
        asked = set(re.findall(r'\.flag = "([\w-]+)"', fields))
        for flag, since, until in re.findall(r'\.flag = "([\w-]+)"(?:,\s+\.since = (\d+))?(?:,\s+\.until = (\d+))?', fields):
            ours |= {(component, flag, m) for m in MINORS if not int(since or 0) <= m <= int(until or m)}
        theirs |= {(component, flag, minor) for minor in MINORS for flag in asked - flags_of(component, minor)
                   if (component, flag) not in UNSURE}
    assert len(theirs) > 20 and ours == theirs


@pytest.mark.parametrize("name, version, warned", [
    ("every-field-worker", "1.8.7", NONSENSE["every-field-worker", "kubelet"]),
    ("every-field-worker", "1.6.13", NONSENSE["every-field-worker", "kubelet"] - {"api-servers", "babysit-daemons"}
     | {"docker-disable-shared-pid"}),
    ("v1.9-sections-of-1.8", "1.9.6", set()),
    ("v1.9-sections-of-1.8", "1.10.3", {"require-kubeconfig"}),
    ("every-field-master", "1.6.13", {
        "audit-policy-file", "experimental-encryption-provider-config", "proxy-client-cert-file", "proxy-client-key-file",
        "horizontal-pod-autoscaler-downscale-delay", "horizontal-pod-autoscaler-upscale-delay"}),
])
def test_what_would_not_start_is_told(name, version, warned, tmp_path):
    case = cases.HERE / name
    documents, root = cases.prepare(case, tmp_path)
    spec = overlay.load((documents / "state/cluster.spec").read_text())
    spec["spec"]["kubernetesVersion"] = version
    # refused with 1.6 rather than told of
    (spec["spec"].get("kubeScheduler") or {}).pop("usePolicyConfigMap", None)
    (documents / "state/cluster.spec").write_text(cases.yaml.safe_dump(spec))
    done = cases.apply(case, documents, root, tmp_path)
    assert done.returncode == 0, done.stderr
    minor = version.rsplit(".", 1)[0]
    assert set(re.findall(r"of Kubernetes %s has no flag --([\w-]+), which the documents" % re.escape(minor),
                          done.stderr)) == warned, done.stderr


def test_every_version_is_among_them():
    assert {minor_of(overlay.expected(cases.HERE / name)) for name in cases.CASES} == set(MINORS)


@pytest.mark.parametrize("minor", MINORS)
def test_the_stand_in_has_the_flags_of_its_version(minor, kubelets):
    shown = set(re.findall(r"^      --([\w-]+)", run(kubelets(minor)).stdout, re.M))
    assert shown == flags_of("kubelet", minor)


@pytest.mark.parametrize("minor, flag, fits", [
    (6, "--babysit-daemons=true", True), (7, "--babysit-daemons=true", False),
    (9, "--require-kubeconfig=true", True), (10, "--require-kubeconfig=true", False),
    (8, "--network-plugin-dir=/x/", True), (9, "--network-plugin-dir=/x/", False),
    (6, "--docker-disable-shared-pid=true", False), (7, "--docker-disable-shared-pid=true", True),
    (10, "--docker-disable-shared-pid=true", True), (7, "--fail-swap-on=false", False), (8, "--fail-swap-on=false", True),
])
def test_a_flag_of_another_version_is_refused(minor, flag, fits, kubelets):
    assert bool(refused("kubelet", minor, [flag])) is not fits
    done = run(kubelets(minor), flag)
    assert (done.returncode == 0) is fits, done.stderr
    assert fits or "unknown flag: " + flag.split("=")[0] in done.stderr
