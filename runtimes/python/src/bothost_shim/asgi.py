"""ASGI types and functions that read a request, without importing a web framework."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def get_raw_path(scope: Scope) -> str:
    """Return the path as sent, without its query. A decoded path could contain line breaks and forge log lines."""
    path: bytes = scope["raw_path"]
    return path.decode("latin-1")


def get_first_header(scope: Scope, *names: str) -> str | None:
    """Return the value of the first header in `names` that is present and not empty. Names must be in lower case."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name in names:
        for key, value in headers:
            if key == name.encode() and value:
                return value.decode("latin-1")
    return None
