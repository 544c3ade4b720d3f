"""One browser for all tests of a module; each test opens contexts of its own in it, which are phones of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from web_browser import browser


@pytest.fixture(scope="module")
def found() -> Iterator[Any]:
    with browser() as one:
        yield one
