"""Signatures of minisign over the list of assets, and over one of them; and the machine's own settings."""

import json
import subprocess

import pytest

from world import Asset, CNI, CONFIG, INTEGRITY, KUBELET, OK, PENDING, PROTOKUBE, UTILS, listing, same


class Signer:
    """A key pair of the real minisign."""

    def __init__(self, folder, name):
        self.folder, self.secret, self.public = folder, folder / f"{name}.key", folder / f"{name}.pub"
        self.run("-G", "-W", "-p", self.public, "-s", self.secret)
        self.key = self.public.read_text().splitlines()[1]

    @staticmethod
    def run(*argv):
        subprocess.run(["minisign", *map(str, argv)], check=True, stdin=subprocess.DEVNULL, capture_output=True)

    def sign(self, data, *flags):
        path = self.folder / "signed"
        path.write_bytes(data)
        self.run("-S", "-s", self.secret, "-m", path, "-x", f"{path}.minisig", "-t", "made by a test", *flags)
        return path.with_name("signed.minisig").read_text()


@pytest.fixture(scope="module")
def signer(tmp_path_factory):
    return Signer(tmp_path_factory.mktemp("keys"), "ours")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Signer(tmp_path_factory.mktemp("keys"), "stranger")


class Signed:
    """A world whose kube_env.yaml has signatures: YAML is JSON, too."""

    def __init__(self, world):
        self.world, self.signatures, self.list_signature, self.extra = world, {}, None, {}
        self.plain = world.env_text
        world.env_text = self.env_text

    def list(self):
        return "".join(f"{a}\n" for a in self.world.assets.values()).encode()

    def env_text(self):
        lines, rest = [], self.plain().splitlines()
        for line in rest:
            name = next((n for n, a in self.world.assets.items() if line == f"- {a}"), None)
            if name in self.signatures:
                line = "- " + json.dumps({"asset": line[2:], "signature": self.signatures[name]})
            lines.append(line)
            if line.startswith("  name: protokube") and PROTOKUBE in self.signatures:
                lines.append(f"  signature: {json.dumps(self.signatures[PROTOKUBE])}")
        if self.list_signature:
            lines.append(f"assetsSignature: {json.dumps(self.list_signature)}")
        lines += [f"{key}: {json.dumps(value)}" for key, value in self.extra.items()]
        return "".join(f"{line}\n" for line in lines)

    def of_machine(self, root=None, name="10.yaml", **settings):
        folder = (root or self.world.root) / "etc/nodeup/nodeup.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(settings))


@pytest.fixture
def signed(world):
    return Signed(world)


def nothing_is_used(world):
    assert not world.installed(KUBELET).exists()
    assert not world.installed("bridge").exists()


@pytest.mark.parametrize("flags", [(), ("-l",)], ids=["prehashed", "legacy"])
def test_one_asset(world, signed, signer, flags):
    """Of a plain one and of an archive, and of an image."""
    for name in (KUBELET, CNI, PROTOKUBE):
        signed.signatures[name] = signer.sign(world.contents[name], *flags)
    signed.of_machine(publicKeys=[signer.key])
    world.converge()
    assert {p.name for p in (world.cache / "signed").iterdir()} >= {f"sha256-{world.digest(n)}"
                                                                   for n in (KUBELET, CNI)}
    # known from now on: nothing is read or asked again
    before, asked = listing(world.cache), world.requests()
    assert world.plan().code == OK
    world.converge()
    assert world.requests() == asked
    same(before, listing(world.cache))


def test_named_twice_signed_twice(world, signed, signer, stranger):
    """Both entries of the same bytes count: neither makes up for the other's wrong signature."""
    again = world.assets["again"] = Asset(world.digest(KUBELET), [world.url(KUBELET, "hops=0")])
    signed.signatures[KUBELET] = signer.sign(world.contents[KUBELET])
    signed.signatures["again"] = stranger.sign(b"something else")
    signed.of_machine(publicKeys=[signer.key, stranger.key])
    result = world.apply()
    assert result.code == INTEGRITY and "the signature is wrong" in result.failure, result
    line = 1 + next(i for i, l in enumerate(world.conf.read_text().splitlines()) if again.urls[0] in l)
    assert f"{world.conf}:{line}:" in result.failure, result
    assert not world.installed(KUBELET).exists()
    signed.signatures["again"] = stranger.sign(world.contents[KUBELET])
    world.converge()
    before = listing(world.cache)
    assert world.plan().code == OK
    same(before, listing(world.cache))
    # one of them is another one now: what is in the cache is looked at again
    signed.signatures["again"] = signer.sign(b"something else")
    world.installed(KUBELET).unlink()
    assert world.apply().code == INTEGRITY
    assert not world.installed(KUBELET).exists()


