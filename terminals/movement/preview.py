"""What an event would do, before it is confirmed: who goes elsewhere, what is lost, and that nobody replays a board.

The proof does not trust the movement's own check: it counts, for each pair, boards with a result and boards still to
come, straight from the results and the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from firmware_bridge.errors import EntryError
from terminals.movement import happenings as h
from terminals.movement.model import Movement, Seating, Share, SitOut
from terminals.movement.plan import apply
from terminals.movement.state import Plan, Played, Unplayed
from terminals.movement.verify import Report, verify


@dataclass(frozen=True, slots=True)
class Replay:
    """A pair that would play a board twice."""

    pair: int
    board: int


@dataclass(frozen=True, slots=True)
class Preview:
    """after: the plan if the event is confirmed. replays: must be empty. report: of the new plan.

    changes: seat by seat, in words. new_shares: tables that must share boards now. unplayed: boards newly without play.
    orphans: results that are in the plan now and would be outside of it. results_before, results_after: expected
    results of the whole session.
    """

    before: Plan
    after: Plan
    replays: tuple[Replay, ...]
    report: Report
    changes: tuple[str, ...]
    new_shares: tuple[Share, ...]
    unplayed: tuple[Unplayed, ...]
    results_before: int
    results_after: int
    orphans: tuple[Played, ...] = ()

    @property
    def ok(self) -> bool:
        """Nobody replays a board and the plan has no error."""
        return not self.replays and self.report.ok


def preview(plan: Plan, event: h.Happening, played: Sequence[Played] = ()) -> Preview:
    """What ``event`` would do to ``plan``. Raises EntryError for an event that can't be."""
    return compare(plan, apply(plan, event, played), played)


def compare(plan: Plan, after: Plan, played: Sequence[Played] = ()) -> Preview:
    """What it means to go on with ``after`` in place of ``plan``, whatever led to it (an undoing, for example)."""
    old = set(plan.actual.shares)
    return Preview(
        before=plan,
        after=after,
        replays=replays(after, played),
        report=verify(after.actual),
        changes=tuple(_changes(plan.actual, after.actual)),
        new_shares=tuple(share for share in after.actual.shares if share not in old),
        unplayed=tuple(u for u in after.unplayed if u not in plan.unplayed),
        results_before=plan.actual.expected_results(),
        results_after=after.actual.expected_results(),
        orphans=_orphans(plan.actual, after.actual, played),
    )


def _orphans(before: Movement, after: Movement, played: Sequence[Played]) -> tuple[Played, ...]:
    def meetings(movement: Movement) -> set[tuple[int, int, int]]:
        return {(board, min(s.ns, s.ew), max(s.ns, s.ew)) for s in movement.seatings for board in s.boards}

    was, is_now = meetings(before), meetings(after)
    named = ((p, (p.board, min(p.ns, p.ew), max(p.ns, p.ew))) for p in played)
    return tuple(sorted({p for p, key in named if key in was and key not in is_now}, key=lambda p: (p.round, p.table)))


def replays(plan: Plan, played: Sequence[Played] = ()) -> tuple[Replay, ...]:
    """Pairs that would have a board twice: results so far, and seatings of the plan that have no result yet."""
    times: Counter[tuple[int, int]] = Counter()
    done = set()
    for p in set(played):
        times[p.ns, p.board] += 1
        times[p.ew, p.board] += 1
        done.add((p.round, p.ns, p.ew, p.board))
    for s in plan.actual.seatings:
        for board in s.boards:
            if (s.round, s.ns, s.ew, board) not in done:
                times.update((pair, board) for pair in s.contestants)
    return tuple(Replay(pair, board) for (pair, board), count in sorted(times.items()) if count > 1)


def compare_repairs(plan: Plan, event: h.PlayedAs, played: Sequence[Played] = ()) -> dict[h.Then, Preview]:
    """Both ways to go on after a round that was moved wrongly; a way that can't be is left out."""

    ways: dict[h.Then, Preview] = {}
    for then in h.Then:
        try:
            ways[then] = preview(plan, replace(event, then=then), played)
        except EntryError:
            continue
    return ways


def _changes(before: Movement, after: Movement) -> list[str]:
    lines = []
    if after.rounds < before.rounds:
        lines.append(f"The session ends after round {after.rounds} instead of {before.rounds}.")
    elif after.rounds > before.rounds:
        lines.append(f"The session has {after.rounds} rounds instead of {before.rounds}.")
    for number in range(1, after.rounds + 1):
        for pair in sorted({*before.pairs, *after.pairs}):
            old, new = before.seat(pair, number), after.seat(pair, number)
            if old != new and not (isinstance(new, SitOut) and new.absent and old is None):
                lines.append(f"Round {number}: {pair} {_where(new, pair)} (was: {_where(old, pair)}).")
    return lines


def _where(seat: Seating | SitOut | None, pair: int) -> str:
    if seat is None:
        return "nowhere"
    if isinstance(seat, SitOut):
        return "absent" if seat.absent else "sits out"
    opponents = " and ".join(str(o) for o in seat.opponents_of(pair))
    boards = f"{seat.boards[0]}-{seat.boards[-1]}" if len(seat.boards) > 1 else str(seat.boards[0])
    return f"table {seat.table} {seat.direction_of(pair)} against {opponents}, boards {boards}"
