"""Polls from memory say exactly what the store says, whatever was added, accepted, hidden or rewritten in between."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from firmware_bridge.db import Database
from terminals.interop.data_connector import delivery
from terminals.interop.data_connector.delivery import Delivery
from terminals.interop.data_connector.envelope import Reply, Request, write_reply
from terminals.interop.data_connector.numbers import DataType
from terminals.store import data_connector as store
from terminals.store.data_connector import ProgramEvent
from terminals.store.schema import MIGRATIONS

QUEUES = [("e1", "s1", "result"), ("e1", "s2", "result"), ("e2", "s3", "seat")]
WORDS = ['{"LastName":"Żółć \\" \\\\ \\n"}', "{}", '{"Name":"' + "x" * 300 + '"}', '{"Name":"\U0001f0a1"}']


def told(memory: Delivery, connection, queue, after: int, upto: int) -> tuple[list[object], int]:  # type: ignore[no-untyped-def]
    found = None
    while found is None:
        found = memory.take(connection, queue, after, upto)
    body = json.loads(write_reply(Request(19, session="S"), Reply(DataType.RESULTS, "", last=found[1], wire=found[0])))
    assert body["LastQueueItemId"] == found[1]
    return json.loads(body["SerializedData"]), found[1]


@pytest.mark.parametrize("seed", range(6))
def test_memory_and_store_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(delivery, "STEP", 3)
    chance = random.Random(seed)
    database = Database.open(tmp_path / "events.db", MIGRATIONS, synchronous="OFF")
    memory = Delivery(entries=chance.choice([1, 2, 64]), size=chance.choice([100, 10**6]))
    with database.transaction() as connection:
        for event in ("e1", "e2"):
            store.begin_event(connection, ProgramEvent(event, event, event, "", 1, "{}"), [])
    polls = 0
    for _ in range(250):
        queue = chance.choice(QUEUES)
        with database.transaction() as connection:
            act = chance.random()
            if act < 0.5:
                for _ in range(chance.choice([1, 1, 4])):
                    own = store.OWN if chance.random() < 0.3 else 0
                    store.add_item(connection, *queue, str(chance.random()), chance.choice(WORDS), own)
            elif act < 0.53:
                store.clear_queues(connection, queue[0])
            elif act < 0.56:
                store.restore_queues(connection, queue[0])
            elif act < 0.6:
                store.erase_bodies(connection, {WORDS[0]: WORDS[1]})
            newest = store.newest(connection, *queue)
            upto = chance.choice([newest, newest, max(0, newest - 2), 0])
            after = chance.choice([None, 0, max(0, upto - 3), upto])
            if chance.random() < 0.3:
                store.set_mark(connection, *queue, store.Mark(upto, after or 0))
            expected = store.items(connection, *queue, after or 0, upto, own=after is None)
        bodies, last = told(memory, database._connection, queue, after, upto)
        assert bodies == [json.loads(item.body) for item in expected]
        assert last == (expected[-1].id if expected else 0)
        polls += bool(expected)
    assert polls > 50
    database.close()


def test_what_is_known_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database.open(tmp_path / "events.db", MIGRATIONS, synchronous="OFF")
    queue, memory, read = QUEUES[0], Delivery(), []
    real = store.items
    monkeypatch.setattr(store, "items", lambda *words, **more: read.append(found := real(*words, **more)) or found)
    with database.transaction() as connection:
        for number in range(2500):
            store.add_item(connection, *queue, str(number), WORDS[0])
        newest = store.newest(connection, *queue)
    for _ in range(3):
        assert len(told(memory, database._connection, queue, 0, newest)[0]) == 2500
    assert [len(one) for one in read if one] == [1000, 1000, 500]
    database.close()
