"""Each fault of the simulated room, alone: it strikes, the job says what it is, and no wrong board is called good."""

from __future__ import annotations

import pytest

from firmware_bridge.simulation.dealing_faults import PROFILES, Rates
from firmware_bridge.simulation.dealing_judge import COPIES, Facts, excuse_for
from firmware_bridge.simulation.soak_dealing import SoakOptions, SoakResult, soak
from hwsim.machine.faults import parse_fault
from hwsim.machine.mechanics import Passage
from hwsim.machine.profile import PROFILES as MACHINES
from hwsim.numbers import Capability

CURED_ON_PINS = {"smudge", "misfeed"}
"""The reader on pins looks several times, and the feeder tries again."""

BY_CARD: dict[str, tuple[str, str]] = {
    "damaged cards": ("scuff", "low-margin"),
    "dirty optics": ("dirty-optics", "low-margin"),
    "sunlight": ("sunlight,for=30", "unreadable"),
    "unreadable card": ("unreadable", "unreadable"),
    "doubtful card": ("smudge", "low-margin"),
    "misread card": ("misread", "duplicate-card"),
    "double feed": ("double-feed", "long-beam"),
    "misfeed": ("misfeed,for=5", "machine-fault"),
    "jam": ("jam", "hands-inside"),
    "stuck gate": ("gate-stuck,for=5", "exit-disagrees"),
    "sensor noise": ("exit-noise", "wrong-pocket"),
    "board pulled early": ("pull", "pulled"),
    "cover opened": ("cover", "machine-fault"),
    "link drop": ("unplug,for=2", "link-lost"),
    "power cut": ("power-cut", "link-lost"),
    "power cut between two cards": ("power-cut,after=0.05", "link-lost"),
    "power cut while writing": ("torn-write", "link-lost"),
    "firmware restart": ("firmware-restart", "link-lost"),
}
"""What strikes in the machine at a card: how it is written, and what the job says of it."""

BY_PEOPLE: dict[str, tuple[Rates, str, str]] = {
    "worn cards": (Rates(smudge=1.5e-2), "worn", "low-margin"),
    "wrong pack": (Rates(wrong_pack=0.5), "wrong-pack", "wrong-pack"),
    "joker": (Rates(pack_joker=0.5), "pack-joker", "joker"),
    "51 cards": (Rates(pack_short=0.5), "pack-short", "machine-fault"),
    "a card of another pack": (Rates(pack_mixed=0.5), "pack-mixed", "duplicate-card"),
    "packs mixed": (Rates(packs_exchanged=0.5), "packs-exchanged", "wrong-pack"),
    "no stop card": (Rates(no_stop_card=0.5), "no-stop-card", "wrong-pack"),
    "board turned": (Rates(turned=0.5), "turned", "turned"),
    "wrong board": (Rates(wrong_board=0.5), "wrong-board", "wrong-board"),
    "a card in a wrong pocket": (Rates(jam=1.5e-2, wrong_pocket=0.5), "wrong-pocket", "read-back-differs"),
}
"""What people and packs do, by a rate: what strikes, and what the job says of it."""


def made(rates: Rates, **options: object) -> SoakResult:
    return soak(SoakOptions(faults=rates, **{"boards": 5, "seed": 2, **options}))  # type: ignore[arg-type]


def struck(name: str, **options: object) -> SoakResult:
    """Two boards, with the fault in the middle of the first."""
    kind, *more = BY_CARD[name][0].split(",")
    strikes = tuple(parse_fault(",".join([f"{kind}@{card}", *more])) for card in (15, 30))
    return made(Rates(), strikes=strikes, **{"boards": 2, **options})


def caught(result: SoakResult, kind: str, reason: str) -> None:
    assert result.faults.get(kind, 0) > 0
    assert result.reasons.get(reason, 0) > 0, result.reasons
    assert result.wrong_good == result.wrong_undetectable == 0
    assert result.boards == result.good + result.unconfirmed + result.failed


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR")


@pytest.mark.parametrize("name", BY_CARD)
def test_each_fault_of_the_machine_strikes_is_told_and_makes_no_wrong_board_good(name: str) -> None:
    written, reason = BY_CARD[name]
    result = struck(name)
    caught(result, written.split(",")[0], reason)
    assert result.good == 2


