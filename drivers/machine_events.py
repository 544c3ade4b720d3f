"""Messages of a dealing machine as the events and values that the job sees.

A number that this version does not know falls to the careful side: never a success, never safe to go on from.
"""

from __future__ import annotations

from drivers.api import (
    Action,
    BackColour,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    CardPassed,
    CommandReason,
    CommandReply,
    Fault,
    HopperChanged,
    HopperState,
    JobDone,
    JobReport,
    MachineEvent,
    MachineFault,
    MachineSnapshot,
    MachineStateCode,
    Outcome,
    PackSeen,
    Segment,
)
from firmware_bridge.wire.messages import (
    BoardEvent,
    CardEvent,
    CommandResult,
    Confirmed,
    Done,
    FaultEvent,
    HopperEvent,
    MachineState,
    Message,
    PackEvent,
    ReportData,
)


def report_of(answer: ReportData) -> JobReport:
    placed = tuple((pair & 0xFF, pair >> 8) for pair in answer.placed)
    return JobReport(answer.job_id, bool(answer.known), _state(answer.state), placed)


def snapshot_of(answer: MachineState) -> MachineSnapshot:
    north, east, south, west = answer.counts
    return MachineSnapshot(
        state=_state(answer.state),
        board_in=bool(answer.board_in),
        cover_closed=bool(answer.cover_closed),
        hopper=_hopper(answer.hopper),
        label=answer.label,
        orientation=answer.orientation,
        counts=(north, east, south, west),
        job_id=answer.job_id,
        boot_id=answer.boot_id,
    )


def reply_of(result: CommandResult) -> CommandReply:
    done = result.outcome == Outcome.DONE
    try:
        reason = CommandReason(result.reason)
    except ValueError:
        reason = CommandReason.UNSUPPORTED
    return CommandReply(Outcome.DONE if done else Outcome.REFUSED, reason, bool(result.replayed))


def _state(value: int) -> MachineStateCode:
    try:
        return MachineStateCode(value)
    except ValueError:
        return MachineStateCode.STOPPED


def _hopper(value: int) -> HopperState:
    try:
        return HopperState(value)
    except ValueError:
        return HopperState.EMPTY


def _back(value: int) -> BackColour:
    try:
        return BackColour(value)
    except ValueError:
        return BackColour.UNKNOWN


def event_of(message: Message) -> MachineEvent | None:
    """The event of a message, None for messages that are none."""
    match message:
        case CardEvent():
            return CardPassed(
                job_id=message.job_id,
                index=message.index,
                raw=message.raw,
                best=message.best,
                runner_up=message.runner_up,
                margin=message.margin,
                wanted=message.wanted,
                confirmed=message.confirmed,
                beam_ms=message.beam_ms / 10,
                at_ms=message.at_ms,
                read_ms=message.read_ms,
                exit_ms=message.exit_ms,
            )
        case BoardEvent(seated=0):
            return BoardPulled()
        case BoardEvent():
            return BoardInserted(message.label, message.orientation)
        case Confirmed():
            return BoardConfirmed(message.board, message.copy)
        case Done():
            north, east, south, west = message.counts
            return JobDone(
                message.job_id, message.board, message.copy, message.cards, (north, east, south, west), message.digest
            )
        case FaultEvent():
            return _fault(message)
        case HopperEvent():
            return HopperChanged(_hopper(message.hopper))
        case PackEvent():
            return PackSeen(_back(message.colour))
        case _:
            return None


def _fault(message: FaultEvent) -> MachineFault:
    known = True
    try:
        fault = Fault(message.fault)
    except ValueError:
        fault, known = Fault.SENSOR, False
    try:
        segment = Segment(message.segment)
    except ValueError:
        segment = Segment.NONE
    try:
        action = Action(message.action)
    except ValueError:
        action = Action.COLLECT_CARDS
    return MachineFault(message.job_id, fault, segment, message.in_flight, known and bool(message.recoverable), action)
