"""nodeup plan: what would change and why, and no side effect at all."""

import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from world import CNI, CNI_MEMBERS, KUBELET, OK, PENDING, UTILS, listing, noise, same, tree

SUMMARY = r"^(?:No changes\. )?(\d+) tasks, (\d+) to change(?:, (\d+) to compare)?(?:, (\d+) right)?$"
STATES = {"+": "change", "~": "change", "-": "change", "!": "failed", "?": "compare", "=": "right"}
GROUPS = ["disks:", "system:", "assets:", "programs:", "files:", "units:"]


def body(result):
    """What stands before the summary."""
    lines = [l for l in result.out.splitlines() if not l.startswith("restarts: ")]
    return lines[:-1]


def tasks(result):
    """(state, title, why) of each line."""
    found = [re.match(r"([-+~!?=]) (\w+ \S+?)(?:: (.*))?$", l) for l in body(result)
             if not l.startswith(" ") and l not in GROUPS]
    assert all(found), result
    return [(STATES[m[1]], m[2], m[3]) for m in found]


def summary(result):
    lines = [m for m in (re.match(SUMMARY, l) for l in result.out.splitlines()[-2:]) if m]
    assert len(lines) == 1, result
    total, to_change, compare, right = (int(n or 0) for n in lines[0].groups())
    assert lines[0].group().startswith("No changes. ") == (to_change + compare == 0), result
    assert to_change + compare == 0 or right == total - to_change - compare, result
    return total, to_change


def pending(result):
    return {title for state, title, _ in tasks(result) if state == "change"}


@pytest.fixture(params=["nodes", "master"])
def node(request, make_world):
    return make_world(request.param, request.param)


@pytest.mark.parametrize("command", ("plan", "apply"))
def test_a_package_that_an_image_lacks(world, command):
    """No package manager is run below a root: the builder of the image is told what to install, once."""
    world.more += "packages:\n- not-in-this-image\n"
    status = world.root / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True, exist_ok=True)
    status.write_text("")
    result = world.run(command)
    lines = [l for l in result.err.splitlines() if "not-in-this-image" in l]
    assert len(lines) == 1, result
    assert "packages not-in-this-image are not installed: no package manager is run below a root" in lines[0], result


def test_from_pending_to_nothing_to_do(node):
    result = node.plan()
    assert result.code == PENDING, result
    total, to_change = summary(result)
    assert to_change == len(tasks(result)) > 20
    assert total == len(tasks(node.plan("--all"))) > to_change
    node.converge()
    result = node.plan()
    assert result.code == OK and result.out == f"No changes. {total} tasks, 0 to change\n", result
    result = node.plan("--all")
    assert result.code == OK and summary(result) == (total, 0), result
    assert len(tasks(result)) == total and {state for state, _, _ in tasks(result)} == {"right"}, result


def test_changes_alone_in_groups_with_signs(node):
    fresh = [l for l in node.plan().out.splitlines() if l in GROUPS]
    assert fresh == [g for g in GROUPS if g in fresh] and len(fresh) == len(set(fresh)) > 3, fresh
    node.converge()
    (node.root / "etc/sysconfig/kubelet").chmod(0o600)
    (node.root / "etc/systemd/system/kubelet.service").unlink()
    node.installed(KUBELET).unlink()
    lines = body(node.plan())
    for line in ("+ install /usr/local/bin/kubelet: absent", "~ file /etc/sysconfig/kubelet: mode 0600, want 0644",
                 "+ file /etc/systemd/system/kubelet.service: absent"):
        assert line in lines, lines
    assert not [l for l in lines if l.startswith("=")]
    # what is in the way is named and refused: a link that leads to itself
    (node.root / "etc/sysconfig").rename(node.root / "etc/elsewhere")
    (node.root / "etc/sysconfig").symlink_to("sysconfig")
    result = node.plan()
    assert [l for l in body(result) if l.startswith("! file /etc/sysconfig/kubelet: ")], result


