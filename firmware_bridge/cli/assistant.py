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
from firmware_bridge.cli.keys import listen
from firmware_bridge.clock import Clock
from firmware_bridge.errors import ConfigError

MAX_CODES = 1000
SURE = 255
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


class Keyboard:
    """Lines of stdin as what reader and human say. ``confirm`` is set to the job's once there is one."""

    def __init__(self, codes: dict[str, int], reader: Callable[[], CardRead] | None) -> None:
        self.confirm: Callable[[], None] | None = None
        self._codes = codes
        self._reader = reader
        self._asked = Action.NONE
        self._ready = False

    def machine(self, clock: Clock) -> SortingAssistant:
        return SortingAssistant(self.inputs(), self.pile, self.act, clock, margin_min=1 if self._reader else 0)

    def pile(self, pile: Pile) -> None:
        click.echo(f"{pile.number:>2}  {pile.seat.name}", err=True)

    def act(self, action: Action, board: int, copy: int, text: str) -> None:
        self._asked = action
        if action in PREPARE:
            self._ready = False
        elif action == Action.WAIT and self._ready and self.confirm is not None:
            # Who said "ready" has the board with the number shown in front of him.
            self.confirm()
        again = " [Enter]" if action not in (Action.WAIT, Action.NONE, Action.FINISHED) else ""
        click.echo(f"{text}{again}", err=True)

    async def inputs(self) -> AsyncIterator[Input]:
        """What is said, in order; ends with stdin."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        listen(sys.stdin.fileno(), lines.put_nowait)
        while (line := await lines.get()) is not None:
            for said in self._meant(line.strip()):
                yield said

    def _meant(self, text: str) -> list[Input]:
        if not text:
            return self._enter()
        if text.lower() in ("u", "undo"):
            return [Undo()]
        if text in self._codes:
            return [CardRead(self._codes[text], self._codes[text], UNKNOWN, SURE)]
        read = typed_card(text)
        if read is None:
            click.echo("That is no card. Type suit and rank, like S10 or HQ; u begins the board again.", err=True)
            return []
        return [read]

    def _enter(self) -> list[Input]:
        if self._asked in PREPARE and not self._ready:
            self._ready = True
            return [Ready()]
        if self._asked == Action.CONFIRM_BOARD and self.confirm is not None:
            self.confirm()
            return []
        if self._asked in (Action.WAIT, Action.NONE) and self._reader is not None:
            read = self._reader()
            if not 0 <= read.best < PACK_SIZE:
                click.echo("The card could not be read; try it again.", err=True)
                return []
            return [read]
        return [Away()]
