"""Promises about names: kept once, outside the ledger; found by any spelling; nothing of them in words for the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import Ask, Message, NameFound, NameRecord, Names, NameSearch, RecordAck, RecordNak
from firmware_bridge.wire.numbers import AskFor, NameHow, RecordReason
from firmware_bridge.wire.record import name_auth, name_crc, name_hash
from terminals.players import fold
from terminals.store import desk
from terminals.store.desk import Person
from terminals.store.values import RecordState
from terminals.sync.people import MAX_FOUND, name_body

KEY = bytes(range(16))
VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "names.json").read_text(encoding="utf-8"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db")
    yield made
    made.close()


def at_table(host: FakeHost, table: int = 1) -> FakeTerminal:
    return host.introduce(FakeTerminal(0xA00 + table, table, table=table))


def name(device: int, seq: int, text: str = "Jan Żak", *, key: bytes = b"", **changes: int) -> NameRecord:
    fields: dict[str, Any] = {"section": 1, "table": 1, "round": 1, "pair": 1, "seat": 1, "how": NameHow.NAME}
    fields |= changes
    made = NameRecord(journal_id=1, seq=seq, crc=0, auth=bytes(6), text=text, **fields)
    fields |= {"journal_id": 1, "seq": seq, "text": text}
    covered = (device, 1, seq, name_body(made))
    return NameRecord(crc=name_crc(*covered), auth=name_auth(key, *covered), **fields)


def say(host: FakeHost, terminal: FakeTerminal, message: Message) -> list[Message]:
    seen = len(terminal.seen)
    host.give(terminal, message)
    host.run()
    return terminal.seen[seen:]


def people(host: FakeHost) -> list[Person]:
    return list(host.ask(lambda connection: desk.people(connection, host.event)))


def test_a_name_is_stored_outside_the_ledger_and_acknowledged(host: FakeHost) -> None:
    terminal = at_table(host)
    (ack,) = say(host, terminal, name(terminal.device, 1))
    assert isinstance(ack, RecordAck)
    assert ack.upto == 1
    assert people(host) == [Person("A", 1, "1", "", "Jan Żak")]
    (record,) = host.records()
    assert len(record.raw.body) == 32
    assert "Żak".encode() not in record.raw.body
    (told,) = host.ask(lambda connection: desk.desk_events(connection, host.event, "name"))
    assert dict(told.data) == {"section": "A", "pair": 1, "seat": "1", "table": 1}


def test_the_same_name_record_again_changes_nothing_and_a_person_stays_erased(host: FakeHost) -> None:
    terminal = at_table(host)
    sent = name(terminal.device, 1)
    say(host, terminal, sent)
    host.ask(lambda connection: desk.erase_person(connection, "", "Jan Żak"))
    (ack,) = say(host, terminal, sent)
    assert isinstance(ack, RecordAck)
    assert people(host) == [Person("A", 1, "1")]
    assert len(host.records()) == 1


def test_another_name_under_the_same_number_is_a_conflict(host: FakeHost) -> None:
    terminal = at_table(host)
    say(host, terminal, name(terminal.device, 1))
    (nak,) = say(host, terminal, name(terminal.device, 1, "Eve"))
    assert isinstance(nak, RecordNak)
    assert nak.reason == RecordReason.CONFLICT
    assert people(host)[0].name == "Jan Żak"
    assert not any("Eve" in alarm.text or "Jan" in alarm.text for alarm in host.alarms())


def test_results_and_names_count_together(host: FakeHost) -> None:
    terminal = at_table(host)
    (nak,) = say(host, terminal, name(terminal.device, 2))
    assert isinstance(nak, RecordNak)
    assert (nak.reason, nak.seq) == (RecordReason.GAP, 1)
    terminal.enter(body())
    host.run()
    say(host, terminal, name(terminal.device, 2))
    terminal.next_seq[1], terminal.acked[1], terminal.sent = 3, 2, 2
    terminal.enter(body(board=2, replaces=1))
    host.run()
    states = [record.state for record in host.records()]
    assert states == [RecordState.STORED, RecordState.STORED, RecordState.QUARANTINED], "a name can't be corrected so"


def test_crc_and_authenticator_cover_the_name(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db")
    host.ask(lambda c: desk.save_device(c, desk.Device(0xA01, desk.DeviceState.ADMITTED, 1, 1, KEY)))
    host.collector.set_device(desk.Device(0xA01, desk.DeviceState.ADMITTED, 1, 1, KEY), 0.0)
    terminal = host.introduce(FakeTerminal(0xA01, 1, key=KEY))
    good = name(0xA01, 1, key=KEY)
    garbled = NameRecord(**{field: getattr(good, field) for field in NameRecord.__slots__} | {"text": "Jan Zak"})
    (nak,) = say(host, terminal, garbled)
    assert isinstance(nak, RecordNak)
    assert nak.reason == RecordReason.CRC
    (nak,) = say(host, terminal, name(0xA01, 1))
    assert isinstance(nak, RecordNak)
    assert nak.reason == RecordReason.AUTH
    (ack,) = say(host, terminal, good)
    assert isinstance(ack, RecordAck)
    host.close()


@pytest.mark.parametrize(
    ("changes", "text", "number", "stored"),
    [
        ({"how": NameHow.NUMBER}, "1042", "1042", "Jan Żak"),
        ({"how": NameHow.NUMBER}, "77", "77", ""),
        ({"how": NameHow.GUEST}, "", "", "Guest"),
        ({"how": NameHow.GUEST}, "Uncle", "", "Uncle"),
        ({"how": NameHow.NAME}, "  Ann\n\t Lee ", "", "Ann Lee"),
    ],
)
def test_number_name_and_guest(host: FakeHost, changes: dict[str, int], text: str, number: str, stored: str) -> None:
    host.ask(lambda connection: desk.save_players(connection, [("1042", "Jan Żak", "jan zak")]))
    terminal = at_table(host)
    say(host, terminal, name(terminal.device, 1, text, **changes))
    assert people(host) == [Person("A", 1, "1", number, stored)]


@pytest.mark.parametrize(
    "changes", [{"section": 9}, {"pair": 0}, {"pair": 99}, {"seat": 3}, {"how": 9}, {"how": NameHow.NUMBER}]
)
def test_nonsense_is_set_aside_without_the_name(host: FakeHost, changes: dict[str, int]) -> None:
    terminal = at_table(host)
    (ack,) = say(host, terminal, name(terminal.device, 1, "Secret Person Name", **changes))
    assert isinstance(ack, RecordAck)
    assert people(host) == []
    (record,) = host.records()
    assert record.state is RecordState.QUARANTINED
    assert not any("Secret" in alarm.text for alarm in host.alarms())


def test_names_of_the_table_only_and_only_if_shown(tmp_path: Path) -> None:
    for shown in (True, False):
        host = FakeHost(tmp_path / f"{shown}.db", an_event(names=shown))
        terminal = at_table(host)
        for seq, pair in enumerate((1, 2, 4, 6), 1):
            say(host, terminal, name(terminal.device, seq, f"Pair {pair}", pair=pair))
        answers = say(host, terminal, Ask(AskFor.NAMES, 0, 0))
        if shown:
            (told,) = answers
            assert isinstance(told, Names)
            assert [(one.pair, one.name) for one in told.names] == [(1, "Pair 1"), (4, "Pair 4"), (6, "Pair 6")]
        else:
            assert answers == []
        host.close()


def test_search(host: FakeHost) -> None:
    club = [("1042", "Łukasz Żółć-Müller"), ("10421", "Ann O'Neill"), ("7", "Anna Zolc")]
    club += [(str(2000 + n), f"Bob Brown {n}") for n in range(12)]
    host.ask(lambda connection: desk.save_players(connection, [(n, who, fold(who)) for n, who in club]))
    terminal = at_table(host)
    say(host, terminal, name(terminal.device, 1, "Renée Guestson"))

    def found(text: str) -> NameFound:
        (answer,) = say(host, terminal, NameSearch(3, text))
        assert isinstance(answer, NameFound)
        assert answer.search == 3
        host.now += 1.0
        return answer

    assert [one.number for one in found("1042").players] == ["1042", "10421"]
    assert [one.number for one in found("zolc").players] == ["7", "1042"]
    assert [one.number for one in found("MUL luk").players] == ["1042"]
    assert [one.name for one in found("renee").players] == ["Renée Guestson"]
    assert found("%").players == found("").players == found("_").players == ()
    many = found("bob")
    assert (len(many.players), many.more) == (MAX_FOUND, 1)
    assert found("x' OR 1=1").players == ()


def test_names_do_not_reach_the_log(host: FakeHost) -> None:
    sent = name(1, 1, "Secret")
    assert "Secret" not in repr(sent)
    assert "Secret" not in repr(NameSearch(1, "Secret"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_golden_names(vector: dict[str, Any]) -> None:
    record = NameRecord(journal_id=vector["journal_id"], seq=vector["seq"], crc=0, auth=bytes(6), **vector["fields"])
    body = name_body(record)
    assert body.hex() == vector["body_hex"]
    where = (vector["device_id"], vector["journal_id"], vector["seq"], body)
    assert name_crc(*where) == vector["crc"]
    assert name_auth(bytes.fromhex(vector["key_hex"]), *where).hex() == vector["auth_hex"]
    assert name_hash(*where).hex() == vector["hash_hex"]
