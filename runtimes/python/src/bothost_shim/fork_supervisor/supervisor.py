"""The event loop of the supervisor."""

import json
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import linux
from .instance import HELLO, Instance, UnsafeForkError, parse_request
from .proc import count_threads, find_children, read_members, read_stat
from .server_process import start_server

if TYPE_CHECKING:
    from collections.abc import Callable

# Maximum size of a request, which contains the environment with up to 512 KiB of secrets.
_REQUEST_BYTES = 8 * 1024 * 1024
_MESSAGE_BYTES = 196_608
_ERROR_CHARACTERS = 500
_MODULE_LIMIT = 2000
# Seconds until a new process must announce itself. A fork that takes longer hangs.
_FORK_SECONDS = 5.0
# Seconds between checks whether the data directory still exists.
_CHECK_SECONDS = 60.0
# Seconds to wait for the service to read why there is no fork server.
_REPORT_SECONDS = 10.0


class Connection:
    """A connection through which the service sends requests. It closes when the service ends."""

    def __init__(self, connected: socket.socket) -> None:
        """Use an accepted connection."""
        self.socket = connected
        self._received = b""

    def receive(self) -> list[dict[str, Any]] | None:
        """Read the requests that have arrived, or None at the end of the connection."""
        chunk = self.socket.recv(65_536)
        self._received += chunk
        if not chunk or len(self._received) > _REQUEST_BYTES:
            return None
        *lines, self._received = self._received.split(b"\n")
        return [json.loads(line) for line in lines]

    def send(self, message: dict[str, Any]) -> None:
        """Send an event, or drop it if the service does not read:

        that service has ended, or will ask for the status again.
        """
        with suppress(OSError):
            self.socket.sendall(json.dumps(message).encode() + b"\n")


