"""What a host lacks that a node needs is told before anything is changed: on booted nodes, with a real docker."""
import os

import pytest

import labassets
import nodechecks
from lab import REGION, ROLE, Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
SETTINGS = "/etc/nodeup/nodeup.d/lab.yaml"
# a kernel with AppArmor on, for one process and its children; its cgroups look like version 1, which is another check
APPARMOR = """set -e
mkdir -p /run/sys
mount -t tmpfs tmpfs /run/sys
for name in $(ls /sys); do
    mkdir /run/sys/$name
    mount --rbind /sys/$name /run/sys/$name
done
mkdir -p /run/sys/module/apparmor/parameters /run/security/apparmor
echo Y >/run/sys/module/apparmor/parameters/enabled
mount --bind /run/security /run/sys/kernel/security
mount --rbind /run/sys /sys
%s
exec "$@"
"""
CGROUP_V1 = "mount -t tmpfs tmpfs /sys/fs/cgroup"
MISSING = "AppArmor is on, and apparmor_parser, which this docker starts no container without, is missing"


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module", params=["nodes", pytest.param("master-us-west-2a", marks=pytest.mark.long)])
def node(lab, request):
    """One with the documents, docker of Debian 12 and no apparmor_parser; nodeup did not run yet."""
    node = lab.boot(request.param[:6], request.param,
                    labassets.documents_only(labassets.seed_user_data(request.param, lab.assets)))
    node.wait_cloud_init(300)
    assert "+dfsg" in node.sh("dpkg-query -Wf '${Version}' docker.io")
    assert node.exec("test", "-e", "/sbin/apparmor_parser").returncode
    return node


def with_apparmor(node, *command, more=CGROUP_V1):
    return node.exec("unshare", "-m", "sh", "-c", APPARMOR % more, "sh", nodechecks.NODEUP, *command, timeout=600)


def untouched(node):
    """The directories that nodeup writes to, and what is in them but for the memory of runs."""
    return node.sh("find /etc /usr/local /opt /srv /var/lib/kubelet /var/lib/nodeup /var/cache/nodeup "
                   "-printf '%p %T@ %i\\n' 2>/dev/null | grep -vE 'lab.yaml|^/var/lib/nodeup(/runs[^ ]*)? ' | sort", check=False)


@pytest.fixture
def checked(node):
    """The node without the lab's setting that says to try all the same."""
    node.sh("mv %s /root" % SETTINGS)
    yield node
    node.sh("mv /root/lab.yaml " + SETTINGS)


@pytest.mark.parametrize("command", ["apply", "plan", "repair"])
def test_apparmor_without_its_parser_is_refused_before_anything_is_changed(checked, command):
    before = untouched(checked)
    done = with_apparmor(checked, command, nodechecks.CONF)
    assert done.returncode == 78, done
    said = done.stderr + done.stdout
    assert "Kubernetes 1.8.7 cannot run here: " + MISSING in said, said
    assert "want      the package apparmor, or a boot with apparmor=0" in said, said
    assert "ignoreHostChecks: true in /etc/nodeup/nodeup.d" in said, said
    assert untouched(checked) == before


def test_the_parser_is_enough(checked):
    checked.sh("ln -s /bin/true /usr/sbin/apparmor_parser")
    try:
        done = with_apparmor(checked, "plan", nodechecks.CONF)
    finally:
        checked.sh("rm /usr/sbin/apparmor_parser")
    assert done.returncode == 2, done
    assert "AppArmor" not in done.stderr + done.stdout


def test_an_image_is_asked_nothing(checked):
    """Its builder's kernel is not the one that it will boot."""
    checked.sh("mkdir -p /root/image/etc; cp /etc/os-release /root/image/etc; printf '%s' >/root/facts.yaml" %
               "region: us-west-2\\navailabilityZone: us-west-2a\\nlocalHostname: image.example\\nsystemd: 252\\n"
               "arch: amd64\\n")
    done = with_apparmor(checked, "plan", "--root=/root/image", "--facts=/root/facts.yaml", nodechecks.CONF,
                         more=CGROUP_V1 + "\nexport AWS_REGION=%s AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s "
                         "AWS_SESSION_TOKEN=%s" % (REGION, ROLE["AccessKeyId"], ROLE["SecretAccessKey"], ROLE["Token"]))
    assert done.returncode == 2, done
    assert "cannot run here" not in done.stderr + done.stdout, done


