"""What some hosts of today's kops have of their own: a policy of SELinux."""
import contextlib
import os

import pytest

from kops import AMAZON, FACTS, ControlPlane, Worker
from world import OK


def applied(node, facts):
    """Its files after two runs, of which the second finds nothing to do."""
    node.facts = {**facts, **FACTS}
    with node.controller() if not isinstance(node, ControlPlane) else contextlib.closing(node):
        node.write()
        for command, *flags in (("apply",), ("plan", "--verify")):
            done = node.run(command, *flags)
            assert done.returncode == OK, done.stdout + done.stderr
    return node.tree()


@pytest.mark.skipif(os.geteuid() != 0, reason="labels")
def test_programs_have_the_labels_of_the_policy(tmp_path):
    node = Worker(tmp_path / "node")
    policy = node.root / "etc/selinux/targeted/contexts/files/file_contexts"
    policy.parent.mkdir(parents=True)
    policy.write_text("/usr/.*\tsystem_u:object_r:usr_t:s0\n/usr/(.*/)?s?bin(/.*)?\tsystem_u:object_r:bin_t:s0\n"
                      "/usr/s?bin/runc\t--\tsystem_u:object_r:container_runtime_exec_t:s0\n")
    (node.root / "etc/selinux/config").write_text("SELINUX=enforcing\nSELINUXTYPE=targeted\n")
    # what is staged in a folder, or comes out of the cache, would have theirs
    for folder in (node.root, node.cache):
        os.setxattr(folder, "security.selinux", b"system_u:object_r:wrong_t:s0\0")
    applied(node, AMAZON)
    labels = {path: os.getxattr(node.root / path, "security.selinux") for path in ("usr/local/bin/kubelet", "usr/sbin/runc", "usr/bin/containerd")}
    assert labels == {"usr/local/bin/kubelet": b"system_u:object_r:bin_t:s0\0", "usr/sbin/runc": b"system_u:object_r:container_runtime_exec_t:s0\0",
                      "usr/bin/containerd": b"system_u:object_r:bin_t:s0\0"}
