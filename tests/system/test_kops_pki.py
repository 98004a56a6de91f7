"""A control plane of today's kops reads its state store by name, issues its own certificates, and keeps those that are still right."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import ssl
import stat
import subprocess
import time

import pytest
import yaml

from kops import AMAZON, CLUSTERS, DEBIAN, UBUNTU, ControlPlane, openssl
from world import BUSY, CONFIG, NET, OK, PENDING, PROGRAM, REFUSED, SYSTEM, every

API, KCM, SCHEDULER = (f"/srv/kubernetes/kube-{name}" for name in ("apiserver", "controller-manager", "scheduler"))
CONTROLLER, CHECK = "/etc/kubernetes/kops-controller", "/etc/kubernetes/kube-apiserver-healthcheck/secrets"
RELEASES = {"debian": DEBIAN, "ubuntu": UBUNTU, "amazon": AMAZON}
# sorted as texts
ADDRESSES = {"debian": [], "ubuntu": ["127.0.0.1/8", "172.20.32.11/20", "::1/128", "fe80::4:11ff:fe22:3344/64"], "amazon": ["127.0.0.1/8"]}
API_NAMES = {"DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc", "DNS:kubernetes.default.svc.cluster.local",
             "DNS:api.a.example.com", "DNS:api.internal.a.example.com", "IP Address:100.64.0.1", "IP Address:127.0.0.1"}
NODE_NAMES = {"DNS:i-0123456789abcdef0", "DNS:ip-172-20-32-11.us-test-1.compute.internal", "IP Address:172.20.32.11"}
# file: signer, subject, names; what has names is a server's
ISSUED = {
    f"{API}/server.crt": ("kubernetes-ca", "CN = kubernetes-master", API_NAMES),
    f"{API}/kubelet-api.crt": ("kubernetes-ca", "CN = kubelet-api", set()),
    f"{API}/etcd-client.crt": ("etcd-clients-ca", "CN = kube-apiserver", set()),
    f"{API}/apiserver-aggregator.crt": ("apiserver-aggregator-ca", "CN = aggregator", set()),
    f"{CHECK}/client.crt": ("kubernetes-ca", "CN = kube-apiserver-healthcheck", set()),
    "/srv/kubernetes/kubelet-server.crt": ("kubernetes-ca", "CN = i-0123456789abcdef0", NODE_NAMES),
    "/var/lib/kubelet/kubeconfig": ("kubernetes-ca", "O = system:nodes, CN = system:node:i-0123456789abcdef0", set()),
    "/var/lib/kube-proxy/kubeconfig": ("kubernetes-ca", "CN = system:kube-proxy", set()),
    "/var/lib/kubectl/kubeconfig": ("kubernetes-ca", "O = system:masters, CN = kubecfg", set()),
}
OF_CONTROLLERS = {
    f"{KCM}/server.crt": ("kubernetes-ca", "CN = kube-controller-manager", {"DNS:kube-controller-manager.kube-system.svc.cluster.local"}),
    f"{SCHEDULER}/server.crt": ("kubernetes-ca", "CN = kube-scheduler", {"DNS:kube-scheduler.kube-system.svc.cluster.local"}),
    f"{CONTROLLER}/kops-controller.crt": ("kubernetes-ca", "CN = kops-controller", {"DNS:kops-controller.internal.a.example.com"}),
    "/var/lib/kops/kubeconfig": ("kubernetes-ca", "O = system:masters, CN = kops", set()),
    "/var/lib/kube-controller-manager/kubeconfig": ("kubernetes-ca", "CN = system:kube-controller-manager", set()),
    "/var/lib/kube-scheduler/kubeconfig": ("kubernetes-ca", "CN = system:kube-scheduler", set()),
}
# path: mode, owner and group
FILES = {
    f"{API}/etcd-ca.crt": ("0644", 0, 0), f"{API}/apiserver-aggregator-ca.crt": ("0644", 0, 0), f"{API}/service-account.pub": ("0600", 0, 0),
    f"{API}/service-account.key": ("0600", 0, 0), f"{API}/known_tokens.csv": ("0600", 0, 0), f"{API}/server.crt": ("0644", 0, 0),
    f"{API}/server.key": ("0600", 0, 0), f"{API}/etcd-client.crt": ("0644", 0, 0), f"{API}/etcd-client.key": ("0600", 0, 0),
    f"{API}/kubelet-api.crt": ("0644", 0, 0), f"{API}/kubelet-api.key": ("0600", 0, 0), f"{API}/apiserver-aggregator.crt": ("0644", 0, 0),
    f"{API}/apiserver-aggregator.key": ("0600", 0, 0), f"{CHECK}/ca.crt": ("0644", 10012, 0), f"{CHECK}/client.crt": ("0644", 10012, 0),
    f"{CHECK}/client.key": ("0600", 10012, 0), "/srv/kubernetes/ca.crt": ("0600", 0, 0), "/srv/kubernetes/kubelet-server.crt": ("0644", 0, 0),
    "/srv/kubernetes/kubelet-server.key": ("0400", 0, 0), "/var/lib/kubectl/kubeconfig": ("0400", 0, 0),
    "/var/lib/kubelet/kubeconfig": ("0400", 0, 0), "/var/lib/kube-proxy/kubeconfig": ("0400", 0, 0), "/etc/kubernetes/cloud.config": ("0644", 0, 0),
}
FILES_OF_CONTROLLERS = {
    **{f"/etc/kubernetes/pki/etcd-manager-{c}/etcd-{name}-ca.{end}": (mode, 0, 0) for c in CLUSTERS for name in ("manager", "peers", "clients")
       for end, mode in (("crt", "0644"), ("key", "0600"))},
    f"{CONTROLLER}/kops-controller.crt": ("0644", 10011, 0), f"{CONTROLLER}/kops-controller.key": ("0600", 10011, 0),
    f"{CONTROLLER}/kubernetes-ca.crt": ("0600", 10011, 0), f"{CONTROLLER}/kubernetes-ca.key": ("0600", 10011, 0),
    f"{CONTROLLER}/keypair-ids.yaml": ("0600", 10011, 0), f"{KCM}/ca.crt": ("0600", 0, 0), f"{KCM}/ca.key": ("0600", 0, 0),
    f"{KCM}/service-account.key": ("0600", 0, 0), f"{KCM}/server.crt": ("0644", 0, 0), f"{KCM}/server.key": ("0600", 0, 0),
    f"{SCHEDULER}/server.crt": ("0644", 0, 0), f"{SCHEDULER}/server.key": ("0600", 0, 0), "/var/lib/kops/kubeconfig": ("0400", 10013, 0),
    "/var/lib/kube-controller-manager/kubeconfig": ("0400", 0, 0), "/var/lib/kube-scheduler/kubeconfig": ("0400", 0, 0),
}
OURS = re.compile(r"/srv/kubernetes/|/etc/kubernetes/(pki|kops-controller|kube-apiserver-healthcheck|authn|cloud)|/var/lib/[^/]+/kubeconfig$")


@pytest.fixture
def master(tmp_path):
    with contextlib.closing(ControlPlane(tmp_path)) as node:
        node.write()
        yield node


def pem_of(node, path):
    """The certificate of a file or of a kubeconfig, as a file for openssl."""
    text = node.read(path)
    if path.endswith("kubeconfig") or path.endswith("/.kube/config"):
        text = base64.b64decode(yaml.safe_load(text)["users"][0]["user"]["client-certificate-data"]).decode()
    out = node.folder / "of.crt"
    out.write_text(text)
    return out


def serial(node, path):
    return openssl("x509", "-in", pem_of(node, path), "-noout", "-serial")


def fnv1(text):
    """Go's hash/fnv New32."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = value * 0x01000193 % 2**32 ^ byte
    return value


