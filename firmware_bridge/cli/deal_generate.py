"""``deal generate``: a random set, verified and compared with the club's history, written to a file without a look."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dealer.generate import DealSet, Origin, check_numbers, new_set, parse_runs
from dealer.generate import generate as random_boards
from dealer.verify import Finding, verify_boards
from firmware_bridge.cli.deal_words import mark_lines, mark_lost, words
from firmware_bridge.cli.output import Outcome, command, many, progress
from firmware_bridge.errors import ConfigError, DealError

BULK = 2000
"""From this many boards on numpy is worth its start."""


@click.command("generate")
@click.option("--boards", required=True, metavar="1-24", help="Board numbers, such as 1-24 or 1-8,25-27.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write; its name says the format.")
@click.option("--format", "format_name", help="Format, where the file's name does not say it.")
@click.option("--dialect", type=click.Choice(["export", "import"]), default="export", help="PBN dialect.")
@click.option("--title", callback=words, default="", help="Name of the event, written into the file.")
@click.option("--date", callback=words, default="", help="Date of the event, written into the file (YYYY.MM.DD).")
@click.option("--extend", type=click.Path(dir_okay=False), help="File of a set that gets these boards in addition.")
@click.option("--set", "set_id", help="Deal the boards of a commitment made with a public entropy to come.")
@click.option("--entropy", callback=words, help="The public entropy, exactly as published (with --set).")
@click.option(
    "--require", "constraints", callback=words, multiple=True, metavar="'N hcp 15-17'", help="Teaching sets; see docs."
)
@click.option("--seed", callback=words, help="For simulations only: repeatable deals, marked 'not for play'.")
@click.option("--copies", type=click.IntRange(0, 99), default=0, help="Copies a dealing machine shall make (DUP, DLM).")
@click.option("--blind", is_flag=True, help="Hide what a human could read in the file (DUP, DLM).")
@click.option("--data", help="Data directory.")
@command("deal generate")
def generate(boards: str, out: str, data: str | None, **choices: Any) -> Outcome:
    """Deal random boards into a file.

    Nothing is shown of the cards. The set is checked and compared with every deal on record here before the file gets
    its name.
    """
    runs = parse_runs(boards)
    wanted = [choices[key] is not None for key in ("extend", "set_id", "seed")] + [bool(choices["constraints"])]
    if sum(wanted) > 1 and not (choices["seed"] is not None and choices["constraints"] and sum(wanted) == 2):
        raise ConfigError("--extend, --set, --seed and --require don't go together.", next_step="Choose one.")
    if choices["entropy"] is not None and choices["set_id"] is None:
        raise ConfigError("--entropy belongs to a committed set.", next_step="Name the set with --set.")
    name = _format_for(out, choices["format_name"])
    if sum(count for _, count in runs) >= BULK and name == "pbn" and not any(wanted[:2]) and not choices["constraints"]:
        # numpy's algebra library would start a thread for every core, and none of it is used here.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from firmware_bridge.cli.deal_bulk import generate_bulk

        return generate_bulk(runs, out, data, choices)
    numbers = [number for first, count in runs for number in range(first, first + count)]
    acceptance = ""
    old: Sequence[Any] = ()
    if choices["extend"] is not None:
        base = _read_set(choices["extend"])
        old = base.boards
        more = random_boards(numbers)
        deals = base.extended(more)
        deals = DealSet(deals.id, deals.origin, tuple(sorted(deals.boards, key=lambda board: board.number)))
    elif choices["set_id"] is not None:
        from firmware_bridge.cli.deal_audit import committed_set

        deals = committed_set(choices["set_id"], numbers, choices["entropy"], data)
    elif choices["constraints"]:
        from dealer.constraints import constrained_set

        deals, acceptance = constrained_set(numbers, choices["constraints"], seed=choices["seed"], tell=progress)
    else:
        deals = new_set(check_numbers(numbers), seed=choices["seed"])
    problems = verify_boards(deals.boards)
    if problems:
        raise DealError(problems[0].message, code=problems[0].code, next_step="Deal the set again.")
    return _write(deals, old, out, name, data, choices, acceptance)


def _write(
    deals: DealSet,
    old: Sequence[Any],
    out: str,
    name: str,
    data: str | None,
    choices: dict[str, Any],
    acceptance: str,
) -> Outcome:
    from dealer.files import replacing
    from dealer.formats.options import WriteOptions

    fresh = [board for board in deals.boards if board not in old] if old else deals.boards
    replaced = was_there(out) and not old
    keep_keys = None
    if deals.origin in (Origin.OWN, Origin.CONSTRAINED) and choices["set_id"] is None:
        from firmware_bridge.cli.deal_keys import with_fingerprint

        deals, keep_keys = with_fingerprint(deals, fresh, data)
    options = WriteOptions(
        dialect=choices["dialect"],
        title=_title(choices["title"], name, deals),
        date=choices["date"],
        blind=choices["blind"],
        copies=choices["copies"],
        set_id=deals.id,
        origin=deals.origin,
        fingerprint=deals.fingerprint,
    )
    content = _content(deals, name, options)
    with replacing(out, private=True) as file:
        file.write(content)
        repairs = put_on_record(deals, fresh, data)
        if keep_keys:
            keep_keys()
    if old and not deals.fingerprint:
        message = "The earlier boards were not committed with this data directory, so the set has no fingerprint."
        repairs = [*repairs, Finding("chain-missing", message)]
    lost = mark_lost(deals.origin, name)
    return outcome(deals, len(deals.boards), out, [*repairs, *lost, *([REPLACED] if replaced else [])], acceptance)


def _content(deals: DealSet, name: str, options: Any) -> bytes:
    if name == "pbn":
        from dealer.formats.pbn_write import write

        return write(deals.boards, options)
    from dealer.formats.api import write_deals

    return write_deals(deals.boards, name, options)


REPLACED = Finding("replaced", "An older file of this name was replaced; boards made from it belong to another set.")


def was_there(out: str) -> bool:
    """Whether a file of this name holds something already."""
    try:
        return os.stat(out).st_size > 0
    except OSError:
        return False


def outcome(deals: DealSet, count: int, out: str, reports: Sequence[Finding], acceptance: str = "") -> Outcome:
    """What a person and a program are told of a set that was written."""
    lines = [f"{many(count, 'board')} written to {out}, set {deals.id} ({deals.origin.value})."]
    if deals.fingerprint:
        lines.append(f"Fingerprint {deals.fingerprint}")
    if acceptance:
        lines.append(acceptance)
    lines += mark_lines(deals.origin)
    lines += [str(finding) for finding in reports]
    fields = {
        "boards": count,
        "good": count,
        "file": os.fspath(out),
        "set": deals.id,
        "origin": deals.origin.value,
        "not_for_play": deals.not_for_play,
        "fingerprint": deals.fingerprint,
        "problems": [],
        "repairs": [finding.as_dict() for finding in reports],
    }
    if acceptance:
        fields["acceptance"] = acceptance
    return Outcome(fields, "\n".join(lines))


def put_on_record(deals: DealSet, fresh: Sequence[Any], data: str | None) -> list[Finding]:
    """Compare with the club's history and add to it. Raises DealError for a repeat in an own random set."""
    if deals.not_for_play:
        return []
    from dealer.history import history_digests, repeats_as_findings
    from dealer.store.history import record_deals
    from firmware_bridge.clock import SystemClock

    database = open_dealing_db(data)
    try:
        repeats = record_deals(
            database,
            history_digests(fresh),
            [board.number for board in fresh],
            set_id=deals.id,
            origin=deals.origin,
            dealt_on=SystemClock().wall().date().isoformat(),
        )
    finally:
        database.close()
    if repeats and deals.origin is Origin.OWN:
        raise DealError(
            f"Board {repeats[0].board} has a deal that was dealt here before; chance does not do that.",
            next_step="Do not use this set. Check the computer's random generator and the data directory.",
            code="dealt-before",
        )
    return repeats_as_findings(repeats)