@pytest.mark.parametrize("env, coloured", [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": ""}, False),
                                           ({"TERM": "xterm", "NO_COLOR": "1"}, False)])
def test_colour_on_a_terminal_alone(world, env, coloured):
    piped = world.plan(env={"TERM": "xterm"}).out
    assert "\x1b" not in piped
    main, other = pty.openpty()
    done = subprocess.Popen(world.argv("plan"), stdout=other, stderr=subprocess.DEVNULL, env={**os.environ, **env})
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(main)
    text = text.decode().replace("\r\n", "\n")
    assert done.wait() == PENDING and ("\x1b[32m+\x1b[0m file /" in text) == coloured, text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == piped and ("\x1b" in text) == coloured


def test_flags_one_by_one(master):
    """Of a long line the flags that change are shown, and no other; with or without --diff."""
    master.converge()
    kubelet = master.root / "etc/sysconfig/kubelet"
    manifest = master.root / "etc/kubernetes/manifests/kube-apiserver.manifest"
    for path, old, new in ((kubelet, "--v=2", "--v=7 --mine=yes"), (manifest, "--secure-port=443", "--secure-port=444")):
        text = path.read_text()
        assert text.count(old) == 1, (path, text)
        path.write_text(text.replace(old, new))
    for flags in ([], ["--diff"]):
        lines = master.plan(*flags).out.splitlines()
        at = next(n for n, l in enumerate(lines) if l.startswith("~ file /etc/sysconfig/kubelet: content differs"))
        assert lines[at + 1:at + 4] == ["    - --mine=yes", "    - --v=7", "    + --v=2"], lines
        at = next(n for n, l in enumerate(lines) if l.startswith("~ file /etc/kubernetes/manifests/kube-apiserver.manifest: "))
        assert lines[at + 1:at + 3] == ["    - --secure-port=444", "    + --secure-port=443"], lines
        assert flags or len([l for l in lines if l.startswith("    ")]) == 5, lines


def test_no_flags_of_what_not_everybody_may_read(world):
    world.converge()
    path = world.root / "etc/sysconfig/kubelet"
    path.write_text(path.read_text().replace("--v=2", "--v=2 --token=s3cr3t-of-a-person"))
    assert "    - --token=s3cr3t-of-a-person" in world.plan().out.splitlines()
    path.chmod(0o600)
    assert "s3cr3t-of-a-person" not in world.plan().out


def test_every_change_says_why(node):
    found = tasks(node.plan())
    for state, title, why in found:
        assert state != "change" or why, title
    titles = [title for _, title, _ in found]
    assert len(titles) == len(set(titles)), "a task is listed twice"


def test_what_a_worker_gets(world):
    titles = " ".join(title for _, title, _ in tasks(world.plan("--all")))
    for part in ("/usr/local/bin/kubelet", *(f"/opt/cni/bin/{m}" for m in CNI_MEMBERS), "/etc/sysconfig/kubelet",
                 "/var/lib/kubelet/kubeconfig", "/etc/kubernetes/manifests/kube-proxy.manifest",
                 "/srv/kubernetes/ca.crt", "/etc/systemd/system/kubelet.service", "kubelet.service",
                 "/etc/sysctl.d/99-k8s-general.conf", "asset kubelet"):
        assert part in titles, part
    for part in ("kube-apiserver.manifest", "ca.key", "/usr/local/bin/kubectl", "known_tokens"):
        assert part not in titles, part


def test_what_a_master_gets(master):
    titles = " ".join(title for _, title, _ in tasks(master.plan("--all")))
    for part in ("kube-apiserver.manifest", "kube-controller-manager.manifest", "kube-scheduler.manifest",
                 "kube-proxy.manifest", "/srv/kubernetes/ca.key", "/srv/kubernetes/server.key",
                 "/srv/kubernetes/known_tokens.csv", "/srv/kubernetes/basic_auth.csv", "/usr/local/bin/kubectl",
                 "protokube.service", "/var/lib/kops/kubeconfig"):
        assert part in titles, part


