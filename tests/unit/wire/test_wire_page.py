"""The page and the code agree, in both directions; and the comparison notices every change of a table."""

from __future__ import annotations

import functools
import re

import pytest
import wire_page
from hypothesis import given
from wire_samples import any_message

from firmware_bridge.link import greeting, reassembly, receiver, retransmit, sender, session
from firmware_bridge.wire import frames, record
from firmware_bridge.wire.layout import Direction, layout_of
from firmware_bridge.wire.messages import BY_KIND, MESSAGE_TYPES, encode, kind_of
from firmware_bridge.wire.numbers import NUMBERS

TEXT = wire_page.PAGE.read_text(encoding="utf-8")
OF_PAGE = wire_page.messages(TEXT)


def compare_rows(name, rows, layout, found):
    """layout: (name, type, size) of the code."""
    if [row.name for row in rows] != [item[0] for item in layout]:
        found.append(
            f"{name}: fields {[row.name for row in rows]} on the page, {[item[0] for item in layout]} in the code"
        )
        return
    offset = 0
    for row, (field, type_name, size) in zip(rows, layout, strict=True):
        want = (str(offset) if offset is not None else "+", "+" if size is None else str(size), field, type_name)
        if (row.offset, row.size, row.name, row.type) != want:
            found.append(f"{name}: {(row.offset, row.size, row.name, row.type)} on the page, {want} in the code")
        if wire_page.size_of(row.type) != size:
            found.append(f"{name}.{field}: the type {row.type} has another size")
        offset = None if offset is None or size is None else offset + size


@functools.cache
def rows_of_code(cls):
    return [(name, kind.name, kind.size) for name, kind in layout_of(cls)]


def compare_messages(text, found):
    on_page = wire_page.messages(text)
    if set(on_page) != set(BY_KIND):
        found.append(f"kinds differ: {sorted(set(on_page) ^ set(BY_KIND))}")
    for kind in set(on_page) & set(BY_KIND):
        page, code = on_page[kind], BY_KIND[kind]
        if page.name != code.name:
            found.append(f"{kind:#x} is {page.name} on the page, {code.name} in the code")
        compare_rows(page.name, page.rows, rows_of_code(code.cls), found)
        if not page.rows and "No payload" not in page.text:
            found.append(f"{page.name}: no table, and no word that there is no payload")
        words = page.how.split(", ")
        direction = Direction.BOTH
        if words[0].startswith("to "):
            direction = Direction.TO_DEVICE
        elif words[0].startswith("from "):
            direction = Direction.FROM_DEVICE
        elif words[0] != "both ways":
            found.append(f"{page.name}: who sends it? {page.how}")
        how = (direction, "not sequenced" not in words, "command" in words)
        if how != (code.direction, code.sequenced, code.command):
            found.append(
                f"{page.name}: {how} on the page, {(code.direction, code.sequenced, code.command)} in the code"
            )
        if code.command and page.rows[0].name != "command_id":
            found.append(f"{page.name}: a command begins with its id")
        items = [type_of_list for _, type_of_list in code.layout if type_of_list.item is not None]
        if len(items) != bool(page.item_rows):
            found.append(f"{page.name}: the table of its items")
        for type_of_list in items:
            compare_rows(type_of_list.name, page.item_rows, rows_of_code(type_of_list.item), found)


VENDORS = "vendors; never used by this specification"


def compare_kinds(text, found):
    head, *rows = wire_page.section_named(text, "4. Messages").tables[0]
    ranges = {whose: [int(end, 16) for end in kinds.split("-")] for kinds, whose in rows}
    modules = {"link_messages": "link", "machine_messages": "dealing machine"}
    for code in MESSAGE_TYPES:
        whose = modules.get(code.cls.__module__.rpartition(".")[2], "terminals and base station")
        first, last = ranges.get(whose, (1, 0))
        if not first <= code.kind <= last:
            found.append(f"{code.name} is outside the kinds of {whose}")
    spans = sorted(ranges.values())
    if set(ranges) != {"link", *modules.values(), "terminals and base station", VENDORS}:
        found.append(f"kinds: {sorted(ranges)}")
    if head != ["kinds", "whose"] or spans != [[1, 0x1F], [0x20, 0x5F], [0x60, 0x9F], [0xF0, 0xFF]]:
        found.append(f"kinds: {spans}")


def compare_frame(text, found):
    section = wire_page.section_named(text, "1. Frames")
    rows = section.rows(0)
    names = [row.name for row in rows]
    if names != [name for name, _ in frames.HEADER_FIELDS] + ["payload", "crc"]:
        found.append(f"frame: fields {names}")
        return
    compare_rows("frame", rows[:-2], [(n, t, wire_page.SIZES[t]) for n, t in frames.HEADER_FIELDS], found)
    payload, crc = rows[-2:]
    if (payload.offset, payload.size, payload.type) != (str(frames.HEADER_SIZE), f"0-{frames.MAX_PAYLOAD}", "bytes"):
        found.append("frame: payload")
    if (crc.offset, crc.size, crc.type) != ("+", str(frames.CRC_SIZE), "u16"):
        found.append("frame: crc")
    head, *flags = section.tables[1]
    if head != ["flag", "bit", "meaning"] or {n: int(b, 16) for n, b, _ in flags} != {
        f.name: int(f) for f in frames.Flag
    }:
        found.append("flags differ")


WORDS_OF_BITS = {
    "record_kind": "kind",
    "confirmed_by": "confirmed_by",
    "board": "board",
    "declarer's": "declarer",
    "tricks": "tricks",
    "NS": "ns",
    "EW": "ew",
    "level": "level",
    "strain": "strain",
    "doubling": "doubling",
}


