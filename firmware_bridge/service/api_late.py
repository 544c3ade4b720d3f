"""Route for a page of an earlier event: it delivers the results that waited on it, and gets nothing but receipts.

Its card's code is good for this alone, for 30 days after the event (``past_cards``), and only from a phone that was
admitted in it (``terminals.sync.late``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError, FirmwareBridgeError, StoreError
from firmware_bridge.service.api_access import LATE, Caller, origin_of
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.api_table import device_id, posted, signed
from firmware_bridge.service.browser_hub import MODEL, message_json
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_stream import encode
from firmware_bridge.service.desk_values import whole_of
from firmware_bridge.wire.messages import RecordAck
from terminals.sync.late import LatePost, take_late


async def deliver(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """Take what waits on a page of an event that is over. Without records: that it is over."""
    device = device_id(body)
    oldest = whole_of(body, "oldest_unacked", 0, 2**32 - 1, 0)
    records = [signed(desk, device, record) for record in posted(body)]
    if not records:
        return _answer([])
    if len({record.journal_id for record in records}) > 1:
        raise EntryError("the records are of one journal.", code="bad-value")
    if desk.clock.doubt:
        raise StoreError(
            "this computer's clock can't be right, so nobody knows how long that event is over.",
            next_step="Tell it the time at the desk, or with td clock.",
            code="clock-doubt",
        )
    subject = f"late/{device:016x}"
    wait = desk.late_posts.wait(subject)
    if wait:
        return _refused(429, "too-many-posts", "this page posts too often.", int(wait) + 1)
    desk.late_posts.add(subject)
    setup = desk.store.load_setup(caller.event)
    if setup is None:
        raise EntryError("that event is not in the store any more.", code="no-such-event")
    post = LatePost(device, MODEL, (caller.section, caller.table), oldest, records, desk.wall())
    try:
        told = await desk.submit(lambda connection: take_late(connection, setup, post))
    except FirmwareBridgeError as error:
        if error.code not in ("not-admitted", "other-event"):
            raise
        # Whoever tries devices on an old card is as slow as whoever tries codes.
        desk.failures.add(origin_of(request.client.host) if request.client is not None else "")
        return _refused(403, error.code, error.what)
    desk.stream.publish(encode("terminals", {}))
    messages = []
    for message in told:
        crc = desk.crc_of(device, message.journal_id, message.upto) if isinstance(message, RecordAck) else None
        messages.append(message_json(message) | ({} if crc is None else {"crc": crc}))
    return _answer(messages)


def _answer(messages: list[dict[str, Any]]) -> Response:
    return JSONResponse({"over": True, "messages": messages})


def _refused(status: int, code: str, what: str, wait: int = 0) -> Response:
    value = {"error": {"code": code, "what": what, "where": "", "next": "Ask the director." if not wait else "Wait."}}
    return JSONResponse(value, status, {"retry-after": str(wait)} if wait else None)


def operations() -> list[Operation]:
    """What the page of a table may do once its event is over."""
    return [
        Operation(
            "POST",
            f"{ROOT}/table/late",
            LATE,
            "Deliver records of an event that is over; gives RECORD_ACK and RECORD_NAK, nothing else.",
            deliver,
            {
                "device": "16 hexadecimal digits",
                "oldest_unacked?": "number of the oldest record that the page holds unacknowledged",
                "records?": "as for exchange, all of one journal",
            },
        )
    ]
