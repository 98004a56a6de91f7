"""Networks, runtimes and what restarts whom, on booted nodes: Kubernetes 1.10 with weave on containerd alone, and a
master of 1.8 with flannel on docker.  Images are loaded once, whatever runs again; a unit is restarted by what changed in
what it was started with, and by no clock."""
import hashlib
import os
import pathlib
import shutil
import tarfile

import pytest
import yaml

import labassets
import nodechecks
from lab import STATE, Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
CONF = "/root/conf/kube_env.yaml"
NODEUP = "/var/cache/kubernetes-install/nodeup"
MASTER = "master-us-west-2a"
IMAGE = "protokube:1.8.1"
CTR = "ctr -n k8s.io images "
BUILT = ("docker", "kubelet", "masterKubelet", "kubeProxy", "kubeAPIServer", "kubeControllerManager", "kubeScheduler")
PLUGINS = ("bridge", "flannel", "host-local", "loopback", "ptp")


class Documents:
    """Those of one node, to be changed and written again."""

    def __init__(self, lab, node):
        self.lab, self.conf = lab, pathlib.Path(node.root) / "root/conf"
        self.conf.mkdir(parents=True)
        labassets.write_documents(str(self.conf), node.role, lab.assets)
        shutil.copytree(os.path.join(STATE, "jdurbin-kops/abc.joshdurbin.net"), self.conf / "state")
        self.env = yaml.safe_load((self.conf / "kube_env.yaml").read_text())
        self.env["ConfigBase"] = "/root/conf/state"
        # nothing is proven by the way to the dead mirror here
        self.env["Assets"] = [a.split("@")[0] + "@" + a.split(",")[-1].split("@")[-1] for a in self.env["Assets"]]
        self.spec_path = self.conf / "state/cluster.spec"
        self.cluster = yaml.safe_load(self.spec_path.read_text())
        self.spec = self.cluster["spec"]

    def network(self, **networking):
        """As kops' own builders make the sections for it."""
        self.spec["networking"] = networking
        for section in BUILT:
            self.spec.pop(section, None)

    def kubelet(self, name):
        url = labassets.URLS[name]
        self.env["Assets"] = ["%s@%s" % (self.lab.assets[name], url) if a.endswith("/kubelet") else a
                              for a in self.env["Assets"]]

    def write(self):
        (self.conf / "kube_env.yaml").write_text(yaml.safe_dump(self.env))
        self.spec_path.write_text(yaml.safe_dump(self.cluster))


def boot(lab, name, role, **options):
    node = lab.boot(name, role, labassets.documents_only(labassets.seed_user_data(role, lab.assets)), **options)
    node.wait_cloud_init(300)
    return node


def apply(node, status=0):
    done = node.exec(NODEUP, "apply", "--conf=" + CONF, timeout=600)
    assert done.returncode == status, done.stdout + done.stderr + nodechecks.explain(node)
    return done.stderr


def planned(node):
    """Kinds and names of what a plan would change."""
    done = node.exec(NODEUP, "plan", "--conf=" + CONF, timeout=600)
    assert done.returncode in (0, 2), done
    return [tuple(line.split(": ")[0].split()[1:]) for line in done.stdout.splitlines()
            if line[:2] in ("+ ", "~ ", "- ")]


def check_plugins(node):
    """The network's own, byte for byte what the archive had."""
    assert tuple(node.sh("ls /opt/cni/bin").split()) == PLUGINS
    with tarfile.open(labassets.file_of(labassets.URLS["cni"])) as tar:
        for name in PLUGINS:
            digest = node.exec("sha1sum", "/opt/cni/bin/" + name, check=True).stdout.split()[0]
            assert digest == hashlib.sha1(tar.extractfile("./bin/" + name).read()).hexdigest(), name
    assert node.sh("stat -c %a /etc/cni/net.d").strip() == "755"


def kubelet_flags(node):
    return node.sh("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID kubelet)/cmdline").splitlines()


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


# -- containerd ---------------------------------------------------------------------------------------------------


def other_image(lab, node):
    """Another image of the same name, in the node's /root/other.tar.gz."""
    path = os.path.join(lab.dir, "other.tar.gz")
    labassets.save_image(path, IMAGE, [(None, "bin"), (b"another\n", "bin/true")])
    shutil.copyfile(path, os.path.join(node.root, "root/other.tar.gz"))


