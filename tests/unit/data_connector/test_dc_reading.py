"""Requests as odd programs write them: what is meant is clear, so it is done; what is not is answered in words."""

from __future__ import annotations

import json
from typing import Any

import client_events as events
import pytest
from bridgemate_dataconnector import dto

from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.envelope import Reply, Request, read_request, refused, write_reply
from terminals.interop.data_connector.numbers import DataType, ErrorType
from terminals.interop.data_connector.shapes import WrongData

PLAIN = Request(27, "Klub Łódź", "key", "A" * 32, "42")


def body(**changes: Any) -> dict[str, Any]:
    told = {"Command": 27, "ClubId": "Klub Łódź", "LicenceKey": "key", "SessionGuid": "A" * 32}
    return {**told, "SerializedData": "42", **changes}


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(body()),
        json.dumps(body(Command="27")),
        json.dumps(body(Command=27.0, SerializedData=42)),
        json.dumps({name.lower(): value for name, value in body().items()}),
        json.dumps({name[0].lower() + name[1:]: value for name, value in body().items()}, indent=3),
        json.dumps(body(Extra={"deep": [1, None]}, Another=None), ensure_ascii=False),
        "\ufeff" + json.dumps(body(), ensure_ascii=False),
        "\r\n " + json.dumps(body()) + "\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_what_is_meant_is_clear(written: str, encoding: str) -> None:
    assert read_request(written.encode(encoding)) == PLAIN


@pytest.mark.parametrize(
    ("charset", "club"),
    [
        ("windows-1250", "Łódź"),
        ("Windows-1252", "Ñandú"),
        ("ISO-8859-2", "Żółć"),
        ("latin1", "é"),
        ("cp1251", "Москва"),
    ],
)
def test_a_code_page_that_is_named(charset: str, club: str) -> None:
    written = json.dumps(body(ClubId=club), ensure_ascii=False)
    assert read_request(written.encode(charset), charset).club == club
    assert read_request(written.encode(), charset).club == club, "libraries name their default and send UTF-8"
    for unknown in ("", "utf-8", "punycode", "idna", "base64", "utf-7", "cp1252x", "nonsense\n"):
        with pytest.raises(WrongData, match="UTF-8"):
            read_request(written.encode(charset), unknown)


def test_a_request_or_its_payload_encoded_once_too_often() -> None:
    assert read_request(json.dumps(json.dumps(body())).encode()) == PLAIN
    twice = read_request(json.dumps(body(SerializedData=json.dumps(json.dumps({"Commands": 5})))).encode())
    assert twice.payload == {"Commands": 5}
    with pytest.raises(WrongData, match="object"):
        read_request(json.dumps(json.dumps(json.dumps(body()))).encode())


@pytest.mark.parametrize("changes", [{"SerializedData": '"\ud800"'}, {"SessionGuid": "\udfff"}, {"ClubId": "\ud83d"}])
def test_half_of_a_letter_is_answered_like_any_other(changes: dict[str, Any]) -> None:
    request = read_request(json.dumps(body(**changes)).encode())
    assert request.data is not None
    assert json.loads(write_reply(request, Reply(DataType.OK, request.data)))["RequestCommand"] == 27
    with pytest.raises(WrongData) as wrong:
        read_request(json.dumps(body(**changes, LicenceKey=[])).encode())
    write_reply(Request(wrong.value.known[0], session=wrong.value.known[1]), refused(ErrorType.WRONG_DATA_TYPE, "x"))


def test_null_and_absent_are_the_same() -> None:
    assert read_request(b'{"Command": 4}') == Request(4)
    nothing = {"Command": 4, "ClubId": None, "LicenceKey": None, "SessionGuid": None, "SerializedData": None}
    assert read_request(json.dumps(nothing).encode()) == Request(4)


@pytest.mark.parametrize("club", [[], {}, True, 1.5])
def test_the_answer_says_to_what_it_belongs_even_when_the_request_can_not_be_read(club: object) -> None:
    with pytest.raises(WrongData) as wrong:
        read_request(json.dumps(body(ClubId=club)).encode())
    command, session = wrong.value.known
    reply = json.loads(write_reply(Request(command, session=session), refused(ErrorType.WRONG_DATA_TYPE, "x")))
    assert (reply["RequestCommand"], reply["SessionGuid"], reply["ErrorType"]) == (27, "A" * 32, 12)


def loose(value: Any) -> Any:
    """The same message as a program writes it that keeps numbers and truth in texts, and names in small letters."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f" {value} "
    if isinstance(value, list):
        return [loose(one) for one in value]
    if isinstance(value, dict):
        return {name.lower(): loose(one) for name, one in value.items() if one is not None}
    return value


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            shapes.INIT,
            events.an_event(
                player_data=[events.a_player("7")],
                participations=[events.a_seat(1, 1, "7")],
                handrecords=[events.a_deal(1)],
                bridgemate2_settings=[events.bm2()],
                bridgemate3_settings=[events.bm3()],
            ),
        ),
        (shapes.RESULT, events.a_result(1, 1, 1, 1, 2, is_deleted=True)),
        (shapes.CALL, dto.TdCallDTO(events.SESSION, "A", 1, 1, 20, 15, 1)),
        (shapes.CONTINUE, dto.ContinueDTO(event_guid=events.EVENT, commands=5)),
    ],
)
def test_numbers_and_truth_in_texts(shape: shapes.Shape, message: Any) -> None:
    assert shapes.read(shape, loose(message.to_dict())) == shapes.read(shape, message.to_dict())


@pytest.mark.parametrize("value", ["", "x", "1e3", "0x10", "9" * 30, "１", "1 2", [], {}, 1.5, "yes"])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(WrongData, match="TableNumber"):
        shapes.read(shapes.RESULT, {"TableNumber": value})
