"""The route `POST /bot`, which responds when its session has ended (docs/bot-contract.md, "Start")."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .arguments import Kind, create_session_arguments
from .asgi import Receive, Scope, Send, get_first_header
from .host import PythonHost
from .http_exchange import HttpError, read_json_object, send_json
from .offers import supports_webrtc
from .room_events import follow_room
from .run_bot import map_end_reason_to_outcome, run_bot
from .session import Session, SessionOutcome

_BODY_BYTES = 1_048_576

# For each kind of room: the arguments of its sessions, and the headers that contain them.
_ROOM_HEADERS: dict[Kind, dict[str, str]] = {
    "daily": {"room_url": "x-daily-room-url", "token": "x-daily-room-token"},
    "livekit": {
        "room_name": "bothost-livekit-room",
        "url": "bothost-livekit-url",
        "token": "bothost-livekit-token",
    },
}


@dataclass(frozen=True)
class _Room:
    kind: Kind
    arguments: dict[str, str]


async def run_session(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    """Run a session and respond when it has ended. A caller that disconnects does not end the session."""
    transport = get_first_header(scope, "x-transport-type", "x-daily-transport-type")
    body = await read_json_object(receive, _BODY_BYTES)
    room = _room(scope)
    _require_support(transport)
    session = host.start_session(scope)
    try:
        outcome = await _run(host, session, transport, room, body)
    except Exception:
        session.finish(SessionOutcome(500))
        raise
    await session.close_recording()
    await host.delete_uploads()
    session.finish(outcome)
    await send_json(send, outcome.status, _answer(outcome, session))


def _room(scope: Scope) -> _Room | None:
    for kind, headers in _ROOM_HEADERS.items():
        values = {name: get_first_header(scope, header) for name, header in headers.items()}
        arguments = {name: value for name, value in values.items() if value is not None}
        if len(arguments) == len(headers):
            return _Room(kind, arguments)
        if arguments:
            raise HttpError(400, f"A room needs all of the headers {', '.join(headers.values())}")
    return None


def _require_support(transport: str | None) -> None:
    if transport == "moq":
        raise HttpError(400, "Media over QUIC is not supported")
    if transport == "webrtc" and not supports_webrtc():
        raise HttpError(501, "WebRTC needs pipecat-ai[webrtc] in the bot's environment")
    if transport == "livekit" and find_spec("livekit") is None:
        raise HttpError(501, "LiveKit needs pipecat-ai[livekit] in the bot's environment")


async def _run(
    host: PythonHost, session: Session, transport: str | None, room: _Room | None, body: dict[str, Any]
) -> SessionOutcome:
    common: dict[str, Any] = {"session_id": session.id, "file_storage": host.bot.file_storage}
    if room is not None and transport != "webrtc":
        follow_room(session)
        arguments = create_session_arguments(room.kind, body=body, **common, **room.arguments)
        return await run_bot(session, host.bot, arguments)
    if transport != "webrtc" and not supports_webrtc():
        return await run_bot(session, host.bot, create_session_arguments("plain", body=body, **common))
    async with host.offers.session(session) as connected:

        async def run_connected() -> SessionOutcome:
            connection, request_data = await connected
            arguments = create_session_arguments(
                "webrtc", body=request_data or body, webrtc_connection=connection, **common
            )
            return await run_bot(session, host.bot, arguments)

        if transport != "webrtc":
            plain = run_bot(session, host.bot, create_session_arguments("plain", body=body, **common))
            return await _run_both(plain, connected, run_connected)
        host.offers.prepare()
        session.waits_for_client = True
        is_connected = await _wait(connected, session, host.settings.offer_seconds)
        session.waits_for_client = False
        if not is_connected:
            return (
                map_end_reason_to_outcome(session)
                if session.end_reason
                else SessionOutcome(504, "BOT_CONNECTION_TIMEOUT")
            )
        return await run_connected()


async def _run_both(
    plain: Coroutine[Any, Any, SessionOutcome],
    connected: "asyncio.Future[Any]",
    run_connected: Callable[[], Coroutine[Any, Any, SessionOutcome]],
) -> SessionOutcome:
    """Run `bot()` once immediately, and a second time when a WebRTC client connects.

    The first run can wait for the client with `SmallWebRTCSessionManager`.
    """
    second = asyncio.create_task(run_connected())
    outcome = await plain
    if not connected.done():
        second.cancel()
        return outcome
    later = await second
    return later if outcome.status == 200 else outcome


async def _wait(connected: "asyncio.Future[Any]", session: Session, seconds: float) -> bool:
    ending = asyncio.create_task(session.asked_to_end.wait())
    await asyncio.wait({connected, ending}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    return connected.done()


def _answer(outcome: SessionOutcome, session: Session) -> dict[str, Any]:
    meetings = {"meetings": session.meetings} if session.meetings else {}
    if outcome.status == 200:
        status = {} if outcome.completion_status is None else {"completionStatus": outcome.completion_status}
        return status | meetings
    messages = {
        500: "The bot raised an exception",
        503: "The instance is shutting down",
        504: "No client connected in time",
    }
    return HttpError(outcome.status, messages[outcome.status], outcome.completion_status).body() | meetings