def test_it_is_tried_all_the_same_with_a_warning(node):
    done = with_apparmor(node, "apply", nodechecks.CONF, more="")
    assert done.returncode == 0, done.stdout + done.stderr + nodechecks.explain(node)
    assert MISSING + "; tried all the same, as ignoreHostChecks says" in done.stderr, done.stderr
    assert node.healthz() == "ok"


# -- instances whose metadata service wants tokens, which kubelet of these versions does not have ----------------

REFUSED = "Kubernetes 1.8.7 cannot run here: this instance's metadata service wants tokens, kubelet before 1.18 sends none"


def questions(node):
    """Requests of version 1, by what they asked for; other than of kubelet, which asks for its zone first."""
    return [line.split()[2] for line in node.imds_log().splitlines() if line.endswith(" without-token")]


def boot_documents(lab, name, role, **options):
    node = lab.boot(name, role, labassets.documents_only(labassets.seed_user_data(role, lab.assets)), **options)
    node.wait_cloud_init(300)
    return node


@pytest.fixture(scope="module", params=["nodes", pytest.param("master-us-west-2a", marks=pytest.mark.long)])
def tokens(lab, request):
    """A node of the kind of instance that wants tokens."""
    return boot_documents(lab, "v2" + request.param[:6], request.param, http_tokens="required")


@pytest.mark.parametrize("command", ["apply", "plan"])
def test_an_instance_that_wants_tokens_is_refused_before_anything_is_changed(tokens, command):
    asked = len(questions(tokens))
    tokens.sh("mv %s /root" % SETTINGS)
    try:
        before = untouched(tokens)
        done = tokens.exec("unshare", "-m", "sh", "-c", CGROUP_V1 + '; exec "$@"', "sh", nodechecks.NODEUP, command,
                           nodechecks.CONF, timeout=600)
        after = untouched(tokens)
    finally:
        tokens.sh("mv /root/lab.yaml " + SETTINGS)
    assert done.returncode == 78, done
    said = done.stderr + done.stdout
    assert REFUSED in said and "ignoreHostChecks: true in /etc/nodeup/nodeup.d" in said, said
    assert "aws ec2 modify-instance-metadata-options --instance-id i-0%s --http-tokens optional" % tokens.digest() in said, said
    assert after == before
    assert questions(tokens)[asked:] == ["/latest/meta-data/instance-id"]


def test_tried_all_the_same_kubelet_dies_and_its_last_words_are_told(tokens):
    done = tokens.exec(nodechecks.NODEUP, "apply", nodechecks.CONF, timeout=600)
    assert done.returncode == 71, done.stdout + done.stderr
    assert REFUSED + "; tried all the same, as ignoreHostChecks says" in done.stderr, done.stderr
    failed = done.stderr[done.stderr.index("kubelet.service: "):]
    assert 'could not init cloud provider "aws": EC2MetadataError' in failed, done.stderr


@pytest.mark.long
def test_an_instance_without_tokens_is_asked_once_a_boot(lab):
    node = boot_documents(lab, "v1", "nodes")
    for _ in range(2):
        done = node.exec(nodechecks.NODEUP, "apply", nodechecks.CONF, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr + nodechecks.explain(node)
        assert "tokens" not in done.stderr
    assert questions(node) == ["/latest/meta-data/instance-id", "/latest/meta-data/placement/availability-zone",
                               "/latest/meta-data/instance-id"]
    # at the next boot it may be of the other kind
    node.become("i-0" + node.digest(), http_tokens="required")
    node.reboot()
    done = node.exec(nodechecks.NODEUP, "plan", nodechecks.CONF, timeout=600)
    assert REFUSED + "; tried all the same" in done.stderr, done
