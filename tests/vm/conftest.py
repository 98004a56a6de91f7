import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]

import vmhost  # noqa: E402

# of another architecture, where the others are not: it is run by its name
collect_ignore = ["test_arm64.py"]

def pytest_collection_modifyitems(items):
    why = None
    if os.geteuid() != 0:
        why = "the image is built as root"
    elif not vmhost.qemu_is_there():
        why = f"{vmhost.KIND.qemu} is not installed: apt-get install {vmhost.KIND.package}"
    if why:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=why))
