"""nodeup in the place of kops' own program and out of it again: its boot unit's environment, and uninstall --units."""
import os
import subprocess

import pytest
from kops import Worker
from world import CONFIG, ENV, OK, PROGRAM, USAGE

UNITS, BOOT = "/etc/systemd/system/", "/etc/systemd/system/kops-configuration.service"
RECORDS = ("boot.json", "program")


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


@pytest.fixture
def made(worker):
    """Applied, and nodeup installed as the service that starts it."""
    with worker.controller():
        assert worker.apply("--install-systemd-unit").returncode == OK
        done = worker.apply()
    assert done.returncode == OK, done.stderr
    return worker


def uninstall(worker, *flags, program=PROGRAM, **kw):
    return subprocess.run([program, "uninstall", f"--root={worker.root}", *flags], env=ENV, capture_output=True, text=True, timeout=60, **kw)


def units(worker):
    return {path for path in worker.tree() if path.startswith(UNITS)}


def kept(worker):
    return {name for name in RECORDS if (worker.root / "var/lib/nodeup" / name).exists()}


def removed(done):
    return {line.split()[2].rstrip(":") for line in done.stdout.splitlines() if line.startswith("- file ")}


def test_the_boot_unit_has_the_environment_of_kops_own(worker):
    """Where the state store is, for root alone, and nothing of a shell's."""
    given = {"AWS_REGION": "us-test-1", "S3_ENDPOINT": "https://s3.example", "S3_REGION": "here", "S3_ACCESS_KEY_ID": "id",
             "S3_SECRET_ACCESS_KEY": "hush", "OS_AUTH_URL": "https://os.example", "OS_PASSWORD": "stack", "OSS_REGION": "there", "EDITOR": "vi"}
    worker.write()
    done = worker.apply("--install-systemd-unit", **given)
    assert done.returncode == OK and done.stdout.splitlines()[-1] == "service installed", done
    mode, text = worker.tree()["/etc/sysconfig/kops-configuration"]
    assert mode == "0600"
    wanted = {key: value for key, value in given.items() if key.startswith("S3_") or key == "AWS_REGION"}
    assert dict(line.split("=", 1) for line in text.decode().replace('"', "").splitlines()) == wanted
    unit = worker.read(BOOT)
    assert "\nEnvironmentFile=/etc/sysconfig/kops-configuration\n" in unit and "\nEnvironment=" not in unit, unit
    shown = unit + (worker.root / "var/lib/nodeup/boot.json").read_text()
    assert not [word for word in ("OS_", "stack", "EDITOR", "OSS_", ENV["PATH"]) if word in shown], shown


def test_units_go_and_nothing_else(made):
    before = made.tree()
    dry = uninstall(made, "--units", "--dryrun")
    assert dry.returncode == OK and made.tree() == before and kept(made) == set(RECORDS), dry
    done = uninstall(made, "--units")
    files = {path for path in before if path.startswith(UNITS) and isinstance(before[path], tuple)}
    assert done.returncode == OK and removed(done) == removed(dry) == files and len(files) > 4, done
    lines = done.stdout.splitlines()
    assert lines[0].startswith("nodeup version ") and lines[-1] == "success" and lines[-2].startswith(f"{len(files)} of {len(files)} files"), done
    assert "would be removed" in dry.stdout and "would" not in done.stdout
    # the links of their enablement go with them
    assert made.tree() == {path: what for path, what in before.items() if not path.startswith(UNITS)}
    assert kept(made) == set()
    again = uninstall(made, "--units")
    assert again.returncode == OK and "nothing to remove" in again.stdout, again


def test_all_comes_again_with_apply(made):
    before = made.tree()
    assert uninstall(made, "--units").returncode == OK
    with made.controller():
        done = made.apply()
        # what starts nodeup at boot is put there by one command alone
        assert done.returncode == OK and set(before) - set(made.tree()) == {BOOT, UNITS + "multi-user.target.wants/kops-configuration.service"}
        assert made.apply("--install-systemd-unit").returncode == OK and made.tree() == before
        done = made.run("plan")
    assert done.returncode == OK, done.stdout


