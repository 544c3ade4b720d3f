"""A dealing machine over a line: greeting, commands exactly once across a broken link, words for what goes wrong."""

import asyncio
import random

import pytest
from drivers_fakes import HOST, FakeDevice, no_task_left_behind

from drivers.api import (
    Action,
    Armed,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    CardPassed,
    CommandReason,
    Connected,
    Disconnected,
    Fault,
    HopperChanged,
    HopperState,
    JobDone,
    MachineFault,
    MachineStateCode,
    Outcome,
    Sound,
)
from drivers.framed_machine import FramedMachine
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import DeviceError, LinkLost
from firmware_bridge.wire.messages import (
    Abort,
    Arm,
    BoardEvent,
    Bye,
    CardEvent,
    CommandResult,
    Confirmed,
    Display,
    Done,
    FaultEvent,
    HopperEvent,
    MachineInfo,
    Nak,
    Report,
    Snapshot,
    Start,
)
from firmware_bridge.wire.numbers import Capability, NakReason, Role

ORDER = Armed(job_id=9, board=7, copy=1, routing=bytes(range(13)), digest=b"12345678")


def run(coroutine):
    asyncio.run(no_task_left_behind(coroutine))


def machine_for(device, **options):
    return FramedMachine(device.opener(), HOST, SystemClock(), rng=random.Random(5), **options)


async def connected(device, **options):
    machine = machine_for(device, **options)
    await machine.connect(60)
    assert isinstance(await machine.next_event(), Connected)
    return machine


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def test_connecting_tells_who_the_machine_is():
    async def scenario():
        device = FakeDevice()
        machine = machine_for(device)
        assert machine.identity is None
        identity = await machine.connect(60)
        assert (identity.device_id, identity.boot_id, identity.model) == (0xABCD, 100, "Fake")
        assert identity.pocket_order == (0, 2, 1, 3)
        assert Capability.ROUTES in identity.capabilities
        assert await machine.next_event() == Connected(identity, restarted=False)
        await machine.close()
        await until(lambda: any(isinstance(message, Bye) for message in device.seen))

    run(scenario())


def test_commands_carry_what_they_are_asked_and_come_back_with_the_outcome():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        assert (await machine.arm(ORDER)).ok
        assert (await machine.start(ORDER)).ok
        assert (await machine.pause(9)).ok
        assert (await machine.resume(9, 17)).ok
        assert (await machine.abort(9)).ok
        assert (await machine.read_board(9, 7, 1)).ok
        arm, start = device.commands(Arm)[0], device.commands(Start)[0]
        assert (arm.job_id, arm.board, arm.copy, arm.routing, arm.digest) == (9, 7, 1, ORDER.routing, ORDER.digest)
        assert (start.job_id, start.boot_id, start.digest) == (9, 100, ORDER.digest)
        ids = [message.command_id for message in device.seen if hasattr(message, "command_id")]
        assert len(set(ids)) == 6
        await machine.close()

    run(scenario())


def test_report_and_snapshot_answer_what_the_machine_remembers():
    async def scenario():
        machine = await connected(FakeDevice())
        report, snapshot = await asyncio.gather(machine.report(9), machine.snapshot())
        assert report.known
        assert report.state is MachineStateCode.PAUSED
        assert report.placed == ((5, 1), (6, 2))
        assert snapshot.counts == (1, 2, 3, 4)
        assert snapshot.label == 7
        assert snapshot.hopper is HopperState.LOADED
        await machine.close()

    run(scenario())


