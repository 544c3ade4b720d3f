"""Control runs of the soak of results: each leaves one safeguard out, and must then lose, double or invent something.

A soak that stays green without a safeguard could not see that it is broken. Nothing of the production code is changed:
what a control leaves out is undone around it, in the store, in the step that stores a batch, or at the base stations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from drivers.api import BaseStation, StationEvent, StationIdentity, StationMessage
from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import Message, Record, Resend
from firmware_bridge.wire.record import record_crc
from terminals.store.values import RecordKey
from terminals.sync.event_store import EventStore
from terminals.sync.ingest import ingest
from terminals.sync.jobs import Done, Job, TakeRecord, Verdict
from terminals.sync.setup import EventSetup

T = TypeVar("T")

CONTROLS: Mapping[str, str] = MappingProxyType(
    {
        "commit": "records are acknowledged when they are handed to the store, not when they are on disk",
        "journal": "the key of a record is device and number; a memory that starts anew gives old numbers again",
        "crc": "a record is taken whatever its own checksum says",
        "key": "a record is taken whoever signed it",
        "repeat": "a record that comes again is stored again",
        "conflict": "another record under a known number is taken for the same one",
        "quarantine": "a record that makes no sense is an error, again and again",
        "resend": "the host never asks a terminal for records again; needs an older backup put back",
    }
)
"""Names for ``SoakOptions.without``, with what the run then does."""


class ForgetfulStore(EventStore):
    """``forgetful``: says "committed" at once and commits some minutes later, as a program without care would."""

    forgetful = False
    _open: Any = None
    _since = 0.0

    async def submit(self, job: Callable[[Connection], T]) -> T:
        if not self.forgetful:
            return await super().submit(job)
        now = asyncio.get_running_loop().time()
        if self._open is not None and now - self._since > 300:
            self._open.__exit__(None, None, None)
            self._open = None
        if self._open is None:
            self._open, self._since = self.database.transaction(), now
            self._connection = self._open.__enter__()
        return job(self._connection)

    def die(self) -> None:
        """The process is gone; an open transaction with it."""
        if self._open is not None:
            error = RuntimeError("killed")
            try:
                self._open.__exit__(RuntimeError, error, None)
            except RuntimeError:
                pass
        self.close()


def without_journal(connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
    """The key of a record is (device, seq), and whatever has a known key is taken for a repetition."""
    blind: list[Job] = []
    for job in jobs:
        if isinstance(job, TakeRecord):
            key = RecordKey(job.raw.key.device, 0, job.raw.key.seq)
            job = replace(job, raw=replace(job.raw, key=key))
        blind.append(job)
    done = ingest(connection, setup, blind)
    return [replace(one, verdict=Verdict.KNOWN) if one.verdict is Verdict.CONFLICT else one for one in done]


class StoringAgain:
    """Every record that comes is stored under a key of its own: nobody looks whether it is there already.

    ``known``: that key -> the key that the terminal gave it.
    """

    def __init__(self) -> None:
        self.known: dict[RecordKey, RecordKey] = {}

    def __call__(self, connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
        blind: list[Job] = []
        for job in jobs:
            if isinstance(job, TakeRecord):
                key = RecordKey(job.raw.key.device, len(self.known) + 1, 1)
                self.known[key] = job.raw.key
                job = replace(job, raw=replace(job.raw, key=key))
            blind.append(job)
        done = ingest(connection, setup, blind)
        return [
            replace(one, upto=job.raw.key.seq) if isinstance(job, TakeRecord) else one
            for one, job in zip(done, jobs, strict=True)
        ]


def without_conflict(connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
    """Same key, other body: said to be known, and so acknowledged."""
    done = ingest(connection, setup, jobs)
    return [replace(one, verdict=Verdict.KNOWN) if one.verdict is Verdict.CONFLICT else one for one in done]


def without_quarantine(connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
    """What makes no sense is an error, and nothing of its batch is kept."""
    done = ingest(connection, setup, jobs)
    if any(one.verdict is Verdict.QUARANTINED for one in done):
        raise ValueError("a record that makes no sense")
    return done


class _Around:
    """A base station with something changed on the way; the rest goes through."""

    def __init__(self, inner: BaseStation) -> None:
        self.inner = inner

    @property
    def url(self) -> str:
        return self.inner.url

    async def connect(self, timeout: float) -> StationIdentity:
        return await self.inner.connect(timeout)

    async def send(self, address: int, message: Message) -> None:
        await self.inner.send(address, message)

    async def next_event(self) -> StationEvent:
        return await self.inner.next_event()

    async def close(self) -> None:
        await self.inner.close()


class Credulous(_Around):
    """Whatever a record says, its checksum is right; ``ids``: device at each address."""

    def __init__(self, inner: BaseStation, ids: Callable[[int], int]) -> None:
        super().__init__(inner)
        self._ids = ids

    async def next_event(self) -> StationEvent:
        event = await self.inner.next_event()
        if isinstance(event, StationMessage) and isinstance(event.message, Record):
            told = event.message
            crc = record_crc(self._ids(event.address), told.journal_id, told.seq, told.body)
            return replace(event, message=replace(told, crc=crc))
        return event


class NeverAsking(_Around):
    """Records are never asked for again."""

    async def send(self, address: int, message: Message) -> None:
        if not isinstance(message, Resend):
            await self.inner.send(address, message)
