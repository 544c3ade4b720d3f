"""The double-dummy cache feeds the checks at the tables: what was solved counts, what was not is no obstacle."""

from __future__ import annotations

from pathlib import Path

from dealer.cards import Seat
from dealer.deal import Deal
from dealer.store.dd_cache import CACHE_DB, MIGRATIONS, store_tables
from firmware_bridge.db import Database
from firmware_bridge.service.solved_deals import solved_deals
from terminals.contract import Contract, Strain
from terminals.entry import NEUTRAL, NOT_POSSIBLE, Behind, Budget, Entry, Known, check
from terminals.result import Played

DEAL, OTHER = Deal.from_index(7), Deal.from_index(8)
# By strain S, H, D, C, NT and seat N, E, S, W: each number is told apart.
TRICKS = tuple(tuple(strain + seat for seat in range(4)) for strain in range(5))


def solve(directory: Path, deal: Deal) -> None:
    database = Database.open(directory / CACHE_DB, MIGRATIONS)
    store_tables(database, {deal: TRICKS})
    database.close()


def test_without_a_cache_nothing_is_known_and_none_is_made(tmp_path: Path) -> None:
    assert solved_deals(tmp_path)(DEAL) is None
    assert not (tmp_path / CACHE_DB).exists()


def test_a_deal_is_found_as_soon_as_somebody_has_solved_it(tmp_path: Path) -> None:
    look_up = solved_deals(tmp_path)
    assert look_up(DEAL) is None
    solve(tmp_path, OTHER)
    assert look_up(DEAL) is None
    solve(tmp_path, DEAL)
    found = look_up(DEAL)
    assert found is not None
    assert found[Seat.NORTH, Strain.SPADES] == 0
    assert found[Seat.WEST, Strain.NOTRUMP] == 7
    assert found[Seat.EAST, Strain.CLUBS] == 4
    (tmp_path / CACHE_DB).unlink()
    assert look_up(DEAL) == found, "it is remembered"


def test_a_cache_that_is_no_database_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / CACHE_DB).write_bytes(b"not a database, " * 100)
    assert solved_deals(tmp_path)(DEAL) is None


def test_a_result_far_from_double_dummy_gets_the_neutral_question(tmp_path: Path) -> None:
    solve(tmp_path, DEAL)
    table = solved_deals(tmp_path)(DEAL)  # West makes seven tricks in notrump
    entry = Entry(1, 1, 1, 1, 4, Played(Contract.parse("3NT W"), 12))
    verdict = check(entry, Known(), Behind(DEAL, table), Budget())
    assert verdict.causes == (NOT_POSSIBLE,)
    assert [notice.text for notice in verdict.notices] == [NEUTRAL]
    near = Entry(1, 1, 1, 1, 4, Played(Contract.parse("3NT W"), 10))
    assert check(near, Known(), Behind(DEAL, table), Budget()).causes == ()
