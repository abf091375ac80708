"""`python -m bothost_shim`, in the folder of a bot."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Never

from .log_lines import finish_logging, logger, prepare_logging
from .settings import InvalidSettingError, read_settings

# The image refuses to start: trying again would not help (bot contract 2.5).
_REFUSED = 78
# What a bot left behind may hold up the end of the process so long, in seconds.
_REMAINS_SECONDS = 5.0


class _TerminatedError(BaseException):
    """SIGTERM, while there is no server yet that would take it. Not an exit: a bot that is imported may do that."""


def main() -> int:
    """Serve the bot of this folder. Answer the exit status."""

    def terminate(*_: object) -> Never:
        raise _TerminatedError

    # As the first process of a container nothing else would end this one.
    signal.signal(signal.SIGTERM, terminate)
    try:
        return _run()
    except _TerminatedError:
        return 0


def _run() -> int:
    try:
        settings = read_settings(os.environ)
    except InvalidSettingError as error:
        return _refuse(str(error))
    prepare_logging(settings.log_level)

    from .bot_module import UnusableBotError, load_bot
    from .pipecatcloud_system import provide
    from .server import listen, serve

    # Before the bot is imported: whoever asks is answered as soon as that is done, and need not ask again.
    try:
        listener = listen(settings.host, settings.port)
    except OSError as error:
        sys.stderr.write(f"bothost_shim: cannot listen on {settings.host}:{settings.port}: {error.strerror}\n")
        return 1
    provide()
    try:
        bot = load_bot(Path.cwd())
    except UnusableBotError as error:
        return _refuse(str(error))
    finish_logging()

    from .arguments import warm_up
    from .host import Host

    async def run() -> bool:
        has_served = await serve(Host(settings, bot), listener)
        _limit_remains(0)
        return has_served

    warm_up()
    if not asyncio.run(run()):
        return _refuse("what the bot added to the life of its application failed")
    logger.info("The instance goes down")
    return 0


def _refuse(reason: str) -> int:
    """Say in one line, where a person and where Kubernetes looks, why there will be no bot."""
    sys.stderr.write(f"bothost_shim: {reason}\n")
    try:
        with open("/dev/termination-log", "r+") as log:
            log.write(reason)
    except OSError:
        pass
    _limit_remains(_REFUSED)
    return _REFUSED


def _limit_remains(status: int) -> None:
    """End the process even if tasks that take no cancellation, or threads of the bot's, would keep it."""
    watchdog = threading.Timer(_REMAINS_SECONDS, os._exit, [status])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    sys.exit(main())
