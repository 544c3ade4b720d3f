"""A team event from what its tables scored: the two rooms of each match compared, victory points, ranking.

Matches are those of the movement: head to head is one match of all its segments, a round robin or a Swiss event has a
match a round, American Whist one for each set that two teams play both ways.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.interop.exchange import (
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangeMatch,
    MatchBoard,
    Published,
)
from terminals.interop.publish import PROGRAM, EventInfo, published
from terminals.movement.model import Movement
from terminals.movement.swiss import SWISS_TEAMS
from terminals.movement.teams import HEAD_TO_HEAD, Match, matches
from terminals.result import BoardState, PassedOut, Played
from terminals.scoring.contract_score import score_ns
from terminals.scoring.lines import Contestant, ResultLine, WinnerGroup
from terminals.scoring.profile import Profile, VpScale
from terminals.scoring.rounding import Rounding
from terminals.scoring.swiss import RoundKind, RoundScore, standings
from terminals.scoring.teams import TeamBoard, TeamMethod, match_score, team_board
from terminals.scoring.vp import VpTable


@dataclass(frozen=True, slots=True)
class TeamScoring:
    """scale: for victory points; None: the match score is the sum of its boards. knockout: unequal scores of a board
    are averaged (Law 12C4)."""

    method: TeamMethod = TeamMethod.IMPS
    scale: VpScale | VpTable | None = None
    knockout: bool = False


def team_event(
    movement: Movement,
    states: Mapping[tuple[int, int, int], BoardState],
    info: EventInfo,
    profile: Profile,
    scoring: TeamScoring,
) -> ExchangeEvent:
    """The event as far as its results go. states: (board, North-South pair, East-West pair) -> what happened.

    Raises EntryError for a movement without matches, such as multiple teams, which are compared over the field.
    """
    grouped = _grouped(movement)
    lines: list[ExchangeLine] = []
    made: list[ExchangeMatch] = []
    rounds: list[RoundScore] = []
    for number, parts in enumerate(grouped, start=1):
        home, away = Contestant("", parts[0].home), Contestant("", parts[0].away)
        rooms: dict[int, tuple[ExchangeLine, ExchangeLine] | None] = {}
        scored: list[TeamBoard] = []
        for part in parts:
            for board in part.boards:
                first = states.get((board, part.home_ns.ns, part.home_ns.ew))
                second = states.get((board, part.away_ns.ns, part.away_ns.ew))
                held = [
                    ExchangeLine(ResultLine(board, ns, ew, state, play=number), _score(state, board))
                    for state, ns, ew in ((first, home, away), (second, away, home))
                    if state is not None
                ]
                lines += held
                rooms[board] = (held[0], held[1]) if len(held) == 2 else None
                found = team_board(held[0].line, held[1].line, profile, scoring.method) if len(held) == 2 else None
                if found is not None:
                    scored.append(found)
        length = sum(len(part.boards) for part in parts)
        result = match_score(scored, scale=scoring.scale, length=length, knockout=scoring.knockout)
        if not result.boards:
            continue
        ours = result.home if result.home_vp is None else result.home_vp
        theirs = result.away if result.away_vp is None else result.away_vp
        points = {board.board: shown(board.home) for board in result.boards}
        held_boards = tuple(
            MatchBoard(board, pair[0], pair[1], points.get(board)) for board, pair in rooms.items() if pair is not None
        )
        made.append(ExchangeMatch(number, home, away, held_boards, shown(ours), shown(theirs)))
        count = len(result.boards)
        rounds.append(RoundScore(home, number, ours, away, boards=count))
        rounds.append(RoundScore(away, number, theirs, home, boards=count))
    byes = _byes(movement) if scoring.scale is not None else {}
    return ExchangeEvent(
        title=info.title,
        date=info.date,
        club=info.club,
        club_id=info.club_id,
        program=PROGRAM,
        program_version=info.version,
        kind=EventKind.TEAMS,
        team_method=scoring.method,
        match_scoring="VPS" if scoring.scale is not None else "IMPS" if scoring.method is TeamMethod.IMPS else "",
        entrants=_entrants(movement, rounds, byes, profile, info),
        lines=tuple(lines),
        matches=tuple(made),
    )


def _grouped(movement: Movement) -> list[list[Match]]:
    found = matches(movement)
    if not found:
        raise EntryError(
            f"A {movement.kind} movement has no matches between two teams.",
            next_step="Take head-to-head, round-robin, american-whist or swiss-teams.",
            code="not-supported",
        )
    return [list(found)] if movement.kind == HEAD_TO_HEAD else [[one] for one in found]


def _byes(movement: Movement) -> dict[int, int]:
    """Team -> rounds of a Swiss event that it sat out; in a round robin everybody misses the same."""
    if movement.kind != SWISS_TEAMS:
        return {}
    seen = set()
    for one in movement.sit_outs:
        team = movement.team_of(one.pair)
        if team is not None and not one.absent:
            seen.add((team.number, one.round))
    counts: dict[int, int] = {}
    for number, _ in seen:
        counts[number] = counts.get(number, 0) + 1
    return counts


def _entrants(
    movement: Movement, rounds: list[RoundScore], byes: Mapping[int, int], profile: Profile, info: EventInfo
) -> tuple[Entrant, ...]:
    """Ranked teams. A bye counts in the total and stands beside it as an adjustment.

    The first of a team's names is the team's own.
    """
    everybody = tuple(Contestant("", team.number) for team in movement.teams)
    extra = [
        RoundScore(Contestant("", number), -at, None, kind=RoundKind.BYE)
        for number, count in byes.items()
        for at in range(1, count + 1)
    ]
    (rows,) = standings([*rounds, *extra], [WinnerGroup("", everybody)], profile)
    out = []
    for row in rows:
        number = row.contestant.number
        free = profile.bye_vp * byes.get(number, 0)
        people = info.players.get(row.contestant, ())
        out.append(
            Entrant(
                row.contestant,
                str(number),
                people[1:],
                total=shown(row.value),
                place=row.place_text,
                boards=row.boards,
                adjustment=shown(free) if free else None,
                name=people[0].name if people else f"Team {number}",
            )
        )
    return tuple(out)


def _score(state: BoardState, board: int) -> int | None:
    return score_ns(state, board) if isinstance(state, (Played, PassedOut)) else None


def shown(value: Fraction) -> Published:
    """Whole numbers without decimals, others with two."""
    return published(value, 0 if value.denominator == 1 else 2, Rounding.HALF_UP)
