"""Which scores a board can have at all (Law 77, read from the 2007 edition). Pure.

A typed score that no contract gives is a slip.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from dealer.board import Vulnerability
from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.scoring.contract_score import contract_score


@cache
def scores_of_side(vulnerable: bool) -> frozenset[int]:
    """Everything that declarer's side can score, from its own side."""
    contracts = (Contract(*one, Seat.NORTH) for one in product(range(1, 8), Strain, Doubling))
    return frozenset(contract_score(one, tricks, vulnerable) for one in contracts for tricks in range(14))


@cache
def possible_scores(vulnerability: Vulnerability | None = None) -> frozenset[int]:
    """Scores of a board from North-South's side, passed out included; None: whatever its vulnerability is."""
    ways = list(Vulnerability) if vulnerability is None else [vulnerability]
    out = {0}
    for one in ways:
        out |= scores_of_side(one.includes(Seat.NORTH))
        out |= {-score for score in scores_of_side(one.includes(Seat.EAST))}
    return frozenset(out)
