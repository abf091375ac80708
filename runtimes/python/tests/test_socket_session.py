"""Tests of `WS /ws` with plain bots and with the real Pipecat."""

import asyncio
import base64
import json
import re
import signal
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames.protobufs import frames_pb2
from running_bot import ECHO_BOT_DIRECTORY, SESSION_ID, RunningBot, running_bot, write_bot
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

TEXT_ECHO_BOT_SOURCE = """
async def bot(args):
    print("type", args.transport_type, "body", args.body, flush=True)
    async for text in args.websocket.iter_text():
        if text == "raise":
            raise ValueError("in the middle")
        if text == "return":
            return
        await args.websocket.send_text(text)
    print("left", flush=True)
"""
PROTOBUF_TYPES: Any = frames_pb2
PIPECAT_EVAL_CONNECT_MESSAGE = json.dumps(
    {"label": "rtvi-ai", "type": "client-message", "id": "1", "data": {"t": "eval-connect", "d": {}}}
)


def open_socket(bot: RunningBot, query: str = "", transport: str | None = "websocket") -> connect:
    headers = {"x-session-id": SESSION_ID} | ({} if transport is None else {"x-transport-type": transport})
    return connect(f"ws://127.0.0.1:{bot.port}/ws{query}", additional_headers=headers, proxy=None)


@pytest.fixture
def text_echo_bot(tmp_path: Path) -> Path:
    return write_bot(tmp_path, TEXT_ECHO_BOT_SOURCE)


async def wait_for_close_code(client: ClientConnection) -> int | None:
    """Read messages until the socket closes and return the close code."""
    with suppress(ConnectionClosed):
        while True:
            await client.recv()
    return client.close_code


async def test_socket_session_ends_when_its_client_disconnects(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot:
        async with open_socket(bot) as client:
            await client.send("hello")
            assert await client.recv() == "hello"
            running = await bot.report()
            assert running["state"] == "running"
            assert running["startedAt"] <= running["transportConnectedAt"] <= running["botCalledAt"]
            assert running["botCalledAt"] <= running["firstFrameAt"]
        report = await bot.report(wait=10)
        assert (report["state"], report["sessionId"]) == ("ended", SESSION_ID)
        await bot.wait_for("type websocket body {}")
        await bot.wait_for("left")


async def test_host_listens_on_a_unix_socket_that_only_its_account_can_use(text_echo_bot: Path) -> None:
    path = text_echo_bot / "socket"
    headers = {"x-session-id": SESSION_ID}
    async with running_bot(text_echo_bot, BOT_SOCKET=str(path)) as bot:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with unix_connect(str(path), "ws://localhost/ws", additional_headers=headers) as client:
            await client.send("hello")
            assert await client.recv() == "hello"
            assert (await bot.report())["sessionId"] == SESSION_ID


async def test_socket_closes_when_the_bot_returns(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot) as client:
        await client.send("return")
        assert await wait_for_close_code(client) == 1000


async def test_bot_that_raises_closes_the_socket_with_1011_and_logs_the_traceback(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot) as client:
        await client.send("raise")
        assert await wait_for_close_code(client) == 1011
        assert "in the middle" not in (client.close_reason or "")
        await bot.wait_for(r"Traceback [\s\S]*ValueError: in the middle")


async def test_second_socket_during_a_session_responds_409(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot) as client:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"ws://127.0.0.1:{bot.port}/ws", proxy=None)
        assert refusal.value.response.status_code == 409
        await client.send("still here")
        assert await client.recv() == "still here"


async def test_socket_requires_the_control_token(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot, BOT_CONTROL_TOKEN="secret") as bot:
        with pytest.raises(InvalidStatus) as refusal:
            await open_socket(bot)
        assert refusal.value.response.status_code == 401
        headers = {"x-bot-control-token": "secret"}
        url = f"ws://127.0.0.1:{bot.port}/ws"
        async with connect(url, additional_headers=headers, proxy=None) as client:
            await client.send("hello")
            assert await client.recv() == "hello"


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", {}),
        ("?body=" + base64.b64encode(b'{"a": "\xc3\xa9>>>"}').decode(), {"a": "é>>>"}),
        ("?skip_tts=true&body=" + base64.b64encode(b'{"a":1}').decode().rstrip("="), {"a": 1}),
        ("?body=" + base64.b64encode(b'{"a":[1234567890123456789,1.0]}').decode(), {"a": [1234567890123456789, 1.0]}),
        ("?body=%%%", {}),
    ],
)
async def test_socket_session_passes_the_body_in_its_url_to_the_bot(
    text_echo_bot: Path, query: str, body: dict[str, Any]
) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot, query) as client:
        await client.send("hello")
        await bot.wait_for(re.escape(f"body {body}"))
        assert await client.recv() == "hello"
        assert "?body" not in bot.text


