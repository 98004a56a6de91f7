"""The script that opens the firewall of Container-Optimized OS, with an iptables that keeps its rules in a folder."""
import subprocess

import pytest

import test_cases as cases

SCRIPT = cases.HERE / "seed-worker/expect/home/kubernetes/bin/iptables-setup"
# -S CHAIN prints the policy and the rules, -C finds one, -A adds one
IPTABLES = """#!/bin/sh
cd "$RULES" || exit 9
[ "$1" = -w ] || exit 8
echo "$*" >>asked
case $2 in
-S) cat "$3.policy" && cat "$3" ;;
-C) shift 2 && chain=$1 && shift && grep -qx -e "-A $chain $*" "$chain" ;;
-A) shift 2 && chain=$1 && shift && echo "-A $chain $*" >>"$chain" ;;
*) exit 7 ;;
esac
"""


@pytest.mark.parametrize("policy", ["DROP", "ACCEPT"])
def test_rules_are_added_once(policy, tmp_path):
    (tmp_path / "iptables").write_text(IPTABLES)
    (tmp_path / "iptables").chmod(0o755)
    for chain in ("INPUT", "FORWARD"):
        (tmp_path / f"{chain}.policy").write_text(f"-P {chain} {policy}\n")
        (tmp_path / chain).write_text(f"-A {chain} -i lo -j ACCEPT\n")
    for _ in range(2):
        subprocess.run(["bash", SCRIPT], env={"PATH": f"{tmp_path}:/usr/bin:/bin", "RULES": str(tmp_path)}, check=True)
        for chain in ("INPUT", "FORWARD"):
            added = [f"-A {chain} -p {p} -j ACCEPT" for p in ("TCP", "UDP", "ICMP")] if policy == "DROP" else []
            assert (tmp_path / chain).read_text().splitlines() == [f"-A {chain} -i lo -j ACCEPT", *added]
    assert (tmp_path / "asked").read_text().count("-C") == (12 if policy == "DROP" else 0)
