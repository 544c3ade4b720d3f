"""From a section as a scoring program sends it to a movement, and from our contestants back to its pair numbers. Pure.

A program may number both sides of a two-winner section from 1, or seat a team's two pairs under one number. Our numbers
name one contestant of a section, so the East-West side then gets ``offset`` added: its pair 3 is our 103.

Programs check little of a movement, and all that they may send is taken: what nobody could play, or terminals can't be
told, is left out, and ``Built.notes`` says so to the director's desk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from terminals.interop.data_connector.envelope import Refusal
from terminals.interop.data_connector.numbers import ErrorType, GameType
from terminals.interop.data_connector.shapes import Dto
from terminals.movement.model import (
    Direction,
    Format,
    Group,
    Movement,
    Seating,
    SitOut,
    Team,
    find_shares,
)

MAX_TABLES = 200
MAX_BOARDS_A_ROUND = 99
MAX_BOARD = 999
MAX_NUMBER = 4095
MAX_ROUND = 255
MAX_LINES = 20_000
MAX_NOTES = 20


@dataclass(frozen=True, slots=True)
class Built:
    """movement: None while nobody plays anything. offset: added to East-West pairs. players: of an individual, the
    name of each contestant (1 is the first) as ``seat_player`` gives it. notes: what is odd about it, for the desk."""

    movement: Movement | None
    offset: int = 0
    players: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """One table in one round with the program's numbers; 0 is nobody."""

    round: int
    table: int
    ns: int
    ew: int
    boards: tuple[int, ...]
    teams: tuple[int, int]


def build(section: Dto, seats: Sequence[Dto] = (), offset: int | None = None) -> Built:
    """The movement of a SectionDTO. seats: its participations, of use when it is an individual.

    offset: the one that is in use already, None to choose it. Raises Refusal when results that are there already would
    not find their pairs any more, and for more rounds of tables than fit.
    """
    where = f"Section {(section['Letters'] or '').strip()}"
    if sum(len(table["Rounds"] or ()) for table in section["Tables"] or ()) > MAX_LINES:
        raise Refusal(ErrorType.MOVEMENT, f"{where}: there are more than {MAX_LINES} rounds at its tables.")
    notes: list[str] = []
    lines = [
        line
        for table in section["Tables"] or ()
        for one in table["Rounds"] or ()
        if (line := _line(section, table, one, notes)) is not None
    ]
    if not any(line.boards for line in lines):
        return Built(None, offset or 0, notes=_few(where, notes))
    if section["GameType"] == GameType.INDIVIDUAL:
        players = _individual_players(lines, seats)
        if players is not None:
            return Built(_individual(where, lines, *players, notes), 0, tuple(players[0]), _few(where, notes))
    needed = _needed_offset(section, lines)
    if offset is None:
        offset = needed
    elif needed and not offset:
        raise Refusal(ErrorType.MOVEMENT, f"{where}: both sides use the same pair numbers now; begin the event anew.")
    north, east = _numbers(lines)
    if offset and (north & {pair + offset for pair in east} or max(east, default=0) + offset > MAX_NUMBER):
        raise Refusal(ErrorType.MOVEMENT, f"{where}: its pair numbers can't be told apart here.")
    _look_for_doubles(lines, offset, notes)
    return Built(_pairs(where, section, lines, offset), offset, notes=_few(where, notes))


def _few(where: str, notes: Sequence[str]) -> tuple[str, ...]:
    told = [f"{where}: {note}" for note in dict.fromkeys(notes)]
    more = len(told) - MAX_NOTES
    return tuple([*told[:MAX_NOTES], f"{where}: {more} more places are odd."] if more > 0 else told)


def rounds_of(section: Dto) -> dict[tuple[int, int], Dto]:
    """(round, table) -> RoundDTO."""
    return {
        (one["RoundNumber"], table["TableNumber"]): one
        for table in section["Tables"] or ()
        for one in table["Rounds"] or ()
    }


def seat_player(seat: Dto) -> str:
    """Who a participation names: the number, or the name of somebody without one."""
    number = (seat["PlayerNumber"] or "").strip()
    name = " ".join(f"{seat['FirstName'] or ''} {seat['LastName'] or ''}".split())
    return f"#{number}" if number else name


