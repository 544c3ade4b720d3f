"""Routes for the page of one table, with the table's token: posts, messages, names, travellers, checks.

Nothing of a board is given out that the pairs now at the table have not both played, and never an opening lead.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import table_looks
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.browser_hub import MAX_RECORDS, MODEL, Box, Journal, decode_record, message_json
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_checks import check_entry, search
from firmware_bridge.service.desk_stream import encode, event_stream
from firmware_bridge.service.desk_values import content_of, text_of, whole_of
from firmware_bridge.service.desk_view import clock_view, place_of
from firmware_bridge.service.table_looks import seated
from firmware_bridge.service.table_view import sitting_view, who_sits_here
from firmware_bridge.wire.messages import EventPart, Record, TableRecord, TermEvents
from firmware_bridge.wire.messages import encode as encode_message
from firmware_bridge.wire.record import AUTH_SIZE, BODY_SIZE, events_auth, name_auth, record_auth
from firmware_bridge.wire.table_data import acceptance_proof, code_verifier
from terminals.store import ledger
from terminals.store.desk import DeviceState, Person
from terminals.sync import seats
from terminals.sync.recorded import VERIFIER, table_body, verifiers
from terminals.sync.setup import section_letter

WAIT_S = 1.5
"""How long a post waits for its acknowledgement before it answers without."""
KEEP_ALIVE_S = 15.0


def info(desk: Desk, caller: Caller) -> dict[str, Any]:
    """What the page needs beside the messages: the event's words and settings, names, what is entered here."""
    setup, letter = desk.setup, section_letter(caller.section)
    settings = setup.settings_of(caller.section)
    entered = [
        {"board": row.play.board, "round": place_of(desk, row)[0], "ns": row.play.ns, "ew": row.play.ew}
        for row in desk.rows.values()
        if row.play.section == letter and row.content is not None and place_of(desk, row)[1] == caller.table
    ]
    pairs = _pairs_here(desk, caller)
    section, now = setup.section(caller.section), seated(desk, caller)
    movement = None if section is None else section.movement
    names = {
        str(pair): [
            "" if one is None else one.name
            for one in seats.sitting(
                desk.people,
                letter,
                pair,
                seats.round_here(movement, pair, caller.table, 1 if now is None else now[0]),
            )
        ]
        for pair in sorted(pairs)
    }
    return {
        "event": f"{setup.id:016x}",
        "name": setup.name,
        "section": letter,
        "section_number": caller.section,
        "table": caller.table,
        "boot": desk.hub.boot,
        "settings": {
            name: getattr(settings, name)
            for name in (
                *("confirm", "confirm_code", "order", "lead", "traveller", "percentages", "ranking", "names"),
                *("auction", "play", "positions"),
            )
        }
        | {"pin": bool(settings.director_pin), "hand_entry": settings.hand_entry and not desk.facts.deal_set},
        **sitting_view(movement, caller.table),
        "names": names if settings.names else {},
        "entered": entered,
        "held": desk.holder(caller.section, caller.table) is not None,
        "locked": (letter, caller.table) in desk.facts.locked,
        "call": desk.facts.calls.get((letter, caller.table), {}).get("state", 0),
        "clock": clock_view(desk),
        "published": desk.period.published_at is not None,
    }


def _pairs_here(desk: Desk, caller: Caller) -> set[int]:
    """Pairs (players of an individual) that sit at the table at some time, a sit-out included."""
    section = desk.setup.section(caller.section)
    return who_sits_here(None if section is None else section.movement, caller.table)


async def table_info(request: Request, desk: Desk, caller: Caller) -> Response:
    plan = desk.setup.table_plan(caller.section, caller.table)
    return JSONResponse({**info(desk, caller), "plan": None if plan is None else message_json(plan)})


