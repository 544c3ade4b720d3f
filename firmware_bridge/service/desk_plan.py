"""What changes the plan of a section while it is played: late pairs, early ends, wrong moves, draws; and undoing them.

The plan is folded from the movement as announced and the happenings that the desk has kept, so that undoing one is
leaving it out. Each is previewed before it counts, with the proof that nobody replays a board. The event as terminals
have it and the happening are stored in one transaction: neither is ever there without the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_lock import lock_of
from firmware_bridge.service.desk_plan_people import renumbered, substitutes
from firmware_bridge.service.desk_values import Body, text_of, whole_of
from firmware_bridge.service.desk_view import place_of
from terminals.movement import happenings as h
from terminals.movement.boards import runs
from terminals.movement.model import Movement
from terminals.movement.plan import apply, fold, standing
from terminals.movement.preview import Preview, compare, compare_repairs
from terminals.movement.state import Plan, Played
from terminals.movement.swiss import SWISS_PAIRS, SWISS_TEAMS
from terminals.movement.words import verdict_words, words
from terminals.result import NotPlayed
from terminals.store import desk as desk_store
from terminals.store.desk import DeskEvent, EventRow, Person
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey
from terminals.sync.director import By, Director
from terminals.sync.setup import (
    EventSetup,
    movement_from_dict,
    movement_to_dict,
    section_letter,
    section_number,
    setup_to_json,
)

MAX_SHOWN = 400
MAX_LISTED = 12
"""Lines of a preview; a room of a hundred tables changes more places than anybody reads."""
SWISS = (SWISS_PAIRS, SWISS_TEAMS)


@dataclass(frozen=True, slots=True)
class Kept:
    """A section as the desk keeps it. begun: its movement when the event began. events: undone ones included.

    unkept: how many of the last events are not in the store yet, because another program has changed the movement.
    """

    begun: Movement
    events: tuple[h.Happening, ...]
    plan: Plan
    unkept: int = 0


_KNOWN: WeakKeyDictionary[Desk, dict[str, tuple[object, Movement, Kept]]] = WeakKeyDictionary()


def kept_of(desk: Desk, letter: str) -> Kept:
    """A section with everything that the desk has kept of it. Raises EntryError without a movement."""
    section = desk.setup.section_called(letter)
    if section is None or section.movement is None:
        raise EntryError("the event has no such section, or no movement yet.", where=letter[:8], code="no-movement")
    kept = desk.facts.planned.get(section.letter)
    own = [(number, data) for number, data in desk.facts.happenings if data["section"] == section.letter]
    # Folded again only when something has happened: the scoring asks at every result.
    last, movement = own[-1][0] if own else 0, section.movement
    known = _KNOWN.setdefault(desk, {})
    found = known.get(section.letter)
    if found is None or found[0] != (desk.event, last) or found[1] is not movement:
        begun = movement if kept is None else movement_from_dict(kept)
        events = tuple(h.from_dict(data["event"]) for _, data in own)
        made = Kept(begun, events, fold(begun, events))
        if not _same_rounds(made.plan.shown(), movement):
            # A scoring program has set other rounds than those that were planned here: that is what is played now.
            made = Kept(begun, (*events, h.Replanned(movement_to_dict(movement))), Plan(movement, movement), 1)
        found = known[section.letter] = ((desk.event, last), movement, made)
    return found[2]


def _same_rounds(one: Movement, other: Movement) -> bool:
    return (one.seatings, one.sit_outs, one.groups) == (other.seatings, other.sit_outs, other.groups)


def plan_of(desk: Desk, letter: str) -> tuple[Plan, list[h.Happening]]:
    """A section's plan, and what led to it. Raises EntryError without a movement."""
    kept = kept_of(desk, letter)
    return kept.plan, list(kept.events)


def played_of(desk: Desk, letter: str, plan: Plan) -> list[Played]:
    """Boards of a section that have a result, by the pairs that played them whatever number they showed."""
    return [_played(desk, row, plan) for row in _results(desk, letter)]


def _results(desk: Desk, letter: str) -> list[CurrentResult]:
    return [
        row
        for row in desk.rows.values()
        if row.play.section == letter and row.content is not None and not isinstance(row.content, NotPlayed)
    ]


