"""s3:// signed, against an emulator of AWS that checks signatures, tokens and policies."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest

from emulator import REGION, Emulator, Imds
from kops import INSTANCE
from world import CNI, CONFIG, ENV, KUBELET, NET, PENDING, PROGRAM, PROTOKUBE, SEED, SEED_BASE, files_of

BUCKET = "jdurbin-kops"


def seed_objects():
    top = SEED.parents[1]
    return {str(p.relative_to(top)): p.read_bytes() for p in files_of(SEED)}


@pytest.fixture(scope="module")
def emulator(tmp_path_factory, contents):
    objects = {**seed_objects(), "other/k": b"of somebody else",
               **{f"{BUCKET}/assets/{name}": data for name, data in contents.items()}}
    e = Emulator(tmp_path_factory.mktemp("moto"), [BUCKET, "other"], objects,
                 {"nodes.abc.joshdurbin.net": BUCKET, "stranger": "other"})
    yield e
    e.close()


@pytest.fixture
def instance(tmp_path, emulator):
    """Make the metadata service of an instance with one of the emulator's roles, or none."""
    made = []

    def make(role=None):
        folder = tmp_path / f"imds{len(made)}"
        folder.mkdir()
        made.append(Imds(folder, role, emulator.roles.get(role)))
        return made[-1]
    yield make
    for imds in made:
        imds.close()


