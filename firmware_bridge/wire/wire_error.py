"""The error of the wire: bytes that are not what the protocol allows, or a value that has no place on the wire."""

from __future__ import annotations

from firmware_bridge.errors import LinkError


class WireError(LinkError):
    """A payload that does not fit its table, an unknown kind, or a value too large for its field.

    The text names message, field and length, never a value: a field may be a card.
    """

    default_code = "wire"
