"""From the events of a play to its current result. Pure: the same events always give the same state.

The rules, in the order of the store's numbers and never of any clock:

* Every first record of a board at a terminal opens an *entry*; corrections and erasures in that journal change it.
* The first entry is the current result, and stays it while it lives. Another entry that says the same merges silently.
  One that says something else is kept beside it and the director is asked: the newest never wins by itself.
* What a locked table sends, or any table once the results are final, is held until the director decides.
* What the director ruled stands until he rules again or undoes it. What tables send afterwards is shown to him.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from terminals.result import BoardState, Played
from terminals.store.values import TABLE_KINDS, Claim, EventKind, PlayKey, PlayState, PlayStatus, ResultEvent

CONTESTED = "contested"
"""Two terminals say different things about one play."""
ERASED_ELSEWHERE = "erased-elsewhere"
"""The result stands at one terminal and was erased at another."""
AFTER_RULING = "after-ruling"
"""A table sent something else after the director had ruled."""

HELD = "held"
"""A table sent this when it was locked or the results were final; it counts only if the director says so."""

LOCKED_TABLE, AFTER_FINAL = "locked-table", "after-final"
"""Warnings of an event that is held."""
_HOLDING = frozenset({LOCKED_TABLE, AFTER_FINAL})

_RULINGS = frozenset({EventKind.RULED, EventKind.REMOVED, EventKind.MOVED_AWAY, EventKind.MOVED_HERE})


def same_result(first: BoardState | None, second: BoardState | None) -> bool:
    """True when two entries say the same; an opening lead that only one of them knows makes no difference."""
    if first == second:
        return True
    if isinstance(first, Played) and isinstance(second, Played) and (first.lead is None or second.lead is None):
        return first.contract == second.contract and first.tricks == second.tricks
    return False


def undone_actions(events: Iterable[ResultEvent]) -> frozenset[str]:
    """Actions that no longer count. Undoing an undo brings the first action back."""
    undone: set[str] = set()
    for event in sorted(events, key=lambda e: e.number, reverse=True):
        if event.kind is EventKind.UNDONE and event.action not in undone:
            undone.add(event.target)
    return frozenset(undone)


def resolve(play: PlayKey, events: Sequence[ResultEvent]) -> PlayState:
    """The state of ``play`` after ``events`` (all of this play, in any order; numbers order them)."""
    if len(events) == 1 and events[0].kind is EventKind.ENTERED and _HOLDING.isdisjoint(events[0].warnings):
        return _single(play, events[0])
    ordered = sorted(events, key=lambda e: e.number)
    undone = undone_actions(ordered)
    claims: dict[tuple[int, int, int], Claim] = {}
    firm: dict[tuple[int, int, int], Claim] = {}  # the claims without what is held
    warnings: dict[tuple[int, int, int], tuple[str, ...]] = {}
    left: dict[tuple[int, int, int], int] = {}
    incumbent: tuple[int, int, int] | None = None
    ruling: ResultEvent | None = None
    checked = 0
    actions: list[str] = []
    for event in ordered:
        if event.kind in TABLE_KINDS:
            if event.key is None:
                raise ValueError(f"event {event.number} of a table names no record")
            entry = (event.key.device, event.key.journal, event.root)
            before = claims.get(entry)
            # Within a journal its own numbers are the order, also for a record that was recovered late.
            if event.key.seq < (before.seq if before is not None else left.get(entry, 0)):
                continue
            kept = [claims] if _HOLDING.intersection(event.warnings) else [claims, firm]
            if event.kind is EventKind.LEFT:
                left[entry] = event.key.seq
                for one in kept:
                    one.pop(entry, None)
            else:
                for one in kept:
                    one[entry] = _claim(event, before)
                warnings[entry] = event.warnings
            if incumbent is None or incumbent not in firm or firm[incumbent].content is None:
                incumbent = next((name for name, claim in firm.items() if claim.content is not None), None)
            continue
        if event.action in undone:
            continue
        if event.kind is not EventKind.UNDONE and event.action not in actions:
            actions.append(event.action)
        if event.kind in _RULINGS:
            ruling = event
        elif event.kind is EventKind.CHECKED:
            checked = event.number
    held = tuple(claims.values())
    standing = firm.get(incumbent) if incumbent is not None else None
    if ruling is not None:
        content = ruling.content
        status = PlayStatus.NONE if content is None else PlayStatus.AMENDED
        place, told = (ruling.round, ruling.table), ruling.warnings if checked < ruling.number else ()
    else:
        content = None if standing is None else standing.content
        status = _table_status(content, held)
        shown = standing or (held[-1] if held else None)
        place = (shown.round, shown.table) if shown else (0, 0)
        told = warnings[incumbent] if incumbent is not None and standing is not None else ()
    return PlayState(
        play=play,
        content=content,
        status=status,
        claims=held,
        attention=_attention(content, held, tuple(firm.values()), ruling, checked),
        warnings=told,
        ruled=ruling is not None,
        round=place[0],
        table=place[1],
        changes=len(ordered),
        number=ordered[-1].number if ordered else 0,
        actions=tuple(actions),
    )


def _single(play: PlayKey, event: ResultEvent) -> PlayState:
    # The usual case by far, and the one that decides how many results a second can be stored.
    claim = _claim(event, None)
    return PlayState(
        play=play,
        content=event.content,
        status=_table_status(event.content, (claim,)),
        claims=(claim,),
        warnings=event.warnings,
        round=event.round,
        table=event.table,
        changes=1,
        number=event.number,
    )


def _claim(event: ResultEvent, before: Claim | None) -> Claim:
    if event.key is None:
        raise ValueError(f"event {event.number} of a table names no record")
    content = None if event.kind is EventKind.ERASED else event.content
    if before is not None:
        return replace(
            before,
            seq=event.key.seq,
            content=content,
            confirmed=event.confirmed,
            number=event.number,
            round=event.round,
            table=event.table,
        )
    return Claim(
        device=event.key.device,
        journal=event.key.journal,
        root=event.root,
        seq=event.key.seq,
        content=content,
        confirmed=event.confirmed,
        number=event.number,
        first=event.number,
        round=event.round,
        table=event.table,
    )


def _table_status(content: BoardState | None, claims: Sequence[Claim]) -> PlayStatus:
    if content is None:
        return PlayStatus.NONE
    if any(claim.confirmed and same_result(claim.content, content) for claim in claims):
        return PlayStatus.CONFIRMED
    return PlayStatus.ENTERED


def _attention(
    content: BoardState | None,
    claims: Sequence[Claim],
    firm: Sequence[Claim],
    ruling: ResultEvent | None,
    checked: int,
) -> tuple[str, ...]:
    newest = max((claim.number for claim in claims), default=0)
    if newest <= checked:
        return ()
    settled = checked if ruling is None else max(ruling.number, checked)
    late = [claim for claim in claims if claim.number > settled and not same_result(claim.content, content)]
    if ruling is not None:
        return (AFTER_RULING,) if late else ()
    codes = []
    live = [claim for claim in firm if claim.content is not None]
    if any(not same_result(claim.content, content) for claim in live):
        codes.append(CONTESTED)
    journals = {(claim.device, claim.journal) for claim in live}
    if live and any(c.content is None and (c.device, c.journal) not in journals for c in firm):
        codes.append(ERASED_ELSEWHERE)
    if any(claim not in firm for claim in late):
        codes.append(HELD)
    return tuple(codes)
