"""Movements in YAML, CSV and JSON: what is written is read again, and what is wrong is refused with line and key."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement import families, files, happenings, individual, teams, written
from terminals.movement.arrow import switched
from terminals.movement.howell import howell
from terminals.movement.mitchell import mitchell
from terminals.movement.model import Direction, Movement
from terminals.movement.plan import apply
from terminals.movement.state import Plan
from terminals.movement.verify import verify

MOVEMENTS = [
    mitchell(7, 4, missing=Direction.EW),
    mitchell(4, 3),
    switched(mitchell(7, 4)),
    howell(3, 5),
    howell(4, 3, missing=True, first_board=9),
    families.web(10, 9, 3),
    families.rover(7, 3),
    individual.individual(12, 3),
    individual.individual(13, 2),
    teams.round_robin(5, 6),
    teams.american_whist(5, 3),
    apply(Plan(mitchell(7, 3), mitchell(7, 3)), happenings.LatePair(3)).actual,
]


@pytest.mark.parametrize("movement", MOVEMENTS, ids=lambda m: m.kind)
def test_yaml_and_json_keep_everything(movement: Movement) -> None:
    assert files.from_yaml(written.to_yaml(movement)) == movement
    assert files.from_dict(json.loads(json.dumps(written.to_dict(movement)))) == movement


@pytest.mark.parametrize(
    "movement", [m for m in MOVEMENTS if not m.teams and not any(s.absent or not s.table for s in m.sit_outs)],
    ids=lambda m: m.kind,
)  # fmt: skip
def test_csv_keeps_seats(movement: Movement, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(written.to_csv(movement), encoding="utf-8")
    again = files.load(path)
    assert again.seatings == movement.seatings
    assert again.sit_outs == movement.sit_outs
    assert again.groups == movement.groups
    assert again.shares == movement.shares
    assert again.copies == movement.copies
    assert again.name == movement.name
    assert verify(again).errors == ()


def test_a_hand_written_csv(tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    rows = [
        "# name: Three rounds",
        "Round;Table;NS;EW;Low;High",
        "1;1;1;3;1;2",
        "1;2;2;0;3;4",
        "2;1;1;;1;2",
        "2;2;2;3;3;4",
    ]
    text = "\r\n".join([*rows, ""])
    path.write_bytes(text.encode("utf-16"))
    movement = files.load(path)
    assert (movement.name, movement.winners, movement.rounds, movement.tables) == ("Three rounds", 2, 2, 2)
    assert [(s.pair, s.round, s.direction) for s in movement.sit_outs] == [(2, 1, "NS"), (1, 2, "NS")]
    assert movement.seatings[0].boards == (1, 2)
    assert verify(movement).errors == ()


def test_a_hand_written_yaml() -> None:
    movement = files.from_yaml(
        """
movement: Two tables
boards_per_round: 4
shares: yes
seatings:
  - {round: 1, table: 1, ns: 4, ew: 1, set: 1}
  - {round: 1, table: 2, ns: 2, ew: 3, set: 1}
  - {round: 2, table: 1, ns: 4, ew: 2, set: 2}
  - {round: 2, table: 2, ns: 3, ew: 1, boards: "5-8"}
