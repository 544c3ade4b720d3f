"""A team event made by rule, as it would be published: helper of this folder's tests."""

from __future__ import annotations

import random
from fractions import Fraction

from interop_sessions import random_result

from terminals.interop.exchange import (
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangeMatch,
    MatchBoard,
    Published,
)
from terminals.interop.publish import published as printed
from terminals.scoring.contract_score import score_ns
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import PLAIN, VpScale
from terminals.scoring.rounding import Rounding
from terminals.scoring.teams import TeamMethod, match_score, team_board


def team(number: int) -> Contestant:
    return Contestant("", number)


def shown(value: Fraction, decimals: int = 2) -> Published:
    return printed(value, 0 if value.denominator == 1 else decimals, Rounding.HALF_UP)


def round_robin(
    teams: int = 4,
    boards: int = 6,
    seed: int = 1,
    *,
    method: TeamMethod = TeamMethod.IMPS,
    scale: VpScale | None = VpScale.CONTINUOUS,
) -> ExchangeEvent:
    rng = random.Random(seed)
    matches, lines = [], []
    totals: dict[int, Fraction] = {}
    number = 0
    for one in range(1, teams + 1):
        for other in range(one + 1, teams + 1):
            number += 1
            held, scored = [], []
            for board in range(1, boards + 1):
                rooms = []
                for ns, ew in ((one, other), (other, one)):
                    result = random_result(rng)
                    line = ResultLine(board, team(ns), team(ew), result, play=number)
                    rooms.append(ExchangeLine(line, score_ns(result, board)))
                found = team_board(rooms[0].line, rooms[1].line, PLAIN, method)
                assert found is not None
                scored.append(found)
                held.append(MatchBoard(board, rooms[0], rooms[1], shown(found.home)))
                lines += rooms
            match = match_score(scored, scale=scale)
            home, away = (match.home, match.away) if match.home_vp is None else (match.home_vp, match.away_vp)
            assert away is not None
            totals[one] = totals.get(one, Fraction(0)) + home
            totals[other] = totals.get(other, Fraction(0)) + away
            matches.append(ExchangeMatch(number, team(one), team(other), tuple(held), shown(home), shown(away)))
    entrants = tuple(
        Entrant(team(one), str(one), total=shown(total), place=str(place), name=f"Team {one}", boards=boards)
        for place, (one, total) in enumerate(sorted(totals.items(), key=lambda item: -item[1]), start=1)
    )
    return ExchangeEvent(
        "League",
        "2026-11-26",
        kind=EventKind.TEAMS,
        team_method=method,
        match_scoring="VPS" if scale is not None else "",
        entrants=entrants,
        lines=tuple(lines),
        matches=tuple(matches),
        program="Firmware Bridge",
    )
