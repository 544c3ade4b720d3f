"""How a dealing job behaves: patience, limits, habits."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


def random_job_id() -> int:
    """Random for every attempt at a board (protocol, ARM)."""
    return secrets.randbelow(0xFFFFFFFF) + 1


class PackRule(StrEnum):
    """Which backs a board's cards must have, where the machine sees them."""

    RED_BLUE = "red-blue"
    """Red for odd boards, blue for even ones, so that neighbouring boards never share a pack."""
    ANY = "any"


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Times in seconds, counts per physical board and run unless said otherwise.

    max_attempts: then the board is given up. connect_s: for the first greeting. reconnect_s: how long a vanished
    machine is waited for. confirm_s: after that time without the key the operator is asked to look at the number again;
    None waits for ever. confirm_rounds: how often, before the board is dealt all the same and ends ``unconfirmed``.
    late_confirm_s: how long the number may still be confirmed after the last card. silence_s: without a word for so
    long a dealing machine is given up. grace_s: after a stop, when no sensor tells that the cards have been collected.
    resume_after_s: after a stop that can be cured, before the machine is asked to go on; resume_limit_s: how long it is
    asked; max_resumes: per attempt. stop_s: for the machine to stop when the run ends. packs_after: attempts that
    failed over the pack before another pack is asked for. settle_s: how long the machine is
    listened to after the last board. read_back: doubtful boards are read where the machine can.
    redo: make again what is made already; redo_unconfirmed: only
    the boards that ended unconfirmed. show_cards: instructions may name cards in ``detail``.
    packs: which backs go into which boards. new_job_id: a number 1-0xFFFFFFFF that no earlier attempt has had.
    """

    max_attempts: int = 5
    connect_s: float = 10.0
    reconnect_s: float = 60.0
    confirm_s: float | None = 60.0
    confirm_rounds: int = 3
    late_confirm_s: float = 15.0
    silence_s: float = 10.0
    grace_s: float = 20.0
    resume_after_s: float = 3.0
    resume_limit_s: float = 120.0
    max_resumes: int = 3
    stop_s: float = 2.0
    packs_after: int = 2
    settle_s: float = 1.0
    read_back: bool = True
    redo: bool = False
    redo_unconfirmed: bool = False
    show_cards: bool = False
    packs: PackRule = PackRule.RED_BLUE
    new_job_id: Callable[[], int] = random_job_id
