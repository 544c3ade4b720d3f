"""Is this movement playable, and how fair is it? Thirteen properties and the competition variance, for any movement.

Errors make a session impossible or break a Law: (1) a contestant at two tables, (2) one without a place, (3) a board
played twice (Law 15), (4) a pair against itself, (5) one physical board at two tables without being shared by design,
(6) numbers out of range, (7) boards that can't be resolved. Warnings are for the director to decide: (8) meeting more
than once, (9) unequal numbers of boards, (10) less than 70 % of the boards in play, (11) boards with unequal numbers
of results, (12) boards with too few results, (13) sitting out more than one round.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from terminals.movement.model import Direction, Format, Movement, Seating, SitOut

SHARE_OF_BOARDS = Fraction(7, 10)
MAX_BOARD = 999


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach. property: number 1 to 13 of the module's list; round, table, contestant: 0 where none is meant."""

    property: int
    message: str
    round: int = 0
    table: int = 0
    contestant: int = 0


@dataclass(frozen=True, slots=True)
class Balance:
    """How much each two contestants' scores depend on each other, over all couples of contestants.

    C(a, b) is a sum over the boards that both play: +1 in the same direction, -1 in opposite ones, and results on the
    board minus one when they meet there. The smaller the variance, the fairer a single ranking. per_set: the variance
    as if every set had one board, so that movements with sets of different size compare.
    """

    mean: Fraction
    least: int
    most: int
    variance: Fraction
    per_set: Fraction


