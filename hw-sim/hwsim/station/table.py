"""The players at one table: they read the round from the screen, play the boards in their order, and key results in."""

from __future__ import annotations

from dataclasses import replace

from hwsim import messages
from hwsim.agenda import Agenda, Booking
from hwsim.messages import Fields
from hwsim.numbers import CONFIRMED_BY_NOBODY, CONFIRMED_BY_OPPONENTS, Positions, RecordKind, Setting, TableRecord
from hwsim.speeds import Speed
from hwsim.station import keypad, recording
from hwsim.station.checking import Advice
from hwsim.station.player import Play, code_of, corrected, duration, play_board, sits_wrong, way_of_typing, who
from hwsim.station.room import Room
from hwsim.station.terminal import Terminal


class Table:
    """checks: each entry is compared by the host before the other side accepts. What else is keyed in follows from the
    event's settings: positions, codes, auction, play, hands."""

    def __init__(
        self,
        terminal: Terminal,
        room: Room,
        agenda: Agenda,
        speed: Speed,
        seed: int,
        corrections: float,
        checks: bool = False,
        sign_in: bool = False,
    ) -> None:
        self.terminal = terminal
        self._room = room
        self._agenda = agenda
        self._speed = speed
        self._seed = seed
        self._corrections = corrections
        self.checks = checks
        self.sign_in = sign_in  # the players of the first round say who they are before they play
        self.advised: list[Advice] = []  # what the screen said of entries, other than that all is fine
        self._busy: Booking | None = None
        self._began: int | None = None
        self._asked_end = 0  # the event whose end was asked for
        self._place = (0, 0, 0)
        terminal.changed = self.consider
        room.listen(self.consider)

    def consider(self) -> None:
        """Perhaps there is something to do now; decided a moment later, so that nothing calls itself."""
        if self._busy is None:
            self._busy = self._agenda.after(0.0, self._next)

    def _next(self) -> None:
        self._busy = None
        terminal = self.terminal
        rounds = terminal.rounds()
        if not terminal.on or not terminal.admitted or not rounds or not terminal.table:
            return
        place = (terminal.event, terminal.section, terminal.table)
        if place != self._place:
            self._room.leave(self._place)
            self._place, self._began = place, None
        finished = 0
        while finished < len(rounds) and not self._missing(rounds[finished]):
            finished += 1
        self._room.finished(place, finished)
        terminal.show_round(self._room.round_of(place, finished))
        if finished < len(rounds) and self._room.may_begin(place, finished):
            self._play(finished, rounds[finished])
        elif finished == len(rounds) and terminal.curious and self._room.may_begin(place, finished):
            self._look_at_the_end(rounds[-1])

    def _look_at_the_end(self, last: Fields) -> None:
        """Everybody has finished: the last pair here looks at its boards, and at the whole ranking."""
        terminal = self.terminal
        if terminal.event != self._asked_end and not terminal.waiting() and terminal.host_listens():
            self._asked_end = terminal.event
            if last["ns"]:
                terminal.ask_recap(terminal.seated(last)[0])
            terminal.ask_standings()

    def _missing(self, shown: Fields) -> list[int]:
        """Boards of this round that are still to be keyed in, in the order of play."""
        if not shown["ns"] or not shown["ew"] or not shown["first_board"]:
            return []
        boards = list(range(shown["first_board"], shown["first_board"] + shown["board_count"]))
        if shown["shared"] and self.terminal.table % 2 == 0:
            half = (len(boards) + 1) // 2  # the other table begins with the first half
            boards = boards[half:] + boards[:half]
        return [board for board in boards if not self._keyed(shown, board)]

    def _keyed(self, shown: Fields, board: int) -> bool:
        if not self.terminal.keyed(shown["round"], board):
            return False
        wrong = self._corrections and self._correction(shown, board) is not None
        return not wrong or self.terminal.keyed(shown["round"], board, True) or not self._nameable(shown, board)

    def _nameable(self, shown: Fields, board: int) -> bool:
        return self.terminal.original_of(shown["round"], board) is not None

    def _correction(self, shown: Fields, board: int) -> Play | None:
        pairs = (shown["ns"], shown["ew"], shown["round"])
        return corrected(self._seed, self._corrections, self.terminal.section, board, *pairs)

    def _play(self, index: int, shown: Fields) -> None:
        terminal, speed = self.terminal, self._speed
        if speed.play[1] == 0.0 and terminal.host_listens() and terminal.waiting() > max(1, terminal.upload.credit):
            return  # without any time of its own a whole round would be keyed in at once; the next ack wakes us
        if index == 0:
            self._sit_down(shown)
        board = self._missing(shown)[0]
        if terminal.keyed(shown["round"], board):
            delay = speed.key
        else:
            delay = duration(self._seed, terminal.section, terminal.table, board, shown["round"], *speed.play)
            if self._began != index and index > 0:
                delay += speed.move
        self._began = index
        self._busy = self._agenda.after(delay, lambda: self._agree(index, shown, board))

    # -- before the first board ---------------------------------------------------------------------------------------

    def _sit_down(self, shown: Fields) -> None:
        terminal = self.terminal
        if terminal.allows(Setting.POSITIONS) and not terminal.noted(shown["round"], 0, TableRecord.POSITIONS):
            wrong = sits_wrong(self._seed, terminal.section, terminal.table)
            terminal.confirm_positions(shown, Positions.CHANGED if wrong else Positions.AS_PLANNED)
        for pair in (shown["ns"], shown["ew"]):
            if self.sign_in:
                self._say_names(shown, pair)
            if terminal.allows(Setting.CONFIRM_CODE) and not terminal.noted(shown["round"], pair, TableRecord.CODE):
                terminal.choose_code(shown["round"], pair, code_of(self._seed, pair))

    def _say_names(self, shown: Fields, pair: int) -> None:
        """Pairs know each other by number; the second player types his name, every fourth is a guest."""
        terminal = self.terminal
        for seat in (1, 2):
            if (terminal.event, pair, seat) not in terminal.memory.named:
                terminal.key_in_name(shown["round"], pair, seat, *who(self._seed, pair, seat))

    # -- after a board ------------------------------------------------------------------------------------------------

    def _agree(self, index: int, shown: Fields, board: int) -> None:
        """One side has keyed in, the other looks at the screen and accepts; the host may want them to look again."""
        terminal = self.terminal
        if not terminal.on or terminal.shown_round() != shown or terminal.round_index != index:
            self._busy = self._agenda.after(self._speed.key, lambda: self._enter(index, shown, board))
            return
        play = self._first_or_better(shown, board)
        if terminal.allows(Setting.AUCTION) and not terminal.noted(shown["round"], board, TableRecord.AUCTION):
            calls = recording.auction(play, board)
            data = messages.pack_auction(recording.dealer_of(board), calls)
            terminal.note(shown, TableRecord.AUCTION, data, board, CONFIRMED_BY_NOBODY)
        if not self.checks:
            self._busy = self._agenda.after(self._speed.key, lambda: self._enter(index, shown, board))
            return
        terminal.checking.ask(
            terminal.body_of(shown, board, play), lambda advice: self._advised(advice, index, shown, board)
        )

    def _advised(self, advice: Advice, index: int, shown: Fields, board: int) -> None:
        delay = self._speed.key
        if advice.text:
            self.advised.append(advice)
            self.terminal.message_line = advice.text
            delay *= 2  # they look again, and it is right
        if advice.needs_director:
            self.terminal.call_director()
        self._busy = self._agenda.after(delay, lambda: self._enter(index, shown, board))

    def _first_or_better(self, shown: Fields, board: int) -> Play:
        """What is keyed in now, as it is typed, with the lead that the recorded play begins with."""
        better = self._correction(shown, board) if self.terminal.keyed(shown["round"], board) else None
        section, pairs = self.terminal.section, (shown["ns"], shown["ew"], shown["round"])
        play = better or play_board(self._seed, section, board, *pairs)
        if play.kind != RecordKind.PLAYED:
            return play
        if self.terminal.allows(Setting.PLAY) or self.terminal.allows(Setting.HAND_ENTRY):
            play = replace(play, lead=self._cards(play, board)[0][1])
        elif self.terminal.memory.settings is not None and not self.terminal.allows(Setting.LEAD):
            play = replace(play, lead=255)
        way = way_of_typing(self._seed, section, self.terminal.table)
        return replace(play, tricks=keypad.tricks(play, board, keypad.typed(play, board, way), way))

    def _cards(self, play: Play, board: int) -> list[recording.Card]:
        return recording.cards(self._seed, play, recording.hands(self._seed, self.terminal.section, board))

    def _enter(self, index: int, shown: Fields, board: int) -> None:
        self._busy = None
        terminal = self.terminal
        if not terminal.on:
            return
        if self.checks:
            terminal.press_key()
        on_screen = terminal.shown_round()
        if on_screen != shown or terminal.round_index != index:
            self.consider()  # the plan has changed under our hands
            return
        play = self._first_or_better(shown, board)
        if not terminal.keyed(shown["round"], board):
            self._accept(shown, board, play)
        else:
            original = terminal.original_of(shown["round"], board)
            if self._correction(shown, board) is not None and original is not None:
                self._accept(shown, board, play, correction=True)
        self.consider()

    def _accept(self, shown: Fields, board: int, play: Play, *, correction: bool = False) -> None:
        """East-West accept, with their code if the event wants that; then whatever else is recorded of the board."""
        terminal = self.terminal
        original = terminal.original_of(shown["round"], board) if correction else None
        if terminal.allows(Setting.CONFIRM_CODE):
            terminal.accept(shown, board, play, code_of(self._seed, terminal.seated(shown)[1]), original)
        else:
            terminal.key_in(shown, board, play, original)
        if terminal.allows(Setting.PLAY) and play.kind == RecordKind.PLAYED:
            data = messages.pack_play(play.tricks, self._cards(play, board))
            terminal.note(shown, TableRecord.PLAY, data, board, CONFIRMED_BY_OPPONENTS)
        if terminal.allows(Setting.HAND_ENTRY) and not terminal.noted(shown["round"], board, TableRecord.HANDS):
            owners = recording.hands(self._seed, terminal.section, board)
            typed = [[card for card in range(52) if owners[card] == seat] for seat in range(3)]
            terminal.message_line = terminal.enter_hands(shown, board, typed)
