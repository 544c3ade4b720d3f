"""Deals for the program: what players key in after a board, and what the club dealt, each once and not too early."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import client_events as events
import pytest
from bridgemate_dataconnector import dto, validation
from dc_host import Host, a_client, ok

from dealer.cards import Seat
from dealer.deal import Deal
from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.connector import Caller
from terminals.interop.data_connector.deals import deals_of
from terminals.result import NotPlayedReason
from terminals.store import table_events
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import PlayKey, RecordKey

TABLES = ((1, 1, 1, 2), (2, 1, 3, 4), (1, 2, 1, 3), (2, 2, 4, 2), (1, 3, 1, 4), (2, 3, 2, 3))
"""Table, round, pairs of ``howell_two``."""
SUITS = ("clubs", "diamonds", "hearts", "spades")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


def a_deal(seed: int) -> Deal:
    cards = random.Random(seed).sample(range(52), 52)
    return Deal.from_hands([cards[13 * seat : 13 * seat + 13] for seat in range(4)])


def hands(host: Host, board: int, deal: Deal, table: int = 1, section: str = "A") -> None:
    """A table keys in the four hands of a board."""
    at = next(one for one in TABLES if one[0] == table and board in (2 * one[1] - 1, 2 * one[1]))
    seq = table_events.newest(host.database._connection, host.event, TableEventKind.HANDS) + 1
    key = RecordKey(9, 9, seq)
    item = TableEvent(TableEventKind.HANDS, section, board, at[2], at[3], at[1], table, key, 1, deal.routing)
    with host.database.transaction() as connection:
        table_events.append(connection, host.event, item)


def as_deal(told: dto.HandrecordDTO) -> Deal:
    """Read in the other direction, without any of our code."""
    owned = []
    for seat in ("north", "east", "south", "west"):
        owned.append([])
        for index, suit in enumerate(reversed(SUITS)):
            owned[-1] += [13 * index + "AKQJT98765432".index(rank) for rank in getattr(told, f"{seat}_{suit}")]
    return Deal.from_hands(dict(zip(Seat, owned, strict=True)))


def test_hands_keyed_in_reach_the_program_once_the_result_is_confirmed(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event()))
    deal = a_deal(1)
    hands(host, 1, deal)
    assert client.poll_for_handrecords(events.SESSION) == []
    host.key_in(1, 1, 1, 1, 2, confirmed_by=0)
    assert client.poll_for_handrecords(events.SESSION) == [], "the other side has not accepted the board"
    host.key_in(1, 1, 1, 1, 2, confirmed_by=1, replaces=1)
    (told,) = client.poll_for_handrecords(events.SESSION)
    assert validation.validate_handrecord_dto(told)
    assert (told.session_guid, told.section_letters, told.board_number) == (events.SESSION, "A", 1)
    assert told.scoring_group_number == 1
    assert as_deal(told) == deal
    assert deals_of(host.database._connection, host.event)["A"][1] == deal, "what is told is read back the same"
    assert len(client.poll_for_handrecords(events.SESSION)) == 1
    ok(client.accept_queue_data(events.SESSION, dto.DataConnectorResponseData.Handrecords))
    assert client.poll_for_handrecords(events.SESSION) == []
    hands(host, 1, deal, table=2)
    host.key_in(2, 1, 1, 3, 4)
    assert client.poll_for_handrecords(events.SESSION) == [], "the same deal from another table is no news"
    assert len(client.poll_for_handrecords(events.SESSION, all=True)) == 1


def test_tables_that_disagree_and_deals_that_the_program_knows_make_none(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(handrecords=[events.a_deal(2)])))
    for table, (ns, ew) in ((1, (1, 2)), (2, (3, 4))):
        for board in (1, 2):
            host.key_in(table, 1, board, ns, ew)
            hands(host, board, a_deal(10 * table), table)
    assert client.poll_for_handrecords(events.SESSION) == []
    hands(host, 1, a_deal(10), 2)
    (told,) = client.poll_for_handrecords(events.SESSION)
    assert (told.board_number, as_deal(told)) == (1, a_deal(10)), "one table has put it right"


def test_one_section_of_a_scoring_group_is_enough(host: Host) -> None:
    client = a_client(host)
    sections = [events.a_section(events.howell_two(), letters) for letters in ("A", "B")]
    ok(client.initialize(events.an_event(events.a_session(sections))))
    for number, letter in ((1, "A"), (2, "B")):
        host.key_in(1, 1, 1, 1, 2, section=number)
        hands(host, 1, a_deal(1), section=letter)
    assert [one.section_letters for one in client.poll_for_handrecords(events.SESSION)] == ["A"]


def test_what_the_club_dealt_waits_until_nobody_has_the_board_before_him(host: Host) -> None:
    dealt = {board: a_deal(board) for board in range(1, 7)}
    client = a_client(host, Caller(dealt=dealt))
    ok(client.initialize(events.an_event()))
    for table, number, ns, ew in TABLES[:3]:
        for board in (2 * number - 1, 2 * number):
            host.key_in(table, number, board, ns, ew)
    found = client.poll_for_handrecords(events.SESSION)
    assert [one.board_number for one in found] == [1, 2], "boards 3 and 4 are still to be played at table 2"
    assert [as_deal(one) for one in found] == [dealt[1], dealt[2]]
    ok(client.accept_queue_data(events.SESSION, dto.DataConnectorResponseData.Handrecords))
    host.direct(lambda director: director.not_played(PlayKey("A", 3, 4, 2), NotPlayedReason.NO_TIME, ""))
    host.key_in(2, 2, 4, 4, 2)
    again = client.poll_for_handrecords(events.SESSION)
    assert [one.board_number for one in again] == [3, 4]
    assert shapes.read_rows(shapes.DEAL, [one.to_dict() for one in again])


def test_the_settings_open_and_close_the_entry_of_hands(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(bridgemate2_settings=[events.bm2(bm2_enter_hand_record=True)])))
    assert host.setup.settings.hand_entry
    never = events.bm2(bm2_enter_hand_record=True)
    never.bm2_enter_hand_record_when = dto.Bm2EnterHandrecordWhenOption(2)
    ok(client.send_bridgemate2_settings(events.SESSION, [never]))
    assert not host.setup.settings.hand_entry
