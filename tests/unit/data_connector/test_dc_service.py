"""The Data Connector over HTTP without sockets: who is let in, how often, and what is said when all fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import client_events as events
import httpx
import pytest
from bridgemate_dataconnector import dto

from dealer.deal import Deal
from drivers.host import HostIdentity
from firmware_bridge.clock import ManualClock
from firmware_bridge.errors import ConfigError, EntryError, StoreError
from firmware_bridge.service import data_connector as service_module
from firmware_bridge.service import desk_checks
from firmware_bridge.service.data_connector import ENDPOINT, DataConnector, data_connector, make_app
from firmware_bridge.service.data_connector_access import ClubKeys, Rate, is_loopback, parse_address
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_actions import ACTIONS
from firmware_bridge.service.desk_running import running
from firmware_bridge.service.desk_view import event_view
from terminals.interop.data_connector.envelope import GREETING
from terminals.store import ledger, table_events
from terminals.store.desk import Person
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import RecordKey
from terminals.sync.event_store import FILE_NAME, EventStore

COMMANDS = dto.ScoringProgramDataConnectorCommands


class Service:
    """A desk without an event, and the connector before it."""

    def __init__(self, desk: Desk, keys: ClubKeys, clock: ManualClock) -> None:
        self.desk, self.keys, self.clock = desk, keys, clock
        self.app = make_app(DataConnector(desk, keys))

    async def post(
        self, command: int, payload: Any = "", session: str = "", address: str = "127.0.0.1", **more: Any
    ) -> dict[str, Any]:
        body = {"Command": command, "ClubId": "CLUB", "LicenceKey": "", "SessionGuid": session}
        body["SerializedData"] = payload if isinstance(payload, str) else json.dumps(payload)
        answer = await self.raw(json.dumps({**body, **more}).encode(), address)
        assert answer.status_code == 200
        found = answer.json()
        assert isinstance(found, dict)
        return found

    async def raw(self, body: bytes, address: str = "127.0.0.1", **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, client=(address, 4000))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await http.post(ENDPOINT, content=body, headers=headers)

    async def get(self) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://x") as http:
            return await http.get("/")


@contextlib.asynccontextmanager
async def a_service(folder: Path) -> AsyncIterator[Service]:
    store = EventStore.open(folder / FILE_NAME, threaded=False, synchronous="OFF")
    clock = ManualClock()
    try:
        identity = HostIdentity(device_id=1, boot_count=1)
        async with running(folder, store, None, [], identity, on_event=lambda _: None, clock=clock) as (desk, _):
            yield Service(desk, ClubKeys.open(folder), clock)
    finally:
        store.close()


def with_service(folder: Path, work: Callable[[Service], Awaitable[None]]) -> None:
    async def run() -> None:
        async with a_service(folder) as service:
            await work(service)

    asyncio.run(run())


def test_the_desk_and_the_checks_follow_what_a_program_begins(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        assert GREETING in (await service.get()).text
        init = events.an_event(
            player_data=[events.a_player("7", last="Nowak")],
            participations=[events.a_seat(1, 1, "7")],
            handrecords=[events.a_deal(board) for board in (1, 2)],
        )
        assert not service.desk.has_event
        for _ in range(2):
            assert (await service.post(5, init.to_dict()))["DataType"] == 1
        desk = service.desk
        assert desk.setup.name == "Tuesday Łódź"
        assert sorted(desk_checks.deals_of(desk)) == [1, 2]
        assert desk.names_of("A", 1) == "Ana Nowak"
        sets = desk.facts.deal_set
        assert (await service.post(13, [events.a_deal(2).to_dict()], events.SESSION))["DataType"] == 1
        assert desk.facts.deal_set == sets, "the same deals are one set"
        result = events.a_result(1, 1, 1, 1, 2).to_dict()
        assert (await service.post(10, [result], events.SESSION))["DataType"] == 1
        assert len(desk.rows) == 1

    with_service(tmp_path, work)


def test_keys_count_from_elsewhere_only(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        key = service.keys.add("CLUB")
        assert key is not None
        assert len(key) == 16
        assert service.keys.add("CLUB") is None
        kept = tmp_path / "data-connector.json"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert key not in kept.read_text()
        assert (await service.post(4, '"x"'))["DataType"] == 1
        assert (await service.post(4, '"x"', address="::1"))["DataType"] == 1
        far = "192.168.1.7"
        wrong = await service.post(4, '"x"', address=far, LicenceKey="WRONG")
        assert (wrong["DataType"], wrong["ErrorType"]) == (4, 5)
        other = await service.post(4, '"x"', address=far, ClubId="OTHER", LicenceKey=key)
        assert other["ErrorType"] == 5
        assert (await service.post(4, '"x"', address=far, LicenceKey=key.lower()))["DataType"] == 1
        again = ClubKeys.open(tmp_path)
        assert again.right("CLUB", key)
        assert not again.right("CLUB", "")
        assert not again.right("", "")

    with_service(tmp_path, work)


def test_guessing_keys_is_slowed_down(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        key = service.keys.add("CLUB")
        far = "10.0.0.9"
        for _ in range(10):
            assert (await service.post(4, '"x"', address=far, LicenceKey="no"))["ErrorType"] == 5
        assert (await service.post(4, '"x"', address=far, LicenceKey=key))["ErrorType"] == 1
        assert (await service.post(4, '"x"', address="10.0.0.10", LicenceKey=key))["ErrorType"] == 0
        service.clock.advance(61)
        assert (await service.post(4, '"x"', address=far, LicenceKey=key))["ErrorType"] == 0

    with_service(tmp_path, work)


def test_a_flood_of_requests_is_cut_off() -> None:
    now = 0.0
    rate = Rate(lambda: now, rate=2, burst=5, addresses=2)
    assert [rate.take("a") for _ in range(6)] == [True] * 5 + [False]
    assert rate.take("b")
    now = 1.0
    assert [rate.take("a") for _ in range(3)] == [True, True, False]
    for name in "cd":
        rate.take(name)
    assert rate.take("a"), "forgotten, so it begins anew; memory is bounded"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:5079", ("127.0.0.1", 5079)),
        (":80", ("127.0.0.1", 80)),
        ("0.0.0.0", ("0.0.0.0", 5079)),
        ("[::1]:7", ("::1", 7)),
        ("[::1]", ("::1", 5079)),
    ],
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


def test_what_is_no_address_is_refused_in_words() -> None:
    for text in ("x:y", "h:99999"):
        with pytest.raises(ConfigError):
            parse_address(text)
    assert [is_loopback(one) for one in ("127.9.9.9", "::1", "localhost", "", "10.0.0.1", "evil", "fe80::1%eth0")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_localhost_is_found_whatever_it_means(tmp_path: Path, host: str) -> None:
    """IPv4 and IPv6 alike: a program that asks ``localhost`` must neither fail nor wait."""

    async def answers(address: str, port: int) -> bool:
        body = b'{"Command":4,"ClubId":"any","LicenceKey":"any"}'
        try:
            reader, writer = await asyncio.open_connection(address, port)
            writer.write(b"POST %b HTTP/1.0\r\ncontent-length: %d\r\n\r\n%b" % (ENDPOINT.encode(), len(body), body))
            found = await reader.read()
            writer.close()
        except OSError:
            return False
        return b'"DataType":1' in found

    async def work(service: Service) -> None:
        for _ in range(10):  # somebody else may have the port of our choice in the other family
            async with data_connector(service.desk, tmp_path, f"{host}:0", (), (), lambda _: None) as url:
                assert url is not None
                assert url.startswith("http://127.0.0.1:")
                port = int(url.rpartition(":")[2])
                assert await answers("127.0.0.1", port)
                if not _has_ipv6() or await answers("::1", port):
                    return
        raise AssertionError("no answer over IPv6")

    with_service(tmp_path, work)


def test_the_address_that_is_told_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "own_addresses", lambda: ["192.0.2.7"])

    async def work(service: Service) -> None:
        said: list[str] = []
        async with data_connector(service.desk, tmp_path, "0.0.0.0:0", ("CLUB",), (), said.append):
            assert "http://192.0.2.7:" in said[-1]
            assert "0.0.0.0" not in said[-1]

    with_service(tmp_path, work)


def _has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind(("::1", 0))
        return True
    return False


def test_an_address_that_is_this_machine_in_the_other_family() -> None:
    own = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "localhost"]
    assert all(is_loopback(one) for one in own)
    assert not any(is_loopback(one) for one in ("10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "", "x"))


def test_a_code_page_is_taken_from_the_header(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        name = '{"Command":4,"SerializedData":"\\"Łódź\\""}'.encode("cp1250")
        found = await service.raw(name, **{"content-type": 'text/plain; Charset="windows-1250"'})
        assert found.json()["SerializedData"] == '"Łódź"'
        assert (await service.raw(name)).json()["ErrorType"] == 12

    with_service(tmp_path, work)


def test_a_damaged_key_file_is_no_open_door(tmp_path: Path) -> None:
    for text in ("", "{}", '{"clubs": {"A": {"salt": "zz", "hash": ""}}}', "[]"):
        (tmp_path / "data-connector.json").write_text(text)
        with pytest.raises(StoreError):
            ClubKeys.open(tmp_path)


def test_browsers_are_not_let_in_and_sizes_are_bounded(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        assert (await service.raw(b"{}", origin="http://evil.example")).status_code == 403
        assert (await service.raw(b"x" * (17 << 20))).status_code == 413
        assert (await service.raw(b"x" * (5 << 20), "192.168.1.7")).status_code == 413
        assert (await service.raw(b" " * (5 << 20))).status_code == 200
        for body in (b"", b"[]", b"\xff\xfe", b"{", b'{"Command": "x"}', b"null", b"[" * 100_000):
            answer = await service.raw(body)
            assert (answer.status_code, answer.json()["ErrorType"]) == (200, 12)
            json.loads(answer.json()["SerializedData"])

    with_service(tmp_path, work)


def test_a_failing_disk_says_ask_again_and_a_fault_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(service: Service) -> None:
        init = events.an_event(handrecords=[events.a_deal(1)]).to_dict()
        body = json.dumps({"Command": 5, "LicenceKey": "SECRET", "SerializedData": json.dumps(init)}).encode()

        async def broken(job: object) -> object:
            raise StoreError("the disk is full; nothing of this was stored.", code="store-full")

        async def fault(job: object) -> object:
            raise ZeroDivisionError("AKQJT98765432")

        with monkeypatch.context() as patch:
            patch.setattr(service.desk.store, "submit", broken)
            assert (await service.raw(body)).status_code == 503
            patch.setattr(service.desk.store, "submit", fault)
            answer = await service.raw(body)
            assert (answer.status_code, answer.json()["ErrorType"]) == (200, 7)
        assert (await service.raw(body)).json()["DataType"] == 1
        assert "SECRET" not in caplog.text
        assert "AKQ" not in caplog.text
        assert "failed" in caplog.text

    caplog.set_level(logging.DEBUG)
    with_service(tmp_path, work)


def test_a_poll_that_fails_is_on_record(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The client takes it for "no news"."""

    async def work(service: Service) -> None:
        assert (await service.post(int(COMMANDS.PollQueueForNewResults), "", "F" * 32))["ErrorType"] == 6
        assert "refused" in caplog.text

    caplog.set_level(logging.INFO)
    with_service(tmp_path, work)


