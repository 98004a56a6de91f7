"""Nodes of kube-up's documents below a root: what is refused, what stays, and what a second document changes."""
import base64
import hashlib
import re
import signal

import pytest
import yaml

import kubeup
from kubeup import MASTER, NODE
from test_kubeup_documents import nodeup, write
from world import CONFIG, FACTS, INTEGRITY, OK, PENDING


class Machine:
    """A root, its facts, and a document with both tarballs beside it."""

    def __init__(self, folder, role, version="1.5.8", server=None, **changes):
        self.folder, self.role, self.version = folder, role, version
        self.root = folder / "root"
        self.root.mkdir()
        self.facts = {key: yaml.safe_load(value) for key, value in FACTS.items()}
        archive = folder / "kubernetes-server-linux-amd64.tar.gz"
        archive.write_bytes(server or kubeup.server())
        self.named = {**kubeup.named(kubeup.all_templates(version), folder), "NETWORK_PROVIDER": "none",
                      "SERVER_BINARY_TAR_URL": f"file://{archive}",
                      "SERVER_BINARY_TAR_HASH": hashlib.sha1(archive.read_bytes()).hexdigest()} | changes

    def run(self, command="apply", *flags, facts=None, prefix=(), **changes):
        conf = write(self.folder, kubeup.text(self.role, self.version, **{**self.named, **changes}))
        known = write(self.folder, yaml.safe_dump(self.facts if facts is None else facts), "facts.yaml")
        return nodeup(command, f"--conf={conf}", f"--root={self.root}", f"--facts={known}", f"--cache={self.folder / 'cache'}", *flags, prefix=prefix)

    def refuse(self, message, status=CONFIG, **changes):
        done = self.run(**changes)
        assert done.returncode == status and re.search(message, done.stderr), done.stdout + done.stderr
        return done.stderr

    def read(self, path):
        return (self.root / path).read_text()


@pytest.mark.parametrize("made, facts", [
    ("Debian and Ubuntu, and this is rocky", {"distribution": "rocky", "version": "9", "codename": ""}), ("amd64, and this is arm64", {"arch": "arm64"})])
def test_a_machine_that_kube_up_did_not_know(made, facts, tmp_path):
    m = Machine(tmp_path, NODE)
    m.refuse(f"kube-up made nodes of {made}", facts={**m.facts, **facts})
    assert not list(m.root.iterdir())


@pytest.mark.parametrize("resolved, args, want", [
    (True, {}, ["/run/systemd/resolve/resolv.conf"]), (False, {}, []), (True, {"KUBELET_TEST_ARGS": "--resolv-conf=/mine"}, ["/mine"])])
def test_pods_ask_servers_that_they_can_reach(resolved, args, want, tmp_path):
    m = Machine(tmp_path, NODE, **args)
    done = m.run(facts={**m.facts, "resolved": resolved})
    assert done.returncode == OK, done.stderr
    assert re.findall(r'--resolv-conf=([^ "]+)', m.read("etc/sysconfig/kubelet")) == want


@pytest.mark.parametrize("servers, want", [("127.0.0.53", ["/run/systemd/resolve/resolv.conf"]), ("10.0.0.2", [])])
def test_a_resolver_file_of_the_admin_stays(servers, want, tmp_path):
    m = Machine(tmp_path, NODE)
    for path, server in ("run/systemd/resolve/resolv.conf", "10.0.0.9"), ("etc/resolv.conf", servers):
        (m.root / path).parent.mkdir(parents=True, exist_ok=True)
        (m.root / path).write_text(f"nameserver {server}\n")
    done = m.run()
    assert done.returncode == OK, done.stderr
    assert re.findall(r'--resolv-conf=([^ "]+)', m.read("etc/sysconfig/kubelet")) == want


def test_a_release_without_systemd(tmp_path):
    m = Machine(tmp_path, NODE)
    m.refuse("trusty has no systemd", facts={**m.facts, "distribution": "ubuntu", "version": "14.04", "codename": "trusty"})


