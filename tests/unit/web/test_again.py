"""An earlier event as a pattern: looked at before it begins, and with its own scoring profile and settings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Client, service

from firmware_bridge.service import desk_again
from firmware_bridge.service.desk_again import own_profile
from terminals.scoring.profile_file import load_profile, profile_to_json
from terminals.settings import EventSettings

OWN = """
[profile]
name = "ours"
version = 3
[artificial]
average_plus = { value = 65, source = "the club's meeting" }
"""


async def ok(client: Client, path: str, body: Any) -> Any:
    found = await client.post(path, body)
    assert found.status_code == 200, found.text
    return found.json()


def test_a_profile_from_a_file_is_part_of_the_pattern(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None, EventSettings(confirm=False)) as client:
            sections = [{"name": "A", "movement": "howell:3x2"}, {"name": "C", "movement": "mitchell:3x3"}]
            event = (await ok(client, "/setup/start", {"name": "First", "sections": sections}))["event"]
            await ok(client, "/actions/scoring", {"profile": OWN, "actor": "Anna"})
            await ok(client, "/actions/settings", {"settings": {"lead": False}, "section": "C", "actor": "Anna"})
            ours = client.desk.profile
            assert (ours.name, ours.version, ours.average_plus) == ("ours", 3, Fraction(65))
            await ok(client, "/setup/start", {"name": "Between", "spec": "howell:2x2"})
            assert client.desk.profile == load_profile("plain")
            seen = await ok(client, "/setup/check", {"again": event})
            assert [(one["name"], one["tables"]) for one in seen] == [("A", 3), ("C", 3)]
            assert client.desk.setup.name == "Between", "nothing was begun"
            await ok(client, "/setup/start", {"name": "Second", "again": event})
            assert client.desk.profile == ours
            assert [one.own for one in client.desk.setup.sections] == [(), (("lead", False),)]
            second = await ok(client, "/setup/start", {"again": True, "settings": {"profile": "ebu"}})
            assert client.desk.profile == load_profile("ebu"), "what is asked for comes first"
            assert second["sections"][1]["name"] == "C"

    asyncio.run(run())


def test_of_a_shipped_profile_the_newer_version_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with service(tmp_path, None, EventSettings(confirm=False)) as client:
            await ok(client, "/setup/start", {"spec": "howell:2x2", "settings": {"profile": "wbf"}})
            changed = replace(load_profile("wbf"), average_plus=Fraction(55))
            await client.desk.log("profile", profile=profile_to_json(changed))
            assert own_profile(client.desk, client.desk.setup) == changed
            newer = replace(load_profile("wbf"), version=changed.version + 1)
            monkeypatch.setattr(desk_again, "load_profile", lambda name: newer)
            assert own_profile(client.desk, client.desk.setup) is None

    asyncio.run(run())
