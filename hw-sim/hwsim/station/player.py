"""What four players make of a board: a plausible result, as a pure function, so that timing never changes a ranking.

Nobody scores here and nobody sees cards; contracts and tricks only have to look like those of a club.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from hwsim.numbers import NameHow, RecordKind

PASSED_OUT = 0.03
# (level, strain, how often): strains 1-5 are clubs, diamonds, hearts, spades, notrump
_CONTRACTS = (
    (3, 5, 17),
    (4, 4, 13),
    (4, 3, 12),
    (1, 5, 10),
    (2, 4, 8),
    (2, 3, 7),
    (3, 1, 4),
    (3, 2, 5),
    (2, 2, 3),
    (2, 1, 2),
    (2, 5, 4),
    (3, 4, 4),
    (3, 3, 4),
    (5, 2, 2),
    (5, 1, 2),
    (6, 5, 1),
    (6, 4, 1),
    (6, 3, 1),
)


@dataclass(frozen=True, slots=True)
class Play:
    """declarer: 0 N, 1 E, 2 S, 3 W; tricks of declarer's side; lead: card 0-51."""

    kind: int
    level: int = 0
    strain: int = 0
    doubling: int = 0
    declarer: int = 0
    tricks: int = 0
    lead: int = 255


def play_board(seed: int, section: int, board: int, ns: int, ew: int, round: int) -> Play:
    """The result of one play. Same arguments, same result; tables that play the same board get related ones."""
    deal = random.Random(f"{seed}:deal:{section}:{board}")
    passes = deal.random()
    level, strain = _pick(deal)
    side = deal.randrange(2)  # 0: the deal belongs to NS
    strength = deal.gauss(0.0, 0.8)
    here = random.Random(f"{seed}:play:{section}:{board}:{ns}:{ew}:{round}")
    if here.random() < (PASSED_OUT * 9 if passes < 0.1 else PASSED_OUT / 9):
        return Play(RecordKind.PASSED_OUT)
    if here.random() < 0.25:  # another contract than the field
        level, strain = _pick(here)
    if here.random() < 0.15:
        level = min(7, level + 1)
    if here.random() < 0.12:  # the other side declares
        side = 1 - side
        level = min(5, max(1, level - 1))
    skill = _skill(seed, section, ns) - _skill(seed, section, ew)
    over = strength + here.gauss(0.2, 1.1) + (skill if side == 0 else -skill)
    tricks = max(0, min(13, level + 6 + int(over // 1)))
    doubled = here.random() < (0.25 if tricks < level + 5 else 0.02)
    doubling = (2 if here.random() < 0.05 else 1) if doubled else 0
    declarer = side + 2 * here.randrange(2)
    return Play(RecordKind.PLAYED, level, strain, doubling, declarer, tricks, here.randrange(52))


def corrected(seed: int, rate: float, section: int, board: int, ns: int, ew: int, round: int) -> Play | None:
    """What the table keys in after noticing that the first entry was wrong, or None if it was right."""
    play = play_board(seed, section, board, ns, ew, round)
    here = random.Random(f"{seed}:again:{section}:{board}:{ns}:{ew}:{round}")
    if here.random() >= rate or play.kind != RecordKind.PLAYED:
        return None
    return replace(play, tricks=play.tricks - 1 if play.tricks else 1)


def duration(seed: int, section: int, table: int, board: int, round: int, shortest: float, longest: float) -> float:
    """Seconds that a table takes for a board."""
    return random.Random(f"{seed}:time:{section}:{table}:{board}:{round}").uniform(shortest, longest)


FIRST_NAMES = ("Ada", "Jan", "Łukasz", "Chloé", "Øyvind", "Žofie", "Maria", "Müjde")
LAST_NAMES = ("Smith", "Żak", "O'Neill", "Núñez", "Groß", "Šimić", "de Boer", "Ito")


def who(seed: int, pair: int, seat: int) -> tuple[int, str]:
    """What a player keys in about himself: how, and the text."""
    here = random.Random(f"{seed}:who:{pair}:{seat}")
    if seat == 1:
        return NameHow.NUMBER, str(1000 + pair)
    if pair % 4 == 0:
        return NameHow.GUEST, ""
    return NameHow.NAME, f"{here.choice(FIRST_NAMES)} {here.choice(LAST_NAMES)}"


def code_of(seed: int, pair: int) -> str:
    """The four digits with which a pair accepts."""
    return f"{random.Random(f'{seed}:code:{pair}').randrange(10_000):04}"


def sits_wrong(seed: int, section: int, table: int) -> bool:
    """Whether the pairs of a table first sit down the wrong way round."""
    return random.Random(f"{seed}:seats:{section}:{table}").random() < 0.1


def way_of_typing(seed: int, section: int, table: int) -> str:
    """How a table types its results."""
    return random.Random(f"{seed}:way:{section}:{table}").choice(("tricks", "plus", "total"))


def _pick(chance: random.Random) -> tuple[int, int]:
    level, strain, _ = chance.choices(_CONTRACTS, weights=[c[2] for c in _CONTRACTS])[0]
    return level, strain


def _skill(seed: int, section: int, pair: int) -> float:
    return random.Random(f"{seed}:skill:{section}:{pair}").gauss(0.0, 0.25)
