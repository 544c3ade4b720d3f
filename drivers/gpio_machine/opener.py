"""``gpio://`` URLs: starts a home-built machine's program in its own process and speaks with it through pipes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections import deque
from pathlib import Path

from drivers.gpio_machine.settings import read_settings
from firmware_bridge.errors import DeviceError, LinkLost

_LOG = logging.getLogger(__name__)

BEGIN_TIMEOUT = 15.0
"""Seconds until the machine's program must say something; a camera takes a while to start."""

END_TIMEOUT = 6.0
READ_SIZE = 4096


class GpioOpener:
    """Starts ``python -m drivers.gpio_machine FILE``; a new process each time it is called."""

    def __init__(self, file: Path, url: str) -> None:
        self._file = file
        self._url = url

    @property
    def url(self) -> str:
        return self._url

    @property
    def bytes_per_second(self) -> None:
        return None

    async def __call__(self) -> ProcessStream:
        """Raises ConfigError for a bad file, DeviceError when the program does not start or ends at once."""
        settings = read_settings(self._file)
        name = f"{settings.model} ({self._file})"
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "drivers.gpio_machine",
                str(self._file),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # Ctrl-C in the terminal is for the host, which ends this program in good order.
                start_new_session=True,
            )
        except OSError as error:
            raise DeviceError(
                f"The machine's program does not start ({error.strerror}).", where=name, code="port-unusable"
            ) from error
        stream = ProcessStream(name, process)
        try:
            async with asyncio.timeout(BEGIN_TIMEOUT):
                await stream.first_words()
        except TimeoutError:
            await stream.close()
            raise DeviceError(
                "The machine's program says nothing.",
                where=name,
                next_step=f"Try it by hand: {sys.executable} -m drivers.gpio_machine --check {self._file}",
                code="port-silent",
            ) from None
        except BaseException:
            await stream.close()
            raise
        return stream


class ProcessStream:
    """The ByteStream to a child process."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self._name = name
        self._process = process
        self._first = b""
        self._said: deque[str] = deque(maxlen=20)
        self._closed = False
        self._listening = asyncio.create_task(self._listen(), name=f"stderr of {name}")

    @property
    def name(self) -> str:
        return self._name

    async def first_words(self) -> None:
        """Wait until the program has begun to speak. Raises DeviceError when it ends instead."""
        assert self._process.stdout is not None
        self._first = await self._process.stdout.read(READ_SIZE)
        if not self._first:
            await self._listening
            raise self._why_it_ended()

    def _why_it_ended(self) -> DeviceError:
        told = self._last_error()
        if told is not None:
            where = f"{self._name}: {told['where']}" if told["where"] else self._name
            return DeviceError(told["what"], where=where, next_step=told["next"], code=told["code"])
        for line in self._said:
            _LOG.warning("%s: %s", self._name, line)
        return DeviceError(
            "The machine's program ended at once.",
            where=self._name,
            next_step="See the log for what it said.",
            code="machine-program",
        )

    def _last_error(self) -> dict[str, str] | None:
        """What the program said it ended with, if it did."""
        for line in reversed(self._said):
            if line.startswith("ERROR {"):
                try:
                    told = json.loads(line.removeprefix("ERROR "))
                    return {name: str(told[name]) for name in ("code", "what", "where", "next")}
                except (ValueError, KeyError, TypeError):
                    continue
        return None

    async def read(self) -> bytes:
        assert self._process.stdout is not None
        data, self._first = self._first, b""
        if not data and not self._closed:
            data = await self._process.stdout.read(READ_SIZE)
        if not data:
            # Its last words may still be on their way.
            await asyncio.wait({self._listening}, timeout=1.0)
            raise self._ended()
        return data

    async def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        if self._closed:
            raise self._ended()
        try:
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        except OSError as error:
            raise self._ended() from error

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        assert self._process.stdin is not None
        # The end of its input tells the program to stop after the card in flight, motors off.
        self._process.stdin.close()
        for end in (self._process.terminate, self._process.kill):
            try:
                async with asyncio.timeout(END_TIMEOUT):
                    await self._process.wait()
                break
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    end()
        # The pipes close by themselves once they have been read to their end; before that they are not released.
        draining = asyncio.create_task(self._drain())
        await asyncio.wait({draining, self._listening}, timeout=1.0)
        for task in (draining, self._listening):
            task.cancel()
        await asyncio.wait({draining, self._listening})

    async def _drain(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        while await self._process.stdout.read(READ_SIZE):
            pass
        with contextlib.suppress(OSError):
            await self._process.stdin.wait_closed()

    def _ended(self) -> LinkLost:
        told = self._last_error()
        return LinkLost(
            f"The machine's program has ended: {told['what']}" if told else "The machine's program has ended.",
            where=self._name,
            next_step=told["next"] if told else "It is started again by itself.",
        )

    async def _listen(self) -> None:
        """Keep its last words; whole lines only, so that nothing endless is kept."""
        assert self._process.stderr is not None
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._said.append(line.decode("utf-8", "replace").strip()[:2000])
