"""The log of rulings of a running event: append-only desk events, folded into what stands now.

Three kinds: a ruling as it was made; a step of it (confirmed, appealed, upheld, changed, withdrawn); an act taken back.
Undoing is a new event like anything else, and undoing an undo brings the act back. The result that a ruling gives to a
play is an event of that play under the same act (``terminals.sync.ruling_acts``), so that everybody who reads results
sees it; form, penalty and award are read from here. Pure.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError
from terminals.scoring.lines import Contestant, LineKey, PenaltyUnit, ResultLine, SessionAdjustment
from terminals.scoring.rulings import COUNTING, Authority, Award, Ruling, RulingState
from terminals.scoring.swiss import RoundKind, RoundScore
from terminals.store import content as content_json
from terminals.store.desk import DeskEvent
from terminals.store.values import PlayKey

RULING, STEP, UNDONE = "ruling", "ruling-step", "ruling-undone"
KINDS = (RULING, STEP, UNDONE)
PENALTY = "penalty"
"""What an earlier version kept of a penalty, called after its desk event."""
MAX_FORMS = 2000


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a ruling. by: who decided it. appeal: who appealed, whether the pair agreed (Law 92D)."""

    state: RulingState
    by: str
    reason: str = ""
    second: str = ""
    wall: str = ""
    action: str = ""
    appeal: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """A ruling as it stands now.

    number: its name, one after the other within the event. ruling: with its present state. play: whose result it
    decides. stands: the result of the table stays, and is now the director's. forms: plays of a fouled board and the
    form that each played.
    marked: how that form was marked, None when its vulnerability was that of its number (Laws 2, 87A).
    steps: its whole history, the making of it first. acts: those that gave the play its result, oldest first.
    """

    number: int
    ruling: Ruling
    play: PlayKey | None = None
    stands: bool = False
    board: int = 0
    forms: Mapping[PlayKey, str] = field(default_factory=dict)
    marked: Vulnerability | None = None
    steps: tuple[Step, ...] = ()
    acts: tuple[str, ...] = ()

    @property
    def state(self) -> RulingState:
        return self.ruling.state

    @property
    def counts(self) -> bool:
        return self.ruling.state in COUNTING

    @property
    def decides_result(self) -> bool:
        return self.play is not None and (self.ruling.result is not None or self.stands)

    @property
    def replaces(self) -> int:
        return int(self.ruling.replaces or 0)


# --- JSON --------------------------------------------------------------------------------------------------------


def to_data(kept: Kept, action: str) -> dict[str, Any]:
    """The data of the desk event that makes this ruling; its state is how it begins."""
    ruling = kept.ruling
    out: dict[str, Any] = {
        "law": ruling.law,
        "reason": ruling.reason,
        "by": ruling.ruled_by,
        "authority": ruling.authority.value,
        "edition": ruling.ruleset,
        "state": ruling.state.value,
        "action": action,
    }
    if kept.number:
        out["number"] = kept.number
    if kept.play is not None:
        out["play"] = _play_data(kept.play)
    if ruling.result is not None:
        out["result"] = content_json.to_json(ruling.result)
    if kept.stands:
        out["stands"] = True
    if kept.forms:
        out["board"] = kept.board
        out["forms"] = [[*_play_data(play), form] for play, form in kept.forms.items()]
        if kept.marked is not None:
            out["marked"] = int(kept.marked)
    if ruling.penalty is not None:
        one = ruling.penalty
        out["penalty"] = [one.contestant.section, one.contestant.number, str(one.amount), one.unit.value]
    if ruling.award is not None:
        award = ruling.award
        out["award"] = [award.contestant.section, award.contestant.number, award.round, str(award.vps)]
    if ruling.replaces:
        out["replaces"] = kept.replaces
    if ruling.outside_agency:
        out["outside"] = True
    if ruling.approvals:
        out["approvals"] = list(ruling.approvals)
    return out


def _play_data(play: PlayKey) -> list[Any]:
    return [play.section, play.board, play.ns, play.ew, play.play]


