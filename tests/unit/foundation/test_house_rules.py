"""Rules of the house that import-linter can't see: where SQL stands, what may be empty, what is never silenced."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import firmware_bridge

ROOT = Path(firmware_bridge.__file__).parent.parent
ROOMS = ("firmware_bridge", "drivers", "dealer", "terminals", "hw-sim/hwsim")
SQL = re.compile(
    r"\s*(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\s", re.S
)

pytestmark = pytest.mark.skipif(not (ROOT / "hw-sim").is_dir(), reason="needs the source tree, not the wheel")


def modules() -> Iterator[Path]:
    for room in ROOMS:
        yield from (ROOT / room).rglob("*.py")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def texts(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_packages_begin_empty() -> None:
    assert [str(path) for path in modules() if path.name == "__init__.py" and path.read_text().strip()] == []


def test_sql_stands_in_the_stores_only() -> None:
    allowed = (ROOT / "dealer" / "store", ROOT / "terminals" / "store")
    found = {
        str(path.relative_to(ROOT))
        for path in modules()
        if not path.is_relative_to(allowed[0]) and not path.is_relative_to(allowed[1])
        for text in texts(path)
        if SQL.match(text)
    }
    assert found == set()


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules()
        if path.name != "__init__.py" and ast.get_docstring(parsed(path)) is None
    ]
    assert silent == []


def test_nothing_is_swallowed_in_silence() -> None:
    guilty = []
    for path in modules():
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.ExceptHandler):
                continue
            bare = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            if bare and all(isinstance(line, ast.Pass) for line in node.body):
                guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert guilty == []
