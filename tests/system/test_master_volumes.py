"""The volumes of a master whose documents name no protokube: what a plan says of them, and what an
apply refuses.  EC2 is tests/fake/ec2.py, which checks signatures and attaches atomically; a disk is a
loop device with the sysfs of an NVMe disk of EBS, in a root of its own."""

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import pytest

from emulator import REGION, free_port, listen
from disknode import volume_uuid
from world import BUSY, CONFIG, ENV, KUBELET, NET, PENDING, PROGRAM, REFUSED, ROOT, SYSTEM, differences, listing

ME, ZONE, CLUSTER = "i-0123456789abcdef0", "us-west-2a", "abc.joshdurbin.net"
KEY = {"AccessKeyId": "ASIAMASTER", "SecretAccessKey": "canary-secret-of-the-role", "Token": "canary-token-of-the-role"}
LEGACY = {"KubernetesCluster": CLUSTER, "k8s.io/role/master": "1"}
TODAY = {f"kubernetes.io/cluster/{CLUSTER}": "owned", "k8s.io/role/control-plane": "1"}
MAIN, EVENTS = "vol-0a1", "vol-0e1"
MIB = 1 << 20


def volume(etcd, tag, tags=None, **more):
    return {**{"zone": ZONE, "tags": {**(LEGACY if tags is None else tags), f"k8s.io/etcd/{etcd}": tag}}, **more}


class Cloud:
    """EC2 and the metadata service of one master."""

    def __init__(self, folder):
        self.folder = folder
        self.volumes = {MAIN: volume("main", "a/a"), EVENTS: volume("events", "a/a")}
        self.tags = {"KubernetesCluster": CLUSTER}
        state = {"region": REGION, "keys": {KEY["AccessKeyId"]: [KEY["SecretAccessKey"], KEY["Token"]]}}
        (folder / "ec2.json").write_text(json.dumps(state))
        (folder / "imds.json").write_text(json.dumps({
            "http-tokens": "optional", "instance-id": ME, "placement/region": REGION, "local-ipv4": "10.0.0.7",
            "local-hostname": "ip-10-0-0-7.us-west-2.compute.internal", "instance-type": "m5.large",
            "placement/availability-zone": ZONE, "iam/security-credentials/masters": json.dumps({
                "Code": "Success", "Type": "AWS-HMAC", **KEY, "Expiration": "2038-01-01T00:00:00Z"})}))
        ports = free_port(), free_port()
        self.url, self.imds = (f"http://127.0.0.1:{p}" for p in ports)
        self.children = [
            listen([sys.executable, ROOT / "tests/fake/ec2.py", "127.0.0.1", ports[0], folder / "ec2.json"], ports[0],
                   folder / "ec2.log", keep_stdin=True),
            listen([sys.executable, ROOT / "tests/fake/imds.py", "127.0.0.1", ports[1], folder / "imds.json"], ports[1],
                   folder / "imds.log")]

    def require_tokens(self):
        """Be the kind of instance that kubelet of these documents cannot ask."""
        imds = self.children.pop()
        imds.kill()
        imds.wait(10)
        facts, port = self.folder / "imds.json", int(self.imds.rsplit(":", 1)[1])
        facts.write_text(json.dumps({**json.loads(facts.read_text()), "http-tokens": "required"}))
        self.children.append(listen([sys.executable, ROOT / "tests/fake/imds.py", "127.0.0.1", port, facts], port,
                                    self.folder / "imds.log"))

    def ask(self, path, data=None):
        with urllib.request.urlopen(self.url + path, data=data and json.dumps(data).encode(), timeout=60) as answer:
            return json.load(answer)

    def settle(self):
        self.ask("/__put", {"volumes": self.volumes, "instances": {
            ME: {"zone": ZONE, "ip": "10.0.0.7", "tags": self.tags},
            "i-0other": {"zone": ZONE, "ip": "10.0.0.8", "tags": {}},
            "i-0third": {"zone": ZONE, "ip": "10.0.0.9", "tags": {}}}})

    def fault(self, action, **how):
        self.ask("/__fault?" + urllib.parse.urlencode({"action": action, **how}))

    def actions(self):
        return [form["Action"] for form in self.ask("/__log")]

    def attached(self):
        return {v for v, data in self.ask("/__get")["volumes"].items() if data.get("instance") == ME}

    @contextlib.contextmanager
    def hand(self, plug):
        """The hand that plugs in what is attached, as plug(volume, device)."""
        done, plugged = threading.Event(), set()

        def watch():
            while not done.wait(0.05):
                for volume_id, data in self.ask("/__get")["volumes"].items():
                    if data.get("instance") == ME and volume_id not in plugged:
                        plugged.add(volume_id)
                        plug(volume_id, data["device"])
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(60)

    def close(self):
        for child in self.children:
            child.kill()
            child.wait(10)


