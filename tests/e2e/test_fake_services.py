"""The metadata service and S3 of the lab refuse what the real ones refuse."""
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time

import pytest

import labhost

sys.path.insert(0, os.path.join(labhost.ROOT, "tests/system"))
from emulator import free_port  # noqa: E402

FAKE = os.path.join(labhost.ROOT, "tests/fake")
BUCKET = "jdurbin-kops.s3.us-west-2.amazonaws.com"


def start(*command):
    port = free_port()
    child = subprocess.Popen([sys.executable, os.path.join(FAKE, command[0]), "127.0.0.1", str(port),
                              *command[1:]])
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return child, port
        time.sleep(0.02)
    raise AssertionError("%s does not listen" % command[0])


@pytest.fixture(scope="module")
def imds(tmp_path_factory):
    facts = tmp_path_factory.mktemp("imds") / "facts.json"
    facts.write_text(json.dumps({"local-hostname": "ip-1", "placement/region": "us-west-2"}))
    child, port = start("imds.py", str(facts))

    def ask(method, path, **headers):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        reply = c.getresponse()
        return reply.status, reply.read().decode()
    yield ask
    child.kill()
    child.wait()


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", "key", "-out", "crt", "-days", "2", "-subj", "/CN=s3"],
                   cwd=folder, check=True, capture_output=True)
    child, port = start("s3.py", os.path.join(labhost.ROOT, "tests/data/seed-cluster/state"),
                        str(folder / "crt"), str(folder / "key"), "us-west-2")
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.load_verify_locations(folder / "crt")

    def ask(path, host=BUCKET, method="GET", **headers):
        c = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trust)
        c.request(method, path, headers={"Host": host, **headers})
        reply = c.getresponse()
        return reply.status, reply.read().decode(), dict(reply.getheaders())
    yield ask
    child.kill()
    child.wait()


TTL = {"X_aws_ec2_metadata_token_ttl_seconds": "60"}


def test_imds_gives_nothing_without_a_token(imds):
    assert imds("GET", "/latest/meta-data/local-hostname")[0] == 401
    assert imds("GET", "/latest/meta-data/local-hostname", X_aws_ec2_metadata_token="x")[0] == 401
    assert imds("GET", "/latest/api/token")[0] == 401


def test_imds_token_needs_its_header(imds):
    assert imds("PUT", "/latest/api/token")[0] == 400
    assert imds("PUT", "/latest/api/token", X_aws_ec2_metadata_token_ttl_seconds="0")[0] == 400
    assert imds("PUT", "/latest/api/token", X_Forwarded_For="1.2.3.4", **TTL)[0] == 403
    assert imds("PUT", "/latest/meta-data", **TTL)[0] == 405


def test_imds_answers_with_a_token(imds):
    status, token = imds("PUT", "/latest/api/token", **TTL)
    assert status == 200
    get = lambda path: imds("GET", path, X_aws_ec2_metadata_token=token)
    assert get("/latest//meta-data/local-hostname") == (200, "ip-1")
    assert get("/latest/meta-data/") == (200, "local-hostname\nplacement/")
    assert get("/latest/meta-data/placement") == (200, "region")
    assert get("/latest/meta-data/nothing")[0] == 404


def test_imds_token_ends(imds):
    _, token = imds("PUT", "/latest/api/token", X_aws_ec2_metadata_token_ttl_seconds="1")
    end = time.monotonic() + 5
    while imds("GET", "/latest/meta-data/", X_aws_ec2_metadata_token=token)[0] != 401:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("path, host", [
    ("/abc.joshdurbin.net/secrets/system%3Adns", BUCKET),
    ("/jdurbin-kops/abc.joshdurbin.net/secrets/system:dns", "s3.us-west-2.amazonaws.com"),
    ("/jdurbin-kops/abc.joshdurbin.net/secrets/system:dns", "s3.amazonaws.com:443"),
])
def test_s3_object(s3, path, host):
    status, body, headers = s3(path, host)
    assert status == 200 and json.loads(body)["Data"]
    assert headers["x-amz-request-id"] and headers["ETag"]


@pytest.mark.parametrize("status, code, arguments", [
    (404, "NoSuchKey", {"path": "/abc.joshdurbin.net/nope"}),
    (404, "NoSuchKey", {"path": "/abc.joshdurbin.net/../../x"}),
    (404, "NoSuchBucket", {"path": "/", "host": "no-such.s3.us-west-2.amazonaws.com"}),
    (403, "AccessDenied", {"path": "/", "host": "s3.us-west-2.amazonaws.com"}),
    (301, "PermanentRedirect", {"path": "/x", "host": "jdurbin-kops.s3.eu-west-1.amazonaws.com"}),
    (405, "MethodNotAllowed", {"path": "/x", "method": "DELETE"}),
    (400, "InvalidRequest", {"path": "/x", "host": "example.com"}),
    (400, "InvalidArgument", {"path": "/?list-type=3"}),
    (400, "AuthorizationHeaderMalformed", {"path": "/x", "Authorization": "Basic eDp5"}),
    (403, "InvalidAccessKeyId", {"path": "/x", "Authorization":
                                 "AWS4-HMAC-SHA256 Credential=AKIA0/20180101/us-west-2/s3/aws4_request, "
                                 "SignedHeaders=host, Signature=" + 64 * "0"}),
    (416, "InvalidRange", {"path": "/abc.joshdurbin.net/config", "Range": "bytes=99999-"}),
])
def test_s3_refuses(s3, status, code, arguments):
    got, body, headers = s3(**arguments)
    assert got == status and "<Code>%s</Code>" % code in body and "x-amz-request-id" in headers
    if code == "PermanentRedirect":
        assert headers["x-amz-bucket-region"] == "us-west-2" and "s3.us-west-2.amazonaws.com" in body


@pytest.mark.parametrize("version", ["", "list-type=2&"])
def test_s3_lists_page_by_page(s3, version):
    keys, token = [], ""
    for _ in range(20):
        query = "/?%sprefix=abc.joshdurbin.net/&delimiter=/&max-keys=2%s" % (version, token)
        _, body, _ = s3(query)
        keys += re.findall(r"<(?:Key|Prefix)>([^<]+)</(?:Key|Prefix)>", body.split("MaxKeys")[2])
        more = re.search(r"<(NextMarker|NextContinuationToken)>([^<]+)<", body)
        if not more:
            break
        token = "&%s=%s" % ("continuation-token" if version else "marker", more[2])
    assert keys == ["abc.joshdurbin.net/" + k for k in
                    ("cluster.spec", "config", "instancegroup/", "pki/", "secrets/")]
