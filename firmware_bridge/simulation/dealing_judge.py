"""Compares what the dealing job claims with the physical world, at the moment of the claim and once more at the end.

A good board that is wrong is a broken promise unless every single card that lies wrong is explained by a fault on the
closed list (docs/dealing.md), for the sensors that the machine has: not that such a fault struck, but that it alone
makes exactly the board that lies there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from dealer.duplication.plan import BoardKey, Plan
from dealer.duplication.progress import BoardBegan, BoardEnded, ProgressEvent, Stopped
from dealer.duplication.verdict import BoardState
from firmware_bridge.simulation.dealing_people import Mishaps
from hwsim.machine.mechanics import Passage
from hwsim.machine.pack import back_of, face
from hwsim.numbers import BackColour, Capability

Place = tuple[int, int]

COPIES = "copies were taken for each other: they carry the same number, and nothing counts what lies in the pockets"


@dataclass(frozen=True, slots=True)
class Facts:
    """What truly happened to one physical board.

    pockets: the cards in it, by printed seat. turned: quarter turns clockwise of the board in the machine. passed: how
    each card came to where it is. left: cards that were in before dealing. moved: moved by hand after the board was
    done. blind: it was confirmed as another one without looking. attempt: the cards that came into it as that other
    one. again: it was in the machine in place of another copy. spoilt: cards that came into it in place of another
    board, None if none ever did.
    """

    pockets: list[list[int]]
    turned: int = 0
    passed: dict[int, Passage] = field(default_factory=dict)
    left: Collection[int] = ()
    moved: Collection[int] = ()
    blind: bool = False
    again: bool = False
    attempt: Collection[int] = ()
    spoilt: Collection[int] | None = None


def excuse_for(facts: Facts, wanted: list[list[int]], capabilities: int, *, same_number: bool) -> str | None:
    """The closed list: why a machine with these sensors can't have seen that the board is wrong, or None.

    wanted: the faces that each seat should have. None when the board is right as well as when nothing, or not
    everything, of what is wrong with it is explained: that is a fault of ours.
    """
    why: set[str] = set()
    if not same_number:
        if capabilities & Capability.LABEL or not facts.blind:
            return None
        why.add("another board, confirmed without looking, and no label reader")
        # What lay in it before has nothing to do with the board that it was taken for.
        facts = replace(facts, pockets=[[c for c in cards if c in facts.attempt] for cards in facts.pockets])
    elif facts.again:
        why.add(COPIES)
        facts = replace(facts, pockets=[[c for c in cards if c in facts.attempt] for cards in facts.pockets])
    elif facts.spoilt is not None and not capabilities & Capability.LABEL:
        own = [sorted(face(card) for card in cards if card not in facts.spoilt) for cards in facts.pockets]
        if own in (wanted, [[], [], [], []]):
            return "dealt into once more in place of another board, and no label reader"
    turned = 0
    if facts.turned and not capabilities & Capability.ORIENTATION:
        turned = facts.turned
        why.add("the board lay turned, and nobody sees how it lies")
    seat_of = {card: seat for seat, hand in enumerate(wanted) for card in hand}
    faces: list[int] = []
    misread: list[tuple[int, int]] = []
    for seat, cards in enumerate(facts.pockets):
        pocket = (seat + turned) % 4
        for card in cards:
            if card in facts.left:
                why.add("a card was left in the board, and nothing counts what lies in the pockets")
                continue
            faces.append(face(card))
            passage = facts.passed.get(card)
            if passage is not None and passage.taken != face(card):
                misread.append((face(card), passage.taken))
            if seat_of.get(face(card)) == pocket:
                continue
            if card in facts.moved:
                why.add("moved by hand after the board was done")
            elif passage is None or len(passage.cards) > 1:
                return None
            elif passage.stuck and passage.pocket == pocket and not capabilities & Capability.EXIT:
                why.add("a deflector stuck, and there are no exit sensors")
            elif passage.taken != face(card) and seat_of.get(passage.taken) == pocket:
                why.add("two cards were each taken for the other without any doubt")
            else:
                return None
    if sorted(faces) != list(range(52)) or {a for a, _ in misread} != {b for _, b in misread}:
        return None
    return "; ".join(sorted(why)) or None


class Judge:
    """Hears the job's progress. ``wrong``: good boards that are wrong, and why, None for a broken promise. ``reasons``:
    why work stood still or a board was not good.

    packs: whether odd boards have to have red backs and even ones blue.
    """

    def __init__(self, machine: Mishaps, made: Plan, *, excuses: bool, packs: bool = True) -> None:
        self._machine = machine
        self._excuses = excuses
        self._packs = packs and machine.profile.can(Capability.PACK_COLOUR)
        self._hands = {item.key: [list(hand) for hand in item.deal.hands] for item in made.items}
        self.wrong: dict[BoardKey, str | None] = {}
        self._made_in: dict[BoardKey, Place] = {}  # the board that was in when this one was called good
        self._hash = hashlib.sha256()
        self.stops = 0
        self.reasons: Counter[str] = Counter()

    def hear(self, event: ProgressEvent) -> None:
        machine = self._machine
        match event:
            case BoardBegan():
                machine.attempt.clear()
                self._note(f"began {event.board}.{event.copy} at {machine.agenda.now:.6f}")
            case BoardEnded():
                key = BoardKey(event.board, event.copy)
                self._note(f"{event.state.value} {key} {'+'.join(event.reasons)} at {machine.agenda.now:.6f}")
                slot = machine.world.slot or (event.board, event.copy)
                if event.cards_moved and slot[0] != event.board:
                    machine.spoilt.setdefault(slot, set()).update(machine.attempt)
                self.reasons.update(reason.value for reason in event.reasons)
                if event.state is BoardState.GOOD:
                    if slot == (event.board, event.copy):
                        machine.spoilt.pop(slot, None)  # made anew
                        machine.again.discard(slot)
                    self._made_in[key] = slot
                    self._compare(key, slot)
            case Stopped():
                self.stops += 1
                self.reasons.update(reason.value for reason in event.reasons)
            case _:
                pass

    def at_the_end(self, states: dict[BoardKey, BoardState]) -> None:
        """Every board once more, as it stands on the shelf."""
        for key, state in states.items():
            if state is BoardState.GOOD and key not in self.wrong:
                self._compare(key, (key.board, key.copy), at_the_end=True)

    def _compare(self, key: BoardKey, place: Place, *, at_the_end: bool = False) -> None:
        machine, wanted = self._machine, self._hands[key]
        pockets = machine.world.boards.get(place, [[], [], [], []])
        same_number = place[0] == key.board
        other_pack = self._packs and any(self._strange(card, key) for cards in pockets for card in cards)
        right = same_number and [sorted(map(face, cards)) for cards in pockets] == wanted
        if right and not other_pack:
            self.wrong.pop(key, None)
            return
        own = (key.board, key.copy)
        if at_the_end and (place in machine.again or self._made_in.get(key, own) != own):
            # It was right, or explained, when it was called good; what happened since is the mix-up of copies.
            self.wrong[key] = COPIES if self._excuses and not other_pack else None
            return
        facts = Facts(
            pockets,
            machine.world.lay.get(place, 0),
            machine.passed,
            machine.left,
            machine.moved.get(place, ()) if at_the_end else (),
            blind=(own, place) in machine.blind,
            again=same_number and place != own,
            attempt=machine.attempt,
            spoilt=machine.spoilt.get(place),
        )
        excuse = excuse_for(facts, wanted, machine.profile.capabilities, same_number=same_number)
        self.wrong[key] = excuse if self._excuses and not other_pack else None

    def _strange(self, card: int, key: BoardKey) -> bool:
        """A card with the wrong back; what was left in a board is another matter."""
        wanted = BackColour.RED if key.board & 1 else BackColour.BLUE
        return card not in self._machine.left and back_of(card) != wanted

    def _note(self, line: str) -> None:
        self._hash.update(line.encode())

    @property
    def trace(self) -> str:
        return self._hash.hexdigest()[:16]
