"""The messages between host, base station and table terminals, kinds 60-9F (docs/protocol.md section 4).

The terminal is named by the address of the frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from firmware_bridge.wire.layout import U8, U16, U32, U64, Blob16, Bytes6, Bytes8, Bytes14, Str8, list_of
from firmware_bridge.wire.link_messages import HelloFields


@dataclass(frozen=True, slots=True)
class TermHello(HelloFields):
    """A terminal introduces itself: the payload of HELLO, with role 3 and session 0."""


@dataclass(frozen=True, slots=True)
class Admit:
    """Takes a terminal into an event, or not. admitted: ``Admission``; section: 1 is A; table: 0 if at no table."""

    device_id: U64
    admitted: U8
    event_id: U64
    section: U8
    table: U8
    text: Str8


@dataclass(frozen=True, slots=True)
class TermStatus:
    """How a terminal is. battery, signal: percent, 255 not known. waiting: records not yet acknowledged.

    clock: counts 4 s, modulo 65536. plan_version: of the TABLE_PLAN that it holds, 0 if none.
    """

    section: U8
    table: U8
    round: U8
    battery: U8
    signal: U8
    waiting: U16
    clock: U16
    plan_version: U16


@dataclass(frozen=True, slots=True)
class PlanRound:
    """One round at one table. ns, ew: pair numbers, 0 nobody. first_board: 0 if the table does not play.

    next_ns, next_ew: table in the next round, 0 sit-out, 255 end. next_swap: bit 0 NS sits EW next, bit 1 EW sits NS.
    """

    round: U8
    ns: U16
    ew: U16
    first_board: U16
    board_count: U8
    shared: U8
    next_ns: U8
    next_ew: U8
    next_swap: U8


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The whole evening of one table. version rises with every change."""

    event_id: U64
    version: U16
    section: U8
    table: U8
    rounds: Annotated[tuple[PlanRound, ...], list_of(PlanRound, "plan_round")]


@dataclass(frozen=True, slots=True)
class TermGone:
    """The base station no longer hears a terminal. reason: ``GoneReason``."""

    reason: U8


@dataclass(frozen=True, slots=True)
class StationStatus:
    """terminals: in radio contact. battery: percent, 255 on mains."""

    terminals: U16
    battery: U8


@dataclass(frozen=True, slots=True)
class Text:
    """Words for the screen. urgent: 1 if it stays until a key is pressed."""

    urgent: U8
    text: Str8


@dataclass(frozen=True, slots=True)
class Call:
    """The director is called. state: ``CallState``."""

    section: U8
    table: U8
    round: U8
    state: U8


@dataclass(frozen=True, slots=True)
class CallStateTold:
    """What became of the table's call. state: ``CallState``."""

    state: U8


@dataclass(frozen=True, slots=True)
class EventPart:
    """What was keyed in from ``first_seq`` of a journal on, up to the journal's next part, belongs to an event."""

    journal_id: U32
    first_seq: U32
    event_id: U64


