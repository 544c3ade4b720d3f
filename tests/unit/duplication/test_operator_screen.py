"""What the operator reads: every stop in full, the next number in huge digits, no card, nothing cut off."""

from __future__ import annotations

import asyncio
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from duplication_fakes import FULL, FakeMachine, Run
from duplication_loop import LoopClock, run
from rich.console import Console

from dealer.assistant import Pile
from dealer.cards import Seat, card_name
from dealer.duplication import instructions as say
from dealer.duplication import pack_words
from dealer.duplication.checks import Placement
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import BoardCopy, BoardKey, plan
from dealer.duplication.progress import BoardEnded, JobBegan, JobEnded, LineDown, LineUp, ProgressEvent, Stopped, Told
from dealer.duplication.verdict import READER_TROUBLE, BoardState, Reason, Verdict
from dealer.duplication.words import in_words, what_happened
from dealer.generate import SeededBytes, generate
from dealer.reading import read_again
from dealer.store.journal import Journal
from drivers.api import Action, BackColour, Capability, CommandReason, Fault, MachineFault, Segment, Sound
from firmware_bridge.cli.assistant import Keyboard, by_hand
from firmware_bridge.cli.big_digits import big_number, big_text
from firmware_bridge.cli.dealing_picture import DealingPicture
from firmware_bridge.cli.evening_live import LiveView
from firmware_bridge.cli.keys import EnterKey

KEY = BoardKey(27, 2)
BOARDS = generate(range(1, 5), SeededBytes(6))
FAULTS = [fault for fault in Fault if fault is not Fault.NONE]
WHERE = say.where_cards_are(20, in_flight=1)


def fault_of(fault: Fault, recoverable: bool = False) -> MachineFault:
    return MachineFault(1, fault, Segment.READER, 1, recoverable, Action.CLEAR_JAM)


def all_stops() -> Iterator[say.Instruction]:
    """Every instruction that stands for a stop, for a set with several copies."""
    for reason in Reason:
        verdict = Verdict(BoardState.SUSPECT, (reason,))
        for replace in (False, True):
            yield say.collect(KEY, 3, verdict, None, WHERE, replace_pack=replace)
            if reason in READER_TROUBLE:
                yield say.collect(KEY, 3, verdict, None, WHERE, replace_pack=replace, blame_reader=True)
        yield say.return_board(KEY, 3, verdict)
    for fault in FAULTS:
        yield say.collect(KEY, 3, Verdict(BoardState.SUSPECT, (Reason.MACHINE_FAULT,)), fault_of(fault), WHERE)
        yield say.cure(KEY, 3, fault_of(fault, True), WHERE)
    yield from (say.wrong_board(KEY, 3, 99), say.wrong_to_read(KEY, 3, 99), say.not_confirmed(KEY, 3))
    yield from (say.turned(KEY, 3), say.not_oriented(KEY, 3), say.left_behind(KEY, 3), say.given_up(KEY, 3, 5, WHERE))
    yield from (say.packs_mixed(KEY, 3, 26, WHERE), say.link_down(KEY, 3, 3600, WHERE), read_again(KEY, "it is wet"))
    yield say.read_otherwise(KEY, 3, "Every hand has gone to its partner: the board was turned by 180 degrees.")
    for why in (Reason.OUT_OF_SEQUENCE, Reason.WRONG_BOARD, Reason.TURNED):
        yield say.left_behind(KEY, 3, (why,))
        yield from (say.withdrawn(KEY, 3, why, board_in=board_in) for board_in in (True, False))
    for reason in (CommandReason.COVER_OPEN, CommandReason.POCKETS_NOT_EMPTY, CommandReason.WRONG_BOARD):
        yield say.refused(KEY, 3, reason)
    yield say.refused(KEY, 3, CommandReason.TURNED)
    placement = Placement(BoardCopy(27, 2, BOARDS[0].deal, b""), FULL | Capability.PACK_COLOUR)
    placement.expect_pack(JobOptions().packs, BackColour.BLUE)
    yield from (pack_words.wrong_pack(KEY, 3, placement), pack_words.pack_unseen(KEY, 3))


@pytest.mark.parametrize("stop", list(all_stops()), ids=lambda stop: stop.what[:60])
def test_each_stop_says_what_happened_to_which_board_where_the_cards_are_and_one_next_step(
    stop: say.Instruction,
) -> None:
    assert stop.sound is Sound.STOP
    assert "board 27" in stop.what.lower()
    assert stop.cards in (say.NOT_MOVED,) or stop.cards.startswith("Cards: ")
    assert re.fullmatch(r"[A-Z][^.!?]*[.]", stop.step), "one sentence that begins the doing"
    assert say.short(stop.text) == stop.text, "all of it fits on the machine's display"
    assert not re.search(r"\bfault\b|something", stop.text)
    assert not re.search("[♠♥♦♣]", stop.text)


def test_every_reason_and_every_fault_has_words_of_its_own() -> None:
    words = [in_words(reason) for reason in Reason]
    assert not any("something" in text or "-" in text for text in words)
    assert len({what_happened((), fault_of(fault)) for fault in FAULTS}) == len(FAULTS)


