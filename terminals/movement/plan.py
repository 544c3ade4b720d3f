"""The plan of a session after everything that happened: planned and actual rounds, and what is played by nobody.

A plan is a fold over events, so that undoing is leaving one out. Rounds before an event's round are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from firmware_bridge.errors import EntryError
from terminals.movement import files
from terminals.movement import happenings as h
from terminals.movement.howell import HOWELL
from terminals.movement.model import Direction, Group, Movement, Seating, Share, SitOut, find_shares
from terminals.movement.repair import repair
from terminals.movement.rover import seat_rover
from terminals.movement.state import Plan, Played, renamed, without_boards
from terminals.movement.swiss import SWISS_PAIRS, SWISS_TEAMS, Draw, add_round, join
from terminals.movement.three_quarter import THREE_QUARTER


def fold(planned: Movement, events: Sequence[h.Happening], played: Iterable[Played] = ()) -> Plan:
    """The plan after all events that are not undone.

    Raises EntryError, naming the position of the event that can't be: also when an event that was undone is needed by
    a later one, which must be undone first.
    """
    results = tuple(played)
    plan = Plan(planned, planned)
    for at in _positions(events):
        try:
            plan = apply(plan, events[at], results)
        except EntryError as error:
            raise EntryError(
                error.what,
                where=error.where or f"event {at}",
                next_step=error.next_step,
                code=error.code,
                exit_status=error.exit_status,
            ) from error
    return plan


def active(events: Sequence[h.Happening]) -> list[h.Happening]:
    """The events that count: without those undone, and without the undoings. Raises EntryError for a wrong position."""
    return [events[at] for at in _positions(events)]


def standing(events: Sequence[h.Happening]) -> list[int]:
    """Positions of what can be taken back: every event and undoing that was not."""
    off: set[int] = set()
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if isinstance(event, h.Undone) and at not in off:
            off.add(event.event)
    return [at for at in range(len(events)) if at not in off]


def _positions(events: Sequence[h.Happening]) -> list[int]:
    off: set[int] = set()
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if isinstance(event, h.Undone):
            if not 0 <= event.event < at:
                raise EntryError(f"There is no event {event.event} before event {at} to undo.", where=f"event {at}")
            if at not in off:
                off.add(event.event)
    return [at for at, event in enumerate(events) if at not in off and not isinstance(event, h.Undone)]


def apply(plan: Plan, event: h.Happening, played: Sequence[Played] = ()) -> Plan:
    """The plan with one more event. played: results so far; an event that contradicts them is refused (EntryError)."""
    match event:
        case h.LatePair():
            after = _late(plan, event)
        case h.Unstarted():
            after = _unstarted(plan, event, played)
        case h.Curtailed():
            after = _curtailed(plan, event, played)
        case h.Withdrawn():
            after = _withdrawn(plan, event, played)
        case h.StandBy():
            after = _stand_by(plan, event, played)
        case h.PlayedAs():
            after = repair(plan, event)
        case h.Renumbered():
            after = _renumbered(plan, event)
        case h.Substituted():
            after = _substituted(plan, event)
        case h.Drawn():
            after = _drawn(plan, event)
        case h.Joined():
            after = replace(plan, actual=join(plan.actual, event.contestant))
        case h.Replanned():
            movement = files.from_dict(event.movement)
            return Plan(movement, movement)
        case h.Undone():
            raise EntryError("An event is undone in the list of events, not in a plan.")
    return replace(after, actual=replace(after.actual, shares=_shares(plan.actual, after.actual)))


def _shares(before: Movement, after: Movement) -> tuple[Share, ...]:
    """Shares as declared before, and those that an event made necessary; the preview names the new ones."""
    if before.copies > 1 and not before.shares:
        return tuple(s for s in find_shares(after.seatings) if s not in find_shares(before.seatings))
    return find_shares(after.seatings)


def _round(plan: Plan, number: int) -> int:
    if not 1 <= number <= plan.actual.rounds:
        raise EntryError(f"There is no round {number}: this session has {plan.actual.rounds}.")
    return number


def _known(plan: Plan, pair: int) -> int:
    if pair not in plan.actual.pairs:
        raise EntryError(f"There is no pair {pair} in this movement.")
    return pair


def _drawn(plan: Plan, event: h.Drawn) -> Plan:
    movement = plan.actual
    if event.round != movement.rounds + 1:
        raise EntryError(f"The next draw is that of round {movement.rounds + 1}, not of round {event.round}.")
    drawn = Draw(event.couples, event.bye)
    absent = tuple(one for one in movement.contestants if one in event.absent or one in plan.gone)
    return replace(plan, actual=add_round(movement, drawn, absent=absent, first_board=event.first_board or None))


def _curtailed(plan: Plan, event: h.Curtailed, played: Sequence[Played]) -> Plan:
    last = _round(plan, event.after_round)
    late = sorted({p.round for p in played if p.round > last})
    if late:
        raise EntryError(
            f"Round {late[0]} has results already, so the session can't end after round {last}.",
            next_step=f"End it after round {late[-1]}, or move those results first.",
        )
    movement = replace(
        plan.actual,
        rounds=last,
        seatings=tuple(s for s in plan.actual.seatings if s.round <= last),
        sit_outs=tuple(s for s in plan.actual.sit_outs if s.round <= last),
    )
    return replace(plan, actual=movement, unplayed=tuple(u for u in plan.unplayed if u.round <= last))


def _unstarted(plan: Plan, event: h.Unstarted, played: Sequence[Played]) -> Plan:
    seating = plan.actual.at(_round(plan, event.round), event.table)
    if seating is None:
        raise EntryError(f"Nobody plays at table {event.table} in round {event.round}.")
    strange = [b for b in event.boards if b not in seating.boards]
    if strange or not event.boards:
        raise EntryError(
            f"Table {event.table} has boards {_list(seating.boards)} in round {event.round}, not {_list(strange)}."
        )
    done = [b for b in event.boards if Played(event.round, event.table, seating.ns, seating.ew, b) in played]
    if done:
        raise EntryError(f"Board {done[0]} has a result at table {event.table}.", next_step="Erase or move it first.")
    return without_boards(plan, seating, event.boards, event.verdict)


def _late(plan: Plan, event: h.LatePair) -> Plan:
    movement = plan.actual
    if movement.kind in (SWISS_PAIRS, SWISS_TEAMS):
        raise EntryError("Whoever comes late to a Swiss event joins it and is in the next draw.")
    _round(plan, event.round)
    taken = _taken(plan)
    pair = event.pair or max(taken) + 1
    if pair in taken:
        raise EntryError(f"Pair {pair} is in the movement already.", next_step="Give the late pair another number.")
    if movement.teams or any(s.players for s in movement.seatings):
        raise EntryError("Only a pair can come late into a pairs movement.")
    place = event.place
    free = _free_seats(movement, event.round)
    if place is h.Place.AUTO:
        place = h.Place.PHANTOM if len(free) * 2 >= movement.rounds - event.round + 1 else h.Place.ROVER
        if place is h.Place.ROVER and movement.kind in (HOWELL, THREE_QUARTER):
            place = h.Place.APPENDIX
    if place is h.Place.PHANTOM:
        return _into_phantom(plan, pair, event, free)
    if event.missed:
        raise EntryError("A rover or appendix table starts with a whole round.", next_step="Take the next round.")
    appendix = movement.tables + 1 if place is h.Place.APPENDIX else 0
    sides = (event.side,) if movement.winners > 1 else tuple(Direction)
    group = movement.groups[-1] if event.side is Direction.EW else movement.groups[0]
    with_pair = replace(movement, groups=_joined(movement, group, pair))
    seated = seat_rover(
        with_pair, pair, from_round=event.round, sides=sides, absent_before=True, appendix_table=appendix
    )
    return replace(plan, actual=seated)


def _taken(plan: Plan) -> set[int]:
    """Numbers that a new pair can't have: of pairs, and those that pairs show at some time."""
    return {*plan.actual.pairs, *(change.number for change in plan.numbers)}


