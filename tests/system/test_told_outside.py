"""Services that hear of a failed run, as the setting `signals` says: strict emulators of Auto Scaling, CloudFormation and EC2, and our own unit
by its control group. What is told of a success is seen in tests/e2e/test_kops_boot.py."""
import json
import re
import sys
import time
import urllib.request

import pytest

from emulator import Imds, free_port, listen
from world import CONFIG, ROOT

INSTANCE = "i-0123456789abcdef0"
KEY = ("AKIA1", "canary-secret", "canary-token")
ALL = ["lifecycleHook=nodes.a:up", "instanceHealth", "stackSignal=s:r", "tag=node-state"]
SERVICES = {
    "autoscaling": ("AUTO_SCALING", {"groups": {"nodes.a": {"hooks": {"up": [INSTANCE]}}}, "health": {INSTANCE: "Healthy"}}),
    "cloudformation": ("CLOUDFORMATION", {"stacks": {"s": {"state": "CREATE_IN_PROGRESS", "resources": {"r": {}}}}}),
    "ec2": ("EC2", {"tags": {INSTANCE: {}}}),
}
TOLD = {"CompleteLifecycleAction": "LifecycleActionResult", "SetInstanceHealth": "HealthStatus", "SignalResource": "Status", "CreateTags": "Tag.1.Value"}
EVERYWHERE, TAG = ["ABANDON", "Unhealthy", "FAILURE", "failed"], ["failed"]


def settle(world, signals):
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "signals.yaml").write_text(json.dumps({"signals": signals}))


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """Their URLs."""
    folder, children, urls = tmp_path_factory.mktemp("services"), [], {}
    for name, (_, state) in SERVICES.items():
        port, given = free_port(), folder / f"{name}.json"
        given.write_text(json.dumps({"region": "us-west-2", "keys": {KEY[0]: KEY[1:]}, **state}))
        children.append(listen([sys.executable, ROOT / f"tests/fake/{name}.py", "127.0.0.1", port, given], port, folder / f"{name}.log", keep_stdin=True))
        urls[name] = f"http://127.0.0.1:{port}"
    yield urls
    for child in children:
        child.stdin.close()
        child.wait(10)


class Node:
    """A machine whose runs fail at once, by our own unit unless it says otherwise."""

    def __init__(self, world, told, services, folder):
        self.world, self.told, self.urls = world, told, services
        self.seen = {}
        for name, (variable, state) in SERVICES.items():
            self.ask(name, "put", json.dumps(state).encode())
            self.seen[name] = len(self.ask(name, "log"))
            told.env[f"AWS_ENDPOINT_URL_{variable}"] = services[name]
        told.env.update(zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), KEY), AWS_REGION="us-west-2")
        self.record, self.identity = (world.root / "var/lib/nodeup" / name for name in ("signals", "identity"))
        self.boot_id, self.cgroup = folder / "boot_id", folder / "cgroup"
        self.cgroup.write_text("0::/system.slice/kops-configuration.service\n")
        self.boot("1")
        told.argv[6] = told.argv[6].replace(" && exec", f' && mount --bind {self.cgroup} "$0/proc/$$/cgroup" && '
                                            f'mount --bind {self.boot_id} "$0/proc/sys/kernel/random/boot_id" && exec')
        world.more = "Assets: none\n"
        settle(world, ALL)

    def boot(self, number):
        self.boot_id.write_text(f"00000000-0000-0000-0000-00000000000{number}\n")

    def ask(self, name, what, body=None):
        with urllib.request.urlopen(f"{self.urls[name]}/__{what}", data=body, timeout=60) as answer:
            return json.load(answer)

    def fail(self, *flags):
        """What the run told, in the order of the table, and its lines about that."""
        run = self.told(*flags)
        assert run.end() == CONFIG, run.text()
        assert "canary" not in run.text()
        new = {name: self.ask(name, "log")[self.seen[name]:] for name in SERVICES}
        self.seen = {name: self.seen[name] + len(actions) for name, actions in new.items()}
        forms = {form["Action"]: form for actions in new.values() for form in actions}
        assert len(forms) == sum(map(len, new.values()))
        return [forms[a][key] for a, key in TOLD.items() if a in forms], re.findall(r"signal (\w+: .*)|(signals: .*)", run.text())


