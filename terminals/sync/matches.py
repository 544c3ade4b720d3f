"""Matches of a team event from the results of its tables: both rooms compared, victory points, byes.

A match is what the movement has: all segments of a head to head, a round of a round robin or a Swiss event, a set that
two teams play both ways in American Whist. Multiple teams have none; they are compared over the field. Pure.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from terminals.movement.model import Format, Movement
from terminals.movement.swiss import SWISS_PAIRS, SWISS_TEAMS
from terminals.movement.teams import HEAD_TO_HEAD, Match, matches
from terminals.scoring.boards import LineScore, SideScore
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import Profile
from terminals.scoring.scheme import Scheme
from terminals.scoring.swiss import RoundKind, RoundScore
from terminals.scoring.teams import MatchScore, TeamBoard, match_score, team_board


@dataclass(frozen=True, slots=True)
class TeamMatch:
    """number: of the match in its section, from 1. length: boards that it is scheduled to have. rooms: board -> the
    line where home sits North-South and the one where away does, None for what is not there yet. score: None before
    any board can be compared."""

    section: str
    number: int
    rounds: tuple[int, ...]
    home: Contestant
    away: Contestant
    length: int
    rooms: Mapping[int, tuple[ResultLine | None, ResultLine | None]]
    boards: tuple[TeamBoard, ...]
    score: MatchScore | None

    @property
    def complete(self) -> bool:
        return len(self.boards) == self.length


def has_matches(movement: Movement | None) -> bool:
    """True for a team movement whose results can be compared team by team."""
    return movement is not None and movement.format is Format.TEAMS and bool(matches(movement))


def team_matches(
    section: str, movement: Movement, lines: Iterable[ResultLine], profile: Profile, scheme: Scheme
) -> list[TeamMatch]:
    """All matches of a section, by number. lines: of this section, pair numbers as contestants. Raises EntryError."""
    method = scheme.team_method
    if method is None:
        return []
    held = {(line.board, line.ns.number, line.ew.number): line for line in lines if line.play == 1}
    out = []
    for number, parts in enumerate(_grouped(movement), start=1):
        rooms: dict[int, tuple[ResultLine | None, ResultLine | None]] = {}
        boards: list[TeamBoard] = []
        for part in parts:
            for board in part.boards:
                pair = (
                    held.get((board, part.home_ns.ns, part.home_ns.ew)),
                    held.get((board, part.away_ns.ns, part.away_ns.ew)),
                )
                rooms[board] = pair
                if pair[0] is None or pair[1] is None:
                    continue
                found = team_board(pair[0], pair[1], profile, method)
                if found is not None:
                    boards.append(found)
        length = sum(len(part.boards) for part in parts)
        score = None
        if boards:
            scale = scheme.match_scale(profile)
            score = match_score(boards, scale=scale, length=length, knockout=scheme.knockout)
        rounds = tuple(sorted({one for part in parts for one in part.rounds}))
        home, away = Contestant(section, parts[0].home), Contestant(section, parts[0].away)
        counted = tuple(boards) if score is None else score.boards
        out.append(TeamMatch(section, number, rounds, home, away, length, rooms, counted, score))
    return out


def _grouped(movement: Movement) -> list[list[Match]]:
    found = matches(movement)
    return [list(found)] if movement.kind == HEAD_TO_HEAD and found else [[one] for one in found]


def match_rounds(found: Iterable[TeamMatch]) -> list[RoundScore]:
    """What each team has from its matches: victory points, or what its boards sum to where there is no scale."""
    out = []
    for match in found:
        score = match.score
        if score is None:
            continue
        home = score.home if score.home_vp is None else score.home_vp
        away = score.away if score.away_vp is None else score.away_vp
        count = len(match.boards)
        out.append(RoundScore(match.home, match.number, home, match.away, boards=count))
        out.append(RoundScore(match.away, match.number, away, match.home, boards=count))
    return out


def bye_rounds(section: str, movement: Movement) -> list[RoundScore]:
    """Byes of a Swiss event, which its regulations pay for; in a round robin everybody misses the same."""
    if movement.kind not in (SWISS_PAIRS, SWISS_TEAMS):
        return []
    seen: set[tuple[int, int]] = set()
    for one in movement.sit_outs:
        team = movement.team_of(one.pair) if movement.kind == SWISS_TEAMS else None
        number = one.pair if team is None else team.number
        if not one.absent:
            seen.add((number, one.round))
    return [
        # Matches are numbered from 1, rounds of byes from -1 down, so that the two never meet.
        RoundScore(Contestant(section, number), -round, None, kind=RoundKind.BYE)
        for number, round in sorted(seen)
    ]


def awarded(rounds: Iterable[RoundScore], awards: Sequence[RoundScore]) -> list[RoundScore]:
    """Rounds with what the director awarded in the place of what was scored."""
    given = {(one.contestant, one.round) for one in awards}
    kept = [one for one in rounds if (one.contestant, one.round) not in given]
    return [*kept, *awards]


def match_lines(found: Iterable[TeamMatch]) -> dict[int, list[LineScore]]:
    """Board -> its lines with what each side's team scores on it; nothing yet where the other room is missing."""
    out: dict[int, list[LineScore]] = {}
    for match in found:
        points = {board.board: board for board in match.boards}
        for board, (first, second) in match.rooms.items():
            scored = points.get(board)
            for line, home_ns in ((first, True), (second, False)):
                if line is None:
                    continue
                ns = ew = None
                if scored is not None:
                    home, away = SideScore(scored.home, 0), SideScore(scored.away, 0)
                    ns, ew = (home, away) if home_ns else (away, home)
                out.setdefault(board, []).append(LineScore(line, ns, ew))
    return out