class Node:
    """A root of its own with the program in it: not image mode, so that IMDS is asked."""

    def __init__(self, world, emulator):
        self.world, self.emulator = world, emulator
        world.config_base = SEED_BASE
        world.write_documents()
        self.root = world.root
        shutil.copy(PROGRAM, self.root / "nodeup")
        for path in (world.conf, world.facts_file):
            shutil.copy(path, self.root / path.name)
        self.add_diff()
        self.secrets = {emulator.user["SecretAccessKey"]}
        for credentials in emulator.roles.values():
            self.secrets |= {credentials["SecretAccessKey"], credentials["SessionToken"]}

    def add_diff(self):
        """What `plan --diff` runs, and what that needs."""
        libraries = subprocess.run(["ldd", "/usr/bin/diff"], capture_output=True, text=True, check=True).stdout
        for path in ["/usr/bin/diff", *re.findall(r"/\S+", libraries)]:
            target = self.root / path[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        for name in ("dev", "proc"):
            (self.root / name).mkdir()
        os.mknod(self.root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))

    def be_debian(self):
        """What --facts would say otherwise, so that this is the machine that is planned for."""
        (self.root / "etc").mkdir(exist_ok=True)
        (self.root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')

    def plan(self, imds=None, flags=(), facts=("--facts=/facts.yaml",), **env):
        env = {**ENV, "AWS_ENDPOINT_URL_S3": self.emulator.url, "AWS_REGION": REGION,
               "AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.url if imds else "http://127.0.0.1:9", **env}
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        argv = ["unshare", "-m", "sh", "-c", enter, str(self.root), "/nodeup", "plan", "--conf=/kube_env.yaml",
                *facts, *flags]
        result = self.world.run_argv(argv, env=env)
        for secret in self.secrets:
            assert secret not in result.out + result.err
        assert "Signature=" not in result.out + result.err
        return result


@pytest.fixture
def node(world, emulator):
    return Node(world, emulator)


def key_of(credentials, **changes):
    """The environment of who has them."""
    names = {"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey",
             "AWS_SESSION_TOKEN": "SessionToken"}
    return {**{name: credentials[field] for name, field in names.items() if field in credentials}, **changes}


def test_the_emulator_checks(node, emulator):
    """First of all: what is wrong is refused.  Then what is right means something."""
    right = key_of(emulator.roles["nodes.abc.joshdurbin.net"])
    result = node.plan(**right)
    assert result.code == PENDING, f"{result}"
    for wrong, status in (({"AWS_SECRET_ACCESS_KEY": "x" * 40}, "403 SignatureDoesNotMatch"),
                          ({"AWS_SESSION_TOKEN": "y" * 300}, "400 InvalidToken"),
                          ({"AWS_ACCESS_KEY_ID": "ASIANOBODYNOBODY0000"}, "403 InvalidAccessKeyId")):
        result = node.plan(**{**right, **wrong})
        assert result.code == NET, result
        assert status in result.failure and f"region {REGION}" in result.failure, result


def test_a_key_without_a_session(node, emulator):
    assert node.plan(**key_of(emulator.user)).code == PENDING


def test_documents_of_a_worker_by_its_role(node, emulator, instance):
    """All that the seed's worker reads, from a bucket only its role may read: the plan is the same as
    from a folder."""
    imds = instance("nodes.abc.joshdurbin.net")
    by_role = node.plan(imds, flags=["--diff"])
    assert by_role.code == PENDING, by_role
    assert "+ExecStart=/usr/local/bin/kubelet" in by_role.out, f"{by_role}"
    # a token once, the role and its credentials once
    asked = imds.log.read_text()
    assert asked.count("/latest/api/token") == 1
    assert asked.count("security-credentials/nodes.abc.joshdurbin.net") == 1

    shutil.copytree(SEED.parent.parent, node.root / "state")
    conf = node.root / "kube_env.yaml"
    conf.write_text(conf.read_text().replace(SEED_BASE, f"file:///state/{BUCKET}/abc.joshdurbin.net"))
    spec = node.root / "state" / BUCKET / "abc.joshdurbin.net/cluster.spec"
    spec.write_text(spec.read_text().replace(SEED_BASE, f"file:///state/{BUCKET}/abc.joshdurbin.net"))
    by_folder = node.plan(flags=["--diff"])
    assert by_folder.code == PENDING, by_folder
    assert by_role.out == by_folder.out


def test_a_role_that_may_not(node, instance):
    imds = instance("stranger")
    result = node.plan(imds)
    assert result.code == NET, result
    assert "S3 403 AccessDenied" in result.failure, result
    assert "as assumed-role/stranger/i-0123456789abcdef0 (valid until " in result.failure, result
    assert "expired token" in result.notes and "clock (" in result.notes, result
    assert "s3:GetObject" in result.notes and "kms:Decrypt" in result.notes, result


def test_no_role(node, instance):
    result = node.plan(instance())
    assert result.code == NET, result
    assert "the instance has no role" in result.notes, result


def assets_of_s3(world, more=()):
    """Every asset, and the image, from the bucket alone; after what else is given."""
    for name, asset in world.assets.items():
        asset.urls = [*more, f"s3://{BUCKET}/assets/{name}"]
    world.protokube.urls = [f"s3://{BUCKET}/assets/{PROTOKUBE}"]


def test_assets(world, emulator):
    """Of a bucket that only the role may read. First, again: what is wrong is refused."""
    assets_of_s3(world)
    right = {"AWS_ENDPOINT_URL_S3": emulator.url, "AWS_REGION": REGION,
             **key_of(emulator.roles["nodes.abc.joshdurbin.net"])}
    for wrong, status in (({"AWS_SECRET_ACCESS_KEY": "x" * 40}, "403 SignatureDoesNotMatch"),
                          ({"AWS_SESSION_TOKEN": "y" * 300}, "400 InvalidToken")):
        result = world.apply("--retries=0", env={**right, **wrong}, timeout=90)
        assert result.code == NET, result
        assert f"GET s3://{BUCKET}/assets/" in result.failure and status in result.failure, result
        assert not list(world.cache.glob("sha256/*"))
    result = world.converge(env=right, timeout=90)
    assert {p.name for p in world.cache.glob("sha256/*")} >= {world.digest(n) for n in (KUBELET, CNI)}
    assert right["AWS_SECRET_ACCESS_KEY"] not in result.err and right["AWS_SESSION_TOKEN"] not in result.err


def test_assets_of_a_stranger(world, emulator):
    """Who may not read them is told what is left; a mirror that may be read does."""
    assets_of_s3(world)
    env = {"AWS_ENDPOINT_URL_S3": emulator.url, "AWS_REGION": REGION, **key_of(emulator.roles["stranger"])}
    result = world.apply("--retries=0", env=env, timeout=90)
    assert result.code == NET and "S3 403 AccessDenied" in result.failure, result
    for name, asset in world.assets.items():
        asset.urls.append(world.url(name))
    world.protokube.urls.append(world.url(PROTOKUBE))
    world.converge(env=env, timeout=90)


# The status of a run, written

def copied(told, world, emulator, credentials, *flags, url=f"s3://{BUCKET}/status/", **env):
    """A run whose status is to go there: what it said, and what is there then."""
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status.yaml").write_text(f"statusURL: {url}\n")
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]
    told.env.update({"AWS_ENDPOINT_URL_S3": emulator.url, "AWS_REGION": REGION, **key_of(credentials), **env})
    run = told(*flags)
    code = run.end()
    for secret in (credentials["SecretAccessKey"], "Signature="):
        assert secret not in run.text()
    return code, run.text(), emulator.read(f"{BUCKET}/status/{INSTANCE}/status.json")


def test_the_status_of_a_failed_run_is_in_s3_as_well(told, world, emulator):
    code, text, status = copied(told, world, emulator, emulator.user)
    place = f"s3://{BUCKET}/status/{INSTANCE}/status.json"
    assert f"the status is at {place} as well" in text, text
    assert status == (world.root / "run/nodeup/status.json").read_bytes() and b'"failed"' in status
    # the error is the run's own, and the next one replaces it
    again, text, status = copied(told, world, emulator, emulator.user)
    assert again == json.loads(status)["error"]["exitStatus"] and status == (world.root / "run/nodeup/status.json").read_bytes(), text


@pytest.mark.parametrize("change,says", [
    ({}, r"PUT s3://jdurbin-kops/status/\S+: S3 403 AccessDenied"),
    ({"AWS_SECRET_ACCESS_KEY": "x" * 40}, "S3 403 SignatureDoesNotMatch"),
    ({"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}, "127.0.0.1 port 9 ")], ids=["role", "key", "dead"])
def test_a_status_that_cannot_be_written_is_a_warning(told, world, emulator, change, says):
    before = emulator.read(f"{BUCKET}/status/{INSTANCE}/status.json")
    told.env.update(change)
    code, text, after = copied(told, world, emulator, emulator.roles["nodes.abc.joshdurbin.net"], **change)
    lines = [line for line in text.splitlines() if "the status was not copied: " in line]
    assert len(lines) == 1 and "warning" in lines[0] and re.search(says, lines[0]), text
    assert after == before
    assert code == json.loads((world.root / "run/nodeup/status.json").read_text())["error"]["exitStatus"]


def test_offline_no_status_is_sent(told, world, emulator):
    before = emulator.read(f"{BUCKET}/status/{INSTANCE}/status.json")
    code, text, after = copied(told, world, emulator, emulator.user, "--offline")
    assert code and after == before and "copied" not in text, text


@pytest.mark.parametrize("url", ["s3://", "s3:///x", "https://bucket/x", "bucket/x", "s3://b/x?versionId=1", "s3://key:secret@b/x"])
def test_a_place_that_is_no_bucket(world, url):
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status.yaml").write_text(f"statusURL: {url}\n")
    result = world.run("validate")
    assert result.code == CONFIG and "is not s3://BUCKET/PREFIX" in result.err, result
