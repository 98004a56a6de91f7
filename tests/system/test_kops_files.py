"""What a worker of today's kops gets beside containerd and kubelet, on each distribution and for each network: every file, to the byte."""
import base64
import json
import os
import re
import subprocess
import tarfile

import pytest

from kops import AMAZON, ASSETS, DEBIAN, FACTS, UBUNTU, Worker
from world import CONFIG as REFUSED
from world import OK, PENDING, SYSTEM, tar

RELEASES = {"debian": DEBIAN, "ubuntu": UBUNTU, "amazon": AMAZON}
NETWORK = {"nonMasqueradeCIDR": "100.64.0.0/10", "serviceClusterIPRange": "100.64.0.0/13"}
UNITS = "/etc/systemd/system/"

CNI = "cni-plugins-linux-amd64-v1.8.0.tgz"
SYSCTL = """\
# Kubernetes Settings

vm.max_map_count = 1048576

kernel.softlockup_panic = 1
kernel.softlockup_all_cpu_backtrace = 1

net.ipv4.ip_local_reserved_ports = 30000-32767

# Increase the number of connections
net.core.somaxconn = 32768

# Maximum Socket Receive Buffer
net.core.rmem_max = 16777216

# Maximum Socket Send Buffer
net.core.wmem_max = 16777216

# Increase the maximum total buffer-space allocatable
net.ipv4.tcp_wmem = 4096 87380 16777216
net.ipv4.tcp_rmem = 4096 87380 16777216

# Increase the number of outstanding syn requests allowed
net.ipv4.tcp_max_syn_backlog = 8096

# For persistent HTTP connections
net.ipv4.tcp_slow_start_after_idle = 0

# Allow to reuse TIME_WAIT sockets for new connections
# when it is safe from protocol viewpoint
net.ipv4.tcp_tw_reuse = 1

# Max number of packets that can be queued on interface input
# If kernel is receiving packets faster than can be processed
# this queue increases
net.core.netdev_max_backlog = 16384

# Increase size of file handles and inode cache
fs.file-max = 2097152

# Max number of inotify instances for a user
# Since dockerd runs as a single user, the default instances value of 128 per user is too low
# e.g. uses of inotify: nginx ingress controller, kubectl logs -f
fs.inotify.max_user_instances = 8192
# Additional sysctl flags that kubelet expects
vm.overcommit_memory = 1
kernel.panic = 10
kernel.panic_on_oops = 1

# AWS settings

# Issue #23395
net.ipv4.neigh.default.gc_thresh1=0

"""
FORWARD = """\
# Prevent docker from changing iptables: https://github.com/kubernetes/kubernetes/issues/40182
net.ipv4.ip_forward=1
"""
FORWARD_IPV6 = """\
# Enable IPv6 forwarding for network plugins that don't do it themselves
net.ipv6.conf.all.forwarding=1
"""
FILTERS = """
# Depending on systemd version, cloud and distro, rp_filters may be enabled.
# Cilium requires this to be disabled. See https://github.com/cilium/cilium/issues/10645
net.ipv4.conf.all.rp_filter=0
net.ipv4.conf.lxc*.rp_filter=0
net.ipv4.conf.cilium_*.rp_filter=0
"""
CHRONY = """\
# Built by kOps - do NOT edit

pool 169.254.169.123 prefer iburst
driftfile /var/lib/chrony/drift
leapsectz right/UTC
logdir /var/log/chrony
makestep 1.0 3
maxupdateskew 100.0
rtcsync
"""
UPGRADES = """\
APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";

APT::Periodic::AutocleanInterval "7";
"""
LOG = """\
/var/log/NAME.log{
  rotate 5
  copytruncate
  missingok
  notifempty
  delaycompress
  maxsize 100M
  daily
  create 0644 root root
}
"""
LOGS = ("docker", "etcd", "etcd-events", "etcd-leases", "kube-addons", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler",
        "kubelet")
