"""What the collector remembers of one terminal while it runs: a few numbers, never its records.

A terminal's records are verified in the order of its journal, from the oldest that it says is not yet acknowledged. A
record is acknowledged only when every unacknowledged one before it was seen as well: a terminal whose memory went back
in time repeats numbers with other contents, and none of those may be covered by an acknowledgement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware_bridge.wire.messages import TermStatus

MAX_TRACKS = 4
"""Journals of one terminal that are followed at once; the oldest is forgotten (and found again from its records)."""


@dataclass(slots=True)
class Track:
    """One journal. verified: highest seq known to be stored as the terminal has it; expected: the next to take.

    waiting: records on their way to the disk. unacked: the oldest that the terminal itself says is not acknowledged,
    0 when it did not say. asked_at, asked: when the next record was asked for, and how often the terminal has answered
    with records behind it; silent: how often it did not answer at all. nearest: the lowest number that came behind it;
    answered: something behind it has come since it was asked for.
    """

    journal: int
    verified: int
    expected: int
    waiting: int = 0
    unacked: int = 0
    asked_at: float = -1e9
    asked: int = 0
    silent: int = 0
    answered: bool = False
    nearest: int = 0
    dropped: bool = False
    conflict: int = 0

    def heard(self) -> None:
        """The terminal holds the record that is wanted: what it was asked in vain counts no more."""
        self.asked = self.silent = 0
        self.answered = False

    def advance(self, following: int) -> None:
        """Another record is wanted now."""
        self.heard()
        self.expected, self.asked_at, self.nearest = following, -1e9, 0


@dataclass(slots=True)
class Pace:
    """How many of something a terminal may still send: ``burst`` at once, so many a second in the long run."""

    left: float = 0.0
    at: float = -1e9

    def take(self, now: float, per_second: float, burst: float) -> bool:
        """Count one; False when it is too much."""
        self.left = min(burst, self.left + (now - self.at) * per_second)
        self.at = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


@dataclass(slots=True)
class Terminal:
    """A terminal in contact. station: name of its base station; address: its number there."""

    station: str
    address: int
    device: int
    model: str = ""
    firmware: str = ""
    boot_id: int = 0
    former_boot_id: int = 0  # before it started anew, or of another terminal with the same id
    admitted: bool = False
    refused: bool = False
    section: int = 0
    table: int = 0
    status: TermStatus | None = None
    present: bool = True
    last_seen: float = 0.0
    credit: int = 1
    plan_sent: tuple[tuple[int, int, int], float] | None = None  # version, section and table; when
    asking: tuple[int, int] | None = None
    told: str = ""
    over_limit: int = 0
    nonce: bytes = b""  # of a try to open the director's menu
    questions: int = 0  # that wait for the store
    takes_settings: bool = True  # False for an older program, that has answered TABLE_SETTINGS by NAK
    menu_open: bool = False  # the director's menu was opened at it since it introduced itself
    tells_events: bool = False  # it says itself which of its records belong to which event
    parts: tuple[tuple[int, int, int], ...] = ()  # what it said while it was not admitted
    held_upto: int = 0  # highest number that it had given to a record when it sent its last status
    record_pace: Pace = field(default_factory=Pace)
    ask_pace: Pace = field(default_factory=Pace)
    call_pace: Pace = field(default_factory=Pace)
    tracks: dict[int, Track] = field(default_factory=dict)

    @property
    def seat(self) -> tuple[int, int] | None:
        """Section number and table at which it was admitted."""
        return (self.section, self.table) if self.admitted and self.table else None

    @property
    def waiting(self) -> int:
        """Its records on their way to the disk."""
        return sum(track.waiting for track in self.tracks.values())

    @property
    def current(self) -> Track | None:
        """The journal that it writes now: the one begun last."""
        return next(reversed(self.tracks.values()), None)

    def track(self, journal: int) -> Track | None:
        return self.tracks.get(journal)

    def begin_track(self, track: Track) -> Track:
        """Follow a journal from now on."""
        self.tracks.pop(track.journal, None)
        while len(self.tracks) >= MAX_TRACKS:
            idle = next((t for t in self.tracks.values() if not t.waiting), None)
            self.tracks.pop(next(iter(self.tracks)) if idle is None else idle.journal)
        self.tracks[track.journal] = track
        return track
