"""Log lines on standard error that carry the session's id (bot contract 2.11)."""

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
    """Written as the id of the session that runs, whenever a line is."""

    def __init__(self) -> None:
        self.session_id: str | None = None

    def __str__(self) -> str:
        return self.session_id or "NONE"

    def __format__(self, specification: str) -> str:
        return format(str(self), specification)


_name = _SessionName()
# Never left: it ends with the process.
_context = ExitStack()


def name_session(session_id: str | None) -> None:
    """Say which session the lines belong to from now on."""
    _name.session_id = session_id


class _SessionFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record.session_id = str(_name)
        return super().format(record)


def _handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_SessionFormatter(_LOGGING_FORMAT, "%Y-%m-%d %H:%M:%S"))
    return handler


def prepare_logging(level: str) -> None:
    """Set up the lines of the host itself and of loguru, before the bot is imported.

    Loguru is set up by its own defaults, so that a bot may take away its first handler and add others, as the
    templates of Pipecat do, and the lines still carry the session.
    """
    logger.addHandler(_handler())
    logger.setLevel(logging.CRITICAL + 1 if level == "NONE" else logging.INFO)
    logger.propagate = False
    # Its information repeats ours, with the query of each URL, which may hold what a caller sent.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    if find_spec("loguru") is not None:
        _prepare_loguru(level)


def _prepare_loguru(level: str) -> None:
    defaults = {
        "LOGURU_FORMAT": _LOGURU_FORMAT,
        "LOGURU_LEVEL": "DEBUG" if level == "NONE" else level,
        # Traces with the values of variables would show secrets.
        "LOGURU_DIAGNOSE": "NO",
    }
    ours = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        loguru: Any = import_module("loguru")
    except ValueError:
        # Not one of its levels; it says so itself. What is unknown is shown in full.
        os.environ["LOGURU_LEVEL"] = "DEBUG"
        for module in [name for name in sys.modules if name.partition(".")[0] == "loguru"]:
            del sys.modules[module]
        loguru = import_module("loguru")
    # Programs that the bot starts have no session to name.
    for name in ours:
        os.environ.pop(name, None)
    if level == "NONE":
        loguru.logger.disable("")
    # Twice: a bot may set its own `extra`, and threads of its own do not have this context.
    loguru.logger.configure(extra={"session_id": _name})
    _context.enter_context(loguru.logger.contextualize(session_id=_name))


def finish_logging() -> None:
    """Give the standard library's root logger our lines, unless the bot set it up as it was imported."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_handler())
