"""Why there is no session, in an operator's words, from what was heard on the line so far."""

from __future__ import annotations

from drivers.stranger import recognise_text
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost
from firmware_bridge.link.events import Heard, NoAnswer
from firmware_bridge.link.session import Session


def not_connected(where: str) -> LinkLost:
    """There was a session, and it is gone; the driver goes on trying. where: the device, as its URL names it."""
    return LinkLost(
        "There is no connection to the device at present.",
        where=where,
        next_step="Check its cable and power; it is tried again by itself.",
    )


def never_opened(where: str, seconds: float) -> DeviceError:
    """The port itself was not there within ``seconds``."""
    return DeviceError(
        f"The port did not open within {seconds:g} seconds.",
        where=where,
        next_step="Unplug the device, plug it in again, and try once more.",
        code="port-silent",
    )


def not_introduced(where: str) -> DeviceError:
    """There is a session, and MACHINE_INFO did not come."""
    return DeviceError(
        "The machine greets but does not say how it is built.",
        where=where,
        next_step="Switch the machine off and on; if that does not help its firmware does not fit.",
        code="no-answer",
    )


def heard_of(session: Session) -> NoAnswer:
    """What a session without an answer has heard until now."""
    counters = session.counters
    seen = session.decoder_counters["bytes_seen"]
    if counters.received > counters.echoes + counters.foreign_version:
        heard = Heard.NO_HELLO
    elif counters.foreign_version:
        heard = Heard.FOREIGN_VERSION
    elif counters.echoes:
        heard = Heard.ECHO
    else:
        heard = Heard.FOREIGN_BYTES if seen else Heard.NOTHING
    return NoAnswer(heard, seen)


def no_answer(event: NoAnswer, sample: bytes, where: str) -> FirmwareBridgeError:
    """What a port without an answer means; another maker's device is named. sample: the first bytes that came."""
    if event.heard is Heard.FOREIGN_BYTES:
        stranger = recognise_text(sample, where)
        if stranger is not None:
            return stranger
    return event.error(where)
