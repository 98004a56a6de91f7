"""A worker of kops from user data to kubelet with nodeup in the place of kops' own program, back to that, and to nodeup again: of today's
kops, and of an older one."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import kopsnode
from lab import FAKE, HERE, ROOT, Lab
from labhost import run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
OURS, UNITS, VENDOR = "kops-configuration.service", "/etc/systemd/system/", "/lib/systemd/system/"
SERVICES = ("containerd.service", "kubelet.service")
# the first of two mirrors is down
PLACE = "mirror.test/dist/binaries/kops"
URL = f"https://dead.{PLACE}/{{1}}/linux/{{0}}/nodeup,https://good.{PLACE}/{{1}}/linux/{{0}}/nodeup"
# {kops: of which Kubernetes its documents are; None: they are today's}
KUBERNETES = {"1.37.0": None, "1.34.3": "1.33.4"}


def kops_script():
    """kops' own where a clone of it is named by KOPS, else ours."""
    if "KOPS" not in os.environ:
        return pathlib.Path(HERE, "kops_user_data.sh").read_text()
    found = sorted(pathlib.Path(os.environ["KOPS"]).glob("tests/integration/update_cluster/minimal-1.*/**/aws_launch_template_nodes.*_user_data"))
    assert found, "the clone has no user data of a worker"
    return found[-1].read_text()


def user_data(script, document, region, digest, version):
    """Unchanged but for what kops fills in: where nodeup is and its hash, the region, and the document of this cluster."""
    values = {"NODEUP_URL_AMD64": URL.format("amd64", version), "NODEUP_HASH_AMD64": digest, "NODEUP_URL_ARM64": URL.format("arm64", version),
              "NODEUP_HASH_ARM64": "0" * 64, "export AWS_REGION": region}
    for name, value in values.items():
        script, n = re.subn(rf"(?m)^{name}=.*$", f"{name}={value}", script)
        assert n == 1, f"user data without {name}"
    script, n = re.subn(r"(?s)(<< '__EOF_KUBE_ENV'\n).*(__EOF_KUBE_ENV\n)", lambda m: m[1] + document + m[2], script)
    assert n == 1
    return script


