"""A live node keeps no second copy of a program: the cache gives its entry away. See assets/README.md, The cache."""

import hashlib
import subprocess

import pytest

from world import CONFIG, KUBELET, OK

INSTALLED = f"usr/local/bin/{KUBELET}"


class Live:
    """A root that is a machine to the run. There is no systemd, so a run ends with failed units."""

    def __init__(self, told, world):
        self.told, self.world = told, world
        world.own_cache, world.cache = True, world.root / "var/cache/nodeup"
        # offline no other fact of the instance is wanted
        world.edit_store("cluster.spec", lambda t: t.replace("hostnameOverride: '@aws'", "hostnameOverride: node"))
        world.write_documents()
        self.enter = told.argv[:told.argv.index("/nodeup")]
        self.file, self.entry = world.root / INSTALLED, world.entry(KUBELET)

    def run(self, verb, *flags):
        argv = [*self.enter, "/nodeup", verb, f"--conf={self.world.conf}", *flags]
        return self.world.run_argv(argv, self.told.env)

    def set(self, text):
        folder = self.world.root / "etc/nodeup/nodeup.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "test.yaml").write_text(text)

    def damage(self):
        with open(self.file, "r+b") as f:
            f.write(b"evil")

    def asked(self):
        return self.world.origin.count(self.world.url(KUBELET))

    def must_be_right(self, done):
        """And it is ours alone."""
        at = self.file.stat()
        assert (at.st_mode & 0o7777, at.st_uid, at.st_gid, at.st_nlink) == (0o755, 0, 0, 1), done
        assert hashlib.sha256(self.file.read_bytes()).hexdigest() == self.world.digest(KUBELET), done


@pytest.fixture
def live(told, world):
    return Live(told, world)


def test_the_entry_becomes_the_program(live):
    done = live.run("apply")
    live.must_be_right(done)
    assert not live.entry.exists() and live.asked() == 1, done
    # installed and right, it counts as had
    for flags in ([], ["--offline"]):
        done = live.run("apply", *flags)
        assert "install /usr" not in done.err and "asset" not in done.err, done
    assert live.asked() == 1 and not live.entry.exists()


@pytest.mark.parametrize("on_tmpfs", [False, True])
def test_only_where_it_may(on_tmpfs, live):
    """A second copy stays where that is wanted; across file systems the program is a copy, and the entry goes."""
    if on_tmpfs:
        folder = live.world.cache
        folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "x", folder], check=True)
    else:
        live.set("keepAssets: true\n")
    try:
        done = live.run("apply")
        live.must_be_right(done)
        assert live.entry.exists() == (not on_tmpfs), done
        assert on_tmpfs or live.entry.stat().st_ino != live.file.stat().st_ino
    finally:
        if on_tmpfs:
            subprocess.run(["umount", folder], check=True)


def test_repair_fetches_it_again(live):
    """Offline the run says what would help; what is there stays until a right one has come."""
    live.world.assets[KUBELET].urls.append(live.world.url(KUBELET, "slow"))
    live.world.write_documents()
    live.run("apply")
    live.damage()
    done = live.run("repair", "--offline")
    assert done.code == CONFIG and "keepAssets: true" in done.err, done
    missing = next(l for l in done.lines if "missing kubelet" in l)
    assert all(url in missing for url in live.world.assets[KUBELET].urls), done
    assert live.file.read_bytes().startswith(b"evil")
    done = live.run("repair")
    live.must_be_right(done)
    assert not live.entry.exists() and live.asked() == 2, done


def test_a_baked_node_keeps_what_it_had(live):
    """So it repairs itself without a network."""
    done = live.run("bake")
    assert done.code == OK and live.entry.exists(), done
    live.must_be_right(live.run("apply"))
    live.damage()
    live.entry.unlink()
    live.entry.write_bytes(b"wrong")
    live.run("repair")
    asked = live.asked()
    live.damage()
    live.must_be_right(live.run("repair", "--offline"))
    assert live.entry.exists() and live.asked() == asked == 2


def test_bake_has_what_is_installed(live):
    """Its own cache lacks nothing; another one is filled, without a mirror while what is installed is right."""
    live.run("apply")
    done = live.run("bake")
    assert done.code == OK and live.asked() == 1 and not live.entry.exists(), done
    done = live.run("bake", "--cache=/baked")
    baked = live.world.root / "baked/sha256" / live.entry.name
    assert done.code == OK and live.asked() == 1 and baked.stat().st_ino != live.file.stat().st_ino, done
    baked.unlink()
    live.damage()
    done = live.run("bake", "--cache=/baked")
    assert done.code == OK and live.asked() == 2 and baked.read_bytes() != live.file.read_bytes(), done
