"""A node whose last run ended well, and whose next boot is refused, by a document or by the host: it works as before, and says so."""
import contextlib
import json

import nodechecks

CONFIG, READY, FAILED, DEGRADED = 78, 0, 1, 2
# An older nodeup kept none of them, and all other records as today's does; so a node without them is one whose last run was of that one.
RECORDS, MOTD = " ".join(f"/var/lib/nodeup/{name}" for name in ("last-good", "vintage", "applied")), "/run/motd.d/nodeup"
# all but what a run says of itself
LEFT_ALONE = nodechecks.MANAGED + " /opt/nodeup /var/lib/nodeup -path /var/lib/nodeup/runs -prune -o"
BAD = "key of no document: 1\n"


def files(node):
    return node.sh("find %s -printf '%%p %%T@ %%C@ %%i %%m\\n' 2>/dev/null | sort" % LEFT_ALONE, check=False).splitlines()


def processes(node, units):
    return [node.show(unit, "MainPID", "ActiveState", "InvocationID") for unit in units]


@contextlib.contextmanager
def bad_document(node, conf):
    """What no nodeup ever took, and parses: where it does not, kept documents serve."""
    with open(node.root + conf, "r+", encoding="utf-8") as f:
        text = f.read()
        f.seek(0)
        f.truncate()
        f.write(BAD)
    yield
    with open(node.root + conf, "w", encoding="utf-8") as f:
        f.write(text)


class Refused:
    """Each run is refused for as long as this is entered."""

    def __init__(self, node, command, units, how):
        """command: nodeup by hand; units: that a run starts, kubelet among them; how: makes a context in which a run is refused."""
        self.node, self.command, self.units, self.how = node, command, units, how

    def __enter__(self):
        self.context = self.how()
        self.context.__enter__()
        return self

    def __exit__(self, *why):
        self.context.__exit__(*why)

    def nodeup(self, *words):
        return self.node.exec(*self.command, *words, timeout=300)

    def by_hand(self):
        """The refusal is all that happens, also where kubelet does not run."""
        for stop, code in ("true", READY), ("systemctl stop kubelet", DEGRADED):
            self.node.sh(stop)
            before = files(self.node), processes(self.node, self.units)
            done = self.nodeup("apply")
            assert done.returncode == CONFIG and "started" not in done.stderr, done
            assert (files(self.node), processes(self.node, self.units)) == before
            assert self.nodeup("status").returncode == code

    def boot(self):
        """What our unit does at the boot, and nothing else is written."""
        before = files(self.node)
        self.node.reboot()
        self.node.wait(lambda: self.node.show(nodechecks.OURS, "ActiveState")["ActiveState"] == "failed", 180, "the refusal")
        assert self.node.show(nodechecks.OURS, "ExecMainStatus") == {"ExecMainStatus": str(CONFIG)}
        assert files(self.node) == before

    def boot_and_work(self, words=""):
        """words: of the cause."""
        self.boot()
        assert [p["ActiveState"] for p in processes(self.node, self.units)] == ["active"] * len(self.units), self.node.journal(nodechecks.OURS)
        assert self.node.healthz() == "ok"
        done = self.nodeup("status", "--wait=60s")
        lines = [line.split(None, 1) for line in done.stdout.splitlines()]
        assert done.returncode == DEGRADED and [line for line in lines if line[0] == "FAILED" and words in line[1] and line[1].endswith(" (78)")], done
        assert [line for line in lines if line[0] == "started"], done
        said = json.loads(self.nodeup("status", "-o", "json").stdout)
        assert said["run"]["state"] == "degraded" and said["why"].startswith("the run was refused"), said
        assert self.node.sh("cat " + MOTD).startswith("nodeup: DEGRADED ")

    def mended(self):
        """A run that ends well restarts nothing, and is all that it takes. Call it when the document is right again."""
        before = processes(self.node, self.units)
        done = self.nodeup("apply")
        assert done.returncode == 0 and self.nodeup("status").returncode == 0, done
        assert self.node.exec("test", "-e", MOTD).returncode == 1
        assert processes(self.node, self.units) == before, done.stderr
