"""Swiss pairs in victory points: matches by an independent count, byes, carry-over, the round trip with the draw."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from interop_sessions import random_result

from firmware_bridge.cli.main import main
from firmware_bridge.errors import EntryError
from terminals.interop.publish import EventInfo
from terminals.interop.results_json import write_results_json
from terminals.interop.slip_session import PaperSession
from terminals.interop.slips import SlipLine
from terminals.interop.swiss_pairs import swiss_standing
from terminals.movement import files, swiss, written
from terminals.movement.catalog import build
from terminals.movement.model import Movement
from terminals.result import PassedOut, Played
from terminals.scoring.boards import Method
from terminals.scoring.contract_score import score_ns
from terminals.scoring.imps import imps
from terminals.scoring.profile import PLAIN
from terminals.scoring.vp import continuous_vp, percent_vp


def drawn(pairs: int, rounds: int) -> Movement:
    movement = build(f"swiss-pairs:{pairs}x7")
    for seed in range(1, rounds):
        order = list(range(1, pairs + 1))
        random.Random(seed).shuffle(order)
        met, had = swiss.history(movement)
        movement = swiss.add_round(movement, swiss.draw(order, met, had))
    return movement


def played(movement: Movement, seed: int = 1) -> PaperSession:
    rng, session = random.Random(seed), PaperSession(movement)
    for place in sorted(session.entries):
        entry = session.entries[place]
        for board in entry.slip.boards:
            state = random_result(rng)
            assert isinstance(state, (Played, PassedOut))
            entry.lines.append(SlipLine(board, state, score_ns(state, board)))
    return session


def test_every_match_by_a_second_count() -> None:
    movement = drawn(9, 3)
    session = played(movement)
    event = session.event(EventInfo("Swiss", "2026-11-26"))
    found = swiss_standing(movement, event, PLAIN)
    totals = {pair: Fraction(0) for pair in movement.pairs}
    for number in (1, 2, 3):
        seatings = [one for one in movement.seatings if one.round == number]
        made: dict[int, Fraction] = {}
        for board in seatings[0].boards:
            scores = {s: session.entries[number, s.table] for s in seatings}
            points = {s: next(one.score for one in entry.lines if one.board == board) for s, entry in scores.items()}
            for s in seatings:
                mine = points[s]
                assert mine is not None
                won = sum(
                    2 if mine > other else 1 if mine == other else 0
                    for t, other in points.items()
                    if t != s and other is not None
                )
                made[s.ns] = made.get(s.ns, Fraction(0)) + won
                made[s.ew] = made.get(s.ew, Fraction(0)) + 6 - won
        for pair, points_made in made.items():
            totals[pair] += percent_vp(points_made * 100 / (6 * 7), 7)
        bye = next(one.pair for one in movement.sit_outs if one.round == number)
        totals[bye] += 12
    assert {row.contestant.number: row.value for row in found.ranking} == totals
    carried = swiss_standing(movement, event, PLAIN, {3: Fraction("2.5")})
    assert {row.contestant.number: row.value for row in carried.ranking}[3] == totals[3] + Fraction(5, 2)


def test_what_is_no_swiss_event_is_refused() -> None:
    movement, mitchell = drawn(6, 1), build("mitchell:3x7")
    event = played(movement).event(EventInfo("x", "2026-11-26"))
    for plan, results, carried in (
        (mitchell, event, {}),
        (drawn(8, 1), event, {}),
        (movement, event, {9: Fraction(1)}),
    ):
        with pytest.raises(EntryError):
            swiss_standing(plan, results, PLAIN, carried)


def test_the_standing_leads_to_the_next_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    movement = drawn(8, 1)
    plan, results = tmp_path / "swiss.yaml", tmp_path / "r.json"
    plan.write_text(written.to_yaml(movement))
    results.write_bytes(write_results_json(played(movement).event(EventInfo("x", "2026-11-26"))))
    assert main(["results", "swiss", str(plan), str(results), "--carry", "3=2.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(told["rounds"]) == len(told["ranking"]) == 8
    assert main(["movement", "draw", str(plan), "--ranking", told["order"], "--out", str(plan)]) == 0
    assert files.load(str(plan)).rounds == 2
    for wrong in ("3", "x=1", "3=1e9"):
        assert main(["results", "swiss", str(plan), str(results), "--carry", wrong]) == 2


def test_matches_by_imps_by_a_second_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cross-IMPs of a round over the root of the number of comparisons, then the scale of team matches."""
    movement = drawn(8, 2)
    session = played(movement, seed=4)
    info = EventInfo("Swiss", "2026-11-26")
    event = session.event(info, PLAIN, Method.CROSS_IMPS)
    found = swiss_standing(movement, event, PLAIN)
    totals = {pair: Fraction(0) for pair in movement.pairs}
    for number in (1, 2):
        seatings = [one for one in movement.seatings if one.round == number]
        sums = dict.fromkeys(movement.pairs, 0)
        for board in seatings[0].boards:
            scores = {
                s: next(one.score for one in session.entries[number, s.table].lines if one.board == board)
                for s in seatings
            }
            for s in seatings:
                against = sum(imps(int(scores[s] or 0) - int(scores[t] or 0)) for t in seatings if t != s)
                sums[s.ns] += against
                sums[s.ew] -= against
        for pair, total in sums.items():
            margin = int(abs(total) / 6**0.5 + 0.5) * (1 if total >= 0 else -1)  # four results, six comparisons
            totals[pair] += continuous_vp(margin, 7)
    assert {row.contestant.number: row.value for row in found.ranking} == totals
    plan, results = tmp_path / "swiss.yaml", tmp_path / "r.json"
    plan.write_text(written.to_yaml(movement))
    results.write_bytes(write_results_json(event))
    assert main(["results", "swiss", str(plan), str(results), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {row["pair"]: Fraction(row["vp"]) for row in told["ranking"]} == totals
    assert {row["percent"] for row in told["rounds"]} == {None}
    butler = swiss_standing(movement, session.event(info, PLAIN, Method.BUTLER), PLAIN)
    assert len(butler.ranking) == 8
    with pytest.raises(EntryError, match="matchpoints or IMPs"):
        swiss_standing(movement, session.event(info, PLAIN, Method.AGGREGATE), PLAIN)
