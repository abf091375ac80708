"""The route `WS /ws`: each WebSocket is one session (docs/bot-contract.md, "WebSocket sessions")."""

import asyncio
import base64
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from .arguments import create_session_arguments
from .asgi import Message, Receive, Scope, Send, get_first_header
from .first_frame import PeekableReceive, begins_with_handshake
from .host import PythonHost
from .http_exchange import parse_json
from .log_lines import logger
from .run_bot import run_bot
from .session import Session, SessionOutcome

# Seconds for a bot to end after its client disconnected. Canceling a Pipecat pipeline takes up to 20 s.
_LINGER_SECONDS = 25.0


async def run_socket_session(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    """Accept a socket and run the bot on it. Raises HttpError if a session is running."""
    from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

    session = host.start_session(scope)
    outcome = SessionOutcome(500)
    try:
        frames = PeekableReceive(_limit_linger(session, receive))
        websocket = WebSocket(scope, frames.receive, _observe_first_frame(session, send))
        await websocket.accept()
        session.reach("transportConnectedAt")
        transport_type = None
        if get_first_header(scope, "x-transport-type", "x-daily-transport-type") == "websocket":
            transport_type = None if begins_with_handshake(await frames.peek()) else "websocket"
        arguments = create_session_arguments(
            "websocket",
            body=_body(scope),
            session_id=session.id,
            file_storage=host.bot.file_storage,
            websocket=websocket,
            transport_type=transport_type,
        )
        outcome = await run_bot(session, host.bot, arguments)
        # The socket's end is the session's end.
        await session.close_recording()
        states = (websocket.client_state, websocket.application_state)
        if all(state == WebSocketState.CONNECTED for state in states):
            # Ignore an error while closing the socket, because the client may disconnect at the same time.
            with suppress(WebSocketDisconnect, RuntimeError):
                await websocket.close(*_closing(outcome))
    finally:
        await host.delete_uploads()
        session.finish(outcome)


def _limit_linger(session: Session, receive: Receive) -> Receive:
    """End the session if the bot is still running a certain time after its client disconnected."""

    async def observed_receive() -> Message:
        message = await receive()
        if message["type"] == "websocket.disconnect" and not session.ended.is_set():
            session.note_client_disconnected()
            timer = asyncio.get_running_loop().call_later(_LINGER_SECONDS, session.end, "client disconnected")
            session.at_end.append(timer.cancel)
        return message

    return observed_receive


def _observe_first_frame(session: Session, send: Send) -> Send:
    async def observed_send(message: Message) -> None:
        if message["type"] == "websocket.send":
            session.reach("firstFrameAt")
        await send(message)

    return observed_send


def _closing(outcome: SessionOutcome) -> tuple[int, str]:
    if outcome.status == 500:
        return 1011, "The bot raised an exception"
    return (1012, "The instance is shutting down") if outcome.status == 503 else (1000, outcome.completion_status or "")


def _body(scope: Scope) -> Any:
    """Return the start body from the query parameter `body`. An invalid body is ignored."""
    values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("body")
    if not values:
        return {}
    # Replace each space with +, because the query parser turned each unescaped + into a space.
    encoded = values[0].replace(" ", "+")
    try:
        return parse_json(base64.b64decode(encoded + "=" * (-len(encoded) % 4)))
    except ValueError:
        logger.warning("Body in the WebSocket URL is not base64-encoded JSON and was ignored")
        return {}
