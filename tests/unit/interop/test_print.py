"""Printed results: the text that is on the pages, both sizes, long lists, odd names."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from interop_sessions import mitchell, published, with_rulings
from interop_teams import round_robin

from firmware_bridge.errors import EntryError
from terminals.interop.adjusted_note import assigned_words
from terminals.interop.exchange import Entrant, ExchangeEvent, Published
from terminals.interop.print_results import ranking_pdf, scorecards_pdf, travellers_pdf
from terminals.interop.print_sheet import PAGE_SIZES, Sheet, TableColumn
from terminals.interop.publish import EventInfo, rankings
from terminals.interop.slip_session import PaperSession
from terminals.interop.slips import Slip, by_round, slips_pdf
from terminals.movement.catalog import build
from terminals.result import Assigned
from terminals.scoring.lines import Contestant

EVENT = published(with_rulings(mitchell(9, 9, 3)))
SLIPS = [Slip("A", table, turn, str(table), str(table + 20), (1, 2, 3)) for turn in (2, 1) for table in range(1, 10)]


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", pdf))


def text(pdf: bytes, tmp_path: Path) -> str:
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext is not installed")
    path = tmp_path / "x.pdf"
    path.write_bytes(pdf)
    return subprocess.run([program, "-layout", str(path), "-"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("page", sorted(PAGE_SIZES))
@pytest.mark.parametrize("printer", [ranking_pdf, travellers_pdf, scorecards_pdf])
def test_pages_have_the_size_that_was_asked_for(printer, page: str) -> None:  # type: ignore[no-untyped-def]
    pdf = printer(EVENT, page=page)
    assert pdf.startswith(b"%PDF-")
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", pdf)
    assert box is not None
    assert (float(box.group(1)), float(box.group(2))) == pytest.approx(PAGE_SIZES[page], abs=0.01)


def entrant(name: str, place: str, direction: str = "") -> Entrant:
    return Entrant(Contestant(name[0], int(name[1:])), name, direction=direction, place=place)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("A1 1, A2 2", [("", "A1 A2")]),
        ("A1 1 NS, A2 2 NS, A3 1 EW, A4 2 EW", [("North-South", "A1 A2"), ("East-West", "A3 A4")]),
        ("A1 1, A2 2, B1 1, B2 2", [("Section A", "A1 A2"), ("Section B", "B1 B2")]),
        ("A1 1, B1 2, A2 3, B2 4", [("", "A1 B1 A2 B2")]),
        ("A1 1=, B1 1=, A2 3, B2 4", [("", "A1 B1 A2 B2")]),
        ("A1 1=, A2 1=, B1 1, B2 2", [("Section A", "A1 A2"), ("Section B", "B1 B2")]),
        ("A1 1 NS, A2 1 EW, B1 1, B2 2", [("North-South", "A1"), ("East-West", "A2"), ("Section B", "B1 B2")]),
        (
            "A1 1 NS, A2 1 EW, B1 1 NS, B2 1 EW",
            [
                ("Section A North-South", "A1"),
                ("Section B North-South", "B1"),
                ("Section A East-West", "A2"),
                ("Section B East-West", "B2"),
            ],
        ),
        ("A1 1 NS, A2 1 EW, B1 2 NS, B2 2 EW", [("North-South", "A1 B1"), ("East-West", "A2 B2")]),
    ],
)
def test_every_ranking_has_its_title_and_nobody_is_left_out(given: str, wanted: list[tuple[str, str]]) -> None:
    entrants = [entrant(*one.split()) for one in given.split(", ")]
    assert [(title, " ".join(one.label for one in group)) for title, group in rankings(entrants)] == wanted


def test_an_unknown_page_size_is_refused() -> None:
    with pytest.raises(EntryError, match="page size"):
        ranking_pdf(EVENT, page="a7")


def test_the_ranking_has_everybody(tmp_path: Path) -> None:
    found = text(ranking_pdf(EVENT), tmp_path)
    assert "North-South" in found
    assert "East-West" in found
    for one in EVENT.entrants:
        assert one.total is not None
        assert one.total.text in found
    assert "Zoë O'Hara" in found


def test_penalties_stand_beside_the_total(tmp_path: Path) -> None:
    first = replace(EVENT.entrants[0], adjustment=Published(Fraction(-93, 100), 2, "-0.93"))
    found = text(ranking_pdf(replace(EVENT, entrants=(first, *EVENT.entrants[1:]))), tmp_path)
    assert "Adj." in found
    assert re.search(rf"-0\.93 +{first.total}", found)
    assert "Adj." not in text(ranking_pdf(EVENT), tmp_path)


def test_travellers_have_every_line(tmp_path: Path) -> None:
    found = text(travellers_pdf(EVENT), tmp_path)
    assert len(re.findall(r"Board \d+, vulnerable", found)) == 27
    assert "AVE+/AVE-" in found
    assert "Adjusted" in found


def test_every_contestant_has_a_scorecard(tmp_path: Path) -> None:
    pdf = scorecards_pdf(EVENT)
    assert pages(pdf) == len(EVENT.entrants)
    one = scorecards_pdf(EVENT, only=[EVENT.entrants[0].contestant])
    assert pages(one) == 1
    assert f"place {EVENT.entrants[0].place}" in text(one, tmp_path)


def test_slips_are_never_divided(tmp_path: Path) -> None:
    pdf = slips_pdf(by_round(SLIPS))
    found = text(pdf, tmp_path)
    assert found.count("Section A") == len(SLIPS)
    for sheet in found.split("\f"):
        titles = sheet.count("Section A")
        assert len(re.findall(r"^\s+[123]\s+[NES]\s", sheet, re.MULTILINE)) == 3 * titles
    assert found.index("Round 1") < found.index("Round 2")
    long = Slip("A", 1, 1, "1", "2", tuple(range(1, 61)))
    assert pages(slips_pdf([long])) == 2


def test_teams_and_empty_events_print() -> None:
    assert pages(ranking_pdf(round_robin())) == 1
    empty = ExchangeEvent()
    for printer in (ranking_pdf, travellers_pdf, scorecards_pdf):
        assert pages(printer(empty)) == 1


def test_teams_see_what_their_match_made_of_a_board(tmp_path: Path) -> None:
    event = round_robin()
    match = event.matches[0]
    board = match.boards[0]
    assert board.points is not None
    cards = text(scorecards_pdf(event, only=[match.team]), tmp_path)
    assert " VP " in cards
    assert "%" not in cards
    assert len(re.findall(rf"^ +1 +(?:N-S|E-W) .* {board.points}$", cards, re.MULTILINE)) == 2
    assert "IMP N-S" in text(travellers_pdf(event), tmp_path)


def test_travellers_of_an_individual_name_both_partners(tmp_path: Path) -> None:
    session = PaperSession(build("individual:8x2"))
    entry = session.entries[1, 1]
    entry.enter("3nt n 9")
    found = text(travellers_pdf(session.event(EventInfo("x", "2026-11-26"))), tmp_path)
    assert re.search(r"\d\+\d +\d\+\d +3NT", found)


def test_a_thousand_pairs_fill_many_pages_with_a_head_each(tmp_path: Path) -> None:
    sheet = Sheet("Long", page="letter")
    columns = [TableColumn("Head", 100), TableColumn("Right", 60, "right")]
    sheet.table(columns, [["x" * 80, str(number)] for number in range(1000)])
    pdf = sheet.finish()
    found = text(pdf, tmp_path)
    assert found.count("Head") == pages(pdf) > 10
    assert "xxx..." in found


def test_names_keep_their_letters(tmp_path: Path) -> None:
    names = ("Łukasz Żółć", "Şükrü Ğazioğlu", "Ψυχή", "Щукин", "Åse Ødegård", "Đorđe Šućur")
    sheet = Sheet(names[0], subtitle=names[1])
    sheet.table([TableColumn("Name", 200)], [[name] for name in names])
    found = text(sheet.finish(), tmp_path)
    for name in names:
        assert name in found


def test_rulings_stand_below_the_travellers_and_on_the_cards_of_both_sides(tmp_path: Path) -> None:
    ruled = [one for one in EVENT.lines if isinstance(one.line.result, Assigned)]
    assert ruled
    noted_event = replace(
        EVENT,
        lines=tuple(
            replace(one, note=f"{one.note} Law 12C1(c): slow (Ann).") if one in ruled else one for one in EVENT.lines
        ),
        entrants=tuple(
            replace(one, adjustment=Published(Fraction(-5), 2, "-5.00")) if at == 0 else one
            for at, one in enumerate(EVENT.entrants)
        ),
    )
    travellers = text(travellers_pdf(noted_event), tmp_path)
    cards = text(scorecards_pdf(noted_event), tmp_path)
    assert travellers.count("Law 12C1(c): slow (Ann).") == len(ruled)
    assert cards.count("Law 12C1(c): slow (Ann).") == 2 * len(ruled)
    assert cards.count("Penalties and bonuses: -5.00") == 1
    for one in ruled:
        assert isinstance(one.line.result, Assigned)
        assert assigned_words(one.line.result) in travellers
    assert "Adjusted: NS" not in travellers
