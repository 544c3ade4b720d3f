"""The numbers of the protocol (docs/protocol.md section 7) as enumerations.

Messages carry plain ints, because a device may send a number that this version does not know; the members here
compare equal to them. ``NUMBERS`` maps the names used on the page to the enumerations.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag
from types import MappingProxyType


class Role(IntEnum):
    HOST = 0
    MACHINE = 1
    STATION = 2
    TERMINAL = 3


class NakReason(IntEnum):
    UNSUPPORTED = 1
    MALFORMED = 2
    FRAGMENT = 3


class RefuseReason(IntEnum):
    VERSION = 1
    BUSY = 2
    ROLE = 3


class ByeReason(IntEnum):
    STOP = 1
    RESTART = 2


class Outcome(IntEnum):
    DONE = 1
    REFUSED = 2


class CommandReason(IntEnum):
    NONE = 0
    ID_REUSED = 1
    WRONG_STATE = 2
    NO_BOARD = 3
    WRONG_BOARD = 4
    TURNED = 5
    WRONG_JOB = 6
    WRONG_BOOT = 7
    WRONG_DIGEST = 8
    COVER_OPEN = 9
    HOPPER_EMPTY = 10
    POCKETS_NOT_EMPTY = 11
    UNSUPPORTED = 12


class MachineStateCode(IntEnum):
    """The field ``state`` of MACHINE_STATE and REPORT_DATA."""

    IDLE = 0
    ARMED = 1
    DEALING = 2
    PAUSED = 3
    STOPPED = 4
    FINISHED = 5
    READING = 6


class Hopper(IntEnum):
    EMPTY = 0
    LOADED = 1
    STOP_CARD = 2


class BackColour(IntEnum):
    """The backs of a pack; the field ``colour`` of PACK."""

    NONE = 0
    RED = 1
    BLUE = 2
    OTHER = 3
    UNKNOWN = 255


class Orientation(IntEnum):
    NORTH = 0
    TURNED_90 = 1
    TURNED_180 = 2
    TURNED_270 = 3
    UNKNOWN = 255


class CardCode(IntEnum):
    """The card codes that are no card of the pack; 0-51 are spade A..2, heart A..2, diamond A..2, club A..2."""

    UNKNOWN = 255
    JOKER = 254


class PocketCode(IntEnum):
    """The pocket code that is no pocket; 0-3 are N, E, S, W."""

    UNKNOWN = 255


class Reader(IntEnum):
    BARCODE = 1
    CAMERA = 2
    OTHER = 3


class Fault(IntEnum):
    NONE = 0
    JAM = 1
    MISFEED = 2
    DOUBLE_FEED = 3
    UNREADABLE = 4
    DUPLICATE_CARD = 5
    FOREIGN_CARD = 6
    GATE = 7
    POCKET_FULL = 8
    BOARD_PULLED = 9
    COVER_OPEN = 10
    HOPPER_EMPTY = 11
    EXTRA_CARD = 12
    HOST_LOST = 13
    SENSOR = 14
    STOPPED_BY_KEY = 15


class Segment(IntEnum):
    NONE = 0
    HOPPER = 1
    READER = 2
    GATES = 3
    POCKET = 4


class Action(IntEnum):
    """What the operator should do next."""

    NONE = 0
    INSERT_BOARD = 1
    REMOVE_BOARD = 2
    LOAD_PACK = 3
    CONFIRM_BOARD = 4
    RETURN_BOARD = 5
    COLLECT_CARDS = 6
    CLEAR_JAM = 7
    CLOSE_COVER = 8
    TURN_BOARD = 9
    REPLACE_PACK = 10
    SWAP_BOARD = 11
    FINISHED = 12
    WAIT = 13
    CHANGE_PACK = 14


class Sound(IntEnum):
    NONE = 0
    DONE = 1
    STOP = 2


class Admission(IntEnum):
    WAITING = 0
    ADMITTED = 1
    REFUSED = 2


class GoneReason(IntEnum):
    SILENT = 1
    LEFT = 2


class CallState(IntEnum):
    NONE = 0
    CALLED = 1
    COMING = 2
    DONE = 3


class RecordKind(IntEnum):
    PLAYED = 1
    PASSED_OUT = 2
    NOT_PLAYED = 3
    ERASED = 4


class ConfirmedBy(IntEnum):
    NOBODY = 0
    OPPONENTS = 1
    OPPONENTS_CODE = 2
    DIRECTOR = 3


class Strain(IntEnum):
    """Strains as the wire numbers them, lowest rank first (Law 18E)."""

    CLUBS = 1
    DIAMONDS = 2
    HEARTS = 3
    SPADES = 4
    NOTRUMP = 5


class Doubling(IntEnum):
    NONE = 0
    DOUBLED = 1
    REDOUBLED = 2


class RecordReason(IntEnum):
    CONFLICT = 1
    GAP = 2
    NOT_ADMITTED = 3
    CRC = 4
    AUTH = 5


class AskFor(IntEnum):
    """What ASK asks for."""

    TRAVELLER = 1
    RANKING = 2
    NAMES = 3
    RECAP = 4
    STANDINGS = 5
    CODES = 6


class DirectorAnswer(IntEnum):
    """Whether the director's menu opens at a terminal."""

    OPEN = 1
    WRONG = 2
    CLOSED = 3
    WAIT = 4


