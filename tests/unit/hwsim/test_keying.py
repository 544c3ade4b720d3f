"""What is keyed in at a simulated terminal: any way to type a result, entries and their boards, evenings in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hwsim_host import connect
from hypothesis import given, settings
from hypothesis import strategies as st
from test_station import EVENT, Ledger, plan, station

from dealer.cards import Seat
from hwsim import messages
from hwsim.__main__ import _device, _parser
from hwsim.evidence import NoEvidence
from hwsim.memory import Media
from hwsim.numbers import Kind, Positions, RecordKind, Setting, TableRecord
from hwsim.speeds import SPEEDS
from hwsim.station import keypad, recording
from hwsim.station.device import Station
from hwsim.station.nvlog import RING, RING_OF_SESSIONS, SESSIONS, TerminalMemory
from hwsim.station.player import Play, play_board
from hwsim.station.showing import session_lines, standings_lines
from terminals.auction import check_auction
from terminals.contract import Contract, Doubling, Strain
from terminals.play import PlayedCard, check_play
from terminals.result import PassedOut, Played
from terminals.scoring.contract_score import score_ns
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import RecordKey
from terminals.sync.recorded import auction_of

PLAYS = st.builds(
    Play,
    st.just(RecordKind.PLAYED),
    st.integers(1, 7),
    st.integers(1, 5),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 13),
)
BOARDS = st.integers(1, 36)


def contract_of(play: Play) -> Contract:
    return Contract(play.level, Strain(play.strain), Doubling(play.doubling), Seat(play.declarer))


@given(PLAYS, BOARDS, st.sampled_from(["tricks", "plus", "total"]))
def test_a_result_is_understood_in_whatever_way_it_is_typed(play: Play, board: int, way: str) -> None:
    assert keypad.tricks(keypad.with_tricks(play, 0), board, keypad.typed(play, board, way), way) == play.tricks


@given(PLAYS, BOARDS)
def test_the_total_is_that_of_the_scoring_program(play: Play, board: int) -> None:
    """The device scores with its own few lines; the host's scoring is the second way to the number."""
    told = score_ns(Played(contract_of(play), play.tricks), board)
    assert keypad.score(play, board) == (told if play.declarer % 2 == 0 else -told)


@pytest.mark.parametrize(
    ("way", "text"), [("tricks", "14"), ("tricks", "x"), ("plus", "+9"), ("plus", ""), ("total", "421"), ("total", "?")]
)
def test_what_is_no_result_of_the_contract_is_refused(way: str, text: str) -> None:
    with pytest.raises(keypad.NotAResult):
        keypad.tricks(Play(RecordKind.PLAYED, 4, 4, 0, 0, 0), 1, text, way)


# --- what players record -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(PLAYS, BOARDS)
def test_a_simulated_auction_keeps_the_laws_and_reaches_its_contract(play: Play, board: int) -> None:
    data = messages.pack_auction(recording.dealer_of(board), recording.auction(play, board))
    auction = auction_of(TableEvent(TableEventKind.AUCTION, "A", board, 1, 2, 1, 1, RecordKey(1, 1, 1), 0, data))
    assert list(check_auction(auction)) == []
    assert auction.contract == contract_of(play)
    out = messages.pack_auction(0, recording.auction(Play(RecordKind.PASSED_OUT), 1))
    passed = auction_of(TableEvent(TableEventKind.AUCTION, "A", 1, 1, 2, 1, 1, RecordKey(1, 1, 1), 0, out))
    assert isinstance(passed.contract, PassedOut)


@settings(deadline=None)
@given(PLAYS, st.integers(0, 1000))
def test_a_simulated_play_keeps_the_laws_and_does_not_contradict_its_result(play: Play, seed: int) -> None:
    owners = recording.hands(seed, 1, 7)
    told = recording.cards(seed, play, owners)
    hands = {seat: [card for card in range(52) if owners[card] == seat] for seat in Seat}
    state = check_play(contract_of(play), [PlayedCard(Seat(seat), card) for seat, card in told], hands)
    assert told
    assert state.findings == ()
    assert state.declarer_tricks <= play.tricks
    assert state.defenders_tricks <= 13 - play.tricks


