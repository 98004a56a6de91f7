"""A cluster's proxy in files of our own: there while the cluster has one, gone when it has none, and with a login for
root alone."""

import stat

import pytest
import yaml

from world import KUBELET, NET, PENDING

UNITS = ("docker.service", "kubelet.service", "kops-configuration.service")
DROPINS = ["etc/systemd/system/%s.d/20-kops-proxy.conf" % unit for unit in UNITS]
OPEN = [*DROPINS, "etc/systemd/system.conf.d/20-kops-proxy.conf", "etc/apt/apt.conf.d/31kops-proxy"]
LOGIN = [*DROPINS, "etc/sysconfig/kops-proxy", "etc/apt/apt.conf.d/31kops-proxy"]
EVERY = {*OPEN, *LOGIN}


def set_proxy(world, proxy):
    def change(text):
        document = yaml.safe_load(text)
        document["spec"]["egressProxy"] = proxy
        return yaml.safe_dump(document)
    world.edit_store("cluster.spec", change)


def ours(world):
    return {name for name in EVERY if (world.root / name).exists()}


@pytest.fixture
def debian(master):
    assert master.facts["distribution"] in ("debian", "ubuntu")
    return master


def test_it_comes_and_goes(debian):
    set_proxy(debian, {"httpProxy": {"host": "proxy.example", "port": 3128}, "excludes": "10.0.0.0/8"})
    debian.converge()
    assert ours(debian) == set(OPEN)
    for name in DROPINS:
        text = (debian.root / name).read_text()
        assert '[Service]\nEnvironment="http_proxy=http://proxy.example:3128" "https_proxy=' in text
        assert '"no_proxy=10.0.0.0/8"' in text
    second = debian.converge()
    assert not [l for l in second.lines if l.startswith("changed ")], second
    set_proxy(debian, None)
    third = debian.converge()
    assert ours(debian) == set()
    assert "proxy" not in (debian.root / "etc/kubernetes/manifests/kube-apiserver.manifest").read_text().replace(
        "proxy-client", "").replace("sshproxy", "")
    assert [l for l in third.lines if l.startswith("changed ") and "20-kops-proxy" in l], third
    fourth = debian.converge()
    assert not [l for l in fourth.lines if l.startswith("changed ")], fourth


def test_what_others_wrote_stays(debian):
    path = debian.root / "etc/apt/apt.conf.d/31kops-proxy"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("// mine\n")
    debian.converge()
    assert path.read_text() == "// mine\n"


def test_a_login_is_for_root_alone(debian):
    set_proxy(debian, {"httpProxy": {"host": "user:Pa55word@proxy.example"}})
    result = debian.converge()
    assert ours(debian) == set(LOGIN)
    assert "Pa55word" not in result.out + result.err
    holders = [p for p in debian.root.rglob("*") if p.is_file() and b"Pa55word" in p.read_bytes()]
    assert len(holders) >= 5, holders
    for path in holders:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    # and out of it again
    set_proxy(debian, {"httpProxy": {"host": "proxy.example"}})
    debian.converge()
    assert ours(debian) == set(OPEN)
    left = [p for p in debian.root.rglob("*") if p.is_file() and b"Pa55word" in p.read_bytes()]
    assert not left, left


@pytest.mark.parametrize("then", [None, {"httpProxy": {"host": "proxy.example"}}], ids=["no proxy", "no login"])
def test_plan_shows_no_login_that_goes(debian, then):
    set_proxy(debian, {"httpProxy": {"host": "user:Pa55word@proxy.example"}})
    debian.converge()
    assert "Pa55word" in (debian.root / "etc/apt/apt.conf.d/31kops-proxy").read_text()
    set_proxy(debian, then)
    for flags in (["--diff"], ["--diff", "-o", "json"]):
        result = debian.plan(*flags)
        assert result.code == PENDING and "31kops-proxy" in result.out, result
        assert "Pa55word" not in result.out + result.err, result
    lines = debian.plan("--diff").out.splitlines()
    at = [n for n, line in enumerate(lines) if "apt.conf.d/31kops-proxy" in line]
    assert lines[at[0]].startswith("- file " if then is None else "~ file "), lines
    assert len(at) == 1 and ("would be removed" if then is None else "not shown") in lines[at[0] + 1], lines


@pytest.mark.parametrize("proxy", ["http://u:s3cr/et@127.0.0.1:1", "http://u:s3cr#et@127.0.0.1:1",
                                   "http://u:s3cr et@127.0.0.1:1", "gopher://u:s3cret@127.0.0.1:1"])
def test_a_proxy_that_cannot_be_read(world, proxy):
    """Its password is in nothing that is printed or written; who is wrong is."""
    kubelet = world.assets[KUBELET]
    kubelet.urls = [kubelet.urls[0].replace("127.0.0.1", "mirror.invalid")]
    result = world.apply("--retries=0", env={"http_proxy": proxy}, timeout=90)
    assert result.code == NET, result
    assert "the proxy '...@127.0.0.1:1' of http_proxy is of no use" in result.failure, result
    assert "s3cr" not in result.out + result.err, result
    said = [f for f in world.root.rglob("*") if f.is_file() and b"s3cr" in f.read_bytes()]
    assert not said, said
