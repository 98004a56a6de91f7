"""Each error of EC2, once and for good, through the program as it is shipped: an emulator that checks
signatures and policies, a proxy before it that injects what the real one says on a bad day.

The volume's disk holds somebody's data.  So a run that gets over the error ends with that refusal."""

import re

import pytest

from ec2_proxy import Proxy
from test_ec2_emulator import emulator, make_node  # noqa: F401
from test_master_volumes import loops, until  # noqa: F401
from world import CONFIG, NET, REFUSED


@pytest.fixture
def proxy(emulator):  # noqa: F811
    p = Proxy(emulator.url)
    yield p
    p.close()


@pytest.fixture
def node(make_node, emulator, proxy, loops):  # noqa: F811
    n = make_node("asks")
    n.cloud.url = proxy.url
    n.add_disk(emulator.volume, loops(b"somebody's", 4096))
    return n


# how it is answered, what is said while it is waited for
PASSING = {
    "throttled": ({"code": "RequestLimitExceeded", "status": 503, "times": 3}, "EC2 503 RequestLimitExceeded: too many requests of "
                  "this account"),
    "trouble": ({"code": "InternalError", "status": 500}, "EC2 500 InternalError: trouble on its side"),
    "no answer": ({}, ""),
    "rights come late": ({"code": "UnauthorizedOperation", "status": 403, "times": 2}, "EC2 403 UnauthorizedOperation: the role may "
                         "not do this"),
}


@pytest.mark.parametrize("name", PASSING)
def test_errors_that_pass(name, node, proxy):
    how, said = PASSING[name]
    proxy.fault("DescribeVolumes", **how)
    result = node.run("apply", "--deadline=100s")
    assert result.code == REFUSED, result
    assert re.search(r"warning WAITING volumes: for .*: DescribeVolumes: " + re.escape(said), result.err), result


# how it is answered, exit status, the message
STAYING = {
    "blocked": ({"code": "Blocked", "message": "x"}, CONFIG, "EC2 400 Blocked: the account is blocked"),
    "role": ({"code": "UnauthorizedOperation", "status": 403, "message": "no. Encoded authorization failure message: CANARY77"}, NET,
             "EC2 403 UnauthorizedOperation: the role may not do this"),
}


@pytest.mark.parametrize("name", STAYING)
def test_errors_that_stay(name, node, proxy, emulator):  # noqa: F811
    how, code, text = STAYING[name]
    proxy.fault("DescribeVolumes", times=10 ** 6, **how)
    # what only people can mend ends it; all else is asked again until the deadline
    result = until(lambda deadline: node.run("apply", deadline), lambda: code == CONFIG or proxy.count("DescribeVolumes") > 1)
    assert result.code == code and not (node.root / "data").exists(), result
    assert f"error   FAILED DescribeVolumes: {text} ({code})" in result.err, result
    assert "  request   REQ7\n" in result.err and "CANARY" not in result.err, result
    if code == NET:
        assert f"  as        assumed-role/asks/{emulator.instance} (valid until" in result.err, result
    assert {form["Action"] for form in proxy.forms} == {"DescribeVolumes"}
