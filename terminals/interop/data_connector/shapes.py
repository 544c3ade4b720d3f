"""The messages of the Data Connector as plain values: which fields they have, read leniently, written in wire order.

A message is a ``dict`` that has every field of its shape under its wire name (PascalCase). Absent and null mean the
default; unknown fields are left out; names that differ in capitals only are understood. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

MAX_TEXT = 2000
MAX_ROWS = 100_000
INT_LOW, INT_HIGH = -(1 << 31), (1 << 31) - 1

Dto = dict[str, Any]


class Kind(Enum):
    TEXT = "a text"
    INT = "a whole number"
    BOOL = "true or false"
    ROWS = "a list"
    ONE = "an object"
    IGNORED = "anything"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: Kind
    of: Shape | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A message: its name in errors, and its fields in wire order."""

    name: str
    fields: tuple[Field, ...]


class WrongData(Exception):
    """A payload is not of the shape that its command wants; ``words`` say where. known: command and session, as far as
    they could be read."""

    def __init__(self, words: str, known: tuple[int, str] = (0, "")) -> None:
        super().__init__(words)
        self.words = words
        self.known = known


def parse(text: str | None) -> Any:
    """The value of a JSON text; None for an empty one. Raises WrongData."""
    if text is None or not text.strip():
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise WrongData("SerializedData is not JSON") from None


def read(shape: Shape, value: Any) -> Dto:
    """A message from a parsed JSON value. Raises WrongData."""
    return _read(shape, value, shape.name)


def read_rows(shape: Shape, value: Any) -> list[Dto]:
    """A list of messages. Raises WrongData."""
    return _rows(shape, value, shape.name)


def blank(shape: Shape, **values: Any) -> Dto:
    """A message with the defaults, and ``values``."""
    out: Dto = {field.name: _DEFAULTS[field.kind] for field in shape.fields}
    unknown = values.keys() - out.keys()
    if unknown:
        raise KeyError(f"{shape.name} has no {', '.join(sorted(unknown))}")
    return {**out, **values}


def dumps(value: Any) -> str:
    """Compact JSON in wire order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _read(shape: Shape, value: Any, where: str) -> Dto:
    if not isinstance(value, Mapping):
        raise WrongData(f"{where} is not an object")
    given: Mapping[str, Any] = value
    if not given.keys() <= _names(shape):
        lower = {field.name.lower(): field.name for field in shape.fields}
        given = {lower.get(str(name).lower(), str(name)): one for name, one in value.items()}
    out: Dto = {}
    for field in shape.fields:
        found = given.get(field.name)
        out[field.name] = _DEFAULTS[field.kind] if found is None else _value(field, found, f"{where}.{field.name}")
    return out


def _value(field: Field, value: Any, where: str) -> Any:
    if field.kind is Kind.ROWS:
        assert field.of is not None
        return _rows(field.of, value, where)
    if field.kind is Kind.IGNORED:
        return None
    if field.kind is Kind.ONE:
        assert field.of is not None
        return _read(field.of, value, where)
    if field.kind is Kind.TEXT:
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            return sound(value)
        if isinstance(value, int) and not isinstance(value, bool) and INT_LOW <= value <= INT_HIGH:
            return str(value)
    elif field.kind is Kind.INT:
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and INT_LOW <= value <= INT_HIGH:
            return int(value)
    elif isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    elif isinstance(value, str) and value.strip().lower() in _TRUTH:
        return _TRUTH[value.strip().lower()]
    raise WrongData(f"{where} is not {field.kind.value}")


def _rows(shape: Shape, value: Any, where: str) -> list[Dto]:
    if not isinstance(value, list):
        raise WrongData(f"{where} is not a list")
    if len(value) > MAX_ROWS:
        raise WrongData(f"{where} has more than {MAX_ROWS} entries")
    return [_read(shape, one, f"{where}[{index}]") for index, one in enumerate(value)]


def sound(text: str) -> str:
    """Half of a surrogate pair can't be stored; it becomes a question mark."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _names(shape: Shape) -> frozenset[str]:
    found = _NAMES.get(shape.name)
    if found is None:
        found = _NAMES[shape.name] = frozenset(field.name for field in shape.fields)
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,10}\s*", re.ASCII)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_NAMES: dict[str, frozenset[str]] = {}
_DEFAULTS: dict[Kind, Any] = {
    Kind.TEXT: None,
    Kind.INT: 0,
    Kind.BOOL: False,
    Kind.ROWS: None,
    Kind.ONE: None,
    Kind.IGNORED: None,
}