ROTATE = """\
[Unit]
Description=Rotate and Compress System Logs

[Service]
ExecStart=/usr/sbin/logrotate /etc/logrotate.conf
"""
HOURLY = """\
[Unit]
Description=Hourly Log Rotation

[Timer]
OnCalendar=hourly
"""
FIREWALL = """\
#!/bin/bash
# Built by kops - do not edit

# The GCI image has host firewall which drop most inbound/forwarded packets.
# We need to add rules to accept all TCP/UDP/ICMP packets.
if iptables -w -L INPUT | grep "Chain INPUT (policy DROP)" > /dev/null; then
echo "Add rules to accept all inbound TCP/UDP/ICMP packets"
iptables -A INPUT -w -p TCP -j ACCEPT
iptables -A INPUT -w -p UDP -j ACCEPT
iptables -A INPUT -w -p ICMP -j ACCEPT
fi
if iptables -w -L FORWARD | grep "Chain FORWARD (policy DROP)" > /dev/null; then
echo "Add rules to accept all forwarded TCP/UDP/ICMP packets"
iptables -A FORWARD -w -p TCP -j ACCEPT
iptables -A FORWARD -w -p UDP -j ACCEPT
iptables -A FORWARD -w -p ICMP -j ACCEPT
fi
"""
FIREWALL_UNIT = """\
[Unit]
Description=Configure iptables for kubernetes
Documentation=https://github.com/kubernetes/kops
Before=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/opt/kops/bin/iptables-setup

[Install]
WantedBy=basic.target
"""
ROUTES = {"/usr/lib/systemd/networkd.conf.d/40-disable-manage-foreign-routes.conf": """
# Do not clobber any routes or rules added by CNI.
[Network]
ManageForeignRoutes=no
ManageForeignRoutingPolicyRules=no
"""}
LINK = {"/etc/systemd/network/99-default.link": """
[Match]
OriginalName=*
[Link]
NamePolicy=keep kernel database onboard slot path
AlternativeNamesPolicy=database onboard slot path
MACAddressPolicy=none
"""}
OTHERS = {"/etc/systemd/network/75-eni-secondary.network": """
[Match]
Driver=ena
Property=!INTERFACE=ens5

[Link]
Unmanaged=yes
"""}
HOTPLUG = {"/etc/cloud/cloud.cfg.d/99-disable-network-hotplug.cfg": """\
# Disable cloud-init network hotplug to prevent interference with CNI ENI management.
# See: https://github.com/kubernetes/kops/issues/17881
updates:
  network:
    when: [boot-new-instance]
"""}
POLICY = {"/etc/udev/rules.d/99-vpc-policy-routes.rules": ""}
TABLES = {"/usr/share/iproute2": "/etc/iproute2"}
MOUNT = """
[Unit]
Description=Cilium %s mounts
Documentation=http://docs.cilium.io/
DefaultDependencies=no
Before=local-fs.target umount.target kubelet.service

[Mount]
What=%s
Where=%s
Type=%s

[Install]
WantedBy=multi-user.target
"""


def enabled(unit, target="multi-user.target"):
    return {f"{UNITS}{target}.wants/{unit}": UNITS + unit}


CGROUP = {UNITS + "run-cilium-cgroupv2.mount": MOUNT % ("Cgroup2", "cgroup2", "/run/cilium/cgroupv2", "cgroup2"),
          **enabled("run-cilium-cgroupv2.mount")}
