"""``td ruling`` and ``td fouled``: what a director rules.

What changes totals is shown by its effect first, and asked about; ``--yes`` does it without a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.td import Service, td
from firmware_bridge.cli.td_acts import Act, signed, with_effect
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError

_UNITS = ("top", "percent", "matchpoints", "imps", "points", "vps")


def _of_law(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--propose", is_flag=True, help="Record it; it counts when it is confirmed.")(function)
    function = click.option("--replaces", type=click.IntRange(1), help="Number of the ruling whose place it takes.")(
        function
    )
    function = click.option("--edition", default="", help="Edition of the Laws; that of the profile if left out.")(
        function
    )
    function = click.option("--committee", is_flag=True, help="An appeals committee ruled (Law 93B).")(function)
    function = click.option("--law", default="", help="The Law it rests on, such as 12C1(c).")(function)
    return click.option("--reason", required=True, help="The facts in a few words.")(function)


def _ruled(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``_of_law`` as fields of a body."""
    body: dict[str, Any] = {"reason": options["reason"], "propose": options["propose"]}
    body |= {name: options[name] for name in ("law", "edition", "replaces") if options[name]}
    return {**body, "authority": "committee"} if options["committee"] else body


# --- rulings -----------------------------------------------------------------------------------------------------


@td.group()
def ruling() -> None:
    """Rulings: adjusted scores, penalties, appeals; each with its effect before it counts."""


@ruling.command("add", context_settings={"ignore_unknown_options": True})  # -100 is a score
@click.argument("board", type=click.IntRange(1, 999))
@click.argument("ns", type=click.IntRange(1, 4095))
@click.argument("ew", type=click.IntRange(1, 4095))
@click.option("--section", default="A", show_default=True)
@click.option("--score", help="60% +620, 40% -100; AVE+/AVE-; 55%/45%; 4s n 10; not played. From North-South's side.")
@click.option("--score-ns", help="For North-South alone, with --score-ew: a split score.")
@click.option("--score-ew", help="For East-West alone, with --score-ns.")
@click.option("--stands", is_flag=True, help="The result of the table stands.")
@click.option("--outside-agency", is_flag=True, help="Nobody at the table was at fault.")
@_of_law
@with_effect
@command("td ruling add")
def add(
    board: int,
    ns: int,
    ew: int,
    section: str,
    score: str | None,
    score_ns: str | None,
    score_ew: str | None,
    stands: bool,
    outside_agency: bool,
    act: Act,
    **law: Any,
) -> Outcome:
    """Rule on a result: td ruling add 5 1 12 --score "60% +620, 40% -100" --reason "Hesitation"."""
    body = act.body(section=section, board=board, ns=ns, ew=ew, **_ruled(law))
    given = {"score": score, "score_ns": score_ns, "score_ew": score_ew}
    body |= {name: text for name, text in given.items() if text is not None}
    body |= {name: True for name, on in (("stands", stands), ("outside_agency", outside_agency)) if on}
    return act.run("ruling", body)


@ruling.command("penalty", context_settings={"ignore_unknown_options": True})
@click.argument("contestant", type=click.IntRange(1, 4095))
@click.option("--section", default="A", show_default=True)
@click.option("--amount", help="Such as -1/4; the profile's standard penalty if left out.")
@click.option("--unit", type=click.Choice(_UNITS))
@_of_law
@with_effect
@command("td ruling penalty")
def penalty(
    contestant: int,
    section: str,
    amount: str | None,
    unit: str | None,
    act: Act,
    **law: Any,
) -> Outcome:
    """A penalty or bonus (Laws 90, 91): it touches one total and no board."""
    asked: dict[str, Any] = {"section": section, "pair": contestant}
    asked |= {name: text for name, text in (("amount", amount), ("unit", unit)) if text}
    return act.run("ruling", act.body(penalty=asked, **_ruled(law)))


@ruling.command("award")
@click.argument("contestant", type=click.IntRange(1, 4095))
@click.argument("number", type=click.IntRange(1, 255))
@click.argument("vps")
@click.option("--section", default="A", show_default=True)
@_of_law
@with_effect
@command("td ruling award")
def award(
    contestant: int,
    number: int,
    vps: str,
    section: str,
    act: Act,
    **law: Any,
) -> Outcome:
    """Give a contestant VPS for a match or round: td ruling award 3 2 12 --law 86D --reason "Opponents never came"."""
    asked = {"section": section, "pair": contestant, "round": number, "vps": vps}
    return act.run("ruling", act.body(award=asked, **_ruled(law)))


@ruling.command("list")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td ruling list")
def list_(data: Path | None) -> Outcome:
    """All rulings, newest first, and where the periods of Laws 79C and 92B stand."""
    found = Service(data_directory(data)).ask("/rulings")
    lines = [
        f"{one['ruling']:>4}  {one['state']:<9}  Law {one['law']:<9} {one['text']}: {one['reason']} ({one['by']})"
        for one in found["rulings"]
    ]
    lines += [f"Provisional: {reason}." for reason in found["provisional"]]
    correction, appeals = (found[key].replace("not-started", "not yet") for key in ("correction", "appeals"))
    lines.append(f"Corrections: {correction}. Appeals: {appeals}.")
    return Outcome(found, "\n".join(lines))