def test_events_come_in_the_order_in_which_the_machine_sent_them():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        await device.say(BoardEvent(1, 7, 0))
        await device.say(Confirmed(7, 1))
        await device.say(CardEvent(9, 0, 513, 12, 13, 90, 2, 2, 123, 1000, 40, 90))
        await device.say(FaultEvent(9, Fault.JAM, 2, 1, 1, Action.CLEAR_JAM))
        await device.say(FaultEvent(9, 99, 99, 1, 1, 99))
        await device.say(Done(9, 7, 1, 52, bytes([13] * 4), b"12345678"))
        await device.say(BoardEvent(0, 0, 255))
        await device.say(HopperEvent(2))
        got = [await asyncio.wait_for(machine.next_event(), 60) for _ in range(8)]
        assert got[0] == BoardInserted(7, 0)
        assert got[1] == BoardConfirmed(7, 1)
        assert isinstance(got[2], CardPassed)
        assert got[2].beam_ms == pytest.approx(12.3)
        assert "12" not in repr(got[2]).replace("index", "")
        assert isinstance(got[3], MachineFault)
        assert got[3].recoverable
        assert got[4].fault is Fault.SENSOR
        assert not got[4].recoverable, "a fault of unknown kind is never safe to go on from"
        assert isinstance(got[5], JobDone)
        assert got[6] == BoardPulled()
        assert got[7] == HopperChanged(HopperState.STOP_CARD)
        await machine.close()

    run(scenario())


def test_a_broken_link_is_told_and_comes_back_by_itself():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        device.unplug()
        gone = await asyncio.wait_for(machine.next_event(), 60)
        assert isinstance(gone, Disconnected)
        assert gone.reason
        back = await asyncio.wait_for(machine.next_event(), 60)
        assert isinstance(back, Connected)
        assert not back.restarted
        assert (await machine.arm(ORDER)).ok
        await machine.close()

    run(scenario())


def test_a_command_without_an_answer_goes_out_again_with_its_own_id_after_the_link_is_back():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        device.mute.add(Arm)
        arming = asyncio.create_task(machine.arm(ORDER))
        await until(lambda: device.commands())
        number = device.commands()[0].command_id
        device.remembered[number] = device.commands()[0]
        device.mute.clear()
        device.unplug()
        reply = await arming
        assert reply.ok
        assert reply.replayed
        assert [message.command_id for message in device.commands()] == [number, number]
        await machine.close()

    run(scenario())


def test_a_command_in_flight_when_the_machine_starts_anew_is_lost_and_not_repeated():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        device.mute.add(Start)
        starting = asyncio.create_task(machine.start(ORDER))
        await until(lambda: device.commands(Start))
        device.changes["boot_id"] = 101
        device.unplug()
        with pytest.raises(LinkLost, match="started anew") as caught:
            await starting
        assert "not known" in caught.value.next_step
        assert isinstance(await machine.next_event(), Disconnected)
        back = await machine.next_event()
        assert back.restarted
        assert back.identity.boot_id == 101
        assert len(device.commands(Start)) == 1
        await machine.close()

    run(scenario())


def test_another_machine_behind_the_same_port_counts_as_started_anew():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        device.changes["device_id"] = 0x9999
        device.unplug()
        await machine.next_event()
        assert (await machine.next_event()).restarted
        await machine.close()

    run(scenario())


def test_a_port_that_vanished_is_tried_again_until_it_returns():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        device.vanished = True
        device.unplug()
        assert isinstance(await machine.next_event(), Disconnected)
        with pytest.raises(LinkLost, match="no connection"):
            await machine.arm(ORDER)
        await asyncio.sleep(0.7)
        device.vanished = False
        back = await asyncio.wait_for(machine.next_event(), 60)
        assert isinstance(back, Connected), "one Disconnected, then Connected, however many attempts there were"
        await machine.close()

    run(scenario())


def test_a_command_that_outlives_the_link_is_link_lost_and_one_that_is_ignored_a_device_error():
    async def scenario():
        device = FakeDevice()
        device.mute |= {Arm, Report}
        machine = await connected(device, answer_timeout=0.15)
        with pytest.raises(DeviceError, match="does not answer ARM"):
            await machine.arm(ORDER)
        with pytest.raises(DeviceError, match="does not answer REPORT"):
            await machine.report(9)
        await machine.close()
        device = FakeDevice()
        device.mute.add(Arm)
        machine = await connected(device)
        device.vanished = True
        arming = asyncio.create_task(machine.arm(ORDER))
        await until(lambda: device.commands(Arm))
        device.unplug()
        with pytest.raises(LinkLost, match="before the machine answered ARM"):
            await arming
        await machine.close()

    run(scenario())


