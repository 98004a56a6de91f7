"""A master against an emulator of AWS that checks signatures, tokens and policies, with a hand that plugs in what
it says is attached: from nothing to etcd's manifests on mounted volumes, beside two other masters of which
one comes late."""
import json
import os
import subprocess
import sys

import pytest

from lab import REGION, ROOT, Lab, die_with_parent
from masternode import CLUSTER, ENDPOINT, TAGS, Master, Volumes

sys.path.append(os.path.join(ROOT, "tests/system"))
from emulator import SERVER, TREE, ensure_tree  # noqa: E402

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
# who asks for what, before it is looked at whether he may
LOGGED = SERVER.replace("127.0.0.1", ENDPOINT[0]).replace("from moto.server", """
from moto.core.responses import BaseResponse
call = BaseResponse.call_action
def logged(self):
    print("ACTION", self.access_key, self._get_action(), flush=True)
    return call(self)
BaseResponse.call_action = logged
from moto.server""")
CLIENT = """
import boto3, json, sys, time
given = json.loads(sys.stdin.readline())
def client(name, key):
    return boto3.client(name, endpoint_url=given["endpoint"], region_name="us-west-2", aws_access_key_id=key["AccessKeyId"],
                        aws_secret_access_key=key["SecretAccessKey"], aws_session_token=key.get("SessionToken"))
"""
SET_UP = CLIENT + """
key = {"AccessKeyId": "setup", "SecretAccessKey": "setup"}
ec2, iam, sts = (client(n, key) for n in ("ec2", "iam", "sts"))
def tags(kind, tags):
    return [{"ResourceType": kind, "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
out = {"instances": {}, "volumes": {}, "roles": {}}
for member in "abc":
    i = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, Placement={"AvailabilityZone": "us-west-2" + member},
                          TagSpecifications=tags("instance", {"KubernetesCluster": given["tags"]["KubernetesCluster"]}))
    out["instances"][member] = {"id": i["Instances"][0]["InstanceId"], "ip": i["Instances"][0]["PrivateIpAddress"]}
    for etcd in ("main", "events"):
        wanted = {**given["tags"], "k8s.io/etcd/" + etcd: member + "/a,b,c"}
        out["volumes"][etcd + member] = ec2.create_volume(
            AvailabilityZone="us-west-2" + member, Size=1, TagSpecifications=tags("volume", wanted))["VolumeId"]
        if member == "b":
            ec2.attach_volume(VolumeId=out["volumes"][etcd + "b"], InstanceId=out["instances"]["b"]["id"],
                              Device="/dev/xvdu" if etcd == "main" else "/dev/xvdv")
actions = {"masters": ["Describe*", "AttachVolume", "DetachVolume"], "nodes": ["DescribeInstances"],
           "hand": ["DescribeVolumes"], "third": ["AttachVolume"]}
for role, allowed in actions.items():
    arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName=role, PolicyName="ec2", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["ec2:" + a for a in allowed], "Resource": "*"}]}))
    out["roles"][role] = sts.assume_role(RoleArn=arn, RoleSessionName=role + "-session")["Credentials"]
print(json.dumps(out, default=lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ")))
"""
# the hand at the instance: a line for each volume that the emulator says it has
WATCH = CLIENT + """
ec2, seen = client("ec2", given["key"]), set()
while True:
    for v in ec2.describe_volumes()["Volumes"]:
        if v["VolumeId"] not in seen and any(a["InstanceId"] == given["instance"] for a in v["Attachments"]):
            seen.add(v["VolumeId"])
            print(v["VolumeId"], flush=True)
    time.sleep(0.2)
"""
ATTACH = CLIENT + """
for name, volume in zip("uv", given["volumes"]):
    client("ec2", given["key"]).attach_volume(VolumeId=volume, InstanceId=given["instance"], Device="/dev/xvd" + name)
"""


