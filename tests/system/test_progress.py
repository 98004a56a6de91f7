"""What a person sees of assets under way: on a terminal, and where there is none."""

import re

import pytest

from terminal import Run, set_size
from world import CNI, ENV, KUBELET, OK

# at this rate kubelet's two megabytes take five seconds
SLOW = "rate=400000"


@pytest.fixture
def start(world):
    """An apply whose kubelet is slow, on a terminal."""
    runs = []

    def make(columns=100, **env):
        world.assets[KUBELET].urls = [world.url(KUBELET, "status=404"), world.url(KUBELET, SLOW)]
        world.write_documents()
        runs.append(Run(world.argv("apply"), {**ENV, "TERM": "xterm", **env}, columns, world.folder))
        return runs[-1]
    yield make
    for run in runs:
        run.kill()


def of_kubelet(screen):
    return [line for line in screen.lines if re.match(r"kubelet ", line)]


def logged(screen):
    return [line for line in screen.lines if re.match(r"\d\d:\d\d:\d\d\.\d{3} ", line)]


def test_one_line_an_asset_in_place(start):
    run = start()
    seen = []

    def moving(screen):
        lines = of_kubelet(screen)
        assert len(lines) <= 1, screen.text()
        if lines and lines[0] not in seen:
            seen.append(lines[0])
        return any("left" in line for line in seen) and len(seen) >= 3
    run.until(moving)
    line = next(l for l in reversed(seen) if "left" in l)
    assert re.match(r"kubelet +\d+%  \d\.\d of 2\.0 MB  \d+\.\d MB/s  \d:\d\d left  attempt 2  http://127", line), line
    assert run.screen.coloured
    assert run.finish() == OK
    screen = run.screen
    # all of it is gone, every line of the log is there, and nothing was wider than the terminal
    assert not of_kubelet(screen), screen.text()
    assert any("changed asset kubelet" in line for line in logged(screen)), screen.text()
    assert [l for l in screen.lines if l] == [l for l in screen.lines if l in logged(screen) or l.startswith("  ")]
    assert not any("WAITING asset kubelet" in line for line in screen.lines), screen.text()


def test_as_narrow_as_the_terminal(start):
    run = start(columns=30)
    run.until(lambda s: any("%" in line for line in of_kubelet(s)))
    assert all(len(line) < 30 for line in of_kubelet(run.screen))
    # it becomes wider
    set_size(run.master, 120)
    run.until(lambda s: any("attempt" in line for line in of_kubelet(s)))
    # and narrower
    set_size(run.master, 20)
    run.until(lambda s: all(len(line) < 20 for line in of_kubelet(s)))
    assert run.finish() == OK
    assert not of_kubelet(run.screen)


def test_no_color(start):
    run = start(NO_COLOR="1")
    run.until(of_kubelet)
    assert run.finish() == OK
    assert not run.screen.coloured and run.screen.erased


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_can_nothing(start, term):
    run = start(TERM=term)
    assert run.finish() == OK
    assert not run.screen.coloured and not run.screen.erased
    assert any("    asset kubelet: " in line for line in logged(run.screen)), run.screen.text()


def test_plain_lines_elsewhere(world):
    """A console, a journal: what has changed, and no line for each tick."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404"), world.url(KUBELET, SLOW)]
    result = world.converge(timeout=90)
    assert "\x1b" not in result.err and "\r" not in result.err
    lines = [line for line in result.lines if line.startswith("asset kubelet: ")]
    assert len(lines) <= 1 + result.seconds / 10, result
    assert "attempt 2" in lines[0] and "HTTP status 404" in lines[0], result
    # what was soon done needs none but that it is done
    assert not [line for line in result.lines if line.startswith(f"asset {CNI}: ")], result
