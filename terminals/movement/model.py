"""Who sits where, against whom, with which boards: the values of a movement, frozen and without I/O.

A movement is the director's plan of Laws 3 to 5 and 8: numbered tables, contestants with a starting position, and
instructions where players and boards go each round. It is a plain list of seatings, so that a generated movement, one
loaded from a file and one repaired in mid-session are the same kind of value. ``verify`` says whether it can be played.

Numbers: rounds and tables count from 1. A pair number names one pair in the whole movement (NS and EW pairs of a
two-winner Mitchell don't share numbers). In an individual the "pairs" are player numbers. A sit-out is a fact of its
own, never a result and never a seating against nobody.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Format(StrEnum):
    """What a contestant is (Law 3): a pair, a team of two pairs, or a single player."""

    PAIRS = "pairs"
    TEAMS = "teams"
    INDIVIDUAL = "individual"


class Direction(StrEnum):
    """The side of a table."""

    NS = "NS"
    EW = "EW"

    @property
    def other(self) -> Direction:
        return Direction.EW if self is Direction.NS else Direction.NS


@dataclass(frozen=True, slots=True)
class Seating:
    """One table in one round: two sides and the boards they play, in the order in which they play them.

    ns, ew: pair numbers; in an individual the player number of North and of East.
    boards: board numbers, all of them real (1 or more).
    copy: which physical copy of the boards lies here (1 unless the movement needs several copies).
    players: individual only, player numbers of N, E, S, W.
    """

    round: int
    table: int
    ns: int
    ew: int
    boards: tuple[int, ...]
    copy: int = 1
    players: tuple[int, ...] = ()

    @property
    def contestants(self) -> tuple[int, ...]:
        """The two pairs, or in an individual the four players."""
        return self.players or (self.ns, self.ew)

    def side(self, direction: Direction) -> tuple[int, ...]:
        """The contestants on one side: one pair, or in an individual two players."""
        if self.players:
            return (
                (self.players[0], self.players[2]) if direction is Direction.NS else (self.players[1], self.players[3])
            )
        return (self.ns,) if direction is Direction.NS else (self.ew,)

    def direction_of(self, pair: int) -> Direction | None:
        """Where the pair (or player) sits at this table, or None."""
        for direction in Direction:
            if pair in self.side(direction):
                return direction
        return None

    def opponents_of(self, pair: int) -> tuple[int, ...]:
        """The other side's pair (or players). Raises ValueError when the pair does not sit here."""
        direction = self.direction_of(pair)
        if direction is None:
            raise ValueError(f"pair {pair} does not sit at table {self.table} in round {self.round}")
        return self.side(direction.other)

    def switched(self) -> Seating:
        """The same table with the arrow turned: North-South become East-West."""
        players = self.players[1:] + self.players[:1] if self.players else ()
        return Seating(self.round, self.table, self.ew, self.ns, self.boards, self.copy, players)


