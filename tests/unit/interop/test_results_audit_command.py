"""``results audit FILE [--profile P] --json`` as a person and as a script call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from interop_sessions import mitchell, published

from firmware_bridge.cli.main import main
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.results_json import write_results_json
from terminals.interop.usebio_write import write_usebio

Captured = pytest.CaptureFixture[str]


def run(arguments: list[str], capsys: Captured) -> tuple[int, dict[str, object], str]:
    code = main(["results", "audit", *arguments, "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out.splitlines()[-1]), captured.err


@pytest.mark.parametrize("writer", [write_usebio, write_pbn_results, write_results_json])
def test_a_clean_file_ends_with_0(writer, tmp_path: Path, capsys: Captured) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "results"
    path.write_bytes(writer(published(mitchell())))
    code, answer, _ = run([str(path)], capsys)
    assert code == 0
    assert answer["ok"] is True
    assert answer["command"] == "results audit"
    assert (answer["lines"], answer["contract_scores_checked"]) == (98, 98)
    assert answer["score_mismatches"] == answer["points_mismatches"] == answer["total_mismatches"] == []
    assert answer["profile"] == "plain"


def test_differences_end_with_1_and_are_listed(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(write_usebio(published(mitchell())).replace(b"<TRICKS>", b"<TRICKS>0", 0))
    text = path.read_text()
    start = text.index("<SCORE>")
    end = text.index("</SCORE>")
    path.write_text(text[:start] + "<SCORE>9990" + text[end:])
    code, answer, err = run([str(path)], capsys)
    assert code == 1
    assert answer["ok"] is False
    faults = answer["score_mismatches"]
    assert isinstance(faults, list)
    assert faults[0]["published"] == 9990
    assert "1 published number differs" in err
    assert main(["results", "audit", str(path)]) == 1
    page = capsys.readouterr().out
    assert "published     9990" in page
    assert "Not all published numbers are equal." in page


def test_the_page_of_a_clean_file(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(write_usebio(published(mitchell())))
    assert main(["results", "audit", str(path)]) == 0
    page = capsys.readouterr().out
    assert "98 checked, all equal" in page
    assert "All published numbers are equal." in page


def test_a_profile_of_ones_own(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(write_usebio(published(mitchell())))
    assert run([str(path), "--profile", "ebu"], capsys)[0] == 0
    assert run([str(path), "--profile", "acbl"], capsys)[0] == 1
    assert run([str(path), "--profile", "nowhere"], capsys)[0] == 2
    own = tmp_path / "own.toml"
    own.write_text('[profile]\nname = "own"\nversion = 1\n[matchpoints]\nscale = { value = 1 }\n')
    code, answer, _ = run([str(path), "--profile", str(own)], capsys)
    assert (code, answer["profile"]) == (1, "own")


@pytest.mark.parametrize("content", [None, b"", b"hello", b"<USEBIO/>", b"<USEBIO><EVENT>", b"\x00\x01\x02"])
def test_what_can_not_be_read_ends_with_2(content: bytes | None, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "results.xml"
    if content is not None:
        path.write_bytes(content)
    code, answer, err = run([str(path)], capsys)
    assert code == 2
    assert answer["ok"] is False
    assert "Traceback" not in err
    error = answer["error"]
    assert isinstance(error, dict)
    assert str(path) in error["where"]


def test_a_line_that_can_not_be_ends_with_1(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "results.xml"
    text = write_usebio(published(mitchell())).decode().replace("<BOARD_NUMBER>1<", "<BOARD_NUMBER>one<", 1)
    path.write_text(text)
    code, answer, _ = run([str(path)], capsys)
    assert code == 1
    assert "points_mismatches" not in answer


def test_nothing_to_compare_is_said(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "bare.pbn"
    path.write_text('[Board "1"]\n[Declarer "N"]\n[Contract "1NT"]\n[Result "7"]\n')
    assert main(["results", "audit", str(path)]) == 0
    assert "no published number to compare" in capsys.readouterr().out
