"""``td`` for the beginning of an event and what happens to its plan: every command against the real interface.

Each command asks a service that is opened on the same store, so that what one has done the next one finds.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import web_fakes
from web_fakes import service

from firmware_bridge.cli import td as td_module
from firmware_bridge.cli.main import main
from firmware_bridge.errors import ExitStatus, FirmwareBridgeError
from terminals.movement import written
from terminals.movement.catalog import build

Run = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setattr(web_fakes, "routes", list)
    (tmp_path / "data").mkdir()

    class Here:
        def __init__(self, directory: Path) -> None:
            assert directory == tmp_path / "data"

        def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
            async def once() -> Any:
                async with service(tmp_path / "data", None) as client:
                    found = await (client.get(path) if body is None else client.post(path, dict(body)))
                    if found.status_code != 200:
                        error = found.json()["error"]
                        status = ExitStatus.USAGE if found.status_code == 400 else ExitStatus.FAILED
                        raise FirmwareBridgeError(
                            error["what"], where=error["where"], code=error["code"], exit_status=status
                        )
                    return found.json()

            return asyncio.run(once())

    for name in ("td", "td_paper", "td_plan", "td_setup"):
        monkeypatch.setattr(f"firmware_bridge.cli.{name}.Service", Here)

    def command(*words: str) -> tuple[int, dict[str, Any], str]:
        code = main(["td", *words, "--data", str(tmp_path / "data"), "--json"])
        out = capsys.readouterr()
        assert "Traceback" not in out.err
        return code, json.loads(out.out.splitlines()[-1]), out.err

    assert td_module.td.commands.keys() >= {"plan", "draw", "start"}
    return command


def ok(run: Run, *words: str) -> dict[str, Any]:
    code, found, error = run(*words)
    assert code == 0, (words, error)
    return found


def test_sections_from_the_command_line(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(written.to_yaml(build("howell:3x3")))
    table = tmp_path / "table.csv"
    table.write_text(written.to_csv(build("mitchell:5x2")))
    names = ["mitchell:7x4,missing=ew", f"D={own}@17-31", f"E={table}", "F=pairs:9@1-28", "G=later"]
    seen = ok(run, "start", *names, "--check")
    assert [one["name"] for one in seen["sections"]] == ["A", "D", "E", "F", "G"]
    assert ok(run, "plan")["sections"] == [], "nothing has begun"
    done = ok(run, "start", *names, "--name", "Open", "--setting", "across=yes", "--setting", "director_pin=0815")
    assert [one["movement"] is None for one in done["sections"]] == [False, False, False, False, True]
    assert ok(run, "movement", "howell:4x4@1-28", "--section", "G", "--preview")["ok"] is True
    ok(run, "movement", "howell:4x4@1-28", "--section", "G", "--by", "Ann")
    ok(run, "settings", "across=no", "correction_minutes=20")
    found = ok(run, "plan")
    assert [one["movement"] is None for one in found["sections"]] == [False] * 5
    assert found["across"] is False
    event = ok(run, "events")["events"][0]
    assert event["name"] == "Open"
    again = ok(run, "start", "--again", event["event"], "--name", "Next", "--instead")
    assert again["ask"] == ["the deals", "the director's PIN"]
    assert ok(run, "start", "--again", "--instead")["tables"] == again["tables"]
    people = tmp_path / "names.csv"
    people.write_text("pair;first;second\n3;Anna Nowak;1234;Jan Kot\n")
    assert ok(run, "people", str(people))["stored"] == 2
    items = {one["key"]: one for one in ok(run, "checklist")["items"]}
    assert items["results"]["done"] is False


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("start",), 2),
        (("start", "mitchell:5x4", "--again"), 2),
        (("start", "nobody.yaml"), 2),
        (("start", "mitchell:5x4@40-41"), 2),
        (("start", "mitchell:5x4", "--setting", "wind"), 2),
        (("start", "swiss-pairs:4x7", "--seeding", "x"), 2),
        (("people", "nobody.csv"), 2),
        (("played-as", "1", "nonsense"), 2),
        (("late-pair", "2", "--score", "much"), 2),
        (("late-pair", "2", "--missed", "x"), 2),
        (("draw", "--ranking", "a,b"), 2),
        (("end-after", "0"), 2),
        (("plan-undo", "0"), 1),
        (("draw",), 1),
        (("renumber", "1", "2", "1"), 1),
        (("withdraw", "99", "1"), 1),
    ],
)
def test_what_can_not_be_is_said_with_its_code(run: Run, words: tuple[str, ...], status: int) -> None:
    if status == 1:
        ok(run, "start", "mitchell:3x2")
    code, found, _ = run(*words)
    assert code == status, found
    assert found["error"]["what"]
    assert found["error"]["code"]


def test_a_movement_file_of_a_hundred_tables(run: Run, tmp_path: Path) -> None:
    whole = build("web:100x2,sets=13")
    large = tmp_path / "large.yaml"
    large.write_text(written.to_yaml(whole))
    assert large.stat().st_size > 70_000
    seen = ok(run, "start", str(large), "--check")["sections"][0]
    assert (seen["tables"], seen["results_expected"]) == (100, whole.expected_results())
    assert seen["copies"] == max(whole.copies_to_deal().values())


def test_things_that_happen_from_the_command_line(run: Run) -> None:
    ok(run, "start", "mitchell:7x4,missing=ew")
    seen = ok(run, "late-pair", "2", "--preview")
    assert seen["ok"] is True
    assert ok(run, "plan")["sections"][0]["events"] == []
    assert ok(run, "late-pair", "2", "--missed", "5", "--score", "60/40")["proof"]["replays"] == 0
    ok(run, "unstarted", "1", "1", "1-2", "--score", "60/40", "--provisional")
    ok(run, "withdraw", "3", "5", "--ranked")
    assert run("withdraw", "6", "5", "--ranked", "--cancel")[0] == 1, "whose results are cancelled is not ranked"
    ok(run, "stand-by", "50", "4", "3")
    ok(run, "substitute", "1", "Anna", "Zofia", "2", "--to", "3")
    ok(run, "renumber", "2", "22", "4")
    ok(run, "played-as", "2", "1=1-14", "--then", "return")
    done = ok(run, "end-after", "6", "--by", "Ann")
    found = ok(run, "plan")["sections"][0]
    kinds = [one["kind"] for one in found["events"]]
    assert kinds == [
        "late-pair",
        "unstarted",
        "withdrawn",
        "stand-by",
        "substituted",
        "renumbered",
        "played-as",
        "curtailed",
    ]
    assert found["events"][-1]["actor"] == "Ann"
    assert found["rounds"] == 6
    for rounds, words in (("9", "its results are cancelled"), ("8", "not ranked")):
        left = ok(run, "withdraw", "6", "5", "--of", rounds)
        assert words in ok(run, "plan")["sections"][0]["events"][-1]["words"]
        ok(run, "plan-undo", str(left["position"]))
    assert ok(run, "plan-undo", str(done["position"]), "--preview")["ok"] is True
    for position in reversed(range(len(kinds))):
        ok(run, "plan-undo", str(position))
    assert ok(run, "movement", "mitchell:7x4,missing=ew", "--preview")["changes"] == [], "everything is taken back"


def test_a_swiss_event_from_the_command_line(run: Run) -> None:
    ok(run, "start", "swiss-pairs:6x7", "--seeding", "6,5,4,3,2,1")
    code, found, _ = run("draw")
    assert (code, found["error"]["code"]) == (1, "boards-missing")
    assert ok(run, "draw", "--anyway", "--preview")["round"] == 2
    done = ok(run, "draw", "--anyway", "--absent", "5", "--join", "7", "--by", "Ann")
    assert done["round"] == 2
    assert {5}.isdisjoint(number for couple in done["couples"] for number in couple)
    events = ok(run, "plan")["sections"][0]["events"]
    assert [one["kind"] for one in events] == ["joined", "drawn"]
    ok(run, "plan-undo", "1")
    assert ok(run, "draw", "--anyway", "--ranking", "7,6,5,4,3,2,1", "--first-board", "20")["boards"] == "20-26"


def test_paper_and_keyboard_go_on_with_the_same_event(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok(run, "start", "mitchell:3x2")
    out = tmp_path / "slips.pdf"
    assert ok(run, "slips", "--out", str(out), "--from-round", "2")["slips"] == 6
    assert out.read_bytes().startswith(b"%PDF")
    assert run("slips", "--out", str(out), "--from-round", "9")[0] == 2

    def typed(*lines: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return ok(run, "enter", "--by", "Ann")

    found = typed("3nt n 10", "nonsense", "p", "u", "4sx s -1 hk", "g 3 2", "np", "?", "s", "", "9: p", "q")
    assert (found["entered"], found["rejected"], found["missing"]) == (3, 2, 15)
    cells = {(c["round"], c["table"], c["board"]): c for c in ok(run, "list")["cells"]}
    assert cells[1, 1, 1]["text"] == "3NT N+1"
    assert cells[1, 1, 2]["text"] == "4SX S-1"
    assert [c["state"] for c in cells.values()].count("not-played") == 1
    again = typed(*["1nt n 7"] * 15)
    assert (again["entered"], again["missing"]) == (15, 0)
    assert ok(run, "list", "--missing")["cells"] == []
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert ok(run, "enter")["entered"] == 0
