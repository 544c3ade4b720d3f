"""How a running evening looks: a live picture in a terminal, plain lines elsewhere. On stderr; counts, never a card."""

from __future__ import annotations

import sys
from typing import Protocol

import click

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
from drivers.api import Action
from firmware_bridge.service.progress import (
    Attention,
    CollectionBegan,
    EveningBegan,
    EveningEvent,
    ResultStored,
    StationState,
)


class View(Protocol):
    def __call__(self, event: EveningEvent) -> None: ...

    def say(self, text: str) -> None:
        """One line that stays on the screen, above whatever moves there."""
        ...

    def close(self) -> None: ...


def choose_view(quiet: bool = False, *, enter: bool = False) -> View:
    """The live picture when stderr is a terminal that can move its cursor, else plain lines.

    enter: somebody listens for Enter as the confirmation of a board's number.
    """
    if quiet:
        return Silent()
    if sys.stderr.isatty():
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal and not console.is_dumb_terminal:
            from firmware_bridge.cli.evening_live import LiveView

            return LiveView(console, enter=enter)
    return PlainView()


class Silent:
    def __call__(self, event: EveningEvent) -> None:
        pass

    def say(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        pass


class PlainView:
    """One line for each thing worth a line; a log file or a pipe reads it."""

    def __init__(self) -> None:
        self._boards_total = 0
        self._boards_done = 0
        self._expected: dict[tuple[str, int, int], int] = {}
        self._said: set[tuple[str, int, int]] = set()

    def close(self) -> None:
        pass

    def say(self, text: str) -> None:
        click.echo(text, err=True)

    def __call__(self, event: EveningEvent) -> None:
        for line in self._lines(event):
            click.echo(line, err=True)

    def _lines(self, event: EveningEvent) -> list[str]:
        match event:
            case EveningBegan():
                return opening_lines(event)
            case JobBegan():
                self._boards_total, self._boards_done = event.planned, event.made
                left = f" {event.interrupted} of them may hold cards of an earlier run." if event.interrupted else ""
                return [f"Dealing: {event.made} of {event.planned} boards are made.{left}"]
            case BoardBegan():
                again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
                return [f"Board {event.board}, copy {event.copy}: dealing{again}"]
            case BoardEnded():
                self._boards_done += (event.state in (BoardState.GOOD, BoardState.UNCONFIRMED)) - event.withdrawn
                why = f" ({', '.join(reason.value for reason in event.reasons)})" if event.reasons else ""
                count = f"{self._boards_done} of {self._boards_total}"
                return [f"Board {event.board}, copy {event.copy}: {event.state.value}{why} [{count}]"]
            case Stopped():
                detail = f" ({event.instruction.detail})" if event.instruction.detail else ""
                return [f"STOP. {event.instruction.text}{detail}"]
            case Told() if event.instruction.action not in (Action.WAIT, Action.FINISHED):
                return [event.instruction.text]
            case LineDown():
                return [f"The dealing machine is gone: {event.reason}"]
            case LineUp():
                return ["The dealing machine is back."]
            case JobEnded():
                summary = event.summary
                return [f"Dealing done: {summary.copies_good} of {summary.planned} boards are good."]
            case CollectionBegan():
                self._expected = event.per_seat
                return [f"Play: {sum(event.stored.values())} of {sum(event.per_seat.values())} results are in."]
            case ResultStored():
                return self._result_lines(event)
            case StationState():
                return [event.text]
            case Attention():
                return [f"For the director: {event.text}"]
            case Told() | CardCounted():
                return []
        return []

    def _result_lines(self, event: ResultStored) -> list[str]:
        seat = (event.section, event.round, event.table)
        if event.here < self._expected.get(seat, 0) or seat in self._said:
            return []
        self._said.add(seat)
        place = f"Round {event.round}, table {event.section}{event.table}"
        return [f"{place}: all {event.here} results [{event.stored} of {event.expected}]"]


def opening_lines(event: EveningBegan) -> list[str]:
    """What the evening is, in two or three lines."""
    copies = "" if event.copies == 1 else f", {event.copies} copies each"
    lines = [
        f"{event.movement}.",
        f"{event.boards} boards{copies}, {event.rounds} rounds, {event.expected} results expected.",
    ]
    if event.seed is not None:
        lines.append(f"Simulated: seed {event.seed}; the deals are not for play.")
    if event.resumed:
        lines.append("Going on with the evening that was begun here.")
    return lines
