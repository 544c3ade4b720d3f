"""Golden vectors and random messages for the tests of the wire."""

from __future__ import annotations

import json
import re
from dataclasses import is_dataclass
from pathlib import Path

from hypothesis import strategies as st

from firmware_bridge.wire.layout import layout_of
from firmware_bridge.wire.messages import MESSAGE_TYPES

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


MESSAGES = load("messages")
RECORDS = load("records")


def as_plain(value):
    """A field as the vectors write it."""
    if is_dataclass(value):
        return {name: as_plain(getattr(value, name)) for name, _ in layout_of(type(value))}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [as_plain(item) for item in value]
    return value


def unsigned(size):
    return st.integers(0, 256**size - 1)


def text_of(limit):
    return st.text(st.characters(codec="utf-8"), max_size=limit // 4) | st.text("ab", max_size=limit)


def field_values(name, kind):
    type_name = kind.name
    if match := re.fullmatch(r"u(\d+)", type_name):
        return unsigned(int(match[1]) // 8)
    if match := re.fullmatch(r"bytes\[(\d+)\]", type_name):
        size = int(match[1])
        return st.binary(min_size=size, max_size=size)
    if type_name == "str8":
        return text_of(32 if name in ("model", "firmware") else 255)
    if type_name == "blob16":
        return st.binary(max_size=60) | st.binary(min_size=1020, max_size=1024)
    if type_name == "list8[u64]":
        return st.lists(unsigned(8), max_size=8).map(tuple)
    if type_name == "list8[u16]":
        return st.lists(unsigned(2), max_size=255).map(tuple)
    items = {name: field_values(name, kind) for name, kind in layout_of(kind.item)}
    return st.lists(st.builds(kind.item, **items), max_size=40).map(tuple)


def messages_of(message_type):
    return st.builds(message_type.cls, **{name: field_values(name, kind) for name, kind in message_type.layout})


any_message = st.one_of([messages_of(message_type) for message_type in MESSAGE_TYPES])
