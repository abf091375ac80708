"""Says why an error occurred if Pipecat does not know: it looks at the exception's own HTTP status and class only."""

import socket
from collections.abc import Iterator
from typing import Any

_UNKNOWN = "unknown"
# Base classes of errors of a connection, in aiohttp, httpx and its successors, websockets, and the SDKs of vendors.
_CONNECTION_ERRORS = {
    "APIConnectionError",
    "ClientConnectionError",
    "ClientPayloadError",
    "ConnectionClosed",
    "TransportError",
}
# Categories by the `type` or `code` of an error that a vendor sends in a stream, where there is no HTTP status.
_CATEGORIES = {
    "api_error": "server",
    "internal_error": "server",
    "overloaded_error": "server",
    "server_error": "server",
    "service_unavailable": "server",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "quota",
    "authentication_error": "authentication",
    "invalid_api_key": "authentication",
    "permission_error": "authorization",
    "invalid_request_error": "invalid_request",
    "not_found_error": "invalid_request",
}


def refine_category(category: str, exception: BaseException | None) -> str:
    """Return a category of Pipecat's `ErrorCategory`: the given one, unless it is `unknown`."""
    if category != _UNKNOWN or exception is None:
        return category
    found = (_classify(one) for one in _walk_causes(exception))
    return next((known for known in found if known is not None), _UNKNOWN)


def _walk_causes(exception: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = exception
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _classify(exception: BaseException) -> str | None:
    for name in ("code", "type"):
        value: Any = getattr(exception, name, None)
        if isinstance(value, str) and value in _CATEGORIES:
            return _CATEGORIES[value]
    if isinstance(exception, ConnectionError | TimeoutError | socket.gaierror):
        return "connectivity"
    is_connection_error = any(kind.__name__ in _CONNECTION_ERRORS for kind in type(exception).__mro__)
    return "connectivity" if is_connection_error else None
