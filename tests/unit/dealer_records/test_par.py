"""Par: our own against a library's on a thousand deals, and against worked examples."""

from pathlib import Path

import pytest

from dealer.board import Board, Vulnerability
from dealer.cards import Seat
from dealer.deal import Deal
from dealer.records.par import contract_score, par_of, par_of_board

VECTORS = Path(__file__).parents[2] / "vectors" / "par_1000.txt"
MODES = (Vulnerability.NONE, Vulnerability.ALL, Vulnerability.NS, Vulnerability.EW)


def tricks_from(digits):
    return tuple(tuple(int(digit, 16) for digit in digits[4 * strain : 4 * strain + 4]) for strain in range(5))


def test_same_par_as_a_library_on_a_thousand_deals():
    """Each line: 20 hex digits of tricks (S H D C NT by N E S W), then for each vulnerability the library's score for
    North-South with North-South and with East-West to bid first.
    """
    lines = [line for line in VECTORS.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1000
    for line in lines:
        digits, *scores = line.split()
        tricks = tricks_from(digits)
        for mode, pair in zip(MODES, scores, strict=True):
            first_ns, first_ew = (int(score) for score in pair.split("/"))
            assert par_of(tricks, Seat.SOUTH, mode).score == first_ns, line
            assert par_of(tricks, Seat.WEST, mode).score == first_ew, line


@pytest.mark.parametrize(
    ("digits", "mode", "words"),
    [
        ("a3a3d0d0b2b2c1c1c1c1", Vulnerability.NONE, "NS +1510: 7H-NS ="),
        ("9393939367677676a393", Vulnerability.NONE, "NS +430: 3NT-N +1"),
        ("9393939367677676a393", Vulnerability.NS, "NS +630: 4NT-N ="),
        ("94746657767637374949", Vulnerability.NS, "NS -200: 4SX-N -1"),
        ("66666666666666666666", Vulnerability.ALL, "0 (passed out)"),
    ],
)
def test_par_in_words(digits, mode, words):
    assert str(par_of(tricks_from(digits), Seat.NORTH, mode)) == words


def test_who_opens_matters_when_both_sides_make_the_same():
    """Seven tricks in no trump for all four: whoever bids 1NT first has 90."""
    tricks = tricks_from("6666666666666666" + "7777")
    assert par_of(tricks, Seat.NORTH, Vulnerability.NONE).score == 90
    assert par_of(tricks, Seat.EAST, Vulnerability.NONE).score == -90
    assert par_of_board(Board(3, Deal.from_index(0)), tricks).score == 90


@pytest.mark.parametrize(
    ("contract", "score"),
    [
        ((1, 3, False, False, 7), 70),
        ((3, 4, False, True, 10), 630),
        ((4, 0, False, False, 10), 420),
        ((6, 2, False, True, 12), 1370),
        ((7, 4, False, False, 13), 1520),
        ((2, 1, True, False, 8), 470),
        ((1, 4, True, True, 8), 380),
        ((4, 0, True, False, 6), -800),
        ((4, 0, True, False, 5), -1100),
        ((4, 0, True, True, 7), -800),
        ((4, 0, True, False, 9), -100),
        ((4, 0, False, True, 8), -200),
    ],
)
def test_scores_of_law_77(contract, score):
    assert contract_score(*contract) == score
