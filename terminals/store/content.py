"""Results as JSON text and back: the one form in which the store, exports and the API carry a ``BoardState``.

``{"is": "played", "contract": "3NTX", "by": "N", "tricks": 9, "lead": 13}``, ``{"is": "passed"}``, ``{"is":
"not-played", "reason": "no-time"}``, ``{"is": "artificial", "ns": "AVE+", "ew": "AVE-"}``, ``{"is": "assigned", "ns":
[{"result": ..., "weight": "2/3"}], "ew": ...}``. Fractions are texts; a score seen from North-South is a number.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dealer.cards import Seat
from firmware_bridge.errors import EntryError, StoreError
from terminals.contract import Contract
from terminals.result import (
    Artificial,
    ArtificialSide,
    Assigned,
    AssignedSide,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
)

MAX_TEXT = 4096
_ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def to_json(content: BoardState | None) -> Any:
    """Plain JSON value. Raises StoreError for states that are never stored (not entered, sit-out)."""
    if content is None:
        return None
    if isinstance(content, Played):
        out: dict[str, Any] = {"is": "played", "contract": content.contract.text}
        out["by"] = content.contract.declarer.letter
        out["tricks"] = content.tricks
        if content.lead is not None:
            out["lead"] = content.lead
        return out
    if isinstance(content, PassedOut):
        return {"is": "passed"}
    if isinstance(content, NotPlayed):
        note = {"note": content.note} if content.note else {}
        return {"is": "not-played", "reason": content.reason.value, **note}
    if isinstance(content, Artificial):
        return {"is": "artificial", "ns": _artificial(content.ns), "ew": _artificial(content.ew)}
    if isinstance(content, Assigned):
        return {"is": "assigned", "ns": _assigned(content.ns), "ew": _assigned(content.ew)}
    raise StoreError(f"{type(content).__name__} is no result that can be stored.", code="store-content")


def from_json(value: Any) -> BoardState | None:
    """Inverse of ``to_json``. Raises EntryError when the value is none of its forms."""
    if value is None:
        return None
    try:
        kind = value["is"]
        if kind == "played":
            return Played(_contract(value["contract"], value["by"]), _integer(value["tricks"]), value.get("lead"))
        if kind == "passed":
            return PassedOut()
        if kind == "not-played":
            return NotPlayed(NotPlayedReason(value["reason"]), str(value.get("note", "")))
        if kind == "artificial":
            return Artificial(_read_artificial(value["ns"]), _read_artificial(value["ew"]))
        if kind == "assigned":
            return Assigned(_read_assigned(value["ns"]), _read_assigned(value["ew"]))
    except EntryError:
        raise
    except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
        raise EntryError(f"this is no result: {type(error).__name__}.", code="bad-result") from error
    raise EntryError(f"{str(kind)[:20]!r} is no kind of result.", code="bad-result")


def dumps(content: BoardState | None) -> str | None:
    """Compact JSON text, None for None."""
    return None if content is None else _ENCODE(to_json(content))


def loads(text: str | None) -> BoardState | None:
    """Inverse of ``dumps``. Raises EntryError."""
    if text is None:
        return None
    if len(text) > MAX_TEXT:
        raise EntryError("this result is too long to be one.", code="bad-result")
    return _read(text)


@lru_cache(maxsize=4096)
def _read(text: str) -> BoardState | None:
    """Many plays end with the same result; being frozen, it can be the same object for all of them."""
    try:
        return from_json(json.loads(text))
    except json.JSONDecodeError as error:
        raise EntryError("this is no result: not JSON.", code="bad-result") from error


@lru_cache(maxsize=1024)
def _contract(text: str, by: str) -> Contract:
    # There are 420 contracts; an evening of a large event is read again and again.
    return Contract.parse(text, Seat.from_letter(by))


def _artificial(side: ArtificialSide) -> Any:
    if isinstance(side, Average):
        return side.value
    out = {"percent": str(side.percent)}
    return out if side.imps is None else {**out, "imps": str(side.imps)}


def _read_artificial(value: Any) -> ArtificialSide:
    if isinstance(value, str):
        return Average(value)
    imps = value.get("imps")
    return FixedPercent(Fraction(value["percent"]), None if imps is None else Fraction(imps))


def _assigned(side: AssignedSide) -> Any:
    if isinstance(side, (Average, FixedPercent)):
        return _artificial(side)
    return [
        {"result": o.result if isinstance(o.result, int) else to_json(o.result), "weight": str(o.weight)} for o in side
    ]


def _read_assigned(value: Any) -> AssignedSide:
    if not isinstance(value, list):
        return _read_artificial(value)
    outcomes = []
    for item in value:
        result = item["result"]
        if not isinstance(result, int) or isinstance(result, bool):
            result = from_json(result)
            if not isinstance(result, (Played, PassedOut)):
                raise EntryError("an outcome of an assigned score is a played board or a score.", code="bad-result")
        outcomes.append(Outcome(result, Fraction(item["weight"])))
    return tuple(outcomes)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise EntryError("a number of tricks is wanted.", code="bad-tricks")
    return value