def _played(desk: Desk, row: CurrentResult, plan: Plan, play: PlayKey | None = None) -> Played:
    number, table = place_of(desk, row)
    of = row.play if play is None else play
    ns, ew = (plan.pair_of(shown, number) or shown for shown in (of.ns, of.ew))
    return Played(number, table, ns, ew, of.board)


def letter_of(body: Body) -> str:
    """The section that a body names, A when it names none. Raises EntryError."""
    return section_letter(section_number(text_of(body, "section", 3, "A")))


# --- a change ------------------------------------------------------------------------------------------------------


async def happen(desk: Desk, body: Body, *, only_preview: bool) -> dict[str, Any]:
    """Preview or apply a happening: ``section`` and ``event`` with its kind. Raises EntryError when it can't be.

    One that would leave results outside of the plan is refused unless ``anyway`` is set.
    """
    letter = letter_of(body)
    given = body.get("event")
    if not isinstance(given, Mapping):
        raise EntryError("event is wanted: a kind and its values.", code="bad-value")
    event = h.from_dict(given)
    actor, second = text_of(body, "actor", 40, ""), text_of(body, "second", 40, "")
    anyway = bool(body.get("anyway"))
    return await apply_all(
        desk,
        letter,
        [event],
        only_preview=only_preview,
        actor=actor,
        second=second,
        anyway=anyway,
        seen=seen_version(body),
    )


def seen_version(body: Body) -> int | None:
    """``version`` of the preview that was looked at before the change was asked for; None when none was named."""
    return None if body.get("seen") is None else whole_of(body, "seen", 1, 0xFFFF)


async def apply_all(
    desk: Desk,
    letter: str,
    new: Sequence[h.Happening],
    *,
    only_preview: bool,
    actor: str = "",
    second: str = "",
    anyway: bool = False,
    seen: int | None = None,
) -> dict[str, Any]:
    """Several happenings as one change: all or none. second: another name, when final results move (Law 79C).

    seen: the version of the plan that was looked at; a change of another one is refused. Raises EntryError.
    """
    async with lock_of(desk):
        version = desk.setup.plan_version
        if seen is not None and seen != version and not only_preview:
            raise EntryError(
                "the plan has changed since it was looked at.",
                where=f"section {letter}",
                next_step="Look at the preview again.",
                code="plan-changed",
            )
        kept = kept_of(desk, letter)
        plan, events = kept.plan, list(kept.events)
        _undoable(letter, events, new)
        played = played_of(desk, letter, plan)
        after = _after(kept, new, played)
        moves = _following(desk, letter, plan, after) if _names_pairs(events, new) else {}
        if moves:
            played = [
                _played(desk, row, after if row.play in moves else plan, moves.get(row.play))
                for row in _results(desk, letter)
            ]
        effect = compare(plan, after, played)
        shown = preview_view(effect) | {"moves": [_move_words(one, to) for one, to in moves.items()][:MAX_SHOWN]}
        shown["version"] = version
        if len(new) == 1 and isinstance(new[0], h.PlayedAs):
            ways = compare_repairs(plan, new[0], played)
            shown["ways"] = {then.value: preview_view(one) for then, one in ways.items()}
        if only_preview:
            return shown
        if not effect.ok:
            raise EntryError(
                "this can't be: " + " ".join(shown["problems"][:3]),
                where=f"section {letter}",
                next_step="Look at the preview and choose another way.",
                code="plan-refused",
            )
        if effect.orphans and not anyway and not all(isinstance(one, h.PlayedAs) for one in new):
            raise EntryError(
                f"{len(effect.orphans)} results would be outside of the plan; the first: {shown['orphans'][0]}",
                where=f"section {letter}",
                next_step="Erase or move them first, or say that it shall be so anyway; no result is lost.",
                code="results-outside",
            )
        section = desk.setup.section_called(letter)
        assert section is not None
        items = []
        if section.letter not in desk.facts.planned:
            items.append(event_of(desk, "planned", "", section=letter, movement=movement_to_dict(kept.begun)))
        for one in (*events[len(events) - kept.unkept :], *new):
            items.append(event_of(desk, "happening", actor, section=letter, event=h.to_dict(one)))
        setup = desk.setup.with_movement(section.number, effect.after.shown())
        by = By(actor or "desk", second, "", desk.wall())
        people = [*renumbered(desk.people, letter, plan, new), *substitutes(desk.people, letter, plan, effect.after)]
        await keep(desk, setup, items, people, moves, by)
        _tell(desk, section.number, effect, new)
        return {**shown, "position": len(events), "positions": list(range(len(events), len(events) + len(new)))}


