"""Sections that are ranked in different ways in one event: a Mitchell by its boards, Swiss pairs by their rounds."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.movement.catalog import build
from terminals.result import Played
from terminals.scoring.boards import Method
from terminals.scoring.contract_score import score_ns
from terminals.scoring.imps import imps
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import PLAIN, CrossImpMode, ImpRanking, VpScale
from terminals.scoring.scheme import Scheme
from terminals.scoring.vp import victory_points
from terminals.settings import DEFAULT
from terminals.sync.conditions import Conditions
from terminals.sync.event_score import score_input
from terminals.sync.setup import EventSetup, new_event
from terminals.sync.tables import ScoringInput, scoring_input

TOTAL = replace(PLAIN, cross_imp_mode=CrossImpMode.TOTAL, imp_ranking=ImpRanking.TOTAL)


def mixed(**settings: object) -> EventSetup:
    return new_event(
        7, "Two sections", {1: build("mitchell:3x8"), 2: build("swiss-pairs:6x24")}, DEFAULT.changed(settings)
    )


def played(setup: EventSetup, seed: int = 1) -> ScoringInput:
    rng = random.Random(seed)
    empty = scoring_input(setup, [])
    for section in setup.sections:
        assert section.movement is not None
        for seating in section.movement.seatings:
            for board in seating.boards:
                contract = Contract(rng.randint(1, 7), Strain(rng.randint(1, 5)), Doubling.NONE, Seat(rng.randrange(4)))
                who = (Contestant(section.letter, seating.ns), Contestant(section.letter, seating.ew))
                empty.lines.append(ResultLine(board, *who, Played(contract, rng.randint(6, 13)), section.letter))
    return empty


@pytest.mark.parametrize("apart", [True, False])
def test_a_mitchell_keeps_the_profiles_cross_imps_beside_rounds_made_of_averages(apart: bool) -> None:
    """Both figures worked out a second time here. One field of both sections: each board then has six results."""
    setup = mixed()
    data = played(setup)
    if not apart:
        (first, second) = data.fields
        everywhere = dict.fromkeys((*first.expected, *second.expected), 6)
        data = replace(data, fields=[replace(first, expected=everywhere, sections=frozenset("AB"))])
    conditions = Conditions(TOTAL, Scheme(Method.CROSS_IMPS.value))
    score = score_input(setup, data, conditions)
    assert score.units == ("imps", "imps", "vps")

    def made(pair: Contestant) -> list[tuple[int, int]]:
        """Sum over all comparisons, and number of results, of each board of a pair."""
        out = []
        for line in data.lines:
            if pair not in (line.ns, line.ew):
                continue
            sign = 1 if line.ns == pair else -1
            field = [
                one for one in data.lines if one.board == line.board and (not apart or one.section == line.section)
            ]
            own = score_ns(line.result, line.board)
            assert own is not None
            out.append((sum(sign * imps(own - (score_ns(one.result, one.board) or 0)) for one in field), len(field)))
        return out

    for row in (*score.rankings[0], *score.rankings[1]):
        assert row.value == sum(total for total, _ in made(row.contestant))
    for row in score.rankings[2]:
        exact = sum(total / math.sqrt(count * (count - 1) / 2) for total, count in made(row.contestant))
        whole = math.floor(abs(exact) + 0.5) * (1 if exact > 0 else -1)
        assert row.value == victory_points(whole, 24, VpScale.CONTINUOUS)


@pytest.mark.parametrize(
    ("first", "second", "rankings"),
    [
        ("howell:3x4", "swiss-pairs:6x6", [("A", 6), ("B", 6)]),
        ("howell:3x4", "howell:2x4", [("AB", 10)]),
        ("swiss-pairs:6x6", "swiss-pairs:4x6", [("AB", 10)]),
        ("howell:3x4", "round-robin:4x3", [("A", 6), ("B", 4)]),
        ("multiple-teams:5x4", "round-robin:4x3", [("A", 5), ("B", 4)]),
    ],
)
def test_across_the_field_only_events_of_one_kind_are_one_ranking(
    first: str, second: str, rankings: list[tuple[str, int]]
) -> None:
    setup = new_event(7, "Two", {1: build(first), 2: build(second)}, DEFAULT.changed({"across": True}))
    groups = scoring_input(setup, []).groups
    found = [("".join(sorted({one.section for one in group.contestants})), len(group.contestants)) for group in groups]
    assert found == rankings
