"""Looks at a socket's first frame, to tell what kind of client it is, and gives it to the bot all the same."""

import asyncio
import json
from collections import deque

from .asgi import Message, Receive

_SECONDS = 1.0


class FirstFrame:
    """A `receive` from which one message can be looked at."""

    def __init__(self, receive: Receive) -> None:
        """Wrap the connection's own `receive`."""
        self._receive = receive
        self._seen: deque[asyncio.Task[Message]] = deque()

    async def receive(self) -> Message:
        """Answer the next message, those looked at first."""
        if not self._seen:
            return await self._receive()
        # Left in its place until it is there: whoever is cancelled here loses nothing.
        message = await asyncio.shield(self._seen[0])
        self._seen.popleft()
        return message

    async def look(self) -> Message | None:
        """Answer the next message without taking it; None when there is none within a second."""
        task = asyncio.ensure_future(self._next())
        self._seen.append(task)
        done, _ = await asyncio.wait({task}, timeout=_SECONDS)
        return task.result() if done else None

    async def _next(self) -> Message:
        return await self._receive()


def begins_with_handshake(message: Message | None) -> bool:
    """Answer whether a client is a carrier or an evaluation (bot contract 3.2), which bots tell by themselves."""
    text = None if message is None else message.get("text")
    if not isinstance(text, str):
        return False
    try:
        frame = json.loads(text)
    except ValueError:
        return False
    if not isinstance(frame, dict):
        return False
    if frame.get("event") in ("connected", "start") or isinstance(frame.get("start"), dict):
        return True
    data = frame.get("data")
    return frame.get("type") == "client-message" and isinstance(data, dict) and data.get("t") == "eval-connect"
