"""Whether two contestants are scheduled to meet on a board, and where each of them should be with it instead (Law 15).

A director may give any two pairs a result on any board; a number that was typed wrongly looks just the same, so
whoever does it is told. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from terminals.store.values import PlayKey
from terminals.sync.sense import MovementNumbers, movement_numbers
from terminals.sync.setup import EventSetup


@dataclass(frozen=True, slots=True)
class Due:
    """Where a contestant should be with a board: round, table, against whom; all 0 when it does not play it."""

    contestant: int
    round: int = 0
    table: int = 0
    against: int = 0

    def words(self, board: int) -> str:
        if not self.round:
            return f"{self.contestant} does not play board {board}"
        return f"{self.contestant} plays it in round {self.round} at table {self.table} against {self.against}"

    def as_dict(self) -> dict[str, Any]:
        return {"pair": self.contestant, "round": self.round, "table": self.table, "against": self.against}


@dataclass(frozen=True, slots=True)
class Unscheduled:
    """A play that the movement does not have. reversed: it has it, with the two sides the other way round."""

    play: PlayKey
    due: tuple[Due, ...]
    reversed: bool = False

    @property
    def words(self) -> str:
        play = self.play
        if self.reversed:
            return (
                f"By the movement {play.ew} sits North-South and {play.ns} East-West with board {play.board};"
                " this is the other way round."
            )
        where = "; ".join(one.words(play.board) for one in self.due)
        return f"{play.ns} and {play.ew} are not scheduled to meet on board {play.board}: {where}."

    def as_dict(self) -> dict[str, Any]:
        due = [one.as_dict() for one in self.due]
        return {"board": self.play.board, "reversed": self.reversed, "due": due, "text": self.words}


def unscheduled(setup: EventSetup, play: PlayKey) -> Unscheduled | None:
    """None for a play that the movement has, and while there is no movement to compare with."""
    section = setup.section_called(play.section)
    if section is None or section.movement is None:
        return None
    known = movement_numbers(section.movement)
    if (play.board, play.ns, play.ew) in known.meetings:
        return None
    if (play.board, play.ew, play.ns) in known.meetings:
        return Unscheduled(play, (), reversed=True)
    return Unscheduled(play, tuple(_due(known, play.board, one) for one in (play.ns, play.ew)))


def _due(known: MovementNumbers, board: int, contestant: int) -> Due:
    for (number, ns, ew), (round, table) in known.meetings.items():
        if number == board and contestant in (ns, ew):
            return Due(contestant, round, table, ew if contestant == ns else ns)
    return Due(contestant)