BPFFS = {UNITS + "sys-fs-bpf.mount": MOUNT % ("BPF", "bpffs", "/sys/fs/bpf", "bpf"), **enabled("sys-fs-bpf.mount")}
BASE = {
    **{f"/etc/logrotate.d/{name}": LOG.replace("NAME", name) for name in LOGS},
    UNITS + "logrotate.service": ROTATE, UNITS + "logrotate.timer": HOURLY, "/opt/kops/bin/iptables-setup": FIREWALL,
    UNITS + "kubernetes-iptables-setup.service": FIREWALL_UNIT, **enabled("kubernetes-iptables-setup.service", "basic.target"),
}
APT = {"/etc/chrony/chrony.conf": CHRONY, "/etc/apt/apt.conf.d/20auto-upgrades": UPGRADES}
OF_RELEASE = {"debian": {**BASE, **APT}, "ubuntu": {**BASE, **APT}, "amazon": {**BASE, "/etc/chrony.conf": CHRONY}}
# documents of the network: what each release gets for it
NETWORKS = {
    "amazonVPC": ({"amazonVPC": {}}, {"debian": ROUTES | LINK | OTHERS | HOTPLUG, "ubuntu": ROUTES | LINK | HOTPLUG,
                                      "amazon": ROUTES | LINK | OTHERS | POLICY}),
    "cilium": ({"cilium": {}}, {"debian": ROUTES | HOTPLUG | CGROUP, "ubuntu": ROUTES | HOTPLUG | CGROUP, "amazon": ROUTES | CGROUP}),
    "cilium eni": ({"cilium": {"ipam": "eni"}}, {
        "debian": ROUTES | LINK | OTHERS | HOTPLUG | CGROUP, "ubuntu": ROUTES | LINK | HOTPLUG | CGROUP,
        "amazon": ROUTES | LINK | OTHERS | POLICY | CGROUP}),
    "calico": ({"calico": {}}, {}), "flannel": ({"flannel": {}}, {}), "kindnet": ({"kindnet": {}}, {}), "cni": ({"cni": {}}, {}), "none": ({}, {}),
    "kubeRouter": ({"kubeRouter": {}}, {"debian": TABLES, "ubuntu": TABLES}),
}
# what is not looked at here: containerd, kubelet and kube-proxy
ELSEWHERE = ("/etc/containerd", "/etc/crictl.yaml", "/etc/kubernetes/manifests/", "/etc/sysconfig", UNITS + "cni-iptables", UNITS + "containerd", UNITS + "kubelet",
             UNITS + "basic.target.wants/cni-iptables", UNITS + "multi-user.target.wants/containerd", UNITS + "multi-user.target.wants/kubelet", "/opt/cni/bin", "/opt/kops/bin/cni-iptables-setup", "/srv/kubernetes",
             "/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/share/doc", "/var/lib", "/var/log")
MODES = {"/opt/kops/bin/iptables-setup": "0755", "/root/.docker/config.json": "0600"}


def make(folder, release="debian", network=(), **config):
    worker = Worker(folder, Networking={**NETWORK, **dict(network)}, **config)
    worker.facts = {**RELEASES[release], **FACTS}
    return worker


def files_of(worker):
    """Path and text of all that is looked at here; modes are checked on the way."""
    with worker.controller():
        done = worker.apply()
        assert done.returncode == OK, done.stderr
    found = {}
    for path, what in worker.tree().items():
        if path.startswith(ELSEWHERE):
            continue
        if isinstance(what, tuple):
            assert what[0] == MODES.get(path, "0644"), path
            what = what[1].decode()
        found[path] = what
    return found


def packages_of(worker):
    worker.write()
    with worker.controller():
        done = worker.run("plan", "-o", "json")
    assert done.returncode == PENDING, done.stderr
    return sorted(sorted(task["name"].split()) for task in json.loads(done.stdout)["tasks"] if task["kind"] == "package")


# The check has each network on Debian, and each release without one.
@pytest.mark.parametrize("name, release", [
    pytest.param(name, release, marks=[pytest.mark.long] * (name != "none" and release != "debian")) for name in NETWORKS for release in RELEASES])
def test_a_node_gets_these_files_and_no_other(name, release, tmp_path):
    documents, brings = NETWORKS[name]
    sysctl = SYSCTL + FORWARD + (FILTERS if "cilium" in documents else "")
    found = files_of(make(tmp_path, release, documents))
    assert found.pop("/etc/sysctl.d/99-k8s-general.conf") == sysctl
    assert found == {**OF_RELEASE[release], **brings.get(release, {})}


