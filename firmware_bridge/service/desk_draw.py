"""The next round of a Swiss event, drawn from the ranking of this moment: who meets whom, on which boards.

A draw is a happening like any other: it is previewed, kept, told to the terminals, and undone as long as its round has
no result. Nobody meets the same opponents twice as long as any draw allows it.
"""

from __future__ import annotations

from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_plan import SWISS, apply_all, kept_of, letter_of, played_of, seen_version
from firmware_bridge.service.desk_values import Body, text_of, whole_of
from terminals.movement import happenings as h
from terminals.movement import swiss
from terminals.movement.boards import runs
from terminals.movement.evening import missing_results
from terminals.movement.plan import apply
from terminals.movement.state import Plan


async def draw(desk: Desk, body: Body, *, only_preview: bool) -> dict[str, Any]:
    """Draw the next round of a section, or show what the draw would be.

    ``absent``: who does not play in it; ``join``: new pairs or teams; ``ranking``: an order in place of the ranking,
    everybody who plays once; ``first_board``; ``anyway``: although results of earlier rounds are missing; ``couples``:
    who meets whom by the preview that was looked at.
    Raises EntryError for a movement that is not drawn, missing results, numbers that can't be, and another draw than
    the one that was looked at.
    """
    letter = letter_of(body)
    plan = kept_of(desk, letter).plan
    if plan.actual.kind not in SWISS:
        raise EntryError(
            f"rounds are drawn in a Swiss event only; this is {plan.actual.name}.",
            where=f"section {letter}",
            code="not-swiss",
        )
    joins = [h.Joined(number) for number in _numbers(body, "join")]
    for one in joins:
        plan = apply(plan, one)
    movement = plan.actual
    strangers = [number for number in _numbers(body, "absent") if number not in movement.contestants]
    if strangers:
        raise EntryError(f"{strangers[0]} is not in this event.", where="absent", code="bad-value")
    absent = tuple(sorted({*_numbers(body, "absent"), *plan.gone}))
    playing = [one for one in movement.contestants if one not in absent]
    missing = _missing(desk, letter, plan)
    if missing and not body.get("anyway"):
        raise EntryError(
            f"{len(missing)} results are missing: {', '.join(missing[:8])}{' and more' if len(missing) > 8 else ''}.",
            where=f"section {letter}",
            next_step="Ask the tables, or draw anyway from the ranking without them.",
            code="boards-missing",
        )
    order = _order(desk, letter, playing, _numbers(body, "ranking"))
    met, had_bye = swiss.history(movement)
    found = swiss.draw(order, met, had_bye)
    if not only_preview and body.get("couples") not in (None, [list(couple) for couple in found.couples]):
        raise EntryError(
            "results have changed since the draw was looked at; it would be another one by now.",
            where=f"section {letter}",
            next_step="Look at the preview again.",
            code="draw-changed",
        )
    first = whole_of(body, "first_board", 0, 999, 0)
    event = h.Drawn(movement.rounds + 1, found.couples, found.bye, absent, first)
    done = await apply_all(
        desk,
        letter,
        [*joins, event],
        only_preview=only_preview,
        actor=text_of(body, "actor", 40, ""),
        seen=seen_version(body),
    )
    # The room may have changed while the draw was kept; what is shown is that of this draw all the same.
    drawn = apply(plan, event).actual
    tables = drawn.in_round(drawn.rounds)
    return done | {
        "round": event.round,
        "couples": [list(couple) for couple in found.couples],
        "bye": found.bye,
        "repeats": [list(couple) for couple in found.repeats],
        "ranking": order,
        "boards": runs(board for one in tables for board in one.boards),
        "tables": [{"table": s.table, "ns": s.ns, "ew": s.ew, "boards": runs(s.boards)} for s in tables],
    }


def _missing(desk: Desk, letter: str, plan: Plan) -> list[str]:
    gone = missing_results(plan, played_of(desk, letter, plan))
    # A board that the director has taken out of the scoring is not waited for.
    settled = {
        (row.play.board, frozenset((row.play.ns, row.play.ew)))
        for row in desk.rows.values()
        if row.play.section == letter and row.content is not None
    }
    return [
        f"round {p.round} table {p.table} board {p.board}"
        for p in gone
        if (p.board, frozenset((p.ns, p.ew))) not in settled
    ]


def _order(desk: Desk, letter: str, playing: list[int], given: list[int]) -> list[int]:
    if given:
        wrong = sorted(set(given) ^ set(playing))
        if wrong or len(given) != len(set(given)):
            what = f"{wrong[0]} is missing or a stranger" if wrong else "a number is there twice"
            raise EntryError(f"{what}; the order names everybody who plays, once.", where="ranking", code="bad-ranking")
        return given
    ranked = [
        row.contestant.number
        for rows in desk.score().rankings
        for row in rows
        if row.contestant.section in (letter, "") and row.contestant.number in playing
    ]
    ranked = list(dict.fromkeys(ranked))
    return ranked + [number for number in playing if number not in ranked]


def _numbers(body: Body, name: str) -> list[int]:
    value = body.get(name) or []
    if not isinstance(value, list) or len(value) > swiss.MAX_CONTESTANTS:
        raise EntryError(f"{name} is a list of numbers.", where=name, code="bad-value")
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 < one < 10_000 for one in value):
        raise EntryError(f"{name} is a list of numbers.", where=name, code="bad-value")
    return list(value)
