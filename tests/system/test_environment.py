"""The environment in which the boot unit runs, and what a run by hand takes of it: what its shell has set goes first."""
import json

from world import PENDING

ENDPOINT, DEAD = "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:9"
TAKEN = "as the boot unit has it: "


def plan(world, told, record, **env):
    """Of a machine whose unit was installed with this environment."""
    path = world.root / "var/lib/nodeup/boot.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": "1", "flags": [f"--conf={world.conf}"], **record}))
    world.write_documents()
    return world.run_argv(["plan" if word == "apply" else word for word in told.argv], env=env)


def taken(result):
    return [line.partition(TAKEN)[2] for line in result.err.splitlines() if TAKEN in line]


def test_what_is_on_record_is_used_and_told(world, told):
    record = {"environment": {ENDPOINT: told.env[ENDPOINT], "GOSSIP_DNS_CONN_LIMIT": "16"}, "proxyEnvironment": {"no_proxy": "127.0.0.1"}}
    result = plan(world, told, record)
    assert result.code == PENDING and taken(result) == [ENDPOINT + ", GOSSIP_DNS_CONN_LIMIT, no_proxy"], result
    # a shell that has all of it takes nothing
    result = plan(world, told, record, **told.env, NO_PROXY="", GOSSIP_DNS_CONN_LIMIT="16")
    assert result.code == PENDING and not taken(result), result


def test_what_the_shell_has_goes_first(world, told):
    record = {"environment": {ENDPOINT: DEAD, "S3_ENDPOINT": DEAD, "S3_REGION": "eu-1"}, "proxyEnvironment": {"https_proxy": DEAD, "http_proxy": DEAD}}
    result = plan(world, told, record, **told.env, AWS_ENDPOINT_URL=world.origin.refused(), ALL_PROXY="")
    assert result.code == PENDING and not taken(result), result


def test_a_variable_is_told_without_its_value(world, told):
    secret = {"environment": {"S3_SECRET_ACCESS_KEY": "hush-hush"}, "proxyEnvironment": {"all_proxy": "http://u:hush-hush@127.0.0.1:9", "no_proxy": "*"}}
    result = plan(world, told, secret, **told.env)
    assert taken(result) == ["S3_SECRET_ACCESS_KEY, all_proxy, no_proxy"] and "hush-hush" not in result.err + result.out, result