@pytest.mark.parametrize("name", [KUBELET, CNI])
def test_a_wrong_signature(world, signed, signer, name):
    signed.signatures[name] = signer.sign(b"something else")
    signed.of_machine(publicKeys=[signer.key])
    result = world.apply("--retries=0", timeout=60)
    assert result.code == INTEGRITY, result
    line = 1 + next(i for i, l in enumerate(world.conf.read_text().splitlines()) if "signature" in l)
    assert f"{world.conf}:{line}:" in result.failure and "the signature is wrong" in result.failure, result
    assert not (world.installed(KUBELET) if name == KUBELET else world.installed("bridge")).exists()
    # nor when it is in the cache already
    result = world.apply("--retries=0", timeout=60)
    assert result.code == INTEGRITY, result
    assert not (world.installed(KUBELET) if name == KUBELET else world.installed("bridge")).exists()
    # and with the right one it is used
    signed.signatures[name] = signer.sign(world.contents[name])
    world.converge()


def test_an_archive_from_before(world, signed, signer):
    """What was unpacked when nobody asked for signatures is not used when somebody does."""
    world.converge()
    for path in (world.root / "opt/cni/bin").iterdir():
        path.unlink()
    signed.signatures[CNI] = signer.sign(b"something else")
    signed.of_machine(publicKeys=[signer.key])
    result = world.apply("--retries=0", timeout=60)
    assert result.code == INTEGRITY, result
    assert not world.installed("bridge").exists()


def test_the_list(world, signed, signer):
    signed.list_signature = signer.sign(signed.list())
    signed.of_machine(publicKeys=[signer.key])
    assert world.run("validate").code == OK
    world.converge()


def test_the_list_is_another(world, signed, signer):
    """One more mirror is another list: nothing is fetched, nothing is written."""
    signed.list_signature = signer.sign(signed.list())
    signed.of_machine(publicKeys=[signer.key])
    world.assets[KUBELET].urls.append("https://evil.example/kubelet")
    before = listing(world.root)
    for command in ("validate", "plan", "apply"):
        result = world.run(command, "--retries=0") if command == "apply" else world.run(command)
        assert result.code == INTEGRITY, result
        assert f"{world.conf}:" in result.failure and "assetsSignature: the signature is wrong" in result.failure
    assert world.requests() == 0 and not world.cache.exists()
    same(before, listing(world.root))


def test_keys_of_the_document(world, signed, signer, stranger):
    """They count where the machine has none; whoever could add one to the machine's could sign anything."""
    signed.list_signature = stranger.sign(signed.list())
    result = world.run("validate")
    assert result.code == CONFIG and "no public key" in result.failure, result
    signed.extra["publicKeys"] = [stranger.key]
    assert world.run("validate").code == OK
    signed.of_machine(publicKeys=[signer.public.read_text()])
    result = world.run("validate")
    assert result.code == INTEGRITY and "which is not known here" in result.failure, result
    assert "etc/nodeup/nodeup.d" in result.notes, result
    assert "publicKeys: not used" in result.err, result


def test_required(world, signed, signer):
    signed.of_machine(publicKeys=[signer.key], requireSignatures=True)
    result = world.apply("--retries=0")
    assert result.code == INTEGRITY and "is not signed, and requireSignatures is set" in result.failure, result
    nothing_is_used(world)
    signed.list_signature = signer.sign(signed.list())
    signed.signatures[PROTOKUBE] = signer.sign(world.contents[PROTOKUBE])
    world.converge()


def test_required_of_what_is_built_in(world, signed, signer):
    """No document names it, nodeup has its hash: that is not a signature of those who ask for one."""
    world.facts["distribution"] = "containeros"
    signed.list_signature = signer.sign(signed.list())
    signed.signatures[PROTOKUBE] = signer.sign(world.contents[PROTOKUBE])
    signed.of_machine(publicKeys=[signer.key])
    assert "asset mounter.tar" in world.plan().out
    signed.of_machine(publicKeys=[signer.key], requireSignatures=True)
    result = world.apply("--retries=0")
    assert result.code == INTEGRITY and world.requests() == 0, result
    assert "asset mounter.tar of containeros is not signed, and requireSignatures is set" in result.failure, result
    assert "list it in Assets with its signature: 8003b798" in result.notes, result
    nothing_is_used(world)
    world.assets["mounter.tar"] = Asset(world.digest(UTILS), [world.url(UTILS).replace(UTILS, "mounter.tar")])
    signed.list_signature = signer.sign(signed.list())
    assert world.plan().code == PENDING