def test_it_says_what_apply_does(node):
    planned = pending(node.plan())
    result = node.converge()
    changed = {m[1] for m in (re.match(r"changed (\w+ \S+?): ", l) for l in result.lines) if m}
    # a second archive with the same members is dropped where the first one was quicker
    assert changed <= planned and planned - changed <= {"asset utils.tar.gz", "unpack utils.tar.gz"}, (planned - changed, result)
    assert f" {len(changed)} changed" in result.lines[-2], result
    assert f" / changed {len(changed)} / failed 0" in result.lines[-1], result
    # what another task did in passing began when it ended, and not with the machine
    assert not re.search(r"\(\d+ (min|h) ", result.err), result


def test_it_is_the_same_every_time(node):
    assert node.plan().out == node.plan().out


def test_no_trace(node):
    node.write_documents()
    for _ in range(2):
        before = listing(node.folder)
        for flags in ([], ["--all"], ["--diff"], ["--verify"], ["-o", "json"]):
            node.plan(*flags)
        node.apply("--dryrun")
        same(before, listing(node.folder))
        assert node.requests() == 0 or _ == 1
        node.converge()


@pytest.mark.parametrize("converged", [False, True], ids=["fresh", "converged"])
def test_read_only_and_without_network(node, mounts, converged):
    """A machine where nothing can be written and nothing can be reached."""
    if converged:
        node.converge()
    asked = [["--diff"], ["--verify"]]
    want = [node.plan(*flags) for flags in asked]
    mounts.run("sh", "-c", "for m in $(findmnt -rno TARGET); do mount -o remount,bind,ro $m || :; done 2>/dev/null")
    assert subprocess.run([*mounts.enter, "touch", node.root / "x", "/run/x", "/dev/shm/x"],
                          stderr=subprocess.DEVNULL).returncode
    for flags, right in zip(asked, want):
        assert right.code == (OK if converged else PENDING), right
        got = node.plan(*flags, prefix=[*mounts.enter, "unshare", "-n"], write=False)
        assert (got.code, got.out) == (right.code, right.out), got


def test_json(node):
    text = node.plan("--all")
    result = node.plan("-o", "json")
    assert result.code == PENDING and result.err == text.err
    plan = json.loads(result.out)
    assert plan["schema"] == 1 and plan["conf"] == str(node.conf), plan
    host = plan["host"]
    assert f"the host is {host['distribution']} {host['version']}, {host['arch']}" in text.err.splitlines(), text.err
    total, to_change = summary(text)
    assert plan["counts"] == {"tasks": total, "change": to_change, "compare": 0}, plan["counts"]
    assert sorted((t["state"], f"{t['kind']} {t['name']}", t.get("why", "")) for t in plan["tasks"]) == sorted(
        (state, title, why or "") for state, title, why in tasks(text))
    assert "restarts" not in plan, "nothing runs in an image"
    for task in plan["tasks"]:
        assert task["state"] in ("change", "right") and task["origin"], task
        assert task["state"] != "change" or task["why"], task


def warned(result):
    return [l.split("warning ", 1)[1].strip() for l in result.err.splitlines() if " warning " in l]


def test_json_has_the_warnings(world):
    world.more = "no-such-key: 1\n"
    (world.root / "etc/nodeup/nodeup.d").mkdir(parents=True)
    (world.root / "etc/nodeup/nodeup.d/x.yaml").write_text("no-such-setting: 1\n")
    world.converge()
    (world.root / "etc/kubernetes/manifests/odd.yaml").write_text("kind: Pod\n")
    result = world.plan("-o", "json")
    found = json.loads(result.out)["warnings"]
    for part in ("'no-such-key'", "'no-such-setting'", "/etc/kubernetes/manifests/odd.yaml"):
        assert sum(part in w for w in found) == 1, (part, found)
    assert found == warned(result), result


