"""Par: what a board is worth when both sides bid and play without a mistake. Our own code, from tricks alone.

The bidding is solved backwards: whoever holds the highest bid gets its score unless the other side does better with a
higher one of its own. A contract that fails is doubled. Scores by Law 77.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dealer.board import Board, Vulnerability
from dealer.cards import Seat

STRAINS = "SHDCN"
"""Order of strains in a table: spades, hearts, diamonds, clubs, no trump."""
_BY_RANK = (3, 2, 1, 0, 4)
"""Strains in bidding order, lowest first, as places in STRAINS."""

GAME = 300
"""No part-score brings as much, and no game as little."""

Tricks = tuple[tuple[int, ...], ...]
"""tricks[strain][seat]: what a declarer takes, strains in the order of STRAINS, seats N, E, S, W."""


@dataclass(frozen=True, slots=True)
class ParContract:
    """A contract that gives par. declarers: all seats of the side that reach it; result: tricks over or under."""

    level: int
    strain: int
    declarers: tuple[Seat, ...]
    doubled: bool
    result: int

    def __str__(self) -> str:
        name = "NT" if STRAINS[self.strain] == "N" else STRAINS[self.strain]
        who = "".join(seat.letter for seat in self.declarers)
        tail = "=" if self.result == 0 else f"{self.result:+d}"
        return f"{self.level}{name}{'X' if self.doubled else ''}-{who} {tail}"


@dataclass(frozen=True, slots=True)
class Par:
    """Par of a board. score: for North-South; contracts: all that give it, empty when nobody should bid."""

    score: int
    contracts: tuple[ParContract, ...]

    def __str__(self) -> str:
        if not self.contracts:
            return "0 (passed out)"
        side = "NS" if self.contracts[0].declarers[0] in (Seat.NORTH, Seat.SOUTH) else "EW"
        score = self.score if side == "NS" else -self.score
        return f"{side} {score:+d}: {', '.join(map(str, self.contracts))}"


@lru_cache(maxsize=4096)
def contract_score(level: int, strain: int, doubled: bool, vulnerable: bool, tricks: int) -> int:
    """Declarer's score for a contract, Law 77. strain as in STRAINS; never redoubled."""
    over = tricks - level - 6
    if over < 0:
        down = -over
        if not doubled:
            return -down * (100 if vulnerable else 50)
        if vulnerable:
            return 100 - 300 * down
        return -(100, 300, 500)[down - 1] if down <= 3 else 400 - 300 * down
    each = 20 if strain in (2, 3) else 30
    points = (level * each + (10 if strain == 4 else 0)) * (2 if doubled else 1)
    score = points + (500 if vulnerable else 300) if points >= 100 else points + 50
    if level == 6:
        score += 750 if vulnerable else 500
    if level == 7:
        score += 1500 if vulnerable else 1000
    if doubled:
        return score + 50 + over * (200 if vulnerable else 100)
    return score + over * each


def par_of(tricks: Tricks, dealer: Seat, vulnerability: Vulnerability) -> Par:
    """Par with the dealer's side to bid first, and the contracts that give it.

    Where a strain gives par at several levels that the other side has no reason to bid over, a part-score is named at
    the level that it makes, a game or slam at its lowest. A doubled contract is named only where it is bid over a
    contract that would have cost more.
    """
    sides = ((Seat.NORTH, Seat.SOUTH), (Seat.EAST, Seat.WEST))
    vulnerable = tuple(vulnerability.includes(side[0]) for side in sides)
    # score[bid][side]: what the side gets for playing there, bids in rising order
    best: list[tuple[int, int]] = []
    for bid in range(35):
        level, strain = bid // 5 + 1, _BY_RANK[bid % 5]
        best.append(
            (
                _score(level, strain, max(tricks[strain][seat] for seat in sides[0]), vulnerable[0]),
                _score(level, strain, max(tricks[strain][seat] for seat in sides[1]), vulnerable[1]),
            )
        )
    # held[bid][side]: what a side gets in the end when it holds this bid and the other side may go on
    held = [[0, 0] for _ in range(35)]
    highest = [-(10**6), -(10**6)]
    for bid in range(34, -1, -1):
        for side in (0, 1):
            held[bid][side] = min(best[bid][side], -highest[1 - side])
        for side in (0, 1):
            highest[side] = max(highest[side], held[bid][side])
    first = 0 if dealer in sides[0] else 1
    # Four chances to open, the dealer's side first and third; nobody opens for less than passing out gives.
    value = 0
    for turn in (3, 2, 1, 0):
        side = (first + turn) % 2
        value = max(highest[0], value) if side == 0 else min(-highest[1], value)
    contracts = _contracts(value, best, held, tricks, sides, vulnerable)
    return Par(value, contracts)


def _score(level: int, strain: int, tricks: int, vulnerable: bool) -> int:
    return contract_score(level, strain, tricks < level + 6, vulnerable, tricks)


def _contracts(
    value: int,
    best: list[tuple[int, int]],
    held: list[list[int]],
    tricks: Tricks,
    sides: tuple[tuple[Seat, Seat], tuple[Seat, Seat]],
    vulnerable: tuple[bool, ...],
) -> tuple[ParContract, ...]:
    if value == 0:
        return ()
    winner = 0 if value > 0 else 1
    worth = abs(value)
    making: dict[int, ParContract] = {}
    sacrifices: dict[int, ParContract] = {}
    # A sacrifice is one over every contract that would bring the winner more.
    over = max((bid for bid in range(35) if best[bid][winner] > worth), default=35)
    # A contract that makes must not be one that the other side does better to bid over.
    safe = max((bid for bid in range(35) if best[bid][1 - winner] > -worth), default=-1)
    for bid in range(35):
        level, strain = bid // 5 + 1, _BY_RANK[bid % 5]
        for side, wanted in ((winner, worth), (1 - winner, -worth)):
            if best[bid][side] != wanted or held[bid][side] != wanted or bid < (safe if side == winner else over):
                continue
            declarers = tuple(
                seat for seat in sides[side] if _score(level, strain, tricks[strain][seat], vulnerable[side]) == wanted
            )
            result = tricks[strain][declarers[0]] - level - 6
            contract = ParContract(level, strain, declarers, result < 0, result)
            if side != winner:
                sacrifices.setdefault(strain, contract)
            elif worth < GAME:
                making[strain] = contract
            else:
                making.setdefault(strain, contract)
    return tuple((sacrifices or making).values())


def par_of_board(board: Board, tricks: Tricks) -> Par:
    """Par of a numbered board."""
    return par_of(tricks, board.dealer, board.vulnerability)
