"""Each error of EC2, once and for good, through the program as it is shipped: an emulator that checks
signatures and policies, a proxy before it that injects what the real one says on a bad day.

The disk of the events volume holds somebody's data.  So a run that gets over the error ends with that
refusal, after both volumes were attached, and has detached both again."""

import re

import pytest

from ec2_proxy import Proxy
from test_ec2_emulator import emulator, make_node  # noqa: F401
from test_master_volumes import loops, until  # noqa: F401
from world import BUSY, CONFIG, NET, REFUSED, SYSTEM

TAKEN = "Invalid value '/dev/xvdu' for unixDevice. Attachment point /dev/xvdu is already in use"
DETACH = """
import boto3, json, sys
given = json.load(sys.stdin)
ec2 = boto3.client("ec2", endpoint_url=given["endpoint"], region_name="us-west-2", aws_access_key_id=given["AccessKeyId"],
                   aws_secret_access_key=given["SecretAccessKey"], aws_session_token=given["SessionToken"])
for v in ec2.describe_volumes()["Volumes"]:
    for a in v["Attachments"]:
        if v["VolumeId"] in given["volumes"]:
            ec2.detach_volume(VolumeId=v["VolumeId"], InstanceId=a["InstanceId"])
print("{}")
"""


@pytest.fixture
def proxy(emulator):  # noqa: F811
    p = Proxy(emulator.url)
    yield p
    p.close()
    if any(p.holder.values()):
        credentials = {k: emulator.roles["masters"][k] for k in ("AccessKeyId", "SecretAccessKey", "SessionToken")}
        emulator.python(DETACH, {**credentials, "volumes": list(emulator.volumes.values())})


@pytest.fixture
def node(make_node, emulator, proxy, loops):  # noqa: F811
    n = make_node("masters")
    n.cloud.url = proxy.url
    n.add_disk(emulator.volumes["main"], loops())
    n.add_disk(emulator.volumes["events"], loops(b"somebody's", 4096))
    return n


# action, how it is answered, what is said while it is waited for
PASSING = {
    "in use": ("AttachVolume", {"code": "VolumeInUse"}, "volume {main} for etcd main: AttachVolume: EC2 400 VolumeInUse: "
               "it is attached already"),
    "not available": ("AttachVolume", {"code": "IncorrectState"}, "volume {main} for etcd main: AttachVolume: EC2 400 "
                      "IncorrectState: it is not in a state for that"),
    "new volume": ("AttachVolume", {"code": "InvalidVolume.NotFound"}, "volume {main} for etcd main: AttachVolume: EC2 400 "
                   "InvalidVolume.NotFound: EC2 does not know it, or not yet"),
    "new instance": ("DescribeInstances", {"code": "InvalidInstanceID.NotFound"}, "DescribeInstances: EC2 400 "
                     "InvalidInstanceID.NotFound: EC2 does not know this instance, or not yet"),
    "throttled": ("AttachVolume", {"code": "RequestLimitExceeded", "status": 503, "times": 3}, "volume {main} for etcd main: "
                  "AttachVolume: EC2 503 RequestLimitExceeded: too many requests of this account"),
    "throttled lists": ("DescribeVolumes", {"code": "RequestLimitExceeded", "status": 503, "times": 2},
                        "DescribeVolumes: EC2 503 RequestLimitExceeded: too many requests of this account"),
    "trouble": ("AttachVolume", {"code": "InternalError", "status": 500, "done": True}, "volume {main} for etcd main: "
                "AttachVolume: EC2 500 InternalError: trouble on its side"),
    "no answer": ("AttachVolume", {"done": True}, "volume {main} for etcd main: AttachVolume: "),
    "rights come late": ("AttachVolume", {"code": "UnauthorizedOperation", "status": 403, "times": 2}, "volume {main} for "
                         "etcd main: AttachVolume: EC2 403 UnauthorizedOperation: the role may not do this"),
}


@pytest.mark.parametrize("name", PASSING)
def test_errors_that_pass(name, node, proxy, emulator):  # noqa: F811
    action, how, said = PASSING[name]
    proxy.fault(action, **how)
    result = node.run("apply", "--deadline=100s")
    assert result.code == REFUSED, result
    assert re.search(r"warning WAITING volumes: for .*: " + re.escape(said.format(**emulator.volumes)), result.err), result
    for volume in ("main", "events"):
        assert f"  detached  {emulator.volumes[volume]}, which this run had attached" in result.err, result
    assert not any(proxy.holder.values())
    # no name leaks: each volume had the first that was free
    assert [f["Device"] for f in proxy.forms if f["Action"] == "AttachVolume"][-1] == "/dev/xvdv"