@pytest.fixture(scope="module")
def bare(lab):
    """A node with containerd and no docker, not yet converged."""
    # its snapshots cannot lie on an overlay
    disk = "--bind=%s/bare/docker:/var/lib/containerd" % lab.dir
    node = boot(lab, "bare", "nodes", docker_dir=False, nspawn=[disk])
    node.sh("systemctl disable --now docker.service docker.socket; rm -f /lib/systemd/system/docker.*; "
            "systemctl daemon-reload; systemctl start containerd")
    documents = Documents(lab, node)
    documents.network(weave={"mtu": 8912})
    documents.spec["kubernetesVersion"] = "1.10.3"
    documents.kubelet("kubelet-1.10")
    documents.env["images"] = [dict(documents.env["protokubeImage"])]
    documents.write()
    other_image(lab, node)
    node.documents = documents
    return node


def digest_in_containerd(node):
    lines = node.sh(CTR + "ls name==docker.io/library/" + IMAGE).splitlines()[1:]
    return lines[0].split()[2] if lines else None


def events(node, marker):
    """How often containerd told of an image of the name, up to a change of ours to it that has the marker."""
    node.sh(CTR + "label docker.io/library/%s marker=%s" % (IMAGE, marker))
    node.wait(lambda: '"%s"' % marker in node.sh("cat /run/events"), 120, "containerd to tell of " + marker)
    return node.sh("cat /run/events").count("docker.io/library/" + IMAGE)


def test_containerd_takes_the_image_once(bare):
    bare.sh("systemd-run --unit=events sh -c 'exec ctr -n k8s.io events >/run/events'")
    assert digest_in_containerd(bare) is None
    assert ("image", IMAGE) in planned(bare)
    apply(bare)
    assert digest_in_containerd(bare)
    before = events(bare, "first-run")
    assert planned(bare) == []
    apply(bare)
    assert events(bare, "second-run") == before + 1, "the second run loaded the image again"


def test_another_image_of_the_name_is_replaced(bare):
    ours = digest_in_containerd(bare)
    bare.sh("gzip -dc /root/other.tar.gz | %s import -" % CTR)
    assert digest_in_containerd(bare) not in (ours, None)
    assert planned(bare) == [("image", IMAGE)]
    apply(bare)
    assert digest_in_containerd(bare) == ours


def test_an_image_that_is_gone_comes_back(bare):
    ours = digest_in_containerd(bare)
    bare.sh(CTR + "rm docker.io/library/" + IMAGE)
    assert planned(bare) == [("image", IMAGE)]
    apply(bare)
    assert digest_in_containerd(bare) == ours and planned(bare) == []


def test_static_pods_are_asked_of_containerd(bare):
    """A container with kubelet's labels, as the stand-in for kubelet starts none; the status is that of a run an hour ago."""
    def status():
        done = bare.exec(NODEUP, "status")
        return done.returncode, [line.strip() for line in done.stdout.splitlines() if line.startswith(("  why ", "  pods "))]
    apply(bare)
    bare.sh("sed -Ei 's/(\"startedUnix\": )[0-9]+/\\1'$(($(date +%s) - 3600))/ /run/nodeup/status.json")
    missing = (2, ["why       no container runs: kube-proxy of pod kube-proxy; see ctr -n k8s.io tasks ls, and journalctl -u kubelet"])
    assert status() == missing
    bare.sh("mkdir -p /root/rootfs; cp -L %s /root/rootfs/nodeup; ctr -n k8s.io run -d --null-io --cpu-shares 0 --rootfs --label io.kubernetes.pod.name=kube-proxy-node "
            "--label io.kubernetes.pod.namespace=kube-system --label io.kubernetes.container.name=kube-proxy /root/rootfs proxy /nodeup status --wait" % NODEUP)
    assert status() == (0, [])
    bare.sh("ctr -n k8s.io tasks kill -s KILL proxy")
    bare.wait(lambda: status() == missing, 30, "the container to end")
    bare.sh("ctr -n k8s.io tasks rm -f proxy; ctr -n k8s.io containers rm proxy", check=False)


def test_weave_on_containerd(bare):
    check_plugins(bare)
    flags = kubelet_flags(bare)
    assert {"--network-plugin=cni", "--cni-bin-dir=/opt/cni/bin/", "--cni-conf-dir=/etc/cni/net.d/",
            "--container-runtime=remote",
            "--container-runtime-endpoint=unix:///run/containerd/containerd.sock"} <= set(flags), flags
    assert not [f for f in flags if f.startswith(("--require-kubeconfig", "--network-plugin-dir"))]
    assert bare.healthz() == "ok"


@pytest.mark.parametrize("network", ["calico", "canal", "romana", "cni"])
def test_networks_that_bring_themselves_make_the_same_node(bare, network):
    """Their daemon sets differ, what nodeup does for them does not; kubelet goes on."""
    documents = bare.documents
    documents.network(**{network: {}})
    documents.write()
    assert planned(bare) == []