@dataclass(frozen=True, slots=True)
class Report:
    """What ``verify`` found. balance: of all contestants together; balance_by_group: inside each ranking."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    balance: Balance | None
    balance_by_group: tuple[tuple[str, Balance | None], ...]

    @property
    def ok(self) -> bool:
        return not self.errors


def verify(movement: Movement, *, minimum_results: int = 2) -> Report:
    """Checks every property. minimum_results: the least number of results a board should get (property 12)."""
    errors = [*_ranges(movement), *_places(movement), *_boards(movement), *_physical_boards(movement)]
    warnings = [*_fairness(movement, minimum_results), *_long_sit_outs(movement)]
    matrix = competition(movement)
    size = _set_size(movement)
    return Report(
        errors=tuple(errors),
        warnings=tuple(warnings),
        balance=_balance(matrix, movement.pairs, size),
        balance_by_group=tuple(
            (g.name, _balance(matrix, g.contestants, size)) for g in movement.groups if not movement.teams
        ),
    )


def _ranges(movement: Movement) -> Iterator[Finding]:
    known = {pair for team in movement.teams for pair in team.pairs} if movement.teams else set(movement.contestants)
    listed = [c for group in movement.groups for c in group.contestants]
    for contestant, count in Counter(listed).items():
        if count > 1:
            yield Finding(6, f"Contestant {contestant} is ranked {count} times.", contestant=contestant)
    seen: set[tuple[int, int]] = set()
    for s in movement.seatings:
        if (s.round, s.table) in seen:
            yield Finding(6, f"Round {s.round}, table {s.table} is listed twice.", s.round, s.table)
        seen.add((s.round, s.table))
        yield from _place_in_range(movement, s, known)
        if movement.format is Format.INDIVIDUAL and len(s.players) != 4:
            yield Finding(2, f"Round {s.round}, table {s.table} has {len(s.players)} players, not 4.", s.round, s.table)
        if not 1 <= s.copy <= movement.copies:
            yield Finding(
                6, f"Round {s.round}, table {s.table} uses copy {s.copy} of {movement.copies}.", s.round, s.table
            )
        if not s.boards:
            yield Finding(7, f"Round {s.round}, table {s.table} has no boards.", s.round, s.table)
        elif len(set(s.boards)) != len(s.boards) or not all(1 <= b <= MAX_BOARD for b in s.boards):
            yield Finding(7, f"Round {s.round}, table {s.table} has boards {_list(s.boards)}.", s.round, s.table)
    for sit_out in movement.sit_outs:
        yield from _place_in_range(movement, sit_out, known)


def _place_in_range(movement: Movement, place: Seating | SitOut, known: set[int]) -> Iterator[Finding]:
    least = 1 if isinstance(place, Seating) else 0
    if not 1 <= place.round <= movement.rounds:
        yield Finding(6, f"There is no round {place.round} in {movement.rounds} rounds.", place.round, place.table)
    if not least <= place.table <= movement.tables:
        yield Finding(6, f"There is no table {place.table} in {movement.tables} tables.", place.round, place.table)
    for contestant in place.contestants if isinstance(place, Seating) else (place.pair,):
        if contestant not in known:
            yield Finding(
                6, f"Round {place.round}: there is no contestant {contestant}.", place.round, place.table, contestant
            )


def _places(movement: Movement) -> Iterator[Finding]:
    where: dict[tuple[int, int], list[int]] = defaultdict(list)
    for s in movement.seatings:
        if len(set(s.contestants)) != len(s.contestants):
            twice = next(c for c, n in Counter(s.contestants).items() if n > 1)
            yield Finding(
                4, f"Round {s.round}, table {s.table}: {twice} plays against itself.", s.round, s.table, twice
            )
        elif (team := movement.team_of(s.ns)) and s.ew in team.pairs:
            yield Finding(
                4, f"Round {s.round}, table {s.table}: team {team.number} plays itself.", s.round, s.table, team.number
            )
        for contestant in set(s.contestants):
            where[s.round, contestant].append(s.table)
    for sit_out in movement.sit_outs:
        where[sit_out.round, sit_out.pair].append(sit_out.table)
    for (number, contestant), tables in sorted(where.items()):
        if len(tables) > 1:
            yield Finding(
                1, f"Round {number}: {contestant} is at tables {_list(sorted(tables))}.", number, tables[0], contestant
            )
    for number in range(1, movement.rounds + 1):
        for contestant in movement.pairs:
            if (number, contestant) not in where:
                yield Finding(
                    2, f"Round {number}: {contestant} has neither a seat nor a sit-out.", number, 0, contestant
                )


def _boards(movement: Movement) -> Iterator[Finding]:
    for contestant in movement.pairs:
        played: dict[int, int] = {}
        for s in movement.plays(contestant):
            again = [board for board in s.boards if board in played]
            if again:
                first = played[again[0]]
                yield Finding(
                    3,
                    f"{contestant} plays board {_list(again)} in rounds {first} and {s.round} (Law 15).",
                    s.round,
                    s.table,
                    contestant,
                )
            played.update((board, s.round) for board in s.boards)


def _physical_boards(movement: Movement) -> Iterator[Finding]:
    """Property 5: tables of a round on one board, less those that share it by design, are not more than the copies."""
    users: dict[tuple[int, int], list[int]] = defaultdict(list)
    for s in movement.seatings:
        for board in s.boards:
            users[s.round, board].append(s.table)
    shares: dict[tuple[int, int], list[frozenset[int]]] = defaultdict(list)
    for share in movement.shares:
        for board in share.boards:
            shares[share.round, board].append(frozenset(share.tables))
    reported: set[tuple[int, tuple[int, ...]]] = set()
    for (number, board), tables in sorted(users.items()):
        if len(tables) <= movement.copies:
            continue
        together = [share.intersection(tables) for share in shares[number, board]]
        spared = sum(len(tables_of_share) - 1 for tables_of_share in together if tables_of_share)
        key = (number, tuple(sorted(tables)))
        if len(tables) - spared > movement.copies and key not in reported:
            reported.add(key)
            yield Finding(
                5, f"Round {number}: tables {_list(key[1])} need board {board} at the same time.", number, tables[0]
            )


def _fairness(movement: Movement, minimum_results: int) -> Iterator[Finding]:
    yield from _meetings(movement)
    in_play = len(movement.board_numbers)
    counts = {pair: len(movement.boards_of(pair)) for pair in movement.pairs}
    groups = [g.contestants for g in movement.groups] if not movement.teams else [movement.pairs]
    for members in groups:
        numbers = sorted({counts.get(pair, 0) for pair in members})
        if len(numbers) > 1:
            yield Finding(9, f"Contestants {_list(members)} play between {numbers[0]} and {numbers[-1]} boards.")
    if movement.teams:
        return
    for pair, count in counts.items():
        if count < SHARE_OF_BOARDS * in_play:
            yield Finding(10, f"{pair} plays {count} of {in_play} boards, less than 70 %.", contestant=pair)
    per_board = Counter(movement.expected_per_board().values())
    if len(per_board) > 1:
        words = ", ".join(f"{boards} boards with {results}" for results, boards in sorted(per_board.items()))
        yield Finding(11, f"Boards get unequal numbers of results: {words}.")
    few = [b for b, results in movement.expected_per_board().items() if results < minimum_results]
    if few:
        yield Finding(12, f"Boards {_list(few)} get fewer than {minimum_results} results.")


def _meetings(movement: Movement) -> Iterator[Finding]:
    """Property 8: pairs that meet more than once; in an individual, players who are partners more than once."""
    if movement.teams:
        return
    met: Counter[tuple[int, int]] = Counter()
    word = "are partners" if movement.format is Format.INDIVIDUAL else "meet"
    for s in movement.seatings:
        if movement.format is Format.INDIVIDUAL:
            couples = [s.side(direction) for direction in Direction if len(s.side(direction)) == 2]
        else:
            couples = [(s.ns, s.ew)]
        met.update((min(a, b), max(a, b)) for a, b in couples)
    for (a, b), count in sorted(met.items()):
        if count > 1:
            yield Finding(8, f"{a} and {b} {word} {count} times.", contestant=a)


def _long_sit_outs(movement: Movement) -> Iterator[Finding]:
    rounds: Counter[int] = Counter(sit_out.pair for sit_out in movement.sit_outs if not sit_out.absent)
    for pair, count in sorted(rounds.items()):
        if count > 1:
            yield Finding(13, f"{pair} sits out {count} rounds.", contestant=pair)


def competition(movement: Movement) -> Mapping[tuple[int, int], int]:
    """C(a, b) for every two contestants a < b (pairs; players in an individual)."""
    results = movement.expected_per_board()
    # Boards that always lie together count alike: one of them stands for its whole set.
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for s in movement.seatings:
        for board in s.boards:
            places[board].append((s.round, s.table))
    sets: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for board, where in places.items():
        sets[tuple(where)].append(board)
    weights = {boards[0]: len(boards) for boards in sets.values()}
    seats: dict[int, dict[int, tuple[int, int, Direction]]] = {pair: {} for pair in movement.pairs}
    for s in movement.seatings:
        for direction in Direction:
            for contestant in s.side(direction):
                seats[contestant].update(
                    (board, (s.round, s.table, direction)) for board in s.boards if board in weights
                )
    matrix: dict[tuple[int, int], int] = {}
    for a, b in combinations(movement.pairs, 2):
        total = 0
        theirs = seats[b]
        for board, (number, table, direction) in seats[a].items():
            other = theirs.get(board)
            if other is None:
                continue
            if direction is other[2]:
                total += weights[board]
            elif (number, table) == other[:2]:
                total += (results[board] - 1) * weights[board]
            else:
                total -= weights[board]
        matrix[a, b] = total
    return matrix


def _set_size(movement: Movement) -> int:
    return max((len(s.boards) for s in movement.seatings), default=1)


def _balance(matrix: Mapping[tuple[int, int], int], contestants: Iterable[int], size: int) -> Balance | None:
    values = [matrix[couple] for couple in combinations(sorted(contestants), 2) if couple in matrix]
    if not values:
        return None
    count, total = len(values), sum(values)
    mean = Fraction(total, count)
    # the mean of the squared deviations, in whole numbers as long as it goes
    variance = Fraction(count * sum(value * value for value in values) - total * total, count * count)
    return Balance(mean, min(values), max(values), variance, variance / size**2)


def _list(numbers: Iterable[int]) -> str:
    """Numbers for people: at most eight of them."""
    listed = [str(number) for number in numbers]
    return ", ".join(listed[:8]) + (" ..." if len(listed) > 8 else "")


def variance_per_set(movement: Movement) -> Fraction:
    """``Balance.per_set`` of all contestants; 0 when there are fewer than two."""
    balance = _balance(competition(movement), movement.pairs, _set_size(movement))
    return Fraction(0) if balance is None else balance.per_set
