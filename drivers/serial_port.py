"""Serial ports: the only module that imports pyserial.

A port is opened exclusively, found again by its USB serial number when it comes back under another name, and every
failure is put into words for an operator: does not exist, no permission, taken, not a serial port.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from drivers.transport_stream import TransportStream
from firmware_bridge.errors import DeviceError

DEFAULT_BAUD = 115200

READ_SIZE = 4096

MAX_EMPTY_READS = 100
"""A terminal may wake its reader for nothing now and then; so often in a row it does so only when it is gone."""


@dataclass(frozen=True, slots=True)
class SerialSettings:
    """What a ``serial:`` URL says.

    path: "/dev/ttyUSB0", "COM3", or "" when the port is named by its USB serial number alone.
    baud: bits per second; 8 data bits, no parity, one stop bit always.
    dtr, rts: level of the two control lines while the port is open. Many home-built boards start anew when DTR rises.
    rtscts: hardware flow control.
    serial_number: of the USB adapter, "" if any will do.
    """

    path: str
    baud: int = DEFAULT_BAUD
    dtr: bool = True
    rts: bool = True
    rtscts: bool = False
    serial_number: str = ""


@dataclass(frozen=True, slots=True)
class PortInfo:
    """One serial port of this computer. ``vid`` and ``pid`` are None for ports that are not on USB."""

    path: str
    description: str
    vid: int | None = None
    pid: int | None = None
    serial_number: str = ""
    location: str = ""

    @property
    def url(self) -> str:
        return f"serial://{self.path}"


def list_ports() -> tuple[PortInfo, ...]:
    """The serial ports that the system knows, in the order of their names. Blocks for some milliseconds."""
    from serial.tools import list_ports as tools

    found = []
    for port in tools.comports():
        if port.vid is None and port.hwid in ("n/a", "", None):
            # Linux lists ttyS0 to ttyS31 whether or not there is a connector behind them.
            continue
        found.append(
            PortInfo(
                path=str(port.device),
                description=str(port.description or "serial port"),
                vid=port.vid,
                pid=port.pid,
                serial_number=str(port.serial_number or ""),
                location=str(port.location or ""),
            )
        )
    return tuple(sorted(found, key=lambda info: info.path))


PortLister = Callable[[], Iterable[PortInfo]]


class SerialOpener:
    """Opens one serial port, and finds the same adapter again after it was unplugged.

    The first successful opening remembers the adapter's USB serial number. After that a port of the old name with
    another serial number is not taken for ours, and ours is found under whatever name it has got.
    """

    def __init__(self, settings: SerialSettings, url: str, *, ports: PortLister = list_ports) -> None:
        self._settings = settings
        self._url = url
        self._ports = ports
        self._adapter: PortInfo | None = None

    @property
    def url(self) -> str:
        return self._url

    @property
    def bytes_per_second(self) -> float:
        return self._settings.baud / 10

    async def __call__(self) -> TransportStream:
        """Open. Raises DeviceError when the port is missing, taken, forbidden, or no serial port at all."""
        loop = asyncio.get_running_loop()
        known = await loop.run_in_executor(None, self._list)
        path = self._choose(known)
        opening = loop.run_in_executor(None, partial(_open, path, self._settings))
        try:
            handle = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread can't be stopped; what it opens after all must not stay open and locked.
            opening.add_done_callback(_discard)
            raise
        self._adapter = next((info for info in known if _same_file(info.path, path)), None)
        stream = TransportStream(path)
        _attach(loop, stream, handle)
        await stream.opened()
        return stream

    def _list(self) -> tuple[PortInfo, ...]:
        try:
            return tuple(self._ports())
        except OSError:
            return ()

    def _choose(self, known: tuple[PortInfo, ...]) -> str:
        wanted = self._settings.serial_number or (self._adapter.serial_number if self._adapter else "")
        path = self._settings.path
        if wanted:
            for info in known:
                if info.serial_number == wanted and (not path or _same_file(info.path, path)):
                    return info.path
            for info in known:
                if info.serial_number == wanted:
                    return info.path
            stranger = any(_same_file(info.path, path) for info in known) if path else False
            if self._settings.serial_number or stranger:
                raise DeviceError(
                    f"No serial port with the USB serial number {wanted} is plugged in.",
                    where=self._url,
                    next_step="Plug it in, or see `firmware-bridge devices` for what there is.",
                    code="port-missing",
                )
        return path


def _same_file(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _open(path: str, settings: SerialSettings) -> Any:
    """Open and lock the port; blocks. Returns a serial.Serial."""
    import serial

    port = serial.Serial()
    port.port = path
    port.timeout = 0
    port.write_timeout = 0
    port.rtscts = settings.rtscts
    port.dtr = settings.dtr
    if not settings.rtscts:
        port.rts = settings.rts
    if os.name == "posix":
        port.exclusive = True
    try:
        port.baudrate = settings.baud
        port.open()
        _settle(port, path)
    except Exception as error:
        if port.is_open:
            port.close()
        raise _explain(error, path, settings) from error
    return port


def _settle(port: Any, path: str) -> None:
    """Leave DTR as it is when the port is closed, even by a crash, and refuse later openers that ask for no lock.

    A board that starts anew when DTR moves would otherwise lose its job whenever this program ends. Not on ptys: the
    refusal outlives us there, as long as the other end stays open.
    """
    if sys.platform == "win32":
        return
    import fcntl
    import termios

    try:
        settings = termios.tcgetattr(port.fileno())
        settings[2] &= ~termios.HUPCL
        termios.tcsetattr(port.fileno(), termios.TCSANOW, settings)
        if not os.path.realpath(path).startswith(("/dev/pts/", "/dev/ttyp")):
            fcntl.ioctl(port.fileno(), termios.TIOCEXCL)
    except (OSError, termios.error) as error:
        if error.args and error.args[0] not in (errno.ENOTTY, errno.EINVAL):
            raise


def _discard(opening: asyncio.Future[Any]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _attach(loop: asyncio.AbstractEventLoop, stream: TransportStream, handle: Any) -> None:
    import serial_asyncio_fast

    descriptor: int = handle.fileno() if os.name == "posix" else -1

    class Transport(serial_asyncio_fast.SerialTransport):
        """The library's transport, without its habit of printing a traceback when a cable is pulled."""

        def _fatal_error(self, exc: BaseException, message: str = "") -> None:
            if not self._closing:
                self._abort(exc)

        def _read_ready(self) -> None:
            try:
                super()._read_ready()
            except Exception as exc:  # whatever pyserial lets through, the port is gone
                self._fatal_error(exc)

    class PosixTransport(Transport):
        """Reads and writes the descriptor itself.

        pyserial's write spins inside the event loop while a line is full (stuck flow control: for ever), and the
        library's transport keeps asking to write after its buffer has drained.
        """

        _empty_reads = 0

        def _read_ready(self) -> None:
            try:
                data = os.read(descriptor, READ_SIZE)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as exc:
                self._fatal_error(exc)
                return
            if data:
                self._empty_reads = 0
                self._protocol.data_received(data)
                return
            self._empty_reads += 1
            if _hung_up(descriptor) or self._empty_reads > MAX_EMPTY_READS:
                self._fatal_error(OSError(errno.EIO, "the device is gone"))

        def _write_ready(self) -> None:
            data = b"".join(self._write_buffer)
            self._write_buffer.clear()
            self._remove_writer()
            if data:
                self._write_data(data)
            self._maybe_resume_protocol()

        def _write_data(self, data: bytes | bytearray | memoryview) -> None:
            try:
                sent = os.write(descriptor, data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as exc:
                self._fatal_error(exc)
                return
            if sent < len(data):
                self._write_buffer.append(data[sent:])
                self._maybe_pause_protocol()
                self._ensure_waiting_writer()

        def _ensure_waiting_writer(self) -> None:
            # The library's own refuses while closing, when the rest must still go out.
            if not self._has_writer:
                self._loop.add_writer(descriptor, self._write_ready)
                self._has_writer = True

    (PosixTransport if os.name == "posix" else Transport)(loop, stream, handle)


def _hung_up(descriptor: int) -> bool:
    import select

    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(state & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, state in poll.poll(0))


# --- words -------------------------------------------------------------------------------------------------------


def _explain(error: Exception, path: str, settings: SerialSettings) -> DeviceError:
    """What an operator can do about a port that does not open. Windows tells the reason only inside the text."""
    number = getattr(error, "errno", None)
    text = str(error)
    if number is None and error.args and isinstance(error.args[0], int):
        number = error.args[0]
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.ENOTDIR) or "FileNotFoundError" in text:
        return DeviceError(
            "The serial port does not exist.",
            where=path,
            next_step="Plug the device in, and see `firmware-bridge devices` for the name it has now.",
            code="port-missing",
        )
    if number in (errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK) or "PermissionError" in text:
        holder = _holder(path)
        return DeviceError(
            f"Another program holds the serial port{holder}.",
            where=path,
            next_step="Close the other program (another Firmware Bridge, a terminal program, the Arduino monitor).",
            code="port-busy",
        )
    if number in (errno.EACCES, errno.EPERM):
        return DeviceError(
            "You may not open the serial port.",
            where=path,
            next_step=_permission_help(path),
            code="port-permission",
        )
    if isinstance(error, ValueError | OverflowError) or "aud rate" in text:
        return DeviceError(
            f"The port does not run at {settings.baud} baud.",
            where=path,
            next_step="Use the speed that the device's manual names, e.g. ?baud=115200.",
            code="port-speed",
        )
    return DeviceError(
        f"This is not a working serial port ({_plain(text)}).",
        where=path,
        next_step="See `firmware-bridge devices` for the ports that there are.",
        code="port-unusable",
    )


def _plain(text: str) -> str:
    for reason, words in (("Inappropriate ioctl", "not a terminal device"), ("Is a directory", "a directory")):
        if reason in text:
            return words
    return text.strip().rstrip(".")


def _permission_help(path: str) -> str:
    if sys.platform != "linux":
        return "Ask the owner of this computer for access to the port."
    group = "dialout"
    try:
        group = Path(path).group()
    except (OSError, KeyError, NotImplementedError):
        pass
    if group == "root":
        return "Only root may use it; add a udev rule that gives it to the group dialout (docs/devices.md)."
    return f"Run `sudo usermod -a -G {group} $USER`, log out and in again."


def _holder(path: str) -> str:
    """Name of a program of this user that has the port open, as " (minicom, process 123)", or ""."""
    if sys.platform != "linux":
        return ""
    target = os.path.realpath(path)
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        try:
            if any(os.path.realpath(entry) == target for entry in (process / "fd").iterdir()):
                return f" ({(process / 'comm').read_text().strip()}, process {process.name})"
        except OSError:
            continue
    return ""
