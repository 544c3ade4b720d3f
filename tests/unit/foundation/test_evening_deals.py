"""Which deals of an evening enter the club's history, and what is kept for resuming."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set
from dealer.store.schema import DEALING_DB, MIGRATIONS
from firmware_bridge.db import Database
from firmware_bridge.errors import DealError
from firmware_bridge.service import evening_plan
from firmware_bridge.service.evening import prepare
from firmware_bridge.service.evening_plan import EveningRequest


def on_record(directory: Path) -> int:
    database = Database.open(directory / DEALING_DB, MIGRATIONS)
    try:
        return int(database.query("SELECT count(*) FROM history")[0][0])
    finally:
        database.close()


def test_a_seeded_evening_never_touches_the_history(tmp_path: Path) -> None:
    prepare(tmp_path, EveningRequest(tables=3, boards=10, seed=7, simulate=True))
    assert on_record(tmp_path) == 0


def test_a_real_evening_is_on_record(tmp_path: Path) -> None:
    evening = prepare(tmp_path, EveningRequest(tables=3, boards=10))
    assert on_record(tmp_path) == 10
    again = prepare(tmp_path, EveningRequest())
    assert again.resumed
    assert again.deals == evening.deals
    assert on_record(tmp_path) == 10


def test_a_file_played_in_simulation_only_is_not_on_record(tmp_path: Path) -> None:
    path = tmp_path / "deals.pbn"
    path.write_bytes(format_named("pbn").load().write(new_set(range(1, 11), seed=1).boards, WriteOptions()))
    prepare(tmp_path / "a", EveningRequest(tables=3, deals=path, simulate=True))
    assert on_record(tmp_path / "a") == 0
    prepare(tmp_path / "b", EveningRequest(tables=3, deals=path))
    assert on_record(tmp_path / "b") == 10


def test_a_generator_that_repeats_itself_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, EveningRequest(tables=3, boards=10))
    known = prepare(tmp_path, EveningRequest()).deals
    (tmp_path / evening_plan.FILE_NAME).unlink()
    fresh = new_set(range(1, 11))
    stuck = type(fresh)(fresh.id, fresh.origin, known.boards)
    monkeypatch.setattr(evening_plan, "new_set", lambda numbers, seed=None: stuck)
    with pytest.raises(DealError) as caught:
        prepare(tmp_path, EveningRequest(tables=3, boards=10))
    assert caught.value.code == "dealt-before"
    assert not (tmp_path / evening_plan.FILE_NAME).exists()
