"""Events of a scoring program, built with the official client's own classes; helpers of the Data Connector's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

client = pytest.importorskip("bridgemate_dataconnector", reason="needs bridgemate-dataconnector-client")
from bridgemate_dataconnector import dto  # noqa: E402

EVENT = "E" * 32
SESSION = "A1B2C3D4E5F60718293A4B5C6D7E8F90"
OTHER = "B1B2C3D4E5F60718293A4B5C6D7E8F90"


def guid(number: int) -> str:
    return f"{number:032X}"


def a_round(
    table: int, number: int, ns: int, ew: int, low: int, high: int, letters: str = "A", session: str = SESSION
) -> dto.RoundDTO:
    return dto.RoundDTO(
        session_guid=session,
        section_letters=letters,
        table_number=table,
        round_number=number,
        pair_ns=ns,
        pair_ew=ew,
        low_board_number=low,
        high_board_number=high,
    )


def a_table(
    number: int, rounds: Sequence[tuple[int, int, int, int]], letters: str = "A", session: str = SESSION
) -> dto.TableDTO:
    """rounds: (ns, ew, low board, high board), from round 1."""
    made = [a_round(number, r, *one, letters, session) for r, one in enumerate(rounds, start=1)]
    return dto.TableDTO(session_guid=session, section_letters=letters, table_number=number, rounds=made)


def howell_two() -> list[list[tuple[int, int, int, int]]]:
    """Two tables, three rounds, four pairs that all meet; two boards a round."""
    return [[(1, 2, 1, 2), (1, 3, 3, 4), (1, 4, 5, 6)], [(3, 4, 1, 2), (4, 2, 3, 4), (2, 3, 5, 6)]]


def mitchell(tables: int, boards: int, overlap: bool = False, sit_out: bool = False) -> list[list[tuple[int, ...]]]:
    """North-South stay, East-West move up; ``overlap``: both sides are numbered from 1."""
    out = []
    for table in range(1, tables + 1):
        rounds = []
        for number in range(1, tables + 1):
            ew = (table - number) % tables + 1
            block = (table + number - 2) % tables
            here = (table, ew if overlap else tables + ew)
            if sit_out and ew == tables:
                rounds.append((here[0], 0, 0, 0))
            else:
                rounds.append((*here, block * boards + 1, block * boards + boards))
        out.append(rounds)
    return out


def a_section(
    tables: Sequence[Sequence[tuple[int, ...]]],
    letters: str = "A",
    session: str = SESSION,
    group: int = 1,
    winners: int = 1,
    game: int = 10,
) -> dto.SectionDTO:
    made = [a_table(n, rounds, letters, session) for n, rounds in enumerate(tables, start=1)]  # type: ignore[arg-type]
    return dto.SectionDTO(
        session_guid=session,
        scoring_group_number=group,
        letters=letters,
        name=f"Section {letters}",
        winners=winners,
        game_type=game,
        tables=made,
    )


def a_session(
    sections: Sequence[dto.SectionDTO], session: str = SESSION, event: str | None = EVENT, method: int = 10
) -> dto.SessionDTO:
    """One scoring group for each group number that the sections name."""
    groups = []
    for number in sorted({one.scoring_group_number for one in sections}):
        inside = [one for one in sections if one.scoring_group_number == number]
        groups.append(
            dto.ScoringGroupDTO(
                session_guid=session, scoring_group_number=number, scoring_method=method, name="G", sections=inside
            )
        )
    return dto.SessionDTO(
        session_guid=session,
        event_guid=event,
        name="Tuesday Łódź",
        year=2026,
        month=11,
        day=29,
        hour=19,
        minute=10,
        scoring_groups=groups,
    )


def a_player(number: str, session: str = SESSION, last: str = "Żółć", first: str = "Ana") -> dto.PlayerDataDTO:
    return dto.PlayerDataDTO(session_guid=session, player_number=number, first_name=first, last_name=last)


def a_seat(table: int, direction: int, number: str | None, **changes: Any) -> dto.ParticipationDTO:
    made = dto.ParticipationDTO(
        session_guid=SESSION,
        section_letters="A",
        table_number=table,
        direction=dto.TableDirection(direction),
        round_number=1,
        player_number=number,
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def a_deal(board: int, letters: str = "A", session: str = SESSION) -> dto.HandrecordDTO:
    """Every player has one whole suit, turned by the board's number."""
    made = dto.HandrecordDTO(session_guid=session, section_letters=letters, board_number=board, scoring_group_number=1)
    suits = ["clubs", "diamonds", "hearts", "spades"]
    for index, seat in enumerate(["north", "east", "south", "west"]):
        for place, suit in enumerate(suits):
            setattr(made, f"{seat}_{suit}", "AKQJT98765432" if (index + board) % 4 == place else "")
    return made


def bm2(letters: str = "A", pin: str = "1234", session: str = SESSION, **changes: Any) -> dto.Bridgemate2SettingsDTO:
    made = dto.Bridgemate2SettingsDTO(session_guid=session, section_letters=letters, bm2_pi_ncode=pin)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def bm3(letters: str = "A", pin: str = "1234", session: str = SESSION) -> dto.Bridgemate3SettingsDTO:
    return dto.Bridgemate3SettingsDTO(
        session_guid=session, section_letters=letters, bm3_pi_ncode=pin, bm3_screen_brightness=5
    )


def an_event(*sessions: dto.SessionDTO, commands: int = 7, event: str = EVENT, **parts: Any) -> dto.InitDTO:
    return dto.InitDTO(
        commands=commands,
        event_guid=event,
        sessions=list(sessions) or [a_session([a_section(howell_two())])],
        **parts,
    )


def a_result(table: int, round: int, board: int, ns: int, ew: int, **changes: Any) -> dto.ResultDTO:
    """Three notrump by North, nine tricks."""
    made = dto.ResultDTO(
        session_guid=SESSION,
        section_letters="A",
        table_number=table,
        round_number=round,
        board_number=board,
        scoring_direction=3,
        pair_north_south=ns,
        pair_east_west=ew,
        declaring_pair=ns,
        declarer_direction=1,
        level=3,
        denomination=5,
        total_tricks=9,
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made
