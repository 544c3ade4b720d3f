"""``deal commit``, ``deal reveal`` and ``deal audit``: proof that the boards played are the boards committed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dealer.audit import PartSecret, audit_boards, boards_of, check_chain, keys_for, new_keys
from dealer.board import Board
from dealer.files import write_file
from dealer.formats.api import read_deal_file
from dealer.generate import DealSet, Origin, check_numbers, parse_numbers
from dealer.published import (
    read_commitment,
    read_reveal,
    write_commitment,
    write_reveal,
)
from dealer.store.set_keys import commitments, load_secret, save_secret
from firmware_bridge.cli.deal_words import NOT_FOR_PLAY, boards_text, plain, words
from firmware_bridge.cli.output import Outcome, command, many
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError, DealError


def committed_set(set_id: str, numbers: Sequence[int], entropy: str | None, data: str | None) -> DealSet:
    """The boards of a committed set. A public entropy is kept with the set, and no second one is taken.

    Raises DealError when the set or a board was not committed here, or the entropy is missing or another one.
    """
    directory = ensure_directory(data_directory(data))
    parts = load_secret(directory, set_id)
    if not parts:
        raise DealError(
            "No set with this id was committed here.",
            next_step="Give the --data of the commitment.",
            code="set-unknown",
        )
    wanted = set(check_numbers(numbers))
    boards: list[Board] = []
    for place, part in enumerate(parts):
        mine = wanted & {key.board for key in part.keys}
        if not mine:
            continue
        if part.entropy_source and part.entropy is None:
            if entropy is None:
                raise DealError(
                    f"The deals of this set follow from a public entropy: {part.entropy_source}.",
                    next_step="Give it with --entropy, exactly as published.",
                    code="entropy",
                )
            parts[place] = part = replace(part, entropy=entropy.strip())
            save_secret(directory, set_id, parts)
        elif entropy is not None and part.entropy_source and entropy.strip() != part.entropy:
            raise DealError(
                "The set was dealt with another entropy; it can't be changed any more.", code="entropy-changed"
            )
        boards += [board for board in boards_of(part) if board.number in mine]
    missing = wanted - {board.number for board in boards}
    if missing:
        raise DealError(f"Board {min(missing)} is not in the commitment.", code="not-committed")
    boards.sort(key=lambda board: board.number)
    return DealSet(set_id, Origin.OWN, tuple(boards), commitments(set_id, parts)[-1].fingerprint)


@click.command("commit")
@click.argument("file", required=False, type=click.Path())
@click.option("--boards", metavar="1-24", help="Without FILE: commit to boards that are dealt later.")
@click.option(
    "--entropy-from",
    callback=words,
    default="",
    help="Which public numbers will decide, and when: 'Lotto of 2026-11-30'.",
)
@click.option("--set", "set_id", help="Extend this committed set (with --boards).")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Commitment file to publish (JSON).")
@click.option("--data", help="Data directory; the secret stays there.")
@command("deal commit")
def commit(
    file: str | None, boards: str | None, entropy_from: str, set_id: str | None, out: str, data: str | None
) -> Outcome:
    """Publish commitments before play: of a set in FILE, or of boards to be dealt from a public entropy.

    The commitment file tells nothing of the cards. Publish it, or its fingerprint, before the session.
    """
    directory = ensure_directory(data_directory(data))
    not_for_play = False
    if (file is None) == (boards is None):
        raise ConfigError("Give a deal file, or --boards.", next_step="See: firmware-bridge deal commit --help")
    if file is not None:
        if entropy_from or set_id:
            raise ConfigError("--entropy-from and --set belong to boards that are not dealt yet (--boards).")
        set_id, parts, not_for_play = _parts_of_file(file, directory)
    else:
        numbers = check_numbers(parse_numbers(boards or ""))
        if not entropy_from.strip():
            raise ConfigError(
                "Boards to be dealt later need a public entropy.", next_step="Say with --entropy-from what it will be."
            )
        parts = load_secret(directory, set_id) if set_id else []
        if set_id and not parts:
            raise DealError("No set with this id was committed here.", code="set-unknown")
        taken = {key.board for part in parts for key in part.keys}
        if taken & set(numbers):
            raise DealError(f"Board {min(taken & set(numbers))} is committed already.", code="board-repeated")
        set_id = set_id or secrets.token_hex(8)
        parts.append(PartSecret(new_keys(numbers), entropy_from.strip()))
    save_secret(directory, set_id, parts)
    public = commitments(set_id, parts)
    write_file(out, write_commitment(public))
    count = sum(len(part.boards) for part in public)
    text = f"Commitment of {many(count, 'board')} written to {out}, set {set_id}.\nFingerprint {public[-1].fingerprint}"
    if not_for_play:
        text += f"\n{NOT_FOR_PLAY}"
    fields = {
        "set": set_id,
        "boards": count,
        "parts": len(public),
        "fingerprint": public[-1].fingerprint,
        "commitment": public[-1].commitment.hex(),
        "file": os.fspath(out),
        "not_for_play": not_for_play,
    }
    return Outcome(fields, text)


def _parts_of_file(file: str, directory: Path) -> tuple[str, list[PartSecret], bool]:
    """Set id, the set's keys, made now unless they were made when the set was dealt, and whether it is a seeded set.

    Raises DealError for a file that differs from the keys.
    """
    found = read_deal_file(file)
    deals = found.require_good(file)
    set_id = found.set_id if len(found.set_id) == 16 else secrets.token_hex(8)
    parts = load_secret(directory, set_id)
    known = {key.board: key for part in parts for key in part.keys}
    for part in parts:
        for board in boards_of(part) if part.entropy is not None or not part.entropy_source else []:
            if board not in deals:
                raise DealError(
                    "The file does not hold the deal that was committed.",
                    where=f"{file}, board {board.number}",
                    next_step="Commit the file as it was dealt.",
                    code="deal-differs",
                )
    fresh = [board for board in deals if board.number not in known]
    if fresh:
        parts.append(PartSecret(keys_for(fresh)))
    return set_id, parts, found.not_for_play


@click.command("reveal")
@click.argument("what", metavar="SET|COMMITMENT")
@click.option("--boards", metavar="1-24", help="Only these boards; all of them without it.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Reveal file to publish (JSON).")
@click.option("--data", help="Data directory that holds the secret.")
@command("deal reveal")
def reveal(what: str, boards: str | None, out: str, data: str | None) -> Outcome:
    """Open the commitments of a set after it was played. The file shows every card of these boards.

    SET is the set's id, or the commitment file that was published.
    """
    directory = ensure_directory(data_directory(data))
    set_id = what
    if len(what) != 16 or what.strip("0123456789abcdef"):
        set_id = read_commitment(what)[0][0].set_id
    parts = load_secret(directory, set_id)
    if not parts:
        raise DealError(
            "No set with this id was committed here.",
            next_step="Give the --data of the commitment.",
            code="set-unknown",
        )
    wanted = set(parse_numbers(boards)) if boards else None
    count = sum(wanted is None or key.board in wanted for part in parts for key in part.keys)
    if not count:
        raise DealError("None of these boards was committed.", code="not-committed")
    write_file(out, write_reveal(set_id, parts, wanted), private=True)
    text = f"{many(count, 'board')} revealed in {out}; anybody can check with 'deal audit'."
    return Outcome({"set": set_id, "boards": count, "file": os.fspath(out)}, text)


@click.command("audit")
@click.argument("commitment", type=click.Path())
@click.argument("revealed", metavar="REVEAL", type=click.Path())
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--entropy",
    callback=words,
    multiple=True,
    help="The public entropy as you know it; the revealed one must be the same. Once for each part that has one.",
)
@click.option("--fingerprint", callback=words, help="The fingerprint as it was published before play.")
@command("deal audit")
def audit(
    commitment: str, revealed: str, file: str | None, entropy: tuple[str, ...], fingerprint: str | None
) -> Outcome:
    """Check that the boards revealed, and those in FILE when given, are the boards that were committed.

    Compare the entropy that is printed with what was published, or give it with --entropy.
    """
    parts, stated = read_commitment(commitment)
    keys, entropies, indices, set_id = read_reveal(revealed)
    problems: list[Any] = check_chain(parts, stated)
    from dealer.verify import Finding

    if set_id != parts[0].set_id:
        problems.append(Finding("set-differs", "The reveal is of another set."))
    if fingerprint is not None and fingerprint.strip().upper() not in {part.fingerprint for part in parts}:
        problems.append(Finding("fingerprint-differs", "The commitment has another fingerprint."))
    from_public = [part for part in parts if part.entropy_source]
    if len(entropy) > len(from_public):
        raise ConfigError(
            f"--entropy is given {len(entropy)} times, and {len(from_public)} parts of the set have one.",
            next_step="Give it once for each of these parts, in their order.",
        )
    for part, known in zip(from_public, entropy, strict=False):
        if entropies.get(part.part) != known.strip():
            problems.append(Finding("entropy-differs", f"Part {part.part + 1} was dealt with another entropy."))
    played = read_deal_file(file).require_good(file) if file else None
    matching, more = audit_boards(parts, keys, entropies, played, stated_indices=indices)
    problems += more
    count = sum(len(part.boards) for part in parts)
    fields: dict[str, Any] = {
        "set": parts[0].set_id,
        "boards": count,
        "revealed": len(keys),
        "matching": matching,
        "played": None if played is None else len(played),
        "fingerprint": parts[-1].fingerprint,
        "problems": [finding.as_dict() for finding in problems],
    }
    lines = [f"Set {parts[0].set_id}: {many(count, 'board')} committed, {len(keys)} revealed, {matching} match."]
    for part in parts:
        lines.append(f"Part {part.part + 1}: fingerprint {part.fingerprint}")
        if part.entropy_source:
            lines.append(f"  entropy from: {plain(part.entropy_source)}")
            lines.append(f"  entropy: {plain(entropies.get(part.part) or 'not revealed')}")
    in_file = {board.number for board in played or ()}
    closed = [number for part in parts for number, _ in part.boards if number not in keys and number not in in_file]
    if closed:
        lines.append(f"Not opened: {boards_text(closed)}. Nothing is known of these boards.")
    fields["not_revealed"] = closed
    lines += [f"  problem, {finding}" for finding in problems]
    error = None
    if problems:
        error = DealError(
            f"The set does not agree with its commitment: {problems[0].message}",
            where=f"board {problems[0].board}" if problems[0].board else "",
            code=problems[0].code,
        )
    return Outcome(fields, "\n".join(lines), error)
