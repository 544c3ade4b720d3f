"""Device URLs: which driver and which carrier a URL stands for.

    serial:///dev/ttyUSB0?baud=115200    serial://COM3    tcp://192.168.1.20:4000    usb://1209:0001

A package of somebody else adds its own scheme through the entry-point group ``firmware_bridge.drivers``: the name of
the entry point is the scheme, its object is a function ``factory(request: DriverRequest)`` that returns a
DealingMachine or a BaseStation, whichever ``request.role`` asks for, or a StreamOpener when the device speaks our
protocol over a carrier of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from drivers.api import BaseStation, DealingMachine, StreamOpener
from drivers.host import HostIdentity
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.errors import ConfigError, FirmwareBridgeError

ENTRY_POINT_GROUP = "firmware_bridge.drivers"

EXAMPLES = "serial:///dev/ttyUSB0?baud=115200, serial://COM3 or tcp://192.168.1.20:4000"

Role = Literal["machine", "station"]


@dataclass(frozen=True, slots=True)
class DriverRequest:
    """What a driver factory gets: the URL taken apart, and who asks.

    options: the query, each name once; a factory refuses names that it does not know (``check_options``).
    """

    url: str
    role: Role
    scheme: str
    netloc: str
    path: str
    options: dict[str, str]
    host: HostIdentity
    clock: Clock

    def check_options(self, known: Iterable[str]) -> None:
        """Raises ConfigError for an option that is not in ``known``: a typing error must not pass in silence."""
        allowed = sorted(known)
        for name in self.options:
            if name not in allowed:
                choice = ", ".join(allowed) if allowed else "none"
                raise bad_url(self.url, f"The option {name!r} is not known (there are: {choice}).")

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """The option as a number from ``low`` to ``high``. Raises ConfigError."""
        text = self.options.get(name)
        if text is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise bad_url(self.url, f"{name}={text} must be a number from {low} to {high}.")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        """The option as on or off. Raises ConfigError."""
        text = self.options.get(name)
        if text is None:
            return default
        if text.lower() in ("on", "1", "yes", "true"):
            return True
        if text.lower() in ("off", "0", "no", "false"):
            return False
        raise bad_url(self.url, f"{name}={text} must be on or off.")


Factory = Callable[[DriverRequest], Any]


def open_machine(url: str, host: HostIdentity, clock: Clock | None = None) -> DealingMachine:
    """The dealing machine behind ``url``; nothing is opened before ``connect``. Raises ConfigError for a bad URL."""
    made = _make(url, "machine", host, clock)
    if callable(made):
        from drivers.framed_machine import FramedMachine

        return FramedMachine(cast(StreamOpener, made), host, clock or SystemClock())
    return cast(DealingMachine, made)


def open_station(url: str, host: HostIdentity, clock: Clock | None = None) -> BaseStation:
    """The base station behind ``url``; nothing is opened before ``connect``. Raises ConfigError for a bad URL."""
    made = _make(url, "station", host, clock)
    if callable(made):
        from drivers.base_station import FramedBaseStation

        return FramedBaseStation(cast(StreamOpener, made), host, clock or SystemClock())
    return cast(BaseStation, made)


def open_carrier(url: str, host: HostIdentity, clock: Clock | None = None) -> StreamOpener:
    """The bare carrier behind ``url``, for tools that look at bytes. Raises ConfigError."""
    made = _make(url, "machine", host, clock)
    if not callable(made):
        raise bad_url(url, "This driver has no byte stream of its own.")
    return cast(StreamOpener, made)


def check_url(url: str) -> str:
    """``url`` in full spelling, or ConfigError. Opens nothing and needs no hardware."""
    _make(url, "machine", HostIdentity(device_id=1), None)
    return normal_url(url)


def schemes() -> tuple[str, ...]:
    """Every scheme that can be used here, those of installed third-party drivers included."""
    return tuple(sorted({*_BUILT_IN, *(point.name for point in _third_parties())}))


def normal_url(text: str) -> str:
    """A bare port name ("/dev/ttyUSB0", "COM3") as the URL that it means; anything else unchanged."""
    text = text.strip()
    if re.fullmatch(r"(?i)com[0-9]{1,3}", text):
        return f"serial://{text.upper()}"
    if text.startswith("/") and "://" not in text:
        return f"serial://{text}"
    return text


def bad_url(url: str, why: str) -> ConfigError:
    return ConfigError(why, where=url or "device URL", next_step=f"Write it like {EXAMPLES}.", code="device-url")


def _make(url: str, role: Role, host: HostIdentity, clock: Clock | None) -> Any:
    request = _take_apart(normal_url(url), role, host, clock or SystemClock())
    factory = _BUILT_IN.get(request.scheme)
    if factory is not None:
        return factory(request)
    for point in _third_parties():
        if point.name == request.scheme:
            return _load(point, request)
    raise bad_url(url, f"Devices of the kind {request.scheme}:// are not known (there are: {', '.join(schemes())}).")


def _take_apart(url: str, role: Role, host: HostIdentity, clock: Clock) -> DriverRequest:
    if not url:
        raise bad_url(url, "The device URL is empty.")
    if len(url) > 1000 or any(ord(char) < 32 for char in url):
        raise bad_url(url[:60], "This is not a device URL.")
    scheme, found, rest = url.partition("://")
    if not found or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise bad_url(url, "This is not a device URL.")
    try:
        parts = urlsplit(f"x://{rest}")
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise bad_url(url, f"This is not a device URL ({error}).") from error
    if parts.fragment:
        raise bad_url(url, "A device URL has no part after #.")
    options = dict(pairs)
    if len(options) != len(pairs):
        raise bad_url(url, "An option is given twice.")
    return DriverRequest(url, role, scheme.lower(), parts.netloc, unquote(parts.path), options, host, clock)


def _third_parties() -> tuple[EntryPoint, ...]:
    return tuple(point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in _BUILT_IN)


def _load(point: EntryPoint, request: DriverRequest) -> Any:
    try:
        return point.load()(request)
    except FirmwareBridgeError:
        raise
    except Exception as error:
        # Somebody else's code: whatever it raises, the operator gets to know whose it is.
        raise ConfigError(
            f"The driver {point.value} for {point.name}:// failed ({type(error).__name__}: {error}).",
            where=request.url,
            next_step="Update or remove the package that brings this driver, and tell its maker.",
            code="driver-broken",
        ) from error


# --- built-in carriers -------------------------------------------------------------------------------------------


def _serial(request: DriverRequest) -> StreamOpener:
    from drivers.serial_port import DEFAULT_BAUD, SerialOpener, SerialSettings

    request.check_options(("baud", "dtr", "rts", "rtscts", "serial_number"))
    serial_number = request.options.get("serial_number", "")
    path = unquote(request.netloc) + request.path
    if not path and not serial_number:
        raise bad_url(request.url, "The name of the port is missing.")
    if os.name == "posix" and path and "/" not in path:
        path = f"/dev/{path}"
    settings = SerialSettings(
        path=path,
        baud=request.whole("baud", DEFAULT_BAUD, 300, 4_000_000),
        dtr=request.flag("dtr", True),
        rts=request.flag("rts", True),
        rtscts=request.flag("rtscts", False),
        serial_number=serial_number,
    )
    return SerialOpener(settings, request.url)


def _tcp(request: DriverRequest) -> StreamOpener:
    from drivers.tcp_port import TcpOpener

    request.check_options(())
    if request.path not in ("", "/"):
        raise bad_url(request.url, "A tcp:// URL ends after the port number.")
    try:
        parts = urlsplit(f"//{request.netloc}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise bad_url(request.url, "The port number must be from 1 to 65535.") from error
    if parts.username is not None or not host:
        raise bad_url(request.url, "The name or number of the device is missing.")
    if not port:
        raise bad_url(request.url, "The port number is missing (tcp://host:port).")
    return TcpOpener(host, port, request.url)


def _usb(request: DriverRequest) -> StreamOpener:
    from drivers.usb_device import UsbAddress
    from drivers.usb_pipe import UsbOpener

    request.check_options(("serial_number", "interface"))
    ids = re.fullmatch(r"([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4})", request.netloc)
    if ids is None or request.path not in ("", "/"):
        raise bad_url(request.url, "A usb:// URL names vendor and product id in hexadecimal, like usb://1209:0001.")
    interface = request.whole("interface", -1, 0, 255)
    address = UsbAddress(
        vid=int(ids[1], 16),
        pid=int(ids[2], 16),
        serial_number=request.options.get("serial_number", ""),
        interface=None if interface < 0 else interface,
    )
    return UsbOpener(address, request.url)


def _gpio(request: DriverRequest) -> StreamOpener:
    from pathlib import Path

    from drivers.gpio_machine.opener import GpioOpener

    request.check_options(())
    if request.netloc or not request.path.endswith(".toml"):
        raise bad_url(request.url, "A gpio:// URL names the machine's file, like gpio:///home/pi/machine.toml.")
    return GpioOpener(Path(request.path), request.url)


_BUILT_IN: dict[str, Factory] = {"serial": _serial, "tcp": _tcp, "usb": _usb, "gpio": _gpio}
