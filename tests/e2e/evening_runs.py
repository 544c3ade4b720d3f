"""Helpers of the end-to-end tests: run the command as a user does, and judge its evidence with code of our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 110.0


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        found = json.loads(self.out.splitlines()[-1])
        assert isinstance(found, dict)
        return found


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "firmware_bridge.cli", *words]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "FIRMWARE_BRIDGE_DATA"}
    return {**kept, "PYTHONUNBUFFERED": "1"}


def firmware_bridge(*words: str, timeout: float = LIMIT) -> Run:
    done = subprocess.run(
        command(*words), capture_output=True, text=True, timeout=timeout, env=environment(), check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Run(done.returncode, done.stdout, done.stderr)


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


def evening(data: Path, *words: str, tables: int = 4, boards: int = 12, seed: int = 7, speed: str = "max") -> list[str]:
    numbers = ["--tables", str(tables), "--boards", str(boards), "--seed", str(seed)]
    return ["evening", "--simulate", *numbers, "--speed", speed, "--data", str(data), "--json", *words]


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@dataclass(frozen=True)
class Judgement:
    """What the evidence says, worked out here and nowhere else."""

    received: int
    stored: int
    lost: int
    doubled: int
    good: int
    wrong_good: int


def judge(folder: Path) -> Judgement:
    kept: dict[tuple[str, str, int], set[str]] = {}
    twice = 0
    for row in rows(folder, "ledger.jsonl"):
        if row["state"] == "conflict":
            continue
        key = (row["device"], row["journal"], row["seq"])
        twice += key in kept
        kept.setdefault(key, set()).add(row["body"])
    shown = {(row["device"], row["journal"], row["seq"], row["body"]) for row in rows(folder, "shown_received.jsonl")}
    lost = sum(body not in kept.get((device, journal, seq), set()) for device, journal, seq, body in shown)
    doubled = twice + sum(row["current"] > 1 for row in rows(folder, "plays.jsonl"))
    truth = {(row["board"], row["copy"]): row for row in rows(folder, "truth.jsonl")}
    claims = {(row["board"], row["copy"]): row for row in rows(folder, "claims.jsonl")}
    good = [key for key, claim in claims.items() if claim["state"] == "good"]
    wrong = [key for key in good if not same_cards(truth.get(key), claims[key])]
    return Judgement(len(shown), len(kept), lost, doubled, len(good), len(wrong))


def same_cards(truth: dict[str, Any] | None, claim: dict[str, Any]) -> bool:
    if truth is None:
        return False
    wanted = {seat: sorted(cards) for seat, cards in claim["plan"].items()}
    lies = {seat: sorted(cards) for seat, cards in truth["pockets"].items()}
    whole = sorted(card for cards in wanted.values() for card in cards) == list(range(52))
    return whole and wanted == lies and all(len(cards) == 13 for cards in wanted.values())


def checker(folder: Path, tool: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run([*tool, str(folder)], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found
