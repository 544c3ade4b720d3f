"""Master points from award tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from firmware_bridge.errors import EntryError
from terminals.scoring.lines import Contestant
from terminals.scoring.master_points import award_master_points, load_award_table
from terminals.scoring.ranking import RankRow, places

F = Fraction
TABLE = """
name = "Club"
version = 2
source = "a club's own scale"
unit = "hundredths"
one_in = 3
[[award]]
from = 4
to = 8
places = [18, 12, 6]
[[award]]
from = 9
places = [36, 24.5, 12, 6]
"""


def ranking(*values: int) -> list[RankRow]:
    items = [(Contestant("", number), F(value)) for number, value in enumerate(values, 1)]
    return [
        RankRow(place, tied, contestant, value, str(value), value, F(0), 1)
        for place, tied, (contestant, value) in places(items, lambda item: item[1])
    ]


def load(tmp_path: Path, text: str):  # type: ignore[no-untyped-def]
    path = tmp_path / "awards.toml"
    path.write_text(text)
    return load_award_table(path)


def test_awards_by_field_and_place(tmp_path: Path) -> None:
    table = load(tmp_path, TABLE)
    assert (table.name, table.version, table.unit, table.one_in) == ("Club", 2, "hundredths", 3)
    assert table.places(3) == ()
    assert table.places(4) == (18, 12)
    assert table.places(9) == (36, F("24.5"), 12)
    assert table.places(100) == (36, F("24.5"), 12, 6)
    awarded = award_master_points(ranking(60, 55, 50, 45, 40), table)
    assert {one.number: value for one, value in awarded.items()} == {1: 18, 2: 12}
    assert award_master_points(ranking(60), table) == {}


@pytest.mark.parametrize(
    ("ties", "values", "wanted"),
    [
        ("average", (60, 55, 55, 40, 30, 20, 10), {1: 18, 2: 9, 3: 9}),
        ("higher", (60, 55, 55, 40, 30, 20, 10), {1: 18, 2: 12, 3: 12}),
        ("share", (60, 50, 40, 40, 30, 20, 10), {1: 18, 2: 12, 3: 3, 4: 3}),
        ("average", (60, 50, 40, 40, 30, 20, 10), {1: 18, 2: 12, 3: 6, 4: 6}),
    ],
)
def test_ties(tmp_path: Path, ties: str, values: tuple[int, ...], wanted: dict[int, int]) -> None:
    table = load(tmp_path, TABLE.replace("one_in = 3", f'ties = "{ties}"'))
    assert {one.number: value for one, value in award_master_points(ranking(*values), table).items()} == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "Club"', "name = 3"),
        ("version = 2", 'version = "two"'),
        ('unit = "hundredths"', 'unit = "stones"'),
        ("one_in = 3", "one_in = 0"),
        ("one_in = 3", 'ties = "toss"'),
        ("one_in = 3", "colour = 1"),
        ("from = 9", "from = 8"),
        ("to = 8", "to = 3"),
        ("places = [18, 12, 6]", "places = [6, 12]"),
        ("places = [18, 12, 6]", "places = []"),
        ("places = [18, 12, 6]", "places = [-1]"),
        ("to = 8", "until = 8"),
    ],
)
def test_tables_that_can_not_be(tmp_path: Path, old: str, new: str) -> None:
    assert old in TABLE
    with pytest.raises(EntryError):
        load(tmp_path, TABLE.replace(old, new, 1))
