"""What the lab needs of its host: packages, a CA, and the throw-away trees of Debian, each made once."""
import glob
import hashlib
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "build/lab")
CERTS = os.path.join(LAB, "certs")
SUITE = "bookworm"

# Name -> address inside every node's network namespace.  Nothing listens on the dead mirror's.
S3, FAST, SLOW, DEAD = "10.99.0.2", "10.99.0.3", "10.99.0.4", "10.99.0.5"
NAMES = {
    "s3.amazonaws.com": S3, "s3.us-west-2.amazonaws.com": S3, "s3.us-east-1.amazonaws.com": S3,
    "jdurbin-kops.s3.amazonaws.com": S3, "jdurbin-kops.s3.us-west-2.amazonaws.com": S3,
    "s3.dualstack.us-west-2.amazonaws.com": S3, "s3-us-west-2.amazonaws.com": S3,
    "jdurbin-kops.s3.dualstack.us-west-2.amazonaws.com": S3,
    "jdurbin-kops.s3-us-west-2.amazonaws.com": S3,
    "storage.googleapis.com": FAST, "kubeupv2.s3.amazonaws.com": FAST,
    "good.mirror.test": FAST, "slow.mirror.test": SLOW, "dead.mirror.test": DEAD,
}

HOST = {  # a file that shows it is there -> package
    "/usr/sbin/debootstrap": "debootstrap", "/usr/bin/systemd-nspawn": "systemd-container",
    "/usr/sbin/nginx": "nginx-light", "/usr/bin/openssl": "openssl", "/usr/bin/gcc": "gcc",
    "/usr/include/yaml.h": "libyaml-dev", "/usr/include/stdio.h": "libc6-dev",
    "/usr/lib/python3/dist-packages/pytest": "python3-pytest", "/usr/bin/nsenter": "util-linux",
    "/usr/bin/curl": "curl",
}

# No service of the tree's own packages may distract: what is masked needs hardware or network.
PACKAGES = ("docker.io cloud-init curl wget ca-certificates iptables iproute2 procps kmod openssl "
            "dbus e2fsprogs xfsprogs btrfs-progs strace").split()
MASKED = ("apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer e2scrub_reap.service "
          "dpkg-db-backup.timer console-getty.service systemd-networkd-wait-online.service").split()
CLOUD = """datasource_list: [NoCloud]
network: {config: disabled}
locale: C.UTF-8
ssh_deletekeys: false
ssh_genkeytypes: []
users: []
disable_root: false
"""
# The kernel is the host's: what is not of the network namespace (or lacks there) is set in copies
# below /run.  Their values are a small machine's defaults, none longer than what replaces it: a
# plain file, unlike the kernel's, keeps the tail of a longer text that is overwritten.
SYSCTL = """#!/bin/sh
set -e
while read -r name value; do
	mkdir -p "/run/lab/sys/${name%/*}"
	echo "$value" >"/run/lab/sys/$name"
	case $name in
	net/*) continue ;; # the directory is laid as a whole below
	esac
	[ ! -e "/proc/sys/$name" ] || mount --bind "/run/lab/sys/$name" "/proc/sys/$name"
done <<END
vm/max_map_count 65530
vm/overcommit_memory 0
kernel/panic 0
kernel/panic_on_oops 0
kernel/softlockup_panic 0
kernel/softlockup_all_cpu_backtrace 0
fs/file-max 800000
fs/inotify/max_user_instances 128
fs/inotify/max_user_watches 8192
net/core/somaxconn 4096
net/core/rmem_max 212992
net/core/wmem_max 212992
net/core/rmem_default 212992
net/core/wmem_default 212992
net/core/netdev_max_backlog 1000
net/core/optmem_max 20480
net/ipv4/neigh/default/gc_thresh1 1
net/ipv4/neigh/default/gc_thresh2 512
net/ipv4/neigh/default/gc_thresh3 1024
END
for d in net/core net/ipv4/neigh; do
	mount --bind "/run/lab/sys/$d" "/proc/sys/$d"
done
"""
SYSCTL_UNIT = """[Unit]
Description=Copies of the host kernel's settings, to be set freely
DefaultDependencies=no
After=local-fs.target
Before=sysinit.target systemd-sysctl.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/lab-sysctl

[Install]
WantedBy=sysinit.target
"""


class LabError(Exception):
    pass


def run(*argv, **kwargs):
    """Run a program; its stdout, or LabError with the end of what it said."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", **kwargs)
    if done.returncode:
        raise LabError("%s: status %d\n%s%s" % (" ".join(argv), done.returncode,
                                                done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def host_packages(wanted=None):
    """Install what is missing; a service that comes along is not started."""
    missing = sorted({package for path, package in (wanted or HOST).items() if not os.path.exists(path)})
    if not missing:
        return
    policy = "/usr/sbin/policy-rc.d"
    ours = not os.path.exists(policy)
    if ours:
        write(policy, "#!/bin/sh\nexit 101\n", 0o755)
    try:
        environ = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        run("apt-get", "update", env=environ)
        run("apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600", *missing, env=environ)
    finally:
        if ours:
            os.unlink(policy)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


def apt_site():
    """The address this machine's own apt uses for the suite, or for any."""
    for extra in (["Codename: " + SUITE], []):
        sites = run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages",
                    "Component: main", *extra).split()
        if sites:
            return sites[0]
    raise LabError("apt on this machine has no sources")