def _play(data: Sequence[Any]) -> PlayKey:
    section, board, ns, ew, play = data
    return PlayKey(str(section), int(board), int(ns), int(ew), int(play))


def line_key(play: PlayKey) -> LineKey:
    """A play as the scoring names it."""
    section = play.section
    return play.board, section, Contestant(section, play.ns), Contestant(section, play.ew), play.play


def _made(item: DeskEvent) -> Kept:
    data = item.data
    law, reason = str(data["law"]), str(data["reason"])
    play = _play(data["play"]) if "play" in data else None
    penalty = award = None
    if "penalty" in data:
        section, number, worth, unit = data["penalty"]
        penalty = SessionAdjustment(Contestant(section, number), Fraction(worth), PenaltyUnit(unit), reason, law)
    if "award" in data:
        section, number, round, vps = data["award"]
        award = Award(Contestant(section, number), int(round), Fraction(vps))
    ruling = Ruling(
        id=str(number_of(item)),
        law=law,
        reason=reason,
        ruled_by=str(data["by"]),
        line=None if play is None else line_key(play),
        result=content_json.from_json(data.get("result")),
        penalty=penalty,
        award=award,
        authority=Authority(data["authority"]),
        ruleset=str(data["edition"]),
        state=RulingState(data["state"]),
        replaces=str(data.get("replaces") or ""),
        outside_agency=bool(data.get("outside")),
        approvals=tuple(data.get("approvals", ())),
    )
    forms = {_play(one[:5]): str(one[5]) for one in data.get("forms", ())}
    marked = Vulnerability(data["marked"]) if "marked" in data else None
    return Kept(number_of(item), ruling, play, bool(data.get("stands")), int(data.get("board", 0)), forms, marked)


# --- what stands -------------------------------------------------------------------------------------------------


def fold(events: Iterable[DeskEvent]) -> dict[int, Kept]:
    """Every ruling that was made and not taken back, by number. events: those of KINDS, in order."""
    held = sorted((one for one in events if one.kind in KINDS), key=lambda one: one.number)
    gone = undone(held)
    out: dict[int, Kept] = {}
    for item in held:
        action = str(item.data["action"])
        if action in gone:
            continue
        if item.kind == RULING:
            kept = _made(item)
            step = Step(kept.state, kept.ruling.ruled_by, kept.ruling.reason, _second(item), item.wall, action)
            acts = (action,) if kept.counts and kept.decides_result else ()
            out[kept.number] = replace(kept, steps=(step,), acts=acts)
        elif item.kind == STEP:
            before = out.get(int(item.data["ruling"]))
            if before is not None:
                out[before.number] = _stepped(before, item, action)
    return out


def _stepped(before: Kept, item: DeskEvent, action: str) -> Kept:
    data = item.data
    step = Step(
        RulingState(data["state"]),
        str(data.get("by", item.actor)),
        str(data.get("reason", "")),
        _second(item),
        item.wall,
        action,
        dict(data.get("appeal", {})),
    )
    first = step.state is RulingState.CONFIRMED and not before.counts and before.decides_result
    return replace(
        before,
        ruling=replace(before.ruling, state=step.state),
        steps=(*before.steps, step),
        acts=(*before.acts, action) if first else before.acts,
    )


def _second(item: DeskEvent) -> str:
    return str(item.data.get("second", ""))


def number_of(made: DeskEvent) -> int:
    """The number of a ruling; one that was made before rulings had their own is called after its desk event."""
    return int(made.data.get("number", made.number))


def next_number(events: Iterable[DeskEvent]) -> int:
    """The number of the next ruling: also none that was taken back had it, and no penalty of an earlier version."""
    return max((number_of(one) for one in events if one.kind in (RULING, PENALTY)), default=0) + 1


def undone(events: Iterable[DeskEvent]) -> frozenset[str]:
    """Acts that no longer count."""
    out: set[str] = set()
    for item in sorted(events, key=lambda one: one.number, reverse=True):
        if item.kind == UNDONE and item.data["action"] not in out:
            out.add(str(item.data["target"]))
    return frozenset(out)


