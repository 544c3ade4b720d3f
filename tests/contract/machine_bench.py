"""A dealing machine to test against: the simulator as a child process behind one carrier, or real hardware by its URL.

``FIRMWARE_BRIDGE_MACHINE_URL`` names real hardware; a person then does what its display says. Only the tests that need
no broken parts run there.
"""

import asyncio
import errno
import hashlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
import usb.core
from home_built import write_machine_file
from spare_port import spare_port

from drivers.api import (
    Action,
    Armed,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    CardPassed,
    Connected,
    Disconnected,
    JobDone,
    MachineFault,
    Sound,
)
from drivers.framed_machine import FramedMachine
from drivers.host import HostIdentity
from drivers.registry import open_machine
from drivers.usb_device import UsbAddress
from drivers.usb_pipe import UsbOpener
from firmware_bridge.clock import SystemClock
from firmware_bridge.wire.numbers import Capability
from hwsim.usb_bus import Backend, UsbDevice

REAL = os.environ.get("FIRMWARE_BRIDGE_MACHINE_URL", "")
PATIENCE = 120 if REAL else 60

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals or pipes of POSIX")
LINES = [pytest.param("pty", marks=POSIX), "tcp", "usb"]
"""Carriers that can be unplugged while the machine runs on."""
SIMULATED = [*LINES, pytest.param("gpio", marks=POSIX)]
CARRIERS = [*SIMULATED, *(["real"] if REAL else [])]


class UsbCable(UsbDevice):
    """A device on a simulated bus whose endpoints lead to a simulated machine behind TCP."""

    def __init__(self, url):
        super().__init__()
        self.endpoints = True
        host, _, port = url.removeprefix("tcp://").rpartition(":")
        self._address = (host, int(port))

    def on_open(self):
        try:
            self.sock = socket.create_connection(self._address, 1)
        except OSError:
            self.opened = 0
            raise usb.core.USBError("No such device", errno=errno.ENODEV) from None

    def on_close(self):
        self.sock.close()


class SimulatedMachine:
    """``python -m hwsim machine`` behind ``carrier``; memory and truth live in ``state`` and outlast a kill."""

    def __init__(self, carrier, state, *options):
        self._link = state / "port"
        tcp = ["--line", f"tcp://127.0.0.1:{spare_port()}"]
        line = ["--line", "pty", "--link", str(self._link)] if carrier == "pty" else tcp
        self._command = [sys.executable, "-m", "hwsim", "machine", *line, "--state", str(state / "memory")]
        self._command += ["--seed", "7", "--speed", "demo", "--with-parent", *options]
        self.url = ""
        self.process = None
        self.switch_on()
        self.carrier = carrier
        self.cable = UsbCable(self.url) if carrier == "usb" else None

    def driver(self, device_id):
        """A host's driver for this machine; hosts on USB share one bus."""
        host = HostIdentity(device_id=device_id)
        if self.cable is None:
            return open_machine(self.url, host)
        opener = UsbOpener(UsbAddress(self.cable.vid, self.cable.pid), "usb://1209:0001", backend=Backend(self.cable))
        return FramedMachine(opener, host, SystemClock())

    def switch_on(self):
        self.process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def kill(self):
        """The supply fails: nothing is said any more, nothing is tidied up."""
        self._link.unlink(missing_ok=True)  # first: the next who asks may be given the same pty
        self.process.kill()
        self._wait()

    def switch_off(self):
        self.process.stdin.close()
        self._wait()

    def _wait(self):
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.stdin.close()
            self.process.stdout.close()


class HomeBuiltMachine:
    """The home-built machine's own program on simulated pins; it is started by the driver that opens it."""

    def __init__(self, folder, *, edges=True, faults=None):
        self.folder = folder
        self.url = f"gpio://{write_machine_file(folder, edges=edges)}"
        os.environ["HOME_BUILT_FOLDER"] = str(folder)
        os.environ["HOME_BUILT_FAULTS"] = json.dumps(faults or {})

    def driver(self, device_id):
        return open_machine(self.url, HostIdentity(device_id=device_id))

    def kill(self):
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)

    def switch_on(self):
        """The driver starts it again by itself."""

    def switch_off(self):
        del os.environ["HOME_BUILT_FOLDER"], os.environ["HOME_BUILT_FAULTS"]

    def truth(self, board):
        """Pocket (0-3) of every card that lies in the board, as it physically is."""
        pockets = json.loads((self.folder / "truth.json").read_text())[str(board)]
        return {card: "NESW".index(seat) for seat, cards in pockets.items() for card in cards}


