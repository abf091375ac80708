"""What a bot gets: arguments of the classes that it knows (bot contract 3.1)."""

import dataclasses
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Literal

Kind = Literal["plain", "daily", "websocket", "webrtc"]

# In the families of `pipecatcloud.agent`, whose classes are those of the runner too, and of `pipecat.runner.types`.
_NAMES: dict[Kind, tuple[str, str]] = {
    "plain": ("PipecatSessionArguments", "RunnerArguments"),
    "daily": ("DailySessionArguments", "DailyRunnerArguments"),
    "websocket": ("WebSocketSessionArguments", "WebSocketRunnerArguments"),
    "webrtc": ("SmallWebRTCSessionArguments", "SmallWebRTCRunnerArguments"),
}


class BotArguments:
    """The arguments where no Pipecat is installed: the same attributes."""

    def __init__(self) -> None:
        """Begin with what all kinds have in common."""
        self.pipeline_idle_timeout_secs = 300
        self.call_data = None
        self.cli_args = None


def build_arguments(kind: Kind, *, body: Any, session_id: str, file_storage: Any, **fields: Any) -> Any:
    """Build the arguments of a session; `fields` are those of its kind."""
    values = {"body": body, "session_id": session_id, "file_storage": file_storage, **fields}
    arguments = _construct(_argument_class(kind), values)
    for name, value in values.items():
        # Fields that an older Pipecat does not have.
        if not hasattr(arguments, name):
            setattr(arguments, name, value)
    # Signals are the host's.
    arguments.handle_sigint = arguments.handle_sigterm = False
    # Read unguarded by bots for later base images, and not declared by pipecat-ai 1.14.
    arguments.flow_config = None
    return arguments


def warm_up() -> None:
    """Import the classes before a session needs them, where that costs next to nothing."""
    if "pipecat" in sys.modules:
        _argument_class("plain")


def _construct(argument_class: type[Any], values: dict[str, Any]) -> Any:
    if argument_class is BotArguments:
        arguments = BotArguments()
        vars(arguments).update(values)
        return arguments
    known = {field.name for field in dataclasses.fields(argument_class) if field.init}
    return argument_class(**{name: value for name, value in values.items() if name in known})


def _argument_class(kind: Kind) -> type[Any]:
    hosted, runner = _NAMES[kind]
    if find_spec("pipecatcloud") is not None:
        try:
            return _named(_import_hosted(), hosted)
        except (ImportError, AttributeError):
            # Without Pipecat, or older than this kind.
            pass
    if find_spec("pipecat") is not None:
        return _named(import_module("pipecat.runner.types"), runner)
    return BotArguments


def _import_hosted() -> ModuleType:
    """Import `pipecatcloud.agent` without its package, unless the bot did that.

    The package takes away all log handlers, adds its own, and imports an HTTP client. A bot that imports it later
    runs all that, and gets the same classes.
    """
    package = "pipecatcloud"
    spec = None if package in sys.modules else find_spec(package)
    if spec is None:
        return import_module("pipecatcloud.agent")
    sys.modules[package] = module_from_spec(spec)
    try:
        return import_module("pipecatcloud.agent")
    finally:
        del sys.modules[package]


def _named(module: Any, name: str) -> type[Any]:
    found: type[Any] = getattr(module, name)
    return found
