"""What every dealing machine owes the job, whatever carries the bytes: one suite for all carriers."""

import asyncio

import pytest
from machine_bench import (
    CARRIERS,
    LINES,
    PATIENCE,
    SIMULATED,
    bench,
    deal,
    driver_for,
    order_for,
    prepare,
    take_out,
    until,
)

from drivers.api import (
    BoardPulled,
    CardPassed,
    CommandReason,
    Connected,
    Disconnected,
    Fault,
    JobDone,
    MachineFault,
    MachineStateCode,
    Outcome,
)
from firmware_bridge.errors import DeviceError, LinkLost
from firmware_bridge.wire.numbers import Capability


def run(coroutine):
    async def whole():
        async with asyncio.timeout(5 * PATIENCE):
            await coroutine

    asyncio.run(whole())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_board_is_dealt_as_ordered_and_every_card_reported(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (_, machine):
            assert Capability.ROUTES in machine.identity.capabilities
            for board in (1, 2):
                order, pockets = order_for(board)
                cards, done = await deal(machine, order)
                assert [card.index for card in cards] == list(range(52))
                assert {card.job_id for card in cards} == {order.job_id}
                assert sorted(card.best for card in cards) == list(range(52))
                assert all(card.wanted == pockets[card.best] for card in cards)
                if Capability.EXIT in machine.identity.capabilities:
                    assert all(card.confirmed == card.wanted for card in cards)
                assert done.cards == 52
                assert done.counts == (13, 13, 13, 13)
                assert done.digest == order.digest
                assert (done.board, done.copy, done.job_id) == (board, 1, order.job_id)
                report = await machine.report(order.job_id)
                assert report.known
                assert list(report.placed) == [(card.best, card.wanted) for card in cards]
                state = await machine.snapshot()
                assert state.state is MachineStateCode.FINISHED
                assert state.board_in
                assert state.counts == (13, 13, 13, 13)
                assert state.boot_id == machine.identity.boot_id
                await take_out(machine, order)
                await until(machine, BoardPulled)

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_machine_refuses_what_it_was_not_armed_for(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (_, machine):
            await machine.abort(0)
            order, _ = order_for(3)
            other, _ = order_for(3)
            assert (await machine.start(order)).outcome is Outcome.REFUSED
            wrong = await machine.arm(type(order)(order.job_id, order.board, 1, order.routing, other.digest))
            assert (wrong.outcome, wrong.reason) == (Outcome.REFUSED, CommandReason.WRONG_DIGEST)
            await prepare(machine, order)
            stranger = await machine.start(other)
            assert (stranger.outcome, stranger.reason) == (Outcome.REFUSED, CommandReason.WRONG_JOB)
            assert (await machine.pause(order.job_id)).outcome is Outcome.REFUSED
            assert (await machine.abort(order.job_id)).ok
            assert (await machine.snapshot()).state is MachineStateCode.IDLE
            assert (await machine.start(order)).outcome is Outcome.REFUSED
            unknown = await machine.report(other.job_id)
            assert not unknown.known
            assert unknown.placed == ()

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_pausing_keeps_the_count_and_resuming_goes_on_with_the_next_card(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (_, machine):
            order, _ = order_for(4)
            await prepare(machine, order)
            assert (await machine.start(order)).ok
            while (await until(machine, CardPassed)).index < 10:
                pass
            reply = await machine.pause(order.job_id)
            if carrier == "real" and reply.reason is CommandReason.UNSUPPORTED:
                pytest.skip("this machine can't pause")
            assert reply.ok
            async with asyncio.timeout(PATIENCE):
                while (state := await machine.snapshot()).state is not MachineStateCode.PAUSED:
                    await asyncio.sleep(0.05)
            placed = sum(state.counts)
            assert 10 < placed < 52
            wrong = await machine.resume(order.job_id, placed + 1)
            assert wrong.outcome is Outcome.REFUSED
            assert (await machine.resume(order.job_id, placed)).ok
            done = await until(machine, JobDone)
            assert done.digest == order.digest

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_dealt_board_can_be_read_back(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (_, machine):
            if Capability.READ_BACK not in machine.identity.capabilities:
                pytest.skip("this machine can't read a board")
            order, pockets = order_for(5)
            await deal(machine, order)
            reading, _ = order_for(5)
            assert (await machine.read_board(reading.job_id, 5, 1)).ok
            seen = []
            done = await until(machine, JobDone, seen)
            read = {event.best: event.confirmed for event in seen if isinstance(event, CardPassed)}
            assert read == dict(enumerate(pockets))
            assert done.digest == order.digest

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_same_host_may_come_back_and_finds_the_machine_as_it_left_it(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (simulated, machine):
            order, _ = order_for(6)
            _, done = await deal(machine, order)
            boot, device_id = machine.identity.boot_id, machine.identity.device_id
            await machine.close()
            again = driver_for(simulated)
            identity = await again.connect(60)
            # The program of a home-built machine ends with its host; its memory does not.
            assert identity.boot_id == boot or carrier == "gpio"
            assert identity.device_id == device_id
            report = await again.report(order.job_id)
            if carrier == "real" and not report.known:
                await again.close()
                pytest.skip("this machine remembers no jobs")
            assert report.known
            assert len(report.placed) == done.cards
            await again.close()

    run(scenario())


@pytest.mark.parametrize("carrier", SIMULATED)
def test_a_second_host_is_refused_while_the_first_lives(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (simulated, machine):
            second = driver_for(simulated, device_id=0x52)
            with pytest.raises(DeviceError) as caught:
                await second.connect(60)
            assert caught.value.code in ("device-busy", "port-busy")
            assert (await machine.snapshot()).boot_id == machine.identity.boot_id
            await second.close()

    run(scenario())


@pytest.mark.parametrize("carrier", LINES)
@pytest.mark.parametrize("seconds", [0.05, 0.8])
def test_unplugged_in_mid_board_the_machine_knows_what_it_has_placed(carrier, seconds, tmp_path):
    """It may be back before or after the machine has finished the board: either way its report is the truth."""

    async def scenario():
        async with bench(carrier, tmp_path, "--fault", f"unplug@5,for={seconds}") as (_, machine):
            order, pockets = order_for(7)
            await prepare(machine, order)
            assert (await machine.start(order)).ok
            gone = await until(machine, Disconnected)
            assert gone.reason
            with pytest.raises(LinkLost):
                await machine.snapshot()
            back = await until(machine, Connected)
            assert not back.restarted
            async with asyncio.timeout(PATIENCE):
                while (state := await machine.snapshot()).state is MachineStateCode.DEALING:
                    await asyncio.sleep(0.05)
            report = await machine.report(order.job_id)
            assert report.known
            assert len(report.placed) == sum(state.counts)
            assert all(pocket == pockets[card] for card, pocket in report.placed)
            if state.state is MachineStateCode.FINISHED:
                assert len(report.placed) == 52
                return
            assert state.state is MachineStateCode.STOPPED
            fault = await until(machine, MachineFault)
            assert fault.fault is Fault.HOST_LOST
            assert fault.recoverable
            assert (await machine.resume(order.job_id, len(report.placed))).ok
            assert (await until(machine, JobDone)).digest == order.digest

    run(scenario())


@pytest.mark.parametrize("carrier", LINES)
def test_a_power_cut_in_mid_board_shows_as_another_boot(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path, "--fault", "power-cut@20,for=0.3") as (_, machine):
            boot = machine.identity.boot_id
            order, _ = order_for(8)
            await prepare(machine, order)
            assert (await machine.start(order)).ok
            await until(machine, Disconnected)
            back = await until(machine, Connected)
            assert back.restarted
            assert back.identity.boot_id != boot
            stale = await machine.resume(order.job_id, 20)
            assert stale.outcome is Outcome.REFUSED
            report = await machine.report(order.job_id)
            assert len(report.placed) <= 20

    run(scenario())


@pytest.mark.parametrize("carrier", SIMULATED)
def test_a_port_that_vanishes_and_returns_is_taken_up_again(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path) as (simulated, machine):
            simulated.kill()
            await until(machine, Disconnected)
            await asyncio.sleep(0.5)
            simulated.switch_on()
            back = await until(machine, Connected)
            assert back.restarted
            order, _ = order_for(9)
            _, done = await deal(machine, order)
            assert done.digest == order.digest

    run(scenario())


@pytest.mark.parametrize("carrier", LINES)
def test_a_machine_without_label_reader_wants_one_confirmation(carrier, tmp_path):
    async def scenario():
        async with bench(carrier, tmp_path, "--no-label-reader") as (_, machine):
            assert Capability.LABEL not in machine.identity.capabilities
            order, _ = order_for(10)
            _, done = await deal(machine, order)
            assert done.digest == order.digest

    run(scenario())
