"""A worker of today's kops on a machine of arm64: what qemu-user refuses (cases/test_arm64.py) is there, seccomp and Landlock."""
import pathlib
import re

import pytest

import kopsvm
from vmhost import KIND, PROGRAM

pytestmark = pytest.mark.skipif(KIND.arch != "arm64", reason="make ARCH=arm64 check-vm gives its program")
BUILD = pathlib.Path(PROGRAM).resolve().parent
# The unit tests of the unpacker, and where they look for their loader: among the libraries of the build.
UNITS = [path for path in sorted(BUILD.glob("gcc-release/tests/unit/assets/unpack/test_*")) if not path.suffix]
LOADER = BUILD.parent / "deps-arm64/root/lib/ld-linux-aarch64.so.1"


@pytest.fixture(scope="module")
def vm(tmp_path_factory):
    units = {f"opt/unit/{path.name}": (path.read_bytes(), 0o755) for path in UNITS}
    with kopsvm.worker(tmp_path_factory.mktemp("documents"), {**units, str(LOADER)[1:]: f"/lib/{LOADER.name}"}) as made:
        yield made


def test_processor_and_kernel(vm):
    assert vm.sh("uname -m") == "aarch64"
    assert {"aes", "sha1", "sha2", "crc32"} <= set(vm.sh("grep -m1 ^Features /proc/cpuinfo").split())
    assert "landlock" in vm.sh("mount -t securityfs s /sys/kernel/security 2>/dev/null; cat /sys/kernel/security/lsm").split(",")


def test_a_worker_comes_to_an_active_kubelet(vm):
    assert kopsvm.converge(vm) > 0


def test_an_image_is_made_whole(vm):
    """Of the same documents, below a root, with archives of real programs."""
    assert len(kopsvm.make_image(vm, "/opt/image")) > 30


def test_unpackers_are_there():
    assert {"test_confine", "test_extract"} <= {path.name for path in UNITS}


@pytest.mark.parametrize("name", [path.name for path in UNITS])
def test_unpacker(name, vm):
    done = vm.exec("env", "CMOCKA_MESSAGE_OUTPUT=TAP", f"/opt/unit/{name}")
    assert done.code == 0 and re.search(r"^ok 1\b", done.out, re.M) and "not ok" not in done.out, done.out + done.err