assert fnv1("foobar") == 0x31F0B262, "the value of the hash's own test suite"


def life_of(node, path):
    """Hours between a certificate's two dates."""
    lines = openssl("x509", "-in", pem_of(node, path), "-noout", "-dates").splitlines()
    begin, end = (ssl.cert_time_to_seconds(line.split("=")[1]) for line in lines)
    return (end - begin) / 3600


def names_in(text):
    line = re.search(r"Subject Alternative Name: *\n *(.*)", text)
    return set(line[1].split(", ")) if line else set()


def attributes(node):
    found = {}
    for path in node.tree():
        st = (node.root / path.lstrip("/")).lstat()
        if OURS.match(path):
            found[path] = ("%04o" % stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid)
    return found


def apply(node, *flags):
    done = node.apply("--deadline=2m", *flags)
    assert "PRIVATE KEY" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("release", every(3, RELEASES))
def test_a_control_plane_gets_these_files_and_certificates(release, master):
    addresses = ADDRESSES[release]
    master.facts.update(RELEASES[release], addresses=addresses)
    master.write()
    done = apply(master)
    assert done.returncode == OK, done.stderr
    assert attributes(master) == {**FILES, **FILES_OF_CONTROLLERS}
    for path, (signer, subject, names) in {**ISSUED, **OF_CONTROLLERS}.items():
        cert = pem_of(master, path)
        purpose = "sslserver" if names else "sslclient"
        assert "OK" in openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile", master.ca(signer), cert), path
        text = openssl("x509", "-in", cert, "-noout", "-text")
        assert f"Subject: {subject}\n" in text and names_in(text) == names, path
        assert ("Digital Signature, Key Encipherment" if names else "Digital Signature\n") in text
        assert re.search("Basic Constraints: critical\n *CA:FALSE", text)
        # two days before now, and after now for as long as the node's addresses say, so that not all nodes' end together
        assert life_of(master, path) == 48 + 455 * 24 + fnv1("".join(addresses)) % 720, path
    home = {"debian": "/home/admin", "ubuntu": "/root", "amazon": None}[release]
    for place in ("/home/admin", "/root", "/home/ec2-user"):
        assert ((master.root / place[1:] / ".kube/config").exists()) == (place == home)
    passwd = master.read("/etc/passwd")
    assert all(line in passwd for line in (
        "kops-controller:x:10011:10011::/home/kops-controller:/sbin/nologin\n", f"kube-apiserver-healthcheck:x:10012:10012::{CHECK}:/sbin/nologin\n",
        "kops-channels:x:10013:10013::/var/lib/kops:/sbin/nologin\n"))


