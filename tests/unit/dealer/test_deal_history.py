"""The club's history: a repeat is found under any number, a fault for own sets only, and never kept half."""

import hashlib

import pytest

from dealer.board import Board
from dealer.generate import Origin, SeededBytes, generate
from dealer.history import history_digest, history_digests, repeats_as_findings
from dealer.store.history import find_deals, list_sets, record_deals, summary
from dealer.store.schema import DEALING_DB, MIGRATIONS
from firmware_bridge.db import Database

BOARDS = generate(range(1, 9), SeededBytes(11))


@pytest.fixture
def database(tmp_path):
    database = Database.open(tmp_path / DEALING_DB, MIGRATIONS)
    yield database
    database.close()


def record(database, boards, set_id, origin=Origin.OWN):
    numbers = [board.number for board in boards]
    return record_deals(database, history_digests(boards), numbers, set_id=set_id, origin=origin, dealt_on="2026-01-02")


def test_digest_is_16_bytes_of_sha_256_without_the_number():
    deal = BOARDS[0].deal
    expected = hashlib.sha256(b"firmware-bridge deal history\x00" + deal.routing).digest()[:16]
    assert history_digest(deal.routing) == expected
    assert history_digests([Board(1, deal), Board(2, deal)]) == [expected, expected]


def test_repeat_is_found_under_another_number_and_nothing_is_recorded(database):
    assert record(database, BOARDS, "a") == []
    assert summary(database) == (8, 1)
    again = [*generate([1, 2], SeededBytes(5)), Board(30, BOARDS[2].deal)]
    [repeat] = record(database, again, "b")
    assert (repeat.board, repeat.earlier_board, repeat.set_id, repeat.dealt_on) == (30, 3, "a", "2026-01-02")
    assert summary(database) == (8, 1)
    [finding] = repeats_as_findings([repeat])
    assert (finding.code, finding.board) == ("dealt-before", 30)


@pytest.mark.parametrize("origin", [Origin.EXTERNAL, Origin.REPLAY, Origin.CONSTRAINED])
def test_repeat_is_reported_and_recorded_for_other_origins(database, origin):
    record(database, BOARDS, "a")
    mixed = [Board(1, BOARDS[0].deal), *generate([2, 3], SeededBytes(5))]
    assert len(record(database, mixed, "b", origin)) == 1
    assert summary(database) == (10, 2)
    assert list_sets(database) == [("b", origin.value, "2026-01-02", 2), ("a", "own", "2026-01-02", 8)]


def test_recording_a_set_again_or_extending_it_is_no_repeat(database):
    record(database, BOARDS[:4], "a")
    assert record(database, BOARDS, "a") == []
    assert summary(database) == (8, 1)


def test_many_deals_over_several_statements(database):
    digests = [hashlib.sha256(b"%d" % number).digest()[:16] for number in range(20_000)]
    numbers = list(range(1, 20_001))
    assert record_deals(database, digests, numbers, set_id="a", origin=Origin.OWN, dealt_on="d") == []
    found = find_deals(database, digests[9_000:18_500], list(range(9_500)))
    assert [one.earlier_board for one in found] == list(range(9_001, 18_501))
    assert [one.board for one in found] == list(range(9_500))
