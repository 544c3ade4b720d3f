"""Everything that the store holds of an event as JSON lines, and the events read back from such a file.

One object a line, ``{"table": ..., ...}``; ids are hexadecimal texts. Names of people are lines of their own
(``"table": "person"``) and can be left out. Terminals' keys, the director's PIN and pairs' codes are never exported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError, ExitStatus, StoreError
from terminals.store import content, desk, ledger, results, table_events
from terminals.store.table_events import TableEventKind
from terminals.store.values import EventKind, PlayKey, RecordKey, ResultEvent, device_hex
from terminals.sync.recorded import VERIFIER

FORMAT = 1
MAX_LINE = 4 * 1024 * 1024  # an event line holds a whole movement


def lines(connection: Connection, event: int, *, people: bool = True) -> Iterator[dict[str, Any]]:
    """The export, line by line. Raises StoreError when there is no such event."""
    row = desk.load_event(connection, event)
    if row is None:
        raise StoreError(f"there is no event {desk.event_hex(event)}.", code="no-such-event")
    ident = desk.event_hex(event)
    yield {"table": "export", "format": FORMAT, "event": ident}
    setup = json.loads(row.setup)
    for one in (setup, *setup.get("sections", ())):
        one.get("settings", {}).pop("director_pin", None)
    yield {"table": "event", "id": ident, "name": row.name, "plan_version": row.plan_version, "setup": setup}
    for device in desk.devices(connection).values():
        yield {
            "table": "device",
            "id": desk.event_hex(device.id),
            "state": device.state.value,
            "section": device.section,
            "place": device.table,
            "model": device.model,
            "firmware": device.firmware,
        }
    for record in ledger.records(connection, ident):
        key = record.raw.key
        yield {
            "table": "record",
            "device": key.device_hex,
            "journal": key.journal_hex,
            "seq": key.seq,
            "body": record.raw.body.hex(),
            "crc": f"{record.raw.crc:08x}",
            "auth": record.raw.auth.hex(),
            "state": record.state.value,
            "reason": record.reason,
        }
    for item in results.all_events(connection, ident):
        yield event_line(item)
    for told in table_events.all_events(connection, ident):
        yield {
            "table": "table-record",
            "kind": told.kind.value,
            "section": told.section,
            "board": told.board,
            "ns": told.ns,
            "ew": told.ew,
            "round": told.round,
            "place": told.table,
            "record": [told.key.device_hex, told.key.journal_hex, told.key.seq],
            "confirmed": told.confirmed,
            # By what a pair's code is known is as good as the code.
            "data": "" if told.kind is TableEventKind.CODE else told.data.hex(),
            "wall": told.wall,
        }
    for note in desk.desk_events(connection, ident):
        if note.kind == VERIFIER:
            continue
        yield {"table": "desk", "kind": note.kind, "data": dict(note.data), "actor": note.actor, "wall": note.wall}
    if people:
        for person in desk.people(connection, ident):
            yield {
                "table": "person",
                "section": person.section,
                "pair": person.pair,
                "seat": person.seat,
                "number": person.number,
                "name": person.name,
            }


def everything(connection: Connection, *, people: bool = True) -> Iterator[dict[str, Any]]:
    """The exports of all events, in the order in which they were begun, then what belongs to none: holes and alarms."""
    for event, _, _ in desk.event_list(connection):
        yield from lines(connection, event, people=people)
    yield {"table": "export", "format": FORMAT, "event": None}
    for device, journal, first, last in ledger.holes(connection):
        yield {
            "table": "hole",
            "device": device_hex(device),
            "journal": f"{journal:08x}",
            "first": first,
            "last": last,
        }
    for alarm in ledger.alarms(connection):
        yield {"table": "alarm", "kind": alarm.kind, "subject": alarm.subject, "text": alarm.text, "times": alarm.times}


def event_line(item: ResultEvent) -> dict[str, Any]:
    """A result event as a line."""
    key = item.key
    return {
        "table": "result",
        "number": item.number,
        "kind": item.kind.value,
        "section": item.play.section,
        "board": item.play.board,
        "ns": item.play.ns,
        "ew": item.play.ew,
        "play": item.play.play,
        "content": content.to_json(item.content),
        "round": item.round,
        "place": item.table,
        "record": None if key is None else [key.device_hex, key.journal_hex, key.seq],
        "root": item.root,
        "confirmed": item.confirmed,
        "warnings": list(item.warnings),
        "action": item.action,
        "target": item.target,
        "actor": item.actor,
        "second": item.second,
        "note": item.note,
        "wall": item.wall,
    }


def event_of_line(line: dict[str, Any]) -> ResultEvent:
    """Inverse of ``event_line``. Raises EntryError."""
    try:
        record = line["record"]
        return ResultEvent(
            kind=EventKind(line["kind"]),
            play=PlayKey(line["section"], line["board"], line["ns"], line["ew"], line["play"]),
            content=content.from_json(line["content"]),
            round=line["round"],
            table=line["place"],
            key=None if record is None else RecordKey(int(record[0], 16), int(record[1], 16), record[2]),
            root=line["root"],
            confirmed=line["confirmed"],
            warnings=tuple(line["warnings"]),
            action=line["action"],
            target=line["target"],
            actor=line["actor"],
            second=line["second"],
            note=line["note"],
            wall=line["wall"],
            number=line["number"],
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise EntryError(f"this line is no result event: {type(error).__name__}.", code="bad-export") from error


def write(connection: Connection, event: int | None, path: Path, *, people: bool = True) -> int:
    """Write the export of an event, or of everything (None), to ``path``; gives the number of lines.

    A half-written one never gets that name.
    """
    found = everything(connection, people=people) if event is None else lines(connection, event, people=people)
    temporary = path.with_name(path.name + ".part")
    count = 0
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            os.chmod(temporary, 0o600)
            for line in found:
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{error.strerror}.", where=str(path), next_step="Choose another file.") from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


def read_events(text: Iterable[str], where: str = "") -> list[ResultEvent]:
    """The result events of an export. Raises EntryError naming the line; exit status USAGE when it is no export."""
    found: list[ResultEvent] = []
    began = False
    for number, raw in enumerate(text, 1):
        place = f"{where}, line {number}" if where else f"line {number}"
        try:
            line = json.loads(raw) if len(raw) <= MAX_LINE else None
        except json.JSONDecodeError:
            line = None
        if not isinstance(line, dict) or "table" not in line:
            raise EntryError("this is no export.", where=place, code="bad-export", exit_status=ExitStatus.USAGE)
        if not began:
            if line["table"] != "export" or line.get("format") != FORMAT:
                raise EntryError("this is no export.", where=place, code="bad-export", exit_status=ExitStatus.USAGE)
            began = True
        elif line["table"] == "result":
            try:
                found.append(event_of_line(line))
            except EntryError as error:
                raise EntryError(error.what, where=place, code=error.code) from error
    if not began:
        raise EntryError("the file is empty.", where=where, code="bad-export", exit_status=ExitStatus.USAGE)
    return found
