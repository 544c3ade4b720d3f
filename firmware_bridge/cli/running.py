"""Running a coroutine as a command: Ctrl-C, SIGTERM and a terminal that is closed cancel it; clean-up runs, the code is
right."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from firmware_bridge.cli.main import Terminated

T = TypeVar("T")


def quiet_log() -> None:
    """Keep warnings of the drivers off the screen: what a person must know is told by the command itself."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` that treats SIGTERM and SIGHUP like Ctrl-C: cancel, clean up, then raise Terminated.

    A hang-up that is ignored (``nohup``) stays ignored.
    """
    terminated = False
    quiet_log()

    async def supervised() -> T:
        nonlocal terminated
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(main)

        def on_sigterm() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        try:
            loop.add_signal_handler(signal.SIGTERM, on_sigterm)
            if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
                loop.add_signal_handler(signal.SIGHUP, on_sigterm)
        except (AttributeError, NotImplementedError, RuntimeError, ValueError):
            pass  # Windows, or not the main thread: the process default stays
        try:
            return await task
        except asyncio.CancelledError:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
            raise

    watched = supervised()
    try:
        with asyncio.Runner() as runner:  # the loop is made here, while signals are held back
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                with contextlib.suppress(ValueError):  # not in the main thread
                    # asyncio cancels the task at Ctrl-C where it finds Python's own handler.
                    signal.signal(signal.SIGINT, signal.default_int_handler)
            return runner.run(watched)
    except asyncio.CancelledError:
        if terminated:
            raise Terminated from None
        raise
    finally:
        # Where a signal came before the first step, nobody has begun them.
        watched.close()
        main.close()
