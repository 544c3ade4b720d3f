"""What the machine's firmware keeps through a power cut: who it is, its last commands, and where it put which card."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field

from hwsim.memory import Media
from hwsim.numbers import State

COMMANDS = 8
JOBS = 4
_ENTRY = struct.Struct("<BIBB")
_BEGIN, _CARD, _STATE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Command:
    id: int
    crc: int
    outcome: int
    reason: int


@dataclass(slots=True)
class PastJob:
    state: int = State.ARMED
    placed: list[tuple[int, int]] = field(default_factory=list)  # card as read, pocket


class NonVolatile:
    """Two-slot memory for identity and commands; a log, rewritten at every new job, for the cards of the last jobs."""

    def __init__(self, media: Media, device_id: int) -> None:
        self._memory = media.memory("machine")
        self._log = media.log("machine-jobs")
        self.device_id = device_id
        self.boot_count = 0
        self.commands: list[Command] = []  # newest first
        stored = self._memory.load()
        if stored is not None:
            values = json.loads(stored)
            self.device_id, self.boot_count = values["device_id"], values["boots"]
            self.commands = [Command(*row) for row in values["commands"]]
        self.jobs: dict[int, PastJob] = {}
        for entry in self._log.load():
            self._apply(entry)
        for job in self.jobs.values():
            if job.state in (State.ARMED, State.DEALING, State.PAUSED, State.READING):
                job.state = State.STOPPED

    def _save(self) -> None:
        rows = [[c.id, c.crc, c.outcome, c.reason] for c in self.commands]
        values = {"device_id": self.device_id, "boots": self.boot_count, "commands": rows}
        self._memory.save(json.dumps(values).encode())

    def count_boot(self) -> None:
        self.boot_count += 1
        self._save()

    def remember(self, command: Command) -> None:
        """Must be called before the command is acted on."""
        self.commands.insert(0, command)
        del self.commands[COMMANDS:]
        self._save()

    def recall(self, command_id: int) -> Command | None:
        return next((c for c in self.commands if c.id == command_id), None)

    def _apply(self, entry: bytes) -> None:
        what, job, first, second = _ENTRY.unpack(entry)
        if what == _BEGIN:
            self.jobs.pop(job, None)
            self.jobs[job] = PastJob(first)
        elif what == _CARD:
            self.jobs[job].placed.append((first, second))
        else:
            self.jobs[job].state = first

    def begin_job(self, job: int, state: int) -> None:
        kept = [key for key in self.jobs if key != job][-(JOBS - 1) :]
        self.jobs = {key: self.jobs[key] for key in kept}
        entries = []
        for key, past in self.jobs.items():
            entries.append(_ENTRY.pack(_BEGIN, key, past.state, 0))
            entries += [_ENTRY.pack(_CARD, key, card, pocket) for card, pocket in past.placed]
        entries.append(_ENTRY.pack(_BEGIN, job, state, 0))
        self._log.rewrite(entries)
        self.jobs[job] = PastJob(state)

    def place(self, job: int, card: int, pocket: int) -> None:
        self._log.append(_ENTRY.pack(_CARD, job, card, pocket))
        self.jobs[job].placed.append((card, pocket))

    def set_state(self, job: int, state: int) -> None:
        if job in self.jobs and self.jobs[job].state != state:
            self._log.append(_ENTRY.pack(_STATE, job, state, 0))
            self.jobs[job].state = state
