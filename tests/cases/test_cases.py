"""Golden cases: documents and facts in, a file tree out.

  CASE/args           flags for `nodeup apply`, one a line
  CASE/facts.yaml     what the host is
  CASE/kube_env.yaml  and whatever else the documents are, beside it
  CASE/copy           `SOURCE TARGET [FROM TO]` a line: files of the repository to be documents too,
                      with every text FROM replaced by TO
  CASE/root/          what is below the root before
  CASE/expect/        the files that must be there afterwards, and no others
  CASE/expect.modes   `MODE PATH` of each file and directory, `link PATH -> TARGET`

In the documents `@DIR@` is their folder at run time and `@NAME@` the hash of the asset NAME below.
Manifests and kubeconfigs are compared as parsed YAML, everything else byte by byte.  UPDATE=1 writes
expect/ and expect.modes anew: read the difference before you commit it.  A case may be small: with a
case.yaml it says only in what it differs from another (overlay.py).
"""
import hashlib
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tarfile

import pytest
import yaml

import overlay

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NODEUP = os.environ.get("NODEUP", str(ROOT / "build/nodeup"))
CASES = sorted({p.parent.name for name in ("args", "case.yaml") for p in HERE.glob("*/" + name)})
# nodeup's own notes: not what a node is made of
OWN = ("var/lib/nodeup", "run")


def archive(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo("./bin/" + name.replace("_", "-"))
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


ASSETS = {
    "kubelet": b"stands for kubelet\n",
    "kubectl": b"stands for kubectl\n",
    "cni.tar.gz": archive(bridge=b"bridge\n", host_local=b"host-local\n", loopback=b"loopback\n", ptp=b"ptp\n",
                          flannel=b"flannel\n"),
    "utils.tar.gz": archive(socat=b"socat\n", gci_mounter=b"gci-mounter\n"),
    "mounter.tar": b"stands for a container's root\n",
}


def fill_cache(cache):
    for data in ASSETS.values():
        for algo in ("sha1", "sha256"):
            path = cache / algo / hashlib.new(algo, data).hexdigest()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def expand(text, directory):
    def value(match):
        name = match[1]
        if name == "DIR":
            return str(directory)
        return hashlib.sha1(ASSETS[name]).hexdigest()
    return re.sub(r"@(DIR|%s)@" % "|".join(map(re.escape, ASSETS)), value, text)


def copy_in(source, target, directory, change=("", "")):
    """A file or folder, with its placeholders filled in."""
    old, new = change
    for path in [source, *source.rglob("*")] if source.is_dir() else [source]:
        if path.is_file():
            to = target if path == source else target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text()
            to.write_text(expand(text.replace(old, new) if old else text, directory))


def prepare(case, tmp):
    documents, root = tmp / "documents", tmp / "root"
    documents.mkdir()
    root.mkdir()
    case, *overlays = overlay.chain(case)
    for path in sorted(case.glob("*.yaml")):
        copy_in(path, documents / path.name, documents)
    if (case / "copy").exists():
        for line in (case / "copy").read_text().splitlines():
            source, target, *change = line.split()
            copy_in(ROOT / source, documents / target, documents, change or ("", ""))
    if (case / "root").exists():
        shutil.copytree(case / "root", root, dirs_exist_ok=True)
    for path in overlays:
        overlay.change_documents(overlay.read(path), documents)
        overlay.change_root(overlay.read(path), root)
    fill_cache(tmp / "cache")
    return documents, root


def entries(root):
    """Relative path -> what is there, without nodeup's own."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.startswith(tuple(own + "/" for own in OWN)) or name in OWN:
            continue
        info = path.lstat()
        assert (info.st_uid, info.st_gid) == (0, 0), name
        if stat.S_ISLNK(info.st_mode):
            found[name] = "link %s -> %s" % (name, os.readlink(path))
        else:
            found[name] = "%04o %s%s" % (stat.S_IMODE(info.st_mode), name, "/" * path.is_dir())
    return found


def is_yaml(name):
    return name.endswith((".manifest", "/kubeconfig", "/authn.config"))


def read(data, name):
    return yaml.safe_load(data) if is_yaml(name) else data


def argv(command, case, documents, root, tmp, *flags):
    lowest, *overlays = overlay.chain(case)
    args = expand((lowest / "args").read_text(), documents).splitlines()
    args += [flag for path in overlays for flag in overlay.read(path).get("args", [])]
    return [NODEUP, command, "--root", root, "--facts", documents / "facts.yaml", "--cache", tmp / "cache", "--offline", *args, *flags]


def run(*world):
    return subprocess.run(argv(*world), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


def apply(*world):
    return run("apply", *world)


def update(case, root, files, modes):
    shutil.rmtree(case / "expect", ignore_errors=True)
    for name in files:
        to = case / "expect" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, to)
    (case / "expect.modes").write_text("".join(line + "\n" for line in modes))


def succeed(done):
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "success", done.stdout + done.stderr


@pytest.mark.parametrize("name", CASES)
def test_case(name, tmp_path):
    case = HERE / name
    documents, root = prepare(case, tmp_path)
    before = entries(root)
    succeed(apply(case, documents, root, tmp_path))
    compare(case, root, before)


def compare(case, root, before, lacks=()):
    """What was written with what is kept, but for paths that it lacks."""
    after = {path: line for path, line in entries(root).items() if before.get(path) != line}
    files = [path for path in after if (root / path).is_file() and not (root / path).is_symlink()]
    modes = list(after.values())
    if os.environ.get("UPDATE") and not overlay.read(case):
        update(case, root, files, modes)
    expected = overlay.expected(case)
    assert sorted(set(expected.files) - set(lacks)) == sorted(files)
    for path in files:
        assert read((root / path).read_bytes(), path) == read(expected.files[path], path), path
    assert sorted(modes) == sorted(line for path, line in expected.modes.items() if path not in lacks)


def planned_packages(case, documents, root, tmp):
    """Below a root nothing is installed, but listed."""
    done = run("plan", case, documents, root, tmp, "--all")
    assert done.returncode == 2, done.stdout + done.stderr
    planned = [p for line in done.stdout.splitlines() if line.split()[1:2] == ["package"]
               for p in line.split(": ")[0].split()[2:]]
    assert len(planned) == len(set(planned))
    return set(planned)


@pytest.mark.parametrize("name", [n for n in CASES if overlay.packages(HERE / n) is not None])
def test_packages(name, tmp_path):
    documents, root = prepare(HERE / name, tmp_path)
    assert planned_packages(HERE / name, documents, root, tmp_path) == set(overlay.packages(HERE / name))


# An overlay changes what is written, not how.
@pytest.mark.parametrize("name", [n for n in CASES if not overlay.read(HERE / n)] + ["hardened-master", "gossip-worker"])
def test_second_run_leaves_everything(name, tmp_path):
    case = HERE / name
    documents, root = prepare(case, tmp_path)
    stamps = []
    for _ in range(2):
        done = apply(case, documents, root, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        stamps.append({path: (root / path).lstat().st_ctime_ns for path in entries(root)})
    assert stamps[0] == stamps[1]


def test_there_are_cases():
    assert len(CASES) >= 3
