"""Which kops rendered the documents: one that nodeup does not speak is refused by its name in one line, whatever the role, and a node
that was made of such documents before goes on with them."""
import base64
import gzip
import hashlib
import json
import pathlib
import shutil
import subprocess

import pytest
import yaml

from emulator import Imds
from kops import ADDRESS, INSTANCE, REGION, ControlPlane, Worker
from older_kops import render
from test_kops_documents import BOOT, NODEUP_CONFIG, WORKER
from test_kubeup_documents import validate, write
from world import CONFIG, OK, PROGRAM

READS = "nodeup reads kops 1.6 to 1.8, 1.29 to 1.37"
OLD_ENV = """\
Assets: ["0000000000000000000000000000000000000001@https://h/v1.11.7/kubelet"]
ClusterName: c.example.test
ConfigBase: s3://none/c.example.test
InstanceGroupName: nodes
Tags: [_automatic_upgrades, _aws]
"""
ARCHES = OLD_ENV.replace("Assets: [", "Assets: {amd64: [").replace('"]', '"]}') + "InstanceGroupRole: Node\nUpdatePolicy: automatic\n"
NO_NAME = "".join(line + "\n" for line in WORKER.splitlines() if not line.startswith("ClusterName"))


def user_data(version, document, variable="NODEUP_URL_AMD64"):
    return (f"#!/bin/bash\n\n{variable}=https://artifacts.k8s.io/binaries/kops/{version}/linux/amd64/nodeup\n\n"
            f"cat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n{document}\n__EOF_KUBE_ENV\n")


