"""Volumes of EBS that the documents name: what EC2 is asked of them, and what is refused.  EC2 is tests/fake/ec2.py, which
checks signatures; a disk is a loop device with the sysfs of an NVMe disk of EBS, in a root of its own."""

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
import urllib.parse
import urllib.request

import pytest

import kubeup
from emulator import REGION, free_port, listen
from disknode import volume_uuid
from world import CONFIG, ENV, NET, OK, PROGRAM, REFUSED, ROOT, SYSTEM, differences, listing

ME, ZONE = "i-0123456789abcdef0", "us-west-2a"
KEY = {"AccessKeyId": "ASIAMASTER", "SecretAccessKey": "canary-secret-of-the-role", "Token": "canary-token-of-the-role"}
DATA = "vol-0d1"
MIB = 1 << 20


class Cloud:
    """EC2 and the metadata service of one instance."""

    def __init__(self, folder):
        self.folder = folder
        self.volumes = {DATA: {"instance": ME, "device": "/dev/xvdf"}}
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

    def ask(self, path, data=None):
        with urllib.request.urlopen(self.url + path, data=data and json.dumps(data).encode(), timeout=60) as answer:
            return json.load(answer)

    def settle(self):
        self.ask("/__put", {"volumes": self.volumes})

    def fault(self, action, **how):
        self.ask("/__fault?" + urllib.parse.urlencode({"action": action, **how}))

    def actions(self):
        return [form["Action"] for form in self.ask("/__log")]

    def close(self):
        for child in self.children:
            child.kill()
            child.wait(10)


