"""Hosts that were set up with care: a narrow umask, no programs below /tmp, nothing to write at TMPDIR."""

import shutil

from world import OK, PROGRAM, same, tree


def test_nothing_is_run_or_kept_in_tmp(make_world, mounts):
    plain, node = make_world("plain"), make_world("node")
    plain.converge()
    node.write_documents()
    # all that is staged, unpacked and cached is on what runs no program, and where others put files nobody can
    mounts.run("mount", "--bind", node.folder, node.folder)
    mounts.run("mount", "-o", "remount,bind,noexec,nosuid,nodev", node.folder)
    for path in ("/tmp", "/var/tmp", "/dev/shm"):
        if not node.folder.is_relative_to(path):
            mounts.run("mount", "-t", "tmpfs", "-o", "ro,noexec", "tmpfs", path)
    mounts.run("mount", "-t", "tmpfs", "tmpfs", "/mnt")
    shutil.copy(PROGRAM, mounts.path(node.folder.__class__("/mnt/nodeup")))
    (node.folder / "ro").mkdir()
    mounts.run("mount", "-t", "tmpfs", "-o", "ro,noexec", "tmpfs", node.folder / "ro")
    argv = ["/mnt/nodeup", *node.argv("apply")[1:]]
    done = node.run_argv([*mounts.enter, "sh", "-c", 'umask 077; exec "$@"', "sh", *argv],
                         env={"TMPDIR": str(node.folder / "ro")})
    assert done.code == OK, done
    same(tree(plain.root), tree(node.root))
    assert node.installed("bridge").stat().st_mode & 0o777 == 0o755
    assert node.unused() == []
    # cached, adopted and unpacked things have the modes that everybody may rely on
    modes = [{str(p.relative_to(w.cache)): oct(p.lstat().st_mode) for p in w.cache.rglob("*")} for w in (plain, node)]
    same(*modes)
