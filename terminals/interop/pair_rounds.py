"""Pairs that are ranked by victory points of their rounds, as files carry them: a match for each table of a round.

USEBIO has no other place that says to which round a result belongs. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from terminals.interop.exchange import Entrant, ExchangeEvent, ExchangeLine, ExchangeMatch, MatchBoard, Published
from terminals.interop.publish import credited
from terminals.interop.team_event import shown
from terminals.scoring.lines import Contestant, LineKey, ResultLine
from terminals.scoring.ranking import RankRow
from terminals.scoring.session import SessionScore
from terminals.scoring.swiss import RoundScore


def with_rounds(
    event: ExchangeEvent,
    score: SessionScore,
    rows: Collection[RankRow],
    rounds: Sequence[RoundScore],
    round_of: Callable[[ResultLine], int],
) -> ExchangeEvent:
    """The event with the matches of its pairs. rows: of those who are ranked by rounds; rounds: what each made in them;
    round_of: a line's round, 0 for one of another section.

    What a total has beside its matches, such as byes, points carried over and penalties, stands as its adjustment.
    """
    numbers: dict[LineKey, int] = {}
    for scores in score.boards.values():
        for one in scores:
            number = round_of(one.line)
            if number:
                numbers[credited(one.line).key] = number
    made = {(one.contestant, one.round): one.vp for one in rounds if one.vp is not None}
    tables: dict[tuple[int, Contestant, Contestant], list[ExchangeLine]] = {}
    for line in event.lines:
        if line.line.key in numbers:
            tables.setdefault((numbers[line.line.key], line.line.ns, line.line.ew), []).append(line)
    met: dict[tuple[Contestant, int], int] = {}
    for number, ns, ew in tables:
        for contestant in (ns, ew):
            met[contestant, number] = met.get((contestant, number), 0) + 1

    def points(contestant: Contestant, number: int) -> Published | None:
        """Nothing for a round in which it met two opponents: it has one score for both."""
        vp = made.get((contestant, number)) if met[contestant, number] == 1 else None
        return None if vp is None else shown(vp)

    matches = [
        ExchangeMatch(
            number,
            ns,
            ew,
            tuple(MatchBoard(one.line.board, one, None) for one in lines),
            points(ns, number),
            points(ew, number),
        )
        for (number, ns, ew), lines in sorted(tables.items())
    ]
    rest = beside(matches, {row.contestant: row.value for row in rows})
    entrants = tuple(_entrant(one, rest) for one in event.entrants)
    return replace(event, match_scoring="VPS", entrants=entrants, matches=(*event.matches, *matches))


def beside(matches: Sequence[ExchangeMatch], totals: Mapping[Contestant, Fraction]) -> dict[Contestant, Fraction]:
    """What each total has that no match of it shows."""
    out = dict(totals)
    for match in matches:
        for contestant, number in ((match.team, match.team_score), (match.opponent, match.opposing_score)):
            if contestant in out and number is not None:
                out[contestant] -= number.value
    return out


def _entrant(one: Entrant, rest: Mapping[Contestant, Fraction]) -> Entrant:
    if one.contestant not in rest:
        return one
    left = rest[one.contestant]
    return replace(one, in_vps=True, adjustment=shown(left) if left else None)