@pytest.mark.parametrize(
    ("transport", "first", "expected"),
    [
        ("websocket", "hello", "websocket"),
        ("websocket", json.dumps({"label": "rtvi-ai", "type": "client-ready"}), "websocket"),
        ("websocket", json.dumps({"event": "connected", "protocol": "Call"}), None),
        ("websocket", json.dumps({"event": "start", "start": {}}), None),
        ("websocket", json.dumps({"stream_id": "1", "start": {"call_control_id": "2"}}), None),
        ("websocket", PIPECAT_EVAL_CONNECT_MESSAGE, None),
        ("twilio", "hello", None),
        (None, "hello", None),
    ],
)
async def test_transport_type_depends_on_the_first_frame_which_the_bot_also_receives(
    text_echo_bot: Path, transport: str | None, first: str, expected: str | None
) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot, transport=transport) as client:
        await client.send(first)
        assert await client.recv() == first
        await bot.wait_for(f"type {expected} body")


async def test_client_that_sends_no_frame_has_the_transport_type_websocket(tmp_path: Path) -> None:
    source = "async def bot(args):\n    await args.websocket.send_text(str(args.transport_type))\n"
    async with running_bot(write_bot(tmp_path, source)) as bot, open_socket(bot) as client:
        assert await client.recv() == "websocket"


