"""Our own schema of USEBIO 1.2: what the files that we write must look like. Written from files in use, not from a DTD.

A table of elements: for each its children with least and most occurrences, the form of its text, its attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

MANY = 1_000_000
MAX_TEXT, MAX_TEAM_NAME = 500, 200


@dataclass(frozen=True, slots=True)
class Rule:
    """children: tag -> (least, most). text: pattern of the whole text, None for an element without text."""

    children: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    text: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


_ANY = Rule(text=rf"[^\x00-\x1f]{{0,{MAX_TEXT}}}")
_WHOLE = Rule(text=r"\d{1,7}")
_NUMBER = Rule(text=r"-?\d{1,9}(\.\d{1,6})?")
_LABEL = Rule(text=r"[A-Za-z0-9-]{1,16}")
_POINTS = ("MATCH_POINTS", "CROSS_IMP_POINTS", "BUTLER_POINTS", "AGGREGATE_POINTS")
_STANDING = {
    "BOARDS_PLAYED": (0, 1),
    "PERCENTAGE": (0, 1),
    "TOTAL_SCORE": (0, 1),
    "PLACE": (0, 1),
    "ADJUSTMENT": (0, 1),
    "MASTER_POINTS": (0, 1),
}
_PERSON = {"PLAYER_NAME": (0, 1), "NATIONAL_ID_NUMBER": (0, 1), "CLUB_ID_NUMBER": (0, 1)}

RULES: dict[str, Rule] = {
    "USEBIO": Rule({"CLUB": (1, 1), "EVENT": (1, 100)}, attributes={"Version": r"1\.2"}),
    "CLUB": Rule({"CLUB_NAME": (1, 1), "CLUB_ID_NUMBER": (1, 1)}),
    "EVENT": Rule(
        {
            "EVENT_DESCRIPTION": (1, 1),
            "DATE": (0, 1),
            "PROGRAM_NAME": (1, 1),
            "PROGRAM_VERSION": (1, 1),
            "BOARD_SCORING_METHOD": (1, 1),
            "MATCH_SCORING_METHOD": (0, 1),
            "WINNER_TYPE": (0, 1),
            "SESSION_COUNT": (1, 1),
            "SECTION_COUNT": (1, 1),
            "BOARDS_PLAYED": (1, 1),
            "PARTICIPANTS": (1, 1),
            "SESSION": (0, 99),
            "BOARD": (0, MANY),
            "MATCH": (0, MANY),
        },
        attributes={"EVENT_TYPE": "PAIRS|SWISS_PAIRS|INDIVIDUAL|TEAMS"},
    ),
    "SESSION": Rule(
        {"SECTION": (0, 100), "BOARD": (0, 999), "MATCH": (0, MANY)}, attributes={"SESSION_ID": r"\d{1,3}"}
    ),
    "SECTION": Rule({"BOARD": (0, MANY), "MATCH": (0, MANY)}, attributes={"SECTION_ID": r"[A-Za-z0-9]{1,8}"}),
    "EVENT_DESCRIPTION": _ANY,
    "CLUB_NAME": _ANY,
    "CLUB_ID_NUMBER": _ANY,
    "DATE": Rule(text=r"\d{2}/\d{2}/\d{4}"),
    "PROGRAM_NAME": _ANY,
    "PROGRAM_VERSION": _ANY,
    "BOARD_SCORING_METHOD": Rule(text="MATCH_POINTS|CROSS_IMPS|BUTLER_IMPS|IMPS|PAB|AGGREGATE"),
    "MATCH_SCORING_METHOD": Rule(text="VPS|IMPS|PAB|AGGREGATE"),
    "WINNER_TYPE": Rule(text="1|2"),
    "SESSION_COUNT": _WHOLE,
    "SECTION_COUNT": _WHOLE,
    "BOARDS_PLAYED": _WHOLE,
    "PARTICIPANTS": Rule({"PAIR": (0, MANY), "PLAYER": (0, MANY), "TEAM": (0, MANY)}),
    "PAIR": Rule({"PAIR_NUMBER": (1, 1), "DIRECTION": (0, 1), **_STANDING, "PLAYER": (0, 2)}),
    "TEAM": Rule(
        {**_STANDING, "PLAYER": (0, 8)}, attributes={"TEAM_ID": r".{1,16}", "TEAM_NAME": rf".{{0,{MAX_TEAM_NAME}}}"}
    ),
    "PLAYER": Rule({"PLAYER_NUMBER": (0, 1), **_STANDING, **_PERSON}),
    "PAIR_NUMBER": _LABEL,
    "PLAYER_NUMBER": _LABEL,
    "DIRECTION": Rule(text="NS|EW"),
    "PERCENTAGE": _NUMBER,
    "TOTAL_SCORE": _NUMBER,
    "PLACE": Rule(text=r"\d{1,6}=?"),
    "ADJUSTMENT": _NUMBER,
    "MASTER_POINTS": Rule({"MASTER_POINTS_AWARDED": (1, 1)}),
    "MASTER_POINTS_AWARDED": _NUMBER,
    "PLAYER_NAME": _ANY,
    "NATIONAL_ID_NUMBER": _ANY,
    "BOARD": Rule(
        {"BOARD_NUMBER": (1, 1), "IMPS": (0, 1), "TEAM_POINTS": (0, 1), "TRAVELLER_LINE": (0, MANY)},
    ),
    "BOARD_NUMBER": Rule(text=r"[1-9]\d{0,2}"),
    "IMPS": _NUMBER,
    "TEAM_POINTS": _NUMBER,
    "TRAVELLER_LINE": Rule(
        {
            "DIRECTION": (0, 1),
            "NS_PAIR_NUMBER": (0, 1),
            "EW_PAIR_NUMBER": (0, 1),
            **{f"{seat}_PLAYER_NUMBER": (0, 1) for seat in "NSEW"},
            "CONTRACT": (0, 1),
            "PLAYED_BY": (0, 1),
            "LEAD": (0, 1),
            "TRICKS": (0, 1),
            "SCORE": (0, 1),
            **{f"{side}_{points}": (0, 1) for points in _POINTS for side in ("NS", "EW")},
            "NOTES": (0, 1),
        }
    ),
    "NS_PAIR_NUMBER": _LABEL,
    "EW_PAIR_NUMBER": _LABEL,
    **{f"{seat}_PLAYER_NUMBER": _LABEL for seat in "NSEW"},
    "CONTRACT": Rule(text=r"PASS|[1-7](C|D|H|S|NT)X{0,2}"),
    "PLAYED_BY": Rule(text="[NESW]"),
    "LEAD": Rule(text="[SHDC][AKQJT2-9]"),
    "TRICKS": Rule(text=r"\d|1[0-3]"),
    "SCORE": Rule(text=r"-?\d{1,5}|A\d{2,3}\d{2,3}"),
    **{f"{side}_{points}": _NUMBER for points in _POINTS for side in ("NS", "EW")},
    "NOTES": _ANY,
    "MATCH": Rule(
        {
            "ROUND_NUMBER": (1, 1),
            **dict.fromkeys(("TEAM", "OPPOSING_TEAM", "NS_PAIR_NUMBER", "EW_PAIR_NUMBER"), (0, 1)),
            **dict.fromkeys(("TEAM_SCORE", "OPPOSING_TEAM_SCORE", "NS_SCORE", "EW_SCORE"), (0, 1)),
            "BOARD": (0, MANY),
        }
    ),
    "ROUND_NUMBER": _WHOLE,
    "OPPOSING_TEAM": Rule(text=r".{1,16}"),
    "TEAM_SCORE": _NUMBER,
    "OPPOSING_TEAM_SCORE": _NUMBER,
    "NS_SCORE": _NUMBER,
    "EW_SCORE": _NUMBER,
}
_MATCH_TEAM = Rule(text=r".{1,16}")  # TEAM names a participant inside PARTICIPANTS, and a number inside MATCH


def validate_usebio(root: Element) -> list[str]:
    """What is wrong with a document, in words with the element's path; an empty list when it is valid."""
    problems: list[str] = []
    if root.tag != "USEBIO":
        return [f"the root is {root.tag}, not USEBIO"]
    pending: list[tuple[Element, str, Rule]] = [(root, "USEBIO", RULES["USEBIO"])]
    while pending and len(problems) < 100:
        element, path, rule = pending.pop()
        _check_element(element, path, rule, problems)
        for child in element:
            if child.tag in rule.children:
                child_rule = _MATCH_TEAM if (element.tag, child.tag) == ("MATCH", "TEAM") else RULES[child.tag]
                pending.append((child, f"{path}/{child.tag}", child_rule))
    if root.find(".//BOARD") is None:
        problems.append("USEBIO/EVENT has no results")
    return problems


def _check_element(element: Element, path: str, rule: Rule, problems: list[str]) -> None:
    for name, pattern in rule.attributes.items():
        if not re.fullmatch(pattern, element.get(name, "")):
            problems.append(f"{path} has no valid attribute {name}")
    problems.extend(f"{path} has an unknown attribute {name}" for name in element.attrib if name not in rule.attributes)
    text = (element.text or "").strip()
    if rule.text is None:
        if text:
            problems.append(f"{path} has text where only elements belong")
    elif not re.fullmatch(rule.text, text):
        problems.append(f"{path} has the wrong form: {text[:30]!r}")
    counts: dict[str, int] = {}
    for child in element:
        counts[child.tag] = counts.get(child.tag, 0) + 1
    problems.extend(f"{path} has an unknown element {tag}" for tag in counts if tag not in rule.children)
    for tag, (least, most) in rule.children.items():
        found = counts.get(tag, 0)
        if found < least:
            problems.append(f"{path} has no {tag}")
        elif found > most:
            problems.append(f"{path} has {found} times {tag}, at most {most} are allowed")
