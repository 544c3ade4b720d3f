"""Questions of terminals on their way to the store and back, and calls of the director. Sans-IO, part of the collector.

A terminal has few questions at the store at a time, and asks few a second in the long run. What is too much is not
answered: a terminal that gets no answer goes on alone.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Mapping

from dealer.deal import Deal
from firmware_bridge.wire.messages import (
    Ask,
    CallStateTold,
    DirectorAuth,
    DirectorNonce,
    DirectorOpen,
    EntryCheck,
    TakeOver,
)
from firmware_bridge.wire.numbers import AskFor, CallState, DirectorAnswer
from firmware_bridge.wire.record import RecordBody, director_proof
from terminals.entry import Budget
from terminals.store.desk import Device
from terminals.store.values import device_hex
from terminals.sync.contacts import Contacts, Limits, Send, Work
from terminals.sync.jobs import Done, TakeDesk, TakeTable
from terminals.sync.questions import DoubleDummy, Question, TakeQuestion
from terminals.sync.setup import EventSetup, pairs_at, section_letter
from terminals.sync.terminal import Terminal

NONCE_SIZE = 8
WRONG_PROOFS = 5
WRONG_PAUSE = 300.0  # seconds


def _no_deal(section: int, board: int) -> Deal | None:
    """Shuffle and play: nothing is known of the cards."""
    return None


def _not_solved(deal: Deal) -> DoubleDummy | None:
    return None


class Asking(Contacts):
    """deals: section number and board -> the deal that entries are compared with; whoever knows the deals sets it.

    double_dummy: a deal -> tricks by declarer and strain, when somebody has solved it before; it must answer at once.
    """

    def __init__(self, setup: EventSetup, roster: Mapping[int, Device], limits: Limits) -> None:
        super().__init__(setup, roster, limits)
        self.deals: Callable[[int, int], Deal | None] = _no_deal
        self.double_dummy: Callable[[Deal], DoubleDummy | None] = _not_solved
        self._budgets: dict[tuple[int, int, int], Budget] = {}
        self._checking: set[tuple[int, int]] = set()
        self._telling: set[tuple[tuple[int, int], int]] = set()  # seat, what: not yet taken to the store
        self.nonces: Callable[[int], bytes] = os.urandom
        self._wrong: dict[tuple[int, int], tuple[int, float]] = {}  # seat: wrong proofs, when the last one came

    # --- questions ---

    def _question(self, terminal: Terminal, message: Question, now: float, wall: str) -> list[Send]:
        """Put a question into the queue. What is too much, or comes while the store fails, is not answered."""
        limits, seat = self._limits, terminal.seat
        busy = terminal.questions >= limits.asks_open or len(self._queue) >= limits.queue
        if seat is None or not self.credit or busy:
            return []
        if not terminal.ask_pace.take(now, limits.asks_per_second, limits.asks_burst):
            terminal.over_limit += 1
            return []
        deal = table = None
        if isinstance(message, EntryCheck):
            if seat in self._checking:
                return []  # the budget of warnings is known only after the question before
            self._checking.add(seat)
            deal = self.deals(seat[0], RecordBody.unpack(message.body).board)
            table = None if deal is None else self.double_dummy(deal)
        budget = self._budgets.get((self._setup.id, *seat), Budget())
        terminal.questions += 1
        self._queue.append(Work(TakeQuestion(seat, message, budget, deal, table, wall), terminal))
        return []

    def tell(self, section: int, pair: int, what: AskFor) -> None:
        """Tables to which this pair comes are told names or codes anew, as if they had asked."""
        for terminal in self.terminals:
            seat = terminal.seat
            if seat is None or seat[0] != section or not terminal.present or (seat, what) in self._telling:
                continue
            here = pairs_at(self._setup, *seat)
            if (here is None or pair in here) and len(self._queue) < self._limits.queue:
                self._telling.add((seat, what))
                terminal.questions += 1
                shown = 0 if terminal.status is None else terminal.status.round
                self._queue.append(Work(TakeQuestion(seat, Ask(int(what), shown, 0)), terminal))

    def _unanswered(self, work: Work) -> None:
        """A question is over, answered or not."""
        if isinstance(work.job, TakeQuestion):
            self._checking.discard(work.job.seat)
            if isinstance(work.job.message, Ask):
                self._telling.discard((work.job.seat, work.job.message.what))
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

    # --- the director's menu at a terminal, and taking a table over ---

    def _director_ask(self, terminal: Terminal, now: float) -> list[Send]:
        terminal.nonce = b""
        seat = self._seat_wanted(terminal)
        if seat is None or terminal.refused:
            return []
        if not self._setup.settings_of(seat[0]).director_pin:
            return [self._menu(terminal, DirectorAnswer.CLOSED)]
        if self._has_to_wait(seat, now):
            return [self._menu(terminal, DirectorAnswer.WAIT)]
        terminal.nonce = self.nonces(NONCE_SIZE)
        return [self._to(terminal, DirectorNonce(terminal.nonce))]

    def _seat_wanted(self, terminal: Terminal) -> tuple[int, int] | None:
        """Where the terminal is, or where it says that it would be."""
        status = terminal.status
        if terminal.seat is not None or status is None or not self._setup.has_table(status.section, status.table):
            return terminal.seat
        return status.section, status.table

    def _director_auth(self, terminal: Terminal, message: DirectorAuth, now: float, wall: str) -> list[Send]:
        if terminal.seat is None:
            terminal.nonce = b""
            return []
        answer = self._proved(terminal, terminal.seat, message.proof, now)
        if answer is DirectorAnswer.OPEN:
            terminal.menu_open = True
            place = {"section": terminal.section, "table": terminal.table, "device": device_hex(terminal.device)}
            self._put(TakeDesk("director-menu", place, wall=wall))
        return [self._menu(terminal, answer)]

    def _take_over(self, terminal: Terminal, message: TakeOver, now: float, wall: str) -> list[Send]:
        """A terminal with the director's PIN takes a table from the one that has it."""
        seat = (message.section, message.table)
        if terminal.refused or not self._setup.has_table(*seat):
            terminal.nonce = b""
            return [] if terminal.refused else self._tell(terminal, "The event has no such table.")
        answer = self._proved(terminal, seat, message.proof, now)
        if answer is not DirectorAnswer.OPEN:
            return [self._menu(terminal, answer)]
        self._put(TakeTable(terminal.device, *seat, wall), terminal)
        return []

    def _taken_over(self, work: Work, done: Done, now: float) -> list[Send]:
        if done.refused:
            return [] if work.terminal is None else self._tell(work.terminal, done.refused)
        return [send for device in done.devices for send in self.set_device(device, now)]

    def _proved(self, terminal: Terminal, seat: tuple[int, int], proof: bytes, now: float) -> DirectorAnswer:
        """What a proof of the PIN is worth. Wrong ones are counted for the table, whoever sends them."""
        nonce, terminal.nonce = terminal.nonce, b""
        pin = self._setup.settings_of(seat[0]).director_pin
        if not pin:
            return DirectorAnswer.CLOSED
        if self._has_to_wait(seat, now):
            return DirectorAnswer.WAIT
        if nonce and hmac.compare_digest(proof, director_proof(pin, nonce, terminal.device)):
            self._wrong.pop(seat, None)
            return DirectorAnswer.OPEN
        if nonce:
            tries = self._wrong.get(seat, (0, now))[0] + 1
            self._wrong[seat] = (tries, now)
            if tries >= WRONG_PROOFS:
                where = f"{section_letter(seat[0])}{seat[1]}"
                self._alarm("director-pin", where, f"Table {where} tried the director's PIN {tries} times in vain.")
        return DirectorAnswer.WRONG

    def _has_to_wait(self, seat: tuple[int, int], now: float) -> bool:
        tries, last = self._wrong.get(seat, (0, now))
        if tries >= WRONG_PROOFS and now - last >= WRONG_PAUSE:
            del self._wrong[seat]
            return False
        return tries >= WRONG_PROOFS

    def _menu(self, terminal: Terminal, answer: DirectorAnswer) -> Send:
        return self._to(terminal, DirectorOpen(int(answer)))
