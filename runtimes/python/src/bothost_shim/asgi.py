"""The types of ASGI and readers of a request, without importing a framework."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def raw_path(scope: Scope) -> str:
    """Return the path as sent, without its query. A decoded path could contain line breaks and forge log lines."""
    path: bytes = scope["raw_path"]
    return path.decode("latin-1")


def first_header(scope: Scope, *names: str) -> str | None:
    """Return the first of these headers that is present and not empty. The names must be in lower case."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name in names:
        for key, value in headers:
            if key == name.encode() and value:
                return value.decode("latin-1")
    return None
