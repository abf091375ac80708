"""`python -m bothost_shim`, in the folder of a bot."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

from .log_lines import finish_logging, logger, prepare_logging
from .settings import InvalidSettingError, read_settings

# The image refuses to start: trying again would not help (bot contract 2.5).
_REFUSED = 78
# A thread that a bot left behind may hold up the end of the process so long, in seconds.
_THREADS_SECONDS = 5.0


def main() -> int:
    """Serve the bot of this folder. Answer the exit status."""
    # Until there is a server: as the first process of a container nothing else would end this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
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

    async def run() -> None:
        await serve(Host(settings, bot), listener)

    warm_up()
    asyncio.run(run())
    logger.info("The instance goes down")
    watchdog = threading.Timer(_THREADS_SECONDS, os._exit, [0])
    watchdog.daemon = True
    watchdog.start()
    return 0


def _refuse(reason: str) -> int:
    """Say in one line, where a person and where Kubernetes looks, why there will be no bot."""
    sys.stderr.write(f"bothost_shim: {reason}\n")
    try:
        with open("/dev/termination-log", "r+") as log:
            log.write(reason)
    except OSError:
        pass
    return _REFUSED


if __name__ == "__main__":
    sys.exit(main())
