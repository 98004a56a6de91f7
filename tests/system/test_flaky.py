"""A test that fails and passes when it is run again, in a tree that has no other."""
import datetime
import os
import re
import subprocess

import pytest

from world import ROOT

FLAKY = """import pathlib


def test_once():
    there = pathlib.Path(__file__).with_name("there")
    was, _ = there.exists(), there.touch()
    assert was
"""
TODAY = datetime.date.today()
NAME = "tests/cases/test_a.py::test_once"


@pytest.mark.parametrize("ci, excused, passes", [
    ("", {}, True), ("1", {}, False), ("1", {NAME: (TODAY.isoformat(), "why")}, True),
    ("1", {NAME: ((TODAY - datetime.timedelta(days=1)).isoformat(), "why")}, False),
], ids=["at the desk", "CI", "excused", "no more"])
def test_a_flaky_test_counts_as_failed_where_ci_is_set(ci, excused, passes, tmp_path):
    (tmp_path / "tests/cases").mkdir(parents=True)
    (tmp_path / "tests/cases/test_a.py").write_text(FLAKY)
    text, n = re.subn(r"^EXCUSED = \{[^}]*\}$", f"EXCUSED = {excused}", (ROOT / "tests/run").read_text(), flags=re.M)
    assert n == 1
    (tmp_path / "tests/run").write_text(text)
    # what hangs is ended by tests/run itself
    done = subprocess.run(["/usr/bin/python3", tmp_path / "tests/run", "cases"], capture_output=True, text=True,
                          env={**os.environ, "CI": ci, "VARIANTS": "gcc-release", "TMPDIR": str(tmp_path)})
    assert f"flaky: {NAME} failed, and passed when it was run again" in done.stdout, done
    assert (f"failed: {NAME}" in done.stdout) != passes, done
    assert (done.returncode, done.stdout.splitlines()[-1]) == ((0, "1 passed, 0 failed") if passes else (1, "0 passed, 1 failed")), done
