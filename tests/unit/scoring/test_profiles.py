"""Scoring profiles and scales as files."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import CLUBS_CHOICE, PLAIN, SmallGroups, VpScale
from terminals.scoring.profile_file import (
    PROFILE_NAMES,
    SETTINGS,
    load_profile,
    load_vp_table,
    profile_from_dict,
    profile_from_json,
    profile_to_json,
    setting_fields,
)

F = Fraction
HEAD = '[profile]\nname = "mine"\nversion = 3\n'


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_shipped_profiles_load_and_survive_storage(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert profile_from_json(profile_to_json(profile)) == profile


def test_every_setting_can_be_set_in_a_file() -> None:
    assert {field for settings in SETTINGS.values() for field, _ in settings.values()} == setting_fields()


def test_plain_is_the_default_of_the_program() -> None:
    assert replace(load_profile("plain"), sources=(), title=PLAIN.title) == PLAIN


def test_what_has_no_source_is_the_clubs_choice() -> None:
    ebu = load_profile("ebu")
    assert ebu.small_groups is SmallGroups.FIXED_PERCENT
    assert ebu.board_unit == F(1, 10000)
    assert "White Book" in ebu.source("small_groups")
    assert ebu.source("butler_drop") == CLUBS_CHOICE
    assert load_profile("wbf").vp_scale is VpScale.CONTINUOUS
    assert load_profile("acbl").matchpoint_scale == 1


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        HEAD + '[matchpoints]\nunequal = { value = "ascherman", source = "club rule 7" }\n'
        "[director]\npenalty_top_fraction = { value = 0.1 }\n"
    )
    profile = load_profile(str(path))
    assert (profile.unequal, profile.penalty_top_fraction, profile.version) == (Unequal.ASCHERMAN, F(1, 10), 3)
    assert profile.source("unequal") == "club rule 7"
    assert profile.source("penalty_top_fraction") == CLUBS_CHOICE


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "profile"),
        ('[profile]\nname = "x"\n', "profile.version"),
        ('[profile]\nname = "../x"\nversion = 1\n', "profile.name"),
        ('[profile]\nname = "x"\nversion = 1\nruleset = "laws-1987"\n', "profile.ruleset"),
        (HEAD + "[matchpoint]\nscale = { value = 2 }\n", "matchpoint"),
        (HEAD + "[matchpoints]\nsacle = { value = 2 }\n", "matchpoints.sacle"),
        (HEAD + "[matchpoints]\nscale = 2\n", "matchpoints.scale"),
        (HEAD + "[matchpoints]\nscale = { value = 3 }\n", "matchpoints.scale"),
        (HEAD + "[matchpoints]\nscale = { value = true }\n", "matchpoints.scale"),
        (HEAD + '[matchpoints]\nunequal = { value = "magic" }\n', "matchpoints.unequal"),
        (HEAD + "[matchpoints]\nboard_unit = { value = 0 }\n", "matchpoints.board_unit"),
        (HEAD + '[artificial]\naverage_plus = { value = "60%" }\n', "artificial.average_plus"),
        (HEAD + '[artificial]\naverage_plus = { value = "1/0" }\n', "artificial.average_plus"),
        (HEAD + "[artificial]\nsession_percentage = { value = 1 }\n", "artificial.session_percentage"),
        (HEAD + "[ranking]\nties = { value = 2, note = 3 }\n", "ranking.ties"),
    ],
)
def test_impossible_profiles_are_refused_with_their_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(EntryError) as caught:
        load_profile(str(path))
    assert caught.value.what.startswith(f"{key}:")
    assert caught.value.where == str(path)


def test_what_is_no_profile_at_all(tmp_path: Path) -> None:
    for name in ("nowhere", str(tmp_path / "nowhere.toml")):
        with pytest.raises(EntryError) as caught:
            load_profile(name)
        assert caught.value.exit_status == 2
    bad = tmp_path / "bad.toml"
    for content in (b"not = [toml", b"\xff\xfe\x00", b"#" * 70000):
        bad.write_bytes(content)
        with pytest.raises(EntryError) as caught:
            load_profile(str(bad))
        assert caught.value.exit_status == 2
    for text in ("", "[]", '{"profile": 3}', "{" * 100000):
        with pytest.raises(EntryError):
            profile_from_json(text)


json_values = st.sampled_from(
    [None, True, 3, -1, "x", "exact", [], [3], {}, {"value": None}, {"value": 1}, {"value": [], "source": 3}]
)


@given(
    st.dictionaries(
        st.sampled_from(["profile", *SETTINGS]),
        st.dictionaries(st.sampled_from(["name", "version", "scale", "ties", "bye"]), json_values, max_size=4),
    )
)
def test_any_tables_give_a_profile_or_an_entry_error(data: dict[str, object]) -> None:
    try:
        profile_from_dict(data)
    except EntryError:
        pass


def test_a_victory_point_scale_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text(
        'name = "three boards"\nboards = 3\nsource = "a sample of 2015"\n'
        "[[row]]\nfrom = 0\nto = 0\nwinner = 10\nloser = 10\n"
        "[[row]]\nfrom = 1\nto = 1\nwinner = 11\nloser = 9\n"
        "[[row]]\nfrom = 2\nto = 2\nwinner = 12\nloser = 8\n"
        "[[row]]\nfrom = 3\nto = 4\nwinner = 12.5\nloser = 7.5\n"
        "[[row]]\nfrom = 21\nwinner = 20\nloser = 0\n"
    )
    table = load_vp_table(path)
    assert [table.vp(margin) for margin in (0, 1, -2, 4, 50)] == [10, 11, 8, F("12.5"), 20]
    with pytest.raises(EntryError, match="margin of 20"):
        table.vp(20)


@pytest.mark.parametrize(
    "rows",
    [
        "",
        "[[row]]\nfrom = 0\nto = 5\nwinner = 10\nloser = 10\n[[row]]\nfrom = 5\nwinner = 11\nloser = 9\n",
        "[[row]]\nfrom = 0\nwinner = 10\nloser = 10\n[[row]]\nfrom = 5\nwinner = 11\nloser = 9\n",
        "[[row]]\nfrom = 5\nto = 4\nwinner = 10\nloser = 10\n",
        "[[row]]\nfrom = -1\nwinner = 10\nloser = 10\n",
        "[[row]]\nfrom = 0\nwinner = 9\nloser = 11\n",
        "[[row]]\nfrom = 0\nwinner = 9\n",
        "[[row]]\nfrom = 0\nwinner = 9\nloser = 1\nextra = 2\n",
        "row = [3]\n",
        "unknown = 3\n",
    ],
)
def test_impossible_scales_are_refused(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "scale.toml"
    path.write_text('name = "bad"\n' + rows)
    with pytest.raises(EntryError):
        load_vp_table(path)
