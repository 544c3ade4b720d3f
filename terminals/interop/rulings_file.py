"""Rulings written down as TOML, for the results in a file: read, checked, shown by their effect, applied.

This is how a director corrects an evening that is over, or was kept on paper: weighted and split scores (Law 12C1),
artificial ones (12C2), forms of a fouled board (87) and penalties (90, 91), each with its Law, reason and name.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.interop.exchange import EventKind, ExchangeEvent, ExchangeLine
from terminals.interop.slips import parse_fast
from terminals.result import (
    Artificial,
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
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.profile import Profile
from terminals.scoring.profile_file import parse_toml
from terminals.scoring.rulings import (
    Appeal,
    Authority,
    Ruling,
    RulingState,
    check_correction,
    check_ruling,
    correction_period,
    lodge_appeal,
)

MAX_RULINGS = 200
_KEYS = {
    "id": str, "board": int, "section": str, "ns": str, "ew": str, "play": int, "law": str, "reason": str, "by": str,
    "authority": str, "edition": str, "state": str, "replaces": str, "outside_agency": bool, "approvals": list,
    "minutes": int, "score": str, "score_ns": str, "score_ew": str, "form": str, "penalty": dict, "appeal": dict,
}  # fmt: skip
_WEIGHTED = re.compile(r"(?:(\d{1,3}(?:\.\d{1,4})?)\s*%|(\d{1,4}/\d{1,4}))\s+(?:of\s+)?(\S.*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """A ruling as it was written. line: the result it is about, None for a penalty alone."""

    ruling: Ruling
    line: ExchangeLine | None


def read_rulings(text: str, where: str, event: ExchangeEvent, profile: Profile) -> list[Written]:
    """The rulings of a file, ``[[ruling]]`` tables, about results of ``event``. Raises EntryError naming the key."""
    if event.kind is EventKind.TEAMS or event.matches or any(one.in_vps for one in event.entrants):
        raise EntryError(
            "Rulings in a file are for pairs and individuals ranked by their boards, not for team matches or rounds.",
            where=where,
            next_step="Rule on them in the running event: td ruling.",
        )
    data = parse_toml(text, where)
    unknown = sorted(set(data) - {"ruling"})
    tables = data.get("ruling", [])
    if unknown or not isinstance(tables, list) or not tables or len(tables) > MAX_RULINGS:
        raise EntryError(
            f"There is no such key: {unknown[0][:40]}." if unknown else f"1 to {MAX_RULINGS} rulings are wanted.",
            where=where,
            next_step="Write each ruling below a line [[ruling]].",
            code="bad-ruling",
            exit_status=ExitStatus.USAGE,
        )
    names = _Names(event)
    out = []
    for number, table in enumerate(tables, start=1):
        out.append(_Reader(f"{where}, ruling {number}", names, profile).read(table, str(number)))
    ids = [one.ruling.id for one in out]
    if len(set(ids)) != len(ids):
        raise EntryError("Two rulings have the same id.", where=where, code="bad-ruling")
    return out


_PERCENT = re.compile(
    r"(\d{1,3}(?:\.\d{1,4})?)\s*%(?:\s*=?\s*([+-]?\d{1,2}(?:\.\d{1,2})?)\s*imps?)?", re.ASCII | re.IGNORECASE
)
_ARTIFICIAL = re.compile(rf"AVE[+-]?|{_PERCENT.pattern}", re.ASCII | re.IGNORECASE)


def read_side(text: str) -> AssignedSide:
    """One side's score: ``AVE+``, ``55%``, or one to five outcomes such as ``60% +620, 40% -100`` or ``4s n 10``.

    ``55% +1 IMP`` says what the percentage is worth where IMPs are scored. Points are seen from North-South.
    Raises EntryError.
    """
    cleaned = text.strip()
    if cleaned.upper() in tuple(Average):
        return Average(cleaned.upper())
    percent = _PERCENT.fullmatch(cleaned)
    if percent:
        return FixedPercent(Fraction(percent[1]), None if percent[2] is None else Fraction(percent[2]))
    outcomes = []
    for part in cleaned.split(","):
        match = _WEIGHTED.fullmatch(part.strip())
        weight, words = Fraction(1), part.strip()
        if match:
            try:
                weight = Fraction(match[1]) / 100 if match[1] else Fraction(match[2])
            except ZeroDivisionError:
                raise EntryError(f"{match[2]} is no weight.", code="bad-weights") from None
            words = match[3].strip()
        outcomes.append(Outcome(_outcome(words), weight))
    return tuple(outcomes)


def _outcome(words: str) -> Played | PassedOut | int:
    if re.fullmatch(r"[+-]?\d{1,5}", words, re.ASCII):
        return int(words)
    state = parse_fast(words)
    if not isinstance(state, (Played, PassedOut)):
        raise EntryError(f"{words[:24]!r} is no outcome.", code="bad-ruling")
    return state


def board_state(ns: AssignedSide, ew: AssignedSide) -> BoardState:
    """The simplest state that gives these scores to the two sides."""
    if isinstance(ns, (Average, FixedPercent)) and isinstance(ew, (Average, FixedPercent)):
        return Artificial(ns, ew)
    if ns == ew and isinstance(ns, tuple) and len(ns) == 1 and isinstance(ns[0].result, (Played, PassedOut)):
        Assigned(ns, ew)  # the weight
        return ns[0].result
    return Assigned(ns, ew)


def ruled_result(both: str | None, ns: str | None, ew: str | None) -> BoardState | None:
    """What a ruling gives a line: one score for both sides (``AVE+/AVE-``, ``55%/45%``, ``not played``), or one for
    each; None when it gives none. Raises EntryError."""
    if both is None and ns is None and ew is None:
        return None
    if (both is None) == (ns is None and ew is None) or (ns is None) != (ew is None):
        raise EntryError("Give score for both sides, or score_ns and score_ew.", where="score", code="bad-ruling")
    if both is None:
        return board_state(read_side(str(ns)), read_side(str(ew)))
    if both.strip().lower() == "not played":
        return NotPlayed(NotPlayedReason.OTHER)
    first, slash, second = both.partition("/")
    apart = slash and all(_ARTIFICIAL.fullmatch(one.strip().upper()) for one in (first, second))
    return board_state(read_side(first if apart else both), read_side(second if apart else both))


class _Names:
    """Finds results and contestants by what is printed beside them."""

    def __init__(self, event: ExchangeEvent) -> None:
        self.lines = event.lines
        self.known: dict[Contestant, frozenset[str]] = {}
        labels = {one.contestant: one.label for one in event.entrants}
        for line in event.lines:
            for one in (line.line.ns, line.line.ew, *line.line.credited_ns, *line.line.credited_ew):
                labels.setdefault(one, str(one.number))
        for one, label in labels.items():
            plain = {label, str(one.number)}
            both = plain | {f"{name}{one.direction}" for name in plain}
            self.known[one] = frozenset(
                name.upper().replace(" ", "") for name in both | {f"{one.section}{n}" for n in both}
            )

    def means(self, text: str, contestant: Contestant) -> bool:
        return text.upper().replace(" ", "") in self.known[contestant]

    def line(self, board: int, section: str, ns: str, ew: str, play: int) -> ExchangeLine:
        found = [
            one
            for one in self.lines
            if one.line.board == board
            and section in ("", one.line.section)
            and one.line.play == play
            and self.means(ns, one.line.ns)
            and self.means(ew, one.line.ew)
        ]
        if len(found) != 1:
            what = "There is no result" if not found else "There are several results"
            raise EntryError(
                f"{what} of {ns[:12]} against {ew[:12]} on board {board}.",
                next_step="Name the section." if found else "Write ns and ew as they are in the results.",
                code="no-result",
            )
        return found[0]

    def contestant(self, text: str) -> Contestant:
        found = [one for one in self.known if self.means(text, one)]
        if len(found) != 1:
            what = "There is no contestant" if not found else "Several contestants are called"
            raise EntryError(f"{what} {text[:12]}.", next_step="Write it like 3, A3 or 3NS.", code="no-contestant")
        return found[0]


class _Reader:
    def __init__(self, where: str, names: _Names, profile: Profile) -> None:
        self.where, self.names, self.profile = where, names, profile

    def read(self, table: Any, number: str) -> Written:
        try:
            return self._read(table, number)
        except EntryError as error:
            where = ", ".join(part for part in (self.where, error.where) if part)
            raise EntryError(
                error.what, where=where, next_step=error.next_step, code=error.code, exit_status=error.exit_status
            ) from None

    def _read(self, table: Any, number: str) -> Written:
        values = _checked(table, _KEYS)
        line = None
        if "board" in values or "ns" in values or "ew" in values:
            _need(values, "board", "ns", "ew")
            line = self.names.line(
                values["board"], values.get("section", ""), values["ns"], values["ew"], values.get("play", 1)
            )
        ruling = Ruling(
            id=values.get("id", number)[:20],
            law=values.get("law", ""),
            reason=values.get("reason", "")[:200],
            ruled_by=values.get("by", "")[:60],
            line=None if line is None else line.line.key,
            result=self._result(values),
            form=values.get("form"),
            penalty=self._penalty(values),
            authority=_word(Authority, values.get("authority", "director"), "authority"),
            ruleset=values.get("edition", self.profile.ruleset),
            replaces=values.get("replaces", ""),
            outside_agency=values.get("outside_agency", False),
            approvals=tuple(str(one)[:60] for one in values.get("approvals", [])),
        )
        state = _word(RulingState, values.get("state", "proposed"), "state")
        if "minutes" in values:
            check_correction(correction_period(values["minutes"], self.profile), ruling.approvals)
        check_ruling(ruling, None if line is None else line.line.result, self.profile)
        return Written(self._in_state(ruling, state, values), line)

    def _in_state(self, ruling: Ruling, state: RulingState, values: Mapping[str, Any]) -> Ruling:
        if "appeal" in values:
            asked = _checked(values["appeal"], {"by": str, "agreed": bool, "minutes": int}, "appeal.")
            _need(asked, "by", "agreed", "minutes")
            appeal = Appeal(ruling.id, self.names.contestant(asked["by"]), asked["agreed"], asked["minutes"])
            ruling = lodge_appeal(appeal, ruling.moved(RulingState.CONFIRMED), self.profile)
            if state in (RulingState.PROPOSED, RulingState.CONFIRMED, RulingState.APPEALED):
                return ruling
            return ruling.moved(state)
        if state in (RulingState.APPEALED, RulingState.UPHELD):
            raise EntryError(f"A ruling that is {state} needs an appeal.", where="appeal", code="bad-step")
        if state is RulingState.CHANGED:
            ruling = ruling.moved(RulingState.CONFIRMED)
        return ruling if state is RulingState.PROPOSED else ruling.moved(state)

    def _result(self, values: Mapping[str, Any]) -> BoardState | None:
        return ruled_result(*(values.get(key) for key in ("score", "score_ns", "score_ew")))

    def _penalty(self, values: Mapping[str, Any]) -> SessionAdjustment | None:
        if "penalty" not in values:
            return None
        table: dict[str, Any] = dict(values["penalty"])
        amount: Any = table.pop("amount", None)
        asked = _checked(table, {"contestant": str, "unit": str}, "penalty.")
        _need(asked, "contestant", "unit")
        if isinstance(amount, str) and re.fullmatch(r"-?\d{1,4}/[1-9]\d{0,3}", amount, re.ASCII):
            amount = Fraction(amount)
        exact = Fraction(amount) if type(amount) in (int, Fraction) else None
        if exact is None or not -10_000 <= exact <= 10_000:
            raise EntryError('It is a number, such as -2.5 or "-1/4".', where="penalty.amount", code="bad-ruling")
        return SessionAdjustment(
            self.names.contestant(asked["contestant"]),
            exact,
            _word(PenaltyUnit, asked["unit"], "penalty.unit"),
            values.get("reason", ""),
            values.get("law", "90"),
        )


def _checked(table: Any, kinds: Mapping[str, type], prefix: str = "") -> dict[str, Any]:
    if not isinstance(table, dict):
        raise EntryError("Keys with values are wanted.", where=prefix.rstrip("."), code="bad-ruling")
    for key, value in table.items():
        if key not in kinds:
            raise EntryError("There is no such key.", where=f"{prefix}{key[:40]}", code="bad-ruling")
        if type(value) is not kinds[key]:
            word = {str: "text in quotes", int: "a whole number", bool: "true or false", list: "a list"}
            raise EntryError(f"It is {word.get(kinds[key], 'a table')}.", where=f"{prefix}{key}", code="bad-ruling")
    return dict(table)


def _need(values: Mapping[str, Any], *keys: str) -> None:
    for key in keys:
        if key not in values:
            raise EntryError("This key is missing.", where=key, code="bad-ruling")


def _word(kind: Any, text: str, key: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise EntryError(f"It is one of {', '.join(kind)}.", where=key, code="bad-ruling") from None


def noted(event: ExchangeEvent, rulings: Sequence[Ruling]) -> ExchangeEvent:
    """The event with each ruling's Law, reason and author in the notes of its line."""
    words: dict[Any, list[str]] = {}
    for one in rulings:
        if one.line is not None:
            words.setdefault(one.line, []).append(f"Law {one.law}: {one.reason} ({one.ruled_by}).")
    lines = tuple(
        replace(line, note=" ".join([*([line.note] if line.note else []), *words[line.line.key]]))
        if line.line.key in words
        else line
        for line in event.lines
    )
    return replace(event, lines=lines)