@pytest.fixture(scope="module", params=[pytest.param("1.37.0", marks=pytest.mark.long), "1.34.3"])
def machine(request):
    runtime = kopsnode.newest() or pytest.skip(f"no containerd of {kopsnode.NEWEST[0]}")
    with Lab() as lab:
        folder = pathlib.Path(lab.dir, "dist/linux/amd64")
        subprocess.run(["make", "-s", "-o", "build/nodeup", "dist", f"DIST={folder}"], cwd=ROOT, check=True,
                       env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")})
        shutil.copytree(ROOT + "/build/dist/binaries", lab.dir + "/dist/binaries", symlinks=True)
        kubernetes = KUBERNETES[request.param]
        m = kopsnode.Machine(lab, "kops", runtime, of=kubernetes and (request.param, kubernetes))
        m.dist, m.version = folder, request.param
        m.node.sh("rm -r /opt/kops")
        yield m


def fragments(m):
    """Where the file of each service is, and whether it is up and enabled."""
    found = {name: m.node.show(name, "FragmentPath", "ActiveState", "UnitFileState") for name in SERVICES}
    return {name: (of["FragmentPath"], of["ActiveState"], of["UnitFileState"]) for name, of in found.items()}


def settled(m):
    """The boot unit has come to its end."""
    m.node.wait(lambda: m.node.show(OURS, "ActiveState")["ActiveState"] in ("inactive", "failed"), 300, OURS)
    assert m.node.show(OURS, "Result")["Result"] == "success", m.node.journal(OURS)


def content(m, *folders):
    return m.node.sh("cd /; find " + " ".join(folders) + " -type f -print0 | sort -z | xargs -0 sha256sum")


def healthy(m):
    m.node.wait(lambda: m.node.healthz() == "ok", 120, "kubelet")


def test_user_data_of_kops_makes_a_worker(machine):
    m = machine
    digest = (m.dist / "nodeup.sha256").read_text().split()[0]
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    document = (m.worker.folder / "documents/kube_env.yaml").read_text()
    script = user_data(kops_script(), document, "us-west-2", digest, m.version)
    m.node.again(0, m.node.serve_imds, m.node.facts(script))
    m.node.wait(lambda: "169.254.169.254:80" in run("ip", "netns", "exec", m.node.netns, "ss", "-Hltn"), 60, "the metadata service")
    path = m.put("root/part-001", script.encode())
    done = m.node.exec("/" + str(path.relative_to(m.node.root)), timeout=400)
    assert done.returncode == 0 and "service installed" in done.stdout.splitlines(), done
    settled(m)
    assert m.worker.requests() == ["200 ", "200 kube-proxy kubelet kubelet-server"] and m.node.healthz() == "ok"
    assert fragments(m) == {name: (UNITS + name, "active", "enabled") for name in SERVICES}
    assert m.node.sh("sha256sum /opt/kops/bin/nodeup").split()[0] == digest
    assert not m.node.sh("ls /opt/kops/bin/*.xz", check=False)
    said = json.loads(m.nodeup("status", "-o", "json").stdout)["run"]
    assert (said["kops"], said["kopsKnownBy"]) == (m.version, "NODEUP_URL_AMD64"), said
    assert m.node.sh("stat -c %a /etc/sysconfig/kops-configuration; cat /etc/sysconfig/kops-configuration") == '600\nAWS_REGION="us-west-2"\n'
    # Ready from now on: kops-controller gives it nothing more
    m.controller(faults=[409] * 1000)


def test_units_go_and_what_runs_goes_on(machine):
    m, before = machine, machine.pids()
    m.node.sh("mkdir /var/tmp/kops-units; cp " + " ".join(UNITS + name for name in SERVICES) + " /var/tmp/kops-units")
    others = "etc/kubernetes", "etc/containerd", "etc/sysconfig", "opt", "srv", "var/lib/kubelet", "usr/local"
    data = content(m, *others)
    dry = m.nodeup("uninstall", "--units", "--dryrun")
    assert dry.returncode == 0 and fragments(m)["kubelet.service"][0] == UNITS + "kubelet.service", dry
    done = m.nodeup("uninstall", "--units")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "success", done
    gone = [line.split()[2].rstrip(":") for line in done.stdout.splitlines() if line.startswith("- file ")]
    assert {UNITS + name for name in (*SERVICES, OURS)} < set(gone) and "would" not in done.stdout, done
    left = m.node.sh(f"find {UNITS} -name '*kube*' -o -name '*containerd*' -o -name '{OURS}'").split()
    # this image has a package with a unit of that name
    assert left == [UNITS + "multi-user.target.wants/containerd.service"] and not [p for p in gone if os.path.lexists(m.node.root + p)], left
    assert fragments(m)["containerd.service"] == (VENDOR + "containerd.service", "active", "enabled")
    assert m.pids() == before and m.node.healthz() == "ok", "what ran was touched"
    assert content(m, *others) == data


def test_kops_own_program_finds_its_place(machine):
    m = machine
    program = pathlib.Path(FAKE, "kops_nodeup.py").read_text().replace("@minor@", m.version.split(".")[1])
    m.put("opt/kops/bin/nodeup", program.encode())
    done = m.node.sh(f"cd /opt/kops/bin && AWS_REGION=us-west-2 ./nodeup --install-systemd-unit --conf={kopsnode.CONF} --v=8")
    assert done.splitlines()[-1] == "service installed"
    settled(m)
    m.node.wait(lambda: fragments(m) == {name: (VENDOR + name, "active", "enabled") for name in SERVICES}, 60, "kops' units")
    assert m.node.show(OURS, "FragmentPath")["FragmentPath"] == VENDOR + OURS
    healthy(m)


def test_nodeup_again(machine):
    m, before = machine, machine.pids()
    m.put("root/nodeup", (m.dist / "nodeup").read_bytes())
    looked_at = "etc", "opt", "srv", "lib/systemd", "usr/local", "var/lib/kubelet", "var/lib/nodeup"
    there = content(m, *looked_at)
    # a person who looks, on a node that nodeup never ran on
    m.node.sh("mv /var/lib/nodeup /root/kept")
    plan = m.node.exec("/root/nodeup", "plan")
    assert plan.returncode in (0, 2) and "adopted as it is" in plan.stderr and "kubelet.service: " not in plan.stdout, plan
    assert not m.node.sh("ls /var/lib | grep nodeup", check=False)
    # and with the configuration that kops-controller gives no more: all is known, and nothing is another but where units are
    beside = m.put("opt/kops/conf/nodeupconfig.yaml", (m.worker.folder / "nodeupconfig.yaml").read_bytes())
    plan = m.node.exec("/root/nodeup", "plan", "-o", "json")
    told = json.loads(plan.stdout)
    differs = {task["name"] for task in told["tasks"] if task["state"] != "right"}
    assert plan.returncode == 2 and (told["kops"], told["kopsKnownBy"]) == (m.version, "NODEUP_URL_AMD64"), plan
    others = [name for name in differs - {"systemd"} if not name.endswith((".service", ".timer"))]
    assert {UNITS + name for name in SERVICES} <= differs and not others, (differs, plan)
    beside.unlink()
    m.node.sh("mv /root/kept /var/lib/nodeup")
    plan = m.node.exec("/root/nodeup", "plan")
    assert plan.returncode == 2 and f"+ file {UNITS}kubelet.service: absent" in plan.stdout, plan
    assert content(m, *looked_at) == there and m.pids() == before, "a plan is for reading"
    m.node.sh(f"AWS_REGION=us-west-2 /root/nodeup --install-systemd-unit --conf={kopsnode.CONF} --v=8")
    settled(m)
    healthy(m)
    assert fragments(m) == {name: (UNITS + name, "active", "enabled") for name in SERVICES}
    again, before = m.node.exec("/root/nodeup", "plan"), m.pids()
    assert " 0 to change" in again.stdout and m.pids() == before, again.stdout + again.stderr
    # it is Ready, and is repaired all the same
    m.node.sh("rm /etc/kubernetes/manifests/kube-proxy.manifest; chmod 777 /opt/cni/bin/bridge")
    done, again = m.node.exec("/root/nodeup", "repair", "--deadline=150s"), m.node.exec("/root/nodeup", "plan")
    assert done.returncode == 0 and " 0 to change" in again.stdout and m.pids() == before, (done, again)
    assert m.node.sh("stat -c %a /opt/cni/bin/bridge /etc/kubernetes/manifests/kube-proxy.manifest").split() == ["755", "644"]
    # and back, with kops' own units there, and while the boot unit waits for a kops-controller that is gone
    m.server.kill()
    m.server.wait()
    m.node.sh(f"systemctl start --no-block {OURS}")
    m.node.wait(lambda: "WAITING documents" in m.node.journal(OURS, 20), 60, "the boot unit's wait")
    # it looks before it stops anything
    m.node.sh("mv /var/lib/nodeup/state /root/state")
    done = m.node.exec("/root/nodeup", "uninstall", "--units")
    assert done.returncode == 78 and m.node.show(OURS, "ActiveState")["ActiveState"] in ("active", "activating"), done
    m.node.sh("mv /root/state /var/lib/nodeup/state")
    done = m.node.exec("/root/nodeup", "uninstall", "--units")
    assert done.returncode == 0 and f"{OURS} is at work, and is stopped first" in done.stdout.splitlines(), done
    assert m.node.show(OURS, "ActiveState", "FragmentPath") == {"ActiveState": "inactive", "FragmentPath": VENDOR + OURS}
    for name in SERVICES:
        assert re.search(rf"- file {UNITS}{name}: \S+/{name} counts again; what runs goes on\n", done.stdout), done
    assert fragments(m) == {name: (VENDOR + name, "active", "enabled") for name in SERVICES} and m.pids() == before