# --- entries and their boards ------------------------------------------------------------------------------------


def body(board: int, *, kind: int = RecordKind.PLAYED, replaces: int = 0, tricks: int = 9, round: int = 1) -> bytes:
    place = {"section": 1, "table": 1, "round": round, "board": board, "ns": 1, "ew": 2}
    told = {"declarer": 0, "tricks": tricks, "level": 3, "strain": 5} if kind == RecordKind.PLAYED else {}
    return messages.pack_body(kind=kind, confirmed_by=1, **place, **told, replaces=replaces)


def memory(media: Media | None = None) -> TerminalMemory:
    made = TerminalMemory((media or Media()).log("terminal"))
    made.boot(0xA1)
    if not made.journal:
        made.new_journal(5)
    return made


def keyed(kept: TerminalMemory) -> set[int]:
    return {board for event, _, board, again in kept.keyed if event == EVENT and not again}


@pytest.mark.parametrize("fresh", [False, True])
def test_an_entry_that_moves_to_another_board_leaves_its_first_one(fresh: bool) -> None:
    media = Media()
    kept = memory(media)
    kept.add(body(1), EVENT)
    kept.add(body(2, replaces=1), EVENT)
    kept.add(body(3, replaces=2, tricks=8), EVENT)
    if fresh:
        kept._compact()
        kept = memory(media)
    assert keyed(kept) == {3}
    original = kept.original(EVENT, 1, 3)
    assert original is not None
    assert original.seq == 1
    assert kept.original(EVENT, 1, 1) is None
    standing = kept.standing(EVENT, 1, 3)
    assert standing is not None
    assert messages.unpack_body(standing.body)["tricks"] == 8
    kept.add(body(3, kind=RecordKind.ERASED, replaces=3), EVENT)
    assert keyed(kept) == set()
    assert kept.original(EVENT, 1, 3) is None
    assert kept.standing(EVENT, 1, 3) is None


STEPS = st.lists(st.tuples(st.sampled_from(["new", "same", "move", "erase"]), st.integers(1, 4)), max_size=12)


@settings(deadline=None)
@given(STEPS)
def test_what_is_keyed_in_follows_from_the_records_alone(steps: list[tuple[str, int]]) -> None:
    """A model with a dict against the memory, and against the memory read anew."""
    media = Media()
    kept = memory(media)
    model: dict[int, int] = {}  # board -> seq of the entry's first record
    for step, board in steps:
        entry = model.get(board)
        if step == "new" and entry is None:
            model[board] = kept.add(body(board), EVENT).seq
        elif entry is not None and step != "new":
            distance = kept.next_seq - entry
            other = board % 4 + 1
            if step == "same":
                kept.add(body(board, replaces=distance, tricks=7), EVENT)
            elif step == "erase":
                kept.add(body(board, kind=RecordKind.ERASED, replaces=distance), EVENT)
                del model[board]
            elif other not in model:
                kept.add(body(other, replaces=distance), EVENT)
                model[other] = model.pop(board)
    for again in (kept, memory(media)):
        assert keyed(again) == set(model)
        for board in range(1, 5):
            original = again.original(EVENT, 1, board)
            assert (None if original is None else original.seq) == model.get(board)


# --- several evenings --------------------------------------------------------------------------------------------


def test_the_newest_evenings_stay_in_memory_and_the_boundaries_are_told() -> None:
    kept = memory()
    for event in range(1, 8):
        for board in range(1, 25):
            kept.add(body(board), event)
            kept.acknowledge(5, kept.next_seq - 1)
    events = {record.event for record in kept.records.values()}
    assert {5, 6, 7} <= events
    assert min(events) >= 8 - SESSIONS
    assert RING <= len(kept.records) <= RING_OF_SESSIONS
    parts = kept.event_parts(7)
    assert parts[-1] == (5, 24 * 6 + 1, 7)
    assert [event for _, _, event in parts] == sorted(events)
    assert kept.event_parts(9)[-1] == (5, kept.next_seq, 9)
    before = kept.event_parts(7)
    kept.add(body(1), 9)
    assert kept.event_parts(9) == [*before, (5, 24 * 7 + 1, 9)]


