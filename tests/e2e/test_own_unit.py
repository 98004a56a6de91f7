"""nodeup's own boot unit on a booted worker: whatever piece of it is gone is named by plan, healed by repair, and a
reboot of what repair called right reaches an active kubelet."""
import contextlib
import os
import pathlib
import re
import shutil

import pytest

import labassets
import nodechecks
import refused
from lab import Lab, ROLE

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab makes mounts and namespaces")
OURS = nodechecks.OURS
UNIT = "/etc/systemd/system/" + OURS
ENABLED = "/etc/systemd/system/multi-user.target.wants/" + OURS
PROGRAM, LINK = "/opt/nodeup/bin/nodeup", "/usr/local/bin/nodeup"
BOOT, INSTALLED = "/var/lib/nodeup/boot.json", "/var/lib/nodeup/program"
HAND = "/root/nodeup"
# what breaks it, and the task that has to say so
DAMAGES = {
    "unit-file": ("rm " + UNIT, "file " + UNIT),
    "unit-file-other": ("sed -i s,%s,/root/gone, %s; systemctl daemon-reload" % (PROGRAM, UNIT), "file " + UNIT),
    "unit-file-of-old": ("sed -i 's,nodeup apply --conf,nodeup --conf,; s/^Type=notify/Type=oneshot/' {0}; systemctl daemon-reload".format(UNIT),
                         "file " + UNIT),
    "link-of-enablement": ("rm " + ENABLED, "unit " + OURS),
    "masked": ("rm {0}; ln -s /dev/null {0}; systemctl daemon-reload".format(UNIT), "file " + UNIT),
    "program": ("rm " + PROGRAM, "program " + PROGRAM),
    "program-folder": ("rm -r /opt/nodeup", "program " + PROGRAM),
    "program-damaged": ("cp {0} /root/p; printf X | dd of=/root/p bs=1 seek=4096 conv=notrunc; mv /root/p {0}".format(PROGRAM),
                        "program " + PROGRAM),
    "program-empty": (": >" + PROGRAM, "program " + PROGRAM),
    "program-mode": ("chmod 644 " + PROGRAM, "program " + PROGRAM),
    "link-on-path": ("rm " + LINK, "link " + LINK),
    "record-of-the-program": ("rm " + INSTALLED, "program " + PROGRAM),
    "everything": ("systemctl disable {0}; rm -r {1} /opt/nodeup {2}".format(OURS, UNIT, LINK), "file " + UNIT),
}


@pytest.fixture(scope="module")
def node():
    with Lab() as lab:
        node = lab.boot("own", "nodes", labassets.seed_user_data("nodes", lab.assets))
        nodechecks.wait_kubelet(node)
        nodechecks.wait_finished(node)
        node.sh("cp %s %s" % (nodechecks.NODEUP, HAND))
        yield node


def by_hand(node, *arguments):
    """Run nodeup as a person does who has it in a folder of theirs; its status and all it says."""
    done = node.exec(HAND, *arguments, timeout=300)
    return done.returncode, done.stdout + done.stderr


def pieces(node):
    """All that starts nodeup at boot, as it has to be; and the process of kubelet, which goes on."""
    return node.sh("stat -c '%%n %%a %%u:%%g %%F %%N' {0} {1} {2} {3} {4} {5}; sha1sum {0} {2} {3} {4} {5};"
                   " systemctl is-enabled {6}; systemctl show -P MainPID kubelet".replace("%%", "%").format(UNIT, ENABLED, PROGRAM, LINK, BOOT, INSTALLED,
                                                                         OURS))


def reboot(node):
    node.reboot()
    nodechecks.wait_kubelet(node, OURS)
    nodechecks.wait_finished(node)


def test_the_last_word_of_the_unit_is_what_came_of_the_run(node):
    """systemctl status shows it when the unit is over: not what was waited for last."""
    text = node.show(OURS, "StatusText")["StatusText"]
    assert re.fullmatch(r"success: \d+ changed in \d.*", text), text


