"""What status.json says of an asset that does not come, while the run is under way."""

import json
import os
import signal
import time

from held import stat, unpackers
from world import CNI, KUBELET, Told, UTILS, until

# it is looked at a few times a second, and working then
UNDER_WAY = ("waiting", "working")
SIGNATURE = "d41d8cd98f00b204e9800998ecf8427e"


def test_what_it_waits_for(world, told, status):
    """Three at once: one that is told to come back later, one that gets no answer, one that is fine. A presigned
    query is a password."""
    begun = int(time.time() * 1000)
    query = f"?X-Amz-Credential=AKIAEXAMPLE&X-Amz-Signature={SIGNATURE}"
    world.secrets.add(SIGNATURE)
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1000000", "code=503", "retry_after=1800") + query]
    world.assets[CNI].urls = [world.url(CNI, f"gate={world.token}") + query]
    run = told()
    kubelet = status.until(KUBELET, lambda a: "nextTryUnixMs" in a and "sinceUnixMs" in a)
    assert kubelet["state"] in UNDER_WAY and kubelet["attempt"] >= 1, kubelet
    assert kubelet["mirror"] == world.assets[KUBELET].urls[0].removesuffix(query), kubelet
    assert "503" in kubelet["lastError"] and "503" in kubelet["waiting"] and "next in" in kubelet["waiting"], kubelet
    assert begun <= kubelet["sinceUnixMs"] <= time.time() * 1000 + 1000, kubelet
    # as the server says, and neither at once nor for ever
    assert 900_000 < kubelet["nextTryUnixMs"] - begun < 3_600_000, kubelet
    cni = status.until(CNI, lambda a: a.get("attempt") and "sinceUnixMs" in a)
    assert cni["state"] in UNDER_WAY and cni["bytes"] == 0 and "lastError" not in cni, cni
    assert world.assets[CNI].urls[0].removesuffix(query) in cni["waiting"], cni
    utils = status.until(UTILS, lambda a: a["state"] == "changed")
    assert "waiting" not in utils and "nextTryUnixMs" not in utils, utils
    # the one is answered, and is no more waited for
    world.origin.control(f"/__open?path={world.token}")
    status.until(CNI, lambda a: "waiting" not in a and a["state"] == "changed")
    assert status.asset(KUBELET)["state"] in UNDER_WAY, status.seen[-2000:]
    assert SIGNATURE not in status.seen and "AKIAEXAMPLE" not in status.seen and "X-Amz" not in status.seen
    run.end(signal.SIGTERM)
    assert SIGNATURE not in status.path.read_text()


def test_an_unpacker_that_stands_still(world, told, status, held):
    """It is said who is waited for; and who goes on is none the worse."""
    run = told()
    assert held.begun.wait(Told.PATIENCE)
    child = until(lambda: unpackers(run.process.pid), run.text)[0]
    os.kill(child, signal.SIGSTOP)
    until(lambda: stat(child)[0] == "T")
    held.go.set()
    status.until(CNI, lambda a: "waiting for its unpacker for" in a.get("waiting", ""))
    os.kill(child, signal.SIGCONT)
    until(lambda: world.installed("bridge").exists(), run.text)
    assert world.installed("bridge").stat().st_size == 2_000_000


def test_the_status_names_the_url_that_was_asked(world, told, status):
    gone = "https://gone.invalid"
    world.assets[KUBELET].urls = [world.url(KUBELET, f"gate={world.token}", base=gone)]
    run = told(f"--rewrite={gone}={world.origin.base}")
    kubelet = status.until(KUBELET, lambda a: a.get("attempt") and "mirror" in a)
    run.end(signal.SIGTERM)
    assert kubelet["mirror"] == world.url(KUBELET, f"gate={world.token}"), kubelet
