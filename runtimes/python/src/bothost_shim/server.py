"""The HTTP server, which listens, serves one session at a time, drains and exits."""

import asyncio
import os
import signal
import socket
from contextlib import suppress
from types import FrameType

import uvicorn

from .application import create_application
from .host import PythonHost
from .log_lines import logger
from .settings import Settings

# Seconds for requests to the bot's own routes, such as event streams, to finish before the process exits.
_LAST_REQUESTS_SECONDS = 5


_BACKLOG = 2048


def listen(settings: Settings) -> socket.socket:
    """Listen on the socket or port. The kernel queues connections until the server accepts them. Raises OSError."""
    if settings.socket is not None:
        return _listen_locally(settings.socket)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)


def _listen_locally(path: str) -> socket.socket:
    """Listen on a Unix socket that only this account and root can connect to."""
    listener = socket.socket(socket.AF_UNIX)
    # Set the mode of the socket with the umask. A later chmod could fail, because the service removes the access of
    # this account to the directory as soon as the socket exists.
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(_BACKLOG)
    return listener


class _Server(uvicorn.Server):
    """A uvicorn server with different signal handlers, because uvicorn's own handlers would close WebSockets."""

    def __init__(self, config: uvicorn.Config, host: PythonHost) -> None:
        super().__init__(config)
        self._host = host
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._shut_down, sig)

    def _shut_down(self, sig: int) -> None:
        host = self._host
        session = host.slot.running
        was_draining = host.draining.is_set()
        host.draining.set()
        if session is None:
            self.should_exit = True
            return
        # Do not wait for the session to finish if no client has connected, if the session is already ending, or on
        # Ctrl-C.
        if session.waits_for_client or session.end_reason is not None or sig == signal.SIGINT:
            self.should_exit = self.force_exit = was_draining and session.end_reason is not None
            session.end("shutdown")
            return
        logger.info("Instance will exit when its session ends")
        if host.settings.drain_seconds is not None:
            self._loop.call_later(host.settings.drain_seconds, session.end, "shutdown")


async def serve(host: PythonHost, listener: socket.socket) -> bool:
    """Serve until a signal arrives and the running session has ended, or with `one_shot` until one session has ended.

    Return False if the server could not start because a lifespan handler of the bot failed.
    """
    config = uvicorn.Config(
        create_application(host),
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_LAST_REQUESTS_SECONDS,
        # Do not compress messages, because audio does not compress and the service is on the same machine or network.
        ws_per_message_deflate=False,
        # Allow late pings, because a bot that blocks the event loop for long must not lose its client.
        ws_ping_timeout=60.0,
    )
    server = _Server(config, host)
    logger.info("Bot imported, serving on %s", _describe(listener))
    watch = asyncio.create_task(_exit_after_session(server, host))
    # If Uvicorn cannot start to serve, it raises SystemExit. Older Uvicorn releases return instead.
    with suppress(SystemExit):
        await server.serve(sockets=[listener])
    watch.cancel()
    return server.started


def _describe(listener: socket.socket) -> str:
    name: str | tuple[str, int] = listener.getsockname()
    return name if isinstance(name, str) else f"{name[0]} port {name[1]}"


async def _exit_after_session(server: uvicorn.Server, host: PythonHost) -> None:
    while True:
        await host.session_over.wait()
        host.session_over.clear()
        if host.settings.one_shot:
            host.draining.set()
        if host.draining.is_set():
            server.should_exit = True
            return
