"""The types of ASGI, without importing a framework for them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def written_path(scope: Scope) -> str:
    """Answer the path as it was sent, without its query: decoded, it could end a line of a log."""
    path: bytes = scope["raw_path"]
    return path.decode("latin-1")


def header(scope: Scope, *names: str) -> str | None:
    """Answer the first of these headers that a request carries and that is not empty; names in lower case."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name in names:
        for key, value in headers:
            if key == name.encode() and value:
                return value.decode("latin-1")
    return None