class Master:
    """A root with the program, the documents and disks in it; not image mode."""

    def __init__(self, world, cloud, protokube=False, more=""):
        self.world, self.cloud, self.root = world, cloud, world.root
        world.config_base = "file:///store"
        world.write_documents()
        conf = self.root / "kube_env.yaml"
        text = world.conf.read_text()
        conf.write_text((text if protokube else text.split("protokubeImage:")[0]) + more)
        shutil.copytree(world.store, self.root / "store")
        spec = self.root / "store/cluster.spec"
        spec.write_text(spec.read_text().replace(str(world.store), "file:///store"))
        shutil.copy(world.facts_file, self.root / "facts.yaml")
        shutil.copy(PROGRAM, self.root / "nodeup")
        for name in ("dev", "proc", "sys/block", "tmp"):
            (self.root / name).mkdir(parents=True)
        # each Linux has it; no test here comes as far as running it
        (self.root / "usr/sbin").mkdir(parents=True, exist_ok=True)
        (self.root / "usr/sbin/mkfs.ext4").touch(0o755)
        os.mknod(self.root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (self.root / "sys/block/nvme0n1").mkdir()
        self.disk_facts("nvme0n1", {"size": "1", "dev": "259:0"})

    def disk_facts(self, name, facts):
        for path, text in facts.items():
            target = self.root / "sys/block" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text + "\n")

    def add_disk(self, volume_id, device):
        """The disk as Linux shows it on Nitro."""
        name = f"nvme{len(list((self.root / 'sys/block').iterdir()))}n1"
        number = os.stat(device).st_rdev
        with open(f"/sys/block/{os.path.basename(device)}/ro") as f:
            read_only = f.read().strip()
        self.disk_facts(name, {
            "dev": f"{os.major(number)}:{os.minor(number)}", "size": "131072", "ro": read_only,
            "device/model": "Amazon Elastic Block Store", "device/serial": volume_id.replace("-", "")})
        os.mknod(self.root / "dev" / name, stat.S_IFBLK | 0o600, number)

    def add_xen_disk(self, name, device):
        number = os.stat(device).st_rdev
        os.mknod(self.root / "dev" / name, stat.S_IFBLK | 0o600, number)
        # without a size it is none: last, as somebody may be looking
        self.disk_facts(name, {"dev": f"{os.major(number)}:{os.minor(number)}", "ro": "0", "size": "131072"})

    def run(self, command, *flags, timeout=120, **env):
        self.cloud.settle()
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        env = {**ENV, "AWS_ENDPOINT_URL_EC2": self.cloud.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.cloud.imds, **env}
        result = self.world.run_argv(["unshare", "-m", "sh", "-c", enter, str(self.root), "/nodeup", command,
                                      "--conf=/kube_env.yaml", *flags], env=env, timeout=timeout)
        for secret in ("canary", "Signature="):
            assert secret not in result.out + result.err, result
        return result

    def plan(self, *flags, **env):
        return self.run("plan", "--facts=/facts.yaml", *flags, **env)

    def refused(self, code, *flags, **env):
        """An apply that fails before it touches anything."""
        skip = ("run", "var/lib/nodeup", "var/cache/nodeup")
        before = listing(self.root, skip=skip)
        result = self.run("apply", *flags, **env)
        assert result.code == code, result
        left = [d for d in differences(before, listing(self.root, skip=skip)) if not re.match(r"(\.|var(/lib|/cache)?|etc): ", d)]
        assert not left, left
        return result


    def left(self, code, *flags, **env):
        """An apply that does not get its volumes: all that needs none is done, nothing of them is."""
        result = self.run("apply", *flags, **env)
        assert result.code == code, result
        assert (self.root / "srv/kubernetes/ca.crt").exists() and not (self.root / "mnt").exists(), result
        assert not list((self.root / "etc/kubernetes/manifests").glob("etcd*")), result
        assert re.search(r"skipped unit kubelet.service: (attach|volume|etcd) .* failed", result.err), result
        return result


@pytest.fixture
def cloud(tmp_path):
    folder = tmp_path / "cloud"
    folder.mkdir()
    c = Cloud(folder)
    yield c
    c.close()


@pytest.fixture
def node(master, cloud):
    return Master(master, cloud)


