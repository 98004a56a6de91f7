"""Bad input: one clear line that names the place, the documented exit status, an untouched machine."""

import base64
import json
import re
import shutil

import pytest

from world import (CNI, CONFIG, FACTS, KUBECTL, KUBELET, NET, OK, SYSTEM, USAGE, Asset, listing, same, tar)

HEX64 = "0123456789abcdef" * 4


def place(name, line=None, column=None):
    return rf"{re.escape(name)}:{line or '[0-9]+'}:{column or '[0-9]+'}: "


def refuse(world, code, *patterns, command="apply", flags=(), write=True, timeout=20, **kw):
    """Run, and want this exit status, one line with all patterns, and nothing touched."""
    if write:
        world.write_documents()
    before = listing(world.folder)
    asked = world.requests()
    result = world.run(command, *flags, write=False, timeout=timeout, **kw)
    assert result.code == code, result
    line = result.failure
    for pattern in patterns:
        assert re.search(pattern, line), f"want /{pattern}/ in\n{line}"
    assert "success" not in result.out
    others = [l for l in result.lines if l != line and not l.startswith(("  ", "WAITING "))
              and not re.match(r"(\S+:\d+:\d+: )?error: ", l)]
    assert not others, f"more than one line:\n{result.err}"
    same(before, listing(world.folder))
    assert world.requests() == asked, "assets were asked for"
    return result


def lines_of(world, text):
    """The numbers of the lines that begin so."""
    return [n for n, l in enumerate(world.conf.read_text().splitlines(), 1) if l.startswith(text)]


# The configuration itself

def test_missing_conf(world):
    refuse(world, CONFIG, re.escape(str(world.folder / "none.yaml")), conf=world.folder / "none.yaml")


def test_conf_is_a_directory(world):
    world.write_documents()
    before = listing(world.folder)
    result = world.apply(conf=world.store)
    assert result.code in (CONFIG, SYSTEM) and str(world.store) in result.failure, result
    same(before, listing(world.folder))


@pytest.mark.parametrize("text, line, column", [
    ("Assets:\n- a\n b: [\n", 3, None),
    ("ClusterName: abc\n\tTags: []\n", 2, 1),
    ("ClusterName: 'abc\nTags: []\n", None, None),
    ("ClusterName: *nowhere\n", 1, 14),
], ids=["flow", "tab", "quote", "alias"])
def test_invalid_yaml(world, text, line, column):
    world.write_documents()
    world.conf.write_text(text)
    refuse(world, CONFIG, place("kube_env.yaml", line, column), write=False)


@pytest.mark.parametrize("data", [b"ClusterName: \xff\xfe\xfa\n", b"ClusterName: a\0b\n"], ids=["utf8", "nul"])
def test_bytes_that_are_no_text(world, data):
    world.write_documents()
    world.conf.write_bytes(data)
    refuse(world, CONFIG, r"kube_env\.yaml", write=False)


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"- a\n- b\n", b"just words\n"],
                         ids=["empty", "comment", "list", "scalar"])
def test_no_map(world, data):
    world.write_documents()
    world.conf.write_bytes(data)
    refuse(world, CONFIG, r"kube_env\.yaml", write=False)


@pytest.mark.parametrize("more, column", [
    ("images: 7\n", 9), ("ClusterLocation:\n  a: b\n", None), ("images:\n- name: [x]\n", None)],
    ids=["number", "map", "list"])
def test_wrong_type(world, more, column):
    world.more = more
    world.write_documents()
    refuse(world, CONFIG, place("kube_env.yaml", None, column), r"images|ClusterLocation")


@pytest.mark.parametrize("old, new, key", [
    ("Tags:\n- _automatic_upgrades\n- _aws\n", "Tags:\n  a: b\n", "Tags"),
    ("ClusterName: abc.joshdurbin.net\n", "ClusterName: [a, b]\n", "ClusterName"),
], ids=["map", "list"])
def test_wrong_type_of_what_is_needed(world, old, new, key):
    world.write_documents()
    assert old in world.conf.read_text()
    world.conf.write_text(world.conf.read_text().replace(old, new))
    refuse(world, CONFIG, place("kube_env.yaml"), key, write=False)


