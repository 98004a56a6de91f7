"""The salt tarball of kube-up's documents: fetched by its hash, taken apart where nothing can be written, rendered for this node."""
import hashlib
import re

import pytest

import kubeup
from kubeup import MASTER, NODE, VERSIONS
from test_kubeup_documents import line_of, nodeup, validate, write
from world import CONFIG, INTEGRITY, OK, tar

ROLES = [MASTER, NODE]


def document(tmp_path, role, version="1.5.8", files=None, **changes):
    """A document whose tarball is there."""
    named = kubeup.named(kubeup.templates(version) if files is None else files, tmp_path)
    return write(tmp_path, kubeup.text(role, version, **{**named, **changes}))


def edited(version, name, text):
    files = kubeup.templates(version)
    assert name in files
    files[name] = text
    if text is None:
        del files[name]
    return files


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_template_of_a_version(version, role, tmp_path):
    done = validate(document(tmp_path, role, version), "--strict")
    assert done.returncode == OK and ": valid, " in done.stdout, done.stderr
    assert "warning" not in done.stderr, done.stderr


def test_a_construct_that_is_not_known(tmp_path):
    path = document(tmp_path, NODE, files=edited("1.5.8", "kubelet/default", "a\n  {% macro x() %}{% endmacro %}\n"))
    done = validate(path)
    assert done.returncode == CONFIG, done.stderr
    assert re.search(r"kubernetes/saltbase/salt/kubelet/default:2:6: .*macro", done.stderr), done.stderr


def test_what_a_template_lacks(tmp_path):
    done = validate(document(tmp_path, NODE, files=edited("1.5.8", "kubelet/default", "{{ pillar.nothing }}\n")))
    assert done.returncode == CONFIG and re.search(r"kubelet/default:1:11: 'nothing' is not defined", done.stderr), done.stderr


def test_all_that_is_wrong_with_templates_is_told(tmp_path):
    files = {**edited("1.5.8", "kubelet/kubelet.service", None), "kubelet/default": "{{ pillar.nothing }}\n",
             "kube-proxy/kube-proxy.manifest": "kind: Service\n"}
    done = validate(document(tmp_path, NODE, files=files))
    assert done.returncode == CONFIG and "3 errors" in done.stderr, done.stderr
    for error in ("'nothing' is not defined", "kube-proxy.manifest: what the salt tarball's template makes is not a pod",
                  "no 'kubernetes/saltbase/salt/kubelet/kubelet.service'"):
        assert error in done.stderr, (error, done.stderr)


@pytest.mark.parametrize("text, message", [
    ("kind: Pod\n  x: 1\n", r"kube-proxy\.manifest:2:\d+: "), ("kind: Service\n", "is not a pod"), ("[]\n", "is not a pod")])
def test_what_is_no_pod(text, message, tmp_path):
    done = validate(document(tmp_path, NODE, files=edited("1.5.8", "kube-proxy/kube-proxy.manifest", text)))
    assert done.returncode == CONFIG and re.search(message, done.stderr), done.stderr


def test_a_file_that_the_tarball_lacks(tmp_path):
    done = validate(document(tmp_path, NODE, files=edited("1.5.8", "kubelet/kubelet.service", None)))
    assert done.returncode == CONFIG, done.stderr
    assert "has no 'kubernetes/saltbase/salt/kubelet/kubelet.service', of which /lib/systemd/system/kubelet.service is made" in done.stderr
    # what another role needs may be missing
    assert validate(document(tmp_path, NODE, files=edited("1.5.8", "etcd/etcd.manifest", None))).returncode == OK


def test_wrong_content(tmp_path):
    named = kubeup.named(kubeup.templates("1.5.8"), tmp_path)
    wrong = "3" * 40
    text = kubeup.text(NODE, "1.5.8", **{**named, "SALT_TAR_HASH": wrong})
    done = validate(write(tmp_path, text))
    assert done.returncode == INTEGRITY and ": valid, " not in done.stdout, done.stderr
    assert f"kube_env.yaml:{line_of(text, 'SALT_TAR_URL')}:" in done.stderr and "wrong content" in done.stderr, done.stderr
    assert re.search(rf"want +sha1 {wrong}", done.stderr) and re.search(rf"got +sha1 {named['SALT_TAR_HASH']}", done.stderr), done.stderr


def test_another_mirror(tmp_path):
    named = kubeup.named(kubeup.templates("1.5.8"), tmp_path)
    (tmp_path / "wrong.tar.gz").write_bytes(b"not the tarball")
    urls = f"file://{tmp_path}/none.tar.gz,file://{tmp_path}/wrong.tar.gz,{named['SALT_TAR_URL']}"
    done = validate(write(tmp_path, kubeup.text(NODE, "1.5.8", **{**named, "SALT_TAR_URL": urls})))
    assert done.returncode == OK and "warning" not in done.stderr, done.stderr