class Node:
    """A root with the program, the documents and disks in it; not image mode."""

    def __init__(self, world, cloud, more=""):
        self.world, self.cloud, self.root = world, cloud, world.root
        world.config_base = "file:///store"
        world.write_documents()
        conf = self.root / "kube_env.yaml"
        conf.write_text(world.conf.read_text() + more)
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
        self.disk_facts("nvme0n1", {"size": "1", "dev": "259:0", "device/model": "Amazon Elastic Block Store",
                                    "device/serial": "vol0root"})

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

    def status(self):
        """What the run says of itself; None before it does."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.root / "run/nodeup/status.json").read_text())

    def run(self, command, *flags, timeout=120, **env):
        self.cloud.settle()
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        env = {**ENV, "AWS_ENDPOINT_URL_EC2": self.cloud.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.cloud.imds, **env}
        result = self.world.run_argv(["unshare", "-m", "sh", "-c", enter, str(self.root), "/nodeup", command,
                                      "--conf=/kube_env.yaml", *flags], env=env, timeout=timeout)
        for secret in ("canary", "Signature="):
            assert secret not in result.out + result.err, result
        return result

    @contextlib.contextmanager
    def meanwhile(self, happened, do):
        """While a run goes on, something is done once it happened."""
        ended = threading.Event()

        def watch():
            while not ended.wait(0.05):
                if happened():
                    return do()
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(60)

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


@pytest.fixture
def cloud(tmp_path):
    folder = tmp_path / "cloud"
    folder.mkdir()
    c = Cloud(folder)
    yield c
    c.close()


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


def named(how):
    return "volumeMounts:\n- {%s, path: /data}\n" % how


BY_ID, BY_DEVICE = f"volumeID: {DATA}", "device: /dev/nvme1n1"


def add_formatted(node, loops):
    """The disk of a machine that ran before."""
    device = loops()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    node.add_disk(DATA, device)


@pytest.mark.parametrize("how", [BY_ID, BY_DEVICE])
@pytest.mark.parametrize("state,lines", [
    ({"multiAttachEnabled": True}, [f"REFUSED /data: volume {DATA} can be attached to several instances at once (73)",
                                    "  has       multi-attach is on; wanted a volume that one instance has alone"]),
    ({"multiAttachEnabled": True, "others": ["i-0other"]}, [
        f"REFUSED /data: volume {DATA} is attached to two instances (73)",
        f"  has       multi-attach is on, i-0other and {ME}; wanted a volume that one instance has alone"]),
    ({"others": ["i-0other"]}, [f"REFUSED /data: volume {DATA} is attached to two instances (73)",
                                f"  has       i-0other and {ME}; wanted a volume that one instance has alone"])])
def test_a_disk_that_is_here_and_elsewhere(state, lines, how, make_world, cloud, loops):
    """Blank or not, to format or mount it may destroy what another instance has on it: EC2 is asked before."""
    node = Node(make_world("x", "nodes"), cloud, named(how))
    cloud.volumes[DATA].update(state)
    device = loops()
    node.add_disk(DATA, device)
    result = node.refused(REFUSED)
    assert message(result) == [*lines, "  do        turn it off, or name another volume", "  untouched nothing was written to it"], result
    assert node.plan().code == REFUSED
    assert set(cloud.actions()) == {"DescribeVolumes"}
    with open(device, "rb") as f:
        assert not any(f.read(MIB))


@pytest.mark.parametrize("document", ["kops", "kube-up"])
def test_the_volume_of_all_data_of_a_master(document, make_world, cloud, loops):
    """As kube-up has it, at /dev/xvdb: EC2 is asked about it as about any."""
    node = Node(make_world("x", "master"), cloud, "volumeMounts:\n- {device: /dev/xvdb, path: /mnt/master-pd}\n")
    if document == "kube-up":
        salt = kubeup.named(kubeup.all_templates("1.5.8"), node.root)
        salt["SALT_TAR_URL"] = salt["SALT_TAR_URL"].replace(str(node.root), "")
        (node.root / "kube_env.yaml").write_text(kubeup.text("master", "1.5.8", **salt))
    cloud.volumes[DATA]["others"] = ["i-0other"]
    node.add_disk(DATA, loops())
    (node.root / "dev/xvdb").symlink_to("nvme1n1")
    result = node.refused(REFUSED)
    assert message(result)[0] == f"REFUSED /mnt/master-pd: volume {DATA} is attached to two instances (73)", result


@pytest.mark.parametrize("elsewhere,said", [
    ({"instance": "i-0other"}, "in-use, attached at i-0other"), ({"instance": None, "device": None}, "available"),
    ({"attachment": "detaching"}, f"in-use, detaching at {ME}"), (None, "unknown to EC2")])
def test_a_disk_that_ec2_does_not_see_here(elsewhere, said, make_world, cloud, loops):
    """Who else has it is not known until EC2 says that it is attached here."""
    node = Node(make_world("x", "nodes"), cloud, named(BY_ID))
    if elsewhere is None:
        cloud.volumes["vol-0d2"] = cloud.volumes.pop(DATA)
    else:
        cloud.volumes[DATA].update(elsewhere)
    node.add_disk(DATA, loops())
    result = until(lambda deadline: node.refused(NET, deadline), lambda: cloud.actions().count("DescribeVolumes") > 1)
    assert message(result)[0] == f"FAILED /data: the disk of {DATA} is here, and it is {said} (69)", result


@pytest.mark.parametrize("how", [BY_ID, BY_DEVICE])
def test_a_disk_that_comes_while_it_is_waited_for(how, make_world, cloud, loops):
    """What EC2 said before says nothing of now: it is asked when the disk is here."""
    node = Node(make_world("x", "nodes"), cloud, named(how))
    cloud.volumes[DATA].update(instance=None, device=None)
    device = loops()

    def come():
        cloud.volumes[DATA].update(instance=ME, device="/dev/xvdf", others=["i-0other"])
        cloud.settle()
        node.add_disk(DATA, device)
    with node.meanwhile(lambda: "is not here" in json.dumps(node.status()), come):
        result = node.run("apply", "--deadline=100s")
    assert result.code and f"/data: volume {DATA} is attached to two instances" in result.err, result
    assert set(cloud.actions()) == {"DescribeVolumes"}
    with open(device, "rb") as f:
        assert not any(f.read(MIB))


@pytest.mark.parametrize("how", [BY_ID, BY_DEVICE])
def test_a_disk_that_comes_and_is_ours_alone(how, make_world, cloud, loops):
    node = Node(make_world("x", "nodes"), cloud, named(how))
    cloud.volumes[DATA].update(instance="i-0other")

    def come():
        cloud.volumes[DATA].update(instance=ME)
        cloud.settle()
        add_formatted(node, loops)
    with node.meanwhile(lambda: "is not here" in json.dumps(node.status()), come):
        result = node.run("apply", "--deadline=100s")
    # there is no systemd: this is as far as it gets, and its own status is that of what failed first
    assert result.code in (SYSTEM, 75) and "recorded, the next run mounts it" in result.err, result
    assert (node.root / "var/lib/nodeup/volumes/data").exists()


def test_a_disk_that_ec2_is_silent_about(make_world, cloud, loops):
    """Nobody says that no other instance has it: it is not formatted."""
    node = Node(make_world("x", "nodes"), cloud, named(BY_ID))
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
    assert f"warning volume /data: whether another instance has {DATA} as well is not known: we are offline" in result.err, result
    result = node.refused(CONFIG, "--offline")
    assert message(result)[0] == (f"FAILED /data: whether another instance has volume {DATA} as well EC2 would know, and we "
                                  "are offline (78)"), result


def test_swap_that_we_have_made_is_ours(make_world, cloud, loops):
    """It does not persist, but what carries our own UUID is not foreign data."""
    node = Node(make_world("x", "nodes"), cloud, "volumeMounts:\n- {%s, filesystem: swap}\n" % BY_ID)
    group = node.root / "store/instancegroup/nodes"
    group.write_text(group.read_text() + "  kubelet:\n    failSwapOn: false\n")
    device = loops()
    node.add_disk(DATA, device)
    for uuid, code in ((volume_uuid(DATA, "swap"), SYSTEM), (volume_uuid("vol-0d2", "swap"), REFUSED)):
        subprocess.run(["mkswap", "-q", "-U", uuid, device], check=True)
        result = node.run("apply", "--deadline=60s")
        assert result.code == code, result


def test_a_mkfs_of_ours_that_was_killed_is_no_foreign_data(make_world, cloud, loops):
    """The record says that it was begun on this very disk, in this boot, when that was blank."""
    node = Node(make_world("x", "nodes"), cloud, named(BY_ID))
    node.add_disk(DATA, loops(b"half of a file system", 4096))
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    record = node.root / "var/lib/nodeup/volumes/data"
    record.parent.mkdir(parents=True)
    record.write_text(
        f"state formatting\nmachine {ME}\nfs ext4\nuuid {volume_uuid(DATA, '/data')}\nlabel \n"
        f"disk serial={DATA.replace('-', '')} size={64 * MIB} name=nvme1n1 seq=0 boot={boot}\nend\n")
    result = node.run("apply", "--deadline=60s")
    # there is none that could be run: this is as far as it gets
    assert result.code == SYSTEM and "not blank" not in result.err and "mkfs.ext4" in result.err, result
    # of another boot, it may be anything
    record.write_text(record.read_text().replace(boot, "x" * 36))
    assert node.run("apply", "--deadline=60s").code == REFUSED


@pytest.mark.parametrize("how", [BY_ID, BY_DEVICE])
def test_a_disk_in_use_costs_no_call(how, make_world, cloud, loops):
    """Once it was formatted or taken over by this very machine, nobody is asked about it any more."""
    node = Node(make_world("x", "nodes"), cloud, named(how))
    add_formatted(node, loops)
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


@pytest.mark.parametrize("code,status", [("UnauthorizedOperation", 403), ("Blocked", 400)])
def test_a_device_that_the_role_may_not_ask_about(code, status, make_world, cloud, loops):
    """kops' own form, and its role for nodes: it is used as ever, with a line that says what is not known."""
    node = Node(make_world("x", "nodes"), cloud, named(BY_DEVICE))
    add_formatted(node, loops)
    cloud.fault("DescribeVolumes", times=1000, code=code, status=status)
    said = f"volume /data: whether another instance has {DATA} as well is not known: "
    result = node.run("apply", "--deadline=60s")
    assert result.code == SYSTEM and said + f"DescribeVolumes: EC2 {status} {code}" in result.err, result
    assert (node.root / "var/lib/nodeup/volumes/data").exists()


