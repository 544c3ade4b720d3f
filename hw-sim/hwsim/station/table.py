"""The players at one table: they read the round from the screen, play the boards in their order, and key results in."""

from __future__ import annotations

from hwsim.agenda import Agenda, Booking
from hwsim.messages import Fields
from hwsim.speeds import Speed
from hwsim.station.checking import Advice
from hwsim.station.player import Play, corrected, duration, play_board, who
from hwsim.station.room import Room
from hwsim.station.terminal import Terminal


class Table:
    def __init__(
        self,
        terminal: Terminal,
        room: Room,
        agenda: Agenda,
        speed: Speed,
        seed: int,
        corrections: float,
        checks: bool = False,
    ) -> None:
        self.terminal = terminal
        self._room = room
        self._agenda = agenda
        self._speed = speed
        self._seed = seed
        self._corrections = corrections
        self.checks = checks
        self.sign_in = False  # the players of the first round say who they are before they play
        self.advised: list[Advice] = []  # what the screen said of entries, other than that all is fine
        self._busy: Booking | None = None
        self._began: int | None = None
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
        if self.sign_in and index == 0:
            self._say_names(shown)
        board = self._missing(shown)[0]
        if terminal.keyed(shown["round"], board):
            delay = speed.key
        else:
            delay = duration(self._seed, terminal.section, terminal.table, board, shown["round"], *speed.play)
            if self._began != index and index > 0:
                delay += speed.move
        self._began = index
        self._busy = self._agenda.after(delay, lambda: self._agree(index, shown, board))

    def _say_names(self, shown: Fields) -> None:
        """Pairs know each other by number; the second player types his name, every fourth is a guest."""
        terminal = self.terminal
        for pair in (shown["ns"], shown["ew"]):
            for seat in (1, 2):
                if (terminal.event, pair, seat) not in terminal.memory.named:
                    terminal.key_in_name(shown["round"], pair, seat, *who(self._seed, pair, seat))

    def _agree(self, index: int, shown: Fields, board: int) -> None:
        """One side has keyed in, the other looks at the screen and accepts; the host may want them to look again."""
        terminal = self.terminal
        if not self.checks or not terminal.on:
            self._busy = self._agenda.after(self._speed.key, lambda: self._enter(index, shown, board))
            return
        play = self._first_or_better(shown, board)
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
        better = self._correction(shown, board) if self.terminal.keyed(shown["round"], board) else None
        pairs = (shown["ns"], shown["ew"], shown["round"])
        return better or play_board(self._seed, self.terminal.section, board, *pairs)

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
        section, pairs = terminal.section, (shown["ns"], shown["ew"], shown["round"])
        if not terminal.keyed(shown["round"], board):
            terminal.key_in(shown, board, play_board(self._seed, section, board, *pairs))
        else:
            better = self._correction(shown, board)
            original = terminal.original_of(shown["round"], board)
            if better is not None and original is not None:
                terminal.key_in(shown, board, better, original)
        self.consider()
