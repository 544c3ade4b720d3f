"""What tables record beside results: what is taken, what is set aside, what the desk is told, and what stays hidden."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import PASSED, FakeHost, FakeTerminal, an_event, body

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.wire.messages import Codes, EntryCheck, EntryChecked, Record, TableRecord, encode
from firmware_bridge.wire.numbers import CheckCode, ConfirmedBy, Positions, TableRecordKind
from firmware_bridge.wire.record import name_auth, name_crc
from firmware_bridge.wire.table_data import (
    AcceptedData,
    AuctionData,
    CallData,
    PlayData,
    acceptance_proof,
    code_verifier,
    pack_hands,
)
from terminals.contract import Contract
from terminals.play import PlayedCard
from terminals.result import Played
from terminals.settings import EventSettings
from terminals.store import desk, ledger, table_events
from terminals.store.table_events import TableEventKind
from terminals.store.values import PlayKey, RecordState
from terminals.sync.recorded import (
    acceptances,
    auction_of,
    entered_deals,
    of_play,
    result_causes,
    verifiers,
)
from terminals.table_record import Recorded, RecordedPlay

EVERYTHING = {"auction": True, "play": True, "hand_entry": True, "positions": True, "confirm_code": True}
PLAY = PlayKey("A", 1, 1, 4)
BOARD = {"section": 1, "table": 1, "round": 1, "board": 1, "ns": 1, "ew": 4, "by": 1}
# North deals board 1 and bids 3NT at once: 15 is 3NT.
THREE_NT = AuctionData(0, (CallData(0, 15), CallData(1, 0), CallData(2, 0), CallData(3, 0))).pack()


class Keeper(FakeTerminal):
    """A terminal that also writes table records into its journal."""

    def __init__(self, device: int, address: int, **more: Any) -> None:
        super().__init__(device, address, **more)
        self.extras: set[tuple[int, int]] = set()

    def note(self, what: TableRecordKind, data: bytes, **changes: int) -> int:
        fields: dict[str, Any] = {**BOARD, **changes}
        if what in (TableRecordKind.POSITIONS, TableRecordKind.CODE):
            fields = {**fields, "board": changes.get("board", 0)}
        told = TableRecord(self.journal, 0, 0, bytes(6), **fields, what=int(what), data=data)
        seq = self.enter(encode(told)[18:])
        self.extras.add((self.journal, seq))
        return seq

    def record(self, seq: int, journal: int | None = None) -> Record:
        journal = self.journal if journal is None else journal
        if (journal, seq) not in self.extras:
            return super().record(seq, journal)
        content = self.log[journal][seq]
        fields = dict(zip(("section", "table", "round"), content[:3], strict=True))
        words = [int.from_bytes(content[at : at + 2], "little") for at in (3, 5, 7)]
        fields |= dict(zip(("board", "ns", "ew"), words, strict=True))
        crc = name_crc(self.device, journal, seq, content)
        auth = name_auth(self.key, self.device, journal, seq, content)
        return TableRecord(journal, seq, crc, auth, **fields, what=content[9], by=content[10], data=content[13:])  # type: ignore[return-value]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db", an_event(**EVERYTHING))
    yield made
    made.close()


def keeper(host: FakeHost, table: int = 1) -> Keeper:
    made = host.introduce(Keeper(0xA00 + table, table, table=table))
    assert isinstance(made, Keeper)
    return made


def kept(host: FakeHost, *kinds: TableEventKind) -> list[table_events.TableEvent]:
    return host.ask(lambda connection: list(table_events.all_events(connection, host.event, *kinds)))  # type: ignore[no-any-return]


def causes(host: FakeHost) -> list[str]:
    found = host.ask(lambda connection: desk.desk_events(connection, host.event, "entry-check"))
    return [cause for item in found for cause in item.data["causes"]]


def test_an_auction_is_kept_once_and_acknowledged_like_a_result(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    terminal.enter(body())
    host.run()
    assert terminal.waiting() == []
    terminal.repeat()
    terminal.acked = {}
    host.run()
    (item,) = kept(host)
    assert (item.kind, item.play, item.table, item.round) == (TableEventKind.AUCTION, PLAY, 1, 1)
    assert auction_of(item).contract == Contract.parse("3NT N")
    first, second = host.records()
    assert len(first.raw.body) == 32, "the ledger has its hash"
    assert len(second.raw.body) == 14
    assert causes(host) == []


def test_a_wrong_crc_or_key_is_refused(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    record = terminal.record(1)
    host.give(terminal, replace(record, crc=record.crc ^ 1))
    host.run()
    host.give(terminal, replace(record, data=record.data[:-2]))  # type: ignore[attr-defined]
    host.run()
    assert len(kept(host)) == 1
    assert kept(host)[0].data == THREE_NT


@pytest.mark.parametrize(
    ("what", "data", "changes"),
    [
        (TableRecordKind.AUCTION, b"", {}),
        (TableRecordKind.AUCTION, b"\x04", {}),
        (TableRecordKind.AUCTION, b"\x00\x26\x00", {}),
        (TableRecordKind.PLAY, b"\x0e", {}),
        (TableRecordKind.PLAY, b"\x09\x34", {}),
        (TableRecordKind.PLAY, b"\x09\x01\x41", {}),  # one card twice
        (TableRecordKind.HANDS, bytes(13), {}),
        (TableRecordKind.HANDS, bytes(12), {}),
        (TableRecordKind.POSITIONS, b"\x04", {}),
        (TableRecordKind.POSITIONS, b"\x01", {"board": 1}),
        (TableRecordKind.ACCEPTED, bytes(12), {}),
        (TableRecordKind.CODE, bytes(7), {}),
        (TableRecordKind.AUCTION, THREE_NT, {"section": 9}),
        (TableRecordKind.AUCTION, THREE_NT, {"table": 9}),
        (TableRecordKind.AUCTION, THREE_NT, {"table": 0}),
        (TableRecordKind.AUCTION, THREE_NT, {"round": 0}),
        (TableRecordKind.AUCTION, THREE_NT, {"board": 99}),
        (TableRecordKind.AUCTION, THREE_NT, {"board": 0}),
        (TableRecordKind.AUCTION, THREE_NT, {"ns": 99}),
        (TableRecordKind.AUCTION, THREE_NT, {"ns": 4}),
        (TableRecordKind.AUCTION, THREE_NT, {"ew": 0}),
        (TableRecordKind.AUCTION, THREE_NT, {"by": 9}),
    ],
)
def test_nonsense_is_set_aside_and_holds_nobody_up(
    host: FakeHost, what: TableRecordKind, data: bytes, changes: dict[str, int]
) -> None:
    terminal = keeper(host)
    terminal.note(what, data, **changes)
    terminal.enter(body())
    host.run()
    assert terminal.waiting() == []
    assert [record.state for record in host.records()] == [RecordState.QUARANTINED, RecordState.STORED]
    (aside,) = kept(host)
    assert aside.kind is TableEventKind.SET_ASIDE
    assert aside.data == terminal.log[1][1]
    (alarm,) = host.alarms()
    assert alarm.kind == "quarantine"
    assert not any(name in alarm.text for name in ("spade", "heart", "♠"))


def test_an_unknown_kind_is_set_aside(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    content = bytearray(terminal.log[1][1])
    content[9] = 77
    terminal.log[1][1] = bytes(content)
    host.run()
    assert [item.kind for item in kept(host)] == [TableEventKind.SET_ASIDE]


def test_what_the_event_does_not_record_is_set_aside(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db")
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    host.run()
    assert [record.state for record in host.records()] == [RecordState.QUARANTINED]
    assert "auction" in host.alarms()[0].text
    host.close()


# --- auction and play --------------------------------------------------------------------------------------------


def test_a_contract_that_is_not_the_auctions_goes_to_the_desk(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    terminal.enter(body(strain=4))
    host.run()
    assert causes(host) == ["contract-not-of-auction"]
    terminal.enter(body(replaces=1))
    host.run()
    assert causes(host) == ["contract-not-of-auction"], "now it is right"
    terminal.enter(body(kind=PASSED, replaces=2))
    host.run()
    assert causes(host) == ["contract-not-of-auction"] * 2


def test_an_auction_that_comes_after_its_result_is_compared_as_well(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.enter(body(level=4))
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    host.run()
    assert causes(host) == ["contract-not-of-auction"]


def test_the_table_is_asked_about_its_own_auction_in_plain_words(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.AUCTION, THREE_NT)
    host.run()

    def check(**changes: int) -> EntryChecked:
        seen = len(terminal.seen)
        host.give(terminal, EntryCheck(3, body(**changes)))
        host.run()
        (answer,) = [one for one in terminal.seen[seen:] if isinstance(one, EntryChecked)]
        return answer

    assert check().code == CheckCode.FINE
    answer = check(strain=4)
    assert (answer.code, answer.text) == (
        CheckCode.CHECK,
        "The auction recorded here ended in 3NT N. Is the entry right?",
    )


def test_irregular_unfinished_and_turned_auctions_go_to_the_desk(host: FakeHost) -> None:
    terminal = keeper(host)
    insufficient = AuctionData(0, (CallData(0, 10), CallData(1, 5), CallData(2, 0), CallData(3, 0), CallData(0, 0)))
    terminal.note(TableRecordKind.AUCTION, insufficient.pack())
    host.run()
    assert causes(host) == ["auction-irregular"]
    accepted = replace(insufficient, calls=(insufficient.calls[0], CallData(1, 5, 1), *insufficient.calls[2:]))
    terminal.note(TableRecordKind.AUCTION, accepted.pack())
    host.run()
    assert causes(host) == ["auction-irregular"], "accepted by the next player (Law 27A)"
    terminal.note(TableRecordKind.AUCTION, AuctionData(1, (CallData(1, 0), CallData(2, 0))).pack())
    host.run()
    assert causes(host)[1:] == ["auction-not-by-dealer", "auction-unfinished"]


def result(text: str, tricks: int, lead: int | None = None) -> Played:
    return Played(Contract.parse(text), tricks, lead)


DEAL = Deal.from_index(12345)
HANDS = {seat: DEAL.hand(seat) for seat in Seat}


def legal_play(contract: Contract, tricks: int, seed: int = 1) -> tuple[PlayedCard, ...]:
    """Cards that keep the Laws with ``DEAL``."""
    from dealer.cards import suit_of
    from terminals.play import trick_winner

    left = {seat: set(cards) for seat, cards in HANDS.items()}
    chance, turn, told = random.Random(seed), contract.leader, []
    for _ in range(tricks):
        trick: list[PlayedCard] = []
        for _ in range(4):
            follow = [card for card in sorted(left[turn]) if trick and suit_of(card) == suit_of(trick[0].card)]
            card = chance.choice(follow or sorted(left[turn]))
            left[turn].discard(card)
            trick.append(PlayedCard(turn, card))
            turn = turn.left
        turn = trick_winner(trick, contract.strain.trump)
        told += trick
    return tuple(told)


def test_a_play_that_fits_its_result_is_quiet_and_others_are_not() -> None:
    from terminals.play import check_play

    contract = Contract.parse("3NT N")
    whole = legal_play(contract, 13)
    made = check_play(contract, whole, HANDS).declarer_tricks
    right = result("3NT N", made, whole[0].card)
    assert result_causes(right, Recorded(None, RecordedPlay(made, whole)), DEAL) == ()
    assert result_causes(right, Recorded(None, RecordedPlay(None, whole[:8])), DEAL) == ()
    assert result_causes(right, Recorded(None, RecordedPlay(None, ())), DEAL) == ()
    other = result("3NT N", made + 1 if made < 13 else made - 1)
    assert result_causes(other, Recorded(None, RecordedPlay(None, whole)), DEAL) == ("play-other-tricks",)
    assert result_causes(right, Recorded(None, RecordedPlay(other.tricks, ())), DEAL) == ("play-other-tricks",)
    lead = next(card for card in range(52) if card != whole[0].card)
    told = Recorded(None, RecordedPlay(None, whole[:1]))
    assert result_causes(result("3NT N", made, lead), told, DEAL) == ("play-other-lead",)
    turned = Recorded(None, RecordedPlay(None, (PlayedCard(Seat.WEST, whole[0].card), *whole[1:4])))
    assert "play-irregular" in result_causes(right, turned, DEAL)
    # The same cards in another deal: a revoke, or cards from no hand.
    assert "play-irregular" in result_causes(right, Recorded(None, RecordedPlay(None, whole)), Deal.from_index(99))


def test_the_newest_record_of_a_kind_counts(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.PLAY, PlayData(9, ((1, 5),)).pack())
    terminal.note(TableRecordKind.PLAY, PlayData(8, ((1, 5),)).pack())
    host.run()
    told = host.ask(lambda connection: of_play(connection, host.event, PLAY))
    assert told.play.agreed == 8
    assert "PlayedCard" not in repr(told.play)


# --- hands -------------------------------------------------------------------------------------------------------


def deals(host: FakeHost) -> dict[tuple[str, int], Any]:
    return host.ask(lambda connection: entered_deals(connection, host.setup))  # type: ignore[no-any-return]


def test_hands_are_given_out_only_when_the_board_is_confirmed_there(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.HANDS, DEAL.routing)
    host.run()
    assert deals(host) == {}, "keyed in before the board was played"
    terminal.enter(body(confirmed_by=0))
    host.run()
    assert deals(host) == {}, "the other side has not accepted"
    terminal.enter(body(replaces=1))
    host.run()
    assert deals(host)["A", 1].deal == DEAL
    terminal.enter(body(kind=4, replaces=2))
    host.run()
    assert deals(host) == {}, "erased"


def test_tables_that_key_in_different_hands_go_to_the_desk(host: FakeHost) -> None:
    host.collector.deals = lambda section, board: DEAL
    one, two = keeper(host), keeper(host, 2)
    one.enter(body())
    one.note(TableRecordKind.HANDS, DEAL.routing)
    host.run()
    assert causes(host) == []
    place = {"table": 2, "round": 3, "ns": 2, "ew": 4}
    two.enter(body(**{**place, "board": 1}))
    two.note(TableRecordKind.HANDS, Deal.from_index(7).routing, **place)
    host.run()
    assert causes(host) == ["hands-differ", "hands-not-as-dealt"]
    entered = deals(host)["A", 1]
    assert (entered.tables, entered.agreed) == (2, False)


def test_no_card_in_what_the_desk_or_a_log_sees(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.enter(body())
    terminal.note(TableRecordKind.HANDS, DEAL.routing)
    terminal.note(TableRecordKind.PLAY, PlayData(9, ((1, 5), (2, 6))).pack())
    host.run()
    item = kept(host, TableEventKind.HANDS)[0]
    assert DEAL.routing.hex() not in repr(item)
    assert repr(DEAL.routing) not in repr(item)
    assert repr(terminal.record(2)).find(repr(DEAL.routing)) < 0
    told = host.ask(lambda connection: desk.desk_events(connection, host.event))
    assert all("hands" not in str(one.data) for one in told)


# --- where the pairs sit -----------------------------------------------------------------------------------------


def test_positions_are_logged_and_the_director_hears_of_what_is_not_planned(host: FakeHost) -> None:
    terminal = keeper(host)
    terminal.note(TableRecordKind.POSITIONS, bytes([Positions.AS_PLANNED]))
    host.run()
    assert host.alarms() == []
    terminal.note(TableRecordKind.POSITIONS, bytes([Positions.CHANGED]))
    host.run()
    assert "have changed seats before the first board" in host.alarms()[0].text
    terminal.note(TableRecordKind.POSITIONS, bytes([Positions.STAY]), ns=4, ew=1)
    host.run()
    assert host.alarms()[0].text == "Table A1, round 1: pair 4 sits North-South and pair 1 East-West, not as planned."
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "positions"))
    assert [(one.data["how"], one.data["planned"]) for one in logged] == [
        ("as_planned", True),
        ("changed", True),
        ("stay", False),
    ]


# --- codes -------------------------------------------------------------------------------------------------------


def code(host: FakeHost, pair: int, digits: str) -> bytes:
    return code_verifier(digits, host.setup.id, 1, pair)


def test_the_first_code_of_a_pair_counts_and_every_table_that_it_comes_to_knows(host: FakeHost) -> None:
    one, two = keeper(host), keeper(host, 2)
    one.note(TableRecordKind.CODE, code(host, 4, "4711"), ns=4, ew=0, by=0)
    host.run()
    told = [message for message in two.seen if isinstance(message, Codes)]
    assert {one.pair: one.verifier for one in told[-1].codes} == {4: code(host, 4, "4711")}
    one.note(TableRecordKind.CODE, code(host, 4, "9999"), ns=4, ew=0, by=0)
    host.run()
    known = host.ask(lambda connection: verifiers(connection, host.event, "A"))
    assert known == {4: code(host, 4, "4711")}
    assert [alarm.kind for alarm in host.alarms()] == ["pair-code"]
    assert "9999" not in host.alarms()[0].text
    by = int(ConfirmedBy.DIRECTOR)
    one.note(TableRecordKind.CODE, bytes(8), ns=4, ew=0, by=by)
    host.run()
    assert host.ask(lambda connection: verifiers(connection, host.event, "A")) == {}
    one.note(TableRecordKind.CODE, code(host, 4, "9999"), ns=4, ew=0, by=0)
    host.run()
    assert host.ask(lambda connection: verifiers(connection, host.event, "A")) == {4: code(host, 4, "9999")}


def accepted(host: FakeHost, pair: int, verifier: bytes, told: bytes) -> bytes:
    return AcceptedData(pair, 2, 7, acceptance_proof(verifier, host.setup.id, told)).pack()


def test_who_has_accepted_is_kept_with_its_proof(host: FakeHost) -> None:
    terminal = keeper(host)
    mine = code(host, 4, "4711")
    terminal.note(TableRecordKind.CODE, mine, ns=4, ew=0, by=0)
    first = body(confirmed_by=2)
    terminal.enter(first)
    terminal.note(TableRecordKind.ACCEPTED, accepted(host, 4, mine, first))
    host.run()
    (one,) = host.ask(lambda connection: acceptances(connection, host.setup, PLAY))
    assert (one.pair, one.seat, one.proved, one.wall) == (4, "2", True, "19:30")
    assert causes(host) == []
    second = body(confirmed_by=2, tricks=8, replaces=2)
    terminal.enter(second)
    terminal.note(TableRecordKind.ACCEPTED, accepted(host, 4, mine, second))
    host.run()
    found = host.ask(lambda connection: acceptances(connection, host.setup, PLAY))
    assert [one.proved for one in found] == [True, True], "each for the result before it"


def test_an_acceptance_that_moved_into_a_new_journal_finds_its_result_in_the_old_one(host: FakeHost) -> None:
    terminal = keeper(host)
    mine = code(host, 4, "4711")
    terminal.note(TableRecordKind.CODE, mine, ns=4, ew=0, by=0)
    told = body(confirmed_by=2)
    terminal.enter(told)
    host.run()
    terminal.journal, terminal.sent = 2, 0
    terminal.note(TableRecordKind.ACCEPTED, accepted(host, 4, mine, told))
    host.give(terminal, terminal.hello())
    host.give(terminal, terminal.status())
    host.run()
    found = host.ask(lambda connection: acceptances(connection, host.setup, PLAY))
    assert [one.proved for one in found] == [True]
    assert causes(host) == []


@pytest.mark.parametrize("wrong", ["another code", "another result", "another pair", "no result", "no code"])
def test_an_acceptance_without_its_proof_goes_to_the_desk(host: FakeHost, wrong: str) -> None:
    terminal = keeper(host)
    mine = code(host, 4, "4711")
    if wrong != "no code":
        terminal.note(TableRecordKind.CODE, mine, ns=4, ew=0, by=0)
    told = body(confirmed_by=2)
    if wrong != "no result":
        terminal.enter(told)
    used = code(host, 4, "0815") if wrong == "another code" else mine
    proven = body(confirmed_by=2, tricks=10) if wrong == "another result" else told
    pair = 5 if wrong == "another pair" else 4
    terminal.note(TableRecordKind.ACCEPTED, accepted(host, pair, used, proven))
    host.run()
    assert causes(host) == ["acceptance-not-proved"]
    found = host.ask(lambda connection: acceptances(connection, host.setup, PLAY))
    assert [one.proved for one in found] == [False]


# --- any bytes ---------------------------------------------------------------------------------------------------


def test_any_table_record_is_kept_or_set_aside_and_always_acknowledged(tmp_path: Path) -> None:
    dice = random.Random(3)
    host = FakeHost(tmp_path / "events.db", an_event(**EVERYTHING))
    terminal = keeper(host)
    for _ in range(150):
        changes = {name: (value if dice.random() < 0.95 else dice.randrange(256)) for name, value in BOARD.items()}
        what = dice.choice([*TableRecordKind, TableRecordKind.AUCTION])
        data = dice.choice((THREE_NT, THREE_NT, dice.randbytes(dice.choice((1, 8, 13, 13, 40, 700)))))
        if dice.random() < 0.2:
            owners = [seat for seat in range(4) for _ in range(13)]
            dice.shuffle(owners)
            data = pack_hands(owners)
        terminal.note(what, data, **changes)
        host.run()
    host.wait(10.0)
    assert terminal.waiting() == []
    states = [record.state for record in host.records()]
    assert len(states) == 150
    assert 10 < states.count(RecordState.STORED) < 140
    assert len(kept(host)) == 150
    with host.database.transaction() as connection:
        assert not [alarm for alarm in ledger.alarms(connection) if "could not be read" in alarm.text]
    host.close()


def test_settings_say_what_is_recorded() -> None:
    assert not any(getattr(EventSettings(), name) for name in ("auction", "play", "hand_entry", "positions"))
    with pytest.raises(Exception, match="wants yes or no"):
        EventSettings().changed({"auction": "yes"})
