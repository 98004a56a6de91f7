"""A worker of today's kops gets its configuration and its certificates from kops-controller, proves itself, and believes no other."""
import base64
import contextlib
import hashlib
import os
import re
import shutil
import socket
import subprocess
import time

import pytest
import yaml

from emulator import Imds
from kops import ADDRESS, ASSETS, ID, INSTANCE, REGION, SECRET, TOKEN, ControlPlane, Worker, openssl
from test_kubeup_documents import nodeup
from world import BUSY, CONFIG, INTEGRITY, NET, OK, PROGRAM, REFUSED, every


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


def lines_of(done):
    return done.stdout + done.stderr


def test_it_joins_with_two_requests(worker):
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK, done.stderr
    assert worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"]
    for secret in (SECRET, TOKEN, "x-aws-sts"):
        assert secret not in lines_of(done)
    cert, key = (worker.root / f"srv/kubernetes/kubelet-server.{end}" for end in ("crt", "key"))
    assert openssl("x509", "-in", cert, "-noout", "-pubkey") == openssl("pkey", "-in", key, "-pubout")
    assert "OK" in openssl("verify", "-purpose", "sslserver", "-CAfile", worker.folder / "ca.crt", cert)
    assert (key.stat().st_mode & 0o777, cert.stat().st_mode & 0o777) == (0o400, 0o644)


def test_a_second_run_asks_for_no_certificate_and_changes_nothing(worker):
    with worker.controller():
        assert worker.apply().returncode == OK
        before, asked = worker.tree(), len(worker.requests())
        again = worker.apply()
    assert again.returncode == OK and worker.tree() == before, again.stderr
    assert worker.requests()[asked:] == ["200 "]


@pytest.mark.parametrize("command", ["apply", "repair"])
def test_a_second_run_flushes_nothing(command, worker, tmp_path):
    with worker.controller():
        assert worker.apply().returncode == OK
        trace = ["strace", "-f", "-y", "-qq", "-o", tmp_path / "trace", "-e", "signal=none", "-e", "trace=fsync,fdatasync,syncfs,sync"]
        again = subprocess.run([*trace, *worker.command(command)], capture_output=True, text=True, env=worker.environ(), stdin=subprocess.DEVNULL)
    assert again.returncode == OK, again.stderr
    assert (tmp_path / "trace").read_text() == ""


@pytest.mark.parametrize("kind", [Worker, ControlPlane])
def test_a_saved_plan_of_a_first_run_is_done_once(kind, tmp_path):
    """The plan has no certificate: what the run is given, or makes, is not a change of the documents."""
    node, plan = kind(tmp_path), tmp_path / "plan.json"
    with node.controller() if kind is Worker else contextlib.closing(node):
        node.write()
        plan.write_text(node.run("plan", "-o", "json").stdout)
        done = node.apply(f"--plan={plan}")
        assert done.returncode == OK, done.stderr
        before = node.tree()
        again = node.apply(f"--plan={plan}")
    assert again.returncode == REFUSED and "the machine is not as it was" in again.stderr and node.tree() == before, again.stderr


@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_a_certificate_without_the_id_of_a_key_is_an_error(command, worker):
    """Before anybody is asked for it, and before anything is written."""
    worker.config["KeypairIDs"] = {"apiserver-aggregator-ca": "1"}
    with worker.controller():
        shutil.copy(worker.folder / "nodeupconfig.yaml", worker.folder / "documents")  # where validate finds it
        done = nodeup("validate", f"--conf={worker.folder}/documents/kube_env.yaml") if command == "validate" else worker.run(command)
    assert done.returncode == CONFIG and re.search(r":\d+:\d+: (error: )?'KeypairIDs.kubernetes-ca' is missing", done.stderr), done.stderr
    assert worker.tree() == {} and all(not line.removeprefix("200").strip() for line in worker.requests())


def test_a_ready_node_goes_on_with_what_is_kept(worker):
    with worker.controller():
        assert worker.apply().returncode == OK
        before = worker.tree()
        (worker.root / "srv/kubernetes/kubelet-server.key").unlink()
        (worker.root / "srv/kubernetes/ca.crt").write_text("damaged\n")
        worker.control["faults"] = [409] * 10
        worker.write()
        # a new process of the same controller counts its answers anew
    with worker.controller():
        done = worker.apply()
        assert done.returncode == OK, done.stderr
        assert "documents kept" in done.stderr and "Ready" in done.stderr
        assert worker.tree() == before
        assert set(worker.requests()[2:]) == {"409 as asked"}


