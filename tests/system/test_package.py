"""Packages of the program: what `make deb` and `make rpm` put where, and that their own tools take it."""
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from world import ENV, PROGRAM, ROOT

FILES = {
    "/usr/bin/nodeup", "/usr/lib/systemd/catalog/nodeup.catalog", "/usr/share/bash-completion/completions/nodeup",
    "/usr/share/fish/vendor_completions.d/nodeup.fish", "/usr/share/zsh/site-functions/_nodeup", "/usr/share/man/man8/nodeup.8.gz",
    *(f"/usr/share/doc/nodeup/{name}" for name in ("LICENSE", "NOTICE", "README.md"))}


def run(*argv, **options):
    return subprocess.run(list(map(str, argv)), check=True, capture_output=True, text=True, **options).stdout


EPOCH = 1_790_000_000
# The program of the other architecture is there where a check built it.
ARM64 = ROOT / "build/arm64/nodeup"
if_built = pytest.mark.skipif(not ARM64.exists(), reason="make ARCH=arm64 deps all builds it")


def packed(kind, folder, by=(), **env):
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), **env}
    return pathlib.Path(run(*by, "tools/package.sh", kind, folder, cwd=ROOT, env=env).strip())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Gives the package of a kind. Each is made once: to pack it takes seconds."""
    @functools.cache
    def make(kind, arch="amd64"):
        package = packed(kind, tmp_path_factory.mktemp(kind), ARCH=arch, RUN="" if arch == "amd64" else "build/deps-arm64/qemu")
        run("sha256sum", "-c", f"{package.name}.sha256", cwd=package.parent)
        return package
    return make


def version():
    return run(PROGRAM, "version").splitlines()[0].removeprefix("nodeup version ")


def list_deb(package):
    assert run("dpkg-deb", "-f", package, "Package", "Version", "Depends") == f"Package: nodeup\nVersion: {version()}\n"
    assert run("dpkg-deb", "-f", package, "Architecture").strip() == package.stem.split("_")[-1]
    rows = [line.split(None, 5) for line in run("dpkg-deb", "-c", package).splitlines()]
    return {row[5].lstrip("."): (row[0], row[1]) for row in rows if not row[0].startswith("d")}


def list_rpm(package):
    assert run("rpm", "-qp", "--qf", "%{name} %{version}", package) == f"nodeup {version()}"
    assert run("rpm", "-qp", "--qf", "%{arch}", package) == package.stem.split(".")[-1]
    assert "rm /usr/local/bin/nodeup\n" in run("rpm", "-qp", "--scripts", package)
    # a static program needs no library
    assert all(need.startswith(("rpmlib(", "/bin/sh")) for need in run("rpm", "-qp", "--requires", package).splitlines())
    rows = [line.split() for line in run("rpm", "-qp", "--qf", "[%{filenames} %{filemodes:perms} %{fileusername}/%{filegroupname}\n]", package).splitlines()]
    return {name: (mode, owner) for name, mode, owner in rows}


@pytest.mark.parametrize("kind, listed, arch", [
    ("deb", list_deb, "amd64"), pytest.param("deb", list_deb, "arm64", marks=[if_built, pytest.mark.long]), ("rpm", list_rpm, "amd64"),
    pytest.param("rpm", list_rpm, "arm64", marks=[if_built, pytest.mark.long])])
def test_a_package_has_these_files(kind, listed, arch, made):
    package = made(kind, arch)
    assert {"amd64": ("amd64", "x86_64"), "arm64": ("arm64", "aarch64")}[arch][kind == "rpm"] in package.name
    found = listed(package)
    assert set(found) == FILES
    assert {name for name, (mode, _) in found.items() if mode == "-rwxr-xr-x"} == {"/usr/bin/nodeup"}
    assert {mode for mode, _ in found.values()} == {"-rwxr-xr-x", "-rw-r--r--"} and {owner for _, owner in found.values()} == {"root/root"}


@if_built
def test_a_package_of_arm64_has_its_program(made, tmp_path):
    run("dpkg-deb", "-x", made("deb", "arm64"), tmp_path)
    assert (tmp_path / "usr/bin/nodeup").read_bytes() == ARM64.read_bytes()


def test_what_a_package_installs_runs(made, tmp_path):
    run("dpkg-deb", "-x", made("deb"), tmp_path / "root")
    program = tmp_path / "root/usr/bin/nodeup"
    assert program.read_bytes() == (ROOT / "build/nodeup").read_bytes()
    assert run(program, "version").startswith("nodeup version ")


@pytest.mark.parametrize("target, left", [("/opt/nodeup/bin/nodeup", ""), ("/root/nodeup", "nodeup\n")], ids=["ours", "somebody's"])
def test_no_link_to_an_older_program_goes_before_that_of_a_package(target, left, made, tmp_path):
    run("dpkg-deb", "-e", made("deb"), tmp_path / "control")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("readlink", "rm"):
        os.symlink(shutil.which(name), programs / name)
    script = 'mount -t tmpfs none /usr/local/bin; ln -s "$0" /usr/local/bin/nodeup; PATH=$1 /bin/sh "$2" >&2; ls /usr/local/bin'
    assert run("unshare", "-m", "sh", "-ec", script, target, programs, tmp_path / "control/postinst") == left


def test_another_version_is_another_program(tmp_path):
    """`make VERSION=... deb` after a build of another version, without a change of any source."""
    made_of = tmp_path / "obj/nodeup/cmd/cli.o"
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}

    def is_old(of):
        return subprocess.run(["make", "-q", f"B={tmp_path}", f"VERSION={of}", made_of], cwd=ROOT, env=env, capture_output=True, check=False).returncode

    assert is_old("1.2.3") == 1
    made_of.parent.mkdir(parents=True)
    made_of.touch()
    assert [is_old("1.2.3"), is_old("1.2.4"), is_old("1.2.4")] == [0, 1, 1]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A maker's key, and the public one."""
    folder = tmp_path_factory.mktemp("key")
    run("minisign", "-G", "-W", "-p", folder / "pub", "-s", folder / "key", stdin=subprocess.DEVNULL)
    return folder / "key", folder / "pub"


