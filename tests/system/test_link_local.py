"""Instance metadata is nobody's mirror: no name and no redirect leads an asset there."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from world import CONFIG, KUBELET, NET, PROGRAM, PROTOKUBE

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
                                 "http://[::ffff:169.254.169.254]/kubelet", "http://169.254.169.254./kubelet",
                                 "http://2852039166/latest/kubelet", "http://[fd00:ec2::23]/kubelet",
                                 "http://[64:ff9b::a9fe:a9fe]/kubelet", "http://[2002:a9fe:a9fe::1]/kubelet"])
def test_by_address(world, url):
    """A document that says so is wrong, and that is known before anything is asked."""
    world.assets[KUBELET].urls = [url, world.url(KUBELET)]
    result = world.run("validate")
    assert result.code == 78 and "a link-local address" in result.failure, result


# Behind a proxy, which would look the name up itself

def asked_of_proxy(world, url):
    return int(world.origin.control(f"/__count?path={url}"))


@pytest.mark.parametrize("url, address", [("http://metadata.example/latest/kubelet", "169.254.169.254"),
                                          ("http://metadata6.example/latest/kubelet", "fd00:ec2::254")])
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


@pytest.mark.parametrize("host", ["１６９.254.169.254", "169。254.169.254", "%EF%BC%91%EF%BC%96%EF%BC%99.254.169.254"])
def test_digits_of_another_script(world, host):
    """A proxy may take them for those of ASCII; a name of other letters is written as xn--."""
    world.assets[KUBELET].urls = [f"http://{host}/kubelet"]
    result = world.run("validate")
    assert result.code == CONFIG and "not ASCII" in result.failure and "kube_env.yaml:2:3" in result.failure, result


@pytest.mark.parametrize("target, why", [
    ("http://169.254.169.254./latest", "link-local"), ("http://2852039166./latest", "link-local"),
    ("http://[fd00:ec2::23]/latest", "link-local"), ("http://１６９.254.169.254/latest", "not ASCII")])
def test_by_redirect_to_an_address_behind_a_proxy(world, target, why):
    """The proxy that sends one there is not asked again."""
    encoded = target.encode().decode("latin-1") if target.isascii() else target
    before = asked_of_proxy(world, target) if target.isascii() else 0
    world.assets[KUBELET].urls = [world.url(KUBELET, base="http://mirror.invalid") + f"?redirect={encoded}"]
    result = world.apply("--retries=0", timeout=90, env={"http_proxy": world.origin.base})
    assert result.code == NET and why in result.failure, result
    if target.isascii():
        assert asked_of_proxy(world, target) == before


# Where such services really answer: a network of our own

SERVICES = {"fd00:ec2::23": "pods.example", "fd00:ec2::254": "metadata6.example",
            "64:ff9b::a9fe:a9fe": "nat64.example", "64:ff9b:1::a9fe:a9fe": "local-nat64.example",
            "2002:a9fe:a9fe::1": "6to4.example", "169.254.169.254": "metadata.example"}
NAT64 = "64:ff9b::808:808"  # how a machine without IPv4 reaches 8.8.8.8
SERVER = """
import http.server, socket, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_request(self, code=None, size=None):
        with open(sys.argv[2], "a") as f:
            print(self.connection.getsockname()[0], self.command, self.path, file=f)
    def do_GET(self):
        if "?to=" in self.path:
            self.send_response(302)
            self.send_header("Location", self.path.split("?to=")[1])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        super().do_GET()
    def do_PUT(self):
        self.send_error(404)
