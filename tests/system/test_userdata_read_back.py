"""What `nodeup userdata` renders is user data: of every dialect and role, and read back by each command that takes it."""
import base64
import json
import re
import shutil
import subprocess

import pytest

import kubeup
from test_kops_documents import BOOT, NODEUP_CONFIG, WORKER
from test_kubeup_documents import nodeup, validate, write
from world import CONFIG, ENV, OK, PROGRAM, ROOT

URL = "--nodeup-url=" + "0" * 64 + "@https://dl.example/nodeup"


def render(conf, *flags):
    """The bytes of it."""
    done = subprocess.run([PROGRAM, "userdata", f"--conf={conf}", URL, *flags], env=ENV, capture_output=True)
    assert done.returncode == OK, done.stderr.decode()
    return done.stdout


def test_a_worker_of_kops_today_has_its_documents_from_a_server(tmp_path):
    """BootConfig goes as it is, and alone: what is beside it is not what the node is made from."""
    conf = write(tmp_path, WORKER)
    write(tmp_path, NODEUP_CONFIG, "nodeupconfig.yaml")
    script = render(conf).decode()
    assert script.count("\nput ") == 1 and f"\nput kube_env.yaml <<'END_OF_DOCUMENT'\n{WORKER}END_OF_DOCUMENT\n" in script
    (tmp_path / "nodeupconfig.yaml").unlink()
    assert render(conf).decode() == script


@pytest.mark.parametrize("here", [set(), {"cluster_spec.yaml"}, {"ig_spec.yaml"}])
def test_what_is_missing_beside_it_is_named(here, tmp_path):
    conf = write(tmp_path, "ClusterName: c.example\n")
    for name in here:
        write(tmp_path, "{}\n", name)
    done = nodeup("userdata", f"--conf={conf}", URL)
    missing = [name for name in ("cluster_spec.yaml", "ig_spec.yaml") if name not in here]
    assert done.returncode == CONFIG and done.stderr.rstrip().endswith(
        f"{conf}: no ConfigBase, and no {' and no '.join(missing)} beside it (78)"), done.stderr


SEED = ROOT / "tests/data/seed-cluster"
STORE = {role: (SEED / role / "kube_env.yaml").read_text().replace("s3://", f"file://{SEED}/state/") for role in ("nodes", "master")}
BARE = {name: (ROOT / "tests/cases/bare-documents" / name).read_text() + "# bl\u00e9\n" for name in ("cluster_spec.yaml", "ig_spec.yaml")}
# Of each dialect and role: the document of --conf, and what is beside it.
NODES = {
    "kops 1.8": (STORE["nodes"], {}),
    "kops 1.8, a master": (STORE["master"], {}),
    "kops 1.8 without a store": (re.sub("ConfigBase.*\n", "", STORE["master"]), BARE),
    "kops": (WORKER, {}),
    "kops, a control plane": (BOOT, {}),
    "kube-up": (kubeup.text(kubeup.NODE, "1.5.8"), {}),
    "kube-up, a master": (kubeup.text(kubeup.MASTER, "1.5.8"), {}),
}
FORMS = {
    "plain": [], "gzip": ["--gzip"], "parts": ["--mime=text/cloud-config:first", "--mime=text/x-shellscript:second"],
    "parts in gzip": ["--gzip", "--mime=text/cloud-config:first"],
}

BESIDE = "kops 1.8 without a store"


def told(conf, *flags):
    """All that validate makes of it, but for its name."""
    documents = json.loads(validate(conf, "-o", "json", *flags).stdout)["documents"]
    return [{key: value for key, value in document.items() if key != "conf"} for document in documents]


@pytest.mark.parametrize("node, form", [(node, form) for node in NODES for form in FORMS if "up, a" not in node or "gzip" in form])
def test_what_is_rendered_is_read_back(node, form, tmp_path, monkeypatch):
    """The same documents: validate says the same of them, and the same user data is rendered of them."""
    monkeypatch.chdir(tmp_path)
    document, others = NODES[node]
    (tmp_path / "documents").mkdir()
    conf = write(tmp_path / "documents", document)
    for name, text in others.items():
        write(tmp_path / "documents", text, name)
    write(tmp_path, "#cloud-config\nruncmd: []\n", "first")
    write(tmp_path, "#!/bin/sh\necho bl\xc3\xa9\n".encode("latin-1"), "second")
    rendered = write(tmp_path, render(conf, *FORMS[form]), "user-data")
    done = validate(rendered)
    assert done.returncode == OK, done.stderr
    assert told(rendered) == told(conf)
    assert render(rendered) == render(conf)
    # as the API shows it
    assert told(write(tmp_path, base64.encodebytes(rendered.read_bytes()), "user-data")) == told(conf)


