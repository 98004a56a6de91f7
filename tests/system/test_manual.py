"""What the manual page shows, nodeup says and does: its examples run, and its messages are those of the program."""

import fcntl
import http.server
import re
import shlex
import shutil
import subprocess
import threading

import pytest

from world import CNI, ENV, KUBELET, OK, PROGRAM, ROOT, USAGE, UTILS, Asset

def section(name):
    text = (ROOT / "nodeup/nodeup.8").read_text()
    return text.split(f".SH {name}\n", 1)[1].split(".SH ", 1)[0].replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


# Examples

def examples():
    """The command lines, as a shell would have them."""
    return re.findall(r"^\.nf\n(.*)\n\.fi$", section("EXAMPLES"), re.M)


# What cannot be had here: systemd, a bucket, a host that becomes a node, and one that has been one.
ONLY_PARSED = ("--install-systemd-unit", "s3://", "status --wait", "timeline")


def test_each_example_has_its_sentence():
    parts = re.split(r"^\.PP$", section("EXAMPLES"), flags=re.M)[1:]
    assert len(parts) == len(examples()) >= 8
    for part in parts:
        assert re.match(r"\n[A-Z].*[^.]:\n\.RS\n\.nf\nnodeup .*\n\.fi\n\.RE\n$", part, re.S), part


@pytest.mark.parametrize("line", examples())
def test_the_options_of_an_example_are_taken(line):
    """Flags are read in their order: the first that is wrong is the one added here."""
    argv = shlex.split(line.split(" >")[0])
    done = subprocess.run([PROGRAM, *argv[1:], "--no-such-flag"], env=ENV, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=10)
    assert done.returncode == USAGE and re.search(r"unknown flag '?--no-such-flag", done.stderr), done


@pytest.mark.parametrize("line", [e for e in examples() if not any(word in e for word in ONLY_PARSED)])
def test_an_example_does_its_work(world, line):
    """On a node that is right each of them says so."""
    world.converge()
    for name, role in (("master.yaml", "master"), ("nodes.yaml", "nodes"), ("kube_env.yaml", "nodes")):
        world.role = role
        world.conf.with_name(name).write_text(world.env_text())
    folder = world.conf.parent
    world.run_argv([PROGRAM, "bake", f"--conf={folder}/nodes.yaml", f"--conf={folder}/master.yaml", f"--cache={world.cache}"])
    argv = shlex.split(line.split(" >")[0])
    command = "apply" if argv[1].startswith("-") else argv[1]
    argv = [a.replace("/mnt/image", str(world.root)) for a in argv]
    # the files of the example lie where it is run
    argv = [re.sub(r"^(edited/)?kube_env\.yaml$", rf"{folder}/kube_env.yaml", a) for a in argv]
    argv = [re.sub(r"^(--conf=|--facts=).*/?(kube_env|facts|nodes|master)\.yaml$", rf"\1{folder}/\2.yaml", a) for a in argv]
    given = {a.split("=")[0] for a in argv}
    if command in ("apply", "plan", "repair", "why", "check"):
        more = {"--root": world.root, "--facts": world.facts_file, "--conf": world.conf, "--cache": world.cache}
        argv += [f"{flag}={value}" for flag, value in more.items() if flag not in given]
    elif command == "diff":
        argv[2:2] = [f"--root={world.root}", f"--facts={world.facts_file}"]
    elif command == "bake":
        argv.append(f"--cache={world.cache}")
    result = world.run_argv([str(PROGRAM), *argv[1:]])
    assert result.code == OK and result.out, result
    assert "FAILED" not in result.err, result


# Diagnostics

def entries():
    """[(form, exit status)]: text in italics stands for what differs."""
    found = []
    for head, body in re.findall(r"^\.TP\n\.BI? (.*)\n((?:(?!\.TP).*\n?)+)", section("DIAGNOSTICS"), re.M):
        words = [w if i % 2 == 0 else None for i, w in enumerate(shlex.split(head))]
        text = " ".join(re.sub(r"^\.[A-Z]+ |\"", "", line, flags=re.M) for line in body.splitlines())
        status = re.match(r"Exit status (\d+)\. \S", text)
        assert status, f"{head}: begins with no exit status: {text}"
        assert len(re.findall(r"\.(?= |$)", text)) >= 3, f"{head}: want cause and remedy: {text}"
        found.append((words, int(status[1])))
    return found


def form(words):
    return "".join(re.escape(w) if w else ".+" for w in words)


def title(words):
    return "".join("X" if w is None else w for w in words)


def not_root(world):
    program = shutil.copy(PROGRAM, world.folder)
    for folder in (world.folder, *world.folder.parents):
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o011)
    return world.run_argv(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "repair"])


def edited(change):
    """validate, after a change of kube_env.yaml."""
    def scene(world):
        world.write_documents()
        world.conf.write_text(change(world.env_text()))
        return world.run("validate", write=False)
    return scene


def misspelt(text):
    return text.replace("ClusterName:", "ClusterNam:")


def no_name(text):
    return re.sub(r"ClusterName: .*\n", "", text)


def cluster_spec(text):
    return "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n"


def other_kops(world):
    world.protokube_tag = "1.10.0"
    return world.apply()


