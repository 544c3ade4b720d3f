"""Black-and-white pages of tables, A4 or Letter: titles, page numbers, tables that break, in the program's typeface."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dealer.records.fonts import fitted, printable, typeface
from firmware_bridge.errors import EntryError, ExitStatus

PAGE_SIZES = {"a4": (595.276, 841.89), "letter": (612.0, 792.0)}
MARGIN = 36.0


@dataclass(frozen=True, slots=True)
class TableColumn:
    """title; width in points; align "left", "right" or "centre"."""

    title: str
    width: float
    align: str = "left"


class Sheet:
    """Pages with a head and a foot; text and tables flow from the top to the bottom."""

    def __init__(self, title: str, *, page: str = "a4", subtitle: str = "") -> None:
        from reportlab.pdfgen.canvas import Canvas

        size = PAGE_SIZES.get(page.lower())
        if size is None:
            raise EntryError(
                f"There is no page size {page[:12]!r}.",
                next_step="Use a4 or letter.",
                code="bad-page",
                exit_status=ExitStatus.USAGE,
            )
        self.width, self.height = size
        self.title, self.subtitle = printable(title), printable(subtitle)
        self._typeface = typeface()
        self._buffer = io.BytesIO()
        self.canvas: Any = Canvas(self._buffer, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(self.title)
        self.canvas.setCreator("Firmware Bridge")
        self.pages = 0
        self.y = 0.0
        self.new_page()

    @property
    def inner(self) -> float:
        """Width between the margins."""
        return self.width - 2 * MARGIN

    def new_page(self, title: str = "") -> None:
        """title: of this page and those after it, where it is another one."""
        self.title = printable(title) or self.title
        if self.pages:
            self.canvas.showPage()
        self.pages += 1
        top = self.height - MARGIN
        self.text(MARGIN, top - 12, self.title, 13, bold=True, width=self.inner * 0.7)
        self.text(self.width - MARGIN, top - 12, self.subtitle, 9, align="right", width=self.inner * 0.3)
        self.text(self.width - MARGIN, MARGIN - 14, str(self.pages), 8, align="right")
        self.y = top - 26

    def room(self, height: float) -> bool:
        """True when ``height`` points are left on this page."""
        return self.y - height >= MARGIN

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 9,
        *,
        bold: bool = False,
        align: str = "left",
        width: float | None = None,
    ) -> None:
        """Text with its foot at ``y``; cut with three points when it is wider than ``width``."""
        shown = printable(words) if width is None else fitted(words, size, width, bold=bold)
        self.canvas.setFont(self._typeface.face(bold), size)
        draw = {
            "left": self.canvas.drawString,
            "right": self.canvas.drawRightString,
            "centre": self.canvas.drawCentredString,
        }[align]
        draw(x, y, shown)

    def heading(self, words: str, *, keep: float = 40) -> None:
        """A heading that stays with the ``keep`` points after it."""
        if not self.room(18 + keep):
            self.new_page()
        self.y -= 14
        self.text(MARGIN, self.y, words, 10.5, bold=True, width=self.inner)
        self.y -= 5

    def table(
        self,
        columns: Sequence[TableColumn],
        rows: Sequence[Sequence[str]],
        *,
        left: float = MARGIN,
        size: float = 8.5,
        line: float = 12.0,
        rule_every: int = 5,
        grid: bool = False,
    ) -> None:
        """A table with its head repeated on every page. grid: boxes to write into."""
        if not self.room(2 * line + 4):
            self.new_page()
        self._row(columns, [column.title for column in columns], left, size, line, bold=True)
        self._rule(columns, left, 0.8)
        for number, row in enumerate(rows, start=1):
            if not self.room(line + 2):
                self.new_page()
                self._row(columns, [column.title for column in columns], left, size, line, bold=True)
                self._rule(columns, left, 0.8)
            self._row(columns, row, left, size, line)
            if grid:
                self._boxes(columns, left, line)
            elif rule_every and number % rule_every == 0:
                self._rule(columns, left, 0.25)
        self.y -= 4

    def _row(
        self,
        columns: Sequence[TableColumn],
        row: Sequence[str],
        left: float,
        size: float,
        line: float,
        *,
        bold: bool = False,
    ) -> None:
        self.y -= line
        x = left
        for column, words in zip(columns, row, strict=True):
            at = {"left": x + 2, "right": x + column.width - 2, "centre": x + column.width / 2}[column.align]
            self.text(at, self.y + 3, words, size, bold=bold, align=column.align, width=column.width - 4)
            x += column.width

    def _rule(self, columns: Sequence[TableColumn], left: float, weight: float) -> None:
        self.canvas.setLineWidth(weight)
        self.canvas.line(left, self.y, left + sum(column.width for column in columns), self.y)

    def _boxes(self, columns: Sequence[TableColumn], left: float, line: float) -> None:
        self.canvas.setLineWidth(0.4)
        x = left
        for column in columns:
            self.canvas.rect(x, self.y, column.width, line)
            x += column.width

    def finish(self) -> bytes:
        """The PDF."""
        self.canvas.save()
        return self._buffer.getvalue()
