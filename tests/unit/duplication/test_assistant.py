"""Boards sorted by hand with the assistant: the same journal and checks as a machine's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from duplication_loop import LoopClock, run

from dealer.assistant import Away, Input, Pile, Ready, SortingAssistant, Undo, typed_card
from dealer.cards import card_name
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import plan
from dealer.duplication.progress import BoardEnded, ProgressEvent, Summary
from dealer.duplication.verdict import BoardState, Reason
from dealer.generate import SeededBytes, generate
from dealer.store.journal import Journal
from drivers.api import Action, CardRead

BOARDS = generate(range(1, 3), SeededBytes(6))


class Human:
    """Reads a shuffled pack card by card, puts each on the pile that is said, and does what is asked."""

    def __init__(self, clumsy: list[CardRead | Undo] | None = None, confirms: bool = True) -> None:
        self.piles: dict[int, list[list[int]]] = {}
        self.said: list[Pile] = []
        self.told: list[tuple[Action, str]] = []
        self.inputs: asyncio.Queue[Input] = asyncio.Queue()
        self.job: DuplicationJob | None = None
        self.clumsy = clumsy or []
        self.confirms = confirms
        self.board = 0
        self.hand = -1
        self.dice = random.Random(3)
        self.pack: list[int] = []

    async def listen(self) -> AsyncIterator[Input]:
        while True:
            yield await self.inputs.get()

    def pile(self, pile: Pile) -> None:
        self.said.append(pile)
        self.piles[self.board][pile.seat].append(self.hand)
        asyncio.get_running_loop().call_later(1.0, self.next_card)

    def next_card(self) -> None:
        if self.clumsy:
            self.inputs.put_nowait(self.clumsy.pop(0))
        elif self.pack:
            self.hand = self.pack.pop()
            read = typed_card(card_name(self.hand))
            assert read is not None
            self.inputs.put_nowait(read)

    def act(self, action: Action, board: int, copy: int, text: str) -> None:
        self.told.append((action, text))
        loop = asyncio.get_running_loop()
        if action == Action.INSERT_BOARD:
            self.board = board
            self.piles[board] = [[], [], [], []]
            self.pack = list(range(52))
            self.dice.shuffle(self.pack)
            loop.call_later(5.0, lambda: self.inputs.put_nowait(Ready()))
        elif action in (Action.REMOVE_BOARD, Action.COLLECT_CARDS):
            loop.call_later(5.0, lambda: self.inputs.put_nowait(Away()))
        elif action == Action.WAIT:
            if self.confirms and self.job is not None:
                loop.call_later(0.5, self.job.confirm)
            loop.call_later(1.0, self.next_card)


def make(path: Path, human: Human, **options: object) -> tuple[Summary, list[ProgressEvent]]:
    async def go() -> tuple[Summary, list[ProgressEvent]]:
        clock = LoopClock(asyncio.get_running_loop())
        journal = Journal.open(path / "dealing.db", clock=clock, threaded=False)
        machine = SortingAssistant(human.listen(), human.pile, human.act, clock)
        heard: list[ProgressEvent] = []
        human.job = DuplicationJob(
            machine,
            journal,
            plan(BOARDS, set_id="set"),
            clock=clock,
            on_progress=heard.append,
            options=JobOptions(silence_s=600, **options),  # type: ignore[arg-type]
        )
        try:
            return await human.job.run(), heard
        finally:
            await machine.close()
            journal.close()

    return run(go())


def test_boards_sorted_by_hand_are_good(tmp_path: Path) -> None:
    human = Human()
    summary, _ = make(tmp_path, human)
    assert summary.complete
    for board in BOARDS:
        assert [sorted(pile) for pile in human.piles[board.number]] == [list(hand) for hand in board.deal.hands]
    assert [pile.number for pile in human.said] == [*range(1, 53)] * 2


def test_without_a_confirmed_number_they_are_unconfirmed(tmp_path: Path) -> None:
    summary, _ = make(tmp_path, Human(confirms=False))
    assert summary.states == {"unconfirmed": 2}


@pytest.mark.parametrize(
    ("slip", "reason"),
    [
        (CardRead(0, 255, 255, 0), Reason.UNREADABLE),
        (CardRead(0, 254, 255, 100), Reason.JOKER),
        (Undo(), Reason.MACHINE_FAULT),
    ],
)
def test_a_slip_begins_the_board_again(tmp_path: Path, slip: CardRead | Undo, reason: Reason) -> None:
    human = Human([slip])
    summary, heard = make(tmp_path, human)
    assert summary.complete
    ended = [event for event in heard if isinstance(event, BoardEnded)]
    assert [event.state for event in ended] == [BoardState.SUSPECT, BoardState.GOOD, BoardState.GOOD]
    assert reason in ended[0].reasons


def test_a_card_read_twice_is_put_on_no_pile(tmp_path: Path) -> None:
    twice = [CardRead(3, 3, 255, 100), CardRead(3, 3, 255, 100)]

    class Eager(Human):
        def pile(self, pile: Pile) -> None:
            self.said.append(pile)
            self.piles[self.board][pile.seat].append(self.hand)
            asyncio.get_running_loop().call_later(1.0, self.next_card)

    human = Eager(list(twice))
    summary, heard = make(tmp_path, human)
    assert summary.complete
    first = next(event for event in heard if isinstance(event, BoardEnded))
    assert Reason.DUPLICATE_CARD in first.reasons


def test_what_people_type() -> None:
    assert typed_card("s10") == typed_card("ST")
    assert typed_card("hq") is not None
    assert typed_card("") is None
    assert typed_card("X9") is None


def test_only_piles_are_said(tmp_path: Path) -> None:
    human = Human()
    make(tmp_path, human)
    words = " ".join(text for _, text in human.told) + repr(human.said)
    assert not any(f" {card_name(card)}" in words for card in range(52))
