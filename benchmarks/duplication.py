"""How much the host adds to the time that the dealing machine needs, and what a board costs the host.

    python benchmarks/duplication.py [--boards 4] [--soak-boards 100] [--profile fast]

Deals on the simulated machine at its true pace over a line of 115200 baud. The machine's own minimum of a board runs
from the insertion of the board to the exit of the 52nd card; what the host adds is START after the insertion, and the
verdict with its commit before the operator is told to go on. Figures are of the computer named above; nothing is
asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

from dealer.duplication.progress import BoardBegan, BoardEnded, CardCounted, ProgressEvent
from dealer.generate import new_set
from drivers.api import Armed, CommandReply
from drivers.framed_machine import FramedMachine
from drivers.host import HostIdentity
from drivers.registry import open_carrier
from firmware_bridge.service import dealing as service


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class TimedMachine(FramedMachine):
    """Notes how long START takes, from the call to the machine's answer."""

    starts: ClassVar[list[float]] = []

    async def start(self, order: Armed) -> CommandReply:
        began = time.perf_counter()
        reply = await super().start(order)
        self.starts.append(time.perf_counter() - began)
        return reply


def deal(boards: int, profile: str) -> None:
    """Boards at true pace: where the time went."""
    times: list[tuple[float, ProgressEvent]] = []
    deals = new_set(range(1, boards + 1), seed=1)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        command = [sys.executable, "-m", "hwsim", "machine", "--state", str(directory / "sim"), "--seed", "1"]
        command += ["--speed", "real", "--profile", profile, "--with-parent"]
        simulator = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert simulator.stdin is not None
        assert simulator.stdout is not None
        url = json.loads(simulator.stdout.readline())["url"]
        before = cpu_seconds()
        service.open_machine = lambda url, host, clock: TimedMachine(open_carrier(url, host, clock), host, clock)
        try:
            summary = asyncio.run(
                service.make_boards(
                    url,
                    directory,
                    HostIdentity(1),
                    deals.boards,
                    set_id=deals.id,
                    on_progress=lambda event: times.append((time.perf_counter(), event)),
                )
            )
        finally:
            simulator.stdin.close()
            simulator.wait(10)
        cpu = cpu_seconds() - before
    verdicts: list[float] = []
    boards_s: list[float] = []
    last = inserted = 0.0
    for at, event in times:
        match event:
            case BoardBegan():
                inserted = at
            case CardCounted(cards=52):
                last = at
                boards_s.append(at - inserted)
            case BoardEnded():
                verdicts.append(at - last)
    count = len(boards_s)
    start, verdict = sum(TimedMachine.starts) / count, sum(verdicts) / count
    minimum = sum(boards_s) / count
    print(f"{summary.copies_good} of {summary.planned} boards good, profile {profile}, 115200 baud")
    print(f"  first card to last           {minimum:8.3f} s a board")
    print(f"  START, until it is answered  {1000 * start:8.1f} ms a board")
    print(f"  last card until the verdict  {1000 * verdict:8.1f} ms a board, DONE and commit included")
    print(f"  time over the machine's own  {(minimum + start + verdict) / minimum:8.4f}")
    print(f"  host CPU                     {1000 * cpu / count:8.1f} ms a board")


def soak_speed(boards: int) -> None:
    from firmware_bridge.simulation.soak_dealing import SoakOptions, soak

    logging.disable(logging.CRITICAL)
    for faults in ("none", "realistic", "harsh"):
        before, began = time.process_time(), time.perf_counter()
        result = soak(SoakOptions(boards=boards, faults=faults, seed=1))
        cpu, wall = time.process_time() - before, time.perf_counter() - began
        print(
            f"  soak {faults:<10} {boards / cpu:6.1f} boards per CPU second ({wall:.1f} s in all), "
            f"{result.good} good, {result.wrong_good} wrong"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=4)
    parser.add_argument("--soak-boards", type=int, default=100)
    parser.add_argument("--profile", choices=["fast", "camera", "diy"], default="fast")
    words = parser.parse_args()
    print(f"{processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}")
    deal(words.boards, words.profile)
    soak_speed(words.soak_boards)


if __name__ == "__main__":
    main()