def acts_of(events: Iterable[DeskEvent]) -> dict[str, list[DeskEvent]]:
    """Act -> the log's events that it wrote."""
    out: dict[str, list[DeskEvent]] = {}
    for item in events:
        if item.kind in KINDS:
            out.setdefault(str(item.data["action"]), []).append(item)
    return out


def standing(kept: Mapping[int, Kept], play: PlayKey) -> Kept | None:
    """The ruling that decides this play's result now."""
    return next((one for one in kept.values() if one.play == play and one.counts and one.decides_result), None)


def on_play(kept: Mapping[int, Kept], play: PlayKey) -> list[Kept]:
    """Rulings that say something of this play and are not withdrawn or replaced."""
    gone = (RulingState.WITHDRAWN, RulingState.CHANGED)
    return [one for one in kept.values() if one.state not in gone and (one.play == play or play in one.forms)]


def check_all(kept: Mapping[int, Kept]) -> None:
    """Refuse rulings that contradict each other: two that count on the result, or on the form, of one play.

    Raises EntryError naming the Law and both.
    """
    results: dict[PlayKey, Kept] = {}
    forms: dict[PlayKey, Kept] = {}
    awards: dict[tuple[Contestant, int], Kept] = {}
    for one in kept.values():
        if not one.counts:
            continue
        if one.decides_result and one.play is not None:
            _alone(results, one.play, one, "result", f"board {one.play.board}")
        for play in one.forms:
            _alone(forms, play, one, "form", f"board {play.board}")
        award = one.ruling.award
        if award is not None:
            place = (award.contestant, award.round)
            _alone(awards, place, one, "score", f"{award.contestant}, round {award.round}")


def _alone(seen: dict[Any, Kept], place: Any, one: Kept, what: str, where: str) -> None:
    other = seen.setdefault(place, one)
    if other is not one:
        raise EntryError(
            f"Ruling {other.number} (Law {other.ruling.law}) already decides this {what}.",
            where=where,
            next_step=f"Say that the new ruling replaces {other.number}, or withdraw that one first.",
            code="contradictory-ruling",
        )


# --- for the scoring ---------------------------------------------------------------------------------------------


def adjustments(kept: Mapping[int, Kept]) -> list[SessionAdjustment]:
    """Penalties and bonuses that count (Laws 90, 91)."""
    return [one.ruling.penalty for one in kept.values() if one.counts and one.ruling.penalty is not None]


Form = tuple[str, Vulnerability | None]
"""The form of a fouled board, and how it was marked when that was not as its number says."""


def forms(kept: Mapping[int, Kept]) -> dict[LineKey, Form]:
    """Forms of fouled boards that count (Law 87)."""
    return {
        line_key(play): (form, one.marked)
        for one in kept.values()
        if one.counts
        for play, form in one.forms.items()
        if form
    }


def with_forms(lines: Iterable[ResultLine], played: Mapping[LineKey, Form]) -> list[ResultLine]:
    """The lines, those of fouled boards with their form and its vulnerability."""
    if not played:
        return list(lines)
    return [
        replace(line, form=played[line.key][0], vulnerability=played[line.key][1]) if line.key in played else line
        for line in lines
    ]


def marking(kept: Mapping[int, Kept], play: PlayKey) -> Vulnerability | None:
    """How the board of a play was marked, None for as its number says."""
    return next((one.marked for one in kept.values() if one.counts and play in one.forms), None)


def awards(kept: Mapping[int, Kept]) -> list[RoundScore]:
    """Rounds that a director gave victory points for."""
    given = [one.ruling.award for one in kept.values() if one.counts and one.ruling.award is not None]
    return [RoundScore(one.contestant, one.round, one.vps, kind=RoundKind.AWARDED) for one in given]


def pending(kept: Mapping[int, Kept]) -> list[Kept]:
    """Rulings under appeal: until they are decided the results are provisional (Law 92)."""
    return [one for one in kept.values() if one.state is RulingState.APPEALED]
