"""All messages of protocol 1.0: bytes of a payload <-> typed message (docs/protocol.md section 4).

``encode`` and ``decode`` are each other's inverse. Lengths and counts are strict; numbers outside their range come
through as plain ints, because judging them is the business of whoever uses the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from firmware_bridge.wire.layout import Direction, MessageType
from firmware_bridge.wire.link_messages import Ack, Bye, Hello, HelloFields, Nak, Ping, Refuse
from firmware_bridge.wire.machine_messages import (
    Abort,
    Arm,
    BoardEvent,
    CardEvent,
    CommandResult,
    Confirmed,
    Display,
    Done,
    FaultEvent,
    HopperEvent,
    MachineInfo,
    MachineState,
    PackEvent,
    Pause,
    ReadBoard,
    Report,
    ReportData,
    Resume,
    Snapshot,
    Start,
)
from firmware_bridge.wire.terminal_messages import (
    Admit,
    Ask,
    Call,
    CallStateTold,
    Codes,
    Credit,
    DirectorAsk,
    DirectorAuth,
    DirectorNonce,
    DirectorOpen,
    EntryCheck,
    EntryChecked,
    EventPart,
    Feedback,
    FoundPlayer,
    NameFound,
    NameRecord,
    Names,
    NameSearch,
    PairCode,
    PlanRound,
    Ranking,
    RankingPair,
    Recap,
    RecapLine,
    Record,
    RecordAck,
    RecordNak,
    Resend,
    SeatName,
    Standing,
    Standings,
    StationStatus,
    TablePlan,
    TableRecord,
    TableSettings,
    TakeOver,
    TermEvents,
    TermGone,
    TermHello,
    TermStatus,
    Text,
    TravellerLine,
)
from firmware_bridge.wire.wire_error import WireError

__all__ = [
    "BY_CLASS",
    "BY_KIND",
    "MESSAGE_TYPES",
    "Abort",
    "Ack",
    "Admit",
    "Arm",
    "Ask",
    "BoardEvent",
    "Bye",
    "Call",
    "CallStateTold",
    "CardEvent",
    "Codes",
    "CommandResult",
    "Confirmed",
    "Credit",
    "DirectorAsk",
    "DirectorAuth",
    "DirectorNonce",
    "DirectorOpen",
    "Display",
    "Done",
    "EntryCheck",
    "EntryChecked",
    "EventPart",
    "FaultEvent",
    "Feedback",
    "FoundPlayer",
    "Hello",
    "HelloFields",
    "HopperEvent",
    "MachineInfo",
    "MachineState",
    "Message",
    "Nak",
    "NameFound",
    "NameRecord",
    "NameSearch",
    "Names",
    "PackEvent",
    "PairCode",
    "Pause",
    "Ping",
    "PlanRound",
    "Ranking",
    "RankingPair",
    "ReadBoard",
    "Recap",
    "RecapLine",
    "Record",
    "RecordAck",
    "RecordNak",
    "Refuse",
    "Report",
    "ReportData",
    "Resend",
    "Resume",
    "SeatName",
    "Snapshot",
    "Standing",
    "Standings",
    "Start",
    "StationStatus",
    "TablePlan",
    "TableRecord",
    "TableSettings",
    "TakeOver",
    "TermEvents",
    "TermGone",
    "TermHello",
    "TermStatus",
    "Text",
    "TravellerLine",
    "decode",
    "encode",
    "fit_text",
    "kind_of",
]

Message: TypeAlias = (
    Hello
    | Ack
    | Ping
    | Nak
    | Refuse
    | Bye
    | Arm
    | Start
    | Pause
    | Resume
    | Abort
    | ReadBoard
    | Report
    | Snapshot
    | Display
    | CommandResult
    | MachineInfo
    | MachineState
    | BoardEvent
    | Confirmed
    | CardEvent
    | Done
    | FaultEvent
    | ReportData
    | HopperEvent
    | PackEvent
    | TermHello
    | Admit
    | TermStatus
    | TablePlan
    | TermGone
    | StationStatus
    | Text
    | Call
    | CallStateTold
    | Record
    | RecordAck
    | RecordNak
    | Resend
    | Credit
    | EntryCheck
    | EntryChecked
    | Ask
    | Feedback
    | Ranking
    | NameRecord
    | Names
    | NameSearch
    | NameFound
    | DirectorAsk
    | DirectorNonce
    | DirectorAuth
    | DirectorOpen
    | TermEvents
    | TableSettings
    | TableRecord
    | TakeOver
    | Codes
    | Recap
    | Standings
)

_BOTH, _TO, _FROM = Direction.BOTH, Direction.TO_DEVICE, Direction.FROM_DEVICE

MESSAGE_TYPES: tuple[MessageType, ...] = (
    MessageType(0x01, "HELLO", Hello, _BOTH, sequenced=False),
    MessageType(0x02, "ACK", Ack, _BOTH, sequenced=False),
    MessageType(0x03, "PING", Ping, _BOTH, sequenced=False),
    MessageType(0x04, "NAK", Nak, _BOTH),
    MessageType(0x05, "REFUSE", Refuse, _BOTH, sequenced=False),
    MessageType(0x06, "BYE", Bye, _BOTH, sequenced=False),
    MessageType(0x20, "ARM", Arm, _TO, command=True, hidden=True),
    MessageType(0x21, "START", Start, _TO, command=True),
    MessageType(0x22, "PAUSE", Pause, _TO, command=True),
    MessageType(0x23, "RESUME", Resume, _TO, command=True),
    MessageType(0x24, "ABORT", Abort, _TO, command=True),
    MessageType(0x25, "READ_BOARD", ReadBoard, _TO, command=True),
    MessageType(0x26, "REPORT", Report, _TO),
    MessageType(0x27, "SNAPSHOT", Snapshot, _TO),
    MessageType(0x28, "DISPLAY", Display, _TO),
    MessageType(0x2F, "COMMAND_RESULT", CommandResult, _FROM),
    MessageType(0x30, "MACHINE_INFO", MachineInfo, _FROM),
    MessageType(0x31, "MACHINE_STATE", MachineState, _FROM),
    MessageType(0x32, "BOARD", BoardEvent, _FROM),
    MessageType(0x33, "CONFIRMED", Confirmed, _FROM),
    MessageType(0x34, "CARD", CardEvent, _FROM, hidden=True),
    MessageType(0x35, "DONE", Done, _FROM),
    MessageType(0x36, "FAULT", FaultEvent, _FROM),
    MessageType(0x37, "REPORT_DATA", ReportData, _FROM, hidden=True),
    MessageType(0x38, "HOPPER", HopperEvent, _FROM),
    MessageType(0x39, "PACK", PackEvent, _FROM),
    MessageType(0x60, "TERM_HELLO", TermHello, _FROM),
    MessageType(0x61, "ADMIT", Admit, _TO),
    MessageType(0x62, "TERM_STATUS", TermStatus, _FROM),
    MessageType(0x63, "TABLE_PLAN", TablePlan, _TO),
    MessageType(0x64, "TERM_GONE", TermGone, _FROM),
    MessageType(0x65, "STATION_STATUS", StationStatus, _FROM),
    MessageType(0x66, "TEXT", Text, _TO, hidden=True),
    MessageType(0x67, "CALL", Call, _FROM),
    MessageType(0x68, "CALL_STATE", CallStateTold, _TO),
    MessageType(0x69, "TERM_EVENTS", TermEvents, _FROM),
    MessageType(0x6A, "TABLE_SETTINGS", TableSettings, _TO),
    MessageType(0x70, "RECORD", Record, _FROM, hidden=True),
    MessageType(0x72, "RECORD_ACK", RecordAck, _TO),
    MessageType(0x73, "RECORD_NAK", RecordNak, _TO),
    MessageType(0x74, "RESEND", Resend, _TO),
    MessageType(0x75, "CREDIT", Credit, _TO),
    MessageType(0x76, "NAME_RECORD", NameRecord, _FROM, hidden=True),
    MessageType(0x77, "TABLE_RECORD", TableRecord, _FROM, hidden=True),
    MessageType(0x78, "ENTRY_CHECK", EntryCheck, _FROM, hidden=True),
    MessageType(0x79, "ENTRY_CHECKED", EntryChecked, _TO, hidden=True),
    MessageType(0x7A, "ASK", Ask, _FROM),
    MessageType(0x7B, "FEEDBACK", Feedback, _TO, hidden=True),
    MessageType(0x7C, "RANKING", Ranking, _TO),
    MessageType(0x7D, "NAMES", Names, _TO, hidden=True),
    MessageType(0x7E, "NAME_SEARCH", NameSearch, _FROM, hidden=True),
    MessageType(0x7F, "NAME_FOUND", NameFound, _TO, hidden=True),
    MessageType(0x80, "DIRECTOR_ASK", DirectorAsk, _FROM),
    MessageType(0x81, "DIRECTOR_NONCE", DirectorNonce, _TO, hidden=True),
    MessageType(0x82, "DIRECTOR_AUTH", DirectorAuth, _FROM, hidden=True),
    MessageType(0x83, "DIRECTOR_OPEN", DirectorOpen, _TO),
    MessageType(0x84, "TAKE_OVER", TakeOver, _FROM, hidden=True),
    MessageType(0x85, "CODES", Codes, _TO, hidden=True),
    MessageType(0x86, "RECAP", Recap, _TO, hidden=True),
    MessageType(0x87, "STANDINGS", Standings, _TO, hidden=True),
)
"""Every message of 1.0, in the order of its kind."""

BY_KIND: Mapping[int, MessageType] = MappingProxyType({item.kind: item for item in MESSAGE_TYPES})
BY_CLASS: Mapping[type, MessageType] = MappingProxyType({item.cls: item for item in MESSAGE_TYPES})

# A later minor version adds its own mapping here; layouts are exact per minor.
_KINDS_OF_MINOR: Mapping[int, Mapping[int, MessageType]] = MappingProxyType({0: BY_KIND})


def kind_of(message: Message) -> int:
    """The kind byte of a message."""
    return BY_CLASS[type(message)].kind


def encode(message: Message) -> bytes:
    """The payload of a message. Raises WireError, naming message and field, if a value has no room on the wire."""
    return BY_CLASS[type(message)].build(message)


def decode(kind: int, payload: bytes, minor: int = 0) -> Message:
    """The message of a whole (reassembled) payload under the negotiated minor version.

    Raises WireError: code ``unsupported`` if the kind is not known, ``malformed`` if the payload does not fit its
    table to the last byte.
    """
    message_type = _KINDS_OF_MINOR[minor].get(kind)
    if message_type is None:
        raise WireError(f"A message of unknown kind {kind:#04x} came.", code="unsupported")
    message: Message = message_type.parse(payload)
    return message


def fit_text(text: str, limit: int = 255) -> str:
    """``text`` cut at a character so that it has at most ``limit`` bytes of UTF-8; lone surrogates become ``?``."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode("utf-8")
    return data[:limit].decode("utf-8", "ignore")