def test_unsent_records_of_any_evening_are_never_forgotten() -> None:
    kept = memory()
    kept.add(body(1), 1)
    kept.new_journal(6)
    for event in range(2, 12):
        for board in range(1, 25):
            kept.add(body(board), event)
    kept.acknowledge(6, kept.next_seq - 1)
    assert [record.event for record in kept.waiting()] == [1]
    assert kept.event_parts(11)[0] == (5, 1, 1)


def test_events_are_told_after_the_hello_and_when_another_one_begins() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 2)
    world.run_until(lambda: len(ledger.stored) == 2)
    kinds = [kind for kind, address, _ in host.told if address == 1]
    assert kinds[0] == Kind.TERM_HELLO
    assert kinds.index(Kind.TERM_EVENTS) < kinds.index(Kind.RECORD)
    journal = device.terminals[1].memory.journal
    assert host.last(Kind.TERM_EVENTS)["parts"] == [{"journal_id": journal, "first_seq": 1, "event_id": EVENT}]
    other = EVENT + 1
    admit = {"device_id": ledger.devices[1], "admitted": 1, "event_id": other, "section": 1, "table": 1, "text": ""}
    host.send(Kind.ADMIT, admit, 1)
    host.send(Kind.TABLE_PLAN, {**plan(1, 1, 1, 2), "event_id": other}, 1)
    world.run_until(lambda: len(ledger.stored) == 4)
    assert host.last(Kind.TERM_EVENTS)["parts"] == [
        {"journal_id": journal, "first_seq": 1, "event_id": EVENT},
        {"journal_id": journal, "first_seq": 3, "event_id": other},
    ]
    at = max(n for n, told in enumerate(host.told) if told[0] == Kind.TERM_EVENTS)
    assert all(f["seq"] >= 3 for kind, _, f in host.told[at:] if kind == Kind.RECORD)


# --- settings, codes, seats --------------------------------------------------------------------------------------


def test_settings_and_codes_survive_a_battery_and_are_followed() -> None:
    media = Media()
    device = station(media, terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 3, admitting=False)
    terminal = device.terminals[1]
    assert not terminal.allows(Setting.AUCTION)
    assert terminal.allows(Setting.CONFIRM), "as long as nothing was told"
    bits = Setting.CONFIRM | Setting.CONFIRM_CODE | Setting.AUCTION | Setting.POSITIONS
    host.send(Kind.TABLE_SETTINGS, {"settings": bits}, 1)
    verifier = messages.code_verifier("4711", EVENT, 1, 77)
    host.send(Kind.CODES, {"codes": [{"pair": 77, "verifier": verifier}]}, 1)
    world.run_until(lambda: terminal.memory.codes != {}, 5.0)
    terminal.memory._compact()
    fresh = station(media, terminals=1, now=world.now).terminals[1]
    assert fresh.memory.codes[77] == verifier
    assert fresh.memory.codes == terminal.memory.codes
    assert fresh.allows(Setting.AUCTION)
    assert not fresh.allows(Setting.PLAY)
    ledger.admit(1)
    world.run_until(lambda: terminal.memory.next_seq > 4 and bool(host.all(Kind.TABLE_RECORD)), 60.0)
    # Without acknowledgements of a host that stores them the first one waits: seats come before everything.
    assert [f["what"] for f in host.all(Kind.TABLE_RECORD)] == [TableRecord.POSITIONS]
    assert [f["what"] for f in map(messages.unpack_table, [r.body for r in terminal.memory.waiting() if r.table])][
        :4
    ] == [TableRecord.POSITIONS, TableRecord.CODE, TableRecord.CODE, TableRecord.AUCTION]


