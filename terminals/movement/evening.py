"""An evening's set-up as a value: "same as last Thursday", results that came before the movement, and going home.

Nothing here reads a clock or a file: the caller gives what is known and gets the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from terminals.movement.model import Movement
from terminals.movement.sections import Section, Sections
from terminals.movement.state import Plan, Played
from terminals.settings import EventSettings


@dataclass(frozen=True, slots=True)
class EveningSetup:
    """What an evening is set up with. deal_set: the set of deals; results: number of results that it holds."""

    title: str
    sections: Sections
    settings: EventSettings
    deal_set: str = ""
    results: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """A new set-up like an old one. ask: what must be decided anew, in words."""

    setup: EveningSetup
    ask: tuple[str, ...]


def same_again(old: EveningSetup, title: str, plans: Mapping[str, Plan] | None = None) -> Again:
    """ "Same as last Thursday": movement, scoring and settings; never deals, results or the PIN.

    plans: the plans of the old evening by section; the movement that was planned is taken, not what became of it.
    The playing director's pair belongs to one evening and is asked again, so that nobody's boards are shown by mistake.
    """
    plans = plans or {}
    sections = Sections(
        tuple(
            Section(s.letter, plans[s.letter].planned if s.letter in plans else s.movement)
            for s in old.sections.sections
        ),
        old.sections.field,
    )
    settings = replace(old.settings, director_pin="", playing_director=())
    ask = ["the deals"]
    if old.settings.director_pin:
        ask.append("the director's PIN")
    if old.settings.playing_director:
        ask.append("the playing director's pair")
    return Again(EveningSetup(title, sections, settings), tuple(ask))


@dataclass(frozen=True, slots=True)
class Held:
    """A result that came before the movement was set: what the terminal knew. round 0 = it did not know it."""

    table: int
    board: int
    round: int = 0
    ns: int = 0
    ew: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """A held result and its place in the movement; problem: why there is none, or what differs."""

    held: Held
    played: Played | None
    problem: str = ""


def bind(movement: Movement, held: Sequence[Held]) -> tuple[Bound, ...]:
    """Finds round and pairs for results that were entered before set-up was complete.

    A result without a round belongs to the only round in which its table has that board. Pairs that a terminal named
    are kept, they sat there; a difference from the movement is told.
    """
    return tuple(_bind_one(movement, item) for item in held)


def _bind_one(movement: Movement, held: Held) -> Bound:
    rounds = range(1, movement.rounds + 1) if not held.round else (held.round,)
    seatings = [s for s in (movement.at(r, held.table) for r in rounds) if s is not None and held.board in s.boards]
    if len(seatings) != 1:
        if held.ns and held.ew and held.round:
            return Bound(
                held,
                Played(held.round, held.table, held.ns, held.ew, held.board),
                f"Table {held.table} does not have board {held.board} in round {held.round}.",
            )
        where = f" in round {held.round}" if held.round else ""
        return Bound(held, None, f"Table {held.table} does not have board {held.board}{where}: ask who played it.")
    s = seatings[0]
    ns, ew = held.ns or s.ns, held.ew or s.ew
    problem = (
        "" if (ns, ew) == (s.ns, s.ew) else f"The movement has {s.ns} against {s.ew} there, not {ns} against {ew}."
    )
    return Bound(held, Played(s.round, held.table, ns, ew, held.board), problem)


def missing_results(plan: Plan, played: Iterable[Played], *, up_to_round: int | None = None) -> tuple[Played, ...]:
    """Boards that the plan has and no result, by round and table; a result in exchanged directions counts."""
    done = {(p.board, frozenset((p.ns, p.ew))) for p in played}
    return tuple(
        Played(s.round, s.table, s.ns, s.ew, board)
        for s in plan.actual.seatings
        for board in s.boards
        if (up_to_round is None or s.round <= up_to_round) and (board, frozenset((s.ns, s.ew))) not in done
    )


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the leaving checklist. details: at most ten, each naming a place."""

    key: str
    done: bool
    words: str
    details: tuple[str, ...] = ()


def leaving_checklist(
    plans: Mapping[str, Plan],
    played: Mapping[str, Sequence[Played]],
    *,
    players: Mapping[str, Mapping[int, int]],
    waiting_records: int = 0,
    open_calls: int = 0,
    exports: Mapping[str, bool],
    backup: bool,
) -> tuple[Item, ...]:
    """What is left to do before the director goes home.

    plans, played, players: by section letter; players: pair -> how many of its players have a number. waiting_records:
    results still on terminals or in quarantine. exports: name -> written.
    """
    missing: list[str] = []
    nameless: list[str] = []
    provisional: list[str] = []
    for letter, plan in sorted(plans.items()):
        gone = missing_results(plan, played.get(letter, ()))
        missing += [f"{letter}: round {p.round}, table {p.table}, board {p.board}, {p.ns} against {p.ew}" for p in gone]
        wanted = 1 if any(s.players for s in plan.actual.seatings) else 2
        known = players.get(letter, {})
        nameless += [
            f"{letter}{pair}" for pair in plan.actual.pairs if plan.actual.plays(pair) and known.get(pair, 0) < wanted
        ]
        provisional += [f"{letter}: round {u.round}, table {u.table}" for u in plan.unplayed if u.verdict.provisional]
    unwritten = [name for name, written in exports.items() if not written]
    return (
        _item("results", missing, "All results are in.", "results are missing"),
        _item("records", ["on terminals or in quarantine"] * waiting_records, "Nothing waits.", "records wait"),
        _item("rulings", provisional, "No score is provisional.", "scores are provisional"),
        _item("calls", ["open"] * open_calls, "No call for the director is open.", "calls are open"),
        _item("players", nameless, "All players have a number.", "pairs have a player without number"),
        _item("exports", unwritten, "All exports are written.", "exports are not written"),
        Item("backup", backup, "A backup was made." if backup else "No backup was made."),
    )


def _item(key: str, open_ones: list[str], done: str, words: str) -> Item:
    return Item(key, not open_ones, f"{len(open_ones)} {words}." if open_ones else done, tuple(open_ones[:10]))
