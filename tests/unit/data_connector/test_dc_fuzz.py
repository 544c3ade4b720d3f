"""Whatever programs send, in whatever order: an answer in words, never a fault, and nothing half kept."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import client_events as events
from bridgemate_dataconnector import dto
from dc_host import ERASED, NOT_PLAYED, Host
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dc_validation import a_large_event, a_message, break_something

from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.numbers import Command
from terminals.interop.data_connector.result_rows import place_of, to_dto
from terminals.interop.data_connector.structure import Structure
from terminals.store import data_connector as store
from terminals.store import results
from terminals.sync.projection import resolve

WANTS = {
    Command.INITIALIZE_EVENT: "InitDTO",
    Command.CONTINUE_EVENT: "ContinueDTO",
    Command.UPDATE_MOVEMENT: "SectionUpdateDTO",
    Command.UPDATE_SCORING_GROUPS: ["ScoringGroupDTO"],
    Command.PUT_RESULTS: ["ResultDTO"],
    Command.PUT_PLAYER_DATA: ["PlayerDataDTO"],
    Command.PUT_PARTICIPATIONS: ["ParticipationDTO"],
    Command.PUT_HANDRECORDS: ["HandrecordDTO"],
    Command.PUT_BRIDGEMATE2_SETTINGS: ["Bridgemate2SettingsDTO"],
    Command.PUT_BRIDGEMATE3_SETTINGS: ["Bridgemate3SettingsDTO"],
    Command.PUT_TD_CALLS: ["TdCallDTO"],
    Command.GET_MOVEMENT: "SectionDTO",
}
NONSENSE: list[Any] = [None, "", 0, -1, 10**20, [], {}, [[]], [None], {"Session": 1}, "x", True, {"Command": 3}]


def a_payload(command: Command, rng: random.Random) -> Any:
    wanted = WANTS.get(command)
    if wanted is None or rng.random() < 0.1:
        return rng.choice([*NONSENSE, {"Command": rng.randrange(32)}, rng.randrange(50)])
    kind = wanted if isinstance(wanted, str) else wanted[0]
    made = a_message(kind, rng)
    if kind == "ResultDTO":
        made = events.a_result(rng.randrange(1, 4), rng.randrange(1, 4), rng.randrange(1, 7), rng.randrange(1, 5), 2)
        made.is_deleted = rng.random() < 0.2
        made.level = rng.randrange(-10, 8)
        made.denomination, made.declarer_direction = rng.randrange(1, 6), rng.randrange(1, 5)
        made.declaring_pair = rng.choice([made.pair_north_south, made.pair_east_west])
        made.scoring_direction = rng.randrange(1, 4)
    if rng.random() < 0.3:
        break_something(made, rng)
    if isinstance(wanted, list):
        return [made.to_dict()] * rng.randrange(1, 3)
    if kind == "InitDTO" and rng.random() < 0.5:
        made.commands = rng.choice([5, 7, 133, 135])
    return made.to_dict()


def table_plays(host: Host, rng: random.Random) -> None:
    tables = events.howell_two()
    table, number = rng.randrange(2), rng.randrange(3)
    ns, ew, low, high = tables[table][number]
    kind = rng.choice([1, 1, 1, 2, NOT_PLAYED])
    confirmed = 3 if kind == NOT_PLAYED else 1
    if rng.random() < 0.2:
        ns, ew = ew, ns
    seq = host.seqs.get(101 + table, 0)
    if seq and rng.random() < 0.3:
        kind = ERASED
    replaces = 1 if kind == ERASED else 0
    body = {"kind": kind, "confirmed_by": confirmed, "replaces": replaces}
    host.key_in(table + 1, number + 1, rng.randint(low, high), ns, ew, may_fail=True, **body)


def somebody_sits_or_calls(host: Host, rng: random.Random) -> None:
    number = rng.choice(["", "7", "77", "X"])
    host.seat(
        "A", rng.randint(1, 4), rng.choice("12"), number, rng.choice(["", "Eva", "Eva Ōe"]) if not number else "Eva"
    )
    host.call(rng.randint(1, 2), rng.randint(1, 3))


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_any_requests_in_any_order(seed: int) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        host = Host(Path(name) / "events.db")
        if rng.random() < 0.9:
            send(host, Command.INITIALIZE_EVENT, "", a_large_event(rng).to_dict())
        for _ in range(12):
            luck = rng.random()
            if luck < 0.3 and host.has_event:
                table_plays(host, rng)
            elif luck < 0.35:
                host = host.restart()
            elif luck < 0.45 and host.has_event:
                somebody_sits_or_calls(host, rng)
            else:
                command = rng.choice(list(Command))
                session = rng.choice([events.SESSION, events.SESSION, events.SESSION, events.OTHER, "", "F" * 32])
                send(host, command, session, a_payload(command, rng))
        check(host)
        host.database.close()


def send(host: Host, command: Command, session: str, payload: Any) -> dict[str, Any]:
    body = {"Command": int(command), "SessionGuid": session, "SerializedData": json.dumps(payload)}
    reply = json.loads(host.post(json.dumps(body).encode()))
    response = dto.ScoringProgramResponse.from_dict(reply)
    assert int(response.request_command) == command
    assert response.session_guid == session
    json.loads(response.serialized_data)
    assert (reply["DataType"] == 4) == (reply["ErrorType"] != 0)
    assert isinstance(reply, dict)
    return reply


def check(host: Host) -> None:
    """What the program has been told, last word for each board, is what the store says."""
    if not host.has_event:
        return
    connection = host.database._connection
    for row in host.current():
        state = resolve(row.play, results.of_play(connection, host.event, row.play))
        assert state.content == row.content
    last_words(host)
    for session in (events.SESSION, events.OTHER):
        before = send(host, Command.POLL_ALL_RESULTS, session, None)
        again = send(host, Command.POLL_ALL_RESULTS, session, None)
        assert before == again
        send(host, Command.ACCEPT_RESULTS, session, 10**9)
        if before["DataType"] != 4:
            same_view(host, session)
            assert json.loads(send(host, Command.POLL_NEW_RESULTS, session, None)["SerializedData"]) == []


def last_words(host: Host) -> None:
    """The last that a program can read under a key is what both sides know, whoever said it."""
    connection = host.database._connection
    told = connection.execute(
        "SELECT event, session, kind, key, body FROM program_item WHERE cleared IN (0, ?) ORDER BY id", (store.OWN,)
    )
    last = {(event, session, kind, key): body for event, session, kind, key, body in told}
    for place, body in last.items():
        assert store.state(connection, *place) == body, place


def same_view(host: Host, session: str) -> None:
    """What both sides know of a session's results is what stands in the store."""
    connection = host.database._connection
    event = store.event_of_session(connection, session)
    assert event is not None
    row = store.event_by_id(connection, event)
    assert row is not None
    structure = Structure.load(row)
    expected: dict[str, list[str]] = {}
    for one in results.current(connection, event):
        section = structure.section_of(one.play.section)
        if section is None or structure.session_of(section) != session or one.content is None:
            continue
        place = place_of(section, one.play, one.round, one.table)
        told = to_dto(section, session, one.play, one.content, place)
        expected.setdefault(place.key(section.letters), []).append(shapes.dumps(told.dto))
    known = {
        key: body
        for key, body in store.states(connection, event, session, "result").items()
        if not json.loads(body)["IsDeleted"]
    }
    assert known.keys() == expected.keys()
    for key, bodies in expected.items():
        assert known[key] in bodies