class Emulated(Master):
    def start_cloud(self, volumes):
        ensure_tree()
        self.url = "http://%s:%s" % ENDPOINT
        self.log = self.node.path("log/moto.out")
        self.node.serve("moto", "env", "INITIAL_NO_AUTH_ACTION_COUNT=100000", "chroot", TREE, "python3", "-c", LOGGED, ENDPOINT[1])
        self.node.wait(lambda: self.node.exec("curl", "-s", self.url + "/moto-api/").returncode == 0, 120, "the emulator")
        made = self.python(SET_UP, tags=TAGS)
        self.instances, self.volumes, self.roles = (made[k] for k in ("instances", "volumes", "roles"))
        self.me = self.instances["a"]["id"]
        # all calls until now were free: from here on each is checked
        self.node.exec("curl", "-sfd", "0", "-H", "Content-Type: text/plain", self.url + "/moto-api/reset-auth", check=True)
        for etcd in ("main", "events"):
            self.disks.add(self.volumes[etcd + "a"])

    def run_python(self, script):
        return subprocess.Popen(
            ["ip", "netns", "exec", self.node.netns, "chroot", TREE, "python3", "-c", script], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)

    def python(self, script, **given):
        child = self.run_python(script)
        out, _ = child.communicate(json.dumps({"endpoint": self.url, **given}) + "\n", timeout=180)
        assert child.returncode == 0, script
        return json.loads(out or "null")

    def attach(self):
        self.watcher = self.run_python(WATCH)
        self.watcher.stdin.write(json.dumps({"endpoint": self.url, "key": self.roles["hand"], "instance": self.me}) + "\n")
        self.watcher.stdin.flush()
        for volume in map(str.strip, self.watcher.stdout):
            # the emulator's instances have a root volume, too
            if volume in self.disks.devices:
                self.listed.append(volume)
                self.plug(volume, "nvme%dn1" % len(self.listed))

    def close(self):
        self.watcher.kill()
        self.watcher.wait(60)
        super().close()

    def become(self, role, **changes):
        key = {**self.roles[role], **changes}
        self.node.become(self.me, {
            "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": key["AccessKeyId"], "SecretAccessKey": key["SecretAccessKey"],
            "Token": key["SessionToken"], "Expiration": key["Expiration"]})

    def actions(self, role="masters"):
        with open(self.log) as f:
            return [line.split()[2] for line in f if line.startswith("ACTION %s " % self.roles[role]["AccessKeyId"])]


@pytest.fixture(scope="module")
def master():
    with Lab() as lab, Volumes() as disks:
        m = Emulated(lab, "emulated-master", disks, {})
        try:
            yield m
        finally:
            m.close()


def test_who_may_not_is_refused(master):
    """First of all: a wrong secret, and the role of nodes."""
    for role, changes, said in (("masters", {"SecretAccessKey": "A" * 40}, "DescribeInstances: EC2 40"),
                                ("nodes", {}, "DescribeVolumes: EC2 403")):
        master.become(role, **changes)
        outs = []

        def refused():
            # a plan waits five seconds for an answer, which may be too few here
            outs.append(master.nodeup("plan").stdout)
            return said in outs[-1]
        master.node.wait(refused, 120, said)
        assert all("attach etcd main: not known: " in out and "available in" not in out for out in outs), outs
        assert not master.listed


def test_from_nothing_to_three_names(master):
    """The third master comes when etcd and kubelet of this one have been started long since."""
    node = master.node
    master.become("masters")
    said = node.path("nodeup.err")
    with open(said, "w") as err:
        run = subprocess.Popen(master.command("apply", "--deadline=500s"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=err, text=True, preexec_fn=die_with_parent)
    try:
        def waits():
            assert run.poll() is None, open(said).read()
            return "all is started; /etc/hosts lacks" in open(said).read()
        node.wait(waits, 300, "all but the third")
        text = open(said).read()
        names = ["%s-c.internal.%s" % (etcd, CLUSTER) for etcd in ("etcd", "etcd-events")]
        assert "WAITING volumes: " in text and ", ".join(names) in text, text
        assert node.exec("systemctl", "is-active", "kubelet.service").stdout.strip() == "active"
        for etcd, name, data in (("main", "etcd", "data"), ("events", "etcd-events", "data-events")):
            volume = master.volumes[etcd + "a"]
            node.exec("mountpoint", "/mnt/master-" + volume, check=True)
            node.exec("test", "-s", "/etc/kubernetes/manifests/%s.manifest" % name, check=True)
            target = node.exec("readlink", "/etc/kubernetes/manifests/%s.manifest" % name).stdout
            assert target.startswith("/mnt/master-%s/" % volume), target
            node.exec("test", "-d", "/mnt/master-%s/var/etcd/%s" % (volume, data), check=True)
        assert master.hosts() == {m: master.instances[m]["ip"] for m in "ab"}
        master.python(ATTACH, key=master.roles["third"], instance=master.instances["c"]["id"],
                      volumes=[master.volumes[etcd + "c"] for etcd in ("main", "events")])
        out, _ = run.communicate(timeout=300)
    finally:
        run.kill()
        run.wait(60)
    assert run.returncode == 0 and out.splitlines()[-1] == "success", out + open(said).read()
    assert master.hosts() == {m: master.instances[m]["ip"] for m in "abc"}
    assert "AttachVolume" in master.actions() and "DetachVolume" not in master.actions()
    assert sorted(master.listed) == sorted(master.volumes[etcd + "a"] for etcd in ("main", "events"))


def test_a_second_run_only_describes(master):
    asked = len(master.actions())
    again = master.nodeup("apply", "--deadline=500s")
    assert again.returncode == 0 and " changed" not in again.stderr.replace(" 0 changed", ""), again.stdout + again.stderr
    assert set(master.actions()[asked:]) == {"DescribeInstances", "DescribeVolumes"}