def test_a_store_of_another_company_has_a_region_of_its_own(tmp_path):
    with contextlib.closing(ControlPlane(tmp_path, role="APIServer")) as node:
        endpoint = node.keep_in_s3("clusters")
        del node.facts["region"]
        node.write()
        done = node.apply("--deadline=2m", S3_ENDPOINT=endpoint, S3_REGION="eu-1", S3_ACCESS_KEY_ID="MINIO", S3_SECRET_ACCESS_KEY="canary",
                          AWS_REGION="us-test-1")
    assert done.returncode == OK and "canary" not in done.stdout + done.stderr, done.stderr
    assert node.signed == {"AWS4-HMAC-SHA256 Credential=MINIO/DAY/eu-1/s3/aws4_request"}
    assert {"igconfig/apiserver/master-a/nodeupconfig.yaml", "pki/private/kubernetes-ca/keyset.yaml"} <= set(node.asked)
    provider, = yaml.safe_load(node.read("/var/lib/kubelet/credential-provider.conf"))["providers"]
    assert provider["env"] == [{"name": "AWS_REGION", "value": "us-test-1"}]


def test_an_api_server_alone_has_no_key_of_a_ca(tmp_path):
    with contextlib.closing(ControlPlane(tmp_path, role="APIServer")) as node:
        node.write(EtcdIPs=["10.0.0.7"], APIServerIPs=["10.0.0.8"])
        done = apply(node)
        assert done.returncode == OK, done.stderr
        assert attributes(node) == FILES
        keys = {node.generations[name][-1][2] for name in node.generations if name != "service-account"}
        assert not [path for path, what in node.tree().items() if isinstance(what, tuple) and what[1].decode(errors="replace") in keys]
        assert node.read("/etc/hosts").split("\n")[-4:] == [
            "10.0.0.7\tevents.etcd.internal.a.example.com main.etcd.internal.a.example.com",
            "10.0.0.8\tapi.internal.a.example.com kops-controller.internal.a.example.com",
            "# End host entries managed by kops", ""]
        assert not [path for path in node.asked if "etcd-manager" in path or "etcd-peers" in path or "channels" in path]


def test_an_api_server_without_addresses_gets_no_block(tmp_path):
    with contextlib.closing(ControlPlane(tmp_path, role="APIServer")) as node:
        node.write()
        assert apply(node).returncode == OK
        assert "/etc/hosts" not in node.tree()


