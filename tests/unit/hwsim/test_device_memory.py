"""T3: non-volatile memory of the simulated devices; a power cut at any byte loses nothing that was promised."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwsim.memory import Log, Media, Medium, Memory, PowerCut


def test_two_slots_keep_the_old_value_or_have_the_new() -> None:
    values = [b"first", b"second value", b"3", b"the fourth is the longest of all"]
    for number in range(1, len(values)):
        cut = 0
        while True:
            media = Medium(), Medium()
            memory = Memory(*media)
            assert memory.load() is None
            for value in values[:number]:
                memory.save(value)
            for medium in media:
                medium.cut_after = cut
            try:
                memory.save(values[number])
            except PowerCut:
                for medium in media:
                    medium.cut_after = None
                again = Memory(*media)
                assert again.load() == values[number - 1]
                again.save(b"later")
                assert Memory(*media).load() == b"later"
                cut += 1
                continue
            assert Memory(*media).load() == values[number]
            break
        assert cut > len(values[number])


@pytest.mark.parametrize("rewrites", [0, 1, 2, 3])
def test_a_log_loses_at_most_the_entry_being_written(rewrites: int) -> None:
    cut = 0
    while True:
        media = Medium(), Medium()
        log = Log(*media)
        assert log.load() == []
        kept = [b"a", b"bb" * 40, b""]
        for entry in kept:
            log.append(entry)
        for _ in range(rewrites):
            log.rewrite(kept)
        for medium in media:
            medium.cut_after = cut
        done = list(kept)
        try:
            log.append(b"new entry")
            done.append(b"new entry")
            log.rewrite([b"only"])
            done = [b"only"]
            log.append(b"last")
            done.append(b"last")
        except PowerCut:
            for medium in media:
                medium.cut_after = None
            again = Log(*media)
            assert again.load() == done
            again.append(b"after")
            assert Log(*media).load() == [*done, b"after"]
            cut += 1
            continue
        break
    assert cut > 30


@given(st.lists(st.binary(max_size=50)), st.integers(0, 5))
def test_log_keeps_order(entries: list[bytes], every: int) -> None:
    media = Medium(), Medium()
    log = Log(*media)
    log.load()
    for number, entry in enumerate(entries):
        log.append(entry)
        if every and number % every == 0:
            log.rewrite(entries[: number + 1])
    assert Log(*media).load() == entries


def test_files_hold_the_same(tmp_path: Path) -> None:
    media = Media(tmp_path / "state", sync=True)
    memory, log = media.memory("m"), media.log("l")
    assert (memory.load(), log.load()) == (None, [])
    for number in range(5):
        memory.save(b"%d" % number)
        log.append(b"%d" % number)
    again = Media(tmp_path / "state")  # without closing the first: as after kill -9
    assert again.memory("m").load() == b"4"
    assert again.log("l").load() == [b"0", b"1", b"2", b"3", b"4"]
    again.close()
    media.close()
