"""Adjusted scores as a line of text: result formats have no field for split and weighted rulings (Law 12C1), and two
digits for an artificial score (12C2), which is too few for 62.5 %, for what a percentage is worth in IMPs, and for 60 %
that is the director's own and no average plus.

``Adjusted: NS 3/10 +650, 7/10 -100; EW 55% +1 IMP``: readable, and read back exactly.
"""

from __future__ import annotations

import re
from fractions import Fraction

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError
from terminals.result import (
    Artificial,
    Assigned,
    AssignedSide,
    Average,
    FixedPercent,
    Outcome,
    PassedOut,
    Played,
)
from terminals.scoring.contract_score import score_ns
from terminals.scoring.lines import ResultLine

_WRITTEN = r"\d{1,6}(?:/\d{1,6})? [+-]\d{1,5}"
_PERCENT = r"\d{1,6}(?:/\d{1,6})?%(?: [+-]\d{1,4}(?:/\d{1,4})? IMP)?"
_SIDE = rf"(AVE[+-]?|{_PERCENT}|{_WRITTEN}(?:, {_WRITTEN}){{0,9}})"
_NOTE = re.compile(rf"Adjusted: NS {_SIDE}; EW {_SIDE}(?![\w/,%+-])", re.ASCII)
_FORM = re.compile(r"\bForm (\S(?:.{0,38}\S)?) of a fouled board \(Law 87\)")
_MARKS = re.compile(rf"\bMarked ({'|'.join(one.pbn for one in Vulnerability)}) vulnerable \(Law 2\)")
_OUTCOME = re.compile(r"(\d{1,6}(?:/\d{1,6})?) ([+-]\d{1,5})", re.ASCII)


def exact_note(result: object, board: int, vulnerability: Vulnerability | None = None) -> str:
    """The line of text for a result that the fields of a file can't say exactly; "" for all others.

    vulnerability: as the board was marked (Law 2), None for what its number says.
    """
    if isinstance(result, Assigned) and plain_score(result, board, vulnerability) is None:
        return adjusted_note(result, board, vulnerability)
    if isinstance(result, Artificial) and any(map(_needs_words, (result.ns, result.ew))):
        return adjusted_note(result, board)
    return ""


def _needs_words(side: AssignedSide) -> bool:
    """Two digits say it otherwise: 60, 50 and 40 are read as averages, which Law 12C2(c) may raise or lower."""
    if not isinstance(side, FixedPercent):
        return False
    return side.imps is not None or side.percent.denominator != 1 or side.percent in (60, 50, 40)


def adjusted_note(result: Assigned | Artificial, board: int, vulnerability: Vulnerability | None = None) -> str:
    """The line of text for an adjusted score; scores are seen from North-South."""
    return f"Adjusted: NS {_side(result.ns, board, vulnerability)}; EW {_side(result.ew, board, vulnerability)}"


def _side(side: AssignedSide, board: int, vulnerability: Vulnerability | None) -> str:
    if isinstance(side, Average):
        return side.value
    if isinstance(side, FixedPercent):
        worth = "" if side.imps is None else f" {'+' if side.imps >= 0 else ''}{side.imps} IMP"
        return f"{side.percent}%{worth}"
    parts = []
    for outcome in side:
        score = outcome.result if isinstance(outcome.result, int) else score_ns(outcome.result, board, vulnerability)
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


def read_adjusted_note(text: str) -> Assigned | Artificial | None:
    """The adjusted score in a note, artificial when it is so for both sides; None when there is none or it can't be."""
    match = _NOTE.search(text)
    if match is None:
        return None
    try:
        ns, ew = _read_side(match.group(1)), _read_side(match.group(2))
        if isinstance(ns, (Average, FixedPercent)) and isinstance(ew, (Average, FixedPercent)):
            return Artificial(ns, ew)
        return Assigned(ns, ew)
    except (EntryError, ValueError, ZeroDivisionError):
        return None


def form_note(form: str) -> str:
    """The line of text for a play of a changed form of a fouled board (Law 87)."""
    return f"Form {form} of a fouled board (Law 87)."


def read_form(text: str) -> str:
    """The form of a fouled board in a note, "" for the board as it was meant."""
    match = _FORM.search(text)
    return "" if match is None else match[1]


def marks_note(vulnerability: Vulnerability) -> str:
    """The line of text for a board that was marked otherwise than its number says (Law 2)."""
    return f"Marked {vulnerability.pbn} vulnerable (Law 2)."


def read_marks(text: str) -> Vulnerability | None:
    """How a board was marked by its note, None where the note says nothing of it."""
    match = _MARKS.search(text)
    return None if match is None else next(one for one in Vulnerability if one.pbn == match[1])


def line_note(line: ResultLine) -> str:
    """Everything of a line that the fields of a file can't say: adjusted score, form of a fouled board, its marks."""
    parts = (
        exact_note(line.result, line.board, line.vulnerability),
        form_note(line.form) if line.form else "",
        "" if line.vulnerability is None else marks_note(line.vulnerability),
    )
    return " ".join(filter(None, parts))


def without_made(text: str) -> str:
    """A note without what ``line_note`` puts into it."""
    for made in (_FORM, _MARKS):
        text = re.sub(rf"{made.pattern}\.?", "", text)
    return without_adjusted(text)


def without_adjusted(text: str) -> str:
    """A note without the adjusted score in it."""
    return " ".join(_NOTE.sub("", text).split())


def _read_side(text: str) -> AssignedSide:
    text = text.strip()
    if text in tuple(Average):
        return Average(text)
    percent, sign, worth = text.partition("%")
    if sign:
        return FixedPercent(Fraction(percent), Fraction(worth.removesuffix("IMP").strip()) if worth else None)
    outcomes = []
    for part in text.split(", "):
        match = _OUTCOME.fullmatch(part.strip())
        if match is None:
            raise ValueError("not an outcome")
        outcomes.append(Outcome(int(match.group(2)), Fraction(match.group(1))))
    return tuple(outcomes)


def plain_score(result: object, board: int, vulnerability: Vulnerability | None = None) -> int | None:
    """The one North-South score of a line that has exactly one, the same for both sides; else None."""
    if isinstance(result, (Played, PassedOut)):
        return score_ns(result, board, vulnerability)
    if isinstance(result, Assigned) and result.ns == result.ew and isinstance(result.ns, tuple):
        if len(result.ns) != 1:
            return None
        only = result.ns[0].result
        return only if isinstance(only, int) else score_ns(only, board, vulnerability)
    return None
