"""Movements written down: JSON values for the store and for pages, and the YAML and CSV that ``files`` reads."""

from __future__ import annotations

import csv
import io
from typing import Any

import yaml

from terminals.movement.model import Direction, Format, Movement


def to_dict(movement: Movement) -> dict[str, Any]:
    """The movement as JSON values: everything, in the keys of the YAML file."""
    seatings: list[dict[str, Any]] = []
    for s in movement.seatings:
        row: dict[str, Any] = {"round": s.round, "table": s.table}
        row |= {"players": list(s.players)} if s.players else {"ns": s.ns, "ew": s.ew}
        row["boards"] = list(s.boards)
        seatings.append(row | ({"copy": s.copy} if s.copy != 1 else {}))
    return {
        "movement": movement.name,
        "kind": movement.kind,
        "format": str(movement.format),
        "tables": movement.tables,
        "rounds": movement.rounds,
        "boards_per_round": movement.boards_per_round,
        "copies": movement.copies,
        "groups": [{"name": g.name, "contestants": list(g.contestants)} for g in movement.groups],
        "teams": [{"number": t.number, "pairs": list(t.pairs)} for t in movement.teams],
        "notes": list(movement.notes),
        "seatings": seatings,
        "sit_outs": [
            {
                "round": s.round, "pair": s.pair, "table": s.table, "direction": str(s.direction),
                "boards": list(s.boards) or None, "absent": s.absent,
            }
            for s in movement.sit_outs
        ],
        "shares": [{"round": s.round, "tables": list(s.tables), "boards": list(s.boards)} for s in movement.shares],
        "renumbered": [{"round": n.round, "pair": n.pair, "number": n.number} for n in movement.renumbered],
    }  # fmt: skip


def to_yaml(movement: Movement) -> str:
    """The movement as a YAML file, one row a line."""
    data = to_dict(movement)
    out = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            out.append(f"{key}:")
            out += [
                f"  - {yaml.safe_dump(row, default_flow_style=True, width=10_000, sort_keys=False).strip()}"
                for row in value
            ]
        elif value not in ([], None):
            out.append(yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=10_000).strip())
    return "\n".join(out) + "\n"


def to_csv(movement: Movement) -> str:
    """The movement as a CSV file: seatings and sit-outs at a table. Teams and absences need YAML."""
    out = io.StringIO()
    out.write(f"# name: {movement.name}\n# winners: {min(movement.winners, 2)}\n# copies: {movement.copies}\n")
    out.write(f"# boards per round: {movement.boards_per_round}\n" + ("# shares: yes\n" if movement.shares else ""))
    individual = movement.format is Format.INDIVIDUAL
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["round", "table", *(["n", "e", "s", "w"] if individual else ["ns", "ew"]), "boards", "copy"])
    rows = [(s.round, s.table, s.players if individual else (s.ns, s.ew), s.boards, s.copy) for s in movement.seatings]
    for sit_out in movement.sit_outs:
        if sit_out.table and sit_out.boards and not individual:
            pair = (sit_out.pair, 0) if sit_out.direction is Direction.NS else (0, sit_out.pair)
            rows.append((sit_out.round, sit_out.table, pair, sit_out.boards, 1))
    for number, table, who, boards, copy in sorted(rows, key=lambda r: r[:2]):
        writer.writerow([number, table, *who, short_boards(boards), copy])
    return out.getvalue()


def short_boards(boards: tuple[int, ...]) -> str:
    """1-4 for a run of boards, 1,3,7 for others."""
    run = len(boards) > 1 and boards == tuple(range(boards[0], boards[0] + len(boards)))
    return f"{boards[0]}-{boards[-1]}" if run else ",".join(str(board) for board in boards)
