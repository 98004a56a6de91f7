"""The program and its command line."""

import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import pytest

from world import (BUSY, ENV, FACTS, GROUPS, KUBELET, OK, PENDING, PROGRAM, ROOT, SEED_BASE, SYSTEM, USAGE, listing, same, tree)

COMMANDS = ("apply", "plan", "why", "diff", "repair", "bake", "check", "validate", "example", "userdata", "status", "timeline", "collect-logs",
            "guard", "uninstall", "completion", "help", "version")


def nodeup(*argv, **kw):
    return subprocess.run([PROGRAM, *argv], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=10, **kw)


# The program as shipped

def test_static():
    def readelf(option):
        return subprocess.run(["readelf", "-W", option, PROGRAM], check=True, capture_output=True, text=True).stdout
    assert "INTERP" not in readelf("-l") and "(NEEDED)" not in readelf("-d")
    assert "Advanced Micro Devices X86-64" in readelf("-h")


def test_size():
    assert PROGRAM.stat().st_size <= 9_000_000


def test_empty_root(tmp_path):
    shutil.copy(PROGRAM, tmp_path / "nodeup")
    for argv in (["version"], ["version", "-o", "json"], ["help"], ["help", "config"]):
        done = subprocess.run(["chroot", tmp_path, "/nodeup", *argv], env=ENV, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout and not done.stderr, done
    assert sorted(p.name for p in tmp_path.iterdir()) == ["nodeup"]


def test_version():
    done = nodeup("version")
    first, *documents = done.stdout.splitlines()
    assert done.returncode == 0 and re.fullmatch(r"nodeup version \d+\.\d+\.\d+.*", first), done
    assert documents == ["documents of kube-up: Kubernetes 1.2 to 1.5", "documents of kops 1.29 to 1.37: Kubernetes 1.24 to 1.37",
                         "documents of kops 1.8: Kubernetes 1.6 to 1.10"]


def test_version_json():
    found = json.loads(nodeup("version", "-o", "json").stdout)
    assert f"nodeup version {found['version']}" == nodeup("version").stdout.splitlines()[0]
    assert {"documents": "kops 1.8", "oldestKubernetes": "1.6", "newestKubernetes": "1.10"} in found["documents"]
    said = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    assert found["host"] == {"distribution": said["ID"].strip('"'), "version": said["VERSION_ID"].strip('"'),
                             "arch": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]}
    for library in ("curl", "c-ares", "openssl", "libsystemd", "libarchive"):
        assert re.match(r"\d", found["libraries"][library]), library


# Help

def test_help_names_every_command():
    done = nodeup("help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^\s*(nodeup )?{command}\b", done.stdout, re.M), command


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    done = nodeup("help", command)
    assert done.returncode == 0 and command in done.stdout and not done.stderr, done
    for form in ("--help", "-help"):
        assert nodeup(command, form).stdout == done.stdout


def test_help_names_the_flags():
    text = nodeup("help", "apply").stdout
    for flag in ("--conf", "--root", "--cache", "--facts", "--offline", "--rewrite", "--retries", "--deadline",
                 "--strict", "--install-systemd-unit", "--wait", "--target", "--dryrun"):
        assert re.search(rf"{flag}\b", text), flag
    for flag in ("--diff", "--verify", "-o"):
        assert re.search(rf"{flag}\b", nodeup("help", "plan").stdout), flag
    for flag in ("--gzip", "--mime", "--nodeup-url"):
        assert re.search(rf"{flag}\b", nodeup("help", "userdata").stdout), flag


# Lists that are written by hand and those that the program prints

def man():
    """The manual page without its markup."""
    text = (ROOT / "nodeup/nodeup.8").read_text()
    text = re.sub(r'\\f[BIRP]|"', "", text.replace("\\-", "-"))
    return re.sub(r"(?m)^\.(B|I|[BIR]{2}) (.*)$", lambda m: m[2] if len(m[1]) == 1 else m[2].replace(" ", ""), text)


def statuses(text, form):
    """{exit status: meaning}"""
    return {number: meaning.replace("`", "") for number, meaning in re.findall(form, text, re.M)}