def test_the_other_unit_of_the_name_is_enabled(made):
    vendor = made.root / "lib/systemd/system"
    vendor.mkdir(parents=True)
    for name in ("kubelet.service", "kops-configuration.service"):
        (vendor / name).write_text("[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n")
    done = uninstall(made, "--units")
    told = [line for line in done.stdout.splitlines() if "counts again" in line]
    assert done.returncode == OK and len(told) == 2, done
    wants = UNITS + "multi-user.target.wants/"
    assert {path: what for path, what in made.tree().items() if path.startswith(UNITS)} == {
        wants + name: f"/lib/systemd/system/{name}" for name in ("kubelet.service", "kops-configuration.service")}


def test_what_is_not_nodeups_stays(worker):
    """What another made of it, what it found there, what mounts a disk, and what the documents put there, as kops does."""
    worker.config["FileAssets"] = [{"name": "theirs", "path": UNITS + "theirs.service", "content": "[Service]\nExecStart=/bin/true\n"}]
    path = worker.root / (UNITS + "admin.service").lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\nExecStart=/bin/true\n")
    with worker.controller():
        assert worker.apply("--install-systemd-unit").returncode == OK
        assert worker.apply().returncode == OK
    # kops' own, which is as nodeup would write it
    found = worker.root / (UNITS + "kubelet.service").lstrip("/")
    text = found.read_bytes()
    found.unlink()
    lines = [line for line in (worker.root / "var/lib/nodeup/state").read_text().splitlines(True) if UNITS + "kubelet.service" not in line]
    (worker.root / "var/lib/nodeup/state").write_text("".join(lines))
    found.write_bytes(text)
    with worker.controller():
        assert worker.apply().returncode == OK
    edited = worker.root / (UNITS + "containerd.service").lstrip("/")
    edited.write_text(edited.read_text() + "# mine\n")
    state = worker.root / "var/lib/nodeup/state"
    timer, mount = (worker.root / (UNITS + name).lstrip("/") for name in ("logrotate.timer", "data.mount"))
    timer.rename(mount)
    state.write_text(state.read_text().replace(UNITS + "logrotate.timer", UNITS + "data.mount"))
    done = uninstall(worker, "--units")
    told = sorted(line for line in done.stdout.splitlines() if line.startswith("! "))
    assert done.returncode == OK and told == [
        f"! file {UNITS}containerd.service: it is not as nodeup wrote it: left alone",
        f"! file {UNITS}data.mount: it mounts a disk: left alone"], done
    left = {path for path in units(worker) if ".wants/" not in path}
    assert left == {UNITS + name for name in ("kubelet.service", "containerd.service", "data.mount", "theirs.service", "admin.service")}, left


# Distribution, version, documents of the network, and the units that are masked.
MASKED = [("flatcar", "4152.2.0", {}, ["locksmithd.service", "update-engine.service"]), ("rocky", "10.0", {}, ["firewalld.service"]),
          ("rhel", "9.4", {"amazonVPC": {}}, ["nm-cloud-setup.service", "nm-cloud-setup.timer"])]


def masks(worker):
    return sorted(path.removeprefix(UNITS) for path, what in worker.tree().items() if what == "/dev/null")


@pytest.mark.parametrize("name, version, network, masked", MASKED)
def test_masks_go_and_those_of_an_admin_stay(name, version, network, masked, worker):
    theirs = worker.root / (UNITS + masked[-1]).lstrip("/")
    worker.facts.update(distribution=name, version=version, codename=None)
    worker.config.update(UpdatePolicy="external", Networking={**worker.config["Networking"], **network})
    theirs.parent.mkdir(parents=True)
    theirs.symlink_to("/dev/null")
    with worker.controller():
        assert worker.apply().returncode == OK and masks(worker) == masked
        assert uninstall(worker, "--units").returncode == OK and masks(worker) == masked[-1:]
        theirs.unlink()
        assert worker.apply().returncode == OK and masks(worker) == masked
    done = uninstall(worker, "--units")
    assert done.returncode == OK and {UNITS + unit for unit in masked} < removed(done) and masks(worker) == [], done