@pytest.mark.parametrize("used", [True, False])
def test_what_is_on_the_instance_store_stays_there(used, tmp_path):
    """ebs came into the document of a node whose disks are in use."""
    m = Machine(tmp_path, NODE, KUBE_AWS_STORAGE="ebs")
    done = m.run(facts={**m.facts, "instanceStore": 1, "instanceStoreUsed": used})
    assert done.returncode == OK, done.stderr
    assert ("docker and kubelet of this instance are on its instance store" in done.stderr) == used
    assert (m.root / "etc/systemd/system/mnt-ephemeral.mount").exists() == used
    assert (" -g /mnt/ephemeral/docker" in m.read("etc/sysconfig/docker")) == used
    assert (m.root / "etc/systemd/system/docker.service.d/20-nodeup-volumes.conf").exists() == used


def test_a_node_whose_name_is_not_known(tmp_path):
    m = Machine(tmp_path, NODE)
    m.refuse("the fact localHostname is not known", facts={k: v for k, v in m.facts.items() if k != "localHostname"})
    assert not list(m.root.iterdir())


@pytest.mark.parametrize("on, want", [("ext4", "overlay2"), ("btrfs", "btrfs"), (None, "btrfs")])
def test_a_driver_for_the_place_that_docker_is_told(on, want, tmp_path):
    m = Machine(tmp_path, NODE, DOCKER_STORAGE="btrfs", KUBE_AWS_STORAGE="ebs", EXTRA_DOCKER_OPTS="-g /data/docker")
    place = {"dockerFilesystem": on} if on else {}
    done = m.run(facts={**m.facts, "filesystems": ["btrfs", "ext4", "overlay"], **place})
    assert done.returncode == OK, done.stderr
    assert re.findall(r" -s (\w+)", m.read("etc/sysconfig/docker")) == [want]


@pytest.mark.parametrize("version", ["1.2.7", "1.3.4"])
@pytest.mark.parametrize("provider", ["kubenet", "cni"])
def test_plugins_that_only_an_md5_names(version, provider, tmp_path):
    m = Machine(tmp_path, NODE, version)
    said = m.refuse(rf"kube_env\.yaml:\d+:\d+: NETWORK_PROVIDER: the plugins of '{provider}' are known by their md5 alone",
                    NETWORK_PROVIDER=provider)
    assert f"kube-up {version[:3]}" in said


def test_a_key_of_etcd_that_is_not_gzip(tmp_path):
    text = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
    m = Machine(tmp_path, MASTER, ETCD_CA_KEY=text, ETCD_CA_CERT=text, ETCD_PEER_KEY=text, ETCD_PEER_CERT=text)
    m.refuse(r"kube_env\.yaml:\d+:\d+: ETCD_CA_CERT: expected base64 of gzip of PEM")


@pytest.mark.parametrize("role", [MASTER, NODE])
def test_wrong_bytes_of_the_programs(role, tmp_path):
    m = Machine(tmp_path, role)
    m.refuse("kubernetes-server-linux-amd64.tar.gz: wrong content", INTEGRITY, SERVER_BINARY_TAR_HASH="3" * 40)
    assert not (m.root / "usr/local/bin/kubelet").exists()


def test_an_archive_without_kubelet(tmp_path):
    m = Machine(tmp_path, NODE, server=kubeup.server(**{"kubernetes/server/bin/kubelet": None}))
    m.refuse("no asset of the document holds 'kubelet'")


def test_an_archive_without_licences_is_as_good(tmp_path):
    m = Machine(tmp_path, NODE, server=kubeup.server(**{"kubernetes/LICENSES": None}))
    done = m.run()
    assert done.returncode == OK, done.stderr
    assert not (m.root / "usr/local/share/doc/kubernetes/LICENSES").exists()
    done = m.run()
    assert done.returncode == OK and "LICENSES" not in done.stderr, done.stderr
    done = m.run("plan")
    assert done.returncode == OK and "No changes" in done.stdout, done.stdout
    done = m.run("plan", "--all")
    assert "LICENSES: absent: no archive has it" in done.stdout, done.stdout


