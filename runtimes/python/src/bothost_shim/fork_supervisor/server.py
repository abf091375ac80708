"""The supervisor's view of the fork server: its state, and whether it can be forked safely."""

import json
import os
import selectors
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .proc import count_threads, find_children, has_memory_shared_with_forks, read_cgroup_pids, read_stat
from .start_server import start_server
from .untrusted_text import describe_error, filter_module_names, shorten_text

if TYPE_CHECKING:
    from collections.abc import Callable

_MESSAGE_BYTES = 196_608


class ForkServer:
    """The process that imports the bot."""

    def __init__(
        self, config: dict[str, Any], selector: selectors.BaseSelector, on_change: "Callable[[], None]"
    ) -> None:
        """Store the configuration. `on_change` is called when the status of the fork server changes."""
        self._config = config
        self._selector = selector
        self._on_change = on_change
        self._state: dict[str, Any] = {"state": "importing", "reason": None, "modules": []}
        self._socket: socket.socket | None = None
        self.pid: int | None = None

    def start(self) -> None:
        """Start the fork server, which imports the bot and then reports whether it can be forked."""
        try:
            self.pid, self._socket = start_server(self._config)
        except OSError as error:
            self._set_state("failed", f"the fork server cannot be started: {describe_error(error)}")
            return
        self._socket.setblocking(False)
        self._selector.register(self._socket, selectors.EVENT_READ, self._receive_report)
        first = {"level": self._config["level"], "modules": self._config["modules"]}
        self._socket.send(json.dumps(first).encode())

    def status(self) -> dict[str, Any]:
        """Return the `status` event for the service, which describes the fork server."""
        stat = None if self.pid is None else read_stat(self.pid)
        process = None if stat is None else {"pid": self.pid, "startTicks": stat.start_ticks}
        fixed = {"event": "status", "fingerprint": self._config["fingerprint"], "level": self._config["level"]}
        return fixed | {"process": process} | self._state

    def find_refusal(self, *, is_forking: bool) -> str | None:
        """Return why a fork is not possible now, or None if a fork is possible.

        Stops a fork server that has become unsafe to fork. `is_forking` says whether another fork is in progress.
        """
        if self._socket is None or self._state["state"] != "ready":
            return "the fork server is not ready"
        problem = self._find_problem(is_forking=is_forking)
        if problem is not None:
            self._set_state("failed", problem)
            self.stop()
        return problem

    def send_fork(self, descriptors: list[int]) -> None:
        """Request a fork, and pass the file descriptors for the new instance. Raises OSError."""
        if self._socket is None:
            raise OSError("the fork server is not ready")
        socket.send_fds(self._socket, [b"f"], descriptors)

    def stop(self) -> None:
        """Kill the fork server. Its instances keep running."""
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def ended(self, result: os.waitid_result) -> None:
        """Record that the process of the fork server has ended."""
        self.pid = None
        self._close()
        if self._state["state"] != "failed":
            how = "exited with status" if result.si_code == os.CLD_EXITED else "was ended by signal"
            self._set_state("ended", f"the fork server {how} {result.si_status}")

    def _receive_report(self) -> None:
        """Read the message in which the fork server reports whether it could import the bot.

        The message is untrusted, because the code of the bot may have written it.
        """
        if self._socket is None:
            return
        try:
            message = self._socket.recv(_MESSAGE_BYTES)
            report = json.loads(message) if message else {}
            modules, reason = filter_module_names(report.get("modules")), report.get("reason")
        except BlockingIOError:
            return
        except (OSError, ValueError, AttributeError, RecursionError):
            self.stop()
            return
        if not message:
            self._close()
        elif self._state["state"] == "importing":
            problem = shorten_text(reason) if reason else self._find_problem(is_forking=False)
            self._state["modules"] = modules
            self._set_state("failed" if problem else "ready", problem)
            if problem:
                self.stop()

    def _find_problem(self, *, is_forking: bool) -> str | None:
        """Return why the fork server cannot be forked safely, according to its files in `/proc`."""
        pid = self.pid
        if pid is None:
            return "the fork server has ended"
        try:
            # Do not search for child processes while the fork server forks another instance. Forking twice creates a
            # short-lived child process, which would look like a process that importing the bot started.
            threads, processes = count_threads(pid), set() if is_forking else self._find_processes(pid)
            is_sharing = self._state["state"] == "importing" and has_memory_shared_with_forks(pid)
        except OSError:
            return "the fork server has ended"
        if threads != 1:
            return f"importing the bot started threads that still run: {threads - 1}"
        if is_sharing:
            return "importing the bot left memory that forks would share"
        return f"importing the bot started processes that still run: {len(processes)}" if processes else None

    def _find_processes(self, pid: int) -> set[int]:
        """Find the processes that importing the bot started and that are still running."""
        processes = set(find_children(pid))
        if self._state["state"] == "importing":
            # Besides the children of the importing process, find descendants whose parent has exited. The supervisor is
            # their new parent and could later mistake them for instances.
            processes.update(find_children(os.getpid()))
            for path in self._config["cgroups"]:
                processes.update(read_cgroup_pids(path))
        return processes - {pid}

    def _set_state(self, state: str, reason: str | None) -> None:
        self._state |= {"state": state, "reason": reason}
        self._on_change()

    def _close(self) -> None:
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
