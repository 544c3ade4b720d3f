"""Promises about the director's menu at a terminal: one proof for one nonce, for one terminal, and few tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event

from firmware_bridge.wire.messages import DirectorAsk, DirectorAuth, DirectorNonce, DirectorOpen, Message
from firmware_bridge.wire.numbers import DirectorAnswer
from firmware_bridge.wire.record import director_proof

PIN = "2741"
VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "director.json").read_text(encoding="utf-8"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db", an_event(director_pin=PIN))
    yield made
    made.close()


def at_table(host: FakeHost, table: int = 1) -> FakeTerminal:
    return host.introduce(FakeTerminal(0xA00 + table, table, table=table))


def say(host: FakeHost, terminal: FakeTerminal, message: Message) -> Any:
    seen = len(terminal.seen)
    host.give(terminal, message)
    host.run()
    found = [one for one in terminal.seen[seen:] if isinstance(one, (DirectorNonce, DirectorOpen))]
    return found[0] if found else None


def attempt(host: FakeHost, terminal: FakeTerminal, pin: str) -> int:
    asked = say(host, terminal, DirectorAsk())
    if isinstance(asked, DirectorOpen):
        return asked.answer
    opened = say(host, terminal, DirectorAuth(director_proof(pin, asked.nonce, terminal.device)))
    assert isinstance(opened, DirectorOpen)
    return opened.answer


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_golden_proof(vector: dict[str, Any]) -> None:
    nonce = bytes.fromhex(vector["nonce_hex"])
    assert director_proof(vector["pin"], nonce, vector["device_id"]).hex() == vector["proof_hex"]


def test_the_right_pin_opens_and_no_other(host: FakeHost) -> None:
    terminal = at_table(host)
    assert attempt(host, terminal, PIN) == DirectorAnswer.OPEN
    assert attempt(host, terminal, "0000") == DirectorAnswer.WRONG


def test_a_proof_counts_once_and_for_its_terminal(host: FakeHost) -> None:
    one, two = at_table(host, 1), at_table(host, 2)
    nonce = say(host, one, DirectorAsk()).nonce
    proof = DirectorAuth(director_proof(PIN, nonce, one.device))
    assert say(host, two, proof).answer == DirectorAnswer.WRONG
    assert say(host, one, proof).answer == DirectorAnswer.OPEN
    assert say(host, one, proof).answer == DirectorAnswer.WRONG
    other = say(host, two, DirectorAsk()).nonce
    assert other != nonce
    assert say(host, two, DirectorAuth(director_proof(PIN, other, one.device))).answer == DirectorAnswer.WRONG


def test_five_wrong_ones_close_it_for_this_table_for_a_while(host: FakeHost) -> None:
    one, two = at_table(host, 1), at_table(host, 2)
    assert [attempt(host, one, f"{n:04}") for n in range(7)] == [DirectorAnswer.WRONG] * 5 + [DirectorAnswer.WAIT] * 2
    assert attempt(host, two, PIN) == DirectorAnswer.OPEN
    assert [alarm.subject for alarm in host.alarms()] == ["A1"]
    host.now += 299.0
    assert attempt(host, one, PIN) == DirectorAnswer.WAIT
    host.now += 1.0
    assert attempt(host, one, PIN) == DirectorAnswer.OPEN


def test_without_a_pin_or_a_table_it_stays_closed(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event())
    terminal = at_table(host)
    assert attempt(host, terminal, "") == DirectorAnswer.CLOSED
    assert say(host, terminal, DirectorAuth(bytes(8))).answer == DirectorAnswer.CLOSED
    stranger = host.introduce(FakeTerminal(0xC, 7, table=0))
    assert say(host, stranger, DirectorAsk()) is None
    assert say(host, stranger, DirectorAuth(bytes(8))) is None
    host.close()