def _joined(movement: Movement, group: Group, pair: int) -> tuple[Group, ...]:
    return tuple(replace(g, contestants=(*g.contestants, pair)) if g == group else g for g in movement.groups)


def _free_seats(movement: Movement, from_round: int) -> dict[int, SitOut]:
    """round -> a sit-out that a late pair can turn into a table, nobody met twice and no board played twice."""

    @cache
    def theirs(pair: int) -> frozenset[int]:
        return frozenset(movement.boards_of(pair))

    free: dict[int, SitOut] = {}
    met: set[int] = set()
    boards: set[int] = set()
    for number in range(from_round, movement.rounds + 1):
        for sit_out in movement.sit_outs:
            usable = sit_out.round == number and sit_out.boards and not sit_out.absent
            # boards that were taken out because this pair plays them in another round are no seat
            usable = usable and theirs(sit_out.pair).isdisjoint(sit_out.boards)
            if usable and sit_out.pair not in met and boards.isdisjoint(sit_out.boards):
                free[number] = sit_out
                met.add(sit_out.pair)
                boards.update(sit_out.boards)
                break
    return free


def _into_phantom(plan: Plan, pair: int, event: h.LatePair, free: dict[int, SitOut]) -> Plan:
    movement = plan.actual
    if not free:
        raise EntryError(
            f"There is no empty seat from round {event.round} on.", next_step="Take a rover or an appendix table."
        )
    seatings, taken = list(movement.seatings), set(free.values())
    sit_outs = [s for s in movement.sit_outs if s not in taken]
    tables = movement.tables
    missed = None
    for number in range(1, movement.rounds + 1):
        sit_out = free.get(number)
        if sit_out is None:
            sit_outs.append(SitOut(number, pair, 0, absent=number < event.round))
            continue
        table = sit_out.table
        if not table or movement.at(number, table):
            table, tables = movement.tables + 1, movement.tables + 1
        ns, ew = (sit_out.pair, pair) if sit_out.direction is Direction.NS else (pair, sit_out.pair)
        seatings.append(Seating(number, table, ns, ew, sit_out.boards))
        if number == event.round and event.missed:
            missed = seatings[-1]
    side = next(iter(free.values())).direction.other
    group = movement.groups[-1] if side is Direction.EW else movement.groups[0]
    after = replace(
        movement,
        tables=tables,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=_joined(movement, group, pair),
    )
    plan = replace(plan, actual=after)
    if event.missed:
        if missed is None or not set(event.missed) <= set(missed.boards):
            raise EntryError(f"Pair {pair} has no boards {_list(event.missed)} to miss in round {event.round}.")
        plan = without_boards(plan, missed, event.missed, event.verdict, absent=pair)
    return plan


