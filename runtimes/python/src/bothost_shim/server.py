"""The server's life: it listens, serves the one session, drains and goes."""

import asyncio
import signal
import socket
from contextlib import suppress
from types import FrameType

import uvicorn

from .application import create_application
from .host import Host
from .log_lines import logger

# How long a request of the bot's own, such as a stream of events, may hold up the end.
_LAST_REQUESTS_SECONDS = 5


def listen(host: str, port: int) -> socket.socket:
    """Listen; connections wait in the kernel until they are served. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


class _Server(uvicorn.Server):
    """Uvicorn, but what signals mean is decided here: its own way is to cut sockets off."""

    def __init__(self, config: uvicorn.Config, host: Host) -> None:
        super().__init__(config)
        self._host = host
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._leave, sig)

    def _leave(self, sig: int) -> None:
        host = self._host
        session = host.slot.running
        was_draining = host.draining.is_set()
        host.draining.set()
        if session is None:
            self.should_exit = True
            return
        # Nobody has connected yet, somebody asked it to end before, or who sits at the terminal is in a hurry.
        if session.waits or session.end_reason is not None or sig == signal.SIGINT:
            self.should_exit = self.force_exit = was_draining and session.end_reason is not None
            session.end("shutdown")
            return
        logger.info("The instance goes down when its session has ended")
        if host.settings.drain_seconds is not None:
            self._loop.call_later(host.settings.drain_seconds, session.end, "shutdown")


async def serve(host: Host, listener: socket.socket) -> bool:
    """Serve until a signal, and until the session has ended that runs then; with `one_shot` until the first has.

    Answer whether it ever came up: what a bot adds to the life of its application may fail.
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
        # Sound does not get smaller, and the service is near.
        ws_per_message_deflate=False,
        # A bot that computes for long must not lose its client for it.
        ws_ping_timeout=60.0,
    )
    server = _Server(config, host)
    address, port = listener.getsockname()[:2]
    logger.info("The bot is imported; serving on %s port %s", address, port)
    watch = asyncio.create_task(_leave_after_session(server, host))
    # Where the start failed, uvicorn ends the program, or in older releases just returns.
    with suppress(SystemExit):
        await server.serve(sockets=[listener])
    watch.cancel()
    return server.started


async def _leave_after_session(server: uvicorn.Server, host: Host) -> None:
    while True:
        await host.session_over.wait()
        host.session_over.clear()
        if host.settings.one_shot:
            host.draining.set()
        if host.draining.is_set():
            server.should_exit = True
            return
