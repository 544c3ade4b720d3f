"""The live picture of an evening in a terminal: the board in the machine, then the grid of tables by round."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dealer.duplication.instructions import Instruction
from dealer.duplication.progress import (
    BoardBegan,
    BoardEnded,
    CardCounted,
    JobBegan,
    JobEnded,
    LineDown,
    LineUp,
    Stopped,
    Told,
)
from dealer.duplication.verdict import BoardState
from drivers.api import Action, Sound
from firmware_bridge.cli.evening_view import opening_lines
from firmware_bridge.service.progress import (
    Attention,
    CollectionBegan,
    EveningBegan,
    EveningEvent,
    ResultStored,
    StationState,
)

MAX_NOTES = 4

_DIGITS = (
    "▄▀▀▄ ▄█  ▀▀▀▄ ▀▀▀▄ █  █ █▀▀▀ ▄▀▀  ▀▀▀█ ▄▀▀▄ ▄▀▀▄",
    "█  █  █  ▄▄▄▀  ▀▀▄ ▀▀▀█ ▀▀▀▄ █▀▀▄  ▄▀  ▄▀▀▄ ▀▀▀█",
    "▀▄▄▀ ▄█▄ █▄▄▄ ▄▄▄▀    █ ▄▄▄▀ ▀▄▄▀ █    ▀▄▄▀ ▄▄▄▀",
)


def big_number(number: int) -> str:
    """The number in digits three lines high."""
    return "\n".join("  ".join(row[5 * int(d) : 5 * int(d) + 4] for d in str(number)) for row in _DIGITS)


class LiveView:
    """Redraws at most eight times a second, whatever the machine's pace."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._opening: list[str] = []
        self._planned = self._made = 0
        self._board: tuple[int, int] | None = None
        self._counts = (0, 0, 0, 0)
        self._cards = 0
        self._dealt = False
        self._step = ""
        self._big = 0
        self._expected: dict[tuple[str, int, int], int] = {}
        self._stored: dict[tuple[str, int, int], int] = {}
        self._notes: list[str] = []
        self._live = Live(get_renderable=self.picture, console=self.console, refresh_per_second=8, transient=False)
        self._live.start()

    def close(self) -> None:
        self._live.stop()
        self.console.print()

    def __call__(self, event: EveningEvent) -> None:
        match event:
            case EveningBegan():
                self._opening = opening_lines(event)
            case JobBegan():
                self._planned, self._made = event.planned, event.made
            case BoardBegan():
                self._board, self._counts, self._cards, self._step = (event.board, event.copy), (0, 0, 0, 0), 0, ""
            case CardCounted():
                self._board, self._counts, self._cards = (event.board, event.copy), event.counts, event.cards
            case BoardEnded():
                self._made += event.state in (BoardState.GOOD, BoardState.UNCONFIRMED)
                if event.state is not BoardState.GOOD:
                    reasons = ", ".join(reason.value for reason in event.reasons)
                    self._note(f"Board {event.board}, copy {event.copy}: {event.state.value} ({reasons})")
            case Told():
                self._step = event.instruction.text
                self._ask(event.instruction)
            case Stopped():
                self._ask(event.instruction)
                self._step = f"STOP. {event.instruction.text} {event.instruction.detail}".rstrip()
            case LineDown():
                self._note(f"The dealing machine is gone: {event.reason}")
            case LineUp():
                self._note("The dealing machine is back.")
            case JobEnded():
                self._dealt = True
            case CollectionBegan():
                self._expected, self._stored = dict(event.per_seat), dict(event.stored)
            case ResultStored():
                self._stored[event.section, event.round, event.table] = event.here
            case StationState():
                if not event.up:
                    self._note(event.text)
            case Attention():
                self._note(f"For the director: {event.text}")

    def _ask(self, instruction: Instruction) -> None:
        """Sound and, while a board is wanted, its number in big digits: the operator stands beside the machine."""
        if instruction.sound is not Sound.NONE:
            self.console.bell()
        wanted = instruction.action in (Action.INSERT_BOARD, Action.CONFIRM_BOARD, Action.RETURN_BOARD)
        self._big = instruction.board if wanted else 0

    def _note(self, text: str) -> None:
        self._notes = [*self._notes, text][-MAX_NOTES:]

    def picture(self) -> RenderableType:
        parts: list[RenderableType] = [Text(line) for line in self._opening]
        if self._planned:
            parts += [Text(), self._dealing()]
        if self._expected:
            parts += [Text(), self._tables()]
        parts += [Text(note, style="yellow") for note in self._notes]
        return Group(*parts)

    def _dealing(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(self._planned, 1), completed=self._made, width=30)
        grid.add_row(Text("Boards", style="bold"), bar, Text(f"{self._made} of {self._planned} made"))
        if self._big and not self._dealt:
            return Group(
                grid, Text(), Text(big_number(self._big), style="bold"), Text(), Text(self._step, style="cyan")
            )
        if self._dealt or self._board is None:
            return grid
        number, copy = self._board
        pockets = "   ".join(f"{seat} {count:2}" for seat, count in zip("NESW", self._counts, strict=True))
        cards = ProgressBar(total=52, completed=self._cards, width=30)
        grid.add_row(
            Text(f"Board {number}" + (f"/{copy}" if copy > 1 else "")),
            cards,
            Text(f"{self._cards:2} cards   {pockets}"),
        )
        if self._step:
            return Group(grid, Text(self._step, style="bold red" if self._step.startswith("STOP") else "cyan"))
        return grid

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
