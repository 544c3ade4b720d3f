"""Many deals at once: the same deal for the same index, the same bytes as one by one, and the same refusals."""

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer import bulk, bulk_check, bulk_job, bulk_pbn
from dealer.board import Board
from dealer.deal import N_DEALS, Deal
from dealer.formats.api import WriteOptions, read_deals, write_deals
from dealer.generate import Origin, SeededBytes, generate, random_index
from dealer.history import history_digests
from dealer.store.history import record_deals, recording, summary
from dealer.store.schema import MIGRATIONS
from dealer.verify import FILLER, unshuffled_name
from firmware_bridge.db import Database
from firmware_bridge.errors import DealError

NORTH, EAST = 84_478_098_072_866_400, 10_400_600
EDGES = sorted(
    {0, 1, 2, N_DEALS - 1, N_DEALS - 2}
    | {k * block + d for block in (NORTH, EAST) for k in (1, 2, 3, 1000, 635_013_559_599) for d in (-1, 0, 1)}
)


def as_array(indices):
    return np.array([[i >> 64, i >> 32 & 0xFFFFFFFF, i & 0xFFFFFFFF] for i in indices], dtype=np.uint32)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, N_DEALS - 1), min_size=1, max_size=40))
def test_same_deal_for_the_same_index(indices):
    deals = bulk.unrank(as_array(indices))
    assert len(deals) == len(indices)
    for place, index in enumerate(indices):
        assert deals.deal(place) == Deal.from_index(index)
        assert deals.index_of(place) == index


def test_block_edges_and_a_thousand_random_indices():
    indices = [index for index in EDGES if 0 <= index < N_DEALS]
    indices += [random_index() for _ in range(1000)]
    deals = bulk.unrank(as_array(indices))
    assert [deals.deal(place) for place in range(len(indices))] == [Deal.from_index(index) for index in indices]
    assert bulk.rank(deals.masks).tolist() == as_array(indices).tolist()
    assert [row.tobytes() for row in bulk.routings(deals)] == [Deal.from_index(index).routing for index in indices]


def test_same_draws_and_the_same_rejections():
    drawn = bulk.random_indices(500, SeededBytes(4))
    one_by_one = SeededBytes(4)
    assert drawn.tolist() == as_array([random_index(one_by_one) for _ in range(500)]).tolist()
    limit = N_DEALS.to_bytes(12, "big")
    stream = io.BytesIO(limit + b"\xff" * 12 + (N_DEALS - 1).to_bytes(12, "big") + bytes(12))
    assert bulk.random_indices(2, stream.read).tolist() == as_array([N_DEALS - 1, 0]).tolist()


@pytest.mark.parametrize(("first", "count"), [(1, 9), (1, 120), (7, 2), (10, 90), (95, 40), (1000, 1), (99_990, 30)])
@pytest.mark.parametrize("dialect", ["export", "import"])
def test_same_bytes_as_one_by_one(first, count, dialect):
    options = WriteOptions(dialect=dialect, title="Club", set_id="ab", origin=Origin.SEEDED)
    file = io.BytesIO()
    index = bulk_job.generate_to_file([(first, count)], file, options, randbytes=SeededBytes(first))
    boards = generate(range(first, first + count), SeededBytes(first))
    assert file.getvalue() == write_deals(boards, "pbn", options)
    assert index.tolist() == as_array([board.deal.index for board in boards]).tolist()


@pytest.mark.parametrize("title", ["Zürich", "Żółw", '♠ \\"quoted\\"'])
def test_same_bytes_for_words_in_any_letters(title):
    options = WriteOptions(title=title, set_id="ab", origin=Origin.OWN)
    file = io.BytesIO()
    bulk_job.generate_to_file([(1, 20)], file, options, randbytes=SeededBytes(1))
    assert file.getvalue() == write_deals(generate(range(1, 21), SeededBytes(1)), "pbn", options)
    assert read_deals(file.getvalue()).title == title


def test_several_runs_and_many_blocks(monkeypatch):
    monkeypatch.setattr(bulk_job, "BLOCK", 50)
    monkeypatch.setattr(bulk_job, "CHUNK", 16)
    file = io.BytesIO()
    bulk_job.generate_to_file([(1, 130), (500, 70)], file, WriteOptions(), randbytes=SeededBytes(1))
    assert list(read_deals(file.getvalue()).boards) == generate([*range(1, 131), *range(500, 570)], SeededBytes(1))


