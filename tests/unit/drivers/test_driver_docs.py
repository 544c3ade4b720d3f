"""The pages about devices tell the truth: their files are accepted, their URLs are right, their examples run."""

import asyncio
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from drivers_fakes import HOST, FakeDevice

import drivers.registry as registry
from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set
from drivers.api import Armed, BoardInserted, CardPassed, CommandReason, Connected, Disconnected, JobDone
from drivers.gpio_machine.settings import parse_settings
from drivers.gpio_machine.strobe_reader import make
from drivers.registry import check_url, open_machine
from firmware_bridge.errors import DeviceError, LinkLost

DOCS = Path(__file__).parents[3] / "docs"


def blocks(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_machines_file_on_the_page_is_right_and_its_wiring_table_agrees():
    (block,) = blocks("home-built-machine.md", "toml")
    settings = parse_settings(tomllib.loads(block), Path("/home/pi/machine.toml"))
    assert settings.sees_exits
    board = SimpleNamespace(OUT=0, IN=1, LOW=0, setup=lambda *args, **options: None)
    make(board, dict(settings.reader_options))
    page = (DOCS / "home-built-machine.md").read_text(encoding="utf-8")
    table = {}
    for names, pins in re.findall(r"^\| ([a-z_0-9, ]+) \| ([0-9, ]+) \| (?:in|out) \|", page, re.M):
        table |= dict(zip(names.split(", "), (int(pin) for pin in pins.split(", ")), strict=True))
    pins = {name: pin.number for name, pin in (settings.outputs | settings.inputs).items()}
    assert table == pins


def test_every_url_on_the_page_is_understood():
    text = (DOCS / "devices.md").read_text(encoding="utf-8")
    urls = re.findall(r"`((?:serial|tcp|usb|gpio)://[^`]+)`", text)
    urls = [url for url in urls if len(url) > 8]
    assert len(urls) >= 6
    for url in urls:
        check_url(url)


def test_the_page_names_every_option():
    text = (DOCS / "devices.md").read_text(encoding="utf-8")
    for name in ("baud", "dtr", "rts", "rtscts", "serial_number", "interface"):
        assert f"`{name}`" in text


@pytest.fixture
def example(monkeypatch):
    """The page's two examples, installed as somebody's package."""
    space = {}
    for block in blocks("writing-a-driver.md", "python"):
        exec(compile(block, "docs/writing-a-driver.md", "exec"), space)
    points = [
        SimpleNamespace(name="unix", value="example", load=lambda: space["carrier"]),
        SimpleNamespace(name="acme", value="example", load=lambda: space["machine"]),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    return space


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix sockets")
def test_the_carrier_of_the_page_carries_the_protocol(example, tmp_path):
    async def scenario():
        device = FakeDevice()

        async def bridge(reader, writer):
            line = await device.accept()

            async def out():
                while True:
                    writer.write(await line.read())

            sending = asyncio.create_task(out())
            while data := await reader.read(4096):
                await line.write(data)
            sending.cancel()
            writer.close()

        path = tmp_path / "s"
        server = await asyncio.start_unix_server(bridge, path)
        async with server:
            machine = open_machine(f"unix://{path}", HOST)
            assert (await machine.connect(60)).model == "Fake"
            assert (await machine.snapshot()).label == 7
            await machine.close()
        with pytest.raises(DeviceError, match="does not open"):
            await open_machine(f"unix://{tmp_path}/none", HOST).connect(60)

    asyncio.run(asyncio.wait_for(scenario(), 100))


def test_the_driver_of_the_page_deals_a_board(example):
    pockets = [seat for seat in range(4) for _ in range(13)]
    random.Random(4).shuffle(pockets)
    routing = bytearray(13)
    for card, pocket in enumerate(pockets):
        routing[card // 4] |= pocket << 2 * (card % 4)
    digest = hashlib.sha256((7).to_bytes(2, "little") + bytes(routing)).digest()[:8]
    order = Armed(1, 7, 1, bytes(routing), digest)
    received = []

    async def acme(reader, writer):
        writer.write(b"ACME 4711 2.0\nboard in\n")
        line = (await reader.readline()).decode().split()
        received.append(line)
        pack = list(range(52))
        random.Random(5).shuffle(pack)
        for number, card in enumerate(pack):
            writer.write(f"card {number} {card}\n".encode())
        writer.write(b"done\n")
        await writer.drain()
        writer.close()

    async def scenario():
        server = await asyncio.start_server(acme, "127.0.0.1", 0)
        async with server:
            machine = open_machine(f"acme://127.0.0.1:{server.sockets[0].getsockname()[1]}", HOST)
            await machine.connect(60)
            assert isinstance(await machine.next_event(), Connected)
            assert isinstance(await machine.next_event(), BoardInserted)
            wrong = await machine.arm(replace(order, digest=bytes(8)))
            assert wrong.reason is CommandReason.WRONG_DIGEST
            assert (await machine.arm(order)).ok
            assert (await machine.start(order)).ok
            cards = [await machine.next_event() for _ in range(52)]
            assert all(isinstance(card, CardPassed) and card.confirmed == 255 for card in cards)
            done = await machine.next_event()
            assert isinstance(done, JobDone)
            assert done.digest == digest
            assert isinstance(await machine.next_event(), Disconnected)
            with pytest.raises(LinkLost):
                await machine.abort(1)
            await machine.close()

    asyncio.run(asyncio.wait_for(scenario(), 100))
    assert received == [["deal", "7", "".join(map(str, pockets))]]


def acme_at(port_file):
    """A small Acme machine in a process of its own, with an operator who puts boards in and takes them out."""
    return f"""
import asyncio, pathlib, random

async def acme(reader, writer):
    writer.write(b"ACME 4711 2.0\\nboard out\\nboard in\\n")
    while line := (await reader.readline()).decode().split():
        if line[0] != "deal":
            continue
        pack = list(range(52))
        random.Random(5).shuffle(pack)
        for number, card in enumerate(pack):
            writer.write(f"card {{number}} {{card}}\\n".encode())
        writer.write(b"done\\n")
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.write(b"board out\\nboard in\\n")

async def main():
    server = await asyncio.start_server(acme, "127.0.0.1", 0)
    pathlib.Path({str(port_file)!r}).write_text(str(server.sockets[0].getsockname()[1]))
    await server.serve_forever()

asyncio.run(main())
"""


def test_the_package_of_the_page_works_once_it_is_installed(tmp_path):
    """The page's code and entry points as an installed package: a real process finds it, asks it, deals on it."""
    site = tmp_path / "site"
    info = site / "my_club_drivers-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "my_club_drivers.py").write_text("\n\n".join(blocks("writing-a-driver.md", "python")), encoding="utf-8")
    (points,) = blocks("writing-a-driver.md", "toml")
    named = tomllib.loads(points)["project"]["entry-points"]["firmware_bridge.drivers"]
    lines = ["[firmware_bridge.drivers]", *(f"{name} = {value}" for name, value in named.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-club-drivers\nVersion: 1.0\n")
    deals = tmp_path / "club.pbn"
    deals.write_bytes(format_named("pbn").load().write(new_set([1], seed=8).boards, WriteOptions()))
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    data = ["--data", str(tmp_path / "data"), "--json"]

    def bridge(*words):
        command = [sys.executable, "-m", "firmware_bridge.cli", *words, *data]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
        return json.loads(run.stdout.splitlines()[-1]), run

    machine = subprocess.Popen([sys.executable, "-c", acme_at(tmp_path / "port")])
    try:
        while not (tmp_path / "port").exists() or not (tmp_path / "port").read_text():
            time.sleep(0.02)
        url = f"acme://127.0.0.1:{(tmp_path / 'port').read_text()}"
        found, _ = bridge("devices", url)
        assert [(row["kind"], row["model"], row["firmware"]) for row in found["devices"]] == [
            ("machine", "Acme", "2.0")
        ]
        made, run = bridge("duplicate", str(deals), "--machine", url)
        # The machine can neither read a label nor has it a key: the cards are right, the number nobody has confirmed.
        assert made["states"] == {"unconfirmed": 1}, run.stderr
        assert (made["attempts"], made["not_good"]) == (1, [{"board": 1, "copy": 1, "state": "unconfirmed"}])
        missing, _ = bridge("devices", "unix:///nowhere")
        assert missing["devices"][0]["error"]["what"].startswith("The socket does not open")
    finally:
        machine.kill()
        machine.wait()
