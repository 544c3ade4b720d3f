"""Requests of scoring programs and replies to them: the outer JSON object, whose payload is JSON in a text. Pure.

A reply is sent with HTTP 200 also when it is an error: a program that gets anything else asks again and then loses
what we said. ``SerializedData`` of a reply is always valid JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from terminals.interop.data_connector.numbers import Command, DataType, ErrorType
from terminals.interop.data_connector.shapes import REQUEST, WrongData, dumps, parse, read

GREETING = "Bridgemate dataconnector service version"
"""Programs look for these words in the answer to ``GET /``; that is all that their ``connect`` does."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asks. licence: a secret. payload: the parsed JSON of SerializedData, None when there is none."""

    command: int
    club: str = ""
    licence: str = field(default="", repr=False)
    session: str = ""
    data: str | None = field(default=None, repr=False)

    @property
    def payload(self) -> Any:
        """Raises WrongData."""
        return parse(self.data)


@dataclass(frozen=True, slots=True)
class Reply:
    """data: JSON text. last: id of the last item of a poll. wire: ``data`` as the envelope has it, a JSON string in
    UTF-8, where somebody has that already; ``data`` is empty then."""

    kind: DataType
    data: str = field(repr=False)
    error: ErrorType = ErrorType.NONE
    last: int = 0
    wire: bytes = field(default=b"", repr=False)


class Refusal(Exception):
    """A request that is answered with an error; nothing of it was kept."""

    def __init__(self, error: ErrorType, *lines: str) -> None:
        super().__init__(error.name)
        self.error = error
        self.lines = lines


def ok(words: str = "OK") -> Reply:
    return Reply(DataType.OK, dumps(words))


def refused(error: ErrorType, *lines: str) -> Reply:
    """An error; programs show the lines one below the other."""
    return Reply(DataType.ERROR, dumps("\r\n".join(lines[:200])), error)


def read_request(body: bytes) -> Request:
    """The request in the body of a POST. Raises WrongData."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongData("the request is not JSON") from None
    if not isinstance(value, dict):
        raise WrongData("the request is not an object")
    head = read(REQUEST, value)
    data = value.get("SerializedData", value.get("serializedData"))
    if data is not None and not isinstance(data, str):
        # Some programs forget to encode the payload a second time; what they mean is clear.
        data = dumps(data)
    return Request(
        command=head["Command"],
        club=head["ClubId"] or "",
        licence=head["LicenceKey"] or "",
        session=head["SessionGuid"] or "",
        data=data,
    )


def write_reply(request: Request, reply: Reply) -> bytes:
    """The body of the answer."""
    head = dumps(
        {
            "RequestCommand": request.command,
            "DataType": int(reply.kind),
            "LastQueueItemId": reply.last,
            "ErrorType": int(reply.error),
            "SessionGuid": request.session,
        }
    ).encode()
    return b'%b,"SerializedData":%b}' % (head[:-1], reply.wire or dumps(reply.data).encode())


def command_of(request: Request) -> Command:
    """Raises Refusal for a number that is none."""
    try:
        return Command(request.command)
    except ValueError:
        raise Refusal(ErrorType.NOT_IMPLEMENTED, "There is no such command.") from None