def test_a_clock_before_the_life_of_the_ca_changes_no_certificate(worker):
    """As on a machine without a battery: what is kept stays, and nothing is asked for."""
    cert = "/srv/kubernetes/kubelet-server.crt"
    with worker.controller():
        assert worker.apply().returncode == OK
        before, pool = worker.read(cert), (worker.folder / "ca.crt").read_text()
        worker.date_ca("20700101000000Z", "20800101000000Z")
        with open(worker.folder / "ca.crt", "a") as f:
            f.write(pool)
        worker.write()
        done = worker.apply()
    assert done.returncode == OK and re.search(r"this machine's clock says 20.*, and the CA kubernetes-ca is valid from 2070-01-01 .*: its certificates stay", done.stderr), done.stderr
    assert worker.read(cert) == before and worker.requests()[2:] == ["200 "]


@pytest.mark.long
def test_a_clock_behind_the_end_of_the_ca_changes_no_certificate(worker):
    """A CA that ends in a moment is as a clock that runs ahead: what is kept stays, and what is missing is waited for."""
    ends = time.time() + 25
    worker.date_ca("20200101000000Z", time.strftime("%Y%m%d%H%M%SZ", time.gmtime(ends)))
    (worker.folder / "old.crt").write_text((worker.folder / "ca.crt").read_text())
    worker.serve_as("DNS:localhost,IP:127.0.0.1")
    with worker.controller():
        assert worker.apply().returncode == OK
        before, asked = worker.tree(), worker.requests()
        time.sleep(max(0, ends + 1 - time.time()))
        # a third of it: somebody may set the clock meanwhile
        done = worker.apply("--deadline=9s")
        assert "WAITING the clock: " in done.stderr, done.stderr
        said = r"this machine's clock says 20.*, and the CA {} is valid from 2020-01-01 00:00:00 to 20"
        assert done.returncode == OK and re.search(said.format("kubernetes-ca") + ".*: its certificates stay", done.stderr), done.stderr
        assert worker.tree() == before and re.search("documents kept .*" + said.format("of kops-controller"), done.stderr), done.stderr
        for name in ("documents.json", "kept"):
            (worker.root / "var/lib/nodeup" / name).rename(worker.folder / name)
        done = worker.apply("--deadline=3s")
    assert done.returncode == BUSY and re.search("WAITING the clock: .*" + said.format("of kops-controller"), done.stderr), done.stderr
    assert re.search("FAILED " + said.format("of kops-controller") + r".* \(75\)", done.stderr), done.stderr
    assert worker.tree() == before and worker.requests() == asked


def test_a_ready_node_of_which_nothing_is_kept_is_told_so(worker):
    worker.control["faults"] = [409] * 10
    with worker.controller():
        done = worker.apply()
    assert done.returncode == NET and "Ready" in done.stderr and "409" in done.stderr, done.stderr
    assert worker.tree() == {}


@pytest.mark.parametrize("fault", [500, 503, 403, "drop"])
def test_what_may_pass_is_tried_again(fault, worker):
    worker.control["faults"] = [fault, fault]
    with worker.controller():
        done = worker.apply("--deadline=40s")
    assert done.returncode == OK, done.stderr
    assert len(worker.requests()) == 4 and worker.requests()[2:] == ["200 ", "200 kube-proxy kubelet kubelet-server"]


def test_the_servers_are_asked_in_turn(worker):
    with worker.controller():
        worker.ports = [9, *worker.ports]
        worker.write()
        done = worker.apply()
    assert done.returncode == OK and len(worker.requests()) == 2, done.stderr


