"""What README and docs tell people to type is understood by the commands, and what they point to is there."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import firmware_bridge
from firmware_bridge.cli import main as cli_main
from firmware_bridge.config import Config, load_config

ROOT = Path(firmware_bridge.__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TOPS = ("firmware_bridge", "drivers", "dealer", "terminals", "hw-sim", "tests", "benchmarks", "docs")
# Rooms that pages name without the packages around them.
NEAR = ("", "firmware_bridge/", "firmware_bridge/web/", "terminals/scoring/", "terminals/sync/", "docs/")
# Words of another maker's machine, of a hash, of a file: neither commands nor paths.
OTHERS = {"deal BOARD POCKETS", "firmware-bridge board commitment 1", "firmware-bridge set commitment 1"}
OTHERS |= {"firmware-bridge deal index 1", "dealer/vulnerable"}

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs the source tree, not the wheel")


def lines(page: Path) -> Iterator[tuple[int, bool, str]]:
    """Number, whether it stands in a block of code, and text of each line."""
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        else:
            yield number, inside or line.startswith("    "), line.strip()


def block_commands() -> Iterator[tuple[str, list[str]]]:
    """Lines to be typed as they are."""
    for page in PAGES:
        for number, inside, line in lines(page):
            if inside and re.match(r"(firmware-bridge|deal) ", line):
                words = shlex.split(line, comments=True)
                yield f"{page.name}:{number}", words[1:] if words[0] == "firmware-bridge" else words


def words_in_text() -> Iterator[tuple[str, list[str]]]:
    """Commands inside sentences and tables; under a heading `td` the cell goes without that word."""
    for page in PAGES:
        columns: list[str] = []
        for number, inside, line in lines(page):
            cells = re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") else []
            columns = columns if cells and columns else [cell.strip() for cell in cells]
            for cell_number, cell in enumerate(cells or [line]):
                under_td = bool(cells) and columns[cell_number : cell_number + 1] == ["`td`"]
                for code in () if inside else re.findall(r"`([^`]+)`", cell):
                    if code in OTHERS or code.split()[0] in ("", "`td`"):
                        continue
                    try:
                        words = shlex.split(code)
                    except ValueError:
                        continue
                    if under_td and len(words) > 1:
                        words = ["td", *words]
                    if words[:1] == ["firmware-bridge"]:
                        words = words[1:]
                    elif words[:1] == [] or words[0] not in cli_main.COMMANDS:
                        continue
                    yield f"{page.name}:{number}", words


def found_command(words: list[str]) -> tuple[click.Context, list[str]]:
    """The command that the words name, and the words behind it. Raises click.UsageError when there is none."""
    context = click.Context(cli_main.cli, info_name="firmware-bridge")
    rest = list(words)
    while isinstance(context.command, click.Group) and rest:
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = click.Context(command, parent=context, info_name=name, **command.context_settings)
    return context, rest


def test_a_line_to_be_typed_is_a_whole_command() -> None:
    wrong, count = [], 0
    for place, words in block_commands():
        count += 1
        try:
            context, rest = found_command(words)
            context.command.make_context(str(context.command.name), rest, parent=context.parent).close()
        except click.UsageError as error:
            wrong.append(f"{place}: {error.format_message()}")
    assert wrong == []
    assert count > 30


def test_a_command_in_a_sentence_has_the_options_that_it_is_given() -> None:
    wrong, count = [], 0
    for place, words in words_in_text():
        count += 1
        try:
            context, rest = found_command(words)
            if not isinstance(context.command, click.Group):
                context.command.make_parser(context).parse_args(rest)
        except (click.BadOptionUsage, click.exceptions.Exit):
            continue  # "read --out": the sentence is about the option; --help ends
        except click.UsageError as error:
            wrong.append(f"{place}: {error.format_message()}")
    assert wrong == []
    assert count > 100


def test_every_option_that_a_page_names_exists() -> None:
    known = {"--help", "--version"}
    pending: list[click.Command] = [cli_main.cli]
    while pending:
        command = pending.pop()
        known |= {option for parameter in command.params for option in parameter.opts}
        if isinstance(command, click.Group):
            context = click.Context(command)
            pending += [
                found for name in command.list_commands(context) if (found := command.get_command(context, name))
            ]
    known |= {"--check", "--listen"}  # python -m drivers.gpio_machine
    known |= {"--reload"}  # udevadm
    missing = {
        (page.name, number, option)
        for page in PAGES
        for number, inside, line in lines(page)
        if not inside
        for code in re.findall(r"`([^`]+)`", line)
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]+", code)
        if option not in known
    }
    assert missing == set()


def test_the_config_file_of_the_page_is_right_and_names_every_key(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    (tmp_path / "config.toml").write_text(shown, encoding="utf-8")
    found = load_config(tmp_path)
    assert all(getattr(found, field.name) for field in dataclasses.fields(Config))


def test_links_lead_somewhere() -> None:
    dead = []
    for page in PAGES:
        for number, inside, line in lines(page):
            for target in () if inside else re.findall(r"\]\(([^)]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = page.parent / path if path else page
                if not file.exists() or (anchor and anchor not in anchors(file)):
                    dead.append(f"{page.name}:{number} {target}")
    assert dead == []


def anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_that_pages_name_are_there() -> None:
    gone = []
    for page in PAGES:
        for number, inside, line in lines(page):
            for code in () if inside else re.findall(r"`([^`\s]+)`", line):
                if code in OTHERS or not re.fullmatch(r"\w[\w.-]*/[\w./-]+", code):
                    continue
                if not (code.split("/")[0] in TOPS or re.search(r"\.(py|js|html)$", code)):
                    continue
                if not any((ROOT / near / code).exists() for near in NEAR):
                    gone.append(f"{page.name}:{number} {code}")
    assert gone == []
