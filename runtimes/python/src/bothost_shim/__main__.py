"""`python -m bothost_shim` in the directory of a bot."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Never

from .log_lines import finish_logging, logger, prepare_logging
from .settings import InvalidSettingError, read_settings

if TYPE_CHECKING:
    from .bot_module import Bot

# Exit status: this bot can never run, so do not restart it (docs/bot-contract.md, "Exit status").
_REFUSED = 78
# Seconds until the process ends although threads or tasks of the bot still run.
_EXIT_GRACE_SECONDS = 5.0


class _TerminatedError(BaseException):
    """SIGTERM before the server handles signals. Not SystemExit, which an imported bot may raise itself."""


def main() -> int:
    """Serve the bot of this directory. Return the exit status."""
    return _until_terminated(lambda: _run(None, is_forked=False))


def run_forked(bot: "Bot | None") -> int:
    """Do the same in a process that was forked after the bot was imported or, for None, only libraries."""
    return _until_terminated(lambda: _run(bot, is_forked=True))


def _until_terminated(run: Callable[[], int]) -> int:
    def terminate(*_: object) -> Never:
        raise _TerminatedError

    # The first process of a container ignores SIGTERM unless it has a handler.
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
        prepare_logging(settings.log_level)

    from .bot_module import UnusableBotError, load_bot
    from .pipecatcloud_system import provide
    from .server import listen, serve

    # Before the import of the bot: connections wait in the kernel until it is done, so clients need not retry.
    try:
        listener = listen(settings.host, settings.port)
    except OSError as error:
        sys.stderr.write(f"bothost_shim: cannot listen on {settings.host}:{settings.port}: {error.strerror}\n")
        return 1
    if not is_forked:
        provide()
    if bot is None:
        try:
            bot = load_bot(Path.cwd())
        except UnusableBotError as error:
            return _refuse(str(error))
        finish_logging()

    from .arguments import warm_up
    from .host import Host

    host = Host(settings, bot)

    async def run() -> bool:
        has_served = await serve(host, listener)
        _limit_exit(0)
        return has_served

    warm_up()
    if not asyncio.run(run()):
        return _refuse("a lifespan handler of the bot failed")
    logger.info("Instance exits")
    return 0


def _refuse(reason: str) -> int:
    """Report in one line, on standard error and to Kubernetes, why the bot cannot run."""
    sys.stderr.write(f"bothost_shim: {reason}\n")
    try:
        with open("/dev/termination-log", "r+") as log:
            log.write(reason)
    except OSError:
        pass
    _limit_exit(_REFUSED)
    return _REFUSED


def _limit_exit(status: int) -> None:
    """End the process after a grace period even if the bot's threads, or tasks that ignore cancellation, still run."""
    watchdog = threading.Timer(_EXIT_GRACE_SECONDS, os._exit, [status])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    sys.exit(main())