class Supervisor:
    """Owns the fork server and the instances, as their parent process."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Start the fork server and listen for the service."""
        linux.become_subreaper()
        self._config = config
        self._selector = selectors.DefaultSelector()
        self._connections: set[Connection] = set()
        self._instances: dict[str, Instance] = {}
        self._deadlines: dict[str, float] = {}
        self._report_deadline = time.monotonic() + _REPORT_SECONDS
        self._has_reported = False
        self._state: dict[str, Any] = {"state": "importing", "reason": None, "modules": []}
        self._prepare_signals()
        self._listener = self._listen()
        self._server: socket.socket | None = None
        self._server_pid: int | None = None
        self._start_server()

    def run(self) -> None:
        """Serve until the fork server and all instances have ended."""
        while self._is_needed():
            for key, _ in self._selector.select(self._timeout()):
                callback: Callable[[], None] = key.data
                callback()
            self._stop_late_forks()
            self._reap()
            if not os.path.exists(self._config["socket"]):
                # The data directory was removed, so no service will ever connect.
                self._stop_server()
        with suppress(OSError):
            os.unlink(self._config["socket"])

    def _is_needed(self) -> bool:
        """Return whether a process runs, or the service has not yet read why the fork server failed to start."""
        if self._server_pid is not None or self._instances:
            return True
        return not self._has_reported and time.monotonic() < self._report_deadline

    def _prepare_signals(self) -> None:
        """Ignore signals that a terminal or a service manager sends to all processes, and wake up when a child ends."""
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, lambda *_: None)
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector.register(wake_read, selectors.EVENT_READ, lambda: _drain(wake_read))

    def _listen(self) -> socket.socket:
        path = self._config["socket"]
        with suppress(FileNotFoundError):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX)
        # Rename the socket once it listens, so that a client that finds it can connect.
        listener.bind(f"{path}~")
        listener.listen(16)
        os.rename(f"{path}~", path)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        return listener

    def _accept(self) -> None:
        connected, _ = self._listener.accept()
        # Set a timeout, because a service that stops reading must not block the supervisor.
        connected.settimeout(1.0)
        connection = Connection(connected)
        self._connections.add(connection)
        self._selector.register(connected, selectors.EVENT_READ, lambda: self._serve(connection))

    def _serve(self, connection: Connection) -> None:
        try:
            requests = connection.receive()
        except (OSError, ValueError):
            requests = None
        if requests is None:
            self._disconnect(connection)
            return
        try:
            for request in requests:
                self._answer(connection, request)
        except (KeyError, TypeError):
            # The request is not one of this version of the service.
            self._disconnect(connection)

    def _disconnect(self, connection: Connection) -> None:
        """Forget a service that has ended, and end its instances that still wait for `go`, because no record names
        them.
        """
        self._connections.discard(connection)
        self._selector.unregister(connection.socket)
        connection.socket.close()
        for instance in [instance for instance in self._instances.values() if instance.owner is connection]:
            self._fail(instance, "the service has ended")

    def _answer(self, connection: Connection, request: dict[str, Any]) -> None:
        kind = request["do"]
        if kind == "status":
            connection.send(self._status())
        elif kind == "fork":
            self._fork(connection, request)
        elif request["instance"] in self._instances:
            instance = self._instances[request["instance"]]
            if kind == "go":
                self._go(instance)
            elif kind == "abandon":
                self._fail(instance, "the service no longer needs it")

    def _status(self) -> dict[str, Any]:
        self._has_reported = True
        stat = None if self._server_pid is None else read_stat(self._server_pid)
        process = None if stat is None else {"pid": self._server_pid, "startTicks": stat.start_ticks}
        fixed = {"event": "status", "fingerprint": self._config["fingerprint"], "level": self._config["level"]}
        return fixed | {"process": process} | self._state

    def _broadcast(self, message: dict[str, Any]) -> None:
        for connection in list(self._connections):
            connection.send(message)

    def _start_server(self) -> None:
        try:
            self._server_pid, self._server = start_server(self._config)
        except OSError as error:
            self._set_state("failed", f"the fork server cannot be started: {_describe(error)}")
            return
        self._server.setblocking(False)
        self._selector.register(self._server, selectors.EVENT_READ, self._receive_report)
        first = {"level": self._config["level"], "modules": self._config["modules"]}
        self._server.send(json.dumps(first).encode())

    def _receive_report(self) -> None:
        """Read the fork server's report about its import.

        Do not trust it, because a tenant's code can have written it.
        """
        if self._server is None:
            return
        try:
            message = self._server.recv(_MESSAGE_BYTES)
            report = json.loads(message) if message else {}
            modules, reason = _module_names(report.get("modules")), report.get("reason")
        except BlockingIOError:
            return
        except (OSError, ValueError, AttributeError, RecursionError):
            self._stop_server()
            return
        if not message:
            self._close_server()
        elif self._state["state"] == "importing":
            problem = str(reason)[:_ERROR_CHARACTERS] if reason else self._find_problem()
            self._state["modules"] = modules
            self._set_state("failed" if problem else "ready", problem)
            if problem:
                self._stop_server()

    def _find_problem(self) -> str | None:
        """Return why the fork server cannot be forked safely, according to its files in `/proc`."""
        pid = self._server_pid
        if pid is None:
            return "the fork server has ended"
        try:
            threads, processes = count_threads(pid), self._find_processes(pid)
        except OSError:
            return "the fork server has ended"
        if threads != 1:
            return f"importing the bot started threads that still run: {threads - 1}"
        return f"importing the bot started processes that still run: {len(processes)}" if processes else None

    def _find_processes(self, pid: int) -> set[int]:
        """Find the children of this process that are neither the fork server nor instances."""
        if self._deadlines:
            # A fork has a short-lived parent process, which is not an instance.
            return set()
        processes = set(find_children(pid))
        if self._state["state"] == "importing":
            # Kill orphans too, because they could later be mistaken for processes of instances.
            processes.update(find_children(os.getpid()))
            for path in self._config["cgroups"]:
                processes.update(read_members(path))
        return processes - {pid}

    def _set_state(self, state: str, reason: str | None) -> None:
        self._state |= {"state": state, "reason": reason}
        if self._connections:
            self._broadcast(self._status())

    def _stop_server(self) -> None:
        if self._server_pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._server_pid, signal.SIGKILL)

    def _close_server(self) -> None:
        if self._server is not None:
            self._selector.unregister(self._server)
            self._server.close()
            self._server = None

    def _fork(self, connection: Connection, request: dict[str, Any]) -> None:
        name = request["instance"]
        if self._server is None or self._state["state"] != "ready":
            connection.send({"event": "failed", "instance": name, "reason": "the fork server is not ready"})
            return
        problem = self._find_problem()
        if problem is not None:
            self._set_state("failed", problem)
            self._stop_server()
            connection.send({"event": "failed", "instance": name, "reason": problem})
            return
        instance: Instance | None = None
        descriptors: list[int] = []
        try:
            instance = Instance(parse_request(request), connection)
            descriptors = instance.descriptors()
            socket.send_fds(self._server, [b"f"], descriptors)
        except OSError as error:
            if instance is not None:
                instance.close()
            connection.send({"event": "failed", "instance": name, "reason": _describe(error)})
            return
        finally:
            for descriptor in descriptors[1:]:
                os.close(descriptor)
        instance.sent()
        self._instances[name] = instance
        self._deadlines[name] = time.monotonic() + _FORK_SECONDS
        self._selector.register(instance.channel, selectors.EVENT_READ, lambda: self._receive_message(instance))

    def _receive_message(self, instance: Instance) -> None:
        """Read the announcement of a new process, or later the names of modules that its session imported."""
        try:
            received = instance.receive()
            if received is None:
                if instance.pid is None:
                    self._fail(instance, "it ended as it was forked")
                else:
                    self._selector.unregister(instance.channel)
                return
            message, pid, _ = received
            if instance.pid is None and message == HELLO:
                self._announce(instance, pid)
            elif instance.owner is None and pid == instance.pid:
                # Accept the names only once, because a session must not keep the supervisor busy.
                self._selector.unregister(instance.channel)
                self._broadcast({"event": "modules", "modules": _module_names(json.loads(message))})
        except BlockingIOError:
            return
        except (UnsafeForkError, OSError) as error:
            self._fail(instance, _describe(error))
        except (ValueError, RecursionError):
            return

    def _announce(self, instance: Instance, pid: int) -> None:
        if any(other.pid == pid for other in self._instances.values()):
            raise UnsafeForkError("another instance has its process")
        start_ticks = instance.accept(pid)
        del self._deadlines[instance.request.instance]
        event = {"event": "forked", "instance": instance.request.instance}
        self._broadcast(event | {"pid": pid, "startTicks": start_ticks})

    def _go(self, instance: Instance) -> None:
        if instance.pid is None or instance.owner is None:
            return
        try:
            instance.go()
        except OSError as error:
            self._fail(instance, _describe(error))

    def _stop_late_forks(self) -> None:
        for name, deadline in list(self._deadlines.items()):
            if time.monotonic() >= deadline:
                self._fail(self._instances[name], f"it was not forked within {_FORK_SECONDS:g} seconds")
                # Kill a fork server that hangs, because it would delay every further start.
                self._stop_server()

    def _timeout(self) -> float:
        if self._server_pid is None and not self._instances:
            return max(0.0, self._report_deadline - time.monotonic())
        return max(0.0, min([*self._deadlines.values(), time.monotonic() + _CHECK_SECONDS]) - time.monotonic())

    def _fail(self, instance: Instance, reason: str) -> None:
        """Abandon an instance that never ran. Closing its channel ends its process, if there is one."""
        name = instance.request.instance
        if self._instances.pop(name, None) is None:
            return
        self._deadlines.pop(name, None)
        with suppress(KeyError, ValueError):
            self._selector.unregister(instance.channel)
        if instance.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(instance.pid, signal.SIGKILL)
        instance.close()
        self._broadcast({"event": "failed", "instance": name, "reason": reason})

    def _reap(self) -> None:
        """Record how each child ended before the kernel forgets it."""
        while True:
            try:
                result = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if result is None:
                return
            if result.si_pid == self._server_pid:
                self._server_ended(result)
            for instance in [instance for instance in self._instances.values() if instance.pid == result.si_pid]:
                self._instance_ended(instance, result)
            os.waitpid(result.si_pid, 0)

    def _instance_ended(self, instance: Instance, result: os.waitid_result) -> None:
        if instance.owner is not None:
            self._fail(instance, "it ended before it ran")
            return
        try:
            instance.exit_file.write_status(result)
        except OSError as error:
            # Ignore the error, because the disk of the log may be full too.
            with suppress(OSError):
                sys.stderr.write(f"The exit status of {instance.request.instance} could not be stored: {error}\n")
        # Read the channel once more, because the names of imported modules may still be in it.
        with suppress(KeyError, ValueError):
            self._selector.get_key(instance.channel)
            self._receive_message(instance)
        with suppress(KeyError, ValueError):
            self._selector.unregister(instance.channel)
        del self._instances[instance.request.instance]
        instance.close()

    def _server_ended(self, result: os.waitid_result) -> None:
        self._server_pid = None
        self._close_server()
        if self._state["state"] != "failed":
            how = "exited with status" if result.si_code == os.CLD_EXITED else "was ended by signal"
            self._set_state("ended", f"the fork server {how} {result.si_status}")


def _module_names(names: Any) -> list[str]:
    """Return the texts that are valid names of modules."""
    if not isinstance(names, list):
        return []
    texts = [name for name in names[:_MODULE_LIMIT] if isinstance(name, str) and len(name) <= 200]
    return [name for name in texts if all(part.isidentifier() for part in name.split("."))]


def _describe(error: Exception) -> str:
    return " ".join(str(error).split())[:_ERROR_CHARACTERS] or type(error).__name__


def _drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass
