"""The Data Connector over HTTP: scoring programs of other makers find here what they find in the vendor's own service.

Routes only; what commands mean is in ``terminals.interop.data_connector``, who may ask in ``data_connector_access``.
Answers are HTTP 200 also when they are errors, because clients repeat everything else; 503 says "ask again".
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dealer.board import Board
from dealer.deal import Deal
from dealer.generate import DealSet, Origin
from dealer.store.schema import DEALING_DB, MIGRATIONS
from dealer.store.sets import save_set
from firmware_bridge.config import load_config
from firmware_bridge.db import Database
from firmware_bridge.errors import ConfigError, StoreError
from firmware_bridge.service import desk_checks
from firmware_bridge.service.api import program_version
from firmware_bridge.service.api_access import Failures
from firmware_bridge.service.api_guard import MAX_BODY, MAX_UPLOAD, Guard, serving
from firmware_bridge.service.data_connector_access import ClubKeys, Rate, is_loopback, listens_at, parse_address
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_stream import encode
from firmware_bridge.service.host import own_addresses
from terminals.interop.data_connector.connector import Caller, Connector
from terminals.interop.data_connector.context import Answer
from terminals.interop.data_connector.deals import deals_of
from terminals.interop.data_connector.envelope import (
    GREETING,
    Refusal,
    Reply,
    Request,
    read_request,
    refused,
    write_reply,
)
from terminals.interop.data_connector.numbers import QUEUES, Command, ErrorType
from terminals.interop.data_connector.queues import PROGRAM
from terminals.interop.data_connector.shapes import WrongData
from terminals.store import ledger
from terminals.store.data_connector import restore_queues
from terminals.sync.terminal import Terminal

ENDPOINT = "/dc-scoringprogram"
MAX_EVENT = 16 * 1024 * 1024
STOP_S = 0.5
"""Seconds between the answer that the service closes and its end."""

logger = logging.getLogger(__name__)
_DEALS = frozenset({Command.INITIALIZE_EVENT, Command.ADD_SESSION, Command.PUT_HANDRECORDS})
_PEOPLE = frozenset({Command.PUT_PLAYER_DATA, Command.PUT_PARTICIPATIONS, Command.UPDATE_MOVEMENT, Command.ADD_SESSION})


def _save_deals(path: Path, deals: DealSet) -> None:
    database = Database.open(path, MIGRATIONS)
    try:
        save_set(database, deals)
    finally:
        database.close()


def _waiting(terminal: Terminal) -> int:
    """Records that a terminal says it has not handed over."""
    return 0 if terminal.status is None else terminal.status.waiting


class DataConnector:
    """Answers scoring programs for one running desk. stop: closes the service, None when programs may not."""

    def __init__(self, desk: Desk, keys: ClubKeys, stop: Callable[[], None] | None = None) -> None:
        self._desk = desk
        self._stop = stop
        self._club_pin = load_config(desk.directory).director_pin
        self._keys = keys
        self._connector = Connector(desk.wall)
        self._failures = Failures(desk.clock.monotonic, limit=10)
        self._rate = Rate(desk.clock.monotonic)

    def caller(self, request: Request, address: str) -> Caller | ErrorType:
        """Who asks, or why nothing is answered."""
        if is_loopback(address):
            usual = Caller(journals=self._journals(), club_pin=self._club_pin)
            return replace(usual, may_stop=self._stop is not None, held=self._held())
        if not self._rate.take(address) or self._failures.wait(address):
            return ErrorType.BUSY
        if not self._keys.right(request.club, request.licence):
            self._failures.add(address)
            return ErrorType.VALIDATION
        return Caller(request.club, local=False, journals=self._journals(), club_pin=self._club_pin)

    def _held(self) -> int:
        """Terminals in contact that still hold results."""
        return sum(
            bool(_waiting(one)) for one in self._desk.service.collector.terminals if one.present and one.admitted
        )

    def _journals(self) -> tuple[tuple[int, int, int], ...]:
        """Where the terminals in contact are in their journals: device, journal, number of the next new record."""
        return tuple(
            (one.device, track.journal, max(track.expected, track.unacked, track.verified + 1 + _waiting(one)))
            for one in self._desk.service.collector.terminals
            for track in one.tracks.values()
        )

    async def answer(self, body: bytes, address: str, charset: str = "") -> bytes:
        """The reply to the body of a POST. charset: of its Content-Type.

        Raises StoreError when the disk takes nothing at the moment.
        """
        try:
            request = read_request(body, charset)
        except WrongData as wrong:
            return write_reply(
                Request(wrong.known[0], session=wrong.known[1]), refused(ErrorType.WRONG_DATA_TYPE, wrong.words)
            )
        caller = self.caller(request, address)
        if isinstance(caller, ErrorType):
            busy = caller is ErrorType.BUSY
            words = "Too many requests; wait a minute." if busy else "Club id or licence key is not right."
            return write_reply(request, refused(caller, words))
        try:
            quick = self._desk.store.read(lambda c: self._connector.quick(c, request, caller))
            if quick is not None:
                if quick.error:
                    logger.info("scoring program: command %d refused: %s", request.command, quick.error.name)
                return write_reply(request, quick)
            if request.command in QUEUES:
                return write_reply(request, await self._polled(request, caller))
            answer = await self._desk.store.submit(lambda c: self._connector.handle(c, request, caller))
        except Refusal as refusal:
            # A poll that fails looks to the client like one without news, so it must at least be on record here.
            logger.info("scoring program: command %d refused: %s", request.command, refusal.error.name)
            return write_reply(request, refused(refusal.error, *refusal.lines))
        except StoreError:
            raise
        except Exception as error:
            logger.error("scoring program: command %d failed: %s", request.command, type(error).__name__)
            return write_reply(request, refused(ErrorType.EXCEPTION, "The service failed; nothing was changed."))
        self._apply(request, answer)
        if request.command in _DEALS:
            await self._keep_deals()
        if answer.stop and self._stop is not None:
            # The reply goes out first; a client that gets none would ask again.
            asyncio.get_running_loop().call_later(STOP_S, self._stop)
        return write_reply(request, answer.reply)

    async def _polled(self, request: Request, caller: Caller) -> Reply:
        """The answer to a poll. Raises Refusal, StoreError."""
        store, connector = self._desk.store, self._connector
        if QUEUES[Command(request.command)][0] == "deal":
            caller = replace(caller, dealt=desk_checks.deals_of(self._desk))
        if not store.read(lambda c: connector.is_settled(c, request, caller)):
            while await store.submit(lambda c: connector.catch_up(c, request, caller)):
                continue
            connector.settled(await store.submit(lambda c: connector.settle(c, request, caller)))
        while (reply := store.read(lambda c: connector.deliver(c, request, caller))) is None:
            await asyncio.sleep(0)
        return reply

    async def _keep_deals(self) -> None:
        """The deals that the program told are those that entries are checked against: a kept set of the event."""
        desk = self._desk
        event = desk.event
        told: dict[int, Deal] = {}
        unsure: set[int] = set()
        for deals in desk.store.read(lambda c: deals_of(c, event)).values():
            for board, deal in deals.items():
                if told.setdefault(board, deal) != deal:
                    unsure.add(board)
        known = {board: deal for board, deal in told.items() if board not in unsure}
        if not known or known == desk_checks.deals_of(desk):
            return
        boards = tuple(Board(number, deal) for number, deal in sorted(known.items()))
        kept = DealSet(secrets.token_hex(8), Origin.EXTERNAL, boards)
        await asyncio.to_thread(_save_deals, desk.directory / DEALING_DB, kept)
        await desk.log("deals", PROGRAM, set=kept.id)
        if unsure:
            text = f"{len(unsure)} boards have other cards in each section; entries on them are not checked."
            await desk.submit(lambda c: ledger.raise_alarm(c, "data-connector", f"deals {event}", text))

    def _apply(self, request: Request, answer: Answer) -> None:
        """Tell terminals and pages what has been committed."""
        desk = self._desk
        collector, now = desk.service.collector, desk.clock.monotonic()
        # Two requests may come back from the disk in one breath: the store knows which event is the last.
        setup = None if answer.setup is None else desk.store.load_setup()
        if setup is not None:
            other = setup.id != collector.setup.id
            desk.service.send(collector.set_setup(setup, now))
            if other:
                for device in desk.store.roster().values():
                    desk.service.send(collector.set_device(device, now))
            desk.reload()
            desk.stream.publish(encode("reset", {"version": desk.cursor}, desk.cursor))
            desk.on_change()
        elif request.command in _PEOPLE:
            desk.reload()
            desk.stream.publish(encode("people", {}))
        else:
            desk.committed()
        for message in answer.messages:
            desk.service.send(collector.text(message.text, message.section, message.table, urgent=True))


def make_app(connector: DataConnector) -> Starlette:
    """``GET /`` and ``POST /dc-scoringprogram``."""

    async def greeting(_request: HttpRequest) -> Response:
        return PlainTextResponse(f"{GREETING} {program_version()} (Firmware Bridge)")

    async def command(request: HttpRequest) -> Response:
        if "origin" in request.headers:
            # Only browsers send it: a page from anywhere must not command a service on this machine.
            return PlainTextResponse("not for browsers", 403)
        body = await request.body()
        address = request.client.host if request.client is not None else ""
        try:
            reply = await connector.answer(body, address, _charset(request.headers.get("content-type", "")))
        except StoreError as error:
            logger.error("scoring program: the store failed: %s", error.code)
            return PlainTextResponse("the disk takes nothing at the moment; ask again", 503)
        return Response(reply, media_type="application/json")

    return Starlette(
        routes=[Route("/", greeting), Route(ENDPOINT, command, methods=["POST"])],
        middleware=[Middleware(OnePath), Middleware(Guard, limit=_body_limit)],
    )


def _charset(content_type: str) -> str:
    found = re.search(r"charset\s*=\s*\"?([A-Za-z0-9_.:-]{1,40})", content_type, re.IGNORECASE)
    return "" if found is None else found[1]


class OnePath:
    """Programs are configured by hand: capitals and slashes too many in the path mean nothing. Through a proxy the
    path comes with the host before it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = "/" + re.sub(r"^https?://[^/]*", "", scope["path"]).strip("/")
            scope = {**scope, "path": path.lower() if path.lower() == ENDPOINT else path}
        await self._app(scope, receive, send)


