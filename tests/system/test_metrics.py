"""nodeup.prom, which a run writes for node_exporter: what it says, and that nothing depends on whether it can be written."""
import json
import re
import stat

import pytest

from world import CONFIG, KUBELET, NET, SYSTEM

NAME = "nodeup.prom"
SAMPLE = re.compile(r'(?P<name>[a-z][a-z0-9_]*)(?P<labels>\{[a-z]+="[^"\\]*"\})? (?P<value>-?\d+(\.\d+)?)')


def parse(text):
    """{name and labels: value}, by the rules of the text format: each name once, with its help and type before its samples."""
    assert text.endswith("\n") and "\n\n" not in text, text
    found, names, name = {}, [], None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# HELP "):
            name, help_text = line[7:].split(" ", 1)
            assert help_text[-1] == "." and name not in names and next(lines) == f"# TYPE {name} gauge", line
            names.append(name)
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample and sample["name"] == name and line.rsplit(" ", 1)[0] not in found, line
        found[line.rsplit(" ", 1)[0]] = float(sample["value"])
    # no gauge is named as a counter or a histogram is
    assert names and not [n for n in names if re.search(r"_(total|sum|count|bucket|info)$", n) or not n.startswith("nodeup_")], names
    return found


def said(world, code):
    """The error of the last run, which is what the metrics must not change."""
    status = json.loads((world.root / "run/nodeup/status.json").read_text())
    assert status["error"]["exitStatus"] == code, status
    return status


@pytest.fixture
def failing(world, told):
    """A run that fails soon, after some assets have come."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "status=404")]

    def run(*flags):
        process = told(*flags)
        code = process.end()
        return code, process.text()
    run.argv = told.argv
    return run


def settle(world, text):
    folder = world.root / "etc/nodeup/nodeup.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.yaml").write_text(text)


def test_each_run_replaces_the_metrics(world, failing):
    folder = world.root / "var/lib/textfile"
    folder.mkdir()
    settle(world, "metricsDir: /var/lib/textfile\n")
    code, text = failing()
    status, found = said(world, code), parse((folder / NAME).read_text())
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o644 and "metrics" not in text, text
    assert [found[f'nodeup_node_state{{state="{s}"}}'] for s in ("ready", "failed", "degraded", "running", "never")] == [0, 1, 0, 0, 0]
    assert found["nodeup_run_duration_seconds"] == status["elapsedMs"] / 1000
    assert found["nodeup_run_end_timestamp_seconds"] == pytest.approx(status["startedUnix"] + status["elapsedMs"] / 1000, abs=0.01)
    assert found["nodeup_run_failed_tasks"] == status["counts"]["failed"] >= 1
    assert found["nodeup_run_changed_tasks"] == status["counts"]["changed"] > 10
    assert found["nodeup_run_received_bytes"] == sum(a.get("bytes", 0) for a in status["assets"]) > 500_000
    assert found["nodeup_drift_tasks"] == len([t for t in status["tasks"] if t["state"] not in ("right", "changed", "not needed")])
    assert found["nodeup_guard_held"] == 0 and not [name for name in found if "look" in name]
    # a killed run left its stage
    (folder / ".nodeup-0123456789abcdef").write_text("half")
    first = (folder / NAME).stat().st_ino
    failing()
    again = parse((folder / NAME).read_text())
    assert again["nodeup_run_end_timestamp_seconds"] != found["nodeup_run_end_timestamp_seconds"]
    assert again["nodeup_run_changed_tasks"] < found["nodeup_run_changed_tasks"]
    assert [p.name for p in folder.iterdir()] == [NAME] and (folder / NAME).stat().st_ino != first


def test_a_flag_comes_before_the_setting(world, failing):
    for name in ("flag", "setting"):
        (world.root / name).mkdir()
    settle(world, "metricsDir: /setting\n")
    failing("--metrics=/flag")
    assert parse((world.root / "flag" / NAME).read_text()) and not list((world.root / "setting").iterdir())


def test_a_flag_counts_though_the_settings_are_damaged(world, failing):
    (world.root / "flag").mkdir()
    settle(world, "metricsDir: [\n")
    code, _ = failing("--metrics=/flag")
    said(world, code)
    assert code == CONFIG and parse((world.root / "flag" / NAME).read_text())['nodeup_node_state{state="failed"}'] == 1


def fill(mounts, world):
    folder = world.root / "full"
    folder.mkdir()
    mounts.run("mount", "-t", "tmpfs", "-o", "size=4k,mode=755", "tmpfs", folder)
    mounts.path(folder / "other.prom").write_text("#" * 4096)
    return folder


@pytest.mark.parametrize("place, says", [("gone", "No such file or directory"), ("full", "No space left on device"), ("file", "Not a directory")])
def test_a_folder_that_takes_none_is_one_warning(world, failing, mounts, place, says):
    (world.root / "file").write_text("")
    folder = fill(mounts, world)
    failing.argv[:0] = mounts.enter
    settle(world, f"metricsDir: /{place}\n")
    code, text = failing()
    lines = [line for line in text.splitlines() if "metrics" in line]
    assert len(lines) == 1 and "warning metrics were not written: " in lines[0] and says in lines[0], text
    # which of its faults a run meets first is a matter of chance
    assert said(world, code)["state"] == "failed" and code in (NET, SYSTEM), text
    assert [p.name for p in mounts.path(folder).iterdir()] == ["other.prom"] and not (world.root / "gone").exists()


@pytest.mark.parametrize("path, says", [("metrics", "metricsDir: 'metrics' is not an absolute path"), (r'"/a\nb"', "metricsDir: a control character in ")])
def test_a_setting_that_is_no_folder(world, path, says):
    settle(world, f"metricsDir: {path}\n")
    done = world.run("validate")
    assert done.code == CONFIG and says in done.err, done
