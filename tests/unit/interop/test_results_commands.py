"""``results convert``, ``print``, ``profiles``, ``slips`` and ``enter``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from interop_sessions import mitchell, published, with_rulings

from firmware_bridge.cli.main import main
from terminals.interop.audit import audit_event
from terminals.interop.result_files import read_results_file
from terminals.interop.usebio_write import write_usebio

Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def run(arguments: list[str], capsys: Captured) -> tuple[int, dict[str, object]]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.xml"
    path.write_bytes(write_usebio(published(with_rulings(mitchell()))))
    return path


@pytest.mark.parametrize("suffix", [".xml", ".pbn", ".json"])
def test_formats_that_read_back(suffix: str, file: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / f"out{suffix}"
    code, answer = run(["results", "convert", str(file), "--out", str(out)], capsys)
    assert (code, answer["lines"]) == (0, 98)
    assert audit_event(read_results_file(out)).equal


@pytest.mark.parametrize("name", ["csv", "ranking-csv", "bridgewebs"])
def test_formats_for_others(name: str, file: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.csv"
    assert run(["results", "convert", str(file), "--out", str(out), "--to", name], capsys)[0] == 0
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")


def test_an_unknown_extension_is_wrong_use(file: Path, tmp_path: Path, capsys: Captured) -> None:
    code, answer = run(["results", "convert", str(file), "--out", str(tmp_path / "out.doc")], capsys)
    assert code == 2
    assert "error" in answer
    assert run(["results", "convert", str(file), "--out", str(tmp_path / "no" / "out.xml")], capsys)[0] == 2


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (["td", "slips"], ".foo"),
        (["results", "slips", "howell:3x2"], ".docx"),
        (["results", "print", "FILE", "ranking"], ".html"),
        (["results", "enter", "howell:3x2"], ".pdf"),
        (["results", "combine", "FILE"], ".xml"),
        (["results", "rule", "FILE", "FILE"], ".xml"),
    ],
)
def test_nothing_is_written_under_the_name_of_another_kind(
    command: list[str], ending: str, file: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / f"out{ending}"
    words = [str(file) if word == "FILE" else word for word in command]
    code, answer = run([*words, "--out", str(out)], capsys)
    assert code == 2
    assert ending in str(answer["error"])
    assert not out.exists()


@pytest.mark.parametrize("what", ["ranking", "travellers", "scorecards"])
def test_printing(what: str, file: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.pdf"
    assert run(["results", "print", str(file), what, "--out", str(out), "--paper", "letter"], capsys)[0] == 0
    assert out.read_bytes().startswith(b"%PDF-")


def test_profiles_are_listed_and_shown_with_their_sources(capsys: Captured) -> None:
    code, answer = run(["results", "profiles"], capsys)
    assert code == 0
    assert [one["name"] for one in answer["profiles"]] == ["wbf", "ebu", "acbl", "pzbs", "plain"]  # type: ignore[attr-defined]
    assert main(["results", "profiles", "ebu"]) == 0
    page = capsys.readouterr().out
    assert "White Book" in page
    assert "club's choice" in page
    assert main(["results", "profiles", "nowhere"]) == 2


def test_slips(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "slips.pdf"
    code, answer = run(["results", "slips", "mitchell:5x2", "--out", str(out)], capsys)
    assert (code, answer["slips"]) == (0, 25)
    assert out.read_bytes().startswith(b"%PDF-")


def typed(patch: Patch, *lines: str) -> None:
    patch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))


def test_a_whole_evening_on_paper(tmp_path: Path, capsys: Captured, monkeypatch: Patch) -> None:
    out = tmp_path / "evening.json"
    command = ["results", "enter", "mitchell:3x2", "--out", str(out), "--title", "Paper", "--date", "2026-11-26"]
    typed(monkeypatch, "3nt n 10", "nonsense", "p", "u", "4sxe-2 hk", "q")
    code, answer = run(command, capsys)
    assert (code, answer["entered"], answer["missing"], answer["rejected"]) == (0, 2, 16, 1)
    typed(monkeypatch, "s", "g 3 1", "g 9 9", "?", "1nt n 7", "1nt s 8", *["1c n 7"] * 20)
    code, answer = run(command, capsys)
    assert (code, answer["entered"], answer["missing"], answer["rejected"]) == (0, 18, 0, 1)
    event = read_results_file(out)
    assert (event.title, event.date, event.winners, len(event.lines)) == ("Paper", "2026-11-26", 2, 18)
    assert audit_event(event).equal
    assert {one.direction for one in event.entrants} == {"NS", "EW"}
    typed(monkeypatch, "")
    assert run(["results", "enter", "mitchell:5x2", "--out", str(out)], capsys)[0] == 1
    assert run(["results", "enter", "mitchell:3x2", "--out", str(out), "--date", "soon"], capsys)[0] == 2


def test_an_individual_on_paper(tmp_path: Path, capsys: Captured, monkeypatch: Patch) -> None:
    out = tmp_path / "evening.json"
    typed(monkeypatch, *["1nt n 7"] * 500)
    code, answer = run(["results", "enter", "rainbow:5x1", "--out", str(out)], capsys)
    assert code == 0
    assert answer["missing"] == 0
    event = read_results_file(out)
    assert len(event.entrants) == 20
    assert {one.place for one in event.entrants} == {"1="}
    typed(monkeypatch, "")
    assert run(["results", "enter", "rainbow:5x1", "--out", str(out)], capsys)[1]["missing"] == 0
