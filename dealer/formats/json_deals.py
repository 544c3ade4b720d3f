"""JSON of our own, since there is no standard: a set's identity and for each board its index (as a decimal string,
because many programs lose digits of large numbers), dealer, vulnerability and PBN deal.

Read too: the last line of ``deal verify --json``, whose list is called "deals".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import N_DEALS, Deal
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text, unparsable, vulnerability_named
from dealer.generate import MAX_BOARD_NUMBER, Origin
from firmware_bridge.errors import DealError

SCHEMA = "firmware-bridge/deals/1"


def sniff(data: bytes) -> bool:
    return data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"' in data[:200]


def board_as_dict(board: Board) -> dict[str, int | str]:
    """board, index (decimal string), dealer, vulnerable, pbn ("N:...")."""
    return {
        "board": board.number,
        "index": str(board.deal.index),
        "dealer": board.dealer.letter,
        "vulnerable": board.vulnerability.pbn,
        "pbn": board.deal.to_pbn(),
    }


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("json", first_board)
    text = decode_text(data, collector, max_line=64 * 1024 * 1024)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise unparsable("The file is not JSON.", error.lineno) from None
    except (RecursionError, ValueError):
        raise unparsable("The file nests too deep or holds a number that is too long.") from None
    if not isinstance(content, dict):
        raise unparsable("The file is not a set of deals.", 1)
    about = content.get("set")
    if isinstance(about, dict):
        collector.set_id = _words(about.get("id"), 64)
        collector.fingerprint = _words(about.get("fingerprint"), 200)
        collector.title = _words(about.get("title"), 255)
        collector.origin = next((origin for origin in Origin if origin == about.get("origin")), None)
    rows = content.get("boards") if isinstance(content.get("boards"), list) else content.get("deals")
    if not isinstance(rows, list):
        raise unparsable("The file has no list of boards.", 1)
    told = content.get("boards")
    if rows is not told and isinstance(told, int) and told != len(rows):
        collector.refuse("count", f"The file says {told} boards and has {len(rows)}.")
    # A row's line is found by counting its "board" keys: one per row in what we write.
    line, position = 1, 0
    for row in rows:
        found = text.find('"board"', position) if position >= 0 else -1
        if found < 0:
            position = -1
        else:
            line += text.count("\n", position, found)
            position = found + 7
        _read_row(row, line, collector)
    return collector.finish()


def _words(value: Any, length: int) -> str:
    """Text that can be written again: JSON may hold half a character."""
    return str(value or "")[:length].encode(errors="replace").decode()


def _read_row(row: Any, line: int, collector: Collector) -> None:
    number = row.get("board") if isinstance(row, dict) else None
    collector.found += 1
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MAX_BOARD_NUMBER:
        collector.refuse("board-number", "An entry has no board number.", line)
        return
    index, pbn = row.get("index"), row.get("pbn")
    deal: Deal | None = None
    if index is not None:
        digits = str(index)
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 40 and int(digits) < N_DEALS):
            collector.refuse("index-range", "The index is not a number below the number of deals.", line, number)
            return
        deal = Deal.from_index(int(digits))
    if isinstance(pbn, str):
        try:
            other = Deal.from_pbn(pbn)
        except DealError as error:
            collector.refuse(error.code, error.what, line, number)
            return
        if deal is not None and deal != other:
            collector.refuse("index-pbn-differ", "The index and the PBN deal are different deals.", line, number)
            return
        deal = other
    if deal is None:
        collector.refuse("deal-missing", "The board has neither index nor deal.", line, number)
        return
    dealer = row.get("dealer")
    seat = Seat.from_letter(dealer) if isinstance(dealer, str) and dealer in ("N", "E", "S", "W") else None
    collector.check_law_2(number, seat, vulnerability_named(str(row.get("vulnerable", ""))), line)
    collector.add_deal(number, deal, line)


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    about = {
        "id": options.set_id,
        "origin": options.origin.value if options.origin else "",
        "not_for_play": options.origin is Origin.SEEDED,
        "fingerprint": options.fingerprint,
        "title": options.title or "",
    }
    rows = ",\n".join("  " + json.dumps(board_as_dict(board)) for board in boards)
    head = json.dumps({"schema": SCHEMA, "set": about}, ensure_ascii=False)[:-1]
    return f'{head},\n "boards": [\n{rows}\n ]}}\n'.encode()
