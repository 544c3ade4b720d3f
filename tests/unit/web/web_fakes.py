"""The service without sockets: a desk on a fresh store, asked over an in-memory transport."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx

from drivers.host import HostIdentity
from firmware_bridge.clock import ManualClock
from firmware_bridge.service import api_table
from firmware_bridge.service.api import make_app
from firmware_bridge.service.api_access import Access
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_dealing import DealingDesk
from firmware_bridge.service.desk_running import running
from firmware_bridge.web.pages import routes
from firmware_bridge.wire.record import RecordBody, record_crc
from terminals.movement.catalog import build
from terminals.settings import EventSettings
from terminals.sync.event_store import FILE_NAME, EventStore
from terminals.sync.setup import new_event

HOST = HostIdentity(device_id=1, boot_count=1)
T = TypeVar("T")


class Client:
    """Asks as the director unless told otherwise."""

    def __init__(self, desk: Desk, http: httpx.AsyncClient) -> None:
        self.desk = desk
        self.http = http

    def head(self, token: str | None) -> dict[str, str]:
        return {} if token is None else {"authorization": f"Bearer {token}"}

    def role(self, role: str) -> str:
        return self.desk.access.codes[role]

    def table(self, table: int, section: int = 1) -> str:
        return self.desk.access.table_token(section, table)

    async def get(self, path: str, token: str | None = "") -> httpx.Response:
        token = self.role("director") if token == "" else token
        return await self.http.get(f"/api/v1{path}", headers=self.head(token))

    async def post(self, path: str, body: Any, token: str | None = "") -> httpx.Response:
        token = self.role("director") if token == "" else token
        return await self.http.post(f"/api/v1{path}", json=body, headers=self.head(token))


class Page:
    """What a browser's page does, without the browser."""

    def __init__(self, client: Client, table: int, device: int) -> None:
        self.client, self.table, self.device = client, table, device
        self.token = client.table(table)
        self.journal, self.seq = device & 0xFFFF | 1, 0
        self.after, self.boot = 0, ""
        self.messages: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {}

    async def exchange(self, **more: Any) -> dict[str, Any]:
        status = {"round": 1, "waiting": 0, "clock": 1, "plan_version": 0}
        body = {"device": f"{self.device:016x}", "after": self.after, "boot": self.boot, "status": status, **more}
        found = await self.client.post("/table/exchange", body, self.token)
        assert found.status_code == 200, found.text
        self.answer = found.json()
        self.boot = self.answer["boot"]
        self.messages += self.answer.get("messages", [])
        self.after = self.answer.get("last", self.after)
        return self.answer

    async def hello(self, **more: Any) -> dict[str, Any]:
        journal = {"boot_id": 1, "boot_count": 1, "journal_id": self.journal, "oldest_unacked": 0}
        return await self.exchange(hello={**journal, "next_seq": self.seq + 1}, **more)

    def record(
        self,
        board: int,
        ns: int,
        ew: int,
        *,
        tricks: int = 9,
        round: int = 1,
        seq: int | None = None,
        accepted: bool = True,
    ) -> str:
        if seq is None:
            self.seq += 1
            seq = self.seq
        body = RecordBody(1, int(accepted), 1, self.table, round, board, 0, tricks, ns, ew, 3, 5, 0, 255, 0, 7).pack()
        crc = record_crc(self.device, self.journal, seq, body)
        return base64.b64encode(struct.pack("<II14sI6s", self.journal, seq, body, crc, bytes(6))).decode()

    async def hear(self, kind: str, fits: Callable[[dict[str, Any]], object] = bool) -> dict[str, Any]:
        """Ask until a message of this kind that fits has come; the newest of them."""
        async with asyncio.timeout(60):
            while not (found := [m for m in self.messages if m["kind"] == kind and fits(m)]):
                await self.exchange()
                await asyncio.sleep(0.01)
        return found[-1]

    def acked(self) -> int:
        return max((m["upto"] for m in self.messages if m["kind"] == "RECORD_ACK"), default=0)


async def until(ask: Callable[[], Awaitable[T]], true: Callable[[T], object]) -> T:
    """Ask until the answer is right: what a page sends is worked on behind its back."""
    async with asyncio.timeout(60):
        while not true(answer := await ask()):
            await asyncio.sleep(0.01)
    return answer


@contextlib.asynccontextmanager
async def service(
    directory: Path,
    spec: str | None = "mitchell:3x2",
    settings: EventSettings | None = None,
    clock: ManualClock | None = None,
) -> AsyncIterator[Client]:
    """A service on ``directory``; its event begins the first time and goes on the next."""
    store = EventStore.open(directory / FILE_NAME)
    before, api_table.WAIT_S = api_table.WAIT_S, 30.0  # on a busy computer a commit may take its time
    try:
        setup = store.load_setup()
        if setup is None and spec is not None:
            setup = new_event(77, "Club night", {1: build(spec)}, settings or EventSettings())
            await store.save_setup(setup)
        async with running(directory, store, setup, [], HOST, on_event=lambda event: None, clock=clock) as (desk, _):
            app = make_app(desk, DealingDesk(desk, "", HOST), routes())
            transport = httpx.ASGITransport(app, client=("10.0.0.9", 1234))
            async with httpx.AsyncClient(transport=transport, base_url="http://club") as http:
                yield Client(desk, http)
    finally:
        api_table.WAIT_S = before
        store.close()


def access(directory: Path) -> Access:
    return Access.open(directory)