@pytest.fixture
def loops():
    """Make loop devices over sparse files on the real disk."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp", prefix="nodeup-ec2-"))
        made = []

        def make(data=b"", at=0, *flags):
            path = os.path.join(folder, str(len(made)))
            with open(path, "wb") as f:
                f.truncate(64 * MIB)
                f.seek(at)
                f.write(data)
            device = subprocess.run(["losetup", "--find", "--show", *flags, path], check=True, capture_output=True,
                                    text=True).stdout.strip()
            stack.callback(subprocess.run, ["losetup", "-d", device])
            made.append(device)
            return device
        yield make


def rows(result, kind):
    return [line for line in result.out.splitlines() if re.match(rf"\S+ +{kind} ", line)]


def test_plan_of_free_volumes(node, cloud):
    cloud.volumes[EVENTS] = volume("events", "a/a", TODAY)
    cloud.tags[f"kubernetes.io/cluster/{CLUSTER}"] = "owned"
    result = node.plan()
    assert result.code == PENDING, result
    assert rows(result, "attach") == [
        f"~ attach etcd main: {MAIN} (a/a), available in {ZONE}: attach it as /dev/xvdu",
        f"~ attach etcd events: {EVENTS} (a/a), available in {ZONE}: attach it as /dev/xvdv"]
    assert set(cloud.actions()) == {"DescribeInstances", "DescribeVolumes"}
    # there is no systemd that would mount them, so they are not looked at
    assert rows(result, "etcd") == [
        rf"! etcd /etc/kubernetes/manifests/{name}.manifest: skipped: unit mnt-master\x2dvol\x2d{volume[4:]}.mount cannot be done"
        for name, volume in (("etcd", MAIN), ("etcd-events", EVENTS))]
    assert "hosts /etc/hosts" in result.out


def test_plan_of_what_is_here_and_of_what_is_not(node, cloud):
    cloud.volumes[MAIN].update(instance=ME, device="/dev/xvdu")
    cloud.volumes[EVENTS].update(instance="i-0other", device="/dev/xvdu", attachment="detaching")
    result = node.plan("--all")
    assert rows(result, "attach") == [f"= attach etcd main: {MAIN} (a/a), attached as /dev/xvdu",
                                      f"~ attach etcd events: waiting: {EVENTS} is being detached from i-0other"]
    assert set(cloud.actions()) == {"DescribeInstances", "DescribeVolumes"}


def test_plan_offline(node, cloud):
    result = node.plan("--offline")
    assert result.code == PENDING, result
    assert rows(result, "attach") == [f"~ attach etcd {name}: not known offline: which volume, whether it is attached, and to whom else"
                                      for name in ("main", "events")]
    assert cloud.actions() == []


def test_plan_with_a_wrong_key(node, cloud):
    """First of all: the stand-in checks."""
    for wrong in ({"AWS_SECRET_ACCESS_KEY": "x"}, {"AWS_SESSION_TOKEN": "y"}):
        right = {"AWS_ACCESS_KEY_ID": KEY["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": KEY["SecretAccessKey"],
                 "AWS_SESSION_TOKEN": KEY["Token"]}
        assert "available in" in node.plan(**right).out
        result = node.plan(**{**right, **wrong})
        assert "not known: instance" in result.out and " not accepted" in result.out, result


def until(run, happened):
    """A run that only its deadline ends: on a slow machine what is to be seen may take longer than that."""
    for seconds in (4, 16, 64):
        result = run(f"--deadline={seconds}s")
        if happened():
            return result
    raise AssertionError(result)


def message(result):
    """The error, whole."""
    return [line.split(" error   ", 1)[1] for line in result.err.splitlines() if " error   " in line]


def twin(cloud):
    cloud.volumes["vol-0a2"] = volume("main", "a/a")


def both_here(cloud):
    cloud.volumes[MAIN].update(instance=ME, device="/dev/xvdu")
    cloud.volumes["vol-0a2"] = volume("main", "a/a", TODAY, instance=ME, device="/dev/xvdv")
    cloud.tags[f"kubernetes.io/cluster/{CLUSTER}"] = "owned"


def shared(cloud):
    cloud.volumes[EVENTS]["multiAttachEnabled"] = True


def malformed(cloud):
    cloud.volumes[EVENTS] = volume("events", "a/b,c")


def untagged(cloud):
    cloud.tags = {"Name": "x"}


def of_others(cloud):
    cloud.tags = {"KubernetesCluster": "other.example"}


@pytest.mark.parametrize("change,code,lines", [
    (twin, CONFIG, [f"FAILED etcd main: two volumes for member a: {MAIN} and vol-0a2 (78)",
            "  do        take the tags off the one that is not to be used"]),
    (both_here, CONFIG, [f"FAILED etcd main: two volumes are attached to this instance: {MAIN}, member a and vol-0a2, member a (78)",
                 "  do        detach the one that is not to be used, or take its tags off"]),
    (shared, REFUSED, [f"REFUSED etcd events: volume {EVENTS} can be attached to several instances at once (73)",
                       "  has       multi-attach is on; wanted a volume that one instance has alone",
                       "  do        turn it off, or take the tags off and make another volume"]),
    (malformed, CONFIG, [f"FAILED volume {EVENTS}: tag k8s.io/etcd/events: 'a/b,c': 'a' is not among its members (78)",
                 "  want      this member and all members: a/a,b,c",
                 "  do        mend the tag, or take it off"]),
    (untagged, CONFIG, [f"FAILED instance {ME} has no tag that says which cluster it is of (78)",
                f"  want      KubernetesCluster={CLUSTER} or kubernetes.io/cluster/{CLUSTER}=owned"]),
    (of_others, CONFIG, [f"FAILED instance {ME} is tagged for cluster 'other.example', the documents are of '{CLUSTER}' (78)",
                 f"  want      KubernetesCluster={CLUSTER} or kubernetes.io/cluster/{CLUSTER}=owned"]),
])
def test_bad_tags(change, code, lines, node, cloud):
    change(cloud)
    result = node.refused(code)
    assert message(result) == lines + ["  untouched no volume was attached, nothing was written"], result
    assert "AttachVolume" not in cloud.actions()


@pytest.mark.parametrize("name,lacking", [("main", MAIN), ("events", EVENTS)])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_no_volume_here(name, lacking, elsewhere, node, cloud):
    """One may be in the making: it is waited for, and the other is not taken meanwhile."""
    why = (f"etcd {name}: no volume of cluster {CLUSTER} with tags k8s.io/role/master (or control-plane) and "
           f"k8s.io/etcd/{name} in {ZONE}")
    if elsewhere:
        cloud.volumes[lacking]["zone"] = "us-west-2b"
        why += f"; {lacking} is in us-west-2b, out of reach"
    else:
        del cloud.volumes[lacking]
    result = node.refused(BUSY, "--deadline=6s")
    assert "WAITING volumes: for " in result.err, result
    assert message(result) == [f"FAILED {why} (75)"], result
    assert "AttachVolume" not in cloud.actions()


def test_foreign_data(node, cloud, loops):
    """Both are attached to be looked at, one is not fit: both are detached again."""
    node.add_disk(MAIN, loops())
    node.add_disk(EVENTS, loops(b"somebody's", 4096))
    result = node.refused(REFUSED)
    assert message(result) == [
        f"REFUSED disk nvme2n1 for /mnt/master-{EVENTS}: not blank; nothing was written (73)",
        f"  is        EBS {EVENTS}, 64 MiB",
        "  has       unknown data at byte 4096; wanted blank or ext4",
        "  do        name the right disk, or wipe it yourself: nodeup has no --force",
        "  for       etcd events",
        f"  detached  {MAIN}, which this run had attached",
        f"  detached  {EVENTS}, which this run had attached",
        "  untouched nothing was written to any volume"], result
    actions = cloud.actions()
    assert actions.count("AttachVolume") == 2 and actions.count("DetachVolume") == 2
    assert cloud.attached() == set()


def given_back(result, *volumes):
    for volume_id in volumes:
        assert f"  detached  {volume_id}, which this run had attached" in result.err, result
    assert "  untouched nothing was written to any volume" in result.err, result


def test_a_place_with_files_in_it(node, cloud, loops):
    """What is found wrong only after both were attached and seen to be fit."""
    node.add_disk(MAIN, loops())
    node.add_disk(EVENTS, loops())
    (node.root / f"mnt/master-{EVENTS}").mkdir(parents=True)
    (node.root / f"mnt/master-{EVENTS}/somebody's").write_text("x")
    result = node.refused(REFUSED)
    assert (f"REFUSED volume /mnt/master-{EVENTS}: /mnt/master-{EVENTS} is in use; nothing was written (73)"
            in result.err), result
    given_back(result, MAIN, EVENTS)
    assert cloud.attached() == set()


def test_a_cluster_that_cannot_be_run(node, cloud, loops):
    spec = node.root / "store/cluster.spec"
    spec.write_text(spec.read_text().replace("name: events", "name: cilium"))
    cloud.volumes[EVENTS] = volume("cilium", "a/a")
    node.add_disk(MAIN, loops())
    node.add_disk(EVENTS, loops())
    result = node.refused(CONFIG)
    assert "FAILED etcd cluster 'cilium': only main and events can be run here (78)" in result.err, result
    given_back(result, MAIN, EVENTS)
    assert cloud.attached() == set()


def test_disks_without_serial_numbers(node, cloud, loops):
    """Xen: a disk is known by the name that EC2 attached it by."""
    device = {MAIN: loops(), EVENTS: loops(b"somebody's", 4096)}
    with cloud.hand(lambda volume_id, name: node.add_xen_disk(os.path.basename(name), device[volume_id])):
        result = node.run("apply", "--deadline=60s")
    assert result.code == REFUSED and not (node.root / "etc/kubernetes").exists(), result
    assert f"REFUSED disk xvdv for /mnt/master-{EVENTS}: not blank; nothing was written (73)" in result.err, result
    given_back(result, MAIN, EVENTS)


def test_a_disk_without_a_serial_number_that_is_in_use(node, cloud, loops, tmp_path):
    """A unit of before mounts it as soon as it is there: it is not taken away below that."""
    device = {MAIN: loops(b"somebody's", 4096), EVENTS: loops()}
    subprocess.run(["mkfs.ext4", "-q", device[EVENTS]], check=True)
    place = tmp_path / "place"
    place.mkdir()
    subprocess.run(["mount", device[EVENTS], place], check=True)
    names = {}

    def plug(volume_id, name):
        # the one that is refused comes last: before, nobody would see that the other one is in use
        names[volume_id] = os.path.basename(name)
        for which in (EVENTS, MAIN) if len(names) == 2 else ():
            node.add_xen_disk(names[which], device[which])

    try:
        with cloud.hand(plug):
            result = node.run("apply", "--deadline=60s")
    finally:
        subprocess.run(["umount", place], check=True)
    assert result.code == REFUSED, result
    given_back(result, MAIN)
    assert f"  attached  {EVENTS} stays: in use by the kernel: mounted elsewhere, or part of something" in result.err, result
    assert cloud.attached() == {EVENTS}


def add_formatted(node, loops, *names):
    """The disks of a master that ran before."""
    for name in names or (MAIN, EVENTS):
        device = loops()
        subprocess.run(["mkfs.ext4", "-q", device], check=True)
        node.add_disk(name, device)


def test_addresses_of_the_members(node, cloud, loops):
    """Names of all members, with the address of whoever has the volume; what was in the file stays."""
    add_formatted(node, loops)
    hosts = node.root / "etc/hosts"
    hosts.parent.mkdir(exist_ok=True)
    hosts.write_text("127.0.0.1 localhost\n")
    number = hosts.stat().st_ino
    for etcd in ("main", "events"):
        mine = MAIN if etcd == "main" else EVENTS
        cloud.volumes[mine] = volume(etcd, "a/a,b,c")
        for member, instance in (("b", "i-0other"), ("c", "i-0third")):
            cloud.volumes[f"{mine}{member}"] = volume(etcd, f"{member}/a,b,c", TODAY, zone="us-west-2" + member,
                                                      instance=instance, device="/dev/xvdu")
    cloud.tags[f"kubernetes.io/cluster/{CLUSTER}"] = "owned"
    result = node.run("apply", "--deadline=60s")
    assert result.code == SYSTEM, result
    assert hosts.read_text() == (
        "127.0.0.1 localhost\n# etcd members, written by nodeup: lines of yours go elsewhere\n" + "".join(
            f"{address}\t{name}-{member}.internal.{CLUSTER}\n"
            for name in ("etcd", "etcd-events")
            for member, address in (("a", "10.0.0.7"), ("b", "10.0.0.8"), ("c", "10.0.0.9"))) + "# end of etcd members\n")
    assert hosts.stat().st_ino == number
    # a member that is being replaced keeps its line
    record = node.root / "var/lib/nodeup/claims.json"
    kept = hosts.read_text(), record.read_text()
    for mine in (MAIN, EVENTS):
        cloud.volumes[f"{mine}c"].update(instance="", attachment="")
    result = node.run("apply", "--deadline=60s")
    assert result.code == SYSTEM and "warning no master has the volume of etcd-c.internal." in result.err, result
    assert (hosts.read_text(), record.read_text()) == kept, result


def test_ec2_is_silent_at_a_later_start(node, cloud, loops):
    """The disks are here by their serial numbers, and the last run was told what they are."""
    add_formatted(node, loops)
    record = node.root / "var/lib/nodeup/claims.json"
    first = node.run("apply", "--deadline=30s")
    assert first.code == SYSTEM, first
    kept = record.read_text()
    assert json.loads(kept)["volumes"] == [
        {"for": f"etcd {name}", "id": v, "device": device, "member": "a/a"}
        for name, v, device in (("main", MAIN, "/dev/xvdu"), ("events", EVENTS, "/dev/xvdv"))]
    cloud.fault("DescribeInstances", times=1000, hang=1)
    told = "what the last run was told of them is used"
    result = node.run("apply", "--deadline=60s")
    assert told in result.err and "skipped unit kubelet" in result.err, result
    assert "attach etcd" not in result.err, result
    assert record.read_text() == kept
    asked = len(cloud.actions())
    result = node.plan("--offline", "--all")
    assert result.code == PENDING and told in result.err, result
    assert rows(result, "attach") == [f"= attach etcd {name}: {v} (a/a), here as nvme{i}n1, says its serial number"
                                      for i, (name, v) in enumerate((("main", MAIN), ("events", EVENTS)), 1)], result
    assert len(cloud.actions()) == asked
    # of another instance, damaged, or without a disk of that number: EC2 has to be asked
    for change in (lambda: record.write_text(kept.replace(ME, "i-0fffffffffffffff1")),
                   lambda: record.write_text(kept[:-20]),
                   lambda: record.write_text(kept.replace("vol-0e1", "vol-0e2")),
                   lambda: record.write_text(kept.replace("a/a", "a/b"))):
        change()
        result = node.run("apply", "--deadline=3s")
        assert result.code == NET and told not in result.err, result


def test_what_was_here_before_stays(node, cloud, loops):
    cloud.volumes[MAIN].update(instance=ME, device="/dev/xvdu")
    node.add_disk(MAIN, loops())
    node.add_disk(EVENTS, loops(b"", 0, "--read-only"))
    result = node.refused(CONFIG)
    assert message(result) == [
        f"FAILED disk nvme2n1 for /mnt/master-{EVENTS}: it is read-only; nothing was written (78)",
        f"  is        EBS {EVENTS}, 64 MiB",
        "  for       etcd events",
        f"  detached  {EVENTS}, which this run had attached",
        "  untouched nothing was written to any volume"], result
    assert cloud.attached() == {MAIN}


TAGGED, DATA = "volumeMounts:\n- {tag: name=scratch, path: /data}\n", "vol-0d1"


@pytest.mark.parametrize("role,protokube", [("nodes", False), ("nodes", True), ("master", False)])
def test_a_volume_that_the_documents_name_by_its_tag(role, protokube, make_world, cloud, loops):
    """Attached as etcd's are, and given back when it holds somebody's data."""
    node = Master(make_world("x", role), cloud, protokube, TAGGED)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {"name": "scratch"}}
    cloud.volumes["vol-0d2"] = {"zone": "us-west-2b", "tags": {"name": "scratch"}}
    node.add_disk(DATA, loops(b"somebody's", 4096))
    taken = [DATA]
    if role == "master":
        taken = [MAIN, EVENTS, DATA]
        for volume_id in (MAIN, EVENTS):
            node.add_disk(volume_id, loops())
    assert f"{DATA}, available in {ZONE}: attach it as /dev/xvd" in node.plan().out
    assert "AttachVolume" not in cloud.actions()
    result = node.refused(REFUSED)
    assert message(result)[0] == "REFUSED disk nvme1n1 for /data: not blank; nothing was written (73)", result
    given_back(result, *taken)
    assert cloud.actions().count("AttachVolume") == cloud.actions().count("DetachVolume") == len(taken)


def test_a_tag_on_a_master_with_protokube(make_world, cloud, loops):
    """protokube attaches there: what is attached is found, and nothing else is done."""
    node = Master(make_world("x", "master"), cloud, True, TAGGED)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {"name": "scratch"}}
    node.add_disk(DATA, loops(b"somebody's", 4096))
    result = node.refused(BUSY, "--deadline=6s")
    assert message(result) == [
        f"FAILED /data: {DATA} is available: the program that attaches this master's volumes has not done so yet (75)"], result
    cloud.volumes[DATA].update(instance=ME, device="/dev/xvdba")
    assert f"= attach /data: {DATA}, attached as /dev/xvdba\n" in node.plan("--all").out
    result = node.refused(REFUSED)
    assert message(result)[0] == "REFUSED disk nvme1n1 for /data: not blank; nothing was written (73)", result
    assert cloud.attached() == {DATA} and set(cloud.actions()) == {"DescribeInstances", "DescribeVolumes"}


@pytest.mark.parametrize("named,what", [("volumeID: vol-0d1", "name"), ("device: /dev/nvme1n1", "name"),
                                        ("tag: name=scratch", "take the tags off and make")])
@pytest.mark.parametrize("state,lines", [
    ({"multiAttachEnabled": True}, [f"REFUSED /data: volume {DATA} can be attached to several instances at once (73)",
                                    "  has       multi-attach is on; wanted a volume that one instance has alone"]),
    ({"multiAttachEnabled": True, "others": ["i-0other"]}, [
        f"REFUSED /data: volume {DATA} is attached to two instances (73)",
        f"  has       multi-attach is on, i-0other and {ME}; wanted a volume that one instance has alone"]),
    ({"others": ["i-0other"]}, [f"REFUSED /data: volume {DATA} is attached to two instances (73)",
                                f"  has       i-0other and {ME}; wanted a volume that one instance has alone"])])
def test_a_disk_that_is_here_and_elsewhere(state, lines, named, what, make_world, cloud, loops):
    """Blank or not, to format or mount it may destroy what another instance has on it: EC2 is asked before."""
    node = Master(make_world("x", "nodes"), cloud, more="volumeMounts:\n- {%s, path: /data}\n" % named)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {"name": "scratch"}, "instance": ME, "device": "/dev/xvdf", **state}
    device = loops()
    node.add_disk(DATA, device)
    result = node.refused(REFUSED)
    assert message(result) == [*lines, f"  do        turn it off, or {what} another volume",
                               "  untouched no volume was attached, nothing was written"], result
    assert node.plan().code == REFUSED
    assert {a for a in cloud.actions() if a != "DescribeInstances"} == {"DescribeVolumes"}
    with open(device, "rb") as f:
        assert not any(f.read(MIB))


def test_a_disk_that_ec2_is_silent_about(make_world, cloud, loops):
    """Nobody says that no other instance has it: it is not formatted."""
    node = Master(make_world("x", "nodes"), cloud, more=f"volumeMounts:\n- {{volumeID: {DATA}, path: /data}}\n")
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {}, "instance": ME, "device": "/dev/xvdf"}
    node.add_disk(DATA, loops())
    cloud.fault("DescribeVolumes", times=1000, code="UnauthorizedOperation", status=403)
    result = until(lambda deadline: node.refused(NET, deadline), lambda: cloud.actions().count("DescribeVolumes") > 1)
    assert "DescribeVolumes: EC2 403 UnauthorizedOperation: the role may not do this (69)" in result.err, result
    spec = node.root / "store/cluster.spec"
    spec.write_text(spec.read_text().replace("'@aws'", "vm").replace("@aws", "vm"))
    tag = node.root / "sys/class/dmi/id/board_asset_tag"
    tag.parent.mkdir(parents=True)
    tag.write_text(ME + "\n")
    result = node.plan("--offline")
    assert rows(result, "attach") == [
        "~ attach /data: not known offline: which volume, whether it is attached, and to whom else"], result
    result = node.refused(CONFIG, "--offline")
    assert message(result)[0] == (f"FAILED /data: whether another instance has volume {DATA} as well EC2 would know, and we "
                                  "are offline (78)"), result


@pytest.mark.parametrize("named", ["tag: name=scratch", f"volumeID: {DATA}"])
def test_swap_that_we_have_made_is_ours(named, make_world, cloud, loops):
    """It does not persist, but what carries our own UUID is not foreign data."""
    node = Master(make_world("x", "nodes"), cloud, more="volumeMounts:\n- {%s, filesystem: swap}\n" % named)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {"name": "scratch"}}
    group = node.root / "store/instancegroup/nodes"
    group.write_text(group.read_text() + "  kubelet:\n    failSwapOn: false\n")
    device = loops()
    node.add_disk(DATA, device)
    for uuid, code in ((volume_uuid(DATA, "swap"), SYSTEM), (volume_uuid("vol-0d2", "swap"), REFUSED)):
        subprocess.run(["mkswap", "-q", "-U", uuid, device], check=True)
        result = node.run("apply", "--deadline=60s")
        assert result.code == code, result


def test_a_mkfs_of_ours_that_was_killed_is_no_foreign_data(node, cloud, loops):
    """The record says that it was begun on this very disk, in this boot, when that was blank."""
    for volume_id in (MAIN, EVENTS):
        node.add_disk(volume_id, loops(b"half of a file system", 4096))
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    folder = node.root / "var/lib/nodeup/volumes"
    folder.mkdir(parents=True)
    for i, volume_id in enumerate((MAIN, EVENTS), 1):
        path = "/mnt/master-" + volume_id
        serial, uuid = volume_id.replace("-", ""), volume_uuid(volume_id, path)
        (folder / path[1:].replace("-", "\\x2d").replace("/", "-")).write_text(
            f"state formatting\nmachine {ME}\nfs ext4\nuuid {uuid}\nlabel \n"
            f"disk serial={serial} size={64 * MIB} name=nvme{i}n1 seq=0 boot={boot}\nend\n")
    result = node.run("apply", "--deadline=60s")
    # there is none that could be run: this is as far as it gets
    assert result.code == SYSTEM and "not blank" not in result.err and "mkfs.ext4" in result.err, result
    assert cloud.attached() == {MAIN, EVENTS}
    # of another boot, it may be anything
    for record in folder.iterdir():
        record.write_text(record.read_text().replace(boot, "x" * 36))
    assert node.run("apply", "--deadline=60s").code == REFUSED


@pytest.mark.parametrize("named", [f"volumeID: {DATA}", "device: /dev/nvme1n1"])
def test_a_disk_in_use_costs_no_call(named, make_world, cloud, loops):
    """Once it was formatted or taken over by this very machine, nobody is asked about it any more."""
    node = Master(make_world("x", "nodes"), cloud, more="volumeMounts:\n- {%s, path: /data}\n" % named)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {}, "instance": ME, "device": "/dev/xvdf"}
    add_formatted(node, loops, DATA)
    first = node.run("apply", "--deadline=60s")
    record = node.root / "var/lib/nodeup/volumes/data"
    assert first.code == SYSTEM and "\nstate done\n" in "\n" + record.read_text(), first
    asked = len(cloud.actions())
    assert "DescribeVolumes" in cloud.actions()
    cloud.fault("DescribeVolumes", times=1000, hang=1)
    result = node.run("apply", "--deadline=60s")
    assert result.code == SYSTEM and len(cloud.actions()) == asked, result
    # what another machine, or of another disk, was done says nothing
    kept = record.read_text()
    for old, new in ((f"machine {ME}", "machine i-0fffffffffffffff1"), ("vol0d1", "vol0d2")):
        record.write_text(kept.replace(old, new))
        cloud.fault("DescribeVolumes", times=0)
        cloud.volumes[DATA]["multiAttachEnabled"] = True
        assert node.run("apply", "--deadline=60s").code == REFUSED


def test_a_device_that_the_role_may_not_ask_about(make_world, cloud, loops):
    """kops' own form, and its role for nodes: it is used as ever, with a line that says what is not known."""
    node = Master(make_world("x", "nodes"), cloud, more="volumeMounts:\n- {device: /dev/nvme1n1, path: /data}\n")
    add_formatted(node, loops, DATA)
    cloud.fault("DescribeVolumes", times=1000, code="UnauthorizedOperation", status=403)
    said = f"volume /data: whether another instance has {DATA} as well is not known: "
    result = node.run("apply", "--deadline=60s")
    assert result.code == SYSTEM and said + "DescribeVolumes: EC2 403 UnauthorizedOperation" in result.err, result
    assert (node.root / "var/lib/nodeup/volumes/data").exists()


