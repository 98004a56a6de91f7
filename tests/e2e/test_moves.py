"""What docker and kubelet have on the root volume is moved to the disk they get, and from then on they
never start without it: not after a reboot, and not when the disk is empty after stop and start."""
import os

import pytest

import disknode
from disknode import findmnt, nodeup
from lab import Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
DOCUMENTS = """volumeMounts:
- device: /dev/xvdb
  path: /mnt/disks
  persist: false
  binds:
  - {source: docker, target: /var/lib/docker}
  - {source: kubelet, target: /var/lib/kubelet}
"""
KEPT = "/var/lib/docker/volumes/kept/_data/file"


@pytest.fixture(scope="module")
def loops():
    with disknode.Loops() as made:
        made.add(1024)
        yield made


@pytest.fixture(scope="module")
def node(loops):
    with Lab() as lab:
        node = disknode.boot(lab, "moves", loops.devices, {"/mnt/disks": 0}, DOCUMENTS, docker_dir=False)
        node.wait_active("docker.service", 300)
        node.sh("docker volume create kept && echo precious >%s && ln -s file %s.link && "
                "mkdir -p /var/lib/kubelet/old && echo kubelet >/var/lib/kubelet/old/file" % (KEPT, KEPT))
        yield node


def in_place(node):
    for target in ("/var/lib/docker", "/var/lib/kubelet"):
        found = findmnt(node, target)
        assert found and found["fstype"] == "ext4", (target, found)
        source = node.sh("findmnt -n -o FSROOT --mountpoint " + target).strip()
        assert source == "/" + os.path.basename(target)
    assert node.show("docker.service", "ActiveState")["ActiveState"] == "active"
    assert node.show("kubelet.service", "ActiveState")["ActiveState"] == "active"


def entered(node, unit):
    return int(node.show(unit, "ActiveEnterTimestampMonotonic")["ActiveEnterTimestampMonotonic"])


def docker_runs(node):
    return node.show("docker.service", "ActiveState", "MainPID")


def test_nothing_is_moved_under_a_writer(node):
    """What outlives the services that are stopped keeps their files open: it is named, and waited for.
    Then they are started again where their content still is, and not stopped in vain once more."""
    node.sh("systemd-run --unit=writer sh -c 'exec sleep infinity 9>>/var/lib/kubelet/old/file'")
    node.wait_active("writer.service", 60)
    pid = node.show("writer.service", "MainPID")["MainPID"]
    before = docker_runs(node)
    done = nodeup(node, "--deadline=20s")
    assert done.returncode == 75, done
    assert "sleep (pid %s) has '/var/lib/kubelet/old/file' open" % pid in done.stderr, done.stderr
    assert not findmnt(node, "/var/lib/kubelet")
    assert node.sh("ls -A /mnt/disks/kubelet 2>/dev/null; cat /var/lib/kubelet/old/file", check=False) == "kubelet\n"
    node.wait_active("docker.service", 60)
    now = docker_runs(node)
    assert now != before, "docker was to be stopped for it"
    done = nodeup(node, "--deadline=20s")
    assert done.returncode == 75, done
    assert "sleep (pid %s) has '/var/lib/kubelet/old/file' open" % pid in done.stderr, done.stderr
    assert docker_runs(node) == now
    node.sh("systemctl stop writer.service")


def test_a_refused_move_leaves_a_node_that_works(node):
    """Known before anything is stopped; and until it is mended docker starts at each boot as well."""
    node.sh("mkdir /mnt/disks/kubelet && echo theirs >/mnt/disks/kubelet/theirs")
    for attempt in range(2):
        before = docker_runs(node)
        assert before["ActiveState"] == "active"
        done = nodeup(node)
        assert done.returncode == 73, done
        assert "both /var/lib/kubelet and /mnt/disks/kubelet have content: neither was touched" in done.stderr
        assert docker_runs(node) == before
        if attempt:
            break
        node.reboot()
        node.wait_active("docker.service", 300)
        assert findmnt(node, "/mnt/disks") and not findmnt(node, "/var/lib/kubelet")
    assert node.sh("cat /mnt/disks/kubelet/theirs /var/lib/kubelet/old/file") == "theirs\nkubelet\n"
    node.sh("rm -r /mnt/disks/kubelet")


