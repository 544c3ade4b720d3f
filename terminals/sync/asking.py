"""Questions of terminals on their way to the store and back, and calls of the director. Sans-IO, part of the collector.

A terminal has few questions at the store at a time, and asks few a second in the long run. What is too much is not
answered: a terminal that gets no answer goes on alone.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Mapping

from dealer.deal import Deal
from firmware_bridge.wire.messages import CallStateTold, DirectorAuth, DirectorNonce, DirectorOpen, EntryCheck
from firmware_bridge.wire.numbers import CallState, DirectorAnswer
from firmware_bridge.wire.record import RecordBody, director_proof
from terminals.entry import Budget
from terminals.store.desk import Device
from terminals.store.values import device_hex
from terminals.sync.contacts import Contacts, Limits, Send, Work
from terminals.sync.ingest import Done, TakeDesk
from terminals.sync.questions import Question, TakeQuestion
from terminals.sync.setup import EventSetup, section_letter
from terminals.sync.terminal import Terminal

NONCE_SIZE = 8
WRONG_PROOFS = 5
WRONG_PAUSE = 300.0  # seconds


def _no_deal(section: int, board: int) -> Deal | None:
    """Shuffle and play: nothing is known of the cards."""
    return None


class Asking(Contacts):
    """deals: section number and board -> the deal that entries are compared with; whoever knows the deals sets it."""

    def __init__(self, setup: EventSetup, roster: Mapping[int, Device], limits: Limits) -> None:
        super().__init__(setup, roster, limits)
        self.deals: Callable[[int, int], Deal | None] = _no_deal
        self._budgets: dict[tuple[int, int, int], Budget] = {}
        self._checking: set[tuple[int, int]] = set()
        self.nonces: Callable[[int], bytes] = os.urandom
        self._wrong: dict[tuple[int, int], tuple[int, float]] = {}  # seat: wrong proofs, when the last one came

    # --- questions ---

    def _question(self, terminal: Terminal, message: Question, now: float, wall: str) -> list[Send]:
        """Put a question into the queue. What is too much, or comes while the store fails, is not answered."""
        limits, seat = self._limits, terminal.seat
        busy = terminal.questions >= limits.asks_open or len(self._queue) >= limits.queue
        if seat is None or not self.credit or busy:
            return []
        if not terminal.may_ask(now, limits.asks_per_second, limits.asks_burst):
            terminal.over_limit += 1
            return []
        deal = None
        if isinstance(message, EntryCheck):
            if seat in self._checking:
                return []  # the budget of warnings is known only after the question before
            self._checking.add(seat)
            deal = self.deals(seat[0], RecordBody.unpack(message.body).board)
        budget = self._budgets.get((self._setup.id, *seat), Budget())
        terminal.questions += 1
        self._queue.append(Work(TakeQuestion(seat, message, budget, deal, wall), terminal))
        return []

    def _unanswered(self, work: Work) -> None:
        """A question is over, answered or not."""
        if isinstance(work.job, TakeQuestion):
            self._checking.discard(work.job.seat)
            if work.terminal is not None:
                work.terminal.questions -= 1

    def _answered(self, work: Work, job: TakeQuestion, done: Done) -> list[Send]:
        self._unanswered(work)
        if done.budget is not None:
            self._budgets[(self._setup.id, *job.seat)] = done.budget
        terminal = work.terminal
        if terminal is None:
            return []
        return [self._to(terminal, message) for message in done.answers] if terminal.seat == job.seat else []

    def _call_kept(self, terminal: Terminal, job: TakeDesk) -> list[Send]:
        section, table, state = job.data.get("section"), job.data.get("table"), job.data.get("state")
        if job.kind != "call" or not isinstance(section, int) or not isinstance(table, int):
            return []
        called = state == CallState.CALLED
        if called and self._calls.get((section, table)) is CallState.COMING:
            return [self._to(terminal, CallStateTold(int(CallState.COMING)))]
        return self.call_state(section, table, CallState.CALLED if called else CallState.NONE)

    # --- the director's menu at a terminal ---

    def _director_ask(self, terminal: Terminal, now: float) -> list[Send]:
        terminal.nonce = b""
        if terminal.seat is None:
            return []
        if not self._setup.settings_of(terminal.seat[0]).director_pin:
            return [self._menu(terminal, DirectorAnswer.CLOSED)]
        if self._has_to_wait(terminal.seat, now):
            return [self._menu(terminal, DirectorAnswer.WAIT)]
        terminal.nonce = self.nonces(NONCE_SIZE)
        return [self._to(terminal, DirectorNonce(terminal.nonce))]

    def _director_auth(self, terminal: Terminal, message: DirectorAuth, now: float, wall: str) -> list[Send]:
        nonce, terminal.nonce = terminal.nonce, b""
        seat = terminal.seat
        if seat is None:
            return []
        pin = self._setup.settings_of(seat[0]).director_pin
        if not pin:
            return [self._menu(terminal, DirectorAnswer.CLOSED)]
        if self._has_to_wait(seat, now):
            return [self._menu(terminal, DirectorAnswer.WAIT)]
        place = {"section": seat[0], "table": seat[1], "device": device_hex(terminal.device)}
        if nonce and hmac.compare_digest(message.proof, director_proof(pin, nonce, terminal.device)):
            self._wrong.pop(seat, None)
            self._put(TakeDesk("director-menu", place, wall=wall))
            return [self._menu(terminal, DirectorAnswer.OPEN)]
        if nonce:
            tries = self._wrong.get(seat, (0, now))[0] + 1
            self._wrong[seat] = (tries, now)
            if tries >= WRONG_PROOFS:
                where = f"{section_letter(seat[0])}{seat[1]}"
                self._alarm("director-pin", where, f"Table {where} tried the director's PIN {tries} times in vain.")
        return [self._menu(terminal, DirectorAnswer.WRONG)]

    def _has_to_wait(self, seat: tuple[int, int], now: float) -> bool:
        tries, last = self._wrong.get(seat, (0, now))
        if tries >= WRONG_PROOFS and now - last >= WRONG_PAUSE:
            del self._wrong[seat]
            return False
        return tries >= WRONG_PROOFS

    def _menu(self, terminal: Terminal, answer: DirectorAnswer) -> Send:
        return self._to(terminal, DirectorOpen(int(answer)))
