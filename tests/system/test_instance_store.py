"""instanceStorePolicy: the whole instance store as one volume, or not, and who is told."""
import pytest
import yaml

from kops import Worker
from test_kubeup_node import NODE, Machine
from world import CONFIG, OK

SETTINGS = "etc/nodeup/nodeup.d/disks.yaml"
UNITS = "/etc/systemd/system/"
POINT = UNITS + "mnt-instance\\x2dstore.mount"
BINDS = {"var-lib-kubelet.mount": "/mnt/instance-store/kubernetes/kubelet", "var-lib-containerd.mount": "/mnt/instance-store/containerd",
         "var-log-pods.mount": "/mnt/instance-store/kubernetes/pods"}
PODS = "there are pods: /var/lib/kubelet/pods has 6f1"


def worker(folder, settings, **facts):
    made = Worker(folder)
    made.facts.update({"filesystems": ["ext4", "overlay", "xfs"], **facts})
    (made.root / SETTINGS).parent.mkdir(parents=True)
    (made.root / SETTINGS).write_text(settings)
    return made


def apply(made):
    with made.controller():
        return made.apply("--deadline=20s")


@pytest.mark.parametrize("disks, filesystem", [(2, None), *(pytest.param(*row, marks=pytest.mark.long) for row in [
    (1, None), (8, None), (1, "xfs"), (2, "xfs"), (8, "xfs")])])
def test_a_setting_of_the_machine_makes_it_one_volume(disks, filesystem, tmp_path):
    settings = {"instanceStorePolicy": "RAID0", **({"instanceStoreFilesystem": filesystem} if filesystem else {})}
    made = worker(tmp_path, yaml.safe_dump(settings), instanceStore=disks)
    done = apply(made)
    assert done.returncode == OK, done.stderr
    unit = made.read(POINT)
    assert "\nWhere=/mnt/instance-store\n" in unit and f"\nType={filesystem or 'ext4'}\n" in unit and "What=/dev/disk/by-uuid/" in unit
    for name, source in BINDS.items():
        assert f"\nWhat={source}\n" in made.read(UNITS + name)
        assert "RequiresMountsFor=/mnt/instance-store\n" in made.read(UNITS + name)
    assert "/var/lib/containerd" in made.read(UNITS + "containerd.service.d/20-nodeup-volumes.conf")
    assert "/var/lib/kubelet" in made.read(UNITS + "kubelet.service.d/20-nodeup-volumes.conf")
    # today's kops has no docker
    assert not (made.root / (UNITS[1:] + "var-lib-docker.mount")).exists()


def test_kube_env_takes_the_same_keys(world):
    world.more = "instanceStorePolicy: raid0\ninstanceStoreFilesystem: xfs\n"
    world.facts["instanceStore"] = 2
    world.converge()
    assert "\nType=xfs\n" in (world.root / POINT[1:]).read_text()
    assert "\nWhat=/mnt/instance-store/docker\n" in (world.root / UNITS[1:] / "var-lib-docker.mount").read_text()


def test_a_node_without_the_setting_leaves_it_alone(tmp_path):
    made = worker(tmp_path, "quietConsole: true\n", instanceStore=2)
    done = apply(made)
    assert done.returncode == OK, done.stderr
    assert not [path for path in made.tree() if path.endswith(".mount") or "volumes.conf" in path]


def test_an_instance_without_one_gets_a_line_and_nothing_else(tmp_path):
    plain = worker(tmp_path / "plain", "{}\n", instanceStore=0)
    made = worker(tmp_path / "set", "instanceStorePolicy: RAID0\n", instanceStore=0)
    assert apply(plain).returncode == OK
    done = apply(made)
    assert done.returncode == OK, done.stderr
    assert done.stderr.count("disks.yaml:1:22: instanceStorePolicy: this instance has no instance store") == 1, done.stderr
    assert set(made.tree()) == set(plain.tree())


def test_by_hand_a_node_with_pods_is_refused_before_anything_is_changed(tmp_path):
    made = worker(tmp_path, "instanceStorePolicy: RAID0\n", instanceStore=2, pods=PODS)
    before = made.tree()
    done = apply(made)
    assert done.returncode == CONFIG, done.stderr
    assert f"disks.yaml:1:22: instanceStorePolicy: {PODS}, so the instance store is not used" in done.stderr
    assert "replace the node" in done.stderr
    assert made.tree() == before
    # those who only look at a node that keeps its directories are told, and not refused
    with made.controller():
        for command in ("plan", "check", "why"):
            done = made.run(command, *["/etc/hosts"][:command == "why"])
            assert done.returncode != CONFIG and f"{PODS}, so the instance store is not used: apply is refused" in done.stderr, (command, done.stderr)
            assert "/mnt/instance-store" not in done.stdout
    assert made.tree() == before
    # what was begun is gone on with, whatever pods there are
    made.facts["instanceStoreUsed"] = True
    done = apply(made)
    assert done.returncode == OK, done.stderr
    assert "\nWhere=/mnt/instance-store\n" in made.read(POINT)


@pytest.mark.parametrize("settings, said", [
    ("instanceStorePolicy: RAID5\n", r"disks.yaml:1:22: instanceStorePolicy: expected RAID0, found 'RAID5'"),
    ("instanceStorePolicy: RAID0\ninstanceStoreFilesystem: zfs\n", r"disks.yaml:2:26: instanceStoreFilesystem: expected one of ext4|xfs|btrfs, found 'zfs'"),
])
def test_values_that_it_does_not_know(settings, said, tmp_path):
    made = worker(tmp_path, settings, instanceStore=1)
    done = apply(made)
    assert done.returncode == CONFIG and said in done.stderr, done.stderr
    assert not (made.root / POINT[1:]).exists()


@pytest.mark.parametrize("disks", [pytest.param(0, marks=pytest.mark.long), 1])
def test_what_kube_up_says_of_it_comes_first(disks, tmp_path):
    m = Machine(tmp_path, NODE)
    (m.root / SETTINGS).parent.mkdir(parents=True)
    (m.root / SETTINGS).write_text("instanceStorePolicy: RAID0\n")
    done = m.run(facts={**m.facts, "instanceStore": disks})
    assert done.returncode == OK, done.stderr
    assert "disks.yaml:1:22: instanceStorePolicy: not used: DOCKER_STORAGE says what is on the instance store" in done.stderr
    assert (m.root / UNITS[1:] / "mnt-ephemeral.mount").exists() == bool(disks)
    assert not (m.root / POINT[1:]).exists()
