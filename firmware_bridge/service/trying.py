"""Test deals on a machine: sorted packs, one after the other, nothing kept in the journal."""

from __future__ import annotations

import contextlib
import secrets

from dealer.testdeal import DEAL, ConfusionMatrix
from drivers.api import (
    Action,
    Armed,
    BoardInserted,
    BoardPulled,
    CardPassed,
    DealingMachine,
    Disconnected,
    JobDone,
    MachineFault,
    Sound,
)
from drivers.host import HostIdentity
from drivers.registry import open_machine
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import DeviceError, LinkError

BOARD = 1
CONNECT_S = 10.0


async def deal_sorted_packs(url: str, host: HostIdentity, packs: int) -> ConfusionMatrix:
    """Deal ``packs`` sorted packs into board 1 and count what was read wrongly.

    Raises DeviceError when the machine refuses, stops for good or goes away.
    """
    machine = open_machine(url, host, SystemClock())
    matrix = ConfusionMatrix()
    try:
        await machine.connect(CONNECT_S)
        await machine.abort(0)
        snapshot = await machine.snapshot()
        if snapshot.board_in:
            await machine.display(Action.REMOVE_BOARD, BOARD, 1, Sound.NONE, "Take the board out.")
            await _wait_for(machine, BoardPulled)
        for number in range(packs):
            matrix.add(await _one_pack(machine, number + 1, packs))
        await machine.display(Action.FINISHED, 0, 0, Sound.DONE, "The test is over.")
        return matrix
    finally:
        with contextlib.suppress(DeviceError, LinkError):
            await machine.abort(0)
        await machine.close()


async def _one_pack(machine: DealingMachine, number: int, packs: int) -> list[CardPassed]:
    text = f"Test {number} of {packs}: a sorted pack, spade ace first, into the hopper; then board {BOARD}, empty."
    await machine.display(Action.INSERT_BOARD, BOARD, 1, Sound.NONE, text)
    await _wait_for(machine, BoardInserted)
    order = Armed(secrets.randbits(32) or 1, BOARD, 1, DEAL.routing, DEAL.digest(BOARD))
    for reply in (await machine.arm(order), await machine.start(order)):
        if not reply.ok:
            raise DeviceError(
                f"the machine does not start ({reply.reason.name.lower().replace('_', ' ')}).",
                where=machine.url,
                next_step="Check board, cover and hopper, then start the test again.",
                code="machine-refuses",
            )
    cards: list[CardPassed] = []
    while True:
        event = await machine.next_event()
        if isinstance(event, CardPassed):
            cards.append(event)
        elif isinstance(event, JobDone | MachineFault):
            break
        elif isinstance(event, Disconnected):
            raise DeviceError("the machine was lost.", where=machine.url, code="machine-lost")
    await machine.abort(order.job_id)
    await machine.display(Action.COLLECT_CARDS, BOARD, 1, Sound.DONE, "Take all cards out and sort the pack again.")
    await _wait_for(machine, BoardPulled)
    return cards


async def _wait_for(machine: DealingMachine, kind: type) -> None:
    while True:
        event = await machine.next_event()
        if isinstance(event, Disconnected):
            raise DeviceError("the machine was lost.", where=machine.url, code="machine-lost")
        if isinstance(event, kind):
            return