def _undoable(letter: str, events: Sequence[h.Happening], new: Sequence[h.Happening]) -> None:
    """Refuse to take back what is not there, or was taken back already, saying which changes there are."""
    counting = standing(events)
    for one in new:
        if not isinstance(one, h.Undone) or one.event in counting:
            continue
        known = 0 <= one.event < len(events)
        listed = ", ".join(f"{at} ({words(events[at])})" for at in counting[-MAX_LISTED:])
        raise EntryError(
            f"Change {one.event} was taken back already."
            if known
            else f"The plan has no change {one.event}"
            + (f"; those that can be taken back: {listed}." if listed else ": nothing has happened to it yet."),
            where=f"section {letter}",
            next_step="firmware-bridge td plan lists every change with its number.",
            code="taken-back-already" if known else "entry",
        )


def _after(kept: Kept, new: Sequence[h.Happening], played: Sequence[Played]) -> Plan:
    """Only new events are asked whether results contradict them; an undoing folds everything anew."""
    if any(isinstance(one, h.Undone) for one in new):
        return fold(kept.begun, [*kept.events, *new])
    after = kept.plan
    for one in new:
        after = apply(after, one, played)
    return after


def _names_pairs(events: Sequence[h.Happening], new: Sequence[h.Happening]) -> bool:
    """Whether the change says who sat where in rounds that may have results: these follow, they are of whoever sat."""
    everything = [*events, *new]
    for one in new:
        target = one
        while isinstance(target, h.Undone):
            target = everything[target.event]
        if not isinstance(target, (h.PlayedAs, h.Renumbered)):
            return False
    return True


def _following(desk: Desk, letter: str, before: Plan, after: Plan) -> dict[PlayKey, PlayKey]:
    """Results that were keyed in at a table whose pairs are others in the new plan: play -> the play that it was."""
    was, now = before.shown(), after.shown()
    out = {}
    for row in _results(desk, letter):
        place, play = place_of(desk, row), row.play
        old, new = was.at(*place), now.at(*place)
        if old is None or new is None or play.play != 1 or (play.ns, play.ew) != (old.ns, old.ew):
            continue
        if play.board in old.boards and play.board in new.boards and (new.ns, new.ew) != (old.ns, old.ew):
            out[play] = replace(play, ns=new.ns, ew=new.ew)
    return out


def _move_words(play: PlayKey, to: PlayKey) -> str:
    return f"Board {play.board}: the result of {play.ns} - {play.ew} becomes that of {to.ns} - {to.ew}."


def event_of(desk: Desk, kind: str, actor: str, **data: Any) -> DeskEvent:
    """A line of the desk's log, dated by the director's clock; ``data`` must be fit for JSON."""
    return DeskEvent(kind, data, actor, desk.wall())


async def keep(
    desk: Desk,
    setup: EventSetup,
    items: Sequence[DeskEvent],
    people: Sequence[Person] = (),
    moves: Mapping[PlayKey, PlayKey] | None = None,
    by: By | None = None,
) -> None:
    """Store the changed event and what changed it in one transaction; then tell terminals and pages.

    moves: results that belong to other pairs now, each moved as an act of its own. Raises EntryError when one can't be;
    nothing is stored then.
    """
    event, row = desk.event, EventRow(setup.id, setup.name, setup_to_json(setup), setup.plan_version, "")

    def job(connection: Connection) -> None:
        for item in items:
            desk_store.append_desk(connection, event, item)
        for person in people:
            desk_store.save_person(connection, event, person)
        desk_store.save_event(connection, row)
        if moves and by is not None:
            director = Director(connection, setup, by)
            for play, to in moves.items():
                director.move(play, to)

    await desk.store.submit(job)
    desk.service.send(desk.service.collector.set_setup(setup, desk.clock.monotonic()))
    desk.reload()
    desk.stream.publish(reset_chunk(desk))


def reset_chunk(desk: Desk) -> bytes:
    """The piece of the event stream that makes every page read everything anew."""
    from firmware_bridge.service.desk_stream import encode

    return encode("reset", {"version": desk.cursor}, desk.cursor)


