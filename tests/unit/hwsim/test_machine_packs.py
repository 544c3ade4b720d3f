"""Packs as things: backs, a stop card between two packs, wear and dirt, and codes that can and can't be told apart."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hwsim_host import Dealer, connect

from hwsim.evidence import Evidence
from hwsim.machine.device import Machine
from hwsim.machine.faults import parse_fault
from hwsim.machine.pack import CODE_BOOKS, STOP_CARD, STRONG, WEAK, back_of, face, new_pack
from hwsim.machine.profile import PROFILES
from hwsim.machine.world import World
from hwsim.memory import Log, Media, Medium
from hwsim.numbers import UNKNOWN, Action, BackColour, Capability, FaultCode, Hopper, Kind, Outcome, Reason, State
from hwsim.speeds import SPEEDS


def machine(*faults: str, **options: object) -> Machine:
    options.setdefault("chance", random.Random(5))
    planned = [parse_fault(text) for text in faults]
    return Machine(Media(), 0.0, seed=3, speed=SPEEDS["demo"], faults=planned, **options)  # type: ignore[arg-type]


def begin(device: Machine, board: int) -> Dealer:
    dealer = Dealer(*connect(device))
    again(dealer, board)
    return dealer


def again(dealer: Dealer, board: int) -> None:
    """Have a board put in and start it."""
    dealer.display(Action.INSERT_BOARD, board, 1)
    dealer.world.run_until(lambda: any(f["seated"] and f["label"] == board for f in dealer.host.all(Kind.BOARD)[-1:]))
    dealer.arm(board, 1, board)
    assert dealer.start(board, 1, board)["outcome"] == Outcome.DONE


def colours(dealer: Dealer) -> list[int]:
    return [fields["colour"] for fields in dealer.host.all(Kind.PACK)]


@pytest.mark.parametrize(("board", "colour"), [(3, BackColour.RED), (4, BackColour.BLUE)])
def test_red_packs_go_into_odd_boards_and_blue_ones_into_even_ones(board: int, colour: int) -> None:
    dealer = begin(machine(), board)
    dealer.wait(Kind.DONE)
    assert colours(dealer) == [BackColour.NONE, colour, BackColour.NONE]


def test_two_packs_and_a_stop_card_make_two_boards() -> None:
    device = machine(two_packs=True)
    dealer = begin(device, 3)
    dealer.wait(Kind.DONE)
    assert [f["hopper"] for f in dealer.host.all(Kind.HOPPER)] == [Hopper.LOADED, Hopper.STOP_CARD]
    assert len(device.world.hopper) == 53
    device.pull()
    device.insert((9, 1))
    dealer.arm(9, 1, 9)
    assert dealer.start(9, 1, 9)["reason"] == Reason.HOPPER_EMPTY  # what lies on top is no pack
    dealer.command(Kind.ABORT, job_id=9)
    dealer.display(Action.REMOVE_BOARD, 3, 1)
    dealer.wait(Kind.BOARD)
    again(dealer, 4)
    dealer.wait(Kind.DONE)
    assert colours(dealer) == [BackColour.NONE, BackColour.RED, BackColour.NONE, BackColour.BLUE, BackColour.NONE]
    assert not device.world.hopper


def test_a_stop_card_is_never_fed_so_51_cards_above_it_are_too_few() -> None:
    device = machine(operator=False)
    dealer = Dealer(*connect(device))
    device.world.do("new_pack", 0)
    device.world.do("new_pack", 1)
    device.load(new_pack(0)[:51])
    device.add_stop_card()
    device.load(new_pack(1))
    device.insert((1, 1))
    dealer.arm(1, 1, 1)
    assert dealer.start(1, 1, 1)["outcome"] == Outcome.DONE
    kind, _, fields = dealer.wait(Kind.FAULT, Kind.DONE)
    assert (kind, fields["fault"]) == (Kind.FAULT, FaultCode.HOPPER_EMPTY)
    assert device.world.hopper[0] == STOP_CARD


def test_one_card_of_the_other_pack_is_told_before_it_is_fed() -> None:
    device = machine(operator=False)
    dealer = Dealer(*connect(device))
    device.world.do("new_pack", 0)
    device.world.do("new_pack", 1)
    device.load(new_pack(0))
    stranger = next(card for card in new_pack(1) if face(card) == face(device.world.hopper[20]))
    device.world.hopper[20] = stranger
    device.insert((1, 1))
    dealer.arm(1, 1, 1)
    dealer.start(1, 1, 1)
    dealer.wait(Kind.DONE)
    red, blue, none = BackColour.RED, BackColour.BLUE, BackColour.NONE
    assert colours(dealer) == [none, red, blue, red, none]


def test_a_machine_without_the_sensor_says_nothing_of_backs() -> None:
    dealer = begin(machine(profile=PROFILES["fast"].without(Capability.PACK_COLOUR)), 4)
    dealer.wait(Kind.DONE)
    assert colours(dealer) == []


def test_the_pack_is_changed_when_the_display_asks_for_it() -> None:
    device = machine(operator=True)
    dealer = Dealer(*connect(device))
    dealer.display(Action.LOAD_PACK, 4, 1)
    dealer.world.run(1.0)
    assert back_of(device.world.hopper[0]) == BackColour.BLUE
    dealer.display(Action.CHANGE_PACK, 5, 1)
    dealer.world.run(1.0)
    assert {back_of(card) for card in device.world.hopper} == {BackColour.RED}
    assert len(device.world.hopper) == 52
    # It is done again if it was done wrong, though the machine is armed by now.
    dealer.arm(5, 1, 5)
    device.world.do("unload")
    device.world.do("new_pack", 1)
    device.load(new_pack(device.world.packs - 1))
    dealer.display(Action.CHANGE_PACK, 5, 1)
    dealer.world.run(8.0)
    assert {back_of(card) for card in device.world.hopper} == {BackColour.RED}


def test_cards_that_strayed_are_found_among_those_of_another_pack() -> None:
    world = World(Log(Medium(), Medium()))
    world.do("new_pack")
    world.do("new_pack")
    world.do("stray", 5, 1)
    world.do("stray", 64 + 9, 0)
    heaps = world.heaps()
    assert [len(cards) for cards in heaps.values()] == [52, 52]
    assert 5 in heaps[1]
    assert world.heap_of(64 + 9) == 0
    world.do("stray", 5, 0)
    assert world.heap_of(5) == 0


def test_the_weak_code_has_no_distance_and_the_strong_one_three() -> None:
    assert len(set(WEAK.words)) == 52
    assert len(WEAK.neighbours()) == 47
    assert STRONG.neighbours() == []
    for card in range(52):
        assert WEAK.read(WEAK.word(card)).best == card
    one, other = WEAK.neighbours()[0]
    damaged = WEAK.word(one) ^ (WEAK.word(one) ^ WEAK.word(other))
    assert (WEAK.read(damaged).best, WEAK.read(damaged).margin >= 150) == (other, True)
    valid = sum(WEAK.read(word ^ 1 << module).best != UNKNOWN for word in WEAK.words for module in range(9))
    assert valid == 94  # of 468 single damages: one in five makes another card
    assert WEAK.read(WEAK.word(52)).best == UNKNOWN  # a joker carries no code


@pytest.mark.parametrize(("code", "outcome"), [("strong", Kind.FAULT), ("weak", Kind.DONE)])
def test_a_scuffed_pair_is_doubtful_in_one_code_and_another_card_in_the_other(code: str, outcome: int) -> None:
    device = machine(profile=replace(PROFILES["fast"], code=code))
    book = CODE_BOOKS[code]
    one, other = WEAK.neighbours()[0]
    module = (WEAK.word(one) ^ WEAK.word(other)).bit_length() - 1
    device.world.do("new_pack", 0)
    for card in (one, other):
        device.world.do("scuff", card, module % book.modules)
    dealer = begin(device, 1)
    kind, _, _ = dealer.wait(Kind.FAULT, Kind.DONE)
    assert kind == outcome


def test_a_fingerprint_stays_until_somebody_cleans_and_the_sun_goes_by_itself() -> None:
    device = machine("dirty-optics@5")
    dealer = begin(device, 1)
    assert dealer.wait(Kind.FAULT)[2]["fault"] == FaultCode.UNREADABLE
    assert device.world.smeared
    dealer.display(Action.COLLECT_CARDS, 1, 1)
    dealer.world.run(2.0)
    assert device.world.smeared
    dealer.display(Action.REPLACE_PACK, 1, 1)
    dealer.world.run(3.0)
    assert not device.world.smeared
    device = machine("sunlight@5,for=3")
    dealer = begin(device, 1)
    dealer.wait(Kind.FAULT, Kind.DONE)
    margins = [f["margin"] for f in dealer.host.all(Kind.CARD)]
    assert max(margins[4:7]) < min(margins[:4])


def test_an_exit_sensor_that_errs_stops_the_machine_though_the_card_lies_right() -> None:
    device = machine("exit-noise@9")
    dealer = begin(device, 1)
    assert dealer.wait(Kind.FAULT, Kind.DONE)[2]["fault"] == FaultCode.GATE
    plan = dealer.plans[1, 1]
    lying = {face(card): seat for seat, cards in enumerate(device.world.boards[1, 1]) for card in cards}
    assert all(plan[card] == seat for card, seat in lying.items())


@pytest.mark.parametrize("fault", ["firmware-restart@20", "torn-write@20,after=7", "power-cut@20,after=0.01"])
def test_the_program_that_starts_anew_has_its_memory_and_no_job(fault: str) -> None:
    evidence = Evidence()
    device = machine(fault, evidence=evidence)
    dealer = begin(device, 1)
    before = device.firmware
    dealer.world.run_until(lambda: device.firmware is not None and device.firmware is not before)
    firmware = device.firmware
    assert firmware is not None
    assert before is not None
    assert firmware.state == State.IDLE
    assert firmware.boot_id != before.boot_id
    assert firmware.nv.boot_count == 2
    assert firmware.nv.jobs[1].state == State.STOPPED
    assert [f["kind"] for f in evidence.lines["faults"]] == [fault.split("@")[0]]
