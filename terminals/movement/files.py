"""Movements in files: YAML and CSV of the club's own, and the same shape as JSON values for the store.

Everything that is read is bounded (size, lines, depth) and an error names the line and the key. ``docs/movements.md``
describes both formats. A loaded movement is not yet a playable one: ``verify`` tells.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.filecheck import not_regular
from terminals.movement.keys import MAX_ROWS, MAX_TEXT, Node, Reader, bad, on_line
from terminals.movement.mitchell import MAX_TABLES
from terminals.movement.model import (
    Direction,
    Format,
    Group,
    Movement,
    NewNumber,
    Seating,
    Share,
    SitOut,
    Team,
    board_set,
    find_shares,
)

MAX_BYTES = 512 * 1024
MAX_DEPTH = 8
MAX_NOTE = 6000
"""Letters of a note; the path of a rover through a hundred rounds is one."""


def load(path: str | Path) -> Movement:
    """The movement in a .yaml, .yml or .csv file. Raises EntryError: exit 2 for a file that can't be read at all."""
    file = Path(path)
    text = text_of(file)
    return from_csv(text, str(file), file.stem) if file.suffix.lower() == ".csv" else from_yaml(text, str(file))


def text_of(path: str | Path) -> str:
    """What a .yaml, .yml or .csv file says. Raises EntryError (exit 2): missing, too large, empty, of another kind."""
    file = Path(path)
    wrong = not_regular(file)
    if wrong:
        raise bad(f"This is {wrong}, not a file.", str(file), "Name a .yaml or .csv file.")
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise EntryError(
            "There is no such movement file.",
            where=str(file),
            next_step="See whether the name is right; movements that need no file: firmware-bridge movement kinds",
            code="no-such-file",
            exit_status=ExitStatus.USAGE,
        ) from None
    except OSError as error:
        raise EntryError(
            f"The movement can't be read: {error.strerror or error}.",
            where=str(file),
            next_step="See who may read the file.",
            code="unreadable",
            exit_status=ExitStatus.USAGE,
        ) from None
    if len(data) > MAX_BYTES:
        raise bad(f"The file is larger than {MAX_BYTES // 1024} kB.", str(file))
    if not data.strip():
        raise bad("The file is empty.", str(file))
    suffix = file.suffix.lower()
    if suffix not in (".yaml", ".yml", ".csv"):
        raise bad("A movement file ends in .yaml or .csv.", str(file))
    return _decode(data, str(file))


def _decode(data: bytes, where: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise bad("The text is not UTF-8.", f"{where}, line {line}") from None


# YAML and JSON


def from_yaml(text: str, where: str = "movement") -> Movement:
    """The movement in a YAML text. Raises EntryError naming line and key."""
    if len(text) > MAX_BYTES:
        raise bad(f"The text is larger than {MAX_BYTES // 1024} kB.", where)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = nodes = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line + 1 if event.start_mark else 0
            if isinstance(event, yaml.AliasEvent):
                raise bad("Anchors and aliases are not used in movements.", on_line(where, line))
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            nodes += 1
            if depth > MAX_DEPTH or nodes > 20 * MAX_ROWS:
                raise bad("The file is nested too deeply or too long.", on_line(where, line))
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or "not valid YAML")[:MAX_TEXT]
        raise bad(f"This is not YAML: {problem}.", on_line(where, mark.line + 1 if mark else 0)) from None
    if root is None:
        raise bad("The file is empty.", where)
    return _movement(_convert(root), where)


def _convert(node: Any) -> Node:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Node] = {}
        for key, value in node.value:
            mapping[str(key.value)[:MAX_TEXT]] = _convert(value)
        return Node(mapping, line)
    if isinstance(node, yaml.SequenceNode):
        return Node([_convert(item) for item in node.value], line)
    text = node.value
    if node.tag == "tag:yaml.org,2002:int" and re.fullmatch(r"[0-9]{1,9}", text):
        return Node(int(text), line)
    if node.tag == "tag:yaml.org,2002:bool":
        return Node(text.lower() in ("yes", "true", "on"), line)
    return Node(None if node.tag == "tag:yaml.org,2002:null" else text, line)


def from_dict(data: Mapping[str, Any], where: str = "movement") -> Movement:
    """The movement from JSON values as ``written.to_dict`` makes them. Raises EntryError naming the key."""
    return _movement(_wrap(data, 0, where), where)


def _wrap(value: Any, depth: int, where: str) -> Node:
    if depth > MAX_DEPTH:
        raise bad("The values are nested too deeply.", where)
    if isinstance(value, Mapping):
        return Node({str(k): _wrap(v, depth + 1, where) for k, v in value.items()}, 0)
    if isinstance(value, list | tuple):
        return Node([_wrap(v, depth + 1, where) for v in value], 0)
    return Node(value, 0)


