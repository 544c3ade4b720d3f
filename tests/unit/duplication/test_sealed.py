"""Sealed deal files: nothing of the cards without the passphrase, and no half-opened file ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.sealed import MAGIC, is_sealed, seal, unseal
from firmware_bridge.errors import ConfigError, DealError

WORDS = "three black swans"
PLAIN = b'[Board "1"]\n[Deal "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"]\n' * 3


def test_what_was_sealed_comes_back_with_its_name() -> None:
    sealed = seal(PLAIN, WORDS, name="/home/club/evening.pbn")
    assert is_sealed(sealed)
    assert not is_sealed(PLAIN)
    opened = unseal(sealed, WORDS)
    assert (opened.name, opened.data) == ("evening.pbn", PLAIN)
    assert "AKQ" not in repr(opened)


def test_nothing_of_the_cards_is_in_the_sealed_file() -> None:
    sealed = seal(PLAIN, WORDS, name="evening.pbn")
    assert b"AKQ" not in sealed
    assert b"evening" not in sealed
    assert seal(PLAIN, WORDS) != seal(PLAIN, WORDS), "the same deals sealed twice must not look alike"


@pytest.mark.parametrize("wrong", ["three black swan", "THREE BLACK SWANS", ""])
def test_a_wrong_passphrase_opens_nothing(wrong: str) -> None:
    with pytest.raises(DealError) as raised:
        unseal(seal(PLAIN, WORDS), wrong, where="evening.sealed")
    assert raised.value.code == "wrong-passphrase"
    assert raised.value.where == "evening.sealed"


def test_the_same_words_from_another_keyboard_open_it() -> None:
    assert unseal(seal(PLAIN, "Zürich-Genève"), "Zu\u0308rich-Gene\u0300ve").data == PLAIN


@given(st.integers(0, len(MAGIC) + 31 + len(PLAIN)), st.integers(1, 255))
@settings(max_examples=25, deadline=None)
def test_every_changed_byte_is_noticed(position: int, flip: int) -> None:
    sealed = bytearray(SEALED)
    position %= len(sealed)
    sealed[position] ^= flip
    with pytest.raises(DealError):
        unseal(bytes(sealed), WORDS)


@pytest.mark.parametrize("length", [0, 5, len(MAGIC), len(MAGIC) + 20, len(MAGIC) + 31, len(MAGIC) + 60])
def test_a_file_cut_short_is_refused(length: int) -> None:
    with pytest.raises(DealError):
        unseal(SEALED[:length], WORDS)


def test_a_file_that_asks_for_too_much_is_refused_before_anything_is_computed() -> None:
    greedy = bytearray(SEALED)
    greedy[len(MAGIC)] = 40
    with pytest.raises(DealError) as raised:
        unseal(bytes(greedy), WORDS)
    assert raised.value.code == "not-sealed"


def test_words_and_names_in_another_character_set() -> None:
    # What Python makes of bytes that are not in UTF-8: of an environment, and of a file's name.
    words = b"correct h\xfcrse".decode(errors="surrogateescape")
    sealed = seal(PLAIN, words, name=b"z\xfc.pbn".decode(errors="surrogateescape"))
    opened = unseal(sealed, words)
    assert (opened.data, opened.name) == (PLAIN, "z?.pbn")


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(ConfigError):
        seal(PLAIN, "1234567")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX sessions")
def test_a_passphrase_is_never_asked_for_where_everybody_would_see_it(tmp_path: Path) -> None:
    script = "from firmware_bridge.cli.deal_seal import passphrase; passphrase()"
    environment = {name: value for name, value in os.environ.items() if name != "FIRMWARE_BRIDGE_PASSPHRASE"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        input="three black swans\n",
        env=environment,
        capture_output=True,
        text=True,
        start_new_session=True,  # no terminal, as from a script that starts with the computer
        timeout=100,
    )
    assert "ConfigError: A passphrase is needed." in run.stderr
    assert "Warning" not in run.stderr


SEALED = seal(PLAIN, WORDS)
