"""What a developer types at the Makefile. The targets that build have their own tests."""

import re
import subprocess

import pytest

from world import ENV, ROOT


def make(*argv):
    # a make that runs the tests has words of its own for those below it
    return subprocess.run(["make", "--no-print-directory", *argv], cwd=ROOT, env=ENV, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def test_help_lists_what_people_call():
    done = make("help")
    assert done.returncode == 0, done
    shown = dict(re.findall(r"^  (\S+) +(\S.*)$", done.stdout, re.M))
    assert {"deps", "all", "t", "quick", "check", "check-long", "demo", "bench", "lint", "format", "measure", "install", "deb", "clean"} <= shown.keys()
    phony = set(re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.M)[1].replace("\\", "").split())
    assert shown.keys() <= phony, shown.keys() - phony


@pytest.mark.parametrize("argv", [("t", "T=no_such_test"), ("t",)])
def test_a_test_that_is_not_there(argv):
    done = make(*argv)
    name = argv[-1].removeprefix("T=") if len(argv) > 1 else ""
    assert done.returncode == 2 and f"make t: there is no unit test '{name}'" in done.stderr, done
