"""Requests of scoring programs and replies to them: the outer JSON object, whose payload is JSON in a text. Pure.

A reply is sent with HTTP 200 also when it is an error: a program that gets anything else asks again and then loses
what we said. ``SerializedData`` of a reply is always valid JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from terminals.interop.data_connector.numbers import Command, DataType, ErrorType
from terminals.interop.data_connector.shapes import INT_HIGH, INT_LOW, REQUEST, WrongData, dumps, parse, read, sound

GREETING = "Bridgemate dataconnector service version"
"""Programs look for these words in the answer to ``GET /``; that is all that their ``connect`` does."""


_CODE_PAGES = re.compile(
    r"(windows-|cp)(125[0-8]|874|932)|iso-?8859-?[0-9]{1,2}|latin-?[0-9]{1,2}", re.ASCII | re.IGNORECASE
)
"""Those of old programs, one byte a letter; a body in any of them is quick to decode."""


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
        value = parse(self.data)
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            # Encoded once too often; what is meant is clear.
            value = parse(value)
        return value


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


def read_request(body: bytes, charset: str = "") -> Request:
    """The request in the body of a POST. charset: as its header names it. Raises WrongData."""
    text = _text(body, charset)
    try:
        value = json.loads(text.lstrip("\ufeff"))
        if isinstance(value, str):
            value = json.loads(value)
    except (ValueError, RecursionError):
        raise WrongData("the request is not JSON") from None
    if not isinstance(value, dict):
        raise WrongData("the request is not an object")
    try:
        head = read(REQUEST, value)
    except WrongData as wrong:
        # The answer then at least says to which command it belongs, if that can be read.
        raise WrongData(wrong.words, _known(value)) from None
    data = next((one for name, one in value.items() if str(name).lower() == "serializeddata"), None)
    if data is not None and not isinstance(data, str):
        # Some programs forget to encode the payload a second time; what they mean is clear.
        data = dumps(data)
    return Request(
        command=head["Command"],
        club=head["ClubId"] or "",
        licence=head["LicenceKey"] or "",
        session=head["SessionGuid"] or "",
        data=None if data is None else sound(data),
    )


def _text(body: bytes, charset: str) -> str:
    """UTF-8, or UTF-16 and UTF-32 by their zeros; what is none of them may be in the code page that it names."""
    try:
        return body.decode(json.detect_encoding(body))
    except ValueError:
        pass
    if _CODE_PAGES.fullmatch(charset.strip()):
        try:
            return body.decode(charset.strip())
        except (ValueError, LookupError):
            pass
    raise WrongData("the request is not UTF-8, and its Content-Type names no code page in which it could be read")


def _known(value: dict[str, Any]) -> tuple[int, str]:
    """Command and session of a request that can't be read as a whole."""
    command, session = value.get("Command"), value.get("SessionGuid")
    usable = isinstance(command, int) and not isinstance(command, bool) and INT_LOW <= command <= INT_HIGH
    return command if usable else 0, sound(session[:64]) if isinstance(session, str) else ""  # type: ignore[return-value]


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