_KEYS = {
    "movement", "kind", "format", "tables", "rounds", "boards_per_round", "winners", "groups", "copies", "teams",
    "notes", "seatings", "sit_outs", "shares", "first_board", "renumbered",
}  # fmt: skip


def _movement(root: Node, where: str) -> Movement:
    top = Reader(root, where, "", _KEYS)
    style = top.text("format", Format.PAIRS)
    if style not in list(Format):
        raise top.error("format", "is one of pairs, teams, individual")
    size = top.number("boards_per_round", 0, least=0, most=99)
    first = top.number("first_board", 1, most=999)
    seatings: list[Seating] = []
    sit_outs: list[SitOut] = []
    rows = top.items("seatings")
    if not rows:
        raise top.error("seatings", "is missing or empty")
    for at, node in enumerate(rows):
        row = Reader(node, where, f"seatings[{at}]", {"round", "table", "ns", "ew", "boards", "set", "copy", "players"})
        _row(row, style, size, first, seatings, sit_outs)
    for at, node in enumerate(top.items("sit_outs")):
        row = Reader(node, where, f"sit_outs[{at}]", {"round", "pair", "table", "direction", "boards", "absent"})
        sit_outs.append(_sit_out(row))
    if not seatings:
        raise top.error("seatings", "have nobody with opponents")
    places: list[Seating | SitOut] = [*seatings, *sit_outs]
    tables = top.number("tables", max(one.table for one in places), most=2 * MAX_TABLES)
    rounds = top.number("rounds", max(one.round for one in places))
    groups = tuple(
        Group(r.text("name", "all"), r.numbers("contestants"))
        for r in (Reader(n, where, f"groups[{i}]", {"name", "contestants"}) for i, n in enumerate(top.items("groups")))
    )
    teams = tuple(
        Team(r.number("number"), r.numbers("pairs"))
        for r in (Reader(n, where, f"teams[{i}]", {"number", "pairs"}) for i, n in enumerate(top.items("teams")))
    )
    if style == Format.TEAMS and not teams:
        raise top.error("teams", "is missing: each team has a number and its pairs")
    declared = top.values.get("shares")
    shares: tuple[Share, ...]
    if declared is not None and declared.value is True:
        shares = find_shares(seatings)
    else:
        shares = tuple(
            Share(r.number("round"), r.numbers("tables"), r.numbers("boards"))
            for r in (
                Reader(n, where, f"shares[{i}]", {"round", "tables", "boards"})
                for i, n in enumerate(top.items("shares") if declared is None or declared.value is not False else [])
            )
        )
    winners = top.number("winners", 0, least=0, most=2)
    return Movement(
        name=top.text("movement", f"{Path(where).stem}, {tables} tables, {rounds} rounds"),
        kind=top.text("kind", "own"),
        tables=tables,
        rounds=rounds,
        boards_per_round=size or max(len(s.boards) for s in seatings),
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=groups or _groups(seatings, sit_outs, teams, winners, lambda problem: top.error("winners", problem)),
        shares=shares,
        copies=top.number("copies", 1, most=2 * MAX_TABLES),
        format=Format(style),
        teams=teams,
        notes=tuple(str(node.value)[:MAX_NOTE] for node in top.items("notes")),
        renumbered=tuple(
            NewNumber(r.number("round", most=999), r.number("pair"), r.number("number"))
            for r in (
                Reader(n, where, f"renumbered[{i}]", {"round", "pair", "number"})
                for i, n in enumerate(top.items("renumbered"))
            )
        ),
    )


def _row(row: Reader, style: str, size: int, first: int, seatings: list[Seating], sit_outs: list[SitOut]) -> None:
    number, table = row.number("round", most=999), row.number("table", most=2 * MAX_TABLES)
    if "set" in row.values and "boards" not in row.values:
        if not size:
            raise row.error("set", "needs boards_per_round")
        boards = board_set(row.number("set", most=999), size, first)
    else:
        boards = row.numbers("boards")
    if style == Format.INDIVIDUAL:
        players = row.numbers("players")
        if len(players) != 4:
            raise row.error("players", "are four numbers: N, E, S, W")
        seatings.append(Seating(number, table, players[0], players[1], boards, row.number("copy", 1), players))
        return
    ns, ew = row.number("ns", 0, least=0), row.number("ew", 0, least=0)
    if ns and ew:
        seatings.append(Seating(number, table, ns, ew, boards, row.number("copy", 1)))
    elif ns or ew:  # somebody sits alone: that is a sit-out
        sit_outs.append(SitOut(number, ns or ew, table, Direction.NS if ns else Direction.EW, boards))


