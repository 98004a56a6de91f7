"""TLS roots: a static binary brings its builder's path, so each distribution's place is tried in a mount
namespace where /etc, /usr/share and /var/lib hold nothing else."""

import pathlib
import re
import shutil
import subprocess

import pytest

from certs import CA, OURS, shown, signed
from world import KUBELET, NET

BUNDLE = {
    "debian": {"etc/ssl/certs/ca-certificates.crt": None},
    "rhel": {"etc/pki/tls/certs/ca-bundle.crt": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
             "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": None},
    "amazonlinux": {"etc/pki/tls/certs/ca-bundle.crt": "../../ca-trust/extracted/pem/tls-ca-bundle.pem",
                    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": None},
    "rhel-10": {"etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": None},
    "flatcar": {"etc/ssl/certs/ca-certificates.crt": "../../../usr/share/ca-certificates/ca-certificates.crt",
                "usr/share/ca-certificates/ca-certificates.crt": None},
    "flatcar-early": {"usr/share/ca-certificates/ca-certificates.crt": None},
    "suse": {"etc/ssl/ca-bundle.pem": "/var/lib/ca-certificates/ca-bundle.pem",
             "var/lib/ca-certificates/ca-bundle.pem": None},
    "suse-microos": {"var/lib/ca-certificates/ca-bundle.pem": None},
    "alpine": {"etc/ssl/cert.pem": "certs/ca-certificates.crt", "etc/ssl/certs/ca-certificates.crt": None},
    "alpine-cert-pem": {"etc/ssl/cert.pem": None},
    # a link that leads nowhere must not end the search
    "dangling": {"etc/ssl/certs/ca-certificates.crt": "nowhere.pem", "etc/pki/tls/certs/ca-bundle.crt": None},
}


@pytest.fixture
def machine(mounts, world):
    """A machine without any roots; add(layout) puts the test's CA in its places."""
    for place in ("/etc", "/usr/share", "/var/lib"):
        mounts.run("mount", "-t", "tmpfs", "tmpfs", place)
    etc = mounts.path(pathlib.Path("/etc"))
    (etc / "hosts").write_text("127.0.0.1 localhost wrong.test\n")
    (etc / "resolv.conf").write_text("nameserver 127.0.0.1\n")

    def add(files, text=None):
        for name, target in files.items():
            path = mounts.path(pathlib.Path("/" + name))
            path.parent.mkdir(parents=True, exist_ok=True)
            if target:
                path.symlink_to(target)
            else:
                path.write_text(world.origin.ca.read_text() if text is None else text)
    world.assets[KUBELET].urls = [world.url(KUBELET, base=world.origin.tls_base)]
    return add


@pytest.mark.parametrize("layout", BUNDLE)
def test_layout(world, mounts, machine, layout):
    machine(BUNDLE[layout])
    world.converge(prefix=mounts.enter)
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_no_roots_are_looked_for_where_none_are_needed(world, tmp_path):
    """Each request would look at all places of a machine that has none."""
    log = tmp_path / "opened"
    world.converge(prefix=["strace", "-f", "-qq", "-o", str(log), "-e", "trace=openat2"])
    assert "/etc/" in log.read_text() and "certs" not in log.read_text()


def hashed_name(path):
    return subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", path], capture_output=True, check=True,
                          text=True).stdout.strip() + ".0"


def test_directory_of_hashed_names(world, mounts, machine):
    machine({f"etc/ssl/certs/{hashed_name(world.origin.ca)}": None})
    world.converge(prefix=mounts.enter)


@pytest.fixture
def other_ca(tmp_path):
    path = tmp_path / "other.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", tmp_path / "other.key", "-out", path, "-days", "10", "-subj", "/CN=other"],
                   check=True, stderr=subprocess.DEVNULL)
    return path


FOLDERS = {"etc/ssl/certs/ca-certificates.crt": "etc/ssl/certs", "etc/ssl/ca-bundle.pem": "etc/ssl/certs",
           "etc/pki/tls/certs/ca-bundle.crt": "etc/pki/ca-trust/extracted/pem/directory-hash",
           "var/lib/ca-certificates/ca-bundle.pem": "var/lib/ca-certificates/pem"}


