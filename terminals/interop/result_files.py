"""A result file of any known format, recognised by its content."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.filecheck import not_regular
from terminals.interop.exchange import MAX_FILE_BYTES, ExchangeEvent
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.results_json import read_results_json_events
from terminals.interop.several import only_event
from terminals.interop.usebio_read import read_usebio_events


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file of at most ``limit``. Raises EntryError (exit status 2)."""
    where = str(path)
    wrong = not_regular(path)
    if wrong:
        raise EntryError(
            f"This is {wrong}, not a file.",
            where=where,
            next_step="Name the file itself.",
            code="not-a-file",
            exit_status=ExitStatus.USAGE,
        )
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        reason = error.strerror or "it can't be read"
        raise EntryError(
            f"The file can't be read: {reason}.", where=where, code="unreadable", exit_status=ExitStatus.USAGE
        ) from None
    if len(data) > limit:
        raise EntryError(
            f"The file is larger than {limit // 1024 // 1024} MiB.",
            where=where,
            code="too-large",
            exit_status=ExitStatus.USAGE,
        )
    if not data.strip():
        raise EntryError("The file is empty.", where=where, code="empty", exit_status=ExitStatus.USAGE)
    return data


def parse_results(data: bytes, where: str = "") -> ExchangeEvent:
    """The only event in a USEBIO, PBN or JSON result file. Raises EntryError."""
    return only_event(parse_events(data, where), where)


def parse_events(data: bytes, where: str = "") -> list[ExchangeEvent]:
    """Every event in a USEBIO, PBN or JSON result file, at least one. Raises EntryError."""
    wide = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    start = data[:4000].decode("utf-16", "replace").lstrip().encode() if wide else data
    head = start[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<"):
        return read_usebio_events(data, where)
    if head.startswith(b"{") and b'"firmware-bridge-results"' in head:
        return read_results_json_events(data, where)
    if head.startswith((b"[", b"%", b";", b"{")):
        return [read_pbn_results(data, where)]
    raise EntryError(
        "This is no result file that can be read: neither USEBIO, PBN nor JSON.",
        where=where,
        code="unparsable",
        exit_status=ExitStatus.USAGE,
    )


def read_results_file(path: Path) -> ExchangeEvent:
    """The only event in a file. Raises EntryError."""
    return parse_results(read_bytes(path), str(path))


def read_events_file(path: Path) -> list[ExchangeEvent]:
    """Every event in a file, at least one. Raises EntryError."""
    return parse_events(read_bytes(path), str(path))