def test_programs_come_from_a_mirror(tmp_path):
    m = Machine(tmp_path, NODE)
    done = m.run(SERVER_BINARY_TAR_URL=f"file:///nonexistent/kubernetes-server-linux-amd64.tar.gz,{m.named['SERVER_BINARY_TAR_URL']}")
    assert done.returncode == OK, done.stderr
    assert m.read("usr/local/bin/kubelet") == "stands for kubelet\n"


def test_the_tokens_of_the_volume_win(tmp_path):
    m = Machine(tmp_path, MASTER)
    assert m.run().returncode == OK
    names = ["srv/kubernetes/known_tokens.csv", "srv/kubernetes/basic_auth.csv", "srv/kubernetes/ca.crt", "srv/kubernetes/server.key",
             "srv/salt-overlay/salt/kube-apiserver/known_tokens.csv", "srv/salt-overlay/salt/kube-apiserver/basic_auth.csv"]
    before = {name: m.read(name) for name in names}
    assert before[names[0]] == ("bearer-token-0004,admin,admin\nkubelet-token-0001,kubelet,kubelet\n"
                                "proxy-token-0002,kube_proxy,kube_proxy\n")
    assert before[names[1]] == "swordfish-0003,admin,admin\n"
    assert "tokens on the volume" not in m.run().stderr
    done = m.run(KUBELET_TOKEN="other-token-0001", MASTER_CERT=kubeup.pem("crt", "kubecfg"), MASTER_KEY=kubeup.pem("key", "kubecfg"))
    assert done.returncode == OK, done.stderr
    assert done.stderr.count("the tokens on the volume stay, and the document has others") == 1, done.stderr
    assert "the password on the volume" not in done.stderr and "other-token-0001" not in done.stderr
    assert {name: m.read(name) for name in names} == before


def test_tokens_of_1_2_are_the_same_each_time(tmp_path):
    m = Machine(tmp_path, MASTER, "1.2.7")
    assert m.run().returncode == OK
    rows = [line.split(",") for line in m.read("srv/kubernetes/known_tokens.csv").splitlines()]
    assert [user for _, user, _ in rows[3:]] == ["system:" + name for name in ("scheduler", "controller_manager", "logging", "monitoring", "dns")]
    assert len({token for token, *_ in rows}) == 8 and all(re.fullmatch("[0-9a-f]{32}", token) for token, *_ in rows[3:])
    (m.root / "srv/kubernetes/known_tokens.csv").unlink()
    assert m.run().returncode == OK
    assert [line.split(",") for line in m.read("srv/kubernetes/known_tokens.csv").splitlines()] == rows


def test_addons_are_made_anew(tmp_path):
    m = Machine(tmp_path, MASTER)
    assert m.run().returncode == OK
    addons = m.root / "etc/kubernetes/addons"
    (addons / "old").mkdir()
    (addons / "old/old.yaml").write_text("kind: Service\n")
    done = m.run("plan")
    assert done.returncode == PENDING and "holds /etc/kubernetes/addons/old/old.yaml, which is not asked for" in done.stdout, done.stdout
    done = m.run(ENABLE_CLUSTER_UI="false")
    assert done.returncode == OK, done.stderr
    assert not (addons / "old/old.yaml").exists() and not list(addons.glob("dashboard/*"))
    assert (addons / "dns/skydns-rc.yaml").exists()
    done = m.run("plan", ENABLE_CLUSTER_UI="false")
    assert done.returncode == OK and "No changes" in done.stdout, done.stdout


