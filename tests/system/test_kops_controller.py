"""The stand-in of kops-controller refuses what the real one would; the client here is the test's own."""

import base64
import hashlib
import hmac
import http.client
import json
import ssl
import subprocess
import sys
import time

import pytest

from world import ROOT, every

REGION, ID, SECRET, TOKEN = "us-test-1", "ASIAFAKE", "fakesecret", "faketoken"
QUESTION, FORM = b"Action=GetCallerIdentity&Version=2011-06-15", "application/x-www-form-urlencoded; charset=utf-8"


def openssl(*argv, data=None):
    return subprocess.run(["openssl", *argv], check=True, capture_output=True, input=data, text=True).stdout


@pytest.fixture
def controller(tmp_path):
    for name, serial in (("ca", "698"), ("tls", "1")):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.crt",
                "-set_serial", serial, "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
    (tmp_path / "nodeupconfig.yaml").write_text("ClusterName: minimal.example.com\n")
    control = {"region": REGION, "keys": {ID: [SECRET, TOKEN]}, "node": "i-0", "hosts": ["i-0", "172.20.32.11"], "secrets": {"dockerconfig": "e30="}}

    def say(**changes):
        (tmp_path / "control.json").write_text(json.dumps({**control, **changes}))
    say()
    process = subprocess.Popen([sys.executable, ROOT / "tests/fake/kops_controller.py", "127.0.0.1", "0", tmp_path], stdout=subprocess.PIPE, text=True)
    port = int(process.stdout.readline())

    def ask(body, header, path="/bootstrap"):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=tmp_path / "tls.crt"))
        connection.request("POST", path, body, {"Authorization": header})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    ask.folder, ask.say = tmp_path, say
    yield ask
    process.terminate()
    process.wait()


def proof(body, *, host=None, at=0, key=ID, secret=SECRET, token=TOKEN, length=len(QUESTION), change=lambda headers: headers):
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + at))
    sha = base64.b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
    signed = {"content-length": str(length), "content-type": FORM, "host": host or f"sts.{REGION}.amazonaws.com", "x-amz-date": stamp,
              "x-amz-security-token": token, "x-kops-request-sha": sha}
    names, scope = ";".join(sorted(signed)), f"{stamp[:8]}/{REGION}/sts/aws4_request"
    canonical = "\n".join(["POST", "/", "", *(f"{k}:{signed[k]}" for k in sorted(signed)), "", names, hashlib.sha256(QUESTION).hexdigest()])
    mac = ("AWS4" + secret).encode()
    for part in (*scope.split("/"), "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])):
        mac = hmac.new(mac, part.encode(), hashlib.sha256).digest()
    headers = {"Authorization": [f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={mac.hex()}"], "Content-Type": [FORM],
               "X-Amz-Date": [stamp], "X-Amz-Security-Token": [token], "X-Kops-Request-Sha": [sha]}
    return "x-aws-sts " + base64.b64encode(json.dumps(change(headers), separators=(",", ":")).encode()).decode()


def request(certs=None, ids=None, config=True):
    return json.dumps({"apiVersion": "bootstrap.kops.k8s.io/v1alpha1", "certs": certs, "keypairIDs": ids, "includeNodeConfig": config},
                      separators=(",", ":")).encode()


def new_key():
    public = openssl("pkey", "-pubout", data=openssl("genrsa", "2048"))
    return public.replace("PUBLIC KEY", "RSA PUBLIC KEY")


def test_configuration_and_certificates(controller):
    body = request()
    status, text = controller(body, proof(body))
    assert status == 200 and json.loads(text) == {"nodeConfig": {
        "nodeupConfig": "ClusterName: minimal.example.com\n", "nodeSecrets": {"dockerconfig": "e30="}}}, text
    keys = {name: new_key() for name in ("kube-proxy", "kubelet", "kubelet-server")}
    body = request(keys, {"kubernetes-ca": "698"}, False)
    status, text = controller(body, proof(body))
    assert status == 200, text
    for name, certificate in json.loads(text)["Certs"].items():
        path = controller.folder / "issued.crt"
        path.write_text(certificate)
        openssl("verify", "-CAfile", controller.folder / "ca.crt", "-purpose", "sslserver" if name.endswith("server") else "sslclient", path)
        assert openssl("x509", "-in", path, "-noout", "-pubkey") == keys[name].replace("RSA PUBLIC", "PUBLIC")
        # as the real one's: a node whose clock is behind gets one that holds
        begins = openssl("x509", "-in", path, "-noout", "-startdate").strip().partition("=")[2]
        assert 48 * 3600 <= time.time() - ssl.cert_time_to_seconds(begins) < 49 * 3600, begins
    assert (controller.folder / "requests.log").read_text() == "200 \n200 kube-proxy kubelet kubelet-server\n"


@pytest.mark.parametrize("changes", every(2, [
    {"host": "sts.amazonaws.com"}, {"at": -3600}, {"key": "ASIAOTHER"}, {"secret": "x"}, {"token": "x"}, {"length": 44},
    {"change": lambda h: dict(reversed(h.items()))}, {"change": lambda h: {**h, "Host": ["x"]}},
    {"change": lambda h: {**h, "Authorization": [h["Authorization"][0].replace(", ", ",")]}},
    {"change": lambda h: {n: v for n, v in h.items() if n != "X-Amz-Security-Token"}}]),
    ids=["host", "hour", "key", "secret", "token", "length", "order", "more", "separator", "no-token"])
def test_a_proof_that_is_none(controller, changes):
    body = request()
    assert controller(body, proof(body, **changes)) == (403, "failed to verify token")


def test_a_proof_of_another_request(controller):
    assert controller(request(), proof(b"{}")) == (403, "failed to verify token")
    assert controller(request(), "") == (403, "failed to verify token")


def test_what_is_not_asked_as_a_node_asks(controller):
    pkcs1 = openssl("rsa", "-RSAPublicKey_out", data=openssl("genrsa", "2048"))
    for body in (b"{}", request().replace(b":", b": "), request({"kubelet": new_key()}, {"kubernetes-ca": "699"}),
                 request({"kubelet": new_key()}), request({"kubelet": pkcs1}, {"kubernetes-ca": "698"}),
                 request({"apiserver": new_key()}, {"kubernetes-ca": "698"})):
        status, text = controller(body, proof(body))
        assert status == 400 and text, (body, status)
    body = request()
    assert controller(body, proof(body), "/")[0] == 404


def test_faults_are_taken_in_turn(controller):
    controller.say(faults=[409, 503, "not-json"])
    body = request()
    assert [controller(body, proof(body))[0] for _ in range(2)] == [409, 503]
    assert controller(body, proof(body)) == (200, "<html>")
    assert controller(body, proof(body))[0] == 200
