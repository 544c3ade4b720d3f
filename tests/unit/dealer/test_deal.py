"""Deals and boards: the index in both directions, golden numbers, PBN, routing, and that nothing shows a card."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.board import Board, Vulnerability, dealer_of, vulnerability_of
from dealer.cards import Seat
from dealer.deal import N_DEALS, Deal, deal_count, rank_owners, unrank_owners
from firmware_bridge.errors import DealError

indices = st.integers(min_value=0, max_value=N_DEALS - 1)

# Four deals whose numbers another program (BigDeal 2.0) gave; the pairs are facts about the ordering.
GOLDEN = {
    5_413_583_477_027_176_930_120_235_474: "N:AQ3.9.AQ8742.J83 64.83.KJ63.T9542 K9875.KJT5.T9.K7 JT2.AQ7642.5.AQ6",
    48_674_608_113_898_499_892_489_416_899: "N:73.A9864.2.AJ843 J6.JT532.KJ6.Q92 842.Q.AQT9743.K5 AKQT95.K7.85.T76",
    39_567_384_941_519_864_894_414_191_158: "N:T75.AQJ.AJT543.9 AJ8.543.KQ2.A653 Q62.T972.96.KQJ8 K943.K86.87.T742",
    8_355_893_498_153_595_276_176_138_050: "N:AT654.963.J9.642 9.AKT854.862.AQ3 KQ832.Q.KQT3.KJ8 J7.J72.A754.T975",
}


@pytest.mark.parametrize(("index", "pbn"), GOLDEN.items())
def test_index_is_the_number_another_program_gives(index, pbn):
    deal = Deal.from_index(index)
    assert deal.to_pbn() == pbn
    assert Deal.from_pbn(pbn).index == index


def test_ends_of_the_range():
    first, last = Deal.from_index(0), Deal.from_index(N_DEALS - 1)
    assert first.owners == bytes(card // 13 for card in range(52))
    assert last.owners == bytes(3 - card // 13 for card in range(52))
    for outside in (-1, N_DEALS):
        with pytest.raises(DealError):
            Deal.from_index(outside)


@pytest.mark.parametrize(("hand_size", "deals"), [(1, 24), (2, 2520), (3, 369_600)])
def test_small_packs_hit_every_deal_once(hand_size, deals):
    assert deal_count(hand_size) == deals
    seen = set()
    for index in range(deals):
        owners = unrank_owners(index, hand_size)
        seen.add(owners)
        if hand_size < 3 or index % 7 == 0:
            assert rank_owners(owners, hand_size) == index
    assert len(seen) == deals
    assert all(owners.count(seat) == hand_size for owners in list(seen)[:1000] for seat in range(4))


@settings(deadline=None)
@given(indices)
def test_rank_inverts_unrank(index):
    assert Deal.from_index(index).index == index


@settings(deadline=None)
@given(indices)
def test_neighbours_keep_the_order_of_hands(index):
    """A second way to the order: a later index has later North, East and South hands, compared as card lists."""
    other = (index * 7919 + 104_729) % N_DEALS
    low, high = sorted((index, other))
    assert Deal.from_index(low).hands[:3] <= Deal.from_index(high).hands[:3]


@settings(deadline=None)
@given(indices, st.sampled_from(list(Seat)))
def test_pbn_routing_and_hands_round_trip(index, first):
    deal = Deal.from_index(index)
    text = deal.to_pbn(first)
    assert len(text) == 69
    assert text[0] == first.letter
    assert Deal.from_pbn(text) == deal
    assert Deal.from_routing(deal.routing) == deal
    assert Deal.from_hands(deal.hands) == deal
    assert Deal.from_hands({seat: deal.hand(seat) for seat in Seat}) == deal
    parts = text[2:].split()
    for offset in range(4):
        seat = Seat((first + offset) % 4)
        assert [deal.holding(seat, suit) for suit in range(4)] == parts[offset].split(".")
        blanked = " ".join("-" if offset == n else part for n, part in enumerate(parts))
        assert Deal.from_pbn(f"{text[:2]}{blanked}") == deal


def test_routing_is_two_bits_a_card():
    deal = Deal.from_index(N_DEALS // 3)
    for card, owner in enumerate(deal.owners):
        assert (deal.routing[card // 4] >> (2 * (card % 4))) & 3 == owner
    assert deal.digest(258) == hashlib.sha256(b"\x02\x01" + deal.routing).digest()[:8]
    assert Board(258, deal).digest == deal.digest(258)
    with pytest.raises(DealError):
        deal.digest(65_536)


def test_golden_digest():
    deal = Deal.from_pbn(GOLDEN[5_413_583_477_027_176_930_120_235_474])
    assert deal.routing.hex() == "c8ab19ef4aef4da4d0c44ee145"
    assert deal.digest(1).hex() == "6b09b0177f14f36b"


@settings(deadline=None)
@given(indices)
def test_turning_four_times_is_nothing(index):
    deal = Deal.from_index(index)
    turned = deal
    for _ in range(4):
        assert turned.turned(1).hand(Seat.EAST) == turned.hand(Seat.NORTH)
        turned = turned.turned(1)
    assert turned == deal


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "deal-syntax"),
        ("N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432.", "deal-syntax"),
        ("X:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. -", "deal-syntax"),
        ("N:AKQJT98765432... .AKQJT98765432.. - -", "hands-missing"),
        ("N:AKQJT9876543... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432", "hand-size"),
        ("N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765433", "duplicate-card"),
        ("N:AKQJT98765432... 2.AKQJT9876543.. ..AKQJT98765432. ...AKQJT98765432", "duplicate-card"),
        ("N:AKQJT9876543... .AKQJT98765432.. ..AKQJT98765432. -", "hand-size"),
        ("N:AKQJT98765431... .AKQJT98765432.. ..AKQJT98765432. -", "deal-syntax"),
    ],
)
def test_bad_deals_are_refused_by_name(text, code):
    with pytest.raises(DealError) as caught:
        Deal.from_pbn(text)
    assert caught.value.code == code
    assert caught.value.exit_status == 1


def test_nothing_shows_a_card():
    deal = Deal.from_index(random.Random(1).randrange(N_DEALS))
    board = Board(7, deal)
    assert repr(deal) == "Deal()"
    assert deal.to_pbn()[2:10] not in repr(board)
    assert str(deal.index) not in repr(board)


def test_dealer_and_vulnerability_follow_law_2():
    names = ["None", "NS", "EW", "All", "NS", "EW", "All", "None", "EW", "All", "None", "NS", "All", "None", "NS", "EW"]
    for number in range(1, 65):
        assert dealer_of(number).letter == "NESW"[(number - 1) % 4]
        assert vulnerability_of(number).pbn == names[(number - 1) % 16]
    assert Vulnerability.EW.includes(Seat.WEST)
    assert not Vulnerability.EW.includes(Seat.SOUTH)
    assert all(Vulnerability.ALL.includes(seat) and not Vulnerability.NONE.includes(seat) for seat in Seat)
    for number in (0, -3):
        with pytest.raises(DealError):
            Board(number, Deal.from_index(0))
