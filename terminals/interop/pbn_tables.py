"""The tables of PBN 2.1 (section 5.2): column specifications, and rows with widths, quotes and spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COLUMN = re.compile(r"([A-Za-z_]{1,40})(?:\\(\d{1,3})?([LR])?)?")
_TOKEN = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class Column:
    """name; width in characters, None for as long as it is; right: right-adjusted."""

    name: str
    width: int | None = None
    right: bool = False

    @property
    def spec(self) -> str:
        return self.name if self.width is None else f"{self.name}\\{self.width}{'R' if self.right else 'L'}"


def read_columns(spec: str) -> list[Column]:
    """``Rank\\2R;Contract\\4L;Names`` -> columns; what can't be read keeps its name without a width."""
    out = []
    for part in spec.split(";"):
        match = _COLUMN.match(part.strip().lstrip("+-"))
        if match is None:
            out.append(Column(part.strip()))
            continue
        name, width, side = match.groups()
        out.append(Column(name, int(width) if width else None, side == "R"))
    return out


def read_row(row: str, columns: Sequence[Column]) -> dict[str, str] | None:
    """A row's values by column name; None when it has fewer values than columns.

    Values are separated by spaces. Only names may hold spaces without quotation marks: from the first such column on
    the widths of the columns decide.
    """
    tokens = [(match.group(1) if match.group(1) is not None else match.group(2)) for match in _TOKEN.finditer(row)]
    if len(tokens) == len(columns):
        return {column.name: token for column, token in zip(columns, tokens, strict=True)}
    first = next((index for index, column in enumerate(columns) if column.name.startswith("Name")), None)
    if first is None or len(tokens) < first:
        return None
    out: dict[str, str] = {}
    position = 0
    for column in columns[:first]:
        match = _TOKEN.search(row, position)
        if match is None:
            return None
        out[column.name] = match.group(1) if match.group(1) is not None else match.group(2)
        position = match.end()
    rest = row[position:].lstrip()
    for index, column in enumerate(columns[first:], start=first):
        last = index == len(columns) - 1
        value = rest if last or column.width is None else rest[: column.width]
        rest = "" if last or column.width is None else rest[column.width :].lstrip()
        out[column.name] = value.strip().strip('"')
    return out


def write_row(columns: Sequence[Column], values: Sequence[str]) -> str:
    """A row with every value in its width; an empty value is ``-``; one with spaces is put in quotation marks."""
    parts = []
    for column, value in zip(columns, values, strict=True):
        text = " ".join(value.replace('"', "'").split()) or "-"
        if " " in text or column.name.startswith("Name"):
            text = f'"{text}"'
        width = column.width or 0
        parts.append(text.rjust(width) if column.right else text.ljust(width))
    return " ".join(parts).rstrip()
