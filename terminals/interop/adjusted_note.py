"""Assigned scores as a line of text: result formats have no field for split and weighted rulings (Law 12C1).

``Adjusted: NS 3/10 +650, 7/10 -100; EW AVE+``: readable, and read back exactly.
"""

from __future__ import annotations

import re
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.result import Assigned, AssignedSide, Average, FixedPercent, Outcome, PassedOut, Played
from terminals.scoring.contract_score import score_ns

_WRITTEN = r"\d{1,6}(?:/\d{1,6})? [+-]\d{1,5}"
_SIDE = rf"(AVE[+-]?|\d{{1,6}}(?:/\d{{1,6}})?%|{_WRITTEN}(?:, {_WRITTEN}){{0,9}})"
_NOTE = re.compile(rf"Adjusted: NS {_SIDE}; EW {_SIDE}(?![\w/,%+-])", re.ASCII)
_FORM = re.compile(r"\bForm (\S(?:.{0,38}\S)?) of a fouled board \(Law 87\)")
_OUTCOME = re.compile(r"(\d{1,6}(?:/\d{1,6})?) ([+-]\d{1,5})", re.ASCII)


def adjusted_note(result: Assigned, board: int) -> str:
    """The line of text for an assigned score; scores are seen from North-South."""
    return f"Adjusted: NS {_side(result.ns, board)}; EW {_side(result.ew, board)}"


def _side(side: AssignedSide, board: int) -> str:
    if isinstance(side, Average):
        return side.value
    if isinstance(side, FixedPercent):
        return f"{side.percent}%"
    parts = []
    for outcome in side:
        score = outcome.result if isinstance(outcome.result, int) else score_ns(outcome.result, board)
        parts.append(f"{outcome.weight} {score:+d}")
    return ", ".join(parts)


def assigned_words(result: Assigned) -> str:
    """The same for people: ``60% 4S N=, 40% -100``, the two sides apart when they differ."""
    ns, ew = _side_words(result.ns), _side_words(result.ew)
    return ns if ns == ew else f"NS {ns}; EW {ew}"


def _side_words(side: AssignedSide) -> str:
    if isinstance(side, Average):
        return side.value
    if isinstance(side, FixedPercent):
        return f"{_percent(side.percent / 100)}"
    parts = []
    for outcome in side:
        words = f"{outcome.result:+d}" if isinstance(outcome.result, int) else str(outcome.result)
        parts.append(words if outcome.weight == 1 else f"{_percent(outcome.weight)} {words}")
    return ", ".join(parts)


def _percent(weight: Fraction) -> str:
    """``60%``, or the fraction where two decimals do not say it exactly."""
    hundredths = weight * 10_000
    if hundredths.denominator != 1:
        return str(weight)
    text = f"{hundredths.numerator // 100}.{hundredths.numerator % 100:02d}".rstrip("0").rstrip(".")
    return f"{text}%"


def read_adjusted_note(text: str) -> Assigned | None:
    """The assigned score in a note, or None when there is none or it can't be."""
    match = _NOTE.search(text)
    if match is None:
        return None
    try:
        return Assigned(_read_side(match.group(1)), _read_side(match.group(2)))
    except (EntryError, ValueError, ZeroDivisionError):
        return None


def form_note(form: str) -> str:
    """The line of text for a play of a changed form of a fouled board (Law 87)."""
    return f"Form {form} of a fouled board (Law 87)."


def read_form(text: str) -> str:
    """The form of a fouled board in a note, "" for the board as it was meant."""
    match = _FORM.search(text)
    return "" if match is None else match[1]


def without_adjusted(text: str) -> str:
    """A note without the assigned score in it."""
    return " ".join(_NOTE.sub("", text).split())


def _read_side(text: str) -> AssignedSide:
    text = text.strip()
    if text in tuple(Average):
        return Average(text)
    if text.endswith("%"):
        return FixedPercent(Fraction(text[:-1]))
    outcomes = []
    for part in text.split(", "):
        match = _OUTCOME.fullmatch(part.strip())
        if match is None:
            raise ValueError("not an outcome")
        outcomes.append(Outcome(int(match.group(2)), Fraction(match.group(1))))
    return tuple(outcomes)


def plain_score(result: object, board: int) -> int | None:
    """The one North-South score of a line that has exactly one, the same for both sides; else None."""
    if isinstance(result, (Played, PassedOut)):
        return score_ns(result, board)
    if isinstance(result, Assigned) and result.ns == result.ew and isinstance(result.ns, tuple):
        if len(result.ns) != 1:
            return None
        only = result.ns[0].result
        return only if isinstance(only, int) else score_ns(only, board)
    return None
