"""The simulated base station: terminals keep every record until it is acknowledged, and show "received" only then."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hwsim_host import Host, World, connect

from hwsim import messages
from hwsim.evidence import Evidence
from hwsim.line import Line
from hwsim.machine.faults import parse_fault
from hwsim.memory import Media, PowerCut
from hwsim.numbers import Kind, RecordKind, RecordReason
from hwsim.speeds import SPEEDS
from hwsim.station.device import Station
from hwsim.station.faults import KINDS
from hwsim.station.player import PASSED_OUT, corrected, play_board
from hwsim.station.room import Room

EVENT = 0xABCDEF


def plan(table: int, tables: int, rounds: int, boards: int) -> dict[str, Any]:
    """A Mitchell: NS sit, EW move up, boards move down."""
    told = []
    for r in range(rounds):
        told.append(
            {
                "round": r + 1,
                "ns": table,
                "ew": tables + 1 + (table - 1 - r) % tables,
                "first_board": 1 + boards * ((table - 1 + r) % tables),
                "board_count": boards,
                "shared": 0,
                "next_ns": table if r < rounds - 1 else 255,
                "next_ew": table % tables + 1 if r < rounds - 1 else 255,
                "next_swap": 0,
            }
        )
    return {"event_id": EVENT, "version": 1, "section": 1, "table": table, "rounds": told}


class Ledger:
    """A host's books: admits everybody, stores what comes in turn, acknowledges what is stored."""

    def __init__(
        self, host: Host, tables: int, rounds: int, boards: int, credit: int = 1, admitting: bool = True
    ) -> None:
        self.host = host
        self.shape = (tables, rounds, boards)
        self.credit = credit
        self.stored: dict[tuple[int, int, int], bytes] = {}
        self.devices: dict[int, int] = {}
        self.acking = True
        self.admitting = admitting
        self.doubled = 0
        self.conflicts: set[tuple[int, int, int]] = set()
        for told in host.told:
            self.on_message(*told)
        host.on_message = self.on_message

    def attach(self, host: Host) -> None:
        self.host = host
        host.on_message = self.on_message

    def on_message(self, kind: int, address: int, f: dict[str, Any]) -> None:
        if kind == Kind.TERM_HELLO:
            self.devices[address] = f["device_id"]
            if self.admitting:
                self.admit(address)
        elif kind == Kind.RECORD:
            self.record(address, f)

    def admit(self, address: int) -> None:
        tables, rounds, boards = self.shape
        admit = {"device_id": self.devices[address], "admitted": 1, "event_id": EVENT, "section": 1, "table": address}
        self.host.send(Kind.ADMIT, {**admit, "text": "Welcome"}, address)
        self.host.send(Kind.TABLE_PLAN, plan(address, tables, rounds, boards), address)

    def record(self, address: int, f: dict[str, Any]) -> None:
        device = self.devices[address]
        journal, seq, body = f["journal_id"], f["seq"], f["body"]
        assert f["crc"] == messages.record_crc(device, journal, seq, body)
        if any(key[:2] == (device, journal) and seq >= key[2] for key in self.conflicts):
            self.nak(address, journal, seq, RecordReason.CONFLICT)
            return
        known = self.stored.get((device, journal, seq))
        if known is not None:
            assert known == body
            self.doubled += 1
        elif seq > 1 and (device, journal, seq - 1) not in self.stored:
            wanted = next(n for n in range(1, seq + 1) if (device, journal, n) not in self.stored)
            self.nak(address, journal, wanted, RecordReason.GAP)
            return
        self.stored[device, journal, seq] = body
        if self.acking:
            self.ack(address, journal, seq)

    def ack(self, address: int, journal: int, upto: int) -> None:
        fields = {"device_id": self.devices[address], "journal_id": journal, "upto": upto, "credit": self.credit}
        self.host.send(Kind.RECORD_ACK, fields, address)

    def nak(self, address: int, journal: int, seq: int, reason: int) -> None:
        fields = {"device_id": self.devices[address], "journal_id": journal, "seq": seq, "reason": reason}
        self.host.send(Kind.RECORD_NAK, fields, address)

    def results(self) -> dict[tuple[int, int, int], dict[str, int]]:
        """(board, ns, ew): what was keyed in, without what depends on time."""
        found = {}
        for body in self.stored.values():
            told = messages.unpack_body(body)
            key = (told["board"], told["ns"], told["ew"])
            assert key not in found or told["replaces"]
            found[key] = {k: v for k, v in told.items() if k != "stamp"}
        return found


