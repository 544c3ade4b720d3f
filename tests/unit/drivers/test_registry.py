"""Device URLs: every spelling that an operator may try, and a helpful refusal of all others."""

import asyncio
import sys
from importlib.metadata import EntryPoint

import pytest
from drivers_fakes import HOST, FakeDevice
from hypothesis import given
from hypothesis import strategies as st

import drivers.registry as registry
from drivers.registry import check_url, normal_url, open_carrier, open_machine, open_station
from firmware_bridge.errors import ConfigError, ExitStatus

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX ports")


def settings_of(url):
    return open_carrier(url, HOST)._settings


@POSIX
def test_serial_urls_name_port_and_speed():
    settings = settings_of("serial:///dev/ttyUSB0?baud=9600")
    assert (settings.path, settings.baud, settings.dtr, settings.rts) == ("/dev/ttyUSB0", 9600, True, True)
    assert settings_of("serial:///dev/ttyUSB0").baud == 115200
    assert settings_of("serial://ttyACM1?dtr=off&rts=off").path == "/dev/ttyACM1"
    assert not settings_of("serial://ttyACM1?dtr=off").dtr
    assert settings_of("serial:///tmp/with%20space").path == "/tmp/with space"
    assert settings_of("serial://?serial_number=A10K").serial_number == "A10K"
    assert open_carrier("serial:///dev/ttyUSB0?baud=9600", HOST).bytes_per_second == 960


def test_windows_names_keep_their_spelling(monkeypatch):
    monkeypatch.setattr(registry.os, "name", "nt")
    assert settings_of("serial://COM3?baud=9600").path == "COM3"
    assert settings_of("COM12").path == "COM12"


def test_bare_port_names_are_understood():
    assert normal_url("/dev/ttyUSB0") == "serial:///dev/ttyUSB0"
    assert normal_url(" com7 ") == "serial://COM7"
    assert normal_url("tcp://x:1") == "tcp://x:1"


def test_tcp_urls():
    opener = open_carrier("tcp://192.168.1.20:4000", HOST)
    assert (opener._host, opener._port) == ("192.168.1.20", 4000)
    assert open_carrier("tcp://[::1]:4000/", HOST)._host == "::1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "dealer",
        "serial:/dev/ttyUSB0",
        "serial://",
        "serial:///dev/ttyUSB0?baud=fast",
        "serial:///dev/ttyUSB0?baud=1",
        "serial:///dev/ttyUSB0?speed=9600",
        "serial:///dev/ttyUSB0?baud=9600&baud=115200",
        "serial:///dev/ttyUSB0?dtr=maybe",
        "serial:///dev/ttyUSB0?baud",
        "serial:///dev/ttyUSB0#1",
        "tcp://",
        "tcp://host",
        "tcp://host:",
        "tcp://:4000",
        "tcp://host:0",
        "tcp://host:70000",
        "tcp://host:port",
        "tcp://user@host:4000",
        "tcp://host:4000/path",
        "tcp://host:4000?baud=9600",
        "tcp://[::1:4000",
        "bluetooth://dealer",
        "http://host:80",
        "x" * 2000,
        "serial:///dev/t\nty",
    ],
)
def test_everything_else_is_wrong_use_with_an_example(url):
    with pytest.raises(ConfigError) as caught:
        check_url(url)
    assert caught.value.exit_status == ExitStatus.USAGE
    assert caught.value.code == "device-url"
    assert "serial:///dev/ttyUSB0" in caught.value.next_step
    assert len(str(caught.value)) < 1500


@given(st.text(max_size=80))
def test_no_text_whatever_is_a_traceback(text):
    try:
        check_url(text)
    except ConfigError:
        pass


@given(st.text(max_size=30))
def test_no_option_whatever_is_a_traceback(text):
    for url in (f"serial:///dev/ttyUSB0?{text}", f"tcp://h:1?{text}", f"tcp://{text}", f"serial://{text}"):
        try:
            check_url(url)
        except ConfigError:
            pass


class ThirdParty:
    """Stands for a package of somebody else."""

    def __init__(self):
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        request.check_options(("speed",))
        if request.options.get("speed") == "broken":
            raise KeyError("speed")
        return FakeDevice().opener()


third_party = ThirdParty()


@pytest.fixture
def installed(monkeypatch):
    point = EntryPoint("dealomat", f"{__name__}:third_party", registry.ENTRY_POINT_GROUP)
    theft = EntryPoint("serial", f"{__name__}:third_party", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(
        registry, "entry_points", lambda group: (point, theft) if group == registry.ENTRY_POINT_GROUP else ()
    )
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    third_party.requests.clear()
    return third_party


def test_a_third_partys_scheme_opens_its_device(installed):
    async def scenario():
        machine = open_machine("dealomat://box/1?speed=9", HOST)
        identity = await machine.connect(60)
        assert identity.model == "Fake"
        await machine.close()

    asyncio.run(scenario())
    request = installed.requests[0]
    assert (request.scheme, request.netloc, request.path, request.options) == ("dealomat", "box", "/1", {"speed": "9"})
    assert request.role == "machine"
    assert "dealomat" in registry.schemes()
    open_station("dealomat://box", HOST)
    assert installed.requests[1].role == "station"


def test_a_third_party_can_not_take_over_a_built_in_scheme(installed):
    open_machine("serial:///dev/ttyUSB0", HOST)
    assert not installed.requests


def test_a_third_partys_failure_names_its_package(installed):
    with pytest.raises(ConfigError, match="third_party") as caught:
        open_machine("dealomat://box?speed=broken", HOST)
    assert caught.value.code == "driver-broken"
    with pytest.raises(ConfigError, match="colour"):
        open_machine("dealomat://box?colour=red", HOST)
