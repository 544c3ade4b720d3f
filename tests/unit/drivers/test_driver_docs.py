"""The pages about devices tell the truth: their files are accepted, their URLs are right, their examples run."""

import asyncio
import hashlib
import random
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from drivers_fakes import HOST, FakeDevice

import drivers.registry as registry
from drivers.api import Armed, BoardInserted, CardPassed, Connected, Disconnected, JobDone
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
            assert (await machine.connect(3)).model == "Fake"
            assert (await machine.snapshot()).label == 7
            await machine.close()
        with pytest.raises(DeviceError, match="does not open"):
            await open_machine(f"unix://{tmp_path}/none", HOST).connect(3)

    asyncio.run(asyncio.wait_for(scenario(), 20))


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
            await machine.connect(3)
            assert isinstance(await machine.next_event(), Connected)
            assert isinstance(await machine.next_event(), BoardInserted)
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

    asyncio.run(asyncio.wait_for(scenario(), 20))
    assert received == [["deal", "7", "".join(map(str, pockets))]]
