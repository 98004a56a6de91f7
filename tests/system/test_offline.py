"""--offline asks no server of documents or assets. The instance's own metadata service is none of them: --no-metadata is about that."""
import socket

import pytest

from test_given_away import Live
from world import CONFIG, OK, PENDING

UNASKED = "hostnameOverride '@aws': fact localHostname: not known, and the metadata service is not asked (--no-metadata)"
GIVEN = "give it in the file of --facts, where a command takes one: localHostname: VALUE"


@pytest.fixture
def live(told, world):
    """Documents that all lie here, and name the instance as it is called in its VPC."""
    node = Live(told, world)
    world.edit_store("cluster.spec", lambda t: t.replace("hostnameOverride: node", "hostnameOverride: '@aws'"))
    return node


def test_the_image_of_the_manual(live, world):
    """Baked, and set up with nothing but the metadata service."""
    assert live.run("bake").code == OK and live.run("bake", "--offline").code == OK
    asked = world.requests()
    done = live.run("apply", "--offline")
    live.must_be_right(done)
    assert world.requests() == asked and world.facts["localHostname"] in (world.root / "etc/sysconfig/kubelet").read_text(), done
    # there is no systemd
    failed = [line for line in done.lines if line.startswith("failed ")]
    assert failed and all(line.startswith(("failed unit ", "failed reload ")) for line in failed), done


def test_a_fact_that_nobody_is_asked_for(live):
    live.run("bake")
    for command, flags in (("apply", ["--offline"]), ("plan", ["--offline"]), ("plan", [])):
        done = live.run(command, "--no-metadata", *flags)
        assert done.code == CONFIG and UNASKED in done.failure and (GIVEN in done.notes) == (command == "plan"), done


@pytest.mark.parametrize("command", ["bake", "bake --offline", "plan --facts", "plan --offline --facts"])
def test_what_is_of_no_instance_asks_for_none(command, live, world):
    """What is baked is the same on each, and facts that are given may be another one's."""
    live.run("bake")
    del world.facts["localHostname"]
    world.write_documents()
    verb, *flags = command.split()
    with socket.create_server(("127.0.0.1", 0)) as imds:
        imds.settimeout(0.1)
        live.told.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = f"http://127.0.0.1:{imds.getsockname()[1]}"
        done = live.run(verb, *(f"{flag}={world.facts_file}" if flag == "--facts" else flag for flag in flags))
        assert done.code == OK if verb == "bake" else done.code == CONFIG and GIVEN in done.notes, done
        with pytest.raises(TimeoutError):
            imds.accept()


def test_facts_that_this_boot_has_kept_serve(live, world):
    live.run("apply")
    done = live.run("plan", "--offline", "--no-metadata")
    assert done.code == PENDING, done
    # of another boot they may be another instance's
    kept = world.root / "run/nodeup/instance"
    kept.write_text("another boot\n" + kept.read_text().split("\n", 1)[1])
    done = live.run("plan", "--offline", "--no-metadata")
    assert done.code == CONFIG and UNASKED in done.failure, done


def test_an_image_has_no_metadata_service(world):
    del world.facts["localHostname"]
    done = world.plan()
    assert done.code == CONFIG and "the fact localHostname is not known" in done.failure and GIVEN in done.notes, done