@pytest.mark.parametrize("name", BY_PEOPLE)
def test_each_mistake_of_people_strikes_is_told_and_makes_no_wrong_board_good(name: str) -> None:
    rates, kind, reason = BY_PEOPLE[name]
    caught(made(rates), kind, reason)


@pytest.mark.parametrize("name", sorted(set(BY_CARD) - {"damaged cards", "misread card", "sunlight"}))
def test_faults_of_the_machine_strike_on_pins_as_well(name: str) -> None:
    kind = BY_CARD[name][0].split(",")[0]
    result = struck(name, carrier="gpio", boards=1)
    assert result.faults.get(kind, 0) > 0
    assert result.attempts > 1 or result.stops > 0 or kind in CURED_ON_PINS
    assert (result.good, result.wrong_good, result.wrong_undetectable) == (1, 0, 0)


def test_byte_errors_cost_nothing_but_time() -> None:
    for carrier in ("serial", "usb"):
        result = made(Rates(byte_error=1e-3), carrier=carrier)
        assert (result.good, result.redeals, result.wrong_good) == (5, 0, 0)


def test_dirt_makes_margins_small_and_cards_slow_until_somebody_cleans() -> None:
    result = made(Rates(dirt=300.0))
    assert result.reasons["low-margin"] > 0
    assert result.good == 5


def test_with_the_weak_code_two_damaged_cards_change_places_and_nobody_can_tell() -> None:
    weak = struck("damaged cards", code="weak", boards=4)
    assert weak.wrong_good == 0
    assert weak.wrong_undetectable > 0
    assert list(weak.excuses) == ["two cards were each taken for the other without any doubt"]
    assert struck("damaged cards", code="strong", boards=4).wrong_undetectable == 0


def test_a_full_copy_put_in_again_is_seen_by_nobody_and_spoils_these_copies_only() -> None:
    result = made(Rates(another_copy=0.2), boards=38)
    struck_at = result.faults["another-copy"]
    assert result.wrong_good == 0
    assert struck_at <= result.wrong_undetectable <= 2 * struck_at
    assert set(result.excuses) == {COPIES}


def test_every_rate_has_a_fault_here_or_in_the_list_below() -> None:
    here = {kind.split(",")[0].replace("-", "_") for kind, _ in BY_CARD.values()}
    here |= {name for rates, _, _ in BY_PEOPLE.values() for name in Rates.__slots__ if getattr(rates, name)}
    elsewhere = {"byte_error", "dirt", "no_key", "blind_key", "moved_after", "leftover", "sticky", "host_restart"}
    elsewhere |= {"another_copy"}
    assert here | elsewhere == set(Rates.__slots__)
    harsh = PROFILES["harsh"]
    assert {name for name in Rates.__slots__ if not getattr(harsh, name)} == {"leftover", "sticky", "another_copy"}


# --- the closed list ---------------------------------------------------------------------------------------------

WANTED = [list(range(seat * 13, seat * 13 + 13)) for seat in range(4)]
DIY = MACHINES["diy"].capabilities & ~Capability.EXIT
FULL = MACHINES["fast"].capabilities


def facts(*moves: tuple[int, int], **more: object) -> Facts:
    """The wanted board, but each (card, seat) lies at that seat; all cards came there by the machine."""
    pockets = [list(hand) for hand in WANTED]
    for card, seat in moves:
        next(pocket for pocket in pockets if card in pocket).remove(card)
        pockets[seat].append(card)
    passed = {card: Passage((card,), card, 0, seat, False) for seat, hand in enumerate(pockets) for card in hand}
    passed |= more.pop("passed", {})  # type: ignore[operator]
    return Facts(pockets, passed=passed, **more)  # type: ignore[arg-type]


def excuse(found: Facts, capabilities: int = DIY, *, same_number: bool = True) -> str | None:
    return excuse_for(found, WANTED, capabilities, same_number=same_number)


def test_what_is_wrong_without_a_cause_on_the_list_is_not_excused() -> None:
    assert excuse(facts((0, 1))) is None
    assert excuse(facts((0, 1), (13, 0))) is None
    assert excuse(facts(), same_number=False) is None


