"""The documents of today's kops: checked as a file and as user data, and no node is made of them yet."""
import json

import pytest

from test_kubeup_documents import nodeup, validate, write
from world import CONFIG, OK

BOOT = """\
CloudProvider: aws
ClusterName: a.example.com
ConfigBase: s3://store/a.example.com
InstanceGroupName: first
InstanceGroupRole: ControlPlane
NodeupConfigHash: V2Uc2Z93/mG2/4W4SivEjv50rzmrYZ0w8cHIj1r9hGI=
"""
USER_DATA = f"#!/bin/bash\n\ncat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n{BOOT}\n__EOF_KUBE_ENV\n\ndownload-release\n"
CHECKED = "BootConfig of instance group first, ControlPlane; NodeupConfig was not read"


@pytest.mark.parametrize("text", [BOOT, USER_DATA], ids=["document", "user data"])
def test_validate_says_what_it_read(text, tmp_path):
    path = write(tmp_path, text)
    done = validate(path)
    assert (done.returncode, done.stdout) == (OK, f"{path}: valid, cluster a.example.com: {CHECKED}\n"), done.stderr
    told = json.loads(validate(path, "-o", "json").stdout)["documents"]
    assert told == [{"conf": str(path), "valid": True, "cluster": "a.example.com", "checked": CHECKED}]


def test_user_data_names_its_own_line(tmp_path):
    done = validate(write(tmp_path, USER_DATA.replace("InstanceGroupRole: C", "InstanceGroupRol: C")))
    assert done.returncode == CONFIG and "kube_env.yaml:8:1: unknown key 'InstanceGroupRol'" in done.stderr


@pytest.mark.parametrize("command", ["plan --offline", "bake --root={root} --cache={root}", f"userdata --nodeup-url={'a' * 64}@https://x/y"])
def test_no_node_is_made_of_them(command, tmp_path):
    (tmp_path / "root").mkdir()
    done = nodeup(*command.format(root=tmp_path / "root").split(), f"--conf={write(tmp_path, BOOT)}")
    assert done.returncode == CONFIG and "this nodeup checks them, and cannot make a node of them yet" in done.stderr, done.stderr
    assert not list((tmp_path / "root").rglob("*.service"))
