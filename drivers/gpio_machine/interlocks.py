"""Which commands a home-built machine refuses, and why: pure decisions about a situation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from firmware_bridge.wire.messages import Abort, Arm, Pause, ReadBoard, Resume, Start
from firmware_bridge.wire.numbers import CommandReason, MachineStateCode

PACK = 52
HIGHEST_BOARD = 999

Command = Arm | Start | Pause | Resume | Abort | ReadBoard


@dataclass(frozen=True, slots=True)
class Situation:
    """What the machine knows when a command comes. in_flight, placed: cards of the present job.

    stopping: it will stop after the card in flight. resumable: it has stopped and may go on.
    """

    state: MachineStateCode
    armed: Arm | None
    boot_id: int
    board_in: bool
    cover_closed: bool
    hopper_empty: bool
    pockets_empty: bool
    in_flight: int
    placed: int
    stopping: bool
    resumable: bool


def deal_digest(board: int, routing: bytes) -> bytes:
    """docs/protocol.md, section 6."""
    return hashlib.sha256(board.to_bytes(2, "little") + routing).digest()[:8]


def objection(message: Command, now: Situation) -> CommandReason:
    """NONE if the command is to be done."""
    match message:
        case Arm():
            return _to_arm(message, now)
        case Start():
            return _to_start(message, now)
        case Resume():
            return _to_resume(message, now)
        case Pause():
            if now.armed is None or message.job_id != now.armed.job_id:
                return CommandReason.WRONG_JOB
            dealing = now.state is MachineStateCode.DEALING and not now.stopping
            return CommandReason.NONE if dealing else CommandReason.WRONG_STATE
        case Abort():
            other = message.job_id and (now.armed is None or message.job_id != now.armed.job_id)
            return CommandReason.WRONG_JOB if other else CommandReason.NONE
        case ReadBoard():
            return CommandReason.UNSUPPORTED


def _to_arm(message: Arm, now: Situation) -> CommandReason:
    if now.state in (MachineStateCode.DEALING, MachineStateCode.PAUSED):
        return CommandReason.WRONG_STATE
    if not 1 <= message.board <= HIGHEST_BOARD or message.digest != deal_digest(message.board, message.routing):
        return CommandReason.WRONG_DIGEST
    if now.board_in and not now.pockets_empty:
        return CommandReason.POCKETS_NOT_EMPTY
    return CommandReason.NONE


def _to_start(message: Start, now: Situation) -> CommandReason:
    armed = now.armed
    if message.boot_id != now.boot_id:
        return CommandReason.WRONG_BOOT
    if now.state is not MachineStateCode.ARMED or armed is None:
        return CommandReason.WRONG_STATE
    if (message.job_id, message.board, message.copy) != (armed.job_id, armed.board, armed.copy):
        return CommandReason.WRONG_JOB
    if message.digest != armed.digest:
        return CommandReason.WRONG_DIGEST
    if not now.pockets_empty or now.in_flight:
        return CommandReason.POCKETS_NOT_EMPTY
    return _to_moving(now)


def _to_resume(message: Resume, now: Situation) -> CommandReason:
    if now.armed is None or message.job_id != now.armed.job_id:
        return CommandReason.WRONG_JOB
    stopped = now.state is MachineStateCode.STOPPED and now.resumable
    if not stopped and now.state is not MachineStateCode.PAUSED:
        return CommandReason.WRONG_STATE
    if message.next_index != now.placed:
        return CommandReason.WRONG_STATE
    return _to_moving(now)


def _to_moving(now: Situation) -> CommandReason:
    """The interlocks that hold for every movement of a motor."""
    if not now.cover_closed:
        return CommandReason.COVER_OPEN
    if not now.board_in:
        return CommandReason.NO_BOARD
    if now.placed < PACK and now.hopper_empty and not now.in_flight:
        return CommandReason.HOPPER_EMPTY
    return CommandReason.NONE