def _body_limit(scope: Scope) -> int:
    """Bytes that a request may have: from this machine as many as an event of 78 sections takes."""
    if scope["path"] != ENDPOINT:
        return MAX_BODY
    client = scope.get("client")
    return MAX_EVENT if client is not None and is_loopback(client[0]) else MAX_UPLOAD


@contextlib.asynccontextmanager
async def data_connector(
    desk: Desk,
    directory: Path,
    address: str | None,
    clubs: tuple[str, ...],
    restored: tuple[str, ...],
    tell: Callable[[str], None],
    stop: Callable[[], None] | None = None,
) -> AsyncIterator[str | None]:
    """Serve scoring programs while the block runs; gives the URL, None without an ``address``.

    clubs: those that get a licence key if they have none. restored: those whose cleared queues come back. tell: words
    for whoever started the service. stop: what closes it when a program of this machine asks, None to go on. Raises
    ConfigError when the address can't be used, or is on the network and no club has a key.
    """
    keys = ClubKeys.open(directory)
    for club in clubs:
        key = keys.add(club)
        if key is not None:
            tell(f"Licence key of club {club}: {key} (it is not shown again)")
    for club in restored:
        count = await desk.store.submit(lambda c, club=club: restore_queues(c, club))  # type: ignore[misc]
        tell(f"{count} items of club {club or '(none)'} are in its queues again.")
    if address is None:
        yield None
        return
    host, port = parse_address(address)
    if not is_loopback(host) and not keys.clubs:
        raise ConfigError(
            "no club has a licence key, and the address can be reached from the network.",
            where=address,
            next_step="Give --data-connector-club CLUB once, and its key to the scoring program.",
            code="no-club",
        )
    try:
        host, also = listens_at(host)
        async with serving(make_app(DataConnector(desk, keys, stop)), host, port, also=also) as url:
            # Nobody can connect to 0.0.0.0 or ::, so that is not what a person should copy.
            every = {"0.0.0.0": "0.0.0.0", "::": "[::]"}.get(host, "")
            shown = [url.replace(every, one) for one in own_addresses()] if every else []
            tell(f"Scoring programs connect to {' or '.join(shown) or url} (Data Connector).")
            yield url
    except ConfigError as error:
        if error.code != "address-in-use":
            raise
        raise ConfigError(
            error.what,
            next_step="Stop the vendor's Data Connector, or give another address with --data-connector HOST:PORT.",
            code=error.code,
        ) from error