def test_a_volume_that_is_elsewhere_is_waited_for(make_world, cloud, loops):
    """It is never attached: a program or a person does that, and the disk is waited for as any disk."""
    node = Node(make_world("x", "nodes"), cloud, "volumeMounts:\n- {%s, path: /data, deviceTimeout: 2s}\n" % BY_ID)
    cloud.volumes[DATA].update(instance="i-0other")
    result = node.run("apply", "--deadline=30s")
    assert f"warning volume /data: {DATA} is in-use, attached at i-0other, and nodeup attaches no volume" in result.err, result
    assert result.code and f"{DATA} is not here" in result.err, result
    assert set(cloud.actions()) == {"DescribeVolumes"}, result


def test_xen_by_the_name_that_ec2_tells(make_world, cloud, loops):
    """No disk tells an id there: EC2 says by which name the volume is attached."""
    node = Node(make_world("x", "nodes"), cloud, named(BY_ID))
    shutil.rmtree(node.root / "sys/block/nvme0n1")
    node.add_xen_disk("xvda", loops())
    node.add_xen_disk("xvdf", loops(b"somebody's", 4096))
    result = node.refused(REFUSED)
    assert message(result)[0] == "REFUSED volume /data: disk xvdf for /data: not blank; nothing was written (73)", result
    # EC2 does not say it, or says it of another instance
    for change in ({"instance": "i-0other"}, {"instance": None, "device": None}):
        cloud.volumes[DATA].update(change)
        result = node.refused(CONFIG)
        assert re.match(r"FAILED \S+:\d+:\d+: /data: volumeID: no disk of this machine tells which volume it is, and EC2 names no "
                        rf"device of {DATA} here \(78\)", message(result)[0]), result
        assert "  do        attach it, or name the disk by its device" in result.err, result


