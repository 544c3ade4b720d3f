"""Propose, verify, show, cards, save: what a director gets at the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.cli.main import main
from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement import cards, catalog, files, show
from terminals.movement.choose import for_tables
from terminals.movement.model import Movement, Seating
from terminals.movement.propose import Proposal, Question, propose, propose_sections
from terminals.movement.verify import verify

SPECS = [
    "mitchell:7x4", "mitchell:8x3", "mitchell:7x4,missing=ew,switch=best", "odd:5x5", "share:6x4,missing=ns",
    "skip:8x3,rounds=6", "bye-stand:8x3", "hesitation:7x3,half=yes", "rover:7x4", "web:16x2,sets=13,switch=2",
    "scissors:14x3", "howell:4x3,half=yes,first=13", "three-quarter-howell:9x2,rounds=13", "individual:13x2",
    "swiss-pairs:9x4", "swiss-teams:6x6",
    "whist:8x3,copies=2", "rainbow:7x3", "head-to-head:3x8,copies=2", "round-robin:5x6", "american-whist:7x3",
    "multiple-teams:8x3",
]  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["movement", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out.strip().splitlines()[-1])


@pytest.mark.parametrize("spec", SPECS)
def test_every_kind_can_be_named_verified_and_drawn(
    spec: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, result = run(capsys, "verify", spec)
    assert (code, result["ok"], result["errors"]) == (0, True, [])
    code, shown = run(capsys, "show", spec)
    assert code == 0
    out = tmp_path / "plan.yaml"
    assert run(capsys, "save", spec, "--out", str(out))[0] == 0
    again = run(capsys, "show", str(out))[1]
    assert again["plan"] == shown["plan"]


def test_every_kind_of_the_catalog_is_tried_here() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == set(catalog.KINDS)


@pytest.mark.parametrize(
    "spec",
    [
        "", "x", "mitchell", "mitchell:7", "mitchell:7x", "rope:7x4", "mitchell:7x4,roof=1", "mitchell:7x4,missing=up",
        "mitchell:7x4,rounds=1,rounds=2", "howell:4x3,half=maybe", "mitchell:7x4,switch=most", "mitchell:0x4",
        "mitchell:7x0", "howell:4x3,first=0", "mitchell:7x4,rounds=ab", "web:8x2,sets=0,rounds=9", "a" * 300,
    ],
)  # fmt: skip
def test_what_the_catalog_does_not_know_is_exit_two(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, "show", spec)
    assert code == 2
    assert result["error"]["what"]


def test_the_proposal_of_the_issue(capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, "propose", "--pairs", "13", "--until", "22:40")
    assert code == 0
    assert len(result["proposals"]) == 3
    first = result["proposals"][0]
    assert first["ends"] <= "22:40"
    assert (first["kind"], first["rounds"], first["boards_per_round"], first["winners"]) == ("mitchell", 7, 4, 2)
    assert (first["boards"], first["sit_outs"], first["shared_rounds"], first["copies"]) == (28, 7, 0, 1)
    assert {p["winners"] for p in result["proposals"]} == {1, 2}
    for proposal in result["proposals"]:
        assert {"rounds", "boards", "sit_outs", "shared_rounds", "winners", "copies", "fairness"} <= set(proposal)
        assert verify(catalog.build(proposal["spec"])).ok
    main(["movement", "propose", "--pairs", "13", "--until", "22:40"])
    text = capsys.readouterr().out
    assert text.count("competition variance") == 3
    assert "sits out each of 7 rounds" in text


@given(
    pairs=st.integers(3, 44),
    minutes=st.integers(90, 260),
    winners=st.integers(0, 2),
    boards=st.sampled_from([0, 24, 28]),
)
@settings(max_examples=25, deadline=None)
def test_proposals_keep_what_they_promise(pairs: int, minutes: int, winners: int, boards: int) -> None:
    question = Question(pairs, minutes, winners=winners, boards=boards)
    try:
        found = propose(question)
    except EntryError as error:
        assert error.exit_status is ExitStatus.USAGE  # noqa: PT017
        assert str(pairs) in error.what  # noqa: PT017
        return
    assert propose(question) == found
    assert len({p.spec for p in found}) == len(found) <= 3
    for p in found:
        assert verify(p.movement).errors == ()
        assert p.minutes <= minutes
        assert len(p.movement.contestants) == pairs
        assert p.movement == catalog.build(p.spec)
        assert not winners or p.winners == winners
        assert not boards or p.boards <= boards
        _facts_hold(p)


def _facts_hold(p: Proposal) -> None:
    """The numbers of a proposal, counted again by hand from the list of seatings."""
    seen: dict[int, int] = dict.fromkeys(p.movement.contestants, 0)
    for s in p.movement.seatings:
        for pair in (s.ns, s.ew):
            seen[pair] += len(s.boards)
    assert (min(seen.values()), max(seen.values())) == (p.least_boards, p.most_boards)
    assert p.copies == len({s.copy for s in p.movement.seatings})


@pytest.mark.parametrize(("pairs", "sections"), [(26, 2), (30, 2), (31, 2), (45, 3), (52, 2), (66, 3)])
def test_sections_move_together(pairs: int, sections: int) -> None:
    ways = propose_sections(Question(pairs, 210), sections)
    assert len(ways) == 3
    for way in ways:
        assert len({(p.movement.rounds, p.movement.boards_per_round, p.winners) for p in way}) == 1
        assert sum(len(p.movement.contestants) for p in way) == pairs
        assert all(verify(p.movement).ok for p in way)


def test_sections_at_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, "propose", "--pairs", "30", "--until", "22:40", "--sections", "2")
    assert code == 0
    assert [s["section"] for s in result["proposals"][0]["sections"]] == ["A", "B"]
    code, result = run(capsys, "propose", "--pairs", "5", "--until", "22:40", "--sections", "2")
    assert code == 2
    main(["movement", "propose", "--pairs", "30", "--until", "22:40", "--sections", "2"])
    assert capsys.readouterr().out.count("in 2 sections") == 3


def test_three_proposals_for_every_club_evening() -> None:
    for pairs in range(3, 41):
        assert len(propose(Question(pairs, 210))) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["propose", "--pairs", "2", "--until", "22:40"],
        ["propose", "--pairs", "13", "--until", "25:40"],
        ["propose", "--pairs", "13", "--until", "22:40", "--from", "now"],
        ["propose", "--pairs", "13", "--until", "19:10"],
        ["propose", "--pairs", "13", "--until", "19:20"],
        ["propose", "--pairs", "201", "--until", "22:40"],
        ["propose", "--pairs", "13", "--until", "22:40", "--copies", "0"],
        ["propose", "--pairs", "13", "--until", "22:40", "--minutes-per-board", "-3"],
        ["propose", "--until", "22:40"],
        ["verify", "missing.yaml"],
        ["show", "mitchell:7x4", "--pair", "15"],
        ["show", "mitchell:7x4", "--table", "8"],
        ["cards", "mitchell:7x4", "--out", "cards.doc"],
        ["save", "round-robin:4x6", "--out", "teams.csv"],
        ["save", "mitchell:7x4", "--out", "plan.doc"],
        ["save", "mitchell:7x4", "--out", "no/such/folder/plan.csv"],
    ],
)
def test_wrong_use_is_exit_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, *arguments)
    assert code == 2
    assert result["ok"] is False
    assert result["error"]["what"]


def test_an_end_before_the_beginning_is_the_next_day_or_a_slip(capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, "propose", "--pairs", "12", "--until", "18:00")
    assert code == 2
    assert "18:00 is before 19:10" in result["error"]["what"]
    assert "--from" in result["error"]["next"]
    code, result = run(capsys, "propose", "--pairs", "12", "--until", "00:30")
    assert (code, result["overnight"], result["minutes"]) == (0, True, 320)
    code, result = run(capsys, "propose", "--pairs", "12", "--from", "10:00", "--until", "22:00")
    assert (code, result["overnight"], result["minutes"]) == (0, False, 720)


@pytest.mark.parametrize("words", [("verify",), ("show",), ("cards", "--out", "x.pdf"), ("save", "--out", "x.yaml")])
def test_a_movement_file_that_is_missing_has_a_code_of_its_own(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, result = run(capsys, words[0], "nowhere.yaml", *words[1:])
    assert code == 2
    assert result["error"]["code"] == "no-such-file"
    assert "nowhere.yaml" in result["error"]["where"]
    assert result["error"]["next"]


def test_an_unplayable_file_is_exit_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("round,table,ns,ew,boards\n1,1,1,3,1-2\n1,2,2,4,1-2\n2,1,1,4,1-2\n2,2,2,3,3-4\n", encoding="utf-8")
    code, result = run(capsys, "verify", str(path))
    assert code == 1
    assert {e["property"] for e in result["errors"]} == {3, 5}
    assert "bad.csv" in result["error"]["where"]
    assert result["balance"]["variance"] >= 0


def test_cards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for extra in ([], ["--tables"], ["--paper", "letter", "--title", "Środa"]):
        out = tmp_path / "cards.pdf"
        code, result = run(capsys, "cards", "mitchell:7x4,missing=ew", "--out", str(out), *extra)
        assert code == 0
        assert result["cards"] == (7 if "--tables" in extra else 13)
        assert out.read_bytes().startswith(b"%PDF-")
    out = tmp_path / "cards.txt"
    assert run(capsys, "cards", "mitchell:7x4,missing=ew", "--out", str(out))[0] == 0
    assert out.read_text(encoding="utf-8").count("Pair ") == 13


def test_a_pdf_is_the_same_twice() -> None:
    movement = for_tables(7, 28, pairs=13)
    assert cards.guide_cards(movement) == cards.guide_cards(movement)
    with pytest.raises(EntryError):
        cards.guide_cards(movement, page="a3")


def test_long_movements_fit_on_cards() -> None:
    assert cards.table_cards(catalog.build("howell:10x2")).startswith(b"%PDF-")
    assert cards.guide_cards(catalog.build("howell:10x2"), title="A" * 500).startswith(b"%PDF-")


@pytest.mark.parametrize("spec", SPECS)
def test_guide_cards_lead_everybody_to_his_seats(spec: str) -> None:
    movement = catalog.build(spec)
    for pair in movement.pairs:
        lines = show.guide(movement, pair)
        assert [line.round for line in lines] == list(range(1, movement.rounds + 1))
        for line in lines:
            seat = movement.seat(pair, line.round)
            assert (line.opponents != "") == isinstance(seat, Seating)
            if isinstance(seat, Seating):
                assert line.table == seat.table


@pytest.mark.parametrize("spec", SPECS)
def test_following_the_table_cards_plays_the_movement(spec: str) -> None:
    """A person who only reads the cards ends up where the movement says, and so do the boards."""
    movement = catalog.build(spec)
    for table in range(1, movement.tables + 1):
        for line in show.table_card(movement, table):
            if line.round == movement.rounds or not line.boards_next.startswith("table"):
                continue
            to = int(line.boards_next.split()[1])
            there = _boards_at(movement, line.round + 1, to)
            here = _boards_at(movement, line.round, table)
            assert here & there


def _boards_at(movement: Movement, number: int, table: int) -> set[int]:
    seating = movement.at(number, table)
    if seating is not None:
        return set(seating.boards)
    return {b for s in movement.sit_outs if (s.round, s.table) == (number, table) for b in s.boards}


def test_the_drawing_shows_everything_that_matters() -> None:
    text = show.draw(for_tables(4, 12))
    assert "Tables 1 and 4 share boards in rounds 1-4." in text
    assert "48 results, 2 winners (NS, EW)." in text
    assert "1 copy of every board" in text
    assert "2 copies of every board" in show.draw(catalog.build("web:16x2,sets=13"))
    assert "7 sits out" in show.draw(for_tables(7, 28, pairs=13))
    assert max(len(line) for line in show.draw(catalog.build("howell:10x2"), 80).splitlines()[:60]) <= 80


def test_copies_for_the_dealer() -> None:
    assert set(catalog.build("mitchell:8x3").copies_to_deal().values()) == {1}
    assert set(catalog.build("web:16x2,sets=13").copies_to_deal().values()) == {2}
    assert set(catalog.build("round-robin:8x6").copies_to_deal().values()) == {4}


def test_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, result = run(capsys, "kinds")
    assert code == 0
    assert {k["kind"] for k in result["kinds"]} == set(catalog.KINDS)


@pytest.mark.parametrize("kind", ["swiss-pairs", "swiss-teams"])
def test_a_swiss_event_is_drawn_round_by_round(kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nine contestants, six rounds: nobody meets or sits out twice, in whatever order the ranking is."""
    file = str(tmp_path / "swiss.yaml")
    met: set[frozenset[int]] = set()
    byes = []
    first = catalog.build(f"{kind}:9x4")
    source, order = f"{kind}:9x4", list(range(1, 10))
    for number in range(2, 7):
        order = order[3:] + order[:3][::-1]
        code, found = run(capsys, "draw", source, "--ranking", ",".join(map(str, order)), "--out", file)
        assert code == 0
        assert found["round"] == number
        assert found["repeats"] == []
        couples = {frozenset(couple) for couple in found["couples"]}
        assert len(couples) == 4
        assert not couples & met
        met |= couples
        byes.append(found["bye"])
        source = file
    assert len(set(byes)) == 5
    code, found = run(capsys, "verify", file)
    assert code == 0
    assert found["rounds"] == 6
    assert first.seatings == files.load(file).seatings[: len(first.seatings)]


