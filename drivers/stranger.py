"""Who is it that sends bytes which are not our protocol? A guess from the first ones, in words that help an operator.

The sample itself is never shown: a device that does speak the protocol, at another speed, may be sending cards.
"""

from __future__ import annotations

from firmware_bridge.errors import ProtocolMismatch

SAMPLE = 512
"""Bytes that are looked at."""

_PRINTABLE = frozenset(range(32, 127)) | {9, 10, 13}


def recognise_server(sample: bytes, where: str) -> ProtocolMismatch | None:
    """A web or login server in words, None if it is none. sample: the first bytes that came, 512 at most."""
    start = sample.lstrip(b"\0\r\n")[:16].upper()
    if start.startswith((b"HTTP/", b"<!DOCTYPE", b"<HTML")):
        name = "A web server"
    elif start.startswith(b"SSH-"):
        name = "A remote-login server (SSH)"
    else:
        return None
    return ProtocolMismatch(
        f"{name} answers here, not a device.", where=where, next_step="Check the port number in the URL."
    )


def recognise_text(sample: bytes, where: str) -> ProtocolMismatch | None:
    """A server or a device that prints text, in words; None if it is neither."""
    server = recognise_server(sample, where)
    if server is not None:
        return server
    text = sum(byte in _PRINTABLE for byte in sample)
    if len(sample) >= 8 and text >= 0.9 * len(sample):
        return ProtocolMismatch(
            "The device sends plain text, which is not the Firmware Bridge protocol.",
            where=where,
            next_step="Check that this is the right port; a board that only prints messages needs its real firmware.",
        )
    return None
