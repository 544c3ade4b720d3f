"""Auctions and plays in the results files: a strict reader that shares no code, and round trips."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_sessions import mitchell, published

from dealer.board import dealer_of
from dealer.cards import Seat, card_name
from dealer.deal import Deal
from firmware_bridge.errors import EntryError
from terminals.auction import DOUBLE, PASS, REDOUBLE, Auction, Call, CallEvent, Standing, bid
from terminals.contract import Contract, Strain
from terminals.interop.audit import audit_event
from terminals.interop.combine import combine_sections, combine_sessions
from terminals.interop.exchange import EventKind, ExchangeEvent
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.rescore import rescored, setup_of
from terminals.interop.results_json import read_results_json, write_results_json
from terminals.play import PlayedCard, check_play
from terminals.result import PassedOut, Played
from terminals.table_record import Recorded, RecordedPlay

CALLS = [PASS, DOUBLE, REDOUBLE, *(bid(level, strain) for level in range(1, 8) for strain in Strain)]
SEATS = st.sampled_from(list(Seat))
EVENTS = st.builds(CallEvent, SEATS, st.sampled_from(CALLS), st.sampled_from(list(Standing)), st.booleans())
ANYTHING = st.builds(Auction, SEATS, st.lists(EVENTS, max_size=12).map(tuple))


@st.composite
def legal(draw: st.DrawFn, dealer: Seat) -> Auction:
    """An auction by the Laws, to its end or not."""
    auction = Auction(dealer)
    for _ in range(draw(st.integers(0, 14))):
        if auction.is_over:
            break
        seat = auction.turn
        assert seat is not None
        fits = [call for call in CALLS if not auction.irregularities(seat, call)]
        auction = auction.make(draw(st.sampled_from([PASS, *fits])), alerted=draw(st.booleans()))
    while draw(st.booleans()) and not auction.is_over:
        auction = auction.make(PASS)
    return auction


@st.composite
def played(draw: st.DrawFn, contract: Contract) -> tuple[PlayedCard, ...]:
    """Cards in turn, whatever they are, up to any point."""
    cards: list[PlayedCard] = []
    for card in draw(st.permutations(range(52)))[: draw(st.integers(0, 52))]:
        turn = check_play(contract, cards).turn
        assert turn is not None
        cards.append(PlayedCard(turn, card))
    return tuple(cards)


def event(told: dict[int, Recorded], results: dict[int, object] | None = None) -> ExchangeEvent:
    """Two rounds of two tables. told: what the line of this number, from 0, has; results: another result for it."""
    lines = mitchell(2, 2, 1, one=True, section="A")
    for at, result in (results or {}).items():
        lines[at] = replace(lines[at], result=result)  # type: ignore[arg-type]
    keys = {lines[at].key: one for at, one in told.items()}
    made = published(lines, one=True)
    return replace(made, lines=tuple(replace(one, recorded=keys.get(one.line.key)) for one in made.lines))


def recorded_of(found: ExchangeEvent) -> list[Recorded | None]:
    return [one.recorded for one in found.lines]


THREE_NT = Auction(Seat.NORTH).make(bid(1, Strain.NOTRUMP), alerted=True).make(PASS).make(bid(3, Strain.NOTRUMP))
THREE_NT = THREE_NT.make(PASS).make(PASS).make(PASS)
NINE = Played(Contract.parse("3NT N"), 9, 13)
CARDS = tuple(PlayedCard(Seat((1 + at) % 4), card) for at, card in enumerate((13, 14, 15, 16)))
TOLD = Recorded(THREE_NT, RecordedPlay(9, CARDS))


# --- a reader of its own, as strict as the standard is for the export format --------------------------------------

MANDATORY = ["Event", "Site", "Date", "Board", "West", "North", "East", "South", "Dealer", "Vulnerable", "Deal"]
MANDATORY += ["Scoring", "Declarer", "Contract", "Result"]
CALL = re.compile(r"(?:\^S|(?:\^I )?(?:Pass|XX|X|[1-7](?:C|D|H|S|NT))(?: =\d+=)?|\*)(?: |$)")


def strict(data: bytes) -> list[dict[str, list[str]]]:
    """Games of an export-format file: tag -> its value and the rows under it. Fails for anything out of its place."""
    text = data.decode("utf-8")
    assert text.startswith("% PBN 2.1\r\n% EXPORT\r\n")
    assert "\n" not in text.replace("\r\n", "")
    games: list[dict[str, list[str]]] = []
    for block in text.split("\r\n\r\n")[1:]:
        game: dict[str, list[str]] = {}
        rows: list[str] = []
        for line in filter(None, block.split("\r\n")):
            assert len(line) <= 255
            if not line.startswith("["):
                rows.append(line)
                continue
            match = re.fullmatch(r'\[([A-Z][A-Za-z]*) "((?:[^"\\]|\\.)*)"\]', line)
            assert match is not None, line
            name = match[1] if match[1] != "Note" else f"Note {len(game)}"
            assert name not in game
            rows = game[name] = [match[2]]
        games.append(game)
    for game in games[1:]:
        names = [name for name in game if not name.startswith("Note")]
        assert names[:15] == MANDATORY
        more = [name for name in names[15:] if name not in ("Auction", "Play", "ScoreTable")]
        sections = [name for name in names[15:] if name not in more]
        assert more == sorted(more)
        assert names[15:] == [*more, *sections]
        assert sections in (["ScoreTable"], ["Auction"], ["Play"], ["Auction", "Play"])
        assert not ("Auction" in game and game["Auction"][0] not in list("NESW"))
    return games


def strict_calls(rows: list[str]) -> list[tuple[str, str, bool]]:
    """(seat, call, marked with ^I) of an Auction section, columns counted from its first caller."""
    seat, out = "NESW".index(rows[0]), []
    assert all(len(CALL.findall(row)) == 4 for row in rows[1:-1])
    words = [found.strip() for row in rows[1:] for found in CALL.findall(row)]
    assert " ".join(words) == " ".join(rows[1:])
    assert "*" not in words[:-1]
    for word in words:
        if word not in ("^S", "*"):
            out.append(("NESW"[seat], word.removeprefix("^I ").split(" ")[0], word.startswith("^I")))
        seat = (seat + 1) % 4
    return out


def strict_cards(rows: list[str], trump: str) -> list[tuple[str, str]]:
    """(seat, card) of a Play section in the order of play: by the winner of each trick."""
    assert rows[-1] == "*"
    first = turn = "NESW".index(rows[0])
    out = []
    for row in rows[1:-1]:
        cells = row.split(" ")
        assert len(cells) == 4
        trick = [((turn + step) % 4, cells[(turn + step - first) % 4]) for step in range(4)]
        out += [("NESW"[seat], card) for seat, card in trick if card != "-"]
        if "-" not in cells:
            led = trick[0][1][0]
            turn = max(
                trick, key=lambda one: (one[1][0] == trump, one[1][0] == led, -"AKQJT98765432".index(one[1][1]))
            )[0]
    return out


def of_board(games: list[dict[str, list[str]]], board: int) -> Iterable[dict[str, list[str]]]:
    return [game for game in games[1:] if game["Board"] == [str(board)] and "ScoreTable" not in game]


# --- promises ----------------------------------------------------------------------------------------------------


def test_a_recorded_play_is_a_game_of_its_own_after_its_board() -> None:
    made = event({0: TOLD}, {0: NINE})
    games = strict(write_pbn_results(made))
    (game,) = of_board(games, 1)
    assert games[games.index(game) - 1]["ScoreTable"]
    tags = {name: rows[0] for name, rows in game.items()}
    assert (tags["Declarer"], tags["Contract"], tags["Result"]) == ("N", "3NT", "9")
    assert (tags["PairNS"], tags["PairEW"], tags["Section"], tags["Deal"]) == ("1", "3", "A", "")
    assert (tags["North"], tags["South"]) == ("Zoë O'Hara & A1", "Łukasz <1>")
    assert strict_calls(game["Auction"])[0] == ("N", "1NT", False)
    assert game["Auction"][1] == "1NT =1= Pass 3NT Pass"
    assert strict_cards(game["Play"], "") == [(one.seat.letter, card_name(one.card)) for one in CARDS]
    assert sum(bool(list(of_board(games, board))) for board in (1, 2)) == 1
    deal = Deal.from_index(9)
    (game,) = of_board(strict(write_pbn_results(made, {1: deal})), 1)
    assert game["Deal"] == [deal.to_pbn(dealer_of(1))]


def test_without_records_the_files_are_as_they_were() -> None:
    made = event({})
    assert b"Auction" not in write_pbn_results(made)
    assert b"auction" not in write_results_json(made)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_an_auction_and_a_play_come_back_from_pbn(data: st.DataObject) -> None:
    dealer = data.draw(SEATS)
    auction = data.draw(legal(dealer))
    reached = auction.contract
    contract = reached if isinstance(reached, Contract) else data.draw(CONTRACTS)
    cards = data.draw(played(contract))
    result = PassedOut() if isinstance(reached, PassedOut) else Played(contract, data.draw(st.integers(0, 13)))
    play = RecordedPlay(None, cards) if isinstance(result, Played) and data.draw(st.booleans()) else None
    made = event({2: Recorded(auction, play)}, {2: result})
    file = write_pbn_results(made)
    back = read_pbn_results(file)
    assert recorded_of(back) == recorded_of(made)
    assert back.warnings == ()
    (game,) = [game for game in strict(file)[1:] if "ScoreTable" not in game]
    assert strict_calls(game["Auction"]) == [(one.seat.letter, one.call.text, False) for one in auction.calls]
    if play is not None:
        trump = contract.strain.text if contract.strain is not Strain.NOTRUMP else ""
        assert strict_cards(game["Play"], trump) == [(one.seat.letter, card_name(one.card)) for one in cards]


CONTRACTS = st.builds(Contract, st.integers(1, 7), st.sampled_from(list(Strain)), st.just(0), SEATS)


@settings(deadline=None, max_examples=100)
@given(ANYTHING)
def test_of_an_irregular_auction_the_calls_that_count_come_back_from_pbn(auction: Auction) -> None:
    file = write_pbn_results(event({1: Recorded(auction)}))
    (told,) = filter(None, recorded_of(read_pbn_results(file)))
    assert told.auction == Auction(auction.dealer, auction.calls)
    (game,) = [game for game in strict(file)[1:] if "ScoreTable" not in game]
    calls = strict_calls(game["Auction"])
    assert [(seat, call) for seat, call, _ in calls] == [(one.seat.letter, one.call.text) for one in auction.calls]
    assert all(one.standing is Standing.ACCEPTED for one, call in zip(auction.calls, calls, strict=True) if call[2])


CARD_LISTS = st.lists(st.tuples(SEATS, st.integers(0, 51)), unique_by=lambda one: one[1], max_size=52)
PLAYS = st.builds(
    lambda agreed, cards: RecordedPlay(agreed, tuple(PlayedCard(*one) for one in cards)),
    st.none() | st.integers(0, 13),
    CARD_LISTS,
)


@settings(deadline=None, max_examples=60)
@given(st.builds(Recorded, ANYTHING | st.none(), PLAYS | st.none()))
def test_json_has_everything_as_it_was_recorded(told: Recorded) -> None:
    made = event({3: told})
    data = write_results_json(made)
    back = read_results_json(data)
    assert [one or Recorded() for one in recorded_of(back)] == [one or Recorded() for one in recorded_of(made)]
    assert write_results_json(back) == data
    (line,) = [one for one in json.loads(data)["results"] if "auction" in one or "cards" in one] or [{}]
    if told.play is not None:
        shown = [(one.seat.letter, card_name(one.card)) for one in told.play.cards]
        assert [tuple(one) for one in line["cards"]["played"]] == shown
        assert line["cards"]["leader"] == (shown[0][0] if shown else None)


def test_the_audit_stays_clean_and_rulings_and_combined_files_keep_the_records() -> None:
    made = event({0: TOLD}, {0: NINE})
    other = replace(event({0: TOLD}, {0: NINE}))
    moved = {one.contestant: replace(one.contestant, section="B") for one in other.entrants}
    other = replace(
        other,
        entrants=tuple(replace(one, contestant=moved[one.contestant], section="B") for one in other.entrants),
        lines=tuple(
            replace(one, line=replace(one.line, section="B", ns=moved[one.line.ns], ew=moved[one.line.ew]))
            for one in other.lines
        ),
    )
    for back in (made, read_results_json(write_results_json(made)), read_pbn_results(write_pbn_results(made))):
        assert audit_event(back).equal
        assert sum(one is not None for one in recorded_of(back)) == 1
    assert recorded_of(rescored(made, setup_of(made))).count(TOLD) == 1
    assert recorded_of(combine_sections([made, other])).count(TOLD) == 2
    assert recorded_of(combine_sessions([made, made])).count(TOLD) == 2


def test_a_corrected_contract_takes_no_card_away() -> None:
    # South's contract now: by it the lead of the table would be out of turn, by the table's own auction it is not.
    made = event({0: TOLD}, {0: Played(Contract.parse("3NT S"), 9)})
    (told,) = filter(None, recorded_of(read_pbn_results(write_pbn_results(made))))
    assert told.play == RecordedPlay(None, CARDS)


def test_a_play_out_of_turn_is_in_json_only() -> None:
    wrong = RecordedPlay(None, (PlayedCard(Seat.WEST, 0), PlayedCard(Seat.NORTH, 1)))
    made = event({0: Recorded(THREE_NT, wrong)}, {0: NINE})
    (told,) = filter(None, recorded_of(read_pbn_results(write_pbn_results(made))))
    assert told == Recorded(THREE_NT, None)
    assert recorded_of(read_results_json(write_results_json(made))) == recorded_of(made)


def test_the_second_play_of_one_board_by_the_same_pairs_keeps_its_own_record() -> None:
    lines = mitchell(2, 1, 1, one=True, section="A")
    lines.append(replace(lines[0], play=2, result=NINE))
    made = published(lines, one=True)
    made = replace(made, lines=tuple(replace(one, recorded=TOLD if one.line.play == 2 else None) for one in made.lines))
    back = read_pbn_results(write_pbn_results(made))
    assert [one.line.play for one in back.lines if one.recorded is not None] == [2]


def test_individuals_have_one_name_at_each_seat() -> None:
    lines = mitchell(2, 1, 1, one=True)
    who = [replace(lines[0].ns, number=number) for number in range(1, 5)]
    line = replace(lines[0], ns_players=(who[0], who[1]), ew_players=(who[2], who[3]), result=NINE)
    made = published([line], kind=EventKind.INDIVIDUAL, one=True)
    made = replace(made, lines=tuple(replace(one, recorded=TOLD) for one in made.lines))
    back = read_pbn_results(write_pbn_results(made))
    assert [one.recorded is not None for one in back.lines] == [True]


@pytest.mark.parametrize(
    ("rows", "calls"),
    [
        ("1NT! =1= Pass 2C $1 {asks;\nfor majors} Pass ; a remark\n2D? AP", "1NT Pass 2C Pass 2D Pass Pass Pass"),
        ("pass 1S X XX\n+", "Pass 1S X XX"),
        ("- - 1d AP", "1D Pass Pass Pass"),
    ],
)
def test_auctions_of_other_programs(rows: str, calls: str) -> None:
    head = '[Event "E"]\n[Board "1"]\n[Contract "1NT"]\n[Declarer "N"]\n[Result "7"]\n'
    (line,) = read_pbn_results(f'{head}[Auction "N"]\n{rows}\n[Note "1:15-17"]\n'.encode()).lines
    assert line.recorded is not None
    assert line.recorded.auction is not None
    assert " ".join(one.call.text for one in line.recorded.auction.events) == calls
    assert not any(one.alerted for one in line.recorded.auction.events)


@pytest.mark.parametrize(
    "section",
    [
        '[Auction "N"]\n8NT Pass',
        '[Auction "?"]\nPass',
        '[Play "E"]\nSA SA SK SQ',
        '[Play "E"]\nSA - S2 S3\nHA H2 H3 H4',
        '[Play "W"]\nSA S2 S3 S4',
        '[Play "E"]\nSA ZZ S3 S4',
    ],
)
def test_what_can_not_be_read_costs_no_result_and_names_no_card(section: str) -> None:
    head = '[Event "E"]\n[Board "1"]\n[Contract "1NT"]\n[Declarer "N"]\n[Result "7"]\n'
    found = read_pbn_results(f"{head}{section}\n".encode())
    assert [one.recorded for one in found.lines] == [None]
    (warning,) = found.warnings
    assert "left out" in warning
    assert not re.search(r"\b[SHDC][AKQJT2-9]\b", warning)


@pytest.mark.parametrize(
    "change",
    [
        {"auction": {"dealer": "N"}},
        {"auction": {"dealer": "Q", "calls": []}},
        {"auction": {"dealer": "N", "calls": [{"seat": "N", "call": "8NT", "standing": "made", "alerted": False}]}},
        {"auction": {"dealer": "N", "calls": [{"seat": "N", "call": "1NT", "standing": "made", "alerted": 1}]}},
        {"cards": {"agreed": True, "played": []}},
        {"cards": {"agreed": None, "played": [["N", "SA"], ["E", "SA"]]}},
        {"cards": {"agreed": None, "leader": "W", "played": [["N", "SA"]]}},
        {"cards": []},
    ],
)
def test_a_record_that_can_not_be_is_refused(change: dict[str, object]) -> None:
    data = json.loads(write_results_json(event({})))
    data["results"][0] |= change
    with pytest.raises(EntryError) as caught:
        read_results_json(json.dumps(data).encode())
    assert caught.value.exit_status == 1
    assert "SA" not in str(caught.value)


def test_every_call_has_a_word() -> None:
    assert [Call.parse(one.text) for one in CALLS] == CALLS