def test_history_gets_the_same_rows_and_refuses_a_repeat(tmp_path):
    database = Database.open(tmp_path / "a.db", MIGRATIONS)
    about = {"set_id": "a", "origin": Origin.OWN, "dealt_on": "d"}
    with recording(database, **about) as record:
        bulk_job.generate_to_file([(1, 300)], io.BytesIO(), WriteOptions(), randbytes=SeededBytes(1), record=record)
    boards = generate(range(1, 301), SeededBytes(1))
    found = record_deals(
        database, history_digests(boards), [b.number for b in boards], set_id="b", origin=Origin.OWN, dealt_on="d"
    )
    assert [(one.board, one.earlier_board) for one in found] == [(n, n) for n in range(1, 301)]
    with pytest.raises(DealError, match="dealt here before"), recording(database, **about | {"set_id": "c"}) as record:
        bulk_job.generate_to_file([(7, 9)], io.BytesIO(), WriteOptions(), randbytes=SeededBytes(1), record=record)
    assert summary(database) == (300, 1)
    database.close()


def test_errors_of_the_second_thread_reach_the_caller():
    class Full(io.BytesIO):
        def write(self, data):
            if self.tell() > 10_000:
                raise OSError(28, "No space left on device")
            return super().write(data)

    with pytest.raises(OSError, match="No space"):
        bulk_job.generate_to_file([(1, 5000)], Full(), WriteOptions())


def test_unshuffled_and_broken_deals_are_found():
    odd = [
        Deal(bytes(card % 4 for card in range(52))),
        FILLER,
        Deal(bytes((card + 5) % 52 // 13 for card in range(52))),
    ]
    assert all(unshuffled_name(deal) for deal in odd)
    indices = [deal.index for deal in odd] + [random_index(SeededBytes(3))]
    deals = bulk.unrank(as_array(indices))
    assert bulk_check.verify_bulk(deals) == [0, 1, 2]
    deals.masks[0, 0, 3] ^= 0x1000
    assert bulk_check.verify_bulk(deals) == [0, 1, 2, 3]


def test_repeats_in_a_set_are_found():
    index = bulk.random_indices(1000, SeededBytes(2))
    assert bulk_check.repeated_places(index) == []
    index[700] = index[3]
    assert bulk_check.repeated_places(index) == [700]
    index[700, 2] ^= 1
    assert bulk_check.repeated_places(index) == []
    with pytest.raises(DealError) as caught:
        bulk_job.generate_to_file([(1, 2)], io.BytesIO(), WriteOptions(), randbytes=lambda size: bytes(size))
    assert caught.value.code in ("unshuffled", "deal-repeated")


def test_board_as_value():
    deals = bulk.unrank(bulk.random_indices(3, SeededBytes(2)))
    assert Board(1, deals.deal(0)) == generate([1], SeededBytes(2))[0]
    assert repr(deals) == "BulkDeals(3 deals)"
    assert [sum(count for _, count in bulk_pbn.runs_of_one_width(first, 1000)) for first in (1, 9, 10, 999)] == [
        1000
    ] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_two_processes_deal_the_same_as_one(monkeypatch):
    monkeypatch.setattr(bulk_job, "BLOCK", 500)
    monkeypatch.setattr(bulk_job, "CHUNK", 64)
    monkeypatch.setattr(bulk_job, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    rows = []
    for half in (None, bulk_job.second_process(1300, WriteOptions(), with_digests=True)):
        file = io.BytesIO()
        kept = []
        bulk_job.generate_to_file(
            [(95, 1200), (5000, 1)],
            file,
            WriteOptions(),
            randbytes=SeededBytes("two"),
            record=lambda *row, kept=kept: kept.append(row),
            half=half,
        )
        rows.append((file.getvalue(), kept))
    assert half is not None
    half.close()
    assert rows[0] == rows[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_second_process_that_dies_is_an_error(monkeypatch):
    monkeypatch.setattr(bulk_job, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    half = bulk_job.second_process(100, WriteOptions(), with_digests=False)
    assert half is not None
    os.kill(half._child, 9)
    with pytest.raises(DealError) as caught:
        bulk_job.generate_to_file([(1, 100)], io.BytesIO(), WriteOptions(), half=half)
    assert caught.value.code == "process-ended"
    half.close()
