"""Instance metadata is nobody's mirror: no name and no redirect leads an asset there."""

import pathlib

import pytest

from world import KUBELET, NET

HOSTS_FILE = pathlib.Path("/etc/hosts")
HOSTS = "127.0.0.1 localhost mirror.example\n169.254.169.254 metadata.example\nfd00:ec2::254 metadata6.example\n"


@pytest.fixture
def names(world, mounts):
    """What these names lead to, for those in the namespace."""
    hosts = world.folder / "hosts"
    hosts.write_text(HOSTS)
    if not HOSTS_FILE.exists():  # as on a minimal Debian
        HOSTS_FILE.touch()
    mounts.run("mount", "--bind", hosts, HOSTS_FILE)
    return mounts.enter


@pytest.mark.parametrize("name, address", [("metadata.example", "169.254.169.254"),
                                           ("metadata6.example", "fd00:ec2::254")])
def test_by_name(world, names, name, address):
    kubelet = world.assets[KUBELET]
    kubelet.urls = [f"http://{name}/latest/kubelet"]
    result = world.apply("--retries=0", prefix=names, timeout=90)
    assert result.code == NET, result
    assert f"refused: it leads to {address}, a link-local address" in result.failure, result
    # one that may be asked is
    kubelet.urls.append(world.url(KUBELET))
    world.converge(prefix=names, timeout=90)


def test_by_redirect(world, names):
    """From a server that may be asked, to a name that leads there."""
    kubelet = world.assets[KUBELET]
    mirror = world.origin.base.replace("127.0.0.1", "mirror.example")
    kubelet.urls = [world.url(KUBELET, base=mirror) + "?redirect=http://metadata.example/latest"]
    result = world.apply("--retries=0", prefix=names, timeout=90)
    assert result.code == NET, result
    assert "GET 'http://metadata.example/latest': refused: it leads to 169.254.169.254" in result.failure, result


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/kubelet", "https://[fe80::1]/kubelet",
                                 "http://[::ffff:169.254.169.254]/kubelet"])
def test_by_address(world, url):
    """A document that says so is wrong, and that is known before anything is asked."""
    world.assets[KUBELET].urls = [url, world.url(KUBELET)]
    result = world.run("validate")
    assert result.code == 78 and "a link-local address" in result.failure, result


# Behind a proxy, which would look the name up itself

def asked_of_proxy(world, url):
    return int(world.origin.control(f"/__count?path={url}"))


@pytest.mark.parametrize("url, address", [("http://metadata.example/latest/kubelet", "169.254.169.254"),
                                          ("http://metadata6.example/latest/kubelet", "fd00:ec2::254"),
                                          ("http://2852039166/latest/kubelet", "169.254.169.254")])
def test_by_name_behind_a_proxy(world, names, url, address):
    kubelet, before = world.assets[KUBELET], asked_of_proxy(world, url)
    kubelet.urls = [url]
    result = world.apply("--retries=0", prefix=names, timeout=90, env={"http_proxy": world.origin.base})
    assert result.code == NET, result
    assert f"GET '{url}': refused: it leads to {address}, a link-local address" in result.failure, result
    assert asked_of_proxy(world, url) == before
    assert not world.installed(KUBELET).exists()


def test_by_redirect_behind_a_proxy(world, names):
    kubelet, target = world.assets[KUBELET], "http://metadata.example/latest"
    before = asked_of_proxy(world, target)
    mirror = world.origin.base.replace("127.0.0.1", "mirror.example")
    kubelet.urls = [world.url(KUBELET, base=mirror) + f"?redirect={target}"]
    result = world.apply("--retries=0", prefix=names, timeout=90, env={"http_proxy": world.origin.base})
    assert result.code == NET, result
    assert f"GET '{target}': refused: it leads to 169.254.169.254" in result.failure, result
    assert asked_of_proxy(world, target) == before


@pytest.mark.parametrize("host", ["mirror.example", "only-the-proxy-knows.invalid"])
def test_a_proxy_is_asked_for_the_others(world, names, host):
    """A name that leads somewhere else, or that cannot be looked up here."""
    url = world.url(KUBELET, base=f"http://{host}")
    world.assets[KUBELET].urls = [url]
    world.converge(prefix=names, timeout=90, env={"http_proxy": world.origin.base})
    assert asked_of_proxy(world, url) == 1
