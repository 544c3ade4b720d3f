"""The numbers of the protocol (docs/protocol.md, sections 4 and 7), as the devices know them."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    HELLO = 0x01
    ACK = 0x02
    PING = 0x03
    NAK = 0x04
    REFUSE = 0x05
    BYE = 0x06
    ARM = 0x20
    START = 0x21
    PAUSE = 0x22
    RESUME = 0x23
    ABORT = 0x24
    READ_BOARD = 0x25
    REPORT = 0x26
    SNAPSHOT = 0x27
    DISPLAY = 0x28
    COMMAND_RESULT = 0x2F
    MACHINE_INFO = 0x30
    MACHINE_STATE = 0x31
    BOARD = 0x32
    CONFIRMED = 0x33
    CARD = 0x34
    DONE = 0x35
    FAULT = 0x36
    REPORT_DATA = 0x37
    HOPPER = 0x38
    PACK = 0x39
    TERM_HELLO = 0x60
    ADMIT = 0x61
    TERM_STATUS = 0x62
    TABLE_PLAN = 0x63
    TERM_GONE = 0x64
    STATION_STATUS = 0x65
    TEXT = 0x66
    CALL = 0x67
    CALL_STATE = 0x68
    TERM_EVENTS = 0x69
    TABLE_SETTINGS = 0x6A
    RECORD = 0x70
    RECORD_ACK = 0x72
    RECORD_NAK = 0x73
    RESEND = 0x74
    CREDIT = 0x75
    NAME_RECORD = 0x76
    TABLE_RECORD = 0x77
    ENTRY_CHECK = 0x78
    ENTRY_CHECKED = 0x79
    ASK = 0x7A
    FEEDBACK = 0x7B
    RANKING = 0x7C
    NAMES = 0x7D
    NAME_SEARCH = 0x7E
    NAME_FOUND = 0x7F
    DIRECTOR_ASK = 0x80
    DIRECTOR_NONCE = 0x81
    DIRECTOR_AUTH = 0x82
    DIRECTOR_OPEN = 0x83
    TAKE_OVER = 0x84
    CODES = 0x85
    RECAP = 0x86
    STANDINGS = 0x87


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


class Reason(IntEnum):
    """command_reason"""

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


class State(IntEnum):
    """machine_state"""

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
    NONE = 0
    RED = 1
    BLUE = 2
    OTHER = 3
    UNKNOWN = 255


class FaultCode(IntEnum):
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


class Admission(IntEnum):
    WAITING = 0
    ADMITTED = 1
    REFUSED = 2


class GoneReason(IntEnum):
    SILENT = 1
    LEFT = 2


class RecordKind(IntEnum):
    PLAYED = 1
    PASSED_OUT = 2
    NOT_PLAYED = 3
    ERASED = 4


class RecordReason(IntEnum):
    CONFLICT = 1
    GAP = 2
    NOT_ADMITTED = 3
    CRC = 4
    AUTH = 5


class CallState(IntEnum):
    NONE = 0
    CALLED = 1
    COMING = 2
    DONE = 3


class Ask(IntEnum):
    TRAVELLER = 1
    RANKING = 2
    NAMES = 3
    RECAP = 4
    STANDINGS = 5
    CODES = 6


class TableRecord(IntEnum):
    """table_record"""

    AUCTION = 1
    PLAY = 2
    HANDS = 3
    POSITIONS = 4
    ACCEPTED = 5
    CODE = 6


class Positions(IntEnum):
    """position"""

    AS_PLANNED = 1
    CHANGED = 2
    STAY = 3


class Setting(IntEnum):
    """table_setting"""

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


class DirectorAnswer(IntEnum):
    OPEN = 1
    WRONG = 2
    CLOSED = 3
    WAIT = 4


class NameHow(IntEnum):
    NUMBER = 1
    NAME = 2
    GUEST = 3


class CheckCode(IntEnum):
    """From SIT_OUT on only the director can let an entry pass."""

    FINE = 0
    CHECK = 1
    OUT_OF_ORDER = 2
    SIT_OUT = 3
    WRONG_PAIRS = 4
    NOT_IN_ROUND = 5
    ENTERED_BEFORE = 6
    PLAYED_BEFORE = 7


class Capability(IntEnum):
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


UNKNOWN = 255  # card.unknown, pocket.unknown, orientation.unknown, battery and signal not known
JOKER = 254
READER_BARCODE, READER_CAMERA, READER_OTHER = 1, 2, 3
CONFIRMED_BY_NOBODY = 0
CONFIRMED_BY_OPPONENTS = 1
CONFIRMED_BY_CODE = 2
CONFIRMED_BY_DIRECTOR = 3
