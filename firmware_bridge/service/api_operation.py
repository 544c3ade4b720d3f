"""What an operation of the HTTP interface is: a row of the table from which routes and OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.responses import Response

ROOT = "/api/v1"
Handler = Callable[..., Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. role: least role, "" for everybody. fields: of the JSON body, None when it takes none.

    takes: media type of the body. answer: media type of the answer, "" is JSON. query: name -> words.
    """

    method: str
    path: str
    role: str
    words: str
    handler: Handler
    fields: Mapping[str, str] | None = None
    takes: str = "application/json"
    answer: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
