"""Results as JSON: everything an ``ExchangeEvent`` has, one object, numbers as text so that nothing is rounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError, ExitStatus
from terminals.contract import Contract
from terminals.interop.adjusted_note import adjusted_note, read_adjusted_note
from terminals.interop.exchange import (
    MAX_LINES,
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangeMatch,
    ExchangePlayer,
    MatchBoard,
    Published,
)
from terminals.interop.recorded_json import recorded_as_dict, recorded_from_dict
from terminals.interop.several import only_event
from terminals.interop.tokens import read_card, read_number
from terminals.interop.usebio_words import iso_date
from terminals.result import (
    Artificial,
    ArtificialSide,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotEntered,
    NotPlayed,
    PassedOut,
    Played,
    SitOut,
)
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, LineKey, ResultLine
from terminals.scoring.teams import TeamMethod
from terminals.table_record import Recorded

FORMAT = "firmware-bridge-results"
VERSION = 1


def state_as_dict(state: BoardState, board: int, vulnerability: Vulnerability | None = None) -> dict[str, Any]:
    """A board's state as JSON: ``state`` names it, the other keys belong to it. vulnerability: see ``exact_note``."""
    if isinstance(state, Played):
        out: dict[str, Any] = {
            "state": "played",
            "contract": state.contract.text,
            "declarer": state.contract.declarer.letter,
            "tricks": state.tricks,
        }
        if state.lead is not None:
            out["lead"] = "SHDC"[state.lead // 13] + "AKQJT98765432"[state.lead % 13]
        return out
    if isinstance(state, PassedOut):
        return {"state": "passed-out"}
    if isinstance(state, Artificial):
        return {"state": "artificial", "ns": _artificial(state.ns), "ew": _artificial(state.ew)}
    if isinstance(state, Assigned):
        return {"state": "assigned", "ruling": adjusted_note(state, board, vulnerability)}
    if isinstance(state, NotPlayed):
        return {"state": "not-played", "reason": state.reason.value, "note": state.note}
    return {"state": "sit-out" if isinstance(state, SitOut) else "not-entered"}


def _artificial(side: ArtificialSide) -> dict[str, str]:
    if isinstance(side, Average):
        return {"average": side.value}
    out = {"percent": str(side.percent)}
    if side.imps is not None:
        out["imps"] = str(side.imps)
    return out


def state_from_dict(data: Mapping[str, Any]) -> BoardState:
    """Inverse of ``state_as_dict``. Raises EntryError."""
    kind = data.get("state")
    try:
        if kind == "played":
            contract = Contract.parse(f"{data['contract']} {data['declarer']}")
            return Played(contract, data["tricks"], read_card(data["lead"]) if "lead" in data else None)
        if kind == "passed-out":
            return PassedOut()
        if kind == "artificial":
            return Artificial(_side(data["ns"]), _side(data["ew"]))
        if kind == "assigned":
            found = read_adjusted_note(data["ruling"])
            if found is None:
                raise EntryError("An assigned score can't be read.", code="bad-result")
            return Assigned(found.ns, found.ew)
        if kind == "not-played":
            return NotPlayed(data.get("reason", "other"), data.get("note", ""))
        if kind == "sit-out":
            return SitOut()
        if kind == "not-entered":
            return NotEntered()
    except (KeyError, TypeError, ValueError, AttributeError):
        raise EntryError(f"A result of the kind {str(kind)[:16]!r} is not complete.", code="bad-result") from None
    raise EntryError(f"There is no kind of result {str(kind)[:16]!r}.", code="bad-result")


def _side(data: Mapping[str, str]) -> ArtificialSide:

    if "average" in data:
        return Average(data["average"])
    return FixedPercent(Fraction(data["percent"]), Fraction(data["imps"]) if "imps" in data else None)


def _who(contestant: Contestant) -> dict[str, Any]:
    return {"section": contestant.section, "number": contestant.number, "direction": contestant.direction}


def _recorded_line(one: ExchangeLine) -> dict[str, Any]:
    """The line with its auction and its cards, which are told once: a line of a match is also one of the results."""
    return _line(one) | ({} if one.recorded is None else recorded_as_dict(one.recorded))


def _line(one: ExchangeLine) -> dict[str, Any]:
    line = one.line
    out: dict[str, Any] = {
        "board": line.board,
        "section": line.section,
        "ns": _who(line.ns),
        "ew": _who(line.ew),
        "play": line.play,
        "result": state_as_dict(line.result, line.board, line.vulnerability),
        "score": one.score,
        "ns_points": None if one.ns_points is None else one.ns_points.text,
        "ew_points": None if one.ew_points is None else one.ew_points.text,
    }
    if line.form:
        out["form"] = line.form
    if line.vulnerability is not None:
        out["vulnerable"] = line.vulnerability.pbn
    if line.ns_players:
        out["ns_players"] = [_who(player) for player in line.ns_players]
        out["ew_players"] = [_who(player) for player in line.ew_players]
    if one.note:
        out["remark"] = one.note
    return out


def write_results_json(event: ExchangeEvent, *others: ExchangeEvent) -> bytes:
    """The event as one JSON object, UTF-8, with a line end.

    others: what was played beside it, such as pairs beside teams; the object then has a list ``events`` in place of the
    keys of one event.
    """
    every = [_event_data(one) for one in (event, *others)]
    data = {"format": FORMAT, "version": VERSION, **(every[0] if not others else {"events": every})}
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode()


def _event_data(event: ExchangeEvent) -> dict[str, Any]:
    return {
        "title": event.title,
        "date": event.date,
        "club": event.club,
        "club_id": event.club_id,
        "program": event.program,
        "program_version": event.program_version,
        "kind": event.kind.value,
        "method": event.method.value,
        "team_method": event.team_method.value,
        "match_scoring": event.match_scoring,
        "winners": event.winners,
        "entrants": [
            {
                **_who(one.contestant),
                "label": one.label,
                "side": one.direction,
                "name": one.name,
                "players": [
                    {"name": player.name, "national_id": player.national_id, "club_id": player.club_id}
                    for player in one.players
                ],
                "total": None if one.total is None else one.total.text,
                "place": one.place,
                "boards": one.boards,
                "adjustment": None if one.adjustment is None else one.adjustment.text,
                "master_points": None if one.master_points is None else one.master_points.text,
                **({"in_vps": True} if one.in_vps else {}),
            }
            for one in event.entrants
        ],
        "results": [_recorded_line(one) for one in event.lines],
        "matches": [_match(one) for one in event.matches],
    }


def _match(match: ExchangeMatch) -> dict[str, Any]:
    return {
        "round": match.round,
        "team": _who(match.team),
        "opponent": _who(match.opponent),
        "team_score": None if match.team_score is None else match.team_score.text,
        "opposing_score": None if match.opposing_score is None else match.opposing_score.text,
        "boards": [
            {
                "board": one.board,
                "points": None if one.points is None else one.points.text,
                "north_south": None if one.north_south is None else _line(one.north_south),
                "east_west": None if one.east_west is None else _line(one.east_west),
            }
            for one in match.boards
        ],
    }


def read_results_json(data: bytes, where: str = "") -> ExchangeEvent:
    """The only event. Raises EntryError as ``read_results_json_events`` does, and for several events."""
    return only_event(read_results_json_events(data, where), where)


def read_results_json_events(data: bytes, where: str = "") -> list[ExchangeEvent]:
    """Every event. Raises EntryError: exit status 2 for what is no such JSON, 1 for a result that can't be."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        root = None
    if not isinstance(root, dict) or root.get("format") != FORMAT or root.get("version") != VERSION:
        raise EntryError(
            f"This is no JSON of the format {FORMAT}, version {VERSION}.",
            where=where,
            code="unparsable",
            exit_status=ExitStatus.USAGE,
        )
    try:
        every = root.get("events", [root])
        if not every or not isinstance(every, list):
            raise TypeError("events")
        if sum(len(one["results"]) for one in every) > MAX_LINES:
            raise EntryError(f"The file has more than {MAX_LINES} results.", where=where, code="too-large")
        return [_event(one, where) for one in every]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EntryError(
            f"The result file is not complete: {type(error).__name__} at {str(error)[:60]}.",
            where=where,
            code="bad-result",
        ) from None


def _contestant(data: Mapping[str, Any]) -> Contestant:
    number = data["number"]
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError("number")
    return Contestant(str(data["section"]), number, str(data["direction"]))


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("players")
    return value


def _whole(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError("boards")
    return value


def _number(text: str | None) -> Published | None:
    return None if text is None else read_number(text)


def _read_line(data: Mapping[str, Any], where: str) -> ExchangeLine:
    try:
        line = ResultLine(
            data["board"],
            _contestant(data["ns"]),
            _contestant(data["ew"]),
            state_from_dict(data["result"]),
            str(data["section"]),
            str(data.get("form", "")),
            None if "vulnerable" not in data else Vulnerability[data["vulnerable"].upper()],
            int(data["play"]),
            tuple(_contestant(one) for one in data.get("ns_players", ())),
            tuple(_contestant(one) for one in data.get("ew_players", ())),
        )
        recorded = recorded_from_dict(data)
    except EntryError as error:
        raise EntryError(error.what, where=f"{where}, board {str(data.get('board'))[:6]}", code=error.code) from None
    score = data["score"]
    if score is not None and (isinstance(score, bool) or not isinstance(score, int)):
        raise TypeError("score")
    return ExchangeLine(
        line,
        score,
        _number(data["ns_points"]),
        _number(data["ew_points"]),
        str(data["result"].get("contract", "")),
        str(data.get("remark", "")),
        f"board {line.board}",
        recorded=recorded,
    )


def _event(root: Mapping[str, Any], where: str) -> ExchangeEvent:
    results = root["results"]
    in_vps = root["match_scoring"] in ("VPS", "VP") and root["kind"] != "teams"
    lines = tuple(_read_line(one, where) for one in results)
    told = {one.line.key: one.recorded for one in lines if one.recorded is not None}
    in_vps = in_vps and not any(one.get("in_vps") for one in root["entrants"])
    return ExchangeEvent(
        title=str(root["title"]),
        date=iso_date(str(root["date"])),
        club=str(root["club"]),
        club_id=str(root["club_id"]),
        program=str(root["program"]),
        program_version=str(root["program_version"]),
        kind=EventKind(root["kind"]),
        method=Method(root["method"]),
        team_method=TeamMethod(root["team_method"]),
        match_scoring=str(root["match_scoring"]),
        winners=int(root["winners"]),
        entrants=tuple(_entrant(one, in_vps) for one in root["entrants"]),
        lines=lines,
        matches=tuple(_read_match(one, where, told) for one in root["matches"]),
    )


def _entrant(data: Mapping[str, Any], in_vps: bool) -> Entrant:
    """in_vps: what a file says of all its pairs that says nothing of each."""
    return Entrant(
        _contestant(data),
        str(data["label"]),
        tuple(
            ExchangePlayer(*(_word(one[key]) for key in ("name", "national_id", "club_id"))) for one in data["players"]
        ),
        direction=str(data["side"]),
        section=str(data["section"]),
        total=_number(data["total"]),
        place=str(data["place"]),
        boards=_whole(data["boards"]),
        adjustment=_number(data["adjustment"]),
        master_points=_number(data["master_points"]),
        name=str(data["name"]),
        in_vps=bool(data.get("in_vps", in_vps)),
    )


def _read_match(data: Mapping[str, Any], where: str, told: Mapping[LineKey, Recorded]) -> ExchangeMatch:
    """told: what tables recorded, which the results have and the matches have not."""

    def room(one: Mapping[str, Any] | None) -> ExchangeLine | None:
        if one is None:
            return None
        line = _read_line(one, where)
        return replace(line, recorded=told.get(line.line.key))

    return ExchangeMatch(
        int(data["round"]),
        _contestant(data["team"]),
        _contestant(data["opponent"]),
        tuple(
            MatchBoard(one["board"], room(one["north_south"]), room(one["east_west"]), _number(one["points"]))
            for one in data["boards"]
        ),
        _number(data["team_score"]),
        _number(data["opposing_score"]),
    )
