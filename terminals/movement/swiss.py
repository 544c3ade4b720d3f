"""Swiss pairs and teams: each round is drawn from the ranking so far, and nobody meets the same opponents twice.

The draw is a pure function of ranking and history, so that it can be previewed, and repeated by anybody who doubts it.
All tables play the same boards in a round; a copy can be passed round as many tables as it has boards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import check_size
from terminals.movement.model import Direction, Format, Group, Movement, Seating, SitOut, Team, board_set, find_shares

SWISS_PAIRS, SWISS_TEAMS = "swiss-pairs", "swiss-teams"
_STEPS_PER_LEVEL = 20_000
MAX_CONTESTANTS = 400


@dataclass(frozen=True, slots=True)
class Draw:
    """Who meets whom in a round, the leaders first. bye: who sits out, or 0. repeats: couples that meet again."""

    couples: tuple[tuple[int, int], ...]
    bye: int = 0
    repeats: tuple[tuple[int, int], ...] = ()


def draw(
    ranking: Sequence[int],
    met: Iterable[tuple[int, int]] = (),
    had_bye: Iterable[int] = (),
    *,
    halves: bool = False,
) -> Draw:
    """The draw of a round.

    ranking: contestants, leaders first (for round 1: by seed or number). met: couples that have met, either way round.
    had_bye: those who have sat out, once for each time; of an odd number one of those who did so least often does it
    now, the lowest if possible. halves: first against middle, as is usual in round 1, instead of first against second.
    Repeats only when there is no draw without.
    Raises EntryError when fewer than two are left or one is listed twice.
    """
    if len(set(ranking)) != len(ranking) or not 2 <= len(ranking) <= MAX_CONTESTANTS:
        raise EntryError(
            f"A draw needs 2 to {MAX_CONTESTANTS} different contestants, not {len(ranking)}.",
            exit_status=ExitStatus.USAGE,
        )
    forbidden = {frozenset(couple) for couple in met}
    order = list(ranking)
    byes = [0]
    if len(order) % 2:
        times = Counter(had_bye)
        least = min(times[c] for c in order)
        byes = [c for c in reversed(order) if times[c] == least]
    for repeats in range(len(order) // 2 + 1):
        for bye in byes:
            playing = [c for c in order if c != bye]
            search = _Search(forbidden, halves)
            couples = search.go(playing, repeats)
            if couples is not None:
                again = tuple(c for c in couples if frozenset(c) in forbidden)
                return Draw(tuple(couples), bye, again)
    raise AssertionError("with enough repeats everybody can be paired")


class _Search:
    """Pairs the highest with the nearest that it may meet, going back where the rest can't be paired."""

    def __init__(self, forbidden: set[frozenset[int]], halves: bool) -> None:
        self.forbidden = forbidden
        self.halves = halves
        self.steps = 0

    def go(self, order: list[int], repeats: int) -> list[tuple[int, int]] | None:
        if not order:
            return []
        self.steps += 1
        if self.steps > _STEPS_PER_LEVEL:
            return None
        first, rest = order[0], order[1:]
        start = (len(order) // 2 - 1) if self.halves else 0
        for other in rest[start:] + rest[:start][::-1]:
            again = frozenset((first, other)) in self.forbidden
            if again and not repeats:
                continue
            found = self.go([c for c in rest if c != other], repeats - again)
            if found is not None:
                return [(first, other), *found]
        return None


def swiss(
    contestants: int,
    set_size: int,
    first: Draw,
    *,
    teams: bool = False,
    copies: int | None = None,
    first_board: int = 1,
) -> Movement:
    """A Swiss event with its first round drawn. copies: of every board; by default as few as the set can serve.

    Raises EntryError for a draw that is not of these contestants.
    """
    check_size(2, set_size, first_board)
    if not 2 <= contestants <= MAX_CONTESTANTS:
        raise EntryError(
            f"Swiss needs 2 to {MAX_CONTESTANTS} contestants, not {contestants}.", exit_status=ExitStatus.USAGE
        )
    per_match = 2 if teams else 1
    tables = contestants // 2 * per_match
    fewest = -(-tables // max(set_size, per_match))
    copies = fewest if copies is None else copies
    if not 1 <= copies <= tables:
        raise EntryError(f"{copies} copies can't be: 1 to {tables} do.", exit_status=ExitStatus.USAGE)
    everybody = tuple(range(1, contestants + 1))
    start = Movement(
        name="Swiss",
        kind=SWISS_TEAMS if teams else SWISS_PAIRS,
        tables=tables,
        rounds=0,
        boards_per_round=set_size,
        seatings=(),
        groups=(Group("all", everybody),),
        copies=copies,
        format=Format.TEAMS if teams else Format.PAIRS,
        teams=tuple(Team(k, (k, contestants + k)) for k in everybody) if teams else (),
        notes=("All tables play the same boards in a round. The next round is drawn when all results are in.",),
    )
    return add_round(start, first, first_board=first_board)


def add_round(
    movement: Movement, next_draw: Draw, *, absent: Collection[int] = (), first_board: int | None = None
) -> Movement:
    """The Swiss event with one more round, on the next boards.

    Of two pairs the one that has sat North-South less often does so. absent: contestants that have left. Raises
    EntryError for a draw that leaves anybody else out or names a stranger.
    """
    if movement.kind not in (SWISS_PAIRS, SWISS_TEAMS):
        raise EntryError(f"Rounds can't be drawn in a {movement.kind} movement.", exit_status=ExitStatus.USAGE)
    named = sorted([c for couple in next_draw.couples for c in couple] + ([next_draw.bye] if next_draw.bye else []))
    if named != [c for c in movement.contestants if c not in absent]:
        raise EntryError(
            "The draw must name every contestant exactly once.",
            where=f"round {movement.rounds + 1}",
            exit_status=ExitStatus.USAGE,
        )
    number = movement.rounds + 1
    played = movement.board_numbers
    start = first_board if first_board is not None else (played[-1] + 1 if played else 1)
    boards = board_set(1, movement.boards_per_round, start)
    pairs_of = {team.number: team.pairs for team in movement.teams}
    unit = 2 if movement.teams else 1  # the two tables of a match are on one copy
    tables = len(next_draw.couples) * unit
    copies = min(movement.copies, len(next_draw.couples)) or 1
    new: list[Seating] = []
    for at, (a, b) in enumerate(next_draw.couples):
        copy = at % copies + 1
        turned = _turned(boards, at // copies * unit)  # tables on one copy begin with different boards
        if movement.teams:
            (home, home_away), (away, away_away) = pairs_of[a], pairs_of[b]
            half = len(boards) // 2
            new.append(Seating(number, 2 * at + 1, home, away_away, turned, copy))
            new.append(Seating(number, 2 * at + 2, away, home_away, _turned(turned, half), copy))
        else:
            ns, ew = (a, b) if _north_less(movement, a, b) else (b, a)
            new.append(Seating(number, at + 1, ns, ew, turned, copy))
    resting = pairs_of.get(next_draw.bye, (next_draw.bye,)) if next_draw.bye else ()
    sit_outs = [SitOut(number, pair, 0, boards=boards) for pair in resting]
    gone = [pair for c in movement.contestants if c in absent for pair in pairs_of.get(c, (c,))]
    sit_outs += [SitOut(number, pair, 0, absent=True) for pair in gone]
    seatings = (*movement.seatings, *new)
    word = "teams" if movement.teams else "pairs"
    drawn = "1 round" if number == 1 else f"{number} rounds"
    return replace(
        movement,
        name=f"Swiss {word}, {len(movement.contestants)} {word}, {drawn} of {movement.boards_per_round} drawn",
        rounds=number,
        tables=max(movement.tables, tables),
        seatings=seatings,
        sit_outs=(*movement.sit_outs, *sit_outs),
        shares=find_shares(seatings),
    )


def join(movement: Movement, contestant: int) -> Movement:
    """A late pair or team (with its number) that is in the next draw; it was absent from the rounds so far.

    Raises EntryError for a number that is taken.
    """
    if movement.kind not in (SWISS_PAIRS, SWISS_TEAMS):
        raise EntryError(f"Nobody joins a {movement.kind} movement by a draw.", exit_status=ExitStatus.USAGE)
    taken = {*movement.contestants, *movement.pairs}
    if contestant in taken or not 1 <= contestant <= 9999:
        raise EntryError(f"Number {contestant} is taken or can't be.", next_step=f"Take {max(taken) + 1}.")
    pairs: tuple[int, ...] = (contestant, contestant + 1) if movement.teams else (contestant,)
    if not taken.isdisjoint(pairs):
        raise EntryError(f"Number {contestant + 1} is taken.", next_step=f"Take {max(taken) + 1}.")
    group = movement.groups[0]
    return replace(
        movement,
        groups=(replace(group, contestants=(*group.contestants, contestant)),),
        teams=(*movement.teams, Team(contestant, pairs)) if movement.teams else (),
        sit_outs=(
            *movement.sit_outs,
            *(SitOut(r, pair, 0, absent=True) for r in range(1, movement.rounds + 1) for pair in pairs),
        ),
    )


def history(movement: Movement) -> tuple[set[tuple[int, int]], list[int]]:
    """Couples (lower number first) that have met in a Swiss event, and those who have had a bye, once for each."""
    team = {pair: t.number for t in movement.teams for pair in t.pairs}
    met = {(min(a, b), max(a, b)) for a, b in ((team.get(s.ns, s.ns), team.get(s.ew, s.ew)) for s in movement.seatings)}
    return met, [
        one for one, _ in sorted({(team.get(s.pair, s.pair), s.round) for s in movement.sit_outs if not s.absent})
    ]


def _north_less(movement: Movement, a: int, b: int) -> bool:
    def times(pair: int) -> int:
        return sum(s.direction_of(pair) is Direction.NS for s in movement.plays(pair))

    if times(a) != times(b):
        return times(a) < times(b)
    last = movement.seat(a, movement.rounds)
    return not (isinstance(last, Seating) and last.direction_of(a) is Direction.NS)


def _turned(boards: tuple[int, ...], by: int) -> tuple[int, ...]:
    by %= len(boards)
    return boards[by:] + boards[:by]
