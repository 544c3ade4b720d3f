"""``deal record``: hand records and dealing sheets, with double dummy from the cache or a worker process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dealer.board import Board
from dealer.deal import Deal
from dealer.files import write_file
from dealer.formats.api import read_deal_file
from dealer.formats.options import WriteOptions
from dealer.records.content import RecordPage, record_boards
from dealer.records.par import Tricks
from firmware_bridge.cli.deal_words import mark_lines, words
from firmware_bridge.cli.output import Outcome, command, many, progress
from firmware_bridge.errors import ConfigError, DealError, FirmwareBridgeError

_KINDS = (".pdf", ".html", ".htm", ".pbn")


def write_record(
    boards: Sequence[Board],
    out: str,
    options: WriteOptions,
    *,
    tables: Mapping[Deal, Tricks],
    page: RecordPage | None = None,
    per_page: int = 12,
    sheet: bool = False,
) -> None:
    """Write a record or, with ``sheet``, a dealing sheet; the name of ``out`` says which kind of file.

    Raises ConfigError for a name that says nothing.
    """
    page = page or RecordPage(
        event=options.title or "",
        date=options.date,
        set_id=options.set_id,
        fingerprint=options.fingerprint,
        mark=options.mark,
    )
    kind = Path(out).suffix.lower()
    if kind not in _KINDS or (sheet and kind == ".pbn"):
        kinds = ".pdf or .html" if sheet else ".pdf, .html or .pbn"
        raise ConfigError("The name of --out does not say the kind.", where=out, next_step=f"End it in {kinds}.")
    items = record_boards(boards, tables)
    if kind == ".pdf":
        from dealer.records.pdf import record_pdf, sheet_pdf

        content = sheet_pdf(boards, page) if sheet else record_pdf(items, page, per_page=per_page)
    elif kind == ".pbn":
        from dealer.records.pbn_record import record_pbn

        content = record_pbn(items, options)
    else:
        from dealer.records.html import record_html, sheet_html

        content = sheet_html(boards, page) if sheet else record_html(items, page)
    write_file(out, content, private=True)


@click.command("record")
@click.argument("file", type=click.Path())
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="PDF, HTML or PBN file to write.")
@click.option("--sheet", is_flag=True, help="A card-by-card sheet for dealing by hand, instead of a record.")
@click.option("--club", callback=words, default="", help="Printed at the top.")
@click.option("--title", callback=words, default="", help="Name of the event, if not the file's.")
@click.option("--date", callback=words, default="", help="Date, if not the file's.")
@click.option("--per-page", type=click.Choice(["12", "15"]), default="12", help="Boards on a page (PDF).")
@click.option("--dd/--no-dd", "with_dd", default=True, help="Makeable contracts and par.")
@click.option("--first-board", type=click.IntRange(1), default=1, help="First number, for formats without numbers.")
@click.option("--data", help="Data directory, for the cache of double-dummy tables.")
@command("deal record")
def record(file: str, out: str, data: str | None, **choices: Any) -> Outcome:
    """Print hand records of a deal file. They show every card: keep them closed until the session is over.

    Without a double-dummy library the record is printed without makeable contracts and par, and says so.
    """
    found = read_deal_file(file, first_board=choices["first_board"])
    boards = found.require_good(file)
    tables: dict[Deal, Tricks] = {}
    note = ""
    sheet = choices["sheet"]
    if choices["with_dd"] and not sheet:
        try:
            tables = solve(boards, data)
        except DealError as error:
            note = f"Without makeable contracts and par: {error.what}"
    title, date = choices["title"] or found.title, choices["date"] or found.date
    options = WriteOptions(
        title=title or None,
        date=date,
        set_id=found.set_id,
        origin=found.origin,
        fingerprint=found.fingerprint,
    )
    page = RecordPage(choices["club"], title, date, found.set_id, found.fingerprint, options.mark, note)
    write_record(boards, out, options, tables=tables, page=page, per_page=int(choices["per_page"]), sheet=sheet)
    lines = [
        f"{'Dealing sheet' if sheet else 'Hand record'} of {many(len(boards), 'board')} written to {out}.",
        *mark_lines(found.origin),
    ]
    lines += [note] if note else []
    fields = {
        "boards": len(boards),
        "file": os.fspath(out),
        "double_dummy": len(tables),
        "note": note,
        "not_for_play": found.not_for_play,
        "repairs": [finding.as_dict() for finding in found.repairs],
    }
    return Outcome(fields, "\n".join(lines))


def solve(boards: Sequence[Board], data: str | None) -> dict[Deal, Tricks]:
    """Double-dummy tables, from the cache where it has them. Raises DealError when they can't be had."""
    from dealer.records.double_dummy import tables_of
    from dealer.store.dd_cache import CACHE_DB, MIGRATIONS, load_tables, store_tables
    from firmware_bridge.config import data_directory, ensure_directory
    from firmware_bridge.db import Database

    database: Database | None
    try:
        database = Database.open(ensure_directory(data_directory(data)) / CACHE_DB, MIGRATIONS)
    except FirmwareBridgeError as error:
        progress(f"The cache can't be used ({error.what}); solving without it.")
        database = None

    def load(deals: Sequence[Deal]) -> dict[Deal, Tricks]:
        return load_tables(database, deals) if database is not None else {}

    def store(tables: dict[Deal, Tricks]) -> None:
        if database is not None:
            store_tables(database, tables)

    bar = _Bar()
    try:
        return tables_of([board.deal for board in boards], load=load, store=store, progress=bar.show)
    finally:
        bar.end()
        if database is not None:
            database.close()


class _Bar:
    """A progress bar on stderr, drawn in place on a terminal and not at all elsewhere."""

    def __init__(self) -> None:
        self._drawn = False

    def show(self, done: int, total: int) -> None:
        stream = sys.stderr
        if total and stream.isatty():
            filled = 30 * done // total
            stream.write(f"\rdouble dummy [{'#' * filled}{'.' * (30 - filled)}] {done} of {total}")
            stream.flush()
            self._drawn = True

    def end(self) -> None:
        if self._drawn:
            click.echo(err=True)
