"""The command `python -m bothost_shim.fork_server`, which imports the bot once and forks its instances.

`fork_supervisor` starts this command in the environment of the bot and sends requests through file descriptor 3.
"""

import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Never

from .bot_module import Bot, UnusableBotError, load_bot
from .forked_instance import ForkedInstance, ForkServerState, run_instance
from .forked_state import InitialEnvironment, find_module_path_variables, find_random_generators
from .log_lines import configure_logging, configure_root_logger
from .pipecatcloud_system import register_module
from .preloading import list_imported_libraries, preload_session_modules
from .settings import read_log_level

_CONTROL_DESCRIPTOR = 3
_MESSAGE_BYTES = 196_608
_MODULE_LIMIT = 2000
# Files that an imported library may keep open. Forks can share these files safely, because they have no read or write
# position.
_HARMLESS_FILES = {"/dev/null", "/dev/random", "/dev/urandom"}


class UnsafeImportError(Exception):
    """Raised if the import left threads or files that make a fork unsafe. The message is one line."""


def main() -> int:
    """Import the bot, report the result, and fork instances until the supervisor ends.

    In a fork, run the instance and return its exit status.
    """
    # Arguments of the command that spawns an instance, because the bot may read them.
    sys.argv[0] = str(Path(__file__).with_name("__main__.py"))
    control = socket.socket(fileno=_CONTROL_DESCRIPTOR)
    control.set_inheritable(False)
    order = json.loads(control.recv(_MESSAGE_BYTES))
    configure_logging(read_log_level(os.environ))
    register_module()
    try:
        environment = InitialEnvironment()
        home = environment.variables["HOME"]
        bot = _import(order)
        if os.listdir(home):
            raise UnsafeImportError("importing the bot wrote files into the home directory")
    except (LookupError, UnusableBotError, UnsafeImportError) as error:
        _report(control, {"reason": str(error), "modules": list_imported_libraries(Path.cwd())[:_MODULE_LIMIT]})
        return 1
    state = ForkServerState(
        bot=bot,
        environment=environment,
        home=home,
        modules=frozenset(sys.modules),
        generators=find_random_generators(),
        paths=find_module_path_variables(home),
    )
    gc.collect()
    gc.freeze()
    _report(control, {"modules": list_imported_libraries(Path.cwd())[:_MODULE_LIMIT]})
    forked = _serve(control)
    if forked is None:
        # Skip the `atexit` handlers of the bot, because only instances should run them.
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run_instance(forked, state)


def _import(order: dict[str, Any]) -> Bot | None:
    """Import the bot if the requested level is `module`, else only libraries.

    Raises UnusableBotError, UnsafeImportError.
    """
    bot = load_bot(Path.cwd()) if order["level"] == "module" else None
    if bot is not None:
        configure_root_logger()
    preload_session_modules(order["modules"])
    threads = sorted(_thread_names())
    if len(threads) > 1:
        raise UnsafeImportError(f"importing the bot started {len(threads) - 1} thread(s): {', '.join(threads)}")
    unsafe = sorted(_opened_files() - _HARMLESS_FILES)
    if unsafe:
        raise UnsafeImportError(f"importing the bot left {len(unsafe)} file(s) open: {', '.join(unsafe)}")
    return bot


def _serve(control: socket.socket) -> ForkedInstance | None:
    """Fork an instance for each message from the supervisor.

    In a fork, returns the file descriptors of the new instance. In the fork server, returns None when the supervisor
    ends.
    """
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 3, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return None
        sys.stdout.flush()
        sys.stderr.flush()
        # Double fork: the intermediate process exits, so that the supervisor becomes the parent of the instance.
        pid = os.fork()
        if pid == 0:
            if os.fork() != 0:
                os._exit(0)
            control.close()
            return ForkedInstance(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        os.waitpid(pid, 0)


def _report(control: socket.socket, report: dict[str, Any]) -> None:
    control.send(json.dumps(report).encode())


def _thread_names() -> list[str]:
    """Return the names of all threads, including those of native libraries."""
    threads = Path("/proc/self/task")
    return [(thread / "comm").read_text().strip() for thread in threads.iterdir()]


def _opened_files() -> set[str]:
    """Return the paths of the files that `site` or the import of the bot opened and did not close."""
    paths: set[str] = set()
    for name in os.listdir("/proc/self/fd"):
        # Suppress the error for the file descriptor that `listdir` used to read the directory. It is already closed.
        if int(name) > _CONTROL_DESCRIPTOR:
            with suppress(FileNotFoundError):
                paths.add(os.readlink(f"/proc/self/fd/{name}"))
    return paths


def _exit() -> Never:
    sys.exit(main())


if __name__ == "__main__":
    _exit()
