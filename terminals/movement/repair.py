"""A round that was not played as planned: which seatings really were, and how the session goes on without a replay.

Wrong pairs sat down, a relay was skipped, a whole line did not move: the round is rewritten as it was played. From
there the plan is either taken up again, or everybody goes on from where he is. Either way a board that one side has
played is taken out of its later rounds (Law 15), and what the other side loses is listed.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from firmware_bridge.errors import EntryError
from terminals.movement import happenings as h
from terminals.movement.model import Direction, Movement, Seating, SitOut
from terminals.movement.state import Plan, renamed, without_boards


def repair(plan: Plan, event: h.PlayedAs) -> Plan:
    """The plan with round ``event.round`` as played. Raises EntryError when the tables named can't be all."""
    movement = plan.actual
    if not 1 <= event.round <= movement.rounds:
        raise EntryError(f"There is no round {event.round}: this session has {movement.rounds}.")
    individual = any(s.players for s in movement.seatings)
    if individual and event.then is h.Then.FOLLOW:
        raise EntryError("After a wrong round an individual goes back to the plan.", next_step="Take the other way.")
    actual, sit_outs = (_players_as_seated if individual else _as_seated)(movement, event)
    after = replace(
        movement,
        seatings=(*(s for s in movement.seatings if s.round != event.round), *actual),
        sit_outs=(*(s for s in movement.sit_outs if s.round != event.round), *sit_outs),
    )
    if event.then is h.Then.FOLLOW:
        after = _follow(movement, after, event.round)
    return without_replays(replace(plan, actual=after), event.verdict, from_round=event.round)


def _as_seated(movement: Movement, event: h.PlayedAs) -> tuple[list[Seating], list[SitOut]]:
    """Seatings and sit-outs of the round as played; one hole and one pair without a seat belong together."""
    planned = {s.table: s for s in movement.in_round(event.round)}
    known = set(movement.pairs)
    sides: dict[tuple[int, Direction], int] = {}
    boards: dict[int, tuple[int, ...]] = {}
    named: set[int] = set()
    for line in event.tables:
        where = f"round {event.round}, table {line.table}"
        if line.table in boards:
            raise EntryError("The table is named twice.", where=where)
        for pair in (line.ns, line.ew):
            if pair not in known or pair in named:
                raise EntryError(f"Pair {pair} is not in this movement or is named twice.", where=where)
            named.add(pair)
        used = line.boards or (planned[line.table].boards if line.table in planned else ())
        if not used or not set(used) <= set(movement.board_numbers):
            raise EntryError("The boards that were played must be named, and be in play.", where=where)
        sides[line.table, Direction.NS], sides[line.table, Direction.EW] = line.ns, line.ew
        boards[line.table] = used
    for table, s in planned.items():
        if table not in boards:
            boards[table] = s.boards
            for side in Direction:
                if s.side(side)[0] not in named:
                    sides[table, side] = s.side(side)[0]
    resting = {s.pair for s in movement.sit_outs if s.round == event.round and s.pair not in named}
    holes = [(t, side) for t in boards for side in Direction if (t, side) not in sides]
    lost = sorted(known - set(sides.values()) - resting)
    if len(holes) == len(lost) == 1:
        sides[holes[0]] = lost.pop()
        holes = []
    if len(holes) > 1:
        raise EntryError(
            f"Who sat at table {holes[0][0]} {holes[0][1]} in round {event.round}?",
            next_step="Name every table that was not played as planned.",
        )
    sit_outs = [s for s in movement.sit_outs if s.round == event.round and s.pair in resting]
    for table, side in holes:  # a pair whose opponents played elsewhere
        waiting = sides.pop((table, side.other))
        sit_outs.append(SitOut(event.round, waiting, table, side.other, boards.pop(table)))
    sit_outs += [SitOut(event.round, pair, 0) for pair in lost]
    copies = {t: s.copy for t, s in planned.items()}
    seatings = [
        Seating(event.round, t, sides[t, Direction.NS], sides[t, Direction.EW], used, copies.get(t, 1))
        for t, used in sorted(boards.items())
    ]
    return seatings, sit_outs


