"""How fast scoring is: ``python benchmarks/scoring.py [--json]``.

Measures one new result in a 100-table field of 30 boards (board, totals and ranking), the same in a running event of
seven sections across the field, a full recalculation of that field, and one field of 3,000 tables, beside a plain
``Fraction`` implementation that must give the same numbers.
The figures are reported with the machine that made them; nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import resource
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from plain_scoring import plain_session

from dealer.cards import Seat
from firmware_bridge.service.ranking_live import LiveScore
from terminals.contract import Contract, Doubling, Strain
from terminals.movement.catalog import build
from terminals.result import Artificial, Average, Played
from terminals.scoring.engine import SessionEngine
from terminals.scoring.lines import Contestant, ResultLine, two_winners
from terminals.scoring.session import score_session
from terminals.settings import EventSettings
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.conditions import Conditions
from terminals.sync.event_score import score_event
from terminals.sync.setup import new_event


def field(tables: int, boards: int, seed: int) -> list[ResultLine]:
    """A Mitchell field of lines from a seed; every two-hundredth line is an artificial score."""
    rng = random.Random(seed)
    lines = []
    for board in range(1, boards + 1):
        contracts = [
            Contract(rng.randint(1, 5), Strain(rng.randint(1, 5)), Doubling(doubling), Seat(rng.randrange(4)))
            for doubling in (0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
        ]
        for table in range(tables):
            result: Played | Artificial = Played(rng.choice(contracts), rng.randint(6, 12))
            if rng.randrange(200) == 0:
                result = Artificial(Average.PLUS, Average.MINUS)
            ns = Contestant("A", table + 1, "NS")
            ew = Contestant("A", (table + board) % tables + 1, "EW")
            lines.append(ResultLine(board, ns, ew, result, "A"))
    return lines


def peak_memory() -> float:
    """Peak resident memory of this process in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def seconds(start: float) -> float:
    return time.perf_counter() - start


def running_event(updates: int) -> dict[str, object]:
    """A new result as the running event takes it in: seven sections of 15 tables across the field, 30 boards."""
    rng = random.Random(3)
    movement = build("mitchell:15x2")
    setup = new_event(1, "benchmark", dict.fromkeys(range(1, 8), movement), EventSettings(across=True))
    contracts = [
        Contract(rng.randint(1, 5), Strain(rng.randint(1, 5)), Doubling(0), Seat(rng.randrange(4))) for _ in range(9)
    ]
    plays = [
        PlayKey(section.letter, board, seating.ns, seating.ew)
        for seating in movement.seatings
        for board in seating.boards
        for section in setup.sections
    ]
    rows: dict[PlayKey, CurrentResult] = {}
    live, conditions, cpu = LiveScore(), Conditions(), []
    for number, play in enumerate(plays):
        result = Played(rng.choice(contracts), rng.randint(6, 12))
        rows[play] = CurrentResult(play, result, PlayStatus.CONFIRMED, (), (), False, 1, 1, 1, 1, number)
        if number < len(plays) - updates:
            continue
        busy = time.process_time()
        live.touched(play)
        score = live.score(setup, rows, conditions)
        cpu.append(time.process_time() - busy)
    if score.rankings != score_event(setup, rows.values(), conditions).rankings:
        raise SystemExit("the running event differs")
    cpu = sorted(cpu[1:])  # the first one counts everything that was there
    return {
        "event_tables": 105,
        "event_update_cpu_ms_median": round(statistics.median(cpu) * 1000, 2),
        "event_update_cpu_ms_worst": round(cpu[-1] * 1000, 2),
    }


def measure(boards: int, tables: int, national: int, updates: int) -> dict[str, object]:
    """Run everything once; raises SystemExit when the two implementations differ."""
    lines = field(tables, boards, 1)
    expected = dict.fromkeys(range(1, boards + 1), tables)
    groups = two_winners(lines)

    start = time.perf_counter()
    whole = score_session(lines, expected=expected, groups=groups)
    full = seconds(start)
    start = time.perf_counter()
    plain = plain_session(lines, expected)
    plain_full = seconds(start)
    ours = {row.contestant: row.percent for ranking in whole.rankings for row in ranking}
    if ours != plain:
        raise SystemExit("the two implementations differ")

    engine = SessionEngine(expected=expected, groups=groups, lines=lines[:-updates])
    # A full pass of Python's garbage collector over everything that this script holds is no part of an update.
    gc.collect()
    gc.freeze()
    times, cpu = [], []
    for line in lines[-updates:]:
        start, busy = time.perf_counter(), time.process_time()
        engine.put(line)
        score = engine.score()
        times.append(seconds(start))
        cpu.append(time.process_time() - busy)
    gc.unfreeze()
    if {row.contestant: row.percent for ranking in score.rankings for row in ranking} != plain:
        raise SystemExit("the running session differs")
    del engine, score, whole

    big = field(national, boards, 2)
    big_groups = two_winners(big)
    big_expected = dict.fromkeys(range(1, boards + 1), national)
    before = peak_memory()
    start = time.perf_counter()
    national_score = score_session(big, expected=big_expected, groups=big_groups)
    national_time = seconds(start)
    assert len(national_score.rankings) == 2
    return {
        "machine": f"{platform.machine()} {platform.system()}, Python {platform.python_version()}",
        "tables": tables,
        "boards": boards,
        "update_ms_median": round(statistics.median(times) * 1000, 2),
        "update_ms_p99": round(sorted(times)[len(times) * 99 // 100] * 1000, 2),
        "update_ms_worst": round(max(times) * 1000, 2),
        "update_cpu_ms_median": round(statistics.median(cpu) * 1000, 2),
        "update_cpu_ms_worst": round(max(cpu) * 1000, 2),
        **running_event(updates),
        "full_ms": round(full * 1000, 1),
        "plain_full_ms": round(plain_full * 1000, 1),
        "national_tables": national,
        "national_s": round(national_time, 2),
        "peak_mb": round(peak_memory(), 1),
        "peak_mb_before_national": round(before, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=30)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--national", type=int, default=3000)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.boards, options.tables, options.national, options.updates)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:26} {value}")


if __name__ == "__main__":
    main()
