"""What drivers offer to the rest of the program: Protocols, events and plain values. No I/O here.

The dealing job and the sync service see this module only, never a concrete driver. Card numbers are 0-51 (spade A..2,
heart A..2, diamond A..2, club A..2), pockets 0-3 are the seats N, E, S, W printed on the board; 255 means not known.
Times in events are the device's own milliseconds; nothing is ordered by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from firmware_bridge.wire.messages import Message
from firmware_bridge.wire.numbers import (
    Action,
    BackColour,
    Capability,
    CommandReason,
    Fault,
    MachineStateCode,
    Orientation,
    Outcome,
    Segment,
    Sound,
)
from firmware_bridge.wire.numbers import Hopper as HopperState

__all__ = [
    "UNKNOWN",
    "Action",
    "Armed",
    "BackColour",
    "BaseStation",
    "BoardConfirmed",
    "BoardInserted",
    "BoardPulled",
    "ByteStream",
    "Capability",
    "CardPassed",
    "CommandReason",
    "CommandReply",
    "Connected",
    "DealingMachine",
    "Disconnected",
    "Fault",
    "HopperChanged",
    "HopperState",
    "JobDone",
    "JobReport",
    "MachineEvent",
    "MachineFault",
    "MachineIdentity",
    "MachineSnapshot",
    "MachineStateCode",
    "Orientation",
    "Outcome",
    "PackSeen",
    "Segment",
    "Sound",
    "StationConnected",
    "StationDisconnected",
    "StationEvent",
    "StationIdentity",
    "StationMessage",
]

UNKNOWN = 255
"""Card not read, pocket not seen, orientation not known."""


# --- byte carriers -----------------------------------------------------------------------------------------------


class ByteStream(Protocol):
    """An open connection that carries bytes both ways. One owner, one event loop."""

    @property
    def name(self) -> str:
        """For messages to people, e.g. "/dev/ttyUSB0"."""
        ...

    async def read(self) -> bytes:
        """At least one byte, as soon as there is one. Raises LinkLost when the peer is gone, whatever the cause."""
        ...

    async def write(self, data: bytes) -> None:
        """Hand over all of ``data``; returns when the carrier can take more. Raises LinkLost."""
        ...

    async def close(self) -> None:
        """Release the port. Never raises; a second call does nothing."""
        ...


class StreamOpener(Protocol):
    """Opens, and after a loss re-opens, one carrier."""

    @property
    def url(self) -> str: ...

    @property
    def bytes_per_second(self) -> float | None:
        """Pace of the line if it is known (serial: baud / 10), None for lines that take everything at once."""
        ...

    async def __call__(self) -> ByteStream:
        """Raises DeviceError when the port does not exist, is taken, or may not be opened."""
        ...


class UsbPipe(ByteStream, Protocol):
    """A pair of USB bulk endpoints used as a byte stream."""


class Pins(Protocol):
    """The names of RPi.GPIO that a home-built machine needs; pass the module itself or a simulation of it."""

    BCM: Any
    IN: Any
    OUT: Any
    HIGH: Any
    LOW: Any
    PUD_UP: Any
    PUD_DOWN: Any
    RISING: Any
    FALLING: Any
    BOTH: Any

    def setmode(self, mode: Any) -> None: ...
    def setup(self, channel: int, direction: Any, **options: Any) -> None: ...
    def input(self, channel: int) -> int: ...
    def output(self, channel: int, value: Any) -> None: ...
    def add_event_detect(self, channel: int, edge: Any, **options: Any) -> None: ...
    def remove_event_detect(self, channel: int) -> None: ...
    def cleanup(self, *channels: int) -> None: ...


@dataclass(frozen=True, slots=True)
class CardRead:
    """One look at one card: ``best`` and ``runner_up`` 0-51 or 255, ``margin`` 0-255, ``raw`` as the reader saw it."""

    raw: int = field(repr=False)
    best: int = field(repr=False)
    runner_up: int = field(repr=False)
    margin: int


CardReader = Callable[[], CardRead]
"""Any callable that looks at the card in front of it: a camera, a row of photo-detectors, a simulation."""


# --- dealing machines --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MachineIdentity:
    """Who the machine says it is. ``pocket_order``: seat of each pocket along the transport."""

    device_id: int
    model: str
    firmware: str
    boot_id: int
    capabilities: Capability
    pocket_order: tuple[int, int, int, int]
    card_ms: int
    margin_min: int


@dataclass(frozen=True, slots=True)
class Armed:
    """One attempt at one physical board. ``routing``: 13 bytes, ``digest``: 8 bytes (protocol, sections 4 and 6)."""

    job_id: int
    board: int
    copy: int
    routing: bytes = field(repr=False)
    digest: bytes


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What became of a command. ``replayed``: answered from the machine's memory, so nothing was done twice."""

    outcome: Outcome
    reason: CommandReason
    replayed: bool

    @property
    def ok(self) -> bool:
        return self.outcome == Outcome.DONE


@dataclass(frozen=True, slots=True)
class MachineSnapshot:
    """The machine at this moment (protocol, MACHINE_STATE). ``counts``: cards in the pockets of N, E, S, W as the
    machine believes. ``label``: number of the board that is in, 0 if not read. ``orientation``: Orientation or 255.
    ``job_id``: 0 for none."""

    state: MachineStateCode
    board_in: bool
    cover_closed: bool
    hopper: HopperState
    label: int
    orientation: int
    counts: tuple[int, int, int, int]
    job_id: int
    boot_id: int


