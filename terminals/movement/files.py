"""Movements in files: YAML and CSV of the club's own, and the same shape as JSON values for the store.

Everything that is read is bounded (size, lines, depth) and an error names the line and the key. ``docs/movements.md``
describes both formats. A loaded movement is not yet a playable one: ``verify`` tells.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.filecheck import not_regular
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
MAX_ROWS = 20_000
MAX_DEPTH = 8
MAX_NUMBER = 9_999
MAX_TEXT = 300
MAX_NOTE = 6000
"""Letters of a note; the path of a rover through a hundred rounds is one."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the file with the line it stands on (0 = not from a text)."""

    value: Any
    line: int


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
        raise _bad(f"This is {wrong}, not a file.", str(file), "Name a .yaml or .csv file.")
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
        raise _bad(f"The file is larger than {MAX_BYTES // 1024} kB.", str(file))
    if not data.strip():
        raise _bad("The file is empty.", str(file))
    suffix = file.suffix.lower()
    if suffix not in (".yaml", ".yml", ".csv"):
        raise _bad("A movement file ends in .yaml or .csv.", str(file))
    return _decode(data, str(file))


def _bad(what: str, where: str, next_step: str = "") -> EntryError:
    return EntryError(what, where=where, next_step=next_step, code="bad-movement", exit_status=ExitStatus.USAGE)


def _decode(data: bytes, where: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _bad("The text is not UTF-8.", f"{where}, line {line}") from None


# YAML and JSON


def from_yaml(text: str, where: str = "movement") -> Movement:
    """The movement in a YAML text. Raises EntryError naming line and key."""
    if len(text) > MAX_BYTES:
        raise _bad(f"The text is larger than {MAX_BYTES // 1024} kB.", where)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = nodes = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line + 1 if event.start_mark else 0
            if isinstance(event, yaml.AliasEvent):
                raise _bad("Anchors and aliases are not used in movements.", _at(where, line))
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            nodes += 1
            if depth > MAX_DEPTH or nodes > 20 * MAX_ROWS:
                raise _bad("The file is nested too deeply or too long.", _at(where, line))
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or "not valid YAML")[:MAX_TEXT]
        raise _bad(f"This is not YAML: {problem}.", _at(where, mark.line + 1 if mark else 0)) from None
    if root is None:
        raise _bad("The file is empty.", where)
    return _movement(_convert(root), where)


def _at(where: str, line: int) -> str:
    return f"{where}, line {line}" if line else where


def _convert(node: Any) -> _Node:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, _Node] = {}
        for key, value in node.value:
            mapping[str(key.value)[:MAX_TEXT]] = _convert(value)
        return _Node(mapping, line)
    if isinstance(node, yaml.SequenceNode):
        return _Node([_convert(item) for item in node.value], line)
    text = node.value
    if node.tag == "tag:yaml.org,2002:int" and re.fullmatch(r"[0-9]{1,9}", text):
        return _Node(int(text), line)
    if node.tag == "tag:yaml.org,2002:bool":
        return _Node(text.lower() in ("yes", "true", "on"), line)
    return _Node(None if node.tag == "tag:yaml.org,2002:null" else text, line)


def from_dict(data: Mapping[str, Any], where: str = "movement") -> Movement:
    """The movement from JSON values as ``written.to_dict`` makes them. Raises EntryError naming the key."""
    return _movement(_wrap(data, 0, where), where)


def _wrap(value: Any, depth: int, where: str) -> _Node:
    if depth > MAX_DEPTH:
        raise _bad("The values are nested too deeply.", where)
    if isinstance(value, Mapping):
        return _Node({str(k): _wrap(v, depth + 1, where) for k, v in value.items()}, 0)
    if isinstance(value, list | tuple):
        return _Node([_wrap(v, depth + 1, where) for v in value], 0)
    return _Node(value, 0)


_KEYS = {
    "movement", "kind", "format", "tables", "rounds", "boards_per_round", "winners", "groups", "copies", "teams",
    "notes", "seatings", "sit_outs", "shares", "first_board", "renumbered",
}  # fmt: skip


