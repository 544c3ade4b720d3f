"""Results between our words and the program's: what can be said comes back the same, what can't is never made up."""

from __future__ import annotations

from fractions import Fraction

import client_events as events
import pytest
from bridgemate_dataconnector import validation
from hypothesis import given
from hypothesis import strategies as st

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.data_connector import shapes, validate, validate_data
from terminals.interop.data_connector.movements import build, rounds_of
from terminals.interop.data_connector.result_rows import Place, Section, from_dtos, place_of, play_of, to_dto
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    Outcome,
    PassedOut,
    Played,
)
from terminals.store.values import PlayKey

CONTRACTS = st.builds(
    Contract, st.integers(1, 7), st.sampled_from(Strain), st.sampled_from(Doubling), st.sampled_from(Seat)
)
PLAYED = st.builds(Played, CONTRACTS, st.integers(0, 13), st.none() | st.integers(0, 51))
AVERAGES = st.sampled_from(Average)
SAID = PLAYED | st.just(PassedOut()) | st.just(NotPlayed()) | st.builds(Artificial, AVERAGES, AVERAGES)


def a_section(overlap: bool = False) -> Section:
    made = events.a_section(events.mitchell(3, 2, overlap=overlap), winners=2)
    dto = shapes.read(shapes.SECTION, made.to_dict())
    built = build(dto)
    return Section(dto, "A", built.movement, built.offset, rounds_of(dto))


SECTIONS = {False: a_section(), True: a_section(True)}


@given(SAID, st.booleans(), st.booleans(), st.integers(0, 8), st.integers(0, 1))
def test_what_can_be_said_comes_back_the_same(
    content: BoardState, overlap: bool, turned: bool, which: int, second: int
) -> None:
    section = SECTIONS[overlap]
    assert section.movement is not None
    seating = section.movement.seatings[which]
    ns, ew = (seating.ew, seating.ns) if turned else (seating.ns, seating.ew)
    play = PlayKey("A", seating.boards[second], ns, ew)
    place = place_of(section, play, 0, 0)
    assert place == Place(seating.round, seating.table, play.board, turned)
    told = to_dto(section, events.SESSION, play, content, place)
    assert not told.lost
    assert validate_data.result(told.dto) == []
    assert validation.validate_result_dto(type(events.a_result(1, 1, 1, 1, 2)).from_dict(told.dto))
    said = from_dtos([told.dto])
    same_pair = told.dto["PairNorthSouth"] == told.dto["PairEastWest"]
    if turned and isinstance(content, Artificial):
        # A board without declarer can't say that the pairs sat the other way; each pair keeps its own score.
        assert said == Artificial(content.ew, content.ns)
    else:
        assert said == content
    if isinstance(content, Played) and not (turned and same_pair):
        assert play_of(section, told.dto) == play


@pytest.mark.parametrize(
    ("content", "level", "lost"),
    [
        (Artificial(FixedPercent(Fraction(60)), FixedPercent(Fraction(40))), -7, ""),
        (Artificial(FixedPercent(Fraction(55)), Average.EVEN), -10, "percent"),
        (Assigned(Average.PLUS, Average.MINUS), -7, ""),
        (Assigned((Outcome(PassedOut()),), Average.PLUS), 0, "split"),
        (Assigned((Outcome(PassedOut()),), (Outcome(PassedOut()),)), 0, ""),
        (Assigned((Outcome(420),), (Outcome(420),)), -10, "without a contract"),
        (
            Assigned((Outcome(PassedOut(), Fraction(1, 3)), Outcome(-50, Fraction(2, 3))), Average.EVEN),
            -10,
            "weighted",
        ),
    ],
)
def test_richer_rulings_degrade_and_say_what_is_lost(content: BoardState, level: int, lost: str) -> None:
    section = SECTIONS[False]
    play = PlayKey("A", 1, 1, 4)
    told = to_dto(section, events.SESSION, play, content, place_of(section, play, 1, 1))
    assert told.dto["Level"] == level
    assert lost in told.lost
    assert bool(lost) == bool(told.lost)
    assert validate_data.result(told.dto) == []


def test_the_two_rows_of_a_split_score_become_one_ruling() -> None:
    rows = [events.a_result(1, 1, 1, 1, 4, scoring_direction=d, total_tricks=t) for d, t in ((1, 8), (2, 9))]
    made = from_dtos([shapes.read(shapes.RESULT, one.to_dict()) for one in rows])
    assert isinstance(made, Assigned)
    assert made.is_split
    alone = from_dtos([shapes.read(shapes.RESULT, rows[0].to_dict())])
    assert isinstance(alone, Played)
    assert alone.tricks == 8


@given(st.integers(-7, 7), st.integers(1, 2))
def test_a_missing_pair_sits_nowhere(missing: int, winners: int) -> None:
    made = events.a_section(events.mitchell(3, 2), winners=winners)
    made.missing_pair = missing
    dto = shapes.read(shapes.SECTION, made.to_dict())
    if validate.section(dto):
        return
    movement = build(dto).movement
    assert movement is not None
    absent = abs(missing) if missing > 0 or winners == 2 else 0
    if missing > 3 and winners == 2:
        absent = 0  # a positive number is a North-South pair
    if missing < 0 and missing > -4:
        absent = 0
    assert absent not in movement.pairs or absent == 0
    assert movement.expected_results() == (18 if absent == 0 or absent > 6 else 12)
