"""What the director does about terminals: admit, admit all, refuse, replace, pair with a key.

Each function runs inside a transaction of the caller and gives the devices that changed; tell the collector of each
(``Collector.set_device``) once it is committed. Raises EntryError or StoreError in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.store import desk
from terminals.store.desk import Device, DeviceState
from terminals.store.values import device_hex
from terminals.sync.setup import EventSetup, section_letter
from terminals.sync.terminal import Terminal

KEY_SIZE = 16


@dataclass(frozen=True, slots=True)
class Wish:
    """A terminal that waits, and the table that its players chose."""

    device: int
    section: int
    table: int


def wishes(terminals: Iterable[Terminal]) -> list[Wish]:
    """Terminals in contact that wait and have named a table, by device."""
    out = []
    for terminal in terminals:
        status = terminal.status
        if terminal.present and not terminal.admitted and not terminal.refused and status is not None and status.table:
            out.append(Wish(terminal.device, status.section, status.table))
    return sorted(out, key=lambda wish: wish.device)


def admit(connection: Connection, setup: EventSetup, device: int, section: int, table: int) -> list[Device]:
    """Admit a terminal to a table. Raises StoreError when another one is there: that one is to be replaced."""
    if not setup.has_table(section, table):
        raise EntryError("the event has no such table.", where=_place(section, table), code="no-such-table")
    found = _device(connection, device)
    if setup.settings.need_key and not found.key:
        raise EntryError(f"terminal {device_hex(device)} has no key.", next_step="Pair it first.", code="needs-key")
    changed = replace(found, state=DeviceState.ADMITTED, section=section, table=table)
    desk.save_device(connection, changed)
    return [changed]


def admit_all(connection: Connection, setup: EventSetup, wanted: Iterable[Wish]) -> tuple[list[Device], list[Wish]]:
    """Admit everybody whose table is free and wanted by one terminal only; gives who was, and who has to wait."""
    wanted = list(wanted)
    places = [(wish.section, wish.table) for wish in wanted]
    admitted: list[Device] = []
    left: list[Wish] = []
    for wish in wanted:
        place = (wish.section, wish.table)
        key_lacks = setup.settings.need_key and not _device(connection, wish.device).key
        holder = desk.holder(connection, *place)
        if places.count(place) > 1 or not setup.has_table(*place) or holder not in (None, wish.device) or key_lacks:
            left.append(wish)
        else:
            admitted += admit(connection, setup, wish.device, *place)
    return admitted, left


def refuse(connection: Connection, device: int) -> list[Device]:
    """This terminal is not used tonight; nothing that it sends is taken, and it keeps it."""
    changed = replace(_device(connection, device), state=DeviceState.REFUSED, section=0, table=0)
    desk.save_device(connection, changed)
    return [changed]


def replace_terminal(connection: Connection, setup: EventSetup, old: int, new: int) -> list[Device]:
    """The new terminal takes the old one's table.

    The old one stays admitted without a table: if it revives, what it had not sent still arrives, and is compared with
    what the new one sent.
    """
    before = _device(connection, old)
    if old == new:
        raise EntryError("a terminal can't replace itself.", code="same-terminal")
    if before.state is not DeviceState.ADMITTED or not before.table:
        raise EntryError(f"terminal {device_hex(old)} is at no table.", code="no-table")
    section, table = before.section, before.table
    aside = replace(before, section=0, table=0)
    if setup.settings.need_key and not _device(connection, new).key:
        raise EntryError(f"terminal {device_hex(new)} has no key.", next_step="Pair it first.", code="needs-key")
    desk.save_device(connection, aside)
    return [aside, *admit(connection, setup, new, section, table)]


def take_over(connection: Connection, setup: EventSetup, new: int, section: int, table: int) -> list[Device]:
    """The terminal takes a table, from the one that has it if there is one; gives the devices that changed."""
    old = desk.holder(connection, section, table)
    if old == new:
        return [_device(connection, new)]
    if _device(connection, new).state is DeviceState.REFUSED:
        raise EntryError("this terminal is not used tonight.", code="refused")
    if old is None:
        return admit(connection, setup, new, section, table)
    return replace_terminal(connection, setup, old, new)


def pair(connection: Connection, device: int, key: bytes | None = None) -> tuple[Device, bytes]:
    """Give a device a key of its own (drawn at random unless given). Show it once; it is never shown again."""
    key = os.urandom(KEY_SIZE) if key is None else key
    if len(key) != KEY_SIZE:
        raise EntryError(f"a key has {KEY_SIZE} bytes.", code="bad-key")
    known = desk.devices(connection).get(device) or Device(device, DeviceState.WAITING)
    changed = replace(known, key=key)
    desk.save_device(connection, changed)
    return changed, key


def _device(connection: Connection, device: int) -> Device:
    found = desk.devices(connection).get(device)
    if found is None:
        raise EntryError(
            f"no terminal {device_hex(device)} has shown itself.",
            next_step="Switch it on near the base station.",
            code="no-such-terminal",
        )
    return found


def _place(section: int, table: int) -> str:
    try:
        return f"table {section_letter(section)}{table}"
    except EntryError:
        return f"section {section}, table {table}"
