"""Sessions to export and to audit, made by rule: helpers of this folder's tests."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.exchange import EventKind, ExchangeEvent, ExchangePlayer
from terminals.interop.publish import EventInfo, publish_session
from terminals.result import Artificial, Assigned, Average, BoardState, FixedPercent, Outcome, PassedOut, Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, ResultLine, WinnerGroup, one_winner, two_winners
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.session import score_session

F = Fraction


def random_result(rng: random.Random) -> BoardState:
    if rng.random() < 0.04:
        return PassedOut()
    contract = Contract(
        rng.randint(1, 7), Strain(rng.randint(1, 5)), Doubling(rng.choice([0, 0, 0, 1, 2])), Seat(rng.randrange(4))
    )
    lead = rng.choice([None, rng.randrange(52)])
    return Played(contract, rng.randint(max(0, contract.level - 1), 13), lead)


def mitchell(
    tables: int = 7, rounds: int = 7, per_round: int = 2, seed: int = 1, *, one: bool = False, section: str = ""
) -> list[ResultLine]:
    """Lines of a Mitchell; ``one``: pair numbers are unique, so that there can be one winner."""
    rng = random.Random(seed)
    lines = []
    for round_number in range(rounds):
        for table in range(tables):
            ew = (table - round_number) % tables
            for index in range(per_round):
                board = ((table + round_number) % tables) * per_round + index + 1
                lines.append(
                    ResultLine(
                        board,
                        Contestant(section, table + 1, "" if one else "NS"),
                        Contestant(section, ew + 1 + (tables if one else 0), "" if one else "EW"),
                        random_result(rng),
                        section,
                    )
                )
    return lines


def with_rulings(lines: list[ResultLine]) -> list[ResultLine]:
    """Some lines replaced by every kind of ruling."""
    weighted = (Outcome(620, F(1, 3)), Outcome(-100, F(2, 3)))
    kinds: list[BoardState] = [
        Artificial(Average.PLUS, Average.MINUS),
        Artificial(Average.EVEN, Average.EVEN),
        Artificial(FixedPercent(F(55), F(1)), FixedPercent(F(45), F(-1))),
        Assigned(weighted, weighted),
        Assigned((Outcome(420),), (Outcome(170),)),
        Assigned((Outcome(-50),), (Outcome(-50),)),
        Assigned(weighted, Average.PLUS),
    ]
    out = list(lines)
    for index, kind in enumerate(kinds):
        place = 3 + 5 * index
        out[place] = replace(out[place], result=kind)
    return out


def names(contestants: set[Contestant]) -> dict[Contestant, tuple[ExchangePlayer, ...]]:
    return {
        one: (
            ExchangePlayer(f"Zoë O'Hara & {one}", f"{1000 + one.number}", "7"),
            ExchangePlayer(f"Łukasz <{one.number}>", "", ""),
        )
        for one in contestants
    }


def published(
    lines: list[ResultLine],
    profile: Profile = PLAIN,
    method: Method = Method.MATCHPOINTS,
    *,
    one: bool = False,
    groups: list[WinnerGroup] | None = None,
    kind: EventKind = EventKind.PAIRS,
) -> ExchangeEvent:
    """The event as we publish it."""
    chosen = groups or (one_winner(lines) if one else two_winners(lines))
    counts: dict[int, int] = {}
    for line in lines:
        counts[line.board] = counts.get(line.board, 0) + 1
    expected = dict.fromkeys(counts, max(counts.values()))
    score = score_session(lines, expected=expected, groups=chosen, profile=profile, method=method)
    everybody = {contestant for group in chosen for contestant in group.contestants}
    info = EventInfo("Thursday pairs", "2026-11-26", "Test & Club", "0042", "1.0", names(everybody), kind)
    return publish_session(info, score, profile, method)
