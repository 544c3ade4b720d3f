"""The messages between host and dealing machine, kinds 20-5F (docs/protocol.md section 4).

Cards are left out of every repr, so that a message that ends up in a log tells nobody a deal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware_bridge.wire.layout import U8, U16, U32, U64, Bytes4, Bytes8, Bytes13, Str8, U16List


@dataclass(frozen=True, slots=True)
class Arm:
    """Hands the whole routing of a board to the machine.

    routing: 13 bytes, pocket (0-3: N, E, S, W) of each of the 52 cards, two bits each. digest: deal digest, section 6.
    """

    command_id: U64
    job_id: U32
    board: U16
    copy: U8
    routing: Bytes13 = field(repr=False)
    digest: Bytes8


@dataclass(frozen=True, slots=True)
class Start:
    """Deal the armed board. boot_id: of the machine as it was when it was armed."""

    command_id: U64
    job_id: U32
    board: U16
    copy: U8
    boot_id: U32
    digest: Bytes8


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop after the card in flight."""

    command_id: U64
    job_id: U32


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the card ``next_index``; refused if the machine counts otherwise."""

    command_id: U64
    job_id: U32
    next_index: U8


@dataclass(frozen=True, slots=True)
class Abort:
    """End the job (0: whatever job there is); afterwards the machine is idle and disarmed."""

    command_id: U64
    job_id: U32


@dataclass(frozen=True, slots=True)
class ReadBoard:
    """Read the cards in the four pockets back. board: 0 if not known."""

    command_id: U64
    job_id: U32
    board: U16
    copy: U8


@dataclass(frozen=True, slots=True)
class Report:
    """Asks what the machine remembers of a job."""

    job_id: U32


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Asks for MACHINE_STATE."""


@dataclass(frozen=True, slots=True)
class Display:
    """What the operator should do next. action: ``Action``; board: 0 for none; sound: ``Sound``."""

    action: U8
    board: U16
    copy: U8
    sound: U8
    text: Str8


@dataclass(frozen=True, slots=True)
class CommandResult:
    """outcome: ``Outcome``; reason: ``CommandReason``; replayed: 1 if answered from memory."""

    command_id: U64
    outcome: U8
    reason: U8
    replayed: U8


@dataclass(frozen=True, slots=True)
class MachineInfo:
    """How the machine is built.

    pocket_order: 4 bytes, seat of each pocket in the order of the transport. reader: ``Reader``. card_ms: time from
    card to card in milliseconds. margin_min: a read with a smaller margin is doubtful.
    """

    pocket_order: Bytes4
    reader: U8
    card_ms: U16
    margin_min: U8


@dataclass(frozen=True, slots=True)
class MachineState:
    """state: ``MachineStateCode``; hopper: ``Hopper``; orientation: ``Orientation``; counts: cards in N, E, S, W."""

    state: U8
    board_in: U8
    cover_closed: U8
    hopper: U8
    label: U16
    orientation: U8
    counts: Bytes4
    job_id: U32
    boot_id: U32


@dataclass(frozen=True, slots=True)
class BoardEvent:
    """A board was inserted (seated 1) or pulled out (0). label: 0 if not read; orientation: ``Orientation``."""

    seated: U8
    label: U16
    orientation: U8


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The operator pressed the key: the board in the machine is the one on the display."""

    board: U16
    copy: U8


@dataclass(frozen=True, slots=True)
class CardEvent:
    """One card on its way.

    raw: what the reader saw; best, runner_up: card codes; margin: 0-255; wanted, confirmed: pockets (255 not seen).
    beam_ms: tenths of a millisecond. at_ms: milliseconds since the machine started. read_ms, exit_ms: after feeding.
    The pockets are left out of the repr as well: with a pack in a known order they are the deal.
    """

    job_id: U32
    index: U8
    raw: U16 = field(repr=False)
    best: U8 = field(repr=False)
    runner_up: U8 = field(repr=False)
    margin: U8
    wanted: U8 = field(repr=False)
    confirmed: U8 = field(repr=False)
    beam_ms: U16
    at_ms: U32
    read_ms: U16
    exit_ms: U16


@dataclass(frozen=True, slots=True)
class Done:
    """A job has ended. counts: cards in N, E, S, W; digest: of what was placed, zeros if the machine can't say."""

    job_id: U32
    board: U16
    copy: U8
    cards: U8
    counts: Bytes4
    digest: Bytes8


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """fault: ``Fault``; segment: ``Segment``; in_flight: cards between hopper and pockets; action: ``Action``."""

    job_id: U32
    fault: U8
    segment: U8
    in_flight: U8
    recoverable: U8
    action: U8


@dataclass(frozen=True, slots=True)
class ReportData:
    """What the machine remembers of a job. placed: card in the low byte, pocket in the high byte, in dealing order."""

    job_id: U32
    known: U8
    state: U8
    placed: U16List = field(repr=False)


@dataclass(frozen=True, slots=True)
class HopperEvent:
    """hopper: ``Hopper``."""

    hopper: U8


@dataclass(frozen=True, slots=True)
class PackEvent:
    """The backs that lie on top of the hopper have another colour now. colour: ``BackColour``."""

    colour: U8
