"""The program's own log: JSON lines in the data directory, rotated, behind a filter that takes out cards.

Modules are written so that no card reaches a log in the first place. The filter is the second lock: it replaces
whatever looks like a hand, a card list or a deal's index, because a log is read by people who still have to play.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import re
import traceback
from pathlib import Path

MAX_BYTES = 2_000_000
KEPT = 4
HIDDEN = "[cards hidden]"

_HAND = r"(?:[AKQJT2-9]{0,13}\.){3}[AKQJT2-9]{0,13}"
_PATTERNS = (
    re.compile(rf"[NESW]:{_HAND}(?: (?:{_HAND}|-)){{1,3}}", re.IGNORECASE),
    re.compile(rf"(?<![\w.]){_HAND}(?![\w.])"),
    re.compile(r"\b\d{20,}\b"),
    re.compile(r"[♠♥♦♣](?:10|[AKQJT2-9])+"),
    re.compile(r"\b(?:[SHDC](?:10|[AKQJT2-9])[, ]+){2,}[SHDC](?:10|[AKQJT2-9])\b"),
    re.compile(r"\b[SHDC][AKQJT2-9]\b"),
)


def hide_cards(text: str) -> str:
    """``text`` with everything that looks like cards of a deal replaced."""
    for pattern in _PATTERNS:
        text = pattern.sub(HIDDEN, text)
    return text


class QuietFile(logging.handlers.RotatingFileHandler):
    """A log that can't be written must not fill the operator's screen; the run goes on without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        pass


class JsonLines(logging.Formatter):
    """One JSON object a line: at, level, logger, message; the traceback's places, never its values."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": hide_cards(record.getMessage()),
        }
        if record.exc_info:
            kind, _, places = record.exc_info
            # The words of an exception may be anything, a hand of an unplayed board too.
            line["trace"] = "".join(traceback.format_tb(places)) + (kind.__name__ if kind else "")
        return json.dumps(line, ensure_ascii=False)


def open_log(directory: Path) -> logging.Handler:
    """Send this program's log records of level INFO and up to ``DATA/log/firmware-bridge.jsonl``."""
    folder = directory / "log"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "firmware-bridge.jsonl"
    handler = QuietFile(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", delay=False)
    os.chmod(path, 0o600)
    handler.setFormatter(JsonLines())
    handler.setLevel(logging.INFO)
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    # Python's own last resort writes to stderr, past the filter; a handler on the root keeps it quiet.
    return handler


def close_log(handler: logging.Handler) -> None:
    logging.getLogger().removeHandler(handler)
    handler.close()
