"""The sorter's rotor and its time limits, in virtual time, against a simple rotor that turns while its motor is on."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from drivers.gpio_machine.settings import parse_settings
from drivers.gpio_machine.sorter import AtReader, Phase, Placed, ReadyForNext, Sorter, Trouble, TurnChecked
from firmware_bridge.wire.numbers import Fault, Segment

STEP = 0.001

FILE = {
    "machine": {"sorter": "rotor", "pocket_order": "NWSE", "double_feed": 1.5},
    "outputs": {"feeder": 1, "transport": 2, "rotor": 3},
    "inputs": {"reader_beam": 4, "board": 5, "cover": 6, "rotor_index": 7, "rotor_home": 8},
    "timings": {
        "card": 50,
        "settle": 2,
        "aim": 2,
        "rotor_step": 60,
        "feed_limit": 40,
        "beam": 10,
        "beam_limit": 50,
        "travel": 10,
    },
    "reader": {"call": "x:y"},
}


class Rotor:
    """Four places of 40 ms each; the index beam is free for the middle tenth of each, home at the first."""

    def __init__(self, place=0.5, slow=False):
        content = {**FILE, "timings": {**FILE["timings"], "rotor_step": 1000 if slow else 60}}
        self.angle = place
        self.stuck = self.home_dead = False
        self.blind = set()
        self.fed = 0.0
        self.card = False
        self.moved = 0.0
        self.under = []
        self.level = {}
        self.now = 50.0
        self.sorter = Sorter(parse_settings(content, Path("/nowhere")), lambda name: self.level.get(name, False))

    def senses(self):
        near = abs(self.angle % 1 - 0.5) < 0.05
        place = int(self.angle) % 4
        return {
            "reader_beam": self.card,
            "rotor_index": near and place not in self.blind,
            "rotor_home": abs(self.angle - 0.5) < 0.15 and not self.home_dead,
        }

    def step(self):
        self.now += STEP
        on = self.sorter.outputs
        if on["rotor"] and not self.stuck:
            self.angle = (self.angle + STEP / 0.040) % 4
        if on["feeder"] and not self.card:
            self.fed += STEP
            if self.fed > 0.008:
                self.card, self.fed, self.moved = True, 0.0, 0.0
        if on["transport"] and self.card:
            self.moved += STEP
            if self.moved > 0.010:
                self.card = False
                self.under.append(int(self.angle) % 4)
        before, self.level = self.level, self.senses()
        for name, active in self.level.items():
            if before.get(name, False) != active:
                self.sorter.changed(name, active, self.now)
        self.sorter.tick(self.now)

    def until(self, *kinds, seconds=3):
        end = self.now + seconds
        while self.now < end:
            while self.sorter.events:
                event = self.sorter.events.popleft()
                if isinstance(event, kinds):
                    return event
            self.step()
        raise AssertionError(f"nothing within {seconds} s, phase {self.sorter.phase}")

    def deal(self, pocket):
        self.sorter.feed(self.now)
        self.until(AtReader)
        self.sorter.send_to(pocket, self.now)
        return self.until(Placed, Trouble)


@pytest.mark.parametrize("start", [0.5, 0.9, 1.5, 2.2, 3.5, 3.99])
def test_the_rotor_finds_home_from_anywhere_and_brings_every_pocket_under_the_card(start):
    rotor = Rotor(start)
    order = "NWSE"
    rng = random.Random(start)
    for _ in range(30):
        pocket = rng.randrange(4)
        assert isinstance(rotor.deal(pocket), Placed)
        assert order[rotor.under[-1]] == "NESW"[pocket]
        rotor.until(ReadyForNext)
        assert not any(rotor.sorter.outputs.values())


def test_a_stuck_rotor_stops_within_its_limit():
    rotor = Rotor()
    rotor.stuck = True
    told = rotor.deal(2)
    assert (told.fault, told.segment, told.in_flight) == (Fault.GATE, Segment.GATES, 1)
    assert not any(rotor.sorter.outputs.values())


def test_a_place_that_is_missed_is_noticed_before_a_card_falls():
    rotor = Rotor()
    assert isinstance(rotor.deal(0), Placed)
    rotor.until(ReadyForNext)
    rotor.blind = {2}
    told = rotor.deal(2)
    assert isinstance(told, Trouble)
    assert (told.fault, told.in_flight) == (Fault.GATE, 1)
    assert len(rotor.under) == 1


@pytest.mark.parametrize("missed", [1, 2, 3])
def test_where_places_are_only_counted_a_last_turn_proves_the_count(missed):
    """With a step limit too long to notice the gap, the wrong place is found out when the rotor comes home."""
    rotor = Rotor(slow=True)
    assert isinstance(rotor.deal(0), Placed)
    rotor.until(ReadyForNext)
    assert rotor.sorter.places_unseen
    rotor.sorter.check_turn(rotor.now)
    assert isinstance(rotor.until(TurnChecked, Trouble), TurnChecked)
    rotor.blind = {missed}
    outcome = rotor.deal("NESW".index("NWSE"[missed]))
    if isinstance(outcome, Placed):
        rotor.until(ReadyForNext)
        rotor.blind = set()
        rotor.sorter.check_turn(rotor.now)
        outcome = rotor.until(TurnChecked, Trouble)
    assert isinstance(outcome, Trouble)
    assert outcome.fault == Fault.GATE


def test_a_home_that_is_never_seen_does_not_turn_the_rotor_for_ever():
    rotor = Rotor()
    rotor.home_dead = True
    told = rotor.deal(1)
    assert (told.fault, told.segment) == (Fault.SENSOR, Segment.GATES)
    assert not any(rotor.sorter.outputs.values())


def test_cards_keep_the_pace_of_the_file():
    rotor = Rotor()
    rotor.deal(0)
    rotor.until(ReadyForNext)
    moments = []
    for _ in range(5):
        moments.append(rotor.now)
        rotor.deal(0)
        rotor.until(ReadyForNext)
    assert all(later - earlier >= 0.050 - 1e-9 for earlier, later in pairwise(moments))


def test_halting_stops_in_every_phase_and_counts_the_card_on_the_way():
    seen = set()
    for steps in range(260):
        rotor = Rotor(3.0)
        rotor.sorter.feed(rotor.now)
        for _ in range(steps):
            rotor.step()
            if rotor.sorter.events and isinstance(rotor.sorter.events[0], AtReader):
                rotor.sorter.events.popleft()
                rotor.sorter.send_to(3, rotor.now)
        phase = rotor.sorter.phase
        seen.add(phase)
        if phase in (Phase.SETTLING, Phase.READING, Phase.AIMING, Phase.MOVING, Phase.EXITING):
            assert rotor.sorter.in_flight == 1
        rotor.sorter.halt()
        assert not any(rotor.sorter.outputs.values())
        assert rotor.sorter.next_deadline() is None
    assert {Phase.FEEDING, Phase.SETTLING, Phase.AIMING, Phase.MOVING, Phase.EXITING} <= seen