def test_the_program_is_where_no_cleaner_looks(node):
    text = node.sh("cat " + UNIT)
    assert "ExecStart=%s apply --conf=/var/cache/kubernetes-install/kube_env.yaml --v=8\n" % PROGRAM in text, text
    assert "Documentation=man:nodeup(8)\n" in text, text
    assert node.sh("sha1sum <" + PROGRAM) == node.sh("sha1sum <" + nodechecks.NODEUP)
    assert node.sh("readlink " + LINK).strip() == PROGRAM
    assert node.sh("stat -c '%a %u:%g' " + PROGRAM).strip() == "755 0:0"


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_gone_is_named_and_healed(node, name):
    damage, task = DAMAGES[name]
    right = pieces(node)
    start = node.show(OURS, "ExecMainStartTimestampMonotonic")
    node.sh(damage)
    status, said = by_hand(node, "plan", "--verify")
    named = [line for line in said.splitlines() if " %s:" % task in line]
    assert status == 2 and len(named) == 1 and named[0][:2] in ("+ ", "~ "), said
    status, said = by_hand(node, "repair")
    assert status == 0 and "success" in said.splitlines(), said
    assert pieces(node) == right
    status, said = by_hand(node, "plan", "--verify")
    assert status == 0, said
    # this run did the work: the unit is for the next boot, and was not started besides
    assert node.show(OURS, "ActiveState")["ActiveState"] == "inactive"
    if node.show(OURS, "ExecMainStartTimestampMonotonic")["ExecMainStartTimestampMonotonic"] != "0":
        assert node.show(OURS, "ExecMainStartTimestampMonotonic") == start


def test_a_unit_of_an_older_nodeup_is_taken_over(node):
    """Its own run writes the unit of today and has systemd read it, while that runs as a oneshot."""
    right = pieces(node)
    node.sh("sed -i s/^Type=notify/Type=oneshot/ {0}; systemctl daemon-reload; systemctl start {1}".format(UNIT, OURS))
    assert pieces(node) == right
    nodechecks.wait_finished(node)
    assert node.show(OURS, "Type", "NeedDaemonReload") == {"Type": "notify", "NeedDaemonReload": "no"}


def test_a_second_run_changes_nothing(node):
    before = pieces(node)
    nodechecks.check_again(node)
    for command in ("apply", "repair"):
        status, said = by_hand(node, command)
        assert status == 0 and "info    changed " not in said and "is another" not in said, said
    assert pieces(node) == before


def test_flags_of_a_run_by_hand_are_not_those_of_the_boot(node):
    before = pieces(node)
    status, said = by_hand(node, "apply", nodechecks.CONF, "--v=2", "--deadline=5m")
    assert status == 0 and pieces(node) == before, said


def test_another_program_does_not_install_itself(node):
    """It names the difference; but where the installed one is missing, it is better than none."""
    before = pieces(node)
    node.sh("cp {0} /root/other; printf other >>/root/other".format(HAND))
    ours, other = (node.sh("sha256sum <" + path)[:12] for path in (PROGRAM, "/root/other"))
    done = node.exec("/root/other", "repair", timeout=300)
    told = [line for line in done.stderr.splitlines() if PROGRAM in line]
    assert done.returncode == 0 and len(told) == 1, done
    assert ours in told[0] and other in told[0] and "--install-systemd-unit" in told[0], told
    assert pieces(node) == before
    node.sh("rm %s %s" % (PROGRAM, nodechecks.NODEUP))
    done = node.exec("/root/other", "repair", timeout=300)
    assert done.returncode == 0 and other in done.stderr, done
    assert node.sh("sha256sum <" + PROGRAM)[:12] == other
    done = node.exec(HAND, "--install-systemd-unit", nodechecks.CONF, "--v=8", "--wait=5m", timeout=400)
    assert done.returncode == 0 and pieces(node) == before, done
    node.sh("cp %s %s" % (HAND, nodechecks.NODEUP))


