"""Where a simulated device meets its host: a pty (POSIX) or a TCP port on the loopback interface.

An endpoint is polled: ``readable`` and ``writable`` give what to select on, ``read`` and ``write`` never block.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Protocol

from hwsim import codec, messages
from hwsim.codec import Frame, encode_frame
from hwsim.numbers import Kind, RefuseReason

LINGER = 1.0


class Endpoint(Protocol):
    url: str

    def readable(self) -> list[int]: ...

    def writable(self) -> list[int]: ...

    def read(self, ready: list[int], take: bool) -> bytes | None:
        """Bytes from the host, b"" for none, None if the host has hung up.

        With ``take`` False nothing is read, only new hosts are seen.
        """
        ...

    def write(self, data: bytes) -> int:
        """How many bytes were taken; all of them are swallowed while nobody is connected."""
        ...

    def unplug(self) -> None: ...

    def plug(self) -> None: ...

    def close(self) -> None: ...


class PtyEndpoint:
    """A pty whose slave is what the host opens. ``link``: a symlink kept pointing at it under a name that stays."""

    def __init__(self, baud: int, link: Path | None = None) -> None:
        self._baud = baud
        self._link = link
        self._master = self._slave = -1
        self.url = ""
        self.plug()

    def plug(self) -> None:
        import tty

        self._master, self._slave = os.openpty()  # the slave stays open, or reading fails while no host is there
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        path = os.ttyname(self._slave)
        if self._link is not None:
            fresh = self._link.with_name(f"{self._link.name}.{os.getpid()}")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(path)
            os.replace(fresh, self._link)
            path = str(self._link.absolute())
        self.url = f"serial://{path}?baud={self._baud}"

    def unplug(self) -> None:
        if self._master < 0:
            return
        if self._link is not None and self._link.is_symlink() and os.readlink(self._link) == os.ttyname(self._slave):
            self._link.unlink()
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1

    close = unplug

    def readable(self) -> list[int]:
        return [self._master] if self._master >= 0 else []

    writable = readable

    def read(self, ready: list[int], take: bool) -> bytes | None:
        if not take or self._master not in ready:
            return b""
        try:
            return os.read(self._master, 4096)
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:  # EIO: the host closed its end in a moment when it was the only one
            return b""

    def write(self, data: bytes) -> int:
        if self._master < 0:
            return len(data)
        try:
            return os.write(self._master, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            return len(data)


class TcpEndpoint:
    """A listening port for one host at a time; a second one is told that the device is busy, and sent away."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._listener: socket.socket | None = None
        self._peer: socket.socket | None = None
        self._leaving: list[tuple[float, socket.socket]] = []
        self.url = ""
        self.plug()

    def plug(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self._host, self._port))
        listener.listen(8)
        listener.setblocking(False)
        self._listener = listener
        self._port = listener.getsockname()[1]
        self.url = f"tcp://{self._host}:{self._port}"

    def unplug(self) -> None:
        for sock in (self._listener, self._peer, *(sock for _, sock in self._leaving)):
            if sock is not None:
                sock.close()
        self._listener = self._peer = None
        self._leaving.clear()

    close = unplug

    def readable(self) -> list[int]:
        socks = [self._listener, self._peer, *(sock for _, sock in self._leaving)]
        return [sock.fileno() for sock in socks if sock is not None]

    def writable(self) -> list[int]:
        return [self._peer.fileno()] if self._peer is not None else []

    def read(self, ready: list[int], take: bool) -> bytes | None:
        self._see_off(ready)
        data: bytes | None = b""
        if self._peer is not None and self._peer.fileno() in ready and take:
            try:
                data = self._peer.recv(65536) or None
            except (BlockingIOError, InterruptedError):
                data = b""
            except OSError:
                data = None
            if data is None:
                self._peer.close()
                self._peer = None
        if self._listener is not None and self._listener.fileno() in ready:
            self._accept()
        return data

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._peer is None:
            self._peer = sock
            return
        values = {
            "reason": RefuseReason.BUSY,
            "proto_min": codec.VERSION,
            "proto_max": codec.VERSION,
            "text": "another host holds this device",
        }
        try:
            sock.send(encode_frame(Frame(Kind.REFUSE, payload=messages.encode(Kind.REFUSE, values))))
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return
        # Closing at once would reset the connection and take the refusal with it.
        self._leaving.append((time.monotonic() + LINGER, sock))

    def _see_off(self, ready: list[int]) -> None:
        now = time.monotonic()
        staying = []
        for until, sock in self._leaving:
            gone = now >= until
            if sock.fileno() in ready:
                try:
                    gone = gone or not sock.recv(4096)
                except OSError:
                    gone = True
            if gone:
                sock.close()
            else:
                staying.append((until, sock))
        self._leaving = staying

    def write(self, data: bytes) -> int:
        if self._peer is None:
            return len(data)
        try:
            return self._peer.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            return len(data)


def open_endpoint(line: str, baud: int, link: Path | None) -> Endpoint:
    """line: "pty" or "tcp://127.0.0.1:PORT" (0: any port). Raises ValueError for anything else, OSError if it fails."""
    if line == "pty":
        if os.name != "posix":
            raise ValueError("a pty needs POSIX; use --line tcp://127.0.0.1:0")
        return PtyEndpoint(baud, link)
    host, colon, port = line.removeprefix("tcp://").rpartition(":")
    if not line.startswith("tcp://") or not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"--line is pty or tcp://127.0.0.1:PORT, not {line!r}")
    if link is not None:
        raise ValueError("--link goes with --line pty only")
    return TcpEndpoint(host or "127.0.0.1", int(port))