@dataclass(frozen=True, slots=True)
class TermEvents:
    """Which of a terminal's records belong to which event, as far as it still has them, and those to come.

    auth: ``wire.record.events_auth``.
    """

    auth: Bytes6 = field(repr=False)
    parts: Annotated[tuple[EventPart, ...], list_of(EventPart, "event_part")]


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What a terminal asks and shows in this event. settings: ``TableSetting`` bits."""

    settings: U32


@dataclass(frozen=True, slots=True)
class Record:
    """What players keyed in. body: 14 bytes, see ``wire.record``; crc and auth: ``record_crc``, ``record_auth``."""

    journal_id: U32
    seq: U32
    body: Bytes14 = field(repr=False)
    crc: U32
    auth: Bytes6 = field(repr=False)


@dataclass(frozen=True, slots=True)
class RecordAck:
    """Every record of that journal up to and including ``upto`` is durably stored. credit: records it may send."""

    device_id: U64
    journal_id: U32
    upto: U32
    credit: U8


@dataclass(frozen=True, slots=True)
class RecordNak:
    """A record is not taken. reason: ``RecordReason``; seq: the record; with gap the number wanted next."""

    device_id: U64
    journal_id: U32
    seq: U32
    reason: U8


@dataclass(frozen=True, slots=True)
class Resend:
    """Send again from ``from_seq``, as far as the ring still holds them."""

    device_id: U64
    journal_id: U32
    from_seq: U32


@dataclass(frozen=True, slots=True)
class Credit:
    """How many records may be sent and not yet acknowledged."""

    credit: U8


@dataclass(frozen=True, slots=True)
class EntryCheck:
    """Is this entry plausible? check: number of the question; body: as the record would be, see ``wire.record``."""

    check: U8
    body: Bytes14 = field(repr=False)


@dataclass(frozen=True, slots=True)
class EntryChecked:
    """The answer to ENTRY_CHECK. code: ``CheckCode``; text: for the screen."""

    check: U8
    code: U8
    text: Str8


@dataclass(frozen=True, slots=True)
class Ask:
    """A terminal would show something. what: ``AskFor``; board: of the traveller, else 0."""

    what: U8
    round: U8
    board: U16


@dataclass(frozen=True, slots=True)
class TravellerLine:
    """One result of a board. kind: ``RecordKind``, 0 if the director gave a score. score: of NS, plus 32768, 0 if none.

    percent: of NS, in hundredths, 65535 if it is not shown.
    """

    ns: U16
    ew: U16
    kind: U8
    contract: U8
    declarer: U8
    tricks: U8
    score: U16
    percent: U16


@dataclass(frozen=True, slots=True)
class Feedback:
    """A traveller. ns, ew, percent: of the table's own line."""

    round: U8
    board: U16
    ns: U16
    ew: U16
    percent: U16
    lines: Annotated[tuple[TravellerLine, ...], list_of(TravellerLine, "traveller_line")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RankingPair:
    """Where a pair stands. of: pairs in its ranking; percent: in hundredths."""

    pair: U16
    place: U16
    of: U16
    percent: U16
    boards: U8


@dataclass(frozen=True, slots=True)
class Ranking:
    """Where the pairs of a table stand."""

    round: U8
    pairs: Annotated[tuple[RankingPair, ...], list_of(RankingPair, "ranking_pair")]


@dataclass(frozen=True, slots=True)
class NameRecord:
    """Who sits where; a record of the same journal as RECORD. seat: 1 or 2; how: ``NameHow``."""

    journal_id: U32
    seq: U32
    crc: U32
    auth: Bytes6 = field(repr=False)
    section: U8
    table: U8
    round: U8
    pair: U16
    seat: U8
    how: U8
    text: Str8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What a table records beside its results; a record of the same journal as RECORD.

    what: ``TableRecordKind``; by: ``ConfirmedBy``; data: see ``wire.table_data``.
    """

    journal_id: U32
    seq: U32
    crc: U32
    auth: Bytes6 = field(repr=False)
    section: U8
    table: U8
    round: U8
    board: U16
    ns: U16
    ew: U16
    what: U8
    by: U8
    data: Blob16 = field(repr=False)


@dataclass(frozen=True, slots=True)
class SeatName:
    """seat: as in NAME_RECORD."""

    pair: U16
    seat: U8
    name: Str8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class Names:
    """Who comes to a table in any of its rounds."""

    names: Annotated[tuple[SeatName, ...], list_of(SeatName, "seat_name")]


@dataclass(frozen=True, slots=True)
class NameSearch:
    """search: number of the question; text: the beginning of a number or of words of a name."""

    search: U8
    text: Str8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class FoundPlayer:
    """number: "" if none is known."""

    number: Str8 = field(repr=False)
    name: Str8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class NameFound:
    """The answer to NAME_SEARCH. more: 1 if there are more."""

    search: U8
    more: U8
    players: Annotated[tuple[FoundPlayer, ...], list_of(FoundPlayer, "found_player")]


@dataclass(frozen=True, slots=True)
class DirectorAsk:
    """Somebody wants the director's menu."""


@dataclass(frozen=True, slots=True)
class DirectorNonce:
    """nonce: random, for one try."""

    nonce: Bytes8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class DirectorAuth:
    """proof: ``wire.record.director_proof``."""

    proof: Bytes8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class DirectorOpen:
    """answer: ``DirectorAnswer``."""

    answer: U8


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A terminal wants a table that has another one. proof: ``wire.record.director_proof``."""

    section: U8
    table: U8
    proof: Bytes8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class PairCode:
    """verifier: ``wire.record.code_verifier``."""

    pair: U16
    verifier: Bytes8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class Codes:
    """By what the codes of those who come to a table are known."""

    codes: Annotated[tuple[PairCode, ...], list_of(PairCode, "pair_code")]


@dataclass(frozen=True, slots=True)
class RecapLine:
    """One board of a pair. direction: 0 it sat North-South, 1 East-West. percent: of the pair, in hundredths.

    kind, contract, declarer, tricks, score: as in ``TravellerLine``.
    """

    board: U16
    round: U8
    opponents: U16
    direction: U8
    kind: U8
    contract: U8
    declarer: U8
    tricks: U8
    score: U16
    percent: U16


@dataclass(frozen=True, slots=True)
class Recap:
    """A pair's whole session."""

    pair: U16
    lines: Annotated[tuple[RecapLine, ...], list_of(RecapLine, "recap_line")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """percent: in hundredths; name: of the players, "" when names are not shown."""

    section: U8
    pair: U16
    place: U16
    percent: U16
    boards: U8
    name: Str8 = field(repr=False)


@dataclass(frozen=True, slots=True)
class Standings:
    """A whole ranking. number: of the ranking, 1 is the first; of: how many there are; name: such as North-South."""

    number: U8
    of: U8
    name: Str8
    pairs: Annotated[tuple[Standing, ...], list_of(Standing, "standing")] = field(repr=False)
