"""Team events from table results: every kind of match, byes, knock-out after a split score, the keyboard, the audit."""

from __future__ import annotations

import io
import json
import random
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from interop_sessions import random_result

from firmware_bridge.cli.main import main
from firmware_bridge.errors import EntryError
from terminals.interop.audit import audit_event
from terminals.interop.publish import EventInfo
from terminals.interop.results_json import read_results_json, write_results_json
from terminals.interop.team_event import TeamScoring, team_event
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.movement import swiss
from terminals.movement.catalog import build
from terminals.movement.model import Movement
from terminals.result import Assigned, BoardState, Outcome
from terminals.scoring.contract_score import score_ns
from terminals.scoring.imps import imps
from terminals.scoring.profile import PLAIN, VpScale
from terminals.scoring.teams import TeamMethod

INFO = EventInfo("League", "2026-11-26")
VP = TeamScoring(scale=VpScale.CONTINUOUS)
MOVEMENTS = ["head-to-head:3x8", "round-robin:4x6", "round-robin:5x6", "american-whist:7x3", "swiss-teams:6x6"]


def results(movement: Movement, seed: int = 1) -> dict[tuple[int, int, int], BoardState]:
    rng = random.Random(seed)
    return {(board, s.ns, s.ew): random_result(rng) for s in movement.seatings for board in s.boards}


def drawn(spec: str = "swiss-teams:5x4") -> Movement:
    """Three rounds of five teams: three of them have a bye."""
    movement = build(spec)
    for order in ([5, 4, 3, 2, 1], [3, 5, 1, 4, 2]):
        met, had = swiss.history(movement)
        movement = swiss.add_round(movement, swiss.draw(order, met, had))
    return movement


@pytest.mark.parametrize("spec", MOVEMENTS)
@pytest.mark.parametrize(
    "scoring", [VP, TeamScoring(), TeamScoring(TeamMethod.BOARD_A_MATCH), TeamScoring(TeamMethod.AGGREGATE)]
)
def test_every_kind_of_match_is_scored_and_audited(spec: str, scoring: TeamScoring) -> None:
    movement = build(spec)
    event = team_event(movement, results(movement), INFO, PLAIN, scoring)
    assert len(event.lines) == movement.expected_results()
    assert len(event.entrants) == len(movement.teams)
    total = sum((one.total.value for one in event.entrants if one.total), Fraction(0))
    boards = sum(len(match.boards) for match in event.matches)
    assert boards * 2 == len(event.lines)
    each = {"imps": 0, "aggregate": 0, "board_a_match": 2}[scoring.method] * boards
    assert total == (20 * len(event.matches) if scoring.scale else each)
    for read, write in ((read_results_json, write_results_json), (read_usebio, write_usebio)):
        if scoring.method is not TeamMethod.AGGREGATE or read is read_results_json:
            report = audit_event(read(write(event)))
            assert report.equal, (report.points_mismatches[:3], report.total_mismatches[:3])


def test_imps_by_a_second_way() -> None:
    movement = build("head-to-head:2x6")
    states = results(movement, 3)
    event = team_event(movement, states, INFO, PLAIN, TeamScoring())
    margin = 0
    for board in range(1, 13):
        swing = score_ns(states[board, 1, 4], board) - score_ns(states[board, 2, 3], board)  # type: ignore[operator]
        margin += imps(swing)
    (match,) = event.matches
    assert match.team_score is not None
    assert match.opposing_score is not None
    assert (match.team_score.value, match.opposing_score.value) == (Fraction(margin), Fraction(-margin))


def test_a_bye_counts_in_the_total_and_stands_beside_it() -> None:
    movement = drawn()
    event = team_event(movement, results(movement), INFO, PLAIN, VP)
    byes = [one for one in event.entrants if one.adjustment is not None]
    assert [one.adjustment.text for one in byes if one.adjustment] == ["12"] * 3
    assert sum((one.total.value for one in event.entrants if one.total), Fraction(0)) == 20 * 6 + 12 * 3
    assert audit_event(read_usebio(write_usebio(event))).equal


def test_unequal_scores_of_a_knock_out_count_the_mean() -> None:
    """Law 12C4 of 2007: worth +6 to one team and -2 to the other is +4 and -4."""
    movement = build("head-to-head:1x2")
    states = results(movement)
    for board in (1, 2):
        states[board, 1, 4] = states[board, 2, 3] = Assigned((Outcome(0),), (Outcome(0),))
    states[1, 1, 4] = Assigned((Outcome(220),), (Outcome(70),))  # 6 IMPs to us; they lose 2
    open_match = team_event(movement, states, INFO, PLAIN, TeamScoring()).matches[0]
    knockout = team_event(movement, states, INFO, PLAIN, TeamScoring(knockout=True)).matches[0]
    told = [(m.team_score, m.opposing_score) for m in (open_match, knockout)]
    assert [(a.value, b.value) for a, b in told if a and b] == [
        (Fraction(6), Fraction(-2)),
        (Fraction(4), Fraction(-4)),
    ]


def test_an_unfinished_match_counts_the_boards_that_both_rooms_have() -> None:
    movement = build("round-robin:4x6")
    states = results(movement)
    part = dict(list(states.items())[:15])
    event = team_event(movement, part, INFO, PLAIN, VP)
    assert len(event.lines) == 15
    assert team_event(movement, {}, INFO, PLAIN, VP).matches == ()
    assert all(0 < len(match.boards) <= 6 for match in event.matches)


