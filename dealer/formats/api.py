"""One way in and one way out for every deal file: which formats there are, how a file is recognised, read and written.

A reader never guesses in silence. What is clearly meant it repairs, and lists the repair with its line; what can't be
meant it refuses, and lists the problem with its line. In formats of fixed-length records "line" is the record's number.
Whatever the bytes, only ``DealError`` leaves a reader, and time and memory stay in proportion to the file.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, cast

from dealer.board import Board
from dealer.formats.options import WriteOptions
from dealer.generate import Origin
from dealer.verify import Finding
from firmware_bridge.errors import ConfigError, DealError, ExitStatus
from firmware_bridge.filecheck import not_regular

__all__ = [
    "FORMATS",
    "DealFile",
    "DealFormat",
    "FormatInfo",
    "WriteOptions",
    "format_named",
    "format_of",
    "read_bytes",
    "read_deal_file",
    "read_deals",
    "write_deals",
]

_SEALED = b"firmware-bridge sealed deals "
"""How files begin that ``dealer.sealed`` writes; not imported from there, for that module loads cryptography."""
MAX_FILE_BYTES = 64 * 1024 * 1024
"""Files above this are refused before they are read (some 200,000 boards of PBN)."""


@dataclass(frozen=True, slots=True)
class DealFile:
    """What a deal file holds.

    boards: the boards that can be used, in the file's order; found: how many the file has, bad ones too.
    set_id, origin, fingerprint, title, date: as the file carries them, else "" and None.
    """

    format: str
    boards: tuple[Board, ...] = field(repr=False)
    repairs: tuple[Finding, ...] = ()
    problems: tuple[Finding, ...] = ()
    found: int = 0
    set_id: str = ""
    origin: Origin | None = None
    fingerprint: str = ""
    title: str = ""
    date: str = ""

    @property
    def not_for_play(self) -> bool:
        """True when the file is marked as a seeded set."""
        return self.origin is Origin.SEEDED

    def require_good(self, where: str = "") -> tuple[Board, ...]:
        """The boards, when nothing is wrong with the file. Raises DealError (exit status 1) with the first problem."""
        if self.problems:
            first, more = self.problems[0], len(self.problems) - 1
            place = f"{where}, line {first.line}" if first.line is not None else where
            if first.board is not None:
                place = f"{place}, board {first.board}".removeprefix(", ")
            tail = f" ({more} more problem{'s' if more > 1 else ''})" if more else ""
            raise DealError(first.message + tail, where=place, next_step="Correct the file.", code=first.code)
        return self.boards


class DealFormat(Protocol):
    """What each module of this room offers. ``write`` is missing where a format is only read."""

    def sniff(self, data: bytes) -> bool:
        """True when these bytes look like this format; looks at a few hundred bytes and the length only."""
        ...

    def read(self, data: bytes, first_board: int = 1) -> DealFile: ...

    def write(self, boards: Sequence[Board], options: WriteOptions) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """A row of the table of formats. numbered: the file itself carries board numbers."""

    name: str
    module: str
    extensions: tuple[str, ...]
    title: str
    numbered: bool
    writes: bool = True
    marks: bool = False
    """True when the file has a place for "not for play"."""

    def load(self) -> DealFormat:
        return cast(DealFormat, importlib.import_module(f"dealer.formats.{self.module}"))


FORMATS: dict[str, FormatInfo] = {
    info.name: info
    for info in (
        FormatInfo("pbn", "pbn", (".pbn",), "Portable Bridge Notation 2.1", numbered=True, marks=True),
        FormatInfo("lin", "lin", (".lin",), "LIN, as bridgebase.com reads it", numbered=True, marks=True),
        FormatInfo("dlm", "dlm", (".dlm",), "Duplimate for Windows", numbered=True, marks=True),
        FormatInfo("json", "json_deals", (".json",), "JSON", numbered=True, marks=True),
        FormatInfo("dup", "dup", (".dup",), "Duplimate for DOS", numbered=True),
        FormatInfo("bri", "bri", (".bri",), "BRI card numbers", numbered=False),
        FormatInfo("dge", "dge", (".dge",), "DGE hands with suit marks", numbered=False),
        FormatInfo("csv", "csv_deals", (".csv",), "comma-separated holdings", numbered=True),
        FormatInfo("index", "index_list", (".goe", ".idx"), "list of deal indices", numbered=False),
        FormatInfo("borel", "borel", (".bhg",), "Borel letters", numbered=False),
        FormatInfo("ber", "ber", (".ber",), "BER seat digits", numbered=False),
        FormatInfo("kops", "kops", (".rzd",), "KOPS", numbered=False),
        FormatInfo("cds", "cds", (".cds",), "CDS", numbered=True),
        FormatInfo("hrf", "hrf", (".hrf",), "HRF (unverified)", numbered=True, writes=False),
    )
}
"""Every format, the ones that are recognised most surely first."""


def format_of(path: str | os.PathLike[str]) -> FormatInfo | None:
    """The format that a file's name stands for, or None."""
    extension = os.path.splitext(os.fspath(path))[1].lower()
    for info in FORMATS.values():
        if extension in info.extensions:
            return info
    return None


