"""Commit, reveal, audit: what was committed opens, and every later change of key, index, entropy or deal shows."""

import hashlib
import json
import stat
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.audit import (
    BoardKey,
    PartSecret,
    audit_boards,
    board_commitment,
    boards_of,
    check_chain,
    commit_part,
    derived_index,
    keys_for,
    new_keys,
)
from dealer.board import Board
from dealer.commitment import NO_PART, fingerprint_of
from dealer.deal import N_DEALS, Deal
from dealer.generate import SeededBytes, generate
from dealer.published import read_commitment, read_reveal, write_commitment, write_reveal
from dealer.store.secret_file import secret_path
from dealer.store.set_keys import commitments, load_secret, save_secret
from firmware_bridge.errors import DealError, StoreError

SET = "00112233445566aa"
BOARDS = generate(range(1, 5), SeededBytes(1))
KEYS = keys_for(BOARDS, SeededBytes(2))


def two_parts(entropy=None):
    return [PartSecret(KEYS), PartSecret(new_keys((5, 6), SeededBytes(3)), "lottery of Friday", entropy)]


def revealed(parts):
    return {key.board: key for part in parts for key in part.keys}


def test_commitments_are_plain_sha_256_that_anybody_can_recompute():
    key = BoardKey(7, bytes(range(32)), 258)
    text = b"firmware-bridge board commitment 1\x00" + bytes.fromhex(SET) + b"\x00\x00\x00\x07" + bytes(range(32))
    direct = text + b"\x01" + bytes(10) + b"\x01\x02"
    assert board_commitment(SET, key) == hashlib.sha256(direct).digest()
    assert board_commitment(SET, replace(key, index=None)) == hashlib.sha256(text + b"\x00").digest()


def test_index_is_derived_with_rejection():
    for number in range(1, 200):
        key = hashlib.sha256(b"%d" % number).digest()
        seed = (
            b"firmware-bridge deal index 1\x00" + key + hashlib.sha256(b"6 13 27").digest() + number.to_bytes(4, "big")
        )
        drawn = [
            int.from_bytes(hashlib.sha256(seed + counter.to_bytes(4, "big")).digest()[:12], "big")
            for counter in range(60)
        ]
        assert derived_index(key, " 6 13 27\n", number) == next(index for index in drawn if index < N_DEALS)


def test_everything_matches_when_nothing_was_changed():
    parts = two_parts("6 13 27")
    public = commitments(SET, parts)
    assert check_chain(public, [part.commitment for part in public]) == []
    played = [board for part in parts for board in boards_of(part)]
    assert audit_boards(public, revealed(parts), {1: "6 13 27"}, played) == (6, [])
    assert audit_boards(public, revealed(parts), {1: "6 13 27"}, None) == (6, [])


def test_deals_of_a_derived_part_are_unknown_before_the_entropy():
    with pytest.raises(DealError):
        boards_of(two_parts()[1])
    first, second = (boards_of(two_parts(words)[1]) for words in ("6 13 27", "6 13 28"))
    assert all(a.deal != b.deal for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda keys: {**keys, 2: replace(keys[2], key=bytes(32))}, "key-wrong"),
        (lambda keys: {**keys, 2: replace(keys[2], index=keys[2].index + 1)}, "key-wrong"),
        (lambda keys: {**keys, 2: replace(keys[2], index=None)}, "key-wrong"),
        (lambda keys: {**keys, 5: replace(keys[5], index=3)}, "key-wrong"),
        (lambda keys: {**keys, 9: replace(keys[2], board=9)}, "not-committed"),
        (lambda keys: {number: key for number, key in keys.items() if number != 2}, "not-revealed"),
    ],
)
def test_a_changed_reveal_shows(change, code):
    parts = two_parts("6 13 27")
    played = [board for part in parts for board in boards_of(part)]
    public = commitments(SET, parts)
    matching, problems = audit_boards(public, change(revealed(parts)), {1: "6 13 27"}, played)
    assert code in [finding.code for finding in problems]
    assert matching == (6 if code == "not-committed" else 5)


def test_a_changed_deal_or_entropy_shows():
    parts = two_parts("6 13 27")
    public = commitments(SET, parts)
    played = [board for part in parts for board in boards_of(part)]
    swapped = [Board(1, played[1].deal), Board(2, played[0].deal), *played[2:]]
    matching, problems = audit_boards(public, revealed(parts), {1: "6 13 27"}, swapped)
    assert (matching, [finding.board for finding in problems]) == (4, [1, 2])
    matching, problems = audit_boards(public, revealed(parts), {1: "6 13 28"}, played)
    assert (matching, {finding.code for finding in problems}) == (4, {"deal-differs"})
    matching, problems = audit_boards(public, revealed(parts), {1: None}, played)
    assert (matching, {finding.code for finding in problems}) == (4, {"entropy-missing"})


