"""``td``: what a director does, from a command line, over the same interface as the pages.

The running service is found through ``service.json`` of the data directory, which only its owner may read.
"""

from __future__ import annotations

import getpass
import http.client
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, many
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError, DeviceError, ExitStatus, FirmwareBridgeError

SERVICE_FILE = "service.json"
TIMEOUT_S = 20.0
FILE_TIMEOUT_S = 120.0
"""A sheet of a large event takes its time."""


class Service:
    """The running service of a data directory. Raises ConfigError when none runs there."""

    def __init__(self, directory: Path) -> None:
        path = directory / SERVICE_FILE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            self._url, self._token = str(found["url"]), str(found["token"])
        except FileNotFoundError:
            raise ConfigError(
                "no service runs with this data directory.",
                where=str(directory),
                next_step="Start it with: firmware-bridge serve",
                code="no-service",
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError("the file can't be understood.", where=str(path), code="no-service") from error

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """GET, or POST when there is a body. Raises FirmwareBridgeError with the service's own words."""
        data = None if body is None else json.dumps(body).encode()
        answer = self._fetch(path, data)[1]
        try:
            return json.loads(answer)
        except ValueError as error:
            raise self._silent() from error

    def file(self, path: str) -> tuple[str, bytes]:
        """GET a file: the name that the service gives it, and what is in it. Raises FirmwareBridgeError."""
        return self._fetch(path, None, FILE_TIMEOUT_S)

    def _fetch(self, path: str, data: bytes | None, timeout: float = TIMEOUT_S) -> tuple[str, bytes]:
        request = urllib.request.Request(f"{self._url}/api/v1{path}", data)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        # No proxy of the environment may get between: the service is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.headers.get_filename() or "", answer.read()
        except urllib.error.HTTPError as error:
            raise _told(error) from None
        except (http.client.HTTPException, OSError, ValueError) as error:
            raise self._silent() from error

    def _silent(self) -> DeviceError:
        return DeviceError(
            "the service does not answer.",
            where=self._url,
            next_step="See whether it still runs; start it again with: firmware-bridge serve",
            code="service-silent",
        )


def _told(error: urllib.error.HTTPError) -> FirmwareBridgeError:
    try:
        found = json.load(error)["error"]
        status = ExitStatus.USAGE if error.code == 400 else ExitStatus.FAILED
        return FirmwareBridgeError(
            found["what"], where=found["where"], next_step=found["next"], code=found["code"], exit_status=status
        )
    except (ValueError, KeyError, TypeError):
        return DeviceError(f"the service answers {error.code}.", code="service-silent")


@click.group()
def td() -> None:
    """Director's commands for the running service: look, correct, rule, move, undo, admit, close."""


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")(function)
    function = click.option("--note", default="", help="Why; kept with the act.")(function)
    function = click.option("--second", default="", help="Second name, once results are final (Law 79C).")(function)
    return click.option("--by", "actor", default=None, help="Who decides; your log-in name if left out.")(function)


def _play(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--section", default="A", show_default=True)(function)
    function = click.argument("ew", type=click.IntRange(1, 4095))(function)
    function = click.argument("ns", type=click.IntRange(1, 4095))(function)
    return click.argument("board", type=click.IntRange(1, 999))(function)


def who(actor: str | None) -> str:
    """Who acts, by what was given or by the log-in name; at most 40 letters."""
    return (actor or os.environ.get("USER") or getpass.getuser())[:40]


def _do(
    name: str,
    data: Path | None,
    actor: str | None,
    second: str,
    note: str,
    told: Callable[[dict[str, Any]], str] = lambda found: "Done.",
    **body: Any,
) -> Outcome:
    """Ask for an act. told: its words, from the answer, when it has no id by which it can be taken back."""
    found = Service(data_directory(data)).ask(
        f"/actions/{name}", {**body, "actor": who(actor), "second": second, "note": note}
    )
    undo = f"Done. Take it back with: firmware-bridge td undo {found['action']}" if "action" in found else ""
    return Outcome(found, "\n".join([undo or told(found), *found.get("notes", ())]))


@td.command("list")
@click.option("--missing", is_flag=True, help="Only boards without a result.")
@click.option("--attention", is_flag=True, help="Only what the director should look at.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td list")
def list_(missing: bool, attention: bool, data: Path | None) -> Outcome:
    """Every scheduled board with its state, or what needs attention."""
    found = Service(data_directory(data)).ask("/desk")
    if attention:
        return Outcome({"alerts": found["alerts"]}, "\n".join(one["text"] for one in found["alerts"]) or "Nothing.")
    cells = [cell for cell in found["grid"]["cells"] if not missing or cell["state"] == "missing"]
    lines = [
        f"round {c['round']:>2}  table {c['section']}{c['table']:<3} board {c['board']:>3}"
        f"  {c['ns']:>3} - {c['ew']:<3}  {c['state']:<11} {c['text']}"
        for c in cells
    ]
    return Outcome({"cells": cells, "counts": found["grid"]["counts"]}, "\n".join(lines) or "Nothing is missing.")


@td.command(context_settings={"ignore_unknown_options": True})  # -1 is a result
@_play
@click.argument("result", nargs=-1, required=True)
@_common
@command("td correct")
def correct(board: int, ns: int, ew: int, section: str, result: tuple[str, ...], **common: Any) -> Outcome:
    """Give a play a result: td correct 7 3 8 4SX N -1, or td correct 7 3 8 pass."""
    words = " ".join(result).split()
    tricks = words.pop() if len(words) > 1 and re.fullmatch(r"=|[+-]?\d+", words[-1]) else ""
    contract = " ".join(words)
    body: dict[str, Any] = {
        "section": section,
        "board": board,
        "ns": ns,
        "ew": ew,
        "contract": contract,
        "tricks": tricks,
    }
    return _do("correct", **common, **body)


@td.command()
@_play
@_common
@command("td erase")
def erase(board: int, ns: int, ew: int, section: str, **common: Any) -> Outcome:
    """Take a result away; the board is missing again."""
    return _do("erase", **common, section=section, board=board, ns=ns, ew=ew)


@td.command()
@_play
@click.option("--to-board", type=click.IntRange(1, 999))
@click.option("--to-ns", type=click.IntRange(1, 4095))
@click.option("--to-ew", type=click.IntRange(1, 4095))
@_common
@command("td move")
def move(
    board: int,
    ns: int,
    ew: int,
    section: str,
    to_board: int | None,
    to_ns: int | None,
    to_ew: int | None,
    **common: Any,
) -> Outcome:
    """The result belongs to another board or other pairs."""
    given = {"to_board": to_board, "to_ns": to_ns, "to_ew": to_ew}
    if not any(given.values()):
        raise ConfigError("where to?", next_step="Give --to-board, --to-ns or --to-ew.", code="usage")
    target: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return _do("move", **common, section=section, board=board, ns=ns, ew=ew, **target)


@td.command("not-played")
@_play
@click.option(
    "--reason", type=click.Choice(["cancelled", "no-time", "late-pair", "withdrawn", "other"]), default="other"
)
@_common
@command("td not-played")
def not_played(board: int, ns: int, ew: int, section: str, reason: str, **common: Any) -> Outcome:
    """The board was not played; nobody gets a score for it."""
    return _do("not-played", **common, section=section, board=board, ns=ns, ew=ew, reason=reason)


@td.command()
@_play
@click.argument("ns_score")
@click.argument("ew_score")
@_common
@command("td artificial")
def artificial(board: int, ns: int, ew: int, section: str, ns_score: str, ew_score: str, **common: Any) -> Outcome:
    """An artificial adjusted score (Law 12C2): AVE+, AVE, AVE- or a percentage for each side."""
    body: dict[str, Any] = {
        "section": section,
        "board": board,
        "ns": ns,
        "ew": ew,
        "ns_score": ns_score,
        "ew_score": ew_score,
    }
    return _do("artificial", **common, **body)


@td.command()
@_play
@_common
@command("td swap")
def swap(board: int, ns: int, ew: int, section: str, **common: Any) -> Outcome:
    """North-South and East-West sat the other way round."""
    return _do("swap", **common, section=section, board=board, ns=ns, ew=ew)


@td.command()
@click.argument("action")
@_common
@command("td undo")
def undo(action: str, **common: Any) -> Outcome:
    """Take an act back, by its id."""
    return _do("undo", **common, action=action)


@td.command()
@click.argument("text")
@click.option("--section", default="")
@click.option("--table", type=click.IntRange(1, 255))
@_common
@command("td message")
def message(text: str, section: str, table: int | None, **common: Any) -> Outcome:
    """Words for a table, a section, or everybody."""

    def told(found: dict[str, Any]) -> str:
        number = found["terminals"]
        return f"Sent to {many(number, 'terminal')}." if number else "No terminal is there to show it."

    where = section or ("A" if table else "")
    return _do("message", **common, told=told, text=text, section=where, table=table or 0)


@td.command("close-round")
@click.argument("number", type=click.IntRange(1, 255))
@click.option("--section", default="A", show_default=True)
@click.option("--anyway", is_flag=True, help="Although boards are missing; nothing is invented for them.")
@_common
@command("td close-round")
def close_round(number: int, section: str, anyway: bool, **common: Any) -> Outcome:
    """Close a round; boards that are missing are named."""

    def told(found: dict[str, Any]) -> str:
        gone = len(found["missing"])
        return f"Round {number} is closed." + (f" Still missing: {many(gone, 'board')}." if gone else "")

    return _do("close-round", **common, told=told, section=section, round=number, anyway=anyway)


@td.command()
@click.argument("table", type=click.IntRange(1, 255))
@click.option("--section", default="A", show_default=True)
@click.option("--off", is_flag=True, help="Unlock it.")
@_common
@command("td lock")
def lock(table: int, section: str, off: bool, **common: Any) -> Outcome:
    """Lock a table: what it sends is kept and asks for attention."""
    words = f"Table {section}{table} is {'open again' if off else 'locked'}."
    return _do("lock", **common, told=lambda found: words, section=section, table=table, locked=not off)


@td.command()
@click.argument("device", default="")
@click.argument("table", type=click.IntRange(1, 255), default=1)
@click.option("--section", default="A", show_default=True)
@click.option("--all", "everybody", is_flag=True, help="All that wait for a free table.")
@_common
@command("td admit")
def admit(device: str, table: int, section: str, everybody: bool, **common: Any) -> Outcome:
    """Admit a terminal to a table: td admit DEVICE TABLE, or td admit --all."""
    if everybody:
        return _do("admit-all", **common, told=lambda found: f"{many(len(found['admitted']), 'terminal')} admitted.")
    if not device:
        raise ConfigError("which terminal?", next_step="See: firmware-bridge td terminals, or use --all.", code="usage")
    words = f"{device} is at table {section}{table} now."
    return _do("admit", **common, told=lambda found: words, device=device, section=section, table=table)


@td.command()
@click.argument("device")
@click.argument("table", type=click.IntRange(1, 255))
@click.option("--section", default="A", show_default=True)
@_common
@command("td replace")
def replace(device: str, table: int, section: str, **common: Any) -> Outcome:
    """A terminal takes over a table; what the old one still holds is not lost, it waits there."""
    words = f"{device} is at table {section}{table} now; what the old one has not sent still arrives."
    return _do("replace", **common, told=lambda found: words, device=device, section=section, table=table)


@td.command()
@_common
@command("td publish")
def publish(**common: Any) -> Outcome:
    """The results are available; the correction period of Law 79C begins."""

    def told(found: dict[str, Any]) -> str:
        ends = datetime.fromtimestamp(float(found["ends_at"])).strftime("%d %B, %H:%M")
        return f"Published. The results are final from {ends} on; then changes need two names (Law 79C)."

    return _do("publish", **common, told=told)


@td.command()
@click.argument("board", type=click.IntRange(1, 999))
@click.option("--section", default="A", show_default=True)
@_common
@command("td reveal")
def reveal(board: int, section: str, **common: Any) -> Outcome:
    """Show a playing director the results of a board that he has yet to play. It is put on record."""
    words = f"Board {board} is shown from now on; that is on record."
    return _do("reveal", **common, told=lambda found: words, section=section, board=board)


@td.command()
@click.argument("device")
@click.option("--key", default="", help="A key that the terminal has already, 32 hexadecimal digits.")
@_common
@command("td pair")
def pair(device: str, key: str, **common: Any) -> Outcome:
    """Give a terminal a key with which it signs what it sends. Terminals that come over the network must have one."""

    def told(found: dict[str, Any]) -> str:
        digits = found["key"]
        groups = " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))
        return f"The key of {device}: {groups}\nEnter it at the terminal now; it is not shown again."

    return _do("pair", **common, told=told, device=device, key=key)


@td.command()
@click.option("--renew", type=click.Choice(["director", "assistant", "viewer"]), help="Give this role a new code.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td codes")
def codes(renew: str | None, data: Path | None) -> Outcome:
    """The codes of assistants and viewers, to hand out; a code that went astray is made anew."""
    service = Service(data_directory(data))
    if renew is None:
        found = service.ask("/codes")
        return Outcome(found, "\n".join(f"{role:<9} {code}" for role, code in found.items()))
    found = service.ask("/codes/renew", {"role": renew})
    return Outcome(found, f"The {renew}'s code is {found['code']} now; the old one is worth nothing any more.")


@td.command()
@click.argument("now")
@_common
@command("td clock")
def clock(now: str, **common: Any) -> Outcome:
    """What time it is, when the service asks: td clock 19:10, td clock "2026-11-29 19:10", or td clock right."""
    at = "" if now == "right" else now
    return _do("computer-clock", **common, told=lambda found: f"It is {found['shown']} for the service.", at=at)


@td.command()
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td terminals")
def terminals(data: Path | None) -> Outcome:
    """Every terminal with its table and what it still has to send."""
    found = Service(data_directory(data)).ask("/terminals")
    lines = [
        f"{one['device']}  {one['state']:<9} {(one['section'] or '') + str(one['table'] or ''):<5}"
        f" {'there' if one['present'] else 'away':<6} waiting {one['waiting'] if one['waiting'] is not None else '?'}"
        for one in found
    ]
    return Outcome({"terminals": found}, "\n".join(lines) or "No terminal has shown itself.")


# Further commands of the group, in modules of their own.
import firmware_bridge.cli.td_export  # noqa: E402
import firmware_bridge.cli.td_paper  # noqa: E402
import firmware_bridge.cli.td_plan  # noqa: E402
import firmware_bridge.cli.td_rulings  # noqa: E402
import firmware_bridge.cli.td_scoring  # noqa: E402
import firmware_bridge.cli.td_setup  # noqa: E402, F401
