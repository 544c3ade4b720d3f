"""Which sections an event has and what each plays, from the words of the desk: a movement by name, one from a file of
the club's own, one that fits so many pairs, or none yet. Pure: JSON values in, movements out.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.service.desk_values import Body, text_of, whole_of
from terminals.movement import catalog, files, swiss
from terminals.movement.boards import parse_boards, runs, with_boards
from terminals.movement.choose import fitting
from terminals.movement.model import Movement
from terminals.movement.propose import Question, propose, propose_sections
from terminals.movement.sections import MAX_SECTIONS
from terminals.movement.verify import verify
from terminals.sync.setup import section_letter, section_number

MAX_FILE = 60_000
"""Letters of a movement's file in a request; the request as a whole is bounded by 64 kB."""
USUAL_BOARDS = 28
SECTION_FIELDS = {
    "name?": "letter, the next one if left out",
    "movement?": "text such as mitchell:7x4,missing=ew",
    "file?": "text of a YAML or CSV movement file of one's own",
    "pairs?": "in place of a movement: one that fits so many",
    "boards?": "17-32 or 1-8,21-28; the movement's own if left out",
    "seeding?": "Swiss: random, or a list of numbers, the strongest first",
}


def proposals(body: Body) -> list[dict[str, Any]]:
    """Three movements for so many pairs and minutes; with ``sections`` above 1 three ways for all of them together.

    Raises EntryError when none fits.
    """
    question = Question(
        pairs=whole_of(body, "pairs", 3, 400),
        minutes=whole_of(body, "minutes", 10, 1440),
        minutes_per_board=whole_of(body, "minutes_per_board", 1, 60, 7),
        boards=whole_of(body, "boards", 0, 999, 0),
        copies=whole_of(body, "copies", 1, 20, 4),
        winners=whole_of(body, "winners", 0, 2, 0),
    )
    sections = whole_of(body, "sections", 1, MAX_SECTIONS, 1)
    if sections == 1:
        return [one.as_dict() for one in propose(question)]
    return [
        {
            "minutes": way[0].minutes,
            "rounds": way[0].movement.rounds,
            "boards_per_round": way[0].movement.boards_per_round,
            "winners": way[0].winners,
            "copies": sum(one.copies for one in way),
            "sections": [{"name": section_letter(at), **one.as_dict()} for at, one in enumerate(way, start=1)],
        }
        for way in propose_sections(question, sections)
    ]


def sections_from(body: Body) -> dict[int, Movement | None]:
    """Section number -> movement, None where it is not set yet. Raises EntryError naming the section.

    ``sections``: a list (see SECTION_FIELDS), or with ``spec`` the number of sections that play that movement.
    """
    given = body.get("sections")
    if not isinstance(given, list):
        movement = catalog.build(text_of(body, "spec", 200))
        if body.get("boards"):
            movement = with_boards(movement, parse_boards(text_of(body, "boards")))
        return dict.fromkeys(range(1, whole_of(body, "sections", 1, MAX_SECTIONS, 1) + 1), movement)
    if not 1 <= len(given) <= MAX_SECTIONS:
        raise _bad(f"an event has 1 to {MAX_SECTIONS} sections.")
    out: dict[int, Movement | None] = {}
    for at, one in enumerate(given, start=1):
        if not isinstance(one, Mapping):
            raise _bad("a section is a set of names and values.", f"section {at}")
        known = {name.removesuffix("?") for name in SECTION_FIELDS}
        strange = next((name for name in one if name not in known), None)
        if strange is not None:
            raise _bad(f"a section has no {str(strange)[:40]!r}; known: {', '.join(sorted(known))}.", f"section {at}")
        letter = text_of(one, "name", 3, "") or section_letter(at)
        number = section_number(letter)
        if number in out:
            raise _bad("every section has a letter of its own.", f"section {letter}")
        try:
            out[number] = movement_from(one)
        except EntryError as error:
            where = f"section {section_letter(number)}"
            raise EntryError(
                error.what,
                where=f"{where}: {error.where}" if error.where else where,
                next_step=error.next_step,
                code=error.code,
                exit_status=error.exit_status,
            ) from None
    return out


def movement_from(given: Body) -> Movement | None:
    """One section's movement; None when the values name none. Raises EntryError for one that can't be played."""
    movement: Movement | None
    if given.get("file"):
        movement = _from_file(text_of(given, "file", MAX_FILE))
    elif given.get("movement"):
        movement = catalog.build(text_of(given, "movement", catalog.MAX_LENGTH))
    elif given.get("pairs"):
        wanted = parse_boards(text_of(given, "boards")) if given.get("boards") else range(USUAL_BOARDS)
        movement = fitting(len(wanted), pairs=whole_of(given, "pairs", 3, 200))
    else:
        return None
    if given.get("seeding"):
        movement = _seeded(movement, given["seeding"])
    if given.get("boards"):
        movement = with_boards(movement, parse_boards(text_of(given, "boards")))
    report = verify(movement)
    if not report.ok:
        count = len(report.errors)
        raise EntryError(
            f"the movement has {count} error{'s' if count != 1 else ''}; the first: {report.errors[0].message}",
            next_step="Nobody can play it like that; mend the file.",
            code="bad-movement",
        )
    return movement


def _from_file(text: str) -> Movement:
    """YAML, or CSV when no line has the key that every YAML movement has."""
    if any(line.lstrip().startswith("seatings") for line in text.splitlines()):
        return files.from_yaml(text, "file")
    return files.from_csv(text, "file", "Own movement")


def _seeded(movement: Movement, seeding: Any) -> Movement:
    """The first round of a Swiss event drawn anew: by chance, or the upper half of an order against the lower."""
    if movement.kind not in (swiss.SWISS_PAIRS, swiss.SWISS_TEAMS):
        raise _bad("seeding is for Swiss events.")
    order = list(movement.contestants)
    halves = seeding != "random"
    if not halves:
        random.SystemRandom().shuffle(order)
    elif isinstance(seeding, list) and sorted(map(str, seeding)) == sorted(map(str, order)):
        order = [int(one) for one in seeding]
    else:
        raise _bad("seeding is random, or a list that names everybody once.")
    return swiss.swiss(
        len(order),
        movement.boards_per_round,
        swiss.draw(order, halves=halves),
        teams=bool(movement.teams),
        copies=movement.copies,
        first_board=movement.board_numbers[0],
    )


def section_view(letter: str, movement: Movement | None) -> dict[str, Any]:
    """What a section plays, for whoever chooses: counts, copies, what the check found."""
    if movement is None:
        return {"name": letter, "movement": None}
    report = verify(movement)
    return {
        "name": letter,
        "movement": movement.name,
        "kind": movement.kind,
        "format": movement.format.value,
        "tables": movement.tables,
        "rounds": movement.rounds,
        "boards": runs(movement.board_numbers),
        "contestants": len(movement.contestants),
        "winners": movement.winners,
        "copies": max(movement.copies_to_deal().values(), default=1),
        "results_expected": movement.expected_results(),
        "warnings": [one.message for one in report.warnings][:20],
        "announce": list(movement.notes),
    }


def _bad(what: str, where: str = "") -> EntryError:
    return EntryError(what, where=where, code="bad-value", exit_status=ExitStatus.USAGE)
