"""PBN results: tables in every shape, round trips, audits."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_sessions import mitchell, published, with_rulings

from dealer.deal import Deal
from firmware_bridge.errors import EntryError
from terminals.contract import Contract
from terminals.interop.audit import audit_event
from terminals.interop.exchange import EventKind
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.pbn_tables import Column, read_columns, read_row, write_row
from terminals.interop.result_files import parse_results
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.result import Artificial, Assigned, Average, NotPlayed, PassedOut, Played
from terminals.scoring.boards import Method


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("one", [False, True])
def test_what_is_written_reads_back_and_audits_clean(method: Method, one: bool) -> None:
    lines = mitchell(one=one)
    if method is not Method.AGGREGATE:
        lines = with_rulings(lines)
    event = published(lines, method=method, one=one)
    data = write_pbn_results(event)
    back = read_pbn_results(data)
    assert (back.title, back.date, back.method, back.winners) == (event.title, event.date, method, 1 if one else 2)
    assert back.warnings == ()
    for ours, theirs in zip(event.lines, back.lines, strict=True):
        if isinstance(ours.line.result, (Played, PassedOut)) or (
            isinstance(ours.line.result, Assigned) and ours.score is None
        ):
            assert theirs.line.result == ours.line.result
        assert (theirs.score, theirs.line.board) == (ours.score, ours.line.board)
    if method in (Method.MATCHPOINTS, Method.AGGREGATE):
        report = audit_event(back)
        assert report.equal, (report.points_mismatches, report.total_mismatches)
        assert report.totals_checked == 14


def test_export_conventions() -> None:
    text = write_pbn_results(published(mitchell(3, 3, 1)), {1: Deal.from_index(12345)}).decode()
    assert text.startswith("% PBN 2.1\r\n% EXPORT\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert all(len(line) <= 255 for line in text.split("\r\n"))
    order = ["Event", "Site", "Date", "Board", "West", "North", "East", "South", "Dealer", "Vulnerable", "Deal"]
    games = text.split("\r\n\r\n")
    board = [line.split(" ")[0].strip("[") for line in games[2].split("\r\n") if line.startswith("[")]
    assert board[: len(order)] == order
    assert '[Deal "N:' in text
    assert text.count('[Deal ""]') == 2


def pbn(spec: str, *rows: str, tags: str = '[Scoring "MP"]') -> bytes:
    return "\n".join(['[Event "E"]', '[Board "1"]', tags, f'[ScoreTable "{spec}"]', *rows, ""]).encode()


def test_tables_of_other_programs() -> None:
    spec = "Table\\2R;Round\\2R;PairId_NS\\2R;PairId_EW\\2R;Contract\\4L;Declarer\\1R;Result\\2R;Lead\\3L;Score_NS\\6R;"
    spec += "Score_EW\\6R;MP_NS\\4R;MP_EW\\4R"
    event = read_pbn_results(
        pbn(
            spec,
            '19 14  4 11 2HX  S  8 S6   "470"      - 4.0  0.0',
            '20 14  5 10 Pass -  - -      "0"      - 1.0  3.0',
            "20 14  6 12 1NT  W  7 -        -     90 1.0  3.0",
        )
    )
    assert [one.line.result for one in event.lines] == [
        Played(Contract.parse("2HX S"), 8, 8),
        PassedOut(),
        Played(Contract.parse("1NT W"), 7),
    ]
    assert [one.score for one in event.lines] == [470, 0, -90]


def test_multiplicity_and_lines_without_pairs() -> None:
    spec = "Rank\\3R;Contract\\5L;Declarer\\1;Result\\2R;Score_NS\\5R;IMP_NS\\6R;Multiplicity"
    event = read_pbn_results(
        pbn(spec, "  1 6C    W  9   150   9.91 1", " 14 6C    W 11    50   8.47 5", tags='[Scoring "Cross"]')
    )
    assert len(event.lines) == 6
    assert event.method is Method.CROSS_IMPS
    assert event.lines[1].ns_points is not None
    assert event.lines[1].ns_points.value == Fraction(847, 100)
    with pytest.raises(EntryError):
        read_pbn_results(pbn(spec, "  1 6C    W  9   150   9.91 99999999"))


def test_names_with_spaces_in_their_width() -> None:
    columns = read_columns("PairId_NS\\2R;Contract\\4L;Names_NS\\13;Names_EW")
    assert columns[2] == Column("Names_NS", 13)
    row = read_row(" 1 4S   Alfa-Bravo    Charlie Delta", columns)
    assert row == {"PairId_NS": "1", "Contract": "4S", "Names_NS": "Alfa-Bravo", "Names_EW": "Charlie Delta"}
    assert read_row("1", columns) is None
    assert read_row("1 2", [Column("A"), Column("B"), Column("C")]) is None


@given(
    st.lists(st.tuples(st.text("abcXYZ 0-9éł", min_size=1, max_size=12), st.integers(1, 14), st.booleans()), min_size=1)
)
def test_rows_read_back(cells: list[tuple[str, int, bool]]) -> None:
    columns = [Column(f"C{'x' * index}", width, right) for index, (_, width, right) in enumerate(cells)]
    values = [text for text, _, _ in cells]
    back = read_row(write_row(columns, values), columns)
    assert back is not None
    assert list(back.values()) == [" ".join(text.split()) or "-" for text in values]


def test_artificial_and_missing_results() -> None:
    spec = "PairId_NS;PairId_EW;Contract;Declarer;Result;MP_NS;MP_EW;Percentage_NS;Percentage_EW"
    event = read_pbn_results(pbn(spec, "1 2 - - - 6 4 60 40", "3 4 - - - - - - -", "5 6 1NT N 7 5 5 50 50"))
    assert event.lines[0].line.result == Artificial(Average.PLUS, Average.MINUS)
    assert event.lines[1].line.result == NotPlayed()


def test_percentages_alone_are_checked_as_such() -> None:
    spec = "PairId_NS;PairId_EW;Contract;Declarer;Result;Percentage_NS;Percentage_EW"
    rows = ["1 2 1NT N 8 100 0", "3 4 1NT N 7 50 50", "5 6 1NT N 6 0 100"]
    report = audit_event(read_pbn_results(pbn(spec, *rows)))
    assert report.equal
    assert report.points_checked == 6
    rows[1] = "3 4 1NT N 7 60 50"
    assert len(audit_event(read_pbn_results(pbn(spec, *rows))).points_mismatches) == 1


def test_a_board_marked_with_another_vulnerability_is_scored_as_marked() -> None:
    spec = "PairId_NS;PairId_EW;Contract;Declarer;Result;Score_NS"
    marked = '[Vulnerable "All"]'
    assert audit_event(read_pbn_results(pbn(spec, "1 2 4S N 10 620", tags=marked))).equal
    assert not audit_event(read_pbn_results(pbn(spec, "1 2 4S N 10 620"))).equal


def test_individuals_and_inheritance() -> None:
    spec = "PlayerId_North;PlayerId_South;PlayerId_East;PlayerId_West;Contract;Declarer;Result"
    second = f'\n[Event "#"]\n[Board "2"]\n[ScoreTable "{spec}"]\n1 2 3 4 Pass - -\n'
    event = read_pbn_results(pbn(spec, "1 2 3 4 1NT N 7") + second.encode())
    assert event.kind is EventKind.INDIVIDUAL
    assert [one.line.board for one in event.lines] == [1, 2]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 2),
        (b'[Board "1"]\n[Deal "N:"]\n', 2),
        (b'[Board "1"]\n[ScoreTable "Contract;Declarer;Result"]\n\n', 2),
        (b'[Board "x"]\n[ScoreTable "Contract;Declarer;Result"]\n1NT N 7\n', 1),
        (b'[Board "1"]\n[ScoreTable "Contract;Declarer;Result"]\n1NT\n', 1),
    ],
)
def test_what_has_no_results_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(EntryError) as caught:
        read_pbn_results(data)
    assert caught.value.exit_status == status


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 2000), st.integers(0, 200))
def test_damaged_files_raise_nothing_but_entry_errors(noise: bytes, start: int, length: int) -> None:
    good = write_pbn_results(published(mitchell(3, 3, 1)))
    try:
        audit_event(read_pbn_results(good[:start] + noise + good[start + length :]))
    except EntryError:
        pass


def test_sections_keep_apart_in_both_formats() -> None:
    lines = mitchell(5, 5, 2, seed=3, section="A") + mitchell(5, 5, 2, seed=4, section="B")
    event = published(lines)
    for back in (read_pbn_results(write_pbn_results(event)), read_usebio(write_usebio(event))):
        assert back.sections == ("A", "B")
        report = audit_event(back)
        assert report.equal
        assert report.changes == {}
        assert report.totals_checked == 20


def game(**tags: str) -> str:
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + "\n"


def test_games_without_tables_are_plays() -> None:
    text = (
        game(Event="E", Board="1", Contract="5H", Declarer="S", Result="10", Score="NS -50", North="a", South="b")
        + game(Contract="4H", Declarer="N", Result="10", Score="NS 420", North="c", South="d", East="e", West="f")
        + game(Board="2", Contract="3NT", Declarer="E", Result="9", Score="400")
        + game(Board="3", Contract="Pass", Declarer="", Result="", Score="0")
        + game(Board="4", Contract="2H", Declarer="^W", Result="EW 8", Score="EW 110 NS -110", Vulnerable="None")
        + game(Board="5", Contract="?", Declarer="?", Result="?")
    )
    event = read_pbn_results(text.encode())
    assert [(one.line.board, one.score) for one in event.lines] == [(1, -50), (1, 420), (2, -400), (3, 0), (4, -110)]
    report = audit_event(event)
    assert report.equal
    assert report.contract_scores_checked == 5
    wrong = audit_event(read_pbn_results(text.replace("NS 420", "NS 450").encode()))
    assert [one.as_dict()["published"] for one in wrong.score_mismatches] == [450]


def test_two_rooms_are_a_match() -> None:
    def room(name: str, score: str, more: str = "", contract: str = "4H", tricks: str = "10") -> str:
        tags = {"Board": "1", "Contract": contract, "Declarer": "N", "Result": tricks, "Score": score, "Room": name}
        tags |= {"HomeTeam": "Home", "VisitTeam": "Visit", "Round": "3"}
        return game(**tags, **({"ScoreIMP": more} if more else {}))

    text = room("Open", "NS 420", "NS 10") + room("Closed", "NS -50", tricks="9")
    event = read_pbn_results(text.encode())
    assert event.kind is EventKind.TEAMS
    assert event.matches[0].round == 3
    report = audit_event(event)
    assert (report.equal, report.points_checked, report.method) == (True, 1, "imps")
    wrong = audit_event(read_pbn_results(text.replace("NS 10", "NS 11").encode()))
    assert [one.as_dict()["computed"] for one in wrong.points_mismatches] == [10]


@pytest.mark.parametrize(
    "tags",
    [
        {"Board": "x", "Contract": "4H", "Declarer": "N", "Result": "10"},
        {"Board": "1", "Contract": "9H", "Declarer": "N", "Result": "10"},
        {"Board": "1", "Contract": "4H", "Declarer": "N", "Result": "many"},
        {"Board": "1", "Contract": "4H", "Declarer": "N", "Result": "14"},
    ],
)
def test_games_that_can_not_be_are_refused(tags: dict[str, str]) -> None:
    with pytest.raises(EntryError) as caught:
        read_pbn_results(game(**tags).encode(), "f.pbn")
    assert caught.value.exit_status == 1
    assert "line 1" in caught.value.where


@pytest.mark.skipif("FIRMWARE_BRIDGE_TEST_DATA" not in os.environ, reason="needs the folder of test data")
def test_a_real_match_file_is_equal() -> None:
    folder = Path(os.environ["FIRMWARE_BRIDGE_TEST_DATA"])
    found = next(iter(folder.rglob("match-export.pbn")), None)
    if found is None:
        pytest.skip("match-export.pbn is not in the folder")
    report = audit_event(read_pbn_results(found.read_bytes()))
    assert report.equal
    assert report.contract_scores_checked == report.lines > 1


def test_equal_numbers_in_both_directions_without_a_word_about_it() -> None:
    event = published(mitchell(5, 5, 2))
    text = write_pbn_results(event).decode().replace("Direction\\2L", "Extra\\2L")
    text = re.sub(r"^( *\S+ +\d+) (NS|EW) ", r"\1 -  ", text, flags=re.MULTILINE)
    back = read_pbn_results(text.encode())
    assert back.winners == 2
    report = audit_event(back)
    assert report.equal, report.total_mismatches
    assert (report.totals_checked, report.notes) == (10, ())
    xml = write_usebio(event).decode()
    for old in ("<DIRECTION>NS</DIRECTION>", "<DIRECTION>EW</DIRECTION>", "<WINNER_TYPE>2</WINNER_TYPE>"):
        xml = xml.replace(old, "")
    report = audit_event(read_usebio(xml.encode()))
    assert report.equal, report.total_mismatches
    assert report.totals_checked == 10


HEADS = (
    "PairId_NS\\2R;PairId_EW\\2R;Contract\\4L;Declarer\\1R;Result\\2R;Score_NS\\5R;Score_EW\\5R;MP_NS\\4R;MP_EW\\4R;"
)
HEADS += "Percentage_NS\\6R;Percentage_EW\\6R"
ROWS = (
    "1 4 4S N 10 420 -420 4.00 0.00 100.00 0.00",
    "2 5 4S N 9 -50 50 0.00 4.00 0.00 100.00",
    "3 6 3S S 9 140 -140 2.00 2.00 50.00 50.00",
)
TOTALS = "Rank\\2R;PairId\\2R;TotalMP\\5R;TotalPercentage\\6R"
RANKED = ("1 1 4.00 100.00", "1 5 4.00 100.00", "3 3 2.00 50.00", "3 6 2.00 50.00", "5 2 0.00 0.00", "5 4 0.00 0.00")


def published_by_hand(rows: Sequence[str], ranked: Sequence[str]) -> str:
    head = ['[Event "E & Ö"]', '[Board "1"]', '[Scoring "MP"]', f'[TotalScoreTable "{TOTALS}"]', *ranked]
    return "\n".join([*head, f'[ScoreTable "{HEADS}"]', *rows, ""])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_no_published_number_escapes(encoding: str) -> None:
    assert audit_event(parse_results(published_by_hand(ROWS, RANKED).encode(encoding))).equal
    tables = {"rows": (ROWS, range(4, 11)), "ranked": (RANKED, (0, 2, 3))}
    for table, (lines, columns) in tables.items():
        for line, column in product(range(len(lines)), columns):
            values = lines[line].split(" ")
            value = Decimal(values[column])
            step = Decimal(1).scaleb(int(value.as_tuple().exponent))
            values[column] = str(value + (step if column else 2))  # two who are equal may be placed one after the other
            changed = {"rows": ROWS, "ranked": RANKED} | {
                table: tuple(" ".join(values) if at == line else one for at, one in enumerate(lines))
            }
            report = audit_event(parse_results(published_by_hand(**changed).encode(encoding)))
            found = [*report.score_mismatches, *report.points_mismatches, *report.total_mismatches]
            assert len(found) == 1, (table, lines[line], column, found)


def test_what_is_not_checked_is_said() -> None:
    found = read_pbn_results(
        pbn("PairId_NS\\1R;PairId_EW\\1R;Contract\\4L;Score_NS\\4R;MP_NS\\1R;Rank\\1R", "1 2 Pass 0 0 1")
    )
    assert "the column Rank was not checked" in found.warnings
