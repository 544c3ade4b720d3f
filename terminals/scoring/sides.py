"""From a result line to two independent values, one a direction: genuine outcomes, an artificial score, or nothing."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dealer.board import Vulnerability, vulnerability_of
from terminals.result import Artificial, Assigned, AssignedSide, Average, FixedPercent, PassedOut, Played
from terminals.scoring.contract_score import played_score_ns
from terminals.scoring.lines import ResultLine
from terminals.scoring.matchpoints import ONE, Weighted

SideValue = Weighted | Average | FixedPercent | None
"""Outcomes seen from that side; an artificial score; or None where the line gives the side no score."""


@lru_cache(maxsize=8192)
def _plain_pair(score: int) -> tuple[Weighted, Weighted]:
    return ((score, ONE),), ((-score, ONE),)


def line_sides(line: ResultLine) -> tuple[SideValue, SideValue]:
    """North-South's and East-West's value of a line, each seen from its own side (positive is good)."""
    result = line.result
    if isinstance(result, Played):
        vulnerability = vulnerability_of(line.board) if line.vulnerability is None else line.vulnerability
        return _plain_pair(played_score_ns(result, vulnerability))
    if isinstance(result, PassedOut):
        return _plain_pair(0)
    if isinstance(result, Artificial):
        return result.ns, result.ew
    if isinstance(result, Assigned):
        vulnerability = vulnerability_of(line.board) if line.vulnerability is None else line.vulnerability
        return _assigned(result.ns, vulnerability, 1), _assigned(result.ew, vulnerability, -1)
    return None, None


def _assigned(side: AssignedSide, vulnerability: Vulnerability, sign: int) -> SideValue:
    if isinstance(side, (Average, FixedPercent)):
        return side
    outcomes: list[tuple[int, Fraction]] = []
    for outcome in side:
        if isinstance(outcome.result, Played):
            score = played_score_ns(outcome.result, vulnerability)
        elif isinstance(outcome.result, PassedOut):
            score = 0
        else:
            score = outcome.result
        outcomes.append((sign * score, outcome.weight))
    return tuple(outcomes)