def test_the_record_of_attached_volumes_goes(world):
    """That of a version that attached them: by the first run that ends well, and by none before."""
    record = world.root / "var/lib/nodeup/claims.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    assert world.apply("--offline").code != OK and record.exists()
    world.converge()
    assert not record.exists()


def test_a_fact_of_attached_volumes_is_unknown(world):
    world.facts["etcdVolumes"] = "{main: vol-0abc a/a}"
    result = world.apply()
    assert result.code == CONFIG and "etcdVolumes" in result.failure, result


def test_a_tag_is_no_name(make_world, cloud):
    node = Node(make_world("x", "nodes"), cloud, named("tag: name=scratch"))
    result = node.refused(CONFIG)
    assert "tag: name its volumeID or device (78)" in message(result)[0], result
    assert cloud.actions() == []


@pytest.mark.parametrize("more", ["", "volumeMounts:\n- {device: /dev/xvdb, path: /mnt/master-pd}\n"])
def test_a_master_without_protokube(more, make_world, cloud):
    """kops never wrote one."""
    node = Node(make_world("x", "master"), cloud)
    conf = node.root / "kube_env.yaml"
    conf.write_text(conf.read_text().split("protokubeImage:")[0] + more)
    for command in ("validate", "apply"):
        result = node.run(command)
        assert result.code == CONFIG and re.search(
            r"kube_env.yaml:\d+:1: (error: )?'protokubeImage' is missing: protokube brings a master its volumes, etcd, addons and "
            "DNS names", result.out + result.err), result