def fetch(folder, suite, packages, arch="amd64", verb=("download",)):
    """Packages of the suite into the folder's debs, by an apt of their own; whether they can be had."""
    for name in ("lists/partial", "cache/archives/partial", "debs/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {apt_site()} {suite} main\n")
    options = [word for key, value in {
        "APT::Architecture": arch, "APT::Architectures": arch, "Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists", "Dir::Cache": folder / "cache", "Dir::Cache::archives": folder / "debs",
        "Dir::State::status": "/dev/null", "Debug::NoLocking": "1", "APT::Sandbox::User": "root",
        "Acquire::Languages": "none", "Acquire::PDiffs": "false", "Acquire::Retries": "3"}.items() for word in ("-o", f"{key}={value}")]
    return all(subprocess.run(["apt-get", "-q", *options, *words], cwd=folder / "debs", capture_output=True, check=False).returncode == 0
               for words in (["update"], [*verb, *packages]))


def ensure_certs():
    """A CA of ours, and one certificate for every name the lab answers."""
    key = hashlib.sha256(repr(sorted(NAMES)).encode()).hexdigest()[:12]
    if os.path.exists(os.path.join(CERTS, key)):
        return
    shutil.rmtree(CERTS, ignore_errors=True)
    os.makedirs(CERTS)
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    write(CERTS + "/server.ext", "basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n"
          "subjectAltName=%s\n" % ",".join("DNS:" + name for name in NAMES))
    run("openssl", "req", "-x509", *ec, "-keyout", "ca.key", "-out", "ca.crt", "-days", "3650",
        "-subj", "/CN=nodeup lab CA", "-addext", "keyUsage=critical,keyCertSign,cRLSign", cwd=CERTS)
    run("openssl", "req", *ec, "-keyout", "server.key", "-out", "server.csr", "-subj",
        "/CN=storage.googleapis.com", cwd=CERTS)
    run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
        "-CAcreateserial", "-days", "3650", "-extfile", "server.ext", "-out", "server.crt", cwd=CERTS)
    write(os.path.join(CERTS, key), "")


def hosts():
    return "127.0.0.1 localhost\n" + "".join("%s %s\n" % (a, n) for n, a in NAMES.items())


def recipe(suite=SUITE):
    with open(os.path.join(ROOT, "tests/fake/docker")) as f, open(CERTS + "/ca.crt") as ca:
        parts = [suite, PACKAGES, MASKED, CLOUD, SYSCTL, SYSCTL_UNIT, hosts(), f.read(), ca.read()]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def ensure_tree(suite=SUITE):
    """The path of the tree for this recipe, and whether it was there already."""
    prefix = os.path.join(LAB, "tree-" if suite == SUITE else suite + "-tree-")
    tree = prefix + recipe(suite)
    if os.path.isdir(tree):
        return tree, True
    if not glob.glob(LAB + "/run-*"):  # nobody boots from an older one
        for old in glob.glob(prefix + "*"):
            shutil.rmtree(old)
    making = tree + ".new"
    shutil.rmtree(making, ignore_errors=True)
    run("debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv", suite, making, apt_site())
    install(making)
    settle(making)
    os.rename(making, tree)
    return tree, False


def apt_options():
    """Through the proxy that this machine's own apt uses."""
    options = []
    for scheme in ("http", "https"):
        proxy = run("apt-config", "shell", "P", "Acquire::%s::Proxy" % scheme).strip()
        if proxy:
            options += ["-o", "Acquire::%s::Proxy=%s" % (scheme, proxy[3:-1])]
    return options


def install(tree, packages=PACKAGES):
    """The rest by apt: debootstrap cannot follow every dependency."""
    shutil.copyfile("/etc/resolv.conf", tree + "/etc/resolv.conf")
    options = apt_options()
    environ = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8")
    run("chroot", tree, "apt-get", *options, "install", "-y", "--no-install-recommends", *packages,
        env=environ)
    run("chroot", tree, "apt-get", "clean")
    shutil.rmtree(tree + "/usr/share/doc", ignore_errors=True)


def settle(tree):
    """Our CA, names, docker wrapper and cloud-init settings."""
    os.makedirs(tree + "/usr/local/share/ca-certificates", exist_ok=True)
    shutil.copyfile(CERTS + "/ca.crt", tree + "/usr/local/share/ca-certificates/lab.crt")
    run("chroot", tree, "update-ca-certificates")
    run("chroot", tree, "dpkg-divert", "--rename", "--divert", "/usr/bin/docker.real", "--add",
        "/usr/bin/docker")
    shutil.copyfile(ROOT + "/tests/fake/docker", tree + "/usr/bin/docker")
    os.chmod(tree + "/usr/bin/docker", 0o755)
    write(tree + "/etc/hosts", hosts())
    write(tree + "/etc/resolv.conf", "nameserver 169.254.169.253\n")
    write(tree + "/etc/cloud/cloud.cfg.d/90_lab.cfg", CLOUD)
    write(tree + "/usr/local/sbin/lab-sysctl", SYSCTL, 0o755)
    write(tree + "/etc/systemd/system/lab-sysctl.service", SYSCTL_UNIT)
    run("systemctl", "--root=" + tree, "enable", "lab-sysctl.service")
    run("systemctl", "--root=" + tree, "mask", *MASKED)
    write(tree + "/etc/machine-id", "")
