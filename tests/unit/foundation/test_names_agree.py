"""Names that a command must know before anything large is loaded are those of the rooms that they come from."""

from __future__ import annotations

from dealer.duplication.options import PackRule
from firmware_bridge.cli.td_export import KINDS
from firmware_bridge.config import PACKS
from firmware_bridge.service import desk_files, recorded_files


def test_pack_rules() -> None:
    assert tuple(PackRule) == PACKS


def test_kinds_of_files() -> None:
    assert set(KINDS) == {*desk_files.KINDS, *recorded_files.FILES, desk_files.HANDS}
