"""CSV: spreadsheets' dialects in, safe cells out; the BridgeWebs file in its parts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interop_sessions import mitchell, published, with_rulings
from interop_teams import round_robin

from firmware_bridge.errors import EntryError
from terminals.interop.bridgewebs import write_bridgewebs
from terminals.interop.csv_text import read_csv, write_csv
from terminals.interop.exchange import ExchangePlayer
from terminals.interop.results_csv import RANKING_HEAD, RESULTS_HEAD, ranking_csv, results_csv
from terminals.scoring.boards import Method


def table(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@given(st.lists(st.lists(st.text("ab ,;\"'=+-@\té\n1.", max_size=8), min_size=2, max_size=4), min_size=1, max_size=5))
def test_cells_come_back(rows: list[list[str]]) -> None:
    wanted = [[" ".join(cell.split()) for cell in row] for row in rows]
    wanted = [row for row in wanted if any(row)]
    found = [row for _, row in read_csv(write_csv(rows))]
    if any(letter in cell for row in rows for cell in row for letter in "'\t;"):
        return
    assert found == wanted


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-cmd|x", "@SUM(A1)", "=HYPERLINK(1)"])
def test_nothing_is_run_by_a_spreadsheet(cell: str) -> None:
    data = write_csv([[cell, "x"]])
    assert table(data)[0][0] == "'" + cell
    assert read_csv(data)[0][1][0] == cell


def test_numbers_stay_numbers() -> None:
    assert table(write_csv([[-50, "+3", "-1.5", None]])) == [["-50", "+3", "-1.5", ""]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_separators_and_encodings_are_told_from_the_file(separator: str, encoding: str) -> None:
    data = separator.join(["number", "name"]) + "\r\n\r\n" + separator.join(["1", '"Zoë, X"']) + "\r\n"
    if separator == ",":
        data = data.replace('"Zoë, X"', '"Zoë, X"')
    assert read_csv(data.encode(encoding)) == [(1, ["number", "name"]), (3, ["1", "Zoë, X"])]


@pytest.mark.parametrize("data", [b"a\x00b", b"\xff\xfe\x00", b'"' + b"x" * 200_000])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(EntryError) as caught:
        read_csv(data)
    assert caught.value.exit_status == 2


def test_ranking_and_results() -> None:
    event = published(with_rulings(mitchell()))
    ranking = table(ranking_csv(event))
    assert ranking[0] == list(RANKING_HEAD)
    assert len(ranking) == 15
    assert ranking[1][0] == "1"
    results = table(results_csv(event))
    assert results[0] == list(RESULTS_HEAD)
    assert len(results) == 1 + len(event.lines)
    kinds = {row[4] for row in results[1:]}
    assert kinds >= {"played", "artificial", "assigned"}
    names = replace(event.entrants[0], players=(ExchangePlayer("=cmd"),))
    evil = table(ranking_csv(replace(event, entrants=(names,))))
    assert evil[1][3] == "'=cmd"
    teams = table(ranking_csv(round_robin()))
    assert teams[1][3].startswith("Team ")


def test_the_bridgewebs_file_has_its_parts_in_order() -> None:
    event = published(mitchell())
    rows = table(write_bridgewebs(event, director="D", rounds=7))
    tags = [row[0] for row in rows if row and row[0].startswith("#")]
    words = "VERSION SOURCE DATE TITLE DIRECTOR SCORER PAIRS BOARDS WINNERS ROUNDS"
    head = [f"#{word}" for word in words.split()]
    assert rows[0] == ["#VERSION", "std1"]
    assert tags[:14] == [*head, "#SCORES", "#SCORES", "#BOARDFORMAT", "#TRAVELLERS"]
    assert tags[14:] == ["#BOARD"] * 14
    values = {row[0]: row[1] for row in rows if len(row) > 1 and row[0].startswith("#")}
    assert (values["#DATE"], values["#WINNERS"], values["#PAIRS"], values["#BOARDS"]) == ("26/11/2026", "2", "14", "14")
    with pytest.raises(EntryError):
        write_bridgewebs(round_robin())


@pytest.mark.parametrize(
    ("method", "option"),
    [(Method.BUTLER, "#BUTLER"), (Method.CROSS_IMPS, "#CROSSIMP"), (Method.AGGREGATE, "#AGGREGATE")],
)
def test_the_bridgewebs_file_says_how_it_was_scored(method: Method, option: str) -> None:
    rows = table(write_bridgewebs(published(mitchell(), method=method)))
    assert [option, "1"] in rows
    assert [row for row in table(write_bridgewebs(published(mitchell()))) if row[0] == option] == []
