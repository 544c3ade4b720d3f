"""The live picture of an evening in a terminal: the board in the machine, then the grid of tables by round."""

from __future__ import annotations

import contextlib

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dealer.duplication.progress import Stopped, Told
from firmware_bridge.cli.dealing_picture import MAX_NOTES, DealingPicture
from firmware_bridge.cli.evening_view import opening_lines
from firmware_bridge.service.progress import (
    Attention,
    CollectionBegan,
    EveningBegan,
    EveningEvent,
    ResultStored,
    StationState,
)


class LiveView:
    """Redraws at most eight times a second, whatever the machine's pace."""

    def __init__(self, console: Console | None = None, *, enter: bool = False) -> None:
        self.console = console or Console(stderr=True)
        self._dealing = DealingPicture(self.console, enter=enter)
        self._opening: list[str] = []
        self._expected: dict[tuple[str, int, int], int] = {}
        self._stored: dict[tuple[str, int, int], int] = {}
        self._notes: list[str] = []
        self._live = Live(
            get_renderable=self.picture,
            console=self.console,
            refresh_per_second=8,
            transient=False,
            vertical_overflow="visible",
        )
        self._live.start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._live.stop()
            self.console.print()

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.console.print(Text(text))

    def __call__(self, event: EveningEvent) -> None:
        # A terminal that has gone must not end the job: the machine has a display of its own.
        with contextlib.suppress(OSError):
            self._take(event)

    def _take(self, event: EveningEvent) -> None:
        match event:
            case EveningBegan():
                self._opening = opening_lines(event)
            case CollectionBegan():
                self._expected, self._stored = dict(event.per_seat), dict(event.stored)
            case ResultStored():
                self._stored[event.section, event.round, event.table] = event.here
            case StationState():
                if not event.up:
                    self._note(event.text)
            case Attention():
                self._note(f"For the director: {event.text}")
            case _:
                self._dealing.take(event)
                if isinstance(event, Told | Stopped):
                    self._live.refresh()  # an instruction is drawn at once, however soon the next one follows

    def _note(self, text: str) -> None:
        self._notes = [*self._notes, text][-MAX_NOTES:]

    def picture(self) -> RenderableType:
        parts: list[RenderableType] = [Text(line) for line in self._opening]
        if self._dealing.active:
            parts += [Text(), self._dealing.render()]
        if self._expected:
            parts += [Text(), self._tables()]
        parts += [Text(note, style="yellow") for note in [*self._dealing.notes(), *self._notes][-MAX_NOTES:]]
        return Group(*parts)

    def _tables(self) -> RenderableType:
        total, have = sum(self._expected.values()), sum(self._stored.values())
        table = Table(title=f"Results: {have} of {total}", title_justify="left", box=None, pad_edge=False)
        rounds = sorted({round_ for _, round_, _ in self._expected})
        table.add_column("Table")
        for round_ in rounds:
            table.add_column(f"R{round_}", justify="center")
        for section, number in sorted({(section, number) for section, _, number in self._expected}):
            cells = [self._cell((section, round_, number)) for round_ in rounds]
            table.add_row(f"{section}{number}", *cells)
        return table

    def _cell(self, seat: tuple[str, int, int]) -> Text:
        wanted, have = self._expected.get(seat), self._stored.get(seat, 0)
        if not wanted:
            return Text("-", style="dim")
        if have >= wanted:
            return Text(f"{have}/{wanted}", style="green")
        return Text(f"{have}/{wanted}", style="yellow" if have else "dim")
