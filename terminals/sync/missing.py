"""Records that are missing: asked for again, and given up once their terminal no longer owes them. Sans-IO.

Part of the collector.
"""

from __future__ import annotations

from collections.abc import Mapping

from firmware_bridge.wire.messages import RecordNak, Resend
from firmware_bridge.wire.numbers import RecordReason
from terminals.store.desk import Device
from terminals.sync.asking import Asking
from terminals.sync.contacts import Limits, Send, Work
from terminals.sync.jobs import Done, TakeHole
from terminals.sync.setup import EventSetup
from terminals.sync.terminal import Terminal, Track


class Missing(Asking):
    """journals: (device, journal) -> highest number without a gap, as the store has it."""

    def __init__(
        self,
        setup: EventSetup,
        roster: Mapping[int, Device],
        journals: Mapping[tuple[int, int], int],
        limits: Limits,
    ) -> None:
        super().__init__(setup, roster, limits)
        self._journals = dict(journals)
        self._missing: dict[tuple[int, int], None] = {}

    def next_deadline(self) -> float | None:
        """When ``tick`` has something to do."""
        times = [track.asked_at + self._limits.ask_every for _, track in self._open_questions()]
        return min(times, default=None)

    def tick(self, now: float) -> list[Send]:
        """Ask again for records that are missing; give up those that the terminal itself no longer owes."""
        out: list[Send] = []
        for terminal, track in self._open_questions():
            if now - track.asked_at >= self._limits.ask_every:
                out += self._ask(terminal, track, now)
        return out

    def _open_questions(self) -> list[tuple[Terminal, Track]]:
        found = []
        for device, journal in list(self._missing):
            terminal = self._by_device.get(device)
            track = None if terminal is None else terminal.track(journal)
            if terminal is None or track is None or not terminal.present or not terminal.admitted:
                continue
            if (track.expected >= track.unacked and not track.nearest) or track.conflict:
                del self._missing[device, journal]
                continue
            found.append((terminal, track))
        return found

    def _ask(self, terminal: Terminal, track: Track, now: float) -> list[Send]:
        """Ask for the record that is missing; give up those that the terminal no longer owes and no longer has.

        A terminal that sends what it has behind the record no longer has it; one that says nothing may only be hard to
        reach at the moment, so that takes longer.
        """
        self._missing[terminal.device, track.journal] = None
        if track.waiting:
            track.asked_at = now
            return []
        limits = self._limits
        if track.answered:
            track.asked += 1
        stored = self._journals.get((terminal.device, track.journal), 0)
        if track.asked >= limits.ask_times and track.expected <= min(stored, track.nearest - 1):
            # Its hello and our acknowledgement have crossed: it owed this when it spoke, and no longer has it. One that
            # owes another record under this number has it, and would have sent it.
            track.verified = min(stored, track.nearest - 1)
            track.advance(track.verified + 1)
            track.asked_at = now
            return [self._nak(terminal, track.journal, track.expected, RecordReason.GAP)]
        given_up = track.asked >= limits.ask_times or track.silent >= limits.silent_times
        owed = min(track.nearest or track.unacked, track.unacked)
        if given_up and owed > track.expected:
            self._put(TakeHole(terminal.device, track.journal, track.expected, owed - 1), terminal, track)
            track.heard()
            track.asked_at = now
            return []
        if not track.answered:
            track.silent += 1
        track.answered = False
        track.asked_at = now
        if track.nearest:
            return [self._nak(terminal, track.journal, track.expected, RecordReason.GAP)]
        return [self._to(terminal, Resend(terminal.device, track.journal, track.expected))]

    def _hole_kept(self, work: Work, hole: TakeHole, done: Done) -> None:
        name = (hole.device, hole.journal)
        self._journals[name] = max(self._journals.get(name, 0), done.upto)
        track = work.track
        # Up to what the store now has, and never past what the terminal still owes: that it must send itself.
        if track is not None:
            passed = min(done.upto, track.unacked - 1)
            track.heard()
            if track.expected <= passed:
                track.verified = passed
                track.advance(passed + 1)
                self._missing[hole.device, hole.journal] = None

    def _nak(self, terminal: Terminal, journal: int, seq: int, reason: RecordReason) -> Send:
        return self._to(terminal, RecordNak(terminal.device, journal, seq, int(reason)))
