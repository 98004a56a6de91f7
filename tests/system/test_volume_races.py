"""Masters that boot together and want three volumes: each gets one, nobody another's, and what a loser has
asked for is not lost.  The clients are the program's own, EC2 is tests/fake/ec2.py, where attaching is atomic;
and the emulator behind a proxy that makes it so."""

import subprocess

import pytest

from ec2_proxy import Proxy
from test_master_volumes import CLUSTER, KEY, ZONE, cloud, volume  # noqa: F401
from world import ENV, build

ROUNDS = 200
VOLUMES = ("vol-0a1", "vol-0a2", "vol-0a3")


def race(url, key, rounds, *masters):
    """By round: {instance: volume}."""
    env = {**ENV, "AWS_ENDPOINT_URL_EC2": url, "AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": key[0],
           "AWS_SECRET_ACCESS_KEY": key[1], "AWS_SESSION_TOKEN": key[2]}
    done = subprocess.run([build("race_probe"), CLUSTER, str(rounds), *masters], env=env, capture_output=True,
                          text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    taken = [{} for _ in range(rounds)]
    for line in done.stdout.splitlines():
        number, instance, got = line.split(" ", 2)
        assert got.startswith("vol-") and " " not in got, done.stdout
        assert instance not in taken[int(number)], done.stdout
        taken[int(number)][instance] = got
    for each in taken:
        assert set(each) == set(masters) and len(set(each.values())) == len(masters), each
    return taken


def settle(cloud, masters):  # noqa: F811
    cloud.ask("/__put", {
        "instances": {m: {"zone": ZONE, "ip": "10.0.0.7", "tags": {"KubernetesCluster": CLUSTER}} for m in masters},
        "volumes": {v: volume("main", "%s/a,b,c" % "abc"[i]) for i, v in enumerate(VOLUMES)}})


def check_end(cloud):  # noqa: F811
    """All there, none attached."""
    volumes = cloud.ask("/__get")["volumes"]
    assert set(volumes) == set(VOLUMES) and not any(v.get("instance") for v in volumes.values())


@pytest.mark.parametrize("n", [2, 3])
def test_races(n, cloud):  # noqa: F811
    # three whose first choice is the same volume
    masters = [f"i-{number}" for number in range(0, 3 * n, 3)]
    settle(cloud, masters)
    race(cloud.url, tuple(KEY.values()), ROUNDS if n == 2 else 50, *masters)
    check_end(cloud)
    asked = [f for f in cloud.ask("/__log") if f["Action"] == "AttachVolume"]
    # there were races: more was asked for than was had
    assert len(asked) > n * (ROUNDS if n == 2 else 50)


def test_races_with_lost_answers(cloud):  # noqa: F811
    """Some attach though the answer is lost: the volume is its master's all the same, and there is no second."""
    proxy = Proxy(cloud.url)
    try:
        masters = ["i-0", "i-3"]
        settle(cloud, masters)
        for _ in range(20):
            proxy.fault("AttachVolume", done=True)
            proxy.fault("AttachVolume", code="InternalError", status=500, done=True)
        race(proxy.url, tuple(KEY.values()), 40, *masters)
        check_end(cloud)
    finally:
        proxy.close()
