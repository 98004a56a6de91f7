"""An ordinary user looks at a node, or makes an image: it works, or one line says what is denied and what to do."""

import os
import pathlib
import re
import shutil
import tempfile

import pytest

from world import OK, PENDING, PROGRAM, USAGE, World, until

USER = 65534
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]


class Node(World):
    """A node that has all that is not secret open to everybody, as /tmp of pytest is not."""

    def argv(self, command, *flags, **kw):
        return [str(self.folder / "nodeup"), *super().argv(command, *flags, **kw)[1:]]

    def by_user(self, command, *flags, **kw):
        return self.run(command, *flags, prefix=AS_USER, **kw)

    def denied(self, *args, **kw):
        result = self.by_user(*args, **kw)
        assert result.code == USAGE and len(result.lines) == 1, result
        assert not result.out.replace("nodeup version", "", 1).strip(" .0123456789\n"), result
        return result.failure


@pytest.fixture
def node(origin, contents):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(PROGRAM, folder)
        node = Node(type(origin.folder)(folder), origin, contents)
        os.rename(node.folder / PROGRAM.name, node.folder / "nodeup")
        yield node


@pytest.mark.parametrize("flags", [[], ["--verify"], ["--diff"], ["-o", "json"]], ids=" ".join)
def test_a_plan_of_an_applied_node(node, flags):
    node.converge()
    text = node.denied("plan", *flags)
    assert "open '/var/lib/nodeup/" in text and "Permission denied; run as root" in text, text
    assert node.plan(*flags).code == OK


def test_a_plan_of_a_node_that_starts_nodeup_at_boot(node):
    """The record of it cannot be read: it is neither gone nor damaged."""
    installed = node.apply("--install-systemd-unit")
    assert installed.code == OK and (node.root / "var/lib/nodeup/boot.json").exists(), installed
    assert "Permission denied; run as root" in node.denied("plan")


def test_a_plan_of_a_node_that_kops_made(node):
    """Without a state of ours there are still the secrets of the node."""
    node.converge()
    shutil.rmtree(node.root / "var/lib/nodeup")
    secret = [p for p in node.root.rglob("*") if p.is_file() and not p.stat().st_mode & 0o077]
    assert secret
    text = node.denied("plan", cache=node.folder / "none")
    assert " tasks cannot be compared, first file " in text and "Permission denied; run as root" in text, text
    assert any(f"'/{p.relative_to(node.root)}'" in text for p in secret), text


def test_a_plan_with_documents_of_root(node):
    node.write_documents()
    node.conf.chmod(0o600)
    text = node.denied("plan", write=False)
    assert f"open '{node.conf}': Permission denied; run as root" in text, text


def test_a_plan_of_an_empty_image(node):
    """Nothing is denied there, so nothing is refused."""
    assert node.by_user("plan").code == PENDING


@pytest.mark.parametrize("command", ["apply", "repair"])
def test_an_image_of_the_users_own(node, command):
    """Its files belong to root and to users of the image, so all would fail, one after another."""
    root = node.folder / "own"
    node.make_root(root)
    for path in (root, *root.rglob("*")):
        os.chown(path, USER, USER)
    before = sorted(root.rglob("*"))
    assert "must be root to make files of an image" in node.denied(command, root=root, cache=root / "cache")
    assert sorted(root.rglob("*")) == before


def test_what_a_process_has_read_is_not_for_others(node):
    """No core of it is dumped, and no process of the same user looks into it: the kernel makes it root's own."""
    fifo = node.folder / "fifo"
    os.mkfifo(fifo, 0o644)
    node.write_documents()
    process = node.start([*AS_USER, *node.argv("plan", conf=fifo)])
    try:
        until(lambda: fifo in (pathlib.Path(os.path.realpath(f"/proc/{process.pid}/fd/{n}")) for n in range(20)))
        assert os.stat(f"/proc/{process.pid}/mem").st_uid == 0
        limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
        assert re.search(r"Max core file size +0 ", limits), limits
    finally:
        process.kill()
        process.communicate()
