"""Scoring profiles and victory-point scales as files: read, checked, written, shipped with the program.

A profile is TOML. Each setting is ``name = { value = ..., source = "..." }``; a setting that is left out keeps the
plain value and is marked as the club's choice. Unknown keys and impossible values are refused with their key. Numbers
are exact: ``0.25``, ``"1/4"`` and ``"0.25"`` are the same.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.filecheck import not_regular
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import (
    CLUBS_CHOICE,
    ButlerDatum,
    CrossImpMode,
    ImpRanking,
    Profile,
    SingleScore,
    SmallGroups,
    Ties,
    VpScale,
    Window,
)
from terminals.scoring.rounding import Rounding
from terminals.scoring.vp import VpTable

MAX_PROFILE_BYTES = 64 * 1024
RULESETS = ("laws-1997", "laws-2007", "laws-2017")
PROFILE_NAMES = ("wbf", "ebu", "acbl", "pzbs", "plain")

Check = Callable[[object], Any]


def _whole(low: int, high: int) -> Check:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high} is wanted")
        return value

    return check


def _exact(low: int, high: int) -> Check:
    def check(value: object) -> Fraction:
        if isinstance(value, bool) or not isinstance(value, (int, str, Fraction)):
            raise ValueError("a number is wanted")
        if isinstance(value, str) and len(value) > 20:
            raise ValueError("a number of at most 20 characters is wanted")
        try:
            found = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError("a number is wanted, for example 0.25 or 1/4") from None
        if not low <= found <= high:
            raise ValueError(f"a number from {low} to {high} is wanted")
        return found

    return check


def _unit(value: object) -> Fraction | None:
    if value == "exact":
        return None
    found: Fraction = _exact(0, 10)(value)
    if not found:
        raise ValueError('a unit above 0 is wanted, or "exact"')
    return found


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is wanted")
    return value


def _word(kind: type[StrEnum]) -> Check:
    def check(value: object) -> StrEnum:
        try:
            return kind(str(value))
        except ValueError:
            raise ValueError(f"one of {', '.join(kind)} is wanted") from None

    return check


# section: {key in the file: (field of Profile, check)}
SETTINGS: dict[str, dict[str, tuple[str, Check]]] = {
    "matchpoints": {
        "scale": ("matchpoint_scale", _whole(1, 2)),
        "unequal": ("unequal", _word(Unequal)),
        "board_unit": ("board_unit", _unit),
        "board_half_away": ("board_half_away", _flag),
    },
    "fouled": {
        "single_score": ("single_score", _word(SingleScore)),
        "small_groups": ("small_groups", _word(SmallGroups)),
        "small_group_max": ("small_group_max", _whole(2, 3)),
        "small_group_field": ("small_group_field", _whole(1, 100)),
    },
    "artificial": {
        "average_plus": ("average_plus", _exact(50, 100)),
        "average": ("average", _exact(0, 100)),
        "average_minus": ("average_minus", _exact(0, 50)),
        "average_plus_imps": ("average_plus_imps", _exact(0, 24)),
        "average_minus_imps": ("average_minus_imps", _exact(-24, 0)),
        "session_percentage": ("session_percentage", _flag),
        "percentage_window": ("percentage_window", _word(Window)),
        "factor_artificial": ("factor_artificial", _flag),
    },
    "imps": {
        "butler_datum": ("butler_datum", _word(ButlerDatum)),
        "butler_drop": ("butler_drop", _whole(0, 10)),
        "butler_drop_min": ("butler_drop_min", _whole(1, 1000)),
        "butler_unit": ("butler_unit", _whole(0, 100)),
        "cross_imp_mode": ("cross_imp_mode", _word(CrossImpMode)),
        "ranking": ("imp_ranking", _word(ImpRanking)),
        "decimals": ("imp_decimals", _whole(0, 6)),
        "weighted_unit": ("weighted_imp_unit", _unit),
    },
    "victory_points": {
        "scale": ("vp_scale", _word(VpScale)),
        "bye": ("bye_vp", _exact(0, 100)),
    },
    "ranking": {
        "decimals": ("percent_decimals", _whole(0, 6)),
        "rounding": ("rounding", _word(Rounding)),
        "ties": ("ties", _word(Ties)),
    },
    "director": {
        "penalty_top_fraction": ("penalty_top_fraction", _exact(0, 2)),
        "penalty_vp": ("penalty_vp", _exact(0, 20)),
        "correction_minutes": ("correction_minutes", _whole(0, 20160)),
        "appeal_minutes": ("appeal_minutes", _whole(0, 20160)),
    },
}


def _refuse(key: str, why: str, where: str) -> EntryError:
    return EntryError(
        f"{key}: {why}.", where=where, next_step="Correct this key of the scoring profile.", code="bad-profile"
    )


def profile_from_dict(data: Mapping[str, object], where: str = "scoring profile") -> Profile:
    """A profile from the tables of its file. Raises EntryError that names the key."""
    head = data.get("profile")
    if not isinstance(head, Mapping):
        raise _refuse("profile", "the table [profile] with name and version is missing", where)
    for key in head:
        if key not in ("name", "version", "title", "ruleset"):
            raise _refuse(f"profile.{key}", "there is no such key", where)
    name, title = head.get("name"), head.get("title", "")
    if not isinstance(name, str) or not 1 <= len(name) <= 40 or not name.replace("-", "").isalnum():
        raise _refuse("profile.name", "a word of up to 40 letters and digits is wanted", where)
    if not isinstance(title, str) or len(title) > 200:
        raise _refuse("profile.title", "a text of up to 200 characters is wanted", where)
    ruleset = head.get("ruleset", "laws-2007")
    if ruleset not in RULESETS:
        raise _refuse("profile.ruleset", f"one of {', '.join(RULESETS)} is wanted", where)
    try:
        version = _whole(1, 10**6)(head.get("version"))
    except ValueError as error:
        raise _refuse("profile.version", str(error), where) from None
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for section, table in data.items():
        if section == "profile":
            continue
        known = SETTINGS.get(section)
        if known is None or not isinstance(table, Mapping):
            raise _refuse(section, "there is no such table", where)
        for key, entry in table.items():
            full = f"{section}.{key}"
            if key not in known:
                raise _refuse(full, "there is no such setting", where)
            field, check = known[key]
            values[field], source = _setting(full, entry, check, where)
            if source:
                sources[field] = source
    profile = replace(Profile(), name=name, version=version, title=title, ruleset=str(ruleset), **values)
    return replace(profile, sources=tuple(sorted(sources.items())))


def _setting(full: str, entry: object, check: Check, where: str) -> tuple[object, str]:
    if not isinstance(entry, Mapping) or "value" not in entry or set(entry) - {"value", "source"}:
        raise _refuse(full, 'write { value = ..., source = "..." }', where)
    source = entry.get("source", "")
    if not isinstance(source, str) or len(source) > 300:
        raise _refuse(f"{full}.source", "a text of up to 300 characters is wanted", where)
    try:
        return check(entry["value"]), "" if source == CLUBS_CHOICE else source
    except ValueError as error:
        raise _refuse(full, str(error), where) from None


def _exact_number(text: str) -> Fraction:
    """A decimal number as it is written; one with a huge exponent would fill the memory."""
    if len(text) > 60 or abs(int(text.lower().partition("e")[2] or 0)) > 60:
        raise ValueError("a number is too long")
    return Fraction(text)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """TOML with exact numbers. Raises EntryError (exit status 2) for what is no TOML."""
    try:
        return tomllib.loads(text, parse_float=_exact_number)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise EntryError(
            f"This is no TOML file: {error}.", where=where, code="unparsable", exit_status=ExitStatus.USAGE
        ) from None


def read_text(path: Path, limit: int = MAX_PROFILE_BYTES) -> str:
    """A small UTF-8 text file. Raises EntryError (exit status 2) when it is missing, too large or no text."""
    wrong = not_regular(path)
    if wrong:
        raise EntryError(
            f"This is {wrong}, not a file.", where=str(path), code="not-a-file", exit_status=ExitStatus.USAGE
        )
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise EntryError(
                f"The file has more than {limit} bytes.",
                where=str(path),
                code="too-large",
                exit_status=ExitStatus.USAGE,
            )
        return data.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "it can't be read"
        raise EntryError(
            f"The file can't be read: {reason}.", where=str(path), code="unreadable", exit_status=ExitStatus.USAGE
        ) from None
    except UnicodeDecodeError:
        raise EntryError(
            "The file is no UTF-8 text.", where=str(path), code="unparsable", exit_status=ExitStatus.USAGE
        ) from None


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or one from a TOML file by path. Raises EntryError."""
    if name in PROFILE_NAMES:
        text = resources.files("terminals.scoring").joinpath("profiles", f"{name}.toml").read_text(encoding="utf-8")
        return profile_from_dict(parse_toml(text, f"profile {name}"), f"profile {name}")
    if not name.endswith(".toml"):
        raise EntryError(
            f"There is no scoring profile {name[:40]!r}.",
            next_step=f"Use one of {', '.join(PROFILE_NAMES)}, or the path of a .toml file.",
            code="no-profile",
            exit_status=ExitStatus.USAGE,
        )
    return profile_from_dict(parse_toml(read_text(Path(name)), name), name)


