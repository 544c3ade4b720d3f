"""Team movements: head to head, round robin, American Whist, multiple teams.

Team k of T has the pairs k ("home", usually North-South) and T + k. In a match both pairs play the same boards against
the two pairs of the other team, one in each direction, so that the two results can be compared.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import SKIP, check_size, mitchell
from terminals.movement.model import (
    Format,
    Group,
    Movement,
    Seating,
    SitOut,
    Team,
    board_set,
    find_shares,
)

HEAD_TO_HEAD, ROUND_ROBIN, AMERICAN_WHIST, MULTIPLE_TEAMS = (
    "head-to-head",
    "round-robin",
    "american-whist",
    "multiple-teams",
)
MAX_TEAMS = 60


@dataclass(frozen=True, slots=True)
class Match:
    """Boards that two teams play against each other: ``home_ns`` where home sits North-South, ``away_ns`` the other.

    rounds: the rounds in which one of the two tables plays them (two numbers in American Whist, else one).
    """

    home: int
    away: int
    rounds: tuple[int, ...]
    boards: tuple[int, ...]
    home_ns: Seating
    away_ns: Seating


def head_to_head(rounds: int, set_size: int, *, copies: int = 1, first_board: int = 1) -> Movement:
    """One match of two teams in ``rounds`` segments. With one copy the tables exchange boards half-way."""
    check_size(2, set_size, first_board)
    _check_teams(2, 2)
    _check_rounds(rounds, 1, 64)
    _check_copies(copies, 2)
    seatings = []
    for r in range(rounds):
        seatings += _match(r + 1, 1, (1, 2), 2, board_set(r + 1, set_size, first_board), copies)
    return _movement(
        f"Head to head, {rounds} segments of {set_size}", HEAD_TO_HEAD, 2, 2, rounds, set_size, seatings, (), copies,
        ("Both tables play the same boards; compare after each segment.",),
    )  # fmt: skip


def round_robin(
    teams: int, set_size: int, *, rounds: int | None = None, copies: int | None = None, first_board: int = 1
) -> Movement:
    """Every team meets every other in a match of ``set_size`` boards; an odd number of teams has a bye each round.

    All matches of a round play the same boards. copies: of every board; by default one for each match, shared by its
    two tables. Home sits North-South at tables 1, 3, 5 ... Raises EntryError (exit status USAGE).
    """
    _check_teams(teams, 3)
    check_size(2, set_size, first_board)
    even = teams + teams % 2
    rounds = even - 1 if rounds is None else rounds
    _check_rounds(rounds, 1, even - 1)
    matches = teams // 2
    copies = matches if copies is None else copies
    _check_copies(copies, 2 * matches)
    seatings: list[Seating] = []
    sit_outs: list[SitOut] = []
    for r in range(rounds):
        boards = board_set(r + 1, set_size, first_board)
        table = 1
        for home, away in circle(even, r):
            if teams < max(home, away):
                bye = min(home, away)
                sit_outs += [SitOut(r + 1, bye, 0), SitOut(r + 1, teams + bye, 0)]
                continue
            seatings += _match(r + 1, table, (home, away), teams, boards, copies)
            table += 2
    return _movement(
        f"Round robin, {teams} teams, {rounds} matches of {set_size}", ROUND_ROBIN, teams, 2 * matches, rounds,
        set_size, seatings, sit_outs, copies, ("All tables play the same boards in a round. Compare after each one.",),
    )  # fmt: skip


def american_whist(teams: int, set_size: int, *, first_board: int = 1) -> Movement:
    """An odd number of teams, one table and one set per team, no copies: the sets travel so that matches are complete.

    Home pairs stay; away pairs go down two tables and boards down one. Round r and round T - r complete each other, so
    scores can be compared only from half-time on. Raises EntryError (exit status USAGE).
    """
    _check_teams(teams, 3)
    check_size(teams, set_size, first_board)
    if teams % 2 == 0:
        raise EntryError(
            f"American Whist needs an odd number of teams, not {teams}.",
            next_step="Take a round robin or multiple teams.",
            exit_status=ExitStatus.USAGE,
        )
    rounds = teams - 1
    seatings = [
        Seating(r, i + 1, i + 1, teams + (i + 2 * r) % teams + 1, board_set((i + r) % teams + 1, set_size, first_board))
        for r in range(1, teams)
        for i in range(teams)
    ]
    return _movement(
        f"American Whist, {teams} teams, {rounds} rounds of {set_size}", AMERICAN_WHIST, teams, teams, rounds, set_size,
        seatings, (), 1,
        (f"Pairs 1 to {teams} stay. Before every round, the first too, the others go down two tables, boards one.",
         "A match is complete when its second table has played the set."),
    )  # fmt: skip


def multiple_teams(teams: int, set_size: int, *, rounds: int | None = None, first_board: int = 1) -> Movement:
    """All teams in one Mitchell in which nobody meets the own team; each team's two scores are added over the field.

    An odd number of teams uses the Mitchell less the round against oneself, an even one the skip Mitchell.
    Raises EntryError (exit status USAGE).
    """
    _check_teams(teams, 3)
    full = teams - 1
    rounds = full if rounds is None else rounds
    _check_rounds(rounds, 1, full)
    if teams % 2:
        base = mitchell(teams, set_size, first_board=first_board)
        kept = [(s.round - 1, s.table, s.ew - teams - 1, s.boards) for s in base.seatings if 1 < s.round <= rounds + 1]
    else:
        base = mitchell(teams, set_size, variant=SKIP, rounds=rounds, first_board=first_board)
        # the index that a pair never meets is the one half-way round: that is its own team
        kept = [(s.round, s.table, (s.ew - teams - 1 + teams // 2) % teams, s.boards) for s in base.seatings]
    seatings = [Seating(r, table, table, teams + j + 1, boards) for r, table, j, boards in kept]
    skip = "" if teams % 2 else f"; after round {teams // 2} the moving pairs skip a table"
    return _movement(
        f"Multiple teams, {teams} teams, {rounds} rounds of {set_size}", MULTIPLE_TEAMS, teams, teams, rounds, set_size,
        seatings, (), 1,
        (f"Pairs 1 to {teams} stay, the others go up one table, boards down one{skip}. Start as the guide cards say.",),
    )  # fmt: skip


def matches(movement: Movement) -> tuple[Match, ...]:
    """The comparisons of a team movement: every set that two teams play both ways, by round of completion.

    Empty for multiple teams, whose results are compared over the field.
    """
    if movement.kind == MULTIPLE_TEAMS:
        return ()
    found: dict[tuple[int, int, tuple[int, ...]], list[Seating]] = defaultdict(list)
    for s in movement.seatings:
        ns, ew = movement.team_of(s.ns), movement.team_of(s.ew)
        if ns and ew:
            pair = (min(ns.number, ew.number), max(ns.number, ew.number))
            found[(*pair, tuple(sorted(s.boards)))].append(s)
    out = []
    for (a, b, boards), tables in found.items():
        team = {s.table: movement.team_of(s.ns) for s in tables}
        first = next((s for s in tables if (t := team[s.table]) and t.number == a), None)
        second = next((s for s in tables if (t := team[s.table]) and t.number == b), None)
        if first and second and {first.ns, first.ew}.isdisjoint({second.ns, second.ew}):
            out.append(Match(a, b, tuple(sorted({first.round, second.round})), boards, first, second))
    return tuple(sorted(out, key=lambda m: (m.rounds[-1], m.home, m.away)))


def circle(teams: int, r: int) -> list[tuple[int, int]]:
    """Round ``r`` (from 0) of a round robin of an even number: couples of numbers, the last number stays."""
    n = teams - 1
    couples = [(teams, r % n + 1)]
    couples += [((r + k) % n + 1, (r - k) % n + 1) for k in range(1, teams // 2)]
    return [(b, a) if (r + i) % 2 else (a, b) for i, (a, b) in enumerate(couples)]


def match_seatings(
    round: int, table: int, couple: tuple[int, int], teams: int, boards: tuple[int, ...], copies: int
) -> list[Seating]:
    """The two tables of a match: home North-South at ``table``, away North-South at the next one.

    On one copy the second table begins with the second half of the boards (Law 8A: pass them on when played).
    """
    home, away = couple
    if copies >= 2:
        first, second = (table - 1) % copies + 1, table % copies + 1
    else:
        first = second = 1
    half = len(boards) // 2
    return [
        Seating(round, table, home, teams + away, boards, first),
        Seating(round, table + 1, away, teams + home, boards[half:] + boards[:half], second),
    ]


def _match(
    round: int, table: int, couple: tuple[int, int], teams: int, boards: tuple[int, ...], copies: int
) -> list[Seating]:
    tables = 2 * (teams // 2)
    if copies >= tables:
        return match_seatings(round, table, couple, teams, boards, copies)
    copy = ((table - 1) // 2) % copies + 1  # the two tables of a match are neighbours and share a copy
    return [
        Seating(s.round, s.table, s.ns, s.ew, s.boards, copy)
        for s in match_seatings(round, table, couple, teams, boards, 1)
    ]


def _movement(
    name: str,
    kind: str,
    teams: int,
    tables: int,
    rounds: int,
    set_size: int,
    seatings: list[Seating],
    sit_outs: list[SitOut] | tuple[SitOut, ...],
    copies: int,
    notes: tuple[str, ...],
) -> Movement:
    return Movement(
        name=name,
        kind=kind,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("all", tuple(range(1, teams + 1))),),
        shares=find_shares(seatings),
        copies=copies,
        format=Format.TEAMS,
        teams=tuple(Team(k, (k, teams + k)) for k in range(1, teams + 1)),
        notes=notes,
    )


def _check_teams(teams: int, least: int) -> None:
    if not least <= teams <= MAX_TEAMS:
        raise EntryError(
            f"{teams} teams can't be: this movement needs {least} to {MAX_TEAMS}.", exit_status=ExitStatus.USAGE
        )


def _check_rounds(rounds: int, least: int, most: int) -> None:
    if not least <= rounds <= most:
        raise EntryError(f"This movement has {least} to {most} rounds, not {rounds}.", exit_status=ExitStatus.USAGE)


def _check_copies(copies: int, most: int) -> None:
    if not 1 <= copies <= most:
        raise EntryError(f"{copies} copies can't be: 1 to {most} do.", exit_status=ExitStatus.USAGE)
