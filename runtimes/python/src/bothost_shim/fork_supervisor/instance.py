"""An instance, from the fork request until it has ended."""

import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

from .exit_file import ExitFile
from .proc import find_forbidden_privilege, has_environment_variable, read_stat

_CREDENTIALS = struct.Struct("iii")
_MESSAGE_BYTES = 196_608
HELLO_MESSAGE = b"h"
RUN_BOT_MESSAGE = b"g"


class UnsafeForkError(Exception):
    """Raised if the forked process is not the process that was requested. The message is one line."""


@dataclass(frozen=True)
class ForkRequest:
    """A request from the service to fork an instance."""

    instance: str
    output: str
    exit: str
    # The user id of the instance. None if all instances run under the account of the service.
    uid: int | None
    # Directories of the instance, by the path at which the instance sees them.
    mounts: dict[str, str]
    # Paths of the `cgroup.procs` files of the instance's control groups.
    cgroups: list[str]
    # The variable that identifies the instance's processes. None if accounts or control groups identify them.
    mark: str | None
    environment: dict[str, str]


class Instance:
    """A forked process. It runs the bot after the supervisor has sent it the message `go`."""

    def __init__(self, request: ForkRequest, owner: object) -> None:
        """Create the exit file and the channel to the process. Raises OSError."""
        self.request = request
        # The connection that requested the fork. None after the message `go`: the instance may outlive the connection.
        self.owner: object | None = owner
        self.pid: int | None = None
        self.exit_file = ExitFile(request.exit)
        self.channel, self._channel_of_child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.setblocking(False)
        # Let the kernel add the pid and user id of the sender to each message.
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    def descriptors(self) -> list[int]:
        """Open the descriptors for the process: channel, output and settings. Raises OSError."""
        output = os.open(self.request.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        settings = os.memfd_create("bothost-settings")
        request = self.request
        text = {
            "supervisor": os.getpid(),
            "uid": request.uid,
            "mounts": request.mounts,
            "environment": request.environment,
        }
        with os.fdopen(os.dup(settings), "w", encoding="utf-8") as file:
            json.dump(text, file)
        os.lseek(settings, 0, os.SEEK_SET)
        return [self._channel_of_child.fileno(), output, settings]

    def sent(self) -> None:
        """Close the child's end of the channel in this process, because the fork server has received a copy."""
        self._channel_of_child.close()

    def receive(self) -> tuple[bytes, int, int] | None:
        """Read a message and return it with the sender's pid and user id, or None at the end of the channel."""
        message, ancillary, _, _ = self.channel.recvmsg(_MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not message:
            return None
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                pid, uid, _ = _CREDENTIALS.unpack(data)
                return message, pid, uid
        raise UnsafeForkError("the forked process sent a message without SCM_CREDENTIALS")

    def accept(self, pid: int) -> int:
        """Check the process that announced itself and move it into its control groups.

        Return its start time in clock ticks. Raises UnsafeForkError, OSError.
        """
        stat = read_stat(pid)
        if stat is None or stat.parent != os.getpid():
            raise UnsafeForkError("the forked process is not a child of the supervisor")
        if self.request.uid is not None:
            problem = find_forbidden_privilege(pid, self.request.uid)
            if problem is not None:
                raise UnsafeForkError(problem)
        if self.request.mark is not None and not has_environment_variable(pid, self.request.mark):
            raise UnsafeForkError("the environment of the forked process does not contain the id of the instance")
        for path in self.request.cgroups:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(pid))
        self.pid = pid
        return stat.start_ticks

    def go(self) -> None:
        """Tell the forked process to run the bot. Before that, record the start in the instance's exit file.

        Raises OSError.
        """
        self.exit_file.mark_started()
        self.owner = None
        self.channel.send(RUN_BOT_MESSAGE)

    def close(self) -> None:
        """Close the exit file and both ends of the channel to the process."""
        self.channel.close()
        self._channel_of_child.close()
        self.exit_file.close()


def parse_request(message: dict[str, Any]) -> ForkRequest:
    """Parse a request. Raises KeyError for a request from another version of the service."""
    return ForkRequest(**{name: message[name] for name in ForkRequest.__dataclass_fields__})