@pytest.fixture
def node(world, told, services, tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    imds = Imds(folder, **{"autoscaling/target-lifecycle-state": "InService"})
    told.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = imds.url
    yield Node(world, told, services, folder)
    imds.close()


def test_a_first_boot_that_fails_for_good_is_told_everywhere_once(node):
    told, lines = node.fail()
    assert told == EVERYWHERE, lines
    assert [line for line, _ in lines] == ["lifecycleHook: ABANDON", "instanceHealth: Unhealthy", "stackSignal: FAILURE", "tag: failed"]
    assert node.ask("autoscaling", "get") == {**node.ask("autoscaling", "get"), "groups": {"nodes.a": {"hooks": {"up": []}}}, "health": {INSTANCE: "Unhealthy"}}
    assert node.ask("cloudformation", "get")["stacks"]["s"]["resources"] == {"r": {INSTANCE: "FAILURE"}}
    assert node.ask("ec2", "get")["tags"] == {INSTANCE: {"node-state": "failed"}}
    assert node.record.read_text() == f"{INSTANCE} {node.boot_id.read_text().strip()} failed\n"
    assert node.fail()[0] == TAG
    node.boot("2")
    assert node.fail()[0] == TAG


def by_hand(node):
    node.cgroup.write_text("0::/user.slice/session-1.scope\n")


def by_repair(node):
    by_hand(node)
    node.told.argv[node.told.argv.index("apply")] = "repair"


def after_a_reboot(node):
    node.identity.parent.mkdir(exist_ok=True)
    node.identity.write_text(INSTANCE)


def after_another_program(node):
    (node.world.root / "var/log/containers").mkdir(parents=True)


def after_it_was_ready(node):
    node.record.parent.mkdir(exist_ok=True)
    node.record.write_text(f"{INSTANCE} {node.boot_id.read_text().strip()} ready\n")


@pytest.mark.parametrize("never", [by_hand, by_repair, after_a_reboot, after_another_program, after_it_was_ready])
def test_nothing_asks_for_the_end_of_an_instance(never, node):
    never(node)
    told, lines = node.fail()
    assert told == TAG, lines


def test_nothing_is_told_that_no_setting_names(node):
    settle(node.world, ["tag=other"])
    assert node.fail()[0] == TAG and node.ask("ec2", "get")["tags"] == {INSTANCE: {"other": "failed"}}
    node.record.unlink()
    (node.world.root / "etc/nodeup/nodeup.d/signals.yaml").unlink()
    assert node.fail() == ([], []) and not node.record.exists()
    settle(node.world, ALL)
    assert node.fail("--offline") == ([], [])


def test_what_is_refused_or_silent_is_a_line(node):
    """A hook and a stack that are done, a role that may not, and a service that never answers; fail() sees the run's own exit status."""
    node.ask("autoscaling", "put", b'{"groups": {"nodes.a": {"hooks": {}}}}')
    node.ask("cloudformation", "put", b'{"stacks": {"s": {"state": "ROLLBACK_COMPLETE", "resources": {"r": {}}}}}')
    node.ask("autoscaling", "fault?action=SetInstanceHealth&code=AccessDenied&status=403")
    node.ask("ec2", "fault?action=CreateTags&code=Unavailable&hang=1")
    begun = time.monotonic()
    told, lines = node.fail()
    assert told == EVERYWHERE and 2 <= time.monotonic() - begun < 10
    lines = [line for line, _ in lines]
    assert lines[0] == "lifecycleHook: nothing waits for it" and lines[2] == "stackSignal: nothing waits for it" and len(lines) == 4, lines
    assert lines[1].startswith("instanceHealth: Unhealthy is not told: ") and lines[1].endswith("; it takes autoscaling:SetInstanceHealth"), lines
    assert lines[3].startswith("tag: failed is not told: ") and "timed out" in lines[3], lines


@pytest.mark.parametrize("signal", ["instanceHealth=yes", "lifecycleHook=:up"])
def test_a_signal_that_is_none(signal, world):
    settle(world, [ALL[3], signal])
    result = world.run("validate")
    assert result.code == CONFIG, result
    assert "signals.yaml:1:32: error: signals[1]: wanted one of lifecycleHook=GROUP:HOOK, instanceHealth, stackSignal=STACK:RESOURCE, tag=KEY" in result.err, result