@pytest.mark.parametrize("bundle, folder", FOLDERS.items())
def test_a_root_of_the_folder_spares_the_bundle(world, mounts, machine, other_ca, bundle, folder):
    machine({bundle: None}, text=other_ca.read_text())
    machine({f"{folder}/{hashed_name(world.origin.ca)}": None})
    trace = world.folder / "trace"
    world.converge(prefix=[*mounts.enter, "strace", "-f", "-qq", "-e", "trace=openat", "-o", trace])
    opened = trace.read_text()
    assert hashed_name(world.origin.ca) in opened and f'openat(AT_FDCWD, "/{bundle}' not in opened


def test_a_root_that_the_bundle_alone_has(world, mounts, machine, other_ca):
    """The folder has others, one of them by our root's hash."""
    machine({"etc/ssl/certs/ca-certificates.crt": None})
    machine({f"etc/ssl/certs/{hashed_name(path)}": None for path in (other_ca, world.origin.ca)}, text=other_ca.read_text())
    world.converge(prefix=mounts.enter)


@pytest.fixture
def present(world, make_origin):
    """A server of kubelet that shows such a certificate, and what it is signed by."""
    origin = make_origin()
    (origin.folder / KUBELET).write_bytes(world.contents[KUBELET])
    world.assets[KUBELET].urls = [f"{origin.tls_base}/{KUBELET}"]

    def present(pki, name, *more):
        origin.control(f"/__tls?path={shown(pki, name, *more)}")
    return present


@pytest.fixture
def pki(tmp_path):
    folder = tmp_path / "pki"
    folder.mkdir()
    return folder


@pytest.fixture
def public(pki, present):
    """A server as public ones are: its certificate is signed by an intermediate, which it sends as well. Its root."""
    root = signed(pki, "root", None, CA)
    signed(pki, "middle", "root", CA)
    signed(pki, "leaf", "middle", OURS)
    present(pki, "leaf", "middle")
    return root


def test_an_intermediate_spares_the_bundle_too(world, mounts, machine, other_ca, public):
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text=other_ca.read_text())
    machine({f"etc/ssl/certs/{hashed_name(public)}": None}, text=public.read_text())
    trace = world.folder / "trace"
    world.converge(prefix=[*mounts.enter, "strace", "-f", "-qq", "-e", "trace=openat", "-o", trace])
    assert 'openat(AT_FDCWD, "/etc/ssl/certs/ca-cert' not in trace.read_text()


@pytest.mark.parametrize("folder_has_another", [False, True])
def test_an_intermediate_by_the_bundle(world, mounts, machine, pki, public, folder_has_another):
    """What the folder has of that name may be an older one, of another key."""
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text=public.read_text())
    if folder_has_another:
        (pki / "root.key").unlink()
        older = signed(pki, "root", None, CA)
        machine({f"etc/ssl/certs/{hashed_name(older)}": None}, text=older.read_text())
    world.converge(prefix=mounts.enter)


@pytest.mark.parametrize("chain", [["leaf", "middle"], ["direct"]])
def test_an_expired_root_of_the_folder(world, mounts, machine, pki, public, present, chain):
    """The bundle has it renewed, by the same key."""
    signed(pki, "direct", "root", OURS)
    present(pki, *chain)
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text=public.read_text())
    expired = signed(pki, "root", None, CA, "20100101000000Z", "20110101000000Z")
    machine({f"etc/ssl/certs/{hashed_name(expired)}": None}, text=expired.read_text())
    world.converge(prefix=mounts.enter)


def fails(world, *patterns, **kw):
    result = world.apply(timeout=30, **kw)
    assert result.code == NET, result
    told = f"{result.failure}\n{result.notes}"
    for pattern in patterns:
        assert re.search(pattern, told), f"want /{pattern}/ in\n{told}"
    assert not world.installed(KUBELET).exists()
    return result