def compare_record(text, found):
    rows = wire_page.section_named(text, "5. The body").rows(0)
    compare_rows("body", rows, [(n, t, wire_page.SIZES[t]) for n, t in record.BODY_FIELDS], found)
    bits = [
        (WORDS_OF_BITS.get(word), row.name, int(low), int(high) - int(low) + 1)
        for row in rows
        for low, high, word in re.findall(r"bits (\d+)-(\d+) ([\w']+)", row.meaning)
    ]
    if sorted(bits, key=str) != sorted(record.BIT_FIELDS, key=str):
        found.append(f"bits of a record: {bits}")


def compare_numbers(text, found):
    head, *rows = wire_page.section_named(text, "7. Numbers").tables[0]
    page = [(name, int(value, 0)) for name, value, _ in rows]
    code = [(f"{name}.{member.name.lower()}", int(member)) for name, enum in NUMBERS.items() for member in enum]
    if head != ["name", "value", "meaning"] or sorted(page) != sorted(code):
        found.append(f"numbers: {sorted(set(page) ^ set(code))}")
    meanings = {row.meaning for message in wire_page.messages(text).values() for row in message.rows}
    for word in meanings:
        if re.fullmatch(r"[a-z]+_[a-z]+", word) and word not in NUMBERS:
            found.append(f"{word} is not in section 7")


LIMITS = [
    (r"at least (\d+) and at most \d+ bytes", frames.MIN_FRAME),
    (r"at least \d+ and at most (\d+) bytes", frames.MAX_FRAME),
    (r"longest frame it takes, before COBS, (\d+)-\d+", sender.SMALLEST_MAX_FRAME),
    (r"longest frame it takes, before COBS, \d+-(\d+)", frames.MAX_FRAME),
    (r"it can hold unacknowledged, 1-(\d+)", sender.LARGEST_WINDOW),
    (r"A message has at most (\d+) bytes", sender.MAX_MESSAGE),
    (r"not complete\s+(\d+) s after its first piece", reassembly.FRAGMENT_TIMEOUT),
    (r"at least (\d+) ms, at most 5 s", retransmit.MIN_TIMEOUT * 1000),
    (r"at least 25 ms, at most (\d+) s", retransmit.MAX_TIMEOUT),
    (r"first (\d+\.\d+) s, doubled", retransmit.FIRST_TIMEOUT),
    (r"After (\w+) transmissions without progress", sender.MAX_TRANSMISSIONS),
    (r"not before (\d+) s have passed since the first of them", sender.GIVE_UP_AFTER),
    (r"After (\d+) s without sending anything", session.PING_AFTER),
    (r"silence of (\d+) s ends it", session.SILENCE),
    (r"the text of a REFUSE has at most (\d+) bytes", session.REFUSE_TEXT),
]


def compare_limits(text, found):
    for pattern, value in LIMITS:
        named = re.search(pattern, text)
        if not named or float({"five": "5"}.get(named[1], named[1])) != value:
            found.append(f"limit {pattern}: {named and named[1]} on the page, {value} in the code")
    within = re.search(r"at once or within (\d+) ms", text)
    if not within or int(within[1]) < receiver.ACK_DELAY * 1000:
        found.append("the acknowledgement is too late")
    if f"version {greeting.PROTOCOL_MAX >> 4}.{greeting.PROTOCOL_MAX & 15}" not in text.splitlines()[0]:
        found.append("the page is of another version")
    hello = frames.MIN_FRAME + 42 + 2 * 33 + 1 + 8 * 8
    if f"a HELLO (at most {hello} bytes as a frame)" not in text:
        found.append("size of HELLO")


def disagreements(text):
    found = []
    for compare in (
        compare_messages,
        compare_kinds,
        compare_frame,
        compare_record,
        compare_numbers,
        compare_limits,
    ):
        try:
            compare(text, found)
        except (AssertionError, ValueError, KeyError, IndexError, StopIteration) as error:
            found.append(f"{compare.__name__}: {error!r}")
    return found


def test_the_page_and_the_code_agree():
    assert disagreements(TEXT) == []


def table_lines():
    return [
        number for number, line in enumerate(TEXT.splitlines()) if line.startswith("|") and not line.startswith("| ---")
    ]


@pytest.mark.parametrize("column", [1, 2, 3, 4])
def test_a_changed_cell_is_noticed(column):
    lines = TEXT.splitlines()
    missed = []
    for number in table_lines():
        cells = lines[number].split("|")
        if column > max(2, len(cells) - 3):
            continue  # the meaning, last, is prose
        cells[column] = cells[column].rstrip() + "7 "
        changed = [*lines[:number], "|".join(cells), *lines[number + 1 :]]
        if not disagreements("\n".join(changed)):
            missed.append(lines[number])
    assert missed == []


def test_a_missing_row_is_noticed():
    lines = TEXT.splitlines()
    missed = [
        lines[number] for number in table_lines() if not disagreements("\n".join(lines[:number] + lines[number + 1 :]))
    ]
    assert missed == []


def test_a_missing_message_is_noticed():
    for message in OF_PAGE.values():
        start = TEXT.index(f"### 0x{message.kind:02X} ")
        end = TEXT.find("\n##", start)
        assert disagreements(TEXT[:start] + TEXT[end:])


@given(any_message)
def test_the_page_alone_gives_the_same_bytes(message):
    page = OF_PAGE[kind_of(message)]
    assert wire_page.pack_message(page, message) == encode(message)
