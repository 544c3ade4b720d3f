"""TCP connections to a device, or to a serial-to-network converter, as a ByteStream."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys

from drivers.transport_stream import TransportStream
from firmware_bridge.errors import DeviceError

CONNECT_TIMEOUT = 5.0
"""Seconds to wait for the other end to answer at all."""

KEEPALIVE_IDLE = 10
KEEPALIVE_INTERVAL = 5
KEEPALIVE_COUNT = 3


class TcpOpener:
    """Opens a connection to ``host``:``port``; a new one each time it is called."""

    def __init__(self, host: str, port: int, url: str, *, timeout: float = CONNECT_TIMEOUT) -> None:
        self._host = host
        self._port = port
        self._url = url
        self._timeout = timeout

    @property
    def url(self) -> str:
        return self._url

    @property
    def bytes_per_second(self) -> None:
        return None

    async def __call__(self) -> TransportStream:
        """Connect. Raises DeviceError when the name is unknown, nobody listens, or no answer comes in time."""
        where = f"{self._host}:{self._port}"
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout):
                transport, stream = await loop.create_connection(
                    lambda: TransportStream(where), self._host, self._port, happy_eyeballs_delay=0.25
                )
        except TimeoutError as error:
            raise DeviceError(
                f"No answer within {self._timeout:g} seconds.",
                where=where,
                next_step="Check that the device is switched on and in the same network.",
                code="port-silent",
            ) from error
        except OSError as error:
            raise _explain(error, where) from error
        if transport.get_extra_info("sockname") == transport.get_extra_info("peername"):
            # Nobody listens, and the port that this computer chose for its own end is the one wanted: it reached
            # itself. Kept open, the device could not listen there when it comes back.
            transport.abort()
            raise _explain(ConnectionRefusedError(errno.ECONNREFUSED, "reached itself"), where)
        _tune(transport.get_extra_info("socket"))
        return stream


def _tune(sock: socket.socket | None) -> None:
    """Short messages at once, and notice within half a minute when the other end vanished without a word."""
    if sock is None:
        return
    options = [(socket.IPPROTO_TCP, "TCP_NODELAY", 1), (socket.SOL_SOCKET, "SO_KEEPALIVE", 1)]
    if sys.platform != "win32":
        options += [
            (socket.IPPROTO_TCP, "TCP_KEEPIDLE", KEEPALIVE_IDLE),
            (socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_INTERVAL),
            (socket.IPPROTO_TCP, "TCP_KEEPCNT", KEEPALIVE_COUNT),
        ]
    for level, name, value in options:
        option = getattr(socket, name, None)
        if option is not None:
            try:
                sock.setsockopt(level, option, value)
            except OSError:
                # A converter's odd stack may refuse one; the link's own heartbeat does not need it.
                continue


def _explain(error: OSError, where: str) -> DeviceError:
    if isinstance(error, socket.gaierror):
        return DeviceError(
            "There is no device or computer of that name in this network.",
            where=where,
            next_step="Check the name, or use the number (like tcp://192.168.1.20:4000).",
            code="port-missing",
        )
    # Several addresses were tried: asyncio then has only a text that lists every failure.
    text = str(error)
    if isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in text:
        return DeviceError(
            "Nothing listens there.",
            where=where,
            next_step="Switch the device on, check the port number, and start it before this program.",
            code="port-missing",
        )
    unreachable = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN)
    if error.errno in unreachable or any(f"[Errno {number}]" in text for number in unreachable):
        return DeviceError(
            "The network does not reach that address.",
            where=where,
            next_step="Check the network cable or WLAN of this computer and of the device.",
            code="port-missing",
        )
    return DeviceError(
        f"The connection failed ({text.strip().rstrip('.')}).",
        where=where,
        next_step="Check the address and that the device is switched on.",
        code="port-missing",
    )