def test_json_has_errors_of_failed_tasks_alone(node):
    """What is not there and should not be is right, and its absence is not an error."""
    node.converge()
    found = json.loads(node.plan("-o", "json").out)["tasks"]
    assert not [t for t in found if "error" in t]
    (node.root / "etc/sysconfig").rename(node.root / "etc/elsewhere")
    (node.root / "etc/sysconfig").symlink_to("sysconfig")
    failed = [t for t in json.loads(node.plan("-o", "json").out)["tasks"] if "error" in t]
    assert {t["state"] for t in failed} == {"failed"} and "/etc/sysconfig/kubelet" in {t["name"] for t in failed}, failed


def test_absent_as_wanted(world):
    """A file that is not there and should not be is not called right without a word."""
    world.converge()
    lines = tasks(world.plan("--all"))
    gone = {title: why for state, title, why in lines
            if title.startswith("file /") and not (world.root / title[6:]).exists()}
    assert len(gone) > 3 and set(gone.values()) == {"absent, as wanted"}, gone
    assert "absent, as wanted" not in [why for _, title, why in lines if title not in gone]
    other = world.root / next(iter(gone))[6:]
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("of another program\n")
    lines = {title: (state, why) for state, title, why in tasks(world.plan("--all"))}
    assert lines[f"file /{other.relative_to(world.root)}"] == ("right", "left alone: another program's")
    assert other.read_text() == "of another program\n"


@pytest.mark.parametrize("flag", ["--dryrun", "--target=dryrun", "-dryrun", "--dryrun=true"])
def test_dry_run(world, flag):
    """As plan, but 0 as kops', and with the lines that people grep for."""
    world.write_documents()
    before = listing(world.folder)
    result = world.apply(flag)
    assert result.code == OK, result
    first, *rest = result.out.splitlines()
    assert first.startswith("nodeup version ") and "\n".join(rest) + "\n" == world.plan().out
    same(before, listing(world.folder))


# Differences

def test_diff_of_a_file(world):
    world.converge()
    path = world.root / "etc/sysconfig/kubelet"
    wanted = path.read_text()
    path.write_text("DAEMON_ARGS=\"--old\"\n")
    result = world.plan("--diff")
    assert result.code == PENDING, result
    assert '-DAEMON_ARGS="--old"\n' in result.out and f"+{wanted.splitlines()[0]}" in result.out, result
    assert '-DAEMON_ARGS="--old"' not in world.plan().out and "    - --old" in world.plan().out.splitlines()


def test_diff_never_shows_a_secret(master):
    """Neither the one that is to come (World.run looks for those) nor the one that is there."""
    master.plan("--diff")
    master.converge()
    hidden = []
    for path in ("srv/kubernetes/ca.key", "srv/kubernetes/server.key", "srv/kubernetes/known_tokens.csv",
                 "srv/kubernetes/basic_auth.csv", "var/lib/kubelet/kubeconfig", "var/lib/kops/kubeconfig"):
        (master.root / path).write_text("an-older-s3cr3t\n")
        hidden.append(path)
    result = master.plan("--diff")
    assert "s3cr3t" not in result.out + result.err
    for path in hidden:
        assert f"/{path}" in " ".join(pending(result)), path
    master.converge("--v=10")
    assert master.plan("--diff").code == OK