@dataclass(frozen=True, slots=True)
class SitOut:
    """A contestant that has no opponents in a round: no result, no average, no score (its own state).

    table, direction: the place where the phantom would have been met; table 0 when the pair is sent to no table.
    boards: the boards that it misses by sitting out, if the movement knows.
    absent: it is not in the room (not yet come, or gone), so this is nobody's turn to sit out.
    """

    round: int
    pair: int
    table: int = 0
    direction: Direction = Direction.NS
    boards: tuple[int, ...] = ()
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """Tables that use the same physical boards in one round, by design."""

    round: int
    tables: tuple[int, ...]
    boards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Contestants that are ranked together: "NS" and "EW" of a two-winner Mitchell, or everybody."""

    name: str
    contestants: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Team:
    """A team and its pairs, by pair number (Law 3)."""

    number: int
    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewNumber:
    """From ``round`` on the pair that had ``pair`` as its number shows ``number``."""

    round: int
    pair: int
    number: int


@dataclass(frozen=True, slots=True)
class Movement:
    """A whole session's plan.

    kind: stable word ("mitchell", "howell", ...); name: words for people, with the numbers that matter.
    boards_per_round: the usual size of a set. groups: one group = one winner, two = two winners.
    copies: physical copies of every board that the dealer must make. shares: sets used by several tables in a round.
    notes: what the director has to announce (Law 8A). renumbered: pairs whose number changes during the session.
    """

    name: str
    kind: str
    tables: int
    rounds: int
    boards_per_round: int
    seatings: tuple[Seating, ...]
    groups: tuple[Group, ...]
    sit_outs: tuple[SitOut, ...] = ()
    shares: tuple[Share, ...] = ()
    copies: int = 1
    format: Format = Format.PAIRS
    teams: tuple[Team, ...] = ()
    notes: tuple[str, ...] = ()
    renumbered: tuple[NewNumber, ...] = ()
    _seats: dict[tuple[int, int], Seating | SitOut] = field(init=False, repr=False, compare=False)
    _tables: dict[tuple[int, int], Seating] = field(init=False, repr=False, compare=False)
    _pairs: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seatings", tuple(sorted(self.seatings, key=lambda s: (s.round, s.table))))
        object.__setattr__(self, "sit_outs", tuple(sorted(self.sit_outs, key=lambda s: (s.round, s.table, s.pair))))
        seats: dict[tuple[int, int], Seating | SitOut] = {}
        tables: dict[tuple[int, int], Seating] = {}
        for sit_out in self.sit_outs:
            seats.setdefault((sit_out.round, sit_out.pair), sit_out)
        for seating in reversed(self.seatings):  # the lowest table wins; verify reports a pair at two tables
            tables[seating.round, seating.table] = seating
            for pair in seating.contestants:
                seats[seating.round, pair] = seating
        pairs = {pair for _, pair in seats}.union(*(g.contestants for g in self.groups if not self.teams))
        object.__setattr__(self, "_seats", seats)
        object.__setattr__(self, "_tables", tables)
        object.__setattr__(self, "_pairs", tuple(sorted(pairs)))

    @property
    def winners(self) -> int:
        """Number of separate rankings: 1 or 2 (more with several sections)."""
        return len(self.groups)

    @property
    def contestants(self) -> tuple[int, ...]:
        """Those who are ranked: pair, team or player numbers, ascending."""
        return tuple(sorted(c for group in self.groups for c in group.contestants))

    @property
    def pairs(self) -> tuple[int, ...]:
        """Everybody who sits at a table (players in an individual), ascending."""
        return self._pairs

    @property
    def board_numbers(self) -> tuple[int, ...]:
        """All boards in play, ascending."""
        return tuple(sorted({board for seating in self.seatings for board in seating.boards}))

    @property
    def board_sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets that lie together on a table, by their lowest board."""
        return tuple(sorted({tuple(sorted(seating.boards)) for seating in self.seatings}))

    def expected_results(self) -> int:
        """Number of results that a complete session has: one per board at every seating."""
        return sum(len(seating.boards) for seating in self.seatings)

    def expected_per_board(self) -> Mapping[int, int]:
        """Board number -> number of results that a complete session has on it."""
        counts = dict.fromkeys(self.board_numbers, 0)
        for seating in self.seatings:
            for board in seating.boards:
                counts[board] += 1
        return counts

    def copies_to_deal(self) -> Mapping[int, int]:
        """Board number -> physical copies that the dealer must make of it."""
        used: dict[int, set[int]] = {board: set() for board in self.board_numbers}
        at_once: dict[tuple[int, int], int] = {}
        for seating in self.seatings:
            for board in seating.boards:
                used[board].add(seating.copy)
                at_once[seating.round, board] = at_once.get((seating.round, board), 0) + 1
        most = dict.fromkeys(self.board_numbers, 0)
        for (_, board), tables in at_once.items():
            most[board] = max(most[board], tables)
        # a file may name a number of copies without saying which lies where
        numbered = any(len(copies) > 1 for copies in used.values())
        return {b: len(used[b]) if numbered else min(self.copies, most[b]) for b in self.board_numbers}

    def seat(self, pair: int, round: int) -> Seating | SitOut | None:
        """Where the pair is in a round; None when the movement has no place for it then."""
        return self._seats.get((round, pair))

    def next_seat(self, pair: int, round: int) -> Seating | SitOut | None:
        """Where the pair goes when ``round`` is over (0 = where it starts); None after its last round."""
        change = next((n for n in self.renumbered if n.round == round + 1 and n.pair == pair), None)
        return self._seats.get((round + 1, pair if change is None else change.number))

    def at(self, round: int, table: int) -> Seating | None:
        """Who plays at a table in a round; None when nobody does."""
        return self._tables.get((round, table))

    def plays(self, pair: int) -> tuple[Seating, ...]:
        """Every seating of a pair, by round."""
        seats = (self._seats.get((round, pair)) for round in range(1, self.rounds + 1))
        return tuple(seat for seat in seats if isinstance(seat, Seating))

    def sits_out(self, pair: int) -> tuple[SitOut, ...]:
        """Every sit-out of a pair, by round."""
        return tuple(sit_out for sit_out in self.sit_outs if sit_out.pair == pair)

    def in_round(self, round: int) -> tuple[Seating, ...]:
        """The tables that play in a round."""
        return tuple(seating for seating in self.seatings if seating.round == round)

    def ranked_number(self, number: int, round: int) -> int:
        """The number under which a pair is ranked that showed ``number`` in a round: the last one that it shows."""
        for later in sorted({change.round for change in self.renumbered if change.round > round}):
            # two pairs may exchange their numbers in one round
            names = {change.pair: change.number for change in self.renumbered if change.round == later}
            number = names.get(number, number)
        return number

    def boards_of(self, pair: int) -> tuple[int, ...]:
        """Boards that the pair is to play, in playing order."""
        return tuple(board for seating in self.plays(pair) for board in seating.boards)

    def group_of(self, contestant: int) -> Group | None:
        """The ranking that a contestant belongs to."""
        return next((group for group in self.groups if contestant in group.contestants), None)

    def team_of(self, pair: int) -> Team | None:
        """The team that a pair plays for."""
        return next((team for team in self.teams if pair in team.pairs), None)

    def next_table(self, boards: Iterable[int], round: int, copy: int = 1) -> Seating | None:
        """The next seating after ``round`` that uses these boards (Law 8A); None when they are done with."""
        wanted = set(boards)
        later = (s for s in self.seatings if s.round > round and s.copy == copy and wanted.intersection(s.boards))
        return next(later, None)


def board_set(number: int, size: int, first_board: int = 1) -> tuple[int, ...]:
    """Board numbers of set ``number`` (from 1) when every set has ``size`` boards."""
    start = first_board + (number - 1) * size
    return tuple(range(start, start + size))


def find_shares(seatings: Iterable[Seating]) -> tuple[Share, ...]:
    """Boards of which one physical copy is used by several tables in a round, by the tables that use them."""
    users: dict[tuple[int, int, int], set[int]] = {}
    for seating in seatings:
        for board in seating.boards:
            users.setdefault((seating.round, seating.copy, board), set()).add(seating.table)
    shared: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
    for (number, copy, board), tables in users.items():
        if len(tables) > 1:
            shared.setdefault((number, copy, tuple(sorted(tables))), []).append(board)
    shares = (Share(number, tables, tuple(sorted(boards))) for (number, _, tables), boards in shared.items())
    return tuple(sorted(shares, key=lambda share: (share.round, share.tables, share.boards)))
