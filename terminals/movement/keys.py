"""Values of a movement's file with the lines on which they stand: what can't be is refused with line and key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus

MAX_ROWS = 20_000
MAX_NUMBER = 9_999
MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the file with the line it stands on (0 = not from a text)."""

    value: Any
    line: int


def bad(what: str, where: str, next_step: str = "") -> EntryError:
    return EntryError(what, where=where, next_step=next_step, code="bad-movement", exit_status=ExitStatus.USAGE)


def on_line(where: str, line: int) -> str:
    return f"{where}, line {line}" if line else where


class Reader:
    """Typed access to a mapping, with the place in every error."""

    def __init__(self, node: Node, where: str, path: str, known: set[str]) -> None:
        self.where, self.path, self.line = where, path, node.line
        if not isinstance(node.value, dict):
            raise self.error("", "keys and values are needed here")
        self.values: dict[str, Node] = node.value
        for key, item in self.values.items():
            if key not in known:
                raise bad(f"Unknown key {key!r}.", on_line(where, item.line), f"Known: {', '.join(sorted(known))}.")

    def error(self, key: str, problem: str) -> EntryError:
        node = self.values.get(key) if key and hasattr(self, "values") else None
        name = f"{self.path}.{key}".strip(".")
        return bad(f"Key {name or 'of the file'}: {problem}.", on_line(self.where, node.line if node else self.line))

    def number(self, key: str, default: int | None = None, *, least: int = 1, most: int = MAX_NUMBER) -> int:
        node = self.values.get(key)
        if node is None or node.value is None:
            if default is None:
                raise self.error(key, "is missing")
            return default
        if not isinstance(node.value, int) or isinstance(node.value, bool) or not least <= node.value <= most:
            raise self.error(key, f"is a number from {least} to {most}, not {str(node.value)[:40]!r}")
        return node.value

    def text(self, key: str, default: str) -> str:
        node = self.values.get(key)
        if node is None or node.value is None:
            return default
        if not isinstance(node.value, str | int) or len(str(node.value)) > MAX_TEXT:
            raise self.error(key, f"is a text of at most {MAX_TEXT} letters")
        return str(node.value)

    def items(self, key: str) -> list[Node]:
        node = self.values.get(key)
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list) or len(node.value) > MAX_ROWS:
            raise self.error(key, f"is a list of at most {MAX_ROWS}")
        return node.value

    def numbers(self, key: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        node = self.values.get(key)
        if node is None or node.value is None:
            if default is None:
                raise self.error(key, "is missing")
            return default
        found = tuple(numbers_in(node.value))
        if not found or len(found) > MAX_NUMBER or not all(1 <= n <= MAX_NUMBER for n in found):
            raise self.error(key, "is a list of numbers such as 1-4 or 1,5,9")
        return found


def numbers_in(value: Any) -> Iterator[int]:
    """1-4, "1,5-7", [1, 2] as numbers; -1 for what is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list):
        for node in value[: MAX_NUMBER + 1]:
            yield from numbers_in(node.value if isinstance(node, Node) else node)
    elif isinstance(value, str):
        for part in value.replace(" ", "").split(","):
            match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part)
            low, high = (int(match[1]), int(match[2] or match[1])) if match else (-1, -1)
            yield from range(low, high + 1) if low <= high else (-1,)
    else:
        yield -1