# --- the messages ------------------------------------------------------------------------------------------------


def _fields(words: str) -> Iterable[Field]:
    """``Name`` a text, ``Name#`` a number, ``Name?`` true or false."""
    kinds = {"#": Kind.INT, "?": Kind.BOOL}
    for word in words.split():
        yield Field(word.rstrip("#?"), kinds.get(word[-1], Kind.TEXT))


def _shape(name: str, *parts: str | Field) -> Shape:
    fields: list[Field] = []
    for part in parts:
        fields += _fields(part) if isinstance(part, str) else [part]
    return Shape(name, (*fields, Field("ValidationMessages", Kind.IGNORED)))


def _list(name: str, of: Shape) -> Field:
    return Field(name, Kind.ROWS, of)


REQUEST = Shape("request", tuple(_fields("Command# ClubId LicenceKey SessionGuid")))
ROUND = _shape(
    "RoundDTO",
    "SessionGuid SectionLetters TableNumber# RoundNumber# LowBoardNumber# HighBoardNumber# PairNS# PairEW# TeamNS#",
    "TeamEW# MatesTableSectionLetters MatesTableTableNumber# MatesTableRoundNumber# Updated?",
)
TABLE = _shape(
    "TableDTO",
    "SessionGuid SectionLetters TableNumber# ConnectionMode# KeepBridgematesAlive?",
    _list("Rounds", ROUND),
)
_SECTION = (
    "Letters Name Winners# GameType# EWMoveBeforePlay# MissingPair# KeepBridgematesAlive? IsCombiSection?"
    " NorthSouthPairSectionLetters EastWestPairSectionLetters HasExplicitParticipations?"
)
SECTION = _shape("SectionDTO", "SessionGuid ScoringGroupNumber#", _SECTION, _list("Tables", TABLE))
GROUP = _shape(
    "ScoringGroupDTO",
    "SessionGuid ClubId",
    _list("Sections", SECTION),
    "ScoringGroupNumber# ScoringMethod# Name IsDeleted?",
)
SESSION = _shape(
    "SessionDTO",
    _list("ScoringGroups", GROUP),
    "EventGuid SessionGuid Name Year# Month# Day# Hour# Minute# ShowInApp? EWReturnHome? PairsMoveAccrossField?",
)
PLAYER = _shape("PlayerDataDTO", "SessionGuid ClubId PlayerNumber FirstName LastName CountryCode")
SEAT = _shape(
    "ParticipationDTO",
    "SessionGuid SectionLetters TableNumber# Direction# RoundNumber# PlayerNumber IsPlayerSwap? IsRemoval? FirstName"
    " LastName CountryCode",
)
RESULT = _shape(
    "ResultDTO",
    "SessionGuid SectionLetters TableNumber# RoundNumber# BoardNumber# ScoringDirection# IsDeleted? PairNorthSouth#",
    "PairEastWest# DeclaringPair# DeclarerDirection# Level# Denomination# Stake# TotalTricks# LeadCardRank#",
    "LeadCardSuit#",
)
SEATS = ("North", "East", "South", "West")
SUITS = ("Clubs", "Diamonds", "Hearts", "Spades")
DEAL = _shape(
    "HandrecordDTO",
    "SessionGuid ScoringGroupNumber# SectionLetters BoardNumber#",
    " ".join(f"{seat}{suit}" for seat in SEATS for suit in SUITS),
    "HasHandEvaluationData?",
    " ".join(f"DoubleDummy{seat}{suit}#" for seat in SEATS for suit in (*SUITS, "NoTrump")),
)
CALL = _shape("TdCallDTO", "SessionGuid SectionLetters TableNumber# RoundNumber# Hour# Minute# Status#")
BM2 = _shape(
    "Bridgemate2SettingsDTO",
    "SessionGuid SectionLetters ShowResults? ShowOwnResult? RepeatResults? ShowPercentage? GroupSections? ScorePoints#",
    "EnterResultsMethod# ShowPairNumbers? IntermediateResults? AutopoweroffTime# VerificationTime# ShowContract#",
    "LeadCard? MaximumResults# MemberNumbers? MemberNumbersNoBlankEntry? BoardOrderVerification?",
    "HandRecordValidation? AutoShutDownBPC? BM2PINcode BM2ConfirmNP? BM2RemainingBoards? BM2NextSeatings?",
    "BM2ScoreRecap? BM2AutoShowScoreRecap? BM2ScoreCorrection? BM2AutoBoardNumber? BM2FirstBoardManually?",
    "BM2ValidateLeadCard? BM2ResultsOverview# BM2ShowPlayerNames# BM2Ranking# BM2GameSummary? BM2SummaryPoints#",
    "BM2PairNumberEntry# BM2ResetFunctionKey? BM2RecordBidding? BM2RecordPlay? BM2ValidateRecording? BM2ShowHands?",
    "NumberValidation# BM2NumberEntryEachRound? BM2NumberEntryPreloadValues? BM2NameSource# BM2ViewHandRecord?",
    "BM2EnterHandRecord? BM2EnterHandRecordWhen# BM2TextBasedNumber? BM2TDCall?",
)
BM3 = _shape(
    "Bridgemate3SettingsDTO",
    "SessionGuid SectionLetters BM3ScreenBrightness# BM3ScreenDimMode# BM3ScreenOffMode# BM3SleepMode#",
    "BM3AudioVolume# BM3Language# BM3PINcode BM3ConfirmNP# BM3TDCall# BM3ResultMethod# BM3BoardResultReentry#",
    "BM3LeadCardEntry# BM3PlayerNumberEntry# BM3PlayerNumberEntryDuringPlay# BM3PlayerNumberMandatory#",
    "BM3StartingPositions# BM3PlayerView# BM3Ranking# BM3NextSeatings# BM3ScoreRecap# BM3ViewResults#",
    "BM3SessionSummary# BM3ScoreColum# BMViewPercentages# BM3ViewHandrecord# BM3EnterHandrecord#",
)
_LOADS = (
    _list("PlayerData", PLAYER),
    _list("Participations", SEAT),
    _list("Handrecords", DEAL),
    _list("Bridgemate2Settings", BM2),
    _list("Bridgemate3Settings", BM3),
)
INIT = _shape("InitDTO", "Commands# EventGuid ClubId AlternativeDataFolder", _list("Sessions", SESSION), *_LOADS)
CONTINUE = _shape("ContinueDTO", "EventGuid ClubId Commands# AlternativeDataFolder")
ADD_SESSION = _shape("AddSessionDTO", "EventGuid ClubId", Field("Session", Kind.ONE, SESSION), *_LOADS)
SECTION_UPDATE = _shape(
    "SectionUpdateDTO",
    "SessionGuid ClubId ScoringGroupNumber# ScoringGroupScoringMethod#",
    _SECTION,
    "IsDeleted?",
    _list("Tables", TABLE),
    _list("AddedPlayers", PLAYER),
    _list("Participations", SEAT),
)
MANAGE = _shape("BCSManagementRequestDTO", "Command#")