def station(media: Media | None = None, *, speed: str = "max", now: float = 0.0, **options: Any) -> Station:
    options.setdefault("chance", random.Random(9))
    return Station(media or Media(), now, seed=4, speed=SPEEDS[speed], **options)


def shown(evidence: Evidence) -> list[tuple[int, int, int]]:
    lines = evidence.lines.get("shown_received", [])
    return [(int(f["device"], 16), int(f["journal"], 16), f["seq"]) for f in lines]


@pytest.mark.parametrize("speed", ["max", "line", "demo", "real"])
def test_an_evening(speed: str) -> None:
    evidence = Evidence()
    device = station(terminals=3, speed=speed, evidence=evidence)
    world, host = connect(device, 115200 if SPEEDS[speed].paced else None)
    ledger = Ledger(host, 3, 3, 2)
    world.limit = 1_000_000
    world.run_until(lambda: len(ledger.stored) == 18 and len(shown(evidence)) == 18, 4 * 3600.0)
    assert sorted(shown(evidence)) == sorted(ledger.stored)
    assert ledger.doubled == 0
    for key, line in zip(shown(evidence), evidence.lines["shown_received"], strict=True):
        assert line["body"] == ledger.stored[key].hex()
    results = ledger.results()
    assert len(results) == 18
    for (board, ns, ew), told in results.items():
        play = play_board(4, 1, board, ns, ew, told["round"])
        assert (told["tricks"], told["level"], told["lead"]) == (play.tricks, play.level, play.lead)
    world.run(1.0)
    assert host.all(Kind.TERM_STATUS)[-1]["waiting"] == 0
    assert "received" in " ".join(device.terminals[1].screen())
    assert host.all(Kind.STATION_STATUS)[0] == {"terminals": 3, "battery": 255}
    for address in (1, 2, 3):
        kinds = [kind for kind, where, _ in host.told if where == address]
        assert kinds[:2] == [Kind.TERM_HELLO, Kind.TERM_STATUS]
    hours = world.now / 3600
    assert (0.4 < hours < 1.2) if speed == "real" else hours < 0.02


def test_speed_never_changes_a_result() -> None:
    def play(speed: str) -> dict[tuple[int, int, int], dict[str, int]]:
        world, host = connect(station(terminals=4, speed=speed))
        ledger = Ledger(host, 4, 4, 3, credit=3)
        world.run_until(lambda: len(ledger.stored) == 48, 100.0)
        return ledger.results()

    assert play("max") == play("demo")


def test_nothing_is_shown_as_received_before_the_ack() -> None:
    evidence = Evidence()
    device = station(terminals=2, evidence=evidence)
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 2)
    ledger.acking = False
    world.run(3.0)
    assert len(ledger.stored) == 2  # credit is one at the start
    assert shown(evidence) == []
    assert any("waiting" in line for line in device.terminals[1].screen())
    keys = list(ledger.stored)
    ledger.ack(1, keys[0][1] ^ 1, 50)  # another journal's acknowledgement means nothing
    world.run(1.0)
    assert shown(evidence) == []
    ledger.acking = True
    for address in (1, 2):
        ledger.ack(address, device.terminals[address].memory.journal, 1)
    world.run_until(lambda: len(shown(evidence)) == 8, 60.0)
    assert sorted(shown(evidence)) == sorted(ledger.stored)