def test_a_blank_disk_of_the_documents_is_no_new_etcd(make_world, cloud, loops):
    """etcd has data: it knows its members, and does not wait for most of them to have a volume."""
    node = Master(make_world("x", "master"), cloud, False, TAGGED)
    add_formatted(node, loops)
    for etcd, mine in (("main", MAIN), ("events", EVENTS)):
        cloud.volumes[mine] = volume(etcd, "a/a,b,c", instance=ME, device="/dev/xvdu" if etcd == "main" else "/dev/xvdv")
        for member in "bc":
            cloud.volumes[f"{mine}{member}"] = volume(etcd, f"{member}/a,b,c", zone="us-west-2" + member)
    cloud.volumes[DATA] = {"zone": ZONE, "tags": {"name": "scratch"}, "instance": ME, "device": "/dev/xvdw"}
    node.add_disk(DATA, loops())
    result = node.run("apply", "--deadline=60s")
    assert "warning no master has the volume of etcd-b.internal." in result.err and result.code != BUSY, result


def test_a_master_whose_others_are_away(node, cloud, loops):
    """Its volumes are known from the last run: it begins at once without the addresses of others."""
    add_formatted(node, loops)
    for etcd, mine in (("main", MAIN), ("events", EVENTS)):
        cloud.volumes[mine] = volume(etcd, "a/a,b,c", instance=ME, device="/dev/xvdu" if etcd == "main" else "/dev/xvdv")
        for member in "bc":
            cloud.volumes[f"{mine}{member}"] = volume(etcd, f"{member}/a,b,c", zone="us-west-2" + member)
    for first in (True, False):
        result = node.run("apply", "--deadline=100s")
        assert "warning no master has the volume of etcd-b.internal." in result.err and result.code == SYSTEM, result
        assert first or "what does not need them is done meanwhile" not in result.err, result


