"""What a program says and what it hears agree in the end: its echo changes nothing, and its own word is never undone by
older news that it fetches later."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from dc_host import ERASED, PASSED, Host, a_client, ok
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dc_workflow import COMMANDS, an_update, full_event, raw

from dealer.cards import Seat
from dealer.deal import Deal
from terminals.contract import Contract, Doubling, Strain
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
)
from terminals.store import results, table_events
from terminals.store.data_connector import restore_queues
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import PlayKey, RecordKey

KINDS = dto.DataConnectorResponseData
GAME = Played(Contract(4, Strain.SPADES, Doubling.NONE, Seat.EAST), 10, 17)
LESS = Played(Contract(4, Strain.SPADES, Doubling.NONE, Seat.EAST), 9)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        GAME,
        PassedOut(),
        NotPlayed(),
        NotPlayed(NotPlayedReason.NO_TIME, "late"),
        Artificial(Average.PLUS, Average.MINUS),
        Artificial(FixedPercent(Fraction(60)), Average.MINUS),
        Artificial(FixedPercent(Fraction(55)), Average.EVEN),
        Assigned((Outcome(GAME),), (Outcome(LESS),)),
        Assigned((Outcome(GAME, Fraction(1, 2)), Outcome(LESS, Fraction(1, 2))), Average.PLUS),
        Assigned((Outcome(420),), (Outcome(420),)),
    ],
    ids=str,
)
def test_what_a_program_was_told_changes_nothing_when_it_says_it_again(
    host: Host, content: BoardState, turned: bool
) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    play = PlayKey("A", 1, 2, 1) if turned else PlayKey("A", 1, 1, 2)
    host.direct(lambda d: d.rule(play, content))
    told = client.poll_for_results(events.SESSION)
    assert len(told) == 1
    before, alarms = host.current(), host.alarms()
    for accepted in range(2):
        ok(client.send_results(events.SESSION, told))
        for one in told:  # some forget the lead
            one.lead_card_rank = one.lead_card_suit = 0
        ok(client.send_results(events.SESSION, [*told, *told]))
        assert host.answers[-1].messages == ()
        assert host.current() == before
        assert host.alarms() == alarms
        assert len(client.poll_for_results(events.SESSION)) == 1 - accepted
        ok(client.accept_queue_data(events.SESSION, KINDS.Results))


def test_the_desk_hears_when_a_ruling_that_can_not_be_told_is_replaced(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.direct(lambda d: d.artificial(PlayKey("A", 1, 1, 2), FixedPercent(Fraction(55)), Average.EVEN))
    client.poll_for_results(events.SESSION)
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2)]))
    assert isinstance(host.result(1, 1, 2), Played)
    assert sum("replaced" in text and "board 1" in text for text in host.alarms()) == 1
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=7)]))
    assert sum("replaced" in text for text in host.alarms()) == 1


def test_many_results_in_one_message_are_looked_up_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs send, send again and erase thousands; tables wait while each of them is compared with all others."""
    client = a_client(host)
    ok(client.initialize(full_event()))
    looked: list[int] = []
    real = results.current
    monkeypatch.setattr(results, "current", lambda *words, **more: looked.append(1) or real(*words, **more))
    boards = [
        (t, r, *row) for t, rows in enumerate(events.howell_two(), start=1) for r, row in enumerate(rows, start=1)
    ]
    every = [events.a_result(t, r, board, ns, ew) for t, r, ns, ew, low, high in boards for board in (low, high)]
    counts = []
    for sent in (every[:1], every, every, every[:1]):
        for erased in (False, True):
            for one in sent:
                one.is_deleted = erased
            looked.clear()
            ok(client.send_results(events.SESSION, sent))
            counts.append(len(looked))
    assert len(set(counts)) == 1, counts


def test_a_correction_comes_behind_older_news_of_its_board(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2, tricks=8)
    host.key_in(1, 1, 2, 1, 2, tricks=8)
    correction = events.a_result(1, 1, 1, 1, 2, total_tricks=11)
    client._transport.lose = 2  # type: ignore[attr-defined]
    ok(client.send_results(events.SESSION, [correction]))
    found = client.poll_for_results(events.SESSION)
    assert [(one.board_number, one.total_tricks) for one in found] == [(1, 8), (2, 8), (1, 11)]
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 2, 1, 2, is_deleted=True)]))
    assert client.poll_for_results(events.SESSION)[-1].is_deleted
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=7)]))
    assert client.poll_for_results(events.SESSION) == []


def test_cleared_and_restored_queues_keep_the_order_of_words(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2, tricks=8)
    client.poll_for_results(events.SESSION)
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=11)]))
    assert len(client.poll_for_results(events.SESSION, all=True)) == 2
    ok(raw(client, COMMANDS.ClearData, "", ""))
    assert client.poll_for_results(events.SESSION, all=True) == []
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=12)]))
    with host.database.transaction() as connection:
        assert restore_queues(connection, "CLUB") == 2
    host = host.restart()
    client = a_client(host)
    assert [one.total_tricks for one in client.poll_for_results(events.SESSION, all=True)] == [8, 11, 12]
    assert client.poll_for_results(events.SESSION) == []
    host.database.close()


