"""Promises of the pure rules: which result is current, what asks for the director, undo, order from numbers alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from terminals.contract import Contract
from terminals.result import Artificial, Average, NotPlayed, PassedOut, Played
from terminals.store.values import EventKind, PlayKey, PlayStatus, RecordKey, ResultEvent
from terminals.sync.projection import resolve, same_result, undone_actions

PLAY = PlayKey("A", 5, 1, 8)


def played(tricks: int, lead: int | None = None) -> Played:
    return Played(Contract.parse("4S S"), tricks, lead)


def entry(number: int, tricks: int | None, device: int = 1, seq: int = 1, root: int = 0, **more: object) -> ResultEvent:
    kind = EventKind.ENTERED if not root or root == seq else EventKind.CORRECTED
    if tricks is None:
        kind = EventKind.ERASED
    event = ResultEvent(
        kind=kind,
        play=PLAY,
        content=None if tricks is None else played(tricks),
        key=RecordKey(device, 7, seq),
        root=root or seq,
        number=number,
        confirmed=1,
    )
    return replace(event, **more)  # type: ignore[arg-type]


def ruling(number: int, action: str, content: object = None, kind: EventKind = EventKind.RULED) -> ResultEvent:
    return ResultEvent(kind=kind, play=PLAY, content=content, action=action, number=number)  # type: ignore[arg-type]


def undo(number: int, action: str, target: str) -> ResultEvent:
    return ResultEvent(kind=EventKind.UNDONE, play=PLAY, action=action, target=target, number=number)


def test_nothing_is_no_result() -> None:
    state = resolve(PLAY, [])
    assert (state.content, state.status, state.current, state.changes) == (None, PlayStatus.NONE, 0, 0)


def test_entered_then_accepted() -> None:
    first = entry(1, 10, confirmed=0)
    assert resolve(PLAY, [first]).status is PlayStatus.ENTERED
    assert resolve(PLAY, [first, entry(2, 10, seq=2, root=1)]).status is PlayStatus.CONFIRMED


def test_the_first_of_two_different_entries_stays_whatever_is_newer() -> None:
    events = [entry(1, 10), entry(2, 9, device=2)]
    state = resolve(PLAY, events)
    assert (state.content, state.attention) == (played(10), ("contested",))
    assert [claim.content for claim in state.claims] == [played(10), played(9)]


def test_a_result_that_was_erased_at_one_terminal_and_stands_at_another_asks() -> None:
    state = resolve(PLAY, [entry(1, 10), entry(2, 10, device=2), entry(3, None, seq=2, root=1)])
    assert (state.content, state.attention) == (played(10), ("erased-elsewhere",))


def test_the_same_terminal_may_erase_and_enter_again_without_anybody_being_asked() -> None:
    state = resolve(PLAY, [entry(1, 10), entry(2, None, seq=2, root=1), entry(3, 9, seq=3)])
    assert (state.content, state.attention) == (played(9), ())


def test_a_late_recovered_record_does_not_undo_a_later_correction() -> None:
    state = resolve(PLAY, [entry(1, 11, seq=3, root=2), entry(2, 10, seq=2)])
    assert (state.content, state.attention) == (played(11), ())


def test_a_ruling_stands_and_what_comes_later_is_shown() -> None:
    artificial = Artificial(Average.PLUS, Average.MINUS)
    events = [entry(1, 10), ruling(2, "a", artificial)]
    assert resolve(PLAY, events).content == artificial
    assert resolve(PLAY, events).attention == ()
    later = [*events, entry(3, 9, seq=2, root=1)]
    assert (resolve(PLAY, later).content, resolve(PLAY, later).attention) == (artificial, ("after-ruling",))
    checked = [*later, ruling(4, "b", kind=EventKind.CHECKED)]
    assert (resolve(PLAY, checked).content, resolve(PLAY, checked).attention) == (artificial, ())


def test_undo_brings_back_what_was_and_undoing_the_undo_the_ruling() -> None:
    events = [entry(1, 10), ruling(2, "a", played(9)), ruling(3, "b", NotPlayed()), undo(4, "c", "b")]
    assert resolve(PLAY, events).content == played(9)
    assert resolve(PLAY, events).actions == ("a",)
    assert resolve(PLAY, [*events, undo(5, "d", "a")]).content == played(10)
    assert resolve(PLAY, [*events, undo(5, "d", "c")]).content == NotPlayed()
    assert undone_actions(events) == {"b"}


def test_removed_is_no_result_and_no_missing_claim() -> None:
    state = resolve(PLAY, [entry(1, 10), ruling(2, "a", kind=EventKind.REMOVED)])
    assert (state.content, state.current, len(state.claims)) == (None, 0, 1)


def test_a_lead_that_only_one_knows_makes_no_difference() -> None:
    assert same_result(played(10, 3), played(10))
    assert not same_result(played(10, 3), played(10, 4))
    assert not same_result(played(10), PassedOut())
    assert same_result(None, None)


def events_of(numbers: list[tuple[int, int, int | None]]) -> list[ResultEvent]:
    """(device, place back, tricks) -> events as the store would number them."""
    out: list[ResultEvent] = []
    seqs: dict[int, int] = {}
    roots: dict[tuple[int, int], int] = {}
    for number, (device, back, tricks) in enumerate(numbers, 1):
        seq = seqs[device] = seqs.get(device, 0) + 1
        named = seq - back
        root = roots.get((device, named), seq) if back and named >= 1 else seq
        if tricks is None and root == seq:
            tricks = 7
        roots[device, seq] = root
        out.append(entry(number, tricks, device=device, seq=seq, root=root))
    return out


SOME = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 3), st.one_of(st.none(), st.integers(6, 8))), min_size=1, max_size=7
)


@settings(deadline=None)
@given(SOME)
def test_the_order_of_the_list_is_nothing(numbers: list[tuple[int, int, int | None]]) -> None:
    events = events_of(numbers)
    want = resolve(PLAY, events)
    assert resolve(PLAY, events[::-1]) == want
    assert resolve(PLAY, sorted(events, key=lambda e: (e.key, e.number))) == want


@settings(deadline=None)
@given(SOME)
def test_never_two_current_results_and_never_one_that_nobody_said(numbers: list[tuple[int, int, int | None]]) -> None:
    events = events_of(numbers)
    state = resolve(PLAY, events)
    last: dict[tuple[int, int], Played | None] = {}
    for event in events:
        assert event.key is not None
        last[event.key.device, event.root] = event.content  # type: ignore[assignment]
    standing = [content for content in last.values() if content is not None]
    assert state.current == (1 if standing else 0)
    assert state.content is None or state.content in standing
    if len(set(standing)) > 1:
        assert "contested" in state.attention
    if len(last) == 1:
        assert (state.content, state.attention) == (next(iter(last.values())), ())


@settings(deadline=None)
@given(SOME)
def test_a_current_result_is_never_replaced_by_another_device(numbers: list[tuple[int, int, int | None]]) -> None:
    events = events_of(numbers)
    for count in range(1, len(events)):
        before, after = resolve(PLAY, events[:count]), resolve(PLAY, events[: count + 1])
        newest = events[count]
        if before.content is None or after.content == before.content:
            continue
        assert newest.key is not None
        owner = next(c for c in before.claims if c.content == before.content)
        touched = {(c.device, c.root) for c in before.claims if c.content == before.content}
        assert (newest.key.device, newest.root) in touched, owner


def test_the_number_of_journals_interleaved_does_not_change_each_entry() -> None:
    """I6: each entry says what its last correction in journal order says, whatever the arrival order."""
    base = [(1, 1, 10), (1, 2, 9), (2, 1, 10), (2, 2, 9)]
    for order in permutations(base):
        kept: dict[int, list[tuple[int, int, int]]] = {1: [], 2: []}
        for item in order:
            kept[item[0]].append(item)
        if any(items != sorted(items) for items in kept.values()):
            continue
        events = [entry(n, tricks, device=device, seq=seq, root=1) for n, (device, seq, tricks) in enumerate(order, 1)]
        assert (resolve(PLAY, events).content, resolve(PLAY, events).attention) == (played(9), ())