def only(done):
    """It is all that is said, with the line that it is of."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
    assert len(lines) == 1, done.stderr


@pytest.mark.parametrize("version, document, variable", [
    ("1.4.3", OLD_ENV + "protokubeImage: {source: x}\n", "NODEUP_URL"), ("1.9.0", OLD_ENV, "NODEUP_URL"), ("1.11.1", OLD_ENV, "NODEUP_URL"),
    ("1.21.1", ARCHES, "NODEUP_URL_AMD64"), ("1.25.3", NO_NAME, "NODEUP_URL_AMD64"), ("1.28.0", WORKER, "NODEUP_URL_AMD64"),
    ("1.28.0", BOOT, "NODEUP_URL_ARM64"), ("1.28.0-alpha.2+v1.28.0-3-gab", BOOT, "NODEUP_URL_AMD64"), ("1.38.0", BOOT, "NODEUP_URL_AMD64")],
    ids=["1.4", "1.9", "1.11", "1.21", "1.25", "worker 1.28", "control plane 1.28", "1.28 of a test", "1.38"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "with NodeupConfig"])
def test_user_data_of_another_version(version, document, variable, beside, tmp_path):
    path = write(tmp_path, user_data(version, document, variable))
    if beside:
        write(tmp_path, NODEUP_CONFIG + "docker: {}\nuseless: 1\n", "nodeupconfig.yaml")
    done = validate(path)
    place = f"{path}:3:{len(variable) + 2}"
    assert done.returncode == CONFIG and done.stderr.splitlines()[0] == (
        f"{place}: this is user data of kops {version} ({variable}); {READS}"), done.stderr
    assert "artifacts.k8s.io" not in done.stderr, "its URL may be presigned"
    only(done)


@pytest.mark.parametrize("document, told", [
    (OLD_ENV + "protokubeImage: {name: 'protokube:1.10.0'}\n", "kube_env.yaml of kops 1.10.0 (protokubeImage.name)"),
    (ARCHES, "kube_env.yaml of kops 1.19 to 1.21 (Assets)"), (NO_NAME, "BootConfig of kops 1.22 to 1.26 (no ClusterName)")],
    ids=["1.10", "1.21", "1.25"])
def test_a_document_of_another_version(document, told, tmp_path):
    done = validate(write(tmp_path, document))
    assert done.returncode == CONFIG and f": this is a {told}; {READS}" in done.stderr, done.stderr
    only(done)


def hashed(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return "".join(f"NodeupConfigHash: {digest}\n" if line.startswith("NodeupConfigHash") else line + "\n" for line in WORKER.splitlines())


@pytest.mark.parametrize("more, told", [
    ("docker: {}\n", "1.27 and 1.28 (docker)"), ("useInstanceIDForNodeName: true\n", "1.27 and 1.28 (useInstanceIDForNodeName)")],
    ids=["docker", "1.28"])
def test_a_nodeupconfig_of_another_version(more, told, tmp_path):
    path = write(tmp_path, hashed(NODEUP_CONFIG + more))
    beside = write(tmp_path, NODEUP_CONFIG + more, "nodeupconfig.yaml")
    done = validate(path)
    assert done.returncode == CONFIG and f"this is a NodeupConfig of kops {told}; {READS}" in done.stderr, done.stderr
    only(done)
    write(tmp_path, user_data("1.36.0", hashed(NODEUP_CONFIG + more)))
    done = validate(path)
    assert done.returncode == CONFIG and f"{path}:3:18: this is user data of kops 1.36.0 (NODEUP_URL_AMD64), and {beside}" in done.stderr
    assert f"a NodeupConfig of kops {told}; which of them is right cannot be said" in done.stderr, done.stderr


def test_what_is_spoken_is_named(tmp_path):
    path = write(tmp_path, user_data("1.36.2", WORKER))
    write(tmp_path, NODEUP_CONFIG, "nodeupconfig.yaml")
    done = validate(path)
    assert (done.returncode, done.stdout) == (
        OK, f"{path}: valid, worker of cluster a.example.com, Kubernetes 1.36.1, kops 1.36.2 (by NODEUP_URL_AMD64)\n"), done.stderr
    told = json.loads(validate(path, "-o", "json").stdout)["documents"][0]
    assert (told["kops"], told["kopsKnownBy"]) == ("1.36.2", "NODEUP_URL_AMD64")


def test_plan_says_it(tmp_path):
    worker = Worker(tmp_path / "node")
    conf = worker.folder / "documents/kube_env.yaml"
    with worker.controller():
        done = worker.run("plan")
        assert "documents are of kops 1.37 by its keys" in done.stderr.splitlines(), done.stderr
        conf.write_text(user_data("1.36.2", yaml.safe_dump(worker.boot())))
        done = worker.run("plan")
        assert "documents are of kops 1.36.2 (by NODEUP_URL_AMD64)" in done.stderr.splitlines(), done.stderr
        told = json.loads(worker.run("plan", "-o", "json").stdout)
        assert (told["kops"], told["kopsKnownBy"]) == ("1.36.2", "NODEUP_URL_AMD64")


def test_what_nodeup_config_tells_is_said(tmp_path):
    node = ControlPlane(tmp_path)
    try:
        node.write()
        write(node.folder / "documents", yaml.safe_dump(node.config), "nodeupconfig.yaml")
        done = validate(node.folder / "documents/kube_env.yaml")
        assert done.returncode == OK and done.stdout.endswith(", Kubernetes 1.36.1, kops 1.37 by its keys\n"), done
        assert "documents are of kops 1.37 by its keys" in node.run("plan").stderr
    finally:
        node.close()


def test_a_setting_of_the_machine_says_it_first(tmp_path):
    """For an image, and where nothing else tells."""
    worker = Worker(tmp_path / "node")
    setting = worker.root / "etc/nodeup/nodeup.d/50-kops.yaml"
    setting.parent.mkdir(parents=True)
    conf = worker.folder / "documents/kube_env.yaml"
    with worker.controller():
        document = conf.read_text()
        setting.write_text("kopsVersion: v1.36.2\n")
        done = worker.run("plan")
        assert done.returncode == 2 and "documents are of kops 1.36.2 (by kopsVersion)" in done.stderr.splitlines(), done.stderr
        setting.write_text("kopsVersion: 1.28.3\n")
        done = worker.run("plan")
        assert done.returncode == CONFIG and f"50-kops.yaml:1:14: this is a setting of kops 1.28.3 (kopsVersion); {READS}" in done.stderr, done.stderr
        conf.write_text(user_data("1.36.2", document))
        assert ": this is a setting of kops 1.28.3 (kopsVersion), and " in (done := worker.run("plan")).stderr and done.returncode == CONFIG
        for wrong in ("kops", "2.1.0", "1", "[1.36.2]"):
            setting.write_text(f"kopsVersion: {wrong}\n")
            done = worker.run("plan")
            assert done.returncode == CONFIG and "50-kops.yaml:1:14: kopsVersion" in done.stderr, done.stderr


def earlier(node):
    """The records of an nodeup that did not say of which kops it was."""
    (node.root / "var/lib/nodeup/vintage").unlink()


@pytest.mark.parametrize("command", ["plan", "apply", "repair", "check"])
def test_a_node_of_such_documents_goes_on(world, command):
    world.protokube_tag = "1.9.2"
    assert world.apply().code == CONFIG
    world.protokube_tag = "1.8.1"
    world.converge()
    world.protokube_tag = "1.9.2"
    refused = world.run(command)
    assert refused.code == CONFIG and f"of kops 1.9.2 (protokubeImage.name); {READS}" in refused.out + refused.err, refused
    earlier(world)
    other = world.conf.with_name("other.yaml")
    other.write_text(world.env_text())
    assert world.run(command, conf=other).code == CONFIG, "no record speaks of this document"
    result = world.run(command)
    told = [line for line in result.err.splitlines() if READS in line]
    assert result.code in (OK, 2) and len(told) == 1 and "this instance was made of such a document before" in told[0], result
    if command == "apply":
        assert world.apply().code == world.run(command, conf=other).code == OK
        assert world.run("validate").code == OK and world.run("bake").code == CONFIG, "an image is made anew"
        world.protokube_tag = "1.10.0"
        assert world.apply().code == CONFIG
    world.facts["instanceID"] = "i-0fedcba9876543210"
    assert world.run(command).code == CONFIG, "these records are another instance's"


def test_what_is_kept_says_of_which_kops_it_was(tmp_path):
    worker = Worker(tmp_path / "node")
    kept = worker.root / "var/lib/nodeup/documents.json"
    setting = worker.root / "etc/nodeup/nodeup.d/50-keys.yaml"
    setting.parent.mkdir(parents=True)
    setting.write_text("acceptKeys: [useInstanceIDForNodeName]\n")
    with worker.controller():
        assert worker.apply().returncode == OK
        now = json.loads(kept.read_text())
        place = next(name for name in now["documents"] if name.endswith("nodeupconfig.yaml"))
        worker.config["useInstanceIDForNodeName"] = True
        worker.write()
        earlier(worker)
        done = worker.run("plan")
        assert done.returncode == CONFIG and f"of kops 1.27 and 1.28 (useInstanceIDForNodeName); {READS}" in done.stderr, done.stderr
        now["documents"][place] = base64.b64encode(yaml.safe_dump(worker.config).encode()).decode()
        kept.write_text(json.dumps(now))
        done = worker.apply()
        assert done.returncode == OK and "this instance was made of such a document before" in done.stderr, done.stderr


MIME = b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/x-shellscript\n\n%s\n--B--\n"


@pytest.mark.parametrize("packed", [gzip.compress, base64.b64encode, lambda script: gzip.compress(MIME % script)], ids=["gzip", "base64", "MIME"])
def test_it_is_kept_packed(packed, tmp_path):
    """As cloud-init gets it; an earlier nodeup has applied it, and kept it as it was."""
    worker = Worker(tmp_path / "node")
    kept = worker.root / "var/lib/nodeup/documents.json"
    conf = worker.folder / "documents/kube_env.yaml"

    def write(version):
        conf.write_bytes(packed(user_data(version, yaml.safe_dump(worker.boot())).encode()))

    with worker.controller():
        write("1.36.2")
        assert worker.apply().returncode == OK
        earlier(worker)
        write("1.38.0")
        done = worker.run("plan")
        assert done.returncode == CONFIG and f"this is user data of kops 1.38.0 (NODEUP_URL_AMD64); {READS}" in done.stderr, done.stderr
        now = json.loads(kept.read_text())
        now["documents"][str(conf)] = base64.b64encode(conf.read_bytes()).decode()
        kept.write_text(json.dumps(now))
        done = worker.apply()
        assert done.returncode == OK and "this instance was made of such a document before" in done.stderr, done.stderr


def test_the_user_data_of_the_instance_say_it_of_its_document(tmp_path):
    """On a machine of its own, where --conf is the file that they wrote; what has another document, or no address of kops, says nothing of it."""
    worker = Worker(tmp_path / "node")
    here = worker.root / "opt/kube_env.yaml"
    for folder in ("proc", "etc", "opt"):
        (worker.root / folder).mkdir()
    (worker.root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')
    shutil.copy(PROGRAM, worker.root / "opt/nodeup")

    def plan(data, conf=here):
        imds = Imds(tmp_path, **{"instance-id": INSTANCE, "placement/region": REGION, "placement/availability-zone": REGION + "a", "instance-type": "m5.large",
                                 "local-hostname": "x", "local-ipv4": ADDRESS, "mac": "06:11:22:33:44:55", **({"user-data": data} if data else {})})
        try:
            return subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', worker.root, "/opt/nodeup", "plan",
                                   "--conf=/" + str(conf.relative_to(worker.root))], env=worker.environ(AWS_EC2_METADATA_SERVICE_ENDPOINT=imds.url),
                                  capture_output=True, text=True, timeout=60, check=False)
        finally:
            imds.close()

    def says(done):
        return [line for line in done.stderr.splitlines() if "of kops" in line]

    with worker.controller():
        document = yaml.safe_dump(worker.boot())
        here.write_text(document)
        assert says(plan(user_data("1.36.2", document))) == ["documents are of kops 1.36.2 (by NODEUP_URL_AMD64)"]
        told = ["plan", *(plan(data) for data in (None, user_data("1.38.0", document + "a: 1\n"), user_data("none", document), "#!/bin/sh\n", "x"))]
        assert all(done.returncode == 2 and says(done) == ["documents are of kops 1.37 by its keys"] for done in told[1:]), told
        done = plan(user_data("1.38.0", document))
        assert done.returncode == CONFIG and f"imds:3:18: this is user data of kops 1.38.0 (NODEUP_URL_AMD64); {READS}" in done.stderr, done
        # one that an earlier nodeup was content with, as it did not look there
        assert worker.apply().returncode == OK
        records, conf = worker.root / "var/lib/nodeup", str(worker.folder / "documents/kube_env.yaml")
        kept = json.loads((records / "documents.json").read_text())
        kept["documents"]["/opt/kube_env.yaml"] = kept["documents"].pop(conf)
        (records / "documents.json").write_text(json.dumps(kept))
        (records / "conf").write_text("/opt/kube_env.yaml\n")
        here.write_text(base64.b64decode(kept["documents"]["/opt/kube_env.yaml"]).decode())
        done = plan(user_data("1.38.0", here.read_text()))
        assert done.returncode != CONFIG and "this instance was made of such a document before" in done.stderr, done
        assert "documents are of kops 1.38.0 (by NODEUP_URL_AMD64)" in done.stderr
        here.write_text(here.read_text() + "# another\n")
        assert plan(user_data("1.38.0", here.read_text())).returncode == CONFIG


def test_both_roles_get_one_answer(tmp_path):
    """By their keys, where nothing else tells."""
    for name, node in (("worker", Worker(tmp_path / "w")), ("control plane", ControlPlane(tmp_path / "c"))):
        node.config["ContainerRuntime"] = "containerd"
        boot = yaml.safe_dump({**node.boot(), **({"ConfigServer": {"servers": ["https://a:1/"], "CACertificates": "p"}} if name == "worker" else {})})
        path = write(tmp_path, boot)
        write(tmp_path, yaml.safe_dump(node.config), "nodeupconfig.yaml")
        done = validate(path)
        assert done.returncode == CONFIG and f"of kops 1.27 and 1.28 (ContainerRuntime); {READS}" in done.stderr, done.stderr
        if name != "worker":
            node.close()


def says(done):
    """Of which kops the documents are, and what is said beside."""
    return [line.removeprefix("documents are of kops ") for line in done.stderr.splitlines() if "of kops" in line and ": set " not in line]


def test_an_exact_answer_stays_for_its_document(tmp_path):
    """User data that bring it name a version: the record of the run does, when they are not there any more."""
    worker = Worker(tmp_path / "node")
    conf, record = worker.folder / "documents/kube_env.yaml", worker.root / "var/lib/nodeup/vintage"
    with worker.controller():
        document = yaml.safe_dump(worker.boot())
        conf.write_text(user_data("1.36.1", document))
        assert worker.apply().returncode == OK
        digest = hashlib.sha256(document.rstrip("\n").encode()).hexdigest()
        assert record.read_text().splitlines() == ["spoken", f"{digest} 1.36 1.36 1.36.1 NODEUP_URL_AMD64"]
        conf.write_text(document)
        assert says(worker.run("plan")) == ["1.36.1 (by NODEUP_URL_AMD64)"]
        assert worker.apply().returncode == OK and says(worker.run("plan")) == ["1.36.1 (by NODEUP_URL_AMD64)"]
        # two that differ of a document that was applied
        conf.write_text(user_data("1.36.2", document))
        told = says(worker.run("plan"))
        assert len(told) == 2 and told[1] == "1.36.1 (by NODEUP_URL_AMD64)", told
        assert ": this is user data of kops 1.36.2 (NODEUP_URL_AMD64); which of them is right cannot be said; kops 1.36.1 (by" in told[0].replace(
            "the record of the last run: this is a document of kops 1.36.1 (NODEUP_URL_AMD64), and ", "").replace(f"{conf}:3:18: user", ": this is user"), told
        # another document is not that one
        conf.write_text(document + "EtcdIPs: []\n")
        assert says(worker.run("plan")) == ["1.37 by its keys"]
        # nor is this another instance
        conf.write_text(document)
        worker.facts["instanceID"] = "i-0fedcba9876543210"
        (worker.folder / "documents/facts.yaml").write_text(json.dumps(worker.facts))
        assert says(worker.run("plan")) == ["1.37 by its keys"]


def test_two_that_differ_are_refused(tmp_path):
    """Patches too, as fixes were carried back; a setting that is less exact agrees."""
    worker = Worker(tmp_path / "node")
    conf, setting = worker.folder / "documents/kube_env.yaml", worker.root / "etc/nodeup/nodeup.d/50-kops.yaml"
    setting.parent.mkdir(parents=True)
    with worker.controller():
        conf.write_text(user_data("1.36.2", yaml.safe_dump(worker.boot())))
        setting.write_text("kopsVersion: 1.36.1\n")
        done = worker.run("plan")
        assert done.returncode == CONFIG and "50-kops.yaml:1:14: this is a setting of kops 1.36.1 (kopsVersion), and " in done.stderr, done.stderr
        setting.write_text("kopsVersion: 1.36\n")
        assert says(worker.run("plan")) == ["1.36.2 (by NODEUP_URL_AMD64)"]
        # one that keys rule out
        conf.write_text(user_data("1.34.3", yaml.safe_dump(worker.boot())))
        setting.unlink()
        done = worker.run("plan")
        assert done.returncode == CONFIG and "user data of kops 1.34.3 (NODEUP_URL_AMD64), and " in done.stderr
        assert "a NodeupConfig of kops 1.35 or newer (containerdConfig.sandboxImage); which of them" in done.stderr, done.stderr


def at_boot(worker, name):
    """As systemd starts it by its own unit."""
    cgroup = worker.folder / "cgroup"
    cgroup.write_text("0::/system.slice/kops-configuration.service\n")
    return subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/$$/cgroup && exec "$@"', cgroup, *worker.command(name)],
                          env=worker.environ(), capture_output=True, text=True, timeout=60, check=False)


def test_a_guess_stays_until_a_person_replaces_it(tmp_path):
    """At boot another answer is told alone."""
    worker = Worker(tmp_path / "node")
    setting, record = worker.root / "etc/nodeup/nodeup.d/50-kops.yaml", worker.root / "var/lib/nodeup/vintage"
    setting.parent.mkdir(parents=True)
    worker.config["usesLegacyGossip"] = False
    worker.write()
    with worker.controller():
        assert worker.apply().returncode == OK
        assert record.read_text().split()[2:5] == ["1.36", "1.36.2", "-"], record.read_text()
        # as of a nodeup that knew no newer patch
        record.write_text(record.read_text().replace("1.36.2", "1.36.1"))
        assert at_boot(worker, "apply").returncode == OK and record.read_text().split()[2:5] == ["1.36", "1.36.1", "-"], record.read_text()
        record.write_text(record.read_text().replace("1.36.1", "1.36.2"))
        assert says(worker.run("plan")) == says(at_boot(worker, "plan")) == ["1.36 by its keys"]
        setting.write_text("kopsVersion: 1.36.1\n")
        told = says(at_boot(worker, "plan"))
        assert len(told) == 2 and told[1] == "1.36 by its keys" and told[0].endswith(
            "1.36.1 (by kopsVersion), and this node was made as of kops 1.36 by its keys; it stays so until nodeup apply is run by hand"), told
        assert says(worker.run("plan")) == ["1.36.1 (by kopsVersion)"]
        assert at_boot(worker, "apply").returncode == OK and record.read_text().split()[2:5] == ["1.36", "1.36.2", "-"], record.read_text()
        assert worker.apply().returncode == OK and " 1.36 1.36 1.36.1 kopsVersion\n" in record.read_text()
        assert says(at_boot(worker, "plan")) == ["1.36.1 (by kopsVersion)"]
        done = worker.run("why", "kubelet.service")
        assert "  documents  kops 1.36.1 (by kopsVersion)\n" in done.stdout, done


@pytest.fixture
def known(tmp_path):
    """A worker whose keys are of kops 1.35 and 1.36, and where its document, its record and a setting of its machine are."""
    worker = Worker(tmp_path / "node")
    worker.setting = worker.root / "etc/nodeup/nodeup.d/50-kops.yaml"
    worker.setting.parent.mkdir(parents=True)
    worker.config.update(usesLegacyGossip=False, KubernetesVersion="1.34.1")
    worker.conf, worker.record = worker.folder / "documents/kube_env.yaml", worker.root / "var/lib/nodeup/vintage"
    with worker.controller():
        worker.document = yaml.safe_dump(worker.boot())
        yield worker


STAYS = "it stays so until nodeup apply is run by hand"


def make_by_earlier(known, first, version):
    """A node that an earlier nodeup made as of the newest kops: it knew no other, and left no word on the document. The files that it has."""
    known.config.pop("usesLegacyGossip")
    known.write()
    assert known.apply().returncode == OK
    made = known.tree()
    known.config["usesLegacyGossip"] = False
    known.write()
    known.conf.write_text(user_data(version, known.conf.read_text()) if version else known.conf.read_text())
    known.record.write_text(first + "\n")
    return made


@pytest.mark.parametrize("first, version, told", [
    ("spoken", "1.36.1", "1.36.1 (by NODEUP_URL_AMD64)"), ("1.35", "1.35.2", "1.35.2 (by NODEUP_URL_AMD64)")])
def test_an_earlier_nodeup_made_it_as_of_the_newest(known, first, version, told):
    """A boot does not make the node anew."""
    made = make_by_earlier(known, first, version)
    for _ in range(2):
        done = at_boot(known, "apply")
        assert done.returncode == OK and says(done)[0].endswith(f"{told}, and this node was made as of kops 1.37 by its keys; {STAYS}"), done.stderr
        assert made.items() <= known.tree().items() and known.record.read_text().split()[2:5] == ["1.37", "1.37.0", "-"]
    assert known.apply().returncode == OK and says(known.run("plan")) == [told] == says(at_boot(known, "plan"))


@pytest.mark.parametrize("first, version, told", [
    ("spoken", "1.36.2", "1.36.2 (by NODEUP_URL_AMD64)"), ("spoken", None, "1.36 by its keys (1.35 and 1.36 are possible)"),
    ("1.29 to 1.36", None, "1.36 by its keys (1.35 and 1.36 are possible)")])
def test_a_version_that_makes_the_same_node_is_taken_at_once(known, first, version, told):
    """A node of kops 1.36 that an earlier nodeup made is not degraded for its name."""
    made = make_by_earlier(known, first, version)
    assert says(at_boot(known, "plan")) == [told]
    assert at_boot(known, "apply").returncode == OK and made.items() <= known.tree().items()


def test_a_setting_on_record_is_replaced(known):
    known.setting.write_text("kopsVersion: 1.36.1\n")
    known.conf.write_text(known.document)
    assert known.apply().returncode == OK
    # one that differs from what names a version, and the way out of it
    known.conf.write_text(user_data("1.36.2", known.document))
    done = known.run("plan")
    assert "; kops 1.36.1 (by kopsVersion) stays, as this document was applied before; for another leave one alone and run nodeup apply by hand" in done.stderr
    known.setting.unlink()
    told = says(at_boot(known, "plan"))
    assert told[0].endswith(f"1.36.2 (by NODEUP_URL_AMD64), and this node was made as of kops 1.36.1 (by kopsVersion); {STAYS}"), told
    known.conf.write_text(known.document)
    known.setting.write_text("kopsVersion: 1.35.2\n")
    assert says(at_boot(known, "plan"))[1] == "1.36.1 (by kopsVersion)"
    assert known.apply().returncode == OK and says(at_boot(known, "plan")) == ["1.35.2 (by kopsVersion)"]


def test_what_kops_own_program_left_rules_versions_out(known):
    """Where no run of nodeup ended well; --facts may say it, and the record of a first run does then."""
    sysconfig, toml = known.root / "etc/sysconfig/kubelet", known.root / "etc/containerd/config.toml"
    for path in (sysconfig, toml):
        path.parent.mkdir(parents=True)

    def wrote(*flags):
        sysconfig.write_text(f'DAEMON_ARGS="{" ".join(flags)} --config=/var/lib/kubelet/kubelet.conf"\n')
        return says(known.run("plan"))

    both, older, newer = (f"{text} by its keys{more}" for text, more in (
        ("1.36", " (1.35 and 1.36 are possible)"), ("1.35", " and what kops left here"), ("1.36", " and what kops left here")))
    assert says(known.run("plan")) == [both]
    for version in (2, 3):
        toml.write_text(f"version = {version}\n")
        assert says(known.run("plan")) == [both], "a distribution's containerd brings such a file"
    known.facts["containerdConfig"] = 2
    known.write()
    assert says(known.run("plan")) == [older]
    del known.facts["containerdConfig"]
    known.write()
    toml.unlink()
    assert wrote("--cloud-provider=external") == [newer]
    known.facts["kubeletFlags"] = True
    known.write()
    assert says(known.run("plan")) == [older]
    del known.facts["kubeletFlags"]
    known.write()
    assert wrote("--client-ca-file=/srv/kubernetes/ca.crt") == [older]
    beside = known.conf.parent / "nodeupconfig.yaml"
    beside.write_text(yaml.safe_dump(known.config))
    assert f"kops {both}" in validate(known.conf, "--root", known.root).stdout, "of no node"
    beside.unlink()
    done = known.run("plan", "-o", "json")
    assert json.loads(done.stdout)["kopsKnownBy"] == "its keys and what kops left here", done
    known.setting.write_text("kopsVersion: 1.36.2\n")
    assert says(known.run("plan")) == ["1.36.2 (by kopsVersion)"]
    known.setting.unlink()
    assert known.apply().returncode == OK and known.record.read_text().endswith(" 1.35 1.35.2 - what kops left here\n"), known.record.read_text()
    assert wrote("--cloud-provider=external") == [older] == says(at_boot(known, "plan"))


def test_what_names_a_version_of_another_document_is_a_guess(known):
    known.conf.write_text(user_data("1.35.2", known.document))
    assert known.apply().returncode == OK
    made = known.tree()
    known.conf.write_text(known.document + "acceptKeys: [anything]\n")
    for _ in range(2):
        assert says(at_boot(known, "plan")) == ["1.35.2 (by an earlier document)"] == says(known.run("plan"))
        done = at_boot(known, "apply")
        assert done.returncode == OK and known.record.read_text().endswith(" 1.35 1.35 1.35.2 an earlier document\n"), known.record.read_text()
        assert made.items() <= known.tree().items()
    # it is no more than that
    known.setting.write_text("kopsVersion: 1.36.2\n")
    assert says(at_boot(known, "plan"))[1] == "1.35.2 (by an earlier document)" and says(known.run("plan")) == ["1.36.2 (by kopsVersion)"]
    # and nothing where keys rule it out
    known.setting.unlink()
    known.config.pop("usesLegacyGossip")
    known.write()
    assert says(at_boot(known, "plan")) == ["1.37 by its keys"]


def test_an_exact_answer_that_makes_the_same_is_taken_at_boot(tmp_path):
    """A guess is of the newest patch; no row of what differs may part the two."""
    worker = render(Worker(tmp_path / "node"), "1.33.2", "1.28.1")
    conf = worker.folder / "documents/kube_env.yaml"
    with worker.controller():
        assert worker.apply().returncode == OK and says(worker.run("plan")) == ["1.33 by its keys (1.32 and 1.33 are possible)"]
        document = conf.read_text()
        conf.write_text(user_data("1.33.0", document))
        assert says(at_boot(worker, "plan")) == ["1.33.0 (by NODEUP_URL_AMD64)"]
        conf.write_text(user_data("1.32.4", document))
        assert says(at_boot(worker, "plan"))[1] == "1.33 by its keys (1.32 and 1.33 are possible)"


def test_the_store_names_the_kops_of_what_it_has(tmp_path):
    """A control plane from 1.36 on has no address of kops in its documents. It is asked where nothing exact is known."""
    node = ControlPlane(tmp_path)
    try:
        node.write()
        node.store("kops-version.txt", "1.36.1\n")
        done = node.run("plan")
        assert says(done) == ["1.36.1 (by kops-version.txt)"], done.stderr
        conf = node.folder / "documents/kube_env.yaml"
        document = conf.read_text()
        node.asked.clear()
        conf.write_text(user_data("1.36.1", document))
        assert says(node.run("plan")) == ["1.36.1 (by NODEUP_URL_AMD64)"] and "a.example.com/kops-version.txt" not in node.asked
        conf.write_text(document)
        node.store("kops-version.txt", "1.38.1\n")
        done = node.run("plan")
        assert done.returncode == CONFIG and f"this is a state store of kops 1.38.1 (kops-version.txt); {READS}" in done.stderr, done.stderr
        node.status["kops-version.txt"] = 403
        assert says(node.run("plan")) == ["1.37 by its keys"]
    finally:
        node.close()


def test_a_store_that_a_newer_kops_has_written_names_nothing(tmp_path):
    """Its configuration is not the one that this node's document means."""
    node = ControlPlane(tmp_path)
    try:
        node.write()
        node.store("kops-version.txt", "1.36.1\n")
        node.store("igconfig/control-plane/master-a/nodeupconfig.yaml", yaml.safe_dump(node.config) + "# newer\n")
        done = node.run("plan")
        assert done.returncode == CONFIG and says(done) == [] and "kops-version.txt" not in str(node.asked), (done.stderr, node.asked)
    finally:
        node.close()


def test_each_kops_that_is_spoken_has_its_address():
    """`make dist` links one program below the name of each."""
    text = (pathlib.Path(__file__).parents[2] / "Makefile").read_text().replace("\\\n", "")
    releases = next(line for line in text.splitlines() if line.startswith("RELEASES")).split(":=")[1].split()
    assert {release.split(".")[1] for release in releases} == {str(minor) for minor in range(29, 38)}
