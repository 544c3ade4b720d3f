"""Law 77 against a table written out by hand, for all 2,940 combinations."""

from __future__ import annotations

import itertools

import pytest

from dealer.board import Vulnerability
from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.result import Artificial, Average, NotEntered, NotPlayed, PassedOut, Played, SitOut
from terminals.scoring.contract_score import contract_score, score_ns

# What a contract just made is worth: rows by level 1-7, (not vulnerable, vulnerable) for undoubled, X, XX.
MINOR = [
    ((70, 70), (140, 140), (230, 230)),
    ((90, 90), (180, 180), (560, 760)),
    ((110, 110), (470, 670), (640, 840)),
    ((130, 130), (510, 710), (720, 920)),
    ((400, 600), (550, 750), (800, 1000)),
    ((920, 1370), (1090, 1540), (1380, 1830)),
    ((1440, 2140), (1630, 2330), (1960, 2660)),
]
MAJOR = [
    ((80, 80), (160, 160), (520, 720)),
    ((110, 110), (470, 670), (640, 840)),
    ((140, 140), (530, 730), (760, 960)),
    ((420, 620), (590, 790), (880, 1080)),
    ((450, 650), (650, 850), (1000, 1200)),
    ((980, 1430), (1210, 1660), (1620, 2070)),
    ((1510, 2210), (1770, 2470), (2240, 2940)),
]
NOTRUMP = [
    ((90, 90), (180, 180), (560, 760)),
    ((120, 120), (490, 690), (680, 880)),
    ((400, 600), (550, 750), (800, 1000)),
    ((430, 630), (610, 810), (920, 1120)),
    ((460, 660), (670, 870), (1040, 1240)),
    ((990, 1440), (1230, 1680), (1660, 2110)),
    ((1520, 2220), (1790, 2490), (2280, 2980)),
]
MADE = {
    Strain.CLUBS: MINOR,
    Strain.DIAMONDS: MINOR,
    Strain.HEARTS: MAJOR,
    Strain.SPADES: MAJOR,
    Strain.NOTRUMP: NOTRUMP,
}
OVERTRICK = {Doubling.DOUBLED: (100, 200), Doubling.REDOUBLED: (200, 400)}
# Down 1 to 13, one row for each (doubling, vulnerable).
DOWN = {
    (0, False): [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650],
    (0, True): [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300],
    (1, False): [100, 300, 500, 800, 1100, 1400, 1700, 2000, 2300, 2600, 2900, 3200, 3500],
    (1, True): [200, 500, 800, 1100, 1400, 1700, 2000, 2300, 2600, 2900, 3200, 3500, 3800],
    (2, False): [200, 600, 1000, 1600, 2200, 2800, 3400, 4000, 4600, 5200, 5800, 6400, 7000],
    (2, True): [400, 1000, 1600, 2200, 2800, 3400, 4000, 4600, 5200, 5800, 6400, 7000, 7600],
}


def test_every_contract_and_trick_count_equals_the_table() -> None:
    checked = 0
    for level, strain, doubling, vulnerable, tricks in itertools.product(
        range(1, 8), Strain, Doubling, (False, True), range(14)
    ):
        over = tricks - 6 - level
        if over < 0:
            wanted = -DOWN[int(doubling), vulnerable][-over - 1]
        else:
            wanted = MADE[strain][level - 1][doubling][vulnerable]
            if doubling is Doubling.NONE:
                wanted += over * (20 if strain in (Strain.CLUBS, Strain.DIAMONDS) else 30)
            else:
                wanted += over * OVERTRICK[doubling][vulnerable]
        contract = Contract(level, strain, doubling, Seat.NORTH)
        assert contract_score(contract, tricks, vulnerable) == wanted, (contract, tricks, vulnerable)
        checked += 1
    assert checked == 2940


@pytest.mark.parametrize(
    ("contract", "tricks", "board", "wanted"),
    [
        ("3NT N", 10, 1, 430),
        ("2SX S", 8, 2, 670),
        ("4SX N", 6, 1, -800),
        ("1NTXX N", 6, 2, -400),
        ("7NTXX S", 13, 4, 2980),
        ("3NT E", 9, 3, -600),
        ("3NT E", 8, 3, 100),
        ("4H W", 10, 1, -420),
        ("4H W", 10, 17, -420),  # board 17 is board 1 again
    ],
)
def test_north_south_score_by_board_number(contract: str, tricks: int, board: int, wanted: int) -> None:
    assert score_ns(Played(Contract.parse(contract), tricks), board) == wanted


def test_only_a_result_has_a_score() -> None:
    assert score_ns(PassedOut(), 1) == 0
    for state in (NotPlayed(), NotEntered(), SitOut(), Artificial(Average.PLUS, Average.MINUS)):
        assert score_ns(state, 1) is None


def test_a_wrongly_marked_board_keeps_its_markings() -> None:
    result = Played(Contract.parse("4S N"), 10)
    assert score_ns(result, 1) == 420
    assert score_ns(result, 1, Vulnerability.ALL) == 620


def test_impossible_values_are_refused() -> None:
    with pytest.raises(EntryError):
        Played(Contract.parse("1NT N"), 14)
    with pytest.raises(EntryError):
        Played(Contract.parse("1NT N"), -1)
    with pytest.raises(EntryError):
        Played(Contract.parse("1NT N"), 7, lead=52)
