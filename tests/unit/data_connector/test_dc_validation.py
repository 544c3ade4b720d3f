"""Our verdict on a message equals that of the official client's validators, on good messages and on broken ones."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import client_events as events
import pytest
from bridgemate_dataconnector import dto, validation
from dc_host import Host, a_client
from hypothesis import given, settings
from hypothesis import strategies as st

from terminals.interop.data_connector import shapes, validate, validate_data

PAIRS: dict[str, tuple[Callable[[Any], bool], shapes.Shape, Callable[[Any], list[str]]]] = {
    "InitDTO": (validation.validate_init_dto, shapes.INIT, validate.init),
    "SessionDTO": (validation.validate_session_dto, shapes.SESSION, validate.session),
    "ScoringGroupDTO": (validation.validate_scoring_group_dto, shapes.GROUP, validate.group),
    "SectionDTO": (validation.validate_section_dto, shapes.SECTION, validate.section),
    "SectionUpdateDTO": (validation.validate_section_update_dto, shapes.SECTION_UPDATE, validate.section_update),
    "TableDTO": (validation.validate_table_dto, shapes.TABLE, validate.table),
    "RoundDTO": (validation.validate_round_dto, shapes.ROUND, validate.round_),
    "PlayerDataDTO": (validation.validate_player_data_dto, shapes.PLAYER, validate_data.player),
    "ParticipationDTO": (validation.validate_participation_dto, shapes.SEAT, validate_data.seat),
    "ResultDTO": (validation.validate_result_dto, shapes.RESULT, validate_data.result),
    "HandrecordDTO": (validation.validate_handrecord_dto, shapes.DEAL, validate_data.deal),
    "TdCallDTO": (validation.validate_td_call_dto, shapes.CALL, validate_data.call),
    "ContinueDTO": (validation.validate_continue_dto, shapes.CONTINUE, validate_data.continue_),
    "Bridgemate2SettingsDTO": (validation.validate_bridgemate2_settings_dto, shapes.BM2, validate_data.bm2),
    "Bridgemate3SettingsDTO": (validation.validate_bridgemate3_settings_dto, shapes.BM3, validate_data.bm3),
}

TEXTS = [None, "", " ", "A", "AA", "AAA", "AAAA", "AB", "a", "A\n", "B", "C", "1", "12", "0000", "1234", "+123", " 12 "]
TEXTS += [
    "12a4",
    "1_34",
    "١٢٣٤",
    events.SESSION,
    events.OTHER,
    events.EVENT,
    events.SESSION.lower(),
    "F" * 31,
    "x" * 32,
]
TEXTS += ["AKQJT98765432", "AKQ", "akq", "AA", "10", "Ł"]
NUMBERS = [-11, -10, -9, -1, 0, 1, 2, 3, 4, 5, 7, 8, 10, 13, 14, 15, 16, 20, 30, 31, 32, 50, 51, 60, 120, 121, 255, 256]


def a_large_event(rng: random.Random) -> dto.InitDTO:
    """A good event with something of everything in it."""
    first = [events.a_section(events.howell_two())]
    if rng.random() < 0.5:
        first.append(events.a_section(events.mitchell(3, 2), "BB", group=2, winners=2))
    if rng.random() < 0.3:
        first.append(events.a_section(events.howell_two(), "C"))
        first[-1].is_combi_section = True
        first[-1].north_south_pair_section_letters = first[0].letters
        first[-1].east_west_pair_section_letters = first[1].letters
    sessions = [events.a_session(first)]
    if rng.random() < 0.4:
        sessions.append(events.a_session([events.a_section(events.howell_two(), "D", events.OTHER, 9)], events.OTHER))
    made = events.an_event(*sessions, commands=rng.choice([7, 135]))
    if rng.random() < 0.7:
        made.player_data = [events.a_player(str(n)) for n in range(1, 9)]
        made.participations = [events.a_seat(t, d, str(4 * t + d - 4)) for t in (1, 2) for d in (1, 2, 3, 4)]
        made.participations[0].player_number, made.participations[0].last_name = None, "Guest"
    if rng.random() < 0.5:
        made.handrecords = [events.a_deal(board) for board in (1, 2)]
    if rng.random() < 0.5:
        made.bridgemate2_settings = [events.bm2(one.letters or "") for one in first]
        made.bridgemate3_settings = [events.bm3(one.letters or "") for one in first]
    return made


def an_update(rng: random.Random) -> dto.SectionUpdateDTO:
    section = events.a_section(events.howell_two())
    made = dto.SectionUpdateDTO(scoring_group_scoring_method=10)
    for field in dataclasses.fields(section):
        setattr(made, field.name, getattr(section, field.name))
    if rng.random() < 0.5:
        made.participations = [events.a_seat(1, 1, "7")]
        made.has_explicit_participations = rng.random() < 0.5
    return made


def a_message(kind: str, rng: random.Random) -> Any:
    """A good message of a kind."""
    makers: dict[str, Callable[[], Any]] = {
        "SectionUpdateDTO": lambda: an_update(rng),
        "ContinueDTO": lambda: dto.ContinueDTO(event_guid=events.EVENT, commands=rng.choice([0, 1, 5, 133])),
        "ResultDTO": lambda: events.a_result(1, 1, 1, 1, 2, lead_card_rank=14, lead_card_suit=1),
        "TdCallDTO": lambda: dto.TdCallDTO(events.SESSION, "A", 1, 1, 20, 15, 1),
        "HandrecordDTO": lambda: events.a_deal(3),
        "Bridgemate2SettingsDTO": events.bm2,
        "Bridgemate3SettingsDTO": events.bm3,
        "PlayerDataDTO": lambda: events.a_player("7"),
        "ParticipationDTO": lambda: events.a_seat(1, 1, "7"),
        "InitDTO": lambda: a_large_event(rng),
        "SessionDTO": lambda: a_large_event(rng).sessions[0],
        "ScoringGroupDTO": lambda: events.a_session([events.a_section(events.howell_two())]).scoring_groups[0],
        "SectionDTO": lambda: events.a_section(events.mitchell(3, 2)),
        "TableDTO": lambda: events.a_section(events.howell_two()).tables[0],
        "RoundDTO": lambda: events.a_round(1, 1, 1, 2, 1, 2),
    }
    return makers[kind]()


def all_parts(message: Any) -> list[Any]:
    """A message and every message inside it."""
    out = [message]
    for field in dataclasses.fields(message):
        value = getattr(message, field.name)
        for one in value if isinstance(value, list) else []:
            if dataclasses.is_dataclass(one):
                out += all_parts(one)
    return out


def break_something(message: Any, rng: random.Random) -> None:
    """Change one field somewhere, often to something impossible."""
    part = rng.choice(all_parts(message))
    names = [
        f.name for f in dataclasses.fields(part) if f.name not in ("validation_messages", "alternative_data_folder")
    ]
    name = rng.choice(names)
    value = getattr(part, name)
    if isinstance(value, bool):
        setattr(part, name, not value)
    elif isinstance(value, dto.TableDirection):
        setattr(part, name, dto.TableDirection(rng.randrange(5)))
    elif isinstance(value, int) and type(value) is int:
        setattr(part, name, rng.choice([*NUMBERS, value + 1]))
    elif isinstance(value, list):
        choice = rng.randrange(4)
        if choice == 0:
            setattr(part, name, rng.choice([None, []]))
        elif choice == 1 and value:
            value.append(rng.choice(value))
        elif choice == 2 and value:
            value.pop(rng.randrange(len(value)))
        else:
            rng.shuffle(value)
    elif value is None or isinstance(value, str):
        lists = ("sections", "tables", "rounds", "sessions", "scoring_groups", "participations", "player_data")
        if name not in (*lists, "handrecords", "bridgemate2_settings", "bridgemate3_settings", "added_players"):
            setattr(part, name, rng.choice(TEXTS))


@pytest.mark.parametrize("kind", sorted(PAIRS))
def test_good_messages_are_good_for_both(kind: str) -> None:
    theirs, shape, ours = PAIRS[kind]
    for seed in range(12):
        message = a_message(kind, random.Random(seed))
        if kind == "SectionUpdateDTO" and message.has_explicit_participations and not message.participations:
            continue
        assert ours(shapes.read(shape, message.to_dict())) == []
        assert theirs(message)


@pytest.mark.parametrize("kind", sorted(PAIRS))
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 3))
def test_broken_messages_get_the_same_verdict(kind: str, seed: int, changes: int) -> None:
    theirs, shape, ours = PAIRS[kind]
    rng = random.Random(seed)
    message = a_message(kind, rng)
    for _ in range(changes):
        break_something(message, rng)
    found = ours(shapes.read(shape, message.to_dict()))
    expected = theirs(message)
    assert (not found) == expected, (found, message.validation_messages)


def test_the_comparison_sees_many_good_and_many_broken_messages() -> None:
    """Without both kinds in number the comparison above would prove little."""
    for kind, (theirs, _, _) in PAIRS.items():
        verdicts = []
        for seed in range(200):
            rng = random.Random(seed)
            message = a_message(kind, rng)
            break_something(message, rng)
            verdicts.append(theirs(message))
        assert 3 <= sum(verdicts) <= 197, kind


def test_a_session_to_be_added_names_its_event() -> None:
    for event in (None, "", events.EVENT):
        message = events.a_session([events.a_section(events.howell_two())], event=event)
        found = validate.session(shapes.read(shapes.SESSION, message.to_dict()), adding=True)
        assert (not found) == validation.validate_session_dto(message, for_adding=True)


def test_no_message_about_a_deal_names_a_card() -> None:
    made = events.a_deal(1)
    made.north_clubs = "AK1"
    for field in ("AK1", "AKQJT9876543"):
        made.north_clubs = field
        found = validate_data.deal(shapes.read(shapes.DEAL, made.to_dict()))
        assert found
        assert not any(word in line for line in found for word in ("AK", "QJT"))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), changes=st.integers(0, 3))
def test_an_event_is_begun_exactly_when_the_client_calls_it_valid(seed: int, changes: int) -> None:
    """Not the rules alone: what they let through becomes an event that can be played, and is read again from disk."""
    rng = random.Random(seed)
    message = a_large_event(rng)
    for _ in range(changes):
        break_something(message, rng)
    expected = validation.validate_init_dto(message)
    with tempfile.TemporaryDirectory() as name:
        host = Host(Path(name) / "events.db")
        answer = a_client(host).initialize(message)
        assert (int(answer.data_type) != 4) == expected, answer.serialized_data
        assert host.has_event == expected
        if expected:
            letters = {one.letters.strip() for each in message.sessions for one in _sections(each)}
            assert {section.letter for section in host.setup.sections} == letters
        host.database.close()


def _sections(session: dto.SessionDTO) -> list[dto.SectionDTO]:
    return [one for group in session.scoring_groups or () for one in group.sections or ()]
