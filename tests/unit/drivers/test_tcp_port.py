"""The TCP carrier: bytes both ways, loss by any cause is LinkLost, failures in an operator's words."""

import asyncio
import socket

import pytest

from drivers.tcp_port import TcpOpener
from firmware_bridge.errors import DeviceError, LinkLost


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 100))


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def opener_for(port, host="127.0.0.1", **options):
    return TcpOpener(host, port, f"tcp://{host}:{port}", **options)


async def serve(handler):
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def test_bytes_pass_both_ways_and_small_messages_are_not_held_back():
    async def echo(reader, writer):
        while data := await reader.read(1000):
            writer.write(data)
        writer.close()

    async def scenario():
        server, port = await serve(echo)
        async with server:
            stream = await opener_for(port)()
            sock = stream._transport.get_extra_info("socket")
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            every = bytes(range(256)) * 16
            await stream.write(every)
            got = b""
            while len(got) < len(every):
                got += await stream.read()
            assert got == every
            await stream.close()

    run(scenario())


@pytest.mark.parametrize("how", ["close", "abort"])
def test_the_end_of_the_peer_is_link_lost_after_the_last_bytes(how):
    async def hang_up(reader, writer):
        writer.write(b"last words")
        await writer.drain()
        await reader.read(1)
        writer.close() if how == "close" else writer.transport.abort()

    async def scenario():
        server, port = await serve(hang_up)
        async with server:
            stream = await opener_for(port)()
            assert await stream.read() == b"last words"
            await stream.write(b"x")
            with pytest.raises(LinkLost):
                await asyncio.wait_for(stream.read(), 60)
            with pytest.raises(LinkLost):
                await stream.write(b"y")
            await stream.close()

    run(scenario())


def test_nobody_listening_is_said_in_words():
    with pytest.raises(DeviceError, match="Nothing listens") as caught:
        run(opener_for(free_port())())
    assert caught.value.code == "port-missing"
    assert caught.value.where.startswith("127.0.0.1:")


def test_an_unknown_name_is_said_in_words():
    with pytest.raises(DeviceError, match="no device or computer of that name"):
        run(opener_for(4000, host="no-such-machine.invalid")())


def test_silence_ends_at_the_time_limit(monkeypatch):
    async def never(*args, **kwargs):
        await asyncio.Event().wait()

    async def scenario():
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
        with pytest.raises(DeviceError, match=r"No answer within 0\.05 seconds") as caught:
            await opener_for(4000, timeout=0.05)()
        assert caught.value.code == "port-silent"

    run(scenario())


def test_a_connection_to_itself_is_nobody_there(monkeypatch):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        sock.connect(("127.0.0.1", port))  # TCP's simultaneous open, as when the chosen port is the wanted one
        sock.setblocking(False)

        async def scenario():
            loop = asyncio.get_running_loop()
            connect = loop.create_connection
            monkeypatch.setattr(loop, "create_connection", lambda made, *place, **more: connect(made, sock=sock))
            await opener_for(port)()

        with pytest.raises(DeviceError) as caught:
            run(scenario())
        assert caught.value.code == "port-missing"
