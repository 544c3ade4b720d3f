"""The backup to a stick: which sticks are found, what is written, and words when it can't be."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Page, service

from firmware_bridge.service import desk_backup

TABLE = """sysfs /sys sysfs rw,nosuid 0 0
/dev/sda2 / ext4 rw,relatime 0 0
/dev/sdb1 /media/ann/CLUB\\040STICK vfat rw,nosuid 0 0
/dev/sdc1 /run/media/ann/old ext4 ro,relatime 0 0
/dev/sdd1 /mnt/usb\\134x vfat rw 0 0
/dev/sdb1 /media/ann/CLUB\\040STICK vfat rw 0 0
garbage
"""


def test_sticks_are_read_from_the_mount_table() -> None:
    assert desk_backup.mounted(TABLE) == ["/media/ann/CLUB STICK", "/mnt/usb\\x"]


def test_only_what_is_there_and_can_be_written_is_offered(tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    found = desk_backup.sticks([str(tmp_path / "stick"), str(tmp_path / "gone")])
    assert [one.name for one in found] == ["stick"]
    assert found[0].free > 0
    assert isinstance(desk_backup.sticks(), list)


def test_a_backup_is_written_read_back_and_ticked_off(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()

    async def run() -> None:
        async with service(tmp_path / "data") as client:
            page = Page(client, 1, 0xABCD)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            for _ in range(2):
                found = await client.post("/backup/save", {"folder": str(stick)})
                assert found.status_code == 200, found.text
            copies = sorted(stick.iterdir())
            assert len(copies) == 2, "a second one in the same minute takes nothing away"
            assert found.json()["path"] in map(str, copies)
            for copy in copies:
                with sqlite3.connect(copy) as connection:
                    assert connection.execute("SELECT count(*) FROM record").fetchone() == (1,)
            items = {one["key"]: one["done"] for one in (await client.get("/checklist")).json()}
            assert items["backup"] is True

    (tmp_path / "data").mkdir()
    asyncio.run(run())


def test_a_stick_that_is_not_there_full_or_locked_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    usage = shutil.disk_usage(stick)

    async def run() -> None:
        async with service(tmp_path) as client:

            async def refused(folder: str) -> dict[str, Any]:
                found = await client.post("/backup/save", {"folder": folder})
                assert found.status_code in (400, 409), found.text
                return dict(found.json()["error"])

            for folder in (str(tmp_path / "gone"), "relative", "../..", str(tmp_path / "access.json")):
                assert (await refused(folder))["code"] == "no-stick"
            assert (await refused("x" * 500))["code"].startswith(("bad-", "too-long"))
            with monkeypatch.context() as patch:
                patch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10))
                error = await refused(str(stick))
                assert error["code"] == "stick-full"
                assert "MB are needed" in error["what"]
            with monkeypatch.context() as patch:

                def fails(target: Path) -> None:
                    raise OSError(5, "Input/output error")

                patch.setattr(client.desk.store, "backup", fails)
                error = await refused(str(stick))
                assert error["code"] == "stick-unwritable"
                assert "Input/output error" in error["what"]
            assert list(stick.iterdir()) == []
            assert (
                await client.post("/backup/save", {"folder": str(stick)}, client.role("assistant"))
            ).status_code == 403
            assert (await client.get("/backup/places", client.role("viewer"))).status_code == 403
            assert "places" in (await client.get("/backup/places")).json()

    asyncio.run(run())
