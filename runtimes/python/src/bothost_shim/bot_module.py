"""The bot's module: found, imported, and refused with one line of reason when it cannot be a bot."""

import inspect
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class UnusableBotError(Exception):
    """The folder's bot can never take a session; the message is one line."""


@dataclass(frozen=True)
class Bot:
    """What a bot module offers."""

    run: Callable[[Any], Awaitable[Any]]
    # `readyz()` of the module: a boolean, or an object with `ready`; now or later.
    readyz: Callable[[], Any] | None
    # What `create_file_storage()` answered.
    file_storage: Any


def load_bot(folder: Path) -> Bot:
    """Import `bot` from a folder. Raises UnusableBotError; the trace of an import that failed is on standard error."""
    if str(folder) not in sys.path and "" not in sys.path:
        sys.path.insert(0, str(folder))
    if not _exists():
        raise UnusableBotError(f"there is no bot.py in {folder.name or folder}")
    try:
        module = import_module("bot")
    # A module may end the program as it is imported.
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        raise UnusableBotError(f"bot.py cannot be imported: {_one_line(error)}") from error
    run = getattr(module, "bot", None)
    if not callable(run):
        raise UnusableBotError("bot.py has no function bot(args)")
    if inspect.isfunction(run) and inspect.isgeneratorfunction(run):
        raise UnusableBotError("bot(args) of bot.py is a generator, not an async function")
    return Bot(run=run, readyz=getattr(module, "readyz", None), file_storage=_file_storage(module))


def _exists() -> bool:
    try:
        return find_spec("bot") is not None
    except ValueError:
        return False


def _file_storage(module: Any) -> Any:
    create = getattr(module, "create_file_storage", None)
    if create is None:
        return None
    try:
        storage = create()
    except Exception as error:
        traceback.print_exc()
        raise UnusableBotError(f"create_file_storage() of bot.py failed: {_one_line(error)}") from error
    if inspect.iscoroutine(storage):
        storage.close()
        raise UnusableBotError("create_file_storage() of bot.py must not be async")
    return storage


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
