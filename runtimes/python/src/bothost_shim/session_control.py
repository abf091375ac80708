"""The routes `/_bot/*`, by which the service stops and observes a session (docs/bot-contract.md, "Stop")."""

import asyncio
from contextlib import suppress
from urllib.parse import parse_qs

from .asgi import Receive, Scope, Send
from .host import PythonHost
from .http_exchange import HttpError, read_json_object, send_json
from .log_lines import logger

_LONGEST_WAIT_SECONDS = 300.0


async def stop_session(host: PythonHost, receive: Receive, send: Send) -> None:
    """Cancel the session's bot, and again after the grace period. Responds 202, or 409 if no session is running."""
    body = await read_json_object(receive, 4096)
    grace = body.get("graceSeconds")
    session = host.slot.running
    if session is None:
        raise HttpError(409, "No session is running")
    logger.info("Session stop requested")
    session.end("stopped")
    if isinstance(grace, int | float) and 0 < grace <= 2_000_000:
        timer = asyncio.get_running_loop().call_later(grace, session.end, "stopped")
        session.at_end.append(timer.cancel)
    await send_json(send, 202, {})


async def respond_with_session_state(host: PythonHost, scope: Scope, send: Send) -> None:
    """Respond with the session's state. With `wait=N`, respond when the session has ended, or after N seconds."""
    session = host.slot.running
    if session is not None:
        with suppress(TimeoutError):
            await asyncio.wait_for(session.ended.wait(), _wait_seconds(scope))
    await send_json(send, 200, host.slot.report() | {"transports": host.bot.transports})


def _wait_seconds(scope: Scope) -> float:
    values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("wait", ["0"])
    try:
        seconds = float(values[0])
    except ValueError:
        return 0.0
    return min(seconds, _LONGEST_WAIT_SECONDS) if seconds > 0 else 0.0