def test_a_command_that_the_firmware_does_not_know_is_refused_and_a_question_is_an_error():
    async def scenario():
        device = FakeDevice()
        device.mute |= {Abort, Report}
        machine = await connected(device)
        aborting = asyncio.create_task(machine.abort(9))
        asking = asyncio.create_task(machine.report(9))
        await until(lambda: device.commands(Abort) and device.commands(Report))
        await device.say(Nak(NakReason.UNSUPPORTED, 0x24, 0))
        await device.say(Nak(NakReason.UNSUPPORTED, 0x26, 1))
        reply = await aborting
        assert (reply.outcome, reply.reason) == (Outcome.REFUSED, CommandReason.UNSUPPORTED)
        with pytest.raises(DeviceError, match="does not know REPORT"):
            await asking
        await machine.close()

    run(scenario())


def test_an_outcome_of_unknown_number_is_never_taken_for_success():
    async def scenario():
        device = FakeDevice()
        device.mute.add(Arm)
        machine = await connected(device)
        arming = asyncio.create_task(machine.arm(ORDER))
        await until(lambda: device.commands())
        await device.say(CommandResult(device.commands()[0].command_id ^ 1, 1, 0, 0))
        await device.say(CommandResult(device.commands()[0].command_id, 77, 99, 0))
        reply = await arming
        assert not reply.ok
        await machine.close()

    run(scenario())


def test_display_is_sent_to_machines_that_have_one_and_cut_to_what_fits():
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        await machine.display(Action.INSERT_BOARD, 7, 1, Sound.DONE, "ł" * 300)
        await until(lambda: device.commands(Display))
        shown = device.commands(Display)[0]
        assert (shown.action, shown.board, shown.text) == (Action.INSERT_BOARD, 7, "ł" * 127)
        await machine.close()
        bare = FakeDevice(capabilities=0)
        machine = await connected(bare)
        await machine.display(Action.INSERT_BOARD, 7, 1, Sound.DONE, "x")
        await machine.abort(0)
        assert not bare.commands(Display)
        await machine.close()

    run(scenario())


def test_a_base_station_on_the_machines_url_is_named():
    async def scenario():
        machine = machine_for(FakeDevice(role=Role.STATION))
        with pytest.raises(DeviceError, match="base station") as caught:
            await machine.connect(60)
        assert caught.value.code == "wrong-device"
        await machine.close()

    run(scenario())


def test_a_machine_that_does_not_introduce_itself_is_said_to_be_so():
    async def scenario():
        device = FakeDevice()
        device.mute.add(MachineInfo)
        machine = machine_for(device)
        with pytest.raises(DeviceError, match="does not say how it is built"):
            await machine.connect(2)
        await machine.close()

    run(scenario())


def test_a_machine_with_an_impossible_pocket_order_is_refused_at_once():
    async def scenario():
        device = FakeDevice()
        device.info = MachineInfo(pocket_order=bytes([0, 0, 1, 3]), reader=1, card_ms=100, margin_min=20)
        machine = machine_for(device)
        with pytest.raises(DeviceError, match="order that can't be"):
            await machine.connect(60)
        device.info = MachineInfo(pocket_order=bytes([3, 0, 1, 2]), reader=1, card_ms=100, margin_min=20)
        assert (await machine.connect(60)).pocket_order == (3, 0, 1, 2)
        assert (await machine.connect(60)).pocket_order == (3, 0, 1, 2), "connecting twice does nothing"
        await machine.close()

    run(scenario())


def test_a_machine_that_stays_silent_after_a_greeting_is_refused_before_the_time_limit():
    async def scenario():
        device = FakeDevice()
        device.mute.add(MachineInfo)
        machine = machine_for(device, info_timeout=0.1)
        with pytest.raises(DeviceError, match="does not say how it is built"):
            await machine.connect(60)
        await machine.close()

    run(scenario())