def test_pairs_that_stay_the_other_way_round_are_keyed_in_as_they_sit() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    Ledger(host, 1, 1, 2, admitting=True)
    terminal = device.terminals[1]
    world.run_until(lambda: terminal.round_index is not None, 5.0)
    shown: dict[str, Any] = terminal.rounds()[0]
    terminal.confirm_positions(shown, Positions.STAY)
    told = messages.unpack_body(terminal.body_of(shown, 1, play_board(4, 1, 1, shown["ns"], shown["ew"], 1)))
    assert (told["ns"], told["ew"]) == (shown["ew"], shown["ns"])
    terminal.confirm_positions(shown, Positions.CHANGED)
    assert terminal.seated(shown) == (shown["ns"], shown["ew"])


def test_the_end_of_the_session_in_words() -> None:
    line = {"board": 3, "round": 2, "opponents": 9, "direction": 1, "kind": 1, "contract": 100, "declarer": 2}
    told = {"pair": 4, "lines": [{**line, "tricks": 9, "score": 32668, "percent": 6250}]}
    assert session_lines(told) == ["Pair 4, all boards", "Round 2 board 3: 9-4 4Sx S -1 -100 62.50 %"]
    pairs = [{"section": 2, "pair": 7, "place": 1, "percent": 5417, "boards": 24, "name": "Żak - Ito"}]
    assert standings_lines({"name": "North-South", "pairs": pairs}) == ["North-South", "1. B7 Żak - Ito 54.17 %"]


def test_hands_are_typed_after_the_result_and_have_thirteen_cards_each() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    Ledger(host, 1, 1, 2, admitting=True)
    terminal = device.terminals[1]
    world.run_until(lambda: terminal.round_index is not None, 5.0)
    shown: dict[str, Any] = terminal.rounds()[0]
    suits = [list(range(13 * seat, 13 * seat + 13)) for seat in range(3)]
    assert terminal.enter_hands(shown, 99, suits) == "Board 99 has no result here yet"
    terminal.key_in(shown, 99, Play(RecordKind.PASSED_OUT))
    before = terminal.memory.next_seq
    assert terminal.enter_hands(shown, 99, [suits[0][:12], *suits[1:]]) == "North has 12 cards"
    assert "East has a card twice" in terminal.enter_hands(shown, 99, [suits[0], suits[0], suits[2]])
    assert terminal.memory.next_seq == before
    assert terminal.enter_hands(shown, 99, suits) == ""
    told = messages.unpack_table(terminal.memory.records[terminal.memory.journal, before].body)
    assert messages.unpack_routing(told["data"]) == [card // 13 for card in range(52)], "West has the rest"


def test_the_switches_of_the_command_reach_the_tables(tmp_path: Path) -> None:
    words = ["station", "--state", str(tmp_path), "--seed", "1", "--checks", "--curious", "--sign-in"]
    for given_words, on in ((words, True), (words[:5], False)):
        args = _parser().parse_args(given_words)
        device = _device(args, SPEEDS["max"], Media(), NoEvidence(), [], 0.0)
        assert isinstance(device, Station)
        assert {(t.checks, t.sign_in, t.terminal.curious) for t in device.tables.values()} == {(on, on, on)}


def test_a_board_can_be_keyed_in_before_there_is_a_plan() -> None:
    device = station(terminals=1)
    world, host = connect(device)
    ledger = Ledger(host, 1, 1, 2, admitting=False)
    world.run(0.5)
    admit = {"device_id": ledger.devices[1], "admitted": 1, "event_id": EVENT, "section": 1, "table": 1, "text": ""}
    host.send(Kind.ADMIT, admit, 1)
    terminal = device.terminals[1]
    world.run_until(lambda: terminal.admitted, 5.0)
    assert terminal.rounds() == []
    terminal.key_in({"round": 1, "ns": 7, "ew": 13}, 12, Play(RecordKind.PASSED_OUT))
    world.run_until(lambda: len(ledger.stored) == 1 and not terminal.waiting(), 5.0)
    assert host.last(Kind.TERM_EVENTS)["parts"][-1]["event_id"] == EVENT