class _Reader:
    """Typed access to a mapping, with the place in every error."""

    def __init__(self, node: _Node, where: str, path: str, known: set[str]) -> None:
        self.where, self.path, self.line = where, path, node.line
        if not isinstance(node.value, dict):
            raise self.error("", "keys and values are needed here")
        self.values: dict[str, _Node] = node.value
        for key, item in self.values.items():
            if key not in known:
                raise _bad(f"Unknown key {key!r}.", _at(where, item.line), f"Known: {', '.join(sorted(known))}.")

    def error(self, key: str, problem: str) -> EntryError:
        node = self.values.get(key) if key and hasattr(self, "values") else None
        name = f"{self.path}.{key}".strip(".")
        return _bad(f"Key {name or 'of the file'}: {problem}.", _at(self.where, node.line if node else self.line))

    def number(self, key: str, default: int | None = None, *, least: int = 1, most: int = MAX_NUMBER) -> int:
        node = self.values.get(key)
        if node is None or node.value is None:
            if default is None:
                raise self.error(key, "is missing")
            return default
        if not isinstance(node.value, int) or isinstance(node.value, bool) or not least <= node.value <= most:
            raise self.error(key, f"is a number from {least} to {most}, not {str(node.value)[:40]!r}")
        return node.value

    def text(self, key: str, default: str) -> str:
        node = self.values.get(key)
        if node is None or node.value is None:
            return default
        if not isinstance(node.value, str | int) or len(str(node.value)) > MAX_TEXT:
            raise self.error(key, f"is a text of at most {MAX_TEXT} letters")
        return str(node.value)

    def items(self, key: str) -> list[_Node]:
        node = self.values.get(key)
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list) or len(node.value) > MAX_ROWS:
            raise self.error(key, f"is a list of at most {MAX_ROWS}")
        return node.value

    def numbers(self, key: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        node = self.values.get(key)
        if node is None or node.value is None:
            if default is None:
                raise self.error(key, "is missing")
            return default
        found = tuple(_numbers(node.value))
        if not found or len(found) > MAX_NUMBER or not all(1 <= n <= MAX_NUMBER for n in found):
            raise self.error(key, "is a list of numbers such as 1-4 or 1,5,9")
        return found


def _numbers(value: Any) -> Iterator[int]:
    """1-4, "1,5-7", [1, 2] as numbers; -1 for what is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list):
        for node in value[: MAX_NUMBER + 1]:
            yield from _numbers(node.value if isinstance(node, _Node) else node)
    elif isinstance(value, str):
        for part in value.replace(" ", "").split(","):
            match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part)
            low, high = (int(match[1]), int(match[2] or match[1])) if match else (-1, -1)
            yield from range(low, high + 1) if low <= high else (-1,)
    else:
        yield -1


def _movement(root: _Node, where: str) -> Movement:
    top = _Reader(root, where, "", _KEYS)
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
        row = _Reader(
            node, where, f"seatings[{at}]", {"round", "table", "ns", "ew", "boards", "set", "copy", "players"}
        )
        _row(row, style, size, first, seatings, sit_outs)
    for at, node in enumerate(top.items("sit_outs")):
        row = _Reader(node, where, f"sit_outs[{at}]", {"round", "pair", "table", "direction", "boards", "absent"})
        sit_outs.append(_sit_out(row))
    tables = top.number("tables", max(s.table for s in seatings), most=2 * MAX_TABLES)
    rounds = top.number("rounds", max(s.round for s in seatings))
    groups = tuple(
        Group(r.text("name", "all"), r.numbers("contestants"))
        for r in (_Reader(n, where, f"groups[{i}]", {"name", "contestants"}) for i, n in enumerate(top.items("groups")))
    )
    teams = tuple(
        Team(r.number("number"), r.numbers("pairs"))
        for r in (_Reader(n, where, f"teams[{i}]", {"number", "pairs"}) for i, n in enumerate(top.items("teams")))
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
                _Reader(n, where, f"shares[{i}]", {"round", "tables", "boards"})
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
                _Reader(n, where, f"renumbered[{i}]", {"round", "pair", "number"})
                for i, n in enumerate(top.items("renumbered"))
            )
        ),
    )


def _row(row: _Reader, style: str, size: int, first: int, seatings: list[Seating], sit_outs: list[SitOut]) -> None:
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


def _sit_out(row: _Reader) -> SitOut:
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
    head: dict[str, _Node] = {"movement": _Node(name, 0)} if name else {}
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"#\s*([a-z_ ]+?)\s*:\s*(.+?)\s*$", line, re.IGNORECASE)
        if comment:
            key = comment[1].lower().replace(" ", "_").replace("name", "movement")
            value: Any = int(comment[2]) if re.fullmatch(r"[0-9]{1,9}", comment[2]) else comment[2]
            head[key] = _Node(True if key == "shares" and str(value).lower() == "yes" else value, number)
        elif line.strip() and not line.startswith("#"):
            lines.append((number, line))
    if len(lines) < 2:
        raise _bad("A header and at least one row are needed.", where)
    if len(lines) > MAX_ROWS:
        raise _bad(f"There are more than {MAX_ROWS} rows.", where)
    delimiter = max(",;\t", key=lines[0][1].count)
    table = list(csv.reader((line for _, line in lines), delimiter=delimiter))
    header = [cell.strip().lower() for cell in table[0]]
    known = {"round", "table", "ns", "ew", "n", "e", "s", "w", "boards", "low", "high", "set", "copy"}
    for column in header:
        if column not in known:
            raise _bad(
                f"Unknown column {column[:40]!r}.", _at(where, lines[0][0]), f"Known: {', '.join(sorted(known))}."
            )
    individual = {"n", "e", "s", "w"} <= set(header)
    rows = []
    for (number, _), cells in zip(lines[1:], table[1:], strict=False):
        if len(cells) != len(header):
            raise _bad(f"The row has {len(cells)} columns, the header {len(header)}.", _at(where, number))
        values = {key: cell.strip() for key, cell in zip(header, cells, strict=True) if cell.strip()}
        rows.append(_Node(_csv_row(values, number, individual), number))
    if individual:
        head["format"] = _Node(Format.INDIVIDUAL.value, 1)
    return _movement(_Node({**head, "seatings": _Node(rows, lines[1][0])}, 1), where)


def _csv_row(values: dict[str, str], line: int, individual: bool) -> dict[str, _Node]:
    row: dict[str, _Node] = {}
    for key in ("round", "table", "ns", "ew", "set", "copy"):
        if key in values:
            cell = values[key]
            row[key] = _Node(int(cell) if re.fullmatch(r"[0-9]{1,9}", cell) else cell, line)
    if "low" in values or "high" in values:
        row["boards"] = _Node(f"{values.get('low', '')}-{values.get('high', '')}", line)
    elif "boards" in values:
        row["boards"] = _Node(
            values["boards"].replace(" ", ",") if "-" not in values["boards"] else values["boards"], line
        )
    if individual:
        row["players"] = _Node(",".join(values.get(seat, "") for seat in "nesw"), line)
    return row
