"""Double-dummy tables: which library there is, the worker process that uses it, and the cache before it."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dealer.deal import Deal
from dealer.records.dd_worker import MAX_DEALS
from dealer.records.par import Tricks
from firmware_bridge.errors import DealError

NO_LIBRARY = "No double-dummy library is installed (pip install 'firmware-bridge[dd]', or Debian's libdds0)."


def find_library() -> str | None:
    """Path or name of a double-dummy library: the one in the endplay package, else the system's libdds, else None."""
    spec = importlib.util.find_spec("endplay")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in ("libdds.so", "libdds.dylib", "dds.dll", "libdds.dll"):
            path = Path(folder) / "_dds" / name
            if path.exists():
                return str(path)
    return ctypes.util.find_library("dds")


class Solver:
    """The worker process, as a context manager. ``solve`` takes at most 40 deals at a time.

    Raises DealError (code "double-dummy") when the process can't be started or ends; the caller goes on without tables.
    """

    def __init__(self, library: str, threads: int | None = None) -> None:
        count = threads or os.cpu_count() or 1
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dealer.records.dd_worker", library, str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _failed() from error

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process = self._process
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def solve(self, deals: Sequence[Deal]) -> list[Tricks]:
        """Tricks of each deal."""
        answer = self._ask(deals, 255, 20)
        return [_tricks(answer[20 * place : 20 * place + 20]) for place in range(len(deals))]

    def solve_with_par(self, deals: Sequence[Deal], mode: int) -> list[tuple[Tricks, tuple[str, str]]]:
        """Tricks, and the library's own par scores as it words them, with North-South and with East-West to bid first.

        mode: 0 nobody vulnerable, 1 all, 2 North-South, 3 East-West. Only for checking our own par.
        """
        answer = self._ask(deals, mode, 164)
        result = []
        for place in range(len(deals)):
            part = answer[164 * place : 164 * place + 164]
            words = [part[at : at + 16].rstrip(b"\x00").decode("ascii", "replace") for at in (20, 92)]
            result.append((_tricks(part[:20]), (words[0], words[1])))
        return result

    def _ask(self, deals: Sequence[Deal], mode: int, size: int) -> bytes:
        if not 0 < len(deals) <= MAX_DEALS:
            raise ValueError(f"1 to {MAX_DEALS} deals at a time")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(bytes((len(deals), mode)) + b"".join(deal.owners for deal in deals))
            self._process.stdin.flush()
            answer = self._process.stdout.read(1 + size * len(deals))
        except OSError as error:
            raise _failed() from error
        if len(answer) != 1 + size * len(deals) or answer[0] != len(deals):
            raise _failed()
        return answer[1:]


def _failed() -> DealError:
    return DealError(
        "The double-dummy process ended before it was done.",
        next_step="Print the record without tables, or install another build of the library.",
        code="double-dummy",
    )


def _tricks(body: bytes) -> Tricks:
    return tuple(tuple(body[4 * strain : 4 * strain + 4]) for strain in range(5))


def tables_of(
    deals: Iterable[Deal],
    *,
    load: Callable[[Sequence[Deal]], dict[Deal, Tricks]] = lambda _: {},
    store: Callable[[dict[Deal, Tricks]], None] = lambda _: None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    library: str | None = None,
) -> dict[Deal, Tricks]:
    """Tables of all deals, from the cache where it has them. Progress counts deals done and deals in all.

    load, store: the cache. Raises DealError (code "double-dummy") when there is no library or it fails; what was solved
    up to then is stored.
    """
    wanted = list(dict.fromkeys(deals))
    tables = dict(load(wanted))
    missing = [deal for deal in wanted if deal not in tables]
    progress(len(tables), len(wanted))
    if not missing:
        return tables
    found = library or find_library()
    if found is None:
        raise DealError(NO_LIBRARY, next_step="Or print without tables: --no-dd.", code="double-dummy")
    step = MAX_DEALS if len(missing) > 2 * MAX_DEALS else 8
    with Solver(found) as solver:
        for start in range(0, len(missing), step):
            part = missing[start : start + step]
            fresh = dict(zip(part, solver.solve(part), strict=True))
            store(fresh)
            tables.update(fresh)
            progress(len(tables), len(wanted))
    return tables
