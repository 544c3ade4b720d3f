"""``deal history``: the record of all deals ever dealt here, as digests; look, and add a file from outside."""

from __future__ import annotations

import secrets

import click

from dealer.formats.api import read_deal_file
from dealer.generate import DealSet, Origin
from firmware_bridge.cli.deal_generate import open_dealing_db, put_on_record
from firmware_bridge.cli.output import Outcome, command, many
from firmware_bridge.errors import DealError


@click.command("history")
@click.argument("file", required=False, type=click.Path())
@click.option("--add", is_flag=True, help="Put the boards of FILE on record.")
@click.option(
    "--origin",
    type=click.Choice(["own", "external", "replay", "constrained"]),
    help="Where the set comes from; without it, what the file says, else external.",
)
@click.option("--reveals", "shown", is_flag=True, help="List instead when cards were shown here, and of what.")
@click.option("--data", help="Data directory.")
@command("deal history")
def history(file: str | None, add: bool, origin: str | None, shown: bool, data: str | None) -> Outcome:
    """Show the record of deals; with FILE, say which of its boards were dealt here before.

    A repeat in an own random set is a fault; in a federation's set or a replay it is only reported.
    """
    from dealer.history import history_digests, repeats_as_findings
    from dealer.store.history import find_deals, list_sets, summary

    if shown:
        return _reveals(data)
    if file is None:
        database = open_dealing_db(data)
        try:
            deals, sets = summary(database)
            rows = list_sets(database)
        finally:
            database.close()
        lines = [f"On record: {many(deals, 'deal')} of {many(sets, 'set')}."]
        lines += [f"  {day}  {set_id}  {kind}  {many(count, 'board')}" for set_id, kind, day, count in rows[:50]]
        listed = [{"set": s, "origin": o, "dealt_on": d, "boards": n} for s, o, d, n in rows]
        return Outcome({"deals": deals, "sets": sets, "list": listed}, "\n".join(lines))
    found = read_deal_file(file)
    boards = found.require_good(file)
    kind_of = Origin(origin) if origin else (found.origin or Origin.EXTERNAL)
    set_id = found.set_id or secrets.token_hex(8)
    if add and kind_of is Origin.SEEDED:
        raise DealError(
            "The set is seeded and not for play; it is not put on record.",
            where=file,
            next_step="If it was played all the same, say so with --origin replay.",
            code="set-origin",
        )
    if add:
        findings = put_on_record(DealSet(set_id, kind_of, boards), boards, data)
    else:
        database = open_dealing_db(data)
        try:
            earlier = find_deals(database, history_digests(boards), [board.number for board in boards])
        finally:
            database.close()
        findings = repeats_as_findings([one for one in earlier if one.set_id != found.set_id])
    word = "put on record" if add else "looked up"
    lines = [f"{many(len(boards), 'board')} {word}, {len(findings)} dealt before.", *map(str, findings)]
    fields = {
        "boards": len(boards),
        "set": set_id,
        "origin": kind_of.value,
        "added": add,
        "repeats": [finding.as_dict() for finding in findings],
    }
    return Outcome(fields, "\n".join(lines))


def _reveals(data: str | None) -> Outcome:
    from dealer.store.reveals import reveals

    database = open_dealing_db(data)
    try:
        found = reveals(database)
    finally:
        database.close()
    times = f"{len(found)} time{'' if len(found) == 1 else 's'}"
    lines = [f"Cards were shown {times}." if found else "No cards were shown."]
    for one in found[-50:]:
        board = f"board {one.board}" if one.board else ""
        lines.append("  " + "  ".join(part for part in (one.at, one.what, board, one.source) if part))
    listed = [{"at": one.at, "what": one.what, "source": one.source, "board": one.board or None} for one in found]
    return Outcome({"reveals": listed}, "\n".join(lines))
