"""The club's players: lists from CSV, search without accents, guests who turn out to be members."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.players import Player, fold, merge_guest, new_guest, read_players, search_players

PLAYERS = [
    Player(1, "Łukasz Żółć", "100200"),
    Player(2, "Zoë O'Hara"),
    Player(3, "Anna Müller-Lüdenscheidt"),
    Player(4, "Ann Other"),
    Player(14, "Hannah Annison"),
    Player(90_000_001, "Ann Other", guest=True),
]


def numbers(text: str) -> list[int]:
    return [one.number for one in search_players(PLAYERS, text)]


def test_search_ignores_accents_capitals_and_punctuation() -> None:
    assert numbers("lukasz zolc") == [1]
    assert numbers("ŁUK") == [1]
    assert numbers("zoe ohara") == [2]
    assert numbers("o’hara") == [2]
    assert numbers("mull lud") == [3]
    assert numbers("muller ludenscheidt") == [3]


def test_order_of_what_is_found() -> None:
    assert numbers("ann other") == [4, 90_000_001]
    assert numbers("ann") == [4, 3, 90_000_001, 14]
    assert numbers("1") == [1, 14]
    assert numbers("14") == [14]
    assert numbers("1002") == [1]
    assert numbers("") == []
    assert numbers("...") == []
    assert search_players(PLAYERS, "ann", limit=0) == []
    assert len(search_players(PLAYERS, "ann", limit=2)) == 2


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.sampled_from(PLAYERS), st.data())
def test_any_beginning_of_any_words_finds_the_player(player: Player, data: st.DataObject) -> None:
    words = player.folded.split()
    chosen = [word[: data.draw(st.integers(1, len(word)))] for word in words]
    assert player in search_players(PLAYERS, " ".join(data.draw(st.permutations(chosen))))


def test_lists_in_many_shapes() -> None:
    plain = read_players(b'Number,Name,EBU No\r\n7,Ann Other,12345\r\n8,"Other, Ben",\r\n')
    assert plain == [Player(7, "Ann Other", "12345"), Player(8, "Ben Other")]
    polish = read_players("Numer;Imię;Nazwisko;Klub\n7;Łukasz;Żółć;KS\n".encode("utf-8-sig"))
    assert polish == [Player(7, "Łukasz Żółć", club="KS")]
    federation = read_players(b"Surname\tFirst Name\tNational ID\nOther\tAnn\t555\n")
    assert federation == [Player(555, "Ann Other", "555")]


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ("", "empty", 2),
        ("colour,shape\n", "name the columns", 2),
        ("name\nAnn\n", "name the columns", 2),
        ("number,name\nx,Ann\n", "no number", 1),
        ("number,name\n0,Ann\n", "no number", 1),
        ("number,name\n1,\n", "no name", 1),
        ("number,name\n1,Ann\n\n1,Ben\n", "also on line 2", 1),
        ("number,name\n123456789,Ann\n", "no number", 1),
    ],
)
def test_lists_that_can_not_be(text: str, words: str, status: int) -> None:
    with pytest.raises(EntryError, match=words) as caught:
        read_players(text.encode(), "players.csv")
    assert caught.value.exit_status == status
    assert "Ann" not in str(caught.value)
    if status == 1:
        assert "players.csv, line" in caught.value.where


def test_guests_are_merged_later() -> None:
    guest = new_guest(PLAYERS, "  Ben  Guest ")
    assert (guest.number, guest.name, guest.guest) == (90_000_002, "Ben Guest", True)
    players = [*PLAYERS, guest]
    seats = {"A 1 N": guest.number, "A 1 S": 2}
    left, moved = merge_guest(players, guest.number, 4, seats)
    assert moved == {"A 1 N": 4, "A 1 S": 2}
    assert [one.number for one in left] == [one.number for one in PLAYERS]
    for bad in ((4, 2), (guest.number, 77), (guest.number, guest.number)):
        with pytest.raises(EntryError):
            merge_guest(players, *bad, seats)
    with pytest.raises(EntryError, match="not the same person"):
        merge_guest(players, guest.number, 2, seats)


def test_impossible_players_are_refused() -> None:
    for number, name in ((0, "Ann"), (1, ""), (1, "..."), (10**8, "Ann")):
        with pytest.raises(EntryError):
            Player(number, name)