async def test_stop_cancels_the_bot_and_closes_the_socket(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot, open_socket(bot) as client:
        await client.send("hello")
        await client.recv()
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert await wait_for_close_code(client) == 1000


async def test_socket_closes_at_the_time_limit_of_its_session(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot:
        headers = {"x-max-session-seconds": "0.2"}
        async with connect(f"ws://127.0.0.1:{bot.port}/ws", additional_headers=headers, proxy=None) as client:
            assert await wait_for_close_code(client) == 1000
        assert (await bot.report())["completionStatus"] == "SESSION_TIME_LIMIT"


async def test_socket_with_a_silent_client_stays_open_after_sigterm(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot:
        async with open_socket(bot) as client:
            await bot.wait_for("Starting bot session")
            bot.signal(signal.SIGTERM)
            await bot.wait_for("exit when its session ends")
            await client.send("hello")
            assert await client.recv() == "hello"
        assert await bot.process.wait() == 0


async def test_active_socket_stays_open_after_sigterm(text_echo_bot: Path) -> None:
    async with running_bot(text_echo_bot) as bot:
        async with open_socket(bot) as client:
            await client.send("hello")
            await client.recv()
            bot.signal(signal.SIGTERM)
            await bot.wait_for("exit when its session ends")
            await client.send("still here")
            assert await client.recv() == "still here"
        assert await bot.process.wait() == 0


def create_loud_audio(samples: int) -> bytes:
    return b"\x00\x40" * samples


async def test_pipecat_pipeline_echoes_audio_over_protobuf_frames() -> None:
    async with running_bot(ECHO_BOT_DIRECTORY) as bot:
        async with open_socket(bot, "?body=" + base64.b64encode(b'{"name":"Ada"}').decode()) as client:
            ready = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": {"version": "2.2.0"}}
            message = PROTOBUF_TYPES.Frame(message=PROTOBUF_TYPES.MessageFrame(data=json.dumps(ready)))
            await client.send(message.SerializeToString())
            sound = PROTOBUF_TYPES.AudioRawFrame(audio=create_loud_audio(3200), sample_rate=16000, num_channels=1)
            await client.send(PROTOBUF_TYPES.Frame(audio=sound).SerializeToString())
            heard, messages = b"", set()
            while create_loud_audio(800) not in heard or "bot-ready" not in messages:
                frame = PROTOBUF_TYPES.Frame.FromString(await client.recv())
                if frame.WhichOneof("frame") == "audio":
                    assert frame.audio.sample_rate == 16000
                    heard += frame.audio.audio
                elif frame.WhichOneof("frame") == "message":
                    messages.add(json.loads(frame.message.data)["type"])
        assert (await bot.report(wait=20))["state"] == "ended"
        await bot.wait_for(rf"{SESSION_ID} - Client connected; the body of the start request has 1 keys")
        await bot.wait_for(rf"{SESSION_ID} - Client disconnected")


async def test_stop_ends_a_pipecat_pipeline() -> None:
    async with running_bot(ECHO_BOT_DIRECTORY) as bot, open_socket(bot) as client:
        sound = PROTOBUF_TYPES.AudioRawFrame(audio=create_loud_audio(3200), sample_rate=16000, num_channels=1)
        await client.send(PROTOBUF_TYPES.Frame(audio=sound).SerializeToString())
        await client.recv()
        assert (await bot.post("/_bot/stop")).status_code == 202
        await wait_for_close_code(client)
        assert (await bot.report(wait=20))["state"] == "ended"


async def test_twilio_call_echoes_audio() -> None:
    keys = {"TWILIO_ACCOUNT_SID": "AC1", "TWILIO_AUTH_TOKEN": "none"}
    start = {
        "accountSid": "AC1",
        "streamSid": "MZ1",
        "callSid": "CA1",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        "customParameters": {"from_number": "+1"},
    }
    async with running_bot(ECHO_BOT_DIRECTORY, **keys) as bot, open_socket(bot) as client:
        await client.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
        await client.send(json.dumps({"event": "start", "sequenceNumber": "1", "streamSid": "MZ1", "start": start}))
        payload = base64.b64encode(b"\x20" * 160).decode()
        media = json.dumps({"event": "media", "streamSid": "MZ1", "media": {"track": "inbound", "payload": payload}})

        async def talk() -> None:
            while True:
                await client.send(media)
                await asyncio.sleep(0.02)

        talking = asyncio.create_task(talk())
        heard = b""
        while heard.count(b"\x20") < 800:
            message = json.loads(await client.recv())
            assert message["streamSid"] == "MZ1"
            heard += base64.b64decode(message["media"]["payload"])
        talking.cancel()
        await client.send(json.dumps({"event": "stop", "streamSid": "MZ1", "stop": {"callSid": "CA1"}}))


async def test_pipecat_evaluation_client_is_recognized_by_its_first_frame() -> None:
    async with (
        running_bot(ECHO_BOT_DIRECTORY) as bot,
        open_socket(bot, "?skip_tts=true", transport="websocket") as client,
    ):
        await client.send(PIPECAT_EVAL_CONNECT_MESSAGE)
        ready = {"label": "rtvi-ai", "type": "client-ready", "id": "2", "data": {"version": "2.2.0"}}
        await client.send(json.dumps(ready))
        while json.loads(await client.recv())["type"] != "bot-ready":
            pass
        cancel = {"label": "rtvi-ai", "type": "client-message", "id": "3", "data": {"t": "eval-cancel", "d": {}}}
        await client.send(json.dumps(cancel))
        assert (await bot.report(wait=20))["state"] == "ended"


async def test_pipecat_bot_that_raises_closes_the_socket_with_1011(tmp_path: Path) -> None:
    source = (ECHO_BOT_DIRECTORY / "bot.py").read_text()
    changed = source.replace("    await runner.run()", "    raise RuntimeError('in the middle')")
    assert changed != source
    async with running_bot(write_bot(tmp_path, changed)) as bot, open_socket(bot) as client:
        assert await wait_for_close_code(client) == 1011
        await bot.wait_for(r"RuntimeError: in the middle")
        assert (await bot.report(wait=20))["status"] == 500


async def test_pipecat_error_names_the_failing_service(tmp_path: Path) -> None:
    source = (ECHO_BOT_DIRECTORY / "bot.py").read_text()
    changed = source.replace(
        "            frame = OutputAudioRawFrame(",
        '            await self.push_error("Name or service not known")\n            frame = OutputAudioRawFrame(',
    )
    assert changed != source
    async with running_bot(write_bot(tmp_path, changed)) as bot, open_socket(bot) as client:
        sound = PROTOBUF_TYPES.AudioRawFrame(audio=create_loud_audio(320), sample_rate=16000, num_channels=1)
        await client.send(PROTOBUF_TYPES.Frame(audio=sound).SerializeToString())
        message: dict[str, Any] = {}
        while message.get("type") != "error":
            frame = PROTOBUF_TYPES.Frame.FromString(await client.recv())
            message = json.loads(frame.message.data) if frame.WhichOneof("frame") == "message" else {}
        assert message["data"] == {"error": "Echo: Name or service not known", "fatal": False}