def test_credit_is_obeyed_and_nothing_else_waits_for_it() -> None:
    device = station(terminals=1, speed="demo")
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 9, credit=0)
    world.run_until(lambda: device.terminals[1].waiting() == 5, 60.0)  # they play on
    assert len(ledger.stored) == 1
    assert host.all(Kind.TERM_STATUS)[-1]["waiting"] >= 3
    ledger.credit = 4
    host.send(Kind.CREDIT, {"credit": 3}, 0)
    world.run_until(lambda: len(ledger.stored) == 9, 60.0)
    seqs = [f["seq"] for f in host.all(Kind.RECORD)]
    assert seqs == list(range(1, 10))


def test_play_goes_on_without_a_host_and_is_told_later() -> None:
    evidence = Evidence()
    device = station(terminals=2, speed="demo", evidence=evidence)
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 3)
    world.run_until(lambda: len(ledger.stored) == 2)
    host.silent = True
    world.run(30.0)
    assert not device.session.up
    assert device.terminals[1].waiting() >= 5
    before = len(ledger.stored)
    fresh = world.host = Host(session=2)
    ledger.attach(fresh)
    world.run_until(lambda: len(shown(evidence)) == 12)
    assert len(ledger.stored) == 12 > before
    hello = fresh.all(Kind.TERM_HELLO)[0]
    assert hello["oldest_unacked"] == next(f["seq"] for f in fresh.all(Kind.RECORD))


def test_restart_goes_on_where_it_was() -> None:
    media, evidence = Media(), Evidence()
    boots, now, ledger = [], 0.0, None
    for session in range(1, 30):
        device = station(media, now=now, terminals=3, evidence=evidence, chance=random.Random(session), speed="demo")
        world = World(Line(device, 115200), now)
        host = world.host = Host(session=session)
        if ledger is None:
            ledger = Ledger(host, 3, 3, 2)
        ledger.attach(host)
        world.run(0.3 + 0.17 * session % 1.1)  # kill -9 at some moment
        now = world.now
        boots += [f["boot_id"] for f in host.all(Kind.TERM_HELLO)[:1]]
    assert ledger is not None
    assert len(ledger.results()) == 18
    assert set(shown(evidence)) <= set(ledger.stored)
    assert len(set(boots)) == len(boots)


def test_conflict_opens_a_new_journal_and_tells_it_again() -> None:
    evidence = Evidence()
    device = station(terminals=1, evidence=evidence, speed="demo")
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 6, credit=2)
    ledger.acking = False
    world.run_until(lambda: len(ledger.stored) == 1)
    terminal = device.terminals[1]
    old = terminal.memory.journal
    # The host knows seq 2 of this journal with another body, as after a terminal's memory was restored.
    ledger.stored[terminal.memory.device_id, old, 1] = next(iter(ledger.stored.values()))
    ledger.ack(1, old, 1)
    world.run_until(lambda: len(host.all(Kind.RECORD)) == 2)
    first = host.all(Kind.RECORD)[-1]
    ledger.stored.pop((terminal.memory.device_id, old, 2))
    ledger.nak(1, old, 2, RecordReason.CONFLICT)
    ledger.acking = True
    world.run_until(lambda: len(shown(evidence)) == 6, 60.0)
    again = host.all(Kind.RECORD)[2]
    assert (again["seq"], again["body"]) == (1, first["body"])
    assert again["journal_id"] != old
    assert len(ledger.results()) == 6
    assert (terminal.memory.device_id, old, 2) not in shown(evidence)


def test_gap_and_resend_come_from_the_ring() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 2, 8, credit=2)
    world.run_until(lambda: len(ledger.stored) == 16)
    terminal = device.terminals[1]
    before = dict(ledger.stored)
    ledger.stored.clear()  # the host was restored from an empty backup
    fields = {"device_id": terminal.memory.device_id, "journal_id": terminal.memory.journal, "from_seq": 1}
    host.send(Kind.RESEND, fields, 1)
    world.run_until(lambda: len(ledger.stored) == 16)
    assert ledger.stored == before
    ledger.stored.pop((terminal.memory.device_id, terminal.memory.journal, 4))
    ledger.nak(1, terminal.memory.journal, 4, RecordReason.GAP)
    world.run_until(lambda: ledger.stored == before)


