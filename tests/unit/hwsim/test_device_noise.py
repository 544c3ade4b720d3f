"""Whatever a host says in correct frames, a device answers or ignores it; it never breaks and never stops answering."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hwsim_host import Host, World, connect
from hypothesis import given, settings
from hypothesis import strategies as st

from hwsim import messages
from hwsim.line import Line
from hwsim.machine.device import Machine
from hwsim.machine.firmware import ACCEPTS as MACHINE_KINDS
from hwsim.memory import Media
from hwsim.numbers import Action, Kind
from hwsim.speeds import SPEEDS
from hwsim.station.device import ACCEPTS as STATION_KINDS
from hwsim.station.device import Station

SMALL = st.sampled_from([0, 1, 2, 3, 7, 52, 255])


@st.composite
def fields_of(draw: st.DrawFn, kind: int) -> dict[str, Any]:
    """Fields that fit the table of ``kind``, often small numbers that mean something together."""
    return draw(values_of(messages._LAYOUTS[kind]))


@st.composite
def values_of(draw: st.DrawFn, layout: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    payload = bytearray(draw(st.binary(min_size=layout.fixed.size, max_size=layout.fixed.size)))
    values.update(zip(layout.names, layout.fixed.unpack(bytes(payload)), strict=True))
    for name in layout.names:
        if isinstance(values[name], int):
            values[name] = draw(SMALL)
    for name, code in layout.tail:
        if code == "str8":
            values[name] = draw(st.text(max_size=20))
        else:
            values[name] = draw(st.lists(values_of(messages._ITEM_LAYOUTS[code[6:]]), max_size=4))
    return values


def _arm(job: int, board: int) -> dict[str, Any]:
    routing = messages.pack_routing([card % 4 for card in range(52)])
    digest = messages.deal_digest(board, routing)
    return {"command_id": job, "job_id": job, "board": board, "copy": 1, "routing": routing, "digest": digest}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_machine_answers_every_command_and_goes_on(data: st.DataObject) -> None:
    device = Machine(Media(), 0.0, seed=1, speed=SPEEDS["demo"], chance=random.Random(1))
    world, host = connect(device, None)
    commands = 0
    for _ in range(data.draw(st.integers(1, 15))):
        kind = data.draw(st.sampled_from(sorted(MACHINE_KINDS)))
        if kind == Kind.ARM and data.draw(st.booleans()):
            fields = _arm(data.draw(SMALL), data.draw(st.integers(1, 3)))
        else:
            fields = data.draw(fields_of(kind))
        host.send(kind, fields)
        commands += "command_id" in fields
        world.run(data.draw(st.sampled_from([0.01, 0.3, 2.0])))
    host.send(Kind.SNAPSHOT)
    world.run_until(lambda: bool(host.all(Kind.MACHINE_STATE)) and len(host.all(Kind.COMMAND_RESULT)) == commands)
    assert host.all(Kind.NAK) == []
    cards = [c for place in (device.world.hopper, device.world.belt, device.world.table) for c in place]
    cards += [c for board in device.world.boards.values() for pocket in board for c in pocket]
    assert len(cards) == len(set(cards)) == 52 * len({card >> 6 for card in cards})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_station_takes_every_message_and_goes_on(data: st.DataObject) -> None:
    device = Station(Media(), 0.0, terminals=2, seed=1, speed=SPEEDS["demo"], chance=random.Random(1))
    world, host = connect(device, None)
    for _ in range(data.draw(st.integers(1, 15))):
        kind = data.draw(st.sampled_from(sorted(STATION_KINDS)))
        fields = data.draw(fields_of(kind))
        address = data.draw(st.integers(0, 3))
        terminal = device.terminals.get(address)
        if terminal is not None and "device_id" in fields:
            fields["device_id"] = terminal.memory.device_id
        if terminal is not None and "journal_id" in fields and data.draw(st.booleans()):
            fields["journal_id"] = terminal.memory.journal
        host.send(kind, fields, address)
        world.run(data.draw(st.sampled_from([0.01, 0.3, 2.0])))
        assert all(isinstance(line, str) for t in device.terminals.values() for line in t.screen())
    before = len(host.all(Kind.TERM_STATUS))
    world.run(70.0)
    assert len(host.all(Kind.TERM_STATUS)) >= before + 2
    assert device.session.up
    # The same memory is read by the next process.
    again = Station(device._media, world.now, terminals=2, seed=1, speed=SPEEDS["demo"], chance=random.Random(2))
    for address, terminal in device.terminals.items():
        fresh = again.terminals[address].memory
        assert (fresh.records, fresh.keyed) == (terminal.memory.records, terminal.memory.keyed)
        assert (fresh.plan, fresh.admission) == (terminal.memory.plan, terminal.memory.admission)


@pytest.mark.parametrize("action", [*range(15), 99])
def test_the_operator_obeys_any_display_at_any_time(action: int) -> None:
    for first in range(15):
        device = Machine(Media(), 0.0, seed=1, speed=SPEEDS["demo"], chance=random.Random(1))
        world = World(Line(device, None))
        host = world.host = Host()
        for shown in (first, action, Action.INSERT_BOARD):
            host.send(Kind.DISPLAY, {"action": shown, "board": 3, "copy": 1, "sound": 0, "text": ""})
            world.run(1.2)
        world.run_until(lambda: device.world.slot == (3, 1) and len(device.world.hopper) == 52)  # noqa: B023
