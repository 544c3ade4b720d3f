"""Rulings: what a director decides, checked before it counts, with a preview of what it does to every total.

A ruling names board and contestants, Law, reason and who ruled. Values only; events and clocks are elsewhere: times
are minutes since results were made available. Laws 12, 79C, 84-87, 90-93 (2007); other editions through ``editions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from dealer.board import vulnerability_of
from firmware_bridge.errors import EntryError
from terminals.result import (
    Artificial,
    Assigned,
    AssignedSide,
    Average,
    BoardState,
    FixedPercent,
    NotEntered,
    NotPlayed,
    PassedOut,
    Played,
    SitOut,
)
from terminals.scoring.boards import Method, artificial_percent
from terminals.scoring.editions import edition_note
from terminals.scoring.lines import (
    Contestant,
    LineKey,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
)
from terminals.scoring.possible import possible_scores
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.session import SessionScore, score_session


class Authority(StrEnum):
    """Who ruled."""

    DIRECTOR = "director"
    COMMITTEE = "committee"  # appeals committee, Law 93B


class RulingState(StrEnum):
    """Where a ruling stands. Only confirmed, appealed and upheld rulings count; a changed one is replaced."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    APPEALED = "appealed"  # Law 92: it counts until the decision, results are provisional
    UPHELD = "upheld"
    CHANGED = "changed"
    WITHDRAWN = "withdrawn"


_MOVES: dict[RulingState, frozenset[RulingState]] = {
    RulingState.PROPOSED: frozenset({RulingState.CONFIRMED, RulingState.WITHDRAWN}),
    RulingState.CONFIRMED: frozenset({RulingState.APPEALED, RulingState.CHANGED, RulingState.WITHDRAWN}),
    RulingState.APPEALED: frozenset({RulingState.UPHELD, RulingState.CHANGED, RulingState.CONFIRMED}),
    RulingState.UPHELD: frozenset({RulingState.CHANGED}),
    RulingState.CHANGED: frozenset(),
    RulingState.WITHDRAWN: frozenset(),
}
COUNTING = frozenset({RulingState.CONFIRMED, RulingState.APPEALED, RulingState.UPHELD})


@dataclass(frozen=True, slots=True)
class Award:
    """Victory points that a director gives to one contestant for a round: a match that was not, or not rightly, played.

    An award takes the place of what the contestant scored in that round; the opponent's score stays. It is a matter of
    regulations (Law 78D), so the director's ruling is recorded as his own.
    """

    contestant: Contestant
    round: int
    vps: Fraction


@dataclass(frozen=True, slots=True)
class Ruling:
    """One decision.

    line: the result it touches, None for a penalty alone. result: what that line becomes, None when it stays. form:
    the form of a fouled board that the line played, None when it stays (Law 87). penalty: Law 90 or 91. award: victory
    points for a round. replaces: id of the ruling that this one takes the place of. outside_agency: nobody at the
    table was at fault. approvals: who agreed to a change after the correction period (Law 79C2: director and
    organiser).
    """

    id: str
    law: str
    reason: str
    ruled_by: str
    line: LineKey | None = None
    result: BoardState | None = None
    form: str | None = None
    penalty: SessionAdjustment | None = None
    award: Award | None = None
    authority: Authority = Authority.DIRECTOR
    ruleset: str = "laws-2007"
    state: RulingState = RulingState.PROPOSED
    replaces: str = ""
    outside_agency: bool = False
    approvals: tuple[str, ...] = ()

    def moved(self, state: RulingState) -> Ruling:
        """The ruling in its next state. Raises EntryError for a step that can't be."""
        if state not in _MOVES[self.state]:
            raise EntryError(
                f"A ruling that is {self.state} can't become {state}.", where=f"ruling {self.id}", code="bad-step"
            )
        return replace(self, state=state)


