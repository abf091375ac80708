"""Starts the fork server, the process that imports the bot."""

import errno
import os
import resource
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Never

from .. import linux

# The descriptor through which the fork server communicates with its supervisor.
CONTROL_FILE_DESCRIPTOR = 3
# Let the kernel kill bots before the service when the machine runs out of memory.
_OOM_SCORE = "300"


@dataclass(frozen=True)
class UserIdRange:
    """A range of `count` user ids. The fork server has the first id, `uid`, and each instance has another id."""

    uid: int
    gid: int
    count: int


def start_server(config: dict[str, Any]) -> tuple[int, socket.socket]:
    """Start the fork server.

    Return its pid and the connection to it. Raises OSError with the reason if it cannot start.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    user_ids = UserIdRange(**config["account"]) if config["account"] else None
    # A successful `exec` closes the write end of this pipe, so an end-of-file means that the program is running.
    failure_read, failure_write = os.pipe()
    namespace_read, namespace_write = os.pipe()
    mapped_read, mapped_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            for descriptor in (failure_read, namespace_read, mapped_write):
                os.close(descriptor)
            _contain(config)
            if user_ids is not None:
                _switch_account(user_ids, namespace_write, mapped_read)
            _execute(config, theirs)
        except BaseException as error:
            os.write(failure_write, str(error).encode()[:1000])
        os._exit(127)
    theirs.close()
    for descriptor in (failure_write, namespace_write, mapped_read):
        os.close(descriptor)
    try:
        if user_ids is not None and os.read(namespace_read, 1):
            _write_maps(pid, user_ids)
            os.write(mapped_write, b"m")
        reason = os.read(failure_read, 1000).decode()
    finally:
        for descriptor in (failure_read, namespace_read, mapped_write):
            os.close(descriptor)
    if reason:
        os.waitpid(pid, 0)
        raise OSError(reason)
    return pid, ours


def _contain(config: dict[str, Any]) -> None:
    """Put this process into its control groups, and set the limits that all its descendants inherit, before any code of
    the bot runs.
    """
    os.setsid()
    for path in config["cgroups"]:
        _write(path, "0")
    with suppress(OSError):
        _write("/proc/self/oom_score_adj", _OOM_SCORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    processes = config["processLimit"]
    if processes:
        with suppress(ValueError):
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    output = os.open(config["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.umask(config["umask"])


def _switch_account(user_ids: UserIdRange, namespace_write: int, mapped_read: int) -> None:
    """Switch to the first user id of `user_ids`, with no capability except to switch to its other user ids.

    Create a user namespace before the switch, so that root owns the namespace. If one of the user ids owned the
    namespace, it would have all capabilities in it.
    """
    os.setgroups([])
    os.setresgid(user_ids.gid, user_ids.gid, user_ids.gid)
    try:
        linux.enter_user_namespace()
    except OSError as error:
        reached = error.errno == errno.ENOSPC
        why = "the limit user.max_user_namespaces is reached" if reached else error.strerror
        raise OSError(f"this machine refuses user namespaces ({why})") from error
    os.write(namespace_write, b"n")
    if not os.read(mapped_read, 1):
        raise OSError("the supervisor could not map the user ids")
    linux.keep_capabilities()
    os.setresgid(user_ids.gid, user_ids.gid, user_ids.gid)
    os.setresuid(user_ids.uid, user_ids.uid, user_ids.uid)
    linux.limit_capabilities(linux.CAP_SETUID)
    linux.forbid_new_privileges()


def _write_maps(pid: int, user_ids: UserIdRange) -> None:
    try:
        _write(f"/proc/{pid}/gid_map", f"{user_ids.gid} {user_ids.gid} 1\n")
        _write(f"/proc/{pid}/uid_map", f"{user_ids.uid} {user_ids.uid} {user_ids.count}\n")
    except OSError:
        # Ignore a failed write of the user namespace's id maps. The fork server then cannot switch to its user id, and
        # reports that failure itself.
        return


def _execute(config: dict[str, Any], control: socket.socket) -> Never:
    os.chdir(config["directory"])
    # `dup2` onto the same file descriptor would keep its close-on-exec flag, so duplicate the descriptor first.
    moved = os.dup(control.fileno()) if control.fileno() == CONTROL_FILE_DESCRIPTOR else control.fileno()
    os.dup2(moved, CONTROL_FILE_DESCRIPTOR, inheritable=True)
    command: list[str] = config["command"]
    # Instances have this variable, too.
    environment = {"PWD": os.getcwd(), **config["environment"]}
    os.execve(command[0], command, environment)  # noqa: S606 no shell is wanted


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
