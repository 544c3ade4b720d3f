"""The server on a real socket: callers that are slow on purpose, TLS, an address that is taken."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import itertools
import ssl
from collections.abc import Iterable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from firmware_bridge.errors import ConfigError
from firmware_bridge.service import api_guard
from firmware_bridge.service.api_guard import Guard, serving


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


APP = Starlette(routes=[Route("/echo", echo, methods=["GET", "POST"])], middleware=[Middleware(Guard, body_s=0.4)])


async def talk(url: str, *parts: bytes, pause: float = 0.0) -> bytes:
    return await talk_on(url, parts, pause)


async def talk_on(url: str, parts: Iterable[bytes], pause: float = 0.0) -> bytes:
    """What is heard until the other side closes; no more parts are sent then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    heard = bytearray()

    async def listen() -> None:
        with contextlib.suppress(ConnectionError):
            while some := await reader.read(4096):
                heard.extend(some)

    listening = asyncio.create_task(listen())
    try:
        for part in parts:
            if listening.done():
                break
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
    except ConnectionError:
        pass
    await asyncio.wait_for(listening, 60)
    writer.close()
    return bytes(heard)


def test_a_caller_that_drips_its_head_or_says_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_guard, "HEADER_S", 0.3)

    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0) as url:
            assert await talk(url, b"GET /echo HTTP/1.1\r\nHost: x\r\n") == b""
            assert await talk(url) == b""
            endless = itertools.chain([b"GET /echo HTTP/1.1\r\n"], itertools.repeat(b"X: y\r\n"))
            async with asyncio.timeout(60):
                assert await talk_on(url, endless, pause=0.1) == b""

    asyncio.run(run())


def test_a_body_that_drips_is_answered_and_cut_off() -> None:
    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0) as url:
            head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
            answer = await talk(url, head, *[b"x"] * 8, pause=0.1)
            assert answer.startswith(b"HTTP/1.1 408")
            whole = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nabcd"
            assert (await talk(url, whole)).endswith(b"4")

    asyncio.run(run())


def test_a_head_of_endless_length_is_refused() -> None:
    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0) as url:
            answer = await talk(url, b"GET /echo HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 2_000_000 + b"\r\n\r\n")
            assert b" 200 " not in answer.split(b"\r\n")[0]

    asyncio.run(run())


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "club")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    cert_path, key_path = folder / "cert.pem", folder / "key.pem"
    cert_path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key_path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return cert_path, key_path


def test_tls_with_a_given_certificate_and_words_for_a_bad_one(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)

    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0, certificate=cert, key=key) as url:
            assert url.startswith("https://")
            context = ssl.create_default_context(cafile=str(cert))
            context.check_hostname = False
            port = int(url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
            writer.write(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 200")
            writer.close()
        (tmp_path / "bad.pem").write_text("nothing")
        with pytest.raises(ConfigError, match="certificate or key"):
            async with serving(APP, "127.0.0.1", 0, certificate=tmp_path / "bad.pem", key=key):
                pass

    asyncio.run(run())


def test_an_address_that_is_taken_is_named() -> None:
    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0) as url:
            with pytest.raises(ConfigError, match="can't be used"):
                async with serving(APP, "127.0.0.1", int(url.rpartition(":")[2])):
                    pass

    asyncio.run(run())
