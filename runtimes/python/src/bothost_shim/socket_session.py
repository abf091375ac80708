"""`WS /ws`: a session that is as long as its socket (bot contract 2.7, 3.1)."""

import asyncio
import base64
import json
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from .arguments import build_arguments
from .asgi import Message, Receive, Scope, Send, header
from .first_frame import FirstFrame, begins_with_handshake
from .host import Host
from .log_lines import logger
from .run_bot import run_bot
from .session import Outcome, Session

# Where a bot does not end with its client; a pipeline takes up to 20 s to be cancelled.
_LINGER_SECONDS = 25.0


async def socket_session(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    """Accept a socket and run the bot on it. Raises HttpError when another session runs."""
    from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

    session = host.begin_session(scope)
    outcome = Outcome(500)
    try:
        frames = FirstFrame(_noticing(session, receive))
        websocket = WebSocket(scope, frames.receive, send)
        await websocket.accept()
        transport_type = None
        if header(scope, "x-transport-type", "x-daily-transport-type") == "websocket":
            transport_type = None if begins_with_handshake(await frames.look()) else "websocket"
        arguments = build_arguments(
            "websocket",
            body=_body(scope),
            session_id=session.id,
            file_storage=host.bot.file_storage,
            websocket=websocket,
            transport_type=transport_type,
        )
        outcome = await run_bot(session, host.bot, arguments)
        states = (websocket.client_state, websocket.application_state)
        if all(state == WebSocketState.CONNECTED for state in states):
            # Its client may leave at the same moment.
            with suppress(WebSocketDisconnect, RuntimeError):
                await websocket.close(*_closing(outcome))
    finally:
        await host.delete_uploads()
        session.finish(outcome)


def _noticing(session: Session, receive: Receive) -> Receive:
    """Give a bot whose client has gone its time to notice, and not more."""

    async def noticing() -> Message:
        message = await receive()
        if message["type"] == "websocket.disconnect" and not session.ended.is_set():
            timer = asyncio.get_running_loop().call_later(_LINGER_SECONDS, session.end, "client gone")
            session.at_end.append(timer.cancel)
        return message

    return noticing


def _closing(outcome: Outcome) -> tuple[int, str]:
    if outcome.status == 500:
        return 1011, "The bot raised an exception"
    return (1012, "The instance is going down") if outcome.status == 503 else (1000, outcome.completion_status or "")


def _body(scope: Scope) -> Any:
    """Decode `?body=`, as tolerantly as base images do: what cannot be read is no body."""
    values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("body")
    if not values:
        return {}
    # A query parser turns an unescaped + into a space.
    encoded = values[0].replace(" ", "+")
    try:
        return json.loads(base64.b64decode(encoded + "=" * (-len(encoded) % 4)))
    except ValueError:
        logger.warning("The body in the socket's URL is not base64 of JSON; the bot gets none")
        return {}
