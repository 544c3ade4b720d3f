"""What people key in at a terminal, into its memory first: results, names, auctions, play, hands, seats, codes."""

from __future__ import annotations

import hmac
import random
from collections.abc import Callable

from hwsim import messages
from hwsim.agenda import Agenda
from hwsim.memory import Media
from hwsim.messages import Fields, pack_body, unpack_body
from hwsim.numbers import (
    CONFIRMED_BY_CODE,
    CONFIRMED_BY_DIRECTOR,
    CONFIRMED_BY_NOBODY,
    CONFIRMED_BY_OPPONENTS,
    Admission,
    Ask,
    Kind,
    Positions,
    RecordKind,
    Setting,
    TableRecord,
)
from hwsim.station.menu import DirectorMenu
from hwsim.station.nvlog import Stored, TerminalMemory
from hwsim.station.player import Play
from hwsim.station.showing import play_words
from hwsim.station.upload import Radio, Upload

CLOCK_STEP = 4.0
BY_DIRECTOR = (RecordKind.NOT_PLAYED, RecordKind.ERASED)
WRONG_CODES = 3  # tries of a code before the screen sends for the director
NO_PROOF = bytes(8)


class Keying:
    """The keys of a terminal. ``keyed_in`` is called after every record of a result."""

    def __init__(
        self,
        address: int,
        device_id: int,
        media: Media,
        radio: Radio,
        agenda: Agenda,
        chance: random.Random,
        key: bytes | None,
    ) -> None:
        self.address = address
        self._radio = radio
        self._agenda = agenda
        self._key = key
        self._clock_error = random.Random(device_id).uniform(0.0, 65536 * CLOCK_STEP)
        self.memory = TerminalMemory(media.log(f"terminal-{address:05}"))
        self.memory.boot(device_id)
        if not self.memory.journal:
            self.memory.new_journal(chance.getrandbits(32) or 1)
        self.records_written = 0  # since power-on
        self.upload = Upload(address, self.memory, radio, agenda, chance, key)
        self.menu = DirectorMenu(address, lambda: self.memory.device_id, radio, agenda)
        self.found: Fields = {}  # the last answer to a search
        self._searches = 0
        self._wrong_codes = 0
        self.round_index: int | None = None  # what is on the screen
        self.last_line = ""
        self.message_line = ""
        self.keyed_in: Callable[[], None] = nothing

    # -- where it is --------------------------------------------------------------------------------------------------

    @property
    def event(self) -> int:
        told = int(self.memory.admission.get("event_id", 0)) if self.admitted else 0
        return told or int(self.memory.plan.get("event_id", 0))

    @property
    def section(self) -> int:
        memory = self.memory
        if self.admitted:
            return int(memory.admission.get("section", 0))
        return int((memory.chosen and memory.chosen[0]) or memory.plan.get("section") or 1)

    @property
    def table(self) -> int:
        # A club sets each terminal to its table once and leaves it there: section A, table by the terminal's number.
        memory = self.memory
        if self.admitted:
            return int(memory.admission.get("table", 0))
        return int((memory.chosen and memory.chosen[1]) or memory.plan.get("table") or self.address)

    @property
    def admitted(self) -> bool:
        return bool(self.memory.admission.get("admitted") == Admission.ADMITTED)

    def allows(self, setting: Setting) -> bool:
        """What the event's settings say; without any only that the other side accepts."""
        told = self.memory.settings
        return setting is Setting.CONFIRM if told is None else bool(told & setting)

    def rounds(self) -> list[Fields]:
        plan = self.memory.plan
        return list(plan.get("rounds", ())) if plan.get("event_id") == self.event else []

    def waiting(self) -> int:
        return len(self.memory.waiting())

    def shown_round(self) -> Fields | None:
        rounds = self.rounds()
        if self.round_index is None or self.round_index >= len(rounds):
            return None
        return rounds[self.round_index]

    def keyed(self, round_: int, board: int, correction: bool = False) -> bool:
        return (self.event, round_, board, int(correction)) in self.memory.keyed

    def seated(self, shown: Fields) -> tuple[int, int]:
        """Who sits North-South and East-West in a round: as planned, unless they stay the other way round."""
        ns, ew = int(shown["ns"]), int(shown["ew"])
        return (ew, ns) if (self.event, shown["round"]) in self.memory.swapped else (ns, ew)

    def clock(self) -> int:
        return int((self._agenda.now + self._clock_error) / CLOCK_STEP) & 0xFFFF

    # -- results ------------------------------------------------------------------------------------------------------

    def key_in(
        self,
        shown: Fields,
        board: int,
        play: Play,
        replaces: Stored | None = None,
        confirmed_by: int = CONFIRMED_BY_OPPONENTS,
    ) -> Stored:
        """Both sides have agreed: into the memory, then on its way."""
        distance = self.memory.next_seq - replaces.seq if replaces is not None else 0
        body = self.body_of(shown, board, play, distance, self.clock(), confirmed_by)
        stored = self.memory.add(body, self.event)
        self.last_line = f"Board {board} {play_words(play)}: on this terminal"
        self._written()
        self.keyed_in()
        return stored

    def accept(self, shown: Fields, board: int, play: Play, code: str, replaces: Stored | None = None) -> bool:
        """East-West accept with their code; False if it is another one. A pair without a code accepts by one touch."""
        _, pair = self.seated(shown)
        verifier = self.memory.codes.get(pair)
        if verifier is None:
            self.key_in(shown, board, play, replaces)
            return True
        typed = messages.code_verifier(code, self.event, self.section, pair)
        if not hmac.compare_digest(typed, verifier):
            self._wrong_codes += 1
            again = self._wrong_codes < WRONG_CODES
            self.message_line = "Wrong code" if again else "Wrong code. Call the director."
            return False
        self._wrong_codes = 0
        stored = self.key_in(shown, board, play, replaces, CONFIRMED_BY_CODE)
        proof = messages.acceptance_proof(verifier, self.event, stored.body)
        data = messages.pack_accepted(pair, 0, self.clock(), proof)
        self.note(shown, TableRecord.ACCEPTED, data, board, CONFIRMED_BY_CODE)
        return True

    def direct(self, shown: Fields, board: int, kind: int) -> bool:
        """The director's menu: a board was not played, or what was keyed in is erased. False if it can't be."""
        standing = self.original_of(shown["round"], board)
        if not self.menu.is_open or (kind == RecordKind.ERASED and standing is None):
            return False
        self.menu.touch()
        self.key_in(shown, board, Play(kind), standing)
        return True

    def that_was(self, shown: Fields, said: int, board: int) -> bool:
        """The key beside "entered here before": what was keyed in as ``said`` was really ``board``."""
        original = self.original_of(shown["round"], said)
        standing = self.memory.standing(self.event, shown["round"], said)
        if original is None or standing is None or self.keyed(shown["round"], board):
            return False
        told = unpack_body(standing.body)
        names = ("kind", "level", "strain", "doubling", "declarer", "tricks", "lead")
        self.key_in(shown, board, Play(**{name: told[name] for name in names}), original)
        return True

    def body_of(
        self,
        shown: Fields,
        board: int,
        play: Play,
        distance: int = 0,
        stamp: int = 0,
        confirmed_by: int = CONFIRMED_BY_OPPONENTS,
    ) -> bytes:
        """The body of the record of this entry."""
        ns, ew = self.seated(shown)
        return pack_body(
            kind=play.kind,
            confirmed_by=CONFIRMED_BY_DIRECTOR if play.kind in BY_DIRECTOR else confirmed_by,
            section=self.section,
            table=self.table,
            round=shown["round"],
            board=board,
            ns=ns,
            ew=ew,
            declarer=play.declarer,
            tricks=play.tricks,
            level=play.level,
            strain=play.strain,
            doubling=play.doubling,
            lead=play.lead,
            replaces=distance,
            stamp=stamp,
        )

    def original_of(self, round_: int, board: int) -> Stored | None:
        """The record of this journal that a correction of that board can name; None if it was erased."""
        return self.memory.original(self.event, round_, board)

    # -- beside results -----------------------------------------------------------------------------------------------

    def note(self, shown: Fields, what: int, data: bytes, board: int = 0, by: int = CONFIRMED_BY_NOBODY) -> Stored:
        """A TABLE_RECORD of this table."""
        ns, ew = self.seated(shown)
        return self._note(shown["round"], ns, ew, what, data, board, by)

    def _note(self, round_: int, ns: int, ew: int, what: int, data: bytes, board: int, by: int) -> Stored:
        place = {"section": self.section, "table": self.table, "round": round_, "board": board, "ns": ns, "ew": ew}
        stored = self.memory.add_table(messages.pack_table(**place, what=what, by=by, data=data), self.event)
        self._written()
        return stored

    def noted(self, round_: int, board: int, what: int) -> bool:
        return (self.event, round_, board, int(what)) in self.memory.noted

    def enter_hands(self, shown: Fields, board: int, typed: list[list[int]]) -> str:
        """North's, East's and South's cards as typed; West has the rest. Words for the screen if they can't be.

        Only for a board that this table has played: nobody types a hand that somebody has yet to play.
        """
        if not self.keyed(shown["round"], board):
            return f"Board {board} has no result here yet"
        owners = [3] * 52
        taken: set[int] = set()
        for seat, cards in enumerate(typed):
            name = ("North", "East", "South")[seat]
            if len(cards) != 13:
                return f"{name} has {len(cards)} cards"
            if len(set(cards)) != 13 or taken & set(cards):
                return f"{name} has a card twice, or one that another has"
            taken |= set(cards)
            for card in cards:
                owners[card] = seat
        self.note(shown, TableRecord.HANDS, messages.pack_routing(owners), board, CONFIRMED_BY_OPPONENTS)
        return ""

    def confirm_positions(self, shown: Fields, how: int) -> None:
        """Before the first board: do they sit as planned? If they did not, the director is told."""
        ns, ew = shown["ns"], shown["ew"]
        if how == Positions.STAY:
            ns, ew = ew, ns
        self._note(shown["round"], ns, ew, TableRecord.POSITIONS, bytes([how]), 0, CONFIRMED_BY_NOBODY)
        if how != Positions.AS_PLANNED:
            self.message_line = "The director is told how you sit"

    def choose_code(self, round_: int, pair: int, code: str, by: int = CONFIRMED_BY_NOBODY) -> None:
        """A pair chooses the code with which it accepts ("" takes it away, by the director). Known here at once."""
        verifier = messages.code_verifier(code, self.event, self.section, pair) if code else bytes(8)
        self._note(round_, pair, 0, TableRecord.CODE, verifier, 0, by)
        if pair not in self.memory.codes:
            self.memory.hold_codes({**self.memory.codes, pair: verifier})

    def key_in_name(self, round_: int, pair: int, seat: int, how: int, text: str = "") -> None:
        """A player says who he is: a number, a name, or guest in one key."""
        place = {"section": self.section, "table": self.table, "round": round_, "pair": pair, "seat": seat}
        self.memory.add_name(messages.pack_name(**place, how=how, text=text), self.event)
        self._written()

    # -- questions ----------------------------------------------------------------------------------------------------

    def search_name(self, text: str) -> None:
        self._searches = (self._searches + 1) & 0xFF
        self.found = {}
        self._radio.send(self.address, Kind.NAME_SEARCH, {"search": self._searches, "text": text})

    def ask(self, what: int, round_: int = 0, board: int = 0) -> None:
        self._radio.send(self.address, Kind.ASK, {"what": what, "round": round_, "board": board})

    def ask_names(self) -> None:
        shown = self.shown_round()
        self.ask(Ask.NAMES, shown["round"] if shown else 0)

    def ask_recap(self, pair: int) -> None:
        """The key that shows a pair's whole session."""
        self.ask(Ask.RECAP, board=pair)

    def ask_standings(self) -> None:
        self.ask(Ask.STANDINGS)

    def press_key(self) -> None:
        """Takes an urgent message off the screen."""
        self.message_line = ""

    def take_over(self, pin: str) -> None:
        """The director lets this terminal take the table that it has chosen, from the one that is there."""
        self.menu.ask(pin, (self.section, self.table))

    def _written(self) -> None:
        self.records_written += 1
        self.upload.pump()
        self.touch_status()

    def touch_status(self) -> None:
        """Something changed that TERM_STATUS tells."""


def nothing() -> None:
    return None