def _tell(desk: Desk, section: int, seen: Preview, new: Sequence[h.Happening]) -> None:
    """What the plan on a terminal's screen can't say: a board that lies inside its run and is not to be played, and
    that a round is drawn."""
    for one in seen.after.actual.seatings:
        missing = sorted(set(range(min(one.boards), max(one.boards))) - set(one.boards))
        before = seen.before.actual.at(one.round, one.table)
        if missing and (before is None or before.boards != one.boards):
            text = f"Round {one.round}: do not play board {runs(missing)}."
            desk.service.send(desk.service.collector.text(text, section, one.table, urgent=True))
    for event in new:
        if isinstance(event, h.Drawn):
            text = f"Round {event.round} is drawn: see where you sit. After it, stay for the next draw."
            desk.service.send(desk.service.collector.text(text, section, 0, urgent=False))


# --- views ---------------------------------------------------------------------------------------------------------


def preview_view(seen: Preview) -> dict[str, Any]:
    """A preview as JSON values. ``proof``: for how many couples of pair and board it was counted that none is twice."""
    problems = [f"Pair {one.pair} would play board {one.board} twice." for one in seen.replays]
    problems += [one.message for one in seen.report.errors if one.property != 3 or not problems]
    movement = seen.after.actual
    counted = {(pair, board) for s in movement.seatings for board in s.boards for pair in s.contestants}
    return {
        "ok": seen.ok,
        "proof": {"counted": len(counted), "replays": len(seen.replays)},
        "changes": list(seen.changes[:MAX_SHOWN]),
        "more_changes": max(0, len(seen.changes) - MAX_SHOWN),
        "problems": problems[:MAX_SHOWN],
        "shares": [f"Round {s.round}: tables {', '.join(map(str, s.tables))} share." for s in seen.new_shares],
        "unplayed": [
            f"Round {u.round}, table {u.table}: boards {runs(u.boards)}, {verdict_words(u.verdict)}."
            for u in seen.unplayed
        ],
        "orphans": [
            f"Round {p.round}, table {p.table}, board {p.board}: {p.ns} against {p.ew}."
            for p in seen.orphans[:MAX_SHOWN]
        ],
        "results_before": seen.results_before,
        "results_after": seen.results_after,
        "copies": max(movement.copies_to_deal().values(), default=1),
    }


def plan_view(desk: Desk) -> list[dict[str, Any]]:
    """Every section with what happened to its plan; each event says whether it can still be taken back by itself."""
    event = desk.event
    stored = desk.store.read(lambda c: desk_store.desk_events(c, event, "happening"))
    return [_section_view(desk, section.letter, stored) for section in desk.setup.sections]


def _section_view(desk: Desk, letter: str, stored: Sequence[DeskEvent]) -> dict[str, Any]:
    section = desk.setup.section_called(letter)
    if section is None or section.movement is None:
        return {"section": letter, "movement": None, "events": []}
    kept = kept_of(desk, letter)
    plan, items = kept.plan, [item for item in stored if item.data["section"] == letter]
    counting = set(standing(kept.events))
    events = []
    for at, (happening, item) in enumerate(zip(kept.events, items, strict=False)):
        events.append(
            {
                "position": at,
                "kind": item.data["event"]["kind"],
                "words": words(happening),
                "undone": at not in counting,
                "actor": item.actor,
                "wall": item.wall,
            }
        )
    movement = plan.actual
    return {
        "section": letter,
        "movement": movement.name,
        "planned": plan.planned.name,
        "kind": movement.kind,
        "format": movement.format.value,
        "rounds": movement.rounds,
        "tables": movement.tables,
        "boards": runs(movement.board_numbers),
        "contestants": list(movement.contestants),
        "swiss": movement.kind in SWISS,
        "gone": sorted(plan.gone),
        "without_standing": sorted(plan.without_standing),
        "numbers": [{"pair": n.pair, "number": n.number, "round": n.round} for n in plan.numbers],
        "substitutes": [words(one) for one in plan.lineups],
        "unplayed": [
            {"round": u.round, "table": u.table, "ns": u.ns, "ew": u.ew, "boards": list(u.boards)}
            | {"instead": verdict_words(u.verdict)}
            for u in plan.unplayed
        ],
        "events": events,
    }
