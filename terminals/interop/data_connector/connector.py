"""What each command of a scoring program does, inside ONE transaction: all of it is kept, or nothing.

``handle`` gives the reply and what the service has to tell the terminals once the transaction is committed. A program
that misses the reply asks again, up to five times: every command may come twice and then changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.errors import FirmwareBridgeError
from terminals.interop.data_connector import begin, deals, puts, shapes, update
from terminals.interop.data_connector.context import Answer, Context
from terminals.interop.data_connector.delivery import Delivery
from terminals.interop.data_connector.envelope import Refusal, Reply, Request, command_of, ok, refused
from terminals.interop.data_connector.numbers import ACCEPTS, NOT_SUPPORTED, QUEUE_TYPES, QUEUES, Command, ErrorType
from terminals.interop.data_connector.people import queue_people
from terminals.interop.data_connector.queues import advance, behind
from terminals.interop.data_connector.shapes import WrongData
from terminals.interop.data_connector.structure import Structure
from terminals.store import data_connector as store
from terminals.store import desk
from terminals.store.data_connector import Item, Mark
from terminals.sync.setup import setup_from_json

_PEOPLE = ("player", "seat")
_PART = 250
Settled = tuple[tuple[str, str], tuple[int, ...]] | None
"""Changes that are queued in one transaction; a tenth of a second on a small machine."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. club: the club whose events it may see, None for all (on loopback). local: from this machine.

    journals: (device, journal, next record) of the terminals in contact; with another event these belong to it.
    dealt: deals by board that the club has of the active event, for a poll of deals. may_stop: whoever started the
    service lets programs of this machine close it. held: terminals in contact that still hold results. club_pin: the
    director's PIN for new events, "" without one.
    """

    club: str | None = None
    local: bool = True
    journals: tuple[tuple[int, int, int], ...] = ()
    dealt: Mapping[int, Deal] = field(default_factory=dict, repr=False)
    may_stop: bool = False
    held: int = 0
    club_pin: str = field(default="", repr=False)


class Connector:
    """One for a service. wall: time of day for people."""

    def __init__(self, wall: Callable[[], str] = lambda: "") -> None:
        self._wall = wall
        self._known: dict[str, tuple[int, Structure]] = {}
        self._delivery = Delivery()
        self._settled: dict[tuple[str, str], tuple[int, ...]] = {}

    def quick(self, connection: Connection, request: Request, caller: Caller) -> Reply | None:
        """The reply to a request that changes nothing, from a reading connection; None when it has to be handled."""
        try:
            command = command_of(request)
            if command in ACCEPTS:
                return self._accept_nothing(connection, request, caller, ACCEPTS[command])
        except Refusal as refusal:
            return refused(refusal.error, *refusal.lines)
        return None

    def catch_up(self, connection: Connection, request: Request, caller: Caller) -> bool:
        """Queue a part of what happened since the last poll; True when there may be more.

        Before a poll of a session that nobody has polled for long: results of tables must not wait for all of it.
        """
        if request.command not in QUEUES:
            return False
        structure = self._structure(connection, request, caller)
        advance(connection, structure, _PART)
        return behind(connection, structure.event)

    def is_settled(self, connection: Connection, request: Request, caller: Caller) -> bool:
        """Whether a poll can be delivered as it is: nothing happened since the last one. Raises Refusal."""
        kind, _ = QUEUES[Command(request.command)]
        structure = self._structure(connection, request, caller)
        event, session = structure.event, request.session
        if behind(connection, event):
            return False
        seen = self._seen(connection, kind, structure, session, caller)
        if seen is not None and self._settled.get(seen[0]) != seen[1]:
            return False
        return store.newest(connection, event, session, kind) <= store.mark(connection, event, session, kind).delivered

    def settle(self, connection: Connection, request: Request, caller: Caller) -> Settled:
        """Queue what happened and mark it as delivered: once this is on disk the poll may be answered.

        Tell ``settled`` then what this gives.
        """
        kind, _ = QUEUES[Command(request.command)]
        structure = self._structure(connection, request, caller)
        event, session = structure.event, request.session
        advance(connection, structure)
        done = self._seen(connection, kind, structure, session, caller)
        if kind in _PEOPLE:
            queue_people(connection, structure, session)
        elif kind == "deal":
            _queue_deals(connection, structure, session, caller)
        mark = store.mark(connection, event, session, kind)
        newest = store.newest(connection, event, session, kind)
        if newest > mark.delivered:
            store.set_mark(connection, event, session, kind, Mark(newest, mark.accepted))
        return done

    def settled(self, done: Settled) -> None:
        """What ``settle`` did is on disk."""
        if done is not None:
            if len(self._settled) >= 256:
                self._settled.clear()
            self._settled[done[0]] = done[1]

    @staticmethod
    def _seen(connection: Connection, kind: str, structure: Structure, session: str, caller: Caller) -> Settled:
        """What the news of a queue depends on that has no outbox of its own: while it stays the same there is none."""
        event = structure.event
        if kind in _PEOPLE:
            version = store.version_of(connection, event)
            return ("people", session), (store.people_version(connection, event), version)
        if kind == "deal":
            return ("deals", session), deals.stamp(connection, event, caller.dealt)
        return None

    def deliver(self, connection: Connection, request: Request, caller: Caller) -> Reply | None:
        """The reply to a settled poll, from a reading connection; None: ask again after others had their turn."""
        kind, everything = QUEUES[Command(request.command)]
        queue = (self._structure(connection, request, caller).event, request.session, kind)
        mark = store.mark(connection, *queue)
        found = self._delivery.take(connection, queue, None if everything else mark.accepted, mark.delivered)
        return None if found is None else Reply(QUEUE_TYPES[kind], "", last=found[1], wire=found[0])

    def handle(self, connection: Connection, request: Request, caller: Caller) -> Answer:
        """Carry out a request inside a transaction. Raises Refusal, after which nothing of it must be kept."""
        try:
            return self._handle(connection, request, caller)
        except WrongData as wrong:
            raise Refusal(ErrorType.WRONG_DATA_TYPE, wrong.words) from None
        except FirmwareBridgeError as error:
            if error.code.startswith("store"):
                raise
            raise Refusal(ErrorType.VALIDATION, str(error)) from None

    def _handle(self, connection: Connection, request: Request, caller: Caller) -> Answer:
        command = command_of(request)
        if command is Command.PING:
            return Answer(Reply(ok().kind, request.data if request.data and request.data.strip() else '""'))
        if command in (Command.CONNECT, Command.DISCONNECT):
            return Answer(ok())
        if command in NOT_SUPPORTED:
            raise Refusal(ErrorType.NOT_IMPLEMENTED, f"{command.name} is not supported.")
        words = (caller.club, caller.local, self._wall(), caller.journals, caller.may_stop, caller.held)
        context = Context(connection, request, *words, caller.club_pin)
        if command in QUEUES:
            return Answer(self._poll(connection, request, caller, *QUEUES[command]))
        if command in ACCEPTS:
            return Answer(self._accept(connection, request, caller, ACCEPTS[command]))
        work = _WORK.get(command)
        if work is None:
            raise Refusal(ErrorType.VALIDATION, "There is no such command.")
        return work(context)

    # --- queues ---

    def _structure(self, connection: Connection, request: Request, caller: Caller) -> Structure:
        """For reading only; kept from one poll to the next."""
        event = store.event_of_session(connection, request.session)
        version = 0 if event is None else store.version_of(connection, event)
        known = None if event is None else self._known.get(event)
        if event is None or not version:
            raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such session.")
        if known is None or known[0] != version:
            row = store.event_by_id(connection, event)
            assert row is not None
            if len(self._known) >= 16:
                self._known.clear()
            known = self._known[event] = (version, Structure.load(row))
        if caller.club not in (None, known[1].club):
            raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such session.")
        return known[1]

    def _poll(self, connection: Connection, request: Request, caller: Caller, kind: str, everything: bool) -> Reply:
        self.settle(connection, request, caller)
        queue = (self._structure(connection, request, caller).event, request.session, kind)
        after = 0 if everything else store.mark(connection, *queue).accepted
        return _items(kind, store.items(connection, *queue, after, own=everything))

    def _accept_nothing(self, connection: Connection, request: Request, caller: Caller, kind: str) -> Reply | None:
        structure = self._structure(connection, request, caller)
        try:
            upto = _accepted(request)
        except WrongData:
            return None
        mark = store.mark(connection, structure.event, request.session, kind)
        return ok() if min(upto, mark.delivered) <= mark.accepted else None

    def _accept(self, connection: Connection, request: Request, caller: Caller, kind: str) -> Reply:
        """Up to what was delivered in this queue, whatever number comes: a client remembers one number for all its
        sessions."""
        upto = _accepted(request)
        session, event = request.session, self._structure(connection, request, caller).event
        mark = store.mark(connection, event, session, kind)
        store.set_mark(connection, event, session, kind, Mark(mark.delivered, min(upto, mark.delivered)))
        return ok()


def _queue_deals(connection: Connection, structure: Structure, session: str, caller: Caller) -> None:
    setup, active = desk.load_event(connection, structure.id), desk.load_event(connection)
    if setup is not None:
        made = setup_from_json(setup.id, setup.name, setup.plan_version, setup.setup)
        here = active is not None and active.id == setup.id
        deals.queue_deals(connection, structure, session, made, caller.dealt if here else {})


def _accepted(request: Request) -> int:
    value = request.payload
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongData("an item's number is wanted")
    return max(0, min(value, (1 << 63) - 1))


def _items(kind: str, found: Sequence[Item]) -> Reply:
    data = f"[{','.join(item.body for item in found)}]"
    return Reply(QUEUE_TYPES[kind], data, last=found[-1].id if found else 0)


_WORK: dict[Command, Callable[[Context], Answer]] = {
    Command.INITIALIZE_EVENT: begin.initialize,
    Command.CONTINUE_EVENT: begin.continue_event,
    Command.ADD_SESSION: begin.add_session,
    Command.CLEAR_DATA: begin.clear_data,
    Command.UPDATE_MOVEMENT: update.update_movement,
    Command.UPDATE_SCORING_GROUPS: update.update_scoring_groups,
    Command.GET_MOVEMENT: update.get_movement,
    Command.GET_ALL_MOVEMENTS: update.get_all_movements,
    Command.MANAGE_BCS: update.manage,
    Command.PUT_RESULTS: puts.put_results,
    Command.PUT_PLAYER_DATA: puts.put_player_data,
    Command.PUT_PARTICIPATIONS: puts.put_participations,
    Command.PUT_HANDRECORDS: puts.put_handrecords,
    Command.PUT_BRIDGEMATE2_SETTINGS: lambda context: puts.put_settings(context, shapes.BM2),
    Command.PUT_BRIDGEMATE3_SETTINGS: lambda context: puts.put_settings(context, shapes.BM3),
    Command.PUT_TD_CALLS: puts.put_calls,
}


def supported() -> dict[str, Any]:
    """Commands that are served, by name, for the documentation and its test."""
    served = [*QUEUES, *ACCEPTS, *_WORK, Command.PING, Command.CONNECT, Command.DISCONNECT]
    return {command.name: int(command) for command in sorted(served)}
