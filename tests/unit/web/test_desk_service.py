"""What the desk does beside its pages: entries compared with the deals, a scoring profile that can't be used."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from web_fakes import Client, service

from dealer.generate import new_set
from dealer.store.schema import DEALING_DB, MIGRATIONS
from dealer.store.sets import save_set
from drivers.api import StationMessage
from firmware_bridge.db import Database
from firmware_bridge.service.browser_hub import URL
from firmware_bridge.wire.messages import EntryCheck, TermHello, TermStatus
from firmware_bridge.wire.record import RecordBody
from terminals.entry import CAUSES, WRONG_LEAD
from terminals.settings import EventSettings
from terminals.store import desk as desk_store

KEYPAD = 0xA1


async def deal(client: Client) -> None:
    """The boards of the event are made from a set of deals."""
    deals = new_set([1, 2], seed=5)
    database = Database.open(client.desk.directory / DEALING_DB, MIGRATIONS)
    save_set(database, deals)
    database.close()
    await client.desk.log("deals", set=deals.id)


def hello() -> TermHello:
    return TermHello(0x10, 0x10, 3, 1, 240, KEYPAD, 1, 1, 7, 0, 1, 0, 0, "keypad", "1", ())


async def causes(client: Client) -> list[str]:
    """What the desk learns of three leads of one board at a keypad of table 1: at most one seat holds the card."""
    collector = client.desk.service.collector
    for message in (hello(), TermStatus(1, 1, 1, 80, 70, 0, 0, 0)):
        client.desk.service.send(collector.receive(URL, StationMessage(1, message), 0.0))
    async with asyncio.timeout(60):
        while not collector.terminals or collector.terminals[0].seat != (1, 1):
            client.desk.service._work.set()
            await asyncio.sleep(0.01)
    for declarer in range(4):
        # The same card is led against each declarer; three of the four leaders can't hold it.
        body = RecordBody(1, 1, 1, 1, 1, 1, declarer, 9, 1, 4, 3, 5, 0, 0, 0, 7).pack()
        collector._budgets.clear()
        collector.receive(URL, StationMessage(1, EntryCheck(declarer, body)), 10.0 + declarer)
        client.desk.service._work.set()
        async with asyncio.timeout(60):
            while collector.queued:
                await asyncio.sleep(0.01)
    found = client.desk.store.read(lambda c: desk_store.desk_events(c, client.desk.event, "entry-check"))
    told = [one["text"] for one in (await client.get("/desk")).json()["alerts"] if one["kind"] == "check"]
    assert len(told) == len(found)
    assert all(CAUSES[WRONG_LEAD] in text for text in told)
    return [cause for item in found for cause in item.data["causes"]]


def test_entries_of_keypads_are_compared_with_the_deals_of_the_running_event(tmp_path: Path) -> None:
    async def run(*, dealt: bool) -> list[str]:
        async with service(tmp_path / str(dealt), settings=EventSettings(admit_all=True)) as client:
            if dealt:
                await deal(client)
            return await causes(client)

    assert asyncio.run(run(dealt=False)) == []  # shuffle and play: nothing to compare with
    assert asyncio.run(run(dealt=True)) == [WRONG_LEAD] * 3


def test_a_profile_that_can_not_be_used_is_told_at_the_desk_and_refused_when_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of the file stays short
    own = Path("own.toml")
    head = 'name = "own"\nversion = 1\ntitle = "Ours"\nruleset = "laws-2017"\n'
    own.write_text(f"[profile]\n{head}", encoding="utf-8")

    async def alerts(client: Client) -> list[str]:
        return [one["text"] for one in (await client.get("/desk")).json()["alerts"] if one["kind"] == "profile"]

    async def run() -> None:
        async with service(tmp_path) as client:
            assert await alerts(client) == []
            wrong = await client.post("/actions/settings", {"settings": {"profile": "nonsense"}})
            assert wrong.status_code == 409
            assert "nonsense" in wrong.json()["error"]["what"]
            assert client.desk.setup.settings.profile == "plain"
            set_it = await client.post("/actions/settings", {"settings": {"profile": str(own)}})
            assert set_it.status_code == 200, set_it.text
            assert await alerts(client) == []
            os.unlink(own)
            (told,) = await alerts(client)
            assert str(own) in told
            assert "plain profile" in told

    asyncio.run(run())
