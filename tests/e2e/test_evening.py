"""The whole evening, as a user starts it: real processes, real ptys, and totals recomputed from the evidence."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from evening_runs import Run, evening, firmware_bridge, judge, rows, start

from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pseudo-terminals")


def check_complete(run: Run, evidence: Path, *, boards: int, results: int) -> None:
    assert run.code == 0, run.err
    result = run.result
    assert result["ok"] is True
    assert (result["boards_good"], result["copies_good"]) == (boards, boards)
    assert (result["results_expected"], result["results_stored"]) == (results, results)
    assert (result["lost"], result["duplicated"]) == (0, 0)
    found = judge(evidence)
    assert (found.lost, found.doubled, found.wrong_good, found.good) == (0, 0, 0, boards)
    assert found.stored >= results
    assert {row["board"] for row in rows(evidence, "truth.jsonl")} >= set(range(1, boards + 1))


def test_an_evening_is_complete_and_its_evidence_agrees(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    run = firmware_bridge(*evening(tmp_path / "data", "--evidence", str(evidence)))
    check_complete(run, evidence, boards=12, results=48)
    result = run.result
    assert (result["rounds"], len(result["rankings"])) == (4, 2)
    assert judge(evidence).received == 48
    for ranking in result["rankings"]:
        assert sorted(row["place"] for row in ranking)[0] == 1
        assert len(ranking) == 4
        percents = [row["percent"] for row in ranking]
        assert percents == sorted(percents, reverse=True)
        # Neither direction can be better than the other on average: both get half of all matchpoints.
        assert sum(percents) / len(percents) == pytest.approx(50, abs=0.02)


def test_the_ranking_is_what_a_plain_recount_of_the_results_gives(tmp_path: Path) -> None:
    data = tmp_path / "data"
    run = firmware_bridge(*evening(data))
    assert run.code == 0, run.err
    counted = recount(data / "events.db")
    for ranking in run.result["rankings"]:
        for row in ranking:
            assert row["percent"] == pytest.approx(counted[row["pair"]], abs=0.0051)


def recount(path: Path) -> dict[int, float]:
    """Percent by pair, worked out from the raw record bodies with arithmetic of its own (Laws 77 and 78A)."""
    connection = sqlite3.connect(path)
    bodies = [bytes(body) for (body,) in connection.execute("SELECT body FROM record WHERE state = 'stored'")]
    connection.close()
    scores: dict[int, list[tuple[int, int, int]]] = {}
    for body in bodies:
        word = int.from_bytes(body[4:6], "little")
        pairs = int.from_bytes(body[6:9], "little")
        board, declarer, tricks = word & 1023, word >> 10 & 3, word >> 12
        score = 0
        if body[0] & 15 == 1:
            cycle = (board - 1) % 16
            vulnerable_sides = "0123123023013012"[cycle]
            north_south = declarer % 2 == 0
            vulnerable = bool(int(vulnerable_sides) & (1 if north_south else 2))
            score = points(body[9] & 7, body[9] >> 3 & 7, body[9] >> 6, tricks, vulnerable) * (1 if north_south else -1)
        scores.setdefault(board, []).append((pairs & 4095, pairs >> 12, score))
    matchpoints: dict[int, list[float]] = {}
    for lines in scores.values():
        for ns, ew, score in lines:
            mine = sum(2 if score > other else 1 if score == other else 0 for _, _, other in lines) - 1
            top = 2 * (len(lines) - 1)
            matchpoints.setdefault(ns, []).append(100 * mine / top)
            matchpoints.setdefault(ew, []).append(100 - 100 * mine / top)
    return {pair: sum(values) / len(values) for pair, values in matchpoints.items()}


def points(level: int, strain: int, doubling: int, tricks: int, vulnerable: bool) -> int:
    over = tricks - 6 - level
    if over < 0:
        down = -over
        if doubling == 0:
            return -down * (100 if vulnerable else 50)
        each = [200] + [300] * 12 if vulnerable else [100, 200, 200] + [300] * 10
        return -sum(each[:down]) * doubling
    trick = 20 if strain <= 2 else 30
    made = (level * trick + (10 if strain == 5 else 0)) * (1, 2, 4)[doubling]
    score = made + (50 if made < 100 else 500 if vulnerable else 300)
    if level >= 6:
        score += (750 if vulnerable else 500) * (1 if level == 6 else 2)
    score += 50 * doubling
    return score + over * (trick if doubling == 0 else (200 if vulnerable else 100) * doubling)


def test_the_same_seed_gives_the_same_ranking_and_deals(tmp_path: Path) -> None:
    first = firmware_bridge(*evening(tmp_path / "a", "--evidence", str(tmp_path / "ea"), tables=3, boards=10))
    second = firmware_bridge(*evening(tmp_path / "b", "--evidence", str(tmp_path / "eb"), tables=3, boards=10))
    assert first.code == second.code == 0, first.err + second.err
    assert first.result["rankings"] == second.result["rankings"]
    plans = [{row["board"]: row["plan"] for row in rows(tmp_path / name, "claims.jsonl")} for name in ("ea", "eb")]
    assert plans[0] == plans[1]


@pytest.mark.parametrize("when", ["dealing", "playing"])
def test_killed_in_mid_evening_it_goes_on_and_nothing_is_lost_or_doubled(tmp_path: Path, when: str) -> None:
    data, evidence = tmp_path / "data", tmp_path / "evidence"
    words = evening(data, "--evidence", str(evidence), speed="demo", tables=3, boards=10)
    child = start(*words)
    try:
        wait_for(data, when)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
    run = firmware_bridge(*evening(data, "--evidence", str(evidence), tables=3, boards=10))
    check_complete(run, evidence, boards=10, results=30)


def wait_for(data: Path, when: str) -> None:
    """Until some boards are good, or some results are in."""
    name, query = {
        "dealing": ("dealing.db", "SELECT count(*) FROM board_copy WHERE state = 'good'"),
        "playing": ("events.db", "SELECT count(*) FROM record"),
    }[when]
    end = time.monotonic() + 60
    while time.monotonic() < end:
        path = data / name
        if path.exists():
            try:
                connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)
                (count,) = connection.execute(query).fetchone()
                connection.close()
            except sqlite3.Error:
                count = 0
            if count >= 3:
                return
        time.sleep(0.02)
    raise AssertionError("the evening did not get going")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal_it_says_so_and_goes_on_later(tmp_path: Path, number: int, code: int) -> None:
    data, evidence = tmp_path / "data", tmp_path / "evidence"
    child = start(*evening(data, speed="demo", tables=3, boards=10))
    wait_for(data, "dealing")
    os.kill(child.pid, number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert Run(child.returncode, out, err).result["ok"] is False
    assert "Traceback" not in err
    run = firmware_bridge(*evening(data, "--evidence", str(evidence), tables=3, boards=10))
    check_complete(run, evidence, boards=10, results=30)


def test_a_finished_evening_is_only_told_again(tmp_path: Path) -> None:
    first = firmware_bridge(*evening(tmp_path / "data", tables=3, boards=10))
    again = firmware_bridge(*evening(tmp_path / "data", tables=3, boards=10))
    assert first.code == again.code == 0
    assert first.result["rankings"] == again.result["rankings"]
    assert again.result["results_stored"] == 30


@pytest.mark.parametrize("words", [("--tables", "5", "--boards", "10"), ("--seed", "8")])
def test_another_evening_in_the_same_directory_is_wrong_use(tmp_path: Path, words: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    assert firmware_bridge(*evening(data, tables=3, boards=10)).code == 0
    run = firmware_bridge("evening", "--simulate", "--speed", "max", "--data", str(data), "--json", *words)
    assert run.code == 2
    assert run.result["error"]["code"] == "other-evening"


def test_a_deal_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "club.pbn"
    deals = new_set(range(1, 15), seed=11)
    path.write_bytes(format_named("pbn").load().write(deals.boards, WriteOptions()))
    evidence = tmp_path / "evidence"
    words = ["evening", "--simulate", "--deals", str(path), "--speed", "max", "--data", str(tmp_path / "data")]
    run = firmware_bridge(*words, "--evidence", str(evidence), "--json")
    check_complete(run, evidence, boards=14, results=98)
    for name in ("claims.jsonl", "truth.jsonl"):
        assert (evidence / name).stat().st_mode & 0o077 == 0, "they hold cards that people have yet to play"
    claims = {row["board"]: row["plan"] for row in rows(evidence, "claims.jsonl")}
    for board in deals.boards:
        assert claims[board.number] == {seat: list(hand) for seat, hand in zip("NESW", board.deal.hands, strict=True)}


def test_no_card_leaves_the_program_unasked(tmp_path: Path) -> None:
    """Design rule "blind by default": a planted deal is looked for in everything that is written or said."""
    path, data = tmp_path / "planted.pbn", tmp_path / "data"
    deals = new_set(range(1, 11), seed=12)
    path.write_bytes(format_named("pbn").load().write(deals.boards, WriteOptions()))
    words = ["--tables", "3", "--deals", str(path), "--speed", "max", "--data", str(data)]
    run = firmware_bridge("evening", "--simulate", *words)
    assert run.code == 0, run.err
    said = run.out + run.err
    written = {p: p.read_bytes() for p in data.rglob("*") if p.is_file() and "sim" not in p.relative_to(data).parts}
    assert written
    for board in deals.boards:
        needles = [*board.deal.to_pbn()[2:].split(), str(board.deal.index)]
        for needle in needles:
            assert needle not in said
            assert [p.name for p, content in written.items() if needle.encode() in content] == []


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    run = firmware_bridge("evening", "--simulate", "--tables", "3", "--boards", "10", "--speed", "max", "--seed", "3")
    assert run.code == 0, run.err
    assert "\x1b" not in run.err + run.out
    assert "Board 10, copy 1: good" in run.err
    assert "all 2 results [30 of 30]" in run.err
    assert "Place  Pair" in run.out
