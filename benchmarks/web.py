"""From post to every desk: browser terminals and desks on one service, as many as a congress has.

    python benchmarks/web.py [--terminals 500] [--desks 50] [--rate 20] [--seconds 15] [--data DIR]

The service runs in a process of its own with the production store (WAL, FULL), HTTP server and streams; terminals
and desks are plain sockets in this one. Every one of them holds a stream open. Reported: time from the post of a
record to its arrival at the last of all desks, and to the acknowledgement; memory of the service; weight of the
pages; first view of a phone's page in chromium with the processor slowed down, when chromium and playwright are here.
Figures are of the machine named above the table; nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import gzip
import json
import multiprocessing
import os
import platform
import random
import shutil
import statistics
import struct
import tempfile
import time
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from drivers.host import HostIdentity
from firmware_bridge.service.api import make_app
from firmware_bridge.service.api_guard import serving
from firmware_bridge.service.desk_running import running
from firmware_bridge.web.bundle import in_order
from firmware_bridge.web.pages import page_files, read_files, routes, served_files
from firmware_bridge.wire.record import RecordBody, record_crc
from terminals.movement.catalog import build
from terminals.settings import EventSettings
from terminals.sync.event_store import FILE_NAME, EventStore
from terminals.sync.setup import new_event

PER_SECTION = 25
SOURCES = read_files()
SLOWER = 4
"""How much slower than this machine a cheap phone is taken to be."""
PAGES = {
    "terminal": ("terminal.html", "terminal.all.css", "terminal.all.js"),
    "desk": ("desk.html", "desk.all.css", "desk.js"),
    "deal": ("deal.html", "deal.all.css", "deal.all.js"),
    "results": ("results.html", "results.all.css", "results.all.js"),
    "cards": ("cards.html", "cards.all.css", "cards.all.js"),
}
"""Page -> its own document, style and script; the modules that a script imports are added."""
SHOWN = """new MutationObserver((_, watcher) => {
    if (document.querySelector('#start')) { window.shownAt ||= performance.now(); watcher.disconnect(); }
}).observe(document, {childList: true, subtree: true});"""


# --- the service, in a process of its own ------------------------------------------------------------------------


def serve(folder: Path, tables: int, pipe: Pipe) -> None:
    asyncio.run(_serve(folder, tables, pipe))


async def _serve(folder: Path, tables: int, pipe: Pipe) -> None:
    store = EventStore.open(folder / FILE_NAME)
    sections = -(-tables // PER_SECTION)
    movement = build(f"mitchell:{PER_SECTION}x2")
    setup = new_event(7, "Congress", dict.fromkeys(range(1, sections + 1), movement), EventSettings())
    await store.save_setup(setup)
    host = HostIdentity(device_id=1, boot_count=1)
    async with (
        running(folder, store, setup, [], host, on_event=lambda event: None) as (desk, _),
        serving(make_app(desk, None, routes()), "127.0.0.1", 0) as url,
    ):
        tokens = [
            (section, table, desk.access.table_token(section, table))
            for section in range(1, sections + 1)
            for table in range(1, PER_SECTION + 1)
        ]
        pipe.send((url, desk.access.codes["viewer"], tokens[:tables]))
        while not pipe.poll():
            await asyncio.sleep(0.2)
        pipe.recv()
        pipe.send({"rss": _rss(), "cpu": time.process_time(), "stored": len(desk.rows)})
    store.close()


def _rss() -> float:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


# --- clients -----------------------------------------------------------------------------------------------------


class Http:
    """One connection that is kept open."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._pipe is None or self._pipe[1].is_closing() or self._pipe[0].at_eof():
            self._pipe = await asyncio.open_connection("127.0.0.1", self._port)
        return self._pipe

    def _head(self, method: str, path: str, length: int) -> bytes:
        return (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    async def post(self, path: str, value: Any) -> Any:
        body = json.dumps(value).encode()
        reader, writer = await self._open()
        writer.write(self._head("POST", path, len(body)) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        answer = json.loads(await reader.readexactly(length))
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"{path}: {answer}")
        return answer

    async def stream(self, path: str) -> AsyncIterator[tuple[str, Any]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(self._head("GET", path, 0))
        await reader.readuntil(b"\r\n\r\n")
        kind = ""
        while line := await reader.readline():
            if line.startswith(b"event: "):
                kind = line[7:].decode().strip()
            elif line.startswith(b"data: "):
                yield kind, json.loads(line[6:])
        writer.close()


class Terminal:
    def __init__(self, port: int, section: int, table: int, token: str, ident: int) -> None:
        self.http = Http(port, token)
        self.section, self.table, self.device = section, table, ident << 20 | 0xABCDE
        self.seq, self.after, self.boot = 0, 0, ""
        self.acked = asyncio.Event()

    async def begin(self) -> None:
        hello = {"boot_id": 1, "boot_count": 1, "journal_id": 9, "oldest_unacked": 0, "next_seq": 1}
        await self._exchange(hello=hello)

    async def listen(self) -> None:
        async for kind, message in self.http.stream(f"/table/stream?device={self.device:016x}"):
            if kind == "message" and message["kind"] == "RECORD_ACK" and message["upto"] >= self.seq:
                self.acked.set()

    async def _exchange(self, **more: Any) -> None:
        status = {"round": 1, "waiting": 0, "clock": 1, "plan_version": 8}
        body = {"device": f"{self.device:016x}", "after": self.after, "boot": self.boot, "status": status, **more}
        answer = await self.http.post("/table/exchange", body)
        self.boot, self.after = answer["boot"], answer["last"]

    async def record(self, round_: int, board: int, ns: int, ew: int) -> None:
        self.seq += 1
        self.acked.clear()
        body = RecordBody(1, 1, self.section, self.table, round_, board, 0, 9, ns, ew, 3, 5, 0, 255, 0, 7).pack()
        crc = record_crc(self.device, 9, self.seq, body)
        text = base64.b64encode(struct.pack("<II14sI6s", 9, self.seq, body, crc, bytes(6))).decode()
        await self._exchange(records=[text])


async def measure(
    port: int, viewer: str, tokens: list[tuple[int, int, str]], args: argparse.Namespace
) -> dict[str, Any]:
    movement = build(f"mitchell:{PER_SECTION}x2")
    posted: dict[tuple[str, int, int], float] = {}
    arrivals: dict[tuple[str, int, int], list[float]] = {}

    async def desk() -> None:
        async for kind, value in Http(port, viewer).stream("/stream"):
            if kind == "result":
                arrivals.setdefault((value["section"], value["board"], value["ns"]), []).append(time.perf_counter())

    listening = [asyncio.create_task(desk()) for _ in range(args.desks)]
    terminals = [Terminal(port, s, t, token, n + 1) for n, (s, t, token) in enumerate(tokens)]
    began = time.perf_counter()
    for at in range(0, len(terminals), 25):
        await asyncio.gather(*(one.begin() for one in terminals[at : at + 25]))
    admitted = time.perf_counter() - began
    listening += [asyncio.create_task(one.listen()) for one in terminals]
    await asyncio.sleep(1)

    to_do = []
    for one in terminals:
        for seating in (movement.at(number, one.table) for number in range(1, movement.rounds + 1)):
            if seating is not None:
                to_do += [(one, seating.round, board, seating.ns, seating.ew) for board in seating.boards]
    by_round: dict[int, list[Any]] = {}
    for item in to_do:
        by_round.setdefault(item[1], []).append(item)
    for items in by_round.values():
        random.Random(5).shuffle(items)
    order = [item for number in sorted(by_round) for item in by_round[number]][: args.rate * args.seconds]
    acks: list[float] = []
    busy: set[asyncio.Task[None]] = set()
    locks = {one: asyncio.Lock() for one in terminals}

    async def enter(one: Terminal, number: int, board: int, ns: int, ew: int) -> None:
        async with locks[one]:
            start = time.perf_counter()
            posted[chr(64 + one.section), board, ns] = start
            await one.record(number, board, ns, ew)
            acks.append(time.perf_counter() - start)

    began = time.perf_counter()
    for count, item in enumerate(order):
        await asyncio.sleep(max(0.0, began + count / args.rate - time.perf_counter()))
        task = asyncio.create_task(enter(*item))
        busy.add(task)
        task.add_done_callback(busy.discard)
    await asyncio.gather(*busy)
    end = time.perf_counter() + 10
    while any(len(arrivals.get(key, ())) < args.desks for key in posted) and time.perf_counter() < end:
        await asyncio.sleep(0.1)
    for one_task in listening:
        one_task.cancel()
    late = [max(arrivals[key]) - start for key, start in posted.items() if len(arrivals.get(key, ())) >= args.desks]
    return {"admitted": admitted, "posted": len(posted), "everywhere": len(late), "desks": late, "acks": acks}


def first_view(folder: Path) -> list[tuple[float, int, int, float]]:
    """Of each of seven tables, with an empty cache and a slowed processor: milliseconds from the tap on the link until
    its round is on the screen, requests and bytes on the line until then, milliseconds of work of the page.

    The first is the clock's, on a machine that does other things too little is to be read from it; the others count.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    if chromium is None:
        return []
    parent, child = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, 25, child))
    process.start()
    url, _, tokens = parent.recv()
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    found: list[tuple[float, int, int, float]] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=flags)
        for _, _, token in tokens[:7]:
            context = browser.new_context(viewport={"width": 360, "height": 640})
            page = context.new_page()
            page.add_init_script(SHOWN)
            line = context.new_cdp_session(page)
            weights: list[int] = []
            line.on(
                "Network.loadingFinished", lambda event, weights=weights: weights.append(event["encodedDataLength"])
            )
            for command in ("Network.enable", "Performance.enable"):
                line.send(command)
            line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            page.goto(f"{url}/t/{token}", wait_until="commit")
            page.wait_for_selector("#start")
            figures = {one["name"]: one["value"] for one in line.send("Performance.getMetrics")["metrics"]}
            work = (figures["ScriptDuration"] + figures["LayoutDuration"] + figures["RecalcStyleDuration"]) * 1000
            found.append((page.evaluate("window.shownAt"), len(weights), int(sum(weights)), work))
            context.close()
        browser.close()
    parent.send("end")
    parent.recv()
    process.join()
    return found


def percentiles(values: list[float]) -> str:
    if not values:
        return "-"
    ordered = sorted(values)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"median {statistics.median(ordered) * 1000:7.1f} ms, 99th percentile {p99 * 1000:7.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terminals", type=int, default=500)
    parser.add_argument("--desks", type=int, default=50)
    parser.add_argument("--rate", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    print(f"{platform.node() or 'this machine'}: {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(dir=args.data, prefix="firmware-bridge-web-") as name:
        folder = Path(name)
        parent, child = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, args.terminals, child))
        process.start()
        url, viewer, tokens = parent.recv()
        found = asyncio.run(measure(int(url.rpartition(":")[2]), viewer, tokens, args))
        parent.send("end")
        after = parent.recv()
        process.join()
        print(f"{args.terminals} browser terminals, {args.desks} desks, {args.rate} results a second, {args.seconds} s")
        print(f"  all admitted in            {found['admitted']:.1f} s")
        print(f"  posted, at every desk      {found['posted']}, {found['everywhere']}; stored {after['stored']}")
        print(f"  post to all desks          {percentiles(found['desks'])}")
        print(f"  post to acknowledgement    {percentiles(found['acks'])}")
        print(f"  memory of the service      {after['rss']:.0f} MB; processor {after['cpu']:.1f} s")
    files = served_files()
    documents = page_files(files)
    for page, (document, *others) in PAGES.items():
        script = others[1]
        modules = in_order(files, script) if script in SOURCES else [script]
        whole = [documents[document, "en"], *(files[one] for one in (others[0], *modules))]
        packed = sum(len(gzip.compress(one, 9)) for one in whole)
        print(f"  weight of {page:<16} {sum(map(len, whole)) / 1000:.1f} kB, on the line {packed / 1000:.1f} kB")
    with tempfile.TemporaryDirectory(dir=args.data, prefix="firmware-bridge-web-") as name:
        views = first_view(Path(name))
    if views:
        wall, requests, weight, work = zip(*views, strict=True)
        print(f"  first view, {SLOWER} x slower   median {statistics.median(wall):.0f} ms, longest {max(wall):.0f} ms")
        print(f"    until then               {statistics.median(requests):.0f} answers, {max(weight) / 1000:.1f} kB")
        print(f"    script, style, layout    median {statistics.median(work):.0f} ms")
    else:
        print("  first view                 not measured: chromium or playwright is not here")


if __name__ == "__main__":
    main()