def test_settings_of_the_kernel_that_the_documents_have(tmp_path):
    worker = make(tmp_path, sysctlParameters=["# mine", "vm.swappiness=10", "net.core.somaxconn=65535"], ServiceNodePortRange="20000-20999")
    assert files_of(worker)["/etc/sysctl.d/99-k8s-general.conf"] == (SYSCTL + FORWARD).replace("30000-32767", "20000-20999") + (
        "\n# mine\nvm.swappiness=10\nnet.core.somaxconn=65535")


def test_a_setting_of_the_kernel_that_says_nothing(tmp_path):
    worker = Worker(tmp_path, SysctlParameters=["vm.swappiness=10", "# none", "-net.a", "no equals here"])
    with worker.controller():
        done = worker.apply()
    assert done.returncode == REFUSED and worker.tree() == {}, done.stderr
    assert re.search(r"\.yaml:\d+:\d+: SysctlParameters\[3\]: expected a line of sysctl\.d\(5\) .*found 'no equals here'", done.stderr)


def test_settings_of_a_kernel_of_version_6(tmp_path):
    worker = make(tmp_path, network={"nonMasqueradeCIDR": "::/0", "serviceClusterIPRange": "fd00:5e4f:ce::/108", "cilium": {}})
    assert files_of(worker)["/etc/sysctl.d/99-k8s-general.conf"] == SYSCTL + FORWARD_IPV6 + FILTERS


@pytest.mark.parametrize("release, config, names", [
    ("debian", {}, "chrony logrotate unattended-upgrades; iptables libapparmor1 libseccomp2 util-linux"),
    ("ubuntu", {"UpdatePolicy": "external"}, "chrony logrotate; iptables libapparmor1 libseccomp2 util-linux"),
    ("ubuntu", {"network": {"calico": {}}}, "chrony logrotate unattended-upgrades; iptables libapparmor1 libseccomp2 util-linux wireguard"),
    ("ubuntu", {"network": {"calico": {"wireguardEnabled": False}}},
     "chrony logrotate unattended-upgrades; iptables libapparmor1 libseccomp2 util-linux"),
    ("debian", {"network": {"calico": {}}}, "chrony logrotate unattended-upgrades; iptables libapparmor1 libseccomp2 util-linux"),
    ("amazon", {"NTPUnmanaged": True, "packages": ["htop", "logrotate"]}, "container-selinux htop iptables-nft libseccomp util-linux; logrotate"),
    ("amazon", {"KubeProxy": {"cpuRequest": "100m", "image": "k", "enabled": True, "proxyMode": "nftables"}},
     "chrony logrotate; container-selinux iptables-nft libseccomp nftables util-linux"),
    ("debian", {"KubeProxy": {"cpuRequest": "100m", "image": "k", "proxyMode": "nftables"}},
     "chrony logrotate unattended-upgrades; iptables libapparmor1 libseccomp2 util-linux"),
])
def test_packages_are_two_calls(release, config, names, tmp_path):
    """What pods need, and what a node does its work without."""
    assert packages_of(make(tmp_path, release, **config)) == [call.split() for call in names.split("; ")]


def test_updates_are_left_to_others(tmp_path):
    assert files_of(make(tmp_path, UpdatePolicy="external"))["/etc/apt/apt.conf.d/20auto-upgrades"] == 'APT::Periodic::Enable "0";\n'


def test_a_clock_that_is_left_alone(tmp_path):
    assert not [path for path in files_of(make(tmp_path, NTPUnmanaged=True)) if "chrony" in path]


