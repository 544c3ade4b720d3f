"""How fast sets are dealt: whole processes, one run, beside other programs where they are installed.

    python benchmarks/deals.py [--repeat 5] [--large] [--json FILE]

"Ours" is the command itself: it draws, unranks, verifies, compares with and extends the history, and writes PBN with 15
tags. Debian's dealer writes its own PBN, from a seed. endplay and random.shuffle only deal (and random.shuffle writes
nothing), so their rows flatter them. Rounds are interleaved, so that a busy machine is busy for all; medians are shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

OURS = [sys.executable, "-c", "import sys; from firmware_bridge.cli.entry import main; sys.exit(main())"]
SHUFFLE = """
import random
deals = []
for _ in range({count}):
    pack = list(range(52))
    random.shuffle(pack)
    deals.append(pack)
"""
ENDPLAY = """
from endplay.dealer import generate_deals
for deal in generate_deals(produce={count}):
    deal.to_pbn()
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One program at one size. stdin: what it reads, None for nothing. fresh: files to remove before every run."""

    name: str
    boards: int
    words: list[str]
    stdin: bytes | None = None
    fresh: tuple[Path, ...] = ()


@dataclass(slots=True)
class Times:
    wall: list[float]
    cpu: list[float]
    peak_mb: float = 0.0


def run(job: Job, output: Path) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak MB of one run. Raises RuntimeError when the program fails."""
    for path in job.fresh:
        shutil.rmtree(path, ignore_errors=True)
    source = output.with_name("stdin")
    source.write_bytes(job.stdin or b"")
    started = time.perf_counter()
    with source.open("rb") as given, output.open("wb") as taken, output.with_name("err").open("wb") as errors:
        actions = [
            (os.POSIX_SPAWN_DUP2, given.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, taken.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
        ]
        child = os.posix_spawnp(job.words[0], job.words, os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{job.name} failed: {output.with_name('err').read_text()[-500:]}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def jobs(folder: Path, large: bool) -> list[Job]:
    data = folder / "data"
    out = folder / "out.pbn"
    environment_dealer = shutil.which("dealer") or shutil.which("dealer", path="/usr/games")
    found = [Job("bare interpreter", 0, [sys.executable, "-c", "pass"])]
    for count in (36, 1000, 100_000, *([1_000_000] if large else [])):
        words = ["deal", "generate", "--boards", f"1-{count}", "--out", str(out), "--data", str(data)]
        # A club's history is there already when it deals a set; a large run starts with an empty one every time.
        fresh = (data,) if count >= 100_000 else ()
        found.append(Job("ours, generate", count, [*OURS, *words], fresh=fresh))
        if count == 100_000:
            found.append(Job("ours, read and verify", count, [*OURS, "deal", "verify", str(out)]))
        if environment_dealer and count <= 100_000:
            script = f"generate 100000000\nproduce {count}\naction printpbn\n".encode()
            found.append(Job("Debian's dealer, PBN", count, [environment_dealer, "-s", "1"], script))
        if count == 100_000:
            found.append(Job("random.shuffle", count, [sys.executable, "-c", SHUFFLE.format(count=count)]))
        if count == 1000 and importlib.util.find_spec("endplay"):
            found.append(Job("endplay", count, [sys.executable, "-c", ENDPLAY.format(count=count)]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="a million boards too")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results: dict[tuple[str, int], Times] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        todo = jobs(folder, options.large)
        for repeat in range(options.repeat):
            for job in todo:
                if job.boards >= 1_000_000 and repeat:
                    continue
                wall, cpu, peak = run(job, folder / "stdout")
                times = results.setdefault((job.name, job.boards), Times([], []))
                times.wall.append(wall)
                times.cpu.append(cpu)
                times.peak_mb = max(times.peak_mb, peak)
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    print(f"{'program':<24}{'boards':>9}{'wall s':>9}{'cpu s':>9}{'MB':>7}{'boards/s':>12}")
    rows = []
    for (program, count), times in results.items():
        wall, cpu = statistics.median(times.wall), statistics.median(times.cpu)
        rate = f"{count / wall:,.0f}" if count else "-"
        print(f"{program:<24}{count:>9}{wall:>9.3f}{cpu:>9.3f}{times.peak_mb:>7.0f}{rate:>12}")
        rows.append({"program": program, "boards": count, "wall": wall, "cpu": cpu, "peak_mb": times.peak_mb})
    ratios = ratios_of(results)
    for words, value in ratios.items():
        print(f"{words}: {value:.2f}")
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows, "ratios": ratios}, indent=1) + "\n")
    return 0


def ratios_of(results: dict[tuple[str, int], Times]) -> dict[str, float]:
    """The figures that a release looks at; wall times, and processor times where a busy machine blurs the wall."""

    def wall(name: str, boards: int) -> float:
        return statistics.median(results[(name, boards)].wall)

    def cpu(name: str, boards: int) -> float:
        return statistics.median(results[(name, boards)].cpu)

    ratios = {"36 boards over a bare start (at most 8)": wall("ours, generate", 36) / wall("bare interpreter", 0)}
    big = 100_000
    ours, verify, dealer = "ours, generate", "ours, read and verify", "Debian's dealer, PBN"
    if (dealer, big) in results:
        ratios["100,000 boards, times as fast as Debian's dealer (at least 1.2)"] = wall(dealer, big) / wall(ours, big)
        ratios["the same by processor time"] = cpu(dealer, big) / cpu(ours, big)
    ratios["100,000 boards, reading back over writing (at most 1)"] = wall(verify, big) / wall(ours, big)
    ratios["random.shuffle over ours, 100,000 boards"] = wall("random.shuffle", big) / wall(ours, big)
    return ratios


if __name__ == "__main__":
    sys.exit(main())