def test_diff_shows_no_password_of_hooks_and_docker(world):
    """Neither what is to come, nor what is there when it is to go."""
    docker = "  docker:\n    registryMirrors: ['https://u:hunter2@mirror']\n"
    hooks = ("  hooks:\n"
             "  - {name: a, execContainer: {image: i, command: [sh, hunter2], environment: {PASSWORD: hunter2}}}\n"
             "  - {name: b, manifest: 'ExecStart=/bin/true hunter2'}\n")
    without = (world.store / "cluster.spec").read_text()
    assert "\n  docker:\n" in without and "\n  hooks:\n" not in without
    world.edit_store("cluster.spec", lambda t: t.replace("\n  docker:\n", "\n" + hooks + docker).replace(
        "    logOpt:\n", "    logOpt:\n    - 'splunk-token=hunter2 hunter2'\n"))
    paths = [world.root / p for p in ("etc/sysconfig/docker", *(f"etc/systemd/system/{n}.service" for n in "ab"))]

    def look():
        result = world.plan("--diff")
        assert result.code == PENDING and "hunter2" not in result.out + result.err, result
        return result.out

    out = look()
    assert "--log-opt=(not shown)" in out and "--registry-mirror=(not shown)" in out and "--ip-masq=" in out
    world.converge()
    assert all("hunter2" in path.read_text() for path in paths)
    world.edit_store("cluster.spec", lambda t: t.replace("hunter2", "hunter3").replace(", hunter3]", "]"))
    assert "hunter3" not in look() and pending(world.plan()) >= {f"file /{p.relative_to(world.root)}" for p in paths}
    (world.store / "cluster.spec").write_text(without)
    look()


def test_only_what_changed(world):
    world.converge()
    world.edit_store("cluster.spec", lambda t: t.replace("networkPluginMTU: 9001", "networkPluginMTU: 1500"))
    result = world.plan()
    assert pending(result) >= {"file /etc/sysconfig/kubelet"}, result
    # kubelet is restarted for it; image mode has no running units to speak of
    assert all("kubelet" in t for t in pending(result)), result
    assert world.requests() and world.plan("--diff").out.count("-mtu=1500") + 1


@pytest.mark.parametrize("name, change, why", [
    ("etc/sysconfig/kubelet", lambda p: p.chmod(0o600), "mode"),
    ("var/lib/kubelet/kubeconfig", lambda p: p.chmod(0o644), "mode"),
    ("usr/local/bin/kubelet", lambda p: p.write_bytes(b"not kubelet"), "content"),
    ("usr/local/bin/kubelet", lambda p: p.unlink(), "absent"),
    ("etc/systemd/system/kubelet.service", lambda p: p.write_text("[Unit]\n"), "content|differ"),
    ("opt/cni/bin/bridge", lambda p: p.chmod(0o644), "mode"),
])
def test_why(world, name, change, why):
    world.converge()
    change(world.root / name)
    result = world.plan()
    assert result.code == PENDING, result
    reasons = [w for s, t, w in tasks(result) if s == "change" and t.endswith("/" + name)]
    assert len(reasons) == 1 and re.search(why, reasons[0]), result


def test_verify_reads_again(world):
    """A disk that lies: other bytes under the same stamp.  Only --verify can see that."""
    world.converge()
    assert world.plan("--verify").code == OK
    path = world.installed(KUBELET)
    state = world.root / "var/lib/nodeup/state"
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    old = path.stat()
    path.write_bytes(data)
    new = path.stat()
    text = state.read_text()
    for then, now in ((old.st_mtime_ns, new.st_mtime_ns), (old.st_ctime_ns, new.st_ctime_ns)):
        text = text.replace(str(then), str(now))
    state.write_text(text)
    result = world.plan("--verify")
    assert result.code == PENDING and "install /usr/local/bin/kubelet" in pending(result), result


# A node that is right but for its cache

GONE = {"all": [""]}
MEMBERS = {f"install /opt/cni/bin/{m}" for m in CNI_MEMBERS}


def stamp(path):
    """What changes when a file is written or replaced; reading changes none of it."""
    st = path.stat()
    return st.st_ino, st.st_mode, st.st_mtime_ns, st.st_ctime_ns


def lose(node, how):
    for name in GONE.get(how, []):
        shutil.rmtree(node.cache / name)