"""
    )
    assert verify(movement).errors == ()
    assert movement.winners == 1
    assert len(movement.shares) == 2
    assert movement.board_numbers == tuple(range(1, 9))


def test_the_examples_of_the_page_can_be_played(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "movements.md").read_text(encoding="utf-8")
    shown = re.findall(r"```(?:yaml)?\n((?:movement:|# name:).*?)```", page, re.S)
    assert len(shown) == 2
    for number, text in enumerate(shown):
        path = tmp_path / f"{number}.{'csv' if text.startswith('#') else 'yaml'}"
        path.write_text(text, encoding="utf-8")
        assert verify(files.load(path)).errors == ()


def test_a_table_where_somebody_only_waits_is_a_table() -> None:
    movement = files.from_csv("round;table;ns;ew;boards\n1;1;1;3;1-2\n1;2;2;0;3-4\n2;2;2;0;3-4\n")
    assert (movement.tables, movement.rounds) == (2, 2)


GOOD = "seatings:\n  - {round: 1, table: 1, ns: 1, ew: 2, boards: 1-2}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("[1, 2", ["not YAML", "line"]),
        ("3", ["keys and values"]),
        ("seatings: []", ["seatings"]),
        ("seatings: 7", ["seatings", "list"]),
        ("seatings:\n  - {round: 1, table: 1, ns: 1, boards: 1-2}\n", ["seatings", "opponents"]),
        (GOOD + "roof: 1\n", ["'roof'", "line 3"]),
        (GOOD + "winners: 7\n", ["winners", "line 3"]),
        (GOOD + "format: knitting\n", ["format", "line 3"]),
        (GOOD + "format: teams\n", ["teams"]),
        (GOOD + "  - {round: 1, table: 2, ns: 1, ew: 2}\n", ["seatings[1].boards", "missing", "line 3"]),
        (GOOD + "  - {round: x, table: 2, ns: 1, ew: 2, boards: 1}\n", ["seatings[1].round", "'x'", "line 3"]),
        (GOOD + "  - {round: 1, table: 2, ns: 1, ew: 2, boards: 4-1}\n", ["seatings[1].boards", "line 3"]),
        (GOOD + "  - {round: 1, table: 2, ns: 1, ew: 2, set: 1}\n", ["set", "boards_per_round"]),
        (GOOD + "  - {round: 1, table: 999999, ns: 1, ew: 2, boards: 1}\n", ["table", "line 3"]),
        ("a: &x 1\nb: *x\n", ["aliases", "line 2"]),
        ("a: " + "[" * 30 + "]" * 30, ["nested"]),
        (GOOD + "winners: 2: 3\n", ["not YAML", "line 3"]),
        (GOOD + "  - {round: 2, table: 1, ns: 2, ew: 1, boards: 3}\nwinners: 2\n", ["winners", "both directions"]),
    ],
)  # fmt: skip
def test_bad_yaml_is_refused_with_its_place(text: str, words: list[str]) -> None:
    with pytest.raises(EntryError) as caught:
        files.from_yaml(text)
    assert caught.value.exit_status is ExitStatus.USAGE
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("round,table\n", ["header"]),
        ("round,table,ns,ew,roof\n1,1,1,2,3\n", ["'roof'", "line 1"]),
        ("round,table,ns,ew,boards\n1,1,1,2\n", ["4 columns", "line 2"]),
        ("round,table,ns,ew,boards\n1,1,1,2,1\nx,1,1,2,1\n", ["round", "line 3"]),
        ("round,table,n,e,s,w,boards\n1,1,1,2,3,,1\n", ["players", "line 2"]),
    ],
)
def test_bad_csv_is_refused_with_its_line(text: str, words: list[str]) -> None:
    with pytest.raises(EntryError) as caught:
        files.from_csv(text)
    for word in words:
        assert word in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, content in [("a.yaml", b""), ("b.txt", b"x"), ("c.yaml", b"\xff\x00\xff"), ("d.csv", b"x" * 600_000)]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(EntryError) as caught:
            files.load(path)
        assert name in str(caught.value)
        assert caught.value.exit_status is ExitStatus.USAGE
    with pytest.raises(EntryError):
        files.load(tmp_path / "missing.yaml")
    with pytest.raises(EntryError):
        files.load(tmp_path)


@given(
    data=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["seatings", "round", "table", "ns", "ew", "boards", "groups", "x"]), inner
            ),
        ),
        max_leaves=12,
    )
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_values_are_read_or_refused(data: object) -> None:
    try:
        movement = files.from_dict({"seatings": data} if not isinstance(data, dict) else data)
    except EntryError:
        return
    verify(movement)


@given(text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (files.from_yaml, files.from_csv):
        try:
            verify(read(text))
        except EntryError:
            continue


@given(cut=st.integers(0, 3000), flip=st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_damaged_files_are_read_or_refused(cut: int, flip: int) -> None:
    text = written.to_yaml(mitchell(4, 3, missing=Direction.NS))
    cut %= len(text)
    for damaged in (text[:cut], text[:cut] + chr(flip) + text[cut + 1 :]):
        try:
            verify(files.from_yaml(damaged))
        except EntryError:
            continue
