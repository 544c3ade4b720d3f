"""Which commands the machine's firmware accepts, and why it refuses the others (command_reason of docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hwsim import messages
from hwsim.messages import Fields
from hwsim.numbers import UNKNOWN, Capability, Hopper, Kind, Reason, State

if TYPE_CHECKING:
    from hwsim.machine.firmware import Firmware

PACK = 52
RUNNING = (State.DEALING, State.PAUSED, State.READING)


def check_board(machine: Firmware, board: int) -> Reason:
    """Interlocks that hold for every movement of the motors."""
    if not machine.sensors.cover_closed():
        return Reason.COVER_OPEN
    if not machine.sensors.seated():
        return Reason.NO_BOARD
    if board and machine.label() not in (0, board):
        return Reason.WRONG_BOARD
    if machine.orientation() not in (0, UNKNOWN):
        return Reason.TURNED
    return Reason.NONE


def check_arm(machine: Firmware, f: Fields) -> Reason:
    if machine.state in RUNNING or machine.flight:
        return Reason.WRONG_STATE
    if f["digest"] != messages.deal_digest(f["board"], f["routing"]) or not 1 <= f["board"] <= 999:
        return Reason.WRONG_DIGEST
    if machine.sensors.seated() and any(machine.counts):
        return Reason.POCKETS_NOT_EMPTY
    return Reason.NONE


def check_start(machine: Firmware, f: Fields) -> Reason:
    job = machine.job
    if f["boot_id"] != machine.boot_id:
        return Reason.WRONG_BOOT
    if machine.state != State.ARMED or job is None:
        return Reason.WRONG_STATE
    if (f["job_id"], f["board"], f["copy"]) != (job.id, job.board, job.copy):
        return Reason.WRONG_JOB
    if f["digest"] != job.digest:
        return Reason.WRONG_DIGEST
    if (reason := machine._check_board(job.board)) != Reason.NONE:
        return reason
    if any(machine.counts) or machine.sensors.on_belt():
        return Reason.POCKETS_NOT_EMPTY
    if machine.sensors.hopper() != Hopper.LOADED:
        return Reason.HOPPER_EMPTY
    return Reason.NONE


def check_pause(machine: Firmware, f: Fields) -> Reason:
    if machine.job is None or f["job_id"] != machine.job.id:
        return Reason.WRONG_JOB
    return Reason.NONE if machine.state == State.DEALING and machine.fault is None else Reason.WRONG_STATE


def check_resume(machine: Firmware, f: Fields) -> Reason:
    job = machine.job
    if job is None or f["job_id"] != job.id:
        return Reason.WRONG_JOB
    stopped = machine.state == State.STOPPED and job.resumable
    if not (machine.state == State.PAUSED or stopped) or machine.flight or f["next_index"] != job.fed:
        return Reason.WRONG_STATE
    if (reason := machine._check_board(job.board)) != Reason.NONE:
        return reason
    if machine.sensors.on_belt():
        return Reason.POCKETS_NOT_EMPTY
    if job.fed < PACK and machine.sensors.hopper() != Hopper.LOADED:
        return Reason.HOPPER_EMPTY
    return Reason.NONE


def check_abort(machine: Firmware, f: Fields) -> Reason:
    if f["job_id"] and (machine.job is None or f["job_id"] != machine.job.id):
        return Reason.WRONG_JOB
    return Reason.NONE


def check_read(machine: Firmware, f: Fields) -> Reason:
    if not machine.profile.can(Capability.READ_BACK):
        return Reason.UNSUPPORTED
    if machine.state in RUNNING or machine.flight:
        return Reason.WRONG_STATE
    return machine._check_board(f["board"])


CHECKS: dict[int, Callable[[Firmware, Fields], Reason]] = {
    Kind.ARM: check_arm,
    Kind.START: check_start,
    Kind.PAUSE: check_pause,
    Kind.RESUME: check_resume,
    Kind.ABORT: check_abort,
    Kind.READ_BOARD: check_read,
}
