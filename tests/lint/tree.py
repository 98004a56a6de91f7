"""The tree a lint looks at: the repository, or the small bad one the self-test hands over."""

import pathlib
import re
import subprocess
import sys

# A folder may include what has a lower rank, and itself.
RANKS = {
    "nodeup/base": 0,
    "nodeup/config": 1, "nodeup/volumes": 1, "nodeup/template": 1, "assets": 1, "units": 1, "manifests": 1, "userdata": 1,
    "nodeup/config/kops": 2, "nodeup/config/kops18": 2, "nodeup/config/kubeup": 2, "assets/http": 2, "assets/unpack": 2,
    "nodeup/aws": 3, "assets/cache": 3,
    "assets/fetch": 4, "nodeup/host": 4, "nodeup/join": 4,
    "nodeup/tasks": 5,
    "nodeup/plan": 6, "nodeup/run": 6, "nodeup/documents": 6, "nodeup/move": 6,
    "nodeup/plan/kops": 7, "nodeup/plan/kops18": 7, "nodeup/plan/kubeup": 7,
    "nodeup/cmd": 8,
    "nodeup": 9,
}
# Rooms of an era, by what its names begin with: its documents', its builders'.
ERAS = {era: (f"nodeup/config/{era}/", f"nodeup/plan/{era}/") for era in ("kops", "kops18", "kubeup")}
TOP = ("nodeup", "assets", "units", "manifests", "userdata")
TESTS = ("tests/unit", "tests/fake")

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()


def sources(suffixes, folders=TOP):
    """Paths below ROOT, relative to it."""
    found = [p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(p.relative_to(ROOT) for p in found)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def homes(header):
    """Names of the files beside a header that have its bodies, as patterns: those that "Bodies: a.c, b_*.c." names, too."""
    stem, comment = pathlib.PurePath(header).stem, read(header).split("*/")[0]
    said = re.search(r"\* Bodies: ((?:[\w*]+\.c(?:,\s+(?:\*\s)?)?)+)\.", comment)
    return [stem + ".c", stem + "_*.c"] + (re.findall(r"[\w*]+\.c", said[1]) if said else [])


def bare(text, strings=True, line_comments=True):
    """C text without its comments and the inside of its strings, line by line as before."""
    def blank(match):
        token = match.group(0)
        if token.startswith("/*") or (token.startswith("//") and line_comments):
            return re.sub(r"[^\n]", " ", token)
        if token[0] in "\"'" and strings:
            return token[0] + " " * (len(token) - 2) + token[-1]
        return token
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def tags(paths, kinds):
    """(path, line, last line, name) of what ctags finds; kinds: f functions, p prototypes."""
    if not paths:
        return
    out = subprocess.run(
        ["ctags", "-f", "-", "--sort=no", "--languages=C", "--langmap=C:+.h", "--fields=+ne",
         f"--kinds-C={kinds}", *map(str, paths)],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, path, rest = line.split("\t", 2)
        fields = dict(re.findall(r"\t(line|end):(\d+)", rest))
        yield path, int(fields["line"]), int(fields.get("end", fields["line"])), name


def done(errors):
    """Print what is wrong and leave; silence is success."""
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)