def check_ruling(ruling: Ruling, current: BoardState | None, profile: Profile) -> list[str]:
    """Refuse a ruling that can't be (EntryError), and return warnings and notes for one that can.

    current: what is known of the line now, None for a penalty alone.
    """
    where = f"ruling {ruling.id}" if ruling.line is None else f"board {ruling.line[0]}"
    note = edition_note(ruling.ruleset, ruling.law)
    notes = [note] if note else []
    if not ruling.ruled_by.strip():
        raise _refuse("Nobody is named who ruled", where, "Enter the director's name.")
    if not ruling.reason.strip():
        played = isinstance(current, (Played, PassedOut))
        what = "An artificial score for a board that was played" if played else "A ruling"
        raise _refuse(f"{what} needs a reason", where, "Enter the facts in a few words.")
    if ruling.result is None and ruling.form is None and ruling.penalty is None and ruling.award is None:
        raise _refuse("This ruling decides nothing", where, "Give a result, a form of the board or a penalty.")
    if (ruling.result is not None or ruling.form is not None) and ruling.line is None:
        raise _refuse("No result is named that this ruling is about", where, "Name board and contestants.")
    if isinstance(ruling.result, (NotEntered, SitOut)):
        raise _refuse("A sit-out or a missing result is no ruling", where, "Use not played, with a reason.")
    if isinstance(ruling.result, Assigned):
        notes += _check_assigned(ruling, ruling.result, where)
    if isinstance(ruling.result, Artificial):
        notes += _check_sum(ruling, ruling.result.ns, ruling.result.ew, profile)
        if isinstance(current, (Played, PassedOut)):
            notes.append("the board was played; its table result is kept in the record (Law 12C1(d))")
    if isinstance(ruling.result, NotPlayed) and isinstance(current, (Played, PassedOut)):
        notes.append("the board was played; as not played it gives no score to either side")
    if ruling.penalty is not None and ruling.penalty.amount >= 0:
        notes.append("this adjustment is no penalty: it adds to the total")
    return notes


def _check_assigned(ruling: Ruling, result: Assigned, where: str) -> list[str]:
    weighted = [side for side in (result.ns, result.ew) if isinstance(side, tuple) and len(side) > 1]
    if weighted and ruling.ruleset == "laws-1997" and ruling.authority is Authority.DIRECTOR:
        raise _refuse(
            "In the Laws of 1997 only an appeals committee may vary an assigned score (Law 12C3)",
            where,
            "Assign one score to each side (Law 12C2 of 1997).",
        )
    notes = []
    for name, side in (("North-South", result.ns), ("East-West", result.ew)):
        if isinstance(side, tuple) and len({outcome.result for outcome in side}) != len(side):
            notes.append(f"{name} has the same outcome twice; the weights add up")
        notes += _check_scores(ruling, side, where)
    if isinstance(result.ns, (Average, FixedPercent)) != isinstance(result.ew, (Average, FixedPercent)):
        notes.append("one side gets an artificial score, the other an assigned one")
    return list(dict.fromkeys(notes))


def _check_scores(ruling: Ruling, side: AssignedSide, where: str) -> list[str]:
    """Refuse points that no contract gives; note those that only a wrongly marked board gives (Law 2)."""
    typed = [one.result for one in side if isinstance(one.result, int)] if isinstance(side, tuple) else []
    notes = []
    for score in typed:
        if score not in possible_scores():
            raise _refuse(f"No contract gives {score:+d} (Law 77)", where, "Correct the score.")
        board = 0 if ruling.line is None else ruling.line[0]
        if board and score not in possible_scores(vulnerability_of(board)):
            notes.append(f"{score:+d} can't be scored on board {board}, unless it was marked otherwise (Law 77)")
    return notes


