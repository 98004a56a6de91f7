"""What upstream's programs of Kubernetes 1.24 to 1.37 take, by the lists in tests/fake/flags."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The versions of a list.
SPANS = (range(24, 31), range(31, 38))
PROGRAMS = ("kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy")
# Of a static pod: the program by its image, and what starts it.
IMAGE = re.compile(r".*/(kube-(?:apiserver|controller-manager|scheduler|proxy))(?:-amd64)?:v1\.(\d+)\.")


def names(listed, minor):
    """Those of a list that 1.minor has; none where no list is of that version."""
    files = [ROOT / f"tests/fake/flags/{listed}-1.{span[0]}-1.{span[-1]}" for span in SPANS if minor in span]
    rows = (line.split() for file in files for line in file.read_text().splitlines() if not line.startswith("#"))
    return {name for name, first, last in rows if int(first) <= minor <= int(last)}


def unknown(program, minor, words):
    """The words of a command line that the program would end for."""
    known = names(program, minor)
    return [word for word in words if not word.startswith("--") or word[2:].partition("=")[0] not in known]


def flags_of_image(name):
    """The flags that the program of such an image takes, a line each; empty: it takes any."""
    match = IMAGE.match(name)
    return "".join(f"--{flag}\n" for flag in sorted(names(match[1], int(match[2])))).encode() if match else b""


def kubelet(minor):
    """The stand-in, with what kubelet of 1.minor takes."""
    text = (ROOT / "tests/fake/kubelet_of_today.py").read_text()
    for listed in ("kubelet", "kubelet-configuration"):
        text = text.replace(f"@{listed}@", " ".join(sorted(names(listed, minor))))
    return text.encode()