def test_a_fault_of_the_machine_dumps_the_last_frames_into_the_log(caplog):
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        await device.say(FaultEvent(9, Fault.JAM, 2, 1, 1, Action.CLEAR_JAM))
        assert isinstance(await machine.next_event(), MachineFault)
        await machine.close()

    with caplog.at_level("INFO"):
        run(scenario())
    assert "the machine reports JAM" in caplog.text
    assert "FAULT" in caplog.text


def test_a_device_of_another_major_version_is_a_mismatch_in_words():
    from firmware_bridge.errors import ProtocolMismatch

    async def scenario():
        machine = machine_for(FakeDevice(proto_min=0x20, proto_max=0x21))
        with pytest.raises(ProtocolMismatch, match=r"2\.0 to 2\.1"):
            await machine.connect(60)
        await machine.close()

    run(scenario())


def test_a_failed_connect_can_be_tried_again():
    async def scenario():
        device = FakeDevice()
        device.vanished = True
        machine = machine_for(device)
        with pytest.raises(DeviceError, match="does not exist"):
            await machine.connect(60)
        device.vanished = False
        await machine.connect(60)
        assert isinstance(await machine.next_event(), Connected)
        await machine.close()

    run(scenario())


def test_closing_ends_whoever_waits():
    async def scenario():
        device = FakeDevice()
        device.mute.add(Arm)
        machine = await connected(device)
        waiting = asyncio.create_task(machine.next_event())
        arming = asyncio.create_task(machine.arm(ORDER))
        await until(lambda: device.commands(Arm))
        await machine.close()
        for task in (waiting, arming):
            with pytest.raises(LinkLost):
                await task
        await machine.close()

    run(scenario())


def test_a_cancelled_connect_leaves_nothing_behind():
    async def scenario():
        from firmware_bridge.wire.messages import Hello

        device = FakeDevice()
        device.mute.add(Hello)
        machine = machine_for(device)
        connecting = asyncio.create_task(machine.connect(60))
        await until(lambda: device.greetings)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        device.mute.clear()
        await machine.connect(60)
        await machine.close()

    run(scenario())


def test_no_card_of_a_board_reaches_the_log(caplog):
    async def scenario():
        device = FakeDevice()
        machine = await connected(device)
        await machine.arm(ORDER)
        await device.say(CardEvent(9, 0, 0xBEEF, 12, 13, 90, 2, 2, 123, 1000, 40, 90))
        await asyncio.wait_for(machine.next_event(), 60)
        device.unplug()
        await machine.next_event()
        await machine.close()

    with caplog.at_level("DEBUG"):
        run(scenario())
    assert "the last" in caplog.text
    assert "hidden" in caplog.text, "the dump has the frames, without their payload"
    assert ORDER.routing.hex() not in caplog.text
    assert "efbe" not in caplog.text.lower()


def test_a_question_asked_while_the_queue_is_full_goes_out_once_when_there_is_room():
    async def scenario():
        device = FakeDevice()
        device.mute_acks = True
        machine = FramedMachine(device.opener(), HOST, SystemClock(), rng=random.Random(1), answer_timeout=60)
        await machine.connect(60)
        showing = asyncio.gather(*(machine.display(Action.WAIT, 7, 1, Sound.NONE, "x") for _ in range(600)))
        asking = [asyncio.create_task(machine.snapshot()), asyncio.create_task(machine.abort(0))]
        await asyncio.sleep(0)  # all of them have begun, in this order: the queue, which holds 256, was full for these
        device.mute_acks = False
        snapshot, reply = await asyncio.gather(*asking)
        assert snapshot.label == 7
        assert reply.ok
        await showing
        assert len(device.commands(Snapshot)) == len(device.commands(Abort)) == 1
        await machine.close()

    run(scenario())
