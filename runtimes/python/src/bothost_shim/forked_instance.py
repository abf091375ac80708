"""Turns a process that the fork server forked into an instance."""

import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from . import linux
from .bot_module import Bot
from .forked_state import (
    INSTANCE_ID_ENVIRONMENT_VARIABLE,
    InitialEnvironment,
    replace_directory_in_path_variables,
    replace_environment,
    reseed_generators,
)
from .preloading import list_imported_modules

_REPARENT_SECONDS = 5.0
_MODULE_LIMIT = 2000
# Exit status of a forked process that could not run the bot. The service then spawns the instance instead.
_UNUSABLE = 70


@dataclass(frozen=True)
class ForkedInstance:
    """The descriptors that the fork server received with the fork request."""

    channel: int
    output: int
    settings: int


@dataclass(frozen=True)
class ForkServerState:
    """State of the fork server after it imported the bot. Each fork adapts this state to its instance."""

    # The imported bot, or None if only libraries were imported.
    bot: Bot | None
    environment: InitialEnvironment
    home: str
    modules: frozenset[str]
    generators: list[Any]
    paths: list[tuple[dict[str, Any], str, str | PurePath]]


def run_instance(forked: ForkedInstance, state: ForkServerState) -> int:
    """Turn this process into an instance, wait for `go`, and run the bot. Returns the exit status."""
    channel = socket.socket(fileno=forked.channel)
    try:
        environment = _become(forked, state.environment, channel)
    except BaseException as error:
        sys.stderr.write(f"bothost_shim: the forked process cannot be used: {error}\n")
        sys.stderr.flush()
        os._exit(_UNUSABLE)
    replace_environment(environment, state.environment.variables)
    replace_directory_in_path_variables(state.paths, state.home, environment["HOME"])
    reseed_generators(state.generators)

    from .__main__ import serve_forked_bot

    status = serve_forked_bot(state.bot)
    _report_modules(channel, state.modules)
    return status


def _become(forked: ForkedInstance, initial: InitialEnvironment, channel: socket.socket) -> dict[str, str]:
    """Detach from the fork server, and wait for the supervisor's `go`.

    Returns the environment variables of the instance.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.dup2(forked.output, 1)
    os.dup2(forked.output, 2)
    os.close(forked.output)
    with os.fdopen(forked.settings, encoding="utf-8") as file:
        settings = json.load(file)
    environment: dict[str, str] = settings["environment"]
    initial.rename(environment[INSTANCE_ID_ENVIRONMENT_VARIABLE])
    if settings["uid"] is not None:
        uid = settings["uid"]
        os.setresuid(uid, uid, uid)
        # Drop the capabilities explicitly, because the kernel drops them only if the user id changes from 0.
        linux.set_capabilities()
        linux.make_dumpable()
        _mount(settings["mounts"])
    _wait_for_parent(settings["supervisor"])
    channel.send(b"h")
    if channel.recv(1) != b"g":
        os._exit(_UNUSABLE)
    # The shell that starts a spawned instance sets this variable, unless a secret does.
    environment.setdefault("PWD", os.getcwd())
    return environment


def _mount(mounts: dict[str, str]) -> None:
    """Mount directories of the instance at other paths, such as `/tmp`.

    Raises OSError if the machine does not allow mounts.
    """
    if not mounts:
        return
    linux.enter_own_mount_namespace()
    for target, directory in mounts.items():
        linux.bind_mount(directory, target)
    linux.limit_capabilities()
    linux.make_dumpable()


def _wait_for_parent(pid: int) -> None:
    """Wait until the supervisor is this process's parent.

    Before that, the kernel would report this process's exit to another process.
    """
    deadline = time.monotonic() + _REPARENT_SECONDS
    while os.getppid() != pid:
        if time.monotonic() > deadline:
            raise TimeoutError("the supervisor did not become the parent of the forked process")
        time.sleep(0.0002)


def _report_modules(channel: socket.socket, known: frozenset[str]) -> None:
    """Report the modules that the session imported, so that the next fork server imports them before the fork."""
    names = [name for name in list_imported_modules() if name not in known]
    channel.setblocking(False)
    try:
        channel.send(json.dumps(names[:_MODULE_LIMIT]).encode())
    except OSError:
        # The supervisor has ended, or the send buffer is full. Ignore the error: without this list of modules, later
        # sessions only start more slowly.
        return
