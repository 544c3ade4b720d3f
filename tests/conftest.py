"""For all tests: which programs from outside are here, and how much hypothesis may try."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import signal

import pytest
from hypothesis import HealthCheck, settings

# A shell's background and nohup let this ignore signals, and every program that the tests start would ignore them too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A slow example is the machine's affair, not the code's; a failing one must come back the same way. The gate tries the
# same examples every time, so that a change is judged by the change; everywhere else each run tries new ones.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("project")

PROGRAMS = {
    "chromium": lambda: shutil.which("chromium") or shutil.which("chromium-browser"),
    "dealer": lambda: shutil.which("dealer", path=os.environ.get("PATH", "") + os.pathsep + "/usr/games"),
    "libdds": lambda: ctypes.util.find_library("dds"),
    "pdftotext": lambda: shutil.which("pdftotext"),
    "pdftoppm": lambda: shutil.which("pdftoppm"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, by name, what needs a program that is not on this machine."""
    for item in items:
        for mark in item.iter_markers("external"):
            program = str(mark.args[0])
            if program not in PROGRAMS:
                raise pytest.UsageError(f"{item.nodeid}: tests/conftest.py does not know the program {program!r}")
            if not PROGRAMS[program]():
                item.add_marker(pytest.mark.skip(reason=f"needs {program}, which is not installed here"))
