"""Movements as text: the plan drawn as a grid, the guide card of a pair, the card of a table, what to announce.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from terminals.movement.model import Direction, Format, Movement, Seating, SitOut
from terminals.movement.verify import Report
from terminals.movement.written import short_boards


@dataclass(frozen=True, slots=True)
class GuideLine:
    """One round of a pair (or player). table 0 and opponents "" = sits out. seat: N-S, E-W, or N, E, S, W."""

    round: int
    table: int
    seat: str
    opponents: str
    boards: str


@dataclass(frozen=True, slots=True)
class TableLine:
    """One round of a table, with where everything goes afterwards ("" after the last round)."""

    round: int
    ns: str
    ew: str
    boards: str
    ns_next: str
    ew_next: str
    boards_next: str


def draw(movement: Movement, width: int = 100) -> str:
    """The movement as a grid: rounds down, tables across, in blocks of at most ``width`` characters."""
    lines = [movement.name, ""]
    cells = {
        (s.round, s.table): (_who(s), short_boards(s.boards) + ("" if s.copy == 1 else f" c{s.copy}"))
        for s in movement.seatings
    }
    for sit_out in movement.sit_outs:
        if sit_out.table and not sit_out.absent:
            resting = f"({short_boards(sit_out.boards)})" if sit_out.boards else ""
            cells.setdefault((sit_out.round, sit_out.table), (f"{sit_out.pair} sits out", resting))
    size = max([7, *(len(text) for pair in cells.values() for text in pair)])
    per_block = max(1, (width - 6) // (size + 3))
    for start in range(1, movement.tables + 1, per_block):
        tables = range(start, min(start + per_block, movement.tables + 1))
        lines.append("Round | " + " | ".join(f"Table {t}".ljust(size) for t in tables))
        lines.append("------+-" + "-+-".join("-" * size for _ in tables))
        for number in range(1, movement.rounds + 1):
            row = [cells.get((number, t), ("-", "")) for t in tables]
            lines.append(f"{number:>5} | " + " | ".join(top.ljust(size) for top, _ in row))
            lines.append("      | " + " | ".join(bottom.ljust(size) for _, bottom in row))
        lines.append("")
    elsewhere: dict[int, list[int]] = {}
    for s in movement.sit_outs:
        if not s.table and not s.absent:
            elsewhere.setdefault(s.round, []).append(s.pair)
    for number, pairs in sorted(elsewhere.items()):
        lines.append(
            f"Round {number}: {', '.join(str(pair) for pair in pairs)} sit{'s' if len(pairs) == 1 else ''} out."
        )
    lines += summary(movement)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def summary(movement: Movement) -> list[str]:
    """What a director has to know and to announce."""
    boards = movement.board_numbers
    copies = sorted(set(movement.copies_to_deal().values()))
    lines = [
        f"{movement.tables} tables, {movement.rounds} rounds, boards {short_boards(boards)}, "
        f"{movement.expected_results()} results, {_winners(movement)}."
    ]
    lines.append(
        f"The dealer makes {copies[-1]} cop{'y' if copies[-1] == 1 else 'ies'} of every board."
        if len(copies) == 1
        else "Copies: " + ", ".join(f"board {b}: {n}" for b, n in movement.copies_to_deal().items()) + "."
    )
    by_tables: dict[tuple[int, ...], list[int]] = {}
    for share in movement.shares:
        by_tables.setdefault(share.tables, []).append(share.round)
    for tables, rounds in sorted(by_tables.items()):
        lines.append(f"Tables {' and '.join(str(t) for t in tables)} share boards in rounds {_rounds(rounds)}.")
    return lines + list(movement.notes)


def _rounds(rounds: list[int]) -> str:
    return short_boards(tuple(sorted(set(rounds))))


def _winners(movement: Movement) -> str:
    if movement.winners == 1:
        return "one winner"
    return f"{movement.winners} winners ({', '.join(group.name for group in movement.groups)})"


def _who(s: Seating) -> str:
    if s.players:
        n, e, so, w = s.players
        return f"{n}+{so} v {e}+{w}"
    return f"{s.ns}-{s.ew}"


def guide(movement: Movement, pair: int) -> list[GuideLine]:
    """The guide card of a pair, or of a player in an individual."""
    lines = []
    for number in range(1, movement.rounds + 1):
        seat = movement.seat(pair, number)
        if isinstance(seat, Seating):
            opponents = " and ".join(str(o) for o in seat.opponents_of(pair))
            partner = [c for c in seat.side(seat.direction_of(pair) or Direction.NS) if c != pair]
            words = f"{opponents} (with {partner[0]})" if partner else opponents
            lines.append(GuideLine(number, seat.table, _seat(seat, pair), words, short_boards(seat.boards)))
        elif isinstance(seat, SitOut) and not seat.absent:
            lines.append(GuideLine(number, seat.table, "", "", ""))
    return lines


def _seat(s: Seating, pair: int) -> str:
    if s.players:
        return "NESW"[s.players.index(pair)]
    return "N-S" if s.direction_of(pair) is Direction.NS else "E-W"


def guide_text(movement: Movement, pair: int) -> str:
    """The guide card as text."""
    word = "Player" if movement.format is Format.INDIVIDUAL else "Pair"
    lines = [f"{word} {pair}   {movement.name}", "Round  Table  Seat  Opponents  Boards"]
    for line in guide(movement, pair):
        if line.opponents:
            lines.append(f"{line.round:>5}  {line.table:>5}  {line.seat:<4}  {line.opponents:<9}  {line.boards}")
        else:
            lines.append(f"{line.round:>5}  {line.table or '-':>5}  sits out")
    return "\n".join(lines) + "\n"


def table_card(movement: Movement, table: int) -> list[TableLine]:
    """The card that lies on a table: who plays what, and where pairs and boards go next (Law 8A)."""
    lines = []
    for number in range(1, movement.rounds + 1):
        seating = movement.at(number, table)
        if seating is None:
            alone = [s for s in movement.sit_outs if (s.round, s.table) == (number, table) and not s.absent]
            who = {s.direction: f"{s.pair} sits out" for s in alone}
            move = {s.direction: _move(movement, s.pair, number, table, s.direction) for s in alone}
            resting = alone[0].boards if alone else ()
            lines.append(
                TableLine(
                    number,
                    who.get(Direction.NS, ""),
                    who.get(Direction.EW, ""),
                    f"({short_boards(resting)})" if resting else "",
                    move.get(Direction.NS, ""),
                    move.get(Direction.EW, ""),
                    _boards_next(movement, resting, number, table, 1) if resting else "",
                )
            )
            continue
        lines.append(
            TableLine(
                number,
                " + ".join(str(p) for p in seating.side(Direction.NS)),
                " + ".join(str(p) for p in seating.side(Direction.EW)),
                short_boards(seating.boards),
                _moves(movement, seating, Direction.NS),
                _moves(movement, seating, Direction.EW),
                _boards_next(movement, seating.boards, number, table, seating.copy),
            )
        )
    return lines


def _move(movement: Movement, pair: int, round: int, table: int, side: Direction) -> str:
    """Where a pair goes when a round is over; "" when the session is."""
    seat = movement.next_seat(pair, round)
    if isinstance(seat, Seating):
        stays = seat.table == table and seat.direction_of(pair) is side and not seat.players
        return "stay" if stays else f"{seat.table} {_seat(seat, pair)}"
    if isinstance(seat, SitOut):
        if seat.absent:
            return "leaves"
        stays = seat.table == table and seat.direction is side
        return "stay, sits out" if stays else f"{seat.table} sits out" if seat.table else "sits out"
    return ""


def _moves(movement: Movement, seating: Seating, side: Direction) -> str:
    """Where the pair, or each player of an individual, goes next; nothing after the last round."""
    found = (_move(movement, one, seating.round, seating.table, side) for one in seating.side(side))
    return ", ".join(filter(None, found))


def _boards_next(movement: Movement, boards: tuple[int, ...], round: int, table: int, copy: int) -> str:
    """Where boards go when a round is over: to a table (also one that sits out), to a stand, or nowhere any more."""
    if round == movement.rounds:
        return ""
    following = movement.next_table(boards, round, copy)
    resting = next(
        (s.table for s in movement.sit_outs if s.round == round + 1 and s.table and set(boards) & set(s.boards)), 0
    )
    if following is not None and following.round == round + 1:
        resting = following.table
    if resting:
        return "stay" if resting == table else f"table {resting}"
    return "finished" if following is None else f"stand, round {following.round} table {following.table}"


def table_text(movement: Movement, table: int) -> str:
    """The table card as text."""
    head = ("Round", "N-S", "E-W", "Boards", "N-S next", "E-W next", "Boards go to")
    rows = [head] + [
        (str(t.round), t.ns or "-", t.ew or "-", t.boards or "-", t.ns_next, t.ew_next, t.boards_next)
        for t in table_card(movement, table)
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"Table {table}   {movement.name}", *lines]) + "\n"


def report_text(report: Report) -> str:
    """What ``verify`` found, for people."""
    return "\n".join(_report_lines(report)) + "\n"


def _report_lines(report: Report) -> Iterator[str]:
    for finding in report.errors:
        yield f"Error ({finding.property}): {finding.message}"
    for finding in report.warnings:
        yield f"Warning ({finding.property}): {finding.message}"
    if not report.errors and not report.warnings:
        yield "No error and no warning."
    if report.balance is not None:
        b = report.balance
        yield (
            f"Balance of all contestants: mean {float(b.mean):.2f}, {b.least} to {b.most}, "
            f"variance {float(b.variance):.2f}, per set {float(b.per_set):.2f} (0 is perfect)."
        )
    if len(report.balance_by_group) > 1:
        for name, balance in report.balance_by_group:
            if balance is not None:
                yield f"Inside {name}: variance {float(balance.variance):.2f}."