def test_another_plugin_is_put_right_again(bare):
    bare.sh("echo x >>/opt/cni/bin/bridge; rm /opt/cni/bin/loopback")
    assert set(planned(bare)) >= {("install", "/opt/cni/bin/bridge"), ("install", "/opt/cni/bin/loopback")}
    apply(bare)
    check_plugins(bare)
    assert planned(bare) == []


# -- docker -------------------------------------------------------------------------------------------------------

UNITS = ("docker.service", "kubelet.service", "protokube.service", "watch.service")


@pytest.fixture(scope="module")
def master(lab):
    """A master with flannel that is up, and its documents."""
    node = boot(lab, "flannel", MASTER)
    documents = Documents(lab, node)
    documents.network(flannel={"backend": "vxlan"})
    documents.spec["hooks"] = [{"name": "watch", "manifest": "ExecStart=/bin/sleep infinity\n"}]
    documents.write()
    other_image(lab, node)
    apply(node)
    return node, documents


def restarted(node, change):
    """The units that a run after the change starts anew.  Those that systemd itself started again, as they ended, are
    none of them."""
    before = {unit: node.show(unit, "InvocationID", "NRestarts") for unit in UNITS}
    change()
    said = apply(node)
    after = {unit: node.show(unit, "InvocationID", "NRestarts") for unit in UNITS}
    print(before, after, said)
    assert all(state["InvocationID"] for state in after.values())
    # what lives in docker takes its time where docker was restarted
    node.wait(lambda: planned(node) == [], 120, "a plan with nothing in it", pause=1)
    return {unit for unit in UNITS if before[unit]["InvocationID"] != after[unit]["InvocationID"]
            and int(after[unit]["NRestarts"]) <= int(before[unit]["NRestarts"])}


def test_flannel_on_docker(master):
    node, _ = master
    check_plugins(node)
    flags = kubelet_flags(node)
    assert {"--network-plugin=cni", "--cni-bin-dir=/opt/cni/bin/", "--cni-conf-dir=/etc/cni/net.d/"} <= set(flags), flags
    assert not [f for f in flags if f.startswith("--network-plugin-dir")]


def test_a_run_on_a_live_master_restarts_nothing(master):
    node, _ = master
    assert restarted(node, lambda: None) == set()
    assert restarted(node, lambda: node.sh("touch /etc/sysconfig/kubelet /etc/sysconfig/docker /usr/local/bin/kubelet "
                                           "/etc/systemd/system/kubelet.service")) == set()


def test_another_environment_restarts_its_unit(master):
    node, documents = master

    def change():
        group = documents.conf / ("state/instancegroup/" + MASTER)
        text = yaml.safe_load(group.read_text())
        text["spec"]["kubelet"] = {"maxPods": 99}
        group.write_text(yaml.safe_dump(text))
    assert "--max-pods=99" not in kubelet_flags(node)
    assert restarted(node, change) == {"kubelet.service"}
    assert "--max-pods=99" in kubelet_flags(node)


def test_another_binary_restarts_its_unit(master):
    node, documents = master

    def change():
        documents.kubelet("kubelet-1.8.8")
        documents.write()
    assert restarted(node, change) == {"kubelet.service"}


def test_another_unit_and_dockers_settings_restart_these_two(master):
    node, documents = master

    def change():
        documents.spec["hooks"][0]["manifest"] = "ExecStart=/bin/sleep 1000000\n"
        documents.spec["docker"] = {"bridge": "", "ipMasq": False, "ipTables": False, "logDriver": "json-file",
                                    "logLevel": "error", "logOpt": ["max-size=10m", "max-file=5"],
                                    "storage": "overlay,aufs", "version": "1.13.1"}
        documents.write()
    # protokube's container goes with docker, and systemd starts it again, which may take it several times
    assert restarted(node, change) - {"protokube.service"} == {"docker.service", "watch.service"}
    assert "--log-level=error" in node.sh("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID docker)/cmdline").splitlines()


def loads(node):
    """How often docker was given an image since it runs."""
    return len(node.sh("docker events --since 0 --until $(date +%s.%N) --filter type=image --filter event=load").splitlines())


def test_docker_takes_the_image_once(master):
    node, _ = master
    ours = node.sh("docker images -q --no-trunc " + IMAGE)
    apply(node)
    assert ours and loads(node) == 0
    node.sh("docker load -i /root/other.tar.gz")
    assert node.sh("docker images -q --no-trunc " + IMAGE) not in (ours, "")
    assert planned(node) == [("image", IMAGE)]
    apply(node)
    assert node.sh("docker images -q --no-trunc " + IMAGE) == ours
    seen = loads(node)
    assert planned(node) == []
    apply(node)
    assert loads(node) == seen == 2
