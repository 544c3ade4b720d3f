"""``duplicate --assistant`` at the keyboard: cards come as lines (typed, or from a barcode scanner) or from a camera.

The screen says the pile in one big word. An empty line answers what was asked last: the board is ready, the number is
right, the board is put away.
"""

from __future__ import annotations

import asyncio
import csv
import importlib
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import click

from dealer.assistant import Away, Input, Pile, Ready, SortingAssistant, Undo, typed_card
from dealer.cards import PACK_SIZE, card_from_name
from drivers.api import UNKNOWN, Action, CardRead
from firmware_bridge.cli.big_digits import big_text
from firmware_bridge.cli.keys import listen
from firmware_bridge.clock import Clock
from firmware_bridge.errors import ConfigError

MAX_CODES = 1000
SURE = 255
WORDS = (
    ("put the empty board into the machine.", "lay the empty board and a whole pack before you."),
    (", the others in the hopper.", ", the others in your hand."),
    (", the others in machine and hopper.", ", the others in your hand."),
    (" in the board, the others in your hand.", " on the piles, the others in your hand."),
    ("Cards: all in the board.", "Cards: all on the piles."),
    ("Cards: some in this board, the others in your hand.", "Cards: some in this board, the others beside it."),
    ("Put all 52 cards back into the hopper.", "Put all 52 cards together again."),
    ("Take all the cards out and put another pack into the hopper.", "Put all the cards aside and take another pack."),
    (
        "Keep sunlight off, clean the reader, put all 52 cards back in.",
        "Look at the light and at the reader, then put all 52 cards together again.",
    ),
    ("Take all the cards out and put a whole pack in.", "Put all the cards aside and take a whole pack."),
    ("pack and machine have to be looked at", "the pack has to be looked at"),
    ("the stop key was pressed", "you began it again"),
    ("Press the key if it is.", "Press Enter if it is."),
)
"""A dealing machine's words, and what they are where a human puts the cards."""

SOUNDED = frozenset({Action.REMOVE_BOARD, Action.FINISHED, Action.COLLECT_CARDS, Action.REPLACE_PACK})
PREPARE = frozenset({Action.INSERT_BOARD, Action.LOAD_PACK, Action.TURN_BOARD, Action.SWAP_BOARD})


def read_codes(path: Path) -> dict[str, int]:
    """What a barcode scanner types -> card: a CSV file with rows ``code,card`` ("4006381333931,SA").

    Raises ConfigError naming the line.
    """
    codes: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if not row or row[0].startswith("#"):
                    continue
                if len(row) != 2 or number > MAX_CODES or row[0].strip() in codes:
                    raise ConfigError(
                        "a line is a code and a card, each code once.", where=f"{path}, line {number}", code="codes"
                    )
                codes[row[0].strip()] = card_from_name(row[1])
    except (OSError, UnicodeDecodeError, ValueError, csv.Error) as error:
        raise ConfigError(f"the codes can't be read: {error}.", where=str(path), code="codes") from error
    return codes


def load_reader(name: str) -> Callable[[], CardRead]:
    """A card reader named MODULE:CALLABLE (a camera, for example). Raises ConfigError."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"the card reader {name!r} can't be loaded: {error}.",
            next_step="Name it as MODULE:CALLABLE, installed beside this program.",
            code="reader",
        ) from error
    if not callable(found):
        raise ConfigError(f"{name!r} is no card reader: it can't be called.", code="reader")
    return found  # type: ignore[no-any-return]


def by_hand(text: str) -> str:
    """The job's words for somebody without a machine."""
    for machine, human in WORDS:
        text = text.replace(machine, human)
    return text


class Keyboard:
    """Lines of stdin as what reader and human say. ``confirm`` is set to the job's once there is one."""

    def __init__(self, codes: dict[str, int], reader: Callable[[], CardRead] | None) -> None:
        self.confirm: Callable[[], None] | None = None
        self._codes = codes
        self._reader = reader
        self._asked = Action.NONE
        self._ready = False
        self._named: list[int] = []
        self._doubted = False
        self._pile: Pile | None = None
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def machine(self, clock: Clock) -> SortingAssistant:
        return SortingAssistant(self.inputs(), self.pile, self.act, clock, margin_min=1 if self._reader else 0)

    def pile(self, pile: Pile) -> None:
        self._pile = pile
        click.echo(f"{pile.number:>2}  {pile.seat.name}", err=True)
        if self._terminal:
            ink = "█" if (sys.stderr.encoding or "").lower().startswith("utf") else "#"
            click.echo(f"\n{big_text(pile.seat.name, ink=ink)}\n", err=True)

    def act(self, action: Action, board: int, copy: int, text: str) -> None:
        self._asked = action
        if action not in (Action.WAIT, Action.NONE):
            self._named, self._doubted, self._pile = [], False, None
        if action in PREPARE:
            self._ready = False
        elif action == Action.WAIT and self._ready and self.confirm is not None:
            # Who said "ready" has the board with the number shown in front of him.
            self.confirm()
        if action == Action.WAIT and text.endswith(" seconds for it."):
            return  # nobody names cards any more: the command says so at its end
        again = " [Enter]" if action not in (Action.WAIT, Action.NONE, Action.FINISHED) else ""
        bell = "\a" if self._terminal and action in SOUNDED else ""
        click.echo(f"{bell}{by_hand(text)}{again}", err=True)

    async def inputs(self) -> AsyncIterator[Input]:
        """What is said, in order; ends with stdin."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        listen(sys.stdin.fileno(), lines.put_nowait)
        while (line := await lines.get()) is not None:
            for said in await self._meant(line.strip()):
                if not isinstance(said, CardRead) or self._is_new(said):
                    yield said

    def _is_new(self, read: CardRead) -> bool:
        """A scanner that sees a card twice, or a slip of the finger, must not spoil a board: it is asked once more."""
        if read.best not in self._named or self._doubted:
            self._named.append(read.best)
            self._doubted = False
            return True
        if read.best == self._named[-1] and self._pile is not None:
            click.echo("That card was the last one:", err=True)
            self.pile(self._pile)
            return False
        self._doubted = True
        click.echo(
            "That card was named before. Look at it again; name it once more if it is the same all the same, "
            "or u begins the board again.",
            err=True,
        )
        return False

    async def _meant(self, text: str) -> list[Input]:
        if not text:
            return await self._enter()
        if text.lower() in ("u", "undo"):
            return [Undo()]
        if text in self._codes:
            return [CardRead(self._codes[text], self._codes[text], UNKNOWN, SURE)]
        read = typed_card(text)
        if read is None:
            click.echo("That is no card. Type suit and rank, like S10 or HQ; u begins the board again.", err=True)
            return []
        return [read]

    async def _enter(self) -> list[Input]:
        if self._asked in PREPARE and not self._ready:
            self._ready = True
            return [Ready()]
        if self._asked == Action.CONFIRM_BOARD and self.confirm is not None:
            self.confirm()
            return []
        if self._asked in (Action.WAIT, Action.NONE) and self._reader is not None:
            try:
                read = await asyncio.to_thread(self._reader)
            except Exception as error:  # a camera's program is not ours: whatever it does, the board is not lost
                click.echo(f"The card reader failed ({type(error).__name__}: {error}). Enter looks again.", err=True)
                return []
            if not 0 <= read.best < PACK_SIZE:
                click.echo("The card could not be read; try it again.", err=True)
                return []
            return [read]
        return [Away()]
