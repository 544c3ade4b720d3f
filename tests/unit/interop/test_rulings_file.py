"""Rulings in a file: every kind of score, the states, what is refused and where, and results that stay exact."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interop_sessions import mitchell, published
from interop_teams import round_robin

from firmware_bridge.cli.main import main
from firmware_bridge.errors import EntryError
from terminals.interop.adjusted_note import adjusted_note, read_adjusted_note, without_adjusted
from terminals.interop.audit import audit_event
from terminals.interop.rescore import rescored, setup_of
from terminals.interop.results_json import read_results_json, write_results_json
from terminals.interop.rulings_file import noted, read_rulings, read_side
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.result import Artificial, Assigned, Average, FixedPercent, NotPlayed, Outcome, PassedOut, Played
from terminals.scoring.profile import PLAIN
from terminals.scoring.rulings import RulingState

EVENT = published(mitchell(9, 9, 3))
HEAD = 'board = 1\nns = "1NS"\new = "1EW"\nlaw = "12C1c"\nreason = "hesitation; bid"\nby = "A. Nowak"\n'
F = Fraction


def rulings(*texts: str, head: str = HEAD):  # type: ignore[no-untyped-def]
    return read_rulings("".join(f"[[ruling]]\n{head}{text}\n" for text in texts), "r.toml", EVENT, PLAIN)


def scored(text: str):  # type: ignore[no-untyped-def]
    return rulings(text)[0].ruling.result


def test_every_kind_of_score() -> None:
    weighted = scored('score = "60% +620, 40% of -100"')
    assert weighted == Assigned(*[(Outcome(620, F(3, 5)), Outcome(-100, F(2, 5)))] * 2)
    thirds = scored('score = "1/3 4s n 10, 1/3 4s n 9, 1/3 p"')
    assert [outcome.weight for outcome in thirds.ns] == [F(1, 3)] * 3
    assert isinstance(thirds.ns[2].result, PassedOut)
    assert isinstance(scored('score = "4s n 10"'), Played)
    assert scored('score = "AVE+/AVE-"') == Artificial(Average.PLUS, Average.MINUS)
    assert scored('score = "55% / 45%"') == Artificial(FixedPercent(F(55)), FixedPercent(F(45)))
    worth = Artificial(FixedPercent(F(55), F(3, 2)), FixedPercent(F(45), F(-1)))
    assert scored('score = "55% +1.5 IMPs/45% -1 imp"') == worth
    assert scored('score = "ave/40%"') == Artificial(Average.EVEN, FixedPercent(F(40)))
    assert scored('score_ns = "55%"\nscore_ew = "AVE"') == Artificial(FixedPercent(F(55)), Average.EVEN)
    assert scored('score_ns = "+620"\nscore_ew = "-100"') == Assigned((Outcome(620),), (Outcome(-100),))
    assert scored('score_ns = "+620"\nscore_ew = "AVE+"') == Assigned((Outcome(620),), Average.PLUS)
    assert isinstance(scored('score = "not played"'), NotPlayed)
    assert rulings('form = "B"')[0].ruling.form == "B"
    five = "20% +50, 20% +100, 20% +150, 20% +200, 20% +250"
    side = read_side(five)
    assert isinstance(side, tuple)
    assert len(side) == 5


def test_the_effect_of_a_weighted_ruling_and_a_penalty_is_counted_and_stays_exact() -> None:
    penalty = '[[ruling]]\nlaw = "90"\nreason = "late"\nby = "A. Nowak"\nstate = "confirmed"\n'
    penalty += 'penalty = {contestant = "3NS", amount = "-1/4", unit = "top"}\n'
    text = f'[[ruling]]\n{HEAD}score = "60% +620, 40% -100"\nstate = "confirmed"\n{penalty}'
    found = [one.ruling for one in read_rulings(text, "r.toml", EVENT, PLAIN)]
    setup = setup_of(EVENT)
    after = noted(rescored(EVENT, setup, found), found)
    before = {one.contestant: one for one in rescored(EVENT, setup).entrants}
    assert {one.contestant: one.total for one in EVENT.entrants} == {c: one.total for c, one in before.items()}
    three = next(one for one in after.entrants if one.label == "3" and one.direction == "NS")
    # a quarter of a top of 27 boards is 25/27 of one percent
    assert three.adjustment is not None
    assert three.adjustment.text == "-0.93"
    for read, write in ((read_results_json, write_results_json), (read_usebio, write_usebio)):
        back = read(write(after))
        assert audit_event(back).equal
        line = next(one for one in back.lines if one.line.board == 1 and isinstance(one.line.result, Assigned))
        assert line.line.result == found[0].result
        assert "Law 12C1c: hesitation; bid (A. Nowak)." in line.note


@given(
    st.lists(st.tuples(st.integers(-9999, 9999), st.integers(1, 9)), min_size=1, max_size=5),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_an_assigned_score_is_read_back_among_other_words(
    parts: list[tuple[int, int]], before: str, after: str
) -> None:
    total = sum(weight for _, weight in parts)
    side = tuple(Outcome(score, F(weight, total)) for score, weight in parts)
    result = Assigned(side, Average.PLUS)
    note = adjusted_note(result, 1)
    assert read_adjusted_note(f"{before} {note} {after}") == result
    assert without_adjusted(f"x {note} y") == "x y"


def test_states_of_a_ruling() -> None:
    base = 'score = "AVE+/AVE-"\n'
    appeal = 'appeal = {by = "1EW", agreed = true, minutes = 20}\n'
    assert rulings(base)[0].ruling.state is RulingState.PROPOSED
    for state in ("confirmed", "withdrawn", "changed"):
        assert rulings(f'{base}state = "{state}"')[0].ruling.state == state
    assert rulings(base + appeal)[0].ruling.state is RulingState.APPEALED
    assert rulings(f'{base}{appeal}state = "upheld"')[0].ruling.state is RulingState.UPHELD
    late = 'minutes = 40\napprovals = ["A. Nowak", "The club"]\n'
    assert rulings(base + late)[0].ruling.approvals == ("A. Nowak", "The club")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('score = "60% +620, 50% -100"', "12C1"),
        ('score = "60% +620"', "12C1"),
        ('score = "0% +620, 100% -100"', "weight"),
        ('score = "16% 1, 16% 2, 17% 3, 17% 4, 17% 5, 17% 6"', "1 to 5"),
        ('score = "101%"', "100 percent"),
        ('score = "foo"', "no result"),
        ('score = "1/0 +50"', "weight"),
        ('score = "+620"\nscore_ns = "+100"', "both sides"),
        ('score_ns = "+100"', "score_ns and score_ew"),
        ("", "decides nothing"),
        ('score = "AVE"\nstate = "maybe"', "one of"),
        ('score = "AVE"\nstate = "upheld"', "appeal"),
        ('score = "AVE"\nappeal = {by = "1EW", agreed = true, minutes = 31}', "92B"),
        ('score = "AVE"\nappeal = {by = "1EW", agreed = false, minutes = 3}', "agree"),
        ('score = "AVE"\nminutes = 31', "79C"),
        ('score = "AVE"\nfoo = 1', "no such key"),
        ("score = 3", "text in quotes"),
        ('penalty = {contestant = "77", amount = -1, unit = "top"}', "no contestant"),
        ('penalty = {contestant = "3NS", amount = "x", unit = "top"}', "a number"),
        ('penalty = {contestant = "3NS", amount = -1, unit = "cows"}', "one of"),
        ('penalty = {contestant = "3NS", unit = "top"}', "a number"),
        ('penalty = {contestant = "3", amount = -1, unit = "top"}', "Several"),
    ],
)
def test_what_can_not_be_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(EntryError) as caught:
        rulings(text)
    assert re.search(words, caught.value.what)
    assert caught.value.where.startswith("r.toml, ruling 1")


def test_a_result_that_is_not_there_and_files_that_are_no_rulings() -> None:
    with pytest.raises(EntryError, match="no result of 1NS against 2EW"):
        rulings('score = "AVE"', head=HEAD.replace('"1EW"', '"2EW"'))
    with pytest.raises(EntryError, match="needs a reason"):
        rulings('score = "AVE"', head=HEAD.replace("hesitation; bid", ""))
    with pytest.raises(EntryError, match="no Law"):
        rulings('score = "AVE"', head=HEAD.replace("12C1c", "94"))
    for text in ("", "x = 1", "ruling = 3", "[ruling]\n", "a b"):
        with pytest.raises(EntryError):
            read_rulings(text, "r.toml", EVENT, PLAIN)
    with pytest.raises(EntryError, match="team"):
        read_rulings("", "r.toml", round_robin(), PLAIN)
    with pytest.raises(EntryError, match="same id"):
        rulings('id = "a"\nscore = "AVE"', 'id = "a"\nscore = "AVE"')


def test_the_command_previews_and_applies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, file, out = tmp_path / "a.xml", tmp_path / "r.toml", tmp_path / "b.json"
    source.write_bytes(write_usebio(EVENT))
    file.write_text(f'[[ruling]]\n{HEAD}score = "AVE+/AVE-"\n')
    assert main(["results", "rule", str(source), str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["counting"] == 0
    assert any(one["contestant"] == "1 NS" and one["changed"] for one in told["effects"])
    assert not out.exists()
    assert main(["results", "rule", str(source), str(file), "--out", str(out)]) == 0
    assert read_results_json(out.read_bytes()).entrants[0].total == EVENT.entrants[0].total  # proposed: nothing counts
    file.write_text(f'[[ruling]]\n{HEAD}score = "AVE+/AVE-"\nstate = "confirmed"\n' * 2)
    assert main(["results", "rule", str(source), str(file)]) == 1
    assert "both decide the result" in capsys.readouterr().err
    second = f'[[ruling]]\n{HEAD}score = "AVE-/AVE-"\nstate = "confirmed"\nreplaces = "1"\n'
    file.write_text(f'[[ruling]]\n{HEAD}score = "AVE+/AVE-"\nstate = "confirmed"\n{second}')
    assert main(["results", "rule", str(source), str(file), "--out", str(out)]) == 0
    back = read_results_json(out.read_bytes())
    assert Artificial(Average.MINUS, Average.MINUS) in [one.line.result for one in back.lines]
    assert audit_event(back).equal


def test_sections_apart_or_across_the_field() -> None:
    lines = [replace(line, section=section, ns=replace(line.ns, section=section), ew=replace(line.ew, section=section))
             for section in "AB" for line in mitchell(5, 5, 2, seed=ord(section))]  # fmt: skip
    event = published(lines)
    tops = {
        apart: {field.expected[1] for field in setup_of(event, apart=apart).fields or ()} for apart in (True, False)
    }
    assert tops == {True: {5}, False: {10}}
    report = audit_event(rescored(event, setup_of(event, apart=True)))
    assert report.equal
    assert report.changes == {"fields": "each section apart"}


VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["AVE", "60% +620, 40% -100", "1NS", "1EW", "confirmed", "changed", "12C2", "1/3 p", "4s n 10", "B"]
    ),
    st.integers(-5, 1000),
    st.booleans(),
    st.floats(),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["by", "agreed", "minutes", "contestant", "amount", "unit"]), st.integers(0, 9)),
)
KEYS = [
    *("id", "board", "section", "ns", "ew", "play", "law", "reason", "by", "authority", "edition", "state", "replaces"),
    *("outside_agency", "approvals", "minutes", "score", "score_ns", "score_ew", "form", "penalty", "appeal", "x"),
]


def toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value) if not isinstance(value, float) else str(value)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8), st.booleans())
def test_any_values_are_read_or_refused(values: dict[str, object], whole: bool) -> None:
    good = {"board": 1, "ns": "1NS", "ew": "1EW", "law": "12C1c", "reason": "r", "by": "b", "score": "AVE"}
    table = {**good, **values} if whole else values
    text = "[[ruling]]\n" + "\n".join(f"{key} = {toml(value)}" for key, value in table.items())
    where = "r.toml"
    try:
        read_rulings(text, where, EVENT, PLAIN)
    except EntryError as error:
        where = error.where
    assert where.startswith("r.toml")


def test_a_number_with_a_huge_exponent_is_refused_at_once() -> None:
    for number in ("1e999999999", "1e-999999999", "0." + "1" * 4000):
        with pytest.raises(EntryError, match="no TOML"):
            read_rulings(f"[[ruling]]\nminutes = {number}\n", "r.toml", EVENT, PLAIN)
