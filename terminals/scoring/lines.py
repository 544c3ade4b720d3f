"""What scoring reads: contestants, result lines, fields, winner groups, session adjustments. Frozen values, no I/O.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError
from terminals.result import BoardState

MAX_BOARD = 999


@dataclass(frozen=True, slots=True, order=True)
class Contestant:
    """A pair, team or player as the scoring knows it.

    direction: "NS" or "EW" where numbers of the two directions may collide (two-winner Mitchell), else "".
    """

    section: str
    number: int
    direction: str = ""

    def __post_init__(self) -> None:
        if self.direction not in ("", "NS", "EW"):
            raise EntryError(
                f"A contestant's direction is NS, EW or nothing, not {self.direction[:8]!r}.", code="bad-contestant"
            )

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.section}{self.number}", self.direction) if part)


LineKey = tuple[int, str, Contestant, Contestant, int]
"""Board, section, NS contestant, EW contestant, play instance."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One play of one board: who met, and what is known of it.

    section: where it was played. form: "" for the deal as it was meant, any other word for a changed form of a fouled
    board (Law 87). vulnerability: None means by the board's number (Law 2). play: which play instance of the same
    board by the same pairs, from 1. ns_players, ew_players: who is credited instead of ``ns`` and ``ew``, for
    individual events, where each player of a passing partnership scores on his own.
    """

    board: int
    ns: Contestant
    ew: Contestant
    result: BoardState
    section: str = ""
    form: str = ""
    vulnerability: Vulnerability | None = None
    play: int = 1
    ns_players: tuple[Contestant, ...] = ()
    ew_players: tuple[Contestant, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.board <= MAX_BOARD:
            raise EntryError(f"A board number is from 1 to {MAX_BOARD}, not {self.board}.", code="bad-board")
        if self.ns == self.ew:
            raise EntryError(
                f"Contestant {self.ns} can't play against itself.", where=f"board {self.board}", code="bad-line"
            )
        players = self.ns_players + self.ew_players
        if len(set(players)) != len(players):
            raise EntryError("A player has two seats at one table.", where=f"board {self.board}", code="bad-line")

    @property
    def credited_ns(self) -> tuple[Contestant, ...]:
        return self.ns_players or (self.ns,)

    @property
    def credited_ew(self) -> tuple[Contestant, ...]:
        return self.ew_players or (self.ew,)

    @property
    def key(self) -> LineKey:
        """What makes a result one result: board, section, both contestants, play instance (Law 15)."""
        return (self.board, self.section, self.ns, self.ew, self.play)


@dataclass(frozen=True, slots=True)
class ScoringField:
    """A set of sections whose results are compared with each other.

    sections: names; an empty set means every section. expected: board -> E, the number of scores that the movement
    schedules for it over all these sections.
    """

    expected: Mapping[int, int]
    sections: frozenset[str] = frozenset()

    def holds(self, section: str) -> bool:
        return not self.sections or section in self.sections


@dataclass(frozen=True, slots=True)
class WinnerGroup:
    """Contestants who are ranked against each other. Whoever is in no group plays without standing."""

    name: str
    contestants: tuple[Contestant, ...]


class PenaltyUnit(StrEnum):
    """In what a session adjustment is measured."""

    TOP_FRACTION = "top"  # of one full board's top; 1/4 is the EBU's standard penalty
    PERCENT = "percent"  # percentage points of the session result
    MATCHPOINTS = "matchpoints"  # scale 2/1/0
    IMPS = "imps"
    POINTS = "points"
    VPS = "vps"


@dataclass(frozen=True, slots=True)
class SessionAdjustment:
    """A procedural or disciplinary penalty (Laws 90, 91) or a bonus: it touches one contestant's total and no board.

    amount: in ``unit``, negative for a penalty.
    """

    contestant: Contestant
    amount: Fraction
    unit: PenaltyUnit
    reason: str = ""
    law: str = "90"


def one_winner(lines: Iterable[ResultLine], name: str = "") -> list[WinnerGroup]:
    """One group of everybody who appears in ``lines``."""
    seen = {contestant for line in lines for contestant in (*line.credited_ns, *line.credited_ew)}
    return [WinnerGroup(name, tuple(sorted(seen)))]


def two_winners(lines: Sequence[ResultLine], names: tuple[str, str] = ("NS", "EW")) -> list[WinnerGroup]:
    """North-South and East-West apart, as in a Mitchell without arrow switch. Raises EntryError on a switched pair."""
    north_south = {contestant for line in lines for contestant in line.credited_ns}
    east_west = {contestant for line in lines for contestant in line.credited_ew}
    both = sorted(north_south & east_west)
    if both:
        raise EntryError(
            f"Contestant {both[0]} played in both directions, so there can't be two winners.",
            next_step="Score the session with one winner, or give the directions different numbers.",
            code="bad-groups",
        )
    return [WinnerGroup(names[0], tuple(sorted(north_south))), WinnerGroup(names[1], tuple(sorted(east_west)))]


def field_expected(scheduled: Mapping[int, int]) -> dict[int, int]:
    """E of a field from the movement: the most that any board is scheduled, for every board.

    scheduled: board -> number of results that a complete session has on it, over all sections of the field. A board
    that is scheduled less often is factored up to the same top.
    """
    top = max(scheduled.values(), default=0)
    return dict.fromkeys(scheduled, top)


def expected_by_count(lines: Iterable[ResultLine]) -> dict[int, int]:
    """E by counting lines: the largest number of lines of any board, for every board.

    Only for finished events and files without a movement; during a session E comes from the movement.
    """
    counts: dict[int, int] = {}
    for line in lines:
        counts[line.board] = counts.get(line.board, 0) + 1
    top = max(counts.values(), default=0)
    return dict.fromkeys(counts, top)
