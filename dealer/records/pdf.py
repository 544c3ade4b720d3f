"""Hand records as PDF: cross diagrams, twelve or fifteen to an A4 page, the same bytes for the same boards.

Nothing depends on colour: hearts and diamonds are red on a screen and dark grey on paper, and every suit has its
own shape. Vulnerable sides are filled bars, so that they survive a bad printer.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from dealer.board import Board
from dealer.cards import RANKS, Seat
from dealer.records.content import STRAIN_ORDER, RecordBoard, RecordPage
from dealer.records.fonts import fitted, printable, typeface, width_of

# reportlab is imported when something is drawn: its start is slow.

MARGIN = 28.0
HEADER = 34.0
FOOTER = 20.0
_SYMBOLS = "\u2660\u2665\u2666\u2663"
_RED = (0.72, 0.0, 0.0)


class _Canvas:
    """The few strokes that a record is made of."""

    def __init__(self, title: str) -> None:
        from reportlab.lib.pagesizes import A4
        from reportlab.pdfgen.canvas import Canvas

        self.buffer = io.BytesIO()
        self.width, self.height = A4
        self.canvas: Any = Canvas(self.buffer, pagesize=A4, invariant=1, pageCompression=1)
        self.canvas.setTitle(printable(title))
        self.canvas.setCreator("Firmware Bridge")
        self.typeface = typeface()

    def text(self, x: float, y: float, words: str, size: float, *, bold: bool = False, align: str = "left") -> None:
        self.canvas.setFont(self.typeface.face(bold), size)
        draw = {
            "left": self.canvas.drawString,
            "right": self.canvas.drawRightString,
            "centre": self.canvas.drawCentredString,
        }
        draw[align](x, y, printable(words))

    def fitted(self, x: float, y: float, words: str, size: float, width: float) -> None:
        """Text made smaller, down to two thirds, and then cut, until it fits."""
        words = printable(words)
        while size > 4.6 and width_of(words, size) > width:
            size -= 0.2
        self.text(x, y, fitted(words, size, width), size)

    def suit(self, x: float, y: float, suit: int, size: float) -> None:
        """A suit symbol with its left foot at x, y."""
        self.canvas.setFont(self.typeface.regular, size)
        if suit in (1, 2):
            self.canvas.setFillColorRGB(*_RED)
        self.canvas.drawString(x, y, _SYMBOLS[suit])
        self.canvas.setFillGray(0)

    def finish(self) -> bytes:
        self.canvas.save()
        return self.buffer.getvalue()


def record_pdf(boards: Sequence[RecordBoard], page: RecordPage, *, per_page: int = 12) -> bytes:
    """A PDF with ``per_page`` (12 or 15) boards on each A4 page."""
    rows = 5 if per_page == 15 else 4
    paper = _Canvas(" ".join(filter(None, (page.club, page.event, page.date))) or "Hand record")
    pages = -(-len(boards) // (3 * rows))
    cell_width = (paper.width - 2 * MARGIN) / 3
    cell_height = (paper.height - 2 * MARGIN - HEADER - FOOTER) / rows
    for number in range(pages):
        _frame(paper, page, number + 1, pages, "Hand record")
        for place, item in enumerate(boards[number * 3 * rows : (number + 1) * 3 * rows]):
            row, column = divmod(place, 3)
            left = MARGIN + column * cell_width
            top = paper.height - MARGIN - HEADER - row * cell_height
            _board(paper, item, left, top, cell_width, cell_height)
        paper.canvas.showPage()
    return paper.finish()


def _frame(paper: _Canvas, page: RecordPage, number: int, pages: int, kind: str) -> None:
    top = paper.height - MARGIN
    across = paper.width - 2 * MARGIN
    club = fitted(page.club, 10, 0.4 * across)
    title = fitted(page.event or kind, 14, across - width_of(club, 10) - 12, bold=True)
    paper.text(MARGIN, top - 12, title, 14, bold=True)
    paper.text(paper.width - MARGIN, top - 12, club, 10, align="right")
    if page.mark:
        paper.text(0.64 * paper.width, top - 25, page.mark, 12, bold=True, align="centre")
    paper.text(paper.width - MARGIN, top - 24, fitted(page.date, 9, 0.18 * across), 9, align="right")
    about = []
    if page.fingerprint:
        about.append(f"Fingerprint {page.fingerprint}")
    if page.set_id:
        about.append(f"Set {page.set_id}")
    paper.text(MARGIN, top - 24, "   ".join(about), 8)
    paper.text(MARGIN, MARGIN - 4, fitted(page.note, 7, 0.9 * across), 7)
    paper.text(paper.width - MARGIN, MARGIN - 4, f"{number} / {pages}", 8, align="right")


def _board(paper: _Canvas, item: RecordBoard, left: float, top: float, width: float, height: float) -> None:
    canvas = paper.canvas
    canvas.setLineWidth(0.4)
    canvas.setStrokeGray(0.6)
    canvas.rect(left, top - height, width, height)
    canvas.setStrokeGray(0)
    board = item.board
    line = height / 16.2
    size = min(9.0, line * 0.86)
    paper.text(left + 5, top - 1.9 * line, str(board.number), size * 1.9, bold=True)
    paper.text(left + 5, top - 3.0 * line, f"Dealer {board.dealer.letter}", size * 0.88)
    paper.text(left + 5, top - 3.9 * line, f"Vul {board.vulnerability.pbn}", size * 0.88)
    first = top - 1.15 * line
    middle, half = left + 0.46 * width, 1.5 * line
    _hand(paper, board, Seat.NORTH, left + 0.36 * width, first, line, size, 0.62 * width)
    _hand(paper, board, Seat.WEST, left + 5, first - 4.2 * line, line, size, middle - half - left - 7)
    _hand(paper, board, Seat.EAST, left + 0.66 * width, first - 4.2 * line, line, size, 0.33 * width)
    _hand(paper, board, Seat.SOUTH, left + 0.36 * width, first - 8.6 * line, line, size, 0.28 * width)
    _compass(paper, board, middle, first - 5.95 * line, half, size)
    _points(paper, item, left + 5, top - 10.6 * line, line, size)
    if item.tricks is not None:
        _table(paper, item, left + 0.66 * width, top - 9.7 * line, width * 0.33, line, size)
    if item.par is not None:
        paper.fitted(left + 5, top - 15.3 * line, f"Par {item.par}", size * 0.95, width - 10)


def _hand(paper: _Canvas, board: Board, seat: Seat, x: float, y: float, line: float, size: float, width: float) -> None:
    """Four suits in ``width`` points; a long suit is written smaller and never cut."""
    room = width - size * 1.05
    for suit in range(4):
        paper.suit(x, y - suit * line, suit, size)
        ranks = board.deal.holding(seat, suit).replace("T", "10") or "\u2013"
        needed = width_of(ranks, size)
        paper.text(x + size * 1.05, y - suit * line, ranks, size if needed <= room else size * room / needed)


def _compass(paper: _Canvas, board: Board, x: float, y: float, half: float, size: float) -> None:
    """A square with the seats' letters; vulnerable sides are filled bars, the dealer's letter is underlined."""
    canvas = paper.canvas
    canvas.setLineWidth(0.6)
    canvas.rect(x - half, y - half, 2 * half, 2 * half)
    bar = half * 0.2
    bars = {
        Seat.NORTH: (x - half, y + half - bar, 2 * half, bar),
        Seat.SOUTH: (x - half, y - half, 2 * half, bar),
        Seat.WEST: (x - half, y - half, bar, 2 * half),
        Seat.EAST: (x + half - bar, y - half, bar, 2 * half),
    }
    places = {
        Seat.NORTH: (x, y + half * 0.36),
        Seat.SOUTH: (x, y - half * 0.72),
        Seat.WEST: (x - half * 0.5, y - half * 0.18),
        Seat.EAST: (x + half * 0.5, y - half * 0.18),
    }
    letter = size * 0.72
    for seat in Seat:
        if board.vulnerability.includes(seat):
            canvas.rect(*bars[seat], stroke=0, fill=1)
        at_x, at_y = places[seat]
        paper.text(at_x, at_y, seat.letter, letter, bold=seat == board.dealer, align="centre")
        if seat == board.dealer:
            canvas.line(at_x - letter * 0.4, at_y - letter * 0.14, at_x + letter * 0.4, at_y - letter * 0.14)


def _points(paper: _Canvas, item: RecordBoard, x: float, y: float, line: float, size: float) -> None:
    """High-card points of the four hands in a small cross."""
    north, east, south, west = item.points
    small = size * 0.82
    middle = x + size * 2.1
    paper.text(middle, y, str(north), small, align="centre")
    paper.text(middle - size * 1.3, y - line * 0.95, str(west), small, align="centre")
    paper.text(middle + size * 1.3, y - line * 0.95, str(east), small, align="centre")
    paper.text(middle, y - line * 1.9, str(south), small, align="centre")
    paper.text(middle, y - line * 2.9, "HCP", small * 0.8, align="centre")


def _table(paper: _Canvas, item: RecordBoard, x: float, y: float, width: float, line: float, size: float) -> None:
    """Levels that each seat can make in each strain."""
    small = size * 0.82
    step = width / 6.6
    for column, strain in enumerate(STRAIN_ORDER):
        at = x + step * (column + 1.3)
        if strain == 4:
            paper.text(at, y, "NT", small * 0.9, align="centre")
        else:
            paper.suit(at - small * 0.33, y, strain, small)
    for row, seat in enumerate((Seat.NORTH, Seat.SOUTH, Seat.EAST, Seat.WEST)):
        at_y = y - (row + 1) * line * 0.95
        paper.text(x, at_y, seat.letter, small, bold=True)
        for column, strain in enumerate(STRAIN_ORDER):
            paper.text(x + step * (column + 1.3), at_y, item.makeable(seat, strain), small, align="centre")


SHEET_ROWS = 10


def sheet_pdf(boards: Sequence[Board], page: RecordPage) -> bytes:
    """A sheet for dealing by hand: each pack sorted by suit from the ace down, and the seat that each card goes to."""
    paper = _Canvas(" ".join(filter(None, (page.club, page.event, page.date))) or "Dealing sheet")
    pages = -(-len(boards) // SHEET_ROWS)
    height = (paper.height - 2 * MARGIN - HEADER - FOOTER) / SHEET_ROWS
    for number in range(pages):
        _frame(paper, page, number + 1, pages, "Dealing sheet")
        for place, board in enumerate(boards[number * SHEET_ROWS : (number + 1) * SHEET_ROWS]):
            _sheet_board(paper, board, paper.height - MARGIN - HEADER - place * height, height)
        paper.canvas.showPage()
    return paper.finish()


def _sheet_board(paper: _Canvas, board: Board, top: float, height: float) -> None:
    canvas = paper.canvas
    width = paper.width - 2 * MARGIN
    canvas.setLineWidth(0.4)
    canvas.setStrokeGray(0.6)
    canvas.line(MARGIN, top - height + 2, MARGIN + width, top - height + 2)
    canvas.setStrokeGray(0)
    line = height / 5.6
    size = line * 0.74
    paper.text(MARGIN, top - 1.9 * line, str(board.number), size * 1.7, bold=True)
    paper.text(MARGIN, top - 3.0 * line, f"Dealer {board.dealer.letter}", size * 0.8)
    paper.text(MARGIN, top - 4.0 * line, f"Vul {board.vulnerability.pbn}", size * 0.8)
    step = (width - 80) / 13
    for rank, name in enumerate(RANKS):
        label = name.replace("T", "10")
        paper.text(MARGIN + 84 + rank * step, top - 0.95 * line, label, size * 0.7, align="centre")
    for suit in range(4):
        y = top - (suit + 1.95) * line
        paper.suit(MARGIN + 58, y, suit, size)
        for rank in range(13):
            letter = Seat(board.deal.owners[13 * suit + rank]).letter
            paper.text(MARGIN + 84 + rank * step, y, letter, size, bold=True, align="centre")
