"""Messages of the Data Connector: our fields are the client's; reading is lenient and never breaks."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from hypothesis import given
from hypothesis import strategies as st

from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.envelope import Reply, Request, read_request, refused, write_reply
from terminals.interop.data_connector.numbers import Command, DataType, ErrorType

SHAPES = {
    shapes.INIT: dto.InitDTO,
    shapes.SESSION: dto.SessionDTO,
    shapes.GROUP: dto.ScoringGroupDTO,
    shapes.SECTION: dto.SectionDTO,
    shapes.SECTION_UPDATE: dto.SectionUpdateDTO,
    shapes.TABLE: dto.TableDTO,
    shapes.ROUND: dto.RoundDTO,
    shapes.PLAYER: dto.PlayerDataDTO,
    shapes.SEAT: dto.ParticipationDTO,
    shapes.RESULT: dto.ResultDTO,
    shapes.DEAL: dto.HandrecordDTO,
    shapes.CALL: dto.TdCallDTO,
    shapes.CONTINUE: dto.ContinueDTO,
    shapes.BM2: dto.Bridgemate2SettingsDTO,
    shapes.BM3: dto.Bridgemate3SettingsDTO,
}


@pytest.mark.parametrize(("shape", "theirs"), SHAPES.items(), ids=lambda one: getattr(one, "name", ""))
def test_a_message_has_the_fields_and_kinds_that_the_client_sends(shape: shapes.Shape, theirs: type) -> None:
    sent = theirs().to_dict()
    ours = shapes.blank(shape)
    assert sent.keys() == ours.keys()
    for name, value in ours.items():
        if isinstance(value, bool) or isinstance(sent[name], bool):
            assert type(value) is type(sent[name]), name
        elif isinstance(sent[name], int):
            assert isinstance(value, int), name
    assert shapes.read(shape, sent) == {**sent, **{k: v for k, v in ours.items() if sent[k] is None}}
    assert theirs.from_dict(ours).to_dict().keys() == sent.keys()


@pytest.mark.parametrize("message", [events.an_event(player_data=[events.a_player("7")]), events.a_deal(2)])
def test_a_message_goes_there_and_back_unchanged(message: Any) -> None:
    shape = next(shape for shape, kind in SHAPES.items() if isinstance(message, kind))
    ours = shapes.read(shape, json.loads(json.dumps(message.to_dict())))
    assert type(message).from_dict(json.loads(shapes.dumps(ours))) == message


def test_null_absent_and_unknown_fields_and_other_capitals_are_understood() -> None:
    found = shapes.read(shapes.PLAYER, {"sessionguid": "x", "PlayerNumber": None, "New": {"a": 1}})
    assert found == shapes.blank(shapes.PLAYER, SessionGuid="x")
    assert shapes.read(shapes.RESULT, {"IsDeleted": 1, "Level": 3.0})["IsDeleted"] is True
    assert shapes.read(shapes.PLAYER, {"PlayerNumber": 12})["PlayerNumber"] == "12"
    assert shapes.read(shapes.PLAYER, {"ValidationMessages": ["x"], "LastName": "\ud83d"})["LastName"] == "\ufffd"


@pytest.mark.parametrize(
    "value",
    [None, [], "x", {"Level": "three"}, {"Level": 1.5}, {"Level": 2**31}, {"IsDeleted": 2}, {"SectionLetters": ["A"]}],
)
def test_a_value_of_another_kind_is_refused_in_words(value: Any) -> None:
    with pytest.raises(shapes.WrongData):
        shapes.read(shapes.RESULT, value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["Sessions", "Commands", "Tables", "x"]), inner),
    max_leaves=20,
)


@given(json_values, st.sampled_from(list(SHAPES)))
def test_any_json_is_read_or_refused(value: Any, shape: shapes.Shape) -> None:
    try:
        found = shapes.read(shape, value)
    except shapes.WrongData:
        return
    assert list(found) == [field.name for field in shape.fields]


@given(st.binary(max_size=200) | json_values.map(lambda v: json.dumps(v).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        request = read_request(body)
        _ = request.payload
    except shapes.WrongData:
        return
    assert isinstance(request.command, int)


def test_depth_and_digits_without_end_are_refused() -> None:
    for text in ("[" * 100_000, "1" * 10_000, '{"a":' * 50_000, "NaN", "\x00"):
        with pytest.raises(shapes.WrongData):
            shapes.parse(text)
            shapes.read(shapes.INIT, shapes.parse(text))


def test_a_request_keeps_its_key_out_of_reprs_and_its_payload_is_double_encoded() -> None:
    theirs = dto.ScoringProgramRequest()
    theirs.command = dto.ScoringProgramDataConnectorCommands.AcceptResultQueueItems
    theirs.club_id, theirs.licence_key, theirs.session_guid = "CLUB", "SECRET", events.SESSION
    theirs.serialized_data = "42"
    found = read_request(json.dumps(theirs.to_dict()).encode())
    assert (found.command, found.club, found.session, found.payload) == (27, "CLUB", events.SESSION, 42)
    assert "SECRET" not in repr(found)
    assert found.licence == "SECRET"


def test_replies_are_read_by_the_client() -> None:
    request = Request(19, session=events.SESSION)
    reply = Reply(DataType.RESULTS, "[]", last=7)
    found = dto.ScoringProgramResponse.from_dict(json.loads(write_reply(request, reply)))
    assert (int(found.request_command), int(found.data_type), found.last_queue_item_id) == (19, 12, 7)
    assert found.session_guid == events.SESSION
    wrong = json.loads(write_reply(request, refused(ErrorType.VALIDATION, "one", "two")))
    assert (wrong["DataType"], wrong["ErrorType"]) == (4, 5)
    assert json.loads(wrong["SerializedData"]) == "one\r\ntwo"


def test_the_numbers_are_those_of_the_client() -> None:
    theirs = {int(one) for one in dto.ScoringProgramDataConnectorCommands}
    assert theirs == {int(one) for one in Command}
    for ours, kind in ((DataType, dto.DataConnectorResponseData), (ErrorType, dto.ErrorType)):
        known = {int(one) for one in kind}
        assert {int(one) for one in ours} <= known
    assert int(dto.DataConnectorResponseData.TdCalls) == DataType.TD_CALLS
    assert dataclasses.is_dataclass(dto.InitDTO)