def test_a_swiss_draw_by_results_with_people_who_come_and_go(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from terminals.interop.exchange import Entrant, ExchangeEvent, Published
    from terminals.interop.results_json import write_results_json
    from terminals.scoring.lines import Contestant

    totals = {1: 40, 2: 60, 3: 55, 4: 45, 5: 70, 6: 30}
    entrants = tuple(
        Entrant(Contestant("A", one), str(one), total=Published(Fraction(total), 0, str(total)))
        for one, total in totals.items()
    )
    results = tmp_path / "r.json"
    results.write_bytes(write_results_json(ExchangeEvent(entrants=entrants)))
    out = str(tmp_path / "s.yaml")
    common = ("draw", "swiss-pairs:6x4", "--results", str(results), "--out", out)
    code, found = run(capsys, *common, "--absent", "6", "--join", "7")
    assert code == 0
    assert found["couples"][0] == [5, 3]  # 5 has met 2 in round 1
    assert 6 not in {one for couple in found["couples"] for one in couple}
    for wrong in (
        ("draw", "swiss-pairs:6x4", "--out", out),
        ("draw", "swiss-pairs:6x4", "--ranking", "1,2,3", "--out", out),
        ("draw", "swiss-pairs:6x4", "--ranking", "1,2,3,4,5,5", "--out", out),
        ("draw", "swiss-pairs:6x4", "--ranking", "1,2,x", "--out", out),
        ("draw", "swiss-pairs:6x4", "--ranking", "1,2,3,4,5,6", "--absent", "9", "--out", out),
        ("draw", "mitchell:5x3", "--ranking", "1,2,3,4,5,6,7,8,9,10", "--out", out),
        ("draw", "swiss-pairs:6x4", "--ranking", "1,2,3,4,5,6", "--out", str(tmp_path / "s.csv")),
        ("verify", "swiss-pairs:1x4"),
    ):
        code, found = run(capsys, *wrong)
        assert code in (1, 2)
        assert not found["ok"]
