"""``deal verify``, ``deal convert`` and ``deal export``: deal files of all makers, checked and rewritten."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from dealer.files import write_file
from dealer.formats.api import (
    FORMATS,
    DealFile,
    WriteOptions,
    format_named,
    format_of,
    read_deal_file,
    write_deals,
)
from firmware_bridge.cli.deal_words import boards_text, mark_lines, mark_lost, words
from firmware_bridge.cli.output import Outcome, command, many
from firmware_bridge.errors import ConfigError, DealError

_MAX_LISTED = 20
LARGE = 500_000
"""Bytes from which numpy is worth its start."""


def findings_text(found: DealFile) -> list[str]:
    """Problems and repairs in words, the first twenty of each."""
    lines: list[str] = []
    for kind, findings in (("problem", found.problems), ("repair", found.repairs)):
        lines += [f"  {kind}, {finding}" for finding in findings[:_MAX_LISTED]]
        if len(findings) > _MAX_LISTED:
            lines.append(f"  and {len(findings) - _MAX_LISTED} more {kind}s")
    return lines


def good_boards(found: DealFile) -> int:
    """Boards that nothing is wrong with."""
    bad = {finding.board for finding in found.problems}
    return sum(board.number not in bad for board in found.boards)


def _problem_error(found: DealFile, path: str) -> DealError:
    first = found.problems[0]
    count = len(found.problems)
    return DealError(
        f"{many(count, 'problem')}; the first: {first.message}",
        where=f"{path}, line {first.line}" if first.line is not None else path,
        next_step="Do not deal from this file before it is corrected.",
        code=first.code,
    )


@click.command("verify")
@click.argument("file", type=click.Path())
@click.option("--format", "format_name", help="Format, where name and content do not say it.")
@click.option("--first-board", type=click.IntRange(1), default=1, help="First number, for formats without numbers.")
@click.option("--show-cards", is_flag=True, help="Print the deals too. Put on record.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory, where a look at cards is put on record.")
@command("deal verify")
def verify(file: str, format_name: str | None, first_board: int, show_cards: bool, data: Path | None) -> Outcome:
    """Check a deal file: 52 different cards, 13 a hand, no deal twice, no unshuffled pack.

    With --json the object holds the deals. Repairs alone are no failure.
    """
    if not show_cards and not _json_wanted() and format_name in (None, "pbn"):
        quick = _verify_large(file)
        if quick is not None:
            return quick
    found = read_deal_file(file, format_name=format_name, first_board=first_board)
    good = good_boards(found)
    lines = [f"{file}: {found.format.upper()}, {many(found.found, 'board')}, {good} good."]
    if found.boards:
        lines.append(f"{boards_text([board.number for board in found.boards]).capitalize()}.")
    lines += [*findings_text(found), *mark_lines(found.origin)]
    if show_cards:
        from firmware_bridge.config import data_directory, ensure_directory
        from firmware_bridge.service.reading import record_showing

        record_showing(ensure_directory(data_directory(data)), "deal verify --show-cards", file)
        lines += [f"  {board.number}: {board.deal.to_pbn()}" for board in found.boards]
    fields = _VerifyFields(found, good)
    error = _problem_error(found, file) if found.problems else None
    return Outcome(fields, "\n".join(lines), error)


def _json_wanted() -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.params.get("as_json"))


def _verify_large(file: str) -> Outcome | None:
    """A large regular PBN file without a fault, checked at the speed it was written; None for anything else."""
    try:
        if os.path.getsize(file) < LARGE or not file.lower().endswith(".pbn"):
            return None
    except OSError:
        return None
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dealer.bulk_read import check_regular_pbn

    found = check_regular_pbn(file)
    if found is None:
        return None
    lines = [f"{file}: PBN, {found.found} boards, {found.found} good."]
    lines += mark_lines(found.origin)
    return Outcome({"boards": found.found, "good": found.found}, "\n".join(lines))


class _VerifyFields(Mapping[str, Any]):
    """The fields of ``verify --json``; the deals are only ranked when somebody asks for the object."""

    def __init__(self, found: DealFile, good: int) -> None:
        self._found = found
        self._known: dict[str, Any] = {
            "boards": found.found,
            "good": good,
            "format": found.format,
            "set": found.set_id,
            "origin": found.origin.value if found.origin else None,
            "not_for_play": found.not_for_play,
            "fingerprint": found.fingerprint,
            "problems": [finding.as_dict() for finding in found.problems],
            "repairs": [finding.as_dict() for finding in found.repairs],
            "deals": None,
        }

    def __getitem__(self, key: str) -> Any:
        if key == "deals":
            from dealer.formats.json_deals import board_as_dict

            return [board_as_dict(board) for board in self._found.boards]
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


@click.command("convert")
@click.argument("file", type=click.Path())
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write; its name says the format.")
@click.option("--format", "format_name", help="Format of FILE, where name and content do not say it.")
@click.option("--to", "to_format", help="Format to write, where the name of --out does not say it.")
@click.option("--first-board", type=click.IntRange(1), default=1, help="First number, for formats without numbers.")
@click.option("--dialect", type=click.Choice(["export", "import"]), default="export", help="PBN dialect.")
@click.option("--title", callback=words, default=None, help="Name of the event, written into the file.")
@click.option("--date", callback=words, default="", help="Date of the event (YYYY.MM.DD).")
@click.option("--copies", type=click.IntRange(0, 99), default=0, help="Copies a dealing machine shall make (DUP, DLM).")
@click.option("--blind", is_flag=True, help="Hide what a human could read in the file (DUP, DLM).")
@command("deal convert")
def convert(file: str, out: str, to_format: str | None, **choices: Any) -> Outcome:
    """Write a deal file in another format. A file with a problem is not converted."""
    info = format_named(to_format) if to_format else format_of(out)
    if info is None:
        names = ", ".join(name for name, one in FORMATS.items() if one.writes)
        raise ConfigError("The name of --out does not say the format.", next_step=f"Use --to: {names}.")
    found = read_deal_file(file, format_name=choices["format_name"], first_board=choices["first_board"])
    if found.problems:
        raise _problem_error(found, file)
    options = WriteOptions(
        dialect=choices["dialect"],
        title=choices["title"] or found.title or None,
        date=choices["date"] or found.date,
        copies=choices["copies"],
        blind=choices["blind"],
        set_id=found.set_id,
        origin=found.origin,
        fingerprint=found.fingerprint,
    )
    write_file(out, write_deals(found.boards, info.name, options), private=True)
    lost = mark_lost(found.origin, info.name)
    count = len(found.boards)
    lines = [
        f"{many(count, 'board')} written to {out} as {info.name.upper()}.",
        *mark_lines(found.origin),
        *findings_text(found),
        *map(str, lost),
    ]
    first = found.boards[0].number
    if not info.numbered and first != 1:
        lines.append(f"{info.name.upper()} holds no board numbers; read it back with --first-board {first}.")
    fields = {
        "boards": found.found,
        "good": count,
        "file": os.fspath(out),
        "format": info.name,
        "not_for_play": found.not_for_play,
        "problems": [],
        "repairs": [finding.as_dict() for finding in (*found.repairs, *lost)],
    }
    return Outcome(fields, "\n".join(lines))


_MAKERS = {
    "duplimate": (
        "dup",
        "dlm",
        "In the Duplimate program choose File > Open and this file; check that From and To board are the ones printed"
        " above before the first board is put into the machine.",
    ),
    "dealer4": (
        "pbn",
        "pbn",
        "In the Dealer4 program import the PBN file and check the first and last board number before dealing.",
    ),
}


@click.command("export")
@click.argument("file", type=click.Path())
@click.option("--for", "maker", required=True, type=click.Choice(list(_MAKERS)), help="Whose program shall read it.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write; .dlm or .dup, or .pbn.")
@click.option("--copies", type=click.IntRange(0, 99), default=1, help="Copies of each board.")
@click.option("--first-board", type=click.IntRange(1), default=1, help="First number, for formats without numbers.")
@click.option("--blind/--open", default=True, help="Hide the hands that a human could read in the file.")
@click.option("--title", callback=words, default="", help="Name of the event.")
@click.option("--record/--no-record", "with_record", default=True, help="Write the matching hand record beside it.")
@command("deal export")
def export(file: str, maker: str, out: str, **choices: Any) -> Outcome:
    """Write a set for another maker's dealing machine, and the hand record that matches it.

    \b
    duplimate  .dlm (Windows program) or .dup (older ones). Open the file in the Duplimate program, check the
               first and last board it shows, then deal. Both hold 99 boards at most, without gaps.
    dealer4    .pbn with North first. Import it in the Dealer4 program, check the first and last board, then deal.

    The operator there sees boards and counts, not cards, as long as nobody opens the hand record, which is written
    as a PDF beside the file; keep it closed until the session is over.
    """
    old, new, advice = _MAKERS[maker]
    info = format_of(out)
    if info is None or info.name not in (old, new):
        names = " or ".join(dict.fromkeys((f".{new}", f".{old}")))
        raise ConfigError(f"{maker.capitalize()} reads no such file.", where=out, next_step=f"Name it {names}.")
    found = read_deal_file(file, first_board=choices["first_board"])
    if found.problems:
        raise _problem_error(found, file)
    boards = sorted(found.boards, key=lambda board: board.number)
    options = WriteOptions(
        dialect="import" if info.name == "pbn" else "export",
        title=choices["title"] or found.title or (f"Set {found.set_id}" if found.set_id else "Deals"),
        copies=choices["copies"],
        blind=choices["blind"],
        set_id=found.set_id,
        origin=found.origin,
        fingerprint=found.fingerprint,
    )
    write_file(out, write_deals(boards, info.name, options), private=True)
    lines = [f"Boards {boards[0].number} to {boards[-1].number} written to {out}.", *mark_lines(found.origin), advice]
    lines += map(str, mark_lost(found.origin, info.name))
    fields: dict[str, Any] = {
        "boards": len(boards),
        "first": boards[0].number,
        "last": boards[-1].number,
        "file": os.fspath(out),
        "format": info.name,
        "not_for_play": found.not_for_play,
        "next": advice,
    }
    if choices["with_record"]:
        from firmware_bridge.cli.deal_record import write_record

        record = os.path.splitext(out)[0] + "-record.pdf"
        write_record(boards, record, options, tables={})
        lines.append(f"Hand record: {record}")
        fields["record"] = record
    return Outcome(fields, "\n".join([*lines, *findings_text(found)]))