def test_so_do_seats_players_deals_and_calls(host: Host) -> None:
    client = a_client(host)
    init = full_event()
    init.handrecords = []
    ok(client.initialize(init))
    host.seat("A", 1, "1", "77", "Eva Nováková")
    seat = events.a_seat(1, 1, "3")
    client._transport.lose = 2  # type: ignore[attr-defined]
    ok(client.send_participations(events.SESSION, [seat]))
    assert [one.player_number for one in client.poll_for_participations(events.SESSION)] == ["77", "3"]
    assert [one.last_name for one in client.poll_for_player_data(events.SESSION)] == ["Nováková"]
    ok(client.send_player_data(events.SESSION, [events.a_player("77", last="Nová")]))
    assert [one.last_name for one in client.poll_for_player_data(events.SESSION)] == ["Nováková", "Nová"]

    host.key_in(1, 1, 1, 1, 2)
    hands = TableEvent(TableEventKind.HANDS, "A", 1, 1, 2, 1, 1, RecordKey(9, 9, 1), 1, Deal.from_index(0).routing)
    with host.database.transaction() as connection:
        table_events.append(connection, host.event, hands)
    assert len(client.poll_for_handrecords(events.SESSION)) == 1
    own = events.a_deal(1)
    for _ in range(2):
        ok(client.send_handrecords(events.SESSION, [own]))
    assert client.poll_for_handrecords(events.SESSION)[1:] == [own]

    host.call(1, 1)
    (call,) = client.poll_for_td_calls(events.SESSION)
    call.status = 2
    for _ in range(2):
        ok(client.send_td_calls(events.SESSION, [call]))
    assert [int(one.status) for one in client.poll_for_td_calls(events.SESSION)] == [1, 2]
    for kind in (KINDS.Participations, KINDS.PlayerData, KINDS.Handrecords, KINDS.TdCalls):
        ok(client.accept_queue_data(events.SESSION, kind))
    call.status = 3
    ok(client.send_td_calls(events.SESSION, [call]))
    ok(client.send_participations(events.SESSION, [events.a_seat(1, 1, "4")]))
    assert client.poll_for_td_calls(events.SESSION) == []
    assert client.poll_for_participations(events.SESSION) == []


def test_what_tables_changed_before_the_event_is_sent_again_is_told_first(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.seat("A", 1, "1", "77", "Eva Nováková")
    host.key_in(1, 1, 1, 1, 2)
    again = full_event()
    again.commands = 5
    ok(client.initialize(again))
    assert [one.player_number for one in client.poll_for_participations(events.SESSION)] == ["77", "1"]
    assert len(client.poll_for_results(events.SESSION)) == 1
    host.seat("A", 1, "2", "78", "Jan Kot")
    section = events.a_section(events.howell_two())
    update = an_update(section)
    update.participations = [events.a_seat(1, 3, "5")]
    ok(client.update_movement(update))
    found = client.poll_for_participations(events.SESSION)
    assert [one.player_number for one in found if one.direction == dto.TableDirection.South] == ["78", "5"]


Key = tuple[int, int, int]


class Program:
    """It knows of each board what it heard or said last."""

    def __init__(self, host: Host) -> None:
        self.client = a_client(host)
        self.known: dict[Key, Any] = {}

    def poll(self, everything: bool) -> None:
        for one in self.client.poll_for_results(events.SESSION, all=everything):
            self.known[one.table_number, one.round_number, one.board_number] = _words(one)

    def say(self, one: dto.ResultDTO) -> None:
        ok(self.client.send_results(events.SESSION, [one]))
        self.known[one.table_number, one.round_number, one.board_number] = _words(one)


def _words(one: dto.ResultDTO) -> Any:
    return None if one.is_deleted else (one.level, one.total_tricks if one.level > 0 else 0)


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_program_and_store_agree_in_the_end(seed: int) -> None:
    """Tables key in, correct and erase; the program polls, accepts or not, corrects, erases and repeats itself."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        host = Host(Path(name) / "events.db")
        program = Program(host)
        ok(program.client.initialize(full_event()))
        for _ in range(14):
            _something(host, program, rng)
        program.poll(False)
        after_a_crash = Program(host)
        after_a_crash.poll(True)
        stored = {
            (1, 1, row.play.board): None
            if row.content is None
            else (row.content.contract.level, row.content.tricks)
            if isinstance(row.content, Played)
            else (0, 0)
            for row in host.current()
        }
        assert {key: words for key, words in program.known.items() if words} == {
            key: words for key, words in stored.items() if words
        }
        assert all(stored.get(key) == words for key, words in after_a_crash.known.items())
        host.database.close()


def _something(host: Host, program: Program, rng: random.Random) -> None:
    board, luck, seq = rng.choice([1, 2]), rng.random(), host.seqs.get(101, 0)
    if luck < 0.35:
        kind = {"kind": PASSED} if rng.random() < 0.3 else {"tricks": rng.randrange(14)}
        host.key_in(1, 1, board, 1, 2, replaces=rng.choice([0, 1]) if seq else 0, may_fail=True, **kind)
    elif luck < 0.4 and seq:
        host.key_in(1, 1, board, 1, 2, kind=ERASED, replaces=1, may_fail=True)
    elif luck < 0.65:
        program.poll(rng.random() < 0.1)
        if rng.random() < 0.5:
            ok(program.client.accept_queue_data(events.SESSION, KINDS.Results))
    else:
        one = events.a_result(1, 1, board, 1, 2, total_tricks=rng.randrange(14), is_deleted=rng.random() < 0.2)
        for _ in range(rng.choice([1, 1, 2])):
            program.say(one)
