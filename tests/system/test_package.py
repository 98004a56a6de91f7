"""Packages of the program: what `make deb` and `make rpm` put where, and that their own tools take it."""
import functools
import hashlib
import os
import pathlib
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


# The program of the other architecture is there where a check built it.
ARM64 = ROOT / "build/arm64/nodeup"
if_built = pytest.mark.skipif(not ARM64.exists(), reason="make ARCH=arm64 deps all builds it")
ARCHES = ["amd64", pytest.param("arm64", marks=if_built)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Gives the package of a kind. Each is made once: to pack it takes seconds."""
    @functools.cache
    def make(kind, arch="amd64"):
        env = {**os.environ, "ARCH": arch, "RUN": "" if arch == "amd64" else "build/deps-arm64/qemu"}
        package = pathlib.Path(run("tools/package.sh", kind, tmp_path_factory.mktemp(kind), cwd=ROOT, env=env).strip())
        assert pathlib.Path(f"{package}.sha256").read_text().strip() == hashlib.sha256(package.read_bytes()).hexdigest()
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


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("kind, listed", [("deb", list_deb), ("rpm", list_rpm)])
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


@pytest.mark.parametrize("arch", ARCHES)
def test_dist_is_what_kops_fetches(arch, tmp_path):
    """Each hash is alone in its file, as kops reads it: sha256sum -c wants a name beside it."""
    program = {"amd64": ROOT / "build/nodeup", "arm64": ARM64}[arch]
    run("make", "-s", "-o", program.relative_to(ROOT), "dist", f"ARCH={arch}", f"DIST={tmp_path}", cwd=ROOT, env=ENV)
    assert (tmp_path / "nodeup").read_bytes() == program.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nodeup", "nodeup.sha256", "nodeup.xz", "nodeup.xz.sha256"]
    for name in ("nodeup", "nodeup.xz"):
        assert (tmp_path / f"{name}.sha256").read_text() == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() + "\n"
    assert subprocess.run(["xz", "-dc", tmp_path / "nodeup.xz"], check=True, capture_output=True).stdout == (tmp_path / "nodeup").read_bytes()
