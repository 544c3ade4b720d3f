"""Lines typed at this computer's keyboard while a job runs, on every system; they never hold up the program's end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

MAX_LINE = 4096
"""Bytes of one line; a scanner or a cat on the keyboard must not fill the memory."""


def listen(fd: int, on_line: Callable[[str | None], None]) -> None:
    """Call ``on_line`` in the running loop for each line read from ``fd``, and once with None at its end.

    A thread of its own that nobody waits for: reading a keyboard can't be cancelled. It reads the descriptor itself,
    because a thread that waits inside ``sys.stdin`` would hold its lock while the interpreter goes down.
    """
    loop = asyncio.get_running_loop()

    def tell(line: str | None) -> bool:
        try:
            loop.call_soon_threadsafe(on_line, line)
        except RuntimeError:
            return False  # the job is over
        return True

    def read() -> None:
        rest = b""
        while True:
            try:
                data = os.read(fd, MAX_LINE)
            except OSError:
                data = b""  # the terminal has gone
            *lines, rest = (rest + data).split(b"\n")
            if not data:
                lines += [rest] if rest else []
            for line in lines:
                if not tell(line[:MAX_LINE].decode(errors="replace").strip("\r")):
                    return
            if not data:
                tell(None)
                return
            rest = rest[:MAX_LINE]

    threading.Thread(target=read, name="keyboard", daemon=True).start()


class EnterKey:
    """Enter confirms the number of the board that is in the machine. Nothing is echoed into the picture meanwhile."""

    def __init__(self) -> None:
        self._modes: tuple[int, list[Any]] | None = None

    def listen(self, job: Any) -> None:
        """From now on Enter calls ``job.confirm()``; the end of the input, or a lost terminal, confirms nothing."""
        if sys.stdin is None or not sys.stdin.isatty():
            return
        fd = sys.stdin.fileno()
        self._echo_off(fd)

        def on_line(line: str | None) -> None:
            if line is not None:
                job.confirm()

        listen(fd, on_line)

    def _echo_off(self, fd: int) -> None:
        try:
            import termios
        except ImportError:
            return  # Windows has no such thing
        with contextlib.suppress(termios.error):
            modes = termios.tcgetattr(fd)
            self._modes = (fd, termios.tcgetattr(fd))
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(fd, termios.TCSADRAIN, modes)

    def close(self) -> None:
        """Give the terminal back as it was."""
        modes, self._modes = self._modes, None
        if modes is None:
            return
        import termios

        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(modes[0], termios.TCSADRAIN, modes[1])
