"""``python -m drivers.gpio_machine MACHINE.toml``: the program of a home-built machine, in a process of its own.

Speaks the protocol on standard input and output, for a host that starts it (``gpio://`` URLs), or with ``--listen`` on
a TCP port, for a host on another computer. Says on standard error why it can't begin; cards are never written anywhere
but to the host.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any

from drivers.gpio_machine.device import HomeBuiltMachine, bank_for
from drivers.gpio_machine.journal import FileSlots
from drivers.gpio_machine.runner import Line, PipeLine, Runner, TcpLine
from drivers.gpio_machine.settings import MachineSettings, read_settings
from drivers.gpio_pins import load_pins
from firmware_bridge.errors import ConfigError, FirmwareBridgeError


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m drivers.gpio_machine", description=__doc__)
    parser.add_argument("file", type=Path, help="the machine's TOML file")
    parser.add_argument("--listen", metavar="HOST:PORT", help="wait for a host on this TCP port")
    parser.add_argument("--check", action="store_true", help="read the file, say if it is right, and end")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
    try:
        settings = read_settings(args.file)
        if args.check:
            print(f"{args.file}: {settings.model}, sorter {settings.sorter}, {len(settings.inputs)} inputs")
            return 0
        return _run(settings, args.listen)
    except FirmwareBridgeError as error:
        print(f"ERROR {json.dumps(error.as_dict())}", file=sys.stderr)
        return int(error.exit_status)


def _run(settings: MachineSettings, listen: str | None) -> int:
    # The builder's own modules lie beside the file.
    sys.path.insert(0, str(settings.path.resolve().parent))
    pins = load_pins(settings.pins)
    reader = _named(settings, settings.reader)(pins, dict(settings.reader_options))
    show = _named(settings, settings.display) if settings.display else None
    slots = FileSlots(settings.state)
    line = _line(listen)
    bank = bank_for(settings, pins)
    try:
        machine = HomeBuiltMachine(
            settings,
            bank,
            slots,
            boot_id=secrets.randbits(32),
            fresh_id=secrets.randbits(64) | 1,
            now=time.monotonic(),
        )
        runner = Runner(
            machine,
            bank,
            reader,
            line,
            time.monotonic,
            watchdog=settings.timings.watchdog,
            edges=settings.edges,
            show=show,
        )
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), lambda *_: runner.stop())
        runner.run()
    finally:
        bank.all_off()
        slots.close()
    return 0


def _line(listen: str | None) -> Line:
    if listen is None:
        return PipeLine(sys.stdin.fileno(), sys.stdout.fileno())
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ConfigError("The address must be HOST:PORT.", where=f"--listen {listen}")
    try:
        line = TcpLine(host or "127.0.0.1", int(port))
    except OSError as error:
        raise ConfigError(f"The port can't be opened ({error.strerror}).", where=f"--listen {listen}") from error
    print("INFO listening on {}:{}".format(*line.address), file=sys.stderr, flush=True)
    return line


def _named(settings: MachineSettings, name: str) -> Any:
    """The object "module:name" of the builder's. Raises ConfigError."""
    module_name, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except Exception as error:
        # Code of the builder's own: whatever it raises, say where it is.
        raise ConfigError(
            f"{name!r} can't be used ({type(error).__name__}: {error}).",
            where=str(settings.path),
            next_step='Write it like "my_reader:make", with my_reader.py beside the machine\'s file.',
            code="machine-file",
        ) from error


if __name__ == "__main__":
    sys.exit(main())