def laid_out(folder, arch="amd64", **more):
    """The files of `make dist` in a folder, without those that only link to it."""
    program = {"amd64": ROOT / "build/nodeup", "arm64": ARM64}[arch]
    words = [f"{name}={value}" for name, value in {"ARCH": arch, "DIST": folder, "SOURCE_DATE_EPOCH": EPOCH, **more}.items()]
    run("make", "-s", "-o", program.relative_to(ROOT), "dist", *words, cwd=ROOT, env=ENV)
    return program, sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("arch", ["amd64", pytest.param("arm64", marks=[if_built, pytest.mark.long])])
def test_dist_is_what_kops_fetches(arch, tmp_path):
    """kops takes the first word of a hash's file; sha256sum -c wants the name beside it."""
    program, names = laid_out(tmp_path, arch)
    files = ["nodeup", "nodeup.spdx.json", "nodeup.xz"]
    # without a key nothing is signed
    assert names == sorted([*files, *(f"{name}.sha256" for name in files)])
    assert (tmp_path / "nodeup").read_bytes() == program.read_bytes()
    for name in files:
        assert (tmp_path / f"{name}.sha256").read_text().split()[0] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        run("sha256sum", "-c", f"{name}.sha256", cwd=tmp_path)
    assert subprocess.run(["xz", "-dc", tmp_path / "nodeup.xz"], check=True, capture_output=True).stdout == program.read_bytes()


def released(folder, private, by=()):
    """All that a maker gives away, signed, by a command such as faketime: {name: file}."""
    folder.mkdir()
    laid_out(folder, KEY=private)
    for kind in ("deb", "rpm"):
        packed(kind, folder, by, KEY=str(private))
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def release(key, tmp_path_factory):
    return released(tmp_path_factory.mktemp("release") / "one", key[0])


def test_what_the_program_is_made_of_is_listed(release):
    listed = json.loads(release["nodeup.spdx.json"].read_text())
    assert (listed["spdxVersion"], listed["dataLicense"], listed["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert listed["creationInfo"]["created"] == "2026-09-21T14:13:20Z"
    own, *parts = listed["packages"]
    assert own["checksums"] == [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(PROGRAM.read_bytes()).hexdigest()}]
    assert {part["name"]: part["versionInfo"] for part in parts} == json.loads(run(PROGRAM, "version", "-o", "json"))["libraries"]
    linked = {relation["relatedSpdxElement"] for relation in listed["relationships"] if relation["relationshipType"] == "STATIC_LINK"}
    assert linked == {part["SPDXID"] for part in parts}
    # each has a place in Debian, whose package of that version is there
    known = dict(line.split() for line in (ROOT / "build/deps/versions").read_text().splitlines())
    purls = [part["externalRefs"][0]["referenceLocator"] for part in parts]
    assert all(re.fullmatch(r"pkg:deb/debian/[a-z0-9-]+@[A-Za-z0-9.%:-]+\?arch=source", purl) for purl in purls), purls
    assert {part["versionInfo"] for part in parts} <= set(known.values())


def test_a_release_is_signed_by_its_maker(release, key, tmp_path):
    files = sorted(name for name in release if not name.endswith((".sha256", ".minisig")))
    assert files == ["nodeup", f"nodeup-{version()}-1.x86_64.rpm", "nodeup.spdx.json", "nodeup.xz", f"nodeup_{version()}_amd64.deb"]
    for name in files:
        said = run("minisign", "-V", "-p", key[1], "-m", release[name])
        assert f"Trusted comment: nodeup {version()} amd64 {name}\n" in said
    other = tmp_path / "nodeup.xz"
    other.write_bytes(release["nodeup.xz"].read_bytes() + b"x")
    shutil.copy(release["nodeup.xz.minisig"], tmp_path)
    assert subprocess.run(["minisign", "-V", "-p", key[1], "-m", other], capture_output=True, check=False).returncode


@pytest.mark.long
def test_another_day_gives_the_same_bytes(release, key, tmp_path):
    """With another clock, umask and folder; that the program itself is the same is what the long check builds."""
    again = released(tmp_path / "another", key[0], ("env", "NO_FAKE_STAT=1", "faketime", "2031-01-02 03:04:05", "sh", "-c", 'umask 027; exec "$@"', "sh"))
    assert [name for name in release if release[name].read_bytes() != again[name].read_bytes()] == []


@pytest.mark.long
def test_another_folder_gives_the_same_program(tmp_path):
    copy = tmp_path / "a folder with a longer name"
    run("git", "clone", "-q", ROOT, copy)
    os.symlink(ROOT / "build/deps", (copy / "build").mkdir() or copy / "build/deps")
    run("faketime", "2031-01-02 03:04:05", "make", "-s", "-j2", "build/nodeup", cwd=copy, env=ENV)
    assert (copy / "build/nodeup").read_bytes() == (ROOT / "build/nodeup").read_bytes()
