"""The phone's bytes and its log: the page writes exactly what the host reads, and survives what a log can meet."""

from __future__ import annotations

import base64
import json
import random
import struct
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from web_browser import Service, accept, at, key_in, phone, service, start_round

from dealer.board import vulnerability_of
from dealer.cards import Seat
from firmware_bridge.wire.record import RecordBody, record_crc
from firmware_bridge.wire.table_data import AuctionData, CallData, PlayData, pack_hands
from terminals.auction import Auction, CallEvent
from terminals.contract import Contract, Doubling, Strain
from terminals.play import PlayedCard, check_play
from terminals.result import Played
from terminals.scoring.contract_score import played_score_ns
from terminals.sync.recorded import call_of

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
        auctions_and_plays_are_those_of_the_laws(page, pick)


def random_auction(pick: random.Random, dealer: int) -> list[int]:
    """Legal calls from the dealer on, as numbers of the protocol, until it is over; the laws are the tables' own."""
    auction, calls = Auction(Seat(dealer)), []
    while not auction.is_over:
        seat = Seat((dealer + len(calls)) % 4)
        legal = [n for n in range(38) if not auction.irregularities(seat, call_of(n))]
        bids = [n for n in legal if 1 <= n <= 35][:6]
        number = pick.choice([0, 0, *bids, *[n for n in legal if n > 35]])
        calls.append(number)
        auction = replace(auction, events=(*auction.events, CallEvent(seat, call_of(number))))
    return calls


def auctions_and_plays_are_those_of_the_laws(page: Any, pick: random.Random) -> None:
    """The page's keys for auction, play and hands know what the host's own laws know, and pack what it reads."""
    asked, wanted = [], []
    for _ in range(30):
        dealer = pick.randint(0, 3)
        calls = random_auction(pick, dealer)
        auction = Auction(
            Seat(dealer), tuple(CallEvent(Seat((dealer + i) % 4), call_of(n)) for i, n in enumerate(calls))
        )
        reached = auction.contract
        packed_calls = AuctionData(dealer, tuple(CallData((dealer + i) % 4, n) for i, n in enumerate(calls))).pack()
        contract = None
        if isinstance(reached, Contract):
            bid = (reached.level - 1) * 5 + int(reached.strain)
            contract = [bid, int(reached.doubling), int(reached.declarer)]
        legal = []
        for n in range(len(calls)):
            then, seat = auction_at(dealer, calls[:n]), Seat((dealer + n) % 4)
            legal.append([not then.irregularities(seat, call_of(double)) for double in (36, 37)])
        asked.append([dealer, calls])
        wanted.append([contract, legal, base64.b64encode(packed_calls).decode()])
    assert page.evaluate(JS_AUCTIONS, asked) == wanted

    asked, wanted = [], []
    for _ in range(10):
        declarer, strain = pick.randint(0, 3), pick.choice(list(Strain))
        cards = pick.sample(range(52), pick.choice([0, 3, 4, 17, 51, 52]))
        state = played_in_turn(Contract(3, strain, Doubling(0), Seat(declarer)), cards)
        data = PlayData(9, tuple((int(one.seat), one.card) for one in state)).pack()
        owners = pick.sample([seat for seat in range(4) for _ in range(13)], 52)
        asked.append([declarer, int(strain), cards, owners])
        wanted.append([base64.b64encode(data).decode(), base64.b64encode(pack_hands(owners)).decode()])
    assert page.evaluate(JS_PLAYS, asked) == wanted


def auction_at(dealer: int, calls: list[int]) -> Auction:
    return Auction(Seat(dealer), tuple(CallEvent(Seat((dealer + i) % 4), call_of(n)) for i, n in enumerate(calls)))


def played_in_turn(contract: Contract, cards: list[int]) -> list[PlayedCard]:
    """Each card with the seat whose turn it is, found by trying: the one that the host's own laws don't object to."""
    out: list[PlayedCard] = []
    for card in cards:
        for seat in Seat:
            if not check_play(contract, [*out, PlayedCard(seat, card)]).findings:
                out.append(PlayedCard(seat, card))
                break
        else:
            raise AssertionError("nobody may play")
    return out


JS_AUCTIONS = """async (asked) => {
    const m = await import('/static/terminal-play.js'), r = await import('/static/record.js');
    return asked.map(([dealer, calls]) => {
        const told = calls.map((call) => ({call, alerted: false}));
        const end = m.auctionState(dealer, told);
        if (!end.over) return null;
        const legal = told.map((_, n) => {
            const now = m.auctionState(dealer, told.slice(0, n));
            return [now.mayDouble, now.mayRedouble];
        });
        const reached = end.bid ? [end.bid, end.doubled, end.declarer] : null;
        return [reached, legal, btoa(String.fromCharCode(...r.packAuction(dealer, told)))];
    });
}"""
JS_PLAYS = """async (asked) => {
    const m = await import('/static/terminal-play.js'), r = await import('/static/record.js');
    const text = (bytes) => btoa(String.fromCharCode(...bytes));
    return asked.map(([declarer, strain, cards, owners]) => {
        const state = m.playState(declarer, strain === 5 ? -1 : 4 - strain, cards);
        return [text(r.packPlay(9, state.played)), text(r.packHands(owners))];
    });
}"""


def post(one: Service, token: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{one.url}/api/v1/table/exchange", json.dumps(body).encode())
    request.add_header("authorization", f"Bearer {token}")
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
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
        page.wait_for_selector("#state.good")
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
        with urllib.request.urlopen(request, timeout=60) as answer:
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