def test_what_is_written_is_what_the_store_has(master):
    master.secret("admin", "secret-of-admin")
    master.secret("system:dns", "secret-of-dns")
    master.secret("dockerconfig", "{}")
    master.config["usesNoneDNS"] = True
    master.write()
    done = apply(master)
    assert done.returncode == OK and "secret-of" not in done.stdout + done.stderr
    ca, key = master.generations["kubernetes-ca"][-1][1:]
    assert (master.read(f"{KCM}/ca.crt"), master.read(f"{KCM}/ca.key")) == (ca, key)
    assert (master.read(f"{CONTROLLER}/kubernetes-ca.crt"), master.read(f"{CONTROLLER}/kubernetes-ca.key")) == (ca, key)
    assert master.read(f"{API}/server.crt").endswith("-----END CERTIFICATE-----\n\n" + ca)
    assert master.read(f"{API}/known_tokens.csv") == "secret-of-admin,admin,admin,system:masters\nsecret-of-dns,system:dns,system:dns"
    assert master.read("/root/.docker/config.json") == "{}"
    assert yaml.safe_load(master.read(f"{CONTROLLER}/keypair-ids.yaml")) == master.config["KeypairIDs"]
    for cluster in CLUSTERS:
        for name, keyset in (("etcd-manager-ca", f"etcd-manager-ca-{cluster}"), ("etcd-clients-ca", "etcd-clients-ca")):
            assert master.read(f"/etc/kubernetes/pki/etcd-manager-{cluster}/{name}.key") == master.generations[keyset][-1][2]
    login = yaml.safe_load(master.read("/var/lib/kube-scheduler/kubeconfig"))
    assert login["clusters"][0]["cluster"] == {"certificate-authority-data": base64.b64encode(ca.encode()).decode(), "server": "https://127.0.0.1"}
    assert "127.0.0.1\tapi.a.example.com api.internal.a.example.com\n" in master.read("/etc/hosts")
    assert "\n  maxContainerRestartPeriod: 1m0s\n" in master.read("/var/lib/kubelet/kubelet.conf")


def test_nothing_is_listed(master):
    assert apply(master).returncode == OK
    assert not [path for path in master.asked if path.endswith("/") or not re.search(r"\.yaml$|^kops-version\.txt$|^secrets/[a-z:_-]+$", path)]
    assert len(master.asked) == len(set(master.asked))


