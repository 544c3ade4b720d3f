"""What the rules about messages have in common: guids, letters, and the words of a complaint. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from terminals.interop.data_connector.shapes import Dto

_LETTERS = re.compile(r"([A-Z])\1{0,2}\n?")
_GUID = re.compile(r"[0-9A-F]{32}")


def is_guid(text: str | None) -> bool:
    """32 digits and capitals A to F, no dashes."""
    return text is not None and _GUID.fullmatch(text) is not None


def is_letters(text: str | None) -> bool:
    """A section's letters: one capital, once to three times."""
    return text is not None and _LETTERS.fullmatch(text) is not None


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip()


def guid(dto: Dto) -> list[str]:
    return [] if is_guid(dto["SessionGuid"]) else ["SessionGuid is not 32 digits and capitals A to F."]


def letters(text: str | None) -> list[str]:
    return [] if is_letters(text) else ["The section's letters are not one capital, once to three times."]


def same(outer: Dto, inner: Dto, *names: str, who: str) -> list[str]:
    return [f"{who} has another {name}." for name in names if inner[name] != outer[name]]


def inside(who: str, messages: Iterable[str]) -> list[str]:
    return [f"{who}: {message}" for message in messages]


def twice(values: Iterable[Any]) -> list[Any]:
    return [text(value) for value, count in Counter(values).items() if count > 1]


def text(value: Any) -> str:
    return "" if value is None else str(value)[:40]
