"""`nodeup diff OLD NEW` says of documents alone what apply would change on a node that OLD made.

Cases with the same host are paired: each with the one that follows; in make check-long with every other."""
import collections
import json
import shutil
import subprocess

import pytest

import test_cases
from test_cases import CASES, HERE, NODEUP



def flags(name):
    """Those of a case but for its documents."""
    case, *overlays = test_cases.overlay.chain(HERE / name)
    args = (case / "args").read_text().split()
    args += [flag for path in overlays for flag in test_cases.overlay.read(path).get("args", [])]
    return tuple(arg for arg in args if not arg.startswith("--conf"))


class Made:
    """A case's documents, and the root that apply made of them."""

    def __init__(self, name, tmp):
        self.name, self.tmp = name, tmp / name
        self.tmp.mkdir()
        self.documents, self.root = test_cases.prepare(HERE / name, self.tmp)
        args = test_cases.expand((test_cases.overlay.chain(HERE / name)[0] / "args").read_text(), self.documents).split()
        self.conf = next(arg.removeprefix("--conf=") for arg in args if arg.startswith("--conf="))
        self.before = self.tmp / "before"
        shutil.copytree(self.root, self.before, symlinks=True)
        self.host = (flags(name), (self.documents / "facts.yaml").read_text(),
                     tuple(sorted((str(p.relative_to(self.root)), p.read_bytes()) for p in self.root.rglob("*") if p.is_file())))


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    found, tmp = collections.defaultdict(list), tmp_path_factory.mktemp("diff")
    for name in CASES:
        made = Made(name, tmp)
        found[made.host].append(made)
    return [group for group in found.values() if len(group) > 1]


def ask(command, made, root, *args):
    done = subprocess.run([NODEUP, command, "-o", "json", "--root", root, "--facts", made.documents / "facts.yaml",
                           "--offline", *flags(made.name), *args], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 2), done.stderr
    return {(t["kind"], t["name"]): t.get("why", "") for t in json.loads(done.stdout)["tasks"] if t["state"] == "change"}


@pytest.mark.parametrize("pairs", [1, pytest.param(len(CASES), marks=pytest.mark.long)], ids=["the next", "all"])
def test_every_pair(groups, pairs):
    compared, changed, wrong = 0, 0, []
    for group in groups:
        for i, old in enumerate(group):
            done = test_cases.apply(HERE / old.name, old.documents, old.root, old.tmp)
            assert done.returncode == 0, done.stderr
            for new in (group[(i + k) % len(group)] for k in range(min(pairs + 1, len(group)))):
                want = ask("plan", new, old.root, "--conf", new.conf, "--cache", old.tmp / "cache")
                got = ask("diff", new, new.before, old.conf, new.conf)
                compared, changed = compared + 1, changed + bool(want)
                assert old is not new or not got, f"{old.name} differs from itself: {got}"
                if got.keys() != want.keys():
                    wrong.append((old.name, new.name, "only diff", sorted(got.keys() - want.keys()),
                                  "only apply", sorted((k, want[k]) for k in want.keys() - got.keys())))
    assert compared > 100 and changed > 50, (compared, changed)
    assert not wrong, f"{len(wrong)} of {compared}: " + "\n".join(map(str, wrong[:20]))
