"""Golden vectors and random messages for the tests of the wire."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import strategies as st

from firmware_bridge.wire.messages import MESSAGE_TYPES, PlanRound

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


MESSAGES = load("messages")
RECORDS = load("records")


def as_plain(value):
    """A field as the vectors write it."""
    if isinstance(value, PlanRound):
        return {name: getattr(value, name) for name in PlanRound.__slots__}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [as_plain(item) for item in value]
    return value


def unsigned(size):
    return st.integers(0, 256**size - 1)


def text_of(limit):
    return st.text(st.characters(codec="utf-8"), max_size=limit // 4) | st.text("ab", max_size=limit)


plan_rounds = st.builds(
    PlanRound,
    **{name: unsigned(2 if name in ("ns", "ew", "first_board") else 1) for name in PlanRound.__slots__},
)


def field_values(message_type, name, type_name):
    if match := re.fullmatch(r"u(\d+)", type_name):
        return unsigned(int(match[1]) // 8)
    if match := re.fullmatch(r"bytes\[(\d+)\]", type_name):
        size = int(match[1])
        return st.binary(min_size=size, max_size=size)
    if type_name == "str8":
        return text_of(32 if name in ("model", "firmware") else 255)
    if type_name == "list8[u64]":
        return st.lists(unsigned(8), max_size=8).map(tuple)
    if type_name == "list8[u16]":
        return st.lists(unsigned(2), max_size=255).map(tuple)
    assert type_name == "list8[plan_round]", type_name
    return st.lists(plan_rounds, max_size=40).map(tuple)


def messages_of(message_type):
    return st.builds(
        message_type.cls, **{name: field_values(message_type, name, kind.name) for name, kind in message_type.layout}
    )


any_message = st.one_of([messages_of(message_type) for message_type in MESSAGE_TYPES])