class NameHow(IntEnum):
    """What the text of a NAME_RECORD is."""

    NUMBER = 1
    NAME = 2
    GUEST = 3


class CheckCode(IntEnum):
    """What the host says of an entry; from ``SIT_OUT`` on only the director can let it pass."""

    FINE = 0
    CHECK = 1
    OUT_OF_ORDER = 2
    SIT_OUT = 3
    WRONG_PAIRS = 4
    NOT_IN_ROUND = 5
    ENTERED_BEFORE = 6
    PLAYED_BEFORE = 7


class TableRecordKind(IntEnum):
    """What a TABLE_RECORD carries."""

    AUCTION = 1
    PLAY = 2
    HANDS = 3
    POSITIONS = 4
    ACCEPTED = 5
    CODE = 6


class Positions(IntEnum):
    """How a table found its pairs seated."""

    AS_PLANNED = 1
    CHANGED = 2
    STAY = 3


class CallStanding(IntEnum):
    """What became of a call of an auction."""

    MADE = 0
    ACCEPTED = 1
    WITHDRAWN = 2
    CANCELLED = 3


class TableSetting(IntFlag):
    """What terminals ask and show; the field ``settings`` of TABLE_SETTINGS."""

    CONFIRM = 0x0001
    CONFIRM_CODE = 0x0002
    ORDER = 0x0004
    LEAD = 0x0008
    CHECKS = 0x0010
    TRAVELLER = 0x0020
    PERCENTAGES = 0x0040
    RANKING = 0x0080
    NAMES = 0x0100
    AUCTION = 0x0200
    PLAY = 0x0400
    HAND_ENTRY = 0x0800
    POSITIONS = 0x1000
    DIRECTOR_PIN = 0x2000


class Capability(IntFlag):
    """What a dealing machine can do; the field ``capabilities`` of HELLO."""

    ROUTES = 0x0001
    LABEL = 0x0002
    ORIENTATION = 0x0004
    EXIT = 0x0008
    READ_BACK = 0x0010
    DISPLAY = 0x0020
    KEY = 0x0040
    MARGIN = 0x0080
    STOP_CARD = 0x0100
    BEAM = 0x0200
    PACK_COLOUR = 0x0400


NUMBERS: Mapping[str, type[IntEnum] | type[IntFlag]] = MappingProxyType(
    {
        "role": Role,
        "nak_reason": NakReason,
        "refuse_reason": RefuseReason,
        "bye_reason": ByeReason,
        "outcome": Outcome,
        "command_reason": CommandReason,
        "machine_state": MachineStateCode,
        "hopper": Hopper,
        "orientation": Orientation,
        "back_colour": BackColour,
        "card": CardCode,
        "pocket": PocketCode,
        "reader": Reader,
        "fault": Fault,
        "segment": Segment,
        "action": Action,
        "sound": Sound,
        "admission": Admission,
        "gone_reason": GoneReason,
        "call_state": CallState,
        "record_kind": RecordKind,
        "confirmed_by": ConfirmedBy,
        "strain": Strain,
        "doubling": Doubling,
        "record_reason": RecordReason,
        "ask": AskFor,
        "name_how": NameHow,
        "director_answer": DirectorAnswer,
        "check_code": CheckCode,
        "table_record": TableRecordKind,
        "position": Positions,
        "call_standing": CallStanding,
        "table_setting": TableSetting,
        "capability": Capability,
    }
)
"""Name on the page -> enumeration."""