@pytest.mark.parametrize("assets", ["Assets: kubelet\n", "Assets:\n- {a: b}\n", "Assets:\n-\n"],
                         ids=["scalar", "map", "null"])
def test_assets_are_a_list_of_strings(world, assets):
    world.write_documents()
    world.conf.write_text(assets + world.conf.read_text()[world.conf.read_text().index("ClusterName"):])
    refuse(world, CONFIG, place("kube_env.yaml"), "Assets", write=False)


@pytest.mark.parametrize("more", ["ClusterName: other\n", "clustername: other\n"], ids=["same", "case"])
def test_duplicate_key(world, more):
    world.more = more
    world.write_documents()
    refuse(world, CONFIG, place("kube_env.yaml", lines_of(world, more.strip())[0], 1), r"(?i)clustername")


def test_unknown_key_is_a_warning(world):
    world.more = "Colour: blue\n"
    world.write_documents()
    line = lines_of(world, "Colour")[0]
    result = world.converge()
    assert re.search(place("kube_env.yaml", line, 1) + r".*Colour", result.err), result


def test_unknown_key_is_an_error_when_strict(world):
    world.more = "Colour: blue\n"
    world.write_documents()
    refuse(world, CONFIG, place("kube_env.yaml", lines_of(world, "Colour")[0], 1), "Colour", flags=["--strict"])


@pytest.mark.parametrize("name, value", [("ClusterName: abc.joshdurbin.net", "ClusterName: ../../etc"),
                                         ("InstanceGroupName: nodes", "InstanceGroupName: ../../../etc/passwd"),
                                         ("ClusterName: abc.joshdurbin.net", "ClusterName: 'a b'")],
                         ids=["cluster", "group", "blank"])
def test_names_that_are_paths(world, name, value):
    world.write_documents()
    world.conf.write_text(world.conf.read_text().replace(name, value))
    refuse(world, CONFIG, place("kube_env.yaml"), name.split(":")[0], write=False)