def simulated_machine(carrier, folder, *options):
    return HomeBuiltMachine(folder) if carrier == "gpio" else SimulatedMachine(carrier, folder, *options)


def driver_for(simulated, device_id=0x51):
    return open_machine(REAL, HostIdentity(device_id=device_id)) if simulated is None else simulated.driver(device_id)


@asynccontextmanager
async def bench(carrier, state, *options):
    """(simulated machine or None, connected driver)."""
    simulated = None if carrier == "real" else simulated_machine(carrier, state, *options)
    machine = driver_for(simulated)
    try:
        await machine.connect(60)
        first = await machine.next_event()
        assert isinstance(first, Connected)
        assert not first.restarted
        if simulated is None:
            await clear(machine)
        yield simulated, machine
    finally:
        await machine.close()
        if simulated is not None:
            simulated.switch_off()


def order_for(board, copy=1, seed=None):
    """A random deal as an order to the machine; the pockets of the 52 cards in two bits each (protocol, section 6)."""
    pockets = [seat for seat in range(4) for _ in range(13)]
    random.Random(seed if seed is not None else secrets.randbits(64)).shuffle(pockets)
    routing = bytearray(13)
    for card, pocket in enumerate(pockets):
        routing[card // 4] |= pocket << 2 * (card % 4)
    digest = hashlib.sha256(board.to_bytes(2, "little") + bytes(routing)).digest()[:8]
    return Armed(secrets.randbits(32) or 1, board, copy, bytes(routing), digest), pockets


async def until(machine, wanted, seen=None, patience=PATIENCE):
    """The next event of class ``wanted``; what comes before goes into ``seen``. A fault that is not wanted fails."""
    async with asyncio.timeout(patience):
        while True:
            event = await machine.next_event()
            if isinstance(event, wanted):
                return event
            assert not isinstance(event, MachineFault) or wanted in (Connected, Disconnected), event
            if seen is not None:
                seen.append(event)


async def show(machine, action, board, copy, sound, text):
    """Tell the person at real hardware, which may have no display, what to do."""
    if REAL:
        print(text, file=sys.stderr, flush=True)
    await machine.display(action, board, copy, sound, text)


async def clear(machine):
    """Real hardware is as the last test left it: nothing may be armed or in work, and no board may be in."""
    reply = await machine.abort(0)
    assert reply.ok, reply
    if (await machine.snapshot()).board_in:
        await show(machine, Action.REMOVE_BOARD, 0, 0, Sound.NONE, "Take the board out, its cards into the hopper")
        await until(machine, BoardPulled)


async def prepare(machine, order):
    """Arm, have the empty board inserted, and confirmed where the machine can't read its number."""
    reply = await machine.arm(order)
    assert reply.ok, reply
    await show(machine, Action.INSERT_BOARD, order.board, order.copy, Sound.NONE, f"Insert board {order.board}, empty")
    await until(machine, BoardInserted)
    if Capability.LABEL not in machine.identity.capabilities and Capability.KEY in machine.identity.capabilities:
        await show(machine, Action.CONFIRM_BOARD, order.board, order.copy, Sound.NONE, "Press the key")
        confirmed = await until(machine, BoardConfirmed)
        assert (confirmed.board, confirmed.copy) == (order.board, order.copy)


async def deal(machine, order):
    """Deal a whole board; its events from the first card to DONE."""
    await prepare(machine, order)
    reply = await machine.start(order)
    assert reply.ok, reply
    seen = []
    done = await until(machine, JobDone, seen)
    return [event for event in seen if isinstance(event, CardPassed)], done


async def take_out(machine, order):
    await show(machine, Action.REMOVE_BOARD, order.board, order.copy, Sound.DONE, f"Take out board {order.board}")