def test_no_roots_anywhere(world, mounts, machine):
    """The message says that they are missing and what would help, not just that TLS failed."""
    fails(world, r"(?i)\bCA\b|root|certificate",
          "(?i)none|no CA|not found|SSL_CERT_FILE|no .*(bundle|roots|certificates)", prefix=mounts.enter)


def test_an_empty_bundle(world, mounts, machine):
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text="")
    fails(world, "(?i)CA|certificate", prefix=mounts.enter)


@pytest.mark.parametrize("bundle, folder", FOLDERS.items())
def test_roots_of_somebody_else(world, mounts, machine, other_ca, bundle, folder):
    machine({bundle: None, f"{folder}/{hashed_name(other_ca)}": None}, text=other_ca.read_text())
    fails(world, "(?i)certificate", prefix=mounts.enter)


def test_a_bundle_of_something_else(world, mounts, machine):
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text="-----BEGIN CERTIFICATE-----\nMIIB\n")
    fails(world, "the CA certificates of this machine cannot be read", prefix=mounts.enter)


def test_the_name_is_checked(world, mounts, machine):
    machine(BUNDLE["debian"])
    world.assets[KUBELET].urls = [world.assets[KUBELET].urls[0].replace("127.0.0.1", "wrong.test")]
    fails(world, r"wrong\.test", "(?i)certificate|name|subject", prefix=mounts.enter)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "AWS_CA_BUNDLE"])
def test_a_named_file(world, mounts, machine, variable):
    ca = world.folder / "our-ca.pem"
    shutil.copy(world.origin.ca, ca)
    world.converge(prefix=mounts.enter, env={variable: str(ca)})


def test_a_named_file_that_is_not_there(world, mounts, machine):
    """Named by somebody: an error to see, though the machine has roots that would do."""
    machine(BUNDLE["debian"])
    fails(world, r"none\.pem", prefix=mounts.enter, env={"SSL_CERT_FILE": str(world.folder / "none.pem")})


def test_roots_are_the_hosts_not_the_images(world, mounts, machine):
    """The image that is built says nothing about whom its builder trusts."""
    path = world.root / "etc/ssl/certs/ca-certificates.crt"
    path.parent.mkdir(parents=True)
    shutil.copy(world.origin.ca, path)
    fails(world, prefix=mounts.enter)


def test_http_needs_no_roots(world, mounts, machine):
    world.assets[KUBELET].urls = [world.url(KUBELET)]
    world.converge(prefix=mounts.enter)


def test_a_proxy_by_https_needs_roots(world, mounts, machine):
    world.assets[KUBELET].urls = [world.url(KUBELET)]
    fails(world, "no CA certificates on this machine", prefix=mounts.enter, env={"http_proxy": "https://127.0.0.1:1"})


@pytest.mark.parametrize("bundle", ["other", "broken", "ours"])
@pytest.mark.parametrize("extensions, start, end, says", [(OURS, "20100101000000Z", "20110101000000Z", "expired"),
                                                          (OURS, "20700101000000Z", "20800101000000Z", "not yet valid"),
                                                          ("subjectAltName=email:a@127.0.0.1", "20200101000000Z", "20800101000000Z", "names no host")])
def test_what_the_folder_alone_knows_of(world, mounts, machine, pki, present, other_ca, bundle, extensions, start, end, says):
    """The bundle, which has the last word, says nothing better of it."""
    root = signed(pki, "root", None, CA)
    signed(pki, "leaf", "root", extensions, start, end)
    present(pki, "leaf")
    machine({"etc/ssl/certs/ca-certificates.crt": None}, text={"other": other_ca.read_text(), "broken": "no certificate", "ours": root.read_text()}[bundle])
    machine({f"etc/ssl/certs/{hashed_name(root)}": None}, text=root.read_text())
    result = world.apply("--deadline=3s", timeout=30, prefix=mounts.enter)
    assert result.code == NET and says in f"{result.failure}\n{result.notes}", result
    assert not world.installed(KUBELET).exists()