def test_what_others_put_on_the_path_stays(node):
    for command in ("echo mine >%s" % LINK, "ln -s /root/other %s" % LINK):
        node.sh("rm %s; %s" % (LINK, command))
        before = pieces(node)
        assert by_hand(node, "repair")[0] == 0
        assert pieces(node) == before
    node.sh("rm " + LINK)
    assert by_hand(node, "repair")[0] == 0
    assert node.sh("readlink " + LINK).strip() == PROGRAM


def test_a_lost_record_leaves_the_unit_as_it_is(node):
    """Of a run by hand nobody can say whether its flags are those of the boot; the boot itself knows."""
    unit = node.sh("cat " + UNIT)
    node.sh("rm " + BOOT)
    status, said = by_hand(node, "repair", "--v=3")
    assert status == 0 and BOOT in said and node.sh("cat " + UNIT) == unit, said
    node.sh("rm " + PROGRAM)
    assert by_hand(node, "repair", "--v=3")[0] == 0
    # that it could say nothing does not count: the node does
    full = "/etc/systemd/system/%s.d/90-full.conf" % OURS
    node.sh("mkdir -p %s; printf '[Service]\\nStandardOutput=file:/dev/full\\n' >%s" % (os.path.dirname(full), full))
    reboot(node)
    assert node.show(OURS, "Result", "ExecMainStatus") == {"Result": "success", "ExecMainStatus": "0"}
    node.sh("rm -r %s; systemctl daemon-reload" % os.path.dirname(full))
    assert node.sh("cat " + UNIT) == unit and node.sh("cat " + BOOT)


def test_what_repair_called_right_boots(node):
    node.sh(DAMAGES["everything"][0] + "; rm /var/cache/kubernetes-install/nodeup")
    assert by_hand(node, "repair")[0] == 0
    reboot(node)
    nodechecks.check_stable(node)
    assert node.show(OURS, "Result")["Result"] == "success"


CONF = "/var/cache/kubernetes-install/kube_env.yaml"


def test_a_lost_kube_env_is_put_back(node):
    text = node.sh("cat " + CONF)
    for damage in ("rm " + CONF, "rm -r /var/cache/kubernetes-install"):
        for flags in ([], [nodechecks.CONF]):
            node.sh(damage)
            status, said = by_hand(node, "plan", *flags)
            assert status == 2 and "+ file %s: absent" % CONF in said.splitlines(), said
            assert CONF + " is gone; its copy of " in said and ", is used and put back" in said, said
            assert not node.sh("ls " + CONF, check=False)
            status, said = by_hand(node, "repair", *flags)
            assert status == 0 and CONF + " is gone; its copy of " in said, said
            assert node.sh("cat " + CONF) == text
            assert by_hand(node, "plan")[0] == 0
    node.sh("cp %s %s" % (HAND, nodechecks.NODEUP))


def test_a_boot_without_kube_env_reaches_kubelet(node):
    node.sh("rm -r /var/cache/kubernetes-install")
    reboot(node)
    assert node.sh("cat " + CONF)
    node.sh("cp %s %s" % (HAND, nodechecks.NODEUP))


def test_a_damaged_kube_env_is_put_back(node):
    text, old = node.sh("cat " + CONF), CONF + ".nodeup-old"
    node.sh(": >" + CONF)
    status, said = by_hand(node, "repair", nodechecks.CONF)
    assert status == 78 and "nodeup apply --conf=kept:" in said and not node.sh("cat " + CONF), said
    for damage, set_aside in ((": >", old), ("truncate -s 100 ", old + "2")):
        node.sh(damage + CONF)
        what = node.sh("cat " + CONF)
        status, said = by_hand(node, "repair")
        assert status == 0 and "; its copy of " in said and "what was there is " + os.path.basename(set_aside) in said, said
        assert (node.sh("cat " + CONF), node.sh("cat " + set_aside)) == (text, what)
    assert by_hand(node, "plan")[0] == 0