def _withdrawn(plan: Plan, event: h.Withdrawn, played: Sequence[Played]) -> Plan:
    """In a team event the number is that of a team, and both its pairs leave."""
    if event.standing and event.cancelled:
        raise EntryError("Whose results are cancelled can't be ranked.")
    movement = plan.actual
    start = event.round
    if movement.kind not in (SWISS_PAIRS, SWISS_TEAMS) or start != movement.rounds + 1:
        _round(plan, start)  # a Swiss event is left before the next draw
    team = next((team for team in movement.teams if team.number == event.pair), None)
    if movement.teams and team is None:
        raise EntryError(f"There is no team {event.pair} in this movement.")
    leaving = set(team.pairs) if team is not None else {_known(plan, event.pair)}
    for pair in leaving:
        _no_results_from(plan, pair, start, played)
    seatings = [s for s in movement.seatings if s.round < start or leaving.isdisjoint(s.contestants)]
    sit_outs = [s for s in movement.sit_outs if s.round < start or s.pair not in leaving]
    for s in movement.seatings:
        if s.round >= start and not leaving.isdisjoint(s.contestants):
            for side in Direction:
                waiting = (other for other in s.side(side) if other not in leaving)
                sit_outs += [SitOut(s.round, other, s.table, side, s.boards) for other in waiting]
    sit_outs += [SitOut(r, pair, 0, absent=True) for r in range(start, movement.rounds + 1) for pair in leaving]
    # whoever waited for a pair that never came has a sit-out, not a score
    kept = tuple(u for u in plan.unplayed if not (u.verdict.provisional and leaving & {u.ns, u.ew}))
    return replace(
        plan,
        actual=replace(movement, seatings=tuple(seatings), sit_outs=tuple(sit_outs)),
        unplayed=kept,
        without_standing=plan.without_standing if event.standing else plan.without_standing | {event.pair},
        gone=plan.gone | {event.pair},
        cancelled=plan.cancelled | {event.pair} if event.cancelled else plan.cancelled,
    )


