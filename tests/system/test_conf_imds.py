"""--conf=imds: the documents come from the user data that the instance itself was given."""
import base64
import gzip
import re

import pytest

from emulator import Imds
from world import CONFIG, NET, OK, PENDING, PROGRAM

MARK = "__EOF_KUBE_ENV"
SECRET = "hunter2hunter2"


@pytest.fixture
def instance(world, tmp_path):
    """Runs a command on an instance that has the world's document as user data."""
    made = []

    def run(command, *flags, data=None, up=True, **where):
        world.write_documents()
        script = f"#!/bin/bash\n# {SECRET}\ncat > kube_env.yaml << '{MARK}'\n{world.env_text()}{MARK}\n"
        folder = tmp_path / f"imds-{len(made)}"
        folder.mkdir()
        data = script.encode() if data is None else data
        made.append(Imds(folder, **{"http-tokens": "required"}, **({"user-data-base64": base64.b64encode(data).decode()} if data else {})))
        if not up:
            made[-1].close()
        done = world.run(command, *flags, conf="imds", env={"AWS_EC2_METADATA_SERVICE_ENDPOINT": made[-1].url}, **where)
        assert SECRET not in done.out + done.err
        return done
    run.made = made
    yield run
    for imds in made:
        imds.close()


def test_every_command_takes_it(world, instance):
    same = world.run("validate", "--offline").out.replace(str(world.conf), "imds")
    assert (instance("validate").out, instance("plan").code) == (same, PENDING)
    assert instance("bake").code == OK
    done = instance("apply")
    assert done.code == OK, done
    # it is what a run without a name takes from then on
    record = world.root / "var/lib/nodeup/conf"
    assert record.read_text() == "imds\n"
    planned, again = instance("plan"), instance("apply")
    assert again.code == OK and "damaged" not in planned.err + again.err, again
    assert record.read_text() == "imds\n" and not list(record.parent.glob("conf.nodeup-old*"))
    assert instance("plan").code == OK and world.plan().code == OK
    assert instance("check").code == world.run("check").code and instance("why", "kubelet.service").code == OK
    env = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": instance.made[-1].url}
    done = world.run_argv([PROGRAM, "diff", world.conf, "imds", f"--facts={world.facts_file}", f"--root={world.root}"], env)
    assert done.code == OK and done.out.startswith("No changes."), done
    url = "--nodeup-url=" + "0" * 64 + "@https://dl.example/nodeup"
    done = world.run_argv([PROGRAM, "userdata", "--conf=imds", url], env)
    assert done.code == OK and world.env_text() in done.out, done
    asked = instance.made[0].log.read_text()
    assert asked.count("GET /latest/user-data") == 1 and "without-token" not in asked


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n"
                                  b"Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n" + base64.b64encode(data) + b"\n--B--\n"],
                         ids=["gzip", "MIME"])
def test_in_another_form(pack, world, instance):
    script = f"#!/bin/bash\ncat > kube_env.yaml << '{MARK}'\n{world.env_text()}{MARK}\n".encode()
    assert instance("validate", data=pack(script)).code == OK


def test_the_unit_of_later_boots_asks_for_it(world, instance):
    """Not for a file of that name, wherever the command was given."""
    done = instance("apply", "--install-systemd-unit")
    assert done.code == OK, done
    text = (world.root / "etc/systemd/system/kops-configuration.service").read_text()
    assert re.search(r"^ExecStart=.* --conf=imds( |$)", text, re.M), text


def test_what_is_wrong_is_told_and_no_line_is_shown(world, instance):
    world.more = f"Tagz: [{SECRET}]\n"
    done = instance("validate", "--strict")
    assert done.code == CONFIG and re.search(r"^imds:\d+:1: error: unknown key 'Tagz'", done.err, re.M) and " | " not in done.err, done
    twice = base64.b64encode(world.env_text().encode() * 2)
    done = instance("plan", data=twice)
    assert done.code == CONFIG and "imds: this is base64 once more: it was encoded twice" in done.failure, done
    done = instance("plan", data=b"")
    assert done.code == CONFIG and done.failure == "FAILED configuration: this instance has no user data (78)", done


def test_no_answer_is_a_failure_of_the_network(instance):
    done = instance("plan", up=False)
    assert done.code == NET and "configuration: instance metadata: ask for a token: PUT 'http://127.0.0.1:" in done.failure, done
    done = instance("plan", "--offline")
    assert done.code == CONFIG and "imds: not read, we are offline" in done.failure, done