def _players_as_seated(movement: Movement, event: h.PlayedAs) -> tuple[list[Seating], list[SitOut]]:
    """An individual's round as played: at the tables that are named the same people, or some who should have rested."""
    planned = {s.table: s for s in movement.in_round(event.round)}
    seated: dict[int, Seating] = {}
    named: list[int] = []
    for line in event.tables:
        where = f"round {event.round}, table {line.table}"
        was = planned.get(line.table)
        if was is None or line.table in seated:
            raise EntryError("Nobody plays there in this round, or the table is named twice.", where=where)
        if len(line.players) != 4 or not set(line.players) <= set(movement.pairs):
            raise EntryError("Four players of this movement are needed: North, East, South, West.", where=where)
        boards = line.boards or was.boards
        if not set(boards) <= set(movement.board_numbers):
            raise EntryError("The boards that were played must be in play.", where=where)
        seated[line.table] = Seating(
            event.round, line.table, line.players[0], line.players[1], boards, was.copy, line.players
        )
        named += line.players
    twice = next((player for player, count in Counter(named).items() if count > 1), None)
    if twice is not None:
        raise EntryError(f"Player {twice} is named twice.", where=f"round {event.round}")
    elsewhere = {p for table, s in planned.items() if table not in seated for p in s.players}
    if elsewhere & set(named):
        raise EntryError(
            f"Player {min(elsewhere & set(named))} sits at another table too.",
            where=f"round {event.round}",
            next_step="Name every table that was not played as planned.",
        )
    resting = [s for s in movement.sit_outs if s.round == event.round and s.pair not in named]
    left = {p for table in seated for p in planned[table].players} - set(named)
    resting += [SitOut(event.round, player, 0) for player in sorted(left)]
    return [*seated.values(), *(s for table, s in planned.items() if table not in seated)], resting


def _follow(planned: Movement, actual: Movement, number: int) -> Movement:
    """Later rounds as if everybody belonged where he sat in round ``number``; boards go on from where they lay."""
    names: dict[int, int] = {}
    sets: dict[tuple[int, ...], tuple[int, ...]] = {}
    for s in planned.in_round(number):
        now = actual.at(number, s.table)
        if now is None:
            continue
        names[s.ns], names[s.ew] = now.ns, now.ew
        if set(now.boards) != set(s.boards):
            sets[s.boards] = now.boards
    resting = {s.table: s.pair for s in planned.sit_outs if s.round == number and s.table}
    now_resting = {s.table: s.pair for s in actual.sit_outs if s.round == number and s.table}
    names.update((pair, now_resting[t]) for t, pair in resting.items() if t in now_resting)
    unnamed = [p for p in planned.pairs if p not in names]
    free = [p for p in planned.pairs if p not in names.values()]
    names.update(dict(zip(unnamed, free, strict=False)) if len(unnamed) == len(free) else {})
    if Counter(names.values()).most_common(1)[0][1] > 1 or sorted(names) != sorted(names.values()):
        raise EntryError(
            f"Round {number} was played so that nobody can simply go on from it.", next_step="Go back to the plan."
        )
    later_plan = renamed(planned, names, number + 1)
    moved = set(sets.values())
    rest = dict(zip([b for b in moved if b not in sets], [b for b in sets if b not in moved], strict=False))
    sets.update(rest)
    later = [replace(s, boards=sets.get(s.boards, s.boards)) for s in later_plan.seatings if s.round > number]
    return replace(
        actual,
        seatings=(*(s for s in actual.seatings if s.round <= number), *later),
        sit_outs=(
            *(s for s in actual.sit_outs if s.round <= number),
            *(s for s in later_plan.sit_outs if s.round > number),
        ),
    )


def without_replays(plan: Plan, verdict: h.Verdict, *, from_round: int) -> Plan:
    """Takes every board that a side has played before out of its seatings from ``from_round`` on (Law 15)."""
    had: dict[int, set[int]] = {pair: set() for pair in plan.actual.pairs}
    for s in plan.actual.seatings:
        if s.round < from_round:
            for pair in s.contestants:
                had[pair].update(s.boards)
    for s in [s for s in plan.actual.seatings if s.round >= from_round]:
        again = [b for b in s.boards if any(b in had[pair] for pair in s.contestants)]
        left = [b for b in s.boards if b not in again]
        if again:
            plan = without_boards(plan, s, again, verdict)
        for pair in s.contestants:
            had[pair].update(left)
    return plan