def test_exit_statuses_are_the_same_everywhere():
    help_text = nodeup("help", "exit-status").stdout
    want = statuses(help_text, r"^  (\d+(?:\+n)?) +(.*)$")
    assert len(want) == 10 and len(help_text.splitlines()) == 13 and "1" not in want, help_text
    assert statuses((ROOT / "README.md").read_text(), r"^\| (\d+(?:\+n)?) \| (.*) \|$") == want
    section = man().split(".SH EXIT STATUS", 1)[1].split(".SH", 1)[0]
    assert statuses(section, r"^\.TP\n(\d+(?:\+n)?)\n(.*)$") == want


def test_the_manual_page_names_every_command_and_flag():
    text, options = man(), set()
    commands = re.findall(r"^  (\S+) ", nodeup("help").stdout.split("\n\n")[1], re.M)
    assert set(commands) == set(COMMANDS)
    for command in commands:
        assert re.search(rf"^\.TP\n{command}\b", text.split(".SH COMMANDS", 1)[1].split(".SH", 1)[0], re.M), command
        options |= set(re.findall(r"^  (-\S+(?: [A-Z]+)?)  ", nodeup("help", command).stdout, re.M))
    topics = re.findall(r"^  (\S+) ", nodeup("help").stdout.split("help TOPIC", 1)[1].split("\n\n")[0], re.M)
    assert len(topics) > 5
    for topic in topics:
        assert re.search(rf"^{topic}[,.]?$", text.split(".TP\nhelp", 1)[1].split(".TP", 1)[0], re.M), topic
    assert len(options) > 20
    named = text.split(".SH OPTIONS", 1)[1].split(".SH", 1)[0].replace("[", "").replace("]", "")
    entries = re.findall(r"^\.TP\n(.*)$", named, re.M)
    found = {flag for entry in entries for flag in entry.split(",-")}
    for option in options:
        flag = option.replace(" ", "")
        assert any(flag in ("-" + f.lstrip("-"), "--" + f.lstrip("-")) for f in found), f"{option} is not in {sorted(found)}"


def test_the_schemes_of_conf_are_the_same_everywhere():
    words = re.search(r"--conf=PATH +kube_env\.yaml: (a path, or an .* URL)$", nodeup("help", "userdata").stdout, re.M)[1]
    assert f"kube_env.yaml: {words}, or kept:N: the documents of run N\n" in nodeup("help", "apply").stdout
    assert f"as {words}. Left out" in man().replace("\n", " ").replace(".I ", "")
    done = nodeup("validate", "--conf=ftp://x/kube_env.yaml")
    assert done.returncode == 78 and f"'ftp://x/kube_env.yaml': wanted {words}" in done.stderr, done
    for scheme in re.findall(r"\w+://", words):
        done = nodeup("validate", "--offline", f"--conf={scheme}x/kube_env.yaml")
        assert done.returncode and "wanted" not in done.stderr and "x/kube_env.yaml" in done.stderr, done


@pytest.mark.parametrize("command", ["apply", "repair"])
def test_only_root_changes_a_machine(command):
    """One line, before anything is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(PROGRAM, folder)
        done = subprocess.run([program, command, "--conf=/none"], user=65534, group=65534, extra_groups=[], env=ENV,
                              capture_output=True, text=True, timeout=10)
        assert done.returncode == 64 and done.stdout == "", done
        assert len(done.stderr.splitlines()) == 1 and "FAILED must be root to change this machine (64)" in done.stderr, done


@pytest.mark.parametrize("topic", ["config", "exit-status", "asset-hash"])
def test_help_topics(topic):
    done = nodeup("help", topic)
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 3, done


def test_help_config_has_every_key_of_the_seed(world):
    """What the seed's documents say is what the help explains."""
    text = nodeup("help", "config").stdout.lower()
    for key in ("podManifestPath", "networkPluginMTU", "evictionHard", "registerSchedulable", "clusterCIDR",
                "admissionControl", "logOpt", "useServiceAccountCredentials", "leaderElect"):
        assert key.lower() in text, key


# What people type first, and what they mistype

@pytest.mark.parametrize("form", ["-h", "--help", "-help"])
def test_help_without_a_command_is_the_help_of_all(form):
    done = nodeup(form)
    assert done.returncode == 0 and done.stdout == nodeup("help").stdout, done
    assert nodeup("plan", form).stdout == nodeup("help", "plan").stdout != done.stdout