def test_a_mask_that_nobody_asks_for_goes_with_prune(worker):
    name, version, _, masked = MASKED[0]
    worker.facts.update(distribution=name, version=version, codename=None)
    for policy, found, flags in [("automatic", masked[:1], ()), ("external", masked, ()), ("automatic", masked, ()), ("automatic", masked[:1], ("--prune",))]:
        worker.config["UpdatePolicy"] = policy
        with worker.controller():
            assert worker.apply(*flags).returncode == OK and masks(worker) == found
            planned = worker.run("plan")
            assert planned.returncode == OK, planned.stdout
            assert ("removed with --prune" in planned.stdout) == (policy == "automatic" and found == masked), planned.stdout
    # one that an admin made is as old as something else
    theirs = worker.root / (UNITS + masked[1]).lstrip("/")
    theirs.symlink_to("/dev/null")
    os.utime(theirs, (0, 0), follow_symlinks=False)
    with worker.controller():
        assert worker.apply("--prune").returncode == OK and masks(worker) == masked


def test_an_edited_boot_unit_stays_and_so_does_what_was_found(made):
    """That somebody edited it says nothing of who wrote the others."""
    state, boot = made.root / "var/lib/nodeup/state", made.root / BOOT.lstrip("/")
    state.write_text("".join(line for line in state.read_text().splitlines(True) if UNITS + "kubelet.service" not in line))
    with made.controller():
        assert made.apply().returncode == OK
    boot.write_text(boot.read_text() + "# mine\n")
    done = uninstall(made, "--units")
    told = [line for line in done.stdout.splitlines() if line.startswith("! ")]
    assert done.returncode == OK and told == [
        f"! file {BOOT}: it is not as nodeup wrote it: left alone; when it runs, nodeup writes all units again"], done
    assert {path for path in units(made) if ".wants/" not in path} == {BOOT, UNITS + "kubelet.service"}


def test_a_kill_in_between_is_made_good(made):
    """Removed and not noted: the records of what is not there name nothing."""
    state = made.root / "var/lib/nodeup/state"
    noted, before = state.read_bytes(), made.tree()
    assert uninstall(made, "--units").returncode == OK
    state.write_bytes(noted)
    path = made.root / (UNITS + "kubelet.service").lstrip("/")
    path.write_bytes(before[UNITS + "kubelet.service"][1])
    done = uninstall(made, "--units")
    assert done.returncode == OK and removed(done) == {UNITS + "kubelet.service"} and not path.exists(), done


def test_units_go_by_their_content_where_the_record_was_lost(made):
    """A run that finds them as it writes them says so on record; so it was with those that it wrote before the record was lost."""
    before, lib = made.tree(), made.root / "var/lib/nodeup"
    (lib / "state").unlink()
    done = uninstall(made, "--units")
    assert done.returncode == CONFIG and "nodeup apply, which notes all units that are right" in done.stderr and made.tree() == before, done
    # with its own record lost as well the boot unit is none of a run's files, and would write the others again
    boot, record = lib / "boot.json", (lib / "boot.json").read_bytes()
    boot.unlink()
    files = {path for path in before if path.startswith(UNITS) and isinstance(before[path], tuple)}
    for _ in range(2):
        with made.controller():
            assert made.apply().returncode == OK
        dry = uninstall(made, "--units", "--dryrun")
        assert dry.returncode == OK and removed(dry) == files and BOOT in files, dry
        boot.write_bytes(record)
    edited = made.root / (UNITS + "kubelet.service").lstrip("/")
    edited.write_text(edited.read_text() + "# mine\n")
    done = uninstall(made, "--units")
    assert done.returncode == OK and removed(done) == files - {UNITS + "kubelet.service"}, done


def test_units_alone(made):
    before = made.tree()
    for flags in ((), ("--dryrun",)):
        done = uninstall(made, *flags)
        assert done.returncode == USAGE and "needs --units" in done.stderr and made.tree() == before, done


def test_it_is_roots(made, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("another user is made by root")
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "uninstall", "--units", f"--root={made.root}"],
                          env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == USAGE and "must be root" in done.stderr and units(made), done