def _with_a_forgotten_record() -> tuple[Any, Any, Ledger, Any, dict[Any, bytes]]:
    """A host that lost everything, and a terminal whose ring no longer has the first record."""
    device = station(terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 2, 8, credit=2)
    world.run_until(lambda: len(ledger.stored) == 16)
    terminal = device.terminals[1]
    before = dict(ledger.stored)
    del terminal.memory.records[terminal.memory.journal, 1]
    ledger.stored.clear()
    return world, host, ledger, terminal, before


def _resend(host: Host, terminal: Any, from_seq: int) -> None:
    fields = {"device_id": terminal.memory.device_id, "journal_id": terminal.memory.journal, "from_seq": from_seq}
    host.send(Kind.RESEND, fields, 1)


def test_what_the_ring_still_has_is_sent_when_the_wanted_record_is_gone() -> None:
    world, host, ledger, terminal, before = _with_a_forgotten_record()
    journal = terminal.memory.journal
    asked: list[int] = []

    def patient(address: int, of: int, seq: int, reason: int) -> None:
        """A host that gives a number up after it has asked for it three times."""
        asked.append(seq)
        if len(asked) > 3:
            ledger.stored[terminal.memory.device_id, of, seq] = b""
        Ledger.nak(ledger, address, of, seq if len(asked) <= 3 else seq + 1, reason)

    ledger.nak = patient  # type: ignore[method-assign]
    _resend(host, terminal, 1)
    world.run_until(lambda: len(ledger.stored) == 16, 60.0)
    assert {key: body for key, body in ledger.stored.items() if body} == {k: v for k, v in before.items() if k[2] != 1}
    assert terminal.memory.journal == journal


def test_a_host_that_never_gives_a_number_up_gets_what_it_has_not_in_another_journal() -> None:
    world, host, _ledger, terminal, _ = _with_a_forgotten_record()
    journal = terminal.memory.journal
    terminal.memory.add(next(iter(terminal.memory.records.values())).body, EVENT)
    sent = len(host.all(Kind.RECORD))
    _resend(host, terminal, 1)
    world.run_until(lambda: terminal.memory.journal != journal and not terminal.memory.waiting(), 60.0)
    assert len(host.all(Kind.RECORD)) - sent < 100, "asking again is no busy loop"


def test_the_screen_tells_what_is_left_and_where_to_go() -> None:
    device = station(terminals=2)
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 2)
    terminal = device.terminals[1]
    told = plan(1, 2, 2, 2)["rounds"]
    world.run_until(lambda: len(ledger.stored) == 8)
    world.run(1.0)
    assert terminal.screen()[1] == "End of session"
    recap = terminal.recap(1)
    assert [line.split(":")[0] for line in recap] == ["Board 1", "Board 2"]
    terminal.show_round(1)
    assert "Pair 1: end of session" in terminal.screen()
    terminal.show_round(0)
    assert "Pair 1: table 1 NS" in terminal.screen()
    assert f"Pair {told[0]['ew']}: table 2 EW" in terminal.screen()
    terminal.memory.keyed.discard((EVENT, 1, 2, 0))
    assert "To play: 2" in terminal.screen()
    away = {**told[0], "ns": 0, "first_board": 0, "next_ew": 0, "next_swap": 2}
    terminal.memory.plan["rounds"][0] = away
    assert {"Sit-out", f"Pair {away['ew']}: sits out"} <= set(terminal.screen())