def test_multiple_teams_have_no_matches() -> None:
    movement = build("multiple-teams:6x3")
    with pytest.raises(EntryError, match="no matches between two teams"):
        team_event(movement, results(movement), INFO, PLAIN, VP)


@pytest.mark.parametrize(
    ("source", "method"), [("multiple-teams:5x2", "matchpoints"), ("multiple-teams:6x2", "butler")]
)
def test_multiple_teams_are_keyed_in_from_slips(
    source: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, names = tmp_path / "t.json", tmp_path / "n.csv"
    names.write_text("1;Alfa;Anna Nowak;Jan Kot\n")
    movement = build(source)
    count = movement.expected_results()
    typed = "".join(f"{1 + at % 7}nt n {6 + at % 8}\n" for at in range(count))
    half = "".join(typed.splitlines(keepends=True)[: count // 2])
    arguments = (source, "--out", str(out), "--method", method, "--names", str(names))
    assert enter(monkeypatch, half + "q\n", *arguments) == 0
    rest = "".join(typed.splitlines(keepends=True)[count // 2 :])
    assert enter(monkeypatch, rest, *arguments) == 0
    event = read_results_json(out.read_bytes())
    assert len(event.lines) == count
    assert sorted(one.contestant.number for one in event.entrants) == [team.number for team in movement.teams]
    assert next(one for one in event.entrants if one.contestant.number == 1).name == "Alfa"
    # both pairs of a team score for it: every team has as many boards as its two pairs together
    for one in event.entrants:
        team = movement.teams[one.contestant.number - 1]
        assert one.boards == sum(len(movement.boards_of(pair)) for pair in team.pairs)
    assert main(["results", "audit", str(out)]) == 0
    assert main(["results", "print", str(out), "ranking", "--out", str(tmp_path / "t.pdf")]) == 0
    capsys.readouterr()


def enter(monkeypatch: pytest.MonkeyPatch, typed: str, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return main(["results", "enter", *arguments])


def test_a_match_is_keyed_in_and_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "m.json"
    match = ("head-to-head:1x2", "--out", str(out))
    assert enter(monkeypatch, "3nt n 10\n4s s 10\nq\n", *match) == 0
    assert json.loads(out.read_text())["matches"] == []
    assert enter(monkeypatch, "4s s 9\n3nt n 10\n", *match) == 0
    event = read_results_json(out.read_bytes())
    assert [(one.name, one.place) for one in event.entrants] == [("Team 1", "1"), ("Team 2", "2")]
    assert event.match_scoring == "VPS"
    assert main(["results", "audit", str(out)]) == 0
    assert main(["results", "print", str(out), "ranking", "--out", str(tmp_path / "m.pdf")]) == 0
    assert enter(monkeypatch, "", *match, "--scale", "none") == 0
    assert read_results_json(out.read_bytes()).match_scoring == "IMPS"
    scale = tmp_path / "s.toml"
    scale.write_text('name = "own"\n[[row]]\nfrom = 0\nwinner = 7\nloser = 3\n')
    assert enter(monkeypatch, "", *match, "--scale", str(scale)) == 0
    assert [one.total and one.total.text for one in read_results_json(out.read_bytes()).entrants] == ["7", "3"]
    capsys.readouterr()
    for wrong in (
        ("head-to-head:1x2", "--method", "matchpoints"),
        ("mitchell:3x2", "--method", "imps"),
        ("mitchell:3x2", "--knockout"),
        ("mitchell:3x2", "--scale", "discrete"),
        ("head-to-head:1x2", "--scale", str(tmp_path / "none.toml")),
        ("multiple-teams:6x3", "--method", "imps"),
        ("multiple-teams:6x3", "--scale", "discrete"),
    ):
        assert enter(monkeypatch, "q\n", *wrong, "--out", str(tmp_path / "w.json")) in (1, 2)


def test_names_are_keyed_in_from_a_file_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "n.csv"
    for source, text, wanted in (
        ("head-to-head:1x2", "No;Team;Player\n1;Żbiki;Anna Nowak\n2;Owls\n", ["Żbiki", "Owls"]),
        ("mitchell:3x2", "1;Anna Łoś;Jan Kot\n4;Ewa Ryś;Adam Bąk\n", ["Anna Łoś & Jan Kot", "Ewa Ryś & Adam Bąk"]),
        ("individual:8x2", "1;Anna Łoś\n2;Jan Kot\n", ["Anna Łoś", "Jan Kot"]),
    ):
        out = tmp_path / f"{source.partition(':')[0]}.json"
        names.write_text(text)
        assert enter(monkeypatch, "3nt n 9\nq\n", source, "--out", str(out), "--names", str(names)) == 0
        assert enter(monkeypatch, "q\n", source, "--out", str(out)) == 0
        found = {one.names for one in read_results_json(out.read_bytes()).entrants}
        assert set(wanted) <= found
    capsys.readouterr()
    for wrong in ("1;Ann\n1;Bob\n", "99;Ann\n", "1\n", "x;y\nz;Ann\n"):
        names.write_text(wrong)
        out = tmp_path / "w.json"
        assert enter(monkeypatch, "q\n", "mitchell:3x2", "--out", str(out), "--names", str(names)) == 1
        assert "line" in capsys.readouterr().err
