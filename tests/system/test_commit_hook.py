"""The hook of a developer's clone, as git calls it with the file that holds a commit's message."""

import subprocess

import pytest

from world import ROOT

BODY = "\n\nA line of the body may be longer than a subject, and a table in it even more than this.\n"


@pytest.fixture
def judge(tmp_path):
    def run(message):
        (tmp_path / "message").write_text(message)
        return subprocess.run([ROOT / "tools/hooks/commit-msg", tmp_path / "message"], capture_output=True, text=True, timeout=10)
    return run


@pytest.mark.parametrize("subject", ["x" * 72, "ü" * 72, "fixup! " + "x" * 72, f"# {'x' * 80}\n\nA subject\n# On branch main",
                                     f"A subject\n# ------------------------ >8 ------------------------\ndiff\n+{'x' * 80}"])
def test_a_subject_of_72_characters_is_taken(judge, subject):
    done = judge(subject + BODY)
    assert done.returncode == 0 and not done.stderr, done


def test_a_longer_subject_is_refused(judge):
    done = judge("x" * 73 + BODY)
    assert done.returncode == 1 and "the subject has 73 characters, at most 72" in done.stderr, done


def test_a_body_wants_an_empty_line_before_it(judge):
    done = judge("A subject\nand more\n")
    assert done.returncode == 1 and "an empty line between the subject and the body" in done.stderr, done
