"""``ledger.jsonl`` and ``plays.jsonl``: what the store holds at the end of a run, for a check by somebody else.

Written from the rows themselves. How many current results a play has is the larger of two counts: rows of the
projection that carry a result, and what its events give when they are resolved anew. The ledger's lines hold every
body, so that anybody can work the results out from the terminals' own words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import StoreError
from terminals.store import desk, ledger, results
from terminals.store.ledger import KeptRecord
from terminals.store.values import PlayKey
from terminals.sync.rebuild import states_of


def ledger_lines(records: Iterable[KeptRecord]) -> Iterator[dict[str, Any]]:
    """One object for every record ever kept."""
    for record in records:
        key = record.raw.key
        yield {
            "device": key.device_hex,
            "journal": key.journal_hex,
            "seq": key.seq,
            "crc": f"{record.raw.crc:08x}",
            "body": record.raw.body.hex(),
            "state": record.state.value,
        }


def play_lines(connection: Connection, event: int) -> Iterator[dict[str, Any]]:
    """One object for every play that has events. current: how many current results it has."""
    ident = desk.event_hex(event)
    rows: dict[PlayKey, int] = {}
    for row in results.current(connection, ident):
        rows[row.play] = rows.get(row.play, 0) + (row.content is not None)
    for play, state in states_of(results.all_events(connection, ident)).items():
        current = max(rows.get(play, 0), state.current)
        yield {
            "section": play.section,
            "board": play.board,
            "ns": play.ns,
            "ew": play.ew,
            "play": play.play,
            "current": current,
        }


def write_evidence(connection: Connection, event: int, directory: Path) -> None:
    """Write both files into ``directory``. Raises StoreError."""
    _write(directory / "ledger.jsonl", ledger_lines(ledger.records(connection)))
    _write(directory / "plays.jsonl", play_lines(connection, event))


def _write(path: Path, lines: Iterable[dict[str, object]]) -> None:
    temporary = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(
            f"{error.strerror}.", where=str(path), next_step="Choose another --evidence directory."
        ) from error