def test_the_documentation_names_every_command_that_is_served() -> None:
    from terminals.interop.data_connector.connector import supported

    page = (Path(__file__).parents[3] / "docs" / "scoring-programs.md").read_text(encoding="utf-8")
    theirs = {int(one): one.name for one in COMMANDS}
    for number in supported().values():
        name = theirs[number]
        assert name in page or name.startswith(("Poll", "Accept")), name


def test_a_correction_of_the_program_is_told_at_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(service: Service) -> None:
        await service.post(5, events.an_event().to_dict())
        sent: list[Any] = []
        collector = service.desk.service.collector
        monkeypatch.setattr(collector, "text", lambda *where, **how: [(*where, how)])
        monkeypatch.setattr(service.desk.service, "send", sent.extend)
        await service.post(10, [events.a_result(2, 1, 1, 3, 4).to_dict()], events.SESSION)
        ((text, section, table, how),) = sent
        assert text.startswith("Board 1: the scoring program says 3NT N")
        assert (section, table, how) == (1, 2, {"urgent": True})

    with_service(tmp_path, work)


def test_news_without_an_outbox_are_found_by_the_next_poll(tmp_path: Path) -> None:
    """Names and hands: a poll that had no news is answered from memory only while nothing has changed."""

    async def work(service: Service) -> None:
        async def poll(command: int) -> list[dict[str, Any]]:
            found = json.loads((await service.post(command, "", events.SESSION))["SerializedData"])
            assert isinstance(found, list)
            return found

        await service.post(5, events.an_event().to_dict())
        desk = service.desk
        for _ in range(3):
            assert [await poll(command) for command in (19, 20, 21, 22, 36)] == [[], [], [], [], []]
        await desk.save_people([Person("A", 1, "1", "77", "Ann Ōe")])
        assert [one["PlayerNumber"] for one in await poll(21)] == ["77"]
        assert [one["LastName"] for one in await poll(20)] == ["Ōe"]
        assert len(await poll(21)) == 1
        await service.post(29, "9999", events.SESSION)
        assert await poll(21) == []
        await service.post(10, [events.a_result(1, 1, 1, 1, 2).to_dict()], events.SESSION)
        hands = TableEvent(TableEventKind.HANDS, "A", 1, 1, 2, 1, 1, RecordKey(9, 9, 1), 1, Deal.from_index(0).routing)
        await desk.submit(lambda connection: table_events.append(connection, desk.event, hands))
        (told,) = await poll(22)
        assert told["BoardNumber"] == 1
        assert len(await poll(26)) == 1

    with_service(tmp_path, work)


