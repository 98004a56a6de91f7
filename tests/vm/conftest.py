import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]

import vmhost  # noqa: E402


def pytest_collection_modifyitems(items):
    why = None
    if os.geteuid() != 0:
        why = "the image is built as root"
    elif not vmhost.qemu_is_there():
        why = "qemu-system-x86_64 is not installed: apt-get install qemu-system-x86"
    if why:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=why))