def _no_results_from(plan: Plan, pair: int, start: int, played: Sequence[Played]) -> None:
    late = [p for p in played if p.round >= start and pair in (p.ns, p.ew)]
    if late:
        raise EntryError(
            f"Pair {pair} has a result on board {late[0].board} in round {late[0].round}.",
            next_step=f"Take a round after {max(p.round for p in late)}.",
        )


def _stand_by(plan: Plan, event: h.StandBy, played: Sequence[Played]) -> Plan:
    old, start = _known(plan, event.instead_of), _round(plan, event.round)
    movement = plan.actual
    if event.pair in _taken(plan):
        raise EntryError(f"Pair {event.pair} plays in this movement already.")
    _no_results_from(plan, old, start, played)
    if not any(s.round >= start for s in movement.plays(old)):
        raise EntryError(
            f"Pair {old} has no seats from round {start} on.", next_step="Let the pair come as a late pair instead."
        )
    names = {old: event.pair}
    group = movement.group_of(old)
    seated = renamed(movement, names, start)
    absences = [SitOut(r, old, 0, absent=True) for r in range(start, movement.rounds + 1)]
    absences += [SitOut(r, event.pair, 0, absent=True) for r in range(1, start)]
    return replace(
        plan,
        actual=replace(
            seated,
            sit_outs=(*seated.sit_outs, *absences),
            groups=_joined(seated, group, event.pair) if group else seated.groups,
        ),
    )


def _renumbered(plan: Plan, event: h.Renumbered) -> Plan:
    pair, start = _known(plan, event.pair), _round(plan, event.round)
    if plan.actual.teams:
        raise EntryError("Teams keep their numbers: the pairs of a team are found by them.")
    if not 1 <= event.number <= 4095:
        raise EntryError(f"{event.number} can't be a pair number.")
    if plan.number_of(pair, start) == event.number:
        raise EntryError(f"Pair {pair} shows number {event.number} in round {start} already.")
    numbers = sorted((*plan.numbers, event), key=lambda n: n.round)
    after = replace(plan, numbers=tuple(numbers))
    for round in range(start, plan.actual.rounds + 1):
        if after.number_of(pair, round) != event.number:
            break  # it shows yet another one from there on
        if any(after.number_of(p, round) == event.number for p in plan.actual.pairs if p != pair):
            raise EntryError(
                f"Number {event.number} is shown by another pair in round {round}.",
                next_step="Renumber that one first.",
            )
    return after


def _substituted(plan: Plan, event: h.Substituted) -> Plan:
    _known(plan, event.pair)
    _round(plan, event.round)
    if event.to_round and not event.round <= event.to_round <= plan.actual.rounds:
        raise EntryError(f"Rounds {event.round} to {event.to_round} can't be.")
    if not event.player or not event.substitute or event.player == event.substitute:
        raise EntryError("A substitution names a player and a different substitute.")
    return replace(plan, lineups=(*plan.lineups, event))


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(str(n) for n in numbers) or "none"
