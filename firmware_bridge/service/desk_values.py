"""From the JSON values of a request to plays, results and seats; whatever can't be is refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from terminals.contract import Contract
from terminals.result import ArtificialSide, Assigned, BoardState, Outcome, PassedOut, Played
from terminals.store import content as content_json
from terminals.store.values import PlayKey
from terminals.sync.director import By, artificial_side
from terminals.sync.setup import section_number

Body = Mapping[str, Any]


def text_of(body: Body, name: str, limit: int = 500, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str) or len(value) > limit:
        raise EntryError(f"{name} is wanted, a text of at most {limit} letters.", code="bad-value")
    return value.strip()


def whole_of(body: Body, name: str, low: int, high: int, default: int | None = None) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise EntryError(f"{name} is wanted, a number from {low} to {high}.", code="bad-value")
    return value


def play_of(body: Body, prefix: str = "") -> PlayKey:
    """section (letter), board, ns, ew, and play when it is not the first. Raises EntryError."""
    letter = text_of(body, f"{prefix}section", 3)
    section_number(letter)
    return PlayKey(
        letter.upper(),
        whole_of(body, f"{prefix}board", 1, 999),
        whole_of(body, f"{prefix}ns", 1, 4095),
        whole_of(body, f"{prefix}ew", 1, 4095),
        whole_of(body, f"{prefix}play", 1, 99, 1),
    )


def by_of(desk: Desk, body: Body) -> By:
    return By(
        text_of(body, "actor", 40, ""), text_of(body, "second", 40, ""), text_of(body, "note", 500, ""), desk.wall()
    )


def content_of(body: Body) -> BoardState:
    """The result that a body names: ``result`` as stored, or contract, declarer, tricks as people type them."""
    if "ns_outcomes" in body:
        ns = outcomes_of(text_of(body, "ns_outcomes", 300))
        return Assigned(ns, outcomes_of(text_of(body, "ew_outcomes", 300)) if body.get("ew_outcomes") else ns)
    if "result" in body:
        found = content_json.from_json(body["result"])
        if found is None:
            raise EntryError("a result is wanted.", code="bad-result")
        return found
    contract = text_of(body, "contract", 20)
    if contract.strip().lower() in ("pass", "passed out", "p"):
        return PassedOut()
    declarer = body.get("declarer")
    made = Contract.parse(contract, Seat.from_letter(declarer) if isinstance(declarer, str) and declarer else None)
    tricks = body.get("tricks")
    if isinstance(tricks, str):
        tricks = tricks_of(tricks, made)
    if isinstance(tricks, bool) or not isinstance(tricks, int):
        raise EntryError("tricks are wanted, from 0 to 13.", code="bad-tricks")
    return Played(made, tricks)


def outcomes_of(text: str) -> tuple[Outcome, ...] | ArtificialSide:
    """``4S N = 60%, 4S N -1 40%`` (Law 12C1), one outcome without weight, or ``AVE+`` for that side."""
    parts = [part.split() for part in text.split(",") if part.strip()]
    if len(parts) == 1 and len(parts[0]) == 1 and parts[0][0].lower() != "pass":
        return artificial_side(parts[0][0])
    found = []
    for words in parts:
        weight = Fraction(1)
        if words and (words[-1].endswith("%") or "/" in words[-1]):
            word = words.pop()
            try:
                weight = Fraction(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
            except (ValueError, ZeroDivisionError):
                raise EntryError(f"{word[:12]!r} is no weight.", code="bad-weights") from None
        if len(words) == 1 and words[0].lower() == "pass":
            found.append(Outcome(PassedOut(), weight))
        elif len(words) == 3:
            contract = Contract.parse(f"{words[0]} {words[1]}")
            found.append(Outcome(Played(contract, tricks_of(words[2], contract)), weight))
        else:
            raise EntryError(
                "an outcome is contract, declarer, result and weight.",
                next_step="Write it like 4S N = 60%, 4S N -1 40%.",
                code="bad-result",
            )
    return tuple(found)


def tricks_of(text: str, contract: Contract) -> int:
    """``=``, ``+1``, ``-2`` or the number of tricks."""
    word = text.strip()
    if word == "=":
        return contract.required_tricks
    if not word.lstrip("+-").isdigit() or len(word) > 3:
        raise EntryError(f"{text[:8]!r} is no result; write =, +1, -2 or tricks.", code="bad-tricks")
    return contract.required_tricks + int(word) if word[0] in "+-" else int(word)


def seat_of(body: Body) -> tuple[str, int]:
    letter = text_of(body, "section", 3, "A")
    section_number(letter)
    return letter.upper(), whole_of(body, "table", 1, 255)


def device_of(body: Body) -> int:
    text = text_of(body, "device", 16)
    try:
        return int(text, 16)
    except ValueError:
        raise EntryError("device is 16 hexadecimal digits.", code="bad-value") from None