def test_a_boot_goes_on_with_kept_documents_where_an_edit_does_not_parse(node):
    """The edit stays; a person is told the number of the documents that serve."""
    node.sh("rm -f %s*; cp -p %s /root/right; echo 'Tags: [' >>%s" % (CONF + ".nodeup-old", CONF, CONF))
    edited = node.sh("cat " + CONF)
    status, said = by_hand(node, "repair")
    chosen = re.search(r"nodeup apply (--conf=kept:\d+)", said)
    assert status == 78 and chosen and re.search(re.escape(CONF) + r":\d+:\d+: ", said), said
    reboot(node)
    assert node.sh("cat " + CONF) == edited and node.sh("ls %s*" % CONF).split() == [CONF]
    status, said = by_hand(node, "status")
    assert status == 2 and CONF + ":" in said, said
    status, said = by_hand(node, "apply", chosen[1])
    assert status == 0 and "at the next boot %s counts again" % CONF in said and node.sh("cat " + CONF) == edited, said
    assert by_hand(node, "status")[0] == 0
    node.sh("mv /root/right " + CONF)
    assert by_hand(node, "repair")[0] == 0 and by_hand(node, "plan")[0] == 0


def test_kept_documents_of_another_instance_are_not_used(node):
    """As in an image that was made of a node."""
    node.sh("cp -p {0} /root/kept; rm {1}; sed -i -E 's/(\"key\":\"[^\"]* )i-[0-9a-f]+/\\1i-0ther/' {0}".format(
        "/var/lib/nodeup/documents.json", CONF))
    status, said = by_hand(node, "repair")
    failed = [line for line in said.splitlines() if "FAILED" in line]
    assert status == 78 and len(failed) == 1, said
    assert CONF in failed[0] and "i-0ther" in failed[0] and "(78)" in failed[0], said
    node.sh("mv /root/kept /var/lib/nodeup/documents.json")
    assert by_hand(node, "repair")[0] == 0


def test_a_dead_store_and_a_kept_copy_are_told_at_once(node):
    """Not after the minute for which the store is waited for."""
    script = "AWS_ENDPOINT_URL_S3=http://127.0.0.1:9 timeout 5 %s apply 2>&1; true" % HAND
    said = node.sh(script)
    lines = [line for line in said.splitlines() if "--offline" in line]
    assert len(lines) == 1 and "documents kept at " in lines[0] and "they are used in 1 min" in lines[0], said
    assert said.index("documents kept at ") < said.index("WAITING documents")
    status, said = by_hand(node, "apply", "--offline")
    assert status == 0 and "documents kept " in said, said


