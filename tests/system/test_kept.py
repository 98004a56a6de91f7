"""The documents of earlier runs: those of the last three that ended well stay, and a run takes them by the number of theirs."""
import json
import stat
import subprocess

import pytest

from kops import Worker
from world import CONFIG, OK, PENDING, USAGE


def run(worker, command, conf, *flags):
    argv = worker.command(command, *flags)
    argv[argv.index("--conf") + 1] = conf
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env=worker.environ())


def kept(worker):
    return sorted(int(path.stem) for path in (worker.root / "var/lib/nodeup/kept").iterdir())


@pytest.fixture
def worker(tmp_path):
    """A node of whose four runs each had another kubelet, and to which nobody answers any more."""
    node = Worker(tmp_path)
    node.trees = {}
    with node.controller():
        for number in (1, 2, 3, 4):
            node.config["KubeletConfig"]["logLevel"] = number
            node.write()
            for _ in range(2):
                done = node.apply()
                assert done.returncode == OK, done.stderr
            node.trees[number] = node.tree()
    return node


def test_a_node_goes_back_to_what_it_had(worker):
    assert kept(worker) == [2, 3, 4]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (worker.root / "var/lib/nodeup/kept").iterdir())
    planned = run(worker, "plan", "kept:2", "--diff")
    assert planned.returncode == PENDING and "--v=2" in planned.stdout, planned.stdout + planned.stderr
    assert worker.tree() == worker.trees[4] and kept(worker) == [2, 3, 4]
    done = run(worker, "apply", "kept:2")
    assert done.returncode == OK and worker.tree() == worker.trees[2], done.stderr
    assert f"at the next boot {worker.folder}/documents/kube_env.yaml counts again" in done.stderr, done.stderr
    assert "state store" not in done.stderr, done.stderr
    assert kept(worker) == [3, 4, 5]
    done = run(worker, "apply", "kept:2")
    assert done.returncode == CONFIG and all(f"kept:{n}, of " in done.stderr for n in (3, 4, 5)) and worker.tree() == worker.trees[2], done.stderr
    # that it was chosen is no word on what the usual place has
    done = worker.apply("--deadline=2s")
    assert done.returncode == OK and "documents kept" in done.stderr and worker.tree() == worker.trees[4], done.stderr


def test_new_certificates_go_to_the_newest_set(tmp_path):
    """They are no other documents, and a set whose certificates have ended would be of no use."""
    node = Worker(tmp_path)
    lib, newest = node.root / "var/lib/nodeup", node.root / "var/lib/nodeup/kept/1.json"
    with node.controller():
        assert node.apply().returncode == OK and kept(node) == [1]
        before = newest.read_text()
        (lib / "documents.json").unlink()
        for path in (node.root / "srv/kubernetes").glob("kubelet-server.*"):
            path.unlink()
        done = node.apply()
        assert done.returncode == OK and kept(node) == [1] and before != newest.read_text() == (lib / "documents.json").read_text(), done.stderr
        made = node.tree()
        node.config["KubeletConfig"]["logLevel"] = 5
        node.write()
        assert node.apply().returncode == OK and kept(node) == [1, 2]
    done = run(node, "apply", "kept:1")
    assert done.returncode == OK and node.tree() == made, done.stderr


JUNK = {"conf": "junk\n", "state": "junk\n", "documents.json": '{"version": ', "vintage": "", "applied": "\0" * 64, "identity": "\0"}


def test_records_that_do_not_parse_are_made_anew(worker):
    folder = worker.root / "var/lib/nodeup"
    before = {name: (folder / name).read_text() for name in JUNK}
    for name, junk in JUNK.items():
        (folder / name).write_text(junk)
    with worker.controller():
        planned, found = worker.run("plan"), {name: (folder / name).read_text() for name in JUNK}
        done = worker.apply()
    assert planned.returncode == OK and found == JUNK, planned.stderr
    assert done.returncode == OK and worker.tree() == worker.trees[4] and "made of an image" not in done.stderr, done.stderr
    for name, junk in JUNK.items():
        path = f"/var/lib/nodeup/{name}"
        assert f"'{path}' is damaged: the next run makes it anew" in planned.stderr, planned.stderr
        assert f"'{path}' is damaged: it is made anew, and set aside as '{path}.nodeup-old'" in done.stderr, done.stderr
        assert (folder / f"{name}.nodeup-old").read_text() == junk
    # of "applied" the first line, and of "vintage" the second word, is a server's that has another port by now
    after = {name: (folder / name).read_text() for name in JUNK}
    assert all(after[name] == before[name] for name in ("conf", "identity")), after
    assert [after["vintage"].split()[i] for i in (0, 2, 3, 4, 5)] == [before["vintage"].split()[i] for i in (0, 2, 3, 4, 5)], after
    assert after["applied"].splitlines()[1:] == before["applied"].splitlines()[1:], after
    assert json.loads((folder / "documents.json").read_text())["documents"]
    assert "damaged" not in worker.run("plan").stderr


def test_the_record_of_the_boot_is_made_anew(tmp_path):
    node = Worker(tmp_path)
    node.write()
    record = node.root / "var/lib/nodeup/boot.json"
    assert node.apply("--install-systemd-unit").returncode == OK
    right = record.read_text()
    for junk, aside in (("junk", "boot.json.nodeup-old"), ('{"version": ', "boot.json.nodeup-old2")):
        record.write_text(junk)
        done = node.apply("--install-systemd-unit")
        assert done.returncode == OK and record.read_text() == right, done.stderr
        assert "'/var/lib/nodeup/boot.json' is damaged: it is made anew, and set aside\n" in done.stderr, done.stderr
        assert record.with_name(aside).read_text() == junk
    # one that is whole and says something else is somebody's earlier choice, and no damage
    done = node.apply("--install-systemd-unit", "--v=3")
    assert done.returncode == OK and record.read_text() != right and "nodeup-old" not in done.stderr, done.stderr


def test_only_a_run_takes_them(worker):
    for command, flags in (("apply", ["--install-systemd-unit"]), ("bake", [])):
        done = run(worker, command, "kept:4", *flags)
        assert done.returncode == USAGE and "kept:4" in done.stderr, (command, done.stderr)


def test_an_image_of_the_node_has_none_of_them(worker):
    worker.facts["instanceID"] = "i-0fedcba9876543210"
    worker.write()
    done = run(worker, "apply", "kept:4")
    assert done.returncode == CONFIG and "no documents of such a run are kept on this instance" in done.stderr, done.stderr
