"""Guide cards for the pairs and cards for the tables as black-and-white PDF, A4 or Letter, several on a page to cut."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Sequence

from reportlab.lib.pagesizes import A4, LETTER
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Format, Movement
from terminals.movement.show import guide, summary, table_card

PAGES = {"a4": A4, "letter": LETTER}
_MARGIN = 28.0
_LINE = 13.0
_BASE = {
    "Ł": "L",
    "ł": "l",
    "Đ": "D",
    "đ": "d",
    "Œ": "OE",
    "œ": "oe",
    "ı": "i",
    "–": "-",
    "—": "-",
    "’": "'",
    "„": '"',
    "”": '"',
}
_FONT, _BOLD = "Helvetica", "Helvetica-Bold"

_Columns = Sequence[tuple[str, float]]


def guide_cards(movement: Movement, *, page: str = "a4", title: str = "") -> bytes:
    """One card for each pair (or player): round, table, seat, opponents, boards. Two cards beside each other."""
    word = "Player" if movement.format is Format.INDIVIDUAL else "Pair"
    columns = [("Rd", 26.0), ("Table", 38.0), ("Seat", 34.0), ("Opponents", 88.0), ("Boards", 52.0)]
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
    size = PAGES.get(page.lower())
    if size is None:
        raise EntryError(f"Paper is {' or '.join(PAGES)}, not {page[:20]!r}.", exit_status=ExitStatus.USAGE)
    width, height = size
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=1, pageCompression=1)
    canvas.setTitle(_plain(title))
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
    canvas.setFont(_BOLD, 13)
    canvas.drawString(_MARGIN, y - 12, _fit(title, _BOLD, 13, width - 2 * _MARGIN))
    y -= 30
    canvas.setFont(_FONT, 9)
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
    canvas.setFont(_BOLD, 15)
    canvas.drawString(x + 4, y - 17, name)
    used = stringWidth(name, _BOLD, 15) + 14
    canvas.setFont(_FONT, 7)
    canvas.drawRightString(x + width - 4, y - 15, _fit(title, _FONT, 7, width - used - 8))
    y -= 34

    def line(cells: Sequence[str], font: str) -> None:
        left = x + 4
        for (_, w), cell in zip(columns, cells, strict=True):
            canvas.setFont(font, 9)
            canvas.drawString(left, y, _fit(cell, font, 9, w * scale - 4))
            left += w * scale

    line([head for head, _ in columns], _BOLD)
    canvas.line(x, y - 3, x + width, y - 3)
    for cells in rows:
        y -= _LINE
        line(cells, _FONT)
    y -= 8
    canvas.rect(x, y, width, top - y)
    return y


def _plain(text: str) -> str:
    """Text for the standard PDF fonts, which know Latin-1 only: other letters lose their accent or are "?"."""
    letters = []
    for letter in text:
        if ord(letter) > 255:
            letter = _BASE.get(letter) or unicodedata.normalize("NFKD", letter)[0]
        letters.append(letter)
    return "".join(letters).encode("latin-1", "replace").decode("latin-1")


def _fit(text: str, font: str, size: float, width: float) -> str:
    text = _plain(text)
    measure: Callable[[str], float] = lambda t: stringWidth(t, font, size)  # noqa: E731
    if measure(text) <= width:
        return text
    while text and measure(text + "...") > width:
        text = text[:-1]
    return text + "..."


def _wrapped(text: str, width: float) -> list[str]:
    lines, current = [], ""
    for word in _plain(text).split():
        longer = f"{current} {word}".strip()
        if stringWidth(longer, _FONT, 9) > width and current:
            lines.append(current)
            current = word
        else:
            current = longer
    return [*lines, current] if current else lines
