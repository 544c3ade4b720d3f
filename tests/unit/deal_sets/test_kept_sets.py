"""A set in play is kept as it is, and only its owner can read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dealer.generate import DealSet, new_set
from dealer.store.schema import MIGRATIONS
from dealer.store.sets import load_set, save_set
from firmware_bridge.db import Database
from firmware_bridge.errors import StoreError


def test_a_set_comes_back_and_can_be_extended(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "dealing.db", MIGRATIONS)
    deals = new_set(range(1, 5), seed=3)
    save_set(database, deals)
    save_set(database, deals)
    assert load_set(database, deals.id) == deals
    longer = deals.extended(new_set([5], seed=4).boards)
    save_set(database, longer)
    assert load_set(database, deals.id) == longer
    assert load_set(database, "0" * 16) is None


def test_a_kept_board_never_changes(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "dealing.db", MIGRATIONS)
    deals = new_set([1, 2], seed=3)
    save_set(database, deals)
    with pytest.raises(StoreError) as caught:
        save_set(database, DealSet(deals.id, deals.origin, new_set([1, 2], seed=4).boards))
    assert caught.value.code == "set-differs"
    assert load_set(database, deals.id) == deals


def test_no_hand_stands_in_the_file_as_text(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "dealing.db", MIGRATIONS)
    deals = new_set([1], seed=3)
    save_set(database, deals)
    database.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for hand in deals.boards[0].deal.to_pbn()[2:].split():
        assert hand.encode() not in content
    assert str(deals.boards[0].deal.index).encode() not in content
    if os.name == "posix":
        assert (tmp_path / "dealing.db").stat().st_mode & 0o077 == 0
