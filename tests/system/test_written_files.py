"""What the host is asked for, and a file of the documents says: it counts in the run that writes the file, as in each that comes after."""
import re

import pytest

from world import OK

DAEMON, SERVERS = "/etc/docker/daemon.json", "/etc/resolv.conf"
OVERLAY, BTRFS = "--storage-driver=overlay2", "--storage-driver=btrfs"


def with_file(world, path, text):
    world.edit_store("cluster.spec", lambda t: t.rstrip("\n") + f"\n  fileAssets:\n  - {{name: a, path: {path}, content: '{text}'}}\n")


def made_twice(world, path, pattern):
    """What the first run wrote, which is right for the second."""
    done = world.apply()
    assert done.code == OK, done
    wrote = (world.root / path).read_text()
    done = world.plan()
    assert done.code == OK and "0 to change" in done.out, done
    return re.findall(pattern, wrote)


@pytest.mark.parametrize("there, written, want", [
    (None, '{"data-root": "/data/docker"}', BTRFS),  # whose file system is not known
    ('{"data-root": "/data/docker"}', "{}", OVERLAY),
])
def test_docker_is_where_the_documents_put_it(world, there, written, want):
    world.facts["filesystems"] = "[btrfs, ext4, overlay]"
    if there:
        (world.root / "etc/docker").mkdir()
        (world.root / DAEMON.lstrip("/")).write_text(there)
    with_file(world, DAEMON, written)
    world.edit_store("cluster.spec", lambda t: re.sub("    storage: .*", "    storage: btrfs", t))
    assert made_twice(world, "etc/sysconfig/docker", r"--storage-driver=\w+") == [want]


@pytest.mark.parametrize("there, written, want", [
    ("nameserver 127.0.0.53\n", "nameserver 10.0.0.2", []), ("nameserver 10.0.0.2\n", "nameserver 127.0.0.53", ["/run/systemd/resolve/resolv.conf"])])
def test_name_servers_are_those_of_the_documents(world, there, written, want):
    world.facts["resolved"] = "true"
    (world.root / SERVERS.lstrip("/")).write_text(there)
    with_file(world, SERVERS, written)
    assert made_twice(world, "etc/sysconfig/kubelet", r'--resolv-conf=([^ "]+)') == want
