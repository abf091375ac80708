"""The connections through which the service sends requests."""

import json
import os
import selectors
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Maximum size of a request, which contains the environment with up to 512 KiB of secrets.
_REQUEST_BYTES = 8 * 1024 * 1024
# Seconds to wait while sending an event to a service that does not read. The event is then dropped, so that the
# supervisor is not blocked.
_SEND_SECONDS = 1.0


class Connection:
    """A connection through which the service sends requests. It closes when the service ends."""

    def __init__(self, connected: socket.socket) -> None:
        """Wrap an accepted socket."""
        connected.settimeout(_SEND_SECONDS)
        self.socket = connected
        self._received = b""

    def receive(self) -> list[dict[str, Any]] | None:
        """Return the requests that have arrived, or None at the end of the connection."""
        chunk = self.socket.recv(65_536)
        self._received += chunk
        if not chunk or len(self._received) > _REQUEST_BYTES:
            return None
        *lines, self._received = self._received.split(b"\n")
        return [json.loads(line) for line in lines]

    def send(self, message: dict[str, Any]) -> None:
        """Send an event, or drop it if the service does not read from the connection.

        No event needs to be sent again: either the service has ended, or it requests the status after it reconnects.
        """
        with suppress(OSError):
            self.socket.sendall(json.dumps(message).encode() + b"\n")


class SupervisorConnections:
    """The Unix socket of a supervisor, and the connections that the service made to it."""

    def __init__(
        self,
        path: str,
        selector: selectors.BaseSelector,
        on_request: "Callable[[Connection, dict[str, Any]], None]",
        on_close: "Callable[[Connection], None]",
    ) -> None:
        """Listen on the path. A KeyError or TypeError of `on_request` closes the connection."""
        self._path = path
        self._selector = selector
        self._on_request = on_request
        self._on_close = on_close
        self._open: set[Connection] = set()
        self._listener = self._listen()

    def __bool__(self) -> bool:
        """Return whether the service is connected."""
        return bool(self._open)

    def broadcast(self, message: dict[str, Any]) -> None:
        """Send an event to all connections."""
        for connection in list(self._open):
            connection.send(message)

    def is_reachable(self) -> bool:
        """Return whether the socket file exists. If it was deleted, the service can never connect again."""
        return os.path.exists(self._path)

    def remove(self) -> None:
        """Remove the socket."""
        with suppress(OSError):
            os.unlink(self._path)

    def _listen(self) -> socket.socket:
        self.remove()
        listener = socket.socket(socket.AF_UNIX)
        # Rename the socket file only after `listen`, so that every client that finds the file can connect.
        listener.bind(f"{self._path}~")
        listener.listen(16)
        os.rename(f"{self._path}~", self._path)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        return listener

    def _accept(self) -> None:
        connected, _ = self._listener.accept()
        connection = Connection(connected)
        self._open.add(connection)
        self._selector.register(connected, selectors.EVENT_READ, lambda: self._serve(connection))

    def _serve(self, connection: Connection) -> None:
        try:
            requests = connection.receive()
        except (OSError, ValueError):
            requests = None
        if requests is None:
            self._close(connection)
            return
        try:
            for request in requests:
                self._on_request(connection, request)
        except (KeyError, TypeError):
            # Close the connection, because the request is from another version of the service.
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self._open.discard(connection)
        self._selector.unregister(connection.socket)
        connection.socket.close()
        self._on_close(connection)