def test_images_of_addons(tmp_path):
    """The script of 1.2 waits until it has loaded each that is there; where none is, it waits for ever."""
    m = Machine(tmp_path, MASTER, "1.2.7")
    assert m.run().returncode == OK
    found = {path.name: path.read_text() for path in (m.root / "srv/salt/kube-addons-images").iterdir()}
    assert found == {f"gcr.io~google_containers~{image}.tar": f"an image of {image}\n" for image in kubeup.ADDON_IMAGES}


@pytest.mark.parametrize("role, version", [(NODE, "1.2.7"), (MASTER, "1.3.4")])
def test_no_other_has_images_of_addons(role, version, tmp_path):
    m = Machine(tmp_path, role, version)
    assert m.run().returncode == OK
    assert not (m.root / "srv/salt").exists()


def test_an_archive_without_images_of_addons(tmp_path):
    m = Machine(tmp_path, MASTER, "1.2.7", server=kubeup.server(**{"kubernetes/addons/gcr.io~google_containers~pause:2.0.tar": None}))
    m.refuse("no asset of the document holds 'gcr.io~google_containers~pause:2.0.tar'")


@pytest.mark.parametrize("release, told", [({"distribution": "debian", "version": "12", "codename": "bookworm"}, True),
                                           ({"distribution": "ubuntu", "version": "18.04", "codename": "bionic"}, False)])
def test_addons_of_1_2_take_a_python_that_is_gone(release, told, tmp_path):
    m = Machine(tmp_path, MASTER, "1.2.7")
    m.facts |= release
    done = m.run("plan", "--all")
    assert done.returncode == PENDING, done.stderr
    assert bool(re.search(r"kube_env\.yaml:\d+:\d+: the addons are not made unless there is a 'python' of Python 2", done.stderr)) == told, done.stderr
    assert ("python-yaml" in done.stdout) != told, done.stdout


def test_a_log_that_is_there_stays(tmp_path):
    m = Machine(tmp_path, MASTER)
    (m.root / "var/log").mkdir(parents=True)
    (m.root / "var/log/etcd.log").write_text("a line\n")
    assert m.run().returncode == OK
    assert m.read("var/log/etcd.log") == "a line\n" and m.read("var/log/etcd-events.log") == ""


def test_what_a_kill_leaves_beside_the_users_goes(tmp_path):
    m = Machine(tmp_path, MASTER)
    litter = m.root / "etc/.nodeup-0123456789abcdef"
    litter.parent.mkdir(parents=True)
    litter.write_text("half of shadow")
    assert m.run().returncode == OK and "etcd:" in m.read("etc/passwd") and not litter.exists()