def test_content_is_moved_and_docker_goes_on_with_it(node):
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)
    assert node.sh("cat %s %s.link /var/lib/kubelet/old/file" % (KEPT, KEPT)) == "precious\nprecious\nkubelet\n"
    assert "kept" in node.sh("docker volume ls -q").split()
    assert node.sh("test -e /var/lib/kubelet/kubeconfig && echo yes") == "yes\n"
    assert entered(node, "var-lib-docker.mount") < entered(node, "docker.service")


def test_a_second_run_stops_nothing(node):
    pids = {unit: node.show(unit, "MainPID", "NRestarts") for unit in ("docker.service", "kubelet.service")}
    planned, again = nodeup(node, "plan"), nodeup(node)
    assert planned.returncode == 0, planned
    assert again.returncode == 0, again
    assert {unit: node.show(unit, "MainPID", "NRestarts") for unit in pids} == pids


def test_a_reboot_mounts_before_docker(node):
    node.reboot()
    node.wait_active("docker.service", 300)
    assert entered(node, "var-lib-docker.mount") < entered(node, "docker.service")
    assert node.sh("cat " + KEPT) == "precious\n"
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)


def test_docker_does_not_start_on_the_bare_directory(node, loops):
    """Stop and start: the same machine, an empty disk, and at first nobody who makes it anew. Then it
    begins empty: what the first boot had before it was moved is not current any more."""
    node.sh("echo changed >" + KEPT)
    node.exec("systemctl", "poweroff", "--no-block")
    node.machine.wait(120)
    loops.fresh(loops.devices[0])
    node.start_machine()
    node.wait_booted(300)
    node.exec("systemctl", "start", "docker.service")
    # not even tried: docker would fail on this directory by itself, having no overlay on an overlay
    assert node.show("docker.service", "ExecMainStartTimestampMonotonic") == {"ExecMainStartTimestampMonotonic": "0"}
    assert not findmnt(node, "/var/lib/docker")
    done = nodeup(node)
    assert done.returncode == 0, done
    assert "begins empty" in done.stderr, done.stderr
    in_place(node)
    assert entered(node, "var-lib-docker.mount") < entered(node, "docker.service")
    assert node.sh("ls %s /var/lib/kubelet/old 2>/dev/null" % KEPT, check=False) == ""
    assert node.sh("docker volume ls -q") == ""
    again = nodeup(node, "plan")
    assert again.returncode == 0, again


def test_what_was_written_to_the_bare_directory_is_not_hidden(node):
    node.sh("systemctl stop kubelet.service var-lib-kubelet.mount && echo late >/var/lib/kubelet/late")
    done = nodeup(node)
    assert done.returncode == 73, done
    assert "/var/lib/kubelet was written to since it was moved to /mnt/disks/kubelet" in done.stderr
    assert not findmnt(node, "/var/lib/kubelet")
    node.sh("rm /var/lib/kubelet/late")
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)


@pytest.mark.long
def test_an_image_of_it_boots_as_another_instance(node, loops):
    """Baked with the units, marks and records of the first: the disk is fresh, and its UUID another."""
    old = findmnt(node, "/mnt/disks")["uuid"]
    new = disknode.volume_uuid("i-0baked", "/mnt/disks")
    node.exec("systemctl", "poweroff", "--no-block")
    node.machine.wait(120)
    loops.fresh(loops.devices[0])
    node.become("i-0baked")
    node.nspawn = [a for a in node.nspawn if not a.endswith(old)]
    node.nspawn.append("--bind=%s:/dev/disk/by-uuid/%s" % (loops.devices[0], new))
    node.start_machine()
    node.wait_booted(300)
    assert node.show("docker.service", "ExecMainStartTimestampMonotonic") == {"ExecMainStartTimestampMonotonic": "0"}
    done = nodeup(node)
    assert done.returncode == 0, done
    in_place(node)
    assert findmnt(node, "/mnt/disks")["uuid"] == new
    # what the image has on its root volume, below the first one's disk
    assert node.sh("cat " + KEPT) == "precious\n"
    again = nodeup(node, "plan")
    assert again.returncode == 0, again
