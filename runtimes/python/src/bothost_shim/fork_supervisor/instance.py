"""An instance from the request to fork it to its end."""

import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

from .exit_file import ExitFile
from .proc import find_privileges, has_variable, read_stat

_CREDENTIALS = struct.Struct("iii")
_MESSAGE_BYTES = 196_608
HELLO = b"h"
GO = b"g"


class UnsafeForkError(Exception):
    """The forked process is not the requested one; the message is one line."""


@dataclass(frozen=True)
class ForkRequest:
    """A request of the service."""

    instance: str
    output: str
    exit: str
    # The account of the instance; None where all instances share that of the service.
    uid: int | None
    # Files `cgroup.procs` of its control groups.
    cgroups: list[str]
    # The variable by which its processes are known; None if accounts or control groups identify them.
    mark: str | None
    environment: dict[str, str]


class Instance:
    """A forked process: it waits until `go`, then it runs the bot."""

    def __init__(self, request: ForkRequest, owner: object) -> None:
        """Create the exit file and the channel to the process. Raises OSError."""
        self.request = request
        # The connection that requested it. None after `go`: then it no longer depends on the service.
        self.owner: object | None = owner
        self.pid: int | None = None
        self.exit_file = ExitFile(request.exit)
        self.channel, self._channel_of_child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.setblocking(False)
        # The kernel adds pid and user id of the sender to each message.
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    def descriptors(self) -> list[int]:
        """Open the descriptors for the process: channel, output and settings. Raises OSError."""
        output = os.open(self.request.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        settings = os.memfd_create("bothost-settings")
        text = {"supervisor": os.getpid(), "uid": self.request.uid, "environment": self.request.environment}
        with os.fdopen(os.dup(settings), "w", encoding="utf-8") as file:
            json.dump(text, file)
        os.lseek(settings, 0, os.SEEK_SET)
        return [self._channel_of_child.fileno(), output, settings]

    def sent(self) -> None:
        """Close this side's copy of the process's end of the channel."""
        self._channel_of_child.close()

    def receive(self) -> tuple[bytes, int, int] | None:
        """Read a message with the sender's pid and user id; None at the end of the channel."""
        message, ancillary, _, _ = self.channel.recvmsg(_MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not message:
            return None
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                pid, uid, _ = _CREDENTIALS.unpack(data)
                return message, pid, uid
        raise UnsafeForkError("a message without credentials arrived")

    def accept(self, pid: int) -> int:
        """Check the process that announced itself and move it into its control groups; returns its start in ticks.

        Raises UnsafeForkError, OSError.
        """
        stat = read_stat(pid)
        if stat is None or stat.parent != os.getpid():
            raise UnsafeForkError("it is not a child of its supervisor")
        if self.request.uid is not None:
            problem = find_privileges(pid, self.request.uid)
            if problem is not None:
                raise UnsafeForkError(problem)
        if self.request.mark is not None and not has_variable(pid, self.request.mark):
            raise UnsafeForkError("its environment does not show which instance it belongs to")
        for path in self.request.cgroups:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(pid))
        self.pid = pid
        return stat.start_ticks

    def go(self) -> None:
        """Let the process run the bot, and record that. Raises OSError."""
        self.exit_file.mark_started()
        self.owner = None
        self.channel.send(GO)

    def close(self) -> None:
        """Close all files."""
        self.channel.close()
        self._channel_of_child.close()
        self.exit_file.close()


def parse_request(message: dict[str, Any]) -> ForkRequest:
    """Read a request of the service. Raises KeyError for one of another version."""
    return ForkRequest(**{name: message[name] for name in ForkRequest.__dataclass_fields__})
