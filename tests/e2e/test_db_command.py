"""``db`` after an evening: copies, exports and a rebuild that give what the evening gave."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest
from evening_runs import Run, evening, firmware_bridge

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("played") / "data"
    assert firmware_bridge(*evening(data, tables=3, boards=10)).code == 0
    return data


def db(data: Path, *words: str) -> Run:
    return firmware_bridge("db", *words, "--data", str(data), "--json")


def test_check_counts_what_is_there(played: Path) -> None:
    run = db(played, "check")
    assert run.code == 0
    assert run.result["records"]["stored"] == 30


def test_a_backup_is_a_data_directory_of_its_own(played: Path, tmp_path: Path) -> None:
    assert db(played, "backup", str(tmp_path)).code == 0
    assert db(tmp_path, "check").result["records"] == db(played, "check").result["records"]


def test_a_backup_is_put_back_with_one_command(played: Path, tmp_path: Path) -> None:
    copy, data = tmp_path / "stick.db", tmp_path / "data"
    assert db(played, "backup", str(copy)).code == 0
    data.mkdir()
    (data / "events.db").write_bytes(b"SQLite format 3\0" + bytes(9000))
    damaged = db(data, "check")
    assert damaged.code in (1, 2)
    run = db(data, "restore", str(copy))
    assert run.code == 0
    assert Path(run.result["kept"]).exists()
    assert db(data, "check").result["records"]["stored"] == 30
    assert db(data, "restore", str(tmp_path / "none.db")).code == 1
    assert db(played, "backup", str(played)).code == 1  # never over itself
    assert db(played, "backup", str(tmp_path / "no-stick" / "x.db")).code == 1


def test_an_export_has_every_record_once(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "event.jsonl"
    run = db(played, "export", str(out))
    assert run.code == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == run.result["lines"] >= 60


def test_a_rebuild_of_a_good_database_changes_nothing(played: Path) -> None:
    assert db(played, "rebuild").result["changed"] == 0


def test_a_damaged_database_is_told(played: Path, tmp_path: Path) -> None:
    assert db(played, "backup", str(tmp_path)).code == 0
    content = bytearray((tmp_path / "events.db").read_bytes())
    content[4096:12288] = bytes(8192)
    (tmp_path / "events.db").write_bytes(content)
    run = db(tmp_path, "check")
    assert run.code == 1
    assert run.result["error"]["next"]


def test_a_person_is_erased_and_results_stay(played: Path, tmp_path: Path) -> None:
    assert db(played, "backup", str(tmp_path)).code == 0
    connection = sqlite3.connect(tmp_path / "events.db")
    (event,) = connection.execute("SELECT id FROM event").fetchone()
    connection.execute("INSERT INTO person VALUES (?, 'A', 1, 'N', '77', 'Zofia Nowak')", (event,))
    connection.commit()
    connection.close()
    assert db(tmp_path, "erase-person").code == 2
    assert db(tmp_path, "erase-person", "--number", "77").result["places"] == 1
    assert db(tmp_path, "check").result["records"]["stored"] == 30
    out = tmp_path / "event.jsonl"
    assert db(tmp_path, "export", str(out)).code == 0
    assert "Zofia" not in out.read_text(encoding="utf-8")


def test_without_a_database_it_is_wrong_use(tmp_path: Path) -> None:
    for words in (["check"], ["backup", str(tmp_path / "x")], ["export", str(tmp_path / "y")], ["rebuild"]):
        assert db(tmp_path / "none", *words).code == 2