def profile_as_dict(profile: Profile) -> dict[str, object]:
    """The tables of a profile's file with every setting and its source; values are JSON values, fractions as text."""
    head = {
        "name": profile.name,
        "version": profile.version,
        "title": profile.title,
        "ruleset": profile.ruleset,
    }
    out: dict[str, object] = {"profile": head}
    for section, settings in SETTINGS.items():
        out[section] = {
            key: {"value": _plain(getattr(profile, field)), "source": profile.source(field)}
            for key, (field, _) in settings.items()
        }
    return out


def _plain(value: object) -> object:
    if value is None:
        return "exact"
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, StrEnum):
        return value.value
    return value


def profile_to_json(profile: Profile) -> str:
    """The form in which a profile is stored with its event; ``profile_from_json`` reads it back unchanged."""
    return json.dumps(profile_as_dict(profile), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def profile_from_json(text: str) -> Profile:
    """Raises EntryError for anything that ``profile_to_json`` can't have written."""
    try:
        data = json.loads(text) if len(text) <= MAX_PROFILE_BYTES else None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise EntryError("The stored scoring profile is no JSON object.", code="bad-profile")
    return profile_from_dict(data, "stored scoring profile")


def setting_fields() -> set[str]:
    """Names of all profile fields that a file can set; used to prove that none was forgotten."""
    every = {one.name for one in fields(Profile)}
    return every - {"name", "version", "title", "ruleset", "sources"}


def load_vp_table(path: Path) -> VpTable:
    """A victory-point scale from a TOML file.

    ``name``, optional ``boards``, and ``[[row]]`` entries with ``from``, ``to`` (left out: no limit), ``winner`` and
    ``loser`` (exact numbers). Margins of 0 or more, rows in order and without overlap; gaps are allowed and refused on
    use. Raises EntryError that names the row.
    """
    where = str(path)
    data = parse_toml(read_text(path), where)
    for key in data:
        if key not in ("name", "boards", "source", "row"):
            raise EntryError(f"{key[:40]}: there is no such key.", where=where, code="bad-scale")
    name, boards, entries = data.get("name"), data.get("boards"), data.get("row")
    if not isinstance(name, str) or not isinstance(entries, list) or not 1 <= len(entries) <= 1000:
        raise EntryError("A scale has a name and from 1 to 1000 rows.", where=where, code="bad-scale")
    if boards is not None and (isinstance(boards, bool) or not isinstance(boards, int) or not 1 <= boards <= 1000):
        raise EntryError("boards: a whole number from 1 to 1000 is wanted.", where=where, code="bad-scale")
    rows: list[tuple[int, int | None, Fraction, Fraction]] = []
    last: int | None = -1
    for number, entry in enumerate(entries, start=1):
        at = f"{where}, row {number}"
        try:
            if not isinstance(entry, dict) or set(entry) - {"from", "to", "winner", "loser"}:
                raise ValueError("from, to, winner and loser are wanted")
            low = _whole(0, 20000)(entry.get("from"))
            high = None if "to" not in entry else _whole(low, 20000)(entry["to"])
            winner, loser = _exact(0, 1000)(entry.get("winner")), _exact(-1000, 1000)(entry.get("loser"))
            if last is None or low <= last:
                raise ValueError("the rows overlap or are out of order")
            if loser > winner:
                raise ValueError("the loser gets more than the winner")
        except ValueError as error:
            raise EntryError(f"{error}.", where=at, code="bad-scale") from None
        rows.append((low, high, winner, loser))
        last = high
    return VpTable(name[:80], tuple(rows), boards)
