"""Evidence of what physically is and what screens showed: JSON lines, one object a line, appended at once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO


class Evidence:
    """Keeps the lines in RAM under the file's name (``truth``, ``faults``, ``shown_received``)."""

    def __init__(self) -> None:
        self.lines: dict[str, list[dict[str, Any]]] = {}

    def write(self, name: str, line: dict[str, Any]) -> None:
        self.lines.setdefault(name, []).append(line)

    def close(self) -> None:
        return None


class NoEvidence(Evidence):
    def write(self, name: str, line: dict[str, Any]) -> None:
        return None


class FileEvidence(Evidence):
    """Appends to ``FOLDER/NAME.jsonl``; every line is in the operating system's hands before ``write`` returns."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, TextIO] = {}

    def write(self, name: str, line: dict[str, Any]) -> None:
        if name not in self._files:
            path = self._folder / f"{name}.jsonl"
            # For its owner only: it says where cards lie.
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._files[name] = os.fdopen(descriptor, "a", encoding="utf-8", newline="\n")
        file = self._files[name]
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()
