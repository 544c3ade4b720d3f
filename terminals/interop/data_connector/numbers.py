"""Numbers of the Data Connector protocol: commands, kinds of reply, kinds of error, codes inside its messages.

They are the numbers that the official client 1.2.1 uses; the printed guide differs in places.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Command(IntEnum):
    """What a request asks for."""

    NONE = 0
    CONNECT = 1
    STOP_BCS = 2
    DISCONNECT = 3
    PING = 4
    INITIALIZE_EVENT = 5
    UPDATE_MOVEMENT = 6
    ADD_SESSION = 7
    UPDATE_SCORING_GROUPS = 8
    PUT_TABLE_GRAPH = 9
    PUT_RESULTS = 10
    PUT_PLAYER_DATA = 11
    PUT_PARTICIPATIONS = 12
    PUT_HANDRECORDS = 13
    PUT_BRIDGEMATE2_SETTINGS = 14
    PUT_BRIDGEMATE3_SETTINGS = 15
    UPDATE_SESSION = 16
    UPDATE_SECTION = 17
    UPDATE_TABLE = 18
    POLL_NEW_RESULTS = 19
    POLL_NEW_PLAYER_DATA = 20
    POLL_NEW_PARTICIPATIONS = 21
    POLL_NEW_HANDRECORDS = 22
    POLL_ALL_RESULTS = 23
    POLL_ALL_PLAYER_DATA = 24
    POLL_ALL_PARTICIPATIONS = 25
    POLL_ALL_HANDRECORDS = 26
    ACCEPT_RESULTS = 27
    ACCEPT_PLAYER_DATA = 28
    ACCEPT_PARTICIPATIONS = 29
    ACCEPT_HANDRECORDS = 30
    CONTINUE_EVENT = 31
    GET_MOVEMENT = 32
    GET_ALL_MOVEMENTS = 33
    MANAGE_BCS = 34
    CLEAR_DATA = 35
    POLL_NEW_TD_CALLS = 36
    POLL_ALL_TD_CALLS = 37
    ACCEPT_TD_CALLS = 38
    PUT_TD_CALLS = 39
    TEST_DATA = 40


class DataType(IntEnum):
    """What a reply carries."""

    NONE = 0
    OK = 1
    WARNING = 3
    ERROR = 4
    PLAYER_DATA = 10
    PARTICIPATIONS = 11
    RESULTS = 12
    HANDRECORDS = 13
    MOVEMENT = 14
    SESSIONS = 16
    EVENT_INFO = 17
    ALL_SESSIONS_INFO = 18
    SCORING_FILE_LOCATION = 19
    TD_CALLS = 21


class ErrorType(IntEnum):
    """Why a request was refused."""

    NONE = 0
    BUSY = 1
    NO_DATA = 2
    NO_UPDATES = 3
    MOVEMENT = 4
    VALIDATION = 5
    ENTRY_UNKNOWN = 6
    EXCEPTION = 7
    NOT_IMPLEMENTED = 8
    WRONG_DATA_TYPE = 12
    UNKNOWN = 14


class InitFlag(IntFlag):
    """Sum in ``Commands`` of InitDTO and ContinueDTO."""

    START = 1
    RESET = 2
    READ = 4
    SHOW_IN_APP = 8
    MINIMISE = 16
    AUTO_SHUT_DOWN = 32
    LOG_DEBUG = 64
    CLEAR_DATA = 128


class GameType(IntEnum):
    PAIRS = 10
    INDIVIDUAL = 20
    TEAMS = 30


class CallStatus(IntEnum):
    """State of a call of the director."""

    LAUNCHED = 1
    IN_PROGRESS = 2
    RESOLVED = 3
    DEFERRED = 4


SCORING_METHODS = frozenset({10, 20, 21, 22, 25, 26, 27, 30, 31, 35, 36, 40, 50, 51, 60, 70})
"""10 match points; 20-27 Butler; 30-36 cross-IMPs; 40 IMPs, 50 and 51 victory points, 60 board-a-match, 70 Patton."""

QUEUES: dict[Command, tuple[str, bool]] = {
    Command.POLL_NEW_RESULTS: ("result", False),
    Command.POLL_NEW_PLAYER_DATA: ("player", False),
    Command.POLL_NEW_PARTICIPATIONS: ("seat", False),
    Command.POLL_NEW_HANDRECORDS: ("deal", False),
    Command.POLL_NEW_TD_CALLS: ("call", False),
    Command.POLL_ALL_RESULTS: ("result", True),
    Command.POLL_ALL_PLAYER_DATA: ("player", True),
    Command.POLL_ALL_PARTICIPATIONS: ("seat", True),
    Command.POLL_ALL_HANDRECORDS: ("deal", True),
    Command.POLL_ALL_TD_CALLS: ("call", True),
}
"""Poll command -> kind of item, and whether accepted ones are wanted too."""

ACCEPTS: dict[Command, str] = {
    Command.ACCEPT_RESULTS: "result",
    Command.ACCEPT_PLAYER_DATA: "player",
    Command.ACCEPT_PARTICIPATIONS: "seat",
    Command.ACCEPT_HANDRECORDS: "deal",
    Command.ACCEPT_TD_CALLS: "call",
}

QUEUE_TYPES: dict[str, DataType] = {
    "result": DataType.RESULTS,
    "player": DataType.PLAYER_DATA,
    "seat": DataType.PARTICIPATIONS,
    "deal": DataType.HANDRECORDS,
    "call": DataType.TD_CALLS,
}

NOT_SUPPORTED = frozenset(
    {
        Command.STOP_BCS,
        Command.PUT_TABLE_GRAPH,
        Command.UPDATE_SESSION,
        Command.UPDATE_SECTION,
        Command.UPDATE_TABLE,
        Command.TEST_DATA,
    }
)
"""Commands that the protocol names and nobody serves."""