def test_a_way_of_the_shell_says_nothing_of_the_node(node):
    """What the boot unit has on record leads to the documents; a person's own way does not."""
    assert by_hand(node, "apply")[0] == 0 and by_hand(node, "status")[0] == 0
    done = node.exec("env", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:9", HAND, "apply", "--deadline=12s")
    assert done.returncode == 0 and "documents are the persisted ones" in done.stderr, done
    assert by_hand(node, "status")[0] == 0


def test_what_was_baked_boots_with_nothing_but_its_metadata_service(node):
    """As the manual says: the cache and all documents are on this disk."""
    base = re.search(r"^ConfigBase: s3://(\S+)$", node.sh("cat " + CONF), re.M)[1]
    shutil.copytree(os.path.join(node.state, base), node.root + "/root/local")
    node.sh("cp {0} /root/local/kube_env.yaml; cd /root/local; sed -i s,s3://{1},/root/local, kube_env.yaml cluster.spec".format(CONF, base))
    conf = "--conf=/root/local/kube_env.yaml"
    assert by_hand(node, "bake", conf)[0] == 0
    asked = node.requests(), node.s3_log()
    assert by_hand(node, "bake", "--offline", conf)[0] == 0
    assert by_hand(node, "apply", "--install-systemd-unit", "--wait=100s", "--offline", conf)[0] == 0
    reboot(node)
    nodechecks.check_stable(node)
    assert node.show(OURS, "Result")["Result"] == "success" and by_hand(node, "status")[0] == 0
    assert (node.requests(), node.s3_log()) == asked
    # documents that all lie here are kept, too
    node.sh(": >/root/local/cluster.spec")
    status, said = by_hand(node, "repair")
    assert status == 0 and "/root/local/cluster.spec is empty; its copy of " in said and node.sh("cat /root/local/cluster.spec"), said
    assert by_hand(node, "apply", "--install-systemd-unit", "--wait=100s", "--v=8", nodechecks.CONF)[0] == 0
    assert by_hand(node, "plan", nodechecks.CONF)[0] == 0


UNITS = ["docker.service", "kubelet.service"]


@contextlib.contextmanager
def newly_refused(node):
    """A cluster spec that a nodeup took before kubelet's cgroups were looked at."""
    was, node.state = node.state, node.path("state")
    shutil.copytree(was, node.state)
    spec = pathlib.Path(node.state, "jdurbin-kops/abc.joshdurbin.net/cluster.spec")
    spec.write_text(spec.read_text().replace("  kubelet:\n", "  kubelet:\n    kubeletCgroups: /system.slice/../kube\n"))
    node.again(1, node.serve_s3, [ROLE])
    yield
    node.state = was
    node.again(1, node.serve_s3, [ROLE])


@contextlib.contextmanager
def no_longer_fit(node):
    """Its cgroups are those of the test's machine, which a node of these versions cannot have, and nothing excuses that."""
    node.sh("mv /etc/nodeup/nodeup.d/lab.yaml /root")
    yield
    node.sh("mv /root/lab.yaml /etc/nodeup/nodeup.d")


@pytest.mark.long
def test_a_document_that_an_older_nodeup_took(node):
    with refused.Refused(node, [HAND], UNITS, lambda: newly_refused(node)) as r:
        node.sh("rm " + refused.RECORDS)
        r.boot_and_work("kubelet.kubeletCgroups: expected a cgroup")
    r.mended()


@pytest.mark.long
def test_a_host_that_is_refused_at_boot(node):
    with refused.Refused(node, [HAND], UNITS, lambda: no_longer_fit(node)) as r:
        r.boot_and_work("this host has cgroup v2")
    r.mended()


BEHIND = "/etc/systemd/system/behind.service"
BEHIND_TEXT = "[Unit]\\nAfter=%s\\n[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n" % OURS


def since_boot(node, unit, what):
    return int(node.show(unit, what + "TimestampMonotonic")[what + "TimestampMonotonic"])


def test_a_boot_that_can_write_nothing_is_tried_again(node):
    """Kubelet does not wait for that, and status says why the node is not all that it should be. The boot, and what is ordered
    after our unit, wait for the first run alone."""
    node.sh("echo 'tmpfs /etc/sysctl.d tmpfs ro 0 0' >>/etc/fstab; printf '%s' >%s; systemctl enable -q behind" % (BEHIND_TEXT, BEHIND))
    node.reboot()
    node.wait_active("kubelet.service", 120)
    node.wait_active(OURS, 60)
    why = "the file system of '/etc/sysctl.d' is read-only"
    assert re.match("failed, next run in [0-9.]+ (s|min).*: " + re.escape(why), node.show(OURS, "StatusText")["StatusText"])
    status, said = by_hand(node, "status")
    assert status == 2 and "FAILED %s (71)" % why in said and "  next run  " in said, said
    assert node.sh("timeout 90 systemctl is-system-running --wait || true").strip() in ("running", "degraded")
    assert node.show("multi-user.target", "ActiveState") == {"ActiveState": "active"} and node.healthz() == "ok"
    assert since_boot(node, "cloud-final.service", "ExecMainExit") and "status: done" in node.exec("cloud-init", "status").stdout
    assert node.show(OURS, "ActiveState") == {"ActiveState": "active"}
    assert since_boot(node, "behind.service", "ExecMainStart") >= since_boot(node, OURS, "ActiveEnter")
    before = refused.processes(node, UNITS)
    node.sh("umount /etc/sysctl.d; sed -i /sysctl.d/d /etc/fstab; systemctl disable -q behind; rm " + BEHIND)
    nodechecks.wait_finished(node, 90)
    assert by_hand(node, "status")[0] == 0 and refused.processes(node, UNITS) == before


def start_and_be_refused(node):
    """The start job is over when the first run is, well or not; --wait asks what came of it."""
    assert node.exec("systemctl", "start", OURS).returncode == 0
    node.wait(lambda: node.show(OURS, "ActiveState")["ActiveState"] == "failed", 30, "the end of the unit")
    status, said = by_hand(node, "--install-systemd-unit", nodechecks.CONF, "--v=8", "--wait=2m")
    assert status == 78 and re.search(r"FAILED %s: %s:\d+:\d+: .* \(78\)$" % (OURS, CONF), said, re.M), said


def test_a_refused_boot_leaves_kubelet_started(node):
    """But not on another instance, whose disk is a copy of this one's."""
    with refused.Refused(node, [HAND], UNITS, lambda: refused.bad_document(node, CONF)) as r:
        r.by_hand()
        start_and_be_refused(node)
        r.boot_and_work()
        assert re.search(r"^  started   .*\bkubelet\.service.*: as the last run", r.nodeup("status").stdout, re.M)
    r.mended()
    node.become("i-0123456789abcdef0")
    with r:
        r.boot()
        assert node.show("kubelet.service", "ActiveState") == {"ActiveState": "inactive"}
        done = r.nodeup("status")
        assert done.returncode == refused.FAILED and "and this is i-0123456789abcdef0" in done.stdout, done


def test_a_refused_boot_starts_no_service_whose_mount_is_missing(node):
    node.become("i-0" + node.digest())
    node.sh("mkdir -p /etc/systemd/system/kubelet.service.d; cd /etc/systemd/system;"
            "printf '[Unit]\\nRequiresMountsFor=/data\\n' >kubelet.service.d/20-data.conf;"
            "printf '[Mount]\\nWhat=/dev/none\\nWhere=/data\\nOptions=nofail\\n[Install]\\nWantedBy=local-fs.target\\n' >data.mount;"
            "systemctl enable -q data.mount")
    with refused.Refused(node, [HAND], [], lambda: refused.bad_document(node, CONF)) as r:
        r.boot()
        assert node.show("kubelet.service", "ActiveState") == {"ActiveState": "inactive"}
        done = r.nodeup("status")
        assert done.returncode == refused.FAILED and re.search(r"^  not up +unit kubelet\.service: .* data\.mount failed", done.stdout, re.M), done


def test_a_boot_reads_the_user_data_of_its_instance(node):
    """No document lies on this disk: the unit has --conf=imds. What it reads is the script of kops itself."""
    node.sh("systemctl disable -q data.mount; cd /etc/systemd/system; rm -rf kubelet.service.d data.mount /var/lib/nodeup {0};"
            "systemctl daemon-reload".format(nodechecks.INSTALL))
    done = node.exec(HAND, "--install-systemd-unit", "--conf=imds")
    assert done.returncode == 0 and " --conf=imds" in re.search("^ExecStart=.*", node.sh("cat " + UNIT), re.M)[0], done
    # the boot's run is the first that comes to its end
    node.sh("systemctl stop " + OURS)
    asked = node.imds_log().count('"GET /latest/user-data ')
    reboot(node)
    assert node.imds_log().count('"GET /latest/user-data ') > asked and not os.path.exists(node.root + CONF)
    status, said = by_hand(node, "status")
    assert status == 0 and "\n  conf      imds\n" in said and "\n  kops      1.8.1 (by " in said, said
