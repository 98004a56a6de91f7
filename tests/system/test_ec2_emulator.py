"""A master's volumes against an emulator of AWS that checks signatures, tokens and policies."""

import json
import subprocess
import sys
import urllib.request

import pytest

from emulator import REGION, TREE, ensure_tree, free_port, listen
from emulator import SERVER
from test_master_volumes import CLUSTER, LEGACY, Master, loops  # noqa: F401
from world import ENV, PENDING, REFUSED, ROOT

SET_UP = """
import boto3, json, sys
given = json.load(sys.stdin)
def client(name):
    return boto3.client(name, endpoint_url=given["endpoint"], region_name="us-west-2",
                        aws_access_key_id="setup", aws_secret_access_key="setup")
ec2, iam, sts = client("ec2"), client("iam"), client("sts")
def tags(kind, tags):
    return [{"ResourceType": kind, "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
instance = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, Placement={"AvailabilityZone": "us-west-2a"},
                             TagSpecifications=tags("instance", {"KubernetesCluster": given["cluster"]}))["Instances"][0]
out = {"instance": instance["InstanceId"], "ip": instance["PrivateIpAddress"], "roles": {}, "volumes": {}}
for name, zone in (("main", "us-west-2a"), ("events", "us-west-2a"), ("elsewhere", "us-west-2b")):
    wanted = {**given["tags"], "k8s.io/etcd/" + ("main" if name == "elsewhere" else name): "b/a,b" if zone[-1] == "b" else "a/a,b"}
    out["volumes"][name] = ec2.create_volume(AvailabilityZone=zone, Size=1, TagSpecifications=tags("volume", wanted))["VolumeId"]
for _ in range(4):
    ec2.create_volume(AvailabilityZone="us-west-2a", Size=1, TagSpecifications=tags("volume", {"Name": "of somebody else"}))
actions = {"masters": ["Describe*", "AttachVolume", "DetachVolume"], "nodes": ["DescribeInstances"]}
for role, allowed in actions.items():
    arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName=role, PolicyName="ec2", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["ec2:" + a for a in allowed], "Resource": "*"}]}))
    out["roles"][role] = sts.assume_role(RoleArn=arn, RoleSessionName=instance["InstanceId"])["Credentials"]
print(json.dumps(out, default=lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ")))
"""
LOOK = """
import boto3, json, sys
given = json.load(sys.stdin)
ec2 = boto3.client("ec2", endpoint_url=given["endpoint"], region_name="us-west-2", aws_access_key_id=given["AccessKeyId"],
                   aws_secret_access_key=given["SecretAccessKey"], aws_session_token=given["SessionToken"])
print(json.dumps({v["VolumeId"]: [a["InstanceId"] for a in v["Attachments"]] for v in ec2.describe_volumes()["Volumes"]}))
"""


class Emulator:
    """moto with one instance and its cluster's volumes."""

    def __init__(self, folder):
        ensure_tree()
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = listen(["chroot", TREE, "python3", "-c", SERVER, port], port, folder / "moto.log",
                              {**ENV, "INITIAL_NO_AUTH_ACTION_COUNT": "100000"})
        made = self.python(SET_UP, {"cluster": CLUSTER, "tags": LEGACY})
        self.instance, self.roles, self.volumes = made["instance"], made["roles"], made["volumes"]
        urllib.request.urlopen(urllib.request.Request(
            self.url + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}), timeout=60)

    def python(self, script, given):
        done = subprocess.run(["chroot", TREE, "python3", "-c", script], input=json.dumps({"endpoint": self.url, **given}),
                              text=True, capture_output=True, timeout=180)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def attachments(self):
        return self.python(LOOK, {k: self.roles["masters"][k] for k in ("AccessKeyId", "SecretAccessKey", "SessionToken")})

    def close(self):
        self.process.kill()
        self.process.wait(10)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    e = Emulator(tmp_path_factory.mktemp("moto-ec2"))
    yield e
    e.close()


class Instance:
    """What Master wants of a cloud: the emulator, and the metadata of an instance with a role."""

    def __init__(self, folder, emulator, role, **changes):
        credentials = {**emulator.roles[role], **changes}
        (folder / "imds.json").write_text(json.dumps({
            "http-tokens": "optional", "instance-id": emulator.instance, "placement/region": REGION,
            "local-hostname": "ip-10-0-0-7.us-west-2.compute.internal", "placement/availability-zone": REGION + "a",
            f"iam/security-credentials/{role}": json.dumps({
                "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": credentials["AccessKeyId"],
                "SecretAccessKey": credentials["SecretAccessKey"], "Token": credentials["SessionToken"],
                "Expiration": credentials["Expiration"]})}))
        port = free_port()
        self.url, self.imds = emulator.url, f"http://127.0.0.1:{port}"
        self.process = listen([sys.executable, ROOT / "tests/fake/imds.py", "127.0.0.1", port, folder / "imds.json"], port,
                              folder / "imds.log")

    def settle(self):
        pass

    def close(self):
        self.process.kill()
        self.process.wait(10)


@pytest.fixture
def make_node(master, tmp_path, emulator):
    made = []

    def make(role, **changes):
        made.append(Instance(tmp_path, emulator, role, **changes))
        node = Master(master, made[-1])
        facts = node.root / "facts.yaml"
        facts.write_text(facts.read_text().replace("i-0123456789abcdef0", emulator.instance))
        return node
    yield make
    for instance in made:
        instance.close()


@pytest.mark.parametrize("wrong", ["SecretAccessKey", "SessionToken", "AccessKeyId"])
def test_the_emulator_checks(wrong, make_node, emulator):
    """First of all: what is wrong is refused.  Then what is right means something."""
    result = make_node("masters", **{wrong: "A" * len(emulator.roles["masters"][wrong])}).plan()
    assert "attach etcd main: not known: instance " in result.out and "DescribeInstances: EC2 40" in result.out, result
    assert "available in" not in result.out


def test_plan(make_node, emulator):
    result = make_node("masters").plan()
    assert result.code == PENDING, result
    for name, device in (("main", "/dev/xvdu"), ("events", "/dev/xvdv")):
        assert (f"attach etcd {name}: {emulator.volumes[name]} (a/a,b), available in us-west-2a: attach it as {device}"
                in result.out), result
    assert emulator.volumes["elsewhere"] not in result.out


def test_a_role_that_may_not(make_node):
    result = make_node("nodes").plan()
    assert "not known: DescribeVolumes: EC2 403 AccessDenied: the role may not do this" in result.out, result


def test_attached_and_given_back(make_node, emulator, loops):  # noqa: F811
    """One disk holds foreign data: both were attached to be looked at, and neither is after that."""
    node = make_node("masters")
    node.add_disk(emulator.volumes["main"], loops())
    node.add_disk(emulator.volumes["events"], loops(b"somebody's", 4096))
    result = node.refused(REFUSED)
    for name in ("main", "events"):
        assert f"volume {emulator.volumes[name]} is being attached as /dev/xvd" in result.err, result
        assert f"  detached  {emulator.volumes[name]}, which this run had attached" in result.err, result
    found = emulator.attachments()
    assert not any(found[v] for v in emulator.volumes.values()), found