def format_named(name: str) -> FormatInfo:
    """Raises ConfigError for a format that does not exist."""
    info = FORMATS.get(name.lower().removeprefix(".")) or format_of(f"x.{name.lower()}")
    if info is None:
        raise ConfigError(f"There is no deal format {name[:20]!r}.", next_step=f"Known: {', '.join(FORMATS)}.")
    return info


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_FILE_BYTES) -> bytes:
    """The whole of a file of at most ``limit`` bytes.

    Raises DealError (exit status 2) when it is missing, can't be read, is empty, or too large.
    """
    where = os.fspath(path)
    wrong = not_regular(path)
    if wrong:
        raise _unusable(f"This is {wrong}, not a file.", where, "Name a deal file.", "not-a-file")
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise _unusable("There is no such file.", where, "Check the name.", "file-missing") from None
    except OSError as error:
        raise _unusable(
            f"The file can't be read ({error.strerror}).", where, "Check its permissions.", "file-unreadable"
        ) from None
    if len(data) > limit:
        raise _unusable(f"The file is larger than {limit // 1024 // 1024} MiB.", where, "Split it.", "file-too-large")
    if not data.strip():
        raise _unusable("The file is empty.", where, "Make or copy it again.", "file-empty")
    return data


def read_deal_file(path: str | os.PathLike[str], *, format_name: str | None = None, first_board: int = 1) -> DealFile:
    """Read a deal file of any format; the name's extension says which, unless the content is clearly another one.

    first_board: number of the first board where the format has no numbers. Problems of the boards (a hand of 12 cards,
    a repeated deal, an unshuffled pack) are listed in the result; see ``DealFile.require_good``.
    Raises DealError with exit status 2 when the file is missing, empty, unparsable, or has no boards at all.
    """
    data = read_bytes(path)
    try:
        return read_deals(data, name=Path(path).name, format_name=format_name, first_board=first_board)
    except DealError as error:
        error.where = f"{os.fspath(path)}, {error.where}" if error.where else os.fspath(path)
        raise


def read_deals(data: bytes, *, name: str = "", format_name: str | None = None, first_board: int = 1) -> DealFile:
    """``read_deal_file`` for bytes that are in memory already; ``name`` is the file's name, for its extension."""
    if data.startswith(_SEALED):
        next_step = "Open it with 'deal unseal'; 'duplicate', 'read --verify' and 'restore' open it themselves."
        raise _unusable("The file is sealed with a passphrase.", "", next_step, "sealed")
    notes: tuple[Finding, ...] = ()
    info: FormatInfo | None
    if format_name:
        info = format_named(format_name)
    else:
        named = format_of(name)
        info = named if named and named.load().sniff(data) else None
        if info is None:
            info = next((other for other in FORMATS.values() if other.load().sniff(data)), None)
            if info and named:
                message = f"The file is named {named.name.upper()} and holds {info.name.upper()}."
                notes = (Finding("format-differs", message, line=1),)
        info = info or named
        if info is None:
            raise _unusable("The file is in no known deal format.", "", f"Known: {', '.join(FORMATS)}.", "unparsable")
    result = info.load().read(data, first_board)
    if not result.found:
        why = f" ({result.problems[0]})" if result.problems else ""
        raise _unusable(f"There are no boards in the file{why}.", "", "Check that it is the right file.", "no-boards")
    if notes:
        result = replace(result, repairs=(*notes, *result.repairs))
    return result


def write_deals(boards: Sequence[Board], format_name: str, options: WriteOptions | None = None) -> bytes:
    """The bytes of a deal file.

    Raises ConfigError for a format that does not exist or is only read, DealError when the format can't hold the set
    (too many boards, numbers that it derives from the position, or no place for "not for play").
    """
    options = options or WriteOptions()
    info = format_named(format_name)
    if not info.writes:
        raise ConfigError(f"{info.name.upper()} is only read, not written.", next_step="Choose another format.")
    if not boards:
        raise DealError("There are no boards to write.", code="no-boards", exit_status=ExitStatus.USAGE)
    if options.origin is Origin.SEEDED and not info.marks:
        raise DealError(
            f"{info.name.upper()} has no place for the mark 'not for play' that this seeded set must carry.",
            next_step="Write PBN, LIN, DLM or JSON.",
            code="mark-lost",
        )
    return info.load().write(boards, options)


def _unusable(what: str, where: str, next_step: str, code: str) -> DealError:
    return DealError(what, where=where, next_step=next_step, code=code, exit_status=ExitStatus.USAGE)
