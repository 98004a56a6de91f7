"""Volumes of EBS against an emulator of AWS that checks signatures, tokens and policies."""

import json
import re
import shutil
import subprocess
import sys
import urllib.request

import pytest

from emulator import REGION, TREE, ensure_tree, free_port, listen
from emulator import SERVER
from test_master_volumes import Node, loops  # noqa: F401
from world import ENV, REFUSED, ROOT

SET_UP = """
import boto3, json, sys
given = json.load(sys.stdin)
def client(name):
    return boto3.client(name, endpoint_url=given["endpoint"], region_name="us-west-2",
                        aws_access_key_id="setup", aws_secret_access_key="setup")
ec2, iam, sts = client("ec2"), client("iam"), client("sts")
def tags(kind, tags):
    return [{"ResourceType": kind, "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
instance = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1,
                             Placement={"AvailabilityZone": "us-west-2a"})["Instances"][0]
out = {"instance": instance["InstanceId"], "roles": {}}
for _ in range(5):
    out["volume"] = ec2.create_volume(AvailabilityZone="us-west-2a", Size=1)["VolumeId"]
ec2.attach_volume(VolumeId=out["volume"], InstanceId=out["instance"], Device="/dev/xvdf")
actions = {"asks": ["DescribeVolumes"], "nodes": ["DescribeInstances"]}
for role, allowed in actions.items():
    arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName=role, PolicyName="ec2", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["ec2:" + a for a in allowed], "Resource": "*"}]}))
    out["roles"][role] = sts.assume_role(RoleArn=arn, RoleSessionName=instance["InstanceId"])["Credentials"]
print(json.dumps(out, default=lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ")))
"""
class Emulator:
    """moto with one instance that has a volume."""

    def __init__(self, folder):
        ensure_tree()
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = listen(["chroot", TREE, "python3", "-c", SERVER, port], port, folder / "moto.log",
                              {**ENV, "INITIAL_NO_AUTH_ACTION_COUNT": "100000"})
        made = self.python(SET_UP, {})
        self.instance, self.roles, self.volume = made["instance"], made["roles"], made["volume"]
        urllib.request.urlopen(urllib.request.Request(
            self.url + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}), timeout=60)

    def python(self, script, given):
        done = subprocess.run(["chroot", TREE, "python3", "-c", script], input=json.dumps({"endpoint": self.url, **given}),
                              text=True, capture_output=True, timeout=180)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def close(self):
        self.process.kill()
        self.process.wait(10)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    e = Emulator(tmp_path_factory.mktemp("moto-ec2"))
    yield e
    e.close()


class Instance:
    """What Node wants of a cloud: the emulator, and the metadata of an instance with a role."""

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
def make_node(make_world, tmp_path, emulator):
    made = []

    def make(role, **changes):
        made.append(Instance(tmp_path, emulator, role, **changes))
        node = Node(make_world("x", "nodes"), made[-1], "volumeMounts:\n- {volumeID: %s, path: /data}\n" % emulator.volume)
        facts = node.root / "facts.yaml"
        facts.write_text(facts.read_text().replace("i-0123456789abcdef0", emulator.instance))
        return node
    yield make
    for instance in made:
        instance.close()


@pytest.mark.parametrize("wrong", ["SecretAccessKey", "SessionToken", "AccessKeyId"])
def test_the_emulator_checks(wrong, make_node, emulator):
    """First of all: what is wrong is refused.  Then what is right means something."""
    result = make_node("asks", **{wrong: "A" * len(emulator.roles["asks"][wrong])}).plan()
    assert re.search(r"warning volume /data: .* is not known: DescribeVolumes: EC2 40", result.err), result


def test_a_role_that_may_not(make_node):
    result = make_node("nodes").plan()
    assert "is not known: DescribeVolumes: EC2 403 AccessDenied: the role may not do this" in result.err, result


def test_what_is_attached_is_judged(make_node, emulator, loops):  # noqa: F811
    node = make_node("asks")
    node.add_disk(emulator.volume, loops(b"somebody's", 4096))
    result = node.refused(REFUSED)
    assert "REFUSED volume /data: disk nvme1n1" in result.err, result


def test_xen(make_node, loops):  # noqa: F811
    """The emulator names the device."""
    node = make_node("asks")
    shutil.rmtree(node.root / "sys/block/nvme0n1")
    node.add_xen_disk("xvdf", loops(b"somebody's", 4096))
    assert "REFUSED volume /data: disk xvdf" in node.refused(REFUSED).err
