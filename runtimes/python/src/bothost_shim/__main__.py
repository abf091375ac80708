"""The command `python -m bothost_shim`, which runs the bot of the current directory."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Never

from .log_lines import configure_logging, configure_root_logger, logger
from .settings import InvalidSettingError, read_settings

if TYPE_CHECKING:
    from .bot_module import Bot

# Exit status of a bot that can never run, so that it is not restarted (docs/bot-contract.md, "Exit status").
_REFUSED = 78
# Maximum seconds that the process keeps running after the server has stopped or the bot was refused. The limit is
# needed because threads or tasks of the bot may still be running.
_EXIT_GRACE_SECONDS = 5.0


class _TerminatedError(BaseException):
    """Raised if SIGTERM arrives before the server handles signals.

    It is no subclass of SystemExit, because an imported bot may raise SystemExit.
    """


def main() -> int:
    """Serve the bot of the current directory. Return the exit status."""
    return _until_terminated(lambda: _run(None, is_forked=False))


def serve_forked_bot(bot: "Bot | None") -> int:
    """Serve the bot in a forked process.

    `bot` was imported before the fork. It is None if only libraries were imported before the fork.
    """
    return _until_terminated(lambda: _run(bot, is_forked=True))


def _until_terminated(run: Callable[[], int]) -> int:
    def terminate(*_: object) -> Never:
        raise _TerminatedError

    # Handle SIGTERM explicitly: for process 1 of a container, the kernel ignores signals without a handler.
    signal.signal(signal.SIGTERM, terminate)
    try:
        return run()
    except _TerminatedError:
        return 0


def _run(bot: "Bot | None", *, is_forked: bool) -> int:
    try:
        settings = read_settings(os.environ)
    except InvalidSettingError as error:
        return _refuse(str(error))
    if not is_forked:
        configure_logging(settings.log_level)

    from .bot_module import UnusableBotError, load_bot
    from .pipecatcloud_system import register_module
    from .server import listen, serve

    # Listen before the bot is imported. The kernel queues connections during the import, so clients need not retry.
    try:
        listener = listen(settings)
    except OSError as error:
        place = settings.socket or f"{settings.host}:{settings.port}"
        sys.stderr.write(f"bothost_shim: cannot listen on {place}: {error.strerror}\n")
        return 1
    if not is_forked:
        register_module()
    if bot is None:
        try:
            bot = load_bot(Path.cwd())
        except UnusableBotError as error:
            return _refuse(str(error))
        configure_root_logger()

    from .arguments import preload_argument_classes
    from .conversation.current import preload_pipecat_observer
    from .host import PythonHost

    host = PythonHost(settings, bot)

    async def run() -> bool:
        has_served = await serve(host, listener)
        _limit_exit(0)
        return has_served

    preload_argument_classes()
    if settings.conversation_file is not None:
        preload_pipecat_observer()
    if not asyncio.run(run()):
        return _refuse("a lifespan handler of the bot failed")
    logger.info("Instance is exiting")
    return 0


def _refuse(reason: str) -> int:
    """Report in one line why the bot cannot run, on standard error and in the termination log of Kubernetes."""
    sys.stderr.write(f"bothost_shim: {reason}\n")
    try:
        with open("/dev/termination-log", "r+") as log:
            log.write(reason)
    except OSError:
        pass
    _limit_exit(_REFUSED)
    return _REFUSED


def _limit_exit(status: int) -> None:
    """Exit after a grace period even if threads of the bot, or tasks that ignore cancellation, are still running."""
    watchdog = threading.Timer(_EXIT_GRACE_SECONDS, os._exit, [status])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    sys.exit(main())
