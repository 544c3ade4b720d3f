"""Writes ``claims.jsonl``: what the dealing job claims of each physical board, for somebody who does not trust it.

One JSON object a line: ``set``, ``board``, ``copy``, ``state``, ``plan`` {N, E, S, W: sorted cards 0-51}, ``at``
(seconds). The last line of a board and copy counts. This is a file that may carry cards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from dealer.cards import Seat
from dealer.duplication.plan import BoardCopy, BoardKey, Plan
from dealer.duplication.verdict import BoardState
from firmware_bridge.clock import Clock

CLAIMED = frozenset(
    {BoardState.GOOD, BoardState.UNCONFIRMED, BoardState.FAILED, BoardState.SUSPECT, BoardState.UNKNOWN}
)
"""States that claim something; a planned board, or one in work, is not yet claimed to be anything."""


class ClaimsFile:
    """Appends to ``DIR/claims.jsonl``; a torn last line of an earlier run that was killed is cut off first."""

    def __init__(self, directory: Path, clock: Clock) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "claims.jsonl"
        self._clock = clock
        self._claimed: dict[tuple[str, BoardKey], BoardState] = {}
        _cut_torn_line(self.path)

    def append(self, set_id: str, item: BoardCopy, state: BoardState) -> None:
        """One claim. States that claim nothing are left out."""
        if state in CLAIMED:
            self._claimed[(set_id, item.key)] = state
            with self._open() as file:
                file.write(self._line(set_id, item, state))

    def export(self, plan: Plan, states: Mapping[BoardKey, BoardState]) -> None:
        """The claims as the journal has them at the end, those left out that this object has made already."""
        lines = []
        for item in plan.items:
            state = states.get(item.key)
            if state in CLAIMED and self._claimed.get((plan.set_id, item.key)) != state:
                self._claimed[(plan.set_id, item.key)] = state
                lines.append(self._line(plan.set_id, item, state))
        with self._open() as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())

    def _open(self) -> TextIO:
        # It holds the plan: cards of boards that people have yet to play.
        return open(self.path, "a", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600))

    def _line(self, set_id: str, item: BoardCopy, state: BoardState) -> str:
        claim = {
            "set": set_id,
            "board": item.board,
            "copy": item.copy,
            "state": state.value,
            "plan": {seat.letter: list(item.deal.hand(seat)) for seat in Seat},
            "at": self._clock.monotonic(),
        }
        return json.dumps(claim, separators=(",", ":")) + "\n"


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        end = data.rfind(b"\n") + 1
        if end != len(data):
            file.truncate(end)
