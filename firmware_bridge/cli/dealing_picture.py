"""What the screen shows of boards being made: how many are made, the number wanted in huge digits, the one next step.

A stop stands out: what happened and at which board, where the cards are, what to do. Counts only, never a card, unless
the job was told to name them.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dealer.duplication import progress as p
from dealer.duplication.instructions import Instruction, place
from dealer.duplication.plan import BoardKey
from dealer.duplication.verdict import BoardState
from dealer.duplication.words import in_words
from drivers.api import Action, Sound
from firmware_bridge.cli.big_digits import ROWS, big_number

MAX_NOTES = 4
BESIDE_DIGITS = 14
"""Lines that everything but the digits may need at a stop."""

_UNDER_WAY = frozenset({Action.WAIT, Action.NONE, Action.FINISHED})


def board_note(event: p.BoardEnded, copies: int) -> str:
    """One line about a board that is not good."""
    words = f", {in_words(event.reasons[0])}" if event.reasons else ""
    return f"{place(BoardKey(event.board, event.copy), copies)}: {event.state.value}{words}."


class DealingPicture:
    """Takes the dealing job's events; ``render`` gives the picture now. enter: Enter confirms a number here."""

    def __init__(self, console: Console, *, enter: bool = False) -> None:
        self._console = console
        self._enter = enter
        self._planned = self._made = 0
        self._copies = 1
        self._board: tuple[int, int] | None = None
        self._counts = (0, 0, 0, 0)
        self._cards = 0
        self._ended = False
        self._told: Instruction | None = None
        self._stopped = False
        self._bad: dict[BoardKey, str] = {}
        self._line = ""

    @property
    def active(self) -> bool:
        return self._planned > 0 or self._told is not None

    @property
    def ended(self) -> bool:
        return self._ended

    def take(self, event: object) -> None:
        match event:
            case p.JobBegan():
                self._planned, self._made, self._copies = event.planned, event.made, event.copies
            case p.BoardBegan():
                self._board, self._counts, self._cards = (event.board, event.copy), (0, 0, 0, 0), 0
            case p.CardCounted():
                self._board, self._counts, self._cards = (event.board, event.copy), event.counts, event.cards
            case p.BoardEnded():
                self._board_ended(event)
            case p.Told():
                self._ask(event.instruction, stopped=False)
            case p.Stopped():
                self._ask(event.instruction, stopped=True)
            case p.LineDown():
                self._line = f"The dealing machine is gone: {event.reason}."
            case p.LineUp():
                self._line = ""
            case p.JobEnded():
                self._ended = True

    def _board_ended(self, event: p.BoardEnded) -> None:
        key = BoardKey(event.board, event.copy)
        self._made += (event.state in (BoardState.GOOD, BoardState.UNCONFIRMED)) - event.withdrawn
        self._bad.pop(key, None)
        if event.state is not BoardState.GOOD:
            self._bad[key] = board_note(event, self._copies)

    def _ask(self, instruction: Instruction, *, stopped: bool) -> None:
        self._told, self._stopped = instruction, stopped
        key = BoardKey(instruction.board, instruction.copy)
        if stopped and key in self._bad:
            self._bad[key] = instruction.what  # the machine's own words say more than the first reason
        if instruction.sound is not Sound.NONE:
            self._console.bell()

    def notes(self) -> list[str]:
        """Boards that are not good as it stands, and a line that is lost; the newest last."""
        now = self._told.what if self._told is not None and self._stopped else ""
        earlier = [text for text in self._bad.values() if text != now]
        return [*earlier, *([self._line] if self._line else [])][-MAX_NOTES:]

    def render(self) -> RenderableType:
        parts: list[RenderableType] = []
        grid = Table.grid(padding=(0, 2))
        if self._planned:
            bar = ProgressBar(total=max(self._planned, 1), completed=self._made, width=30)
            grid.add_row(Text("Boards", style="bold"), bar, Text(f"{self._made} of {self._planned} made"))
            parts.append(grid)
        told = self._told
        if told is None:
            return Group(*parts)
        if self._board is not None and (told.action is Action.WAIT or self._stopped) and not self._ended:
            grid.add_row(*self._dealing_row())
            if not self._planned:
                parts.append(grid)
        number = 0 if told.action in _UNDER_WAY else told.following.board if told.following else told.board
        if number and not self._ended:
            parts += self._digits(number, told)
        parts += [Text(), *self._words(told)]
        return Group(*parts)

    def _dealing_row(self) -> Iterable[RenderableType]:
        assert self._board is not None
        pockets = "   ".join(f"{seat} {count:2}" for seat, count in zip("NESW", self._counts, strict=True))
        yield Text(place(BoardKey(*self._board), self._copies) if self._board[0] else "Pack")
        yield ProgressBar(total=52, completed=self._cards, width=30)
        yield Text(f"{self._cards:2} cards   {pockets}")

    def _digits(self, number: int, told: Instruction) -> list[RenderableType]:
        room = self._console.size.height - BESIDE_DIGITS
        if room < ROWS:
            return []
        ink = "█" if self._console.encoding.startswith("utf") else "#"
        digits = big_number(number, scale=2 if room >= 2 * ROWS else 1, ink=ink)
        key = told.following or BoardKey(told.board, told.copy)
        caption = "Next: " if told.following is not None else ""
        style = "bold red" if self._stopped else "bold"
        return [Text(), Text(digits, style=style, no_wrap=True), Text(f"{caption}{place(key, self._copies)}", style)]

    def _words(self, told: Instruction) -> list[RenderableType]:
        head = Text()
        if self._stopped:
            head.append(" STOP ", style="bold white on red").append(" ")
        head.append(told.what, style="bold" if self._stopped else "")
        note = "" if told.following is not None else told.note
        if self._enter and told.action is Action.CONFIRM_BOARD:
            note = "The key at the machine, or Enter here."
        to_do = self._stopped or told.action not in _UNDER_WAY
        step = Text.assemble(("> " if to_do else "", "bold"), (told.step, "bold cyan"))
        lines = [(head, bool(head.plain.strip())), (Text(told.cards), bool(told.cards)), (step, bool(told.step))]
        lines += [(Text(note, style="dim"), bool(note)), (Text(told.detail, style="yellow"), bool(told.detail))]
        return [line for line, wanted in lines if wanted]
