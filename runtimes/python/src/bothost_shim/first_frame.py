"""Peeks at the first frame of a WebSocket to detect the kind of client. The bot still receives the frame."""

import asyncio
import json
from collections import deque

from .asgi import Message, Receive

_SECONDS = 1.0


class PeekableReceive:
    """An ASGI `receive` with a method `peek`."""

    def __init__(self, receive: Receive) -> None:
        """Read messages through `receive`, the ASGI function of the connection."""
        self._receive = receive
        self._peeked: deque[asyncio.Task[Message]] = deque()

    async def receive(self) -> Message:
        """Return the connection's next ASGI message. Messages that `peek` returned come first."""
        if not self._peeked:
            return await self._receive()
        # Remove the task from the queue only when it is done, so that canceling this method loses no message.
        message = await asyncio.shield(self._peeked[0])
        self._peeked.popleft()
        return message

    async def peek(self) -> Message | None:
        """Return the connection's next ASGI message without consuming it, or None if none arrives within a second."""
        task = asyncio.ensure_future(self._next())
        self._peeked.append(task)
        done, _ = await asyncio.wait({task}, timeout=_SECONDS)
        return task.result() if done else None

    async def _next(self) -> Message:
        return await self._receive()


def begins_with_handshake(message: Message | None) -> bool:
    """Return whether the first frame is the handshake of a telephony carrier or Pipecat evaluation client.

    Bots read such a handshake themselves.
    """
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