@pytest.mark.parametrize("form", ["-V", "--version", "-version"])
def test_version_as_a_flag(form):
    done = nodeup(form)
    assert done.returncode == 0 and done.stdout == nodeup("version").stdout, done


@pytest.mark.parametrize("line, says", [
    (["plam"], "unknown command 'plam'; did you mean plan? (64)"),
    (["frobnicate"], "unknown command 'frobnicate'; see nodeup help"),
    (["plan", "--dif"], "unknown flag '--dif'; did you mean --diff? (64)"),
    (["--confg=x"], "unknown flag '--confg=x'; did you mean --conf? (64)"),
    (["plan", "-dif"], "unknown flag '-dif'; did you mean --diff? (64)"),
    (["apply", "--frobnicate"], "unknown flag '--frobnicate'; see nodeup help apply"),
    (["help", "confg"], "no help on 'confg'; did you mean config? (64)"),
    (["help", "exit"], "no help on 'exit'; did you mean exit-status? (64)"),
    (["help", "config", "DockerConfg"], "no part 'DockerConfg' in help config: did you mean DockerConfig? (64)"),
    (["help", "config", "etcd"], "no part 'etcd' in help config: KubeletConfigSpec, DockerConfig, "),
    (["help", "plan", "x"], "nodeup help: unexpected 'x'"),
    (["validate", "FILE"], "nodeup validate: unexpected 'FILE'; documents are named by --conf=PATH"),
    (["--conf=x", "validate"], "'validate' is a command: it goes before all flags"),
    (["bake", "-o", "json"], "nodeup bake takes no -o"),
    (["validate", "-o", "jsn"], "-o: 'jsn' is none of text, json, github; did you mean json? (64)"),
    (["version", "-o", "xml"], "-o: 'xml' is none of text, json; see nodeup help version (64)"),
    (["apply", "--target=dryrum"], "--target: 'dryrum' is none of direct, dryrun; did you mean dryrun? (64)"),
    (["plan", "--conf=A", "--conf=B"], "--conf names both 'A' and 'B'"),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_a_wrong_line_says_what_was_meant(line, says):
    done = nodeup(*line)
    assert done.returncode == 64 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert f"FAILED {says}" in done.stderr, done


def test_help_of_one_part():
    part = nodeup("help", "config", "kubelet").stdout
    assert "podManifestPath" in part and "admissionControl" not in part
    assert part.strip() in nodeup("help", "config").stdout


@pytest.mark.parametrize("topic, keys", [
    ("kube_env", ["ConfigBase", "Assets", "SALT_TAR_URL", "packages"]), ("cluster", ["kubernetesVersion", "networking", "kubelet"]),
    ("instancegroup", ["role", "nodeLabels", "volumeMounts"]), ("hooks", ["manifest", "requires", "execContainer"]),
    ("fileAssets", ["path", "content", "isBase64"]), ("volumes", ["filesystem", "mountOptions"]), ("facts", ["localHostname", "arch"])])
def test_help_of_a_document(topic, keys):
    done = nodeup("help", topic)
    lines = {l.split()[0]: l for l in done.stdout.splitlines() if l.startswith("  ")}
    assert done.returncode == 0 and set(keys) <= set(lines), done.stdout
    assert all(len(lines[key].split()) > 2 for key in keys), "a key without its type and what it does"


# Forms of flags

def forms(world):
    """As Go's flag package takes them."""
    conf, root, facts, cache = map(str, (world.conf, world.root, world.facts_file, world.cache))
    yield ["plan", f"--conf={conf}", f"--root={root}", f"--facts={facts}", f"--cache={cache}"]
    yield ["plan", "--conf", conf, "--root", root, "--facts", facts, "--cache", cache]
    yield ["plan", f"-conf={conf}", f"-root={root}", f"-facts={facts}", f"-cache={cache}"]
    yield ["plan", "-conf", conf, "-root", root, "-facts", facts, "-cache", cache]
    yield ["plan", "--v=8", "--logtostderr", "--alsologtostderr=true", "--vmodule=x=1", "--stderrthreshold=INFO",
           "--log_dir=/tmp", "--log_backtrace_at=:0", f"--conf={conf}", f"--root={root}", f"--facts={facts}",
           f"--cache={cache}"]


def test_forms_of_flags(world):
    world.write_documents()
    results = [world.run_argv([str(PROGRAM), *argv]) for argv in forms(world)]
    assert [r.code for r in results] == [PENDING] * len(results), results
    assert len({r.out for r in results}) == 1


def test_relative_paths(world, mounts):
    """Of the caller's folder; where everything else is read-only, for the case that they are not."""
    world.write_documents()
    for folder in ("root", "cache"):
        (world.folder / folder).mkdir(exist_ok=True)
        mounts.run("mount", "--bind", world.folder / folder, world.folder / folder)
    mounts.run("mount", "-o", "remount,bind,ro", "/")
    result = world.run_argv([*mounts.enter, "sh", "-c", f"cd {world.folder}; exec {PROGRAM} apply --root=root "
                             "--conf=conf/kube_env.yaml --facts=conf/facts.yaml --cache=cache"])
    assert result.code == OK, result
    assert world.installed(KUBELET).is_file() and world.entry(KUBELET).is_file()


def test_apply_is_the_default(world):
    """The seed's line has no command."""
    world.write_documents()
    argv = world.argv("apply", "--v=8", "--rootfs=/")
    argv.remove("apply")
    result = world.run_argv(argv)
    assert result.code == OK and result.out.endswith("success\n"), result


def test_the_bare_word_is_no_command():
    done = nodeup()
    assert done.returncode == USAGE and done.stdout == nodeup("help").stdout and not done.stderr, done


WRITERS = {
    **{command: [command] for command in ("apply", "plan", "repair", "check", "validate")},
    "plan -o json": ["plan", "-o", "json"], "validate -o json": ["validate", "-o", "json"], "bake": ["bake"],
    "why": ["why", "kubelet.service"], "userdata": ["userdata", "--nodeup-url=%s@http://x/nodeup" % ("0" * 40)],
    "diff": ["diff", "CONF", "CONF"], "example": ["example", "worker"], "status": ["status"], "help": ["help", "config"],
    "version": ["version"], "completion": ["completion", "bash"], "uninstall": ["uninstall", "--units", "--dryrun"],
    "collect-logs": ["collect-logs", "--list"],
}


TAKES = {"diff": ["--facts"], "userdata": ["--facts", "--conf"], "uninstall": ["--root"],
         **dict.fromkeys(("example", "status", "collect-logs", "help", "version", "completion"), [])}


@pytest.mark.parametrize("name", WRITERS)
def test_what_did_not_get_out_is_a_failure(world, name):
    """On a full disk, and where its reader went away; what changes the machine does so first."""
    world.write_documents()
    command, *rest = WRITERS[name]
    program, _, *flags = world.argv(command)
    argv = [program, command, *(flag for flag in flags if flag.split("=")[0] in TAKES.get(command, flag)),
            *(word.replace("CONF", str(world.conf)) for word in rest)]
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(argv, env=ENV, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if "stdout" in line]
    assert done.returncode == SYSTEM and len(lines) == 1 and re.search("No space left|not all of it got out", lines[0]), done
    if name in ("apply", "repair"):
        world.check_files()
        assert world.plan().code == OK
    if name == "bake":
        assert world.entry(KUBELET).exists()
    reader, writer = os.pipe()
    os.close(reader)
    for restore, status in ((True, -signal.SIGPIPE), (False, SYSTEM)):
        done = subprocess.run(argv, env=ENV, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60,
                              restore_signals=restore)
        assert done.returncode == status and ("FAILED write to stdout: " in done.stderr) != restore, done
    os.close(writer)


def test_install_the_unit_in_an_image(world):
    """The seed's own command line: writes and enables the unit, and nothing else."""
    result = world.apply("--install-systemd-unit", "--v=8")
    assert result.code == OK, result
    lines = result.out.splitlines()
    assert lines[0].startswith("nodeup version ") and lines[-1] == "service installed", result
    unit = world.root / "etc/systemd/system/kops-configuration.service"
    text = unit.read_text()
    exec_start = re.search(r"^ExecStart=(.*)$", text, re.M).group(1)
    assert exec_start.startswith("/opt/nodeup/bin/nodeup apply ") and "--v=8" in exec_start, text
    assert f"--conf={world.conf}" in exec_start
    # what speaks of this run or of this host is not for the machine that the image boots
    assert not re.search("install-systemd-unit|--root|--facts", exec_start), text
    program = world.root / "opt/nodeup/bin/nodeup"
    assert program.read_bytes() == PROGRAM.read_bytes() and program.stat().st_mode & 0o7777 == 0o755
    assert os.readlink(world.root / "usr/local/bin/nodeup") == "/opt/nodeup/bin/nodeup"
    assert re.search(r"^Type=notify$", text, re.M) and re.search(r"^WantedBy=multi-user\.target$", text, re.M)
    link = world.root / "etc/systemd/system/multi-user.target.wants/kops-configuration.service"
    assert link.is_symlink()
    assert not world.installed(KUBELET).exists() and world.requests() == 0
    before = listing(world.root)
    assert world.apply("--install-systemd-unit", "--v=8").code == OK
    same(before, listing(world.root))


def test_no_link_goes_before_the_program_of_a_package(world):
    """It would lead to an older one after the next upgrade of the package."""
    packaged = world.root / "usr/bin/nodeup"
    packaged.parent.mkdir(parents=True, exist_ok=True)
    packaged.touch()
    assert world.apply("--install-systemd-unit").code == OK
    assert (world.root / "opt/nodeup/bin/nodeup").exists() and not os.path.lexists(world.root / "usr/local/bin/nodeup")


def test_an_image_keeps_the_unit_it_was_given(world):
    """And has none that was not asked for."""
    world.converge()
    unit = world.root / "etc/systemd/system/kops-configuration.service"
    assert not unit.exists() and not (world.root / "opt/nodeup").exists()
    assert world.apply("--install-systemd-unit", "--v=8").code == OK
    text = unit.read_text()
    unit.unlink()
    (world.root / "opt/nodeup/bin/nodeup").write_text("damaged")
    result = world.plan()
    assert result.code == PENDING, result
    assert f"+ file /{unit.relative_to(world.root)}: absent" in result.out, result
    assert "~ program /opt/nodeup/bin/nodeup: damaged" in result.out, result
    assert world.apply("--v=1").code == OK
    assert unit.read_text() == text and world.plan().code == OK
    assert (world.root / "opt/nodeup/bin/nodeup").read_bytes() == PROGRAM.read_bytes()


@pytest.mark.parametrize("role", ["nodes", "master"])
def test_validate(make_world, role):
    node = make_world("w", role)
    node.write_documents()
    before = listing(node.folder)
    result = node.run("validate")
    assert result.code == OK and "abc.joshdurbin.net" in result.out and not result.err, result
    same(before, listing(node.folder))


def test_validate_needs_no_keys(world):
    """An engineer at a desk has the documents, not the cluster's keys."""
    shutil.rmtree(world.store / "pki")
    shutil.rmtree(world.store / "secrets")
    assert world.run("validate").code == OK


# Sources of documents

class Store(http.server.SimpleHTTPRequestHandler):
    """A state store behind plain HTTP, with index pages as web servers make them."""

    def log_message(self, *_):
        pass


@pytest.fixture
def http_store(world):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *a: Store(*a, directory=str(world.store)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def without_places(world, config_base):
    """The store's own places, so that another ConfigBase decides."""
    world.edit_store("cluster.spec", lambda t: re.sub(r"^  (key|secret|config)(Store|Base): .*\n", "", t, flags=re.M))
    world.config_base = config_base


def keys(world):
    """What was made of the store's keys."""
    return {n: v for n, v in tree(world.root).items() if re.search(r"kubeconfig|srv/kubernetes", n)}


def test_every_kind_of_config_base(world, http_store):
    found = []
    for base in (str(world.store), f"file://{world.store}", http_store, str(world.store) + "/"):
        without_places(world, base)
        shutil.rmtree(world.root)
        world.make_root(world.root)
        world.converge()
        found.append(keys(world))
    assert len(found[0]) > 3 and found == [found[0]] * 4


def test_without_a_config_base(world):
    """cluster_spec.yaml, ig_spec.yaml, pki/ and secrets/ beside --conf: the seed's own script writes such."""
    without_places(world, str(world.store))
    world.converge()
    want = keys(world)
    shutil.rmtree(world.root)
    world.make_root(world.root)
    world.config_base = None
    shutil.copy(world.store / "cluster.spec", world.conf.parent / "cluster_spec.yaml")
    shutil.copy(world.store / "instancegroup/nodes", world.conf.parent / "ig_spec.yaml")
    for folder in ("pki", "secrets"):
        shutil.copytree(world.store / folder, world.conf.parent / folder)
    shutil.rmtree(world.store)
    world.converge()
    assert keys(world) == want


@pytest.mark.parametrize("role", ["nodes", "master"])
def test_the_bare_sections_of_the_seed(make_world, role):
    """What the seed's script writes beside --conf: sections without metadata, null for what is empty."""
    world = make_world("w", role)
    script = (ROOT / "tests/data/seed-cluster" / role / "user_data.sh").read_text()
    for name in ("cluster_spec", "ig_spec"):
        text = re.search(rf"cat > {name}.yaml << '(\w+)'\n(.*?)^\1$", script, re.S | re.M).group(2)
        (world.conf.parent / f"{name}.yaml").write_text(text)
    for folder in ("pki", "secrets"):
        shutil.move(world.store / folder, world.conf.parent / folder)
    shutil.rmtree(world.store)
    world.config_base = None
    world.converge("--strict")
    args = (world.root / "etc/sysconfig/kubelet").read_text()
    for flag in ("--network-plugin-mtu=9001", "--cloud-provider=aws", "--cluster-dns=100.64.0.10",
                 "--pod-manifest-path=/etc/kubernetes/manifests", f"instancegroup={GROUPS[role]}",
                 "ExperimentalCriticalPodAnnotation=true", f"--hostname-override={FACTS['localHostname']}"):
        assert flag in args, f"{flag} is not in {args}"
    assert (world.root / "etc/kubernetes/manifests/kube-apiserver.manifest").exists() == (role == "master")


def test_keys_in_any_case(world):
    """As kops' reader matches them."""
    want = world.plan().out
    world.conf.write_text(re.sub(r"^([A-Za-z]+):", lambda m: m[1].upper() + ":", world.conf.read_text(), flags=re.M))
    world.edit_store("cluster.spec", lambda t: t.replace("networkPluginMTU", "networkpluginmtu").replace(
        "kubeProxy:", "KubeProxy:"))
    assert world.plan("--strict", write=False).out == want


def test_conf_by_url(world, http_store):
    shutil.rmtree(world.root)
    world.make_root(world.root)
    world.write_documents()
    shutil.copy(world.conf, world.store / "kube_env.yaml")
    for conf in (f"file://{world.conf}", f"{http_store}/kube_env.yaml"):
        assert world.plan(conf=conf).code == PENDING


def test_an_image_asks_no_metadata_service(world):
    """None of the machine that builds it may get into an image."""
    with socket.create_server(("127.0.0.1", 0)) as imds:
        imds.settimeout(0.1)
        world.facts.pop("localHostname")
        endpoint = f"http://127.0.0.1:{imds.getsockname()[1]}"
        world.apply(env={"AWS_EC2_METADATA_SERVICE_ENDPOINT": endpoint})
        with pytest.raises(TimeoutError):
            imds.accept()


def test_the_store_is_named_only_where_it_belongs(world):
    """The seed's own bucket is in no file but what the documents say of channels and addons."""
    world.converge()
    for path in (world.root / "etc").rglob("*"):
        if path.is_file() and "protokube" not in path.name:
            assert SEED_BASE not in path.read_text(errors="replace"), path


def test_deadline_while_the_store_is_silent(world):
    """75 only if nothing failed and something still waited."""
    world.config_base = f"{world.origin.base}/{world.token}/~hang"
    before = listing(world.root)
    result = world.apply("--deadline=2s", timeout=20)
    assert result.code in (69, BUSY), result
    same(before, listing(world.root))


def test_environment_is_no_input(world):
    """A stray variable of the caller does not change the node."""
    world.converge()
    want = tree(world.root)
    shutil.rmtree(world.root)
    world.make_root(world.root)
    world.converge(env={"LANG": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "HOME": "/nowhere", "IFS": "x",
                        "OPENSSL_CONF": "/nowhere", "CURL_HOME": "/nowhere", "TMPDIR": "/nowhere"})
    same(want, tree(world.root))


def test_closed_descriptors(world):
    """Init systems have started programs with less than three."""
    world.write_documents()
    argv = " ".join(f"'{a}'" for a in world.argv("apply"))
    assert os.waitstatus_to_exitcode(os.system(f"exec {argv} <&- >&- 2>&-")) == OK
    world.check_files()
    assert world.plan().code == OK
