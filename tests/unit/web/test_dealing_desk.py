"""The dealing screen's side of the service, without a machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from web_fakes import HOST, service

from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.progress import BoardBegan
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk_dealing import DealingDesk


def test_a_board_is_confirmed_by_the_number_that_the_screen_showed(tmp_path: Path) -> None:
    class Job:
        confirmed = 0

        def confirm(self) -> None:
            self.confirmed += 1

    async def run() -> None:
        async with service(tmp_path) as client:
            dealing, job = DealingDesk(client.desk, "", HOST), Job()
            dealing._take_job(cast(DuplicationJob, job))
            dealing._on_progress(BoardBegan(7, 1, 1))
            before = dealing.view()
            dealing.confirm(7)
            dealing._on_progress(BoardBegan(8, 1, 1))
            with pytest.raises(EntryError, match="board 8 by now"):
                dealing.confirm(7)  # a second touch, or an answer that the page never saw
            dealing.confirm()
            assert job.confirmed == 2
            assert dealing.view()["n"] > before["n"], "a page can tell which of two answers is the older one"

    asyncio.run(run())


def test_the_desk_deals_from_the_packs_that_it_was_started_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[JobOptions] = []

    async def make_boards(*_: object, options: JobOptions, **__: object) -> None:
        asked.append(options)

    async def run() -> None:
        async with service(tmp_path) as client:
            dealing = DealingDesk(client.desk, "tcp://127.0.0.1:9", HOST, "any")
            await dealing.generate(1, 2)
            await dealing.start(1)
            while dealing.running:
                await asyncio.sleep(0)

    monkeypatch.setattr("firmware_bridge.service.desk_dealing.make_boards", make_boards)
    asyncio.run(run())
    assert [options.packs for options in asked] == ["any"]