def test_a_pin_that_everybody_knows_gives_way_to_the_club_s(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('director_pin = "4711"\n')

    async def work(service: Service) -> None:
        await service.post(5, events.an_event(bridgemate2_settings=[events.bm2(pin="0000")]).to_dict())
        assert service.desk.setup.settings.director_pin == "4711"
        assert any("own stays" in one.text for one in service.desk.store.read(ledger.alarms))
        await service.post(14, [events.bm2(pin="0815").to_dict()], events.SESSION)
        assert service.desk.setup.settings.director_pin == "0815"

    with_service(tmp_path, work)


def test_the_desk_sees_and_changes_the_settings_of_a_section(tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        desk = service.desk
        sections = [events.a_section(events.howell_two(), letters, group=n) for n, letters in ((1, "A"), (2, "BB"))]
        told = [events.bm2("A", "4711", show_results=True), events.bm2("BB", "0815", show_results=False)]
        await service.post(5, events.an_event(events.a_session(sections), bridgemate2_settings=told).to_dict())
        shown = {one["letter"]: one["settings"] for one in event_view(desk)["sections"]}
        assert shown == {"A": {}, "BB": {"director_pin": True, "traveller": False}}
        change = ACTIONS["settings"].run
        await change(desk, {"settings": {"traveller": True, "lead": True}, "section": "bb"})
        assert (desk.setup.settings_of(28).traveller, desk.setup.settings_of(28).lead) == (True, True)
        assert not desk.setup.settings_of(1).lead
        for wrong in ({"across": True}, {"nothing": 1}):
            with pytest.raises(EntryError):
                await change(desk, {"settings": wrong, "section": "BB"})
        with pytest.raises(EntryError):
            await change(desk, {"settings": {"lead": True}, "section": "C"})
        await change(desk, {"settings": {"lead": False}})
        assert not desk.setup.settings_of(28).lead

    with_service(tmp_path, work)
