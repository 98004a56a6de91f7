#!/usr/bin/python3
"""kops' own nodeup of one version as a node that goes back to it sees it: which units it writes where, what it restarts and enables. It makes
nothing else.

usage: kops_nodeup.py --install-systemd-unit --conf=PATH --v=8     writes, enables and starts kops-configuration.service
       kops_nodeup.py --conf=PATH --v=8                            what that starts: a run

The texts of the units of a run are the files in UNITS.  As with kops a unit that is not in /lib/systemd/system is written, restarted and
enabled; one that is there as it should be is restarted only if it is newer than its process, or does not run."""
import os
import pathlib
import subprocess
import sys
import time

# Of kops 1.x; the tests put it in.
MINOR = int("@minor@")
VENDOR, UNITS = pathlib.Path("/lib/systemd/system"), pathlib.Path("/var/tmp/kops-units")
ENVIRONMENT = pathlib.Path("/etc/sysconfig/kops-configuration")
BOOT = """[Unit]
Description=Run kOps bootstrap (nodeup)
Documentation=https://github.com/kubernetes/kops

[Service]
EnvironmentFile=/etc/sysconfig/kops-configuration
EnvironmentFile=/etc/environment
ExecStart={command}
Type=oneshot

[Install]
WantedBy=multi-user.target
"""


def systemctl(*words):
    subprocess.run(["systemctl", *words], check=True)


def show(name):
    text = subprocess.run(["systemctl", "show", "--all", name], check=True, capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def service(name, text):
    path, action, enabled = VENDOR / name, None, False
    if not path.exists():
        action = "restart"
    else:
        found = show(name)
        enabled = "multi-user.target" in found["WantedBy"].split()
        started = found.get("ExecMainStartTimestampMonotonic", "0")
        age = int(started) / 1e6 + time.time() - time.monotonic()
        if found["ActiveState"] != "active" or path.read_text() != text or age < path.stat().st_mtime:
            action = "restart"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        systemctl("daemon-reload")
    if action:
        systemctl(action, name, *["--no-block"] * (MINOR >= 35))
    if not enabled:
        systemctl("enable", name)


def main():
    flags = sys.argv[1:]
    if flags[-2:] != ["--conf=/opt/kops/conf/kube_env.yaml", "--v=8"] or flags[:-2] not in ([], ["--install-systemd-unit"]):
        sys.exit(f"E not the command line of a node of kops: {flags}")
    if len(flags) == 2:
        for path in sorted(UNITS.iterdir()):
            service(path.name, path.read_text())
        print("success")
        return
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    ENVIRONMENT.write_text(f"AWS_REGION={os.environ['AWS_REGION']}\n")
    ENVIRONMENT.chmod(0o600 if MINOR >= 37 else 0o644)
    service("kops-configuration.service", BOOT.format(command=" ".join([os.path.abspath(sys.argv[0]), *flags[1:]])))
    print("service installed")


if __name__ == "__main__":
    main()
