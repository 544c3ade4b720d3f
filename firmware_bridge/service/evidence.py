"""The evidence folder of a run: files from which somebody who does not trust it can recompute its totals.

Two parties write there without sharing code: the simulator what physically is and what screens showed, the store and
the dealing job what they kept and claimed. These files may carry cards; the user names the folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ConfigError

MARK = "evidence.json"


def prepare_evidence(folder: Path, run: str) -> None:
    """Make the folder; it must be new, empty, or begun by the same ``run`` (an interrupted one that goes on).

    Raises ConfigError otherwise: evidence of two runs in one folder proves nothing.
    """
    mark = folder / MARK
    try:
        if folder.exists() and any(folder.iterdir()) and _run_of(mark) != run:
            raise ConfigError(
                "the evidence directory is not empty.",
                where=str(folder),
                next_step="Give a new directory with --evidence.",
                code="evidence-directory",
            )
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark.write_text(json.dumps({"run": run}) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{error.strerror}.", where=str(folder), code="evidence-directory") from error


def _run_of(mark: Path) -> str | None:
    try:
        return str(json.loads(mark.read_text(encoding="utf-8"))["run"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All complete lines of a file; none when it does not exist. A torn last line of a killed writer is left out."""
    if not path.exists():
        return []
    out = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            out.append(json.loads(line))
        except ValueError:
            continue
    return out


def lost_and_doubled(folder: Path) -> tuple[int, int]:
    """(lost, duplicated) of a simulated run: keys shown as received and not stored with that body; keys stored twice
    or plays with two current results."""
    stored: dict[tuple[str, str, int], list[str]] = {}
    for row in read_lines(folder / "ledger.jsonl"):
        if row["state"] != "conflict":
            stored.setdefault((row["device"], row["journal"], row["seq"]), []).append(row["body"])
    lost = 0
    seen = set()
    for row in read_lines(folder / "shown_received.jsonl"):
        key = (row["device"], row["journal"], row["seq"])
        if key not in seen and row["body"] not in stored.get(key, []):
            lost += 1
        seen.add(key)
    twice = sum(len(bodies) > 1 for bodies in stored.values())
    plays = sum(row["current"] > 1 for row in read_lines(folder / "plays.jsonl"))
    return lost, twice + plays
