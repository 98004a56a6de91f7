"""A worker of today's kops on releases of Red Hat's family, as far as Debian's rpm and dnf go: this tree with their os-release, and with a
repository of packages that have their names."""
import json
import os
import pathlib

import pytest
import yaml

import kopsnode
import test_packages as packages
from lab import ROOT, Lab

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
UNIT = "[Service]\\nExecStart=/usr/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n"
UNITS = "/usr/lib/systemd/system"
# What a package's script brings beside a note that it ran.
BRINGS = {"chrony": f"printf '{UNIT}' >{UNITS}/chronyd.service; "}
MASKED = {"LoadState": "masked", "ActiveState": "inactive"}


def become(machine, release):
    """This release, whose firewall runs."""
    node, root = machine.node, pathlib.Path(machine.node.root)
    case = yaml.safe_load(pathlib.Path(ROOT, "tests/cases/kops/releases", f"{release}.yaml").read_text())
    for name in ("etc/os-release", "usr/lib/os-release"):
        (root / name).unlink(missing_ok=True)
        (root / name).write_text(case["os-release"])
    packages.settle(node, root)
    node.sh(f"systemctl disable --now chrony.service; rm -f /etc/systemd/system/chronyd.service; printf '{UNIT}' >{UNITS}/firewalld.service;"
            "systemctl daemon-reload; systemctl enable --now firewalld.service")


def offer(machine):
    """A repository of what is planned; the names."""
    node, root = machine.node, pathlib.Path(machine.node.root)
    planned = machine.nodeup("plan", f"--conf={kopsnode.CONF}", "-o", "json")
    names = [name for task in json.loads(planned.stdout)["tasks"] if task["kind"] == "package" for name in task["name"].split()]
    # whose scripts want the shell of a package
    packages.build_rpm(node, root, "shell", 1, "", "Provides: /bin/sh")
    for name in names:
        packages.build_rpm(node, root, name, 1, BRINGS.get(name, "") + packages.RAN % name)
    node.sh("rpm -i /srv/rpms/shell-1.rpm; createrepo_c -q /srv/rpms")
    return names


@pytest.mark.long
@pytest.mark.parametrize("release, names, firewall", [
    ("rocky-9", "nftables iptables-nft libseccomp util-linux container-selinux chrony logrotate", {"LoadState": "loaded", "ActiveState": "active"}),
    ("rhel-10", "nftables iptables-nft libseccomp util-linux container-selinux chrony logrotate kernel-modules-extra", MASKED),
    ("amazonlinux-2023", "iptables-nft libseccomp util-linux container-selinux chrony logrotate", {"LoadState": "loaded", "ActiveState": "active"}),
])
def test_a_worker(release, names, firewall):
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with Lab() as lab:
        m = kopsnode.Machine(lab, release, runtime, layers=[lab.layer("rpm", packages.PACKAGES)])
        become(m, release)
        assert sorted(offer(m)) == sorted(names.split())
        for _ in range(2):
            said = m.apply()
            assert [p["ActiveState"] for p in m.pids()] == ["active", "active"] and m.node.healthz() == "ok", said
            # modules of the running kernel are not asked for where its list of modules is not there
            found = {name: (packages.version_of(m.node, "rpm", name), packages.runs(m.node, name)) for name in names.split()}
            assert found == {name: ("1", 1) if name != "kernel-modules-extra" else (None, 0) for name in found}
            assert m.node.show("chronyd.service", "ActiveState") == {"ActiveState": "active"}
            assert m.node.show("firewalld.service", "LoadState", "ActiveState") == firewall
        assert " changed" not in said, said
        planned = m.nodeup("plan")
        assert planned.returncode == 0, planned.stdout + planned.stderr
        done = m.nodeup("uninstall", "--units")
        assert done.returncode == 0 and m.node.show("firewalld.service", "LoadState", "ActiveState") == {**firewall, "LoadState": "loaded"}, done