def _line(section: Dto, table: Dto, one: Dto, notes: list[str]) -> _Line | None:
    number, at = table["TableNumber"], one["RoundNumber"]
    where = f"table {number}, round {at}"
    if number > MAX_TABLES or at > MAX_ROUND:
        notes.append(f"{where}: there are at most {MAX_TABLES} tables and {MAX_ROUND} rounds here.")
        return None
    ns, ew, missing = one["PairNS"], one["PairEW"], section["MissingPair"]
    if min(ns, ew) < 0 or max(ns, ew) > MAX_NUMBER:
        notes.append(f"{where}: a pair number is not from 0 to {MAX_NUMBER}; nobody sits there.")
        ns, ew = (pair if 0 < pair <= MAX_NUMBER else 0 for pair in (ns, ew))
    if missing > 0:
        ns = 0 if ns == missing else ns
        ew = 0 if ew == missing and section["Winners"] == 1 else ew
    elif missing < 0:
        ew = 0 if ew == -missing else ew
    low, high = one["LowBoardNumber"], one["HighBoardNumber"]
    boards = range(low, min(high, MAX_BOARD, low + MAX_BOARDS_A_ROUND - 1) + 1) if low > 0 else range(0)
    if (low, high) != (0, 0) and (not boards or boards[-1] != high):
        left = f"{boards[0]} to {boards[-1]} are played" if boards else "nothing is played"
        notes.append(f"{where}: boards {low} to {high} can't be played; {left}.")
    return _Line(at, number, ns, ew, tuple(boards), (one["TeamNS"], one["TeamEW"]))


def _numbers(lines: Sequence[_Line]) -> tuple[set[int], set[int]]:
    """Pair numbers of each side."""
    return {line.ns for line in lines} - {0}, {line.ew for line in lines} - {0}


def _needed_offset(section: Dto, lines: Sequence[_Line]) -> int:
    north, east = _numbers(lines)
    clash = bool(north & east)
    if section["Winners"] != 2:
        # A team's two pairs have one number in every round; a number that is there twice now and then is a slip.
        ours = {(line.round, line.ns) for line in lines if line.ns}
        theirs = {(line.round, line.ew) for line in lines if line.ew}
        clash = 2 * len(ours & theirs) > min(len(ours), len(theirs))
    if not clash:
        return 0
    highest = max(north | east)
    if highest < 1000:
        return 100 if highest < 100 else 1000
    free = (offset for offset in range(100, MAX_NUMBER, 100) if not north & {pair + offset for pair in east})
    return next((offset for offset in free if max(east) + offset <= MAX_NUMBER), 1000)


def _look_for_doubles(lines: Sequence[_Line], offset: int, notes: list[str]) -> None:
    seen: set[tuple[int, int]] = set()
    for line in lines:
        for pair in (line.ns, line.ew + offset if line.ew else 0):
            if pair and (line.round, pair) in seen:
                notes.append(f"pair {pair} sits at two tables in round {line.round}.")
            seen.add((line.round, pair))


def _pairs(where: str, section: Dto, lines: Sequence[_Line], offset: int) -> Movement:
    seatings: list[Seating] = []
    sit_outs: list[SitOut] = []
    teams: dict[int, set[int]] = {}
    north: set[int] = set()
    east: set[int] = set()
    for line in lines:
        ns, ew = line.ns, line.ew + offset if line.ew else 0
        north.update({ns} - {0})
        east.update({ew} - {0})
        if ns and ew and line.boards:
            seatings.append(Seating(line.round, line.table, ns, ew, line.boards))
        else:
            for pair, side in ((ns, Direction.NS), (ew, Direction.EW)):
                if pair:
                    sit_outs.append(SitOut(line.round, pair, line.table, side, line.boards))
        for team, pair in zip(line.teams, (ns, ew), strict=True):
            if team > 0 and pair:
                teams.setdefault(team, set()).add(pair)
    everybody = tuple(sorted(north | east))
    in_teams = Counter(pair for pairs in teams.values() for pair in pairs)
    as_teams = section["GameType"] == GameType.TEAMS and in_teams == Counter(everybody)
    if as_teams:
        groups: tuple[Group, ...] = (Group("all", tuple(sorted(teams))),)
    elif section["Winners"] == 2:
        groups = (Group("NS", tuple(sorted(north))), Group("EW", tuple(sorted(east))))
    else:
        groups = (Group("all", everybody),)
    made = tuple(Team(number, tuple(sorted(pairs))) for number, pairs in sorted(teams.items())) if as_teams else ()
    return _movement(
        where, lines, seatings, sit_outs, everybody, groups, Format.TEAMS if as_teams else Format.PAIRS, made
    )


