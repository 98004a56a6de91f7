"""What a machine lacks in its first minute: names that resolve, a clock that is right, entropy."""

import os
import pathlib
import re
import signal
import socket
import struct
import threading
import time

import pytest

from certs import CA, OURS, shown, signed
from terminal import Run
from world import ENV, KUBELET, NET, OK, Origin, Told

NAME = "mirror.test"


def answer(query):
    """The reply of a DNS server for which every name is this machine, without IPv6."""
    end = query.index(b"\0", 12) + 5
    kind = struct.unpack("!H", query[end - 4:end - 2])[0]
    found = b"\xc0\x0c" + struct.pack("!HHIH4s", 1, 1, 1, 4, socket.inet_aton("127.0.0.1")) if kind == 1 else b""
    return query[:2] + struct.pack("!HHHHH", 0x8180, 1, bool(found), 0, 0) + query[12:end] + found


class Resolver:
    """A DNS server at an address of its own, for as long as it is started."""

    def __init__(self):
        pid = os.getpid()
        # a process runs one test at a time, and no two have this address
        self.address = f"127.{1 + pid // 62500 % 250}.{pid // 250 % 250}.{1 + pid % 250}"
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.2)
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.serve)

    def start(self):
        self.socket.bind((self.address, 53))
        self.thread.start()

    def serve(self):
        while not self.ends.is_set():
            try:
                query, peer = self.socket.recvfrom(4096)
            except TimeoutError:
                continue
            self.socket.sendto(answer(query), peer)

    def close(self):
        self.ends.set()
        if self.thread.is_alive():
            self.thread.join()
        self.socket.close()


@pytest.fixture
def resolver():
    r = Resolver()
    yield r
    r.close()


@pytest.fixture
def resolv_conf(mounts):
    """An /etc with nothing but an empty resolv.conf."""
    mounts.run("mount", "-t", "tmpfs", "tmpfs", "/etc")
    path = mounts.path(pathlib.Path("/etc/resolv.conf"))
    path.write_text("")
    return path


@pytest.fixture
def late_name(world, mounts, resolv_conf):
    """An apply whose kubelet is at a name that nobody knows yet, and at a mirror that says "later": that one
    keeps the run alive for as long as the name takes."""
    mirror = world.url(KUBELET, base=world.origin.base.replace("127.0.0.1", NAME))
    world.assets[KUBELET].urls = [mirror, world.url(KUBELET, "fail=1000000", "code=503", "retry_after=86400")]
    runs = []

    def start():
        runs.append(Told(world, [*mounts.enter, *world.argv("apply")]))
        return runs[-1]
    yield start
    for run in runs:
        run.end(signal.SIGKILL)


def test_resolv_conf_is_filled_late(world, late_name, resolv_conf, resolver):
    """It is read again: what was known of it at the start is not kept."""
    resolver.start()
    run = late_name()
    run.until("asset kubelet", NAME, "resolve")
    resolv_conf.write_text(f"nameserver {resolver.address}\n")
    assert run.end() == OK, run.text()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_the_resolver_starts_late(world, late_name, resolv_conf, resolver):
    resolv_conf.write_text(f"nameserver {resolver.address}\n")
    run = late_name()
    run.until("asset kubelet", NAME, "resolve")
    resolver.start()
    assert run.end() == OK, run.text()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def make_cert(folder, start, end):
    """A certificate of 127.0.0.1 that is its own CA."""
    folder.mkdir()
    signed(folder, "late", None, f"{OURS}\n{CA}", start, end)
    return shown(folder, "late")


def zulu(seconds_from_now):
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds_from_now))


@pytest.fixture
def served(world, tmp_path):
    """kubelet from a server whose certificate holds from then to then."""
    servers = []

    def serve(start, end):
        shows = make_cert(tmp_path / "late-tls", zulu(start), zulu(end))
        servers.append(Origin(world.origin.folder, shows))
        world.assets[KUBELET].urls = [world.url(KUBELET, base=servers[0].tls_base)]
        return {"SSL_CERT_FILE": str(servers[0].ca)}
    serve.origins = servers
    yield serve
    for server in servers:
        server.close()


YEAR = 365 * 86400


@pytest.mark.parametrize("start, end, says, flags", [(YEAR, 2 * YEAR, "not yet valid", ["--deadline=3s"]),
                                                     (-2 * YEAR, -YEAR, "expired", [])])
def test_a_clock_that_the_certificate_does_not_hold_at(world, served, start, end, says, flags):
    """A clock that was not set yet looks just so: it is said what it shows."""
    result = world.apply(*flags, env=served(start, end))
    assert result.code == NET and KUBELET in result.failure and says in result.failure, result
    assert re.search(r"; this machine's clock: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", result.failure), result
    assert not world.installed(KUBELET).exists() and not world.entry(KUBELET).exists()


def test_the_clock_is_set_late(world, served, tmp_path):
    """Here it is the certificate that comes to hold. Three rounds do not end it before."""
    served(YEAR, 2 * YEAR)
    now = make_cert(tmp_path / "now", zulu(-YEAR), zulu(YEAR))
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("".join((tmp_path / d / "late.pem").read_text() for d in ("late-tls", "now")))
    world.write_documents()
    run = Run(world.argv("apply"), {**ENV, "TERM": "xterm", "SSL_CERT_FILE": str(bundle)}, 1000, world.folder)
    try:
        run.until(lambda s: re.search(r"^kubelet +attempt ([4-9]|\d\d), next in .*not yet valid; this machine's clock: "
                                      ".*which may not be set yet", s.text(), re.M))
        served.origins[0].control(f"/__tls?path={now}")
        assert run.finish() == OK, run.screen.text()
    finally:
        run.kill()
    assert world.installed(KUBELET).read_bytes() == world.contents[KUBELET]


def test_a_certificate_that_holds(world, served):
    """The check of those above: it is the time alone that they fail by."""
    world.converge(env=served(-YEAR, YEAR))


def test_nobody_waits_for_entropy(world, mounts):
    """/dev/random may block for minutes on a machine without a disk's or a user's noise; here it does for ever."""
    fifo = world.folder / "random"
    os.mkfifo(fifo)
    mounts.run("mount", "--bind", fifo, "/dev/random")
    assert mounts.path(pathlib.Path("/dev/random")).is_fifo()
    world.assets[KUBELET].urls = [world.url(KUBELET, base=world.origin.tls_base)]
    world.converge(prefix=mounts.enter, env={"SSL_CERT_FILE": str(world.origin.ca)})
