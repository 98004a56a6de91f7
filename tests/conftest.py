"""A test that is marked `long` is of `make check-long` alone: another one stands for its kind of fault in `make check`. It runs by
`pytest -m long`, or by its name."""

# Files that take long begin first: no process has one alone at the end.
FIRST = ("test_stall", "test_waiting", "test_drift", "test_own_unit", "test_explained", "test_kubeup_boot", "test_kops_boot", "test_stopped")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: of make check-long alone")


def pytest_collection_modifyitems(config, items):
    if not config.option.markexpr and not any("::" in argument for argument in config.args):
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))