def test_a_name_in_use(node, proxy, emulator):  # noqa: F811
    """It is nothing to wait for: the next name, and the first one again when there is no other."""
    proxy.fault("AttachVolume", code="InvalidParameterValue", message=TAKEN, times=25)
    result = node.run("apply", "--deadline=100s")
    assert result.code == REFUSED, result
    names = [f["Device"] for f in proxy.forms if f["Action"] == "AttachVolume"]
    assert len(set(names[:24])) == 24 and names[24:27] == ["/dev/xvdu", "/dev/xvdv", "/dev/xvdw"]
    assert f"volume {emulator.volumes['main']}: every device name is taken" in result.err, result
    assert not any(proxy.holder.values())


# action, how it is answered, exit status, the message
STAYING = {
    "wrong zone": ("AttachVolume", {"code": "InvalidVolume.ZoneMismatch", "message": "zones"}, CONFIG,
                   "volume {main} for etcd main: AttachVolume: EC2 400 InvalidVolume.ZoneMismatch: it is in another zone"),
    "full": ("AttachVolume", {"code": "AttachmentLimitExceeded", "message": "too many"}, SYSTEM,
             "volume {main} for etcd main: AttachVolume: EC2 400 AttachmentLimitExceeded: the instance has as many volumes "
             "as its type allows"),
    "role": ("AttachVolume", {"code": "UnauthorizedOperation", "status": 403, "message": "no. Encoded authorization failure "
             "message: CANARY77"}, NET, "volume {main} for etcd main: AttachVolume: EC2 403 UnauthorizedOperation: the role "
             "may not do this"),
    "in use": ("AttachVolume", {"code": "VolumeInUse", "message": "x"}, BUSY, "volume {main} for etcd main: AttachVolume: "
               "EC2 400 VolumeInUse: it is attached already"),
}


@pytest.mark.parametrize("name", STAYING)
def test_errors_that_stay(name, node, proxy, emulator):  # noqa: F811
    action, how, code, message = STAYING[name]
    proxy.fault(action, times=10 ** 6, **how)
    # what only people can mend ends it; all else is asked again until the deadline
    result = until(lambda deadline: node.run("apply", deadline), lambda: code == CONFIG or proxy.count(action) > 1)
    assert result.code == code, result
    text = message.format(**emulator.volumes)
    assert f"error   FAILED {text} ({code})" in result.err, result
    if "Encoded" not in how["message"]:
        assert f"  AWS says  {how['message']}\n" in result.err, result
    assert "  request   REQ7\n" in result.err and "CANARY" not in result.err, result
    if code == NET:
        assert f"  as        assumed-role/masters/{emulator.instance} (valid until" in result.err, result
    if code == CONFIG:
        assert "  untouched no volume was attached, nothing was written" in result.err, result
    assert not any(proxy.holder.values())


def test_the_role_of_nodes(make_node, proxy):
    """It may look at instances and at nothing else, says the emulator itself: nothing is attached or written."""
    node = make_node("nodes")
    node.cloud.url = proxy.url
    result = until(lambda deadline: node.run("apply", deadline), lambda: proxy.count("DescribeVolumes") > 1)
    assert result.code == NET and not (node.root / "mnt").exists(), result
    assert "FAILED DescribeVolumes: EC2 403 AccessDenied: the role may not do this (69)" in result.err, result
    assert {f["Action"] for f in proxy.forms} == {"DescribeInstances", "DescribeVolumes"}


def test_what_only_people_can_mend_after_main(node, proxy, emulator):  # noqa: F811
    """Events cannot be attached: main is not kept."""
    real = proxy.take

    def take(form):
        fault = real(form)
        if form["Action"] == "AttachVolume" and form["VolumeId"] == emulator.volumes["events"]:
            return {"code": "InvalidVolume.ZoneMismatch", "status": 400, "message": "zones", "done": False}
        return fault
    proxy.take = take
    result = node.refused(CONFIG)
    assert f"FAILED volume {emulator.volumes['events']} for etcd events: AttachVolume: EC2 400 InvalidVolume.ZoneMismatch" in result.err
    assert f"  detached  {emulator.volumes['main']}, which this run had attached" in result.err, result
    assert proxy.count("DetachVolume") == 1 and not any(proxy.holder.values())


def test_a_plan_attaches_nothing(node, proxy, emulator):  # noqa: F811
    result = node.plan()
    assert f"attach etcd main: {emulator.volumes['main']} (a/a,b), available in us-west-2a" in result.out, result
    assert {f["Action"] for f in proxy.forms} == {"DescribeInstances", "DescribeVolumes"}