def test_a_board_that_was_left_out_shows():
    parts = two_parts("6 13 27")
    public = commitments(SET, parts)
    played = [board for part in parts for board in boards_of(part)][1:]
    matching, problems = audit_boards(public, revealed(parts), {1: "6 13 27"}, played)
    assert (matching, [(finding.code, finding.board) for finding in problems]) == (5, [("not-played", 1)])


def test_chain_covers_order_entropy_source_and_every_board():
    public = commitments(SET, two_parts())
    stated = [part.commitment for part in public]
    changed = [
        [public[0], replace(public[1], entropy_source="lottery of Saturday")],
        [replace(public[0], boards=public[0].boards[1:]), public[1]],
        [replace(public[0], boards=public[0].boards[::-1]), public[1]],
        [public[0], replace(public[1], previous=NO_PART)],
        [public[1], public[0]],
        [public[0], replace(public[1], set_id="00112233445566ab")],
    ]
    for parts in changed:
        assert check_chain(parts, stated), parts
    again = commit_part(SET, 1, public[0].commitment, PartSecret(new_keys((1,), SeededBytes(9))))
    assert [f.code for f in check_chain([public[0], again], [stated[0], again.commitment])] == ["board-repeated"]


@settings(deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_fingerprint_can_be_read_out(commitment):
    text = fingerprint_of(commitment)
    assert len(text) == 19
    assert [len(group) for group in text.split("-")] == [4, 4, 4, 4]


def test_files_round_trip_and_secrets_belong_to_their_owner(tmp_path):
    parts = two_parts("6 13 27")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets").chmod(0o755)  # as after a copy
    path = save_secret(tmp_path, SET, parts)
    assert path == secret_path(tmp_path, SET)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_secret(tmp_path, SET) == parts
    assert load_secret(tmp_path, "ffffffffffffffff") == []
    public = commitments(SET, parts)
    (tmp_path / "c.json").write_bytes(write_commitment(public))
    assert read_commitment(tmp_path / "c.json") == (public, [part.commitment for part in public])
    (tmp_path / "r.json").write_bytes(write_reveal(SET, parts, None))
    keys, entropies, indices, set_id = read_reveal(tmp_path / "r.json")
    assert (keys, entropies, set_id) == (revealed(parts), {0: None, 1: "6 13 27"}, SET)
    assert {n: Deal.from_index(i) for n, i in indices.items()} == {
        board.number: board.deal for part in parts for board in boards_of(part)
    }
    secret = path.read_text() + (tmp_path / "r.json").read_text()
    commitment = (tmp_path / "c.json").read_text()
    for key in KEYS:
        assert key.key.hex() in secret
        assert key.key.hex() not in commitment
        assert str(key.index) not in commitment
        assert key.key.hex() not in repr(parts)
        assert str(key.index) not in repr(parts)


@pytest.mark.parametrize("content", [b"", b"x", b"{}", b"[]", b"[" * 100_000, b'{"parts": [{}]}', b'{"parts": 7}'])
def test_damaged_files_are_refused(tmp_path, content):
    path = secret_path(tmp_path, SET)
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError):
        load_secret(tmp_path, SET)
    for reader in (read_commitment, read_reveal):
        with pytest.raises(DealError) as caught:
            reader(path)
        assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("board", 0),
        ("board", -1),
        ("board", float("inf")),
        ("board", 10**30),
        ("key", "00"),
        ("index", "-1"),
        ("index", str(N_DEALS)),
        ("entropy_source", "\ud800"),
        ("entropy", "\ud800"),
    ],
)
def test_a_secret_that_cannot_be_is_damaged(tmp_path, name, value):
    path = save_secret(tmp_path, SET, two_parts("6 13 27"))
    content = json.loads(path.read_text())
    part = content["parts"][0]
    (part if name in part else part["boards"][0])[name] = value
    path.write_text(json.dumps(content))
    with pytest.raises(StoreError):
        load_secret(tmp_path, SET)


@pytest.mark.parametrize(("reader", "word"), [(read_commitment, "entropy_from"), (read_reveal, "entropy")])
def test_published_words_that_cannot_be_written_are_refused(tmp_path, reader, word):
    parts = two_parts("6 13 27")
    content = write_commitment(commitments(SET, parts)) if reader is read_commitment else write_reveal(SET, parts, None)
    changed = json.loads(content)
    changed["parts"][1][word] = "\ud800"
    (tmp_path / "x.json").write_text(json.dumps(changed))
    with pytest.raises(DealError):
        reader(tmp_path / "x.json")


@pytest.mark.parametrize("set_id", ["", "../../etc/passwd", "00112233445566AA", "0" * 17])
def test_set_id_is_never_a_path(tmp_path, set_id):
    with pytest.raises(DealError):
        load_secret(tmp_path, set_id)
