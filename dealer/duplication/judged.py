"""Boards whose verdict stands, and what the machine still says of them: anything at all takes the verdict back. Pure.

DONE is the last message of a job (protocol, section 9). A machine that sends a further card or a fault of that job has
moved a card nobody counted; one that sees another board in the slot, without having said that the first was taken out,
may have dealt into that one.
"""

from __future__ import annotations

from dataclasses import dataclass

from dealer.duplication.plan import BoardCopy, BoardKey
from dealer.duplication.verdict import Reason
from drivers.api import (
    BoardInserted,
    BoardPulled,
    CardPassed,
    Connected,
    Disconnected,
    Fault,
    JobDone,
    MachineEvent,
    MachineFault,
    Orientation,
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A verdict that no longer stands. ``board_in``: the board has not been seen to leave the machine."""

    item: BoardCopy
    job_id: int
    reason: Reason
    board_in: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    item: BoardCopy
    done: JobDone | None


class Judged:
    """Enter each board that is made; then feed every event of the machine to ``hear``."""

    def __init__(self) -> None:
        self._jobs: dict[int, _Entry] = {}
        self._in_slot: int | None = None  # job of the board that has been judged and not taken out since

    @property
    def board_in(self) -> bool:
        """A board that has been judged lies in the machine."""
        return self._in_slot is not None

    def enter(self, item: BoardCopy, job_id: int, done: JobDone | None, *, seated: bool) -> None:
        """The verdict on this job is committed. ``seated``: the board is in the machine."""
        self._jobs[job_id] = _Entry(item, done)
        self._in_slot = job_id if seated else None

    def forget(self, key: BoardKey) -> None:
        """The board is made anew, or its verdict has been taken back."""
        for job_id in [job_id for job_id, entry in self._jobs.items() if entry.item.key == key]:
            del self._jobs[job_id]
            if self._in_slot == job_id:
                self._in_slot = None

    def hear(self, event: MachineEvent) -> Doubt | None:
        """Take in any event. The doubt that it throws on a verdict, once for each verdict."""
        match event:
            case CardPassed():
                # Whatever job it is said to be of: a card that falls now falls into the board that is in.
                job_id = event.job_id if event.job_id in self._jobs else self._in_slot
                return self._doubt(job_id, Reason.OUT_OF_SEQUENCE)
            case MachineFault() if event.fault != Fault.NONE:
                return self._doubt(event.job_id, Reason.OUT_OF_SEQUENCE)
            case JobDone():
                entry = self._jobs.get(event.job_id)
                if entry is not None and entry.done != event:
                    return self._doubt(event.job_id, Reason.OUT_OF_SEQUENCE)
            case BoardInserted() if self._in_slot is not None:
                if event.label not in (0, self._jobs[self._in_slot].item.board):
                    return self._doubt(self._in_slot, Reason.WRONG_BOARD)
                if event.orientation not in (Orientation.NORTH, Orientation.UNKNOWN):
                    return self._doubt(self._in_slot, Reason.TURNED)
            case BoardPulled() | Disconnected() | Connected():
                self._in_slot = None  # while the line is away the board may be taken out unseen
            case _:
                pass
        return None

    def _doubt(self, job_id: int | None, reason: Reason) -> Doubt | None:
        entry = self._jobs.get(job_id) if job_id is not None else None
        if entry is None or job_id is None:
            return None
        doubt = Doubt(entry.item, job_id, reason, job_id == self._in_slot)
        self.forget(entry.item.key)
        return doubt
