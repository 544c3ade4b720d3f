"""Values that hold cards of an unplayed board do not show them when somebody prints them."""

import pytest

from drivers.api import Armed, CardPassed, CardRead, JobReport, MachineStateCode

HOLDING_CARDS = [
    Armed(1, 2, 3, bytes(range(40, 53)), b"12345678"),
    CardRead(raw=777, best=41, runner_up=42, margin=3),
    CardPassed(1, 2, 777, 41, 42, 3, 41, 42, 1.5, 10, 11, 12),
    JobReport(1, True, MachineStateCode.STOPPED, ((41, 2), (42, 3))),
]


@pytest.mark.parametrize("value", HOLDING_CARDS, ids=lambda value: type(value).__name__)
def test_no_repr_tells_a_card(value):
    for text in (repr(value), str(value), f"{value}", f"{[value]}"):
        assert not any(card in text for card in ("41", "42", "777", "()*+", "\\x29"))
