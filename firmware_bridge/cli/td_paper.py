"""``td slips`` and ``td enter``: when terminals fail in mid-evening, paper and keyboard go on with the same event.

Every line is sent as soon as it is typed: nothing is lost when the keyboard fails as well, and the ranking goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dealer.files import write_file
from firmware_bridge.cli.out_file import OutFile
from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.cli.results_paper import ENTRY_HELP, typed_lines
from firmware_bridge.cli.td import Service, td, who
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError, EntryError, FirmwareBridgeError


@td.command("slips")
@click.option("--out", required=True, type=OutFile(".pdf"), help="PDF to write.")
@click.option("--section", default="A", show_default=True)
@click.option("--from-round", type=click.IntRange(1, 255), default=1, show_default=True)
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td slips")
def slips(out: str, section: str, from_round: int, paper: str, data: Path | None) -> Outcome:
    """Print pick-up slips of the plan as it is now, one for each table and round."""
    from terminals.interop.slip_session import slips_of
    from terminals.interop.slips import slips_pdf
    from terminals.movement import files

    service = Service(data_directory(data))
    movement = files.from_dict(service.ask(f"/plan/movement?section={section}"))
    found = [one for one in slips_of(movement, section.upper()) if one.round >= from_round]
    if not found:
        raise ConfigError(f"There is no round {from_round} in this plan.", where="--from-round")
    write_file(out, slips_pdf(found, title="Pick-up slips", page=paper))
    return Outcome({"out": out, "slips": len(found)}, f"{len(found)} slips in {out}.")


@td.command("enter", epilog=ENTRY_HELP)
@click.option("--section", default="A", show_default=True)
@click.option("--by", "actor", default=None, help="Who keys them in; your log-in name if left out.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td enter")
def enter(section: str, actor: str | None, data: Path | None) -> Outcome:
    """Key in pick-up slips, one short line a board; each goes into the running event at once."""
    keyboard = _Keyboard(Service(data_directory(data)), section.upper(), who(actor))
    keyboard.run(typed_lines())
    fields = {"entered": keyboard.entered, "missing": keyboard.missing, "rejected": keyboard.rejected}
    return Outcome(fields, f"{keyboard.entered} results entered, {keyboard.missing} missing.")


class _Keyboard:
    """Walks through the boards of a section that have no result, by round and table."""

    def __init__(self, service: Service, section: str, actor: str) -> None:
        from terminals.interop.slips import Slip, SlipEntry

        self.service, self.section, self.actor = service, section, actor
        self.entered = self.rejected = 0
        self.later: set[tuple[int, int]] = set()
        self.wanted: tuple[int, int] | None = None
        self.acts: list[tuple[tuple[int, int], int, str]] = []  # slip, board, id of the act
        boards: dict[tuple[int, int, int, int], list[int]] = {}
        for cell in service.ask("/desk")["grid"]["cells"]:
            if cell["section"] == section and cell["state"] == "missing":
                boards.setdefault((cell["round"], cell["table"], cell["ns"], cell["ew"]), []).append(cell["board"])
        self.pairs = {(number, table): (ns, ew) for number, table, ns, ew in boards}
        self.entries = {
            (number, table): SlipEntry(Slip(section, table, number, str(ns), str(ew), tuple(found)))
            for (number, table, ns, ew), found in sorted(boards.items())
        }

    @property
    def missing(self) -> int:
        return sum(len(one.slip.boards) - len(one.lines) for one in self.entries.values())

    def _current(self) -> tuple[int, int] | None:
        open_ones = [place for place, one in self.entries.items() if one.next_board is not None]
        if self.wanted in open_ones:
            return self.wanted
        self.wanted = None
        found = next((place for place in open_ones if place not in self.later), None)
        if found is None and open_ones:
            self.later.clear()
            found = open_ones[0]
        return found

    def run(self, typed: Iterator[str]) -> None:
        shown = None
        while (place := self._current()) is not None:
            entry = self.entries[place]
            if place != shown:
                progress(f"\n{entry.slip.title}: N-S {entry.slip.ns}, E-W {entry.slip.ew}")
                shown = place
            click.echo(f"{entry.next_board:>3}  ", err=True, nl=False)
            text = next(typed, None)
            if text is None or text.lower() in ("q", "quit"):
                return
            try:
                self._one(text, place)
            except EntryError as error:
                self.rejected += 1
                progress(f"     {error.what} {error.next_step}".rstrip())
            except FirmwareBridgeError as error:
                if error.code in ("no-service", "service-silent"):
                    raise
                self.rejected += 1
                progress(f"     {error.what} {error.next_step}".rstrip())

    def _one(self, text: str, place: tuple[int, int]) -> None:
        word = text.lower()
        if not word:
            return
        if word == "u":
            self._take_back()
        elif word == "s":
            self.later.add(place)
            self.wanted = None
        elif word == "?":
            for (number, table), one in self.entries.items():
                left = [board for board in one.slip.boards if board not in {line.board for line in one.lines}]
                if left:
                    progress(f"     round {number}, table {table}: boards {', '.join(map(str, left))}")
        elif match := re.fullmatch(r"g\s*(\d{1,3})\s+(\d{1,3})", word, re.ASCII):
            there = (int(match[1]), int(match[2]))
            if there not in self.entries:
                raise EntryError("Nothing is missing there.", code="no-slip")
            self.wanted = there
            self.later.discard(there)
        else:
            self._send(text, place)

    def _send(self, text: str, place: tuple[int, int]) -> None:
        from terminals.result import NotPlayed
        from terminals.store import content

        entry = self.entries[place]
        line = entry.enter(text)
        ns, ew = self.pairs[place]
        body: dict[str, Any] = {"section": self.section, "board": line.board, "ns": ns, "ew": ew, "actor": self.actor}
        try:
            if isinstance(line.state, NotPlayed):
                found = self.service.ask("/actions/not-played", body)
            else:
                found = self.service.ask("/actions/correct", {**body, "result": content.to_json(line.state)})
        except FirmwareBridgeError:
            entry.undo()
            raise
        self.acts.append((place, line.board, str(found["action"])))
        self.entered += 1
        progress(f"     {line.echo}")

    def _take_back(self) -> None:
        if not self.acts:
            raise EntryError("There is nothing to take back.", code="nothing-to-undo")
        place, board, action = self.acts[-1]
        self.service.ask("/actions/undo", {"action": action, "actor": self.actor})
        self.acts.pop()
        entry = self.entries[place]
        entry.lines = [line for line in entry.lines if line.board != board]
        self.entered -= 1
        self.wanted = place
        progress(f"     board {board} is open again")