def _check_sum(ruling: Ruling, ns: AssignedSide, ew: AssignedSide, profile: Profile) -> list[str]:
    if not isinstance(ns, (Average, FixedPercent)) or not isinstance(ew, (Average, FixedPercent)):
        return []
    total = artificial_percent(ns, profile) + artificial_percent(ew, profile)
    if total > 100 and not ruling.outside_agency:
        return [f"the two sides get {float(total):g}% together; more than 100% is meant for an outside cause"]
    return []


def _refuse(what: str, where: str, next_step: str) -> EntryError:
    return EntryError(f"{what}.", where=where, next_step=next_step, code="contradictory-ruling")


def apply_rulings(
    lines: Iterable[ResultLine], rulings: Sequence[Ruling], profile: Profile
) -> tuple[list[ResultLine], list[SessionAdjustment]]:
    """Lines and session adjustments with all counting rulings applied, in the order of ``rulings``.

    Raises EntryError for a ruling about a line that is not there, and for two counting rulings on the same line of
    which neither replaces the other.
    """
    by_key = {line.key: line for line in lines}
    replaced = {ruling.replaces for ruling in rulings if ruling.state in COUNTING and ruling.replaces}
    unknown = replaced - {ruling.id for ruling in rulings}
    if unknown:
        raise EntryError(f"There is no ruling {min(unknown)[:20]!r} to replace.", code="contradictory-ruling")
    adjustments: list[SessionAdjustment] = []
    decided: dict[tuple[LineKey, str], str] = {}
    for ruling in rulings:
        if ruling.state not in COUNTING or ruling.id in replaced:
            continue
        if ruling.line is not None:
            line = by_key.get(ruling.line)
            if line is None:
                raise EntryError(
                    "This ruling is about a result that is not there.",
                    where=f"ruling {ruling.id}, board {ruling.line[0]}",
                    code="no-result",
                )
            check_ruling(ruling, line.result, profile)
            for aspect, value in (("result", ruling.result), ("form", ruling.form)):
                if value is None:
                    continue
                other = decided.setdefault((ruling.line, aspect), ruling.id)
                if other != ruling.id:
                    raise EntryError(
                        f"Rulings {other} and {ruling.id} both decide the {aspect} of the same line.",
                        where=f"board {ruling.line[0]}",
                        next_step="Say which of them replaces the other.",
                        code="contradictory-ruling",
                    )
            if ruling.result is not None:
                line = replace(line, result=ruling.result)
            if ruling.form is not None:
                line = replace(line, form=ruling.form)
            by_key[ruling.line] = line
        else:
            check_ruling(ruling, None, profile)
        if ruling.penalty is not None:
            adjustments.append(ruling.penalty)
    return list(by_key.values()), adjustments


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """Everything that ``score_session`` needs besides the lines."""

    groups: Sequence[WinnerGroup]
    expected: Mapping[int, int] | None = None
    fields: Sequence[ScoringField] | None = None
    profile: Profile = PLAIN
    method: Method = Method.MATCHPOINTS
    adjustments: Sequence[SessionAdjustment] = ()

    def score(self, lines: Iterable[ResultLine], rulings: Sequence[Ruling] = ()) -> SessionScore:
        """Score ``lines`` with the counting rulings applied. Raises EntryError."""
        ruled, adjustments = apply_rulings(lines, rulings, self.profile)
        return score_session(
            ruled,
            expected=self.expected,
            fields=self.fields,
            groups=self.groups,
            profile=self.profile,
            method=self.method,
            adjustments=[*self.adjustments, *adjustments],
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What a ruling does to one contestant: None where it was or will not be ranked."""

    contestant: Contestant
    value_before: Fraction | None
    value_after: Fraction | None
    place_before: str
    place_after: str

    @property
    def changed(self) -> bool:
        return self.value_before != self.value_after or self.place_before != self.place_after


@dataclass(frozen=True, slots=True)
class Preview:
    """A ruling's effect on everybody, best first as it would be afterwards, and what the director should know."""

    effects: tuple[Effect, ...]
    notes: tuple[str, ...]
    score: SessionScore


def preview(
    ruling: Ruling, lines: Sequence[ResultLine], setup: SessionSetup, rulings: Sequence[Ruling] = ()
) -> Preview:
    """What would happen if ``ruling`` were confirmed now, on top of ``rulings``. Raises EntryError as they would."""
    return preview_all([ruling], lines, setup, rulings)


def preview_all(
    proposed: Sequence[Ruling], lines: Sequence[ResultLine], setup: SessionSetup, rulings: Sequence[Ruling] = ()
) -> Preview:
    """The same for several rulings together."""
    results = {line.key: line.result for line in lines}
    notes: list[str] = []
    for ruling in proposed:
        current = None if ruling.line is None else results.get(ruling.line)
        notes += check_ruling(ruling, current, setup.profile)
    before = setup.score(lines, rulings)
    counting = [one if one.state in COUNTING else replace(one, state=RulingState.CONFIRMED) for one in proposed]
    after = setup.score(lines, [*rulings, *counting])
    old = {row.contestant: row for ranking in before.rankings for row in ranking}
    effects = []
    for ranking in after.rankings:
        for row in ranking:
            was = old.pop(row.contestant, None)
            effects.append(
                Effect(
                    row.contestant,
                    None if was is None else was.value,
                    row.value,
                    "" if was is None else was.place_text,
                    row.place_text,
                )
            )
    effects += [Effect(one, row.value, None, row.place_text, "") for one, row in old.items()]
    return Preview(tuple(effects), tuple(dict.fromkeys(notes)), after)


class Period(StrEnum):
    """A period that starts when results are made available to the contestants."""

    NOT_STARTED = "not-started"
    OPEN = "open"
    OVER = "over"


def correction_period(elapsed_minutes: Fraction | int | None, profile: Profile) -> Period:
    """State of the correction period (Law 79C1); None: results have not been made available yet."""
    return _period(elapsed_minutes, profile.correction_minutes)


def appeal_period(elapsed_minutes: Fraction | int | None, profile: Profile) -> Period:
    """State of the period for appeals (Law 92B)."""
    return _period(elapsed_minutes, profile.appeal_minutes)


def _period(elapsed: Fraction | int | None, minutes: int) -> Period:
    if elapsed is None:
        return Period.NOT_STARTED
    return Period.OPEN if elapsed < minutes else Period.OVER


def check_correction(period: Period, approvals: Sequence[str]) -> None:
    """Refuse a correction after the period unless two people, director and organiser, approve it (Law 79C2)."""
    if period is Period.OVER and len({name.strip().casefold() for name in approvals if name.strip()}) < 2:
        raise EntryError(
            "The correction period is over (Law 79C).",
            next_step="Director and organiser must both approve, convinced beyond doubt that the score is wrong.",
            code="period-over",
        )


@dataclass(frozen=True, slots=True)
class Appeal:
    """A request for a review of a ruling (Law 92). agreed: both players of the pair, or the captain (Law 92D)."""

    ruling: str
    by: Contestant
    agreed: bool
    elapsed_minutes: Fraction | int | None


def lodge_appeal(appeal: Appeal, ruling: Ruling, profile: Profile) -> Ruling:
    """The ruling under appeal. Raises EntryError when the appeal can't be received (Law 92B, 92D)."""
    if appeal.ruling != ruling.id:
        raise EntryError("The appeal names another ruling.", where=f"ruling {ruling.id}", code="bad-appeal")
    if appeal_period(appeal.elapsed_minutes, profile) is Period.OVER:
        raise EntryError(
            f"The time for appeals, {profile.appeal_minutes} minutes, is over (Law 92B).", code="period-over"
        )
    if not appeal.agreed:
        raise EntryError(
            "Both players of a pair, or the captain of a team, must agree to an appeal (Law 92D).", code="bad-appeal"
        )
    return ruling.moved(RulingState.APPEALED)
