"""PBN 2.1, writing: export format, or with dialect "import" the bytes BigDeal writes.

Apart from the reader, because dealing 36 boards must not wait for the reader's regular expressions.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.cards import Seat
from dealer.formats.options import WriteOptions


def quoted(text: str) -> str:
    """A tag value: quotation marks and backslashes escaped, line breaks and tabs turned to spaces, 255 characters."""
    plain = " ".join(text.split())[:240]
    return plain.replace("\\", "\\\\").replace('"', '\\"')


def charset_for(options: WriteOptions) -> str:
    """PBN's own character set, or UTF-8 when the words of the set need it."""
    try:
        "".join((options.title or "", options.site, options.date)).encode("latin-1")
        return "ISO-8859-1"
    except UnicodeEncodeError:
        return "UTF-8"


def header(options: WriteOptions, charset: str = "ISO-8859-1") -> list[str]:
    """The escape lines at the top of a file."""
    lines = ["% PBN 2.1", "% EXPORT"]
    if options.dialect == "import":
        lines.append("%")
    else:
        lines += [f"%Content-type: text/x-pbn; charset={charset}", "%Creator: Firmware Bridge"]
    if options.set_id and options.origin is not None:
        tail = f" fingerprint {options.fingerprint}" if options.fingerprint else ""
        lines.append(f"% Firmware Bridge set {options.set_id} origin {options.origin.value}{tail}")
    if options.mark:
        lines.append(f"% {options.mark}")
    return lines


def game_tags(board: Board, options: WriteOptions) -> list[tuple[str, str]]:
    """The 15 mandatory tags of a board that nobody has played."""
    export = options.dialect != "import"
    unknown = "" if export else "?"
    event = quoted(options.title or "") or "?"
    if options.mark:
        event = options.mark if event == "?" else f"{options.mark}: {event}"
    return [
        ("Event", event),
        ("Site", quoted(options.site) or "?"),
        ("Date", quoted(options.date) or "?"),
        ("Board", str(board.number)),
        ("West", "?"),
        ("North", "?"),
        ("East", "?"),
        ("South", "?"),
        ("Dealer", board.dealer.letter),
        ("Vulnerable", board.vulnerability.pbn),
        ("Deal", board.deal.to_pbn(board.dealer if export else Seat.NORTH)),
        ("Scoring", "?"),
        ("Declarer", unknown),
        ("Contract", unknown),
        ("Result", unknown),
    ]


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    """A PBN file: export-conforming (dealer first, CRLF), or with dialect "import" the bytes that BigDeal writes."""
    export = options.dialect != "import"
    charset = charset_for(options)
    lines = header(options, charset)
    if not export:
        lines.append('[Generator "Big Deal version 2.0"]')
    for board in boards:
        lines += [f'[{name} "{value}"]' for name, value in game_tags(board, options)]
        lines.append("")
    end = "\r\n" if export else "\n"
    return (end.join(lines) + end).encode(charset, "replace")