def test_which_kops_rendered_them_is_known_of_both(tmp_path):
    """Its own user data name it in an address that those of nodeup do not have."""
    kops = write(tmp_path, f"#!/bin/bash\nNODEUP_URL_AMD64=https://dl.example/binaries/kops/1.36.2/linux/amd64/nodeup\n"
                 f"cat > kube_env.yaml << '__EOF_KUBE_ENV'\n{WORKER}__EOF_KUBE_ENV\n", "of-kops")
    rendered = write(tmp_path, render(kops), "of-nodeup")
    assert [told(kops)[0]["kops"], told(rendered)[0]["kops"]] == ["1.36.2"] * 2
    assert told(rendered)[0]["kopsKnownBy"] == "KOPS_VERSION" and render(rendered) == render(kops)


def test_its_documents_are_those_of_the_script(tmp_path):
    """Not what lies beside the user data by that name; an error is shown with the script's line."""
    conf = write(tmp_path, NODES[BESIDE][0])
    for name, text in NODES[BESIDE][1].items():
        write(tmp_path, text, name)
    script = render(conf).decode()
    rendered = write(tmp_path, script, "user-data")
    write(tmp_path, "kubernetesVersion: 9.9.9\n", "cluster_spec.yaml")
    assert validate(rendered, "--strict").returncode == OK
    done = validate(write(tmp_path, script.replace("\nnodeLabels:", "\nnodeLabel:"), "user-data"), "--strict")
    line = next(n for n, text in enumerate(script.splitlines(), 1) if text.startswith("nodeLabels:"))
    assert done.returncode == CONFIG and f"{rendered}:{line}:" in done.stderr and f"\n{line:6} | nodeLabel:" in done.stderr, done.stderr


def test_every_command_reads_it(tmp_path):
    """Each that takes --conf, and diff; in image mode, as an image of any machine may be made."""
    conf = write(tmp_path, NODES[BESIDE][0])
    for name, text in NODES[BESIDE][1].items():
        write(tmp_path, text, name)
    for folder in ("pki", "secrets"):
        shutil.copytree(SEED / "state/jdurbin-kops/abc.joshdurbin.net" / folder, tmp_path / folder)
    facts = ROOT / "tests/cases/bare-documents/facts.yaml"
    rendered = write(tmp_path, render(conf, "--gzip"), "user-data")
    root = tmp_path / "root"
    root.mkdir()
    at = [f"--root={root}", f"--facts={facts}", "--offline"]
    for command in ("plan", "check", "bake", "apply", "repair"):
        answers = [nodeup(command, f"--conf={path}", *at) for path in (conf, rendered)]
        assert answers[0].returncode == answers[1].returncode, [answer.stderr for answer in answers]
        same = [re.sub(r"^[0-9:.]+ |[0-9:]+ UTC|\S*/(user-data|\w+\.yaml)(:\d+:\d+)?", "", answer.stdout + answer.stderr, flags=re.M) for answer in answers]
        assert same[0] == same[1] and "kubelet" in same[1]
    done = nodeup("diff", conf, rendered, f"--facts={facts}", f"--root={root}")
    assert done.returncode == OK, done.stdout + done.stderr


@pytest.mark.parametrize("role", ["worker", "master"])
def test_an_example_becomes_user_data(role, tmp_path):
    conf = write(tmp_path, nodeup("example", role).stdout)
    write(tmp_path, nodeup("example", role, "cluster").stdout, "cluster_spec.yaml")
    write(tmp_path, nodeup("example", role, "instancegroup").stdout, "ig_spec.yaml")
    rendered = write(tmp_path, render(conf, "--gzip"), "user-data")
    assert render(rendered, "--gzip") == rendered.read_bytes()