def test_one_that_cannot_be_had_now(tmp_path):
    done = validate(write(tmp_path, kubeup.text(NODE, "1.5.8")))
    assert done.returncode == OK and re.search("not checked: what the templates of kubernetes-salt.tar.gz make", done.stderr), done.stderr


@pytest.mark.parametrize("data, message", [
    (b"hello", "archive 'kubernetes-salt.tar.gz'"), (tar({"../x": b"1"}), r"\.\./x"), (tar({"a": b"0" * (17 << 20)}), "more bytes than allowed")],
    ids=["no archive", "leaves", "large"])
def test_an_evil_tarball(data, message, tmp_path):
    path = tmp_path / "kubernetes-salt.tar.gz"
    path.write_bytes(data)
    text = kubeup.text(NODE, "1.5.8", SALT_TAR_URL=f"file://{path}", SALT_TAR_HASH=hashlib.sha1(data).hexdigest())
    before = set(tmp_path.parent.rglob("*"))
    done = validate(write(tmp_path, text))
    assert done.returncode == INTEGRITY and re.search(message, done.stderr), done.stderr
    assert [p for p in tmp_path.parent.rglob("*") if p not in before] == [tmp_path / "kube_env.yaml"]


@pytest.mark.parametrize("url", ["ftp://x/salt.tar.gz", "salt.tar.gz", "https://x/"])
def test_a_url_that_is_none(url, tmp_path):
    text = kubeup.text(NODE, "1.5.8", SALT_TAR_URL=url)
    done = validate(write(tmp_path, text))
    assert done.returncode == CONFIG and f"kube_env.yaml:{line_of(text, 'SALT_TAR_URL')}:" in done.stderr, done.stderr


def test_options_ask_for_more_files(tmp_path):
    """Each names a file that the tarball of a cluster without it need not have."""
    for role, option, source in (
            (MASTER, {"ENABLE_RESCHEDULER": "true"}, "rescheduler/rescheduler.manifest"),
            (MASTER, {"ENABLE_NODE_PROBLEM_DETECTOR": "true"}, "node-problem-detector/node-problem-detector.yaml"),
            (MASTER, {"ENABLE_DNS_HORIZONTAL_AUTOSCALER": "true"}, "dns-horizontal-autoscaler/dns-horizontal-autoscaler.yaml"),
            (MASTER, {"ENABLE_CLUSTER_MONITORING": "google"}, "cluster-monitoring/google"),
            (MASTER, {"ENABLE_CLUSTER_MONITORING": "standalone"}, "cluster-monitoring/standalone"),
            (MASTER, {"ENABLE_CLUSTER_REGISTRY": "true", "CLUSTER_REGISTRY_DISK": "d", "CLUSTER_REGISTRY_DISK_SIZE": "200GB"},
             "registry/registry-pv.yaml.in"),
            (NODE, {"NETWORK_POLICY_PROVIDER": "calico"}, "calico/calico-node.manifest"),
            (NODE, {"PREPULL_E2E_IMAGES": "true"}, "e2e-image-puller/e2e-image-puller.manifest"),
            (NODE, {"LOGGING_DESTINATION": "gcp"}, "fluentd-gcp/fluentd-gcp.yaml")):
        done = validate(document(tmp_path, role, **option))
        assert done.returncode == CONFIG and source in done.stderr, (option, done.stderr)


def test_a_worker_of_a_registry_without_a_size(tmp_path):
    """It is asked for on masters alone; a worker's templates are rendered without it."""
    files = kubeup.templates("1.5.8") | {"kube-registry-proxy/kube-registry-proxy.yaml": "kind: Pod\n"}
    path = document(tmp_path, NODE, files=files, ENABLE_CLUSTER_REGISTRY="true", CLUSTER_REGISTRY_DISK="d")
    lines = [line for line in path.read_text().splitlines(True) if not line.startswith("CLUSTER_REGISTRY_DISK_SIZE:")]
    path.write_text("".join(lines))
    done = validate(path)
    assert done.returncode == OK, done


@pytest.mark.parametrize("whose", ["the machine's", "the document's"])
def test_a_mirror_of_the_settings_is_asked_first(whose, tmp_path):
    """The host that the document names is gone."""
    (tmp_path / "mirror").mkdir()
    _, sha1 = kubeup.pack(kubeup.templates("1.5.8"), tmp_path / "mirror")
    text = kubeup.text(NODE, "1.5.8", SALT_TAR_HASH=sha1)
    mirrors = f"mirrors: ['https://s3.example/devel=file://{tmp_path}/mirror']\n"
    settings = tmp_path / "root/etc/nodeup/nodeup.d"
    settings.mkdir(parents=True)
    if whose == "the machine's":
        write(settings, mirrors, "own.yaml")
    else:
        text += mirrors
    done = validate(write(tmp_path, text), f"--root={tmp_path / 'root'}")
    assert done.returncode == OK and "warning" not in done.stderr, done.stderr
