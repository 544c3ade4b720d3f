"""Sections that are ranked in different ways in one event: a Mitchell by its boards, Swiss pairs by their rounds."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.movement import happenings as h
from terminals.movement.catalog import build
from terminals.movement.plan import fold
from terminals.movement.state import Plan
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
                line = ResultLine(board, *who, Played(contract, rng.randint(6, 13)), section.letter)
                if section.movement.teams:  # credited as results from the tables are
                    ours, theirs = (
                        Contestant(section.letter, team.number)
                        for pair in (seating.ns, seating.ew)
                        if (team := section.movement.team_of(pair)) is not None
                    )
                    line = replace(line, ns_players=(ours,), ew_players=(theirs,))
                empty.lines.append(line)
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


def after(setup: EventSetup, letter: str, *events: h.Happening) -> tuple[EventSetup, dict[str, Plan]]:
    """The event after something happened to the plan of a section."""
    section = setup.section_called(letter)
    assert section is not None
    assert section.movement is not None
    plan = fold(section.movement, list(events))
    return setup.with_movement(section.number, plan.shown()), {letter: plan}


@pytest.mark.parametrize("spec", ["howell:3x4", "swiss-pairs:6x6", "swiss-teams:6x6", "multiple-teams:5x4"])
def test_cancelled_results_count_as_if_they_had_not_been_played(spec: str) -> None:
    """Number 2 leaves after the second round, or the only one drawn: everybody is scored as if it had no results."""
    setup = new_event(7, "Evening", {1: build(spec)})
    data = played(setup)
    movement = setup.sections[0].movement
    assert movement is not None
    team = next((one for one in movement.teams if one.number == 2), None)
    leaving = {2} if team is None else set(team.pairs)
    last = min(2, movement.rounds)
    done = {(board, one.ns, one.ew) for one in movement.seatings if one.round <= last for board in one.boards}
    lines = [one for one in data.lines if (one.board, one.ns.number, one.ew.number) in done]
    found = {}
    for cancelled in (True, False):
        changed, plans = after(setup, "A", h.Withdrawn(2, last + 1, cancelled=cancelled))
        kept = [one for one in lines if leaving.isdisjoint({one.ns.number, one.ew.number})] if cancelled else lines
        groups = scoring_input(changed, [], plans).groups
        everything = score_input(changed, replace(data, lines=lines, groups=groups), Conditions(plans=plans))
        without = score_input(changed, replace(data, lines=kept, groups=groups), Conditions())
        values = [[(row.contestant, row.value, row.place) for row in rows] for rows in everything.rankings]
        assert values == [[(row.contestant, row.value, row.place) for row in rows] for rows in without.rankings]
        assert all(row.contestant.number != 2 for rows in everything.rankings for row in rows)
        found[cancelled] = values
    assert found[True] != found[False]
