"""Teaching sets: conditions are met by an independent count, the rate is honest, and what fits is not arranged."""

import pytest

from dealer.cards import Seat
from dealer.constraints import constrained_set, parse_condition
from dealer.deal import Deal
from dealer.generate import Origin, SeededBytes, generate
from firmware_bridge.errors import ConfigError


def points(deal: Deal, seat: Seat) -> int:
    return sum({0: 4, 1: 3, 2: 2, 3: 1}.get(card % 13, 0) for card in deal.hand(seat))


def shape(deal: Deal, seat: Seat) -> str:
    return "".join(map(str, sorted((len(deal.holding(seat, suit)) for suit in range(4)), reverse=True)))


def test_conditions_are_met():
    conditions = ["N hcp 15-17", "N shape 4333|4432|5332", "s spades 5+", "EW hcp 12+"]
    deals, rate = constrained_set(range(1, 9), conditions)
    assert deals.origin is Origin.CONSTRAINED
    assert [board.number for board in deals.boards] == list(range(1, 9))
    assert rate.startswith("Accepted 8 of ")
    for board in deals.boards:
        deal = board.deal
        assert 15 <= points(deal, Seat.NORTH) <= 17
        assert shape(deal, Seat.NORTH) in ("4333", "4432", "5332")
        assert len(deal.holding(Seat.SOUTH, 0)) >= 5
        assert points(deal, Seat.EAST) + points(deal, Seat.WEST) >= 12


def test_same_deals_as_leaving_out_by_hand():
    """Honest rejection: the boards are exactly the ones of the plain stream that fit, in order."""
    deals, rate = constrained_set(range(1, 21), ["N balanced"], seed=3)
    plain = [b.deal for b in generate(range(1, 200), SeededBytes(3))]
    fitting = [deal for deal in plain if shape(deal, Seat.NORTH) in ("4333", "4432", "5332")]
    assert [board.deal for board in deals.boards] == fitting[:20]
    assert rate.startswith(f"Accepted 20 of {plain.index(fitting[19]) + 1} deals")
    assert deals.not_for_play


@pytest.mark.parametrize(
    "text",
    ["", "N", "N hcp", "X hcp 3", "N hcp 17-15", "N hcp 38", "N shape 5333", "N shape", "NS shape 4333", "N balanced 3",
     "N spades 14", "N hearts -3", "N kings 4", "NS balanced", "N hcp 15-17 extra"],
)  # fmt: skip
def test_what_is_no_condition(text):
    with pytest.raises(ConfigError):
        parse_condition(text)


def test_command_prints_the_rate_and_marks_the_set(tmp_path, capsys):
    from firmware_bridge.cli.main import main

    out = tmp_path / "a.pbn"
    words = ["deal", "generate", "--boards", "1-4", "--require", "N hcp 12+", "--out", str(out)]
    assert main([*words, "--data", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Accepted 4 of" in said
    assert "constrained" in said
    assert "constrained" in out.read_text()
