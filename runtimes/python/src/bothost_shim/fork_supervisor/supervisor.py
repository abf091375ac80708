"""The event loop of the supervisor."""

import os
import selectors
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import linux
from .connections import Connection, SupervisorConnections
from .instances import Instances
from .server import ForkServer

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds between checks whether the data directory still exists.
_CHECK_SECONDS = 60.0
# If the fork server fails to start, wait at most this many seconds until the service has connected and read the reason.
_REPORT_SECONDS = 10.0


class Supervisor:
    """The parent process of the fork server and of all its instances."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Start the fork server and listen for the service."""
        linux.become_subreaper()
        self._selector = selectors.DefaultSelector()
        self._report_deadline = time.monotonic() + _REPORT_SECONDS
        self._has_reported = False
        self._prepare_signals()
        self._server = ForkServer(config, self._selector, self._broadcast_status)
        self._connections = SupervisorConnections(config["socket"], self._selector, self._answer, self._disconnect)
        self._instances = Instances(self._server, self._selector, self._connections.broadcast)
        self._server.start()

    def run(self) -> None:
        """Serve until the fork server and all instances have ended."""
        while self._is_needed():
            for key, _ in self._selector.select(self._timeout()):
                callback: Callable[[], None] = key.data
                callback()
            self._instances.stop_late_forks()
            self._reap()
            if not self._connections.is_reachable():
                self._server.stop()
        self._connections.remove()

    def _is_needed(self) -> bool:
        """Return whether the supervisor must continue to run.

        It continues while the fork server or an instance runs. If the fork server failed to start, the supervisor also
        waits until the service has read the reason, but at most `_REPORT_SECONDS`.
        """
        if self._server.pid is not None or self._instances:
            return True
        return not self._has_reported and time.monotonic() < self._report_deadline

    def _timeout(self) -> float:
        if self._server.pid is None and not self._instances:
            return max(0.0, self._report_deadline - time.monotonic())
        deadline = self._instances.next_deadline()
        return _CHECK_SECONDS if deadline is None else max(0.0, min(deadline - time.monotonic(), _CHECK_SECONDS))

    def _prepare_signals(self) -> None:
        """Ignore signals that a terminal or a service manager sends to all processes, and wake up when a child ends."""
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, lambda *_: None)
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector.register(wake_read, selectors.EVENT_READ, lambda: _drain(wake_read))

    def _answer(self, connection: Connection, request: dict[str, Any]) -> None:
        """Carry out a request. Raises KeyError, TypeError for a request from another version of the service."""
        kind = request["do"]
        if kind == "status":
            connection.send(self._status())
        elif kind == "fork":
            self._instances.fork(connection, request)
        elif kind == "go":
            self._instances.go(request["instance"])
        elif kind == "abandon":
            self._instances.abandon(request["instance"])

    def _disconnect(self, connection: Connection) -> None:
        self._instances.disconnect(connection)

    def _status(self) -> dict[str, Any]:
        self._has_reported = True
        return self._server.status()

    def _broadcast_status(self) -> None:
        if self._connections:
            self._connections.broadcast(self._status())

    def _reap(self) -> None:
        """Record the exit status of each child that has ended, and then reap the child."""
        while True:
            try:
                result = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if result is None:
                return
            if result.si_pid == self._server.pid:
                self._server.ended(result)
            self._instances.ended(result)
            os.waitpid(result.si_pid, 0)


def _drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass
