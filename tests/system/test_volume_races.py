"""Masters that boot together and want three volumes of main and three of events: each gets one of both, of the
same member, nobody another's, none waits for what another holds, and what a loser has asked for is not lost.
The clients are the program's own, EC2 is tests/fake/ec2.py, where attaching is atomic; and a proxy before it
that loses answers."""

import subprocess

import pytest

from ec2_proxy import Proxy
from test_master_volumes import CLUSTER, KEY, ZONE, cloud, volume  # noqa: F401
from world import ENV, build

BOTH = ["main", "events"]
# the members of the two clusters are listed in different orders
VOLUMES = {f"vol-0{'ae'[etcd == 'events']}{i}": (etcd, member) for etcd, members in (("main", "abc"), ("events", "cab"))
           for i, member in enumerate(members)}


def race(url, key, rounds, volumes, etcd, *masters):
    """volumes: {id: (etcd cluster, member)}; etcd: the clusters of which each master wants one."""
    env = {**ENV, "AWS_ENDPOINT_URL_EC2": url, "AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": key[0],
           "AWS_SECRET_ACCESS_KEY": key[1], "AWS_SESSION_TOKEN": key[2]}
    done = subprocess.run([build("race_probe"), CLUSTER, str(rounds), ",".join(etcd), *masters], env=env, capture_output=True,
                          text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    taken = [{} for _ in range(rounds)]
    for line in done.stdout.splitlines():
        number, instance, *got = line.split(" ")
        assert set(got) <= set(volumes) and instance not in taken[int(number)], done.stdout
        assert [volumes[v][0] for v in got] == etcd, line
        # no two hold what belongs together
        assert len({volumes[v][1] for v in got}) == 1, done.stdout
        taken[int(number)][instance] = got
    for each in taken:
        assert set(each) == set(masters) and len({v for got in each.values() for v in got}) == len(etcd) * len(masters), each


def settle(cloud, masters):  # noqa: F811
    cloud.ask("/__put", {
        "instances": {m: {"zone": ZONE, "ip": "10.0.0.7", "tags": {"KubernetesCluster": CLUSTER}} for m in masters},
        "volumes": {v: volume(etcd, member + "/a,b,c") for v, (etcd, member) in VOLUMES.items()}})


def check_end(cloud):  # noqa: F811
    """All there, none attached."""
    volumes = cloud.ask("/__get")["volumes"]
    assert set(volumes) == set(VOLUMES) and not any(v.get("instance") for v in volumes.values())


@pytest.mark.parametrize("n,etcd,rounds", [(2, ["main"], 200), (2, BOTH, 60), (3, BOTH, 20)])
def test_races(n, etcd, rounds, cloud):  # noqa: F811
    # masters whose first choice is the same volume
    masters = [f"i-{number}" for number in range(0, 3 * n, 3)]
    settle(cloud, masters)
    race(cloud.url, tuple(KEY.values()), rounds, VOLUMES, etcd, *masters)
    check_end(cloud)
    asked = [f for f in cloud.ask("/__log") if f["Action"] == "AttachVolume"]
    # there were races: more was asked for than was had
    assert len(asked) > len(etcd) * n * rounds


def test_races_with_lost_answers(cloud):  # noqa: F811
    """Some attach though the answer is lost: the volume is its master's all the same, and there is no second."""
    proxy = Proxy(cloud.url)
    try:
        masters = ["i-0", "i-3"]
        settle(cloud, masters)
        for _ in range(20):
            proxy.fault("AttachVolume", done=True)
            proxy.fault("AttachVolume", code="InternalError", status=500, done=True)
        race(proxy.url, tuple(KEY.values()), 20, VOLUMES, BOTH, *masters)
        check_end(cloud)
    finally:
        proxy.close()
