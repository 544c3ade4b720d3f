"""One change of the event at a time: movement, settings and scoring are one row of the store, each worked out from what
was there before."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from firmware_bridge.service.desk import Desk

_LOCKS: WeakKeyDictionary[Desk, asyncio.Lock] = WeakKeyDictionary()


def lock_of(desk: Desk) -> asyncio.Lock:
    """The lock to hold from looking at the event until its change is stored."""
    return _LOCKS.setdefault(desk, asyncio.Lock())