def test_names_count_with_results_and_survive_with_them() -> None:
    media = Media()
    device = station(media, terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 2)
    ledger.acking = False
    device.tables[1].sign_in = True
    world.run(30.0)
    terminal = device.terminals[1]
    names = host.all(Kind.NAME_RECORD)
    assert [f["seq"] for f in names[:1]] == [1], "with credit 1 the first waits for its acknowledgement"
    body = messages.pack_name(**{k: names[0][k] for k in ("section", "table", "round", "pair", "seat", "how", "text")})
    assert names[0]["crc"] == messages.record_crc(terminal.memory.device_id, names[0]["journal_id"], 1, body)
    assert [record.name for record in terminal.memory.records.values()][:5] == [True] * 4 + [False]
    old = terminal.memory.journal
    host.send(
        Kind.RECORD_NAK,
        {"device_id": terminal.memory.device_id, "journal_id": old, "seq": 1, "reason": RecordReason.CONFLICT},
        1,
    )
    world.run(1.0)
    again = host.all(Kind.NAME_RECORD)[-1]
    assert (again["seq"], again["text"]) == (1, names[0]["text"])
    assert again["journal_id"] != old
    fresh = station(media, terminals=1, now=world.now).terminals[1].memory
    assert (fresh.records, fresh.named) == (terminal.memory.records, terminal.memory.named)
    fresh._compact()
    again_read = station(media, terminals=1, now=world.now).terminals[1].memory
    assert (again_read.records, again_read.named) == (fresh.records, fresh.named)


def test_an_unknown_terminal_waits_until_it_is_admitted() -> None:
    device = station(terminals=2)
    world, host = connect(device)
    ledger = Ledger(host, 2, 1, 2, admitting=False)
    world.run(2.0)
    assert host.all(Kind.RECORD) == []
    assert "Not admitted" in device.terminals[1].screen()[0]
    other = {"device_id": 1, "admitted": 1, "event_id": EVENT, "section": 1, "table": 1, "text": ""}
    host.send(Kind.ADMIT, other, 1)  # meant for another device
    world.run(1.0)
    assert not device.terminals[1].admitted
    ledger.admit(1)
    ledger.admit(2)
    world.run_until(lambda: len(ledger.stored) == 4)


@pytest.mark.parametrize("reason", [RecordReason.AUTH, RecordReason.NOT_ADMITTED])
def test_a_refusal_of_what_it_never_sent_does_not_silence_a_terminal(reason: int) -> None:
    """Somebody else has spoken in its name: his refusal comes to it."""
    device = station(terminals=1, speed="demo")
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 3)
    world.run_until(lambda: len(ledger.stored) == 1)
    journal = next(iter(ledger.stored))[1]
    ledger.nak(1, journal, 40, reason)
    world.run_until(lambda: len(ledger.stored) == 3, 20.0)


def test_a_terminal_without_battery_is_reported_and_comes_back() -> None:
    device = station(terminals=2, speed="demo")
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 2)
    world.run_until(lambda: len(ledger.stored) == 2)
    device.power_off(2)
    world.run_until(lambda: bool(host.all(Kind.TERM_GONE)))
    host.send(Kind.TEXT, {"urgent": 1, "text": "hello?"}, 2)
    world.run(3.0)
    assert len(host.all(Kind.TERM_GONE)) == 2
    told = len(host.told)
    device.power_on(2)
    world.run_until(lambda: len(ledger.stored) == 8)
    assert next(kind for kind, where, _ in host.told[told:] if where == 2) == Kind.TERM_HELLO
    assert len(ledger.results()) == 8


def test_messages_appear_on_the_screen() -> None:
    device = station(terminals=1, speed="demo")
    world, host = connect(device)
    Ledger(host, 1, 1, 1)
    host.send(Kind.TEXT, {"urgent": 1, "text": "Coffee is ready"}, 1)
    world.run(0.5)
    assert "Coffee is ready" in device.terminals[1].screen()
    world.run(20.0)
    assert "Coffee is ready" in device.terminals[1].screen()
    device.terminals[1].press_key()
    assert "Coffee is ready" not in device.terminals[1].screen()