def test_cilium_with_an_etcd_of_its_own(tmp_path):
    worker = make(tmp_path, network={"cilium": {}}, UseCiliumEtcd=True)
    worker.config["KeypairIDs"]["etcd-clients-ca-cilium"] = "69828"
    worker.config["CAs"] = {"etcd-clients-ca-cilium": (worker.folder / "ca.crt").read_text()}
    with worker.controller():
        done = worker.apply()
    assert done.returncode == OK, done.stderr
    tree, where = worker.tree(), "/etc/kubernetes/pki/cilium/"
    assert tree[where + "etcd-ca.crt"] == ("0600", (worker.folder / "ca.crt").read_bytes())
    assert [tree[where + f"etcd-client-cilium.{end}"][0] for end in ("crt", "key")] == ["0644", "0400"]
    assert tree["/etc/logrotate.d/etcd-cilium"] == ("0644", LOG.replace("NAME", "etcd-cilium").encode())


def test_bpffs_is_mounted_where_systemd_does_not(tmp_path):
    worker = make(tmp_path, network={"cilium": {}})
    worker.facts["bpffsMounted"] = False
    found = files_of(worker)
    assert {path: found.get(path) for path in BPFFS} == BPFFS


@pytest.mark.parametrize("interfaces", [
    {}, {"ens5": "06:00:00:00:00:01"}, {"ens5": "06:11:22:33:44:55", "ens6": "06:11:22:33:44:55"},
])
def test_no_interface_is_left_alone_unless_the_first_is_known(interfaces, tmp_path):
    worker = make(tmp_path, network={"amazonVPC": {}})
    worker.facts["interfaces"] = interfaces
    assert not set(files_of(worker)) & set(OTHERS)


def test_the_first_interface_is_found_by_its_mac(tmp_path):
    worker = make(tmp_path, network={"amazonVPC": {}})
    worker.facts.update(mac="0A:11:22:33:44:55", interfaces={"ens5": "06:00:00:00:00:01", "enp39s0": "0a:11:22:33:44:55"})
    assert files_of(worker)["/etc/systemd/network/75-eni-secondary.network"] == next(iter(OTHERS.values())).replace("ens5", "enp39s0")


def test_names_of_the_control_plane(tmp_path):
    worker = make(tmp_path)
    hosts = worker.root / "etc/hosts"
    hosts.parent.mkdir()
    hosts.write_text("127.0.0.1 localhost\n\n\n")
    boot = worker.boot
    worker.boot = lambda: {**boot(), "APIServerIPs": ["10.0.0.9", "10.0.0.10", "10.0.0.9"]}
    found = files_of(worker)
    names = "api.internal.a.example.com kops-controller.internal.a.example.com"
    assert found["/etc/hosts"] == (
        "127.0.0.1 localhost\n\n# Begin host entries managed by kops - do not edit\n"
        f"10.0.0.10\t{names}\n10.0.0.9\t{names}\n# End host entries managed by kops\n")
    number = hosts.stat().st_ino
    hosts.write_text(found["/etc/hosts"].replace("10.0.0.9", "10.0.0.8") + "10.1.1.1 other\n")
    assert files_of(worker)["/etc/hosts"] == found["/etc/hosts"].replace("localhost\n", "localhost\n\n10.1.1.1 other\n", 1)
    assert hosts.stat().st_ino == number


def test_a_registry_login_is_a_secret(tmp_path):
    worker = make(tmp_path)
    login = b'{"auths": {"x": {"auth": "hidden"}}}'
    worker.control["secrets"] = {"dockerconfig": base64.b64encode(login).decode()}
    assert files_of(worker)["/root/.docker/config.json"] == login.decode()


@pytest.mark.parametrize("uses_kubenet", [False, True])
def test_directories(uses_kubenet, tmp_path):
    worker = make(tmp_path, UsesKubenet=uses_kubenet)
    files_of(worker)
    modes = {path: oct((worker.root / path).stat().st_mode & 0o7777) if (worker.root / path).exists() else None
             for path in ("etc/kubernetes/manifests", "srv/kubernetes", "srv/kubernetes/assets", "etc/cni/net.d")}
    assert modes == {"etc/kubernetes/manifests": "0o755", "srv/kubernetes": "0o755", "srv/kubernetes/assets": "0o755",
                     "etc/cni/net.d": None if uses_kubenet else "0o755"}


