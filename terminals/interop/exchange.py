"""An event as files of other programs carry it: who played, every table result, and every published number.

Readers fill it, the audit compares it with what our own scoring gives, writers write it. Published numbers keep their
text, because the number of decimals says how exactly they can be checked. Frozen values, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from terminals.result import BoardState, NotPlayed
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.teams import TeamMethod
from terminals.table_record import Recorded

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_LINES = 400_000


class EventKind(StrEnum):
    PAIRS = "pairs"
    INDIVIDUAL = "individual"
    TEAMS = "teams"


@dataclass(frozen=True, slots=True)
class Published:
    """A number as it was printed."""

    value: Fraction
    decimals: int = 0
    text: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ExchangePlayer:
    """A person. national_id, club_id: as text, "" when there is none."""

    name: str
    national_id: str = ""
    club_id: str = ""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A pair, team or player. label: its number as printed ("1NS"); direction: "NS", "EW" or "".

    total: percent, IMPs, VPs or points. second_total: another total beside it, such as matchpoints beside percent.
    adjustment: penalty or bonus, in the unit of ``total``. in_vps: in an event of pairs, ``total`` is the sum of the
    victory points of its rounds.
    """

    contestant: Contestant
    label: str
    players: tuple[ExchangePlayer, ...] = ()
    direction: str = ""
    section: str = ""
    total: Published | None = None
    place: str = ""
    boards: int | None = None
    adjustment: Published | None = None
    master_points: Published | None = None
    name: str = ""
    second_total: Published | None = None
    in_vps: bool = False

    @property
    def of_section(self) -> str:
        """The section that lists it in the file, else the letter before its number."""
        return self.section or self.contestant.section

    @property
    def names(self) -> str:
        """Team name, or the players' names joined by " & "."""
        return self.name or " & ".join(player.name for player in self.players)


@dataclass(frozen=True, slots=True)
class ExchangeLine:
    """A traveller line. score: published points from North-South's side. at: where in the file, for people.

    ns_points, ew_points: matchpoints, IMPs or cross-IMPs. contract_text: the contract as written, for messages.
    fault: why the contract and tricks as written can't be, where they can't. score_ew: the score from East-West's side,
    where it is published beside the other. percents: of North-South and East-West, where they are beside matchpoints.
    recorded: the auction and the play, where the table recorded them.
    """

    line: ResultLine
    score: int | None = None
    ns_points: Published | None = None
    ew_points: Published | None = None
    contract_text: str = ""
    note: str = ""
    at: str = ""
    fault: str = ""
    score_ew: int | None = None
    percents: tuple[Published | None, Published | None] = (None, None)
    recorded: Recorded | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class MatchBoard:
    """A board of a team match: the line at which the team sat North-South, the other one, and the team's points."""

    board: int
    north_south: ExchangeLine | None
    east_west: ExchangeLine | None
    points: Published | None = None


@dataclass(frozen=True, slots=True)
class ExchangeMatch:
    """A team match, or a table of a round of pairs: ``team`` sits North-South, and each board has one line.

    team_score, opposing_score: in the match's unit (VPs, IMPs or board-a-match points).
    """

    round: int
    team: Contestant
    opponent: Contestant
    boards: tuple[MatchBoard, ...]
    team_score: Published | None = None
    opposing_score: Published | None = None


@dataclass(frozen=True, slots=True)
class ExchangeEvent:
    """A whole event.

    date: ISO, "" when unknown. method: how boards are scored. team_method, match_scoring: for teams. winners: 1 or 2.
    warnings: what was odd in a file that was read. datums: published Butler datums as (section, board, number). extra:
    further settings of a file by name.
    """

    title: str = ""
    date: str = ""
    club: str = ""
    club_id: str = ""
    program: str = ""
    program_version: str = ""
    kind: EventKind = EventKind.PAIRS
    method: Method = Method.MATCHPOINTS
    team_method: TeamMethod = TeamMethod.IMPS
    match_scoring: str = ""
    winners: int = 1
    entrants: tuple[Entrant, ...] = ()
    lines: tuple[ExchangeLine, ...] = ()
    matches: tuple[ExchangeMatch, ...] = ()
    warnings: tuple[str, ...] = ()
    datums: tuple[tuple[str, int, Published], ...] = ()
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def sections(self) -> tuple[str, ...]:
        """Sections of the result lines, sorted."""
        return tuple(sorted({one.line.section for one in self.lines}))

    def entrant(self, contestant: Contestant) -> Entrant | None:
        return next((one for one in self.entrants if one.contestant == contestant), None)


def number_plays(lines: Iterable[ExchangeLine]) -> list[ExchangeLine]:
    """Give a second line with the same key the next play instance: files do not say which play it was."""
    seen: dict[object, int] = {}
    out = []
    for one in lines:
        line = one.line
        key = (line.board, line.section, line.ns, line.ew)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            one = replace(one, line=replace(line, play=seen[key]))
        out.append(one)
    return out


def without_score(state: BoardState) -> bool:
    """True for a line that gives nobody a score."""
    return isinstance(state, NotPlayed)
