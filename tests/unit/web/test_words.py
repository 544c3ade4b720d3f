"""Words of the terminal: every one in every language, none in the code that no file has."""

from __future__ import annotations

import json
import re

import pytest

from firmware_bridge.web.pages import read_files

FILES = read_files()
LANGUAGES = sorted(name for name in FILES if name.startswith("messages/"))
ENGLISH = json.loads(FILES["messages/en.json"])
CODE = "\n".join(FILES[name].decode() for name in ("terminal.js", "people.js", "connection.js"))


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_has_every_word_with_the_same_places(name: str) -> None:
    words = json.loads(FILES[name])
    assert set(words) == set(ENGLISH)
    for key, text in words.items():
        assert text.strip(), key
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", ENGLISH[key])), key


def test_every_word_that_the_pages_ask_for_is_there() -> None:
    asked = set(re.findall(r"""\bt\("([a-zA-Z-]+)"[,)]""", CODE))
    asked |= {word for pair in re.findall(r"""\bt\([^()]*\? "([\w-]+)" : "([\w-]+)"[,)]""", CODE) for word in pair}
    asked |= {f"seat-{seat}" for seat in "NESW"} | {f"suit-{suit}" for suit in "CDHSN"}
    assert len(asked) > 60
    assert asked <= set(ENGLISH), asked - set(ENGLISH)


def test_no_word_is_written_into_the_code_of_the_terminal() -> None:
    # Text children of elements are words for people; they come from the files.
    written = re.findall(r"""h\("\w+", \{[^{}]*\}, "([A-Za-z][a-z]+[^"]*)\"""", CODE)
    assert written == []