def _movement(
    where: str,
    lines: Sequence[_Line],
    seatings: Sequence[Seating],
    sit_outs: Sequence[SitOut],
    everybody: Iterable[int],
    groups: tuple[Group, ...],
    kind: Format,
    teams: tuple[Team, ...] = (),
) -> Movement:
    rounds = max(line.round for line in lines)
    there = {(one.round, pair) for one in seatings for pair in one.contestants}
    there |= {(one.round, one.pair) for one in sit_outs}
    # Who is nowhere in a round waits; without this a terminal would tell the pair that its session is over.
    away = [
        SitOut(number, pair) for pair in everybody for number in range(1, rounds + 1) if (number, pair) not in there
    ]
    sizes = Counter(len(one.boards) for one in seatings)
    return Movement(
        name=f"{where}, set by the scoring program",
        kind="program",
        tables=max(line.table for line in lines),
        rounds=rounds,
        boards_per_round=sizes.most_common(1)[0][0] if sizes else 1,
        seatings=tuple(seatings),
        groups=groups,
        sit_outs=(*sit_outs, *away),
        # Two tables relay one set; when more play the same boards at once there are copies.
        shares=tuple(share for share in find_shares(seatings) if len(share.tables) == 2),
        format=kind,
        teams=teams,
    )


# --- individuals -------------------------------------------------------------------------------------------------

_Places = Mapping[tuple[int, int], tuple[int, ...]]


def _individual_players(lines: Sequence[_Line], seats: Sequence[Dto]) -> tuple[list[str], _Places] | None:
    """Names of the players, and who sits N, E, S, W at (round, table); None unless every seat is told."""
    told: dict[tuple[int, int, int], str] = {}
    for one in seats:
        if not one["IsRemoval"] and seat_player(one):
            told[max(1, one["RoundNumber"]), one["TableNumber"], one["Direction"]] = seat_player(one)
    names: dict[str, int] = {}
    places: dict[tuple[int, int], tuple[int, ...]] = {}
    for line in sorted(lines, key=lambda one: (one.round, one.table)):
        if not line.boards:
            continue
        here = [told.get((line.round, line.table, direction)) for direction in (1, 2, 3, 4)]
        if None in here or len(set(here)) != 4:
            return None
        places[line.round, line.table] = tuple(names.setdefault(str(name), len(names) + 1) for name in here)
    return (list(names), places) if names else None


def _individual(
    where: str, lines: Sequence[_Line], names: Sequence[str], places: _Places, notes: list[str]
) -> Movement:
    seatings = []
    seen: set[tuple[int, int]] = set()
    for line in lines:
        players = places.get((line.round, line.table))
        if players is None:
            continue
        if any((line.round, one) in seen for one in players):
            notes.append(f"a player sits at two tables in round {line.round}.")
        seen.update((line.round, one) for one in players)
        seatings.append(Seating(line.round, line.table, players[0], players[1], line.boards, players=players))
    everybody = range(1, len(names) + 1)
    return _movement(where, lines, seatings, (), everybody, (Group("all", tuple(everybody)),), Format.INDIVIDUAL)


# --- where pairs sit at the start --------------------------------------------------------------------------------


def places_of(movement: Movement) -> Iterator[tuple[int, str, int, int, int]]:
    """(contestant, seat in the pair "1" or "2", round, table, direction 1-4) of everybody at the start.

    In an individual of every round: partnerships change.
    """
    if movement.format is Format.INDIVIDUAL:
        for seating in movement.seatings:
            for direction, player in enumerate(seating.players, start=1):
                yield player, "1", seating.round, seating.table, direction
        return
    for seating in movement.in_round(1):
        for direction, pair in enumerate((seating.ns, seating.ew, seating.ns, seating.ew), start=1):
            yield pair, "1" if direction <= 2 else "2", 1, seating.table, direction
    for sit_out in movement.sit_outs:
        if sit_out.round == 1 and sit_out.table:
            first = 1 if sit_out.direction is Direction.NS else 2
            yield sit_out.pair, "1", 1, sit_out.table, first
            yield sit_out.pair, "2", 1, sit_out.table, first + 2
