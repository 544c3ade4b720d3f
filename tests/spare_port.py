"""A port for a program that is started again on it."""

from __future__ import annotations

import contextlib
import random
import socket


def spare_port() -> int:
    """Outside the range from which the computer takes the ports of connections, so that nobody gets it by chance while
    the program is down."""
    pick = random.SystemRandom()
    while True:
        port = pick.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port