class Denies(http.server.BaseHTTPRequestHandler):
    """A store that lets nobody in."""

    def do_GET(self):
        page = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


def denied(world):
    world.config_base = "s3://kops-state/prod"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Denies) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = world.plan(env={"S3_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "S3_ACCESS_KEY_ID": "AKIAEXAMPLE",
                                 "S3_SECRET_ACCESS_KEY": "x" * 40, "AWS_REGION": "us-west-2"})
        server.shutdown()
    return result


def too_new(world):
    world.edit_store("cluster.spec", lambda t: re.sub(r"kubernetesVersion: .*", "kubernetesVersion: 1.30.0", t))
    return world.apply()


def no_archive(world):
    del world.assets[CNI], world.assets[UTILS]
    return world.apply()


def wrong_hash(world):
    world.assets[KUBELET] = Asset("0" * 64, world.assets[KUBELET].urls)
    return world.apply()


def gone(*names):
    def scene(world):
        for name in names:
            world.assets[name].urls = [world.url(name, "status=404")]
        return world.apply()
    return scene


def no_room(world):
    world.cache.mkdir()
    world.mounts.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", world.cache)
    return world.apply(prefix=world.mounts.enter)


def held_lock(world):
    """An apply in a root of its own, where the lock is held."""
    shutil.copy(PROGRAM, world.root / "nodeup")
    (world.root / "run/nodeup").mkdir()
    with open(world.root / "run/nodeup/lock", "w") as lock:
        print("pid 7, by hand, since 12:00", file=lock, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return world.run_argv(["chroot", str(world.root), "/nodeup", "apply", "--conf=/none"])


def too_late(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, f"gate={world.token}")]
    return world.apply("--deadline=1s")


def offline(world):
    return world.apply("--offline")


def no_documents(world):
    shutil.copy(PROGRAM, world.root / "nodeup")
    return world.run_argv(["chroot", str(world.root), "/nodeup", "plan"])


SCENES = {
    "must be root to change this machine": not_root,
    "no --conf, nothing was applied yet, and none of X is there": no_documents,
    "X: unknown key 'X'; did you mean 'X'?": edited(misspelt),
    "X: this is X of kops X (X); nodeup reads X": other_kops,
    "X: this is X; --conf wants a kube_env.yaml of kops or kube-up, or the user data that bring it": edited(cluster_spec),
    "X: 'X' is missing": edited(no_name),
    "X: Kubernetes X is not supported; 1.6 to 1.10 are": too_new,
    "X: Assets: no X, which X needs": no_archive,
    "offline, and X not in the cache; nothing was changed": offline,
    "asset X: wrong content, X, attempt X": wrong_hash,
    "asset X: attempt X, round X, X: GET 'X': X": gone(KUBELET),
    "HTTP status X from X: X tasks failed, X more for want of them": gone(KUBELET, CNI),
    "X: GET X: S3 403 AccessDenied: X": denied,
    "no room on X: at least X are missing, X of X are free: X tasks failed, X more for want of them": no_room,
    "another nodeup is at work: X": held_lock,
    "deadline passed: X: X": too_late,
}
# These take a disk or a service: the tests of booted nodes provoke them.
ELSEWHERE = {"volume X: disk X for X: not blank; nothing was written", "unit X is not healthy for X s: X",
             "unit X does not stay up"}

# A scene that has others of its kind.
MORE = {"X: Assets: no X, which X needs": ", and 2 more errors"}


def test_each_message_is_provoked():
    titles = [title(words) for words, _ in entries()]
    assert len(titles) == len(set(titles)) >= 12 and set(titles) == {*SCENES, *ELSEWHERE}


@pytest.mark.parametrize("name", SCENES)
def test_a_message_is_what_the_manual_says(world, mounts, name):
    """This entry, and no other, is the line that nodeup ends with; and the exit status is that of the entry."""
    world.mounts = mounts
    result = SCENES[name](world)
    line = re.sub(rf"^(FAILED|REFUSED) (.*?){MORE.get(name, '')} \(\d+\)$", r"\2", result.failure)
    fits = [(title(words), status) for words, status in entries() if re.fullmatch(form(words), line)]
    assert fits == [(name, result.code)], f"{fits}\n{result}"


def test_the_block_that_is_shown_is_real(world):
    block = re.search(r"^\.nf\n(FAILED .*?)\.fi$", section("DIAGNOSTICS"), re.M | re.S)[1]
    want = re.escape(block.rstrip("\n"))
    want = re.sub(r"\\\\fI\w+\\\\fP", ".+", want)
    world.assets[KUBELET] = Asset("0" * 64, [*world.assets[KUBELET].urls, world.url(KUBELET, "ranges")])
    result = world.apply()
    assert re.fullmatch(want, "\n".join([result.failure, result.notes])), f"{want}\n{result}"


def test_the_program_has_the_words_of_the_others():
    """Whole pieces of it, as the compiler put them into the program."""
    program = PROGRAM.read_bytes()
    for words, _ in entries():
        for piece in re.split(": |; ", ": ".join(w.strip() for w in words if w)):
            if title(words) in ELSEWHERE and len(piece) > 4:
                assert piece.encode() in program, f"nodeup does not say '{piece}' of '{title(words)}'"