def _sit_out(row: Reader) -> SitOut:
    direction = row.text("direction", "NS")
    if direction not in list(Direction):
        raise row.error("direction", "is NS or EW")
    absent = row.values.get("absent")
    return SitOut(
        row.number("round", most=999),
        row.number("pair"),
        row.number("table", 0, least=0, most=2 * MAX_TABLES),
        Direction(direction),
        row.numbers("boards", ()),
        absent=absent is not None and absent.value is True,
    )


def _groups(seatings: list[Seating], sit_outs: list[SitOut], teams: tuple[Team, ...], winners: int, error: Any) -> Any:
    """Who is ranked together: two groups if nobody changes direction (or as ``winners`` says)."""
    if teams:
        return (Group("all", tuple(t.number for t in teams)),)
    ns = {c for s in seatings for c in s.side(Direction.NS)}
    ew = {c for s in seatings for c in s.side(Direction.EW)}
    for s in sit_outs:
        if s.pair not in ns | ew:
            (ns if s.direction is Direction.NS else ew).add(s.pair)
    if winners == 2 and ns & ew:
        raise error(f"can't be 2: pair {min(ns & ew)} sits in both directions")
    if winners == 1 or ns & ew:
        return (Group("all", tuple(sorted(ns | ew))),)
    return (Group("NS", tuple(sorted(ns))), Group("EW", tuple(sorted(ew))))


# CSV


def from_csv(text: str, where: str = "movement", name: str = "") -> Movement:
    """The movement in a CSV text with the columns round, table, ns, ew (or n, e, s, w) and boards (or low, high; set).

    Lines "# key: value" before the header set name, winners, copies, boards_per_round and "shares: yes".
    Raises EntryError naming the line and the column.
    """
    head: dict[str, Node] = {"movement": Node(name, 0)} if name else {}
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"#\s*([a-z_ ]+?)\s*:\s*(.+?)\s*$", line, re.IGNORECASE)
        if comment:
            key = comment[1].lower().replace(" ", "_").replace("name", "movement")
            value: Any = int(comment[2]) if re.fullmatch(r"[0-9]{1,9}", comment[2]) else comment[2]
            head[key] = Node(True if key == "shares" and str(value).lower() == "yes" else value, number)
        elif line.strip() and not line.startswith("#"):
            lines.append((number, line))
    if len(lines) < 2:
        raise bad("A header and at least one row are needed.", where)
    if len(lines) > MAX_ROWS:
        raise bad(f"There are more than {MAX_ROWS} rows.", where)
    delimiter = max(",;\t", key=lines[0][1].count)
    table = list(csv.reader((line for _, line in lines), delimiter=delimiter))
    header = [cell.strip().lower() for cell in table[0]]
    known = {"round", "table", "ns", "ew", "n", "e", "s", "w", "boards", "low", "high", "set", "copy"}
    for column in header:
        if column not in known:
            raise bad(
                f"Unknown column {column[:40]!r}.", on_line(where, lines[0][0]), f"Known: {', '.join(sorted(known))}."
            )
    individual = {"n", "e", "s", "w"} <= set(header)
    rows = []
    for (number, _), cells in zip(lines[1:], table[1:], strict=False):
        if len(cells) != len(header):
            raise bad(f"The row has {len(cells)} columns, the header {len(header)}.", on_line(where, number))
        values = {key: cell.strip() for key, cell in zip(header, cells, strict=True) if cell.strip()}
        rows.append(Node(_csv_row(values, number, individual), number))
    if individual:
        head["format"] = Node(Format.INDIVIDUAL.value, 1)
    return _movement(Node({**head, "seatings": Node(rows, lines[1][0])}, 1), where)


def _csv_row(values: dict[str, str], line: int, individual: bool) -> dict[str, Node]:
    row: dict[str, Node] = {}
    for key in ("round", "table", "ns", "ew", "set", "copy"):
        if key in values:
            cell = values[key]
            row[key] = Node(int(cell) if re.fullmatch(r"[0-9]{1,9}", cell) else cell, line)
    if "low" in values or "high" in values:
        row["boards"] = Node(f"{values.get('low', '')}-{values.get('high', '')}", line)
    elif "boards" in values:
        row["boards"] = Node(
            values["boards"].replace(" ", ",") if "-" not in values["boards"] else values["boards"], line
        )
    if individual:
        row["players"] = Node(",".join(values.get(seat, "") for seat in "nesw"), line)
    return row
