"""What players who record everything key in beside a result: hands, an auction that reaches it, a play that fits it.

Pure functions of the seed, like ``player``. The cards are the simulated players' own: nobody tells them what a machine
has dealt.
"""

from __future__ import annotations

import random

from hwsim.numbers import RecordKind
from hwsim.station.player import Play

PASS, DOUBLE, REDOUBLE = 0, 36, 37
Card = tuple[int, int]  # seat, card
CallMade = tuple[int, int, int, bool]  # seat, call, standing, alerted


def dealer_of(board: int) -> int:
    return (board - 1) % 4


def hands(seed: int, section: int, board: int) -> list[int]:
    """The seat of each card; the same at every table."""
    owners = [seat for seat in range(4) for _ in range(13)]
    random.Random(f"{seed}:cards:{section}:{board}").shuffle(owners)
    return owners


def auction(play: Play, board: int) -> list[CallMade]:
    """The shortest auction that reaches the contract."""
    seat = dealer_of(board)
    if play.kind != RecordKind.PLAYED:
        return [((seat + turn) % 4, PASS, 0, False) for turn in range(4)]
    calls: list[CallMade] = []
    while seat != play.declarer:
        calls.append((seat, PASS, 0, False))
        seat = (seat + 1) % 4
    made = [(play.level - 1) * 5 + play.strain]
    if play.doubling:
        made.append(DOUBLE)
    if play.doubling == 2:
        made.append(REDOUBLE)
    for call in [*made, PASS, PASS, PASS]:
        calls.append((seat, call, 0, call == made[0] and play.level == 1))
        seat = (seat + 1) % 4
    return calls


def cards(seed: int, play: Play, owners: list[int]) -> list[Card]:
    """A play by the Laws, as far as it goes with the result; then somebody claims. At least the opening lead."""
    if play.kind != RecordKind.PLAYED:
        return []
    here = random.Random(f"{seed}:card-play:{play.level}:{play.strain}:{play.declarer}:{play.tricks}:{owners[0]}")
    held = [{card for card in range(52) if owners[card] == seat} for seat in range(4)]
    trump = {1: 3, 2: 2, 3: 1, 4: 0}.get(play.strain)  # cards are numbered spades, hearts, diamonds, clubs
    leader, won = (play.declarer + 1) % 4, [0, 0]
    told: list[Card] = []
    while sum(won) < 13:
        trick: list[Card] = []
        for turn in range(4):
            seat = (leader + turn) % 4
            follow = sorted(card for card in held[seat] if trick and card // 13 == trick[0][1] // 13)
            card = here.choice(follow or sorted(held[seat]))
            held[seat].discard(card)
            trick.append((seat, card))
        leader = _winner(trick, trump)
        won[(leader - play.declarer) % 2] += 1
        if won[0] > play.tricks or won[1] > 13 - play.tricks:
            break  # this trick would say something else than the result
        told += trick
    return told or trick[:1]


def _winner(trick: list[Card], trump: int | None) -> int:
    best = trick[0]
    for one in trick[1:]:
        suit, top = one[1] // 13, best[1] // 13
        if (suit == top and one[1] < best[1]) or (suit == trump and top != trump):
            best = one
    return best[0]
