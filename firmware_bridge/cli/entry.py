"""Where the console script begins: signals are caught before anything that takes time is loaded.

Ctrl-C in the first tenth of a second ends like Ctrl-C at any other time: no traceback, the right exit code.
"""

from __future__ import annotations

import gc
import signal
import sys


class _Stopped(BaseException):
    def __init__(self, number: int) -> None:
        self.number = number


_seen: list[int] = []


def _stop(number: int, _frame: object) -> None:
    # Noted only: while modules are loaded the interpreter swallows exceptions, or makes others of them.
    _seen.append(number)


def main() -> int:
    """Runs the command; returns its exit code."""
    # What a command loads stays: to look through it every 700 objects costs a short one a tenth of its time.
    gc.set_threshold(10_000)
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _stop)
        from firmware_bridge.cli.main import main as run

        if _seen:
            raise _Stopped(_seen[0])
        if signal.getsignal(signal.SIGTERM) is _stop:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) is _stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
        # All is said: a second Ctrl-C while the interpreter goes down must not change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return code
    except _Stopped as stopped:
        return _ended(stopped.number)
    except KeyboardInterrupt:
        return _ended(signal.SIGINT)


def _ended(number: int) -> int:
    word = "interrupted" if number == signal.SIGINT else "terminated"
    if "--json" in sys.argv[1:]:
        told = f'"what": "stopped ({word}).", "where": "firmware-bridge", "next": "Start the command again."'
        head = '"ok": false, "command": "firmware-bridge", "schema": 1'
        print(f'{{{head}, "error": {{"code": "{word}", {told}}}}}', flush=True)
    print(f"Error: stopped ({word}).", file=sys.stderr)
    return 128 + number
