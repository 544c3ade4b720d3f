"""CSV as clubs use it: separators and encodings told from the file, no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from firmware_bridge.errors import EntryError, ExitStatus

MAX_CSV_BYTES = 16 * 1024 * 1024
MAX_ROWS = 400_000
MAX_CELL = 1000


def read_csv(data: bytes, where: str = "") -> list[tuple[int, list[str]]]:
    """Rows with their line numbers, blank ones left out; cells stripped.

    UTF-8 or, when it is not, Windows-1252; comma, semicolon or tab, whichever the first line has most of. Raises
    EntryError (exit status 2) for what is too large or no text.
    """
    if len(data) > MAX_CSV_BYTES:
        raise _unusable(f"The file is larger than {MAX_CSV_BYTES // 1024 // 1024} MiB.", where)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError:
            raise _unusable("The file is no text.", where) from None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    if "\x00" in text:
        raise _unusable("The file is no text.", where)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=first.count)
    rows: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(rows) >= MAX_ROWS:
                raise _unusable(f"The file has more than {MAX_ROWS} rows.", where)
            rows.append((reader.line_num, [_stripped(cell) for cell in row]))
    except csv.Error as error:
        raise _unusable(f"Line {reader.line_num} can't be read: {error}.", where) from None
    return rows


def _stripped(cell: str) -> str:
    text = " ".join(cell.split())[:MAX_CELL]
    # An apostrophe before a sign is how ``write_csv`` keeps a spreadsheet from running a cell.
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in "=+-@" else text


def write_csv(rows: Iterable[Sequence[object]], separator: str = ",") -> bytes:
    """UTF-8 with a byte-order mark (for spreadsheets), CRLF. Text that starts like a formula gets an apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_safe(cell) for cell in row])
    return out.getvalue().encode("utf-8-sig", "replace")


def _safe(cell: object) -> str:
    if cell is None:
        return ""
    text = " ".join(str(cell).split())
    if text and text[0] in "=+-@" and not _is_number(text):
        return "'" + text
    return text


def _is_number(text: str) -> bool:
    body = text[1:].replace(".", "", 1)
    return text[0] in "+-" and body.isascii() and body.isdigit()


def _unusable(what: str, where: str) -> EntryError:
    return EntryError(what, where=where, code="unparsable", exit_status=ExitStatus.USAGE)
