"""Matchpoint sessions word by word from the Law, with ``Fraction`` and nothing clever: slow, short, easy to check.

The benchmark runs beside it and the tests require that the program gives the same numbers. It knows played and
passed-out boards, and averages at their flat and session values; Neuberg for short boards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dealer.board import vulnerability_of
from terminals.result import Artificial, Average, Played
from terminals.scoring.contract_score import contract_score
from terminals.scoring.lines import Contestant, ResultLine


def table_score(line: ResultLine) -> int:
    """North-South points of a played or passed-out board."""
    if not isinstance(line.result, Played):
        return 0
    contract = line.result.contract
    vulnerable = vulnerability_of(line.board).includes(contract.declarer)
    points = contract_score(contract, line.result.tricks, vulnerable)
    return points if contract.declarer % 2 == 0 else -points


def plain_session(lines: Iterable[ResultLine], expected: Mapping[int, int]) -> dict[Contestant, Fraction]:
    """Session percentage of every contestant."""
    boards: dict[int, list[ResultLine]] = {}
    for line in lines:
        boards.setdefault(line.board, []).append(line)
    points: dict[Contestant, Fraction] = {}
    tops: dict[Contestant, Fraction] = {}
    averages: list[tuple[Contestant, Average, Fraction]] = []
    for board, played in boards.items():
        top = Fraction(2 * (expected[board] - 1))
        genuine = [(line, table_score(line)) for line in played if not isinstance(line.result, Artificial)]
        for line, score in genuine:
            beaten = sum(Fraction(2) for _, other in genuine if score > other)
            equal = sum(Fraction(1) for _, other in genuine if score == other) - 1
            raw = Fraction(beaten) + equal
            factored = (raw + 1) * Fraction(expected[board], len(genuine)) - 1
            for contestant, gained in ((line.ns, factored), (line.ew, top - factored)):
                points[contestant] = points.get(contestant, Fraction(0)) + gained
                tops[contestant] = tops.get(contestant, Fraction(0)) + top
        for line in played:
            if isinstance(line.result, Artificial):
                for contestant, value in ((line.ns, line.result.ns), (line.ew, line.result.ew)):
                    assert isinstance(value, Average)
                    averages.append((contestant, value, top))
    own = {contestant: points[contestant] / tops[contestant] for contestant in points}
    for contestant, value, top in averages:
        share = {Average.PLUS: Fraction(3, 5), Average.EVEN: Fraction(1, 2), Average.MINUS: Fraction(2, 5)}[value]
        if contestant in own and value is Average.PLUS:
            share = max(share, own[contestant])
        if contestant in own and value is Average.MINUS:
            share = min(share, own[contestant])
        points[contestant] = points.get(contestant, Fraction(0)) + share * top
        tops[contestant] = tops.get(contestant, Fraction(0)) + top
    return {contestant: points[contestant] / tops[contestant] * 100 for contestant in points}
