"""Results as JSON: exact round trips, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_sessions import mitchell, published, with_rulings
from interop_teams import round_robin

from firmware_bridge.errors import EntryError
from terminals.interop.audit import audit_event
from terminals.interop.exchange import ExchangeEvent, ExchangeMatch, MatchBoard
from terminals.interop.results_json import read_results_json, state_as_dict, state_from_dict, write_results_json
from terminals.interop.usebio_write import write_usebio
from terminals.result import BoardState, NotEntered, NotPlayed, NotPlayedReason, SitOut
from terminals.scoring.boards import Method


@pytest.mark.parametrize("method", [Method.MATCHPOINTS, Method.BUTLER, Method.CROSS_IMPS])
def test_everything_comes_back(method: Method) -> None:
    event = published(with_rulings(mitchell(section="A")), method=method)
    data = write_results_json(event)
    back = read_results_json(data)
    assert write_results_json(back) == data
    assert [one.line for one in back.lines] == [one.line for one in event.lines]
    assert back.entrants == event.entrants
    assert audit_event(back).equal


def test_team_matches_come_back() -> None:
    event = round_robin()
    back = read_results_json(write_results_json(event))
    assert [match.boards[0].points for match in back.matches] == [match.boards[0].points for match in event.matches]
    assert audit_event(back).equal


@pytest.mark.parametrize("state", [NotPlayed(NotPlayedReason.NO_TIME, "slow"), SitOut(), NotEntered()])
def test_states_without_a_score(state: BoardState) -> None:
    assert state_from_dict(state_as_dict(state, 1)) == state


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 2),
        (b"[]", 2),
        (b'{"format": "other"}', 2),
        (b'{"format": "firmware-bridge-results", "version": 1}', 1),
        (b"{" * 100_000, 2),
    ],
)
def test_what_is_no_result_file_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(EntryError) as caught:
        read_results_json(data)
    assert caught.value.exit_status == status


GOOD = json.loads(write_results_json(published(mitchell(3, 3, 1))))
GOOD["results"][0]["auction"] = {
    "dealer": "N",
    "calls": [{"seat": "N", "call": "1NT", "standing": "made", "alerted": True, "law": ""}],
}
GOOD["results"][1]["cards"] = {"leader": "W", "agreed": 9, "played": [["W", "SA"], ["N", "S2"]]}
JUNK = st.sampled_from([None, True, -1, 3.5, "x", "", [], {}, [1], {"a": 1}])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_value_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    copy = json.loads(json.dumps(GOOD))
    place = copy
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(JUNK)
        break
    try:
        read_results_json(json.dumps(copy).encode())
    except EntryError:
        pass


def swiss() -> ExchangeEvent:
    """Two pairs at one table, as a match."""
    event = published(mitchell(3, 1, 2, one=True), one=True)
    (table,) = [[one for one in event.lines if one.line.ns.number == 1]]
    boards = tuple(MatchBoard(one.line.board, one, None) for one in table)
    match = ExchangeMatch(1, table[0].line.ns, table[0].line.ew, boards)
    return replace(event, match_scoring="VPS", matches=(match,))


@pytest.mark.parametrize("boards", ["3", True, 1.5, []])
def test_a_number_of_boards_is_whole(boards: object) -> None:
    data = json.loads(write_results_json(swiss()))
    data["entrants"][0]["boards"] = boards
    with pytest.raises(EntryError, match="not complete"):
        read_results_json(json.dumps(data).encode())


def test_names_are_words_and_a_date_is_one_or_none() -> None:
    data = json.loads(write_results_json(swiss()))
    for strange in (None, "tomorrow", 7):
        data["date"] = strange
        assert read_results_json(json.dumps(data).encode()).date == ""
    data["entrants"][0]["players"][0]["name"] = None
    with pytest.raises(EntryError, match="not complete"):
        read_results_json(json.dumps(data).encode())


@pytest.mark.parametrize("section", ["Z", "1/2", None])
def test_a_match_of_another_section_or_without_a_board_is_written(section: str | None) -> None:
    event = swiss()
    (match,) = event.matches
    if section is None:
        match = replace(match, boards=())
    else:
        lines = [one.north_south for one in match.boards if one.north_south is not None]
        moved = [replace(one, line=replace(one.line, section=section)) for one in lines]
        match = replace(match, boards=tuple(MatchBoard(one.line.board, one, None) for one in moved))
    assert b"<MATCH>" in write_usebio(replace(event, matches=(match,)))