import os
os.chdir(sys.argv[1])
server = Server(("::", 80), Handler)
print(flush=True)
server.serve_forever()
"""


class Net:
    """A network namespace where one server answers at each of these addresses, and says which."""

    def __init__(self, world):
        self.world, self.log = world, world.folder / "net.log"
        self.log.touch()
        hosts = world.folder / "net-hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for a, n in SERVICES.items()))
        HOSTS_FILE.touch()
        up = "".join(f"ip addr add {a}{'/128 nodad' if ':' in a else '/32'} dev lo && " for a in (*SERVICES, NAT64))
        script = f"ip link set lo up && {up} mount --bind {hosts} {HOSTS_FILE} && exec \"$@\""
        self.server = subprocess.Popen(
            ["unshare", "-n", "-m", "--propagation", "private", "sh", "-ec", script, "sh",
             sys.executable, "-c", SERVER, str(world.origin.folder), str(self.log)],
            stdout=subprocess.PIPE, stderr=open(world.folder / "net.err", "w"), text=True)
        assert self.server.stdout.readline() == "\n", (world.folder / "net.err").read_text()
        self.enter = ["nsenter", f"--net=/proc/{self.server.pid}/ns/net", f"--mount=/proc/{self.server.pid}/ns/mnt",
                      f"--root=/proc/{self.server.pid}/root", "--"]

    def fetch(self, url, **kw):
        self.world.assets = {KUBELET: self.world.assets[KUBELET]}
        self.world.assets[KUBELET].urls = [url]
        self.world.protokube = self.world.local(PROTOKUBE, self.world.contents[PROTOKUBE])
        return self.world.run("bake", prefix=self.enter, timeout=90, **kw)

    def asked(self):
        return self.log.read_text()

    def close(self):
        self.server.kill()
        self.server.wait(10)


@pytest.fixture
def net(world):
    n = Net(world)
    yield n
    n.close()


def literal(address):
    return f"http://[{address}]" if ":" in address else f"http://{address}"


@pytest.mark.parametrize("address", SERVICES)
def test_services_are_not_asked(net, address):
    """By address, by name, and by a redirect of each kind; the server hears of the first redirect alone."""
    result = net.fetch(f"{literal(address)}/{KUBELET}")
    assert result.code == CONFIG and "a link-local address" in result.failure, result
    assert net.asked() == ""
    result = net.fetch(f"http://{SERVICES[address]}/{KUBELET}")
    assert result.code == NET and f"it leads to {address}, a link-local address" in result.failure, result
    assert net.asked() == ""
    for target in (literal(address), f"http://{SERVICES[address]}"):
        result = net.fetch(f"http://127.0.0.1/x?to={target}/{KUBELET}")
        assert result.code == NET and "link-local" in result.failure, result
    assert {l.split()[0] for l in net.asked().splitlines()} == {"::ffff:127.0.0.1"}


@pytest.mark.parametrize("address", SERVICES)
def test_services_are_not_asked_of_a_proxy(net, address):
    env = {"http_proxy": "http://127.0.0.1:80"}
    result = net.fetch(f"http://{SERVICES[address]}/{KUBELET}", env=env)
    assert result.code == NET and f"it leads to {address}, a link-local address" in result.failure, result
    assert net.asked() == ""


def test_nat64_of_another_address_is_a_mirror(net):
    result = net.fetch(f"http://[{NAT64}]/{KUBELET}")
    assert result.code == 0, result
    assert f"{NAT64} GET /{KUBELET}" in net.asked()


@pytest.mark.parametrize("mode, address", [("IPv4", "::ffff:169.254.169.254"), ("IPv6", "fd00:ec2::254")])
def test_metadata_is_asked_by_its_own_client(net, mode, address):
    """For credentials, which nothing else here gives; in a root of its own, as image mode asks for none."""
    net.world.config_base = "s3://a-bucket/of-nobody"
    net.world.write_documents()
    for path in (PROGRAM, net.world.conf, net.world.facts_file):
        shutil.copy(path, net.world.root)
    argv = [*net.enter, "chroot", str(net.world.root), f"/{PROGRAM.name}", "plan", "--conf=/kube_env.yaml",
            "--facts=/facts.yaml"]
    result = net.world.run_argv(argv, env={"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": mode, "AWS_REGION": "us-west-2"})
    assert f"{address} PUT /latest/api/token" in net.asked(), result
