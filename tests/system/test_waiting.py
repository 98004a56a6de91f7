"""How a run waits: a line when the reason changes and no more within a minute; on a terminal besides one that is
redrawn in place."""

import http.server
import re
import signal
import socket
import threading
import time

import pytest

from terminal import Run
from world import CNI, ENV, KUBELET, OK, Told, until

# some attempts are made meanwhile, and reminders were once every ten seconds
A_WHILE = 12
LINE = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} \w+ +(.*)$")
CLOCK = r"\d\d:\d\d:\d\d"


class Refuses(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503)

    def log_message(self, *args):
        pass


@pytest.fixture
def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def silent(port):
    """A server at the port that takes connections and says nothing."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", port))
        s.listen()
        yield s


@pytest.fixture
def answer(port):
    """Have the port, where nothing listens, answer 503 from now on."""
    servers = []

    def begin():
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", port), Refuses))
        threading.Thread(target=servers[0].serve_forever, daemon=True).start()
    yield begin
    for s in servers:
        s.shutdown()
        s.server_close()


@pytest.fixture
def on_terminal(world):
    runs = []

    def make(argv, **env):
        world.write_documents()
        runs.append(Run(argv, {**ENV, "TERM": "xterm", **env}, 200, world.folder))
        return runs[-1]
    yield make
    for run in runs:
        run.kill()


def told_of(text, pattern):
    lines = [m[1] for m in map(LINE.match, text.splitlines()) if m]
    return [line for line in lines if re.match(pattern, line)]


@pytest.mark.parametrize("command", ["apply", pytest.param("bake", marks=pytest.mark.long)])
def test_documents(world, port, answer, command):
    """Two are asked for at once: at most a line for each of them and each reason."""
    world.config_base = f"http://127.0.0.1:{port}/store"
    run = Told(world, world.argv(command))
    try:
        run.until("WAITING documents", "Connection refused")
        time.sleep(A_WHILE)
        answer()
        run.until("WAITING documents", "503")
        time.sleep(A_WHILE)
    finally:
        run.end(signal.SIGTERM)
    lines = told_of(run.text(), "WAITING")
    of = {why: [line for line in lines if why in line] for why in ("Connection refused", "HTTP status 503")}
    assert sum(map(len, of.values())) == len(lines) and all(1 <= len(found) <= 2 for found in of.values()), run.text()
    for found in of.values():
        urls = [re.search("GET '([^']*)'", line)[1] for line in found]
        assert len(urls) == len(set(urls)), run.text()
    assert all(line.count("/store/") == 1 and re.match(r"WAITING documents: for .*, attempt \d+: ", line)
               for line in lines), run.text()


@pytest.mark.long
def test_tasks_and_an_asset(world, held):
    """The plugins' archive stops in the middle: what is to be installed of it waits, too."""
    run = Told(world)
    try:
        assert held.begun.wait(Told.PATIENCE)
        run.until("WAITING install ")
        time.sleep(A_WHILE)
        held.go.set()
        assert run.end() == OK
    finally:
        run.end(signal.SIGKILL)
    titles = [re.match(r"(?:WAITING|WORKING)? ?((?:asset|install) \S+(?: and \d+ more)?):", line)[1]
              for line in told_of(run.text(), "WAITING|WORKING|asset ")]
    assert f"asset {CNI}" in titles and any(re.match(r"install \S+ and \d+ more$", title) for title in titles), run.text()
    assert len(titles) == len(set(titles)), run.text()


def test_an_asset_whose_mirrors_fail_in_turn(world):
    """A little comes each time, so it is not given up."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "ranges", "reset=20000"), world.url(KUBELET, "status=503")]
    run = Told(world)
    try:
        until(lambda: world.origin.count(world.assets[KUBELET].urls[1]) >= 5, run.text)
    finally:
        run.end(signal.SIGTERM)
    lines = told_of(run.text(), "(WAITING )?asset kubelet")
    reasons = [re.sub(r"[\d.]+", "", line.rpartition("GET '")[2]) for line in lines]
    assert 1 <= len(reasons) == len(set(reasons)) <= 2, run.text()
    assert all(line.count(url) <= 1 for line in lines for url in world.assets[KUBELET].urls), run.text()


def in_place(screen, what):
    return [line for line in screen.lines if line.startswith(what + "  ")]


def changes(run, what, n):
    """So many different lines in place, one at a time; the last of them."""
    seen = []

    def look(screen):
        lines = in_place(screen, what)
        assert len(lines) <= 1, screen.text()
        seen.extend(line for line in lines if line not in seen)
        return len(seen) >= n
    run.until(look)
    return seen[-1]


def test_documents_on_a_terminal(world, port, on_terminal):
    world.config_base = f"http://127.0.0.1:{port}/store"
    run = on_terminal(world.argv("apply", "--deadline=12s"))
    line = changes(run, "documents", 4)
    assert re.match(rf"documents  since {CLOCK}, attempt \d+, next try {CLOCK}: .*/store/.*", line), line
    assert run.finish() == 69
    assert not in_place(run.screen, "documents") and "FAILED" in run.screen.text(), run.screen.text()
    assert 1 <= len(told_of(run.screen.text(), "WAITING documents")) <= 2, run.screen.text()


def test_a_store_that_says_nothing(world, port, silent, on_terminal):
    """Long before it is given up: in place, and one line for all that is asked of it."""
    world.config_base = f"http://127.0.0.1:{port}/store"
    run = on_terminal(world.argv("apply"))
    run.until(lambda screen: in_place(screen, "documents"))
    line, = in_place(run.screen, "documents")
    assert re.match(rf"documents  since {CLOCK}, attempt 1: http://127.0.0.1:{port}/store/\S+: no answer yet$", line), line
    assert len(told_of(run.screen.text(), r"WAITING documents: for \d\.\d s, attempt 1: \S+: no answer yet$")) == 1, run.screen.text()


@pytest.mark.long
def test_tasks_on_a_terminal(world, held, on_terminal):
    """What is to be installed of an archive waits for the rest of it, and has a line in place as that has."""
    world.write_documents()
    run = on_terminal(world.argv("apply"))
    assert held.begun.wait(Told.PATIENCE)
    name = re.compile(r"(install \S+)  +for (\d+\.\d) s: \S")
    seen = {}

    def look(screen):
        for found in filter(None, map(name.match, screen.lines)):
            seen.setdefault(found[1], set()).add(found[2])
        return any(len(times) >= 3 for times in seen.values())
    run.until(look)
    held.go.set()
    assert run.finish() == OK
    assert not [line for line in run.screen.lines if name.match(line)], run.screen.text()


@pytest.mark.parametrize("sig", [None, signal.SIGTERM])
def test_the_lock_on_a_terminal(told, held, on_terminal, sig):
    first = told()
    assert held.begun.wait(Told.PATIENCE)
    second = on_terminal(told.argv, **told.env)
    line = changes(second, "lock", 3)
    holder = f"another nodeup is at work: pid {first.process.pid}, "
    assert re.match(rf"lock  since {CLOCK}, next try {CLOCK}: {holder}", line), line
    assert len(told_of(second.screen.text(), f"WAITING lock: {holder}")) == 1, second.screen.text()
    if sig:
        second.process.send_signal(sig)
        assert second.finish() == -sig
        assert told_of(second.screen.text(), "interrupted by TERM; "), second.screen.text()
    else:
        held.go.set()
        second.until(lambda s: told_of(s.text(), "changed |WAITING unit |failed "))
        second.process.kill()
        second.finish()
    assert not in_place(second.screen, "lock"), second.screen.text()
