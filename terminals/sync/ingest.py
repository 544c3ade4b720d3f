"""What one batch from the terminals does to the store, inside ONE transaction: all of it is kept, or nothing.

For each record: the raw record under its key, the events that it means, the current result of its play, outbox rows.
The caller commits, and only then may anything be acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firmware_bridge.db import Connection
from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.wire.messages import NameRecord
from firmware_bridge.wire.numbers import RecordKind
from terminals.store import desk, ledger, results
from terminals.store.desk import Device, DeviceState
from terminals.store.values import (
    EventKind,
    RecordKey,
    RecordState,
    ResultEvent,
    device_hex,
)
from terminals.sync import take_table
from terminals.sync.jobs import (
    Done,
    Job,
    TakeAlarm,
    TakeDesk,
    TakeDevice,
    TakeHole,
    TakeJournal,
    TakeParts,
    TakeRecord,
    TakeTable,
    Verdict,
)
from terminals.sync.people import person_of
from terminals.sync.period import is_final, locked_tables
from terminals.sync.projection import AFTER_FINAL, LOCKED_TABLE, resolve, same_result
from terminals.sync.questions import TakeQuestion, answer
from terminals.sync.recorded import interpret_table
from terminals.sync.roster import take_over
from terminals.sync.sense import Meaning, Senseless, interpret, place_of
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter, setup_from_json


def ingest(connection: Connection, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
    """Apply ``jobs`` in order; one answer for each. Runs inside a transaction of the caller."""
    batch = _Batch(connection, setup)
    done = [batch.apply(job) for job in jobs]
    batch.finish()
    return done


@dataclass(slots=True)
class _Home:
    """An event that records belong to. holding: results are final; tables that are locked; None before it was asked."""

    event: str
    setup: EventSetup
    holding: tuple[bool, frozenset[tuple[str, int]]] | None = None


class _Batch:
    def __init__(self, connection: Connection, setup: EventSetup) -> None:
        self._connection = connection
        self._setup = setup
        self._event = desk.event_hex(setup.id)
        self._homes: dict[str, _Home | None] = {self._event: _Home(self._event, setup)}
        self._events_of: dict[tuple[int, int], list[tuple[int, str]]] = {}
        self._upto: dict[tuple[int, int], int] = {}
        self._changed: dict[tuple[int, int], int] = {}

    def apply(self, job: Job) -> Done:
        if isinstance(job, TakeRecord):
            return self._record(job)
        if isinstance(job, TakeDevice):
            return self._device(job.device)
        if isinstance(job, TakeAlarm):
            ledger.raise_alarm(self._connection, job.kind, job.subject, job.text)
        elif isinstance(job, TakeJournal):
            # A service that waits for its event has one without sections; nothing can ever belong to that.
            if self._setup.sections:
                ledger.begin_in(self._connection, job.device, job.journal, self._event, job.next_seq)
            self._events_of.pop((job.device, job.journal), None)
        elif isinstance(job, TakeParts):
            self._parts(job)
        elif isinstance(job, TakeTable):
            return self._take_over(job)
        elif isinstance(job, TakeDesk):
            desk.append_desk(
                self._connection, self._event, desk.DeskEvent(job.kind, job.data, actor=job.actor, wall=job.wall)
            )
        elif isinstance(job, TakeQuestion):
            return self._question(job)
        else:
            return self._hole(job)
        return Done()

    def finish(self) -> None:
        for (device, journal), upto in self._changed.items():
            ledger.set_upto(self._connection, device, journal, upto)

    # --- records ---

    def _record(self, job: TakeRecord) -> Done:
        key = job.raw.key
        name = (key.device, key.journal)
        upto = self._upto.get(name)
        if upto is None:
            upto = self._upto[name] = ledger.upto(self._connection, key.device, key.journal)
        late = False
        if key.seq != upto + 1:
            known = ledger.body_of(self._connection, key)
            if known is not None:
                if known == job.raw.body:
                    return Done(Verdict.KNOWN, upto)
                self._conflict(job)
                return Done(Verdict.CONFLICT, upto)
            if key.seq > upto:
                return Done(Verdict.GAP, upto)
            late = True  # it fills a hole that had been given up
        reason = self._keep(job)
        if not late:
            upto = self._upto[name] = self._changed[name] = key.seq
        return Done(Verdict.QUARANTINED if reason else Verdict.STORED, upto)

    def _home(self, key: RecordKey) -> _Home | None:
        """The event that a record belongs to; None when the store no longer has it."""
        name = (key.device, key.journal)
        if name not in self._events_of:
            self._events_of[name] = ledger.boundaries(self._connection, key.device, key.journal)
        event = self._event
        for first, of in self._events_of[name]:
            if key.seq >= first:
                event = of
        if event not in self._homes:
            row = desk.load_event(self._connection, int(event, 16))
            setup = None if row is None else setup_from_json(row.id, row.name, row.plan_version, row.setup)
            self._homes[event] = None if setup is None else _Home(event, setup)
        return self._homes[event]

    def _keep(self, job: TakeRecord) -> str:
        """Store a record and what it means; gives the reason when it goes into quarantine."""
        reason = ""
        events: list[ResultEvent] = []
        home = self._home(job.raw.key)
        event = self._event if home is None else home.event
        try:
            if home is None:
                raise Senseless("its event is not in the store any more")
            # Tonight's table says nothing about a record of another evening.
            seat = job.seat if home.event == self._event else None
            if job.name is not None:
                self._name(job.name, home)
            elif job.table is not None:
                told = interpret_table(job.table, job.raw.key, home.setup, job.wall)
                take_table.keep(self._connection, home.setup, told, job.deal)
            else:
                events = self._events(job, interpret(job.raw.body, job.raw.key.seq, home.setup, seat), home)
        except Senseless as senseless:
            reason = senseless.reason
        except Exception as error:
            # A fault of our own in reading one record must not keep a terminal from sending the next.
            if type(error).__module__.split(".")[0] in ("sqlite3", "apsw"):
                raise
            reason = f"it could not be read ({type(error).__name__})"
        state = RecordState.QUARANTINED if reason else RecordState.STORED
        ledger.insert(self._connection, job.raw, event, state, reason)
        if reason and job.table is not None:
            # The ledger has its hash only: what it said is kept beside it for whoever looks into it.
            take_table.set_aside(self._connection, event, job.table, job.raw.key, job.wall)
        plays = {item.play: results.of_play(self._connection, event, item.play) for item in events}
        for item in events:
            number = results.append(self._connection, event, item)
            plays[item.play].append(replace(item, number=number))
        for play, history in plays.items():
            results.put_current(self._connection, event, resolve(play, history))
        if home is not None and events:
            take_table.compare(self._connection, home.setup, events[-1])
        if reason:
            key = job.raw.key
            subject = f"{key.device_hex} {key.journal_hex} {key.seq}"
            text = f"A record of {_place(job)} was set aside: {reason}. Ask the table what it played."
            ledger.raise_alarm(self._connection, "quarantine", subject, text)
        return reason

    def _name(self, record: NameRecord, home: _Home) -> None:
        """The words go to the person, outside the ledger; who is told of it sees only where somebody sits."""
        person = person_of(self._connection, home.setup, record)
        desk.save_person(self._connection, home.event, person)
        told = {"section": person.section, "pair": person.pair, "seat": person.seat, "table": record.table}
        desk.append_desk(self._connection, home.event, desk.DeskEvent("name", told))

    def _held(self, meaning: Meaning, home: _Home) -> tuple[str, ...]:
        """Warnings that keep a result from counting by itself."""
        if home.holding is None:
            home.holding = (is_final(self._connection, home.event), locked_tables(self._connection, home.event))
        final, locked = home.holding
        out = (AFTER_FINAL,) if final else ()
        return (*out, LOCKED_TABLE) if (meaning.play.section, meaning.table) in locked else out

    def _events(self, job: TakeRecord, meaning: Meaning, home: _Home) -> list[ResultEvent]:
        key = job.raw.key
        event = ResultEvent(
            kind=EventKind.ENTERED,
            play=meaning.play,
            content=meaning.content,
            round=meaning.round,
            table=meaning.table,
            key=key,
            root=key.seq,
            confirmed=meaning.confirmed,
            warnings=meaning.warnings + self._held(meaning, home),
            wall=job.wall,
        )
        if not meaning.replaces:
            return [event]
        erases = meaning.kind is RecordKind.ERASED
        named = RecordKey(key.device, key.journal, key.seq - meaning.replaces)
        made = results.of_record(self._connection, home.event, named)
        if made is None:
            kept = ledger.state_of(self._connection, named)
            if kept is not None and kept[1] != home.event:
                raise Senseless("it stands for a record of another event")
            if kept is not None and kept[0] is RecordState.STORED:
                raise Senseless("it stands for a record that is no result")
            if kept is not None and kept[0] is RecordState.QUARANTINED:
                if erases:
                    raise Senseless("it erases a record that is in quarantine")
                return [event]
            # The named record is in a hole: the entry is known by it all the same.
            return [replace(event, kind=EventKind.ERASED if erases else EventKind.CORRECTED, root=named.seq)]
        before = results.of_entry(self._connection, home.event, key.device_hex, key.journal, made.root) or made
        if erases:
            return [replace(event, kind=EventKind.ERASED, play=before.play, root=made.root)]
        if before.play != meaning.play:
            held = self._held(meaning, home)
            left = replace(event, kind=EventKind.LEFT, play=before.play, content=None, root=made.root, warnings=held)
            return [left, replace(event, kind=EventKind.CORRECTED, root=made.root)]
        only_confirmed = (
            meaning.confirmed
            and not before.confirmed
            and before.kind is not EventKind.ERASED
            and same_result(before.content, meaning.content)
        )
        kind = EventKind.CONFIRMED if only_confirmed else EventKind.CORRECTED
        return [replace(event, kind=kind, root=made.root)]

    def _conflict(self, job: TakeRecord) -> None:
        key = job.raw.key
        if ledger.insert_conflict(self._connection, job.raw, self._event):
            ledger.raise_alarm(
                self._connection,
                "conflict",
                f"{key.device_hex} {key.journal_hex} {key.seq}",
                f"A terminal sent another record ({_place(job)}) under a number that is taken. Both are"
                " kept, and it sends this one again under a new number. Compare this table with its slips.",
            )

    # --- the rest ---

    def _parts(self, job: TakeParts) -> None:
        by_journal: dict[int, list[tuple[int, str]]] = {}
        for journal, first, event in job.parts:
            by_journal.setdefault(journal, []).append((max(1, first), desk.event_hex(event)))
        for journal, parts in by_journal.items():
            ledger.set_boundaries(self._connection, job.device, journal, parts)
            self._events_of.pop((job.device, journal), None)

    def _take_over(self, job: TakeTable) -> Done:
        try:
            devices = take_over(self._connection, self._setup, job.device, job.section, job.table)
        except FirmwareBridgeError as error:
            return Done(refused=error.what)
        old = next((device_hex(one.id) for one in devices if one.id != job.device), "")
        place = {"section": job.section, "table": job.table, "old": old, "new": device_hex(job.device)}
        desk.append_desk(self._connection, self._event, desk.DeskEvent("take-over", place, wall=job.wall))
        return Done(devices=tuple(devices))

    def _question(self, job: TakeQuestion) -> Done:
        try:
            reply = answer(self._connection, self._setup, job)
        except Exception as error:
            # A question that we can't answer must not hold up the records beside it; the terminal goes on alone.
            if type(error).__module__.split(".")[0] in ("sqlite3", "apsw"):
                raise
            what = f"A terminal's question could not be answered ({type(error).__name__})."
            ledger.raise_alarm(self._connection, "question", type(job.message).__name__, what)
            return Done()
        return Done(answers=reply.messages, budget=reply.budget)

    def _device(self, device: Device) -> Done:
        holder = desk.holder(self._connection, device.section, device.table)
        if device.state is DeviceState.ADMITTED and device.table and holder not in (None, device.id):
            return Done(refused=device_hex(holder or 0))
        desk.save_device(self._connection, device)
        return Done()

    def _hole(self, job: TakeHole) -> Done:
        name = (job.device, job.journal)
        upto = self._upto.get(name)
        if upto is None:
            upto = ledger.upto(self._connection, job.device, job.journal)
        if job.first != upto + 1 or job.last < job.first:
            return Done(upto=upto)  # it was filled meanwhile
        ledger.declare_hole(self._connection, job.device, job.journal, job.first, job.last)
        self._upto[name] = self._changed[name] = job.last
        count = job.last - job.first + 1
        ledger.raise_alarm(
            self._connection,
            "not-recoverable",
            f"{device_hex(job.device)} {job.journal:08x} {job.first}-{job.last}",
            f"{count} record{'s' if count > 1 else ''} that this terminal had sent before can't be recovered from it."
            " Compare its results with the paper slips and enter what is missing.",
        )
        return Done(upto=job.last)


def _place(job: TakeRecord) -> str:
    """Where a record comes from, for people; never what was played, nor who."""
    if job.table is not None:
        told = job.table
        known = 1 <= told.section <= MAX_SECTIONS
        section = section_letter(told.section) if known else f"section {told.section} "
        return f"table {section}{told.table}, round {told.round}, board {told.board} (beside its result)"
    if job.name is None:
        return place_of(job.raw.body)
    known = 1 <= job.name.section <= MAX_SECTIONS
    section = section_letter(job.name.section) if known else f"section {job.name.section} "
    return f"a name at table {section}{job.name.table}"