def test_stops_name_the_copy_where_there_are_several() -> None:
    assert all("copy 2" in stop.text for stop in all_stops() if "26" not in stop.text and "wet" not in stop.text)
    assert "copy" not in say.left_behind(KEY, 1).text


@pytest.mark.parametrize(
    ("cards", "options", "words"),
    [
        (0, {}, "No card has moved."),
        (20, {}, "Cards: 20 in the board, the others in the hopper."),
        (20, {"in_flight": 2}, "Cards: 20 in the board, 2 in the machine, the others in the hopper."),
        (52, {}, "Cards: all in the board."),
        (18, {"sure": False}, "Cards: about 18 in the board, the others in machine and hopper."),
        (52, {"board_in": False}, "Cards: all in the board that was taken out."),
    ],
)
def test_where_the_cards_are(cards: int, options: dict[str, int], words: str) -> None:
    assert say.where_cards_are(cards, **options) == words  # type: ignore[arg-type]


# --- huge digits -------------------------------------------------------------------------------------------------


def test_no_two_digits_look_alike_and_each_has_its_own_place() -> None:
    pictures = [big_number(digit, ink="#") for digit in range(10)]
    assert len(set(pictures)) == 10
    for first in range(10):
        for second in range(10):
            joined = big_number(10 * first + second, ink="#") if first else None
            if joined is None:
                continue
            left = "\n".join(line[:6].rstrip() for line in joined.split("\n"))
            right = "\n".join(line[8:].rstrip() for line in joined.split("\n"))
            assert (left, right) == (pictures[first], pictures[second])


def test_a_larger_scale_is_the_same_number() -> None:
    assert len(big_number(24, scale=2).split("\n")) == 10
    assert set(big_number(1, scale=2, ink="#").split("\n")) >= {"    ####"}
    assert [len(big_text(seat.name).split("\n")) for seat in Seat] == [5] * 4


# --- the picture -------------------------------------------------------------------------------------------------


def screen(width: int = 80, height: int = 24) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)


def shown(picture: DealingPicture) -> str:
    console = screen()
    console.print(picture.render())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return str(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))


def bells(picture: DealingPicture) -> int:
    return int(picture._console.file.getvalue().count("\a"))  # type: ignore[attr-defined]


def test_the_next_number_is_huge_already_while_the_board_is_taken_out() -> None:
    picture = DealingPicture(screen())
    picture.take(JobBegan(24, 3, 0, 2))
    picture.take(Told(say.remove_done(BoardKey(3, 2), 2, BoardKey(4, 1))))
    text = shown(picture)
    assert big_number(4, scale=2).split("\n")[0] in text
    assert "Next: Board 4, copy 1" in text
    assert "Board 3, copy 2 is good." in text
    assert bells(picture) == 1


@pytest.mark.parametrize("stop", list(all_stops()), ids=lambda stop: stop.what[:60])
def test_a_stop_is_whole_on_a_small_screen_and_sounds(stop: say.Instruction) -> None:
    picture = DealingPicture(screen())
    picture.take(JobBegan(24, 3, 0, 2))
    picture.take(LineDown("the machine does not answer"))
    for number in range(1, 6):
        picture.take(BoardEnded(number, 1, BoardState.FAILED, (Reason.LOW_MARGIN,)))
    picture.take(Stopped(stop, (Reason.LOW_MARGIN,)))
    text = shown(picture)
    assert " ".join(stop.step.split()) in " ".join(text.split())
    assert stop.cards in " ".join(text.split())
    assert "STOP" in text
    assert text.count("\n") + len(picture.notes()) <= 25
    assert bells(picture) == 1


def test_old_trouble_goes_from_the_screen_when_it_is_over() -> None:
    picture = DealingPicture(screen())
    picture.take(JobBegan(2, 0, 0, 1))
    picture.take(BoardEnded(1, 1, BoardState.SUSPECT, (Reason.LOW_MARGIN,)))
    picture.take(LineDown("the machine does not answer"))
    assert len(picture.notes()) == 2
    picture.take(LineUp(False))
    assert picture.notes() == ["Board 1: suspect, a card was hard to read."]
    picture.take(BoardEnded(1, 1, BoardState.GOOD, ()))
    assert picture.notes() == []
    picture.take(BoardEnded(2, 1, BoardState.UNCONFIRMED, (Reason.NOT_CONFIRMED,)))
    picture.take(Told(say.finished(1, 2, board_in=True)))
    assert picture.notes() == ["Board 2: unconfirmed, nobody confirmed the number."]
    assert "Take the last one out." in shown(picture)


def test_a_terminal_that_has_gone_does_not_end_the_job() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    view = LiveView(screen())
    view._live.stop()
    view.console.file = Gone()
    view(Stopped(say.turned(KEY, 1), (Reason.TURNED,)))
    view.say("Board 1: as it was dealt.")
    view.close()


# --- a whole job on the screen -----------------------------------------------------------------------------------