def test_anchors_are_bounded(world):
    """Ten levels of ten: a file of 500 bytes that would be ten thousand million strings."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 11)]
    world.write_documents()
    world.conf.write_text("\n".join(levels) + "\n")
    refuse(world, CONFIG, r"kube_env\.yaml", write=False, timeout=10)


def test_an_endless_document(world):
    world.write_documents()
    world.conf.write_text("# " + "x" * (64 << 20) + "\n")
    refuse(world, CONFIG, r"kube_env\.yaml", write=False)


# Cluster spec and instance group

@pytest.mark.parametrize("old, new", [
    ("  kubelet:\n    allowPrivileged: true\n", "  kubelet:\n    allowPrivileged: maybe\n"),
    ("    networkPluginMTU: 9001\n", "    networkPluginMTU: many\n"),
    ("  docker:\n    bridge: \"\"\n", "  docker:\n    bridge: [a]\n"),
], ids=["bool", "int", "string"])
def test_wrong_type_in_the_cluster_spec(world, old, new):
    text = (world.store / "cluster.spec").read_text()
    assert old in text
    world.edit_store("cluster.spec", lambda t: t.replace(old, new, 1))
    line = text[:text.index(old)].count("\n") + old.count("\n")
    column = len(new.splitlines()[-1]) - len(new.splitlines()[-1].split(": ")[1]) + 1
    refuse(world, CONFIG, place("cluster.spec", line, column), old.splitlines()[-1].split(":")[0].strip())


@pytest.mark.parametrize("section, text, key", [
    ("kubelet", "hairpinMode: sometimes", "hairpinMode"), ("masterKubelet", "networkPluginName: weave", "networkPluginName"),
    ("docker", "logLevel: loud", "logLevel"), ("kubeAPIServer", "storageBackend: paper", "storageBackend"),
    ("kubeAPIServer", "apiServerCount: 0", "apiServerCount"),
])
def test_what_kops_writes_through_and_no_component_takes(master, section, text, key):
    def change(spec):
        spec = re.sub(r"  networking:\n(    .*\n)+", "", spec)
        spec = re.sub(rf"    {key}:.*\n", "", spec)
        assert spec.count(f"\n  {section}:\n") == 1
        return spec.replace(f"\n  {section}:\n", f"\n  {section}:\n    {text}\n")

    master.edit_store("cluster.spec", change)
    refuse(master, CONFIG, place("cluster.spec"), key)


def test_encryption_without_its_secret(master):
    master.edit_store("cluster.spec", lambda t: t.rstrip("\n") + "\n  encryptionConfig: true\n")
    refuse(master, CONFIG, "encryptionconfig")


@pytest.mark.parametrize("text, key", [
    ("egressProxy: u:hunter2@proxy", "egressProxy"), ("egressProxy: {httpProxy: {host: h, port: hunter2}}", "port"),
    ("egressProxy: {httpProxy: [hunter2]}", "httpProxy"), ("egressProxy: {httpProxy: {host: 'u:hunter2@a b'}}", "host"),
    ("hooks: [{execContainer: {image: i, command: echo hunter2}}]", "command"),
    ("hooks: [{execContainer: {image: i, environment: PASSWORD=hunter2}}]", "environment"),
    ("hooks: [docker run hunter2]", "hooks"), ("fileAssets: [hunter2]", "fileAssets"),
    ("hooks: [{manifest: [hunter2]}]", "manifest"), ("fileAssets: [{path: /a, content: {hunter2: x}}]", "content"),
    ("assets: {containerRegistry: [hunter2]}", "containerRegistry"), ("cloudConfig: hunter2", "cloudConfig"),
    ("egressProxy: !hunter2", "unknown tag"), ("egressProxy: *hunter2", "unknown alias"),
    ("egressProxy: {httpProxy: {'u:hunter2@proxy': }}", "httpProxy"),
])
@pytest.mark.parametrize("command", ["apply", "validate"])
def test_no_message_shows_what_may_be_a_password(world, text, key, command):
    world.edit_store("cluster.spec", lambda t: t + "  " + text + "\n")
    flags = ("--strict",) if "': }" in text else ()
    result = refuse(world, CONFIG, place("cluster.spec"), key, command=command, flags=flags)
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize("text", [
    "images: https://u:hunter2@h/x", "images: [https://u:hunter2@h/x]", "images: [{name: x, source: [https://u:hunter2@h/x]}]",
    "protokubeImage: https://u:hunter2@h/x", "urlRewrites: https://u:hunter2@h=x", "urlRewrites: [https://u:hunter2@h]",
    "channels: https://u:hunter2@h/x", "Assets: https://u:hunter2@h/x", "Assets: [[https://u:hunter2@h/x]]",
    "Assets: [https://u:hunter2@h/x]", "Assets: [{asset: https://u:hunter2@h/x}]"])
def test_no_message_shows_the_login_of_a_url(world, text):
    key = text.split(":")[0]
    world.write_documents()
    lines = world.conf.read_text().splitlines()
    kept, inside = [], False
    for line in lines:
        inside = line.startswith(key + ":") or (inside and line.startswith((" ", "-")))
        kept += [] if inside else [line]
    world.conf.write_text("\n".join([*kept, text, ""]))
    result = refuse(world, CONFIG, place("kube_env.yaml", len(kept) + 1), write=False)
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize("secret", ["kube", "admin", "robot"])
def test_a_token_of_two_lines(master, secret):
    data = base64.b64encode(b"hunter2\nevil,system:masters,x").decode()
    (master.store / "secrets" / secret).write_text(json.dumps({"Data": data}))
    result = refuse(master, CONFIG, re.escape(f"{master.store}/secrets/{secret}: "), "line break")
    assert "hunter2" not in result.err and data not in result.err


def test_duplicate_key_in_the_cluster_spec(world):
    text = (world.store / "cluster.spec").read_text() + "  cloudProvider: gce\n"
    world.edit_store("cluster.spec", lambda _: text)
    refuse(world, CONFIG, place("cluster.spec", text.count("\n"), 3), "cloudProvider")


def test_missing_cluster_spec(world):
    (world.store / "cluster.spec").unlink()
    refuse(world, CONFIG, re.escape(f"{world.store}/cluster.spec"))


def test_missing_instance_group(world):
    (world.store / "instancegroup/nodes").unlink()
    refuse(world, CONFIG, re.escape(f"{world.store}/instancegroup/nodes"))


def test_role_and_tag_disagree(world):
    world.edit_store("instancegroup/nodes", lambda t: t.replace("role: Node", "role: Master"))
    refuse(world, CONFIG, place("nodes"), "Master", "_kubernetes_master")


def test_documents_of_another_cluster(world):
    world.edit_store("cluster.spec", lambda t: t.replace("  name: abc.joshdurbin.net", "  name: other.example"))
    refuse(world, CONFIG, place("cluster.spec"), r"other\.example")


# Facts

def test_unknown_distribution_in_facts(world):
    world.facts["distribution"] = "slackware"
    refuse(world, CONFIG, place("facts.yaml", 1, 15), "slackware")


def test_unknown_distribution_below_the_root(world):
    del world.facts["distribution"]
    (world.root / "etc/os-release").write_text("ID=slackware\n")
    refuse(world, CONFIG, "distribution", "slackware")


def test_no_distribution_at_all(world):
    del world.facts["distribution"]
    (world.root / "etc/os-release").unlink()
    refuse(world, CONFIG, "distribution", "os-release")


def test_unknown_fact(world):
    world.facts["colour"] = "blue"
    refuse(world, CONFIG, place("facts.yaml", len(FACTS) + 1, 1), "colour")


def test_missing_facts(world):
    world.write_documents()
    world.facts_file.unlink()
    refuse(world, CONFIG, re.escape(str(world.facts_file)), write=False)


# Assets of the document

def test_no_kubelet(world):
    del world.assets[KUBELET]
    refuse(world, CONFIG, "kubelet")


def test_a_kubelet_inside_an_archive(world):
    """Who needs it must know before anything is fetched whether it will come."""
    world.assets["more.tar.gz"] = world.serve("more.tar.gz", tar({"kubelet": b"#!ELF"}))
    del world.assets[KUBELET]
    refuse(world, CONFIG, "kubelet")


def test_no_network_plugins(world):
    """Which archive holds them is known only from inside, so this cannot be told before fetching."""
    del world.assets[CNI]
    before = listing(world.root)
    result = world.apply()
    assert result.code == CONFIG and re.search("bridge|host-local|loopback", result.failure), result
    assert not (world.root / "opt/cni/bin/bridge").exists() and before["etc/keep"] == listing(world.root)["etc/keep"]


def test_no_kubectl_on_a_master(master):
    del master.assets[KUBECTL]
    refuse(master, CONFIG, "kubectl")


def test_two_kubelets(world):
    """As in kops: which of them is meant nobody can say."""
    world.assets["other"] = world.local(KUBELET, b"other\n")
    refuse(world, CONFIG, place("kube_env.yaml", lines_of_kubelets(world)[1]), "kubelet")


def lines_of_kubelets(world):
    world.write_documents()
    return [n for n, l in enumerate(world.conf.read_text().splitlines(), 1) if l.endswith("/kubelet")]


@pytest.mark.parametrize("digest, why", [
    (HEX64[:-1], "63|length|long|digits"), (HEX64 + "0", "65|length|long|digits"), ("abc", ""), ("", "hash"),
    ("g" + HEX64[1:], "hex"), (HEX64[:39] + "z", "hex"), ("crc32:" + HEX64[:8], "crc32"),
    ("sha1:" + HEX64, "sha1"), ("sha256:" + HEX64[:40], "sha256"), ("md5:" + HEX64[:32], "md5"),
    (HEX64[:32], ""), ("sha256:", ""), (":" + HEX64, ""),
], ids=["short", "long", "abc", "none", "no-hex", "no-hex-sha1", "algorithm", "sha1-length", "sha256-length",
        "md5", "md5-length", "no-digits", "no-algorithm"])
@pytest.mark.parametrize("command", ["apply", "validate"])
def test_unusable_hash(world, digest, why, command):
    world.assets[KUBELET].digest = digest
    refuse(world, CONFIG, place("kube_env.yaml", 2), why, command=command)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/kubelet", "kubelet", "http:///kubelet", "http://127.0.0.1/",
                                 "''", "gopher://x/kubelet"],
                         ids=["scheme", "relative", "no-host", "no-name", "empty", "gopher"])
def test_unusable_url(world, url):
    world.assets[KUBELET].urls = [url]
    refuse(world, CONFIG, place("kube_env.yaml", 2))


def test_unusable_hash_of_the_image(master):
    master.protokube.digest = "12345"
    refuse(master, CONFIG, place("kube_env.yaml"), "protokube")


def test_no_secret_of_a_url_in_the_message(world):
    world.assets[KUBELET] = Asset("abc", ["http://u:pa55word@127.0.0.1/kubelet?X-Amz-Signature=f00dfeed"])
    result = refuse(world, CONFIG, place("kube_env.yaml", 2))
    assert "pa55word" not in result.err and "f00dfeed" not in result.err, result


# The state store

def test_config_base_that_is_not_there(world):
    world.config_base = str(world.folder / "nowhere")
    refuse(world, CONFIG, re.escape(world.config_base))


@pytest.mark.parametrize("scheme", ["gs://bucket/x", "metadata://aws/x"])
def test_config_base_of_an_unknown_kind(world, scheme):
    world.config_base = scheme
    refuse(world, CONFIG, re.escape(scheme))


@pytest.mark.parametrize("command, flags", [("apply", ["--deadline=2s"]), ("plan", []), ("validate", [])])
def test_unreachable_config_base(world, command, flags):
    world.config_base = world.origin.refused() + "/prod"
    refuse(world, NET, re.escape(f"{world.config_base}/"), "(?i)refused|connect", command=command, flags=flags)


def test_config_base_behind_a_name_that_does_not_resolve(world):
    world.config_base = "http://store.invalid/prod"
    refuse(world, NET, re.escape(world.config_base), flags=["--deadline=2s"])


def test_config_base_that_forbids(world):
    world.config_base = f"{world.origin.base}/{world.token}/~status=403"
    # both documents are asked for at once: either may be the first
    refuse(world, NET, "403", r"cluster\.spec|instancegroup/nodes", flags=["--deadline=2s"])


def test_config_base_without_the_cluster(world):
    world.config_base = f"{world.origin.base}/{world.token}/~status=404"
    refuse(world, CONFIG, re.escape("cluster.spec"), flags=["--deadline=5s"])


def test_offline_with_a_remote_config_base(world):
    world.config_base = world.origin.base
    refuse(world, CONFIG, "offline", flags=["--offline"])


# Keys and secrets

@pytest.mark.parametrize("role, missing, name", [
    ("nodes", "pki/issued/ca", "ca"), ("nodes", "pki/private/kubelet", "kubelet"),
    ("nodes", "pki/issued/kube-proxy", "kube-proxy"), ("nodes", "pki", "ca"),
    ("master", "pki/private/ca", "ca"), ("master", "pki/private/master", "master"),
    ("master", "pki/issued/kube-scheduler", "kube-scheduler"), ("master", "secrets/kube", "kube"),
], ids=lambda v: v.replace("/", "-"))
def test_missing_key(make_world, role, missing, name):
    world = make_world("w", role)
    path = world.store / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    refuse(world, CONFIG, rf"\b{name}\b", re.escape(str(path)))


@pytest.mark.parametrize("data", ["not PEM\n", "", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"],
                         ids=["text", "empty", "cut"])
def test_damaged_key(world, data):
    path = next((world.store / "pki/private/kubelet").iterdir())
    path.write_text(data)
    refuse(world, CONFIG, "kubelet", re.escape(str(path)))


@pytest.mark.parametrize("change, why", [
    (lambda store: (store / "pki/private/kops"), "not the certificate's"),
    (lambda store: "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE\n-----END ENCRYPTED PRIVATE KEY-----\n", "encrypted"),
    (lambda store: "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", "damaged"),
], ids=["other", "encrypted", "damaged"])
@pytest.mark.parametrize("command", ["apply", "plan"])
def test_key_that_is_none_of_its_certificate(world, change, why, command):
    path = next((world.store / "pki/private/kubelet").iterdir())
    new = change(world.store)
    path.write_text(new if isinstance(new, str) else next(new.iterdir()).read_text())
    result = refuse(world, CONFIG, "kubelet", re.escape(str(path)), why, command=command)
    assert not set(path.read_text().splitlines()) & set(result.err.split()), "the key is in the message"


def test_certificate_that_is_damaged(world):
    path = next((world.store / "pki/issued/kubelet").iterdir())
    path.write_text("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n")
    refuse(world, CONFIG, "kubelet", re.escape(str(path)), "damaged")


@pytest.mark.parametrize("text", [
    '{"Data": "!!!no-base64-s3cr3t!!!"}', '{"Data": ["s3cr3t"]}', '{"Date": "czNjcjN0"}', "s3cr3t",
    '{"Data": "czNjcjN0', '{"Data": ""}', "",
], ids=["base64", "type", "key", "text", "cut", "blank", "empty"])
def test_damaged_secret(master, text):
    (master.store / "secrets/kube").write_text(text)
    result = refuse(master, CONFIG, r"\bkube\b", re.escape(f"{master.store}/secrets/kube"))
    assert "s3cr3t" not in result.err and "czNjcjN0" not in result.err, result


def test_secret_that_is_no_text(master):
    (master.store / "secrets/kube").write_text(json.dumps({"Data": base64.b64encode(b"a\0b").decode()}))
    refuse(master, CONFIG, r"\bkube\b")


# The command line

@pytest.mark.parametrize("argv, why", [
    (["apply", "--colour=blue"], "--colour"), (["apply", "-colour"], "-colour"), (["wobble"], "wobble"),
    (["apply", "--conf"], "--conf"), (["apply", "extra"], "extra"), (["apply", "--deadline=soon"], "deadline"),
    (["apply", "--retries=some"], "retries"), (["apply", "--strict=perhaps"], "strict"),
    (["apply", "--target=cloudinit"], "cloudinit"), (["apply", "--rootfs=/mnt"], "rootfs"),
    (["plan", "-o", "xml"], "xml"), (["version", "--conf=x"], "conf"), (["plan", "--deadline=1s"], "deadline"),
    (["apply", "--facts=/x"], "--facts"), (["apply", "--retries=1.5"], "retries"),
    (["apply", "--deadline=-1s"], "deadline"), (["help", "wobble"], "wobble"),
    (["apply", "--v=much"], "v"), ([""], ""), (["apply", "--", "extra"], "extra"),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_usage(world, argv, why):
    world.write_documents()
    before = listing(world.folder)
    # never this machine, should one of them be taken for right
    root = [f"--root={world.root}"] if argv[0] in ("apply", "plan") and "--facts=/x" not in argv else []
    result = world.run_argv([world.argv("x")[0], *argv[:1], *root, *argv[1:]], timeout=10)
    assert result.code == USAGE, result
    assert why in result.failure and len(result.lines) == 1, result
    same(before, listing(world.folder))


def test_no_conf_in_an_image(world):
    world.write_documents()
    argv = [a for a in world.argv("apply") if not a.startswith("--conf")]
    before = listing(world.folder)
    result = world.run_argv(argv)
    assert result.code in (USAGE, CONFIG) and "--conf" in result.failure, result
    same(before, listing(world.folder))


# Places

def test_no_such_root(world):
    result = refuse(world, SYSTEM, re.escape(str(world.folder / "none")), root=world.folder / "none")
    assert not (world.folder / "none").exists(), result


def test_root_is_a_file(world):
    (world.folder / "file").write_text("")
    refuse(world, SYSTEM, re.escape(str(world.folder / "file")), root=world.folder / "file")


def test_cache_below_a_file(world):
    (world.folder / "file").write_text("")
    refuse(world, SYSTEM, re.escape(str(world.folder / "file")), cache=world.folder / "file/cache")


def test_plan_with_a_cache_that_is_not_there(world):
    world.write_documents()
    before = listing(world.folder)
    assert world.plan().code == 2
    same(before, listing(world.folder))


def test_root_that_cannot_be_written(world, mounts):
    """A clear system error; the machine stays as it is."""
    world.write_documents()
    mounts.run("mount", "--bind", world.root, world.root)
    mounts.run("mount", "-o", "remount,bind,ro", world.root)
    before = listing(world.root)
    result = world.apply(prefix=mounts.enter, timeout=30)
    assert result.code == SYSTEM and re.search("(?i)read-only", result.failure), result
    same(before, listing(world.root))


def test_an_image_without_a_container_runtime(world):
    """Told before anything is written, or no reason to fail: an image is not running."""
    (world.root / "usr/lib/systemd/system/docker.service").unlink()
    world.write_documents()
    before = listing(world.root)
    result = world.apply()
    assert result.code in (OK, CONFIG), result
    if result.code == CONFIG:
        assert "docker" in result.failure, result
        same(before, listing(world.root))


def test_several_faults_are_one_error(world):
    """The first that is met, not a page."""
    del world.assets[KUBELET]
    shutil.rmtree(world.store / "pki")
    refuse(world, CONFIG)


def test_a_world_that_is_right_is_not_refused(world):
    """So that no refusal above is about something else."""
    assert world.apply().code == OK


# What a terminal or a journal would obey

CONTROLS = {"ESC": r"\x1b]0;pwned\a", "BEL": r"\a", "CSI": r"\x9b31m", "RTL": r"\u202e", "line": r"\nFAILED forged (0)",
            "journal": r"\n<0>forged", "back": r"\r\b", "NEL": r"\x85"}
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ufffd]")


def harmless(result):
    found = HARMFUL.search(result.out + result.err)
    assert not found, f"{found.group()!r} in {result.out + result.err!r}"
    assert not re.search("^(FAILED|<0>)", result.out + result.err, re.M), result
    return result


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_no_key_commands_a_terminal(world, control, command):
    world.more = f'"odd{control}key": 1\n'
    result = harmless(world.run(command))
    assert re.search(r"kube_env.yaml:\d+:1: (warning: )?unknown key 'odd\?.*key'", result.err), result
    result = harmless(world.run(command, "--strict"))
    assert result.code == CONFIG and "unknown key 'odd?" in result.failure, result


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_no_path_has_a_control_character(world, control, command):
    """It is refused where it stands, rather than made into a file that nobody can name."""
    for text, key in ((f'fileAssets: [{{name: x, path: "/etc/odd{control}name", content: a}}]', "fileAssets"),
                      (f'fileAssets: [{{name: "odd{control}name", content: a}}]', "fileAssets")):
        store = (world.store / "cluster.spec").read_text()
        world.edit_store("cluster.spec", lambda t, text=text: t.rstrip("\n") + f"\n  {text}\n")
        harmless(refuse(world, CONFIG, place("cluster.spec"), key, "a control character in ", command=command))
        (world.store / "cluster.spec").write_text(store)


@pytest.mark.parametrize("control", [c for n, c in CONTROLS.items() if n != "line"])
def test_no_url_has_a_control_character(world, control):
    world.assets[KUBECTL].urls = [f"http://127.0.0.1/odd{control}name"]
    world.write_documents()
    text = world.conf.read_text()
    line = next(l for l in text.splitlines() if control in l)
    world.conf.write_text(text.replace(line, f'- "{line[2:]}"'))
    harmless(refuse(world, CONFIG, place("kube_env.yaml"), "a control character", write=False, command="validate"))


def test_a_diff_commands_no_terminal(world):
    """What a file holds is shown by `plan --diff`, escapes and all."""
    kubelet = world.root / "etc/sysconfig/kubelet"
    kubelet.parent.mkdir(parents=True, exist_ok=True)
    kubelet.write_bytes(b"DAEMON_ARGS=\x1b]0;pwned\x07\x9b31m\n")
    kubelet.chmod(0o644)
    result = harmless(world.plan("--diff"))
    assert "-DAEMON_ARGS=?]0;pwned??31m\n" in result.out, result


def test_json_escapes(world):
    world.more = '"odd\\x9b\\u202e\\x1bkey": 1\n'
    result = harmless(world.plan("-o", "json"))
    assert json.loads(result.out)["tasks"], result
