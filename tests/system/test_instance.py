"""Documents by the role of an instance whose metadata service, or S3, or clock is not what it should be."""

import datetime
import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

import pytest

from test_s3 import BUCKET, Node
from world import CONFIG, NET, PENDING, ROOT, SEED

REGION, ROLE = "us-west-2", "nodes.example"
KEY = {"AccessKeyId": "ASIAEXAMPLE0", "SecretAccessKey": "canary-secret", "SessionToken": "canary-token"}
TOKEN, CREDENTIALS = "/latest/api/token", f"/latest/meta-data/iam/security-credentials/{ROLE}"


class Cloud:
    """tests/fake/cloud.py with the seed's state store, which only the role's key opens."""

    def __init__(self, folder):
        shutil.copytree(SEED.parent, folder / BUCKET)
        self.process = subprocess.Popen([sys.executable, ROOT / "tests/fake/cloud.py", folder, REGION],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url, self.imds = (f"http://127.0.0.1:{port}" for port in self.process.stdout.readline().split())
        self.user, self.roles = KEY, {ROLE: KEY}
        self.set_key()
        # kubelet of these documents asks without a token
        self.tell(self.imds, "tokens", http="optional")
        self.tell(self.url, "key", id=KEY["AccessKeyId"], secret=KEY["SecretAccessKey"], token=KEY["SessionToken"])

    @staticmethod
    def tell(base, what, **arguments):
        with urllib.request.urlopen(f"{base}/__{what}?{urllib.parse.urlencode(arguments)}", timeout=60) as answer:
            return answer.read().decode()

    def set_key(self, hours=6):
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
        text = json.dumps({"Code": "Success", "AccessKeyId": KEY["AccessKeyId"], "Token": KEY["SessionToken"],
                           "SecretAccessKey": KEY["SecretAccessKey"],
                           "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")})
        self.tell(self.imds, "set", path=f"iam/security-credentials/{ROLE}", value=text)

    def fault(self, base, path, **fault):
        self.tell(base, "fault", path=path, **fault)

    def count(self, base, path):
        return int(self.tell(base, "count", path=path))

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


@pytest.fixture
def cloud(tmp_path):
    c = Cloud(tmp_path / "cloud")
    yield c
    c.close()


@pytest.fixture
def node(world, cloud):
    return Node(world, cloud)


def plan(node, cloud, **env):
    return node.plan(**{"AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.imds, **env})


def must_plan(node, cloud, **env):
    result = plan(node, cloud, **env)
    assert result.code == PENDING, result
    return result


def must_fail(node, cloud, *patterns, **env):
    result = plan(node, cloud, **env)
    assert result.code == NET, result
    told = f"{result.failure}\n{result.notes}"
    for pattern in patterns:
        assert re.search(pattern, told), f"want /{pattern}/ in\n{result}"
    return result


def test_the_key_is_asked_for(node, cloud):
    """First: S3 answers nobody without it."""
    cloud.tell(cloud.imds, "set", path=f"iam/security-credentials/{ROLE}")
    must_fail(node, cloud, "S3 403 AccessDenied", "the instance has no role")
    cloud.set_key()
    must_plan(node, cloud)
    assert cloud.count(cloud.imds, TOKEN) and cloud.count(cloud.imds, CREDENTIALS)


# The metadata service

def test_it_comes_late(node, cloud):
    cloud.fault(cloud.imds, TOKEN, status=500, times=2)
    must_plan(node, cloud)
    assert cloud.count(cloud.imds, TOKEN) >= 3


def test_it_does_not_come(node, cloud):
    must_fail(node, cloud, "S3 403 AccessDenied",
              r"which role there is cannot be asked: .*127\.0\.0\.1:9/latest/api/token",
              AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:9")


def test_the_hop_limit_is_too_low(node, cloud):
    """The answer to the first request never comes."""
    cloud.fault(cloud.imds, TOKEN, hang=1, times=1000)
    must_fail(node, cloud, "which role there is cannot be asked: instance metadata: ask for a token: .*imed out")
    assert cloud.count(cloud.imds, CREDENTIALS) == 0


def test_a_token_is_over(node, cloud):
    cloud.fault(cloud.imds, CREDENTIALS, status=401, times=1)
    must_plan(node, cloud)
    assert cloud.count(cloud.imds, TOKEN) >= 2


def test_the_key_comes_late(node, cloud):
    cloud.fault(cloud.imds, CREDENTIALS, status=404, times=2)
    must_plan(node, cloud)
    assert cloud.count(cloud.imds, CREDENTIALS) >= 3


def test_the_key_does_not_come(node, cloud):
    cloud.fault(cloud.imds, CREDENTIALS, status=404, times=1000)
    must_fail(node, cloud, f"role {ROLE} has no credentials: not there yet", r"tried\s+\d+ times")
    assert cloud.count(cloud.url, f"/{BUCKET}/abc.joshdurbin.net/cluster.spec") == 0


def test_a_proxy_is_not_for_it(node, cloud):
    """Of a host that is gone; S3 is not asked through it either."""
    must_plan(node, cloud, http_proxy="http://127.0.0.1:9", no_proxy=cloud.url.split("//")[1].split(":")[0])
    assert cloud.count(cloud.imds, TOKEN) >= 1


# S3, and the clock

def test_slow_down(node, cloud):
    spec = f"/{BUCKET}/abc.joshdurbin.net/cluster.spec"
    cloud.fault(cloud.url, spec, status=503, code="SlowDown", times=2)
    must_plan(node, cloud)
    assert cloud.count(cloud.url, spec) >= 3
    cloud.fault(cloud.url, spec, status=503, code="SlowDown", times=1000)
    must_fail(node, cloud, rf"s3:/{spec}: S3 503 SlowDown: As asked, request REQ1", r"tried\s+\d+ times")


@pytest.mark.parametrize("seconds", [-7200, 7200])
def test_the_clock_is_wrong(node, cloud, seconds):
    """As S3 sees it: a request is signed with a time that it believes."""
    cloud.tell(cloud.url, "clock", off=seconds)
    must_plan(node, cloud)


def test_the_clock_is_wrong_and_the_key_is_not_taken(node, cloud):
    """What the clock has to do with it is said."""
    cloud.tell(cloud.url, "clock", off=7200)
    cloud.tell(cloud.url, "key", id=KEY["AccessKeyId"], secret="another", token=KEY["SessionToken"])
    must_fail(node, cloud, "S3 403 SignatureDoesNotMatch", r"clock\s+7\d\d\d s off S3's; signed with S3's time")


def test_an_instance_that_wants_tokens(cloud, node):
    """kubelet of these documents has none, and would die when all the rest is done."""
    cloud.tell(cloud.imds, "tokens", http="required")
    node.be_debian()
    result = plan(node, cloud, facts=())
    assert result.code == CONFIG, result
    assert "this instance's metadata service wants tokens, kubelet before 1.18 sends none" in f"{result.failure}\n{result.notes}", result
    assert "aws ec2 modify-instance-metadata-options --instance-id" in f"{result.failure}\n{result.notes}", result


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 404}, {"hang": 1}])
def test_no_answer_without_a_token_is_no_reason_to_refuse(cloud, node, fault):
    cloud.tell(cloud.imds, "tokens", http="required")
    cloud.fault(cloud.imds, "/latest/meta-data/instance-id", times=1000, **fault)
    node.be_debian()
    assert plan(node, cloud, facts=()).code == PENDING
    assert cloud.count(cloud.imds, "/latest/meta-data/instance-id") > 0
