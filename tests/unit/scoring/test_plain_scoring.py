"""The program against the plain implementation of the benchmark, and the benchmark itself on a small field."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.result import Artificial, Average, PassedOut, Played
from terminals.scoring.lines import Contestant, ResultLine, one_winner
from terminals.scoring.session import score_session

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not BENCHMARKS.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
plain_session: Callable[..., dict[Contestant, Fraction]] = load("plain_scoring").plain_session


@settings(max_examples=40)
@given(st.integers(0, 1 << 32), st.integers(2, 9), st.integers(1, 6))
def test_same_numbers_as_the_plain_implementation(seed: int, tables: int, boards: int) -> None:
    rng = random.Random(seed)
    lines = []
    for board in range(1, boards + 1):
        for table in range(tables):
            if rng.random() < 0.1:
                continue
            kind = rng.random()
            result: Played | PassedOut | Artificial
            if kind < 0.1:
                result = Artificial(rng.choice(list(Average)), rng.choice(list(Average)))
            elif kind < 0.2:
                result = PassedOut()
            else:
                contract = Contract(
                    rng.randint(1, 7), Strain(rng.randint(1, 5)), Doubling(rng.randrange(3)), Seat(rng.randrange(4))
                )
                result = Played(contract, rng.randrange(14))
            ns, ew = Contestant("A", table), Contestant("A", 100 + (table + board) % tables)
            lines.append(ResultLine(board, ns, ew, result))
    expected = dict.fromkeys(range(1, boards + 1), tables)
    score = score_session(lines, expected=expected, groups=one_winner(lines))
    assert {row.contestant: row.percent for row in score.rankings[0]} == plain_session(lines, expected)


def test_the_benchmark_runs_and_reports() -> None:
    command = [sys.executable, str(BENCHMARKS / "scoring.py"), "--json"]
    size = ["--boards", "3", "--tables", "7", "--national", "20", "--updates", "4"]
    done = subprocess.run([*command, *size], capture_output=True, text=True, timeout=60, check=True)
    figures = json.loads(done.stdout)
    assert figures["update_ms_median"] > 0
    assert figures["national_tables"] == 20