async def exchange(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """A page says who it is and how it is, posts records, and takes its messages."""
    device = device_id(body)
    seat = (caller.section, caller.table)
    hub, event = desk.hub, desk.setup.id  # whose token it is: it is looked up anew once the whole post is there
    box = hub.box(device, seat)
    hello = body.get("hello")
    after = whole_of(body, "after", 0, 2**53, 0)
    if body.get("boot") != hub.boot:
        after = 0
    if hello is None and box is None:
        return JSONResponse({"boot": hub.boot, "need": "hello"})
    holds = desk.holder(*seat) == device
    if hello is not None:
        if not isinstance(hello, Mapping):
            raise EntryError("hello is wanted.", code="bad-value")
        holds = await desk.admit_browser(device, *seat)
        journal = _journal(hello)
        box = await hub.hello(device, seat, journal, text_of(body, "version", 32, ""))
        await _tell_event(desk, box, journal, event)
    assert box is not None
    hub.seen(box)
    status = body.get("status")
    if isinstance(status, Mapping):
        await hub.status(
            box,
            names_table=holds or bool(body.get("take_over")),
            round=whole_of(status, "round", 0, 255),
            waiting=whole_of(status, "waiting", 0, 65535),
            clock=whole_of(status, "clock", 0, 65535),
            plan_version=whole_of(status, "plan_version", 0, 65535),
            battery=whole_of(status, "battery", 0, 255, 255),
        )
    if "call" in body:
        await hub.call(box, whole_of(body, "round", 0, 255, 0), whole_of(body, "call", 0, 3))
    if "pending" in body and holds:
        hub.propose(box, _pending(body["pending"]))
    answered = None
    if isinstance(body.get("answer"), Mapping) and not holds:
        answer = body["answer"]
        answered = hub.answer(box, text_of(answer, "id", 40), bool(answer.get("accept")))
    records = [signed(desk, device, record) for record in posted(body)]
    before = box.last
    await hub.records(box, records)
    if records:
        await _until_told(box, before, ("RECORD_ACK", "RECORD_NAK"))
    elif hello is not None:
        # A page with an old plan, or none, shows its first round as soon as the plan is in the answer.
        held = status.get("plan_version") if isinstance(status, Mapping) else None
        has_plan = desk.setup.table_plan(*seat) is not None
        wants_plan = holds and has_plan and held != desk.setup.plan_version
        await _until_told(box, before, ("TABLE_PLAN",) if wants_plan else ("ADMIT",))
    return JSONResponse(
        {
            "boot": hub.boot,
            "holds": desk.holder(*seat) == device,
            "held": desk.holder(*seat) is not None,
            "sends": _may_send(desk, device),
            "phones": len(hub.boxes_at(seat)),
            "pending": hub.pending(seat, desk.holder(*seat)) if not holds else None,
            "answered": answered,
            "messages": box.after(after),
            "last": box.last,
        }
    )


async def _tell_event(desk: Desk, box: Box, journal: Journal, event: int) -> None:
    """What waits on a page belongs to the event of its table's token, however late it is read."""
    part = EventPart(journal.journal_id, max(1, journal.oldest_unacked or journal.next_seq), event)
    known = desk.service.collector.roster.get(box.device)
    key = known.key if known is not None and known.model == MODEL else b""
    covered = encode_message(TermEvents(bytes(AUTH_SIZE), (part,)))[AUTH_SIZE:]
    await desk.hub.events(box, (part,), events_auth(key, box.device, covered))


async def _until_told(box: Box, before: int, kinds: tuple[str, ...]) -> None:
    """Wait a moment for a message of one of these kinds."""
    end = asyncio.get_running_loop().time() + WAIT_S
    while not any(message["kind"] in kinds for message in box.after(before)):
        left = end - asyncio.get_running_loop().time()
        if left <= 0:
            return
        try:
            await asyncio.wait_for(box.arrived.wait(), left)
        except TimeoutError:
            return


async def stream(request: Request, desk: Desk, caller: Caller) -> Response:
    """The messages of a page as they come. Query: device; Last-Event-ID resumes within this run of the service."""
    device = device_id({"device": request.query_params.get("device", "")})
    box = desk.hub.box(device, (caller.section, caller.table))
    if box is None:
        raise EntryError("this page has not introduced itself.", next_step="Post a hello first.", code="need-hello")
    last = request.headers.get("last-event-id", "")
    boot, _, number = last.partition("-")
    after = int(number) if boot == desk.hub.boot and number.isascii() and number.isdigit() else 0
    return event_stream(_messages(desk, box, after))


async def _messages(desk: Desk, box: Box, after: int) -> AsyncIterator[bytes]:
    yield b": here\n\n"
    event = desk.setup.id
    while not desk.hub.closed and desk.setup.id == event:  # a card of another event hears nothing of this one
        arrived = box.arrived
        found = box.after(after)
        if found:
            after = found[-1]["n"]
            chunks = [f"id: {desk.hub.boot}-{one['n']}\n".encode() + encode("message", one) for one in found]
            yield b"".join(chunks)
            continue
        try:
            await asyncio.wait_for(arrived.wait(), KEEP_ALIVE_S)
        except TimeoutError:
            yield b": still here\n\n"
        desk.hub.seen(box)
        if desk.hub.box(box.device, box.seat) is not box:
            return


async def check(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """Look at an entry before it is accepted. The table gets words, the desk gets causes."""
    notices = await check_entry(
        desk,
        caller.section,
        caller.table,
        round=whole_of(body, "round", 1, 255),
        board=whole_of(body, "board", 1, 999),
        ns=whole_of(body, "ns", 1, 4095),
        ew=whole_of(body, "ew", 1, 4095),
        result=content_of(body),
    )
    return JSONResponse({"notices": notices})


async def pair_code(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """The code with which a pair accepts: the first one that it gives, here or at a keypad, is its own for the evening.

    With the body of a result the answer has the proof that the pair has accepted it, for a record of its own.
    """
    letter, pair = section_letter(caller.section), whole_of(body, "pair", 1, 4095)
    code = text_of(body, "code", 8)
    if not 2 <= len(code) <= 8:
        raise EntryError("a code has 2 to 8 letters or digits.", code="bad-value")
    told = _body_of(body.get("body"))
    address = f"code/{letter}/{pair}"
    if desk.failures.wait(address):
        return JSONResponse({"ok": False, "wait": True})
    event = desk.event
    verifier = code_verifier(code, desk.setup.id, caller.section, pair)
    known = desk.store.read(lambda c: verifiers(c, event, letter)).get(pair)
    older = desk.facts.pair_codes.get((letter, pair))  # of an event that began under an earlier version
    if known is None and older is None:
        section = desk.setup.section(caller.section)
        if section is not None and section.movement is not None and pair not in section.movement.pairs:
            raise EntryError("the event has no such pair.", code="no-such-pair")
        await desk.log(VERIFIER, section=letter, pair=pair, verifier=verifier.hex())
        known = verifier
    if known is not None:
        ok = hmac.compare_digest(known, verifier)
    else:
        ok = hmac.compare_digest(older or "", desk.access.pair_digest(event, letter, pair, code))
    if not ok:
        for _ in range(4):
            desk.failures.add(address)
    proof = acceptance_proof(known, desk.setup.id, told) if ok and known is not None and told else b""
    return JSONResponse({"ok": ok, "wait": False, "proof": base64.b64encode(proof).decode()})


def _body_of(text: Any) -> bytes:
    """The 14 bytes of a result's body from base64, or none."""
    if text is None:
        return b""
    try:
        found = base64.b64decode(text, validate=True) if isinstance(text, str) and len(text) < 40 else b""
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != BODY_SIZE:
        raise EntryError(f"body is base64 of {BODY_SIZE} bytes.", code="bad-value")
    return found


# --- people ------------------------------------------------------------------------------------------------------


async def players(request: Request, desk: Desk, caller: Caller) -> Response:
    """Members whose name or number begins like ``q``."""
    return JSONResponse(await search(desk, request.query_params.get("q", "")[:60]))


async def people(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """Who sits at the table: names of one pair that plays here."""
    letter = section_letter(caller.section)
    pair = whole_of(body, "pair", 1, 4095)
    section = desk.setup.section(caller.section)
    if section is not None and section.movement is not None and pair not in _pairs_here(desk, caller):
        raise EntryError("this pair does not come to this table.", code="no-such-pair")
    found = body.get("players")
    if not isinstance(found, list) or len(found) > 2:
        raise EntryError("players is a list of at most two.", code="bad-value")
    now = seated(desk, caller)
    people = []
    for seat, one in zip(("1", "2"), found, strict=False):
        if not isinstance(one, Mapping):
            raise EntryError("a player has a number and a name.", code="bad-value")
        place = seats.seat_at(desk.people, letter, pair, seat, 1 if now is None else now[0])
        people.append(Person(letter, pair, place, text_of(one, "number", 12, ""), text_of(one, "name", 80, "")))
    await desk.save_people(people)
    return JSONResponse({"stored": len(people)})


async def pin(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    """Is this the director's PIN of the event? Wrong ones count like wrong tokens."""
    wanted, given = desk.setup.settings_of(caller.section).director_pin, text_of(body, "pin", 8)
    address = f"pin/{caller.section}/{caller.table}"
    if desk.failures.wait(address):
        return JSONResponse({"ok": False, "wait": True})
    ok = bool(wanted) and hmac.compare_digest(wanted.encode(), given.encode())
    if not ok:
        for _ in range(4):  # four digits are few: five wrong ones a minute
            desk.failures.add(address)
        if desk.failures.wait(address):
            place = f"{section_letter(caller.section)}{caller.table}"
            words = f"Table {place} tried the director's PIN 5 times in vain."
            await desk.submit(lambda c: ledger.raise_alarm(c, "director-pin", place, words))
    return JSONResponse({"ok": ok, "wait": False})


def operations() -> list[Operation]:
    """What the page of a table may do."""
    here, table = f"{ROOT}/table", "table"
    device = {"device": "16 hexadecimal digits"}
    entry = {"round": "number", "board": "number", "ns": "pair", "ew": "pair", "contract": "3NTX or pass"}
    return [
        Operation("GET", here, table, "The event as this table sees it.", table_info),
        Operation(
            "POST",
            f"{here}/exchange",
            table,
            "Introduce a page, tell its status, post records (base64), take its messages.",
            exchange,
            {
                **device,
                "hello?": "boot_id, boot_count, journal_id, oldest_unacked, next_seq",
                "status?": "round, waiting, clock, plan_version, battery",
                "records?": "list of base64 of 32 bytes; of a TABLE_RECORD after 77.",
                "after?": "number of the last message it has",
                "boot?": "of the service that it speaks to",
                "call?": "1 to call the director, 0 to take it back",
                "round?": "of the call",
                "pending?": "a result for the other phones to accept, or null",
                "answer?": "id and accept, from another phone",
                "take_over?": "this phone wants the table",
                "version?": "of the page",
            },
        ),
        Operation(
            "GET", f"{here}/stream", table, "Messages as they come.", stream, None, "", "text/event-stream", device
        ),
        Operation("GET", f"{here}/boards/{{board}}", table, "A traveller, once it may be seen.", table_looks.traveller),
        Operation("GET", f"{here}/recap/{{pair}}", table, "Boards so far of who sits there.", table_looks.recap),
        Operation("GET", f"{here}/ranking", table, "The ranking, if the event shows it.", table_looks.ranking),
        Operation("GET", f"{here}/players", table, "Search members.", players, query={"q": "name or number"}),
        Operation(
            "POST", f"{here}/people", table, "Names of a pair.", people, {"pair": "number", "players": "at most 2"}
        ),
        Operation(
            "POST",
            f"{here}/check",
            table,
            "Look at an entry.",
            check,
            {**entry, "declarer?": "N E S W", "tricks?": "0-13"},
        ),
        Operation(
            "POST",
            f"{here}/code",
            table,
            "A pair's own code, with which it accepts; the first one given is its own.",
            pair_code,
            {"pair": "number", "code": "2 to 8 letters or digits", "body?": "of the result, base64 of 14 bytes"},
        ),
        Operation("POST", f"{here}/pin", table, "Is this the director's PIN?", pin, {"pin": "four digits"}),
    ]


# --- inside ------------------------------------------------------------------------------------------------------


def posted(body: Mapping[str, Any]) -> list[Record | TableRecord]:
    """The records of a post. Raises EntryError."""
    texts = body.get("records", [])
    if not isinstance(texts, list) or len(texts) > MAX_RECORDS or not all(isinstance(text, str) for text in texts):
        raise EntryError(f"records are a list of at most {MAX_RECORDS} texts.", code="bad-value")
    return [decode_record(text) for text in texts]


def signed(desk: Desk, device: int, record: Record | TableRecord) -> Record | TableRecord:
    """The authenticator for a browser that has a key: the token of the post has taken its place."""
    known = desk.service.collector.roster.get(device)
    if known is None or not known.key or known.model != MODEL:
        return record
    if isinstance(record, TableRecord):
        body = table_body(record)
        return replace(record, auth=name_auth(known.key, device, record.journal_id, record.seq, body))
    return replace(record, auth=record_auth(known.key, device, record.journal_id, record.seq, record.body))


def _may_send(desk: Desk, device: int) -> bool:
    """Records are taken from it: it is admitted, perhaps without a table because another phone has replaced it."""
    known = desk.service.collector.roster.get(device)
    return known is not None and known.state is DeviceState.ADMITTED


def device_id(body: Mapping[str, Any]) -> int:
    """The device id of a post. Raises EntryError."""
    text = body.get("device")
    if isinstance(text, str) and len(text) == 16:
        try:
            value = int(text, 16)
        except ValueError:
            value = 0
        if value:
            return value
    raise EntryError("device is 16 hexadecimal digits, not all 0.", code="bad-value")


def _journal(value: Mapping[str, Any]) -> Journal:
    top = 2**32 - 1
    return Journal(
        boot_id=whole_of(value, "boot_id", 0, top),
        boot_count=whole_of(value, "boot_count", 0, top),
        journal_id=whole_of(value, "journal_id", 1, top),
        oldest_unacked=whole_of(value, "oldest_unacked", 0, top),
        next_seq=whole_of(value, "next_seq", 1, top),
    )


def _pending(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise EntryError("pending is a result or nothing.", code="bad-value")
    return {
        "id": text_of(value, "id", 40),
        "round": whole_of(value, "round", 1, 255),
        "board": whole_of(value, "board", 1, 999),
        "ns": whole_of(value, "ns", 1, 4095),
        "ew": whole_of(value, "ew", 1, 4095),
        "text": text_of(value, "text", 60),
        "score": text_of(value, "score", 60, ""),
    }
