"""What terminals ask and only the store can answer: is this entry plausible, what may be shown.

Runs inside the batch's transaction.

A question comes after everything that the same terminal said before, and its answer goes out after the commit, so an
answer never speaks of something that is not on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.wire.messages import Ask, Codes, EntryCheck, EntryChecked, Message, NameSearch, PairCode, fit_text
from firmware_bridge.wire.numbers import AskFor, CheckCode, RecordKind
from firmware_bridge.wire.record import RecordBody
from terminals.contract import Contract, Strain
from terminals.entry import IT_IS_RIGHT, Answer, Behind, Budget, Entry, Known, Notice, check
from terminals.result import BoardState, PassedOut, Played
from terminals.settings import EventSettings
from terminals.store import desk, results
from terminals.store.values import PlayKey
from terminals.sync.feedback import feedback
from terminals.sync.people import find_players, names_of_table
from terminals.sync.recap import recap
from terminals.sync.recorded import of_play, verifiers
from terminals.sync.sense import Senseless, content_of
from terminals.sync.setup import EventSetup, pairs_at, section_letter

CODES: Mapping[str, CheckCode] = MappingProxyType(
    {
        "check": CheckCode.CHECK,
        "out-of-order": CheckCode.OUT_OF_ORDER,
        "sit-out": CheckCode.SIT_OUT,
        "wrong-pairs": CheckCode.WRONG_PAIRS,
        "not-in-round": CheckCode.NOT_IN_ROUND,
        "entered-before": CheckCode.ENTERED_BEFORE,
        "played-before": CheckCode.PLAYED_BEFORE,
    }
)
"""Code of a notice of ``terminals.entry`` -> number on the wire."""


NOT_WARNED = Budget()
DoubleDummy = Mapping[tuple[Seat, Strain], int]
Question = EntryCheck | Ask | NameSearch


@dataclass(frozen=True, slots=True)
class TakeQuestion:
    """What a terminal at ``seat`` (section number, table) asks. budget: how often this table was warned. deal: of the
    board that the question is about, None when it is not known. double_dummy: of that deal, if somebody has solved it.
    """

    seat: tuple[int, int]
    message: Question
    budget: Budget = NOT_WARNED
    deal: Deal | None = field(default=None, repr=False)
    double_dummy: DoubleDummy | None = field(default=None, repr=False)
    wall: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """messages: for the terminal, in order. budget: of its table from now on, None as before."""

    messages: tuple[Message, ...] = ()
    budget: Budget | None = None


def answer(connection: Connection, setup: EventSetup, question: TakeQuestion) -> Reply:
    """The answer of the store as it is in this transaction. A question that makes no sense is not answered."""
    try:
        asked = question.message
        if isinstance(asked, NameSearch):
            return Reply((find_players(connection, asked),))
        if isinstance(asked, EntryCheck):
            return _check(connection, setup, question, asked)
        if asked.what == AskFor.NAMES:
            names = names_of_table(connection, setup, question.seat, asked.round)
            return Reply() if names is None else Reply((names,))
        if asked.what == AskFor.CODES:
            return Reply(codes_of_table(connection, setup, question.seat))
        if asked.what in (AskFor.RECAP, AskFor.STANDINGS):
            return Reply(recap(connection, setup, question.seat, asked))
        return Reply(feedback(connection, setup, question.seat, asked))
    except (Senseless, FirmwareBridgeError):
        return Reply()


def _check(connection: Connection, setup: EventSetup, question: TakeQuestion, asked: EntryCheck) -> Reply:
    record = RecordBody.unpack(asked.body)
    number, table = question.seat
    section = setup.section(number)
    if section is None or (record.section, record.table) != question.seat or not record.board:
        return Reply()
    fine = Reply((EntryChecked(asked.check, int(CheckCode.FINE), ""),))
    if record.kind not in (RecordKind.PLAYED, RecordKind.PASSED_OUT):
        return fine
    content = content_of(record, RecordKind(record.kind))
    event, settings = desk.event_hex(setup.id), setup.settings_of(number)
    entered: dict[int, int] = {}
    played: set[tuple[int, int]] = set()
    others: list[BoardState] = []
    for row in results.of_table_and_board(connection, event, section.letter, table, record.board):
        if row.content is None:
            continue
        same = row.play.board == record.board
        if row.table == table and not same:
            entered[row.play.board] = row.round
        if same and {row.play.ns, row.play.ew} != {record.ns, record.ew}:
            if row.table == table:
                entered[row.play.board] = row.round
            played.update(((record.board, row.play.ns), (record.board, row.play.ew)))
            others.append(row.content)
    if settings.across:
        rows = results.of_board(connection, event, record.board)
        others += [row.content for row in rows if row.content is not None and row.play.section != section.letter]
    known = Known(section.movement, entered, frozenset(played), check_order=settings.order)
    behind = Behind(question.deal, question.double_dummy, others) if settings.checks else Behind()
    entered_result = content if isinstance(content, (Played, PassedOut)) else None
    entry = Entry(record.round, table, record.board, record.ns, record.ew, entered_result)
    verdict = check(entry, known, behind, question.budget, settings.checks_per_round)
    if verdict.causes:
        place = {"section": section_letter(number), "table": table, "board": record.board}
        data = {**place, "causes": list(verdict.causes)}
        desk.append_desk(connection, event, desk.DeskEvent("entry-check", data, wall=question.wall))
    notices = verdict.notices + _auction(connection, event, settings, PlayKey(section.letter, *entry.play), content)
    if not notices:
        return Reply(fine.messages, verdict.budget)
    return Reply((_told(asked.check, notices),), verdict.budget)


def _auction(
    connection: Connection, event: str, settings: EventSettings, play: PlayKey, content: BoardState | None
) -> tuple[Notice, ...]:
    """The contract against the auction that this table has recorded itself, so it may be told in plain words."""
    told = of_play(connection, event, play).auction if settings.auction else None
    reached = None if told is None else told.contract
    named = content.contract if isinstance(content, Played) else content
    if reached is None or named is None or reached == named:
        return ()
    words = f"ended in {reached}" if isinstance(reached, Contract) else "was passed out"
    return (Notice("check", f"The auction recorded here {words}. Is the entry right?", Answer.CONFIRM, IT_IS_RIGHT),)


def codes_of_table(connection: Connection, setup: EventSetup, seat: tuple[int, int]) -> tuple[Message, ...]:
    """By what the codes of those who come to a table are known."""
    section = setup.section(seat[0])
    if section is None or not setup.settings_of(seat[0]).confirm_code:
        return ()
    known = verifiers(connection, desk.event_hex(setup.id), section.letter)
    wanted = pairs_at(setup, *seat)
    found = [PairCode(pair, known[pair]) for pair in sorted(known) if wanted is None or pair in wanted]
    return (Codes(tuple(found[:255])),)


def _told(number: int, notices: tuple[Notice, ...]) -> EntryChecked:
    """One message for all notices; its code is that of the one which asks for most."""
    first = next((one for one in notices if one.answer is Answer.DIRECTOR), notices[0])
    return EntryChecked(number, int(CODES[first.code]), fit_text("\n".join(one.text for one in notices)))
