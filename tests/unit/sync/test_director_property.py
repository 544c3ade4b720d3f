"""Any sequence of acts and entries: an undo gives back exactly what was, and the projection follows from the events."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sync_fakes import EVENT, FakeHost, FakeTerminal, body

from firmware_bridge.errors import EntryError
from terminals.contract import Contract
from terminals.result import NotPlayedReason, Played
from terminals.store import results
from terminals.store.values import PlayKey, PlayState
from terminals.sync.director import Act, By, Director
from terminals.sync.projection import resolve
from terminals.sync.rebuild import rebuild

PLAYS = [PlayKey("A", board, 1, 4) for board in (1, 2, 3)]


def look(host: FakeHost) -> dict[PlayKey, PlayState]:
    def ask(connection: object) -> dict[PlayKey, PlayState]:
        return {play: resolve(play, results.of_play(connection, host.event, play)) for play in PLAYS}  # type: ignore[arg-type]

    found: dict[PlayKey, PlayState] = host.ask(ask)
    return found


def one_act(director: Director, dice: random.Random) -> Act:
    play, other = dice.sample(PLAYS, 2)
    kind = dice.choice(["rule", "rule", "erase", "move", "leave", "not-played", "choose"])
    if kind == "rule":
        return director.rule(play, Played(Contract.parse("4S N"), dice.randrange(14)))
    if kind == "erase":
        return director.erase(play)
    if kind == "move":
        return director.move(play, other)
    if kind == "leave":
        return director.leave(play)
    if kind == "choose":
        return director.choose(play, dice.randrange(2))
    return director.not_played(play, NotPlayedReason.NO_TIME)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_undo_gives_back_what_was(seed: int) -> None:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        host = FakeHost(Path(folder) / "events.db")
        terminal = host.introduce(FakeTerminal(0xA1, 1))
        try:
            for _ in range(12):
                if dice.randrange(3) == 0:
                    terminal.enter(body(board=dice.randrange(1, 4), tricks=dice.randrange(14)))
                    host.run()
                before = look(host)
                try:
                    done = host.ask(lambda connection: one_act(Director(connection, host.setup, By("Ewa")), dice))
                except EntryError:
                    assert look(host) == before, "an act that was refused changes nothing"
                    continue
                if dice.randrange(2):
                    host.ask(
                        lambda connection, done=done: Director(connection, host.setup, By("Jan")).undo(done.action)
                    )
                    for play, state in look(host).items():
                        assert (state.content, state.status, state.attention, state.actions) == (
                            before[play].content,
                            before[play].status,
                            before[play].attention,
                            before[play].actions,
                        )
                for play, state in look(host).items():
                    rows = [row for row in host.current() if row.play == play]
                    assert [row.content for row in rows] == ([state.content] if state.changes else [])
            assert host.ask(lambda connection: rebuild(connection, EVENT)) == 0
        finally:
            host.close()