def open_dealing_db(data: str | None) -> Any:
    """The database of the data directory that holds the history."""
    from dealer.store.schema import DEALING_DB, MIGRATIONS
    from firmware_bridge.config import data_directory, ensure_directory
    from firmware_bridge.db import Database

    return Database.open(ensure_directory(data_directory(data)) / DEALING_DB, MIGRATIONS, check=False)


def _title(title: str, name: str, deals: DealSet) -> str | None:
    # A DLM without a headline of its own says that another program made it.
    return title or (f"Firmware Bridge set {deals.id}" if name == "dlm" else None)


def _format_for(out: str, format_name: str | None) -> str:
    if format_name is None and Path(out).suffix.lower() == ".pbn":
        return "pbn"
    from dealer.formats.api import format_named, format_of

    info = format_named(format_name) if format_name else format_of(out)
    if info is None:
        raise ConfigError("The file's name does not say the format.", next_step="Add an extension or --format.")
    return info.name


def _read_set(path: str) -> DealSet:
    from dealer.formats.api import read_deal_file

    found = read_deal_file(path)
    boards = found.require_good(path)
    if not found.set_id or found.origin is None:
        raise DealError(
            "The file does not say which set it is, so the set can't be extended.",
            where=path,
            next_step="Extend a PBN or JSON file that this program wrote.",
            code="set-unknown",
        )
    if found.origin is not Origin.OWN:
        raise DealError(
            f"The set is {found.origin.value}; only an own random set is extended with random boards.",
            where=path,
            next_step="Deal the further boards as a set of their own.",
            code="set-origin",
        )
    return DealSet(found.set_id, found.origin, boards, found.fingerprint)
