"""`/readyz` and `/livez` (docs/bot-contract.md, "Readiness")."""

import inspect
from typing import Any

from .asgi import Send
from .host import PythonHost
from .http_exchange import send_json
from .log_lines import logger


async def respond_readyz(host: PythonHost, send: Send) -> None:
    """Respond 200 if the bot can run a session, else 503. Calls the bot's function `readyz()` if it exists."""
    is_ready = not host.draining.is_set() and await _is_bot_ready(host)
    await send_json(send, 200 if is_ready else 503, {"ready": is_ready})


async def respond_livez(send: Send) -> None:
    """Respond 200 while the process runs."""
    await send_json(send, 200, {})


async def _is_bot_ready(host: PythonHost) -> bool:
    if host.bot.readyz is None:
        return True
    try:
        result: Any = host.bot.readyz()
        if inspect.isawaitable(result):
            result = await result
    except Exception as error:
        # Log an error only when it changes, because probes arrive many times per second.
        if str(error) != host.readiness_error:
            host.readiness_error = str(error)
            logger.warning("readyz() of bot.py raised %s: %s", type(error).__name__, error)
        return False
    if isinstance(result, dict):
        return bool(result.get("ready"))
    return bool(getattr(result, "ready", result))
