"""Golden cases by the program of arm64, which qemu-user runs: the trees of the other files, but for the architecture's name.

qemu-user refuses seccomp, without which the unpacker unpacks nothing. So what is of archives is not there, and all else is.
kops 1.8 made nodes of amd64: its documents are of an image of one.
"""
import io
import re
import tarfile

import pytest
import yaml

import overlay
import test_cases
import test_kops
import test_kubeup

PROGRAM, EMULATOR, SYSTEM = test_cases.ROOT / "build/arm64/nodeup", test_cases.ROOT / "build/deps-arm64/qemu", 71
pytestmark = pytest.mark.skipif(not (PROGRAM.exists() and EMULATOR.exists()), reason="make ARCH=arm64 deps all builds it")


def rows(names, *stand):
    """Those that stand for the others in a check."""
    return [pytest.param(name, marks=() if name in stand else pytest.mark.long) for name in names]


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """Makes the programs that the cases run that of arm64."""
    script = tmp_path / "nodeup"

    def begin():
        # In addresses of its own: among the host's, what the emulator maps next to the heap ends glibc's malloc in some runs.
        script.write_text(f'#!/bin/sh\nexec {EMULATOR} -R 0x4000000000 {PROGRAM} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setattr(test_cases, "NODEUP", str(script))
        monkeypatch.setattr(test_kops.kops, "PROGRAM", script)
    return begin


def members(*archives):
    """What is in them."""
    found = set()
    for data in archives:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            found |= {tar.extractfile(member).read() for member in tar if member.isfile()}
    return found


def unpacked_nothing(done):
    assert done.returncode == SYSTEM, done.stdout + done.stderr
    # as the child is not even begun where the kernel knows no program of arm64
    assert re.search("confine the unpacker to its system calls|the unpacker ended without a word", done.stderr), done.stderr


@pytest.mark.parametrize("name", rows((n for n in test_cases.CASES if "containeros" not in n), "seed-master", "seed-worker"))
def test_tree_of_kops18(name, tmp_path, emulated):
    emulated()
    case = test_cases.HERE / name
    documents, root = test_cases.prepare(case, tmp_path)
    before = test_cases.entries(root)
    done, expected = test_cases.apply(case, documents, root, tmp_path), overlay.expected(case)
    unpacked = members(*(data for name, data in test_cases.ASSETS.items() if name.endswith(".gz")))
    lacks = {path for path, data in expected.files.items() if data in unpacked}
    # nodes of classic networking have no archive
    assert bool(lacks) != name.startswith("classic") and not any((root / path).exists() for path in lacks)
    (unpacked_nothing if lacks else test_cases.succeed)(done)
    test_cases.compare(case, root, before, lacks)


ACCOUNTS = {"etc/passwd", "etc/group", "etc/shadow"}


def leave_keys(root):
    """Takes away all but keys, at which the emulator would be minutes, accounts and logs."""
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        kept = name in ACCOUNTS or name.startswith("var/log/")
        if path.is_file() and not path.is_symlink() and not kept and not re.search(rb"^-----BEGIN |-data: ", path.read_bytes(), re.M):
            path.unlink()


@pytest.mark.parametrize("name", rows(test_kops.CASES, "1.37-worker", "1.37-control-plane", "1.37-apiserver"))
def test_tree_of_kops(name, tmp_path, emulated):
    with test_kops.made(name, tmp_path, "arm64") as node:
        if "worker" not in name:
            test_cases.succeed(node.apply(**test_kops.ENVIRONMENT))
            leave_keys(node.root)
        emulated()
        done = node.apply(**test_kops.ENVIRONMENT)
    unpacked_nothing(done)
    expected = yaml.safe_load((test_kops.HERE / f"{name}.yaml").read_text().replace("amd64", "arm64"))
    texts = {data.decode() for data in members(*(data for name, data in test_kops.kops.ASSETS.items() if name.endswith("gz")))}
    # a unit that needs such a program is not enabled, where it was not before
    units = set(re.findall(r"skipped unit (\S+): unpack ", done.stderr)) if "worker" in name else ()
    lacks = {path for path, entry in expected.items() if entry.get("text") in texts or (path.split("/")[-1] in units and "link" in entry)}
    assert len(lacks) > 6 and not any((node.root / path).exists() for path in lacks)
    written, others = test_kops.tree(node), lacks | (set() if "worker" in name else ACCOUNTS)
    test_kops.compare({path: entry for path, entry in written.items() if path not in others},
                      {path: entry for path, entry in expected.items() if path not in others})


@pytest.mark.parametrize("name", rows(test_kubeup.CASES, "1.5.8-master", "1.5.8-node"))
def test_kubeup_is_refused(name, tmp_path, emulated):
    """Its templates are in an archive, too: without them nothing is planned."""
    emulated()
    test_kubeup.prepare(name, tmp_path)
    done = test_kubeup.nodeup("apply", tmp_path)
    unpacked_nothing(done)
    assert "archive 'kubernetes-salt.tar.gz'" in done.stderr and not any((tmp_path / "root").iterdir()), done.stderr
