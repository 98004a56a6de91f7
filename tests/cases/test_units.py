"""Every unit and drop-in that a case expects reads as systemd reads units: sections once each with a blank line
between them, a key and a value a line, and a line break at the end."""
import re

import pytest

import test_cases as cases

UNITS = sorted(p for p in cases.ROOT.glob("tests/cases/**/expect/etc/systemd/system/**/*") if p.is_file() and not p.is_symlink())
LINE = re.compile(r"[A-Z]\w*=.*")


def complaints(text):
    if not text.endswith("\n"):
        yield "no line break at the end"
    sections = [block.split("\n") for block in re.sub(r"^#.*\n", "", text).removesuffix("\n").split("\n\n")]
    heads = [lines[0] for lines in sections]
    yield from (f"'{head}' is not a section" for head in heads if not re.fullmatch(r"\[[A-Z][a-z]+\]", head))
    yield from (f"{head} twice" for head in set(heads) if heads.count(head) > 1)
    for head, *lines in sections:
        if not lines:
            yield f"nothing in {head}"
        yield from (f"'{line}' in {head}" for line in lines if not LINE.fullmatch(line))


@pytest.mark.parametrize("path", UNITS, ids=lambda p: str(p.relative_to(cases.ROOT / "tests/cases")))
def test_a_unit_is_one(path):
    assert list(complaints(path.read_text())) == []


@pytest.mark.parametrize("text, said", [
    ("[Unit]\nAfter=a", "no line break at the end"),
    ("[Unit]\nAfter=a\n[Service]\nType=b\n", "'[Service]' in [Unit]"),
    ("[Unit]\nAfter=a\n\nType=b\n", "'Type=b' is not a section"),
    ("[Unit]\nAfter=a\n\n[Unit]\nBefore=a\n", "[Unit] twice"),
    ("[Unit]\nAfter\n", "'After' in [Unit]"),
    ("[Unit]\n", "nothing in [Unit]"),
])
def test_what_is_not_one_is_told(text, said):
    assert said in list(complaints(text))


def test_there_are_units():
    assert len(UNITS) > 50
