"""Requests and responses of the host's own routes."""

import json
from decimal import Decimal
from typing import Any

from .asgi import Receive, Scope, Send


class HttpError(Exception):
    """An error response to a request. The message is for the caller."""

    def __init__(self, status: int, message: str, completion_status: str | None = None) -> None:
        """Create an error with an HTTP status and a message."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.completion_status = completion_status

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the error response."""
        body = {"error": self.message, "code": str(self.status)}
        return body if self.completion_status is None else body | {"completionStatus": self.completion_status}


async def read_body(receive: Receive, limit: int) -> bytes:
    """Read a body of at most `limit` bytes. Raises HttpError 413, and 400 if the caller disconnects."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(400, "The request is incomplete")
        body += message.get("body", b"")
        if len(body) > limit:
            raise HttpError(413, f"The body is larger than {limit} bytes")
        if not message.get("more_body", False):
            return bytes(body)


def parse_json(text: bytes) -> Any:
    """Parse JSON. Integers of thousands of digits, which `int` does not accept, become a Decimal. Raises ValueError."""
    return json.loads(text, parse_int=_parse_integer)


def _parse_integer(digits: str) -> int | Decimal:
    try:
        return int(digits)
    except ValueError:
        return Decimal(digits)


async def read_json_object(receive: Receive, limit: int) -> dict[str, Any]:
    """Read a JSON object. An empty body counts as `{}`. Raises HttpError 413, 422."""
    body = await read_body(receive, limit)
    try:
        value = parse_json(body) if body else {}
    except ValueError as error:
        raise HttpError(422, "The body is not JSON") from error
    if not isinstance(value, dict):
        raise HttpError(422, "The body is not a JSON object")
    return value


async def send_json(send: Send, status: int, value: Any) -> None:
    """Send a JSON response. Does nothing if the caller has disconnected."""
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def reject_websocket(scope: Scope, send: Send, error: HttpError) -> None:
    """Reject a WebSocket upgrade, with an HTTP status if the server supports it."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.message})
        return
    body = json.dumps(error.body()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
