"""Every golden case is valid: by what is known of its host, and of no host in particular, without keys."""
import subprocess

import pytest

import overlay
from test_cases import CASES, HERE, NODEUP, expand, prepare


@pytest.mark.parametrize("facts", [True, False], ids=["facts", "any"])
@pytest.mark.parametrize("name", CASES)
def test_every_case_is_valid(name, facts, tmp_path):
    documents, _ = prepare(HERE / name, tmp_path)
    lowest, *overlays = overlay.chain(HERE / name)
    args = expand((lowest / "args").read_text(), documents).splitlines()
    args += [flag for path in overlays for flag in overlay.read(path).get("args", [])]
    known = ["--facts", documents / "facts.yaml"] if facts else []
    done = subprocess.run([NODEUP, "validate", "--offline", *known, *(a for a in args if a.startswith("--conf"))],
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": valid, " in done.stdout, done.stdout
