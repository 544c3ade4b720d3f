"""What is delivered of a queue: its items as they stand inside a reply, kept from one poll to the next.

A program that does not accept polls the same ten thousand results every second. They are read, encoded and escaped
once; a later poll adds what is new. Only committed items may come here: a number of an item that was rolled back is
given again. Not for several threads.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field

from firmware_bridge.db import Connection
from terminals.store import data_connector as store

STEP = 1000
"""Items that are read in one go; a few milliseconds on a small machine."""

Queue = tuple[str, str, str]
"""Event, session, kind."""


@dataclass(slots=True)
class _Known:
    """text: the items joined by commas, as they stand inside a JSON string, in UTF-8. last: id of the last one."""

    stamp: int
    last: int
    text: bytearray = field(default_factory=bytearray)


class Delivery:
    """entries, size: how many queues and how many bytes are kept; the one that was asked longest ago goes first."""

    def __init__(self, entries: int = 64, size: int = 64 << 20) -> None:
        self._entries, self._size = entries, size
        self._known: OrderedDict[tuple[Queue, int | None], _Known] = OrderedDict()

    def take(self, connection: Connection, queue: Queue, after: int | None, upto: int) -> tuple[bytes, int] | None:
        """(JSON list inside a JSON string, id of its last item or 0) of the items above ``after`` up to ``upto``.

        after: None for everything, with what the program itself told. Gives None when not all is read yet; ask again,
        after others had their turn.
        """
        stamp = store.rewritten(connection)
        known = self._known.get((queue, after))
        if known is None or known.stamp != stamp or known.last > upto:
            known = self._known[queue, after] = _Known(stamp, after or 0)
        self._known.move_to_end((queue, after))
        found = store.items(connection, *queue, known.last, upto, STEP, own=after is None)
        for item in found:
            if known.text:
                known.text += b","
            known.text += json.dumps(item.body, ensure_ascii=False)[1:-1].encode()
            known.last = item.id
        self._forget()
        if len(found) == STEP:
            return None
        return b'"[%b]"' % bytes(known.text), known.last if known.text else 0

    def _forget(self) -> None:
        while len(self._known) > 1 and (
            len(self._known) > self._entries or sum(len(one.text) for one in self._known.values()) > self._size
        ):
            self._known.popitem(last=False)
