"""Requests and answers of the host's own routes."""

import json
from typing import Any

from .asgi import Receive, Scope, Send


class HttpError(Exception):
    """A request that is refused; the message is for the caller."""

    def __init__(self, status: int, message: str, completion_status: str | None = None) -> None:
        """Refuse with a status."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.completion_status = completion_status

    def body(self) -> dict[str, Any]:
        """Answer the JSON that says so."""
        body = {"error": self.message, "code": str(self.status)}
        return body if self.completion_status is None else body | {"completionStatus": self.completion_status}


async def read_body(receive: Receive, limit: int) -> bytes:
    """Read a body of up to so many bytes. Raises HttpError 413; 400 when the caller went away."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(400, "The request broke off")
        body += message.get("body", b"")
        if len(body) > limit:
            raise HttpError(413, f"The body is larger than {limit} bytes")
        if not message.get("more_body", False):
            return bytes(body)


async def read_object(receive: Receive, limit: int) -> dict[str, Any]:
    """Read a JSON object; no body is an empty one. Raises HttpError 413 and, as base images do, 422."""
    body = await read_body(receive, limit)
    try:
        value = json.loads(body) if body else {}
    except ValueError as error:
        raise HttpError(422, "The body is not JSON") from error
    if not isinstance(value, dict):
        raise HttpError(422, "The body is not a JSON object")
    return value


async def send_json(send: Send, status: int, value: Any) -> None:
    """Answer with JSON. Nothing happens when the caller has gone."""
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def refuse_socket(scope: Scope, send: Send, error: HttpError) -> None:
    """Refuse an upgrade, with the status when the server can say it."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.message})
        return
    body = json.dumps(error.body()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