def test_bake_keeps_the_keys(world, signed, signer, stranger):
    """Who boots that image is not asked for keys any more, and cannot bring others."""
    signed.list_signature = signer.sign(signed.list())
    signed.extra["publicKeys"] = [signer.key]
    for _ in range(2):
        assert world.run("bake").code == OK
        files = list((world.root / "etc/nodeup/nodeup.d").iterdir())
        assert [f.name for f in files] == ["50-keys-abc.joshdurbin.net.yaml"]
        assert signer.key in files[0].read_text()
    signed.list_signature, signed.extra["publicKeys"] = stranger.sign(signed.list()), [stranger.key]
    result = world.apply("--retries=0")
    assert result.code == INTEGRITY and "which is not known here" in result.failure, result


def test_repair_asks_again(world, signed, signer):
    signed.signatures[KUBELET] = signer.sign(world.contents[KUBELET])
    signed.of_machine(publicKeys=[signer.key])
    world.converge()
    assert world.run("repair").code == OK


@pytest.mark.parametrize("change, says", [
    ({"publicKeys": ["nonsense"]}, "publicKeys[0]: not a public key of minisign"),
    ({"publicKeys": "one"}, "publicKeys"),
    ({"urlRewrites": ["nothing"]}, "urlRewrites[0]: wanted FROM=TO"),
    ({"mirrors": ["nothing"]}, "mirrors[0]: wanted FROM=TO"),
    ({"mirrors": ["http=gopher"]}, "mirrors: asset 'gopher://"),
    ({"caBundle": "ca.pem"}, "caBundle"),
])
def test_bad_settings(world, signed, change, says):
    signed.of_machine(**change)
    result = world.run("validate")
    assert result.code == CONFIG and result.err.count(says) == 1, result


def test_unknown_settings(world, signed):
    signed.of_machine(puplicKeys=[])
    result = world.run("validate")
    assert result.code == OK and "10.yaml:1:" in result.err and "unknown key 'puplicKeys'" in result.err, result
    assert world.run("validate", "--strict").code == CONFIG


@pytest.mark.parametrize("place", ["machine", "document"])
def test_rewrites(world, signed, place):
    """For a host that is gone."""
    for asset in (*world.assets.values(), world.protokube):
        asset.urls = [u.replace(world.origin.base, "https://gone.invalid") for u in asset.urls]
    rewrites = [f"https://gone.invalid={world.origin.base}"]
    if place == "machine":
        signed.of_machine(urlRewrites=rewrites)
    else:
        signed.extra["urlRewrites"] = rewrites
    world.converge()


@pytest.mark.parametrize("place", ["machine", "document"])
def test_mirrors(world, signed, place):
    """They are asked first; what they lack, or have wrong, comes from where the documents say."""
    mirror = f"{world.origin.base}/mirror-of-{world.token}"
    own = {n: a.urls[0] for n, a in world.assets.items()}
    wrong, absent = own[KUBELET].replace(world.origin.base, mirror), own[CNI].replace(world.origin.base, mirror)
    # of two mirrors of one prefix the second has nothing at all
    mirrors = [f"{world.origin.base}={mirror}", f"{own[KUBELET]}={mirror}/~wrong/kubelet",
               f"{own[CNI]}={mirror}/~status=404/x.tar.gz"]
    if place == "machine":
        signed.of_machine(mirrors=mirrors[1:] + mirrors[:1])
    else:
        signed.extra["mirrors"] = mirrors[1:] + mirrors[:1]
    done = world.converge()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]
    assert world.origin.count(f"{mirror}/~wrong/kubelet") >= 1
    assert world.origin.count(f"{mirror}/~status=404/x.tar.gz") == 1
    assert world.origin.count(wrong) == world.origin.count(absent) == 1, done
    assert world.origin.count(own[KUBELET]) == world.origin.count(own[CNI]) == 0, "the mirrors have it"


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_rewrites_and_documents(world, signed, command):
    """The machine's are for documents, too, whoever reads them."""
    url = world.serve("kube_env.yaml", world.env_text().encode()).urls[0]
    world.config_base, conf = None, url.replace(world.origin.base, "https://gone.invalid")
    assert world.run(command, conf=conf, timeout=60).code not in (OK, PENDING)
    signed.of_machine(urlRewrites=[f"https://gone.invalid={world.origin.base}"])
    assert world.run(command, conf=conf, timeout=60).code in (OK, PENDING)


@pytest.mark.parametrize("place", ["machine", "document"])
def test_ca_bundle(world, signed, place):
    for name, asset in world.assets.items():
        asset.urls = [world.url(name, base=world.origin.tls_base)]
    assert world.apply("--retries=0", timeout=60).code != OK
    if place == "machine":
        signed.of_machine(caBundle=str(world.origin.ca))
    else:
        signed.extra["caBundle"] = str(world.origin.ca)
    world.converge()
    assert world.plan().code in (OK, PENDING)
