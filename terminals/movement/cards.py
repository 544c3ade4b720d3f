"""Guide cards for the pairs and cards for the tables as black-and-white PDF, A4 or Letter, several on a page to cut."""

from __future__ import annotations

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A4, LETTER
from reportlab.pdfgen.canvas import Canvas

from dealer.records.fonts import BOLD, REGULAR, fitted, printable, typeface, width_of
from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Format, Movement
from terminals.movement.show import guide, summary, table_card

PAGES = {"a4": A4, "letter": LETTER}
_MARGIN = 28.0
_LINE = 13.0

_Columns = Sequence[tuple[str, float]]


def guide_cards(movement: Movement, *, page: str = "a4", title: str = "") -> bytes:
    """One card for each pair (or player): round, table, seat, opponents, boards. Two cards beside each other."""
    word = "Player" if movement.format is Format.INDIVIDUAL else "Pair"
    columns = [("Rd", 26.0), ("Table", 38.0), ("Seat", 34.0), ("Opponents", 94.0), ("Boards", 50.0)]
    cards = []
    for pair in movement.pairs:
        rows = [
            [str(g.round), str(g.table or "-"), g.seat or "sits out", g.opponents, g.boards]
            for g in guide(movement, pair)
        ]
        cards.append((f"{word} {pair}", rows))
    return _sheet(cards, columns, 2, page, title or movement.name)


def table_cards(movement: Movement, *, page: str = "a4", title: str = "") -> bytes:
    """One card for each table: who plays which boards, where all go next. Announcements come first."""
    columns = [
        ("Rd", 26.0), ("N-S", 62.0), ("E-W", 62.0), ("Boards", 56.0),
        ("N-S go to", 86.0), ("E-W go to", 86.0), ("Boards go to", 130.0),
    ]  # fmt: skip
    cards = []
    for table in range(1, movement.tables + 1):
        rows = [
            [str(t.round), t.ns or "-", t.ew or "-", t.boards or "-", t.ns_next, t.ew_next, t.boards_next]
            for t in table_card(movement, table)
        ]
        cards.append((f"Table {table}", rows))
    return _sheet(cards, columns, 1, page, title or movement.name, summary(movement))


def _sheet(
    cards: Sequence[tuple[str, list[list[str]]]],
    columns: _Columns,
    across: int,
    page: str,
    title: str,
    intro: Sequence[str] = (),
) -> bytes:
    typeface()
    size = PAGES.get(page.lower())
    if size is None:
        raise EntryError(f"Paper is {' or '.join(PAGES)}, not {page[:20]!r}.", exit_status=ExitStatus.USAGE)
    width, height = size
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=1, pageCompression=1)
    canvas.setTitle(printable(title))
    canvas.setAuthor("Firmware Bridge")
    y = height - _MARGIN
    if intro:
        y = _intro(canvas, title, intro, y, width)
    gap = 18.0
    card_width = (width - 2 * _MARGIN - gap * (across - 1)) / across
    for start in range(0, len(cards), across):
        row = cards[start : start + across]
        need = 44 + _LINE * (1 + max(len(rows) for _, rows in row))
        if y - min(need, height - 2 * _MARGIN) < _MARGIN and y < height - _MARGIN:
            canvas.showPage()
            y = height - _MARGIN
        lowest = y
        for at, (name, rows) in enumerate(row):
            x = _MARGIN + at * (card_width + gap)
            lowest = min(lowest, _card(canvas, name, title, rows, columns, x, y, card_width))
        y = lowest - gap
    canvas.save()
    return out.getvalue()


def _intro(canvas: Canvas, title: str, lines: Sequence[str], y: float, width: float) -> float:
    canvas.setFont(BOLD, 13)
    canvas.drawString(_MARGIN, y - 12, fitted(title, 13, width - 2 * _MARGIN, bold=True))
    y -= 30
    canvas.setFont(REGULAR, 9)
    for line in lines:
        for part in _wrapped(line, width - 2 * _MARGIN):
            canvas.drawString(_MARGIN, y, part)
            y -= 12
    return y - 6


def _card(
    canvas: Canvas, name: str, title: str, rows: list[list[str]], columns: _Columns, x: float, y: float, width: float
) -> float:
    """Draws a card with its upper left corner at x, y; returns the y of its lower edge."""
    top = y
    scale = width / sum(w for _, w in columns)
    canvas.setFont(BOLD, 15)
    canvas.drawString(x + 4, y - 17, name)
    used = width_of(name, 15, bold=True) + 14
    canvas.setFont(REGULAR, 7)
    canvas.drawRightString(x + width - 4, y - 15, fitted(title, 7, width - used - 8))
    y -= 34

    def line(cells: Sequence[str], *, bold: bool = False) -> None:
        left = x + 4
        for (_, w), cell in zip(columns, cells, strict=True):
            canvas.setFont(BOLD if bold else REGULAR, 9)
            canvas.drawString(left, y, fitted(cell, 9, w * scale - 4, bold=bold))
            left += w * scale

    line([head for head, _ in columns], bold=True)
    canvas.line(x, y - 3, x + width, y - 3)
    for cells in rows:
        y -= _LINE
        line(cells)
    y -= 8
    canvas.rect(x, y, width, top - y)
    return y


def _wrapped(text: str, width: float) -> list[str]:
    lines, current = [], ""
    for word in printable(text).split():
        longer = f"{current} {word}".strip()
        if width_of(longer, 9) > width and current:
            lines.append(current)
            current = word
        else:
            current = longer
    return [*lines, current] if current else lines
