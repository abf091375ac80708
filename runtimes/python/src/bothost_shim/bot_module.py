"""Imports the bot's module, or reports in one line why it is not a bot."""

import ast
import inspect
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .service_errors import prefix_errors_with_service_name


class UnusableBotError(Exception):
    """Raised if the directory contains no bot that can run. The message is one line."""


@dataclass(frozen=True)
class Bot:
    """The functions that a bot module provides to the host."""

    run: Callable[[Any], Awaitable[Any]]
    # The bot's `readyz()`, which returns a boolean or an object with `ready`, or an awaitable of either.
    readyz: Callable[[], Any] | None
    # The storage that the bot's `create_file_storage()` returned, or None if the bot does not define that function.
    file_storage: Any
    # The bot's `redact(text)`, which returns a text as it may be kept. None if the bot does not define it.
    redact: Callable[[str], Any] | None
    # The transports that the bot accepts, such as `webrtc`. Empty if its code does not show them.
    transports: list[str]


def load_bot(directory: Path) -> Bot:
    """Import `bot` from the module in a directory.

    Raises UnusableBotError. If the import fails, prints the traceback to standard error.
    """
    if str(directory) not in sys.path and "" not in sys.path:
        sys.path.insert(0, str(directory))
    if not _exists():
        raise UnusableBotError(f"no bot.py in {directory.name or directory}")
    try:
        module = import_module("bot")
    # A module may call `sys.exit()` while it is imported.
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        raise UnusableBotError(f"bot.py cannot be imported: {_one_line(error)}") from error
    run = getattr(module, "bot", None)
    if not callable(run):
        raise UnusableBotError("bot.py has no function bot(args)")
    if inspect.isfunction(run) and inspect.isgeneratorfunction(run):
        raise UnusableBotError("bot(args) of bot.py is a generator, not an async function")
    prefix_errors_with_service_name()
    return Bot(
        run=run,
        readyz=getattr(module, "readyz", None),
        file_storage=_file_storage(module),
        redact=_redact(module),
        transports=_transports(module),
    )


def _exists() -> bool:
    try:
        return find_spec("bot") is not None
    except ValueError:
        return False


def _redact(module: Any) -> Callable[[str], Any] | None:
    redact = getattr(module, "redact", None)
    if redact is None:
        return None
    if not callable(redact) or inspect.iscoroutinefunction(redact):
        raise UnusableBotError("redact of bot.py must be a function redact(text), and not async")
    return redact  # type: ignore[no-any-return]


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


# The classes of Pipecat's runner by which bots without `transport_params` tell transports apart.
_ARGUMENT_CLASSES = {
    "DailyRunnerArguments": "daily",
    "LiveKitRunnerArguments": "livekit",
    "SmallWebRTCRunnerArguments": "webrtc",
    "WebSocketRunnerArguments": "websocket",
}


def _transports(module: Any) -> list[str]:
    params = getattr(module, "transport_params", None)
    keys = list(params) if isinstance(params, dict) else _transports_in_source(module)
    return [key for key in keys if isinstance(key, str)]


def _transports_in_source(module: Any) -> list[Any]:
    """Read the transports from the functions of the bot, as Pipecat's generators write them.

    These are the constant keys of a dictionary `transport_params`. Without one, they are the classes with which the bot
    compares its arguments.
    """
    try:
        nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
    except (OSError, SyntaxError, TypeError, ValueError):
        return []
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Dict):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "transport_params" for target in targets):
            return [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
    matched = [node.cls.id for node in nodes if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)]
    return [_ARGUMENT_CLASSES[name] for name in dict.fromkeys(matched) if name in _ARGUMENT_CLASSES]


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
