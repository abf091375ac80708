"""Tests of WebRTC sessions with aiortc as the client."""

import asyncio
import json
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aioice.ice
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack
from running_bot import ECHO_BOT_DIRECTORY, SESSION_ID, RunningBot, running_bot, write_bot

SESSION_START_HEADERS = {"x-transport-type": "webrtc", "x-session-id": SESSION_ID}
CLIENT_HEADERS = {"x-session-id": SESSION_ID}

# Makes aiortc use 127.0.0.1, which aiortc ignores by default. The test machine may have no other address.
LOOPBACK_ONLY_ICE_SOURCE = 'import aioice.ice\n\naioice.ice.get_host_addresses = lambda *_, **__: ["127.0.0.1"]\n\n'


@pytest.fixture
def echo_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(aioice.ice, "get_host_addresses", lambda *_, **__: ["127.0.0.1"])
    return write_bot(tmp_path, LOOPBACK_ONLY_ICE_SOURCE + (ECHO_BOT_DIRECTORY / "bot.py").read_text())


class ToneTrack(AudioStreamTrack):
    """An audio track that sends a tone. The default track of aiortc sends silence."""

    async def recv(self) -> Any:
        frame: Any = await super().recv()
        for plane in frame.planes:
            plane.update(b"\x00\x40\x00\xc0" * (plane.buffer_size // 4))
        return frame


class WebRtcCall:
    """A client that sends and receives audio and has a data channel, like a browser."""

    def __init__(self) -> None:
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.addTrack(ToneTrack())
        self.connection.addTransceiver("video")
        self.connection.addTransceiver("video")
        self.channel = self.connection.createDataChannel("chat")
        self.messages: asyncio.Queue[str] = asyncio.Queue()
        self.channel.on("message", self.messages.put_nowait)
        self.track: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.connection.on("track", self._take)

    def _take(self, track: Any) -> None:
        if track.kind == "audio":
            self.track.set_result(track)

    async def offer(self) -> dict[str, Any]:
        await self.connection.setLocalDescription(await self.connection.createOffer())
        local = self.connection.localDescription
        return {"sdp": local.sdp, "type": local.type, "pc_id": None, "restart_pc": False}

    async def connect(self, bot: RunningBot, **more: Any) -> dict[str, Any]:
        answer = await bot.post("/api/offer", await self.offer() | more, headers=CLIENT_HEADERS)
        assert answer.status_code == 200, answer.text
        description: dict[str, Any] = answer.json()
        await self.connection.setRemoteDescription(RTCSessionDescription(description["sdp"], description["type"]))
        return description

    async def hear(self) -> None:
        """Wait for received audio that is not silent."""
        track = await self.track
        while True:
            frame = await track.recv()
            if max(abs(sample) for sample in frame.to_ndarray().flatten().tolist()) > 1000:
                return


async def test_call_echoes_audio_and_ends_when_its_client_disconnects(echo_bot: Path) -> None:
    async with running_bot(echo_bot) as bot:
        session = asyncio.create_task(bot.post("/bot", {"from": "start"}, headers=SESSION_START_HEADERS))
        call = WebRtcCall()
        while (waiting := await bot.report())["state"] == "idle":
            pass
        moments = ("botCalledAt", "transportConnectedAt", "firstFrameAt")
        assert [waiting[moment] for moment in moments] == [None, None, None]
        answer = await call.connect(bot)
        await call.hear()
        report = await bot.report()
        assert report["startedAt"] <= report["botCalledAt"] <= report["firstFrameAt"]
        assert report["startedAt"] <= report["transportConnectedAt"]
        known = {"pc_id": answer["pc_id"]}
        candidate = {"candidate": "", "sdp_mid": "0", "sdp_mline_index": 0}
        patched = await bot.client.patch("/api/offer", json=known | {"candidates": [candidate]}, headers=CLIENT_HEADERS)
        assert (patched.status_code, patched.json()) == (200, {"status": "success"})
        unknown = {"pc_id": "unknown", "candidates": []}
        assert (await bot.client.patch("/api/offer", json=unknown, headers=CLIENT_HEADERS)).status_code == 404
        second = await bot.post("/api/offer", await WebRtcCall().offer(), headers=CLIENT_HEADERS)
        assert (second.status_code, second.json()["error"]) == (
            400,
            "Cannot create new connection with existing connection active",
        )
        await call.connection.close()
        assert ((await session).status_code, (await session).json()) == (200, {})
        await bot.wait_for("the body of the start request has 1 keys")
        late = await bot.client.patch("/api/offer", json=known | {"candidates": []}, headers=CLIENT_HEADERS)
        assert late.status_code == 404


async def test_stop_closes_the_connection_of_a_call(echo_bot: Path) -> None:
    async with running_bot(echo_bot) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
        call = WebRtcCall()
        closed = asyncio.Event()
        call.channel.on("close", closed.set)
        await call.connect(bot)
        await call.hear()
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert (await session).status_code == 200
        await closed.wait()
        await call.connection.close()


BODY_PRINTING_BOT = (
    LOOPBACK_ONLY_ICE_SOURCE + "async def bot(args):\n    print('body', args.body, type(args).__name__, flush=True)\n"
)


@pytest.mark.parametrize(("more", "body"), [({}, {"a": 1}), ({"requestData": {"b": 2}}, {"b": 2})])
async def test_bot_receives_the_request_data_of_the_offer_or_else_the_start_body(
    tmp_path: Path, echo_bot: Path, more: dict[str, Any], body: dict[str, Any]
) -> None:
    async with running_bot(write_bot(tmp_path, BODY_PRINTING_BOT)) as bot:
        session = asyncio.create_task(bot.post("/bot", {"a": 1}, headers=SESSION_START_HEADERS))
        call = WebRtcCall()
        await call.connect(bot, **more)
        assert (await session).status_code == 200
        await bot.wait_for(f"body {body} SmallWebRTCSessionArguments")
        await call.connection.close()


WEBRTC_SESSION_MANAGER_BOT = f"""{LOOPBACK_ONLY_ICE_SOURCE}
from pipecatcloud import PipecatSessionArguments, SmallWebRTCSessionArguments, SmallWebRTCSessionManager

manager = SmallWebRTCSessionManager(timeout_seconds=60)

async def bot(args):
    match args:
        case SmallWebRTCSessionArguments():
            print("connected", args.body, manager.complete_session(), flush=True)
        case PipecatSessionArguments():
            print("waiting", args.body, flush=True)
            await manager.wait_for_webrtc()
            print("complete", flush=True)
"""


async def test_bot_function_runs_a_second_time_when_a_webrtc_client_joins_a_session_without_transport(
    tmp_path: Path, echo_bot: Path
) -> None:
    async with running_bot(write_bot(tmp_path, WEBRTC_SESSION_MANAGER_BOT)) as bot:
        session = asyncio.create_task(bot.post("/bot", {"a": 1}, headers=CLIENT_HEADERS))
        await bot.wait_for("^waiting {'a': 1}$")
        call = WebRtcCall()
        await call.connect(bot, requestData={"b": 2})
        assert ((await session).status_code, (await session).json()) == (200, {})
        await bot.wait_for("^connected {'b': 2} True$")
        await bot.wait_for("^complete$")
        await call.connection.close()


async def test_stop_cancels_both_running_calls_of_the_bot_function(tmp_path: Path, echo_bot: Path) -> None:
    source = f"""{LOOPBACK_ONLY_ICE_SOURCE}
import asyncio

async def bot(args):
    try:
        print("begun", type(args).__name__, flush=True)
        await asyncio.Event().wait()
    finally:
        print("ended", type(args).__name__, flush=True)
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=CLIENT_HEADERS))
        call = WebRtcCall()
        await call.connect(bot)
        await bot.wait_for("^begun SmallWebRTCSessionArguments$")
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert (await session).status_code == 200
        await bot.wait_for("^ended PipecatSessionArguments$")
        await bot.wait_for("^ended SmallWebRTCSessionArguments$")
        await call.connection.close()


async def test_start_responds_500_if_the_bot_raises_during_a_call(tmp_path: Path, echo_bot: Path) -> None:
    source = LOOPBACK_ONLY_ICE_SOURCE + "async def bot(args):\n    raise ValueError('in the middle')\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
        call = WebRtcCall()
        await call.connect(bot)
        assert (await session).status_code == 500
        await call.connection.close()


async def test_webrtc_session_responds_504_if_no_client_connects_in_time(echo_bot: Path) -> None:
    async with running_bot(echo_bot, BOT_CONNECTION_TIMEOUT="0.2") as bot:
        answer = await bot.post("/bot", headers=SESSION_START_HEADERS)
        assert answer.status_code == 504
        assert answer.json()["completionStatus"] == "BOT_CONNECTION_TIMEOUT"
        assert (await bot.report())["completionStatus"] == "BOT_CONNECTION_TIMEOUT"


async def test_stop_ends_the_wait_for_an_offer(echo_bot: Path) -> None:
    async with running_bot(echo_bot) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
        await bot.wait_for("Starting bot session")
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert (await session).status_code == 200


async def test_host_that_waits_for_an_offer_exits_immediately_on_sigterm(echo_bot: Path) -> None:
    async with running_bot(echo_bot) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
        await bot.wait_for("Starting bot session")
        bot.signal(signal.SIGTERM)
        assert await bot.process.wait() == 0
        assert (await session).status_code == 503


async def test_invalid_offers_are_rejected_and_the_session_keeps_waiting(echo_bot: Path) -> None:
    async with running_bot(echo_bot) as bot:
        session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
        await bot.wait_for("Starting bot session")
        bodies: list[Any] = [{}, [], {"sdp": "x", "type": "offer"}, {"sdp": 1, "type": 2}, {"pc_id": 1}]
        for body in [*bodies, {"sdp": "m=nonsense", "type": "offer"}]:
            assert (await bot.post("/api/offer", body, headers=CLIENT_HEADERS)).status_code == 400
        assert (await bot.client.patch("/api/offer", json={}, headers=CLIENT_HEADERS)).status_code in (400, 404)
        other = {"x-session-id": "other"}
        assert (await bot.post("/api/offer", {}, headers=other)).status_code == 404
        call = WebRtcCall()
        await call.connect(bot)
        await call.hear()
        await call.connection.close()
        assert (await session).status_code == 200


async def test_offer_without_a_session_responds_404(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, "async def bot(args): ...\n")) as bot:
        answer = await bot.post("/api/offer", {"sdp": "", "type": "offer"})
        assert answer.status_code == 404


@contextmanager
def serve_ice_servers(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/ice", requested
    server.shutdown()


ICE_PRINTING_BOT = (
    LOOPBACK_ONLY_ICE_SOURCE
    + """
async def bot(args):
    servers = args.webrtc_connection.ice_servers
    print("servers", [(s.urls, s.username, s.credential) for s in servers], flush=True)
"""
)
TURN_SERVER = {"urls": ["turn:127.0.0.1:9"], "username": "u", "credential": "c"}


@pytest.mark.parametrize(
    ("status", "answer", "variable", "expected"),
    [
        (200, {"iceConfig": {"iceServers": [TURN_SERVER]}}, "[]", r"\[\(\['turn:127.0.0.1:9'\], 'u', 'c'\)\]"),
        (200, {"iceConfig": {"iceServers": []}}, json.dumps([TURN_SERVER]), r"\[\]"),
        (500, {}, "[]", r"\[\]"),
        (200, {"iceConfig": 1}, "[]", r"\[\]"),
        (500, {}, json.dumps([TURN_SERVER]), r"\[\(\['turn:127.0.0.1:9'\], 'u', 'c'\)\]"),
        (500, {}, "{", r"\[\]"),
    ],
)
async def test_call_uses_only_configured_ice_servers_and_never_public_ones(  # noqa: PLR0917
    tmp_path: Path, echo_bot: Path, status: int, answer: Any, variable: str, expected: str
) -> None:
    with serve_ice_servers(status, json.dumps(answer).encode()) as (url, requested):
        variables = {"ICE_CONFIG_URL": url, "PIPECAT_ICE_SERVERS": variable}
        async with running_bot(write_bot(tmp_path, ICE_PRINTING_BOT), **variables) as bot:
            session = asyncio.create_task(bot.post("/bot", headers=SESSION_START_HEADERS))
            call = WebRtcCall()
            await call.connect(bot)
            assert (await session).status_code == 200
            await bot.wait_for(f"servers {expected}")
            assert requested == ["/ice"]
            await call.connection.close()


@pytest.mark.parametrize(
    ("header", "expected", "variable"),
    [
        (json.dumps([TURN_SERVER]), r"\[\(\['turn:127.0.0.1:9'\], 'u', 'c'\)\]", json.dumps([TURN_SERVER])),
        ("[]", r"\[\]", "[]"),
        ("{", r"\[\]", "[]"),
    ],
)
async def test_ice_servers_of_the_start_request_are_used_and_set_for_the_bot(
    tmp_path: Path, echo_bot: Path, header: str, expected: str, variable: str
) -> None:
    source = ICE_PRINTING_BOT + '    import os\n    print("variable", os.environ["PIPECAT_ICE_SERVERS"], flush=True)\n'
    with serve_ice_servers(200, b'{"iceConfig": {"iceServers": []}}') as (url, requested):
        async with running_bot(write_bot(tmp_path, source), ICE_CONFIG_URL=url, PIPECAT_ICE_SERVERS="[]") as bot:
            headers = SESSION_START_HEADERS | {"bothost-ice-servers": header}
            session = asyncio.create_task(bot.post("/bot", headers=headers))
            call = WebRtcCall()
            await call.connect(bot)
            assert (await session).status_code == 200
            await bot.wait_for(f"servers {expected}")
            await bot.wait_for(f"variable {re.escape(variable)}")
            assert requested == []
            await call.connection.close()