def threads_until_answered(worker, silent):
    """How many threads a run has while the first server, which takes its connection and says nothing, is waited for."""
    run = subprocess.Popen(worker.command("apply"), env=worker.environ(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    try:
        connection, _ = silent.accept()
        n = len(os.listdir(f"/proc/{run.pid}/task"))
        connection.close()
        said = run.communicate(timeout=60)[1]
    finally:
        run.kill()
        run.wait()
    assert run.returncode == OK, said
    return n


def test_keys_are_made_while_the_first_answer_is_awaited(worker):
    """As many threads as the machine has processors, four at most; a node that has its certificates makes no keys."""
    with worker.controller():
        # another tree of the same cache, whose entries have their records from then on
        (worker.folder / "other").mkdir()
        subprocess.run(worker.command("apply", root=worker.folder / "other"), env=worker.environ(), check=True, capture_output=True)
    (worker.folder / "requests.log").unlink()
    with worker.controller(), socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(60)
        worker.ports = [silent.getsockname()[1], *worker.ports]
        worker.write()
        with_keys, without = (threads_until_answered(worker, silent) for _ in range(2))
    assert with_keys - without == min(4, os.sysconf("SC_NPROCESSORS_ONLN"))
    assert worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server", "200 "]


def test_the_cache_is_hashed_while_the_first_answer_is_awaited(worker):
    """The first answer is given when each entry has its record."""
    entries = sorted((worker.cache / "sha256").iterdir())
    worker.control["after"] = [str(worker.cache / f"verified/sha256-{entry.name}") for entry in entries]
    with worker.controller():
        done = worker.apply("--deadline=20s")
    assert done.returncode == OK, done.stderr
    assert worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"]
    assert all(os.path.exists(path) for path in worker.control["after"])


@pytest.mark.parametrize("changes, says", [
    ({"AWS_SECRET_ACCESS_KEY": "another"}, "does not believe who this instance is (403)"),
    ({"AWS_SESSION_TOKEN": None}, "does not believe who this instance is (403)"),
    ({"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}, "there are no credentials"),
])
def test_who_cannot_prove_itself_is_told_what_to_look_at(changes, says, worker):
    with worker.controller():
        done = worker.apply("--deadline=2s", **changes)
    assert done.returncode != OK and says in done.stderr, done.stderr
    assert worker.tree() == {} and "200" not in "".join(worker.requests())


def test_another_ca_is_not_believed(worker):
    worker.serve_as("DNS:localhost,IP:127.0.0.1")
    with worker.controller():
        for name in ("ca", "old"):
            openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", worker.folder / f"{name}.key", "-out", worker.folder / f"{name}.crt",
                    "-set_serial", "69828", "-subj", "/CN=kubernetes-ca")
        worker.write()
        done = worker.apply("--deadline=2s")
    assert done.returncode == NET and worker.requests() == [], done.stderr


def test_an_older_generation_of_the_ca_is_believed_as_a_server(worker):
    worker.serve_as("IP:127.0.0.1", ca="old")
    with worker.controller():
        assert worker.apply().returncode == OK


def test_the_name_of_the_server_is_what_the_documents_say(worker):
    worker.serve_as("DNS:kops-controller.internal.a.example.com")
    with worker.controller():
        refused = worker.apply("--deadline=2s")
        worker.server_name = "kops-controller.internal.a.example.com"
        worker.write()
        done = worker.apply()
    assert refused.returncode == NET and done.returncode == OK, done.stderr


def test_a_certificate_for_another_key_is_refused_before_anything_is_written(worker):
    worker.control["faults"] = [None, "other-key"]
    with worker.controller():
        done = worker.apply()
    assert done.returncode == CONFIG and "the certificate is for another key than ours" in done.stderr, done.stderr
    assert worker.tree() == {}


@pytest.mark.parametrize("name, lie, says", every(2, [
    ("kubelet", {"subject": "/O=system:masters/CN=system:node:{node}"}, "not for 'system:node:i-0123456789abcdef0' of system:nodes"),
    ("kubelet", {"subject": "/CN=system:node:{node}"}, "not for 'system:node:i-0123456789abcdef0' of system:nodes"),
    ("kube-proxy", {"subject": "/O=system:masters/CN=system:kube-proxy"}, "not for 'system:kube-proxy'"),
    ("kubelet", {"subject": "/O=system:nodes/CN=system:node:{node}/CN=another"}, "not for"),
    ("kubelet-server", {"basic": "CA:TRUE", "key_usage": "digitalSignature,keyCertSign"}, "does not hold: it is that of a CA"),
    ("kubelet", {"usage": "clientAuth,serverAuth"}, "does not hold: it is not for a client alone"),
    ("kubelet", {"label": "X509 CERTIFICATE"}, "no certificate"),
    ("kubelet-server", {"hosts": []}, f"does not have '{INSTANCE}'"),
    ("kubelet-server", {"hosts": [INSTANCE]}, f"does not have '{ADDRESS}'"),
    ("kubelet-server", {"hosts": ["*", ADDRESS]}, f"does not have '{INSTANCE}'"),
    ("kubelet-server", {"hosts": [INSTANCE, ADDRESS, "kubernetes.default.svc"]}, "has 'kubernetes.default.svc', which is not this one's"),
    ("kubelet", {"hosts": [INSTANCE]}, f"has '{INSTANCE}', which is not this one's")]))
def test_a_certificate_that_is_not_what_was_asked_for_is_refused(name, lie, says, worker):
    worker.control["lies"] = {name: lie}
    with worker.controller():
        done = worker.apply()
    assert done.returncode == CONFIG and f"certificate {name}: " in done.stderr and says in done.stderr, done.stderr
    assert worker.tree() == {}


def test_what_stands_around_a_certificate_is_left_out(worker):
    other = (worker.folder / "ca.crt").read_text()
    worker.control["lies"] = {name: {"before": "GARBAGE\n", "behind": other + "GARBAGE\n"} for name in ("kubelet", "kubelet-server")}
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK, done.stderr
    login = yaml.safe_load(worker.read("/var/lib/kubelet/kubeconfig"))["users"][0]["user"]
    for text in (worker.read("/srv/kubernetes/kubelet-server.crt"), base64.b64decode(login["client-certificate-data"]).decode()):
        assert text.startswith("-----BEGIN CERTIFICATE-----\n") and text.endswith("-----END CERTIFICATE-----\n")
        assert text.count("-----") == 4 and "GARBAGE" not in text


def test_all_names_that_ec2_gives_are_taken(worker):
    """Of the first interface, as the controller asks EC2 for them; a network with a domain of its own names the host otherwise."""
    worker.facts.update(publicIPv4="203.0.113.7", ipv6="2001:db8::7", localHostname="ip-172-20-32-11.corp.example.com")
    worker.control["hosts"] = [INSTANCE, f"ip-172-20-32-11.{REGION}.compute.internal", f"{INSTANCE}.{REGION}.compute.internal", ADDRESS,
                               "2001:db8::7", "203.0.113.7", "ip-172-20-32-11.corp.example.com"]
    with worker.controller():
        done = worker.apply()
        # the address may go; what was taken stays
        worker.facts["publicIPv4"] = "203.0.113.8"
        worker.write()
        before = worker.tree()
        again = worker.apply()
    assert done.returncode == OK, done.stderr
    assert again.returncode == OK and worker.tree() == before, again.stderr


@pytest.mark.parametrize("text", ["not JSON", "[]", "{}{}"])
def test_a_login_at_registries_that_is_no_json_is_refused(text, worker):
    worker.control["secrets"] = {"dockerconfig": base64.b64encode(text.encode()).decode()}
    with worker.controller():
        done = worker.apply("--deadline=2s")
        assert done.returncode == CONFIG and "secret dockerconfig: not a JSON object" in done.stderr, done.stderr
        assert worker.tree() == {}
        del worker.control["secrets"]
        worker.write()
        assert worker.apply().returncode == OK
        before = worker.tree()
        worker.control["secrets"] = {"dockerconfig": base64.b64encode(text.encode()).decode()}
        worker.write()
        done = worker.apply("--deadline=20s")
    assert done.returncode == OK and "documents kept" in done.stderr and worker.tree() == before, done.stderr


def test_an_answer_that_is_none_is_refused(worker):
    worker.control["faults"] = ["not-json"] * 5
    with worker.controller():
        done = worker.apply("--deadline=2s")
    assert done.returncode == INTEGRITY and "kops-controller's answer: not JSON" in done.stderr, done.stderr


def test_another_configuration_than_the_user_data_means_is_refused(worker):
    with worker.controller():
        worker.write(NodeupConfigHash=base64.b64encode(b"x" * 32).decode())
        done = worker.apply("--deadline=2s")
    assert done.returncode == CONFIG and "this is not the NodeupConfig that BootConfig means" in done.stderr, done.stderr
    assert worker.tree() == {}


def test_a_node_whose_stored_configuration_was_overwritten_goes_on_with_its_own(worker):
    with worker.controller():
        assert worker.apply().returncode == OK
        before = worker.tree()
        (worker.root / "srv/kubernetes/ca.crt").unlink()
        (worker.folder / "nodeupconfig.yaml").write_text(yaml.safe_dump({**worker.config, "UpdatePolicy": "external"}))
        done = worker.apply("--deadline=2s")
    assert done.returncode == OK and "documents kept" in done.stderr, done.stderr
    assert worker.tree() == before


def test_no_server_at_all_is_a_wait_that_says_so(worker):
    worker.ports = [9]
    worker.write()
    begun = time.monotonic()
    done = worker.apply("--deadline=3s")
    assert done.returncode in (NET, 75) and "kops-controller" in done.stderr, done.stderr
    assert 2 < time.monotonic() - begun < 30


def test_a_server_that_says_nothing_is_named_after_a_second(worker):
    """Long before it is given up."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        worker.ports = [s.getsockname()[1]]
        worker.write()
        run = subprocess.Popen(worker.command("apply"), env=worker.environ(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        try:
            first = next(line for line in run.stderr if "WAITING" in line)
        finally:
            run.kill()
            run.wait()
    assert re.search(rf"WAITING documents: for \d\.\d s, attempt 1: https://127.0.0.1:{worker.ports[0]}/: no answer yet$", first), first


@pytest.fixture(params=["nothing listens", "nothing answers", "no store"])
def unreachable(request, worker, tmp_path):
    """A node of which all is kept, and no server that gives it its documents again."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        if request.param == "no store":
            node = ControlPlane(tmp_path / "control plane")
            node.write()
            assert node.apply().returncode == OK
            node.close()
        else:
            node = worker
            with node.controller():
                assert node.apply().returncode == OK
            if request.param == "nothing answers":
                s.listen()
            node.ports = [s.getsockname()[1]]
            node.write()
        yield node


def test_what_is_kept_is_used_while_there_is_time_to_use_it(unreachable):
    before = unreachable.tree()
    (unreachable.root / "srv/kubernetes/ca.crt").unlink()
    done = unreachable.apply("--deadline=6s")
    assert done.returncode == OK and re.search("documents kept .* are used: .*; look at the port, security groups", done.stderr), done.stderr
    assert unreachable.tree() == before


@pytest.mark.parametrize("nodes", [15, pytest.param(50, marks=pytest.mark.long)])
def test_many_nodes_begin_before_the_controller_is_up(nodes, worker):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    worker.ports = [port]
    worker.write()
    processes = []
    for i in range(nodes):
        place = worker.folder / f"node{i}"
        shutil.copytree(worker.cache, place / "cache")
        (place / "root").mkdir()
        processes.append(subprocess.Popen(worker.command("apply", "--deadline=300s", root=place / "root", cache=place / "cache"), env=worker.environ(),
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    try:
        for p in processes:
            assert "WAITING documents" in p.stderr.readline()
        with worker.controller(port=port):
            ended = [(p.communicate(timeout=300)[1], p.returncode) for p in processes]
    finally:
        for p in processes:
            p.kill()
            p.wait()
    assert [code for _, code in ended] == [OK] * nodes, next(text for text, code in ended if code != OK)
    # what the controller answered, and no proof was sent in vain
    assert len(worker.requests()) <= 1.2 * 2 * nodes and all(line.startswith("200") for line in worker.requests())


def test_a_plan_asks_for_no_certificate(worker):
    with worker.controller():
        done = worker.run("plan")
        assert done.returncode == 2, done.stderr
        assert worker.requests() == ["200 "]
        assert worker.apply().returncode == OK
        assert worker.run("plan").returncode == OK


def test_a_plan_says_what_only_kops_controller_knows(worker):
    """Which is not asked where NodeupConfig is beside --conf; what it gave last is kept."""
    says, login = "kops-controller is not asked, as nodeupconfig.yaml is beside ", "/root/.docker/config.json"
    worker.control["secrets"] = {"dockerconfig": base64.b64encode(b"{}").decode()}
    with worker.controller():
        asking = worker.run("plan")
        assert says not in asking.stderr and login in asking.stdout, asking
        shutil.copy(worker.folder / "nodeupconfig.yaml", worker.folder / "documents")
        before = worker.requests()
        first = worker.run("plan")
        assert first.stderr.count(says) == 1 and "the login at registries that apply gets of it is not known here" in first.stderr, first.stderr
        assert login not in first.stdout and worker.requests() == before, first.stdout
        assert worker.apply().returncode == OK and worker.read(login) == "{}"
        second = worker.run("plan")
    assert second.returncode == OK and "is taken as it was given last" in second.stderr, second
    (worker.root / login[1:]).unlink()
    third = worker.run("plan")
    assert third.returncode == 2 and login in third.stdout, third


def test_a_dropped_secret_is_not_shown(worker):
    worker.control["secrets"] = {"dockerconfig": base64.b64encode(b'{"auths": {"x": {"auth": "hidden"}}}').decode()}
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK and "hidden" not in lines_of(done), done.stderr
    assert subprocess.run(["grep", "-r", "-l", "x-aws-sts", worker.root], capture_output=True).stdout == b""


def ready(worker):
    """The controller of a node that is Ready."""
    worker.control["faults"] = [409] * 50
    return worker.controller()


def set_up_by_kops(worker):
    """A node as kops' nodeup leaves it: its files, and nothing of ours beside them."""
    with worker.controller():
        assert worker.apply().returncode == OK
    shutil.rmtree(worker.root / "var/lib/nodeup")


def test_a_node_of_another_program_is_adopted(worker):
    set_up_by_kops(worker)
    before = worker.tree()
    with ready(worker):
        done = worker.apply()
        assert done.returncode == OK and worker.tree() == before, done.stderr
        assert "this node is adopted as it is, its certificates are right" in done.stderr and "Ready" in done.stderr
        assert "nothing but its services can be looked after: no nodeupconfig.yaml of it is kept" in done.stderr
        planned = worker.run("plan")
        assert planned.returncode == OK and "adopted as it is" in planned.stderr, planned.stderr
        again = worker.apply()
        assert again.returncode == OK and worker.tree() == before, again.stderr


def test_an_adopted_node_is_repaired_by_the_document_of_its_hash(worker):
    set_up_by_kops(worker)
    before = worker.tree()
    (worker.root / "etc/containerd/config.toml").write_text("damaged\n")
    (worker.root / "usr/local/bin/kubelet").unlink()
    with ready(worker):
        shutil.copy(worker.folder / "nodeupconfig.yaml", worker.folder / "documents")
        done = worker.apply()
        assert done.returncode == OK and worker.tree() == before, done.stderr
        (worker.root / "srv/kubernetes/ca.crt").unlink()
        (worker.folder / "documents/nodeupconfig.yaml").unlink()
        done = worker.apply()
        assert done.returncode == OK and worker.tree() == before and "documents kept" in done.stderr, done.stderr


@pytest.mark.parametrize("path, why", [
    ("srv/kubernetes/kubelet-server.key", "another key"), ("srv/kubernetes/kubelet-server.crt", "no certificate"),
    ("var/lib/kubelet/kubeconfig", "no client-certificate-data")])
def test_what_does_not_verify_is_not_adopted(path, why, worker):
    set_up_by_kops(worker)
    (worker.root / path).chmod(0o600)
    (worker.root / path).write_text(openssl("genrsa", "2048") if path.endswith("key") else "{}\n")
    before = worker.tree()
    with ready(worker):
        done = worker.apply()
    assert done.returncode == NET and worker.tree() == before
    assert "409" in done.stderr and "what lies here" in done.stderr and why in done.stderr, done.stderr


def issue_again(worker, name, subject, usage, hosts=None):
    """Another certificate for the key that lies there, by the cluster's CA; its text."""
    key, csr, ext = (worker.folder / f"again.{end}" for end in ("key", "csr", "ext"))
    key.write_text(worker.read("/srv/kubernetes/kubelet-server.key") if name == "kubelet-server" else
                   base64.b64decode(yaml.safe_load(worker.read("/var/lib/kubelet/kubeconfig"))["users"][0]["user"]["client-key-data"]).decode())
    openssl("req", "-new", "-key", key, "-out", csr, "-subj", subject)
    ext.write_text(f"extendedKeyUsage={usage}\n" + (f"subjectAltName={hosts}\n" if hosts else ""))
    return openssl("x509", "-req", "-in", csr, "-CA", worker.folder / "ca.crt", "-CAkey", worker.folder / "ca.key", "-days", "9", "-set_serial", "7",
                   "-extfile", ext)


def put_login(worker, cert):
    path = worker.root / "var/lib/kubelet/kubeconfig"
    login = yaml.safe_load(path.read_text())
    login["users"][0]["user"]["client-certificate-data"] = base64.b64encode(cert.encode()).decode()
    path.write_text(yaml.safe_dump(login))


NOT_OURS = [
    ("kubelet", "/O=system:nodes/CN=system:node:i-00000000000000000", "clientAuth", None, "not for 'system:node:i-0123456789abcdef0' of system:nodes"),
    ("kubelet-server", f"/CN={INSTANCE}", "serverAuth", f"DNS:{INSTANCE},IP:{ADDRESS},DNS:kubernetes", "has 'kubernetes', which is not this one's")]


@pytest.mark.parametrize("with_document", [True, False])
@pytest.mark.parametrize("name, subject, usage, hosts, says", NOT_OURS)
def test_what_would_not_be_given_is_not_adopted(name, subject, usage, hosts, says, with_document, worker):
    set_up_by_kops(worker)
    text = issue_again(worker, name, subject, usage, hosts)
    if name == "kubelet":
        put_login(worker, text)
    else:
        (worker.root / "srv/kubernetes/kubelet-server.crt").write_text(text)
    if with_document:
        shutil.copy(worker.folder / "nodeupconfig.yaml", worker.folder / "documents")
    before = worker.tree()
    with ready(worker):
        for command in ("plan", "apply"):
            done = worker.run(command)
            # with the document a plan asks nobody
            alone = with_document and command == "plan"
            assert done.returncode == (2 if alone else NET) and worker.tree() == before and ("409" in done.stderr) != alone, done.stderr
            assert f"certificate {name}: " in done.stderr and says in done.stderr, done.stderr
    # a node that is not Ready is still served
    worker.control["faults"] = []
    with worker.controller():
        planned = worker.run("plan")
        assert planned.returncode == 2 and "new certificates would be asked for" in planned.stderr and says in planned.stderr, planned.stderr
        done = worker.apply()
    assert done.returncode == OK and worker.requests()[-2:] == ["200 ", "200 kube-proxy kubelet kubelet-server"], done.stderr


def test_all_that_is_wrong_is_told_at_once(worker):
    set_up_by_kops(worker)
    put_login(worker, issue_again(worker, "kubelet", *NOT_OURS[0][1:4]))
    (worker.root / "srv/kubernetes/kubelet-server.crt").write_text(issue_again(worker, "kubelet-server", *NOT_OURS[1][1:4]))
    with ready(worker):
        done = worker.run("plan")
    assert done.returncode == NET and all(f"certificate {row[0]}: the certificate" in done.stderr for row in NOT_OURS), done.stderr


def test_what_is_right_is_left_to_the_byte(worker):
    """A node with a name of its address, as its configuration would say; what stands behind its certificate is its own."""
    set_up_by_kops(worker)
    name = f"ip-172-20-32-11.{REGION}.compute.internal"
    put_login(worker, issue_again(worker, "kubelet", f"/O=system:nodes/CN=system:node:{name}", "clientAuth"))
    text = issue_again(worker, "kubelet-server", f"/CN={name}", "serverAuth", f"DNS:{name},IP:{ADDRESS},DNS:{INSTANCE}")
    (worker.root / "srv/kubernetes/kubelet-server.crt").write_text(text.replace("\n", "\r\n"))
    before = worker.tree()
    with ready(worker):
        for _ in range(2):
            done = worker.apply()
            assert done.returncode == OK and worker.tree() == before, done.stderr
    assert "adopted" in done.stderr


@pytest.mark.parametrize("told", [True, False])
def test_another_name_is_right_if_the_metadata_service_gives_it(told, worker, tmp_path):
    """On a machine of its own: in an image metadata is not asked."""
    set_up_by_kops(worker)
    text = issue_again(worker, "kubelet-server", f"/CN={INSTANCE}", "serverAuth", f"DNS:{INSTANCE},IP:{ADDRESS},DNS:host.example.com,IP:203.0.113.9")
    (worker.root / "srv/kubernetes/kubelet-server.crt").write_text(text)
    (worker.root / "proc").mkdir()
    (worker.root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n')
    shutil.copy(PROGRAM, worker.root / "opt/nodeup")
    second = "network/interfaces/macs/02:00:00:00:00:02/"
    more = {second + "public-hostname": "host.example.com", second + "public-ipv4s": "203.0.113.8\n203.0.113.9"} if told else {}
    imds = Imds(tmp_path, **{"instance-id": INSTANCE, "placement/region": REGION, "placement/availability-zone": REGION + "a", "instance-type": "m5.large",
                             "local-hostname": "x", "local-ipv4": ADDRESS, "mac": "06:11:22:33:44:55", **more})
    try:
        with ready(worker):
            shutil.copy(worker.folder / "documents/kube_env.yaml", worker.root / "opt")
            done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', worker.root, "/opt/nodeup",
                                   "plan", "--conf=/opt/kube_env.yaml"], env=worker.environ(AWS_EC2_METADATA_SERVICE_ENDPOINT=imds.url),
                                  capture_output=True, text=True, timeout=60, check=False)
    finally:
        imds.close()
    assert ("this node is adopted as it is" in done.stderr) == told and ("which is not this one's" in done.stderr) != told, done.stderr


def test_what_lies_there_is_kept_though_new_ones_would_be_given(worker):
    set_up_by_kops(worker)
    before, asked = worker.tree(), len(worker.requests())
    with worker.controller():
        planned, done = worker.run("plan"), worker.apply()
    assert planned.returncode == OK and done.returncode == OK and worker.tree() == before, planned.stderr + done.stderr
    assert worker.requests()[asked:] == ["200 ", "200 "]


def test_a_node_of_another_ca_is_not_adopted(worker):
    set_up_by_kops(worker)
    for half in ("key", "crt"):
        shutil.copy(worker.folder / f"tls.{half}", worker.root / f"srv/kubernetes/kubelet-server.{half}")
    with ready(worker):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", worker.folder / "ca.key", "-out", worker.folder / "ca.crt", "-days", "9",
                "-subj", "/CN=kubernetes-ca")
        worker.serve_as("DNS:localhost,IP:127.0.0.1")
    with ready(worker):
        done = worker.apply()
    assert done.returncode == NET and "not signed by the CA" in done.stderr, done.stderr


def test_what_was_given_is_kept_though_the_run_fails(worker):
    """kubelet may have made the node Ready before that, and then nothing more is given."""
    data = ASSETS["kubelet"]
    asset = worker.cache / "sha256" / hashlib.sha256(data).hexdigest()
    asset.unlink()
    with worker.controller():
        failed = worker.apply("--deadline=3s")
    assert failed.returncode not in (OK, CONFIG), failed.stderr
    asset.write_bytes(data)
    with ready(worker):
        done = worker.apply()
    assert done.returncode == OK and "documents kept" in done.stderr and "adopted" not in done.stderr, done.stderr


@pytest.mark.parametrize("lie", ["not-json", 400, "another configuration", "no credentials"])
def test_what_the_controller_says_does_not_undo_a_node(lie, worker):
    """The user data tell what it is, and what is kept is just that."""
    with worker.controller():
        assert worker.apply().returncode == OK
    before = worker.tree()
    (worker.root / "srv/kubernetes/ca.crt").unlink()
    worker.control["faults"] = [lie] * 50 if lie in ("not-json", 400) else []
    with worker.controller():
        if lie == "another configuration":
            (worker.folder / "nodeupconfig.yaml").write_text(yaml.safe_dump({**worker.config, "UpdatePolicy": "external"}))
        done = worker.apply(**({"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None} if lie == "no credentials" else {}))
    assert done.returncode == OK and "documents kept" in done.stderr, done.stderr
    assert worker.tree() == before


def test_an_answer_of_another_ca_does_not_undo_a_node(worker):
    with worker.controller():
        assert worker.apply().returncode == OK
    before = worker.tree()
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", worker.folder / "liar.key", "-out", worker.folder / "liar.crt", "-days", "9",
            "-subj", "/CN=kubernetes-ca")
    worker.serve_as("DNS:localhost,IP:127.0.0.1", ca="liar")
    with worker.controller():
        planned = worker.run("plan")
    assert planned.returncode == OK and "documents kept" in planned.stderr and worker.tree() == before, planned.stderr
    assert worker.requests()[2:] == []


def test_a_clock_that_is_off_costs_one_request(worker):
    """STS wants its own time, and the answer says which that is."""
    worker.control["clock"] = 3600
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK and "this one is 60 min 0 s behind the server's" in done.stderr, done.stderr
    assert worker.requests() == ["403 a proof of another hour", "200 ", "200 kube-proxy kubelet kubelet-server"]