def test_corrections_name_the_record_they_replace() -> None:
    device = station(terminals=2, corrections=0.5)
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 6, credit=2)
    expected = {
        (b, ns, ew): corrected(4, 0.5, 1, b, ns, ew, r["round"])
        for t in (1, 2)
        for r in plan(t, 2, 2, 6)["rounds"]
        for b in range(r["first_board"], r["first_board"] + 6)
        for ns, ew in [(r["ns"], r["ew"])]
    }
    twice = sum(play is not None for play in expected.values())
    assert 0 < twice < 24
    world.run_until(lambda: len(ledger.stored) == 24 + twice)
    by_key = ledger.stored
    for (who, journal, seq), body in by_key.items():
        told = messages.unpack_body(body)
        if told["replaces"]:
            old = messages.unpack_body(by_key[who, journal, seq - told["replaces"]])
            assert (old["board"], old["round"], old["replaces"]) == (told["board"], told["round"], 0)
            assert old["tricks"] != told["tricks"]


def test_memory_cut_at_every_byte_keeps_what_was_shown() -> None:
    """T3: terminal memory, cut at every byte of every write: nothing shown as received is ever lost or changed."""
    cut, finished = 0, False
    while not finished:
        finished = _evening_with_a_cut(cut)
        cut += 1
    assert cut > 400


def _evening_with_a_cut(cut: int) -> bool:
    """One table, three boards, its memory cut at byte ``cut``. True if that was too late to cut anything."""
    media, evidence = Media(), Evidence()
    device = station(media, terminals=1, evidence=evidence)
    world, host = connect(device)
    for name in ("terminal-00001-0", "terminal-00001-1"):
        media.medium(name).cut_after = cut
    ledger: Ledger | None = None
    try:
        ledger = Ledger(host, 1, 1, 3)
        world.run_until(lambda: len(shown(evidence)) == 3, 20.0)
    except PowerCut:
        assert ledger is not None
        for name in ("terminal-00001-0", "terminal-00001-1"):
            media.medium(name).cut_after = None
        again = station(media, now=world.now, terminals=1, evidence=evidence, chance=random.Random(cut))
        world = World(Line(again, None), world.now)
        world.host = Host(session=2)
        ledger.attach(world.host)
        world.run_until(lambda: len(set(shown(evidence))) == 3, 20.0)
        assert len(ledger.results()) == 3
        assert set(shown(evidence)) == set(ledger.stored)
        return False
    return True


def test_results_are_plausible_and_pure() -> None:
    plays = [play_board(1, 1, b, ns, ew, 1) for b in range(1, 61) for ns in range(1, 15) for ew in range(20, 30)]
    share = sum(p.kind == RecordKind.PASSED_OUT for p in plays) / len(plays)
    assert PASSED_OUT / 4 < share < PASSED_OUT * 3
    played = [p for p in plays if p.kind == RecordKind.PLAYED]
    made = sum(p.tricks >= p.level + 6 for p in played) / len(played)
    assert 0.5 < made < 0.8
    assert all(1 <= p.level <= 7 and 1 <= p.strain <= 5 and 0 <= p.tricks <= 13 for p in played)
    assert play_board(1, 1, 5, 2, 3, 4) == play_board(1, 1, 5, 2, 3, 4)


def test_the_room_waits_for_the_slowest_table() -> None:
    room = Room()
    a, b, other = (1, 1, 1), (1, 1, 2), (1, 2, 1)
    room.finished(a, 0)
    room.finished(b, 0)
    room.finished(other, 5)
    room.finished(a, 1)
    assert not room.may_begin(a, 1)
    room.finished(b, 1)
    assert room.may_begin(a, 1)
    assert Room(wait_for_all=False).may_begin(a, 3)