def bad_card(run_: Run) -> None:
    run_.change(10, margin=5)


def faulty(fault: Fault) -> Callable[[Run], None]:
    def script(run_: Run) -> None:
        run_.events[20:] = [MachineFault(run_.order.job_id, fault, Segment.READER, 1, False, Action.COLLECT_CARDS)]

    return script


@pytest.mark.parametrize("show", [False, True])
def test_a_job_full_of_trouble_never_shows_a_card_unless_asked_to(tmp_path: Path, show: bool) -> None:
    pictures: list[str] = []
    console = screen()
    picture = DealingPicture(console)

    def on_progress(event: ProgressEvent) -> None:
        picture.take(event)
        if isinstance(event, Told | Stopped | JobEnded):
            pictures.append(shown(picture))

    async def go() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        journal = Journal.open(tmp_path / "dealing.db", clock=clock, threaded=False)
        machine = FakeMachine(scripts=[bad_card, faulty(Fault.GATE), faulty(Fault.JAM)])
        options = JobOptions(show_cards=show)
        job = DuplicationJob(
            machine, journal, plan(BOARDS, 2, set_id="set"), clock=clock, on_progress=on_progress, options=options
        )
        assert (await job.run()).complete
        journal.close()

    run(go())
    everything = "\n".join(pictures)
    stops = [text for text in pictures if "STOP" in text]
    assert len(stops) == 3
    named = [card_name(card) for card in range(52) if re.search(rf"\b{card_name(card)}\b", everything)]
    assert bool(named) is show
    assert ("last card" in everything) is show


# --- keys and hands ----------------------------------------------------------------------------------------------


def test_the_end_of_the_keyboard_confirms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost terminal, or Ctrl-D, must not say that the right board is in the machine."""
    confirmed = []

    class Job:
        def confirm(self) -> None:
            confirmed.append(True)

    async def go(written: bytes) -> int:
        read_fd, write_fd = os.pipe()

        class Stdin:
            def isatty(self) -> bool:
                return True

            def fileno(self) -> int:
                return read_fd

        monkeypatch.setattr("sys.stdin", Stdin())
        keys = EnterKey()
        keys.listen(Job())
        os.write(write_fd, written)
        os.close(write_fd)
        async with asyncio.timeout(60):
            while len(confirmed) < written.count(b"\n"):
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        keys.close()
        os.close(read_fd)
        return len(confirmed)

    assert asyncio.run(go(b"")) == 0
    assert asyncio.run(go(b"\n\n")) == 2


@pytest.mark.parametrize(
    "reasons", [Reason.UNREADABLE, Reason.DUPLICATE_CARD, Reason.JOKER, Reason.LOW_MARGIN, Reason.INTERRUPTED]
)
def test_the_sorting_assistant_speaks_of_no_machine(reasons: Reason) -> None:
    where = say.where_cards_are(20)
    verdict = Verdict(BoardState.SUSPECT, (reasons,))
    stopped = MachineFault(1, Fault.STOPPED_BY_KEY, Segment.NONE, 0, False, Action.COLLECT_CARDS)
    for instruction in (
        say.insert(KEY, 2),
        say.confirm(KEY, 2),
        say.dealing(KEY, 2),
        say.remove_done(KEY, 2, KEY),
        say.collect(KEY, 2, verdict, None, where),
        say.collect(KEY, 2, verdict, stopped, where),
        say.collect(KEY, 2, verdict, None, where, replace_pack=True),
        say.packs_mixed(KEY, 2, 26, where),
        say.left_behind(KEY, 2),
        say.given_up(KEY, 2, 5, where),
        say.finished(3, 4),
    ):
        text = by_hand(instruction.text)
        assert not re.search("machine|hopper|the key", text), text


def test_a_card_scanned_twice_is_asked_for_again_and_spoils_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    keyboard = Keyboard({}, None)
    first, second = (keyboard_read for keyboard_read in map(_typed, ("S5", "HQ")))
    assert keyboard._is_new(first)
    keyboard.pile(Pile(Seat.EAST, 1))
    assert not keyboard._is_new(first), "the scanner saw it twice: the pile is said again"
    assert capsys.readouterr().err.count("EAST") == 2
    assert keyboard._is_new(second)
    keyboard.pile(Pile(Seat.WEST, 2))
    assert not keyboard._is_new(first)
    assert "named before" in capsys.readouterr().err
    assert keyboard._is_new(first), "named once more: it is that card, and the checks decide"
    keyboard.act(Action.COLLECT_CARDS, 1, 1, "again")
    assert keyboard._is_new(first), "another attempt, another pack"


def _typed(text: str) -> object:
    from dealer.assistant import typed_card

    return typed_card(text)


def test_a_camera_that_fails_does_not_lose_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> object:
        raise RuntimeError("no picture")

    keyboard = Keyboard({}, broken)  # type: ignore[arg-type]
    keyboard.act(Action.WAIT, 1, 1, "dealing")
    assert asyncio.run(keyboard._meant("")) == []
    assert "no picture" in capsys.readouterr().err