@pytest.mark.parametrize("how", ["whole", *GONE])
def test_a_right_node_needs_no_cache(node, how):
    node.converge()
    lose(node, how)
    asked = node.requests()
    before = listing(node.root)
    result = node.plan()
    assert result.code == OK and summary(result)[1] == 0 and not pending(result), result
    done = node.converge()
    assert not [l for l in done.lines if l.startswith("changed ")], done
    same(before, listing(node.root))
    assert node.requests() == asked


def test_only_what_is_damaged_is_fetched(node):
    """One installed file has other bytes, and the whole cache is gone."""
    node.converge()
    node.installed(KUBELET).write_bytes(b"not kubelet")
    lose(node, "all")
    others = [u for name, a in node.assets.items() if name != KUBELET for u in a.urls] + node.protokube.urls
    asked, kubelet = [node.origin.count(u) for u in others], node.origin.count(node.url(KUBELET))
    result = node.plan()
    changes = {t: w for s, t, w in tasks(result) if s == "change" and not t.startswith("unit ")}
    assert changes == {"install /usr/local/bin/kubelet": "content differs", "asset kubelet": "not in the cache"}, result
    done = node.converge()
    assert {l.split(": ")[0] for l in done.lines if l.startswith("changed ")} >= {f"changed {t}" for t in changes}
    assert node.installed(KUBELET).read_bytes() == node.contents[KUBELET]
    assert node.origin.count(node.url(KUBELET)) > kubelet and [node.origin.count(u) for u in others] == asked
    assert node.plan().code == OK


@pytest.mark.parametrize("how", GONE)
def test_verify_says_what_it_cannot_compare(node, how):
    """The bytes of a member are in its archive alone: that it has to come again is not a change of the file."""
    node.converge()
    lose(node, how)
    before, asked = listing(node.root), node.requests()
    result = node.plan("--verify")
    assert result.code == PENDING, result
    archives = {f"{kind} {name}" for kind in ("asset", "unpack") for name in (CNI, UTILS)}
    assert pending(result) == archives, result
    assert {t for state, t, _ in tasks(result) if state == "compare"} == MEMBERS, result
    total = len(tasks(node.plan("--verify", "--all")))
    right = total - len(archives) - 3
    assert result.out.splitlines()[-1] == f"{total} tasks, {len(archives)} to change, 3 to compare, {right} right", result
    assert [l for l in result.err.splitlines() if "compared" in l] == [
        f"3 installed files can be compared only when these are fetched and unpacked again: {CNI}, {UTILS}"], result
    states = {f"{t['kind']} {t['name']}": t["state"] for t in json.loads(node.plan("--verify", "-o", "json").out)["tasks"]}
    assert {t for t, state in states.items() if state == "compare"} == MEMBERS
    same(before, listing(node.root))
    assert node.requests() == asked


@pytest.mark.parametrize("how", GONE)
def test_repair_compares_before_it_installs(node, how):
    """What is right is left alone, one file that is not is replaced."""
    node.converge()
    bad, right = (node.installed(m) for m in CNI_MEMBERS[:2])
    lose(node, how)
    for damage in (False, True):
        before = [stamp(p) for p in (bad, right)]
        if damage:
            lose(node, how)
            bad.write_bytes(noise("other", 300_000))
        done = node.run("repair")
        assert done.code == OK, done
        changed = [l for l in done.lines if l.startswith("changed install ")]
        assert stamp(right) == before[1], done
        if damage:
            assert len(changed) == 1 and f"/{bad.name}: " in changed[0] and "content differs" in changed[0], done
        else:
            assert changed == [] and stamp(bad) == before[0], done
        assert bad.read_bytes() == noise(bad.name, 300_000)
    assert node.plan("--verify").code == OK


def test_a_plan_of_an_unwritten_tree_needs_no_cache(world):
    assert world.plan("--offline").code == PENDING
    assert not world.cache.exists() and tree(world.root) == tree(world.root)
