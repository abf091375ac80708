"""`/readyz` and `/livez` (bot contract 2.5)."""

import inspect
from typing import Any

from .asgi import Send
from .host import Host
from .http_exchange import send_json
from .log_lines import logger


async def ready(host: Host, send: Send) -> None:
    """Answer 200 when the bot can take a session, else 503. The bot's own `readyz()` decides, if it has one."""
    is_ready = not host.draining.is_set() and await _says_ready(host)
    await send_json(send, 200 if is_ready else 503, {"ready": is_ready})


async def alive(send: Send) -> None:
    """Answer 200."""
    await send_json(send, 200, {})


async def _says_ready(host: Host) -> bool:
    if host.bot.readyz is None:
        return True
    try:
        answer: Any = host.bot.readyz()
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as error:
        # Asked many times a second: the same again is no news.
        if str(error) != host.readiness_error:
            host.readiness_error = str(error)
            logger.warning("readyz() of bot.py raised %s: %s", type(error).__name__, error)
        return False
    if isinstance(answer, dict):
        return bool(answer.get("ready"))
    return bool(getattr(answer, "ready", answer))