@pytest.mark.parametrize("role", [NODE, MASTER])
def test_what_a_kill_leaves_goes(role, tmp_path):
    """Before ever later files of every kind get their names; the next run ends as one that nobody killed."""
    m, calls, left = Machine(tmp_path, role), "?rename,?renameat,?renameat2", set()
    for nth in (1, 2, 3, 4, 5, 6, 8, 10, 12):
        done = m.run(prefix=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={nth}"])
        assert done.returncode in (OK, -signal.SIGKILL), done.stderr
        left |= {path.parent for path in m.root.rglob(".nodeup-*")}
    assert len(left) > 2, left
    assert m.run().returncode == OK and m.run("plan").returncode == OK
    assert list(m.root.rglob(".nodeup-*")) == [] and list((tmp_path / "cache").rglob(".nodeup-*")) == []


def test_options_with_a_password_are_not_shown(tmp_path):
    m = Machine(tmp_path, NODE, EXTRA_DOCKER_OPTS="--registry-mirror=https://u:tuna-0005@r.example")
    done = m.run("plan", "--diff")
    assert done.returncode == PENDING and "--api-servers=https://172.20.0.9" in done.stdout, done.stderr
    assert "tuna-0005" not in done.stdout + done.stderr


def test_kube_ups_own_script_of_each_boot_goes(tmp_path):
    m = Machine(tmp_path, NODE)
    (m.root / "etc").mkdir()
    (m.root / "etc/rc.local").write_text("#!/bin/sh -e\n/etc/kubernetes/bootstrap\nexit 0\n")
    done = m.run("apply", "--install-systemd-unit")
    assert done.returncode == OK, done.stderr
    assert (m.root / "etc/systemd/system/kops-configuration.service").exists()
    assert m.run().returncode == OK
    assert not (m.root / "etc/rc.local").exists()


def test_without_our_unit_the_script_of_each_boot_stays(tmp_path):
    m = Machine(tmp_path, NODE)
    (m.root / "etc").mkdir()
    (m.root / "etc/rc.local").write_text("#!/bin/sh -e\n/etc/kubernetes/bootstrap\nexit 0\n")
    assert m.run().returncode == OK
    assert (m.root / "etc/rc.local").exists()


def test_another_script_of_each_boot_stays(tmp_path):
    m = Machine(tmp_path, NODE)
    (m.root / "etc").mkdir()
    (m.root / "etc/rc.local").write_text("#!/bin/sh -e\necho mine\n")
    assert m.run("apply", "--install-systemd-unit").returncode == OK and m.run().returncode == OK
    assert m.read("etc/rc.local") == "#!/bin/sh -e\necho mine\n"


def test_user_data_makes_the_same_node(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain, gz = Machine(tmp_path / "a", NODE), Machine(tmp_path / "b", NODE)
    assert plain.run().returncode == OK
    document = kubeup.text(NODE, "1.5.8", **gz.named)
    conf = write(gz.folder, kubeup.zipped(kubeup.script(NODE, document)), "user-data")
    facts = write(gz.folder, yaml.safe_dump(gz.facts), "facts.yaml")
    done = nodeup("apply", f"--conf={conf}", f"--root={gz.root}", f"--facts={facts}", f"--cache={gz.folder / 'cache'}")
    assert done.returncode == OK, done.stderr
    files = [sorted(str(p.relative_to(m.root)) for p in m.root.rglob("*") if "var/lib/nodeup" not in str(p)) for m in (plain, gz)]
    assert files[0] == files[1] and "usr/local/bin/kubelet" in files[0]


def test_other_documents_of_a_machine_that_is_elsewhere(tmp_path):
    """From both alone: neither disks nor the metadata service of this machine are asked."""
    m = Machine(tmp_path, NODE)
    old, new = (write(tmp_path, kubeup.text(NODE, "1.5.8", **{**m.named, "API_SERVERS": name}), f"{name}.yaml") for name in ("one", "two"))
    facts = write(tmp_path, yaml.safe_dump(m.facts), "facts.yaml")
    done = nodeup("diff", old, new, f"--facts={facts}", "--diff")
    assert done.returncode == PENDING, done.stdout + done.stderr
    assert "/etc/sysconfig/kubelet" in done.stdout and "--api-servers=https://two" in done.stdout
    assert "/etc/systemd/system/mnt-ephemeral.mount" not in done.stdout


def test_another_registry_is_another_image(tmp_path):
    """Of the same archive: it is loaded again, and gets that name."""
    m = Machine(tmp_path, NODE)
    old, new = (write(tmp_path, kubeup.text(NODE, "1.5.8", **{**m.named, "KUBE_DOCKER_REGISTRY": name}), f"{name}.yaml") for name in ("one", "two"))
    facts = write(tmp_path, yaml.safe_dump(m.facts), "facts.yaml")
    tag = m.named["SERVER_BINARY_TAR_HASH"][:12]
    done = nodeup("diff", old, new, f"--facts={facts}")
    assert done.returncode == PENDING and f"image two/kube-proxy:{tag}: not in the runtime" in done.stdout, done.stdout + done.stderr
    assert f"= image one/kube-proxy:{tag}" in done.stdout, done.stdout