@ruling.command("show")
@click.argument("number", type=click.IntRange(1))
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td ruling show")
def show(number: int, data: Path | None) -> Outcome:
    """One ruling with everything that happened to it."""
    found = Service(data_directory(data)).ask("/rulings")["rulings"]
    one = next((one for one in found if one["ruling"] == number), None)
    if one is None:
        raise ConfigError(
            f"there is no ruling {number}.", next_step="See: firmware-bridge td ruling list", code="usage"
        )
    lines = [f"Ruling {number}, Law {one['law']} ({one['edition']}): {one['text']}", f"{one['reason']} ({one['by']})"]
    for step in one["steps"]:
        names = " and ".join(filter(None, (step["by"], step["second"])))
        lines.append(f"  {step['wall'][:19].replace('T', ' ')}  {step['state']:<9}  {names}  {step['reason']}".rstrip())
    return Outcome({"ruling": one}, "\n".join(lines))


def _step(name: str, words: str, effect: bool) -> None:
    @ruling.command(name, help=words)
    @click.argument("number", type=click.IntRange(1))
    @click.option("--reason", default="", help="Why.")
    @with_effect
    @command(f"td ruling {name}")
    def step(number: int, reason: str, act: Act) -> Outcome:
        body = act.body(ruling=number, **({"reason": reason} if reason else {}))
        if effect:
            return act.run(f"ruling-{name}", body)
        found = act.ask(f"/actions/ruling-{name}", body)
        return Outcome(found, f"Ruling {number} is {found['ruling']['state']}.")


_step("confirm", "A proposed ruling counts; or an appeal against it is withdrawn.", True)
_step("withdraw", "A ruling counts no longer; the result of the table stands again.", True)
_step("uphold", "The appeal was heard, and the ruling stands (Law 93).", False)


@ruling.command("appeal")
@click.argument("number", type=click.IntRange(1))
@click.argument("contestant", type=click.IntRange(1, 4095))
@click.option("--section", default="A", show_default=True)
@click.option("--agreed/--not-agreed", default=None, help="Both players, or the captain (Law 92D).")
@click.option("--reason", default="", help="Why.")
@signed
@command("td ruling appeal")
def appeal(
    number: int,
    contestant: int,
    section: str,
    agreed: bool | None,
    reason: str,
    act: Act,
) -> Outcome:
    """CONTESTANT appeals against ruling NUMBER (Law 92); it counts until the decision."""
    if agreed is None:
        raise click.UsageError("Say --agreed or --not-agreed: both players of a pair appeal, or the captain (Law 92D).")
    body = act.body(ruling=number, section=section, pair=contestant, agreed=agreed, reason=reason)
    found = act.ask("/actions/ruling-appeal", body)
    return Outcome(found, f"Ruling {number} is under appeal; the results are provisional until it is decided.")


# --- fouled boards -----------------------------------------------------------------------------------------------


@td.command("fouled")
@click.argument("board", type=click.IntRange(1, 999))
@click.option("--section", default="A", show_default=True)
@click.option(
    "--from", "changes", multiple=True, metavar="ROUND[:FORM[:COPY]]", help="Another board from this round on."
)
@click.option(
    "--read",
    "readings",
    multiple=True,
    metavar="ROUND:same|different|FILE[:COPY]",
    help="How a copy lay after a round; FILE as `read --out` writes it.",
)
@click.option("--vulnerable", type=click.Choice(["None", "NS", "EW", "All"]), help="How that form was marked (Law 2).")
@_of_law
@with_effect
@command("td fouled")
def fouled(
    board: int,
    section: str,
    changes: tuple[str, ...],
    readings: tuple[str, ...],
    vulnerable: str | None,
    act: Act,
    **law: Any,
) -> Outcome:
    """A fouled board (Law 87): td fouled 7 --from 4 --reason "Cards exchanged after round 3"."""
    body = act.body(board=board, **_ruled(law))
    if vulnerable:
        body["vulnerable"] = vulnerable
    if changes:
        body["changes"] = [_change(text, section) for text in changes]
    if readings:
        body["readings"] = [_reading(text, section, board) for text in readings]
    return act.run("fouled", body)


def _change(text: str, section: str) -> dict[str, Any]:
    match = re.fullmatch(r"(\d{1,3})(?::([A-Za-z]{1,8}))?(?::(\d{1,2}))?", text, re.ASCII)
    if match is None:
        raise ConfigError(f"{text[:20]!r} is no change.", where="--from", next_step="Write it like 4, 4:B or 4:B:2.")
    return {"section": section, "from_round": int(match[1]), "form": match[2] or "B", "copy": int(match[3] or 1)}


def _reading(text: str, section: str, board: int) -> dict[str, Any]:
    match = re.fullmatch(r"(\d{1,3}):(.+?)(?::(\d{1,2}))?", text, re.ASCII)
    if match is None:
        raise ConfigError(
            f"{text[:40]!r} is no reading.", where="--read", next_step="Write it like 3:same or 6:different."
        )
    out: dict[str, Any] = {"section": section, "after_round": int(match[1]), "copy": int(match[3] or 1)}
    if match[2] in ("same", "different"):
        return {**out, "same": match[2] == "same"}
    from dealer.formats.api import read_deal_file

    known = {one.number: one for one in read_deal_file(Path(match[2])).require_good(match[2])}
    if board not in known:
        raise ConfigError(f"the file has no board {board}.", where=match[2][:60], next_step="Read this board.")
    return {**out, "digest": known[board].digest.hex()}