class Held(ControlPlane):
    """Its store answers for keysets when nodeup has spent so much of the processor meanwhile, or that long has passed."""
    process, enough, longest, spent = None, 0.1, 15, 0

    def handler(self):
        node = self

        class Handler(super().handler()):
            def do_GET(self):
                if self.path.endswith("keyset.yaml"):
                    start, before = time.monotonic(), node.cpu()
                    while (spent := node.cpu() - before) < node.enough and time.monotonic() - start < node.longest:
                        time.sleep(0.01)
                    node.spent = max(node.spent, spent)
                super().do_GET()
        return Handler

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def watched(self):
        """The processor's time that was spent while it was waited for keysets."""
        self.spent = 0
        self.process = subprocess.Popen(self.command("apply", "--deadline=2m"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, env=self.environ())
        said = self.process.communicate()[1]
        assert self.process.returncode == OK, said
        return self.spent


def test_keys_are_made_while_the_store_is_waited_for_and_only_where_none_are(tmp_path):
    with contextlib.closing(Held(tmp_path)) as node:
        node.write()
        assert node.watched() >= node.enough
        node.longest = 0.5
        assert node.watched() < node.enough


def test_a_second_run_changes_nothing(master):
    assert apply(master).returncode == OK
    before = master.tree()
    again = apply(master)
    assert again.returncode == OK and master.tree() == before, again.stderr
    assert " changed " not in again.stderr
    plan = master.run("plan")
    assert plan.returncode == OK and "No changes" in plan.stdout, plan.stdout


def test_what_is_damaged_is_the_same_again(master):
    assert apply(master).returncode == OK
    before = master.tree()
    for path in (f"{API}/server.key", f"{KCM}/server.crt", "/var/lib/kubelet/kubeconfig"):
        (master.root / path[1:]).unlink()
    (master.root / CONTROLLER[1:] / "kops-controller.crt").write_text("damaged\n")
    done = apply(master)
    assert done.returncode == OK and master.tree() == before, done.stderr


def test_what_a_kill_leaves_goes(master):
    """Wherever a run puts a file, that of a killed one may have left half of it."""
    before = {path.parent for path in master.root.rglob("*")}
    assert apply(master).returncode == OK
    folders = {path.parent for path in master.root.rglob("*") if path.is_file() and not path.is_symlink()} - before | {master.root / "etc"}
    litter = [folder / ".nodeup-0123456789abcdef" for folder in folders]
    for path in litter:
        path.write_text("half of a key")
    done = apply(master)
    assert len(litter) > 20 and done.returncode == OK and [path for path in litter if path.exists()] == [], done.stderr


def test_what_lies_there_is_kept_where_nothing_is_remembered(master):
    """As kops' own nodeup left it, or a run of ours that was killed."""
    assert apply(master).returncode == OK
    before = master.tree()
    subprocess.run(["rm", "-rf", master.root / "var/lib/nodeup"], check=True)
    done = apply(master)
    assert done.returncode == OK and master.tree() == before, done.stderr


def forge(master, name, key):
    """Another private key among what is kept of a certificate, and what a check would have noted of it."""
    path = master.root / "var/lib/nodeup/documents.json"
    saved = json.loads(path.read_text())
    at, = (at for at in saved["documents"] if at.endswith(f"/issued/{name}.checked"))
    version = subprocess.run([PROGRAM, "version"], capture_output=True, text=True, check=True).stdout.split()[2]
    kept = {end: base64.b64decode(saved["documents"][at[:-len("checked")] + end]).decode() for end in ("crt", "checked")}
    ca = master.generations["kubernetes-ca"][-1][1]
    texts = [f"check 1 of nodeup {version}", kept["crt"], key, ca, name, master.config["KeypairIDs"]["kubernetes-ca"], name, None,
             "client", None, None]
    taken = b"".join(b"-" if text is None else b"+" + text.encode() + b"\0" for text in texts)
    digest, dates = hashlib.sha256(taken).hexdigest(), kept["checked"].split(" ", 1)[1]
    saved["documents"].update({at: base64.b64encode(f"{digest} {dates}".encode()).decode(),
                               at[:-len("checked")] + "key": base64.b64encode(key.encode()).decode()})
    path.write_text(json.dumps(saved))


def test_what_was_checked_is_known_by_its_digest_and_repair_checks_it_again(master):
    """That it is not looked at is seen only by one that is wrong."""
    assert apply(master).returncode == OK
    right, path = master.read(f"{API}/kubelet-api.key"), f"file {API}/kubelet-api.key"
    forge(master, "kubelet-api", master.read(f"{API}/etcd-client.key"))
    plan, verified = master.run("plan"), master.run("plan", "--verify")
    assert path in plan.stdout and path not in verified.stdout, plan.stdout + verified.stdout
    done = master.run("repair", "--deadline=2m")
    assert done.returncode == OK and master.read(f"{API}/kubelet-api.key") == right, done.stderr
    assert "No changes" in master.run("plan").stdout


def test_a_rotated_ca_issues_anew_what_it_signs_and_nothing_else(master):
    assert apply(master).returncode == OK
    every = {**ISSUED, **OF_CONTROLLERS}
    before = {path: serial(master, path) for path in every}
    master.rotate("etcd-clients-ca")
    master.write()
    plan = master.run("plan")
    assert plan.returncode == PENDING
    why = "the certificate is not signed by the CA"
    assert f"certificate etcd-client would be issued anew: {why}" in plan.stderr, plan.stderr
    assert f"file {API}/etcd-client.key: issued anew: {why}" in plan.stdout and "PRIVATE KEY" not in plan.stdout
    assert "kubelet-api" not in plan.stdout and {path: serial(master, path) for path in every} == before
    done = apply(master)
    assert done.returncode == OK, done.stderr
    after = {path: serial(master, path) for path in every}
    assert {path for path in every if after[path] != before[path]} == {f"{API}/etcd-client.crt"}
    assert "OK" in openssl("verify", "-CAfile", master.ca("etcd-clients-ca"), pem_of(master, f"{API}/etcd-client.crt"))
    assert master.read(f"{API}/etcd-ca.crt") == master.config["CAs"]["etcd-clients-ca"]


FUTURE, PAST = ("20700101000000Z", "20800101000000Z"), ("20200101000000Z", "20210101000000Z")


@pytest.mark.parametrize("life, date", [pytest.param(FUTURE, None, marks=pytest.mark.long), (PAST, "Wed, 01 Jul 2020 00:00:00 GMT")], ids=["before", "behind"])
def test_a_clock_outside_a_cas_life_changes_nothing(life, date, master):
    assert apply(master).returncode == OK
    every = {**ISSUED, **OF_CONTROLLERS}
    before = {path: serial(master, path) for path in every}
    master.redate("kubernetes-ca", *life)
    master.date = date
    master.write()
    for _ in range(2):
        done = apply(master)
        assert done.returncode == OK and {path: serial(master, path) for path in every} == before, done.stderr
        said = re.findall(r"this machine's clock says (\S+ \S+), and the CA kubernetes-ca is valid from (\S+ \S+) to .*: its certificates stay", done.stderr)
        assert said and {begin for _, begin in said} == {f"{life[0][:4]}-01-01 00:00:00"}, done.stderr
    # what the clock says nothing of is done all the same
    (master.root / "srv/kubernetes/kubelet-server.crt").unlink()
    assert apply(master).returncode == OK and {path: serial(master, path) for path in every} == before


def test_what_is_missing_waits_for_the_clock(master):
    master.redate("kubernetes-ca", *FUTURE)
    master.write()
    done = master.apply("--deadline=3s")
    assert done.returncode == BUSY and re.search("FAILED this machine's clock says 20.*, and the CA kubernetes-ca is valid from 2070-01-01 00:00:00 to "
                                                 r"2080-01-01 00:00:00 \(75\)", done.stderr), done.stderr
    assert "WAITING the clock: " in done.stderr and not list(master.root.rglob("*.key")), done.stderr


def test_a_ca_that_has_ended_is_named(master):
    """The store's server has the same time, so it is not the clock."""
    assert apply(master).returncode == OK
    before = master.tree()
    master.redate("kubernetes-ca", *PAST)
    master.write()
    done = apply(master)
    assert done.returncode == CONFIG and "FAILED the CA kubernetes-ca has ended on 2021-01-01 00:00:00 (78)" in done.stderr, done.stderr
    assert master.tree() == before


def test_other_names_issue_one_certificate_anew_and_say_who_has_the_one_before(master):
    assert apply(master).returncode == OK
    before = {path: serial(master, path) for path in OF_CONTROLLERS}
    master.config["APIServerConfig"]["API"]["additionalSANs"] = ["other.example.com", "192.0.2.1"]
    master.write(APIServerIPs=["10.0.0.8"])
    done = apply(master)
    assert done.returncode == OK, done.stderr
    changed = {path for path in OF_CONTROLLERS if serial(master, path) != before[path]}
    assert changed == {f"{CONTROLLER}/kops-controller.crt"}
    names = names_in(openssl("x509", "-in", pem_of(master, f"{API}/server.crt"), "-noout", "-text"))
    assert names == API_NAMES | {"DNS:other.example.com", "IP Address:192.0.2.1"}
    master.rotate("kubernetes-ca")
    master.write(APIServerIPs=["10.0.0.8"])
    plan = master.run("plan")
    assert "static pod kube-scheduler starts again with it" in plan.stderr, plan.stderr
    assert "static pod kops-channels has the one before until it starts again" in plan.stderr, plan.stderr
    assert "file /var/lib/kubelet/kubeconfig: " in plan.stdout and "kubelet.service" not in plan.stdout, plan.stdout  # no unit is started below a root


# What kubelet starts again because it reads the certificate only when it starts, and of which certificate it is.
STARTED = {"kube-apiserver": "kube-apiserver-healthcheck", "kube-controller-manager": "kube-controller-manager",
           "kube-proxy": "kube-proxy", "kube-scheduler": "kube-scheduler"}


def manifests(master):
    return {path.stem: path.read_text() for path in (master.root / "etc/kubernetes/manifests").iterdir()}


def renewals(master):
    found = {name: (yaml.safe_load(text).get("metadata") or {}).get("annotations", {}) for name, text in manifests(master).items()}
    return {name: {k: v for k, v in notes.items() if k.startswith("nodeup/")} for name, notes in found.items()}


def test_a_static_pod_starts_again_for_a_certificate_that_is_renewed(master):
    """kubelet does that when its manifest changes, which has the number of renewals in it, and else is what it was."""
    assert apply(master).returncode == OK
    assert not any(renewals(master).values())
    for times in ("1", "2"):
        before = manifests(master)
        master.rotate("kubernetes-ca")
        master.write()
        plan, saved = master.run("plan"), master.folder / "plan.json"
        saved.write_text(master.run("plan", "-o", "json").stdout)
        planned = {name for name in before if f"/etc/kubernetes/manifests/{name}.manifest" in plan.stdout}
        assert apply(master, f"--plan={saved}").returncode == OK
        after = manifests(master)
        assert {name for name in after if after[name] != before[name]} == set(STARTED) == planned, plan.stdout
        assert renewals(master) == {name: {f"nodeup/renewals-of-{STARTED[name]}": times} if name in STARTED else {} for name in after}
        done = master.run("plan")
        assert done.returncode == OK and "No changes" in done.stdout, done.stdout
    # what is kept counts on
    (master.root / "etc/kubernetes/manifests/kube-scheduler.manifest").unlink()
    assert apply(master).returncode == OK and manifests(master) == after


def test_a_plan_makes_no_key_and_says_what_would_be_issued(master):
    plan = master.run("plan", "--diff")
    assert plan.returncode == PENDING and f"file {API}/server.key: absent" in plan.stdout, plan.stderr
    assert "PRIVATE KEY" not in plan.stdout and master.tree().keys() == {"/etc/passwd"}


@pytest.mark.parametrize("change, says", [
    (lambda m: m.config["KeypairIDs"].update({"kubernetes-ca": "7"}), "keyset kubernetes-ca: key '7', which KeypairIDs pins, is not there"),
    (lambda m: m.config["KeypairIDs"].pop("service-account"), "keyset service-account: key '', which KeypairIDs pins, is not there"),
    (lambda m: (m.base / "pki/private/etcd-peers-ca-main/keyset.yaml").unlink(), "missing keyset etcd-peers-ca-main"),
    (lambda m: m.store("pki/private/service-account/keyset.yaml", "a: [\n"), "keyset service-account: not YAML"),
    (lambda m: m.store("secrets/admin", "secret-of-admin"), "secret admin: not JSON"),
    (lambda m: (m.base / "manifests/etcd/main-a.yaml").unlink(), "main-a.yaml"),
    (lambda m: m.config["APIServerConfig"].update({"encryptionConfigSecretHash": "x"}), "missing secret encryptionconfig"),
])
def test_what_the_store_lacks_is_one_error_and_changes_nothing(change, says, master):
    change(master)
    master.write()
    done = apply(master)
    assert done.returncode == CONFIG and says in done.stderr, done.stderr
    assert "secret-of" not in done.stderr and master.tree().keys() == {"/etc/passwd"}


def test_a_keyset_that_has_its_older_name(master):
    (master.base / "pki/private/kubernetes-ca").rename(master.base / "pki/private/ca")
    assert apply(master).returncode == OK


def test_other_bytes_than_the_user_data_means_are_refused(master):
    master.write(NodeupConfigHash=base64.b64encode(b"x" * 32).decode())
    done = apply(master)
    assert done.returncode == CONFIG and "this is not the NodeupConfig that BootConfig means" in done.stderr, done.stderr


def test_a_key_that_is_wrapped_is_written_as_kops_writes_it(master):
    """kops makes keys in the form of their algorithm, and writes those that were brought to it so, too."""
    assert apply(master).returncode == OK
    before = master.tree()
    for path in master.base.glob("pki/private/*/keyset.yaml"):
        keyset = yaml.safe_load(path.read_text())
        for key in keyset["spec"]["keys"]:
            own = base64.b64decode(key["privateMaterial"])
            wrapped = subprocess.run(["openssl", "pkcs8", "-topk8", "-nocrypt"], input=own, capture_output=True, check=True).stdout
            assert b"BEGIN PRIVATE KEY" not in own and wrapped.startswith(b"-----BEGIN PRIVATE KEY")
            key["privateMaterial"] = base64.b64encode(wrapped).decode()
        path.write_text(yaml.safe_dump(keyset))
    done = apply(master)
    assert done.returncode == OK and master.tree() == before, done.stderr


def test_without_its_configuration_nothing_is_done(master):
    next(master.base.rglob("nodeupconfig.yaml")).unlink()
    done = apply(master)
    assert done.returncode == CONFIG and "HTTP status 404" in done.stderr and "kept documents: none of this instance" in done.stderr, done.stderr
    assert master.tree().keys() == {"/etc/passwd"}


def test_it_goes_on_with_what_is_kept_when_the_store_is_gone_or_overwritten(master):
    assert apply(master).returncode == OK
    before = master.tree()
    (master.root / API[1:] / "server.key").unlink()
    master.config["UpdatePolicy"] = "external"
    master.boot()  # the store alone: user data stays
    done = apply(master)
    assert done.returncode == OK and "documents kept" in done.stderr and master.tree() == before, done.stderr
    (master.root / API[1:] / "server.key").unlink()
    (config,) = master.base.rglob("nodeupconfig.yaml")
    text = config.read_text()
    config.unlink()  # as of a group that was deleted
    done = apply(master)
    assert done.returncode == OK and "documents kept" in done.stderr and master.tree() == before, done.stderr
    config.write_text(text)
    (master.root / API[1:] / "server.key").unlink()
    asked = len(master.asked)
    done = apply(master, "--offline")
    assert done.returncode == OK and "documents kept" in done.stderr and master.tree() == before, done.stderr
    assert len(master.asked) == asked


def test_a_store_that_refuses_a_secret_is_told(master):
    master.status["secrets/admin"] = 403
    done = master.apply("--deadline=2s")
    assert done.returncode == NET and "secrets/admin" in done.stderr and master.tree().keys() == {"/etc/passwd"}, done.stderr


def test_another_user_who_has_an_id_gets_no_key(master):
    with (master.root / "etc/passwd").open("a") as passwd:
        passwd.write("other:x:10011:10011::/home/other:/bin/sh\n")
    done = apply(master)
    assert done.returncode == SYSTEM and "the id 10011 of 'kops-controller' is taken by 'other'" in done.stderr, done.stderr
    assert not [path for path in master.tree() if path.startswith(CONTROLLER)]


def test_users_of_aws_are_known_by_the_authenticator(master):
    master.config["APIServerConfig"]["Authentication"] = {"aws": {}}
    master.write()
    assert apply(master).returncode == OK
    found = attributes(master)
    assert [found[path] for path in (f"/srv/kubernetes/aws-iam-authenticator/{name}.pem" for name in ("cert", "key"))] == [("0600", 10000, 10000)] * 2
    assert found["/etc/kubernetes/authn.config"] == ("0600", 0, 0)
    cluster = yaml.safe_load(master.read("/etc/kubernetes/authn.config"))["clusters"][0]
    assert cluster["cluster"]["server"] == "https://127.0.0.1:21362/authenticate"
    assert "aws-iam-authenticator:x:10000:10000::/srv/kubernetes/aws-iam-authenticator:/sbin/nologin\n" in master.read("/etc/passwd")


def test_pods_of_cilium_reach_its_etcd_from_a_control_plane_too(master):
    signer, where = "etcd-clients-ca-cilium", "/etc/kubernetes/pki/cilium/"
    master.rotate(signer)
    master.config.update(UseCiliumEtcd=True, Networking={**master.config["Networking"], "cilium": {}})
    master.write()
    done = apply(master)
    assert done.returncode == OK, done.stderr
    found = {path: what[0] for path, what in master.tree().items() if path.startswith(where)}
    assert found == {f"{where}etcd-ca.crt": "0600", f"{where}etcd-client-cilium.crt": "0644", f"{where}etcd-client-cilium.key": "0600"}
    assert master.read(f"{where}etcd-ca.crt") == master.config["CAs"][signer]
    cert = pem_of(master, f"{where}etcd-client-cilium.crt")
    assert "OK" in openssl("verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", master.ca(signer), cert)
    assert "CN = cilium\n" in openssl("x509", "-in", cert, "-noout", "-subject")
    assert openssl("x509", "-in", cert, "-noout", "-pubkey") == openssl("pkey", "-in", master.root / where[1:] / "etcd-client-cilium.key", "-pubout")
    before = master.tree()
    assert apply(master).returncode == OK and master.tree() == before


def test_a_name_that_is_asked_for_twice_stands_once(master):
    master.config["APIServerConfig"]["API"]["additionalSANs"] = ["other.example.com", "other.example.com"]
    master.write()
    assert apply(master).returncode == OK
    text = openssl("x509", "-in", pem_of(master, f"{API}/server.crt"), "-noout", "-text")
    assert text.count("DNS:other.example.com") == 1 and names_in(text) == API_NAMES | {"DNS:other.example.com"}
    assert "No changes" in master.run("plan").stdout


def test_a_load_balancer_is_in_the_certificate_by_name_and_by_address(master):
    balancer = "api-a-example-com-1a2b3c-0123456789.us-test-1.elb.amazonaws.com"
    master.config["ApiserverAdditionalIPs"] = [balancer, "172.20.40.5", "2001:db8::5"]
    master.write()
    done = apply(master)
    assert done.returncode == OK, done.stderr
    names = names_in(openssl("x509", "-in", pem_of(master, f"{API}/server.crt"), "-noout", "-text"))
    assert names == API_NAMES | {f"DNS:{balancer}", "IP Address:172.20.40.5", "IP Address:2001:DB8:0:0:0:0:0:5"}
    assert "No changes" in master.run("plan").stdout


def test_a_saved_plan_of_the_document_beside_is_that_of_the_same_bytes_in_the_store(master):
    beside = master.folder / "documents/nodeupconfig.yaml"
    beside.write_text((master.base / "igconfig/control-plane/master-a/nodeupconfig.yaml").read_text())
    plan = master.folder / "plan.json"
    plan.write_text(master.run("plan", "-o", "json").stdout)
    assert "igconfig/control-plane/master-a/nodeupconfig.yaml" not in master.asked
    done = apply(master, f"--plan={plan}")
    assert done.returncode == OK and "igconfig/control-plane/master-a/nodeupconfig.yaml" in master.asked, done.stderr
    # of other bytes it is not
    plan.write_text(master.run("plan", "-o", "json").stdout)
    master.secret("admin", "another")
    done = apply(master, f"--plan={plan}")
    assert done.returncode == REFUSED and "are not those" in done.stderr, done.stderr
