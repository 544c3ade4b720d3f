"""The phone's bytes and its log: the page writes exactly what the host reads, and survives what a log can meet."""

from __future__ import annotations

import base64
import json
import random
import struct
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from web_browser import Service, accept, at, key_in, phone, service, start_round

from dealer.board import vulnerability_of
from dealer.cards import Seat
from firmware_bridge.wire.record import RecordBody, record_crc
from terminals.contract import Contract, Doubling, Strain
from terminals.result import Played
from terminals.scoring.contract_score import played_score_ns

pytestmark = pytest.mark.external("chromium")


def random_fields(pick: random.Random) -> dict[str, int]:
    return {
        "kind": pick.choice([1, 2, 3, 4]),
        "confirmed": pick.randint(0, 3),
        "section": pick.randint(1, 26),
        "table": pick.randint(1, 255),
        "round": pick.randint(1, 255),
        "board": pick.randint(1, 1023),
        "ns": pick.randint(1, 4095),
        "ew": pick.randint(1, 4095),
        "level": pick.randint(1, 7),
        "strain": pick.randint(1, 5),
        "doubling": pick.randint(0, 2),
        "declarer": pick.randint(0, 3),
        "tricks": pick.randint(0, 13),
        "lead": pick.choice([255, *range(52)]),
        "replaces": pick.randint(0, 255),
        "stamp": pick.randint(0, 65535),
    }


def packed(f: dict[str, int], device: int, journal: int, seq: int) -> str:
    played = f["kind"] == 1
    body = RecordBody(
        kind=f["kind"],
        confirmed_by=f["confirmed"],
        section=f["section"],
        table=f["table"],
        round=f["round"],
        board=f["board"],
        declarer=f["declarer"] if played else 0,
        tricks=f["tricks"] if played else 0,
        ns=f["ns"],
        ew=f["ew"],
        level=f["level"] if played else 0,
        strain=f["strain"] if played else 0,
        doubling=f["doubling"] if played else 0,
        lead=f["lead"] if played else 255,
        replaces=f["replaces"],
        stamp=f["stamp"],
    ).pack()
    crc = record_crc(device, journal, seq, body)
    return base64.b64encode(struct.pack("<II14sI6s", journal, seq, body, crc, bytes(6))).decode()


def test_the_page_packs_records_and_counts_scores_as_the_host_does(found: Any, tmp_path: Path) -> None:
    pick = random.Random(11)
    records = [
        (random_fields(pick), pick.getrandbits(64) | 1, pick.getrandbits(32) | 1, pick.randint(1, 2**32 - 1))
        for _ in range(400)
    ]
    results = [
        Played(Contract(level, strain, doubling, seat), tricks)
        for level in range(1, 8)
        for strain in Strain
        for doubling in Doubling
        for seat in Seat
        for tricks in range(14)
    ]
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        page = phone(found, one.url + "/results")
        asked = [[f, f"{device:016x}", journal, seq] for f, device, journal, seq in records]
        made = page.evaluate(
            """async (asked) => {
                const m = await import('/static/record.js');
                return asked.map(([f, device, journal, seq]) => m.packRecord(device, journal, seq, m.packBody(f)));
            }""",
            asked,
        )
        assert made == [packed(*one) for one in records]
        boards = range(1, 17)
        plays = [
            [r.contract.level, int(r.contract.strain), int(r.contract.doubling), int(r.contract.declarer), r.tricks]
            for r in results
        ]
        scores = page.evaluate(
            """async ([plays, boards]) => {
                const m = await import('/static/record.js');
                return boards.map((board) => plays.map(([level, strain, doubling, declarer, tricks]) =>
                    m.score({kind: 1, board, level, strain, doubling, declarer, tricks})));
            }""",
            [plays, list(boards)],
        )
        for board, row in zip(boards, scores, strict=True):
            assert row == [played_score_ns(r, vulnerability_of(board)) for r in results], board


def post(one: Service, token: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{one.url}/api/v1/table/exchange", json.dumps(body).encode())
    request.add_header("authorization", f"Bearer {token}")
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return dict(json.load(answer))


READ_META = """async (name) => {
    const open = indexedDB.open('firmware-bridge-' + name);
    const db = await new Promise((done) => { open.onsuccess = () => done(open.result); });
    const meta = db.transaction('meta').objectStore('meta');
    const get = (key) => new Promise((done) => { const r = meta.get(key); r.onsuccess = () => done(r.result); });
    return {device: await get('device'), journal: await get('journal'), next: await get('next')};
}"""


def test_a_number_that_is_taken_by_another_body_opens_a_new_journal_and_asks_the_director(
    found: Any, tmp_path: Path
) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        url = one.table(1)
        token = url.rpartition("/")[2]
        page = phone(found, url)
        start_round(page)
        page.context.set_offline(True)
        key_in(page, 1, 4, "S", "N", 10)
        accept(page)
        meta = page.evaluate(READ_META, token)
        assert meta["next"] == 2
        # The phone's memory went back in time: the host has number 1 of its journal already, with another result.
        other = {**random_fields(random.Random(1)), "kind": 1, "confirmed": 1, "section": 1, "table": 1, "round": 1}
        other |= {"board": 2, "ns": 1, "ew": 4, "level": 1, "strain": 5, "doubling": 0, "tricks": 7, "lead": 255}
        other["replaces"] = 0
        device = int(meta["device"], 16)
        hello = {"boot_id": 1, "boot_count": 1, "journal_id": meta["journal"], "oldest_unacked": 0, "next_seq": 1}
        first = post(one, token, {"device": meta["device"], "hello": hello})
        assert first["holds"] is True
        sent = [packed(other, device, meta["journal"], 1)]
        answer = post(one, token, {"device": meta["device"], "records": sent, "boot": first["boot"]})
        assert any(m["kind"] == "RECORD_ACK" for m in answer["messages"])
        page.context.set_offline(False)
        page.wait_for_selector("#state.good", timeout=20_000)
        after = page.evaluate(READ_META, token)
        assert after["journal"] != meta["journal"]
        texts = {cell["board"]: cell["text"] for cell in one.cells() if cell["state"] != "missing"}
        assert texts[1] == "4S N="
        assert texts[2].startswith("1NT")
        alerts = [alert["text"] for alert in one.api("/desk")["alerts"]]
        assert any("under a number that is taken" in text for text in alerts), alerts


def test_a_host_restored_from_an_older_backup_gets_everything_again(found: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with service(data, "--tables", "3", "--boards", "6") as one:
        page = phone(found, one.table(1))
        start_round(page)
        key_in(page, 1, 4, "S", "N", 10)
        accept(page)
        page.wait_for_selector("#state.good")
        request = urllib.request.Request(f"{one.url}/api/v1/backup")
        request.add_header("authorization", f"Bearer {one.code}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            backup = answer.read()
        page.click("#nextboard")
        page.click("#pass")
        accept(page)
        page.wait_for_selector("#state.good")
        one.kill()
        for name in ("events.db", "events.db-wal", "events.db-shm"):
            (data / name).unlink(missing_ok=True)
        (data / "events.db").write_bytes(backup)
        one.start()
        one.until(lambda cells: sum(cell["state"] != "missing" for cell in cells) == 2, 30)
        texts = {cell["board"]: cell["text"] for cell in one.cells() if cell["state"] != "missing"}
        assert texts == {1: "4S N=", 2: "Pass"}
        at(page, "stored")
