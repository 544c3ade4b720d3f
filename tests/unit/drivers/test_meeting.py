"""The first meeting with a device: a busy one is asked once more, everything else is said at once."""

import asyncio

import pytest

from drivers import meeting as module
from drivers.meeting import Meeting
from firmware_bridge.errors import DeviceError


class Port:
    """A port whose device answers each opening with the next of ``answers``; None: not at all."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.opened = self.closed = 0
        self.meeting = Meeting(self)

    async def start(self):
        self.opened += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            self.meeting.failed(answer)
        elif answer is not None:
            self.meeting.met(answer)

    async def close(self):
        self.closed += 1

    def why_silent(self, seconds):
        return DeviceError("Silent.", code="port-silent")


def busy():
    return DeviceError("In use.", code="device-busy")


@pytest.fixture(autouse=True)
def short_pause(monkeypatch):
    monkeypatch.setattr(module, "BUSY_PAUSE", 0.01)


def meet(port, timeout=60.0):
    return asyncio.run(port.meeting.wait(timeout))


def test_a_device_that_a_program_has_just_left_is_asked_once_more():
    port = Port(busy(), "known")
    assert meet(port) == "known"
    assert (port.opened, port.closed) == (2, 1)


def test_a_device_that_stays_busy_is_an_error():
    port = Port(busy(), busy(), "never asked")
    with pytest.raises(DeviceError) as caught:
        meet(port)
    assert caught.value.code == "device-busy"
    assert (port.opened, port.closed) == (2, 2)


@pytest.mark.parametrize(
    ("answer", "code"), [(DeviceError("Another.", code="wrong-device"), "wrong-device"), (None, "port-silent")]
)
def test_anything_else_is_said_at_once(answer, code):
    port = Port(answer, "never asked")
    with pytest.raises(DeviceError) as caught:
        meet(port, 0.05 if answer is None else 60.0)
    assert caught.value.code == code
    assert (port.opened, port.closed) == (1, 1)


def test_no_second_try_when_the_time_is_over():
    port = Port(busy(), "never asked")
    with pytest.raises(DeviceError):
        meet(port, 0.001)
    assert port.opened == 1