def test_same_seed_same_bytes() -> None:
    def run() -> tuple[int, int, list[Any]]:
        world, host = connect(station(terminals=5, speed="demo"), 115200)
        ledger = Ledger(host, 5, 5, 2)
        world.run_until(lambda: len(ledger.stored) == 50)
        return world.line.bytes_out, world.line.bytes_in, host.told

    assert run() == run()


@pytest.mark.parametrize("first", [0, 1])
def test_memory_cut_in_mid_conflict_still_tells_everything(first: int) -> None:
    """The terminal moves to a new journal because of a conflict, and its battery falls out at every byte of that."""
    cut, finished = first, False
    while not finished:
        finished = _conflict_with_a_cut(cut)
        cut += 2
    assert cut > 300


def _conflict_with_a_cut(cut: int) -> bool:
    media, evidence = Media(), Evidence()
    device = station(media, terminals=1, evidence=evidence, speed="demo")
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 5, credit=0)
    world.run_until(lambda: device.terminals[1].waiting() == 4, 60.0)  # board 1 acknowledged, four wait
    memory = device.terminals[1].memory
    who, old = memory.device_id, memory.journal
    ledger.stored[who, old, 2] = b"another body"  # seq 2 is taken: the terminal's memory had been set back
    ledger.credit = 4
    ledger.conflicts = {(who, old, 2)}
    names = ("terminal-00001-0", "terminal-00001-1")
    for name in names:
        media.medium(name).cut_after = cut
    done = False
    try:
        host.send(Kind.CREDIT, {"credit": 4}, 1)
        world.run_until(lambda: len(set(shown(evidence))) == 5, 20.0)
        done = True
    except PowerCut:
        for name in names:
            media.medium(name).cut_after = None
        again = station(media, now=world.now, terminals=1, evidence=evidence, chance=random.Random(cut), speed="demo")
        world = World(Line(again, None), world.now)
        world.host = Host(session=2)
        ledger.attach(world.host)
        world.run_until(lambda: len(set(shown(evidence))) == 5, 40.0)
    del ledger.stored[who, old, 2]
    assert sorted(told["board"] for told in ledger.results().values()) == [1, 2, 3, 4, 5]
    assert set(shown(evidence)) == set(ledger.stored)
    return done


def test_faults_at_the_tables_lose_nothing() -> None:
    media, evidence = Media(), Evidence()
    texts = ["unplug@2,for=1", "battery@4,for=0.5", "hub@6", "battery@6", "unplug@9,for=6"]
    faults = [parse_fault(text, KINDS) for text in texts]
    device = station(media, terminals=2, speed="demo", evidence=evidence, faults=faults)
    world, host = connect(device)
    ledger = Ledger(host, 2, 2, 4)
    session = 1
    while len(set(shown(evidence))) < 16:
        world.run(1.0)
        assert session < 60
        starts = [f for kind, _, f in host.controls if kind == Kind.HELLO and f["session"] == 0]
        if not world.line.connected or not device.session.up or len(starts) > 1:
            world.line.connect()
            session += 1
            host = world.host = Host(session=session)
            ledger.attach(host)
    assert sorted(f["kind"] for f in evidence.lines["faults"]) == sorted(text.split("@")[0] for text in texts)
    assert len(ledger.results()) == 16
    assert set(shown(evidence)) == set(ledger.stored)
    again = station(media, terminals=2, speed="demo", evidence=evidence, faults=faults)
    assert again._faults.strike(100) is None


def test_a_terminal_without_an_answer_introduces_itself_again() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 2, credit=2)
    ledger.acking = False
    world.run_until(lambda: len(host.all(Kind.RECORD)) == 1)
    hellos = len(host.all(Kind.TERM_HELLO))
    world.run_until(lambda: len(host.all(Kind.TERM_HELLO)) > hellos, 60.0)
    assert host.all(Kind.TERM_HELLO)[-1]["oldest_unacked"] == 1
    ledger.acking = True
    world.run_until(lambda: len(ledger.stored) == 2 and not device.terminals[1].waiting(), 90.0)