def test_the_first_boot_of_an_image(make_world, cloud, loops):
    """An image knows its volumes by a fact; the machine that boots it finds nothing in their places."""
    world = make_world("x", "master")
    world.write_documents()
    text = world.conf.read_text().split("protokubeImage:")[0]
    facts = world.facts_file.read_text() + f"etcdVolumes: {{main: {MAIN} a/a, events: {EVENTS} a/a}}\n"
    world.conf.write_text(text)
    world.facts_file.write_text(facts)
    made = world.run_argv(world.argv("apply"))
    assert made.code == 0, made
    link = world.root / "etc/kubernetes/manifests/etcd.manifest"
    assert os.readlink(link) == f"/mnt/master-{MAIN}/k8s.io/manifests/etcd.manifest" and not (world.root / "mnt").exists()
    node = Master(world, cloud)
    add_formatted(node, loops)
    result = node.run("apply", "--deadline=60s")
    # there is no systemd here that would mount them: this is as far as it gets
    assert result.code == SYSTEM and "is in use" not in result.err, result
    assert cloud.attached() == {MAIN, EVENTS} and "DetachVolume" not in cloud.actions()
    assert not (node.root / "mnt").exists() or not list((node.root / "mnt").rglob("*.manifest"))


def when(condition, action):
    """Do it as soon as that holds, beside what runs."""
    def watch():
        for _ in range(1200):
            if condition():
                action()
                return
            time.sleep(0.1)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_a_volume_that_another_master_still_has(node, cloud, loops):
    """It is waited for, and what does not need it is done meanwhile; when it comes and holds somebody's data, the
    one that was attached long before is given back, too."""
    node.add_disk(MAIN, loops())
    node.add_disk(EVENTS, loops(b"somebody's", 4096))
    cloud.volumes[EVENTS].update(instance="i-0other", device="/dev/xvdu", attachment="detaching")
    done = node.root / "srv/kubernetes/ca.crt"

    def detached():
        state = cloud.ask("/__get")["volumes"]
        assert state[MAIN]["instance"] == ME
        state[EVENTS] = volume("events", "a/a")
        cloud.ask("/__put", {"volumes": state})
    thread = when(done.exists, detached)
    result = node.run("apply", "--deadline=100s")
    thread.join(60)
    assert result.code == REFUSED, result
    said = f"etcd events: {EVENTS} is being detached from i-0other"
    assert f"warning WAITING volumes: what does not need them is done meanwhile: {said}" in result.err, result
    assert re.search(r"skipped unit kubelet.service: (attach|volume|etcd) .* failed", result.err), result
    assert not list((node.root / "etc/kubernetes/manifests").glob("etcd*")) and not (node.root / "mnt").exists()
    given_back(result, MAIN, EVENTS)
    assert cloud.attached() == set()


