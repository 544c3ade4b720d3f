"""Reads docs/protocol.md: its tables as data, and a second encoder that knows only what the page says."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "protocol.md"


@dataclass
class Row:
    offset: str
    size: str
    name: str
    type: str
    meaning: str


@dataclass
class Section:
    title: str
    level: int
    text: str = ""
    tables: list[list[list[str]]] = field(default_factory=list)

    def rows(self, number=0):
        """Field rows of one of the section's tables, without its head."""
        if number >= len(self.tables):
            return []
        head, *rows = self.tables[number]
        assert head == ["offset", "size", "field", "type", "meaning"], (self.title, head)
        return [Row(*row) for row in rows]


@functools.lru_cache(maxsize=1)
def sections(text: str) -> list[Section]:
    found = [Section("", 0)]
    table = None
    for line in text.splitlines():
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            found.append(Section(heading[2], len(heading[1])))
            table = None
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if table is None:
                table = []
                found[-1].tables.append(table)
            if set("".join(cells)) != {"-"}:
                table.append(cells)
        else:
            table = None
            found[-1].text += line + "\n"
    return found


@dataclass
class PageMessage:
    kind: int
    name: str
    how: str
    rows: list[Row]
    item_rows: list[Row]
    text: str


@functools.lru_cache(maxsize=1)
def messages(text: str) -> dict[int, PageMessage]:
    found = {}
    for section in sections(text):
        heading = re.fullmatch(r"0x([0-9A-F]{2}) ([A-Z_]+) \((.*)\)", section.title)
        if section.level == 3:
            assert heading, f"heading not understood: {section.title}"
            kind = int(heading[1], 16)
            assert kind not in found, f"kind {kind:#x} twice"
            found[kind] = PageMessage(kind, heading[2], heading[3], section.rows(0), section.rows(1), section.text)
    hello = next((m for m in found.values() if m.name == "HELLO"), None)
    for message in found.values():
        if "The payload of HELLO" in message.text and hello:
            message.rows = hello.rows
    return found


def section_named(text: str, start: str) -> Section:
    return next(section for section in sections(text) if section.title.startswith(start))


SIZES = {"u8": 1, "u16": 2, "u24": 3, "u32": 4, "u64": 8}


def size_of(type_name: str) -> int | None:
    """Bytes of a type of the page, None if it varies. Raises KeyError for a type that the page does not explain."""
    if match := re.fullmatch(r"bytes\[(\d+)\]", type_name):
        return int(match[1])
    if type_name in ("str8", "blob16") or re.fullmatch(r"list8\[\w+\]", type_name):
        return None
    return SIZES[type_name]


def pack(type_name: str, value, items: list[Row]) -> bytes:
    """The bytes of one value by the page's first section, without the program's code."""
    if type_name in SIZES:
        return value.to_bytes(SIZES[type_name], "little")
    if type_name == "str8":
        data = value.encode("utf-8")
        return bytes([len(data)]) + data
    if type_name == "blob16":
        return len(value).to_bytes(2, "little") + value
    if match := re.fullmatch(r"list8\[(\w+)\]", type_name):
        parts = [bytes([len(value)])]
        for item in value:
            if match[1] in SIZES:
                parts.append(pack(match[1], item, []))
            else:
                parts += [pack(row.type, getattr(item, row.name), []) for row in items]
        return b"".join(parts)
    assert len(value) == size_of(type_name)
    return bytes(value)


def pack_message(page: PageMessage, message) -> bytes:
    return b"".join(pack(row.type, getattr(message, row.name), page.item_rows) for row in page.rows)