def test_a_kubelet_that_knows_the_cloud_itself_has_a_file_of_it(tmp_path):
    worker = make(tmp_path, DisableSecurityGroupIngress=True, NodeIPFamilies=["ipv6", "ipv4"])
    worker.config["KubeletConfig"] = {**worker.config["KubeletConfig"], "cloudProvider": ""}
    assert files_of(worker)["/etc/kubernetes/cloud.config"] == (
        "[global]\nDisableSecurityGroupIngress = true\nNodeIPFamilies = ipv6\nNodeIPFamilies = ipv4\n")


@pytest.mark.parametrize("facts, says", [
    ({"distribution": "debian", "version": "10"}, "this is debian 10, and nodes of these documents are made on debian "),
    ({"distribution": "ubuntu", "version": "20.04"}, "this is ubuntu 20.04"),
    ({"distribution": "amazonlinux", "version": "2"}, "this is amazonlinux 2,"),
    ({"distribution": "coreos", "version": "1576.5.0"}, "this is coreos 1576.5.0"),
])
def test_another_release_is_refused_before_anything_is_written(facts, says, tmp_path):
    worker = make(tmp_path)
    worker.facts = {**FACTS, **facts}
    with worker.controller():
        done = worker.apply()
    assert done.returncode == REFUSED and says in done.stderr, done.stderr
    assert worker.tree() == {}


def test_a_program_of_the_distribution_that_no_archive_has_stays(tmp_path):
    worker = make(tmp_path)
    theirs = worker.root / "usr/bin/containerd-shim"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("of a package\n")
    with worker.controller():
        assert worker.apply().returncode == OK
        planned = worker.run("plan")
    assert planned.returncode == OK, planned.stdout
    assert theirs.read_text() == "of a package\n"


def test_a_directory_is_given_back_to_root(tmp_path):
    worker = make(tmp_path)
    with worker.controller():
        assert worker.apply().returncode == OK
        os.chown(worker.root / "srv/kubernetes", 1, 1)
        planned = worker.run("plan")
        assert planned.returncode == PENDING and "dir /srv/kubernetes: owner 1:1, want 0:0" in planned.stdout, planned.stdout
        assert worker.apply().returncode == OK
    assert (worker.root / "srv/kubernetes").stat().st_uid == 0


def test_a_plugin_that_cannot_be_installed(tmp_path):
    """Only what no archive has is left out: a plugin that the archive has, and the disk will not take, fails the run."""
    worker = Worker(tmp_path)
    way = worker.root / "opt/cni/bin/bridge"
    way.mkdir(parents=True)
    with worker.controller():
        # a folder would be set aside, but for a mount point
        subprocess.run(["mount", "--bind", way, way], check=True)
        try:
            done = worker.apply("--deadline=20s")
        finally:
            subprocess.run(["umount", way], check=True)
        assert done.returncode == SYSTEM and "/opt/cni/bin/bridge" in done.stderr, done.stderr
        assert UNITS + "multi-user.target.wants/kubelet.service" not in worker.tree()
        way.rmdir()
        assert worker.apply("--deadline=20s").returncode == OK
    assert "/opt/cni/bin/bridge" in worker.tree() and "/opt/cni/bin/ptp" not in worker.tree()


def test_a_plugin_that_is_a_link(tmp_path, monkeypatch):
    link = tarfile.TarInfo("./bridge")
    link.type, link.linkname = tarfile.SYMTYPE, "host-local"
    monkeypatch.setitem(ASSETS, CNI, tar({"./bridge": link, "./host-local": b"host-local\n"}))
    worker = Worker(tmp_path)
    with worker.controller():
        done = worker.apply("--deadline=20s")
    assert done.returncode == REFUSED and "'bridge' is a link to 'host-local', and only files are installed" in done.stderr, done.stderr