def test_a_role_that_may_not(node, cloud):
    cloud.fault("AttachVolume", times=1000, code="UnauthorizedOperation", status=403,
                message="You are not authorized to perform this operation. Encoded authorization failure message: CANARY77")
    result = node.left(NET, "--deadline=15s")
    assert (f"FAILED volume {MAIN} for etcd main: AttachVolume: EC2 403 UnauthorizedOperation: the role may not do this (69)"
            in result.err), result
    assert f"  as        assumed-role/masters/{ME} (valid until " in result.err, result
    assert "CANARY77" not in result.err + result.out


def test_no_run_follows_at_the_deadline(master, cloud):
    """The run without etcd's volumes took all the time there was: the status does not promise the one for them."""
    master.assets[KUBELET].urls = [master.url(KUBELET, f"gate={master.token}")]
    cloud.fault("AttachVolume", times=1000, code="UnauthorizedOperation", status=403, message="You are not authorized.")
    node = Master(master, cloud)
    result = node.left(BUSY, "--deadline=15s")
    status = json.loads((node.root / "run/nodeup/status.json").read_text())
    assert (status["attempt"], status["state"]) == (1, "failed"), (status, result)


def test_a_host_that_cannot_run_it_gets_no_volume(node, cloud):
    cloud.require_tokens()
    result = node.refused(CONFIG)
    assert "metadata service wants tokens, kubelet before 1.18 sends none" in result.err, result
    assert "AttachVolume" not in cloud.actions() and not cloud.attached()


def test_a_silent_ec2(node, cloud):
    cloud.fault("DescribeInstances", times=1000, hang=1)
    result = node.left(NET, "--deadline=15s")
    assert f"instance {ME}: DescribeInstances: " in result.err, result


def test_an_expired_key_is_renewed_once(node, cloud):
    cloud.fault("DescribeVolumes", times=1, code="ExpiredToken")
    result = node.plan()
    assert "available in" in result.out, result
    # the question for all volumes and that for the members' ones, and once more
    assert cloud.actions().count("DescribeVolumes") == 3
