"""``devices``: which ports this machine has, and who answers on a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import FirmwareBridgeError


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--timeout", type=click.FloatRange(0.5, 60), default=5.0, show_default=True, help="Seconds to wait.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("devices")
def devices(urls: tuple[str, ...], timeout: float, data: Path | None) -> Outcome:
    """List the serial ports and USB devices of this machine; with URLs, ask each device who it is.

    A URL is like serial:///dev/ttyUSB0?baud=115200, serial://COM3, usb://1209:0001 or tcp://192.168.1.20:4000.
    """
    if not urls:
        from drivers.serial_port import list_ports
        from drivers.usb_device import list_usb

        ports = [_port(one.url, one.description, one.serial_number) for one in list_ports()]
        ports += [_port(one.url, one.description, one.serial_number) for one in list_usb()]
        text = "\n".join(f"{p['url']}  {p['description']}" for p in ports)
        return Outcome({"ports": ports}, text or "No serial port and no USB device of this kind was found.")
    directory = ensure_directory(data_directory(data))
    answers = run_async(_ask_all(urls, timeout, directory))
    failed = next((a["error"] for a in answers if a["error"] is not None), None)
    rows = [{**a, "error": None if a["error"] is None else a["error"].as_dict()} for a in answers]
    return Outcome({"devices": rows}, "\n".join(_line(a) for a in answers), error=failed)


def _port(url: str, description: str, serial_number: str) -> dict[str, Any]:
    return {"url": url, "description": description, "serial_number": serial_number}


async def _ask_all(urls: tuple[str, ...], timeout: float, directory: Path) -> list[dict[str, Any]]:
    return [await _ask(url, timeout, directory) for url in urls]


async def _ask(url: str, timeout: float, directory: Path) -> dict[str, Any]:
    from firmware_bridge.service.connections import identify

    try:
        return {"url": url, **await identify(url, directory, timeout), "error": None}
    except FirmwareBridgeError as error:
        return {"url": url, "kind": None, "model": "", "firmware": "", "device_id": None, "error": error}


def _line(answer: dict[str, Any]) -> str:
    if answer["error"] is not None:
        return f"{answer['url']}  no device of ours ({answer['error'].code})"
    return (
        f"{answer['url']}  {answer['kind']}: {answer['model']}, firmware {answer['firmware']}, id {answer['device_id']}"
    )