def test_a_stuck_gate_excuses_its_own_card_only_and_only_where_no_exit_sensor_is() -> None:
    stuck = {0: Passage((0,), 0, 0, 2, True)}
    assert "deflector" in str(excuse(facts((0, 2), passed=stuck)))
    assert excuse(facts((0, 2), passed=stuck), FULL) is None
    assert excuse(facts((0, 3), passed=stuck)) is None, "it did not go where the stuck gate sent it"
    assert excuse(facts((0, 2), (20, 3), passed=stuck)) is None, "another card is wrong as well, without any cause"


def test_misreads_excuse_only_cards_that_changed_places() -> None:
    each = {0: Passage((0,), 13, 1, 1, False), 13: Passage((13,), 0, 0, 0, False)}
    assert "each taken" in str(excuse(facts((0, 1), (13, 0), passed=each), FULL))
    one = {0: Passage((0,), 13, 1, 1, False)}
    assert excuse(facts((0, 1), passed=one), FULL) is None
    together = {0: Passage((0, 13), 13, 1, 1, False), 13: Passage((0, 13), 13, 1, 1, False)}
    assert excuse(facts((0, 1), (13, 1), passed=together), FULL) is None


def test_a_card_left_in_the_board_excuses_itself_and_nothing_else() -> None:
    left = 5001 << 6
    board = facts()
    board.pockets[2].append(left)
    assert "left in the board" in str(excuse(Facts(board.pockets, passed=board.passed, left={left})))
    assert excuse(board) is None
    board.pockets[0].remove(0)
    assert excuse(Facts(board.pockets, passed=board.passed, left={left})) is None, "and a card is missing"


def test_a_turned_board_is_excused_only_where_nobody_sees_it_and_only_as_far_as_it_is_turned() -> None:
    turned = [WANTED[1], WANTED[2], WANTED[3], WANTED[0]]
    passed = facts().passed
    assert "turned" in str(excuse(Facts(turned, turned=1, passed=passed)))
    assert excuse(Facts(turned, turned=2, passed=passed)) is None
    assert excuse(Facts(turned, turned=1, passed=passed), FULL) is None


def test_another_board_is_excused_only_if_it_was_confirmed_blindly_and_its_label_is_not_read() -> None:
    dealt = set(range(52))
    assert "confirmed" in str(excuse(facts(blind=True, attempt=dealt), same_number=False))
    assert excuse(facts(blind=True, attempt=dealt), FULL, same_number=False) is None
    wrong = facts((0, 1), blind=True, attempt=dealt)
    assert excuse(wrong, same_number=False) is None, "and its cards are wrong as well"
    full = facts(blind=True, attempt=dealt)
    for seat, cards in enumerate(full.pockets):
        cards += [card + 64 for card in WANTED[3 - seat]]  # it was a good board before
    assert "confirmed" in str(excuse(full, same_number=False))


def test_another_copy_is_excused_with_the_cards_that_came_for_this_one_only() -> None:
    full = facts(again=True, attempt=set(range(52)))
    for seat, cards in enumerate(full.pockets):
        cards += [card + 64 for card in WANTED[seat]]  # the copy that lay in it
    assert excuse(full, FULL) == COPIES
    assert excuse(facts((0, 1), again=True, attempt=set(range(52))), FULL) is None


def test_a_board_dealt_into_for_another_is_excused_if_its_own_cards_are_right_or_were_all_taken_out() -> None:
    board = facts()
    for seat, cards in enumerate(board.pockets):
        cards += [card + 64 for card in WANTED[3 - seat]]
    others = {card + 64 for card in range(52)}
    spoilt = Facts(board.pockets, passed=board.passed, spoilt=others)
    assert "once more" in str(excuse(spoilt))
    assert excuse(spoilt, FULL) is None
    assert "once more" in str(excuse(Facts([[], [], [], []], spoilt=others)))
    board.pockets[1].append(board.pockets[0].pop(0))
    assert excuse(spoilt) is None


def test_a_hand_after_the_end_excuses_what_it_moved() -> None:
    assert "by hand" in str(excuse(facts((0, 1), moved={0}), FULL))
    assert excuse(facts((0, 1), (20, 3), moved={0}), FULL) is None
