"""An event of several kinds: every result that was keyed in is in every export, as readers of this test find it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
from web_fakes import Client, service

from firmware_bridge.cli.main import main
from terminals.interop.audit import audit_event
from terminals.interop.result_files import parse_events
from terminals.settings import EventSettings

CONTRACTS = ("3NT N", "4S E", "2H S", "5C W", "1NTX N", "6D S")
Keyed = Counter[tuple[int, str, str, int, int]]
"""(board, contract, declarer, tricks, score of North-South) -> how often."""


async def play(client: Client, seed: int, left: int = 0) -> dict[str, Keyed]:
    """A result at every seating but the last ``left`` of each section; gives what the desk shows of each section."""
    dice = random.Random(seed)
    for section in client.desk.setup.sections:
        assert section.movement is not None
        places = [(seat, board) for seat in section.movement.seatings for board in seat.boards]
        for seat, board in places[: len(places) - left]:
            place = {"section": section.letter, "board": board, "ns": seat.ns, "ew": seat.ew, "actor": "x"}
            result = {"contract": dice.choice(CONTRACTS), "tricks": dice.choice(["=", "+1", "-1", "-2"])}
            found = await client.post("/actions/correct", {**place, **result})
            assert found.status_code == 200, found.text
    keyed: dict[str, Keyed] = {}
    for row in client.desk.rows.values():
        done: Any = row.content
        cell = (row.play.board, done.contract.text, done.contract.declarer.letter, done.tricks)
        keyed.setdefault(row.play.section, Counter())[cell] += 1  # type: ignore[index]
    shown = (await client.get("/results")).json()["cells"]
    scores = {(one["section"], one["board"], one["ns"], one["ew"]): one["score"] for one in shown}
    out: dict[str, Keyed] = {letter: Counter() for letter in keyed}
    for row in client.desk.rows.values():
        done = row.content
        score = scores[row.play.section, row.play.board, row.play.ns, row.play.ew]
        cell5 = (row.play.board, done.contract.text, done.contract.declarer.letter, done.tricks, score)
        out[row.play.section][cell5] += 1
    return out


def usebio(data: bytes) -> dict[str, Keyed]:
    out: dict[str, Keyed] = {}
    for event in fromstring(data).findall("EVENT"):
        found: Keyed = Counter()
        for board in event.iter("BOARD"):
            for line in board.findall("TRAVELLER_LINE"):
                found[_cell(board.findtext("BOARD_NUMBER"), *(line.findtext(tag) for tag in XML_TAGS))] += 1
        out[_kind(event)] = found
    return out


XML_TAGS = ("CONTRACT", "PLAYED_BY", "TRICKS", "SCORE")


def _kind(event: Element) -> str:
    return str(event.get("EVENT_TYPE")).lower()


def _cell(*texts: Any) -> tuple[int, str, str, int, int]:
    board, contract, declarer, tricks, score = map(str, texts)
    return int(board), contract, declarer, int(tricks), int(score)


def as_json(data: bytes) -> dict[str, Keyed]:
    root = json.loads(data)
    assert (root["format"], root["version"]) == ("firmware-bridge-results", 1)
    out: dict[str, Keyed] = {}
    for event in root["events"]:
        found: Keyed = Counter()
        for one in event["results"]:
            result = one["result"]
            parts = (one["board"], result["contract"], result["declarer"], result["tricks"], one["score"])
            found[_cell(*parts)] += 1
        out[event["kind"]] = found
    return out


def as_csv(data: bytes) -> dict[str, Keyed]:
    """By section: a list names no kind."""
    out: dict[str, Keyed] = {}
    for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"))):
        parts = (row[name] for name in ("board", "contract", "declarer", "tricks", "score_ns"))
        out.setdefault(row["section"], Counter())[_cell(*parts)] += 1
        assert all(label.startswith(row["section"]) for side in ("ns", "ew") for label in row[side].split("+"))
    return out


def pbn(data: bytes) -> Keyed:
    found: Keyed = Counter()
    board, columns = "", []
    for text in data.decode().split("\r\n"):
        tag = re.fullmatch(r'\[(\w+) "(.*)"\]', text)
        if tag is not None:
            board = tag[2] if tag[1] == "Board" else board
            columns = [name.partition("\\")[0] for name in tag[2].split(";")] if tag[1] == "ScoreTable" else []
        elif columns and text.strip():
            row = dict(zip(columns, text.split(), strict=False))
            found[_cell(board, row["Contract"], row["Declarer"], row["Result"], row["Score_NS"])] += 1
    return found


def bundle(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        return {name: held.read(name) for name in held.namelist()}


@pytest.mark.parametrize(
    ("sections", "kinds", "left"),
    [
        (("round-robin:4x2", "mitchell:3x3"), ("teams", "pairs"), 0),
        (("mitchell:3x3", "round-robin:4x2"), ("pairs", "teams"), 3),
        (("round-robin:4x2", "individual:8x1"), ("teams", "individual"), 0),
        (("individual:8x1", "mitchell:3x3"), ("individual", "pairs"), 0),
    ],
)
def test_every_export_holds_every_result(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sections: tuple[str, str],
    kinds: tuple[str, str],
    left: int,
) -> None:
    """left: results that are not in yet, some of them of a board that was played in the other room."""

    async def run() -> None:
        async with service(tmp_path, None, EventSettings(confirm=False)) as client:
            setup = [{"name": name, "movement": one} for name, one in zip("AB", sections, strict=True)]
            begun = await client.post("/setup/start", {"sections": setup})
            assert begun.status_code == 200, begun.text
            keyed = await play(client, 4, left)
            by_kind = {kind: keyed[letter] for letter, kind in zip("AB", kinds, strict=True)}
            files = {}
            for name in ("usebio", "json", "csv", "ranking-csv", "pbn", "bridgewebs", "ranking", "travellers"):
                answer = await client.get(f"/files/{name}")
                assert answer.status_code == 200, (name, answer.text)
                files[name] = answer.content
            assert usebio(files["usebio"]) == by_kind
            assert as_json(files["json"]) == by_kind
            assert as_csv(files["csv"]) == keyed
            ranked = list(csv.DictReader(io.StringIO(files["ranking-csv"].decode("utf-8-sig"))))
            movements = [one.movement for one in client.desk.setup.sections]
            assert (
                len({row["number"] for row in ranked})
                == len(ranked)
                >= sum(len(one.teams) or len(one.contestants) for one in movements if one is not None)
            )
            for name in ("pbn", "bridgewebs"):
                parts = bundle(files[name])
                stem, end = ("results", "pbn") if name == "pbn" else ("bridgewebs", "csv")
                told = parts.pop("contents.txt").decode()
                assert set(parts) == {f"{stem}-{kind}.{end}" for kind in kinds if kind != "teams"}
                for kind in kinds:
                    count = sum(by_kind[kind].values())
                    said = f"{count} results ({kind})"
                    assert (f"Not written, {said}: Team matches" if kind == "teams" else f"{said} in ") in told
                if name == "pbn":
                    for kind in set(kinds) - {"teams"}:
                        assert pbn(parts[f"results-{kind}.pbn"]) == by_kind[kind]
                        files[f"pbn {kind}"] = parts[f"results-{kind}.pbn"]
            for name in ("usebio", "json", *(key for key in files if key.startswith("pbn "))):
                for event in parse_events(files[name]):
                    report = audit_event(event)
                    assert report.equal, (name, event.kind, report.points_mismatches, report.total_mismatches)
                    assert report.contract_scores_checked == sum(by_kind[event.kind].values())
            commands(tmp_path, files["json"], by_kind, capsys)

    asyncio.run(run())


def commands(folder: Path, data: bytes, by_kind: dict[str, Keyed], capsys: pytest.CaptureFixture[str]) -> None:
    """What ``results`` makes of the file: nothing is left out that the command does not name."""
    source = folder / "night.json"
    source.write_bytes(data)

    def ask(status: int, *words: str) -> dict[str, Any]:
        code = main(["results", *words, "--json"])
        said = capsys.readouterr()
        assert code == status, said
        return dict(json.loads(said.out.splitlines()[-1]))

    told = ask(0, "audit", str(source))
    assert {one["kind"]: one["lines"] for one in told["events"]} == {k: sum(v.values()) for k, v in by_kind.items()}
    ask(0, "convert", str(source), "--out", str(folder / "night.xml"))
    assert usebio((folder / "night.xml").read_bytes()) == by_kind
    refused = ask(1, "swiss", "mitchell:3x3", str(source))
    assert refused["error"]["code"] == "several-events"
    told = ask(int("teams" in by_kind), "convert", str(source), "--out", str(folder / "night.pbn"))
    assert [one["file"] for one in told["files"]] == [
        str(folder / f"night-{kind}.pbn") for kind in ("pairs", "individual") if kind in by_kind
    ]
    assert len(told.get("left_out", [])) == ("teams" in by_kind)
    told = ask(0, "convert", str(folder / "night.xml"), "--apart", "--out", str(folder / "one.json"))
    assert len(told["files"]) == 2
    for one in told["files"]:
        (event,) = parse_events(Path(one["file"]).read_bytes())
        assert [event.kind, len(event.lines)] == [*one["kinds"], sum(by_kind[event.kind].values())]
    ask(0, "print", str(source), "travellers", "--out", str(folder / "night.pdf"))


def test_teams_against_a_field_beside_a_mitchell_keep_one_number_in_usebio(tmp_path: Path) -> None:
    """Both pairs of a team score for it, so that its number is on both sides of a board."""

    async def run() -> None:
        async with service(tmp_path, None, EventSettings(confirm=False)) as client:
            movements = {"A": "round-robin:4x2", "B": "mitchell:3x3"}
            setup = [{"name": name, "movement": one} for name, one in movements.items()]
            begun = await client.post("/setup/start", {"sections": setup, "method": "matchpoints"})
            assert begun.status_code == 200, begun.text
            await play(client, 4)
            (event,) = parse_events((await client.get("/files/usebio")).content)
            report = audit_event(event)
            assert report.equal, report.total_mismatches
            assert report.totals_checked == 4 + 6

    asyncio.run(run())
