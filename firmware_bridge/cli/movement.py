"""``movement``: propose one for the evening, verify any, draw it, print its cards, keep it in a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import click

from dealer.files import write_file
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.errors import ConfigError, EntryError
from terminals.movement import catalog, files, show, written
from terminals.movement.model import Movement
from terminals.movement.propose import MINUTES_PER_BOARD, MINUTES_PER_MOVE, Proposal, Question, propose_sections
from terminals.movement.propose import propose as proposals
from terminals.movement.sections import MAX_SECTIONS, section_letter
from terminals.movement.verify import Report
from terminals.movement.verify import verify as check

USUAL_START = "19:10"
DAY = 24 * 60
MAX_OVERNIGHT = 9 * 60
SOURCE_HELP = "SOURCE is a .yaml or .csv file, or a movement such as mitchell:7x4,missing=ew (see: movement kinds)."


@click.group("movement")
def movement() -> None:
    """Propose, verify and show movements."""


@movement.command("propose")
@click.option("--pairs", required=True, type=int, help="Pairs in the room.")
@click.option("--until", required=True, metavar="HH:MM", help="When the last round must be over.")
@click.option("--from", "start", default=USUAL_START, metavar="HH:MM", show_default=True, help="When play begins.")
@click.option("--minutes-per-board", type=int, default=MINUTES_PER_BOARD, show_default=True)
@click.option("--minutes-per-move", type=int, default=MINUTES_PER_MOVE, show_default=True)
@click.option("--boards", type=int, default=0, help="Boards at hand, if they are limited.")
@click.option("--copies", type=int, default=4, show_default=True, help="Copies of each board that can be made.")
@click.option("--winners", type=click.IntRange(1, 2), help="One ranking or two.")
@click.option(
    "--sections",
    type=click.IntRange(1, MAX_SECTIONS),
    default=1,
    show_default=True,
    help="Sections to divide into.",
)
@command("movement propose")
def propose(pairs: int, until: str, start: str, winners: int | None, sections: int, **choices: int) -> Outcome:
    """Offer three movements that end in time, the first one the best."""
    begin, end = _clock("--from", start), _clock("--until", until)
    minutes = _minutes(begin, end, start, until)
    question = Question(pairs, minutes, winners=winners or 0, **choices)
    if sections > 1:
        return _propose_sections(question, sections, start, begin)
    found = proposals(question)
    listed = [
        {"number": at, **p.as_dict(), "starts": start, "ends": _time(begin + p.minutes)}
        for at, p in enumerate(found, 1)
    ]
    text = "\n\n".join(_proposal_text(at, p, start, _time(begin + p.minutes)) for at, p in enumerate(found, 1))
    closing = f"\n\nDraw one with: firmware-bridge movement show {found[0].spec}"
    overnight = end < begin
    fields = {"pairs": pairs, "minutes": minutes, "overnight": overnight, "proposals": listed}
    return Outcome(fields, ("Play goes on after midnight.\n\n" if overnight else "") + text + closing)


def _minutes(begin: int, end: int, start: str, until: str) -> int:
    """Playing time; an end before the beginning is one of the next day, unless nobody would play that long."""
    minutes = (end - begin) % DAY
    if not minutes:
        raise ConfigError("--from and --until are the same time.", next_step="Give a later --until.")
    if end < begin and minutes > MAX_OVERNIGHT:
        raise ConfigError(
            f"{until} is before {start}, and until {until} of the next day it is {minutes // 60} hours.",
            where="--until",
            next_step="Say when play begins as well, such as --from 14:00.",
        )
    return minutes


def _propose_sections(question: Question, sections: int, start: str, begin: int) -> Outcome:
    ways = propose_sections(question, sections)
    letters = [section_letter(number) for number in range(1, sections + 1)]
    listed = [
        {
            "number": at,
            "starts": start,
            "ends": _time(begin + way[0].minutes),
            "copies": sum(p.copies for p in way),
            "sections": [{"section": letter, **p.as_dict()} for letter, p in zip(letters, way, strict=True)],
        }
        for at, way in enumerate(ways, 1)
    ]
    texts = []
    for at, way in enumerate(ways, 1):
        lines = [f"{at}. {way[0].movement.rounds} rounds of {way[0].movement.boards_per_round} in {sections} sections"]
        lines.append(f"   time      {start} to {_time(begin + way[0].minutes)}")
        lines.append(f"   copies    {sum(p.copies for p in way)} of every board, for all sections together")
        lines += [f"   {letter}         {p.movement.name}: {p.spec}" for letter, p in zip(letters, way, strict=True)]
        texts.append("\n".join(lines))
    return Outcome({"pairs": question.pairs, "minutes": question.minutes, "proposals": listed}, "\n\n".join(texts))


def _clock(option: str, text: str) -> int:
    match = re.fullmatch(r"([01]?[0-9]|2[0-3])[:.]([0-5][0-9])", text.strip())
    if match is None:
        raise ConfigError(f"{text[:20]!r} is no time of day.", where=option, next_step="Write it like 22:40.")
    return int(match[1]) * 60 + int(match[2])


def _time(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def _proposal_text(number: int, p: Proposal, start: str, ends: str) -> str:
    m = p.movement
    played = str(p.least_boards) if p.least_boards == p.most_boards else f"{p.least_boards} to {p.most_boards}"
    winners = "one winner" if p.winners == 1 else f"{p.winners} winners"
    sits = f"one pair sits out each of {p.sit_outs} rounds, {p.sit_out_boards} boards at most" if p.sit_outs else "none"
    lines = [
        f"{number}. {m.name}",
        f"   time      {start} to {ends}",
        f"   boards    {p.boards} in play, {played} for each pair",
        f"   sit-outs  {sits}",
        f"   sharing   {f'in {p.shared_rounds} rounds' if p.shared_rounds else 'none'}",
        f"   copies    {p.copies} of every board",
        f"   winners   {winners}, competition variance {p.fairness:.2f} (0 is perfect)",
    ]
    lines += [f"   note      {remark}" for remark in p.remarks[:2]]
    if len(p.remarks) > 2:
        lines.append(f"   note      and {len(p.remarks) - 2} more like these")
    lines.append(f"   use       {p.spec}")
    return "\n".join(lines)


def _source(text: str) -> Movement:
    if text.lower().endswith((".yaml", ".yml", ".csv")) or os.path.exists(text):
        return files.load(text)
    return catalog.build(text)


@movement.command("verify", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--minimum-results", type=click.IntRange(1, 100), default=2, show_default=True, help="Wanted on a board.")
@command("movement verify")
def verify(source: str, minimum_results: int) -> Outcome:
    """Check a movement: can it be played, and how fair is it."""
    plan = _source(source)
    report = check(plan, minimum_results=minimum_results)
    error = None
    if not report.ok:
        count = len(report.errors)
        error = EntryError(
            f"The movement has {count} error{'s' if count != 1 else ''}; the first: {report.errors[0].message}",
            where=source,
            next_step="Nobody can play it like that; mend the file.",
            code="bad-movement",
        )
    return Outcome({**_facts(plan), **_report(report)}, f"{plan.name}\n{show.report_text(report)}".rstrip(), error)


def _facts(plan: Movement) -> dict[str, Any]:
    return {
        "movement": plan.name,
        "kind": plan.kind,
        "format": str(plan.format),
        "tables": plan.tables,
        "rounds": plan.rounds,
        "boards": len(plan.board_numbers),
        "boards_per_round": plan.boards_per_round,
        "contestants": len(plan.contestants),
        "winners": plan.winners,
        "results_expected": plan.expected_results(),
        "copies": max(plan.copies_to_deal().values(), default=1),
    }


def _report(report: Report) -> dict[str, Any]:
    def findings(found: Any) -> list[dict[str, Any]]:
        return [
            {
                "property": f.property, "message": f.message, "round": f.round, "table": f.table,
                "contestant": f.contestant,
            }
            for f in found
        ]  # fmt: skip

    balance = None
    if report.balance is not None:
        b = report.balance
        balance = {
            "mean": float(b.mean), "least": b.least, "most": b.most, "variance": float(b.variance),
            "variance_per_set": float(b.per_set),
        }  # fmt: skip
    return {"errors": findings(report.errors), "warnings": findings(report.warnings), "balance": balance}


@movement.command("show", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--pair", type=int, help="The guide card of one pair, or of a player in an individual.")
@click.option("--table", type=int, help="The card of one table.")
@click.option("--width", type=click.IntRange(40, 400), default=100, show_default=True)
@command("movement show")
def show_command(source: str, pair: int | None, table: int | None, width: int) -> Outcome:
    """Draw a movement: who plays whom, where, with which boards."""
    plan = _source(source)
    facts = {**_facts(plan), "copies_to_deal": {str(b): n for b, n in plan.copies_to_deal().items()}}
    if pair is not None:
        if pair not in plan.pairs:
            raise ConfigError(f"There is no pair {pair} in this movement.", where="--pair")
        return Outcome(facts, show.guide_text(plan, pair).rstrip())
    if table is not None:
        if not 1 <= table <= plan.tables:
            raise ConfigError(f"There is no table {table} in {plan.tables} tables.", where="--table")
        return Outcome(facts, show.table_text(plan, table).rstrip())
    return Outcome({**facts, "plan": written.to_dict(plan)}, show.draw(plan, width).rstrip())


@movement.command("cards", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write: .pdf or .txt.")
@click.option("--tables", is_flag=True, help="Cards for the tables instead of guide cards for the pairs.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
@click.option("--title", default="", help="Name of the event, printed on every card.")
@command("movement cards")
def cards(source: str, out: str, tables: bool, paper: str, title: str) -> Outcome:
    """Print guide cards or table cards."""
    plan = _source(source)
    suffix = Path(out).suffix.lower()
    if suffix == ".txt":
        numbers = range(1, plan.tables + 1) if tables else plan.pairs
        card = show.table_text if tables else show.guide_text
        data = "\n".join(card(plan, number) for number in numbers).encode()
    elif suffix == ".pdf":
        from terminals.movement.cards import guide_cards, table_cards

        data = (table_cards if tables else guide_cards)(plan, page=paper, title=title)
    else:
        raise ConfigError("Cards are written as .pdf or .txt.", where=f"--out {out}")
    write_file(out, data)
    count = plan.tables if tables else len(plan.pairs)
    return Outcome({"out": out, "cards": count}, f"{count} cards in {out}.")


@movement.command("save", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write: .yaml or .csv.")
@command("movement save")
def save(source: str, out: str) -> Outcome:
    """Write a movement to a file, to be changed by hand and used again."""
    plan = _source(source)
    suffix = Path(out).suffix.lower()
    if suffix not in (".yaml", ".yml", ".csv"):
        raise ConfigError("Movements are written as .yaml or .csv.", where=f"--out {out}")
    if suffix == ".csv" and plan.teams:
        raise ConfigError("Team movements need YAML.", where=f"--out {out}", next_step="Write a .yaml file.")
    write_file(out, (written.to_csv(plan) if suffix == ".csv" else written.to_yaml(plan)).encode())
    return Outcome({**_facts(plan), "out": out}, f"{plan.name}: {out}.")


@movement.command("draw", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--ranking", help="Everybody still playing, the leader first: 3,1,4,2.")
@click.option("--results", type=click.Path(path_type=Path), help="Result file (USEBIO, PBN, JSON) to rank them by.")
@click.option("--absent", type=int, multiple=True, help="A pair or team that has left. May be repeated.")
@click.option("--join", type=int, multiple=True, help="A pair or team that is new in this round. May be repeated.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="YAML file to write, with the new round.")
@command("movement draw")
def draw_command(
    source: str, ranking: str | None, results: Path | None, absent: tuple[int, ...], join: tuple[int, ...], out: str
) -> Outcome:
    """Draw the next round of a Swiss event from the ranking; nobody meets the same opponents twice."""
    from terminals.movement import swiss

    if (ranking is None) == (results is None):
        raise ConfigError("Give either --ranking or --results.", where="movement draw")
    if Path(out).suffix.lower() not in (".yaml", ".yml"):
        raise ConfigError("Swiss movements are kept as .yaml.", where=f"--out {out}")
    plan = _source(source)
    for number in join:
        plan = swiss.join(plan, number)
    playing = [one for one in plan.contestants if one not in absent]
    order = _ranking_order(ranking, results, playing)
    strangers = sorted(set(order) ^ set(playing)) + sorted(set(absent) - set(plan.contestants))
    if strangers or len(order) != len(set(order)):
        wrong = f"Number {strangers[0]} is missing or a stranger" if strangers else "A number is there twice"
        raise EntryError(
            f"{wrong}; the ranking names everybody who plays, once.",
            where="--absent" if strangers and strangers[0] in absent else "--ranking",
            code="bad-ranking",
        )
    met, had_bye = swiss.history(plan)
    found = swiss.draw(order, met, had_bye, halves=plan.rounds == 0)
    plan = swiss.add_round(plan, found, absent=absent)
    write_file(out, written.to_yaml(plan).encode())
    lines = [f"Round {plan.rounds}"]
    lines += [f"  {a} - {b}{'   they meet again' if (a, b) in found.repeats else ''}" for a, b in found.couples]
    lines += [f"  {found.bye} sits out"] if found.bye else []
    fields = {"round": plan.rounds, "couples": found.couples, "bye": found.bye, "repeats": found.repeats, "out": out}
    return Outcome(fields, "\n".join([*lines, "", f"{plan.name}: {out}."]))


def _ranking_order(ranking: str | None, results: Path | None, playing: list[int]) -> list[int]:
    if results is not None:
        from terminals.interop.result_files import read_results_file

        event = read_results_file(results)
        totals = {one.contestant.number: one.total.value for one in event.entrants if one.total is not None}
        lowest = min(totals.values(), default=0)
        return sorted(playing, key=lambda one: (-totals.get(one, lowest), one not in totals, one))
    words = re.split(r"[\s,;]+", (ranking or "").strip())
    if not all(re.fullmatch(r"\d{1,4}", word, re.ASCII) for word in words):
        raise ConfigError("A ranking is numbers, the leader first.", where="--ranking", next_step="Such as 3,1,4,2.")
    return [int(word) for word in words]


@movement.command("kinds")
@command("movement kinds")
def kinds() -> Outcome:
    """List the movements that can be made, and how to name them."""
    listed = [
        {"kind": name, "counts": kind.counts, "options": sorted(kind.options), "words": kind.words}
        for name, kind in catalog.KINDS.items()
    ]
    width = max(len(name) for name in catalog.KINDS)
    lines = [
        f"{name.ljust(width)}  {name}:{kind.counts.upper()}xBOARDS  {kind.words}; {', '.join(sorted(kind.options))}"
        for name, kind in catalog.KINDS.items()
    ]
    return Outcome({"kinds": listed}, "\n".join(lines))
