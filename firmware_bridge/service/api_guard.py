"""What stands before every route: limits of size and time, headers that browsers obey, a server that waits for nobody.

Pure ASGI, so that streams pass through unbuffered.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from firmware_bridge.errors import ConfigError
from firmware_bridge.service.api_access import origin_of

MAX_BODY = 64 * 1024
MAX_UPLOAD = 4 * 1024 * 1024
BODY_S = 10.0
"""Seconds for a whole body; a sender that drips is cut off."""
HEADER_S = 10.0
"""Seconds for the head of a request."""
CONNECTIONS = 2000
CONNECTIONS_EACH = 100
"""From one address: a phone has three, and one that wants all of them leaves some for the others."""
OWN = frozenset({"127.0.0.1", "::1"})
"""This computer itself, on which a whole room may be simulated."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=()"),
)


class TooLarge(Exception):
    pass


class TooSlow(Exception):
    pass


class Guard:
    """Limits bodies in size and time, and adds the security headers to every answer.

    uploads: paths below which a body may have MAX_UPLOAD bytes. limit: another rule for how many it may have.
    """

    def __init__(
        self,
        app: ASGIApp,
        uploads: tuple[str, ...] = (),
        body_s: float = BODY_S,
        limit: Callable[[Scope], int] | None = None,
    ) -> None:
        self._app = app
        self._uploads = uploads
        self._body_s = body_s
        self._limit = limit or self._usual

    def _usual(self, scope: Scope) -> int:
        return MAX_UPLOAD if scope["path"].startswith(self._uploads or ("\0",)) else MAX_BODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope)
        started = False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                names = {name.lower() for name, _ in message.get("headers", ())}
                extra = [pair for pair in HEADERS if pair[0] not in names]
                if b"cache-control" not in names:
                    extra.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        try:
            declared = _declared(scope)
            if declared is not None and declared > limit:
                raise TooLarge
            await self._app(scope, self._bounded(receive, limit), guarded_send)
        except (TooLarge, TooSlow) as error:
            if started:
                raise
            await _refuse(guarded_send, *_WORDS[type(error)])

    def _bounded(self, receive: Receive, limit: int) -> Receive:
        count = 0
        complete = False
        end: float | None = None

        async def bounded() -> Message:
            nonlocal count, complete, end
            if complete:
                return await receive()  # only the news that the caller has gone
            now = asyncio.get_running_loop().time()
            end = now + self._body_s if end is None else end
            left = end - now
            try:
                message = await asyncio.wait_for(receive(), max(0.0, left))
            except TimeoutError:
                raise TooSlow from None
            if message["type"] == "http.request":
                count += len(message.get("body", b""))
                if count > limit:
                    raise TooLarge
                complete = not message.get("more_body", False)
            return message

        return bounded


_WORDS: dict[type[Exception], tuple[int, str, str]] = {
    TooLarge: (413, "too-large", "the request is too long."),
    TooSlow: (408, "too-slow", "the request took too long to arrive."),
}


def _declared(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 16 else 1 << 62
    return None


async def _refuse(send: Send, status: int, code: str, what: str) -> None:
    body = f'{{"error": {{"code": "{code}", "what": "{what}", "where": "", "next": ""}}}}'.encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})


class _Protocol(H11Protocol):
    """Closes a connection on which the head of a request does not arrive in time, and those of an address with too
    many of them."""

    _head: asyncio.TimerHandle | None = None
    _host = ""
    _open: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        host = origin_of(peer[0]) if isinstance(peer, tuple) and peer else ""
        if host and host not in OWN:
            if self._open[host] >= CONNECTIONS_EACH:
                transport.abort()
                return
            self._host = host
            self._open[host] += 1
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        if self._host:
            self._open[self._host] -= 1
            if not self._open[self._host]:
                del self._open[self._host]
            self._host = ""
        super().connection_lost(exc)

    def _watch(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy:
            self._unwatch()
        elif self._head is None:
            self._head = asyncio.get_running_loop().call_later(HEADER_S, self._late)

    def _unwatch(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _late(self) -> None:
        self._head = None
        if self.transport is not None and not (self.cycle is not None and not self.cycle.response_complete):
            self.transport.close()


class _Server(uvicorn.Server):
    """Signals belong to the command that runs the service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    certificate: Path | None = None,
    key: Path | None = None,
    also: str = "",
) -> AsyncIterator[str]:
    """Serve ``app`` while the block runs; gives the URL.

    also: one more address with the same port, if it can be had. Raises ConfigError when the address or the certificate
    can't be used.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=_Protocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        h11_max_incomplete_event_size=16 * 1024,
        timeout_graceful_shutdown=1,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
    )
    try:
        config.load()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"certificate or key can't be used: {error}.",
            where=str(certificate or ""),
            next_step="Give a PEM certificate with --cert and its key with --key.",
            code="bad-certificate",
        ) from error
    listener = _bound(host, port)
    actual = listener.getsockname()[1]
    listeners = [listener]
    if also:
        with contextlib.suppress(ConfigError):
            listeners.append(_bound(also, actual))
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=listeners))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    if task.done():
        task.result()
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"{'https' if certificate else 'http'}://{shown}:{actual}"
    finally:
        server.should_exit = True
        await asyncio.wait([task])
        for listener in listeners:
            listener.close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket at the address. uvicorn would end the process when it can't be had; here that is an error."""
    listener = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ConfigError(
            f"the address {host}:{port} can't be used: {error.strerror or error}.",
            next_step="Stop the program that uses it, or choose another port with --port.",
            code="address-in-use",
        ) from error
