"""The dealing screen's side of the service: sets of deals, one job at a time on the machine, what it says. Blind.

Pages get counts, instructions and board numbers; never a card, and nothing from which one could be worked out.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

from dealer.duplication import progress as p
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.options import PackRule
from dealer.formats.api import read_deals
from dealer.generate import DealSet, Origin, new_set
from dealer.store.schema import DEALING_DB, MIGRATIONS
from dealer.store.sets import load_set, save_set
from drivers.host import HostIdentity
from firmware_bridge.db import Database
from firmware_bridge.errors import ConfigError, EntryError, FirmwareBridgeError
from firmware_bridge.service.dealing import make_boards
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_stream import encode

KEPT = 200


class DealingDesk:
    """One dealing machine of the service. url: of the machine, "" when none is named. packs: of ``PackRule``."""

    def __init__(self, desk: Desk, url: str, host: HostIdentity, packs: str = PackRule.RED_BLUE) -> None:
        self._desk = desk
        self._host = host
        self._packs = PackRule(packs)
        self.url = url
        self._job: DuplicationJob | None = None
        self._task: asyncio.Task[None] | None = None
        self._deals: DealSet | None = None
        self._copies = 1
        self._state: dict[str, Any] = {}
        self._boards: dict[str, str] = {}
        self._told = 0
        self.history: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._began()

    def _began(self) -> None:
        self._state = {"planned": 0, "made": 0, "board": 0, "copy": 0, "cards": 0, "pockets": [0, 0, 0, 0]}
        self._state |= {"step": "", "action": "", "sound": "", "stopped": False, "line": True, "error": ""}
        self._state |= {"reasons": []}
        self._boards = {}

    @property
    def set_id(self) -> str:
        """Of the set in play, "" without one."""
        return "" if self._deals is None else self._deals.id

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def view(self) -> dict[str, Any]:
        """Everything that the dealing screen shows. ``n`` rises with every change while the service (``boot``) runs, so
        that a page can tell which of two answers is the older one.
        """
        deals = self._deals
        return {
            "boot": self._desk.hub.boot,
            "n": self._told,
            "machine": self.url,
            "running": self.running,
            "set": None
            if deals is None
            else {
                "id": deals.id[:8],
                "boards": len(deals.boards),
                "first": deals.boards[0].number,
                "last": deals.boards[-1].number,
            },
            "copies": self._copies,
            "wanted": self._wanted(),
            **self._state,
            "boards": self._boards,
            "history": list(self.history)[-30:],
        }

    def _wanted(self) -> dict[str, Any] | None:
        """Boards and copies that the event's movement needs."""
        sections = [s.movement for s in self._desk.setup.sections if s.movement is not None]
        if not sections:
            return None
        numbers = sorted({number for one in sections for number in one.board_numbers})
        copies = max(sum(one.copies_to_deal().get(number, 0) for one in sections) for number in numbers)
        return {"first": numbers[0], "last": numbers[-1], "copies": copies}

    # --- sets ---

    async def generate(self, first: int, last: int) -> None:
        """A new random set. Raises EntryError while a job runs."""
        self._idle()
        if not 1 <= first <= last <= 999 or last - first >= 200:
            raise EntryError("boards from 1 to 999, at most 200 of them.", code="bad-value")
        await self._keep(new_set(range(first, last + 1)))

    async def load(self, data: bytes, name: str) -> None:
        """The boards of a deal file. Raises DealError (without naming a card) or EntryError."""
        self._idle()
        found = read_deals(data, name=name).require_good(name or "the file")
        deals = DealSet(new_set([1]).id, Origin.EXTERNAL, tuple(sorted(found, key=lambda board: board.number)))
        await self._keep(deals)

    async def _keep(self, deals: DealSet) -> None:
        path = self._desk.directory / DEALING_DB

        def write() -> None:
            database = Database.open(path, MIGRATIONS)
            try:
                save_set(database, deals)
            finally:
                database.close()

        await asyncio.to_thread(write)
        self._deals = deals
        self._began()
        if self._desk.has_event:
            await self._desk.log("deals", set=deals.id)
        self._tell()

    def resume(self) -> None:
        """Take up the set of the event after a restart."""
        set_id = self._desk.facts.deal_set
        if set_id and self._deals is None:
            with contextlib.suppress(FirmwareBridgeError):
                database = Database.open(self._desk.directory / DEALING_DB, MIGRATIONS)
                try:
                    self._deals = load_set(database, set_id)
                finally:
                    database.close()

    # --- the job ---

    async def start(self, copies: int) -> None:
        """Make every board that is not made yet. Raises ConfigError without machine, EntryError without a set."""
        self._idle()
        if not self.url:
            raise ConfigError(
                "no dealing machine is named.", next_step="Start serve with --machine URL.", code="no-machine"
            )
        if self._deals is None:
            raise EntryError("there are no deals yet.", next_step="Generate or load a set first.", code="no-set")
        self._copies = copies
        self._began()
        self._task = asyncio.create_task(self._run(self._deals, copies))

    async def _run(self, deals: DealSet, copies: int) -> None:
        try:
            await make_boards(
                self.url,
                self._desk.directory,
                self._host,
                deals.boards,
                set_id=deals.id,
                copies=copies,
                on_progress=self._on_progress,
                on_job=self._take_job,
                options=JobOptions(packs=self._packs),
            )
        except FirmwareBridgeError as error:
            self._state |= {"error": f"{error.what} {error.next_step}".strip(), "stopped": True}
        finally:
            self._job = None
            self._tell()

    def _take_job(self, job: DuplicationJob) -> None:
        self._job = job

    def confirm(self, board: int = 0) -> None:
        """The operator confirms the number of the board in the machine. board: the one that the screen showed, 0 for
        any. Raises EntryError when the machine asks for another one by now.
        """
        if self._job is None:
            raise EntryError("nothing is being dealt.", code="no-job")
        if board not in (0, self._state["board"]):
            raise EntryError(
                f"it is board {self._state['board']} by now, not board {board}.",
                next_step="Look at the number on the screen and on the board.",
                code="other-board",
            )
        self._job.confirm()

    async def stop(self) -> None:
        """End the job: motors off, journal kept; the next start goes on."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._state |= {"step": "Stopped. Start again to go on.", "action": "stopped", "reasons": [], "stopped": True}
        self._tell()

    async def close(self) -> None:
        if self.running:
            await self.stop()

    def _idle(self) -> None:
        if self.running:
            raise EntryError("the machine is at work.", next_step="Stop it first.", code="busy")

    def _tell(self) -> None:
        self._told += 1
        self._desk.stream.publish(encode("deal", self.view()))

    def _on_progress(self, event: p.ProgressEvent) -> None:
        state = self._state
        match event:
            case p.JobBegan():
                state |= {"planned": event.planned, "made": event.made}
            case p.BoardBegan():
                state |= {"board": event.board, "copy": event.copy, "cards": 0, "pockets": [0, 0, 0, 0]}
                state |= {"stopped": False, "sound": ""}
            case p.CardCounted():
                state |= {"board": event.board, "copy": event.copy, "cards": event.cards, "pockets": list(event.counts)}
                self._told += 1
                counted = {"n": self._told, "board": event.board, "cards": event.cards, "pockets": list(event.counts)}
                self._desk.stream.publish(encode("cards", counted))
                return
            case p.BoardEnded():
                name = f"{event.board}/{event.copy}"
                before = self._boards.get(name)
                self._boards[name] = event.state.value
                settled = event.state.value in ("good", "unconfirmed")
                state["made"] += (settled and before not in ("good", "unconfirmed")) - event.withdrawn
                reasons = [reason.value for reason in event.reasons]
                self.history.append(
                    {"board": event.board, "copy": event.copy, "state": event.state.value, "reasons": reasons}
                )
            case p.Told():
                self._instruct(event.instruction, stopped=False)
            case p.Stopped():
                self._instruct(event.instruction, stopped=True)
                state["reasons"] = [reason.value for reason in event.reasons]
            case p.LineDown():
                state |= {"line": False}
            case p.LineUp():
                state |= {"line": True}
            case p.JobEnded():
                state |= {"stopped": not event.summary.complete}
        self._tell()

    def _instruct(self, instruction: Any, *, stopped: bool) -> None:
        state = self._state
        state |= {"step": instruction.text, "action": instruction.action.name.lower(), "stopped": stopped}
        state |= {"sound": instruction.sound.name.lower(), "reasons": []}
        if instruction.board:
            state |= {"board": instruction.board, "copy": instruction.copy}
