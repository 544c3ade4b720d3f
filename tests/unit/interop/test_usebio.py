"""USEBIO: what we write is valid and reads back; what others write is understood; what is no result is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_sessions import mitchell, published, with_rulings

from firmware_bridge.errors import EntryError
from terminals.contract import Contract
from terminals.interop.audit import audit_event
from terminals.interop.exchange import EventKind
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_schema import validate_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.result import Artificial, Assigned, Average, FixedPercent, NotPlayed, PassedOut, Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant
from terminals.scoring.profile import PLAIN
from terminals.scoring.teams import TeamMethod


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("one", [False, True])
def test_what_is_written_is_valid_and_reads_back(method: Method, one: bool) -> None:
    lines = mitchell(one=one)
    if method is not Method.AGGREGATE:
        lines = with_rulings(lines)
    event = published(lines, method=method, one=one)
    data = write_usebio(event)
    assert validate_usebio(fromstring(data)) == []
    back = read_usebio(data)
    assert (back.title, back.date, back.club, back.club_id) == (event.title, event.date, event.club, event.club_id)
    assert (back.method, back.winners, back.warnings) == (method, 1 if one else 2, ())

    def key(line: object) -> object:
        return (line.line.board, line.line.ns.number, line.line.ew.number)  # type: ignore[attr-defined]

    for ours, theirs in zip(sorted(event.lines, key=key), sorted(back.lines, key=key), strict=True):
        assert key(ours) == key(theirs)
        if isinstance(ours.line.result, (Played, PassedOut)):
            assert theirs.line.result == ours.line.result
        if isinstance(ours.line.result, Artificial):
            percents = [getattr(side, "percent", side) for side in (ours.line.result.ns, theirs.line.result.ns)]
            assert percents[0] == percents[1]
        assert theirs.score == ours.score
        assert theirs.ns_points is not None
        assert ours.ns_points is not None
        assert (theirs.ns_points.text, theirs.ns_points.value) == (ours.ns_points.text, ours.ns_points.value)
    for ours_entrant, theirs_entrant in zip(event.entrants, back.entrants, strict=True):
        assert theirs_entrant.contestant.number == ours_entrant.contestant.number
        assert theirs_entrant.players == ours_entrant.players
        assert (theirs_entrant.total, theirs_entrant.place) == (ours_entrant.total, ours_entrant.place)


def test_weighted_and_split_rulings_survive_in_the_notes() -> None:
    event = published(with_rulings(mitchell()))
    back = read_usebio(write_usebio(event))
    ours = [one.line.result for one in event.lines if isinstance(one.line.result, Assigned)]
    theirs = [one.line.result for one in back.lines if isinstance(one.line.result, Assigned)]
    assert ours == theirs
    assert len(ours) == 4


def test_the_schema_refuses_what_no_reader_could_use() -> None:
    good = write_usebio(published(mitchell(3, 3, 1)))
    for old, new, words in [
        (b"<TRICKS>", b"<TRICKS>9", "TRICKS has the wrong form"),
        (b'Version="1.2"', b'Version="9"', "no valid attribute Version"),
        (b"<CLUB_NAME>", b"<CLUB_NOME/><CLUB_NAME>", "unknown element CLUB_NOME"),
        (b"<BOARD_NUMBER>1<", b"<BOARD_NUMBER>0<", "BOARD_NUMBER has the wrong form"),
        (b"<EVENT_DESCRIPTION>", b"text<EVENT_DESCRIPTION>", "text where only elements"),
        (b"<WINNER_TYPE>2</WINNER_TYPE>", b"<WINNER_TYPE>2</WINNER_TYPE>" * 2, "2 times WINNER_TYPE"),
        (b"<PAIR_NUMBER>1</PAIR_NUMBER>", b"", "no PAIR_NUMBER"),
        (b'EVENT_TYPE="PAIRS"', b'EVENT_TYPE="PAIRS" X="1"', "unknown attribute X"),
    ]:
        assert old in good
        assert any(words in problem for problem in validate_usebio(fromstring(good.replace(old, new, 1)))), words
    assert validate_usebio(fromstring("<X/>")) == ["the root is X, not USEBIO"]


def test_an_event_without_results_is_not_written() -> None:
    with pytest.raises(EntryError, match="no results"):
        write_usebio(replace(published(mitchell(3, 3, 1)), lines=()))


PAIRS = 'EVENT_TYPE="PAIRS"'


def file(lines: str, *, head: str = "", participants: str = "", event: str = PAIRS, top: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>{top}<USEBIO Version="1.1"><CLUB><CLUB_NAME>A</CLUB_NAME></CLUB><EVENT {event}>{head}'
        f"<PARTICIPANTS>{participants}</PARTICIPANTS><BOARD><BOARD_NUMBER>1</BOARD_NUMBER>{lines}</BOARD>"
        f"</EVENT></USEBIO>"
    ).encode()


def line(contract: str = "", by: str = "", tricks: str = "", score: str = "", more: str = "", ns: str = "1") -> str:
    fields = {"CONTRACT": contract, "PLAYED_BY": by, "TRICKS": tricks, "SCORE": score}
    inner = "".join(f"<{tag}>{text}</{tag}>" for tag, text in fields.items() if text)
    return (
        f"<TRAVELLER_LINE><NS_PAIR_NUMBER>{ns}</NS_PAIR_NUMBER><EW_PAIR_NUMBER>2</EW_PAIR_NUMBER>{inner}{more}"
        "</TRAVELLER_LINE>"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (line("3Hx", "N", "9", "530"), Played(Contract.parse("3HX N"), 9)),
        (line("3SX", "S", "9", "530"), Played(Contract.parse("3SX S"), 9)),
        (line("3SH**", "E", "9"), Played(Contract.parse("3SXX E"), 9)),
        (line("1N", "W", "8"), Played(Contract.parse("1NT W"), 8)),
        (line("4S*", "W", "8"), Played(Contract.parse("4SX W"), 8)),
        (line("4S", "N", "+1"), Played(Contract.parse("4S N"), 11)),
        (line("4S", "North", "="), Played(Contract.parse("4S N"), 10)),
        (line("PASS", "", "", "0"), PassedOut()),
        (line("passed out"), PassedOut()),
        (line("", "", "", "0"), PassedOut()),
        (line("", "", "", "A5050"), Artificial(Average.EVEN, Average.EVEN)),
        (line("", "", "", "A6040"), Artificial(Average.PLUS, Average.MINUS)),
        (line("", "", "", "A6060"), Artificial(Average.PLUS, Average.PLUS)),
        (line("", "", "", "A5545"), Artificial(FixedPercent(Fraction(55)), FixedPercent(Fraction(45)))),
        (line("AVE+"), Artificial(Average.PLUS, Average.MINUS)),
        (line("", "", "", "AVE+/AVE"), Artificial(Average.PLUS, Average.EVEN)),
        (line("1NT", "N", "7", "90", "<LEAD>D10</LEAD>"), Played(Contract.parse("1NT N"), 7, 30)),
        (line("1NT", "N", "7", "90", "<LEAD>DJ</LEAD>"), Played(Contract.parse("1NT N"), 7, 29)),
        (line("1NT", "N", "7", "90", "<LEAD>KD</LEAD>"), Played(Contract.parse("1NT N"), 7, 27)),
        (line("1NT", "N", "7", "90", "<LEAD>??</LEAD>"), Played(Contract.parse("1NT N"), 7)),
        (line("", "", "", "Not played"), NotPlayed()),
    ],
)
def test_dialects(text: str, wanted: object) -> None:
    found = read_usebio(file(text)).lines[0].line.result
    assert type(found) is type(wanted)
    assert found == wanted


def test_a_score_without_a_contract_is_kept_as_a_score() -> None:
    one = read_usebio(file(line("", "", "", "-450"))).lines[0]
    assert isinstance(one.line.result, Assigned)
    assert one.score == -450


@pytest.mark.parametrize(
    ("event", "head", "method"),
    [
        ('EVENT_TYPE="MP_PAIRS"', "", Method.MATCHPOINTS),
        ('EVENT_TYPE="BUTLER_PAIRS"', "", Method.BUTLER),
        ('EVENT_TYPE="CROSS_IMP"', "", Method.CROSS_IMPS),
        ('EVENT_TYPE="PAIRS"', "<BOARD_SCORING_METHOD>CROSS_IMPS</BOARD_SCORING_METHOD>", Method.CROSS_IMPS),
        ('EVENT_TYPE="PAIRS"', "", Method.MATCHPOINTS),
    ],
)
def test_the_method_is_a_tag_or_the_events_type(event: str, head: str, method: Method) -> None:
    assert read_usebio(file(line("1NT", "N", "7"), event=event, head=head)).method is method


def test_the_method_may_only_show_in_the_points() -> None:
    text = line("1NT", "N", "7", "90", "<NS_BUTLER_POINTS>-1</NS_BUTLER_POINTS>")
    event = read_usebio(file(text))
    assert event.method is Method.BUTLER
    assert event.lines[0].ns_points is not None
    assert event.lines[0].ns_points.value == -1


def test_a_file_that_begins_with_empty_lines_is_read() -> None:
    data = file(line("1NT", "N", "7"))
    assert data.startswith(b"<?xml")
    assert len(read_usebio(b"\r\n  \n" + data).lines) == 1


def test_a_doctype_is_never_fetched_and_entities_are_refused() -> None:
    for address in ("http://192.0.2.1/usebio.dtd", "file:///etc/passwd"):
        top = f'<!DOCTYPE USEBIO SYSTEM "{address}">'
        assert len(read_usebio(file(line("1NT", "N", "7"), top=top)).lines) == 1
    bomb = '<!DOCTYPE USEBIO [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
    with pytest.raises(EntryError, match="entities") as caught:
        read_usebio(file(line("1NT", "N", "7", "90", "<NOTES>&b;</NOTES>"), top=bomb))
    assert caught.value.exit_status == 2
    outside = '<!DOCTYPE USEBIO [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(EntryError):
        read_usebio(file(line("1NT", "N", "7", "90", "<NOTES>&x;</NOTES>"), top=outside))


def test_bare_ampersands_and_html_names_are_repaired_and_told() -> None:
    people = "<PAIR><PAIR_NUMBER>1</PAIR_NUMBER><PLAYER><PLAYER_NAME>Ann & Ren&eacute;e</PLAYER_NAME></PLAYER></PAIR>"
    event = read_usebio(file(line("1NT", "N", "7"), participants=people))
    assert event.entrants[0].players[0].name == "Ann & Renée"
    assert len([note for note in event.warnings if "&" in note]) == 2


def test_latin_1_and_byte_order_marks() -> None:
    body = file(line("1NT", "N", "7"), head="<EVENT_DESCRIPTION>Été</EVENT_DESCRIPTION>").decode()
    latin = body.replace('version="1.0"', 'version="1.0" encoding="iso-8859-1"').encode("latin-1")
    assert read_usebio(latin).title == "Été"
    assert read_usebio(b"\xef\xbb\xbf" + body.encode()).title == "Été"


@pytest.mark.parametrize("declared", ["", "utf-8", "UTF-16", "us-ascii"])
@pytest.mark.parametrize("written", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_files_that_are_not_in_the_encoding_they_declare(declared: str, written: str) -> None:
    body = file(line("1NT", "N", "7"), head="<EVENT_DESCRIPTION>Été & Cie</EVENT_DESCRIPTION>").decode()
    named = body.replace('version="1.0"', f'version="1.0" encoding="{declared}"' if declared else 'version="1.0"')
    event = read_usebio(named.encode(written))
    assert event.title == "Été & Cie"
    agrees = (declared or "utf-8").lower() == {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(written, written)
    assert any("the file says" in note for note in event.warnings) is not agrees


@pytest.mark.parametrize(("seat", "wrong"), [("Q", True), ("north", False), ("", False), ("?", False)])
def test_a_declarer_at_no_seat_is_a_fault(seat: str, wrong: bool) -> None:
    report = audit_event(read_usebio(file(line("1NT", seat, "7", "90"))))
    assert bool(report.score_mismatches) is wrong


def test_numbers_with_directions_and_two_winners_with_equal_numbers() -> None:
    people = "".join(
        f"<PAIR><PAIR_NUMBER>1</PAIR_NUMBER><DIRECTION>{side}</DIRECTION><PERCENTAGE>{p}</PERCENTAGE></PAIR>"
        for side, p in (("NS", "55.00"), ("EW", "45.00"))
    )
    both = (
        "<TRAVELLER_LINE><NS_PAIR_NUMBER>1</NS_PAIR_NUMBER><EW_PAIR_NUMBER>1</EW_PAIR_NUMBER>"
        "<CONTRACT>PASS</CONTRACT></TRAVELLER_LINE>"
    )
    event = read_usebio(file(both, participants=people))
    assert event.lines[0].line.ns == Contestant("", 1, "NS")
    assert event.lines[0].line.ew == Contestant("", 1, "EW")
    assert event.winners == 2
    behind = people.replace(">1<", ">1NS<", 1).replace(">1<", ">1EW<", 1)
    labelled = both.replace("<NS_PAIR_NUMBER>1<", "<NS_PAIR_NUMBER>1NS<").replace(
        "<EW_PAIR_NUMBER>1<", "<EW_PAIR_NUMBER>1EW<"
    )
    event = read_usebio(file(labelled, participants=behind))
    assert (event.lines[0].line.ns.direction, event.lines[0].line.ew.direction) == ("NS", "EW")
    bare = read_usebio(file(both, head="<WINNER_TYPE>2</WINNER_TYPE>"))
    assert bare.lines[0].line.ns != bare.lines[0].line.ew
    assert any("not among the participants" in note for note in bare.warnings)


def test_sections_sessions_deals_and_individuals() -> None:
    def section(name: str) -> str:
        pairs = "".join(f"<PAIR><PAIR_NUMBER>{n}</PAIR_NUMBER></PAIR>" for n in (1, 2))
        return (
            f'<SECTION SECTION_ID="{name}"><PARTICIPANTS>{pairs}</PARTICIPANTS>'
            f"<BOARD><BOARD_NUMBER>1</BOARD_NUMBER>{line('1NT', 'N', '7')}</BOARD></SECTION>"
        )

    deals = (
        "<HANDSET><BOARD><BOARD_NUMBER>1</BOARD_NUMBER><HAND><DIRECTION>North</DIRECTION></HAND></BOARD></HANDSET>"
        "<BOARD><BOARD_NUMBER>2</BOARD_NUMBER><HAND/></BOARD>"
    )
    text = f'<USEBIO><EVENT EVENT_TYPE="PAIRS"><SESSION>{section("A")}{section("B")}{deals}</SESSION></EVENT></USEBIO>'
    event = read_usebio(text.encode())
    assert event.sections == ("A", "B")
    assert [one.line.ns for one in event.lines] == [Contestant("A", 1), Contestant("B", 1)]
    people = "".join(
        f"<PLAYER><PLAYER_NUMBER>{n}</PLAYER_NUMBER><PERCENTAGE>50</PERCENTAGE><PLAYER_NAME>P{n}</PLAYER_NAME></PLAYER>"
        for n in range(1, 5)
    )
    seats = "".join(f"<{seat}_PLAYER_NUMBER>{n}</{seat}_PLAYER_NUMBER>" for n, seat in enumerate("NSEW", 1))
    traveller = f"<TRAVELLER_LINE>{seats}<SCORE>80</SCORE></TRAVELLER_LINE>"
    single = read_usebio(file(traveller, participants=people, event='EVENT_TYPE="INDIVIDUAL"'))
    assert single.kind is EventKind.INDIVIDUAL
    assert [one.number for one in single.lines[0].line.credited_ns] == [1, 2]
    assert [one.number for one in single.lines[0].line.credited_ew] == [3, 4]


def test_team_matches() -> None:
    def traveller(side: str, ns: str, ew: str, score: int) -> str:
        return (
            f"<TRAVELLER_LINE><DIRECTION>{side}</DIRECTION><NS_PAIR_NUMBER>{ns}</NS_PAIR_NUMBER>"
            f"<EW_PAIR_NUMBER>{ew}</EW_PAIR_NUMBER><SCORE>{score}</SCORE></TRAVELLER_LINE>"
        )

    teams = "".join(
        f'<TEAM TEAM_ID="{n}" TEAM_NAME="T{n}"><TOTAL_SCORE>{vp}</TOTAL_SCORE>'
        f"<PAIR><PAIR_NUMBER>{n}-1-2</PAIR_NUMBER></PAIR><PAIR><PAIR_NUMBER>{n}-3-4</PAIR_NUMBER></PAIR></TEAM>"
        for n, vp in ((1, "13.78"), (2, "6.22"))
    )
    match = (
        "<MATCH><ROUND_NUMBER>1</ROUND_NUMBER><TEAM>1</TEAM><OPPOSING_TEAM>2</OPPOSING_TEAM>"
        "<TEAM_SCORE>13.78</TEAM_SCORE><OPPOSING_TEAM_SCORE>6.22</OPPOSING_TEAM_SCORE>"
        f"<BOARD><BOARD_NUMBER>1</BOARD_NUMBER><IMPS>10</IMPS>{traveller('NS', '1-1-2', '2-3-4', 420)}"
        f"{traveller('EW', '2-1-2', '1-3-4', -50)}</BOARD></MATCH>"
    )
    head = "<BOARD_SCORING_METHOD>IMPS</BOARD_SCORING_METHOD><MATCH_SCORING_METHOD>VPS</MATCH_SCORING_METHOD>"
    text = (
        f'<USEBIO><EVENT EVENT_TYPE="TEAMS">{head}<SESSION><PARTICIPANTS>{teams}</PARTICIPANTS>{match}</SESSION>'
        "</EVENT></USEBIO>"
    )
    event = read_usebio(text.encode())
    assert (event.kind, event.team_method, event.match_scoring) == (EventKind.TEAMS, TeamMethod.IMPS, "VPS")
    found = event.matches[0]
    assert (found.team.number, found.opponent.number, found.boards[0].points.value) == (1, 2, 10)  # type: ignore[union-attr]
    assert len(event.lines) == 2
    names = {one.label: one.name for one in event.entrants}
    assert names["1"] == "T1"
    assert "1-1-2" in names
    assert event.warnings == ()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 2),
        (b"hello", 2),
        (b"<USEBIO><EVENT>", 2),
        (b"<USEBIO/>", 2),
        (b"<USEBIO><EVENT/></USEBIO>", 2),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', 2),
        (b"<a>" * 60 + b"</a>" * 60, 2),
        (file(line("1NT", "N", "7")).replace(b"<BOARD_NUMBER>1", b"<BOARD_NUMBER>x"), 1),
        (file(line("1NT", "N", "7", "12.5")), 1),
        (file(line("1NT", "N", "7", ns="2"), head="<WINNER_TYPE>1</WINNER_TYPE>"), 1),
        (file(line("1NT", "N", "7").replace("<EW_PAIR_NUMBER>2</EW_PAIR_NUMBER>", "")), 1),
    ],
)
def test_what_is_no_result_file_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(EntryError) as caught:
        read_usebio(data, "f.xml")
    assert caught.value.exit_status == status


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 2000), st.integers(0, 200))
def test_damaged_files_raise_nothing_but_entry_errors(noise: bytes, start: int, length: int) -> None:
    good = write_usebio(published(mitchell(3, 3, 1)))
    try:
        read_usebio(good[:start] + noise + good[start + length :])
    except EntryError:
        pass


def test_profiles_with_half_points_are_published_on_their_scale() -> None:
    event = published(mitchell(), replace(PLAIN, matchpoint_scale=1))
    tops = [one.ns_points.value for one in event.lines if one.ns_points is not None]
    assert max(tops) <= 6
