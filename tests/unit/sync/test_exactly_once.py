"""T7: terminals, batteries, hosts and backups misbehave in any order; afterwards the invariants hold.

I1 what a screen called received is in the ledger. I2 each key once, never two bodies without an alarm. I3 no
acknowledgement before its commit. I4 record, events, projection and outbox all or none. I5 no gap below the
acknowledged mark. I6 the current result of a play (board, section, both pairs, instance) is the last correction in
journal order. I8 after an older backup, terminals send again or the operator is told. I9 memory stays bounded.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sync_fakes import CLUB, ERASED, FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import RecordAck
from firmware_bridge.wire.record import RecordBody
from terminals.result import Played
from terminals.store import desk, ledger, results
from terminals.store.desk import Device, DeviceState
from terminals.store.values import RecordState
from terminals.sync.contacts import Limits
from terminals.sync.rebuild import states_of

LIMITS = Limits(queue=24, batch=5, credit=3, per_terminal=6)
TABLES = 3


class Killed(Exception):
    """The process ends between two steps."""


class Evening(RuleBasedStateMachine):
    """Three tables; messages move only when a rule lets them, and any of them may be lost."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="evening-"))
        self.generation = 0
        self.shown: dict[tuple[int, int, int], bytes] = {}
        self.forgiven: set[tuple[int, int, int]] = set()
        self.forgotten: set[tuple[int, int, int]] = set()
        self.backups: list[tuple[Path, set[tuple[int, int, int]]]] = []
        self.devices = 0
        self.committed: set[tuple[int, int, int]] = set()
        self.host = self.open_host(self.folder / "events.db")
        self.current: dict[int, FakeTerminal] = {}
        self.entered: dict[tuple[int, int], list[int]] = {}
        for table in range(1, TABLES + 1):
            self.new_terminal(table)

    def open_host(self, path: Path) -> FakeHost:
        return FakeHost(path, an_event(CLUB), limits=LIMITS)

    def new_terminal(self, table: int) -> None:
        self.devices += 1
        terminal = FakeTerminal(0xA000 + self.devices, table, table=table, ring=5, shown=self.shown)
        self.current[table] = terminal
        self.host.introduce(terminal)

    # --- players ---

    @rule(table=st.integers(1, TABLES), number=st.integers(1, 7), place=st.integers(0, 3), tricks=st.integers(5, 11))
    def enter(self, table: int, number: int, place: int, tricks: int) -> None:
        seating = CLUB.at(number, table)
        if seating is None:
            return
        terminal = self.current[table]
        content = body(
            table=table, round=number, ns=seating.ns, ew=seating.ew, board=seating.boards[place], tricks=tricks
        )
        terminal.enter(content)

    @rule(table=st.integers(1, TABLES), back=st.integers(1, 6), tricks=st.integers(5, 11), erase=st.booleans())
    def correct(self, table: int, back: int, tricks: int, erase: bool) -> None:
        terminal = self.current[table]
        log = terminal.log.get(terminal.journal, {})
        seq = terminal.next_seq.get(terminal.journal, 1)
        named = log.get(seq - back)
        if named is None:
            return
        old = RecordBody.unpack(named)
        kind = {"kind": ERASED} if erase else {"tricks": tricks}
        terminal.enter(body(table=table, round=old.round, ns=old.ns, ew=old.ew, board=old.board, replaces=back, **kind))

    # --- the way to the host ---

    @rule(table=st.integers(1, TABLES), lose=st.booleans())
    def send(self, table: int, lose: bool) -> None:
        terminal = self.current[table]
        for message in terminal.to_send():
            if not lose:
                self.host.give(terminal, message)

    @rule()
    def arrive(self) -> None:
        self.host.run()

    @rule()
    def commit(self) -> None:
        self.host.pump()

    @rule()
    def time_passes(self) -> None:
        self.host.wait(3)

    # --- trouble ---

    @rule(stage=st.sampled_from(["before", "after-commit"]))
    def crash_host(self, stage: str) -> None:
        def kill() -> None:
            raise Killed

        if stage == "after-commit":
            try:
                self.host.pump(after_commit=kill)
            except Killed:
                pass
        self.restart(self.host.path)

    def restart(self, path: Path) -> None:
        self.host.close()
        terminals = dict(self.host.terminals)
        self.host = self.open_host(path)
        # The director looks at the roster again: an older backup knows terminals that were replaced since.
        for device in list(self.host.collector.roster.values()):
            if device.id not in {terminal.device for terminal in self.current.values()}:
                self.refuse(device.id)
        for terminal in terminals.values():
            self.host.introduce(terminal)

    def refuse(self, device: int) -> None:
        refused = Device(device, DeviceState.REFUSED)
        self.host.ask(lambda connection: desk.save_device(connection, refused))
        self.host.collector.set_device(refused, self.host.now)

    @rule(table=st.integers(1, TABLES))
    def crash_terminal(self, table: int) -> None:
        self.host.introduce(self.current[table])

    @rule(table=st.integers(1, TABLES))
    def swap_battery(self, table: int) -> None:
        self.current[table].swap_battery()
        self.host.introduce(self.current[table])

    @rule(table=st.integers(1, TABLES), keep=st.integers(0, 4))
    def memory_goes_back(self, table: int, keep: int) -> None:
        """A bad memory chip: the last records are forgotten, their numbers are given again."""
        terminal = self.current[table]
        log = terminal.log.get(terminal.journal, {})
        for seq in [seq for seq in log if seq > keep]:
            del log[seq]
        last = terminal.next_seq.get(terminal.journal, 1) - 1
        self.forgotten |= {(terminal.device, terminal.journal, seq) for seq in range(keep + 1, last + 1)}
        terminal.next_seq[terminal.journal] = min(keep + 1, terminal.next_seq.get(terminal.journal, 1))
        terminal.acked[terminal.journal] = min(keep, terminal.acked.get(terminal.journal, 0))
        self.host.introduce(terminal)

    @rule(table=st.integers(1, TABLES))
    @precondition(lambda self: self.devices < 12)
    def replace_terminal(self, table: int) -> None:
        self.refuse(self.current[table].device)
        self.new_terminal(table)

    @rule()
    def full_disk(self) -> None:
        self.host.broken = "the disk is full"
        self.host.run()
        assert self.host.collector.credit == 0 or not self.host.collector.trouble
        self.host.recover()

    @rule()
    @precondition(lambda self: len(self.backups) < 3)
    def back_up(self) -> None:
        path = self.folder / f"backup-{len(self.backups)}.db"
        self.host.database.backup(path)
        self.backups.append((path, set(self.keys())))

    @rule(data=st.data())
    @precondition(lambda self: self.backups)
    def restore_backup(self, data: st.DataObject) -> None:
        path, _ = data.draw(st.sampled_from(self.backups))
        self.generation += 1
        copy = self.folder / f"restored-{self.generation}.db"
        shutil.copy(path, copy)
        self.restart(copy)
        self.host.wait(12)
        self.i8_after_an_older_backup_all_is_back_or_told()

    def i8_after_an_older_backup_all_is_back_or_told(self) -> None:
        """What is not back by now must have been told to the operator, journal by journal."""
        present = set(self.keys())
        holes = self.host.ask(ledger.holes)
        alive = {terminal.device: terminal.journal for terminal in self.current.values()}
        for key in self.shown:
            if key in present or key in self.forgiven:
                continue
            told = any(key[:2] == hole[:2] and hole[2] <= key[2] <= hole[3] for hole in holes)
            # The terminal, its journal or its memory of it is no longer there to be asked: nobody could tell.
            gone = alive.get(key[0]) != key[1] or key in self.forgotten
            assert told or gone, f"{key} is gone and nobody was told"
            self.forgiven.add(key)

    # --- what must be true ---

    def keys(self) -> dict[tuple[int, int, int], bytes]:
        return {
            (record.raw.key.device, record.raw.key.journal, record.raw.key.seq): record.raw.body
            for record in self.host.records()
            if record.state is not RecordState.CONFLICT
        }

    @invariant()
    def i1_received_is_stored(self) -> None:
        found = self.keys()
        for key, content in self.shown.items():
            if key not in self.forgiven:
                assert found.get(key) == content, key

    @invariant()
    def i2_each_key_once(self) -> None:
        records = self.host.records()
        keys = [record.raw.key for record in records if record.state is not RecordState.CONFLICT]
        assert len(keys) == len(set(keys))
        conflicts = [record for record in records if record.state is RecordState.CONFLICT]
        alarms = [alarm for alarm in self.host.alarms() if alarm.kind == "conflict"]
        assert bool(conflicts) == bool(alarms)

    @invariant()
    def i3_no_acknowledgement_before_its_commit(self) -> None:
        """Seen from outside: what an acknowledgement newly covers has been committed by a step before it."""
        committed: set[tuple[int, int, int]] = set(self.committed)
        for what, thing in self.host.log:
            if what == "commit":
                assert isinstance(thing, list)
                committed |= {(key.device, key.journal, key.seq) for key in thing}
            elif what == "out" and isinstance(thing, RecordAck):
                key = (thing.device_id, thing.journal_id, thing.upto)
                assert key in committed or self.in_hole(*key), f"{key} was acknowledged and is not on disk"
        self.committed = set(self.keys())

    @invariant()
    def i5_no_gap_below_what_is_acknowledged(self) -> None:
        found = self.keys()
        for what, thing in self.host.log:
            if what == "out" and isinstance(thing, RecordAck):
                for seq in range(1, thing.upto + 1):
                    key = (thing.device_id, thing.journal_id, seq)
                    assert key in found or self.in_hole(*key), f"a gap at {key}"
        self.host.log.clear()

    def in_hole(self, device: int, journal: int, seq: int) -> bool:
        holes = self.host.ask(ledger.holes)
        return any((device, journal) == hole[:2] and hole[2] <= seq <= hole[3] for hole in holes)

    @invariant()
    def i4_record_events_projection_and_outbox_all_or_none(self) -> None:
        event = self.host.event
        events = list(self.host.ask(lambda connection: list(results.all_events(connection, event))))
        outbox = self.host.ask(lambda connection: results.outbox_after(connection, event, 0, 100_000))
        assert {subject for _, kind, subject in outbox if kind == "result"} == {item.number for item in events}
        records = [r for r in self.host.records() if r.state is RecordState.STORED]
        assert {item.key for item in events} == {record.raw.key for record in records}
        rebuilt = states_of(events)
        assert {row.play: (row.content, row.attention) for row in self.host.current()} == {
            play: (state.content, state.attention) for play, state in rebuilt.items()
        }

    @invariant()
    def i6_the_current_result_is_the_last_correction_in_journal_order(self) -> None:
        rows = self.host.current()
        records = [r for r in self.host.records() if r.state is RecordState.STORED]
        expected = last_corrections(records)
        for row in rows:
            mine = expected.get((row.play.section, row.play.board, row.play.ns, row.play.ew), {})
            contents = list(mine.values())
            if row.attention == () and len(contents) == 1:
                got = row.content.tricks if isinstance(row.content, Played) else None
                assert got == contents[0], row.play
            if row.content is not None:
                assert isinstance(row.content, Played)
                assert row.content.tricks in contents, "a current result that no entry says"

    @invariant()
    def i9_memory_is_bounded(self) -> None:
        assert self.host.collector.queued <= LIMITS.queue + TABLES
        for terminal in self.host.collector.terminals:
            assert terminal.waiting <= LIMITS.per_terminal
            assert len(terminal.tracks) <= 4

    def teardown(self) -> None:
        if not hasattr(self, "host"):
            return
        try:
            self.host.wait(10)
            for terminal in self.current.values():
                assert terminal.waiting() == [], "liveness: after the trouble everything arrives"
            self.i1_received_is_stored()
        finally:
            self.host.close()
            shutil.rmtree(self.folder)


def last_corrections(
    records: list[ledger.KeptRecord],
) -> dict[tuple[str, int, int, int], dict[tuple[int, int, int], int | None]]:
    """A second way to I6, straight from the raw records: play -> entry -> tricks (None: erased)."""
    entries: dict[tuple[int, int, int], tuple[tuple[int, int, int], RecordBody]] = {}
    roots: dict[tuple[int, int, int], int] = {}
    for record in sorted(records, key=lambda r: (r.raw.key.device, r.raw.key.journal, r.raw.key.seq)):
        key, said = record.raw.key, RecordBody.unpack(record.raw.body)
        journal = (key.device, key.journal)
        root = key.seq
        if said.replaces:
            root = roots.get((*journal, key.seq - said.replaces), key.seq - said.replaces)
        roots[*journal, key.seq] = root
        entries[*journal, root] = ((said.board, said.ns, said.ew), said)
    out: dict[tuple[str, int, int, int], dict[tuple[int, int, int], int | None]] = {}
    for entry, (place, said) in entries.items():
        out.setdefault(("A", *place), {})[entry] = None if said.kind == ERASED else said.tricks
    return out


TestEvening: Callable[..., object] = Evening.TestCase
TestEvening.settings = settings(  # type: ignore[attr-defined]
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
