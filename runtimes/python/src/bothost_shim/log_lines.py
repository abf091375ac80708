"""Log lines on standard error with the session's id (docs/bot-contract.md, "Output")."""

import logging
import os
import sys
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import Any

logger = logging.getLogger("bothost_shim")

_LOGURU_FORMAT = (
    "{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} | {extra[session_id]} - {message}"
)
_LOGGING_FORMAT = (
    "%(asctime)s.%(msecs)03d | %(levelname)-8s | %(name)s:%(funcName)s:%(lineno)d | %(session_id)s - %(message)s"
)


class _SessionName:
    """An object that is formatted as the id of the running session."""

    def __init__(self) -> None:
        self.session_id: str | None = None

    def __str__(self) -> str:
        return self.session_id or "NONE"

    def __format__(self, specification: str) -> str:
        return format(str(self), specification)


_name = _SessionName()
# Keeps loguru's `contextualize` block open until the process ends.
_context = ExitStack()


def set_session_id(session_id: str | None) -> None:
    """Set the session id of all following log lines. None means that no session is running."""
    _name.session_id = session_id


class _LoguruLimit:
    """The lowest level number of lines that loguru passes to handlers."""

    def __init__(self) -> None:
        self.level_number = 0

    def install(self, core: Any) -> None:
        """Make loguru compare each line with this limit. Loguru compares it with the lowest level of a handler."""
        limit = self

        class LimitedCore(type(core)):  # type: ignore[misc]
            @property
            def min_level(self) -> float:
                lowest: float = self.__dict__["min_level"]
                return max(lowest, limit.level_number)

            @min_level.setter
            def min_level(self, level: float) -> None:
                self.__dict__["min_level"] = level

        core.__class__ = LimitedCore


_loguru_limit = _LoguruLimit()


def limit_session_log(*, keeps_text: bool) -> None:
    """Drop the bot's log lines below INFO, unless the log of the session may contain the conversation.

    Pipecat logs what was said at DEBUG. The limit also holds for handlers that the bot adds with a lower level.
    """
    logging.disable(logging.NOTSET if keeps_text else logging.DEBUG)
    _loguru_limit.level_number = 0 if keeps_text else logging.INFO


class _SessionFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record.session_id = str(_name)
        return super().format(record)


def _handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_SessionFormatter(_LOGGING_FORMAT, "%Y-%m-%d %H:%M:%S"))
    return handler


def configure_logging(level: str) -> None:
    """Configure the log lines of the host and of loguru.

    Call it before the bot is imported. It sets loguru's defaults, so that lines have the session id even if a bot
    replaces the handlers, as Pipecat's project templates do.
    """
    logger.addHandler(_handler())
    logger.setLevel(logging.CRITICAL + 1 if level == "NONE" else logging.INFO)
    logger.propagate = False
    # Silence uvicorn's log, because it repeats the host's log and contains URL queries with a caller's data.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    if find_spec("loguru") is not None:
        _prepare_loguru(level)


def _prepare_loguru(level: str) -> None:
    defaults = {
        "LOGURU_FORMAT": _LOGURU_FORMAT,
        "LOGURU_LEVEL": "DEBUG" if level == "NONE" else level,
        # Omit the values of Python variables from tracebacks, because the values may be secrets.
        "LOGURU_DIAGNOSE": "NO",
    }
    ours = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        loguru: Any = import_module("loguru")
    except ValueError:
        # Loguru rejects the configured level, so log everything.
        os.environ["LOGURU_LEVEL"] = "DEBUG"
        for module in [name for name in sys.modules if name.partition(".")[0] == "loguru"]:
            del sys.modules[module]
        loguru = import_module("loguru")
    # Remove the variables that were set above, because Loguru has read them and child processes must not inherit them.
    for name in ours:
        os.environ.pop(name, None)
    if level == "NONE":
        loguru.logger.disable("")
    _loguru_limit.install(loguru.logger._core)
    # Set the session id both in `extra`, which a bot may replace, and in the context, which new threads do not inherit.
    loguru.logger.configure(extra={"session_id": _name})
    _context.enter_context(loguru.logger.contextualize(session_id=_name))


def configure_root_logger() -> None:
    """Configure the root logger of the standard library, unless the bot did so while it was imported."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_handler())
