"""What a port says in the log: a loss once, misbehaviour counted, the last frames at a fault."""

from __future__ import annotations

import logging

from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.link.trace import FrameTrace

DUMP_AFTER = 5.0
"""Seconds between two dumps of the last frames, at least."""

_LOG = logging.getLogger(__name__)


class PortLog:
    """One port's log. A device that is gone for hours, or sends nonsense all evening, can't fill the disk with it."""

    def __init__(self) -> None:
        self._lost = ""
        self._complaints: dict[str, int] = {}
        self._dumped_at: float | None = None

    def connected(self, where: str, what: str) -> None:
        self._lost = ""
        _LOG.info("%s: connected to %s", where, what)

    def lost(self, error: FirmwareBridgeError, *, quiet: bool) -> None:
        """The first time it is news, every further time it is the same news. quiet: somebody else reports it."""
        level = logging.DEBUG if quiet or error.what == self._lost else logging.WARNING
        self._lost = error.what
        _LOG.log(level, "%s", error)

    def complain(self, where: str, text: str, detail: str = "") -> None:
        """A misbehaviour of the device, logged the 1st, 10th, 100th ... time."""
        times = self._complaints[text] = self._complaints.get(text, 0) + 1
        if str(times).strip("0") == "1":
            words = f"{text}: {detail}" if detail else text
            _LOG.warning("%s: %s%s", where, words, f" ({times} times)" if times > 1 else "")

    def dump(self, where: str, why: str, trace: FrameTrace, now: float) -> None:
        """The last frames, redacted, as one entry."""
        if not _LOG.isEnabledFor(logging.INFO) or (self._dumped_at is not None and now < self._dumped_at + DUMP_AFTER):
            return
        self._dumped_at = now
        lines = trace.lines()
        _LOG.info("%s: the last %d lines before: %s\n%s", where, len(lines), why, "\n".join(lines))