@dataclass(frozen=True, slots=True)
class JobReport:
    """What the machine remembers of a job: ``placed`` pairs (card, pocket) in the order of dealing."""

    job_id: int
    known: bool
    state: MachineStateCode
    placed: tuple[tuple[int, int], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Connected:
    """The link stands. ``restarted``: the machine's boot id is another one than before, its job state is unknown."""

    identity: MachineIdentity
    restarted: bool


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The link is gone; the driver goes on trying to get it back. ``reason``: one sentence for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class BoardInserted:
    """``label``: board number read from the board, 0 if not read. ``orientation``: Orientation or 255."""

    label: int
    orientation: int


@dataclass(frozen=True, slots=True)
class BoardPulled:
    """The board is out of the machine."""


@dataclass(frozen=True, slots=True)
class BoardConfirmed:
    """The operator pressed the key: the board in the machine is the one on the display."""

    board: int
    copy: int


@dataclass(frozen=True, slots=True)
class CardPassed:
    """A card has come to rest (protocol, CARD). ``index``: its place in the job, from 0. ``raw``: what the reader saw;
    ``best`` and ``runner_up``: cards 0-51, 254 a joker, 255 not read; ``margin``: how far best is ahead, 0-255.
    ``wanted``: pocket that it was sent to; ``confirmed``: pocket where a sensor saw it, 255 where none did.
    ``beam_ms``: milliseconds for which it covered the beam. ``at_ms``: when it was fed, since the machine started;
    ``read_ms`` and ``exit_ms`` after that."""

    job_id: int
    index: int
    raw: int
    best: int
    runner_up: int
    margin: int
    wanted: int
    confirmed: int
    beam_ms: float
    at_ms: int
    read_ms: int
    exit_ms: int

    def __repr__(self) -> str:
        # A card of an unplayed board must not reach a log through somebody's f-string.
        return f"CardPassed(job_id={self.job_id}, index={self.index}, margin={self.margin})"


@dataclass(frozen=True, slots=True)
class JobDone:
    """The machine has placed all cards (protocol, DONE). ``counts``: cards in the pockets of N, E, S, W.
    ``digest``: of what it placed, not of what was ordered."""

    job_id: int
    board: int
    copy: int
    cards: int
    counts: tuple[int, int, int, int]
    digest: bytes


@dataclass(frozen=True, slots=True)
class MachineFault:
    """The machine stands still and all is at rest (protocol, FAULT). ``in_flight``: cards between hopper and pockets.
    ``recoverable``: ``resume`` is safe once the operator has done ``action``."""

    job_id: int
    fault: Fault
    segment: Segment
    in_flight: int
    recoverable: bool
    action: Action


@dataclass(frozen=True, slots=True)
class HopperChanged:
    """Cards were put into the hopper, or it is empty."""

    hopper: HopperState


@dataclass(frozen=True, slots=True)
class PackSeen:
    """The backs on top of the hopper are of this colour now; from machines with PACK_COLOUR."""

    colour: BackColour


MachineEvent = (
    Connected
    | Disconnected
    | BoardInserted
    | BoardPulled
    | BoardConfirmed
    | CardPassed
    | JobDone
    | MachineFault
    | HopperChanged
    | PackSeen
)


class DealingMachine(Protocol):
    """A machine that deals a whole board by itself from a routing given beforehand.

    Commands raise LinkLost when the link breaks before the answer: the outcome is then unknown, and the caller must ask
    (``report``, ``snapshot``) instead of assuming. They raise DeviceError when the machine does not answer in time.
    """

    @property
    def url(self) -> str: ...

    @property
    def identity(self) -> MachineIdentity | None:
        """None until the first Connected."""
        ...

    async def connect(self, timeout: float) -> MachineIdentity:
        """Open the carrier and shake hands. Raises DeviceError, LinkError or ProtocolMismatch, in words for people."""
        ...

    async def arm(self, order: Armed) -> CommandReply: ...

    async def start(self, order: Armed) -> CommandReply: ...

    async def pause(self, job_id: int) -> CommandReply: ...

    async def resume(self, job_id: int, next_index: int) -> CommandReply: ...

    async def abort(self, job_id: int) -> CommandReply: ...

    async def read_board(self, job_id: int, board: int, copy: int) -> CommandReply: ...

    async def report(self, job_id: int) -> JobReport: ...

    async def snapshot(self) -> MachineSnapshot: ...

    async def display(self, action: Action, board: int, copy: int, sound: Sound, text: str) -> None: ...

    async def next_event(self) -> MachineEvent:
        """The next event in the order in which the machine sent them; waits for one."""
        ...

    async def close(self) -> None: ...


# --- base stations -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StationIdentity:
    """Who the base station says it is. ``boot_id``: another one after every restart."""

    device_id: int
    model: str
    firmware: str
    boot_id: int


@dataclass(frozen=True, slots=True)
class StationConnected:
    """The link stands. ``restarted``: the station's boot id is another one than before."""

    identity: StationIdentity
    restarted: bool


@dataclass(frozen=True, slots=True)
class StationDisconnected:
    """The link is gone; the driver goes on trying to get it back. ``reason``: one sentence for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class StationMessage:
    """A message of the terminal with that address (0: the station itself)."""

    address: int
    message: Message


StationEvent = StationConnected | StationDisconnected | StationMessage


class BaseStation(Protocol):
    """The hub that carries many terminals. It routes and keeps nothing."""

    @property
    def url(self) -> str: ...

    async def connect(self, timeout: float) -> StationIdentity:
        """As ``DealingMachine.connect``."""
        ...

    async def send(self, address: int, message: Message) -> None:
        """Queue a message for a terminal (0: the station or all). Raises LinkLost while there is no link."""
        ...

    async def next_event(self) -> StationEvent: ...

    async def close(self) -> None: ...
