"""The score that is kept up to date a result at a time equals the one that is worked out as a whole."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from firmware_bridge.service.ranking_live import LiveScore
from terminals.movement.catalog import build
from terminals.result import Artificial, Assigned, Average, BoardState, NotPlayed, Outcome, PassedOut
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.rulings import Ruling, RulingState
from terminals.scoring.scheme import Scheme
from terminals.settings import EventSettings
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.conditions import Conditions
from terminals.sync.event_score import EventScore, score_event
from terminals.sync.ruling_log import Kept
from terminals.sync.setup import EventSetup, new_event

SETUPS = [
    new_event(1, "two sections", {1: build("mitchell:3x1"), 2: build("howell:2x2")}, EventSettings()),
    new_event(2, "across", {1: build("mitchell:3x2"), 2: build("mitchell:3x2")}, EventSettings(across=True)),
    new_event(3, "teams", {1: build("round-robin:4x2")}, EventSettings()),
    new_event(4, "Swiss", {1: build("swiss-pairs:6x6")}, EventSettings()),
    new_event(5, "individual", {1: build("individual:8x2")}, EventSettings()),
    new_event(6, "later", {1: build("mitchell:3x2"), 2: None}, EventSettings()),
]


def row(play: PlayKey, content: BoardState | None) -> CurrentResult:
    return CurrentResult(play, content, PlayStatus.ENTERED, (), (), False, 0, 1, 1, 1, 1)


def state(dice: random.Random) -> BoardState | None:
    kind = dice.randrange(12)
    if kind == 0:
        return None
    if kind == 1:
        return Artificial(dice.choice(list(Average)), dice.choice(list(Average)))
    if kind == 2:
        return NotPlayed()
    if kind == 3:
        return PassedOut()
    if kind == 4:
        third = Fraction(1, 3)
        two = (Outcome(50 * dice.randint(-9, 9), third), Outcome(-50, 2 * third))
        return Assigned(two, (Outcome(50),))
    side = (Outcome(50 * dice.randint(-9, 9)),)
    return Assigned(side, side)


def plays_of(setup: EventSetup, dice: random.Random) -> PlayKey:
    section = dice.choice(setup.sections)
    movement = section.movement or setup.sections[0].movement
    assert movement is not None
    seating = dice.choice(movement.seatings)
    board = dice.choice(seating.boards if dice.randrange(8) else movement.board_numbers)
    if dice.randrange(8) == 0:  # a pairing that the movement does not have (Law 15)
        other = dice.choice(movement.seatings)
        return PlayKey(section.letter, board, seating.ns, other.ew if other.ew != seating.ns else seating.ew)
    return PlayKey(section.letter, board, seating.ns, seating.ew)


def fouled(plays: list[PlayKey]) -> Kept:
    ruling = Ruling("1", "87", "x", "Ann", state=RulingState.CONFIRMED)
    return Kept(1, ruling, None, False, plays[0].board, dict.fromkeys(plays, "B"))


def told(score: Callable[[], EventScore]) -> EventScore | str:
    try:
        return score()
    except EntryError as error:
        return error.what


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_sequence_of_results_and_rulings_gives_what_a_full_count_gives(seed: int) -> None:
    dice = random.Random(seed)
    setup = dice.choice(SETUPS)
    live, rows = LiveScore(), dict[PlayKey, CurrentResult]()
    conditions = Conditions()
    for _ in range(25):
        what = dice.randrange(20)
        if what == 0 and rows:
            some = dice.sample(list(rows), dice.randint(1, min(4, len(rows))))
            conditions = replace(conditions, kept={1: fouled(some)})
        elif what == 1:
            word = dice.choice(["matchpoints", "butler", "cross_imps", "imps", ""])
            conditions = replace(conditions, scheme=Scheme(word))
        elif what == 2:
            unit = PenaltyUnit.PERCENT
            conditions = replace(conditions, penalties=[SessionAdjustment(Contestant("A", 1), Fraction(-1), unit)])
        elif what == 3:
            live.touched()
        else:
            play = plays_of(setup, dice)
            rows[play] = row(play, state(dice))
            live.touched(play)
        whole = told(lambda: score_event(setup, rows.values(), conditions))  # noqa: B023
        running = told(lambda: live.score(setup, rows, conditions))  # noqa: B023
        if isinstance(whole, str) or isinstance(running, str):
            assert running == whole, "what can't be scored is refused alike"
            continue
        assert running.rankings == whole.rankings
        assert running.units == whole.units
        assert {place: sorted(map(repr, held)) for place, held in running.boards.items() if held} == {
            place: sorted(map(repr, held)) for place, held in whole.boards.items()
        }
