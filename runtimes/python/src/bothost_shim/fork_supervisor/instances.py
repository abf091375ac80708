"""The instances of a fork server, from their fork to their exit status."""

import json
import os
import selectors
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .instance import HELLO_MESSAGE, Instance, UnsafeForkError, parse_request
from .untrusted_text import describe_error, filter_module_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from .connections import Connection
    from .server import ForkServer

# Seconds within which a forked process must announce itself, or else the fork server is considered hung. A fork can
# take seconds on a busy machine, but the alternative, spawning the instance, takes far longer.
_FORK_SECONDS = 20.0


class Instances:
    """All instances whose processes may still be running."""

    def __init__(
        self,
        server: "ForkServer",
        selector: selectors.BaseSelector,
        broadcast: "Callable[[dict[str, Any]], None]",
    ) -> None:
        """Set the fork server that forks the instances."""
        self._server = server
        self._selector = selector
        self._broadcast = broadcast
        self._instances: dict[str, Instance] = {}
        # The deadline (monotonic seconds) of each requested instance that has not announced itself yet, by instance id.
        self._deadlines: dict[str, float] = {}

    def __bool__(self) -> bool:
        """Return whether there are any instances."""
        return bool(self._instances)

    def next_deadline(self) -> float | None:
        """Return the monotonic time of the next call of `stop_late_forks`, or None if no fork is in progress."""
        return min(self._deadlines.values(), default=None)

    def fork(self, connection: "Connection", request: dict[str, Any]) -> None:
        """Request a fork from the fork server, or tell the service why the fork is not possible."""
        name = request["instance"]
        refusal = self._server.find_refusal(is_forking=bool(self._deadlines))
        if refusal is not None:
            connection.send({"event": "failed", "instance": name, "reason": refusal})
            return
        instance: Instance | None = None
        descriptors: list[int] = []
        try:
            instance = Instance(parse_request(request), connection)
            descriptors = instance.descriptors()
            self._server.send_fork(descriptors)
        except OSError as error:
            if instance is not None:
                instance.close()
            connection.send({"event": "failed", "instance": name, "reason": describe_error(error)})
            return
        finally:
            for descriptor in descriptors[1:]:
                os.close(descriptor)
        instance.sent()
        self._instances[name] = instance
        self._deadlines[name] = time.monotonic() + _FORK_SECONDS
        self._selector.register(instance.channel, selectors.EVENT_READ, lambda: self._receive_message(instance))

    def go(self, name: str) -> None:
        """Let an instance run the bot."""
        instance = self._instances.get(name)
        if instance is None or instance.pid is None or instance.owner is None:
            return
        try:
            instance.go()
        except OSError as error:
            self._fail(instance, describe_error(error))

    def abandon(self, name: str) -> None:
        """End an instance that the service no longer needs."""
        if name in self._instances:
            self._fail(self._instances[name], "the service no longer needs the instance")

    def disconnect(self, connection: "Connection") -> None:
        """End the instances that were requested over a closed connection and have not received the message `go`.

        The server has not recorded these instances, so it would not adopt them after a restart.
        """
        for instance in [instance for instance in self._instances.values() if instance.owner is connection]:
            self._fail(instance, "the service has ended")

    def stop_late_forks(self) -> None:
        """Abandon instances that have not announced themselves in time, and kill the fork server."""
        for name, deadline in list(self._deadlines.items()):
            if time.monotonic() >= deadline:
                self._fail(self._instances[name], f"the instance was not forked within {_FORK_SECONDS:g} seconds")
                # Kill a fork server that hangs, because it would delay every further start.
                self._server.stop()

    def ended(self, result: os.waitid_result) -> None:
        """Record the exit status if the process that ended was an instance."""
        for instance in [instance for instance in self._instances.values() if instance.pid == result.si_pid]:
            self._instance_ended(instance, result)

    def _receive_message(self, instance: Instance) -> None:
        """Read a message of an instance: first that its forked process runs, later the names of imported modules."""
        try:
            received = instance.receive()
            if received is None:
                if instance.pid is None:
                    self._fail(instance, "the forked process ended before it announced itself")
                else:
                    self._selector.unregister(instance.channel)
                return
            message, pid, _ = received
            if instance.pid is None and message == HELLO_MESSAGE:
                self._announce(instance, pid)
            elif instance.owner is None and pid == instance.pid:
                # Accept only one list of module names per instance, because a session must not keep the supervisor
                # busy.
                self._selector.unregister(instance.channel)
                self._broadcast({"event": "modules", "modules": filter_module_names(json.loads(message))})
        except BlockingIOError:
            return
        except (UnsafeForkError, OSError) as error:
            self._fail(instance, describe_error(error))
        except (ValueError, RecursionError):
            return

    def _announce(self, instance: Instance, pid: int) -> None:
        if any(other.pid == pid for other in self._instances.values()):
            raise UnsafeForkError("the forked process already belongs to another instance")
        start_ticks = instance.accept(pid)
        del self._deadlines[instance.request.instance]
        event = {"event": "forked", "instance": instance.request.instance}
        self._broadcast(event | {"pid": pid, "startTicks": start_ticks})

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

    def _instance_ended(self, instance: Instance, result: os.waitid_result) -> None:
        if instance.owner is not None:
            self._fail(instance, "the instance ended before it ran the bot")
            return
        try:
            instance.exit_file.write_status(result)
        except OSError as error:
            # Ignore a failed write to the log, because the disk with the log may be full too.
            with suppress(OSError):
                sys.stderr.write(f"The exit status of {instance.request.instance} could not be stored: {error}\n")
        # Read the ended instance's channel once more, because it may still contain the names of imported modules.
        with suppress(KeyError, ValueError):
            self._selector.get_key(instance.channel)
            self._receive_message(instance)
        with suppress(KeyError, ValueError):
            self._selector.unregister(instance.channel)
        del self._instances[instance.request.instance]
        instance.close()
